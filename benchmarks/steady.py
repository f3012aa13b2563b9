# SPDX-License-Identifier: Apache-2.0
"""How far a pipelined figure at the default options lies from that of a long run, over every bus and profile.

Both are steady windows of the same series; the long one has 10^5 cycles. Over buses whose driver carries a
request out before it returns (word by word) `--word-by-word` has fewer: each cycle is like the one before.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from measured import Figure, main

TIMESTAMPS = (1, 8)
PERCENT = 1.0
SLOW = ("pcie-scu3", "vme-rio4")


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    from isthmus.platforms import PROFILES
    from isthmus.roads.etherbone import bench as etherbone

    figures = []
    for name in options.platform.split(",") if options.platform else etherbone.SERIES:
        for profile in PROFILES:
            for per_cycle in TIMESTAMPS:
                cycles = options.word_by_word if name in SLOW else options.cycles
                default = _ns(name, profile, per_cycle, etherbone.ITERATIONS)
                long = _ns(name, profile, per_cycle, cycles)
                title = f"{name} {profile} ts{per_cycle}, {long:.4g} ns"
                print(f"# {title}; at default options {default:.4g} ns", flush=True)
                figures.append(Figure(title, 100 * abs(default / long - 1), PERCENT, "% off"))
    return figures


def _ns(name: str, profile: Any, per_cycle: int, cycles: int) -> float:
    """Nanoseconds a timestamp."""
    from isthmus import native, platforms
    from isthmus.bench import runner as running
    from isthmus.roads.etherbone import scenario

    platform = platforms.load(name)
    model = running.model(platforms.kind(platform.bus).boards[profile])
    workload = scenario.timestamps("pipelined", per_cycle, cycles)
    result: Mapping[str, Any]
    (result,) = native.run_scenario(scenario.scenario(platform, profile, model, workload, 1))
    return 1e9 / float(result["throughput"]["timestamps_per_s"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--platform", default="", help="with commas between; without it all of the report's")
    parser.add_argument("--cycles", type=int, default=100_000, help="of the long run")
    parser.add_argument("--word-by-word", type=int, default=10_000, help=f"the same over {', '.join(SLOW)}")
    sys.exit(main(measure, parser))
