# SPDX-License-Identifier: Apache-2.0
"""The runs that `isthmus verify ccix` compares with the document, and with our own limits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from isthmus.bench import runner as running
from isthmus.platforms import PROFILES
from isthmus.results import Document
from isthmus.roads.ccix.bench import OPERATIONS, Operation, Point, Transfers, loaded, saturating
from isthmus.roads.ccix.bench import measure as measured

READS = 5_000
SIZES = (64, 1_024, 32_768)


def points(seed: int = 1) -> list[Point]:
    """Lines one by one, a link full of them, and the sizes for which the document has ratios."""
    platform = loaded()
    made = []
    for profile in PROFILES:
        for operation in OPERATIONS:
            name: Operation = operation  # type: ignore[assignment]
            made += [Point(Transfers(name, size, 200, 1, seed=seed), profile, platform) for size in SIZES]
            full = Transfers(name, 64, READS, saturating(64), seed=seed)
            made.append(Point(full, profile, platform))
    return made


def measure(
    seed: int = 1, runner: running.Runner | None = None, given: Mapping[str, Path] | None = None
) -> Document:
    """Run them."""
    return measured(points(seed), title="verify ccix", runner=runner, given=given)
