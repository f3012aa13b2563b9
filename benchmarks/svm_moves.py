# SPDX-License-Identifier: Apache-2.0
"""10^7 accesses by virtual addresses while the host moves the pages under them: no wrong byte, no old frame.

The FPGA reads and writes lines at random places. Meanwhile the host takes pages away, waits for the
completion of their invalidations, and maps them to other frames: what comes in between faults and is tried
again, by the host's program or, with `--port axi`, by the FPGA's AXI master. The engine ends a run in which a
byte is wrong, an access is lost or doubled, or one reaches a frame that its page no longer has. Not in it:
resets of the FPGA (`isthmus bench lock-table --fpga-resets`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import product

from measured import Figure, main

ACCESSES = 10_000_000
BYTES = 4_000
LINES = 63
MOVES = 1_000
PAGES = (("4K", 1 << 20), ("2M", 64 << 20))
"""Size of the host's pages, and bytes that are visited: few pages, so that a move meets traffic."""
CACHED = (("4K", 256 << 10), ("2M", 8 << 20))
"""The same with a cache of 256 KiB behind the translation: some lines of a page that moves are in it."""
CACHED_BYTES, CACHED_LINES = 1_000, 16


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    from isthmus import native
    from isthmus.platforms import PROFILES
    from isthmus.roads.ccix import bench

    shapes = list(product(PROFILES, bench.OPERATIONS, CACHED if options.cache else PAGES))
    size, lines = (CACHED_BYTES, CACHED_LINES) if options.cache else (BYTES, LINES)
    each = -(-options.accesses // (lines * len(shapes)))
    accesses = moves = retries = faults = 0
    hits = 0.0
    for number, (profile, operation, (page, footprint)) in enumerate(shapes):
        platform = bench.loaded()
        memory = bench.Translation(page, "random", footprint, moves=min(MOVES, each // 4))
        transfers = bench.Transfers(
            operation,  # type: ignore[arg-type]
            size,
            each,
            16,
            seed=options.seed + number,
            driver="svm",
            translation=memory,
            cache=options.cache,
            port=options.port,
        )
        again = bench.retries(transfers)
        models = bench.models(platform, profile, "svm", options.port, options.cache, again)
        (found,) = native.run_scenario(bench.scenario(bench.Point(transfers, profile, platform), models))
        counters, translation = found["counters"], found["workload"]["translation"]
        accesses += found["iterations"] * lines
        if options.cache:
            hits += found["workload"]["cache"]["hits"] * found["iterations"] * lines
        moves += counters["host.moves"]
        retries += counters["fpga.retries"] if again else translation["retries"]
        faults += counters["fpga.faults"]
        print(f"{profile} {operation} {page}: {counters['host.moves']} pages moved", file=sys.stderr)
    return [
        Figure("accesses, none wrong, none to an old frame", accesses, options.accesses, "", least=True),
        Figure("pages moved under them", moves, 1, "", least=True),
        Figure("accesses that met a page on its way and faulted", faults, 1, "", least=True),
        Figure("tried again", retries, 1, "", least=True),
        *([Figure("accesses to lines that the cache had", round(hits), 1, "", least=True)] * options.cache),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--accesses", type=int, default=ACCESSES)
    parser.add_argument("--cache", action="store_true", help="through the FPGA's cache")
    parser.add_argument("--port", choices=("lines", "axi"), default="lines", help="axi: with --cache")
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(main(measure, parser))
