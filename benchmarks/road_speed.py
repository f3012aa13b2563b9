# SPDX-License-Identifier: Apache-2.0
"""How fast the simulated FPGAs of the Etherbone road run: evaluated clock cycles a second, on one core.

Over Gigabit Ethernet the shortest frames come back to back, so that the device is never idle, and everything
around it runs too: wire, PHY, checks of every reply. Over the other buses a host program keeps cycles in
flight, and idle cycles are evaluated like all others. The best of some repetitions counts: on a shared
machine others take the rest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from measured import Figure, main

FRAMES = 20_000
CYCLES = 2_000


BUSES = (
    ("pcie-t5810", "isthmus", "PCIe by DMA"),
    ("pcie-t5810", "as-published", "PCIe word by word"),
    ("usb-t5810", "isthmus", "USB"),
    ("vme-rio4", "as-published", "VMEbus"),
)


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    from isthmus import platforms
    from isthmus.bench import runner as running
    from isthmus.roads.etherbone import scenario

    model = running.model("gige_etherbone")
    platform = platforms.load("gige-direct")
    made = scenario.scenario(platform, "isthmus", model, scenario.line_rate(options.frames), 1)
    figures = [_figure("Gigabit Ethernet, never idle", made, options.repetitions)]
    for name, profile, title in BUSES:
        platform = platforms.load(name)
        model = running.model(platforms.kind(platform.bus).boards[profile])
        made = scenario.scenario(platform, profile, model, scenario.throughput(8, options.cycles), 1)
        figures.append(_figure(title, {**made, "skip_idle": False}, options.repetitions))
    return figures


def _figure(title: str, made: dict[str, Any], repetitions: int) -> Figure:
    from isthmus import native

    speeds = []
    for _ in range(repetitions):
        (result,) = native.run_scenario(made)
        cost = result["simulation"]
        if cost["evaluated_cycles"] < 0.98 * cost["device_cycles"]:
            sys.exit(f"{title}: {cost['evaluated_cycles']} of {cost['device_cycles']} cycles evaluated: idle")
        speeds.append(cost["evaluated_cycles"] / cost["wall_s"] / 1e3)
    return Figure(f"device, {title}", max(speeds), 500, "kcycles/s", least=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=FRAMES)
    parser.add_argument("--cycles", type=int, default=CYCLES)
    parser.add_argument("--repetitions", type=int, default=3)
    sys.exit(main(measure, parser))
