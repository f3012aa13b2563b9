# SPDX-License-Identifier: Apache-2.0
"""The figures of timestamps read over Etherbone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from isthmus.report.figures import (
    BEYOND_NOTE,
    Figure,
    Panel,
    Swatch,
    Table,
    decades,
    number,
    one_definition,
    percentile_cell,
)
from isthmus.results import Document, Measurement, Span
from isthmus.results.model import PERCENTILES, percentile_name
from isthmus.roads.etherbone import ROAD
from isthmus.roads.etherbone.answer import Key, by_place, series
from isthmus.units import time

# Names of colours in page.css: light and dark values live there, not here.
METHOD_COLOURS: Mapping[str, str] = {"convenience": "c1", "blocking": "c2", "pipelined": "c3"}
PLACE_COLOURS: Mapping[str, str] = {name: place.colour for name, place in ROAD.places.items()}
METHODS = tuple(METHOD_COLOURS)
PLACES = tuple(PLACE_COLOURS)


@dataclass(frozen=True)
class Quantity:
    """The quantity of a vertical axis; `published` is its name in `published/*.csv`."""

    name: str
    unit: str
    get: Callable[[Measurement], float | None]
    definition: str
    published: str = ""


def figures(document: Document) -> list[Figure]:
    """All figures that the document's measurements allow."""
    lines = series(document)
    made: list[Figure] = []
    if lines:
        made += [
            _lines(
                "time",
                "Time per timestamp",
                Quantity(
                    "time per timestamp",
                    "us",
                    lambda m: _scaled(m.time_per_timestamp, 1e-6),
                    "measured span divided by timestamps read in it",
                    "time_per_timestamp_us",
                ),
                lines,
                "How long one 64-bit timestamp costs, by how many share one Etherbone cycle.",
            ),
            _lines(
                "rate",
                "Rate",
                Quantity(
                    "rate",
                    "kHz",
                    lambda m: _scaled(m.throughput.timestamps_per_s if m.throughput else None, 1e-3),
                    "timestamps a second",
                    "timestamps_khz",
                ),
                lines,
                "How many 64-bit timestamps arrive in a second.",
            ),
            _lines(
                "throughput",
                "Throughput",
                Quantity(
                    "payload throughput",
                    "Mbit/s",
                    lambda m: _scaled(m.throughput.payload_bit_s if m.throughput else None, 1e-6),
                    "payload only, 64 bits a timestamp; 1 Mbit is 10^6 bits",
                    "payload_mbit_s",
                ),
                lines,
                "Payload in user memory; headers, addresses and padding are not counted.",
            ),
            _latency(lines),
        ]
    counted = [m for m in document if m.name.startswith("words") and m.latency is not None]
    if counted:
        made.append(_words(counted))
    staged = [m for m in document if m.stages and m.timestamps]
    if staged:
        made.append(_stages(staged))
    timed = [m for m in document if m.timeline and m.timestamps]
    if timed:
        made.append(_timeline(timed))
    return made


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale


def _legend(lines: Iterable[Key], published: Iterable[str] = ()) -> list[Swatch]:
    """Methods by colour, profiles by kind of line, published points as diamonds."""
    keys = sorted(set(lines))
    methods = sorted({key[2] for key in keys}, key=lambda name: (*METHODS, name).index(name))
    made = [Swatch(method, METHOD_COLOURS.get(method, "c6"), "box") for method in methods]
    for profile, kind in (("isthmus", "solid"), ("as-published", "dashed")):
        if any(key[1] == profile for key in keys):
            made.append(Swatch(f"profile {profile}", "text", "solid" if kind == "solid" else "dashed"))
    return made + [Swatch(name, "c4", "diamond") for name in published]


def _style(profile: str) -> Mapping[str, str]:
    return {"type": "solid" if profile == "isthmus" else "dashed"}


def _axis(name: str, kind: str = "value", **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "nameLocation": "middle", **more}


def _series(name: str, colour: str, profile: str, data: Sequence[Any]) -> dict[str, Any]:
    return {
        "type": "line",
        "name": name,
        "colour": colour,
        "data": data,
        "lineStyle": _style(profile),
        "symbol": "circle" if profile == "isthmus" else "emptyCircle",
        "symbolSize": 7,
    }


def _ordered(lines: Iterable[Key], platform: str) -> list[Key]:
    def place(key: Key) -> tuple[int, str, str]:
        return (METHODS.index(key[2]) if key[2] in METHODS else len(METHODS), key[2], key[1])

    return sorted((key for key in lines if key[0] == platform), key=place)


def _name(key: Key) -> str:
    return f"{key[2]}, {key[1]}"


def _lines(
    name: str,
    title: str,
    quantity: Quantity,
    lines: Mapping[Key, Sequence[Measurement]],
    caption: str,
) -> Figure:
    """One chart a platform: the quantity against timestamps a cycle, a line a method and profile."""
    panels = []
    points = _published(quantity.published)
    shown = [quantity.get(m) for line in lines.values() for m in line]
    scale = decades([*shown, *(value for data in points.values() for _, value in data)])
    for platform in sorted({key[0] for key in lines}):
        drawn = [
            _series(
                _name(key),
                METHOD_COLOURS.get(key[2], "c6"),
                key[1],
                [[m.timestamps, quantity.get(m)] for m in lines[key]],
            )
            for key in _ordered(lines, platform)
        ]
        drawn += [
            {
                "type": "line",
                "name": name,
                "colour": "c4",
                "data": data,
                "symbol": "diamond",
                "symbolSize": 11,
                "lineStyle": {"width": 0},
            }
            for (road, name), data in points.items()
            if road == platform
        ]
        panels.append(
            Panel(
                platform,
                f"{title} over {platform} against timestamps a cycle, logarithmic, one line for each method "
                "and profile; the table below has the numbers",
                {
                    "xAxis": _axis("timestamps in one cycle", minInterval=1, min=1, max="dataMax"),
                    "yAxis": _axis(f"{quantity.name} [{quantity.unit}]", "log", **scale),
                    "series": drawn,
                },
            )
        )
    return Figure(
        name,
        title,
        f"{caption} {quantity.definition[0].upper()}{quantity.definition[1:]}. Solid: profile isthmus; "
        "dashed: as published.",
        panels,
        _by_timestamps(lines, quantity.get, f"[{quantity.unit}]"),
        _legend(lines, ["published"] if any(key[0] in {road for road, _ in points} for key in lines) else []),
    )


def _published(quantity: str) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """The document's own points of this quantity, by platform and series."""
    from isthmus.verify import published

    found: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for line in published(ROAD.name):
        parts = line["measurement"].split("/")
        drawn = line["kind"] != "claim" and parts[-1].removeprefix("ts").isdigit()
        if quantity and line["quantity"] == quantity and drawn:
            point = (int(parts[-1].removeprefix("ts")), float(line["value"]))
            found.setdefault((parts[1], f"published: {parts[3]}"), []).append(point)
    return found


def _by_timestamps(
    lines: Mapping[Key, Sequence[Measurement]],
    get: Callable[[Measurement], float | None],
    unit: str,
) -> Table:
    counts = sorted({m.timestamps for members in lines.values() for m in members})
    keys = [key for platform in sorted({k[0] for k in lines}) for key in _ordered(lines, platform)]
    rows = []
    for key in keys:
        values = {m.timestamps: get(m) for m in lines[key]}
        rows.append([key[0], key[1], key[2], *(number(values.get(count)) for count in counts)])
    return Table(["platform", "profile", "method", *(f"{count} {unit}" for count in counts)], rows)


def _latency(lines: Mapping[Key, Sequence[Measurement]]) -> Figure:
    members = [m for line in lines.values() for m in line if m.latency is not None]
    definition = one_definition(members, "latency")

    def average(m: Measurement) -> float | None:
        return m.latency.avg / 1e6 if m.latency else None

    figure = _lines(
        "latency",
        f"Latency of one cycle ({definition})",
        Quantity(
            "latency",
            "us",
            average,
            f"{definition}, from the call that sends to the call that returns the data; average",
        ),
        lines,
        "How long the program waits for one cycle. A pipelined cycle also waits for those before it: its "
        "latency depends on the number in flight.",
    )
    rows = []
    for m in members:
        assert m.latency is not None
        shown = (m.latency.min, m.latency.typical, m.latency.avg, m.latency.max, m.latency.stdev)
        rows.append(
            [
                m.platform,
                m.profile,
                m.method,
                str(m.timestamps),
                str(m.iterations),
                *(number(value / 1e6) for value in shown),
                *(percentile_cell(m.latency, key) for key in PERCENTILES),
            ]
        )
    columns = ["platform", "profile", "method", "timestamps", "iterations", "min [us]", "typical [us]"]
    columns += ["avg [us]", "max [us]", "stdev [us]"]
    columns += [f"{percentile_name(key)} [us]" for key in PERCENTILES]
    notes = (BEYOND_NOTE,)
    table = Table(columns, rows)
    return Figure(figure.id, figure.title, figure.caption, figure.panels, table, figure.legend, notes)


def _words(members: Sequence[Measurement]) -> Figure:
    """The document's last figure: the time to read a number of words."""
    one_definition(members, "words")
    lines: dict[Key, list[tuple[int, float]]] = {}
    for m in members:
        assert m.latency is not None
        point = (int(m.workload["words"]), m.latency.avg / 1e9)
        lines.setdefault((m.platform, m.profile, m.method), []).append(point)
    scale = decades([ms for points in lines.values() for _, ms in points])
    counts = sorted({words for points in lines.values() for words, _ in points})
    panels = []
    rows = []
    for platform in sorted({key[0] for key in lines}):
        drawn = []
        for key in _ordered(lines, platform):
            points = sorted(lines[key])
            drawn.append(_series(_name(key), METHOD_COLOURS.get(key[2], "c6"), key[1], points))
            cost = dict(points)
            rows.append([*key, *(number(cost.get(count)) for count in counts)])
        panels.append(
            Panel(
                platform,
                f"Time to read a number of 32-bit words over {platform}, logarithmic on both axes; the table "
                "below has the numbers",
                {
                    "xAxis": _axis("32-bit words read", "log", min="dataMin", max="dataMax"),
                    "yAxis": _axis("time [ms]", "log", **scale),
                    "series": drawn,
                },
            )
        )
    return Figure(
        "words",
        "Time against words",
        "How long it takes until all 32-bit words are in memory, from first call to last reply; "
        "average. Solid: profile isthmus; dashed: as published.",
        panels,
        Table(["platform", "profile", "method", *(f"{count} [ms]" for count in counts)], rows),
        _legend(lines),
    )


def _stages(members: Sequence[Measurement]) -> Figure:
    """The time of one transfer by stages: they add up to its end-to-end time."""
    largest = max(m.timestamps for m in members)
    shown = [m for m in members if m.timestamps == largest and m.method in ("blocking", "pipelined")] or list(
        members
    )
    one_definition(shown, "stages")
    shown.sort(key=lambda m: (m.platform, m.profile, m.method), reverse=True)
    names = [f"{m.platform}\n{m.profile}\n{m.method}" for m in shown]
    places = [place for place in PLACES if any(place in by_place(m) for m in shown)]
    places += sorted({stage.where for m in shown for stage in m.stages} - set(PLACES))
    drawn = [
        {
            "type": "bar",
            "stack": "stages",
            "name": place,
            "colour": PLACE_COLOURS.get(place, "c6"),
            "barMaxWidth": 34,
            "data": [by_place(m).get(place, 0) / 1e6 for m in shown],
        }
        for place in places
    ]
    rows = [
        [m.platform, m.profile, m.method, stage.where, stage.name, number(stage.time / 1e3)]
        for m in reversed(shown)
        for stage in m.stages
    ]
    rows_total = [
        [m.platform, m.profile, m.method, "all", "end to end", number(sum(s.time for s in m.stages) / 1e3)]
        for m in reversed(shown)
    ]
    return Figure(
        "stages",
        "Where the time of one transfer goes",
        f"One cycle of {largest} timestamps, from the program's call until the data is in its memory. The "
        "stages follow one another and add up to the end-to-end time; this is checked in every run.",
        [
            Panel(
                "",
                "Stacked bars of where one transfer's time goes: host, network interface, wire, switch, "
                "FPGA; the table below has every stage",
                {
                    "xAxis": _axis("time of one transfer [us]"),
                    "yAxis": {"type": "category", "data": names},
                    "series": drawn,
                },
                height=90 + 62 * len(shown),
            )
        ],
        Table(["platform", "profile", "method", "where", "stage", "time [ns]"], rows + rows_total),
        [Swatch(place, PLACE_COLOURS.get(place, "c6"), "box") for place in places],
    )


def _turns(spans: Iterable[Span]) -> Iterator[tuple[Span, Mapping[str, int]]]:
    """Each span with how many came before it on each track."""
    count: Counter[str] = Counter()
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        yield span, dict(count) | {span.track: count[span.track]}
        count[span.track] += 1


def _timeline(members: Sequence[Measurement]) -> Figure:
    """One transfer as bars on tracks: overlap shows, gaps show."""
    wanted = [m for m in members if m.method == "blocking" and m.profile == "isthmus"] or list(members)
    m = max(wanted, key=lambda m: (m.timestamps, m.platform == "gige-direct"))
    tracks = list(dict.fromkeys(span.track for span in m.timeline))
    begin = min(span.start for span in m.timeline)
    drawn = [
        {
            "type": "line",
            "name": f"{span.track}: {span.name}",
            "colour": f"c{1 + tracks.index(span.track) % 6}",
            "data": [
                [(span.start - begin) / 1e6, span.track],
                [(span.end - begin) / 1e6, span.track],
            ],
            "symbol": "none",
            # Two shades in turn, so that steps that touch can be distinguished.
            "lineStyle": {"width": 14, "cap": "butt", "opacity": 0.6 if turn[span.track] % 2 else 1},
            "bar": True,
        }
        for span, turn in _turns(m.timeline)
    ]
    rows = [
        [
            span.track,
            span.name,
            number((span.start - begin) / 1e3),
            number((span.end - begin) / 1e3),
            number((span.end - span.start) / 1e3),
        ]
        for span in sorted(m.timeline, key=lambda span: (span.start, span.end))
    ]
    total = max(span.end for span in m.timeline) - begin
    return Figure(
        "timeline",
        "One transfer, step by step",
        f"{m.method.capitalize()}, {m.timestamps} timestamps, over {m.platform}, profile {m.profile}: "
        f"{time(total)} from first to last step. Time runs to the right; steps may overlap.",
        [
            Panel(
                "",
                "Timeline of one transfer: a track for each component, a bar for each step; the table below "
                "lists the steps in order",
                {
                    "xAxis": _axis("time since the call [us]", min=0),
                    "yAxis": {"type": "category", "data": tracks, "inverse": True},
                    "series": drawn,
                },
                height=90 + 46 * len(tracks),
            )
        ],
        Table(["track", "step", "from [ns]", "to [ns]", "length [ns]"], rows),
        (),
    )
