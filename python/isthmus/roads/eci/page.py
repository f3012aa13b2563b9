# SPDX-License-Identifier: Apache-2.0
"""The page of `isthmus bench eci`."""

from __future__ import annotations

from isthmus.report.transfers import TransferPage
from isthmus.results import Document, Measurement
from isthmus.roads.eci import tables


def _case(m: Measurement) -> str:
    return m.profile


PAGE = TransferPage(
    road="eci",
    title="Host memory over a cache-coherent link",
    question=(
        "An FPGA reads and writes lines of host memory, uncached and coherent, over one link. How long does "
        "a transfer take, how much does the link carry, and where does the time go?"
    ),
    source="So, how fast is ECI really?, Enzian project, ETH Zurich",
    link="A link",
    rate=("What one link carries", "Payload with as many transfers in flight as keep 64 lines open."),
    colours={"isthmus": "c3", "as-published": "c1"},
    case=_case,
    case_word="profile",
    header=tables.HEADER,
    row=tables.row,
)


def page(document: Document) -> str:
    """The whole page as text."""
    return PAGE.page(document)
