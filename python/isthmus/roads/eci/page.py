# SPDX-License-Identifier: Apache-2.0
"""The page of `isthmus bench eci`."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.report.figures import Figure
from isthmus.report.transfers import TransferPage
from isthmus.results import Document, Measurement
from isthmus.roads.eci import beside, errors, life, tables


def _case(m: Measurement) -> str:
    policy, wrong = m.workload.get("policy"), errors.rate_of(m)
    if wrong:
        return f"{m.profile}, {beside.name(m)}, errors {wrong:g}"
    if beside.is_pcie(m):
        return f"{m.profile}, {beside.name(m)}"
    at_once = ", both at once" if "beside" in m.workload else ""
    return (f"{m.profile}, {policy}" if policy else m.profile) + at_once


def _over_the_link(members: Sequence[Measurement]) -> Sequence[Measurement]:
    return [m for m in members if not beside.is_pcie(m) and not errors.rate_of(m)] or members


def _also(document: Document) -> list[Figure]:
    return [*errors.figures(document), *life.figures(document)]


COLOURS = {
    "isthmus": "c3",
    "as-published": "c1",
    "isthmus, both at once": "c2",
    "as-published, both at once": "c4",
    "isthmus, balance": "c3",
    "isthmus, partition": "c2",
    "as-published, balance": "c1",
    "as-published, partition": "c4",
}


PAGE = TransferPage(
    road="eci",
    title="Memory over a cache-coherent link",
    question=(
        "An FPGA reads and writes lines of host memory, a core of the host lines of the FPGA's, over "
        "one coherent link or two. How long does a transfer take, how much do the links carry, and where "
        "does the time go?"
    ),
    source="So, how fast is ECI really?, Enzian project, ETH Zurich",
    link="A link",
    rate=("What is carried", "Payload with as many transfers in flight as keep 64 lines open."),
    colours=COLOURS,
    case=_case,
    case_word="profile, and policy of two links",
    answered=_over_the_link,
    more=lambda document: [*beside.sentences(document), *life.sentences(document)],
    also=_also,
    header=tables.HEADER,
    row=tables.row,
    method=(
        "Agents, homes, block links and their replay are the synthesizable SystemVerilog of this repository, "
        "at both ends, evaluated clock by clock.",
        "Lanes are delays: bits of a block, transceivers and traces. Memory and the core's way to the link "
        "are constants; each is below, with its source.",
        "A transfer is observed alone for its stages, behind those that are measured.",
    ),
)


def page(document: Document) -> str:
    """The whole page as text."""
    return PAGE.page(document)
