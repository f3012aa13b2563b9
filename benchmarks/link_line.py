# SPDX-License-Identifier: Apache-2.0
"""Two ends of a link whose oscillators are 200 ppm apart, full load both ways: words lost, removed and added.

The bench of tests/unit/link/test_link_line.py over as many words as asked for, each end once the faster.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence

from measured import ROOT, Figure, main

TEST = "tests/unit/link/test_link_line.py::test_link_line[1024]"
MARK = "link_line "


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    # With a seed of its own a bench always runs, and is not recorded.
    env = {**os.environ, "ISTHMUS_LINK_WORDS": str(options.words), "ISTHMUS_SEED": str(options.seed)}
    command = [sys.executable, "-m", "pytest", "-n0", "-q", "-s", TEST]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
    if done.returncode or len(lines) != 2:
        raise SystemExit(f"link_line.py: the bench failed\n{done.stdout[-2000:]}")
    figures = []
    for line in lines:
        run = json.loads(line.removeprefix(MARK))
        print(f"# {run}")
        name = "end 0 faster" if run["periods_ps"][0] < run["periods_ps"][1] else "end 1 faster"
        figures += [
            Figure(f"{name}: words lost", sum(run["lost"]), 0, "words"),
            Figure(f"{name}: packets missing, bad or wrong", run["spoilt"], 0, "packets"),
        ]
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=10_000_000, help="each way, of each run")
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(main(measure, parser))
