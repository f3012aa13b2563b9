# SPDX-License-Identifier: Apache-2.0
"""The page of the trigger chain: latency distributions on one axis, and what the links carry."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from isthmus.report.figures import Figure, Panel, Swatch, Table
from isthmus.results import Document, Measurement
from isthmus.roads.nanet.chain_tables import (
    BASELINE,
    COLUMNS,
    PARTS,
    SHOWN,
    age,
    baselines,
    chains,
    label,
    of,
    parts,
    row,
    us,
)

TITLE = "A trigger on rings, from the wire to its answer"
QUESTION = (
    "Four Gigabit links bring the light of particles, millions of events a second. A processor finds the "
    "rings in each and answers. How long after the last byte on the wire is the answer there, and up to "
    "which rate does it come in time?"
)
COLOURS = ("c1", "c2", "c3", "c4", "c5")


def answer(document: Document) -> str:
    """The fastest rate that was carried, and its latency."""
    runs = [m for m in chains(document) if not m.workload["saturated"] and m.profile == "isthmus"]
    if not runs:
        return ""
    best = max(runs, key=lambda m: float(m.workload["rate_per_s"]))
    shown = [key for key in SHOWN if of(best).get(key) is not None]
    w = best.workload
    times = ", ".join(f"{us(of(best)[key])} us ({key})" for key in dict.fromkeys((shown[0], *shown[-2:])))
    sentence = (
        f"At {w['rate_per_s'] / 1e6:g} million events a second the answers are out {times} after the last "
        f"byte on the wire; {w['late'] or 'none'} of {w['counted_events']:,} events later than "
        f"{w['release_us']:g} us after it was."
    )
    items = [
        f"Of {m.workload['rate_per_s'] / 1e6:g} million offered, the links carry "
        f"{m.throughput.cycles_per_s / 1e6 if m.throughput else 0.0:.2f}: "
        f"{m.workload['late']:,} of {m.workload['counted_events']:,} are late."
        for m in chains(document)
        if m.workload["saturated"]
    ]
    items += [
        f"Without the interface, through the kernel and to a GPU, it is {us(of(m).get('p50'))} us "
        f"(p50) to {us(of(m).get('max'))} us (max), by the published percentiles."
        for m in baselines(document)
    ]
    found = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f'<p class="headline">{escape(sentence)}</p>\n<ul>{found}</ul>'


def figures(document: Document) -> list[Figure]:
    """Distributions, the edge, the parts."""
    made = [_distributions(document)]
    if len({m.workload["rate_per_s"] for m in chains(document)}) > 1:
        made.append(_edge(chains(document)))
    return [*made, _parts(document)]


def _beyond(m: Measurement, document: Document) -> list[list[float]]:
    """Share of samples that take longer, over the time in us."""
    raw = next((one for one in document.raw["results"] if one["id"] == m.id), None)
    buckets = ((raw or {}).get("histogram") or {}).get("buckets", ())
    left = total = sum(count for _, count in buckets)
    points = []
    for value, count in buckets:
        left -= count
        # Ten samples beyond a point: as percentiles need.
        if left >= 10:
            points.append([value / 1e6, left / total])
    return points


def _distributions(document: Document) -> Figure:
    runs = [m for m in chains(document) if not m.workload["saturated"]]
    names = [(label(m), m) for m in runs] + [("without the interface", m) for m in baselines(document)]
    series = []
    for (name, m), colour in zip(names, COLOURS * len(names), strict=False):
        series.append(
            {
                "type": "line", "name": name, "colour": colour, "symbolSize": 0,
                "data": _beyond(m, document),
            }
        )  # fmt: skip
    option: dict[str, Any] = {
        "xAxis": {"type": "log", "name": "us after the last byte", "nameLocation": "middle"},
        "yAxis": {"type": "log", "name": "share that takes longer", "nameLocation": "middle", "max": 1},
        "series": series,
    }
    rows = [[name, *(us(of(m).get(key)) for key in SHOWN)] for name, m in names]
    return Figure(
        id="chain-latency",
        title="From the last byte on the wire to the answer",
        caption="Share of groups of events that take longer, down to ten of them. Further left is faster; "
        "steeper is more even. The path without the interface is the published one.",
        panels=[Panel("", "Share of groups over latency; the table below has the numbers", option)],
        table=Table(("run", *SHOWN), rows),
        legend=[
            Swatch(name, colour, "solid")
            for (name, _), colour in zip(names, COLOURS * len(names), strict=False)
        ],
    )


def _edge(runs: Sequence[Measurement]) -> Figure:
    def kind(m: Measurement) -> str:
        return f"{m.profile}, {m.workload['finder']} finder, {m.workload['format']}"

    kinds = sorted(set(map(kind, runs)))
    series, ages = [], []
    for name, colour in zip(kinds, COLOURS * len(kinds), strict=False):
        members = [m for m in runs if kind(m) == name]
        members.sort(key=lambda m: float(m.workload["rate_per_s"]))
        common = {"type": "line", "name": name, "colour": colour, "symbolSize": 7}
        offered = [m.workload["rate_per_s"] / 1e6 for m in members]
        carried = [m.throughput.cycles_per_s / 1e6 if m.throughput else None for m in members]
        late = [100 * m.workload["late"] / m.workload["counted_events"] for m in members]
        series.append({**common, "data": [list(pair) for pair in zip(offered, carried, strict=True)]})
        ages.append({**common, "data": [list(pair) for pair in zip(offered, late, strict=True)]})
    axis = {"type": "value", "name": "M events/s offered", "nameLocation": "middle", "scale": True}

    def panel(what: str, data: list[dict[str, Any]], words: str) -> Panel:
        vertical = {"type": "value", "name": what, "nameLocation": "middle", "scale": what != "% late"}
        return Panel("", words, {"xAxis": axis, "yAxis": vertical, "series": data}, 300)

    return Figure(
        id="chain-edge",
        title="The edge of four links",
        caption="Carried and late events over offered ones. Beyond what the wire carries, events wait at the "
        "detector, and longer and longer.",
        panels=[
            panel("M events/s carried", series, "Carried over offered events a second"),
            panel("% late", ages, "Late events over offered events a second"),
        ],
        table=Table(COLUMNS, [row(m) for m in runs]),
        legend=[
            Swatch(name, colour, "solid") for name, colour in zip(kinds, COLOURS * len(kinds), strict=False)
        ],
    )


def _parts(document: Document) -> Figure:
    rows = []
    for m in chains(document):
        rows += [[label(m), *cells] for cells in parts(m, PARTS)]
        rows.append([label(m), "event to answer", *(us(age(m).get(key)) for key in SHOWN)])
    for m in baselines(document):
        rows += [["without the interface", *cells] for cells in parts(m, BASELINE)]
    return Figure(
        id="chain-parts",
        title="Where the time goes",
        caption="Microseconds. A percentile is blank where too few groups were measured for it.",
        panels=(),
        table=Table(("run", "part", *SHOWN), rows),
        legend=(),
    )


def method(document: Document) -> str:
    """What is simulated, and what is drawn."""
    machines = sorted({str(m.workload["times"]) for m in chains(document)})
    lines = [
        "Sources, cables, interface, PCI Express and the program's accesses are simulated; the interface is "
        "its own gateware. The rings are really found, on the bytes that the interface wrote, and every "
        "answer is compared.",
        *(
            f"How long merging, handing over and finding take is drawn from times measured on {machine}. "
            "Runs during which the operating system interrupted the core or took it away are left out."
            for machine in machines
        ),
        "The release of fixed latency behind the result pins is a model outside the interface.",
    ]
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
