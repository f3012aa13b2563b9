# SPDX-License-Identifier: Apache-2.0
"""Where the time of a short transfer goes, and message against write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from isthmus.report.figures import Figure, Panel, Swatch, Table
from isthmus.results import Measurement
from isthmus.roads.rdma.figures.common import (
    LATENCY_METHODS,
    PICOSECONDS,
    axis_of,
    bar_name,
    bar_order,
    byte_axis,
    curves,
    legend_of,
    panels_of,
    published_numbers,
    setting_of,
    stack,
)
from isthmus.roads.rdma.tables import COMPONENTS, components, crossover, differences, injection, total
from isthmus.units import percent

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


def _shown_parts(parted: Sequence[Measurement]) -> list[Measurement]:
    """The shortest transfers of each kind: what the document's figure has."""
    least = min(m.workload["size_bytes"] for m in parted)
    return [m for m in parted if m.workload["size_bytes"] == least]


def breakdown_figure(parted: Sequence[Measurement]) -> Figure:
    panels, rows = [], []
    said = published_numbers()
    published_total = said["forth.rdma.write.total"]
    named = {
        "propagation": said["forth.rdma.write.propagation"] / 100 * published_total,
        "send_dma": said["forth.rdma.write.send_dma"] / 100 * published_total,
    }
    beside = False
    for title, members in panels_of(_shown_parts(parted)).items():
        order = sorted(members, key=lambda m: (m.profile, *bar_order(m)))
        found = [components(m) or {} for m in order]
        names = [bar_name(m) for m in order]
        document = any(m.platform == "forth-rdma" and m.workload["size_bytes"] == 8 for m in members)
        beside = beside or document
        if document:
            names.append("write of 8 bytes\ncombined\npublished")
        drawn = []
        for part in COMPONENTS:
            data = [round(parts.get(part, 0) / PICOSECONDS, 6) for parts in found]
            name, colour = PARTS[part]
            drawn.append(
                stack(name, colour, [*data, *([round(named.get(part, 0.0), 4)] if document else [])])
            )
        if document:
            rest = published_total - sum(named.values())
            drawn.append(stack(*LEFT_OVER, [*([0.0] * len(order)), round(rest, 4)]))
        label = f"Where the time of one short transfer goes, {title}; the table below has the parts"
        option = {
            "xAxis": axis_of("memory to memory [us]"),
            "yAxis": {"type": "category", "data": names, "inverse": True},
            "series": drawn,
        }
        panels.append(Panel(title, label, option, 90 + 62 * len(names)))
        for m, parts in zip(order, found, strict=True):
            values = [f"{parts.get(part, 0) / 1e3:.1f}" for part in COMPONENTS]
            shares = [percent(parts.get(part, 0) / parts["total"]) for part in ("propagation", "send_dma")]
            head = [setting_of(m), *bar_name(m).split("\n")]
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


MEMORY, INTERFACE = "memory to memory", "into the sender's interface"


CROSSINGS = {MEMORY: total, INTERFACE: injection}
"""What of a transfer a message and a write are compared by."""


def _microseconds(cost: Callable[[Measurement], float | None], m: Measurement) -> float | None:
    found = cost(m)
    return None if found is None else found / PICOSECONDS


def crossing_figure(parted: Sequence[Measurement]) -> Figure:
    panels, rows, notes = [], [], []
    for title, members in panels_of(parted).items():
        for end, cost in CROSSINGS.items():
            if not any(cost(m) for m in members):
                continue  # of a file from before this was measured
            label = f"Time {end} against size, write and message, {title}; the table below has the numbers"
            drawn = curves(members, partial(_microseconds, cost))
            option = {"xAxis": byte_axis(members), "yAxis": axis_of(f"{end} [us]", min=0), "series": drawn}
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
        legend_of(parted),
        notes,
    )


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
