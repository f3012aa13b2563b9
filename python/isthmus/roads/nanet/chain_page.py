# SPDX-License-Identifier: Apache-2.0
"""The page of the trigger chain: latency distributions on one axis, and what the links carry."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from isthmus.report.figures import COLOURS, Figure, Panel, Swatch, Table
from isthmus.results import Document, Measurement
from isthmus.roads.nanet.chain_tables import (
    BASELINE,
    COLUMNS,
    PARTS,
    PLACE_COLUMNS,
    SHOWN,
    age,
    baselines,
    chains,
    compared,
    label,
    of,
    part,
    parts,
    place,
    places,
    row,
    us,
)

TITLE = "A trigger on rings, from the wire to its answer"
QUESTION = (
    "Ethernet links bring the light of particles, millions of events a second. A processor finds the "
    "rings in each and answers. How long after the last byte on the wire is the answer there, and up to "
    "which rate does it come in time?"
)


def answer(document: Document) -> str:
    """The fastest rate that was carried, and its latency."""
    runs = [m for m in chains(document) if not m.workload["saturated"] and not m.workload["lost"]]
    runs = [m for m in runs if m.profile == "isthmus"] or runs
    # The cores alone, where they were measured: what the interface saves is said below.
    runs = [m for m in runs if place(m) == "cpu"] or runs
    quiet = [m for m in runs if not m.workload["noise"]]
    runs = [m for m in runs if m.workload["noise"]] or runs
    if not runs:
        return ""
    best = max(runs, key=lambda m: float(m.workload["rate_per_s"]))
    shown = [key for key in SHOWN if of(best).get(key) is not None]
    w = best.workload
    times = ", ".join(f"{us(of(best)[key])} us ({key})" for key in dict.fromkeys((shown[0], *shown[-2:])))
    sentence = (
        f"At {w['rate_per_s'] / 1e6:g} million events a second over {w['links']} links of "
        f"{w['link_mbit_s'] / 1e3:g} Gbit/s the answers are out {times} after the last "
        f"byte on the wire; {w['late'] or 'none'} of {w['counted_events']:,} events later than "
        f"{w['release_us']:g} us after it was."
    )
    without = [m for m in quiet if best.workload["noise"]]
    items = [
        f"At {m.workload['rate_per_s'] / 1e6:g} million, without the noise of the machine that was measured: "
        + ", ".join(f"{us(of(m)[key])} us ({key})" for key in SHOWN if of(m).get(key) is not None)
        + "."
        for m in without
    ]
    items += [
        f"{_who(m)}Of {m.workload['rate_per_s'] / 1e6:g} million offered, the links carry "
        f"{m.throughput.cycles_per_s / 1e6 if m.throughput else 0.0:.2f}: "
        f"{m.workload['late']:,} of {m.workload['counted_events']:,} are late"
        + (f", {m.workload['lost']:,} are lost in the interface's queues." if m.workload["lost"] else ".")
        for m in chains(document)
        if m.workload["saturated"]
    ]
    items += _saved(document)
    items += [
        f"Without the interface, through the kernel and to a GPU, it is {us(of(m).get('p50'))} us "
        f"(p50) to {us(of(m).get('max'))} us (max), by the published percentiles."
        for m in baselines(document)
    ]
    found = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f'<p class="headline">{escape(sentence)}</p>\n<ul>{found}</ul>'


def _who(m: Measurement) -> str:
    return "With the search in the interface: " if place(m) == "fpga" else ""


def _saved(document: Document) -> list[str]:
    """What it changes to search in the interface."""
    pair = {place(m): m for m in compared(document)}
    if len(pair) < 2:
        return []
    values = [of(pair[one]).get("p50") for one in ("cpu", "fpga")]
    inner = [part(pair[one], "seen") for one in ("cpu", "fpga")]
    return [
        f"With candidates from the interface it is {us(values[1])} us instead of {us(values[0])} (p50, "
        f"{pair['cpu'].workload['rate_per_s'] / 1e6:g} million events a second): the interface takes "
        f"{us(inner[1])} us instead of {us(inner[0])}, the cores {us(part(pair['fpga'], 'find'))} instead of "
        f"{us(part(pair['cpu'], 'find'))}. The answers are the same."
    ]


def figures(document: Document) -> list[Figure]:
    """Three places, distributions, the edge, the parts."""
    made = [_places(document)] if compared(document) else []
    made.append(_distributions(document))
    if len({m.workload["rate_per_s"] for m in chains(document)}) > 1:
        made.append(_edge(chains(document)))
    return [*made, _parts(document)]


def _places(document: Document) -> Figure:
    """Latency and quality of the places where candidates are searched, on one pair of axes."""
    series: list[dict[str, Any]] = []
    swatches = []
    for m, colour in zip(compared(document), COLOURS, strict=False):
        where = "FPGA, fit on cores" if place(m) == "fpga" else "CPU"
        points = [(where, m.workload["quality"], [of(m).get("p50"), of(m).get("p99")])]
        if "candidates" in m.workload:
            points.append(
                ("FPGA alone, no fit", m.workload["candidates"], [part(m, "seen"), part(m, "seen", "p99")])
            )
        for at, (name, quality, times) in enumerate(points):
            shown = COLOURS[2] if at else colour
            data = [[time / 1e6, 100 * quality["fakes"]] for time in times if time is not None]
            series.append({"type": "line", "name": name, "colour": shown, "symbolSize": 9, "data": data})
            swatches.append(Swatch(name, shown, "solid"))
    option: dict[str, Any] = {
        "xAxis": {"type": "log", "name": "us after the last byte", "nameLocation": "middle"},
        "yAxis": {"type": "log", "name": "fakes in 100 events", "nameLocation": "middle"},
        "series": series,
    }
    return Figure(
        id="chain-places",
        title="Three places to find rings",
        caption="Latency from p50 to p99, and fakes. Further left is faster, further down is better. The GPU "
        "is not measured here. Candidates alone are not fitted and nothing chooses among them: of an event's "
        "candidates the first three count. With the fit on the cores the answers are the CPU's.",
        panels=[Panel("", "Fakes over latency, a line a place; the table below has the numbers", option)],
        table=Table(PLACE_COLUMNS, places(document)),
        legend=swatches,
        notes=(
            "Found 1, 2, 3: of true rings in such events; right 1, 2, 3: such events with the right number; "
            "fakes: an event. Interface: from the last byte on the pins to the program. Cores: search and "
            "fit, or fit.",
        ),
    )


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
        where = "fpga" if place(m) == "fpga" else m.workload["finder"]
        return f"{m.profile}, {where} finder, {m.workload['format']}"

    runs = [m for m in runs if m.workload["noise"]] or runs
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
        title="The edge of the links",
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
            "Runs during which the operating system interrupted the core or took it away are left out; of a "
            "hypervisor nothing is known. No noise: of each group of events the shortest of several "
            "runs, so that what is left is the data's own cost."
            for machine in machines
        ),
        *(
            "With place fpga the interface's own gateware searches for candidates, between ports and lists, "
            f"at {mhz:g} MHz. A second datagram with the candidates follows that of the events in its "
            "buffer; every candidate is compared with the model's."
            for mhz in sorted({m.workload["search_mhz"] for m in chains(document) if place(m) == "fpga"})
        ),
        _release(document),
    ]
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _release(document: Document) -> str:
    """Who releases the answers: the engine counts what the interface released, where it does."""
    if all("release.released" in m.counters for m in chains(document)):
        return (
            "The interface itself releases each answer a fixed time after its event, on its trigger lines; "
            "every change of them is compared with the events due."
        )
    return "The release of fixed latency behind the result pins is a model outside the interface."
