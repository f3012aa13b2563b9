# SPDX-License-Identifier: Apache-2.0
"""The RDMA network at length: eight hosts with their interfaces around an 8x8 switch.

    PYTHONPATH=python .isthmus/venv/bin/python benchmarks/rdma_network.py [--soak PACKETS] [--clean]
        [--jobs N] [--account FILE] [--check]

Without --soak it measures the simulator: cycles of an interface's host clock a second of processor time, all
pairs writing 4 KB; and packets, all sending messages of 8 bytes both ways, one at a time and in lists, over
PCI-X and PCI Express. --check exits 1 below a target.
--soak sends that many packets or more (10^7 take about 100 minutes of a core) from all hosts to all hosts
with bit errors, lost credits, links that go down and programs that stop, and prints the account; --clean
leaves the faults out. Its hosts have two links, over a 4x4 switch each. It runs in parts, each with its own
seed, --jobs of them at a time; after each part the sum so far is printed, and kept in the file of --account:
a soak that was stopped goes on there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from isthmus import bootstrap, native, platforms
from isthmus.errors import UserError
from isthmus.roads.rdma.bench import PLATFORM, PLATFORMS, Transfers, models, scenario

TARGET_KCYCLES = 50
TARGET_KPACKETS = 1_000
"""A minute: of the run that carries most, whose bus does not hold it up."""
PACKETS_PER_TRANSFER = 2.0
"""Of a soak, about: one to four for a write of up to 2 KB, one for a message."""
SOAK_HOSTS, SOAK_BYTES = 4, 2048
PART_PACKETS = 500_000
WALL_S = 86_400


def made(
    hosts: int, links: int, workload: dict[str, Any], faults: dict[str, Any], name: str = PLATFORM
) -> dict[str, Any]:
    """A scenario of the isthmus profile, over PCI-X or on the platform of that name."""
    platform = platforms.load(name)
    built = models(platform, "isthmus", links, hosts)
    base = Transfers("write-lat", hosts=hosts, links=links, inline=0)
    one = scenario(platform, "isthmus", base, built["rdma_ni"], built["link_switch"], faults=faults)
    one["workload"] = {**one["workload"], **workload}
    one["limits"] = {"wall_s": WALL_S, "simulated_ms": 1_000_000}
    return one


def total(found: dict[str, Any], counter: str) -> int:
    """Of all interfaces."""
    values = found["counters"].items()
    return sum(value for name, value in values if name.startswith("ni") and name.endswith(f".{counter}"))


def part(packets: int, clean: bool, seed: int) -> dict[str, Any]:
    """The scenario of about this many packets, with all kinds of faults."""
    iterations = max(100, round(packets / PACKETS_PER_TRANSFER / SOAK_HOSTS))
    # Link clocks and nanoseconds over which faults are spread: a transfer takes about 6 us of a host.
    span_ns = iterations * 6_000
    spread = range(1, 1 + max(1, span_ns // 5_000_000))
    faults: dict[str, Any] = {
        "bit_error_rate": 1e-8,
        "credit_loss_rate": 1e-3,
        "credit_corrupt_rate": 1e-3,
        "resets": [[n % SOAK_HOSTS, n % 2, round(n * 5e6 / 12.8), 2_000] for n in spread],
        "stalls": [[n % SOAK_HOSTS, n * 5_000_000 + 2_000_000, 200_000] for n in spread],
    }
    workload = {
        "test": "soak", "hosts": SOAK_HOSTS, "size_bytes": SOAK_BYTES, "iterations": iterations, "warmup": 0,
    }  # fmt: skip
    return {**made(SOAK_HOSTS, 2, workload, {} if clean else faults), "seed": seed}


def run_part(scenario: dict[str, Any]) -> Counter[str]:
    """Its account: what the programs and the links saw, what the interfaces did, cycles. Raises `UserError`
    that names the seed where a program found what must not be."""
    try:
        (found,) = native.run_scenario(scenario)
    except UserError as err:
        raise UserError(f"soak, seed {scenario['seed']}: {err}") from err
    interfaces = [
        f"packets_{what}" for what in ("sent", "taken", "refused", "known", "stray", "retired", "lost")
    ]
    interfaces += ["sessions_opened", "sessions_failed", "probes"]
    told = ("soak.", "links.")
    account = {name: value for name, value in found["counters"].items() if name.startswith(told)}
    account |= {name: total(found, name) for name in interfaces}
    account["device_cycles"] = found["simulation"]["device_cycles"]
    return Counter(account)


def soak(packets: int, clean: bool, jobs: int, kept: Path | None = None) -> None:
    """All parts, summed; the first that fails ends it. Parts are sized by an estimate: what they lack
    goes into another one. The sum so far is in `kept`, and a soak that was stopped goes on behind it."""
    parts = max(1, round(packets / PART_PACKETS))
    scenarios = [part(packets // parts, clean, seed) for seed in range(1, parts + 1)]
    # Other packets, faults or models are another soak.
    what = hashlib.sha256(json.dumps(scenarios).encode()).hexdigest()[:16]
    ended, account = _so_far(kept, what)
    scenarios = scenarios[ended:]
    with ProcessPoolExecutor(jobs) as pool:
        try:
            while scenarios or account["packets_sent"] < packets:
                if not scenarios:
                    scenarios = [part(packets - account["packets_sent"], clean, ended + 1)]
                for found in pool.map(run_part, scenarios):
                    ended += 1
                    account.update(found)
                    if kept is not None:
                        _keep(kept, {"soak": what, "seeds": [1, ended], "counters": dict(account)})
                    sent, lost = account["packets_sent"], account["packets_lost"]
                    done = f"part {ended} of {max(parts, ended)}: {sent} packets so far"
                    print(f"{done}, {lost} lost and reported", file=sys.stderr, flush=True)
                scenarios = []
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    json.dump({"seeds": [1, ended], "counters": dict(account)}, sys.stdout, indent=1)
    print()


def _so_far(kept: Path | None, what: str) -> tuple[int, Counter[str]]:
    """Parts that have ended, and their sum. Raises `UserError` for the file of another soak."""
    if kept is None or not kept.exists():
        return 0, Counter()
    try:
        read = json.loads(kept.read_text())
        found, ended, counters = read["soak"], int(read["seeds"][1]), Counter(read["counters"])
    except (OSError, ValueError, KeyError, TypeError, IndexError) as err:
        raise UserError(f"{kept}: not the account of a soak ({err}); name a new file") from err
    if found != what:
        raise UserError(
            f"{kept}: the account of a soak of other packets, faults or models; name another file"
        )
    return ended, counters


def _keep(file: Path, account: dict[str, Any]) -> None:
    partial = file.with_name(f"{file.name}.partial")
    partial.write_text(json.dumps(account, indent=1) + "\n")
    partial.replace(file)


def speed(workload: dict[str, Any], platform: str = PLATFORM) -> tuple[float, float]:
    """Thousands of host cycles, and of packets, a second of processor time; the best of three runs."""
    one = made(8, 1, {"hosts": 8, "warmup": 10, **workload}, {}, platform)
    best = (0.0, 0.0)
    for _ in range(3):
        begin = time.process_time()
        (found,) = native.run_scenario(one)
        spent = time.process_time() - begin
        cycles, packets = found["simulation"]["device_cycles"], total(found, "packets_sent")
        best = max(best, (cycles / spent / 1e3, packets / spent / 1e3))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--soak", type=int, metavar="PACKETS")
    parser.add_argument("--clean", action="store_true", help="a soak without faults")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="parts of a soak at a time")
    parser.add_argument("--account", type=Path, metavar="FILE", help="where a soak's sum is kept")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    bootstrap.ensure_native()
    if given.soak:
        try:
            soak(given.soak, given.clean, max(1, given.jobs), given.account)
        except UserError as err:
            sys.exit(str(err))
        return
    kcycles, _ = speed({"test": "write-bw", "size_bytes": 4096, "iterations": 150})
    print(
        f"8 hosts, interfaces, 8x8 switch: {kcycles:.1f} kcycles/s, target {TARGET_KCYCLES}, ratio "
        f"{kcycles / TARGET_KCYCLES:.2f}"
    )
    missed = kcycles < TARGET_KCYCLES
    most = 0.0
    messages = {"test": "send-bw", "size_bytes": 8, "iterations": 2_000, "both_ways": True}
    for platform in PLATFORMS:
        for post_list in (1, 16):
            kpackets = 60 * speed({**messages, "post_list": post_list}, platform)[1]
            how = f"in lists of {post_list}" if post_list > 1 else "one at a time"
            print(f"{platform}, shortest messages {how}: {kpackets:.0f} thousand packets a minute")
            most = max(most, kpackets)
    print(f"most: {most:.0f}, target {TARGET_KPACKETS}, ratio {most / TARGET_KPACKETS:.2f}")
    sys.exit(int(given.check and (missed or most < TARGET_KPACKETS)))


if __name__ == "__main__":
    main()
