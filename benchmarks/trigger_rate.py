# SPDX-License-Identifier: Apache-2.0
"""The highest rate at which `isthmus trigger serve` loses no event, over a virtual cable between two network
namespaces.

    PYTHONPATH=python .isthmus/venv/bin/python benchmarks/trigger_rate.py [--seconds 10] [--events 20]
    ... --rate 100e3     # this rate alone: exit status 1 where an event is lost
    ... --store          # the result to benchmarks/baselines/trigger_rate.json

Needs `ip` and `unshare`, and root or user namespaces. The namespaces and the cable are this program's own and
vanish with it. Server and sender have a core each; what the kernel does for both is on these cores as well. A
step is accepted where every datagram was answered; then the middle of the last accepted and the first refused
rate is tried, until they are within 5 %. The sender's own rate is what counts, not the one it was asked for.
How busy the machine was with other work is measured beside it: the share of all cores' time that neither of
the two had, and that was not idle.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
from dataclasses import astuple, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SERVER, CLIENT = "10.77.0.1", "10.77.0.2"
PORT = 58400
SO_RCVBUFFORCE = 33  # asm-generic/socket.h; Python has no name for it
BUFFER = 8 << 20
"""Bytes of the sender's own buffer for answers: it does other things, too."""
STORED = ROOT / "benchmarks" / "baselines" / "trigger_rate.json"
INSIDE = "ISTHMUS_TRIGGER_RATE"


def missing_tools() -> list[str]:
    """Programs for networks of its own that this system lacks."""
    return [tool for tool in ("ip", "unshare", "nsenter", "taskset") if shutil.which(tool) is None]


@dataclass(frozen=True)
class Step:
    """One rate."""

    asked: float
    """Events a second."""
    sent: float
    datagrams: int
    answered: int

    @property
    def lossless(self) -> bool:
        """Whether nothing was lost, and the sender kept up."""
        return self.answered == self.datagrams and self.sent > 0.9 * self.asked


def datagrams(sample: str, events: int) -> list[bytes]:
    """Different datagrams, so that no branch is learnt by heart."""
    from isthmus.trigger import native

    records = native.events(sample, 5, 65_520, 1e7)[0][64:]
    size = 70 * events
    return [
        struct.pack("<I", at // 70 & 0xFFFFFF | events << 24) + records[at : at + size]
        for at in range(0, len(records) - size, size)
    ]


def step(client: socket.socket, given: list[bytes], events: int, rate: float, seconds: float) -> Step:
    """Send at `rate` events a second, in steps of the clock; take the answers meanwhile."""
    total = int(rate * seconds / events)
    sent = answered = 0
    start = time.perf_counter()
    while sent < total:
        due = min(total, int((time.perf_counter() - start) * rate / events) + 1)
        # At most 32 in a row: a network interface would not send more at once either.
        for at in range(sent, min(due, sent + 32)):
            client.send(given[at % len(given)])
            sent = at + 1
        answered += drained(client)
    took = time.perf_counter() - start
    while answered < sent and select.select([client], [], [], 0.5)[0]:
        answered += drained(client)
    return Step(rate, sent * events / took, sent, answered)


def drained(client: socket.socket) -> int:
    """Answers that wait."""
    count = 0
    try:
        while client.recv(2048):
            count += 1
    except BlockingIOError:
        return count
    return count


def in_namespace(options: argparse.Namespace) -> None:
    """The other side: the sender, in a namespace of its own, and the server in a second one."""
    sys.path.insert(0, str(ROOT / "python"))
    from isthmus import bootstrap

    bootstrap.ensure_native()
    holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
    enter = ["nsenter", "--net", f"--target={holder.pid}"]
    process = None
    try:
        while Path(f"/proc/{holder.pid}/ns/net").readlink() == Path("/proc/self/ns/net").readlink():
            time.sleep(0.01)

        def ip(*words: str, there: bool = False) -> None:
            subprocess.run([*(enter if there else []), "ip", *words], check=True)

        ip("link", "add", "here", "type", "veth", "peer", "name", "there", "netns", str(holder.pid))
        for name, address, there in (("here", CLIENT, False), ("there", SERVER, True)):
            ip("addr", "add", f"{address}/24", "dev", name, there=there)
            ip("link", "set", name, "up", there=there)
        cores = sorted(os.sched_getaffinity(0))
        pinned = ["taskset", "--cpu-list", str(cores[-1])] if len(cores) > 1 else []
        command = [
            sys.executable,
            "-m",
            "isthmus",
            "trigger",
            "serve",
            "--udp",
            f"{SERVER}:{PORT}",
            "--bind-public",
        ]
        process = subprocess.Popen(
            [*enter, *pinned, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        )  # fmt: skip
        assert process.stdout is not None
        assert "trigger udp" in process.stdout.readline()
        os.sched_setaffinity(0, cores[:1])
        before = Used.now(process.pid)
        best, last = measure(options)
        used = Used.now(process.pid).since(before)
        others = max(0.0, used.busy - used.server - used.sender) / used.total
        print(f"other work took {100 * others:.0f} % of the machine meanwhile")
        print(f"lost at the server's socket: {used.full}, in the kernel before any socket: {used.backlog}")
        process.send_signal(signal.SIGINT)
        counts = process.communicate(timeout=10)[1].strip()
        cost = 1e6 * used.server / os.sysconf("SC_CLK_TCK") / int(counts.split()[0].replace(",", ""))
        print(f"{counts}\nserver's processor time a datagram: {cost:.1f} us")
        if options.store:
            STORED.write_text(json.dumps(result(options, best, others, cost), indent=1) + "\n")
        if options.rate and not last.lossless:
            sys.exit(1)
    finally:
        if process is not None:
            process.kill()
        holder.kill()


@dataclass(frozen=True)
class Used:
    """What was used and lost so far; times in ticks."""

    busy: int
    """Of all cores, what the hypervisor's other guests had included."""
    total: int
    server: int
    """Of the process. What interrupts took on its behalf is not in it."""
    sender: int
    full: int
    """Datagrams lost because the server's buffer was full."""
    backlog: int
    """And in the queues of the cores before that."""

    @classmethod
    def now(cls, server: int) -> Used:
        first = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
        user, nice, system, idle, iowait, irq, softirq, steal = map(int, first)
        busy = user + nice + system + irq + softirq + steal

        def own(pid: int | str) -> int:
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            return int(words[11]) + int(words[12])

        snmp = Path(f"/proc/{server}/net/snmp").read_text().splitlines()
        head, values = (line.split() for line in snmp if line.startswith("Udp: "))
        queues = Path("/proc/net/softnet_stat").read_text().splitlines()
        backlog = sum(int(line.split()[1], 16) for line in queues)
        full = int(values[head.index("RcvbufErrors")])
        return cls(busy, busy + idle + iowait, own(server), own("self"), full, backlog)

    def since(self, before: Used) -> Used:
        return Used(*(new - old for new, old in zip(astuple(self), astuple(before), strict=True)))


def machine() -> str:
    """The processor, and how many cores of it this program may use."""
    text = subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout
    model = re.search(r"Model name:\s*(.*)", text)
    return f"{model[1] if model else 'processor unknown'}, {len(os.sched_getaffinity(0))} cores"


def result(options: argparse.Namespace, best: Step | None, others: float, cost: float) -> dict[str, object]:
    """What is stored."""
    return {
        "machine": os.environ[INSIDE],
        "other_work": round(others, 2),
        "server_us_per_datagram": round(cost, 1),
        "sample": options.sample,
        "events_per_datagram": options.events,
        "seconds": options.seconds,
        "lossless_events_per_s": None if best is None else round(best.sent),
        "datagrams": None if best is None else best.datagrams,
        "lost": None if best is None else best.datagrams - best.answered,
    }


def measure(options: argparse.Namespace) -> tuple[Step | None, Step]:
    """Steps up until events are lost, then between: the best lossless one, and the last one."""
    given = datagrams(options.sample, options.events)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((SERVER, PORT))
        client.setblocking(False)
        try:
            client.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
        except OSError:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        low, high, best = 0.0, float("inf"), None
        rate = options.rate or 100e3
        print("#asked [k/s]  sent [k/s]  datagrams  answered")
        while high > 1.05 * low and rate < 100e6:
            made = step(client, given, options.events, rate, options.seconds)
            print(
                f"{made.asked / 1e3:12.0f}{made.sent / 1e3:12.0f}{made.datagrams:11}{made.answered:10}",
                flush=True,
            )
            if made.lossless:
                low, best = rate, made
            else:
                high = rate
            if options.rate:
                break
            rate = 2 * rate if high == float("inf") else (low + high) / 2
            if low == 0 and rate < 1e3:
                break
        highest = "no rate" if best is None else f"{best.sent / 1e6:.3f} M events/s"
        print(
            f"highest rate without loss: {highest}, {options.events} events per datagram, "
            f"sample {options.sample}"
        )
    return best, made


def main() -> None:
    """Start again in namespaces of our own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=10.0, help="of each rate")
    parser.add_argument(
        "--events", type=int, default=20, choices=range(1, 21), metavar="1..20", help="a datagram"
    )
    parser.add_argument("--sample", default="reference")
    parser.add_argument("--rate", type=float, help="events a second: this rate alone")
    parser.add_argument("--store", action="store_true", help=f"write {STORED.relative_to(ROOT)}")
    options = parser.parse_args()
    if os.environ.get(INSIDE):
        in_namespace(options)
        return
    if missing := missing_tools():
        sys.exit(f"missing tools: {', '.join(missing)}")
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    # With its processes: nothing of it is left, however it ends.
    command = [
        "unshare",
        "--net",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        *user,
        sys.executable,
        *sys.argv,
    ]
    described = machine()
    print(f"# {described}")
    sys.exit(subprocess.run(command, env={**os.environ, INSIDE: described}, check=False).returncode)


if __name__ == "__main__":
    main()
