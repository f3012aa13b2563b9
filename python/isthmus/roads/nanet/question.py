# SPDX-License-Identifier: Apache-2.0
"""What UDP into registered memory carries for `isthmus compare`, and the scenarios that measure it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from isthmus.bench.session import Models
from isthmus.compare.question import Driver, of_profile, pcie
from isthmus.roads.nanet import bench
from isthmus.roads.nanet.platform import is_ten_gigabit, top

if TYPE_CHECKING:
    from isthmus.platforms import Platform
    from isthmus.results.constants import Constants
    from isthmus.workload import Question

DEFAULTS = (bench.PLATFORM, bench.TEN_GIGABIT)
"""Platforms that are measured where none is named."""

_DRIVERS: Mapping[str, tuple[Driver, ...]] = {
    bench.RECEIVE: (
        Driver("poll", "isthmus"),
        Driver("interrupt", "isthmus"),
        Driver("poll", "as-published"),
    ),
    # The document has no figure of a program that sends UDP.
    bench.SEND: (Driver("poll", "isthmus"), Driver("interrupt", "isthmus")),
}


def carries(platform: Platform) -> Mapping[str, Sequence[Driver]]:
    """The drivers of each operation on a platform; empty where it is another road's."""
    if platform.bus != "nanet":
        return {}
    if not is_ten_gigabit(platform):
        return _DRIVERS
    # The document has no figure of it.
    return {name: [one for one in of if one.profile == "isthmus"] for name, of in _DRIVERS.items()}


def refusal(question: Question, driver: Driver, size: int) -> str:
    """What a request may have where one of this size is not carried; empty where it is."""
    del driver
    operation = question.operation
    sends = operation == bench.SEND
    if not bench.SMALLEST <= size <= bench.LARGEST:
        return f"{operation} takes datagrams of {bench.SMALLEST} to {bench.LARGEST} bytes"
    most = bench.MOST_POSTS if sends else bench.LARGEST_BUFFERS
    if question.window is not None and question.window > most:
        return f"{operation} over UDP has 1 to {most} datagrams in flight"
    return ""


def interconnect(given: Constants, driver: str) -> str:
    """The road in a few characters."""
    del driver
    ethernet = "10GbE" if (given.value("cable", "rate") or 0) > 1000 else "GbE"
    return f"UDP, {ethernet}, {pcie(given)}"


def family(given: Constants, driver: str) -> str:
    """The kind of road, whatever its generation and width."""
    del given, driver
    return "UDP to memory"


def driver_text(driver: str, profile: str, given: Constants | None) -> str:
    """A driver as tables name it."""
    del given
    return of_profile(driver, profile)


def scenarios(
    question: Question, platform: Platform, drivers: Sequence[tuple[Driver, int]], models: Models
) -> list[dict[str, Any]]:
    """One scenario for each driver and size."""
    made = []
    for driver, size in drivers:
        sends = question.operation == bench.SEND
        # One model for both operations: what sends also receives, in the same cycles.
        able = driver.profile == "isthmus"
        model = models(top(platform), bench.parameters(platform, driver.profile, 1, send=able))
        stream = bench.Stream(
            size,
            window=question.window,
            rate_per_s=question.rate_per_s,
            iterations=question.requests(size),
            seed=question.seed,
            driver=driver.name,
            operation=question.operation,
            remote=sends,
        )
        changes = {} if question.noise is None else {"noise": question.noise.scenario()}
        made.append(bench.scenario(platform, driver.profile, stream, model, **changes))
    return made
