# SPDX-License-Identifier: Apache-2.0
"""The page of `isthmus bench ccix`."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.report.transfers import TransferPage
from isthmus.results import Document, Measurement
from isthmus.roads.ccix import contention_page, locks_page, tables
from isthmus.roads.ccix.contention import contended
from isthmus.roads.ccix.locks import measured


def _case(m: Measurement) -> str:
    """Design and driver, as figures name them."""
    driver = str(m.workload["driver"])
    cache = "cache, " if "cache" in m.workload else ""
    names = {"request-agent": "", "svm": f", {cache}{tables.memory(m)}", "pcie-dma": ", DMA"}
    return m.profile + names.get(driver, f", {driver}")


_COLOURS = {
    "isthmus": "c3",
    "as-published": "c1",
    "isthmus, DMA": "c4",
    "as-published, DMA": "c6",
    "isthmus, cached": "c5",
    "as-published, cached": "c2",
    "isthmus, cached-hit": "c2",
    "as-published, cached-hit": "c5",
}


def _answered(members: Sequence[Measurement]) -> Sequence[Measurement]:
    return [m for m in members if m.workload["driver"] == "request-agent"] or members


PAGE = TransferPage(
    road="ccix",
    title="Coherent host memory over CCIX",
    question=(
        "An FPGA's request agent reads and writes lines of host memory over CCIX. How long does a transfer "
        "take, how much does the link carry, and where does the time go?"
    ),
    source="An Evaluation of Using CCIX for Cache-Coherent Host-FPGA Interfacing, FCCM 2022",
    link="The link",
    rate=("What the link carries", "Payload with as many transfers in flight as keep the link busy."),
    colours=_COLOURS,
    case=_case,
    case_word="design",
    answered=_answered,
    header=tables.HEADER,
    row=tables.row,
    method=(
        "The FPGA is the synthesizable SystemVerilog of this repository, evaluated clock by clock: request "
        "agent, cache, translation, packing. The home agent, PCI Express ports and the host's memory are "
        "models.",
        "A transfer is observed alone for its stages, behind those that are measured.",
    ),
)


def page(document: Document) -> str:
    """The whole page as text."""
    if contended(document):
        return contention_page.page(document)
    return locks_page.page(document) if measured(document) else PAGE.page(document)
