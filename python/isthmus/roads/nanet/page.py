# SPDX-License-Identifier: Apache-2.0
"""The page: where the time of a datagram goes, as published and improved, and the received rate."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from isthmus.report.figures import Figure, Panel, Swatch, Table
from isthmus.report.page import platform_tables, render
from isthmus.results import Document, Measurement
from isthmus.roads.nanet import chain_page, send_page, stages
from isthmus.roads.nanet.chain_tables import chains
from isthmus.roads.nanet.curves import axes
from isthmus.roads.nanet.tables import line, memory, part, parts, rate, us, way
from isthmus.units import digits

TITLE = "UDP from the wire into memory"
QUESTION = (
    "A detector sends UDP datagrams over Gigabit Ethernet; a network interface writes them into registered "
    "buffers and announces each. How long after its last byte does a program have a datagram, and how "
    "evenly?"
)
SOURCE = (
    "NaNet: a flexible and configurable low-latency NIC for real-time GPU-based systems, "
    "A. Lonardo et al., INFN"
)

COLOURS = stages.WAYS


def page(document: Document) -> str:
    """The whole page as text. It needs no network and no other file."""
    if send_page.sends(document):
        return render(
            document,
            title=send_page.TITLE,
            question=send_page.question(document),
            answer=send_page.answer(document),
            drawn=send_page.figures(document),
            road="nanet",
            source=SOURCE,
            method="\n".join(platform_tables(document)),
        )
    if not _single(document) and not _many(document):
        return render(
            document,
            title=chain_page.TITLE,
            question=chain_page.QUESTION,
            answer=chain_page.answer(document),
            drawn=chain_page.figures(document),
            road="nanet",
            source=SOURCE,
            method="\n".join([chain_page.method(document), *platform_tables(document)]),
        )
    return render(
        document,
        title=TITLE,
        question=QUESTION,
        answer=_answer(document),
        drawn=figures(document),
        road="nanet",
        source=SOURCE,
        method="\n".join([_method(document), *platform_tables(document)]),
    )


def _method(document: Document) -> str:
    checked = sum(m.checked.bytes for m in _streams(document))
    lines = [
        "The interface is the synthesizable SystemVerilog of this repository, evaluated clock by clock, from "
        "the pins of its Ethernet ports to those of its memory port. Source, cable, PCI Express and the "
        "program's accesses are models.",
        "The profile as-published has the document's firmware for its addresses: how long it sleeps and "
        "works is the document's. The profile isthmus has them in gateware.",
        "The program is the host library of this repository, and polls its event queue or waits for an "
        "interrupt.",
        f"Every byte was compared in its memory when its event was seen: {checked:,} bytes.",
    ]
    if any(memory(m) != "host" for m in _streams(document)):
        lines.insert(
            2,
            "Into a GPU's memory a datagram's time ends when the program has its event and its last byte is "
            "visible in the GPU's memory: a kernel that the program then starts reads it. gpu: the interface "
            "writes there, peer to peer, on the GPU's own link; staged: the program copies each buffer from "
            "the host's memory. Events are in the host's memory. The GPU's link and latencies are a model; "
            "no kernel runs.",
        )
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _single(document: Document) -> list[Measurement]:
    return [m for m in _streams(document) if m.workload.get("parts_ps") and m.workload.get("window") == 1]


def _answer(document: Document) -> str:
    """Of the largest datagram: how long after its last byte, as published and improved; and the rate."""
    single, many = _single(document), _many(document)
    sentences = []
    if single:
        size = max(m.workload["bytes"] for m in single)
        spans = [
            f"{us(low)} to {us(high)} us ({m.profile})"
            for m in single
            if m.workload["bytes"] == size
            and memory(m) == "host"
            and (low := part(m, "to_program", "min")) is not None
            and (high := part(m, "to_program", "max")) is not None
        ]
        if spans:
            sentences.append(
                f"A program has a datagram of {size} bytes {', '.join(spans)} after its last byte on the "
                "wire."
            )
        spans = [
            f"{us(low)} to {us(high)} us ({way(m)})"
            for m in single
            if m.workload["bytes"] == size
            and (low := part(m, "to_gpu", "min")) is not None
            and (high := part(m, "to_gpu", "max")) is not None
        ]
        if spans:
            what = f"A datagram of {size} bytes" if len(sentences) == 0 else "It"
            sentences.append(f"{what} is in a GPU's memory {', '.join(spans)} after that byte.")
    if many:
        best = max(many, key=rate)
        ports = int(best.workload.get("ports", 1))
        lost = sum(int(m.workload.get("lost", 0)) for m in many)
        sentences.append(
            f"{ports} port{'s carry' if ports != 1 else ' carries'} up to {digits(rate(best))} MB/s, "
            f"{lost or 'none'} lost."
        )
    return f'<p class="headline">{escape(" ".join(sentences))}</p>' if sentences else ""


def _many(document: Document) -> list[Measurement]:
    return [m for m in _streams(document) if m.throughput is not None and m.workload.get("window") != 1]


def _streams(document: Document) -> list[Measurement]:
    """Datagrams into memory, and no trigger on them."""
    return [m for m in document if m.workload.get("operation") == "nic-to-memory"]


def figures(document: Document) -> list[Figure]:
    """How long after its last byte a program has a datagram, the received rate, and the parts of the way."""
    single, many = _single(document), _many(document)
    made = []
    if len({m.workload["bytes"] for m in single}) > 1:
        made.append(_after(single))
    if len({m.workload["bytes"] for m in many}) > 1:
        made.append(_rates(many))
    if single:
        largest = max(m.workload["bytes"] for m in single)
        shown = [m for m in single if m.workload["bytes"] == largest and stages.spans(m)]
        if shown:
            made.insert(0, stages.figure(document, shown))
        made.append(_parts(single))
    return [*made, *chain_page.figures(document)] if chains(document) else made


def _line(name: str, of: str, dashed: bool, points: Sequence[Sequence[float]]) -> dict[str, Any]:
    return {
        "type": "line",
        "name": name,
        "colour": COLOURS[of],
        "symbolSize": 7,
        "data": sorted(points),
        "lineStyle": {"type": "dashed" if dashed else "solid"},
    }


def _by_way(members: Sequence[Measurement]) -> dict[str, list[Measurement]]:
    return {name: found for name in COLOURS if (found := [m for m in members if way(m) == name])}


def _after(single: Sequence[Measurement]) -> Figure:
    series, rows = [], []
    for profile, members in _by_way(single).items():
        for end, dashed in (("min", False), ("max", True)):
            points = [
                [m.workload["bytes"], value / 1e6]
                for m in members
                if (value := stages.ready(m, end)) is not None
            ]
            name = f"{profile}, {'least' if end == 'min' else 'most'}"
            series.append(_line(name, profile, dashed, points))
            rows += [(name, str(int(size)), f"{value:.3f}") for size, value in sorted(points)]
    return Figure(
        id="after",
        title="From the last byte on the wire to the data in its place and its event in the program",
        caption="Datagrams one at a time; the distance of the two lines of a profile is its jitter.",
        panels=[
            Panel("", "Time after the last byte over datagram size", {**axes("us"), "series": series}, 360)
        ],
        table=Table(("profile", "bytes", "us"), tuple(rows)),
        legend=_legend(single),
    )


def _rates(many: Sequence[Measurement]) -> Figure:
    series, rows = [], []
    for profile, members in _by_way(many).items():
        points = [[m.workload["bytes"], rate(m)] for m in members]
        series.append(_line(profile, profile, False, points))
        rows += [
            (profile, str(m.workload["bytes"]), f"{rate(m):.1f}", f"{100 * (line(m) or 0):.1f}")
            for m in sorted(members, key=lambda m: int(m.workload["bytes"]))
        ]
    return Figure(
        id="rate",
        title="Received rate",
        caption="Payload that reaches the program, datagrams sent as fast as the wire takes them.",
        panels=[Panel("", "Rate over datagram size", {**axes("MB/s"), "series": series}, 360)],
        table=Table(("profile", "bytes", "MB/s", "% of the line"), tuple(rows)),
        legend=_legend(many),
    )


def _legend(members: Sequence[Measurement]) -> list[Swatch]:
    return [Swatch(profile, COLOURS[profile], "solid") for profile in _by_way(members)]


def _parts(members: Sequence[Measurement]) -> Figure:
    head = ("part", *(f"{way(m)}, {m.workload['bytes']} B" for m in members))
    rows = []
    for name, words in parts(members):
        cells = []
        for m in members:
            low, high = part(m, name, "min"), part(m, name, "max")
            cells.append("" if low is None or high is None else f"{us(low)} to {us(high)}")
        rows.append((words, *cells))
    return Figure(
        id="parts",
        title="Where the time goes",
        caption="Microseconds, least and most over the measured datagrams, one at a time.",
        panels=(),
        table=Table(head, tuple(rows)),
        legend=(),
    )
