# SPDX-License-Identifier: Apache-2.0
"""What APElink carries for `isthmus compare`, and the scenarios that measure it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from isthmus.bench.session import Models
from isthmus.compare.question import Driver, of_profile, pcie
from isthmus.errors import UserError
from isthmus.roads.apenet import bench

if TYPE_CHECKING:
    from isthmus.platforms import Platform
    from isthmus.results.constants import Constants
    from isthmus.workload import Question

DEFAULTS = (bench.PLATFORM,)
"""Platforms that are measured where none is named."""

_TESTS: Mapping[str, str] = {"put": "put", "get": "get"}
_DRIVERS: Mapping[str, tuple[Driver, ...]] = {
    "put": (Driver("dma", "isthmus"), Driver("inline", "isthmus"), Driver("dma", "as-published")),
    "get": (Driver("dma", "isthmus"),),
}
"""The document has no gets, and no payload with a post."""


def carries(platform: Platform) -> Mapping[str, tuple[Driver, ...]]:
    """The drivers of each operation on a platform; empty where it is another road's."""
    return _DRIVERS if platform.bus == "apenet" else {}


def _puts(question: Question, size: int, driver: str) -> bench.Puts:
    return bench.Puts(
        size,
        window=question.window or max(1, min(bench.MOST_IN_FLIGHT, bench.room_of(size))),
        rate_per_s=question.rate_per_s,
        test=_TESTS[question.operation],
        inline=driver == "inline",
        iterations=question.requests(size),
        seed=question.seed,
    )


def refusal(question: Question, driver: Driver, size: int) -> str:
    """What a request may have where one of this size is not carried; empty where it is."""
    if driver.name == "inline" and size > bench.LONGEST_INLINE:
        return f"inline over APElink: 1 to {bench.LONGEST_INLINE} bytes"
    try:
        bench.check(_puts(question, size, driver.name))
    except UserError as error:
        return f"{question.operation} over APElink: {error}"
    return ""


def interconnect(given: Constants, driver: str) -> str:
    """The road in a few characters."""
    del driver
    return f"APElink, {pcie(given)}"


def family(given: Constants, driver: str) -> str:
    """The kind of road, whatever its generation and width."""
    del given, driver
    return "APElink on PCIe"


def driver_text(driver: str, profile: str, given: Constants | None) -> str:
    """A driver as tables name it."""
    del given
    return of_profile({"dma": "DMA"}.get(driver, driver), profile)


def scenarios(
    question: Question, platform: Platform, drivers: Sequence[tuple[Driver, int]], models: Models
) -> list[dict[str, Any]]:
    """One scenario for each driver and size."""
    made = []
    changes = {} if question.noise is None else {"noise": question.noise.scenario()}
    for driver, size in drivers:
        model = models(bench.TOP, bench.parameters(platform, driver.profile))
        made.append(
            bench.scenario(platform, driver.profile, _puts(question, size, driver.name), model, **changes)
        )
    return made
