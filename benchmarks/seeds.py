# SPDX-License-Identifier: Apache-2.0
"""Unit benches that fail with new random seeds.

Each bench runs with a seed of its own in `isthmus test`; here all that `--only` names run with `--seeds`
others, drawn anew or counted up from `--first`. A failure is printed with the command that repeats it.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from measured import ROOT, Figure, main

REPEAT = re.compile(r"\(repeat with ISTHMUS_SEED=\d+\)")


def failures(results: Path) -> tuple[int, list[tuple[str, str]]]:
    """Of pytest's JUnit file: tests that ran, and of each that failed its name for -k and what it said."""
    cases = list(ElementTree.parse(results).iter("testcase"))
    failed = []
    for case in cases:
        said = next((item for item in case if item.tag in ("failure", "error")), None)
        if said is not None:
            line = (said.get("message") or "").splitlines()[0:1]
            failed.append((case.attrib["name"], REPEAT.sub("", line[0] if line else "").strip()))
    ran = [case for case in cases if case.find("skipped") is None]
    return len(ran), failed


def run(seed: int, only: str, jobs: int) -> tuple[int, list[tuple[str, str]]]:
    """All benches with one seed."""
    with tempfile.TemporaryDirectory(prefix="isthmus-seeds-") as place:
        results = Path(place) / "results.xml"
        command = [sys.executable, "-m", "pytest", "tests/unit", "-q", f"-n{jobs}", "-p", "no:cacheprovider"]
        command += [f"--junitxml={results}", *(["-k", only] if only else [])]
        env = {**os.environ, "ISTHMUS_SEED": str(seed)}
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        if not results.is_file() or done.returncode not in (0, 1):
            raise SystemExit(
                f"seeds.py: pytest ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-500:]}"
            )
        return failures(results)


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    first = options.first
    drawn = random.SystemRandom()
    wrong = runs = 0
    for k in range(options.seeds):
        seed = first + k if first is not None else drawn.randrange(1 << 31)
        begin = time.monotonic()
        ran, failed = run(seed, options.only, options.jobs)
        print(
            f"# seed {seed}: {ran} tests, {len(failed)} failed, {time.monotonic() - begin:.0f} s", flush=True
        )
        for name, said in failed:
            bench = name.partition("[")[0]
            print(f"#   ISTHMUS_SEED={seed} ./isthmus test -k {bench}  # {name}: {said}", flush=True)
        runs += ran
        wrong += len(failed)
    return [Figure(f"runs that fail, of {runs}", wrong, 0, "runs")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="seeds, each for all benches")
    parser.add_argument("--first", type=int, help="the first seed; the others count up from it")
    parser.add_argument("--only", default="", help="of the benches those that pytest's -k finds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="benches at once")
    sys.exit(main(measure, parser))
