# SPDX-License-Identifier: Apache-2.0
"""ECI's lanes in gateware: blocks lost over two oscillators 200 ppm apart, reads of 128 bytes over the lanes.

The bench of tests/unit/blocklink/test_blocklink_lanes.py over as many words of each lane as asked for, and
that of tests/unit/board/test_eci_lanes.py with these lanes and with lanes that are constants.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from measured import ROOT, Figure, main

LANES = "tests/unit/blocklink/test_blocklink_lanes.py::test_blocklink_lanes[2048-0]"
READS = [
    f"tests/unit/board/test_eci_lanes.py::test_eci_lanes[{name}]" for name in ("lanes-2048", "constants")
]
LINE_CYCLES = 9.7
"""Of constant lanes, from a block's last bit to the block; its bits take 1.3 of the 11 cycles."""


def told(tests: Sequence[str], mark: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """What the benches print behind `mark`."""
    # With a seed of its own a bench always runs, and is not recorded.
    env = {**os.environ, "ISTHMUS_SEED": str(options.seed)}
    env |= {"ISTHMUS_LANE_WORDS": str(options.words), "ISTHMUS_ECI_CYCLES": str(options.cycles)}
    command = [sys.executable, "-m", "pytest", "-n0", "-q", "-s", *tests]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    lines = [line.removeprefix(mark) for line in done.stdout.splitlines() if line.startswith(mark)]
    if done.returncode or not lines:
        raise SystemExit(f"block_lanes.py: the bench failed\n{done.stdout[-2000:]}")
    for line in lines:
        print(f"# {line}")
    return [json.loads(line) for line in lines]


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    figures = []
    for run in told([LANES], "blocklink_lanes ", options):
        name = f"to end {run['end']}"
        figures += [
            Figure(f"{name}: blocks lost, wrong or twice", run["lost"] + run["wrong"], 0, "blocks"),
            Figure(f"{name}: share of the coding's rate", run["gbit_s"] / run["expected"], 0.9999, "1", True),
        ]
    real, constant = told(READS, "eci_lanes ", options)
    share = real["loaded"]["gb_s"] / real["limit_gb_s"]
    added = real["alone"]["cycles"] - real["alone"]["line"] - constant["alone"]["cycles"] + 2 * LINE_CYCLES
    figures += [
        Figure("lines of 128 bytes: GB/s over the lanes", real["loaded"]["gb_s"], 12.02, "GB/s", True),
        Figure("of the limit of the coding", share, 0.99, "1", True),
        Figure("a read alone: cycles over constant lanes", added, 36, "cycles"),
    ]
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=420_000, help="of each lane, each way: 24 lanes")
    parser.add_argument("--cycles", type=int, default=40_000, help="of 300 MHz, for the reads")
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(main(measure, parser))
