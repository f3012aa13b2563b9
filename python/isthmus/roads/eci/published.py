# SPDX-License-Identifier: Apache-2.0
"""The runs that `isthmus verify eci` compares with the document, and with our own limits."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

from isthmus.bench import runner as running
from isthmus.platforms import PROFILES
from isthmus.results import Document
from isthmus.roads.eci.bench import (
    OPERATIONS,
    POLICIES,
    WORD_BYTES,
    WORD_OPERATIONS,
    Operation,
    Point,
    Transfers,
    loaded,
    saturating,
)
from isthmus.roads.eci.bench import measure as measured

READS = 5_000
SIZES = (128, 1_024, 2_048, 16_384)


def points(seed: int = 1) -> list[Point]:
    """Lines one by one, a link full of them, four sizes between which the document compares, lines through
    the cache, lines of the FPGA's memory, words, and lines over two links."""
    platform = loaded()
    made = []
    for profile in PROFILES:
        for operation in OPERATIONS:
            name: Operation = operation  # type: ignore[assignment]
            made += [
                Point(Transfers(name, size, 200, 1, seed=seed, driver=driver), profile, platform)
                for driver in ("uncached", "pcie-dma")
                for size in SIZES
            ]
            full = Transfers(name, 128, READS, saturating(128), seed=seed)
            made.append(Point(full, profile, platform))
    # Through the FPGA's cache: only ours, as the document has none.
    for driver in ("cached", "cached-hit"):
        for count, window in ((200, 1), (READS, saturating(128))):
            one = Transfers("device-read", 128, count, window, seed=seed, driver=driver)
            made.append(Point(one, "isthmus", platform))
    # The same through an AXI port of 64 bytes: a beat a transfer hits, each in a line of its own.
    over_axi: tuple[tuple[Operation, str, int, int, int], ...] = (
        ("device-read", "cached-hit", 64, 200, 1),
        ("device-read", "cached-hit", 64, READS, saturating(64)),
        ("device-write", "cached-hit", 64, 200, 1),
        ("device-read", "cached", 128, READS, 1),  # over all turns of the lanes
        ("device-read", "cached", 4_096, 500, saturating(4_096)),
        # A word in a line that the cache has, and in one that no cache has, over all turns of the lanes.
        ("update", "cached-hit", WORD_BYTES, 200, 1),
        ("update", "cached", WORD_BYTES, READS, 1),
    )
    for operation, driver, size, count, window in over_axi:
        one = Transfers(operation, size, count, window, seed=seed, driver=driver, port="axi")
        made.append(Point(one, "isthmus", platform))
    # The other way round: a core of the host, its cache, and the FPGA's memory.
    for driver, count, window in (
        ("cached", READS, 1),  # over all turns of the lanes
        ("cached", READS, saturating(128)),
        ("cached-hit", 200, 1),
    ):
        one = Transfers("host-read", 128, count, window, seed=seed, driver=driver)
        made.append(Point(one, "isthmus", platform))
    # Memory at both ends: a read of each end's lines alone, and many of both ends at once.
    reads: tuple[Operation, Operation] = ("device-read", "host-read")
    for operation in reads:
        one = Transfers(operation, 128, READS, 1, seed=seed, driver="cached", homes="both")
        made.append(Point(one, "isthmus", platform))
    for driver in ("uncached", "cached"):
        full = Transfers(
            reads[0], 128, READS, saturating(128), seed=seed, driver=driver, homes="both", beside=reads[1]
        )
        made.append(Point(full, "isthmus", platform))
    # Words: I/O accesses, interrupts and barriers.
    for profile, (driver, operations) in product(PROFILES, WORD_OPERATIONS.items()):
        for operation in operations:
            one = Transfers(operation, WORD_BYTES, 200, 1, seed=seed, driver=driver)  # type: ignore[arg-type]
            made.append(Point(one, profile, platform))
    # Over both links, by both policies: the document names them, and has figures of neither.
    for operation in OPERATIONS:
        for policy in POLICIES:
            for count, window in ((200, 1), (2 * READS, saturating(128))):
                both = Transfers(operation, 128, count, window, seed=seed, links=2, policy=policy)  # type: ignore[arg-type]
                made.append(Point(both, "isthmus", platform))
    # The same through the FPGA's cache, lines that no cache has.
    for policy in POLICIES:
        missed = Transfers(
            "device-read", 128, READS, saturating(128), seed=seed, driver="cached", links=2, policy=policy
        )
        made.append(Point(missed, "isthmus", platform))
    return made


def measure(
    seed: int = 1, runner: running.Runner | None = None, given: Mapping[str, Path] | None = None
) -> Document:
    """Run them."""
    return measured(points(seed), title="verify eci", runner=runner, given=given)
