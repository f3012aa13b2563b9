# SPDX-License-Identifier: Apache-2.0
"""The page of `isthmus bench trigger`: events to look at, quality and speed side by side."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from html import escape
from math import floor, log
from typing import Any

from isthmus import __version__
from isthmus.report.figures import COLOURS, Figure, Panel, Swatch, Table
from isthmus.report.page import assemble
from isthmus.results.context import commit
from isthmus.trigger.display import gallery
from isthmus.trigger.native import Bench, Quality, Row, Times
from isthmus.trigger.tables import (
    COLUMNS,
    WAY_COLUMNS,
    best,
    quality_cells,
    ratio,
    rows_cells,
    ways_cells,
)
from isthmus.units import digits

TITLE = "Rings in a RICH: what is found, how well, how fast"
QUESTION = (
    "Charged particles leave rings of light on two disks of photomultipliers, ten million events a second. "
    "How many of the rings does a trigger find, with no track to start from, and how many processors does "
    "it take?"
)
FINDERS = {"isthmus": "c1", "Almagest": "c2", "histogram": "c3"}


def page(made: Bench) -> str:
    """The whole page as text; it needs no network and no other file."""
    return assemble(
        TITLE, QUESTION, _answer(made),
        [_compared(made), *_ways(made), _errors(made), _samples(made)],
        "", _method(made), _footer(made), first=gallery(made.displays),
    )  # fmt: skip


def _axis(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "value", "name": name, "nameLocation": "middle", **more}


def _series(name: str, colour: str, data: Sequence[Any], **more: Any) -> dict[str, Any]:
    return {
        "type": "line", "name": name, "colour": colour, "data": data, "symbol": "circle",
        "symbolSize": 9, **more,
    }  # fmt: skip


def _answer(made: Bench) -> str:
    own = best(made.rows, "isthmus")
    assert own is not None
    assert own.quality is not None
    q, times = own.quality, ratio(made)
    names = ("one", "two", "three")
    shares = [f"{names[n]} {100 * e:.2f} %" for n, e in enumerate(q.efficiency) if e is not None]
    headline = (
        f"True rings found, in events of {', '.join(shares)}; {q.fakes:.3f} fakes an event; "
        f"{digits(own.per_second / 1e6)} million events a second on one core."
    )
    items = [
        f"Ten million events a second, one disk or both, take {digits(1e7 / own.per_second, 2)} such cores.",
        f"Sixteen events that come together are done after {digits(own.sixteen_us[0], 2)} us.",
        f"Radii are right to {q.radius_mm[1]:.2f} mm, centres to {q.centre_mm[1]:.2f} mm along an axis (68 "
        "%).",
    ]
    if times is not None:
        items.insert(0, f"It is {times:.2f} times as fast as Almagest in the same run.")
    return (
        f'<p class="headline">{escape(headline)}</p>\n<ul>'
        + "".join(f"<li>{escape(item)}</li>" for item in items)
        + "</ul>"
    )


def _compared(made: Bench) -> Figure:
    """Quality by the number of rings, and against speed."""
    rows = [row for name in FINDERS if (row := best(made.rows, name)) is not None]
    quality = [(row, q) for row in rows if (q := row.quality) is not None]
    left = {
        "xAxis": _axis("rings in the event", min=1, max=3, interval=1),
        "yAxis": _axis("share of true rings found", max=1),
        "series": [
            _series(
                row.finder,
                FINDERS[row.finder],
                [[n + 1, e] for n, e in enumerate(q.efficiency) if e is not None],
            )
            for row, q in quality
        ],
    }
    right = {
        "xAxis": _axis("million events a second and core", type="log"),
        "yAxis": _axis("found in events of two rings", max=1),
        "series": [
            _series(f"{row.finder}, {row.level}", FINDERS[row.finder], [_point(row, q)])
            for row in made.rows
            if row.finder in FINDERS and (q := row.quality) is not None and q.efficiency[1] is not None
        ],
    }
    label = "the table below has the numbers"
    return Figure(
        "finders",
        "Quality and speed side by side",
        "Left: true rings found. Right: the same in events of two rings against speed, a point for each "
        "set of instructions. The best place is the upper right corner.",
        [
            Panel("", f"Share of rings found by the number of rings, a line a finder; {label}", left),
            Panel("", f"Share of rings found against speed, a point a finder; {label}", right),
        ],
        Table(COLUMNS, rows_cells(made)),
        [Swatch(name, colour, "solid") for name, colour in FINDERS.items()],
        ("Found 1, 2, 3: of true rings in such events; number 1, 2, 3: such events with the right number.",),
    )


def _point(row: Row, quality: Quality) -> list[float | None]:
    return [round(row.per_second / 1e6, 4), quality.efficiency[1]]


def _ways(made: Bench) -> list[Figure]:
    """Latency of batches as histograms, all processors on one axis; and their rate against the batch."""
    if not made.ways:
        return []
    colours = dict(zip((way.name for way in made.ways), COLOURS, strict=False))
    left = {
        "xAxis": _axis("from due to the rings of the first event [us]", type="log"),
        "yAxis": _axis("share of batches"),
        "series": [
            _series(way.name, colours[way.name], _spread(way.first), symbolSize=3) for way in made.ways
        ],
    }
    sizes = [batch for way in made.ways for batch, _ in way.rates]
    right = {
        "xAxis": _axis("events in a batch", type="log", logBase=2, min=min(sizes), max=max(sizes)),
        "yAxis": _axis("million events a second", type="log"),
        "series": [
            _series(way.name, colours[way.name], [[batch, round(rate / 1e6, 5)] for batch, rate in way.rates])
            for way in made.ways
            if way.rates
        ],
    }
    absent = ["Not measured here: " + "; ".join(name for name, _ in made.absent) + "."] if made.absent else []
    return [
        Figure(
            "ways",
            "How long a batch takes, and how many events fit",
            "Left: batches that come at a steady rate, from the time at which one is due to the rings of its "
            "first event; waiting for the batch before counts. A bin is a tenth wide. Right: batches that "
            "follow one another at once.",
            [
                Panel("", "Histograms of the latency of a batch; the table below has the percentiles", left),
                Panel("", "Rate against events in a batch; the table below has the highest", right),
            ],
            Table(WAY_COLUMNS, ways_cells(made)),
            [Swatch(name, colour, "solid") for name, colour in colours.items()],
            (
                "A core has all rings of a batch together and is offered half of its rate; other work of the "
                "machine is in its times. The published system took about 137 us for 20 events, 110 of them "
                "for copies and network.",
                *absent,
            ),
        )
    ]


BIN = 1.1
"""Upper edge of a bin of a latency over its lower one."""


def _spread(times: Times) -> list[list[float | None]]:
    """Middle of each bin in us, and its share of the batches."""
    bins: dict[int, int] = {}
    for ns, count in times.buckets:
        at = floor(log(max(ns, 1)) / log(BIN))
        bins[at] = bins.get(at, 0) + count
    edges = range(min(bins) - 1, max(bins) + 2) if bins else range(0)
    return [[round(BIN ** (at + 0.5) / 1e3, 4), round(bins.get(at, 0) / times.samples, 6)] for at in edges]


def _errors(made: Bench) -> Figure:
    middles = [0.5 * at - 9.75 for at in range(len(made.radius))]
    option = {
        "xAxis": _axis("found less true [mm]", min=-10, max=10),
        "yAxis": _axis("share of rings in 0.5 mm"),
        "series": [
            _series(name, colour, list(map(list, zip(middles, values, strict=True))), symbolSize=4)
            for name, colour, values in (
                ("radius", "c1", made.radius),
                ("centre, an axis", "c2", made.centre),
            )
        ],
    }
    rows = [
        [f"{middle:.2f}", f"{a:.4f}", f"{b:.4f}"]
        for middle, a, b in zip(middles, made.radius, made.centre, strict=True)
    ]
    return Figure(
        "errors",
        "How exactly",
        "Errors of the rings that were found. A single hit is good to 4.9 mm across its ring.",
        [Panel("", "Errors of radius and centre; the table below has the numbers", option, 300)],
        Table(["error [mm]", "radius", "centre, an axis"], rows),
        [Swatch("radius", "c1", "solid"), Swatch("centre, an axis", "c2", "solid")],
    )


def _samples(made: Bench) -> Figure:
    return Figure(
        "samples",
        "Other physics, the same settings",
        "reference: pions of 15 to 35 GeV/c, rings of at least six hits; mixed: electrons, muons and "
        "pions, rings from four hits on, 5 % empty events; bright: 18 photons in every ring; noisy: three "
        "noise hits an event; pile-up: single rings that overlap within 10 ns; single: one ring, no noise.",
        (),
        Table(["sample", *COLUMNS[4:]], [[name, *quality_cells(q)] for name, q in made.samples.items()]),
        (),
    )


def _method(made: Bench) -> str:
    lines = [
        f"Events come from a Monte Carlo of {made.events:,} events, sample {made.sample}, seed {made.seed}, "
        f"{made.hits:.1f} hits an event, by numbers of a counter: the seed gives the same events anywhere. "
        "The finder sees the records that are on the wire, 70 bytes an event; the truth is kept apart.",
        "A found ring is a true one where the distance of the centres and the difference of the radii add "
        "up to less than 30 mm, one to one, nearest first. What matches nothing is a fake.",
        "Speed is of one core, from records to rings, table look-ups included. Slices of 512 events have "
        "their turn one after another; of each the shortest run counts, so that other work of the machine "
        "does not.",
        "Almagest and the histogram of distances are our implementations of the published methods, with "
        "the same records, lanes and circle fit.",
        "All sets of instructions give the same bits.",
        *(f"{name}: not measured here: {why}." for name, why in made.absent),
    ]
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _footer(made: Bench) -> str:
    pairs = [
        ("Command", f"isthmus bench trigger --sample {made.sample} -n {made.events} --seed {made.seed}"),
        ("Commit", commit()),
        ("isthmus", __version__),
        ("Processor", f"{platform.machine()}, with {', '.join(made.levels)}"),
        ("Charts", "Apache ECharts 5.6.0, Apache License 2.0"),
    ]
    entries = "".join(f"<dt>{escape(k)}</dt><dd><code>{escape(v)}</code></dd>" for k, v in pairs)
    return f"<dl>{entries}</dl>"
