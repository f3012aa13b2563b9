# SPDX-License-Identifier: Apache-2.0
"""The Rust and the C Etherbone client beside libetherbone: bus reads a second, the same loop through each.

`python3 benchmarks/client_speed.py [--libetherbone FOLDER] [--rounds N] [--seconds S] [--check]`. FOLDER is
where libetherbone was built or installed: `etherbone.h`, `libetherbone.so` or `.a`, and the tool `eb-snoop`
are looked for in it and below. Without it only our own clients are measured. The slave is `eb-snoop` where
there is one (32-bit addresses and data), else our own software slave.

Client and slave share one core (`--core`), so that the figures are the work they do, not how the scheduler
places them. "Rust" waits for futures (`Client::submit`), "tags" asks the client for what ended
(`Client::submit_tagged`), "C" has callbacks, as libetherbone. The clients take turns, every run is a process
of its own; the median counts. Reads are divided by the processor time of client and slave together
(`--time processor`): what the core does for others in the meantime does not count. `--time wall` divides by
the time that passed, and `--core any` leaves both free. Every status is checked and every value compared.
`--check` exits with 1 where one of ours is slower than libetherbone.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "benchmarks/peers/libetherbone/client_speed.c"
CYCLES = 90


@dataclass(frozen=True)
class Case:
    """One way to read: `cycles` 0 is blocking."""

    transport: str
    cycles: int
    reads: int

    @property
    def name(self) -> str:
        if self.cycles == 0:
            return f"{self.transport} blocking, 1 read"
        return f"{self.transport} pipelined, {self.cycles} x {self.reads}"


CASES = [
    Case(transport, cycles, reads)
    for transport in ("udp", "tcp")
    for cycles, reads in [(0, 1), *((CYCLES, reads) for reads in (1, 2, 8, 16))]
]


@dataclass(frozen=True)
class Peer:
    """What was found of libetherbone."""

    header: Path
    library: Path
    snoop: Path | None


def find_peer(folder: Path) -> Peer:
    """libetherbone in `folder` and below; LookupError names what is missing."""
    if not folder.is_dir():
        raise LookupError(
            f"--libetherbone {folder}: expected the folder where libetherbone was built or installed"
        )

    def first(*names: str) -> Path | None:
        found = (path for name in names for path in sorted(folder.rglob(name)) if path.is_file())
        return next(found, None)

    header, library = first("etherbone.h"), first("libetherbone.so", "libetherbone.a")
    missing = [name for name, path in (("etherbone.h", header), ("libetherbone.so", library)) if path is None]
    if header is None or library is None:
        raise LookupError(f"--libetherbone {folder}: no {' and no '.join(missing)} in it or below")
    snoop = first("eb-snoop")
    return Peer(header, library, snoop if snoop and os.access(snoop, os.X_OK) else None)


@dataclass(frozen=True)
class Program:
    """What is measured: a program and the words behind its other arguments."""

    path: Path
    words: tuple[str, ...] = ()


def build(folder: Path, peer: Peer | None) -> dict[str, Program]:
    """The programs to measure, by name, in the order in which they take turns."""
    cargo = ["cargo", "build", "--release", "-j2", "-p", "isthmus-host", "--example", "client_speed"]
    subprocess.run(cargo, check=True, cwd=ROOT)
    subprocess.run(["cargo", "build", "--release", "-j2", "-p", "isthmus-capi"], check=True, cwd=ROOT)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    compiler = [
        os.environ.get("CC", "cc"),
        "-std=c99",
        "-D_POSIX_C_SOURCE=200809L",
        "-O2",
        "-Wall",
        "-Wextra",
    ]

    def compiled(name: str, include: Path, library: Path, *options: str) -> Path:
        program = folder / name
        # Where the same folder has it, the program finds the shared library there.
        run_path = f"-Wl,-rpath,{library.parent.resolve()}"
        sources = [str(SOURCE), str(library), run_path, "-o", str(program)]
        subprocess.run([*compiler, *options, f"-I{include}", *sources], check=True)
        return program

    programs = {}
    if peer is not None:
        programs["lib"] = Program(compiled("lib", peer.header.parent, peer.library))
    rust = target / "examples/client_speed"
    programs["Rust"] = Program(rust)
    programs["tags"] = Program(rust, ("tags",))
    include = ROOT / "crates/isthmus-capi/include"
    programs["C"] = Program(compiled("c", include, target / "libisthmus_eb.so", "-DISTHMUS"))
    return programs


def pinned(core: str) -> list[str]:
    taskset = shutil.which("taskset")
    if core == "any":
        return []
    if taskset is None:
        raise LookupError("no taskset on this machine to pin with; --core any measures without")
    return [taskset, "-c", core]


@dataclass(frozen=True)
class Slave:
    """A slave that runs."""

    process: int
    ports: dict[str, int]

    def name(self, transport: str) -> str:
        return f"{transport}/127.0.0.1/{self.ports[transport]}"

    def processor_time(self) -> float:
        """Seconds of all its threads so far."""
        tasks = Path(f"/proc/{self.process}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


@contextmanager
def slave(prefix: list[str], peer: Peer | None, ours: Path) -> Iterator[Slave]:
    """A slave as a process."""
    snoop = peer.snoop if peer else None
    if snoop is not None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [*prefix, str(snoop), "-a", "32", "-d", "32", str(port), "0x0-0x3fff"]
    else:
        command = [*prefix, str(ours), "serve"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if snoop is not None:
            wait_for_tcp(port)
            ports = {"udp": port, "tcp": port}
        else:
            assert process.stdout is not None
            udp, tcp = process.stdout.readline().split()
            ports = {"udp": int(udp), "tcp": int(tcp)}
        yield Slave(process.pid, ports)
    finally:
        process.kill()
        process.wait()


def wait_for_tcp(port: int) -> None:
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise LookupError("eb-snoop does not listen")


def rate(prefix: list[str], program: Program, slave: Slave, case: Case, options: argparse.Namespace) -> float:
    """Reads a second of one run."""
    name = slave.name(case.transport)
    numbers = [str(case.cycles), str(case.reads), str(options.seconds)]
    command = [*prefix, str(program.path), name, *numbers, *program.words]
    before = slave.processor_time()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise LookupError(f"{program.path.name} on {case.name}: exit status {process.returncode}")
    count, seconds = (float(word) for word in printed.split())
    if options.time == "processor":
        seconds = used.ru_utime + used.ru_stime + slave.processor_time() - before
    return count / seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libetherbone", type=Path, metavar="FOLDER", help="where libetherbone was built")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each client and case (5)")
    parser.add_argument("--seconds", type=float, default=0.5, help="time of a run (0.5)")
    parser.add_argument("--core", default="0", help="processor for client and slave, or any (0)")
    parser.add_argument(
        "--slave", choices=("eb-snoop", "isthmus"), default="eb-snoop", help="which slave (eb-snoop)"
    )
    parser.add_argument(
        "--time", choices=("processor", "wall"), default="processor", help="what reads are divided by"
    )
    parser.add_argument(
        "--only", default="", help="cases whose name has this in it, for example 'tcp pipelined'"
    )
    parser.add_argument(
        "--check", action="store_true", help="exit 1 where one of ours is slower than libetherbone"
    )
    options = parser.parse_args()
    if options.rounds < 1 or options.seconds <= 0:
        parser.error("--rounds and --seconds must be greater than 0")
    try:
        peer = find_peer(options.libetherbone) if options.libetherbone else None
        prefix = pinned(options.core)
        with tempfile.TemporaryDirectory() as folder:
            programs = build(Path(folder), peer)
            with_snoop = peer if options.slave == "eb-snoop" else None
            with slave(prefix, with_snoop, programs["Rust"].path) as running:
                missed = table(options, prefix, programs, running)
    except LookupError as error:
        print(error, file=sys.stderr)
        return 2
    if options.check and peer is None:
        print("--check needs --libetherbone: nothing to compare with", file=sys.stderr)
        return 2
    return int(options.check and missed)


def table(options: argparse.Namespace, prefix: list[str], programs: dict[str, Program], slave: Slave) -> bool:
    """Measures and prints; whether one of ours was slower."""
    names = list(programs)
    ours = [name for name in names if name != "lib"] if "lib" in names else []
    head = "".join(f"{name:>10}" for name in names) + "".join(f"{name + '/lib':>10}" for name in ours)
    print(f"{'thousand reads a second':<26}{head}   median of {options.rounds}")
    missed = False
    for case in CASES:
        if options.only not in case.name:
            continue
        rates: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(options.rounds):
            for name, program in programs.items():
                rates[name].append(rate(prefix, program, slave, case, options))
        medians = {name: statistics.median(rates[name]) for name in names}
        # Runs side by side had the same neighbours on the machine: their ratios are steadier.
        ratios = [statistics.median(a / b for a, b in zip(rates[n], rates["lib"], strict=True)) for n in ours]
        line = f"{case.name:<26}" + "".join(f"{medians[name] / 1e3:>10.1f}" for name in names)
        line += "".join(f"{ratio:>10.2f}" for ratio in ratios)
        if ratios:
            slower = min(ratios) < 1
            missed |= slower
            line += "   miss" if slower else "   PASS"
        print(line, flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
