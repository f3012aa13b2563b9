# SPDX-License-Identifier: Apache-2.0
"""The page of the RDMA benchmarks: the prototype's figures 6 to 9 drawn again, what links carry, one transfer
packet by packet, and message against write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from itertools import accumulate
from typing import Any

from isthmus.report.figures import (
    BEYOND_NOTE,
    TAIL,
    Figure,
    Panel,
    Swatch,
    Table,
    one_definition,
    percentile_cell,
)
from isthmus.report.page import platform_tables, render
from isthmus.results import DEFINITIONS, Document, Measurement
from isthmus.results.model import percentile_name
from isthmus.roads.rdma.tables import (
    COMPONENTS,
    MIB,
    OPERATIONS,
    PHASES,
    bounds,
    components,
    crossover,
    differences,
    injection,
    per_descriptor,
    posting,
    rate,
    steps,
    total,
)
from isthmus.roads.switch.page import delay as crossbar_delay
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
    "v2": ("v2: check for space each time", "c2"),
    "v3": ("v3: check for space every fourth time", "c3"),
    "send-bw": ("messages", "c5"),
    "write-lat": ("write", "c2"),
    "write-lat-inline": ("write with its data inline", "c3"),
    "write-bw-inline": ("writes with their data inline", "c4"),
    "send-lat": ("message", "c5"),
}
LATENCY_METHODS = ("write-lat", "write-lat-inline", "send-lat")
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
COLOURS = 6
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
    crossbar = [m for m in document if m.road == "switch" and m.latency is not None and m.workload["load"]]
    if crossbar:
        made.append(crossbar_delay(crossbar))
    rated = _rated(document)
    shown = _with_most_lines(rated)
    if shown:
        made.append(_throughput(shown))
    posted = [m for m in shown if per_descriptor(m) is not None and not m.method.startswith("send")]
    if posted:
        made.append(_per_descriptor(posted))
    if len({m.workload["links"] for m in rated}) > 1:
        made.append(_links(rated))
    parted = [m for m in document if components(m) and not _is_by_packet(m)]
    if parted:
        made.append(_breakdown(parted))
    packeted = [m for m in document if _is_by_packet(m)]
    if packeted:
        made.append(_packets(packeted))
    if {m.method for m in parted if m.workload["combined"]} >= {"write-lat", "send-lat"}:
        made.append(_crossing([m for m in parted if m.workload["combined"]]))
    timed = [m for m in document if m.method in LATENCY_METHODS and m.latency is not None]
    # A few transfers that are shown packet by packet are no point of a curve of another setting.
    timed = [m for m in timed if m in parted or not parted]
    if timed:
        made.append(_latency(timed))
    phased = [m for m in document if m.workload.get("phases_ps")]
    if phased:
        made.append(_phases(phased))
    traced = _traced(document)
    if traced:
        made.append(_trace(traced))
    return made


def _rated(document: Document) -> list[Measurement]:
    return [
        m
        for m in document
        if m.road == "rdma" and m.method in ("write-bw", "send-bw", "one-way") and rate(m) is not None
    ]


def _is_by_packet(m: Measurement) -> bool:
    """Whether it is one transfer of several packets."""
    return m.road == "rdma" and len(m.workload.get("packets") or ()) > 1


def _with_most_lines(rated: Sequence[Measurement]) -> list[Measurement]:
    """Of runs that differ in their number of links those with the most ways of sending. The others are in
    the figure of links."""
    kinds: dict[str, set[str]] = {}
    for m in rated:
        kinds.setdefault(_setting(m), set()).add(_kind(m))
    most = max(map(len, kinds.values()), default=0)
    return [m for m in rated if len(kinds[_setting(m)]) == most]


def _said() -> Mapping[str, float]:
    """The document's own numbers by their id."""
    from isthmus.verify import published

    return {line["id"]: float(line["value"]) for line in published("rdma")}


def _rate_cells(m: Measurement) -> list[str]:
    """Setting, line, profile, bytes and payload rate: what a row about a rate begins with."""
    size, carried = m.workload["size_bytes"], (rate(m) or 0) / MIB
    return [_setting(m), LINES[_kind(m)][0], m.profile, str(size), f"{carried:.1f}"]


def _setting(m: Measurement) -> str:
    w = m.workload
    links = f"{w['links']} link{'s' if w['links'] != 1 else ''} each"
    extra = ", both ways" if w["both_ways"] else ""
    extra += f", lists of {w['post_list']}" if w["post_list"] > 1 else ""
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
            *_rate_cells(m),
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


def _links(rated: Sequence[Measurement]) -> Figure:
    """The same row of transfers over one, two and four links."""
    same = _alike([m for m in rated if not m.method.startswith("send")])
    counts = sorted({m.workload["links"] for m in same})
    colours = {count: f"c{number + 1}" for number, count in enumerate(counts)}
    names = {count: f"{count} link{'s' if count != 1 else ''}" for count in counts}
    bus = _said()["forth.pcix.read.rate"]

    def lines(value: Callable[[Measurement], float]) -> list[dict[str, Any]]:
        return [
            {
                "type": "line",
                "name": names[count],
                "colour": colours[count],
                "symbol": "circle",
                "symbolSize": 7,
                "data": sorted([m.workload["size_bytes"], value(m)] for m in members),
            }
            for count in counts
            for members in [[m for m in same if m.workload["links"] == count]]
        ]

    def used(m: Measurement) -> float:
        return 100 * float(m.workload["link_share"] or 0.0)

    carried = lines(lambda m: (rate(m) or 0.0) / MIB)
    axis = _bytes(same)
    legend = [Swatch(names[count], colours[count], "box") for count in counts]
    if any(m.platform == "forth-rdma" for m in same):
        carried.append(
            {
                "type": "line", "name": "published: reads of the bus, at most", "colour": PUBLISHED_COLOUR,
                "data": [[axis["min"], bus], [axis["max"], bus]], "symbol": "none",
                "lineStyle": {"type": "dashed"},
            }
        )  # fmt: skip
        legend.append(
            Swatch(f"published: reads of the bus, at most {bus:g} MiB/s", PUBLISHED_COLOUR, "dashed")
        )
    label = "against size of a transfer, a line for each number of links; the table below has the numbers"
    panels = [
        Panel(
            "Payload",
            f"Payload rate {label}",
            {"xAxis": axis, "yAxis": _axis("payload [MiB/s]", min=0), "series": carried},
        ),
        Panel(
            "Use of the links",
            f"Share of what the links can carry {label}",
            {
                "xAxis": axis,
                "yAxis": _axis("payload, of the links [%]", min=0, max=100),
                "series": lines(used),
            },
        ),
    ]
    rows = [
        [
            *_rate_cells(m),
            f"{used(m):.1f}",
        ]
        for m in sorted(same, key=lambda m: (m.workload["links"], m.workload["size_bytes"]))
    ]
    notes = []
    for count in counts:
        best = max((m for m in same if m.workload["links"] == count), key=lambda m: rate(m) or 0.0)
        notes.append(
            f"Over {names[count]} at most {(rate(best) or 0) / MIB:.0f} MiB/s, {used(best):.0f} % of what "
            f"{'it' if count == 1 else 'they'} could carry."
        )
    return Figure(
        "links",
        "What bounds the rate: links or bus",
        f"The same transfers ({LINES[_kind(same[0])][0]}; {same[0].platform}, profile {same[0].profile}) "
        f"over several numbers of links. {_link_words(same[0])}A packet "
        "has headers, begin and end beside its 128 words of payload at most, so payload never fills it.",
        panels,
        Table(["hosts", "transfers", "profile", "bytes", "MiB/s", "of the links [%]"], rows),
        legend,
        notes,
    )


def _alike(rated: Sequence[Measurement]) -> list[Measurement]:
    """Those of one kind, profile, platform and size of world that most numbers of links have."""
    groups: dict[tuple[Any, ...], list[Measurement]] = {}
    for m in rated:
        w = m.workload
        key = (m.platform, m.profile, _kind(m), w["hosts"], w["combined"], w["both_ways"], w["post_list"])
        groups.setdefault(key, []).append(m)
    return max(groups.values(), key=lambda members: len({m.workload["links"] for m in members}))


def _link_words(m: Measurement) -> str:
    """What a link carries, where the document says how fast it was."""
    clock = m.constants.value("fpga", "link_clock") if m.constants else None
    return "" if clock is None else f"A link carries {4e6 * clock / MIB:.0f} MiB/s of words. "


LANES: Mapping[str, tuple[int, str]] = {
    "descriptor": (0, "c1"),
    "bus read": (0, "c2"),
    "VOQ": (1, "c3"),
    "link to the switch": (1, "c5"),
    "switch": (2, "c4"),
    "link from the switch": (2, "c5"),
    "receive": (3, "c3"),
    "write": (3, "c2"),
    "notification": (3, "c6"),
}
"""Of each step of a packet the line of its row, and the colour. Neighbours on a line follow each other."""
LANE_GAP = 0.2
ROW_PX = 46


def _packets(members: Sequence[Measurement]) -> Figure:
    panels, rows, notes = [], [], []
    for m in members:
        packets = m.workload["packets"]
        title = f"{_setting(m)}, {m.workload['size_bytes']} bytes, profile {m.profile}"
        names = [f"packet {packet['number']}\nlink {packet['link']}" for packet in packets]
        drawn = []
        for row, packet in enumerate(packets):
            for name, (begin, end) in steps(packet).items():
                lane, colour = LANES[name]
                at = round(row + (lane - 1.5) * LANE_GAP, 3)
                drawn.append(
                    {
                        "type": "line", "name": f"packet {packet['number']}, link {packet['link']}: {name}",
                        "colour": colour, "data": [[begin, at], [end, at]], "symbol": "none", "bar": True,
                        "lineStyle": {"width": 7, "cap": "butt"},
                    }
                )  # fmt: skip
        option = {
            "xAxis": _axis("time since the program's call [us]", min=0),
            "yAxis": {
                "type": "value", "inverse": True, "min": -1, "max": len(packets), "interval": 1,
                "names": names,
            },
            "series": drawn,
        }  # fmt: skip
        label = (
            f"Timeline of one transfer, {title}: a row a packet, a bar a step; the table below has the times"
        )
        panels.append(Panel(title, label, option, 70 + ROW_PX * (len(packets) + 1)))
        rows += [
            [m.platform, m.profile, str(m.workload["links"])]
            + [str(packet[key]) for key in ("number", "link", "bytes")]
            + [f"{found[name][0]:.3f} to {found[name][1]:.3f}" if name in found else "" for name in LANES]
            for packet in packets
            for found in [steps(packet)]
        ]
        notes.append(_busy(m))
    columns = ["platform", "profile", "links", "packet", "link", "bytes"]
    columns += [f"{name} [us]" for name in LANES]
    return Figure(
        "packets",
        "One transfer, packet by packet",
        "A write of one descriptor, as it was seen on both buses and at the pins of interfaces and switches. "
        "Each packet has four lines, from above: the sender's bus; its queue (VOQ) and the link to the "
        "switch; the switch and the link from it; the receiver. Steps overlap: no packet waits for its end.",
        panels,
        Table(columns, rows),
        [
            Swatch("descriptor", "c1", "box"),
            Swatch("bus: read and write", "c2", "box"),
            Swatch("interface: VOQ and receive", "c3", "box"),
            Swatch("switch", "c4", "box"),
            Swatch("link", "c5", "box"),
            Swatch("notification", "c6", "box"),
        ],
        notes,
    )


def _busy(m: Measurement) -> str:
    """How long a transfer took, and what bounded it."""
    span, moves = bounds(m)
    return (
        f"{_setting(m)}, profile {m.profile}: {span:.2f} us from the first store on the bus to the "
        f"last byte over the receiver's bus. Of that time this transfer is on {moves}."
    )


def _order(m: Measurement) -> tuple[int, bool]:
    return LATENCY_METHODS.index(m.method) if m.method in LATENCY_METHODS else 0, m.workload["combined"]


def _bar(m: Measurement) -> str:
    size = m.workload["size_bytes"]
    kind = OPERATIONS.get(m.method, "write")
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
        order = sorted(members, key=lambda m: (m.profile, *_order(m)))
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
    for title, members in _panels(parted).items():
        for end, cost in CROSSINGS.items():
            if not any(cost(m) for m in members):
                continue  # of a file from before this was measured
            label = f"Time {end} against size, write and message, {title}; the table below has the numbers"
            drawn = _curves(members, partial(_microseconds, cost))
            option = {"xAxis": _bytes(members), "yAxis": _axis(f"{end} [us]", min=0), "series": drawn}
            panels.append(Panel(f"{title}: {end}", label, option, 360))
            notes.append(f"{title}: {crossing_words(members, end)}")
        for profile in sorted({m.profile for m in members}):
            by_size: dict[int, dict[str, Measurement]] = {}
            for m in (m for m in members if m.profile == profile):
                by_size.setdefault(m.workload["size_bytes"], {})[m.method] = m
            for size, found in sorted(by_size.items()):
                times = [
                    _microseconds(cost, found[key]) if key in found else None
                    for cost in CROSSINGS.values()
                    for key in LATENCY_METHODS
                ]
                cells = ["" if time is None else f"{time:.3f}" for time in times]
                rows.append([title, profile, str(size), *cells])
    columns = ["hosts", "profile", "bytes"]
    kinds = ("write", "inline write", "message")
    columns += [f"{kind} to {end} [us]" for end in ("memory", "interface") for kind in kinds]
    return Figure(
        "crossing",
        "Message or write",
        "A message saves the read of the sender's memory, and its every word goes over the bus by the "
        "processor. Both through a write-combining mapping; the size at which they meet is between two "
        "measured ones on a straight line. A write's data leaves while the rest of it is read, a "
        "message's when its last word has come: so they meet at a smaller size in the remote memory than in "
        "the sender's interface.",
        panels,
        Table(columns, rows),
        _legend(parted),
        notes,
    )


MEMORY, INTERFACE = "memory to memory", "into the sender's interface"
CROSSINGS = {MEMORY: total, INTERFACE: injection}
"""What of a transfer a message and a write are compared by."""


def _microseconds(cost: Callable[[Measurement], float | None], m: Measurement) -> float | None:
    found = cost(m)
    return None if found is None else found / PICOSECONDS


def crossing_words(members: Sequence[Measurement], end: str = MEMORY) -> str:
    """Up to which size a message is faster than a write by `CROSSINGS`; profiles that agree share it."""
    found: dict[str, list[str]] = {}
    for profile in sorted({m.profile for m in members}):
        mine = [m for m in members if m.profile == profile]
        at = crossover(mine, "write-lat", "send-lat", CROSSINGS[end])
        if at is not None:
            sizes = f"up to {at:.0f} bytes"
        else:
            ahead = all(by > 0 for _, by in differences(mine, "write-lat", "send-lat", CROSSINGS[end]))
            sizes = "at every size measured" if ahead else "at no size measured"
        found.setdefault(sizes, []).append(profile)
    ends = [
        sizes + (f" (profile {profiles[0]})" if len(found) > 1 else "") for sizes, profiles in found.items()
    ]
    return f"{end}, a message is faster than a write {', '.join(ends)}."


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
        rows.append(
            [
                _setting(m),
                *_bar(m).split("\n"),
                *(f"{value / PICOSECONDS:.3f}" for value in (t.min, t.avg, t.stdev)),
                *(percentile_cell(t, key, 3) for key in TAIL),
                f"{t.max / PICOSECONDS:.3f}",
                str(m.iterations),
            ]
        )
    columns = ["hosts", "transfer", "stores", "profile", "min [us]", "mean [us]", "stdev [us]"]
    columns += [*(f"{percentile_name(key)} [us]" for key in TAIL), "max [us]", "samples"]
    return Figure(
        "latency",
        f"Latency, program to program ({definition})",
        f"{definition.capitalize()}, with what both processors pay: what perftest shows.",
        panels,
        Table(columns, rows),
        _legend(timed),
        (BEYOND_NOTE,),
    )


Steps = list[tuple[float, float]]
"""Of a distribution: microseconds, and how many percent of the transfers took at most that time."""


def _traced(document: Document) -> list[tuple[Measurement, Steps]]:
    """The runs of a trace in which something arrived."""
    buckets = {item["id"]: item.get("histogram") for item in document.raw["results"]}
    made = []
    for m in document:
        found = buckets[m.id]
        if m.road == "rdma" and m.method == "trace" and found:
            total = sum(count for _, count in found["buckets"])
            counts = accumulate(count for _, count in found["buckets"])
            values = (value / PICOSECONDS for value, _ in found["buckets"])
            made.append((m, [(us, 100 * below / total) for us, below in zip(values, counts, strict=True)]))
    return made


def _trace(traced: Sequence[tuple[Measurement, Steps]]) -> Figure:
    rows, drawn, swatches = [], [], []
    for number, (m, moments) in enumerate(traced):
        t = m.latency
        assert t is not None
        name, colour = f"{_setting(m)}, profile {m.profile}", f"c{number % COLOURS + 1}"
        low = moments[0][0]
        drawn.append(
            {
                "type": "line", "name": name, "colour": colour, "step": "end", "symbol": "none",
                "data": [[low, 0.0], *([us, share] for us, share in moments)],
            }
        )  # fmt: skip
        swatches.append(Swatch(name, colour, "solid"))
        rows.append(
            [
                _setting(m),
                m.profile,
                *(f"{value / PICOSECONDS:.3f}" for value in (t.min, t.avg, t.typical)),
                percentile_cell(t, "p99", 3),
                f"{t.max / PICOSECONDS:.3f}",
                _optional(rate(m), 1 / MIB, 2),
                f"{m.iterations} of {m.workload['iterations']}",
            ]
        )
    option = {
        "xAxis": _axis("from a transfer's due time to its arrival [us]", scale=True),
        "yAxis": _axis("transfers [%]", min=0, max=100),
        "series": drawn,
    }
    label = "Share of the transfers that took at most a given time; the table below has the numbers"
    columns = ["hosts", "profile", "min [us]", "mean [us]", "median [us]"]
    columns += [f"{percentile_name('p99')} [us]", "max [us]", "MiB/s"]
    return Figure(
        "trace",
        "A trace's transfers",
        "How many of the transfers had arrived after a given time, waiting behind others included.",
        (Panel("", label, option, 360),),
        Table([*columns, "arrived"], rows),
        swatches,
        (BEYOND_NOTE,),
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
        sentences.append(
            f"At most {digits((rate(best) or 0) / MIB)} MiB/s arrive: {LINES[_kind(best)][0].split(':')[0]}, "
            f"{best.workload['size_bytes']} bytes a transfer ({_setting(best)}, profile {best.profile})."
        )
    for m, _ in _traced(document):
        t = m.latency
        assert t is not None
        sentences.append(
            f"Half of the trace's transfers are there after {digits(t.typical / PICOSECONDS)} us, all that "
            f"arrive after {digits(t.max / PICOSECONDS)} us ({_setting(m)}, profile {m.profile})."
        )
    text = " ".join(escape(sentence) for sentence in sentences) or "The figures below have the numbers."
    more = []
    short_ones = [m for m in document if components(m) and m.workload["combined"] and not _is_by_packet(m)]
    if {m.method for m in short_ones} >= {"write-lat", "send-lat"}:
        for title, members in _panels(short_ones).items():
            words = crossing_words(members)
            more.append(f"{words[0].upper()}{words[1:-1]} ({title}).")
    if len({m.workload["links"] for m in rated}) > 1:
        more += _links(rated).notes
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in more)
    return f'<p class="headline">{text}</p>' + (f"<ul>{items}</ul>" if items else "")


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
