# SPDX-License-Identifier: Apache-2.0
"""The tail of the trigger on rings: from a group's last byte on the wire to its last answer.

Enough groups of events that ten lie beyond 99.99 %, at five million events a second over the simulated
interface, in parts of some ten thousand with a seed each. Processing times are those that isthmus brings
along, or a file of `isthmus trigger times`. None may be lost, none late.

Each percentile is there twice. "data": of the times of merging, handing over and finding the shortest of
several runs of the same data counts, so that what is left is the data's own cost, on a machine that does
nothing else. "machine": all runs count, with what system, hypervisor and other programs did meanwhile.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from measured import Figure, main

PART = 10_100
"""Groups of a run: a run has a limit of wall-clock time."""
PARTS = 10
LIMIT_US = 10.0
SHARES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
KINDS = {"data": False, "machine": True}
"""Whether the machine's noise is in the times."""


def percentiles(samples: Counter[float]) -> dict[str, float | None]:
    """Of samples by their value; None where fewer than ten lie beyond."""
    total = samples.total()
    found: dict[str, float | None] = {}
    for key, share in SHARES.items():
        found[key], left = None, share * total
        if total - left < 10 - 1e-6:
            continue
        for value in sorted(samples):
            left -= samples[value]
            if left <= 1e-6:
                found[key] = value
                break
    return found


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    from isthmus.roads.nanet.chain import Chain
    from isthmus.roads.nanet.chain import measure as run

    figures = []
    for name in options.kind.split(","):
        samples: Counter[float] = Counter()
        late = 0
        for seed in range(options.seed, options.seed + options.parts):
            chain = Chain(
                options.rate, events=options.events, share=options.share, cores=options.cores,
                groups=options.groups, seed=seed, noise=KINDS[name],
            )  # fmt: skip
            made = run([("isthmus", chain)], times=options.times, baseline=False)
            (raw,) = made.raw["results"]
            for value, count in raw["histogram"]["buckets"]:
                samples[value] += count
            late += raw["workload"]["late"]
            shown = {key: None if ps is None else ps / 1e6 for key, ps in percentiles(samples).items()}
            print(f"# {name}, seeds to {seed}: {samples.total()} groups, {late} late, {shown}", flush=True)
        for key, value in percentiles(samples).items():
            if value is None:
                sys.exit(f"{samples.total()} groups: too few for {key}")
            figures.append(Figure(f"last byte to answers, {name}, {key}", value / 1e6, LIMIT_US, "us"))
        figures.append(Figure(f"late events, {name}", late, 0, "events"))
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", default=",".join(KINDS), help="data, machine or both  [data,machine]")
    parser.add_argument("--parts", type=int, default=PARTS)
    parser.add_argument("--groups", type=int, default=PART, help="of a part")
    parser.add_argument("--events", type=int, default=8)
    parser.add_argument("--share", type=int, help="events of a group that a core takes")
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1, help="of the first part")
    parser.add_argument("--rate", type=float, default=5e6)
    parser.add_argument("--times", type=Path)
    sys.exit(main(measure, parser))
