# SPDX-License-Identifier: Apache-2.0
"""The page of puts over APElink: latency and rate over their size."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from isthmus.report.figures import COLOURS, Figure, Panel, Swatch, Table, byte_axis, curve
from isthmus.report.page import platform_tables, render
from isthmus.results import Document, Measurement
from isthmus.roads.apenet.tables import HEAD, memory, rate, row, share, us

TITLE = "Memory to memory over APElink"
QUESTION = (
    "A program puts bytes of its memory into that of another host, over a torus of network interfaces. "
    "How long after its post does the far program have them, and how many come a second?"
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
        road="apenet",
        source=SOURCE,
        method=_method(document),
    )


def _name(m: Measurement) -> str:
    kinds = memory(m)
    get = ", get" if m.workload["test"] == "get" else ""
    get += ", list" if m.workload.get("target") == "list" else ""
    get += ", inline" if m.workload.get("payload") == "inline" else ""
    return f"{m.platform}, {m.profile}{get}" + ("" if kinds == "host" else f", {kinds}")


def _answer(document: Document) -> str:
    sentences = []
    ours = [m for m in document if m.profile == "isthmus"] or list(document)
    timed = [m for m in ours if m.workload["test"] == "ping-pong" and m.latency is not None]
    if timed:
        m = min(timed, key=lambda m: int(m.workload["bytes"]))
        assert m.latency is not None
        sentences.append(
            f"A put of {m.workload['bytes']} bytes is with the far program after {us(m.latency.avg)} us "
            f"({_name(m)}; half of a round trip)."
        )
    carried = [m for m in ours if rate(m) is not None]
    if carried:
        m = max(carried, key=lambda m: rate(m) or 0)
        sentences.append(
            f"Puts of {m.workload['bytes']} bytes carry {rate(m):.0f} MB/s, "
            f"{100 * (share(m) or 0):.1f} % of what the link carries ({_name(m)})."
        )
    return f'<p class="headline">{escape(" ".join(sentences))}</p>'


def _curves(document: Document) -> Figure:
    groups: dict[str, list[Measurement]] = {}
    for m in document:
        groups.setdefault(_name(m), []).append(m)
    latencies, rates = [], []
    colours: Mapping[str, str] = dict(zip(groups, COLOURS * len(groups), strict=False))
    for name, members in groups.items():
        halves = [
            m
            for m in members
            if m.latency and (m.workload["test"], m.workload["window"]) in (("ping-pong", 1), ("get", 1))
        ]
        many = [m for m in members if m.workload["window"] != 1]
        latencies.append(
            curve(
                name, colours[name], [[m.workload["bytes"], m.latency.avg / 1e6] for m in halves if m.latency]
            )
        )
        rates.append(curve(name, colours[name], [[m.workload["bytes"], rate(m) or 0] for m in many]))

    def option(what: str, series: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "xAxis": byte_axis("bytes of a put", [m.workload["bytes"] for m in document]),
            "yAxis": {"type": "value", "name": what, "nameLocation": "middle", "min": 0},
            "series": series,
        }

    return Figure(
        id="puts",
        title="Latency and rate over the size of a put",
        caption="Half of a round trip between two programs, one put in flight, or a get, from its request to "
        "its data; and payload a second with several in flight.",
        panels=[
            Panel("", "Half of a round trip over the size", option("us", latencies), 340),
            Panel("", "Rate over the size", option("MB/s", rates), 340),
        ],
        table=Table(HEAD, [list(row(m)) for m in document]),
        legend=[Swatch(name, colour, "solid") for name, colour in colours.items()],
    )


def _method(document: Document) -> str:
    checked = sum(m.checked.bytes for m in document)
    links = "Links are delays of whole clocks, without bit errors and framing."
    if any(m.workload.get("links") == "lanes" for m in document):
        links = (
            "So are the ends of its links: framing, credits, checks. Four lanes of 8b/10b words, in step and "
            "without bit errors, take the time of transceivers and cable."
        )
    lines = [
        "<ul>",
        "<li>Every node is the synthesizable SystemVerilog of this repository, evaluated clock by clock: "
        f"reads of memory, packets, router, checks, translation, writes, events. {links}</li>",
        "<li>The host's program posts by one store of 8 bytes and polls its event queue, with the host "
        "library of this repository. The payload is in memory before the post; inline it is stored with it, "
        "where memory is a GPU's by a kernel, which polls its events there.</li>",
        f"<li>Every byte was compared in the far memory when its event was seen: {checked:,} bytes.</li>",
        "</ul>",
    ]
    return "\n".join([*lines, *platform_tables(document)])
