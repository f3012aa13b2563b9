# SPDX-License-Identifier: Apache-2.0
"""Rates: throughput, what a descriptor costs, what bounds the rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from isthmus.report.figures import Figure, Panel, Swatch, Table, one_definition
from isthmus.results import DEFINITIONS, Measurement
from isthmus.roads.rdma.figures.common import (
    LINES,
    PICOSECONDS,
    PUBLISHED_COLOUR,
    axis_of,
    byte_axis,
    curves,
    is_document,
    kind_of,
    legend_of,
    optional,
    panels_of,
    published_numbers,
    published_points,
    rate_cells,
    setting_of,
)
from isthmus.roads.rdma.tables import MIB, per_descriptor, rate


def throughput_figure(rated: Sequence[Measurement]) -> Figure:
    said = published_numbers()
    best, bus = said["forth.rdma.v1.rate"], said["forth.pcix.read.rate"]
    panels = []
    swatches = []
    for title, members in panels_of(rated).items():
        drawn = curves(members, lambda m: (rate(m) or 0.0) / MIB)
        axis = byte_axis(members)
        if is_document(members):
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
        option = {"xAxis": axis, "yAxis": axis_of("payload [MiB/s]", min=0), "series": drawn}
        panels.append(Panel(title, label, option, 420))
    rows = [
        [
            *rate_cells(m),
            f"{(rate(m) or 0) * 8e-9:.3f}",
            optional(m.workload.get("messages_per_s"), 1e-6, 4),
            optional(m.workload.get("link_share"), 100, 1),
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
        legend_of(rated, swatches),
    )


def per_descriptor_figure(posted: Sequence[Measurement]) -> Figure:
    one_definition(posted, "transfer")
    said = published_numbers()
    constant = said["forth.rdma.v2.latency"]
    lazy = constant * said["forth.rdma.v3.gain"]

    def value(m: Measurement) -> float:
        return (per_descriptor(m) or 0.0) / PICOSECONDS

    panels, swatches = [], []
    for title, members in panels_of(posted).items():
        drawn = curves(members, value)
        axis = byte_axis(members)
        if is_document(members):
            shown = f"published, long transfers: v2 {constant:g} us; v3 3 % less, {lazy:.2f} us"
            swatches = [Swatch(shown, PUBLISHED_COLOUR, "diamond")]
            drawn += [
                published_points("published: v2, long transfers", [[axis["max"], constant]]),
                published_points("published: v3, long transfers", [[axis["max"], round(lazy, 3)]]),
            ]
        label = (
            f"Time a descriptor costs its sender against size of a transfer, {title}; the table below has "
            "the numbers"
        )
        option = {"xAxis": axis, "yAxis": axis_of("time a descriptor [us]", min=0), "series": drawn}
        panels.append(Panel(title, label, option, 420))
    rows = []
    for m in posted:
        assert m.latency is not None
        rows.append(
            [
                setting_of(m),
                LINES[kind_of(m)][0],
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
        legend_of(posted, swatches),
    )


def links_figure(rated: Sequence[Measurement]) -> Figure:
    """The same row of transfers over one, two and four links."""
    same = _alike([m for m in rated if not m.method.startswith("send")])
    counts = sorted({m.workload["links"] for m in same})
    colours = {count: f"c{number + 1}" for number, count in enumerate(counts)}
    names = {count: f"{count} link{'s' if count != 1 else ''}" for count in counts}
    bus = published_numbers()["forth.pcix.read.rate"]

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
    axis = byte_axis(same)
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
            {"xAxis": axis, "yAxis": axis_of("payload [MiB/s]", min=0), "series": carried},
        ),
        Panel(
            "Use of the links",
            f"Share of what the links can carry {label}",
            {
                "xAxis": axis,
                "yAxis": axis_of("payload, of the links [%]", min=0, max=100),
                "series": lines(used),
            },
        ),
    ]
    rows = [
        [
            *rate_cells(m),
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
        f"The same transfers ({LINES[kind_of(same[0])][0]}; {same[0].platform}, profile {same[0].profile}) "
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
        key = (m.platform, m.profile, kind_of(m), w["hosts"], w["combined"], w["both_ways"], w["post_list"])
        groups.setdefault(key, []).append(m)
    return max(groups.values(), key=lambda members: len({m.workload["links"] for m in members}))


def _link_words(m: Measurement) -> str:
    """What a link carries, where the document says how fast it was."""
    clock = m.constants.value("fpga", "link_clock") if m.constants else None
    return "" if clock is None else f"A link carries {4e6 * clock / MIB:.0f} MiB/s of words. "
