# SPDX-License-Identifier: Apache-2.0
"""The page: where the time of a datagram goes, as published and improved, and how much comes in."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from isthmus.report.figures import Figure, Table
from isthmus.report.page import platform_tables, render
from isthmus.results import Document, Measurement
from isthmus.roads.nanet.tables import PARTS, part, us
from isthmus.units import digits

TITLE = "UDP from the wire into host memory"
QUESTION = (
    "A detector sends UDP datagrams over Gigabit Ethernet; a network interface writes them into registered "
    "buffers and announces each. How long after its last byte does a program have a datagram, and how "
    "evenly?"
)
SOURCE = (
    "NaNet: a flexible and configurable low-latency NIC for real-time GPU-based systems, "
    "A. Lonardo et al., INFN"
)


def page(document: Document) -> str:
    """The whole page as text. It needs no network and no other file."""
    return render(
        document,
        title=TITLE,
        question=QUESTION,
        answer=_answer(document),
        drawn=figures(document),
        road="nanet",
        source=SOURCE,
        method="\n".join(platform_tables(document)),
    )


def _single(document: Document) -> list[Measurement]:
    return [m for m in document if m.workload.get("parts_ps") and m.workload.get("window") == 1]


def _answer(document: Document) -> str:
    sentences = []
    for m in _single(document):
        low, high = part(m, "to_program", "min"), part(m, "to_program", "max")
        if low is not None and high is not None:
            sentences.append(
                f"<li>{escape(m.profile)}, {m.workload['bytes']} bytes: {us(low)} to {us(high)} us after its "
                "last byte</li>"
            )
    for m in document:
        if m.throughput is not None and m.workload.get("window") != 1:
            rate = digits(m.throughput.payload_bit_s / 8e6)
            sentences.append(
                f"<li>{escape(m.profile)}, {m.workload['bytes']} bytes, {m.workload.get('ports', 1)} ports: "
                f"{rate} MB/s, {m.workload.get('lost', 0)} lost</li>"
            )
    return f'<p class="headline">From the wire to the program</p><ul>{"".join(sentences)}</ul>'


def figures(document: Document) -> list[Figure]:
    """The parts of the way, as a table of every run with one datagram at a time."""
    members = _single(document)
    return [_parts(members)] if members else []


def _parts(members: Sequence[Measurement]) -> Figure:
    head = ("part", *(f"{m.profile}, {m.workload['bytes']} B" for m in members))
    rows = []
    for name, words in PARTS:
        cells = []
        for m in members:
            low, high = part(m, name, "min"), part(m, name, "max")
            cells.append("" if low is None or high is None else f"{us(low)} to {us(high)}")
        rows.append((words, *cells))
    return Figure(
        id="parts",
        title="Where the time goes",
        caption="us, least and most over the measured datagrams, one at a time",
        panels=(),
        table=Table(head, tuple(rows)),
        legend=(),
    )
