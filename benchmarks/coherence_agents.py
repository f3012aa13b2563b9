# SPDX-License-Identifier: Apache-2.0
"""Messages between a remote cache, an agent without a cache and a home with directory, checked one by one.

The bench of `tests/unit/coherence` (one writer, one owner, every copy and every load the last store, at every
clock; every row of the protocol's table used and no other), with more messages than a test has time for.
Prints how often each row was used; exits 1 where a check fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

BENCH = "tests/unit/coherence/test_coherence.py::test_coherence_agents[2]"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    settings = {"ISTHMUS_COHERENCE_MESSAGES": str(given.messages), "ISTHMUS_SEED": str(given.seed)}
    command = [sys.executable, "-m", "pytest", BENCH, "-q", "-s", "-n0"]
    return subprocess.run(command, env={**os.environ, **settings}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
