# SPDX-License-Identifier: Apache-2.0
"""The tail of the trigger on rings: from a group's last byte on the wire to its last answer.

Enough groups of events that ten lie beyond 99.99 %, at five million events a second over the simulated
interface. Processing times are those that isthmus brings along, or a file of `isthmus trigger times`. None
may be lost, none late.

Each percentile is there twice. "data": of the times of merging, handing over and finding the shortest of
several runs of the same data counts, so that what is left is the data's own cost, on a machine that does
nothing else. "machine": all runs count, with what system, hypervisor and other programs did meanwhile.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from measured import Figure, main

GROUPS = 101_000
LIMIT_US = 10.0


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    from isthmus.roads.nanet.chain import Chain
    from isthmus.roads.nanet.chain import measure as run

    figures = []
    for name, noise in (("data", False), ("machine", True)):
        chain = Chain(
            options.rate, events=options.events, share=options.share, cores=options.cores,
            groups=options.groups, seed=options.seed, noise=noise,
        )  # fmt: skip
        (found,) = run([("isthmus", chain)], times=options.times, baseline=False)
        if found.latency is None:
            sys.exit("no latency")
        for key in ("p50", "p99", "p99.9", "p99.99"):
            value = found.latency.percentiles[key]
            if value is None:
                sys.exit(f"{options.groups} groups: too few for {key}")
            figures.append(Figure(f"last byte to answers, {name}, {key}", value / 1e6, LIMIT_US, "us"))
        figures.append(Figure(f"late events, {name}", found.workload["late"], 0, "events"))
    return figures


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=GROUPS)
    parser.add_argument("--events", type=int, default=8)
    parser.add_argument("--share", type=int, help="events of a group that a core takes")
    parser.add_argument("--cores", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=5e6)
    parser.add_argument("--times", type=Path)
    sys.exit(main(measure, parser))
