# SPDX-License-Identifier: Apache-2.0
"""The page of a program that sends: from its post to the wire, and the rate."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from isthmus.report.figures import COLOURS, Figure, Panel, Swatch, Table
from isthmus.results import Document, Measurement
from isthmus.roads.nanet.curves import axes
from isthmus.roads.nanet.tables import line, part, rate, us
from isthmus.units import digits

TITLE = "UDP from host memory to the wire"
QUESTION = (
    "A program posts UDP datagrams of its own memory; a network interface reads, wraps and sends them over "
    "Ethernet. How long after its post is a datagram on the wire, and how many bytes go out a second?"
)
REMOTE = (
    "A program sends messages as UDP datagrams, and one of another host takes them: a network interface "
    "each, and a cable between them. How long after the one has a message has the other one read it, and how "
    "many bytes go over a second?"
)
WAYS = ("post to the first byte of the preamble on the pins", "post to the frame's end behind the cable")
REMOTE_WAYS = ("to the first byte of the preamble on the pins", "to the other host's program")


def sends(document: Document) -> list[Measurement]:
    """Datagrams out of memory."""
    return [m for m in document if m.workload.get("operation") == "message"]


def question(document: Document) -> str:
    """What the page answers."""
    return REMOTE if _remote(sends(document)) else QUESTION


def _remote(members: Sequence[Measurement]) -> bool:
    """Whether a program takes what is sent."""
    return any(m.workload.get("remote") for m in members)


def _single(document: Document) -> list[Measurement]:
    return [m for m in sends(document) if m.workload.get("window") == 1 and m.latency is not None]


def _many(document: Document) -> list[Measurement]:
    return [m for m in sends(document) if m.workload.get("window") != 1 and m.throughput is not None]


def answer(document: Document) -> str:
    """Of the largest datagram: when its frame begins and ends; and the highest rate."""
    sentences = []
    single, many = _single(document), _many(document)
    if single:
        m = max(single, key=lambda m: int(m.workload["bytes"]))
        low, high = part(m, "to_wire", "min"), part(m, "to_wire", "max")
        if low is not None and high is not None and m.latency is not None:
            span = us(low) if us(low) == us(high) else f"{us(low)} to {us(high)}"
            sentences.append(
                f"A message of {m.workload['bytes']} bytes has been read by the other host's program after "
                f"{us(m.latency.avg)} us; its frame begins after {span} us."
                if _remote(single)
                else f"The frame of a datagram of {m.workload['bytes']} bytes begins {span} us "
                f"after its post, and has ended at the other end of the cable after {us(m.latency.avg)} us."
            )
    if many:
        m = max(many, key=rate)
        sentences.append(
            f"With {m.workload['window']} in flight a port sends {digits(rate(m))} MB/s, "
            f"{100 * (line(m) or 0):.1f} % of the line."
        )
    return f'<p class="headline">{escape(" ".join(sentences))}</p>' if sentences else ""


def figures(document: Document) -> list[Figure]:
    """The two ways over the size, and the rate over it."""
    single, many = _single(document), _many(document)
    return [*([_times(single)] if single else []), *([_rates(many)] if many else [])]


def _panel(label: str, y: str, curves: Sequence[tuple[str, Sequence[Sequence[float]]]]) -> Panel:
    series = [
        {"type": "line", "name": name, "colour": colour, "symbolSize": 7, "data": sorted(map(list, points))}
        for (name, points), colour in zip(curves, COLOURS, strict=False)
    ]
    return Panel("", label, {**axes(y), "series": series}, 320)


def _drawn(members: Sequence[Measurement]) -> bool:
    """One size is no curve."""
    return len({m.workload["bytes"] for m in members}) > 1


def _times(single: Sequence[Measurement]) -> Figure:
    remote = _remote(single)
    ways = REMOTE_WAYS if remote else WAYS
    to_wire = [[m.workload["bytes"], (part(m, "to_wire", "avg") or 0) / 1e6] for m in single]
    to_end = [[m.workload["bytes"], m.latency.avg / 1e6] for m in single if m.latency]
    rows = []
    for m in sorted(single, key=lambda m: int(m.workload["bytes"])):
        ends = [part(m, "to_wire", figure) for figure in ("min", "avg", "max")]
        times = (m.latency.min, m.latency.avg, m.latency.max) if m.latency else ()
        cells = ["" if time is None else us(time) for time in (*ends, *times)]
        rows.append((m.profile, str(m.workload["bytes"]), *cells))
    head = [f"{where}, {figure} us" for where in ("to wire", "to end") for figure in ("min", "avg", "max")]
    panels = [_panel("Time over datagram size", "us", list(zip(ways, (to_wire, to_end), strict=True)))]
    return Figure(
        id="send-times",
        title="From program to program" if remote else "From the post to the wire",
        caption="Mean, one message at a time. Between the two lines are the frame's own time on the wire "
        "and the other host."
        if remote
        else "Mean, one datagram at a time. Between the two lines is the frame's own time on the wire.",
        panels=panels if _drawn(single) else (),
        table=Table(("profile", "bytes", *head), rows),
        legend=[Swatch(name, colour, "solid") for name, colour in zip(ways, COLOURS, strict=False)]
        if _drawn(single)
        else (),
    )


def _rates(many: Sequence[Measurement]) -> Figure:
    windows = sorted({int(m.workload["window"]) for m in many})
    curves = [
        (
            f"{window} in flight",
            [[m.workload["bytes"], rate(m)] for m in many if m.workload["window"] == window],
        )
        for window in windows
    ]
    rows = [
        (m.profile, str(m.workload["window"]), str(m.workload["bytes"]), f"{rate(m):.1f}",
         f"{100 * (line(m) or 0):.1f}")
        for m in sorted(many, key=lambda m: (int(m.workload["window"]), int(m.workload["bytes"])))
    ]  # fmt: skip
    return Figure(
        id="send-rate",
        title="Rate",
        caption="Payload that arrives at the other end of the cable, every byte of it compared.",
        panels=[_panel("Rate over datagram size", "MB/s", curves)] if _drawn(many) else (),
        table=Table(("profile", "in flight", "bytes", "MB/s", "% of the line"), rows),
        legend=[Swatch(name, colour, "solid") for (name, _), colour in zip(curves, COLOURS, strict=False)]
        if _drawn(many)
        else (),
    )
