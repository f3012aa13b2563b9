# SPDX-License-Identifier: Apache-2.0
"""Figure 6 of the FORTH prototype with many packets: delay against load to the last percent.

    PYTHONPATH=python .isthmus/venv/bin/python benchmarks/switch_figure.py [--packets 1000000] [--ports 4]

Writes `switch-figure.json`, `.csv` and `.html`. With --soak N it instead sends N packets (10^7 takes minutes)
through the gateware at a high load with bit errors, lost credits, a stalled sink and a reset now and then,
and prints the account. With --speed it measures the simulator: 8 sources, the 8x8 switch, 8 sinks, in cycles
a second of processor time; --check makes it exit 1 below its target.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from isthmus import bootstrap, native, platforms
from isthmus.platforms import PROFILES
from isthmus.results import to_csv, write
from isthmus.roads.switch import bench as switch
from isthmus.roads.switch import tables as switch_tables
from isthmus.roads.switch.published import PUBLISHED_PORTS

LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99)
TARGET_KCYCLES = 200
SOAK = {
    "bit_error_rate": 1e-8,
    "credit_loss_rate": 1e-3,
    "credit_corrupt_rate": 1e-3,
    "stalls": [[number % PUBLISHED_PORTS, 100_000 * number, 20_000] for number in range(1, 200)],
    "resets": [[number % PUBLISHED_PORTS, 150_000 * number, 100] for number in range(1, 200)],
}


def figure(packets: int, ports: int, out: Path) -> None:
    """Every load, both profiles, all engines."""
    traffic = switch.Traffic(ports=ports, packets=packets)
    points = [
        point
        for profile in PROFILES
        for point in switch.curve(traffic, switch.Design(profile), LOADS, switch.ENGINES)  # type: ignore[arg-type]
    ]
    made = switch.measure(points, title="figure")
    from isthmus.roads.switch import page as drawing

    target = out / "switch-figure.json"
    write(made, target)
    target.with_suffix(".csv").write_text(to_csv(made))
    target.with_suffix(".html").write_text(drawing.page(made))
    print(switch_tables.text(made), end="")


def soak(packets: int, load: float) -> None:
    """The account after this many packets, with all kinds of faults."""
    platform, design = platforms.load(switch.PLATFORM), switch.Design()
    traffic = replace(switch.Traffic(ports=PUBLISHED_PORTS, packets=packets), load=load)
    built = switch.model(platform, PUBLISHED_PORTS, design)
    made = switch.scenario(platform, traffic, design, "rtl", built, faults=SOAK, limits={"wall_s": 86_400})
    made["workload"]["drain"] = True
    (found,) = native.run_scenario(made)
    json.dump({"counters": found["counters"], "simulation": found["simulation"]}, sys.stdout, indent=1)
    print()


def speed() -> float:
    """Thousands of cycles a second of processor time, at a load of 0.8."""
    platform, design = platforms.load(switch.PLATFORM), switch.Design()
    traffic = switch.Traffic(load=0.8, packets=20_000)
    made = switch.scenario(platform, traffic, design, "rtl", switch.model(platform, traffic.ports, design))
    best = 0.0
    for _ in range(3):
        begin = time.process_time()
        (found,) = native.run_scenario(made)
        best = max(best, found["simulation"]["device_cycles"] / (time.process_time() - begin) / 1e3)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--packets", type=int, default=1_000_000)
    parser.add_argument("--ports", type=int, default=PUBLISHED_PORTS, choices=switch.PORTS)
    parser.add_argument("--out", type=Path, default=Path("out"))
    parser.add_argument("--soak", type=int, metavar="N")
    parser.add_argument("--load", type=float, default=0.8, help="of the soak")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    bootstrap.ensure_native()
    if given.speed:
        found = speed()
        print(
            f"switch 8x8 with its network: {found:.0f} kcycles/s, target {TARGET_KCYCLES}, ratio "
            f"{found / TARGET_KCYCLES:.2f}"
        )
        sys.exit(int(given.check and found < TARGET_KCYCLES))
    if given.soak:
        soak(given.soak, given.load)
    else:
        figure(given.packets, given.ports, given.out)


if __name__ == "__main__":
    main()
