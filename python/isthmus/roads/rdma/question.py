# SPDX-License-Identifier: Apache-2.0
"""What RDMA between hosts carries for `isthmus compare`, and the scenarios that measure it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from isthmus.bench.session import Models
from isthmus.compare.question import Driver, of_profile, pcie
from isthmus.platforms.keys import largest
from isthmus.roads.rdma import bench

if TYPE_CHECKING:
    from isthmus.platforms import Platform
    from isthmus.results.constants import Constants
    from isthmus.workload import Question

DEFAULTS = ("forth-rdma", "rdma-pcie")
"""Platforms that are measured where none is named."""

_KINDS = ("rdma-pcix", "rdma-pcie")
_DRIVERS: Mapping[str, tuple[Driver, ...]] = {
    "put": (Driver("inline", "isthmus"), Driver("dma", "isthmus"), Driver("dma", "as-published")),
    "message": (Driver("message", "isthmus"), Driver("message", "as-published")),
    "device-read": (Driver("dma", "isthmus"), Driver("dma", "as-published")),
    "device-write": (Driver("dma", "isthmus"), Driver("dma", "as-published")),
}
_LARGEST: Mapping[str, int] = {
    "inline": bench.LARGEST_INLINE,
    "message": bench.LARGEST_MESSAGE,
    "dma": bench.LARGEST_WRITE,
}
_DEVICE_LARGEST: Mapping[str, int] = {
    "device-read": bench.DESCRIPTOR_BYTES,
    "device-write": bench.PACKET_BYTES,
}
"""A descriptor; a packet."""
IN_FLIGHT = largest("RdmaWorkload", "window", "x-descriptors-in-flight")
"""Descriptors or messages: half of a queue."""
HOSTS = 2


def carries(platform: Platform) -> Mapping[str, tuple[Driver, ...]]:
    """The drivers of each operation on a platform; empty where it is not one of RDMA's."""
    return _DRIVERS if platform.bus in _KINDS else {}


def refusal(question: Question, driver: Driver, size: int) -> str:
    """What a request may have where one of this size is not carried; empty where it is."""
    operation = question.operation
    by_device = operation in _DEVICE_LARGEST
    largest = _DEVICE_LARGEST[operation] if by_device else _LARGEST[driver.name]
    if by_device and question.window != 1:
        return (
            f"in {operation} the interface decides how many are in flight: "
            "expected neither --window nor --rate"
        )
    if by_device and question.noise is not None:
        return f"{operation} has no program that could be delayed: expected no --noise"
    in_flight = max(1, IN_FLIGHT // -(-size // bench.DESCRIPTOR_BYTES))
    if question.window is not None and question.window > in_flight:
        return f"{operation} over RDMA has 1 to {in_flight} requests in flight at this size"
    if size % bench.BEAT_BYTES or size > largest:
        return (
            f"{operation} over RDMA by {driver.name} takes a multiple of {bench.BEAT_BYTES} bytes, "
            f"{bench.BEAT_BYTES} to {largest}"
        )
    return ""


def interconnect(given: Constants, driver: str) -> str:
    """The bus of the network interface, in a few characters."""
    del driver
    if given.bus == "rdma-pcix":
        return "RDMA, PCI-X"
    return f"RDMA, {pcie(given)}"


def family(given: Constants, driver: str) -> str:
    """The kind of bus, whatever its generation and width."""
    del driver
    return {"rdma-pcix": "RDMA on PCI-X", "rdma-pcie": "RDMA on PCIe"}.get(given.bus, given.bus)


def driver_text(driver: str, profile: str, given: Constants | None) -> str:
    """A driver as tables name it."""
    del given
    return of_profile({"dma": "DMA"}.get(driver, driver), profile)


def scenarios(
    question: Question, platform: Platform, drivers: Sequence[tuple[Driver, int]], models: Models
) -> list[dict[str, Any]]:
    """One scenario for each driver and size."""
    made = []
    for driver, size in drivers:
        tops = {
            top: models(top, values)
            for top, values in bench.parameters(platform, driver.profile, 1, HOSTS).items()
        }
        # Everything of a write but what the test says itself.
        base = bench.Transfers(
            "write-lat", size, question.requests(size), hosts=HOSTS, seed=question.seed, inline=0
        )
        work: dict[str, Any] = {
            "test": question.operation,
            "inline_bytes": size if driver.name == "inline" else 0,
        }
        if question.rate_per_s is not None:
            work["rate_per_s"] = question.rate_per_s
        else:
            work["window"] = question.window
        changes: dict[str, Any] = {"workload": work}
        if question.noise is not None:
            changes["noise"] = question.noise.scenario()
        made.append(
            bench.scenario(
                platform, driver.profile, base, tops[bench.INTERFACE], tops[bench.SWITCH], **changes
            )
        )
    return made
