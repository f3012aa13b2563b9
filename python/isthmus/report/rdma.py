# SPDX-License-Identifier: Apache-2.0
"""The page of the RDMA benchmarks: the prototype's figures 7 to 9 drawn again, and message against write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from isthmus.bench.rdma_tables import (
    COMPONENTS,
    MIB,
    PHASES,
    components,
    crossover,
    per_descriptor,
    posting,
    rate,
    short_rows,
    total,
)
from isthmus.report.figures import Figure, Panel, Swatch, Table, one_definition
from isthmus.report.page import platform_tables, render
from isthmus.results import DEFINITIONS, Document, Measurement
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
LINES: Mapping[str, tuple[str, str]] = {
    "v1": ("v1: a batch, then wait", "c1"),
    "v2": ("v2: look for room each time", "c2"),
    "v3": ("v3: look for room every fourth time", "c3"),
    "send-bw": ("messages", "c5"),
    "write-lat": ("write", "c2"),
    "send-lat": ("message", "c5"),
}
PUBLISHED_COLOUR = "c4"
PARTS: Mapping[str, tuple[str, str]] = {
    "send_initiation": ("send initiation", "c1"),
    "send_dma": ("send DMA", "c2"),
    "send_nic": ("send interface", "c3"),
    "switch": ("switch", "c4"),
    "propagation": ("propagation", "c5"),
    "rcv_nic": ("receive interface", "c3"),
    "rcv_dma": ("receive DMA", "c2"),
}
LEFT_OVER = ("what the document names apart only in its figure", "c6")
PICOSECONDS = 1e6
"""In a microsecond."""


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
    made = []
    rated = _rated(document)
    if rated:
        made.append(_throughput(rated))
    posted = [m for m in rated if per_descriptor(m) is not None and not m.method.startswith("send")]
    if posted:
        made.append(_per_descriptor(posted))
    parted = [m for m in document if components(m)]
    if parted:
        made.append(_breakdown(parted))
    if {m.method for m in parted if m.workload["combined"]} >= {"write-lat", "send-lat"}:
        made.append(_crossing([m for m in parted if m.workload["combined"]]))
    timed = [m for m in document if m.method in ("write-lat", "send-lat") and m.latency is not None]
    if timed:
        made.append(_latency(timed))
    phased = [m for m in document if m.workload.get("phases_ps")]
    if phased:
        made.append(_phases(phased))
    return made


def beside(members: Sequence[Measurement]) -> Figure:
    """What the page of all roads shows of this one: a table."""
    columns = ["platform", "profile", "operation", "bytes", "one-way [us]", "there and back [us]"]
    columns += ["memory to memory [us]"]
    return Figure(
        "rdma",
        "Between hosts: RDMA",
        "Writes into another host's memory and messages into its queue, through network interfaces, serial "
        "links and a buffered-crossbar switch. One-way is half of a round trip, program to program; a "
        "request and its answer take the whole. Memory to memory leaves out what processors pay.",
        (),
        Table(columns, short_rows(members)),
        (),
    )


def _rated(document: Document) -> list[Measurement]:
    return [m for m in document if m.method in ("write-bw", "send-bw", "one-way") and rate(m) is not None]


def _said() -> Mapping[str, float]:
    """The document's own numbers by their id."""
    from isthmus.verify import published

    return {line["id"]: float(line["value"]) for line in published("rdma")}


def _setting(m: Measurement) -> str:
    w = m.workload
    links = f"{w['links']} link{'s' if w['links'] != 1 else ''} each"
    extra = ", both ways" if w["both_ways"] else ""
    return f"{m.platform}, {w['hosts']} hosts, {links}{extra}"


def _panels(members: Sequence[Measurement]) -> Mapping[str, list[Measurement]]:
    panels: dict[str, list[Measurement]] = {}
    for m in members:
        panels.setdefault(_setting(m), []).append(m)
    return panels


def _kind(m: Measurement) -> str:
    return posting(m) or m.method


def _axis(name: str, kind: str = "value", **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "nameLocation": "middle", **more}


def _bytes(members: Sequence[Measurement]) -> dict[str, Any]:
    sizes = [m.workload["size_bytes"] for m in members]
    low, high = min(sizes), max(sizes)
    # ECharts marks powers of the base, or every tenth of them: ten at most may lie between the ends.
    base = 2 if high < 512 * low else 8
    return _axis("bytes of a transfer", "log", logBase=base, min=low, max=max(high, 2 * low), bytes=True)


def _curves(
    members: Sequence[Measurement], value: Callable[[Measurement], float | None]
) -> list[dict[str, Any]]:
    """A line for each kind of transfer and profile; words of 4 bytes are lines of their own."""
    drawn: dict[tuple[str, str, bool], list[list[float]]] = {}
    for m in members:
        found = value(m)
        if found is not None:
            point = [m.workload["size_bytes"], found]
            drawn.setdefault((_kind(m), m.profile, bool(m.workload["combined"])), []).append(point)
    made = []
    for (kind, profile, combined), data in sorted(drawn.items()):
        name, colour = LINES[kind]
        ours = profile == "isthmus"
        words = "" if combined else ", words of 4 bytes"
        made.append(
            {
                "type": "line",
                "name": f"{name}{words}, {profile}",
                "colour": colour if combined else "c6",
                "data": sorted(data),
                "lineStyle": {"type": "solid" if ours else "dashed"},
                "symbol": "circle" if ours else "emptyCircle",
                "symbolSize": 7,
            }
        )
    return made


def _legend(members: Sequence[Measurement], published: Sequence[Swatch] = ()) -> list[Swatch]:
    kinds = [kind for kind in LINES if any(_kind(m) == kind for m in members)]
    made = [Swatch(*LINES[kind], "box") for kind in kinds]
    if any(not m.workload["combined"] for m in members):
        made.append(Swatch("words of 4 bytes", "c6", "box"))
    for profile, shape in (("isthmus", "solid"), ("as-published", "dashed")):
        if any(m.profile == profile for m in members):
            made.append(Swatch(f"profile {profile}", "text", "solid" if shape == "solid" else "dashed"))
    return [*made, *published]


def _points(name: str, data: Sequence[Sequence[float]]) -> dict[str, Any]:
    return {
        "type": "line", "name": name, "colour": PUBLISHED_COLOUR, "data": data, "symbol": "diamond",
        "symbolSize": 11, "lineStyle": {"width": 0},
    }  # fmt: skip


def _is_document(members: Sequence[Measurement]) -> bool:
    """Whether these are runs that the document has numbers of: its own bus, its own program."""
    return any(m.platform == "forth-rdma" and m.method == "one-way" for m in members)


def _throughput(rated: Sequence[Measurement]) -> Figure:
    said = _said()
    best, bus = said["forth.rdma.v1.rate"], said["forth.pcix.read.rate"]
    panels = []
    swatches = []
    for title, members in _panels(rated).items():
        drawn = _curves(members, lambda m: (rate(m) or 0.0) / MIB)
        axis = _bytes(members)
        if _is_document(members):
            swatches = [
                Swatch(f"published: v1 up to {best:g} MiB/s; at most {bus:g}", PUBLISHED_COLOUR, "dashed")
            ]
            drawn += [
                {
                    "type": "line",
                    "name": name,
                    "colour": PUBLISHED_COLOUR,
                    "data": [[axis["min"], value], [axis["max"], value]],
                    "symbol": "none",
                    "lineStyle": {"type": "dashed"},
                }
                for name, value in (
                    ("published: v1, at most", best),
                    ("published: reads of the bus, at most", bus),
                )
            ]
        label = f"Payload rate against size of a transfer, {title}; the table below has the numbers"
        option = {"xAxis": axis, "yAxis": _axis("payload [MiB/s]", min=0), "series": drawn}
        panels.append(Panel(title, label, option, 420))
    rows = [
        [
            _setting(m),
            LINES[_kind(m)][0],
            m.profile,
            str(m.workload["size_bytes"]),
            f"{(rate(m) or 0) / MIB:.1f}",
            f"{(rate(m) or 0) * 8e-9:.3f}",
            _optional(m.workload.get("messages_per_s"), 1e-6, 4),
            _optional(m.workload.get("link_share"), 100, 1),
            str(m.workload["iterations"]),
        ]
        for m in rated
    ]
    columns = ["hosts", "transfers", "profile", "bytes", "MiB/s", "Gbit/s", "10^6 transfers/s"]
    columns += ["of the links [%]", "transfers"]
    return Figure(
        "throughput",
        "Throughput against size: Figure 7 drawn again",
        "Payload that arrived, by the size of a transfer. What is longer than 4096 bytes takes several "
        "descriptors. Solid: profile isthmus; dashed: as published.",
        panels,
        Table(columns, rows),
        _legend(rated, swatches),
    )


def _optional(value: float | None, scale: float, decimals: int) -> str:
    return "" if value is None else f"{value * scale:.{decimals}f}"


def _per_descriptor(posted: Sequence[Measurement]) -> Figure:
    one_definition(posted, "transfer")
    said = _said()
    constant = said["forth.rdma.v2.latency"]
    lazy = constant * said["forth.rdma.v3.gain"]

    def value(m: Measurement) -> float:
        return (per_descriptor(m) or 0.0) / PICOSECONDS

    panels, swatches = [], []
    for title, members in _panels(posted).items():
        drawn = _curves(members, value)
        axis = _bytes(members)
        if _is_document(members):
            shown = f"published, long transfers: v2 {constant:g} us; v3 3 % less, {lazy:.2f} us"
            swatches = [Swatch(shown, PUBLISHED_COLOUR, "diamond")]
            drawn += [
                _points("published: v2, long transfers", [[axis["max"], constant]]),
                _points("published: v3, long transfers", [[axis["max"], round(lazy, 3)]]),
            ]
        label = (
            f"Time a descriptor costs its sender against size of a transfer, {title}; the table below has "
            "the numbers"
        )
        option = {"xAxis": axis, "yAxis": _axis("time a descriptor [us]", min=0), "series": drawn}
        panels.append(Panel(title, label, option, 420))
    rows = []
    for m in posted:
        assert m.latency is not None
        rows.append(
            [
                _setting(m),
                LINES[_kind(m)][0],
                m.profile,
                str(m.workload["size_bytes"]),
                f"{value(m):.3f}",
                *(f"{x / PICOSECONDS:.3f}" for x in (m.latency.avg, m.latency.min, m.latency.max)),
            ]
        )
    columns = ["hosts", "transfers", "profile", "bytes", "a descriptor [us]", "mean [us]", "least [us]"]
    columns += ["most [us]"]
    return Figure(
        "transfer",
        "What a transfer costs its sender: Figure 8 drawn again",
        f"Mean time {DEFINITIONS[posted[0].definition]}, as the sending program sees it, divided by the "
        "descriptors of a transfer (one up to 4096 bytes).",
        panels,
        Table(columns, rows),
        _legend(posted, swatches),
    )


def _bar(m: Measurement) -> str:
    size = m.workload["size_bytes"]
    kind = "message" if m.method == "send-lat" else "write"
    how = "combined" if m.workload["combined"] else "words of 4 bytes"
    return f"{kind} of {size} bytes\n{how}\n{m.profile}"


def _shown_parts(parted: Sequence[Measurement]) -> list[Measurement]:
    """The shortest transfers of each kind: what the document's figure has."""
    least = min(m.workload["size_bytes"] for m in parted)
    return [m for m in parted if m.workload["size_bytes"] == least]


def _breakdown(parted: Sequence[Measurement]) -> Figure:
    panels, rows = [], []
    said = _said()
    published_total = said["forth.rdma.write.total"]
    named = {
        "propagation": said["forth.rdma.write.propagation"] / 100 * published_total,
        "send_dma": said["forth.rdma.write.send_dma"] / 100 * published_total,
    }
    beside = False
    for title, members in _panels(_shown_parts(parted)).items():
        order = sorted(members, key=lambda m: (m.profile, m.method == "send-lat", m.workload["combined"]))
        found = [components(m) or {} for m in order]
        names = [_bar(m) for m in order]
        document = any(m.platform == "forth-rdma" and m.workload["size_bytes"] == 8 for m in members)
        beside = beside or document
        if document:
            names.append("write of 8 bytes\ncombined\npublished")
        drawn = []
        for part in COMPONENTS:
            data = [round(parts.get(part, 0) / PICOSECONDS, 6) for parts in found]
            name, colour = PARTS[part]
            drawn.append(
                _stack(name, colour, [*data, *([round(named.get(part, 0.0), 4)] if document else [])])
            )
        if document:
            rest = published_total - sum(named.values())
            drawn.append(_stack(*LEFT_OVER, [*([0.0] * len(order)), round(rest, 4)]))
        label = f"Where the time of one short transfer goes, {title}; the table below has the parts"
        option = {
            "xAxis": _axis("memory to memory [us]"),
            "yAxis": {"type": "category", "data": names, "inverse": True},
            "series": drawn,
        }
        panels.append(Panel(title, label, option, 90 + 62 * len(names)))
        for m, parts in zip(order, found, strict=True):
            values = [f"{parts.get(part, 0) / 1e3:.1f}" for part in COMPONENTS]
            shares = [percent(parts.get(part, 0) / parts["total"]) for part in ("propagation", "send_dma")]
            head = [_setting(m), *_bar(m).split("\n")]
            rows.append([*head, *values, f"{parts['total'] / 1e3:.1f}", *shares])
    columns = ["hosts", "transfer", "stores", "profile", *(f"{PARTS[part][0]} [ns]" for part in COMPONENTS)]
    columns += ["in all [ns]", "propagation", "send DMA"]
    legend = [
        Swatch("send initiation", "c1", "box"),
        Swatch("DMA, at the sender and at the receiver", "c2", "box"),
        Swatch("interface, at the sender and at the receiver", "c3", "box"),
        Swatch("switch", "c4", "box"),
        Swatch("propagation", "c5", "box"),
        *([Swatch(*LEFT_OVER, "box")] if beside else []),
    ]
    note = (
        f"The document names two parts of its bar in numbers: {said['forth.rdma.write.propagation']:g} % "
        f"propagation and {said['forth.rdma.write.send_dma']:g} % send DMA. Its total of "
        f"{published_total:g} us is 0.64 us of propagation over the former."
    )
    return Figure(
        "breakdown",
        "Where the time of a short transfer goes: Figure 9 drawn again",
        "One transfer from the sender's first request for its bus to its last byte over the receiver's bus: "
        "what counters in the interfaces can see. The parts follow one another and add up.",
        panels,
        Table(columns, rows),
        legend,
        (note,) if beside else (),
    )


def _stack(name: str, colour: str, data: Sequence[float]) -> dict[str, Any]:
    return {
        "type": "bar", "stack": "parts", "name": name, "colour": colour, "barMaxWidth": 34, "data": data,
    }  # fmt: skip


def _crossing(parted: Sequence[Measurement]) -> Figure:
    panels, rows, notes = [], [], []

    def value(m: Measurement) -> float | None:
        found = total(m)
        return None if found is None else found / PICOSECONDS

    for title, members in _panels(parted).items():
        label = (
            f"Time memory to memory against size, write and message, {title}; the table below has the numbers"
        )
        scale = _axis("memory to memory [us]", min=0)
        option = {"xAxis": _bytes(members), "yAxis": scale, "series": _curves(members, value)}
        panels.append(Panel(title, label, option, 360))
        for profile in sorted({m.profile for m in members}):
            mine = [m for m in members if m.profile == profile]
            at = crossover(mine, "write-lat", "send-lat", total)
            notes.append(
                f"{title}, profile {profile}: "
                + (
                    "no crossing among the sizes measured."
                    if at is None
                    else f"from {at:.0f} bytes on a write is faster."
                )
            )
            by_size: dict[int, dict[str, float]] = {}
            for m in mine:
                by_size.setdefault(m.workload["size_bytes"], {})[m.method] = value(m) or 0.0
            for size, cost in sorted(by_size.items()):
                cells = [f"{cost[key]:.3f}" if key in cost else "" for key in ("write-lat", "send-lat")]
                rows.append([title, profile, str(size), *cells])
    return Figure(
        "crossing",
        "Message or write",
        "A message saves the read of the sender's memory, and its every word goes over the bus by the "
        "processor. Both through a write-combining mapping; the size at which they meet is between two "
        "measured ones on a straight line.",
        panels,
        Table(["hosts", "profile", "bytes", "write [us]", "message [us]"], rows),
        _legend(parted),
        notes,
    )


def _latency(timed: Sequence[Measurement]) -> Figure:
    definition = one_definition(timed, "latency")
    panels = []
    for title, members in _panels(timed).items():
        drawn = _curves(members, lambda m: m.latency.avg / PICOSECONDS if m.latency else None)
        label = f"Mean latency against size of a transfer, {title}; the table below has the numbers"
        option = {
            "xAxis": _bytes(members),
            "yAxis": _axis(f"{definition} [us]", min=0),
            "series": drawn,
        }
        panels.append(Panel(title, label, option, 360))
    rows = []
    for m in timed:
        t = m.latency
        assert t is not None
        tail = (t.percentiles[key] for key in ("p50", "p99", "p99.9"))
        rows.append(
            [
                _setting(m),
                *_bar(m).split("\n"),
                *(f"{value / PICOSECONDS:.3f}" for value in (t.min, t.avg, t.stdev)),
                *("" if value is None else f"{value / PICOSECONDS:.3f}" for value in tail),
                f"{t.max / PICOSECONDS:.3f}",
                str(m.iterations),
            ]
        )
    columns = ["hosts", "transfer", "stores", "profile", "min [us]", "mean [us]", "stdev [us]", "p50 [us]"]
    columns += ["p99 [us]", "p99.9 [us]", "max [us]", "samples"]
    return Figure(
        "latency",
        f"Latency, program to program ({definition})",
        f"{definition.capitalize()}, with what both processors pay: what perftest shows.",
        panels,
        Table(columns, rows),
        _legend(timed),
        ("A percentile with fewer than ten samples beyond it is blank.",),
    )


def _phases(phased: Sequence[Measurement]) -> Figure:
    rows = [
        [
            m.method,
            _setting(m),
            m.profile,
            str(m.workload["size_bytes"]),
            *(_optional(m.workload["phases_ps"].get(name), 1 / PICOSECONDS, 3) for name in PHASES),
        ]
        for m in phased
    ]
    order = list(phased)
    names = [f"{m.method}, {m.workload['size_bytes']} bytes\n{_setting(m)}\n{m.profile}" for m in order]
    drawn = [
        _stack(name, f"c{number + 1}", [m.workload["phases_ps"].get(name, 0) / PICOSECONDS for m in order])
        for number, name in enumerate(PHASES)
    ]
    option = {
        "xAxis": _axis("time of the slowest host [us]"),
        "yAxis": {"type": "category", "data": names, "inverse": True},
        "series": drawn,
    }
    label = "Stacked bars of what the slowest host did all that time; the table below has the numbers"
    return Figure(
        "phases",
        "Applications",
        "Where the slowest host's time goes, all calls together.",
        (Panel("", label, option, 90 + 62 * len(names)),),
        Table(["program", "hosts", "profile", "bytes", *(f"{name} [us]" for name in PHASES)], rows),
        [Swatch(name, f"c{number + 1}", "box") for number, name in enumerate(PHASES)],
    )


def _answer(document: Document) -> str:
    sentences = []
    short: dict[tuple[str, str], dict[str, Mapping[str, int]]] = {}
    for m in document:
        parts = components(m)
        if parts and m.workload["size_bytes"] == 8 and m.workload["combined"]:
            kind = "message" if m.method == "send-lat" else "write"
            short.setdefault((m.platform, kind), {}).setdefault(m.profile, parts)
    for (platform, kind), found in short.items():
        # Profiles that differ in nothing here share a sentence.
        alike = len(found) > 1 and len({parts["total"] for parts in found.values()}) == 1
        for profile, parts in list(found.items())[: 1 if alike else None]:
            largest = max(COMPONENTS, key=lambda part: parts.get(part, 0))
            where = f"{platform}, {'both profiles' if alike else f'profile {profile}'}"
            sentences.append(
                f"A {kind} of 8 bytes takes {digits(parts['total'] / PICOSECONDS)} us from memory to memory "
                f"({where}); the largest part of it is {PARTS[largest][0]}, "
                f"{percent(parts[largest] / parts['total'])}."
            )
    rated = _rated(document)
    if rated:
        best = max(rated, key=lambda m: rate(m) or 0.0)
        sentences.append(
            f"At most {digits((rate(best) or 0) / MIB)} MiB/s arrive: {LINES[_kind(best)][0].split(':')[0]}, "
            f"{best.workload['size_bytes']} bytes a transfer ({_setting(best)}, profile {best.profile})."
        )
    text = " ".join(escape(sentence) for sentence in sentences) or "The figures below have the numbers."
    return f'<p class="headline">{text}</p>'


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
