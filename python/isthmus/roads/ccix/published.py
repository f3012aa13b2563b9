# SPDX-License-Identifier: Apache-2.0
"""The runs that `isthmus verify ccix` compares with the document, and with our own limits."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

from isthmus.bench import runner as running
from isthmus.platforms import PROFILES
from isthmus.results import Document, merged
from isthmus.roads.ccix import lock_trace, locks, translation
from isthmus.roads.ccix.bench import (
    CACHED,
    LINE_BYTES,
    OPERATIONS,
    Driver,
    Operation,
    Point,
    Transfers,
    Translation,
    loaded,
    saturating,
    translated,
)
from isthmus.roads.ccix.bench import measure as measured
from isthmus.roads.ccix.contention import WINDOWS
from isthmus.roads.ccix.contention import points as contended

ALONE = (64, 2_048, 4_096)
FULL = ((1_024, 2_000), (32_768, 100))
"""Sizes for which the document compares rates, and how many transfers."""
DRIVERS: tuple[Driver, ...] = ("request-agent", "pcie-dma")
STREAM = 4_096
VIRTUAL: tuple[tuple[Translation, tuple[tuple[int, int, int], ...]], ...] = (
    (translated("hit", "4K", "random"), ((64, 600, 1), (32_768, 64, 1), (65_536, 64, 1))),
    (translated("miss", "4K", "random"), ((64, 600, 1), (32_768, 64, 1), (65_536, 64, 1))),
    (translated("hit", "2M", "random"), ((64, 600, 1),)),
    (translated("miss", "2M", "random"), ((64, 600, 1),)),
    (translated("miss", "1G", "random"), ((64, 600, 1),)),
    (translated("miss", "4K", "sequential"), ((64, 600, 1), (STREAM, 1_000, saturating(STREAM)))),
)
"""Virtual memory, and transfers in it: bytes, how many, window."""
CONTENDED = (1, 4, 32, 128, 1_024, 4_096)
"""Lines to which both sides store."""


ALIKE, FLAT = 20_000, (1, 64)
"""Updates of one record of 1024, and how many are under way: p99 of their lock waits."""

LOCKS = "verify ccix, locks"


def transactions(seed: int = 1) -> list[locks.Point]:
    """The stored trace in each mode, 1 and 16 at once; updates of one record each, all alike, 1 and 64."""
    trace = lock_trace.load(lock_trace.STORED)
    stored = locks.points(trace, [loaded()], ["isthmus"], list(locks.MODES.values()), (1, 16), seed)
    alike = lock_trace.uniform(ALIKE, seed=seed)
    return stored + locks.points(alike, [loaded()], ["isthmus"], [locks.MODES["b"]], FLAT, seed)


def points(seed: int = 1) -> list[Point]:
    """Transfers one by one, and as many as fill the link, by CCIX and by DMA over PCIe."""
    platform = loaded()
    made = []
    for profile, name, driver in product(PROFILES, OPERATIONS, DRIVERS):
        operation: Operation = name  # type: ignore[assignment]
        cases = [(size, 200, 1) for size in ALONE]
        cases += [(size, count, saturating(size)) for size, count in FULL]
        for size, count, window in cases:
            transfers = Transfers(operation, size, count, window, seed=seed, driver=driver)
            made.append(Point(transfers, profile, platform))
    for profile, (memory, wanted) in product(PROFILES, VIRTUAL):
        for size, count, window in wanted:
            transfers = Transfers(
                "device-read", size, count, window, seed=seed, driver="svm", translation=memory
            )
            made.append(Point(transfers, profile, platform))
        stream = Transfers("device-read", STREAM, 1_000, saturating(STREAM), seed=seed)
        if memory is VIRTUAL[0][0]:
            made.append(Point(stream, profile, platform))
    for profile, op, through in product(PROFILES, OPERATIONS, CACHED):
        cached = Transfers(op, LINE_BYTES, 200, seed=seed, driver=through)  # type: ignore[arg-type]
        made.append(Point(cached, profile, platform))
    # The same hits through an AXI port.
    for op, size, count, window in (
        ("device-read", LINE_BYTES, 200, 1),
        ("device-read", LINE_BYTES, 5_000, 64),
        ("device-write", LINE_BYTES, 200, 1),
    ):
        hit = Transfers(op, size, count, window, seed=seed, driver="cached-hit", port="axi")  # type: ignore[arg-type]
        made.append(Point(hit, "isthmus", platform))
    # Virtual addresses through the cache; with our design the timing formula's mixes as well.
    made += translation.verified(platform, PROFILES, seed)
    missed = Transfers("device-read", LINE_BYTES, 200, seed=seed, driver="cached", port="axi")
    made.append(Point(missed, "isthmus", platform))
    return made + contended([platform], ["isthmus"], CONTENDED, WINDOWS, seed=seed)


def measure(
    seed: int = 1, runner: running.Runner | None = None, given: Mapping[str, Path] | None = None
) -> Document:
    """Run them, and the stored trace of transactions."""
    transfers = measured(points(seed), title="verify ccix", runner=runner, given=given)
    model = None if given is None else given[locks.TOP]
    return merged(transfers, locks.measure(transactions(seed), title=LOCKS, runner=runner, given=model))
