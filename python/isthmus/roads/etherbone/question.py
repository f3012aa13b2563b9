# SPDX-License-Identifier: Apache-2.0
"""Operations of Etherbone's buses for `isthmus compare`, and the scenarios that measure them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from isthmus.bench.session import Models
from isthmus.compare.question import Driver, pcie
from isthmus.platforms.keys import largest
from isthmus.results.constants import profile_part
from isthmus.roads.etherbone.platform import KINDS
from isthmus.roads.etherbone.scenario import scenario

if TYPE_CHECKING:
    from isthmus.platforms import Platform
    from isthmus.results.constants import Constants
    from isthmus.workload import Question

OPERATIONS = ("host-read", "host-write")
DEFAULTS = ("pcie-gen4x4", "pcie-gen3x4", "pcie-t5810", "gige-direct", "usb-t5810", "vme-rio4")
"""Platforms that are measured where none is named."""

_DRIVERS: Mapping[str, tuple[Driver, ...]] = {
    "gige": (Driver("datagram", "isthmus"), Driver("datagram", "as-published")),
    "pcie": (Driver("dma", "isthmus"), Driver("loads", "as-published")),
    "usb": (Driver("bulk", "isthmus"), Driver("serial", "as-published")),
    "vme": (Driver("loads", "isthmus"), Driver("loads", "as-published")),
}
LARGEST_BYTES = largest("EtherboneWorkload", "bytes")
"""Of one request."""
LARGEST_IN_FLIGHT = largest("EtherboneWorkload", "window", "x-bytes-in-flight")
"""Bytes of all requests in flight."""


def carries(platform: Platform) -> Mapping[str, tuple[Driver, ...]]:
    """The drivers of each operation on a platform; empty where it is not one of Etherbone's."""
    drivers = _DRIVERS.get(platform.bus)
    return dict.fromkeys(OPERATIONS, drivers) if drivers else {}


def refusal(question: Question, driver: Driver, size: int) -> str:
    """The allowed sizes if a request of this size is not carried; empty if it is."""
    del driver
    if size > LARGEST_BYTES:
        return f"{question.operation} over Etherbone takes 4 to {LARGEST_BYTES} bytes in one request"
    if size * (question.window or 1) > LARGEST_IN_FLIGHT:
        most = LARGEST_IN_FLIGHT // size
        return f"{question.operation} over Etherbone has 1 to {most} requests in flight at this size"
    return ""


def interconnect(given: Constants, driver: str) -> str:
    """The road and its bus, in a few characters."""
    del driver
    if given.bus == "pcie":
        return f"Etherbone, {pcie(given)}"
    if given.bus == "gige":
        return "Etherbone, GbE" if given.value("switch", "latency") is None else "Etherbone, GbE, switch"
    return f"Etherbone, { ({'usb': 'USB 2.0', 'vme': 'VMEbus'}.get(given.bus, given.bus)) }"


def family(given: Constants, driver: str) -> str:
    """The kind of bus, independent of its generation and width."""
    del driver
    buses = {"pcie": "PCIe", "gige": "GbE", "usb": "USB", "vme": "VME"}
    return f"Etherbone over {buses.get(given.bus, given.bus)}"


def driver_text(driver: str, profile: str, given: Constants | None) -> str:
    """A driver as tables name it."""
    if driver == "datagram":
        polls = given is None or given.value(profile_part(profile), "poll")
        return "UDP, poll" if polls else "UDP, irq"
    if driver == "loads" and given is not None and given.bus == "vme":
        return "kernel calls" if profile == "as-published" else "loads"
    return {"dma": "DMA", "serial": "serial port"}.get(driver, driver)


def scenarios(
    question: Question, platform: Platform, drivers: Sequence[tuple[Driver, int]], models: Models
) -> list[dict[str, Any]]:
    """One scenario for each driver and size."""
    boards = KINDS[platform.bus].boards
    made = []
    for driver, size in drivers:
        workload: dict[str, Any] = {
            "kind": "access",
            "operation": question.operation,
            "bytes": size,
            "iterations": question.requests(size),
        }
        if question.rate_per_s is not None:
            workload["rate_per_s"] = question.rate_per_s
        else:
            workload["window"] = question.window
        model = models(boards[driver.profile], {})
        one = scenario(platform, driver.profile, model, workload, question.seed)
        if question.noise is not None:
            one["noise"] = question.noise.scenario()
        made.append(one)
    return made
