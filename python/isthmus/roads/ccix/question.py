# SPDX-License-Identifier: Apache-2.0
"""What CCIX carries for `isthmus compare`, and the scenarios that measure it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from isthmus.bench.session import Models
from isthmus.compare.question import Driver
from isthmus.roads.ccix import bench
from isthmus.roads.ccix.bench import translated

if TYPE_CHECKING:
    from isthmus.platforms import Platform
    from isthmus.results.constants import Constants
    from isthmus.workload import Question

DEFAULTS = (bench.PLATFORM,)
"""Platforms that are measured where none is named."""

_DRIVERS: Mapping[str, tuple[Driver, ...]] = {
    **{
        operation: tuple(Driver(name, "isthmus") for name in bench.DRIVERS if name not in bench.CACHED)
        for operation in bench.OPERATIONS
    },
    bench.UPDATE: (Driver("cached", "isthmus"),),
}
"""`isthmus bench ccix` shows the published profile as well."""


def carries(platform: Platform) -> Mapping[str, tuple[Driver, ...]]:
    """The drivers of each operation on a platform; empty where it has no CCIX."""
    return _DRIVERS if platform.bus == "ccix" else {}


def _memory(driver: Driver) -> bench.Translation | None:
    """Of virtual addresses: pages of 4 KiB, one after the other, that the FPGA has not seen lately."""
    return translated("miss") if driver.name == "svm" else None


def refusal(question: Question, driver: Driver, size: int) -> str:
    """What a request may have where one of this size is not carried; empty where it is."""
    if question.noise is not None:
        return f"{question.operation} has no program that could be delayed: expected no --noise"
    if question.operation == bench.UPDATE:
        return _refused_update(question, size)
    if size > bench.LARGEST:
        return f"{question.operation} over CCIX takes 1 to {bench.LARGEST} bytes"
    most = bench.most_in_flight(size, _memory(driver))
    if question.window is not None and question.window > most:
        return f"{question.operation} over CCIX has 1 to {most} requests in flight at this size"
    return ""


def _refused_update(question: Question, size: int) -> str:
    if size != bench.WORD_BYTES:
        return f"update over CCIX takes {bench.WORD_BYTES} bytes"
    if question.window != 1:
        return "update over CCIX has 1 request in flight: expected --window 1 and no --rate"
    # Each of another line: behind these the FPGA's cache would have some.
    most = bench.MOST_WORDS - bench.WARMUP - 1
    if question.requests(size) > most:
        return f"update over CCIX has 1 to {most} requests"
    return ""


def interconnect(given: Constants, driver: str) -> str:
    """The link, in a few characters; its port to memory without CCIX is one of PCI Express."""
    generation, lanes = (given.value("transport", name) or 0 for name in ("generation", "lanes"))
    name = "PCIe" if driver == "pcie-dma" else "CCIX,"
    return f"{name} Gen{generation:.0f} x{lanes:.0f}"


def family(given: Constants, driver: str) -> str:
    """The kind of bus, whatever its width."""
    del given
    return "PCIe" if driver == "pcie-dma" else "CCIX"


def driver_text(driver: str, profile: str, given: Constants | None) -> str:
    """A driver as tables name it."""
    del profile, given
    names = {"request-agent": "agent", "svm": "agent, virtual", "cached": "atomic", "pcie-dma": "DMA"}
    return names.get(driver, driver)


def scenarios(
    question: Question, platform: Platform, drivers: Sequence[tuple[Driver, int]], models: Models
) -> list[dict[str, Any]]:
    """One scenario for each driver and size."""
    made = []
    updates = None
    if question.operation == bench.UPDATE:
        updates = bench.Updates(words=bench.MOST_WORDS, host_window=0, in_turn=True)
    for driver, size in drivers:
        transfers = bench.Transfers(
            question.operation,  # type: ignore[arg-type]
            size,
            question.requests(size),
            question.window,
            question.rate_per_s,
            question.seed,
            driver.name,  # type: ignore[arg-type]
            _memory(driver),
            port="axi" if updates else "lines",
            updates=updates,
        )
        values = bench.parameters(
            platform, driver.profile, driver.name, transfers.port, retry=bench.retries(transfers)
        )
        top = bench.TOPS[driver.name]
        tops = {top: models(top, values)}
        # One write at a time is one after the other has become visible, on every road.
        visible = {"workload": {"until_visible": True}} if driver.name == "pcie-dma" else {}
        made.append(bench.scenario(bench.Point(transfers, driver.profile, platform), tops, **visible))
    return made
