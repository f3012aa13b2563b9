# SPDX-License-Identifier: Apache-2.0
"""How fast the simulated FPGA of the Etherbone road runs: evaluated clock cycles a second, on one core.

The shortest frames come back to back, so that the device is never idle, and everything around it runs too:
wire, PHY, checks of every reply. The best of some repetitions counts: on a shared machine others take the
rest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from measured import Figure, main

FRAMES = 20_000


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    from isthmus import native, platforms
    from isthmus.bench import engine, scenario

    model = engine.model("gige_etherbone")
    platform = platforms.load("gige-direct")
    made = scenario.scenario(platform, "isthmus", model, scenario.line_rate(options.frames), 1)
    speeds = []
    for _ in range(options.repetitions):
        (result,) = native.run_scenario(made)
        cost = result["simulation"]
        if cost["evaluated_cycles"] < 0.98 * cost["device_cycles"]:
            sys.exit(
                f"the device was idle: {cost['evaluated_cycles']} of {cost['device_cycles']} cycles evaluated"
            )
        speeds.append(cost["evaluated_cycles"] / cost["wall_s"] / 1e3)
    return [Figure("device of the Etherbone road, never idle", max(speeds), 500, "kcycles/s", least=True)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=FRAMES)
    parser.add_argument("--repetitions", type=int, default=3)
    sys.exit(main(measure, parser))
