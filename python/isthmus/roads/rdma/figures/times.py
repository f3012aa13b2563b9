# SPDX-License-Identifier: Apache-2.0
"""Latencies, traces and the phases of applications."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

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
from isthmus.results import Document, Measurement
from isthmus.results.model import percentile_name
from isthmus.roads.rdma.figures.common import (
    COLOURS,
    PICOSECONDS,
    axis_of,
    bar_name,
    byte_axis,
    curves,
    legend_of,
    optional,
    panels_of,
    setting_of,
    stack,
)
from isthmus.roads.rdma.tables import MIB, PHASES, rate


def latency_figure(timed: Sequence[Measurement]) -> Figure:
    definition = one_definition(timed, "latency")
    panels = []
    for title, members in panels_of(timed).items():
        drawn = curves(members, lambda m: m.latency.avg / PICOSECONDS if m.latency else None)
        label = f"Mean latency against size of a transfer, {title}; the table below has the numbers"
        option = {
            "xAxis": byte_axis(members),
            "yAxis": axis_of(f"{definition} [us]", min=0),
            "series": drawn,
        }
        panels.append(Panel(title, label, option, 360))
    rows = []
    for m in timed:
        t = m.latency
        assert t is not None
        rows.append(
            [
                setting_of(m),
                *bar_name(m).split("\n"),
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
        legend_of(timed),
        (BEYOND_NOTE,),
    )


Steps = list[tuple[float, float]]
"""Of a distribution: microseconds, and how many percent of the transfers took at most that time."""


def traces(document: Document) -> list[tuple[Measurement, Steps]]:
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


def trace_figure(traced: Sequence[tuple[Measurement, Steps]]) -> Figure:
    rows, drawn, swatches = [], [], []
    for number, (m, moments) in enumerate(traced):
        t = m.latency
        assert t is not None
        name, colour = f"{setting_of(m)}, profile {m.profile}", f"c{number % COLOURS + 1}"
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
                setting_of(m),
                m.profile,
                *(f"{value / PICOSECONDS:.3f}" for value in (t.min, t.avg, t.typical)),
                percentile_cell(t, "p99", 3),
                f"{t.max / PICOSECONDS:.3f}",
                optional(rate(m), 1 / MIB, 2),
                f"{m.iterations} of {m.workload['iterations']}",
            ]
        )
    option = {
        "xAxis": axis_of("from a transfer's due time to its arrival [us]", scale=True),
        "yAxis": axis_of("transfers [%]", min=0, max=100),
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


def phases_figure(phased: Sequence[Measurement]) -> Figure:
    rows = [
        [
            m.method,
            setting_of(m),
            m.profile,
            str(m.workload["size_bytes"]),
            *(optional(m.workload["phases_ps"].get(name), 1 / PICOSECONDS, 3) for name in PHASES),
        ]
        for m in phased
    ]
    order = list(phased)
    names = [f"{m.method}, {m.workload['size_bytes']} bytes\n{setting_of(m)}\n{m.profile}" for m in order]
    drawn = [
        stack(name, f"c{number + 1}", [m.workload["phases_ps"].get(name, 0) / PICOSECONDS for m in order])
        for number, name in enumerate(PHASES)
    ]
    option = {
        "xAxis": axis_of("time of the slowest host [us]"),
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
