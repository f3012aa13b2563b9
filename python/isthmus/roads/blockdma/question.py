# SPDX-License-Identifier: Apache-2.0
"""What plain PCI Express carries for `isthmus compare`, and the scenarios that measure it.

Its platforms are those of the bus `pcie`: the same card, port, memory and processor as Etherbone's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from isthmus.bench.session import Models
from isthmus.compare.question import Driver, pcie
from isthmus.platforms import entries
from isthmus.platforms.keys import largest

if TYPE_CHECKING:
    from isthmus.platforms import Platform
    from isthmus.results.constants import Constants
    from isthmus.workload import Question

DEFAULTS: tuple[str, ...] = ()
"""Etherbone's platforms are measured where none is named; this road carries its operations there too."""

OPERATIONS = ("host-read", "host-write")
TOP = "ccix_dma_fpga"
"""The DMA engine alone."""
PARAMETERS = {"Overlap": 1}
GROUPS = ("link", "root", "endpoint", "memory", "host")
SLOTS = 64
LINE_BYTES = 64
DATA_BYTES = 8192 * LINE_BYTES
"""Of host memory that blocks in flight share."""
LARGEST_BYTES = largest("BlockDmaWorkload", "bytes")


def carries(platform: Platform) -> Mapping[str, tuple[Driver, ...]]:
    """The drivers of each operation on a platform; empty where it is not on PCI Express."""
    return dict.fromkeys(OPERATIONS, (Driver("ring", "isthmus"),)) if platform.bus == "pcie" else {}


def refusal(question: Question, driver: Driver, size: int) -> str:
    """What a request may have where one of this size is not carried; empty where it is."""
    del driver
    if size > LARGEST_BYTES:
        return f"{question.operation} over PCIe by a ring takes 1 to {LARGEST_BYTES} bytes in one request"
    if question.noise is not None:
        return f"{question.operation} over PCIe by a ring is measured without noise: expected no --noise"
    most = min(SLOTS, DATA_BYTES // (-(-size // LINE_BYTES) * LINE_BYTES))
    if question.window is not None and question.window > most:
        return f"{question.operation} over PCIe by a ring has 1 to {most} requests in flight at this size"
    return ""


def interconnect(given: Constants, driver: str) -> str:
    """The link, in a few characters."""
    del driver
    return f"PCIe {pcie(given)}"


def family(given: Constants, driver: str) -> str:
    """The kind of bus, whatever its generation and width."""
    del given, driver
    return "PCIe"


def driver_text(driver: str, profile: str, given: Constants | None) -> str:
    """A driver as tables name it."""
    del profile, given
    return {"ring": "DMA ring"}.get(driver, driver)


def scenarios(
    question: Question, platform: Platform, drivers: Sequence[tuple[Driver, int]], models: Models
) -> list[dict[str, Any]]:
    """One scenario for each size."""
    model = models(TOP, PARAMETERS)
    return [scenario(question, platform, driver, size, str(model)) for driver, size in drivers]


def scenario(question: Question, platform: Platform, driver: Driver, size: int, model: str) -> dict[str, Any]:
    """One run as the engine takes it."""
    workload: dict[str, Any] = {
        "operation": question.operation,
        "bytes": size,
        "iterations": question.requests(size),
    }
    if question.rate_per_s is not None:
        workload["rate_per_s"] = question.rate_per_s
    else:
        workload["window"] = question.window
    return {
        "road": "blockdma",
        "profile": driver.profile,
        "platform": {
            "name": platform.name,
            "clock_mhz": entries(platform.fpga)["clock_mhz"],
            **{name: entries(platform.groups[name]) for name in GROUPS},
        },
        "fpga": {"model_path": model},
        "workload": workload,
        "seed": question.seed,
    }


def label(made: Mapping[str, Any]) -> str:
    """The name of a scenario in the progress display."""
    workload = made["workload"]
    return f"{made['platform']['name']} {workload['operation']} {workload['bytes']}, DMA ring"
