# SPDX-License-Identifier: Apache-2.0
"""How long a user waits: the whole `bench etherbone`, `compare`, and a model's build from nothing."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from measured import ROOT, Figure, main


def command(*arguments: str) -> float:
    """Seconds that a command takes; its output matters only when it fails."""
    started = time.perf_counter()
    done = subprocess.run(arguments, check=False, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr.strip()}")
    return time.perf_counter() - started


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    from isthmus.bench import runner as running
    from isthmus.models import ModelSpec
    from startup import from_nothing

    running.model("gige_etherbone")
    isthmus = str(ROOT / "isthmus")
    with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as out:
        bench = command(isthmus, "bench", "etherbone", "--out", out)
        compare = command(isthmus, "compare", "--out", out)
    built = from_nothing(ModelSpec("isthmus:board:gige_etherbone", "gige_etherbone"))
    return [
        Figure("isthmus bench etherbone, model built", bench, 60, "s"),
        Figure("isthmus compare, models built", compare, 30, "s"),
        Figure("model gige_etherbone from nothing", built, 60, "s"),
    ]


if __name__ == "__main__":
    sys.exit(main(measure, argparse.ArgumentParser(description=__doc__)))
