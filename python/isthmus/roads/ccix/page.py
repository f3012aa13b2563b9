# SPDX-License-Identifier: Apache-2.0
"""The page of `isthmus bench ccix`: latency and rate over size, and where the time goes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from isthmus.report.figures import Figure, Panel, Swatch, Table, one_definition
from isthmus.report.page import platform_tables, render
from isthmus.results import Document, Measurement
from isthmus.roads.ccix import tables

TITLE = "Coherent host memory over CCIX"
QUESTION = (
    "An FPGA's request agent reads and writes lines of host memory over CCIX. How long does a transfer take, "
    "how much does the link carry, and where does the time go?"
)
SOURCE = "An Evaluation of Using CCIX for Cache-Coherent Host-FPGA Interfacing, FCCM 2022"
COLOURS = {
    "isthmus": "c3",
    "as-published": "c1",
    "isthmus, DMA": "c4",
    "as-published, DMA": "c6",
}
OPERATIONS = ("device-read", "device-write")


def page(document: Document) -> str:
    """The whole page as text."""
    return render(
        document,
        title=TITLE,
        question=QUESTION,
        answer=_answer(document),
        drawn=figures(document),
        road="ccix",
        source=SOURCE,
        method="\n".join(platform_tables(document)),
    )


def _answer(document: Document) -> str:
    measured = [m for m in document if m.latency]
    agents = [m for m in measured if m.workload["driver"] == "request-agent"] or measured
    ours = [m for m in agents if m.profile == "isthmus"] or agents
    if not ours:
        return ""
    parts = []
    alone = [m for m in ours if m.workload["window"] == 1]
    for name in OPERATIONS:
        members = [m for m in alone if tables.operation(m) == name]
        if members:
            least = min(members, key=lambda m: m.workload["bytes"])
            assert least.latency is not None
            parts.append(f"{least.latency.avg / 1e3:.0f} ns ({name} of {least.workload['bytes']} bytes)")
    lines = [f"Alone, a transfer takes {' and '.join(parts)}."] if parts else []
    most = max(ours, key=lambda m: m.throughput.payload_bit_s if m.throughput else 0.0)
    if most.throughput:
        what = f"{tables.operation(most)} of {most.workload['bytes']} bytes"
        lines.append(f"The link carries up to {most.throughput.payload_bit_s / 8e9:.2f} GB/s ({what}).")
    return f'<p class="headline">{escape(" ".join(lines))}</p>'


def figures(document: Document) -> list[Figure]:
    """Latency of transfers one by one, the rate of many, and the stages of one."""
    alone = [m for m in document if m.workload["window"] == 1 and m.latency]
    many = [m for m in document if m.workload["window"] not in (1, None)]
    made = []
    for name in OPERATIONS:
        members = [m for m in alone if tables.operation(m) == name]
        if members:
            made.append(_latency(name, members))
    if many:
        made.append(_rate(many))
    staged = [m for m in alone if m.stages and m.workload["lines"] == 1]
    if staged:
        made.append(_stages(staged))
    return made


def _latency(name: str, members: Sequence[Measurement]) -> Figure:
    definition = one_definition(members, "latency")

    def value(m: Measurement) -> float:
        return round(m.latency.avg / 1e3, 2) if m.latency else 0.0

    return Figure(
        id=f"latency-{name}",
        title=f"Latency of {name}, one transfer at a time",
        caption=f"Mean, {definition}; both axes are logarithmic.",
        panels=[_panel("latency in ns", members, value, scale="log")],
        table=_table(members),
        legend=_legend(members),
    )


def _rate(members: Sequence[Measurement]) -> Figure:
    def value(m: Measurement) -> float:
        return round(m.throughput.payload_bit_s / 8e9, 3) if m.throughput else 0.0

    panels = []
    for name in OPERATIONS:
        some = [m for m in members if tables.operation(m) == name]
        if some:
            panels.append(_panel("payload in GB/s", some, value, title=name))
    return Figure(
        id="rate",
        title="What the link carries",
        caption="Payload with as many transfers in flight as keep the link busy.",
        panels=panels,
        table=_table(members),
        legend=_legend(members),
    )


def _panel(
    axis: str, members: Sequence[Measurement], value: Any, title: str = "", scale: str = "value"
) -> Panel:
    series = []
    for case in dict.fromkeys(map(_case, members)):
        data = sorted([m.workload["bytes"], value(m)] for m in members if _case(m) == case)
        series.append({
            "type": "line", "name": case, "colour": COLOURS[case], "data": data,
            "symbol": "circle", "symbolSize": 7,
        })  # fmt: skip
    sizes = [m.workload["bytes"] for m in members]
    low, high = min(sizes), max(sizes)
    option = {
        "xAxis": {
            "type": "log",
            "logBase": 2,
            "name": "bytes of a transfer",
            "nameLocation": "middle",
            "nameGap": 28,
            "min": low,
            "max": max(high, 2 * low),
            "bytes": True,
        },
        "yAxis": {"type": scale, "name": axis, "nameLocation": "middle", "nameGap": 44},
        "series": series,
    }
    return Panel(title=title, label=f"{axis} over bytes {title}".strip(), option=option)


def _stages(members: Sequence[Measurement]) -> Figure:
    rows = [
        (
            _case(m),
            tables.operation(m),
            str(m.workload["bytes"]),
            stage.where,
            stage.name,
            f"{stage.time / 1e3:.2f}",
        )
        for m in members
        for stage in m.stages
    ]
    names = list(dict.fromkeys(stage.name for m in members for stage in m.stages))
    bars = [
        {
            "type": "bar", "stack": "parts", "name": name, "colour": f"c{number % 6 + 1}", "barMaxWidth": 34,
            "data": [sum(round(s.time / 1e3, 2) for s in m.stages if s.name == name) for m in members],
        }
        for number, name in enumerate(names)
    ]  # fmt: skip
    option = {
        "xAxis": {"type": "value", "name": "ns", "nameLocation": "middle"},
        "yAxis": {
            "type": "category", "inverse": True,
            "data": [f"{tables.operation(m)}\n{_case(m)}" for m in members],
        },
        "series": bars,
    }  # fmt: skip
    label = "Stages of one transfer, stacked; the table below has the numbers"
    return Figure(
        id="stages",
        title="Where the time of one line goes",
        caption="Contiguous stages of one transfer without any other; they add up to its latency.",
        panels=(Panel("", label, option, 90 + 62 * len(members)),),
        table=Table(("design", "operation", "bytes", "where", "stage", "ns"), rows),
        legend=[Swatch(name, f"c{number % 6 + 1}", "box") for number, name in enumerate(names)],
    )


def _table(members: Sequence[Measurement]) -> Table:
    rows = [[_case(m), tables.operation(m), *tables.row(m)] for m in members]
    return Table(("design", "operation", *tables.HEADER), rows)


def _legend(members: Sequence[Measurement]) -> list[Swatch]:
    return [Swatch(name, COLOURS[name], "solid") for name in dict.fromkeys(map(_case, members))]


def _case(m: Measurement) -> str:
    """Design and driver, as figures name them."""
    return m.profile if m.workload["driver"] == "request-agent" else f"{m.profile}, DMA"
