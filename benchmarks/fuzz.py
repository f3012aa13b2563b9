# SPDX-License-Identifier: Apache-2.0
"""Many random, broken and hostile frames against the whole device, each judged by a reference model.

In runs of 10^4 frames, each with a seed of its own and a fresh device, every second one with a slave that
never answers. The first violation ends it with one line and exit status 1: seed, frame number and the frame
in hex.
`docs/reference/scenario.md` says what is sent and compared.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from measured import Figure, main

PER_RUN = 10_000
CORE = "isthmus:board:gige_etherbone"


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    from isthmus import native, platforms
    from isthmus.errors import UserError
    from isthmus.models import ModelSpec, build
    from isthmus.roads.etherbone import scenario

    plain = build(ModelSpec(CORE, "gige_etherbone"))
    silent = build(ModelSpec(CORE, "gige_etherbone", {"SilentSlave": True, "Timeout": 1000}))
    platform = platforms.load("gige-direct")
    runs = []
    for number, first in enumerate(range(0, options.frames, PER_RUN)):
        workload = scenario.fuzz(min(PER_RUN, options.frames - first))
        model = silent if number % 2 else plain
        made = scenario.scenario(platform, "isthmus", model, workload, options.seed + number)
        made["device"]["dialect"] = options.dialect
        runs.append(made)

    total: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    started = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        # The engine works outside the interpreter's lock.
        futures = [pool.submit(native.run_scenario, run) for run in runs]
        try:
            for future in as_completed(futures):
                (result,) = future.result()
                work = result["workload"]
                total.update(
                    {key: work[key] for key in ("frames", "sent", "answered", "checked_words", "wrong")}
                )
                outcomes.update(work["outcomes"])
                classes.update(work["classes"])
                spent = time.monotonic() - started
                rate = total["frames"] / spent
                left = (options.frames - total["frames"]) / rate
                print(f"{total['frames']:>9,} frames, {rate:,.0f}/s, {left:,.0f} s left", file=sys.stderr)
        except UserError as err:
            for future in futures:
                future.cancel()
            sys.exit(f"fuzz: {err}".replace("fuzz: fuzz:", "fuzz:"))
    print(f"# {options.dialect}, seeds {options.seed} to {options.seed + len(runs) - 1}")
    for title, counts in (("what was sent", classes), ("what became of it", outcomes), ("in all", total)):
        print(f"# {title}")
        for name, count in sorted(counts.items()):
            print(f"{name:<24}{count:>14,}")
    return [Figure(f"wrong words, of those checked, {options.dialect}", total["wrong"], 0, "words")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dialect", choices=("ohwr", "litex"), default="ohwr")
    parser.add_argument("--jobs", type=int, default=1)
    sys.exit(main(measure, parser))
