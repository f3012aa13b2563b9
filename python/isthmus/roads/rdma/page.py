# SPDX-License-Identifier: Apache-2.0
"""The page of the RDMA benchmarks: the prototype's figures 6 to 9 drawn again, what links carry, one transfer
packet by packet, and message against write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from isthmus.report.figures import Figure
from isthmus.report.page import beside, platform_tables, render
from isthmus.results import Document, Measurement
from isthmus.roads.rdma import ROAD
from isthmus.roads.rdma.figures.common import (
    LATENCY_METHODS,
    LINES,
    PICOSECONDS,
    is_by_packet,
    kind_of,
    panels_of,
    setting_of,
)
from isthmus.roads.rdma.figures.packets import packets_figure
from isthmus.roads.rdma.figures.parts import PARTS, breakdown_figure, crossing_figure, crossing_words
from isthmus.roads.rdma.figures.rates import links_figure, per_descriptor_figure, throughput_figure
from isthmus.roads.rdma.figures.times import latency_figure, phases_figure, trace_figure, traces
from isthmus.roads.rdma.tables import COMPONENTS, MIB, OPERATIONS, components, per_descriptor, rate
from isthmus.units import digits, percent

TITLE = "Remote DMA between hosts: what a transfer costs, and where its time goes"


QUESTION = (
    "Hosts write into each other's memory, or into queues there, through network interfaces on their buses "
    "and buffered-crossbar switches. How fast are short transfers and how much do long ones carry, what does "
    "the way a program posts them change, and when is a message better than a write?"
)


SOURCE = (
    "Prototyping Efficient Interprocessor Communication Mechanisms, V. Papaefstathiou et al., FORTH-ICS, 2007"
)


def page(document: Document) -> str:
    """The whole page as text. It needs no network and no other file."""
    return render(
        document,
        title=TITLE,
        question=QUESTION,
        answer=_answer(document),
        drawn=figures(document),
        road="rdma",
        source=SOURCE,
        method=_method(document),
    )


def figures(document: Document) -> list[Figure]:
    """All figures that the document's measurements allow."""
    made = beside(ROAD, document)
    rated = _rated(document)
    shown = _with_most_lines(rated)
    if shown:
        made.append(throughput_figure(shown))
    posted = [m for m in shown if per_descriptor(m) is not None and not m.method.startswith("send")]
    if posted:
        made.append(per_descriptor_figure(posted))
    if len({m.workload["links"] for m in rated}) > 1:
        made.append(links_figure(rated))
    parted = [m for m in document if components(m) and not is_by_packet(m)]
    if parted:
        made.append(breakdown_figure(parted))
    packeted = [m for m in document if is_by_packet(m)]
    if packeted:
        made.append(packets_figure(packeted))
    if {m.method for m in parted if m.workload["combined"]} >= {"write-lat", "send-lat"}:
        made.append(crossing_figure([m for m in parted if m.workload["combined"]]))
    timed = [m for m in document if m.method in LATENCY_METHODS and m.latency is not None]
    # A few transfers that are shown packet by packet are no point of a curve of another setting.
    timed = [m for m in timed if m in parted or not parted]
    if timed:
        made.append(latency_figure(timed))
    phased = [m for m in document if m.workload.get("phases_ps")]
    if phased:
        made.append(phases_figure(phased))
    traced = traces(document)
    if traced:
        made.append(trace_figure(traced))
    return made


def _rated(document: Document) -> list[Measurement]:
    return [
        m
        for m in document
        if m.road == "rdma" and m.method in ("write-bw", "send-bw", "one-way") and rate(m) is not None
    ]


def _with_most_lines(rated: Sequence[Measurement]) -> list[Measurement]:
    """Of runs that differ in their number of links those with the most ways of sending. The others are in
    the figure of links."""
    kinds: dict[str, set[str]] = {}
    for m in rated:
        kinds.setdefault(setting_of(m), set()).add(kind_of(m))
    most = max(map(len, kinds.values()), default=0)
    return [m for m in rated if len(kinds[setting_of(m)]) == most]


def _answer(document: Document) -> str:
    sentences = []
    short: dict[tuple[str, str], dict[str, Mapping[str, int]]] = {}
    for m in document:
        parts = components(m)
        if parts and m.workload["size_bytes"] == 8 and m.workload["combined"]:
            kind = OPERATIONS.get(m.method, "write")
            short.setdefault((m.platform, kind), {}).setdefault(m.profile, parts)
    for (platform, kind), found in short.items():
        # Profiles that differ in nothing here share a sentence.
        alike = len(found) > 1 and len({parts["total"] for parts in found.values()}) == 1
        for profile, parts in list(found.items())[: 1 if alike else None]:
            largest = max(COMPONENTS, key=lambda part: parts.get(part, 0))
            where = f"{platform}, {'both profiles' if alike else f'profile {profile}'}"
            sentences.append(
                f"{'An' if kind.startswith('i') else 'A'} {kind} of 8 bytes takes "
                f"{digits(parts['total'] / PICOSECONDS)} us from memory to memory ({where}); "
                f"the largest part of it is {PARTS[largest][0]}, "
                f"{percent(parts[largest] / parts['total'])}."
            )
    rated = _rated(document)
    if rated:
        best = max(rated, key=lambda m: rate(m) or 0.0)
        kind = LINES[kind_of(best)][0].split(":")[0]
        sentences.append(
            f"At most {digits((rate(best) or 0) / MIB)} MiB/s arrive: {kind}, "
            f"{best.workload['size_bytes']} bytes a transfer ({setting_of(best)}, profile {best.profile})."
        )
    for m, _ in traces(document):
        t = m.latency
        assert t is not None
        sentences.append(
            f"Half of the trace's transfers arrive within {digits(t.typical / PICOSECONDS)} us, all that "
            f"arrive within {digits(t.max / PICOSECONDS)} us ({setting_of(m)}, profile {m.profile})."
        )
    for m in (m for m in document if m.workload.get("phases_ps")):
        phases: Mapping[str, int] = m.workload["phases_ps"]
        spent = sum(phases.values())
        largest = max(phases, key=lambda name: phases[name])
        sentences.append(
            f"The slowest host spends {digits(spent / PICOSECONDS)} us in {m.method} of "
            f"{m.workload['size_bytes']} bytes ({setting_of(m)}, profile {m.profile}), most of it in "
            f"{largest}: {percent(phases[largest] / spent)}."
        )
    text = " ".join(escape(sentence) for sentence in sentences)
    more = []
    short_ones = [m for m in document if components(m) and m.workload["combined"] and not is_by_packet(m)]
    if {m.method for m in short_ones} >= {"write-lat", "send-lat"}:
        for title, members in panels_of(short_ones).items():
            words = crossing_words(members)
            more.append(f"{words[0].upper()}{words[1:-1]} ({title}).")
    if len({m.workload["links"] for m in rated}) > 1:
        more += links_figure(rated).notes
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in more)
    headline = f'<p class="headline">{text}</p>' if text else ""
    return headline + (f"<ul>{items}</ul>" if items else "")


def _method(document: Document) -> str:
    checked = sum(m.checked.bytes for m in document)
    lines = [
        "<ul>",
        "<li>Interfaces and switches are the synthesizable SystemVerilog of this repository, evaluated clock "
        "by clock. Processor, bus, memory, transceivers and cables are models with one delay or rate for "
        "each step.</li>",
        "<li>Transfers are posted one after the other by a program on each sender; those before the queues "
        "have filled are not counted. Times are simulated, so another run gives the same numbers.</li>",
        "<li>What a processor pays is an assumption for a server of 2005. Times from memory to memory do not "
        "depend on it; times that programs see do.</li>",
        f"<li>Every byte is compared in the receiver's memory: {checked:,} bytes.</li>",
        "</ul>",
    ]
    return "\n".join([*lines, *platform_tables(document)])
