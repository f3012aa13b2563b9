# SPDX-License-Identifier: Apache-2.0
"""How fast the coherent link is simulated: both ends, one link and two, clock cycles a second on one core.

64 lines are in flight, so that neither end is ever idle. The rate is simulated clocks of 300 MHz, in each
of which both ends are evaluated, over the processor time of the whole run. The best of some
repetitions counts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from measured import Figure, main

TRANSFERS = 20_000


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    from isthmus import native, platforms
    from isthmus.roads.eci import bench

    platform = platforms.load(bench.PLATFORM)
    figures = []
    for links in (1, 2):
        for driver in ("uncached", "cached"):
            transfers = bench.Transfers(
                "device-read", iterations=options.transfers, window=64, driver=driver, links=links
            )
            models = bench.models(platform, "isthmus", cached=transfers.cached, links=links, driver=driver)
            made = bench.scenario(bench.Point(transfers, "isthmus", platform), models)
            speeds = []
            for _ in range(options.repetitions):
                begin = time.process_time()
                (result,) = native.run_scenario(made)
                cost = result["simulation"]
                if cost["evaluated_cycles"] < 0.98 * cost["device_cycles"]:
                    sys.exit(f"{driver}: {cost['evaluated_cycles']} of {cost['device_cycles']} cycles")
                # Cycles of both ends are counted.
                speeds.append(cost["evaluated_cycles"] / 2 / (time.process_time() - begin) / 1e3)
            figures.append(
                Figure(f"both ends, links: {links}, {driver}", max(speeds), 100, "kcycles/s", least=True)
            )
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transfers", type=int, default=TRANSFERS)
    parser.add_argument("--repetitions", type=int, default=3)
    sys.exit(main(measure, parser))
