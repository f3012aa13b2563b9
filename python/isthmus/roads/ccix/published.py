# SPDX-License-Identifier: Apache-2.0
"""The runs that `isthmus verify ccix` compares with the document, and with our own limits."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

from isthmus.bench import runner as running
from isthmus.platforms import PROFILES
from isthmus.results import Document
from isthmus.roads.ccix.bench import DRIVERS, OPERATIONS, Operation, Point, Transfers, loaded, saturating
from isthmus.roads.ccix.bench import measure as measured

ALONE = (64, 2_048)
FULL = ((1_024, 2_000), (32_768, 100))
"""Sizes for which the document compares rates, and how many transfers."""


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
    return made


def measure(
    seed: int = 1, runner: running.Runner | None = None, given: Mapping[str, Path] | None = None
) -> Document:
    """Run them."""
    return measured(points(seed), title="verify ccix", runner=runner, given=given)
