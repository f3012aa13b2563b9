# SPDX-License-Identifier: Apache-2.0
"""What a coherent link carries for `isthmus compare`, and the scenarios that measure it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from isthmus.bench.session import Models
from isthmus.compare.question import Driver
from isthmus.roads.eci import bench

if TYPE_CHECKING:
    from isthmus.platforms import Platform
    from isthmus.results.constants import Constants
    from isthmus.workload import Question

DEFAULTS = ("eci",)
"""Platforms that are measured where none is named."""

_DRIVERS: Mapping[str, tuple[Driver, ...]] = {
    **{
        op: tuple(
            Driver(name, "isthmus", named_only=name in (*bench.STATES, *bench.PCIE))
            for name in (*bench.DRIVERS, *bench.PCIE)
        )
        for op in bench.OPERATIONS
    },
    **{
        op: tuple(Driver(name, "isthmus", named_only=name != usual) for name in (*bench.DRIVERS, bench.IO))
        for op, usual in (("host-read", "cached"), ("host-write", "uncached"))
    },
    bench.UPDATE: (Driver(bench.ATOMIC, "isthmus"),),
}
"""The published profile is alike so far: `isthmus bench eci` shows both."""


def carries(platform: Platform) -> Mapping[str, tuple[Driver, ...]]:
    """The drivers of each operation on a platform; empty where it has no such link."""
    return _DRIVERS if platform.bus == "eci" else {}


def refusal(question: Question, driver: Driver, size: int) -> str:
    """What a request may have where one of this size is not carried; empty where it is."""
    if question.operation == bench.UPDATE and size != bench.WORD_BYTES:
        return f"update over a coherent link takes {bench.WORD_BYTES} bytes"
    if driver.name == bench.IO and size > bench.WORD_BYTES:
        return f"{question.operation} over a coherent link takes 1 to {bench.WORD_BYTES} bytes"
    if size > bench.LARGEST:
        return f"{question.operation} over a coherent link takes 1 to {bench.LARGEST} bytes"
    if question.noise is not None:
        return f"{question.operation} has no program that could be delayed: expected no --noise"
    most = bench.most_in_flight(size, driver.name)
    if question.window is not None and question.window > most:
        return f"{question.operation} over a coherent link has 1 to {most} requests in flight at this size"
    return ""


def interconnect(given: Constants, driver: str) -> str:
    """The link, in a few characters."""
    del driver
    lanes, links = given.value("lanes", "lanes") or 0, given.value("eci", "links") or 1
    return f"ECI, {lanes:.0f} lanes" if links == 1 else f"ECI, {links:.0f} x {lanes:.0f} lanes"


def family(given: Constants, driver: str) -> str:
    """The kind of bus, whatever its width."""
    del given, driver
    return "coherent link"


def driver_text(driver: str, profile: str, given: Constants | None) -> str:
    """A driver as tables name it."""
    del profile, given
    names = {"pcie-dma": "PCIe x16 DMA", "pcie-ring": "PCIe x16 ring", bench.IO: "I/O"}
    return names.get(driver, driver)


def scenarios(
    question: Question, platform: Platform, drivers: Sequence[tuple[Driver, int]], models: Models
) -> list[dict[str, Any]]:
    """One scenario for each driver and size."""
    made = []
    used = platform.groups["eci"]
    policy = bench.POLICIES[int(used.partition.value)]
    for driver, size in drivers:
        cached = bench.needs_cache(driver.name)
        links = 1 if driver.name in bench.PCIE else int(used.links.value)
        designs = bench.designs(platform, driver.profile, cached, links, driver.name)
        tops = {top: models(top, values) for top, values in designs.items()}
        transfers = bench.Transfers(
            question.operation,  # type: ignore[arg-type]
            size,
            question.requests(size),
            question.window,
            question.rate_per_s,
            question.seed,
            driver=driver.name,
            links=links,
            policy=policy,
        )
        one = bench.scenario(bench.Point(transfers, driver.profile, platform), tops)
        if driver.name in bench.PCIE:
            # One write at a time is one after the other has become visible, on every road.
            one["workload"]["until_visible"] = True
        made.append(one)
    return made
