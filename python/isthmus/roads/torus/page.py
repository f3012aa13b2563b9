# SPDX-License-Identifier: Apache-2.0
"""The page of the torus benchmark: delay and carried load against offered load."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from isthmus.report.figures import COLOURS, Figure, Panel, Swatch, Table, curve
from isthmus.report.page import platform_tables, render
from isthmus.results import Document, Measurement
from isthmus.roads.torus.tables import HEAD, head, is_backlog, over_lanes, row, traffic

TITLE = "A torus of routers: delay against load"
QUESTION = (
    "Nodes with a router and links to their neighbours send packets to each other. How long does a packet "
    "take, how much does the network carry, and does it ever stop?"
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
        drawn=[_curves(document)],
        road="torus",
        source=SOURCE,
        method=_method(document),
    )


def _groups(document: Document) -> Mapping[str, list[Measurement]]:
    groups: dict[str, list[Measurement]] = {}
    for m in document:
        groups.setdefault(traffic(m), []).append(m)
    return groups


def _answer(document: Document) -> str:
    sentences = []
    for name, members in _groups(document).items():
        sentences += [
            f"Each node gets {m.workload['carried']:.2f} flits a clock at most ({name}); one is all that its "
            "port takes."
            for m in members
            if is_backlog(m)
        ]
        timed = [m for m in members if m.latency is not None]
        for m in timed[:1] + timed[1:][-1:]:
            assert m.latency is not None
            mean = m.latency.avg / 1e6
            sentences.append(f"At a load of {m.workload['load']:g} a packet takes {mean:.2f} us in the mean.")
    packets = sum(m.workload["packets"] for m in document)
    lost = sum(m.workload.get("lost", 0) for m in document)
    if lost:
        bits = sum(m.counters["lines.wrong_bits"] for m in document)
        sentences.append(
            f"{packets:,} packets arrived, once and in order; {bits:,} wrong bits cost {lost:,} others."
        )
    else:
        sentences.append(f"All of {packets:,} packets arrived, once and in order.")
    return f'<p class="headline">{escape(" ".join(sentences))}</p>'


def _curves(document: Document) -> Figure:
    delays, carried = [], []
    groups = _groups(document)
    for (name, members), colour in zip(groups.items(), COLOURS * len(groups), strict=False):
        offered = [m for m in members if not is_backlog(m)]
        delays.append(
            curve(name, colour, [[m.workload["load"], m.latency.avg / 1e6] for m in offered if m.latency])
        )
        carried.append(curve(name, colour, [[m.workload["load"], m.workload["carried"]] for m in offered]))

    def option(what: str, series: list[dict[str, Any]]) -> dict[str, Any]:
        axis = {"type": "value", "nameLocation": "middle"}
        return {
            "xAxis": {**axis, "name": "offered: flits a node and clock", "min": 0, "max": 1},
            "yAxis": {**axis, "name": what, "min": 0},
            "series": series,
        }

    rows = [[traffic(m), *row(m)] for m in document]
    named = next(map(head, document), HEAD)
    return Figure(
        id="delay",
        title="Delay and carried load against offered load",
        caption="Mean delay of a packet, one-way: from its making to its last flit at the destination. Loads "
        "beyond saturation have no steady delay and are left out.",
        panels=[
            Panel("", "Mean delay over offered load", option("mean delay [us]", delays), 360),
            Panel("", "Carried over offered load", option("flits a node and clock", carried), 300),
        ],
        table=Table(("traffic", *named), rows),
        legend=[
            Swatch(name, colour, "solid") for name, colour in zip(groups, COLOURS * len(groups), strict=False)
        ],
    )


def _method(document: Document) -> str:
    checked = sum(m.checked.bytes for m in document)
    made = "Every router is the synthesizable SystemVerilog of this repository, evaluated clock by clock."
    links = "Links are delays of whole clocks: transceivers and cable, without bit errors and framing."
    if any(map(over_lanes, document)):
        made = made.replace("Every router", "Every router and end of a link")
        links = (
            "The ends of a link are joined by four lanes of 8b/10b words, in step, which take the time of "
            "transceivers and cable. Wrong bits are random, of the 36 of a word and lane."
        )
    arrive = "Every packet must arrive once, in the order of its pair of nodes, with every word right"
    if any(m.workload.get("errors") for m in document):
        arrive = (
            "Every packet that arrives whole must be right, once and in the order of its pair of nodes; one "
            "that is lost must have passed a line with a wrong bit"
        )
    lines = [
        "<ul>",
        f"<li>{made} {links}</li>",
        "<li>Packets are made at random at every node (Poisson), of one size; full: one always waits. "
        "Warm-up is left out, and sources go on until the last packet of the measurement has arrived.</li>",
        f"<li>{arrive}: {checked:,} bytes were compared.</li>",
        "</ul>",
    ]
    return "\n".join([*lines, *platform_tables(document)])
