# SPDX-License-Identifier: Apache-2.0
"""The page of `./isthmus compare`: one file with the answer, its table, its figures and all behind them.

Every view is drawn here, from the same `Answer` as the terminal's; the script in the page only chooses
which one is seen, and draws the chart.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from isthmus.compare.answer import SIZE, Answer, Row, Sweep, View, answer
from isthmus.compare.cells import HEADER, case_key, cells, has_p99, size_cell, spread
from isthmus.results.model import NO_NOISE, PERCENTILES, needed
from isthmus.results.table import aligned
from isthmus.roads.table import roads
from isthmus.units import digits, percent, time
from isthmus.workload import OPERATIONS, arrivals_text, bytes_text, place_text, rate_text, size_text

if TYPE_CHECKING:
    from isthmus.results import Document
    from isthmus.results.constants import Constants

_COLOURS = 8
_OFFERED_SIZES = (8, 64, 256, 1024, 4096)
_OFFERED_ARRIVALS: tuple[tuple[int | None, float | None], ...] = ((1, None), (4, None), (None, 100_000.0))


def page(document: Document) -> str:
    """The whole page as text; it needs no network and no other file."""
    found = answer(document)
    first = found.sweeps[0].at(SIZE)
    parts = files("isthmus.compare")
    vendor = files("isthmus.report").joinpath("vendor/echarts.common.min.js").read_text()
    charts = any(len(sweep.views) > 1 for sweep in found.sweeps)
    return Template(parts.joinpath("page.html").read_text()).substitute(
        title=escape(first.case.title),
        css=parts.joinpath("page.css").read_text(),
        controls=_controls(found, first),
        decisions="\n".join(
            _block("div", "view", view, first, _decision(view, sweep))
            for sweep in found.sweeps
            for view in sweep.views
        ),
        one="" if charts else " one",
        tables="\n".join(_block("div", "view", view, first, _table(view, found)) for view in found.views),
        bars="\n".join(_block("div", "view", view, first, _bars(view)) for view in found.views),
        notes=_notes(found),
        tabs=_tabs(found, document),
        footer=_footer(document),
        # A page without a chart does not carry the library.
        echarts=_script(vendor) if charts else "",
        data=_script(json.dumps(_data(found, first), separators=(",", ":"))),
        js=parts.joinpath("page.js").read_text(),
    )


def _script(text: str) -> str:
    """Text inside a script element: nothing in it may end the element."""
    return text.replace("</", "<\\/")


def _block(tag: str, kind: str, view: View, first: View, content: str) -> str:
    hidden = "" if view is first else " hidden"
    return f'<{tag} class="{kind}" data-key="{case_key(view.case)}"{hidden}>{content}</{tag}>'


# Controls.


def _arrivals_key(window: int | None, rate: float | None) -> str:
    return f"r{rate:g}" if rate is not None else f"w{window}"


def _controls(found: Answer, first: View) -> str:
    cases = [view.case for view in found.views]
    sizes = sorted({case.bytes for case in cases} | set(_OFFERED_SIZES))
    arrivals = list(dict.fromkeys([*((case.window, case.rate_per_s) for case in cases), *_OFFERED_ARRIVALS]))
    chosen = first.case
    return "\n".join(
        (
            _select("op", "operation", [(name, name) for name in OPERATIONS], chosen.operation),
            _select("size", "size", [(str(size), bytes_text(size)) for size in sizes], str(chosen.bytes)),
            _select(
                "arrivals",
                "arrivals",
                [(_arrivals_key(*each), arrivals_text(*each)) for each in arrivals],
                _arrivals_key(chosen.window, chosen.rate_per_s),
            ),
        )
    )


def _select(name: str, label: str, options: Iterable[tuple[str, str]], chosen: str) -> str:
    made = "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for value, text in options
    )
    return f'<label><span>{label}</span><select id="{name}">{made}</select></label>'


def _data(found: Answer, first: View) -> Mapping[str, Any]:
    """What the script needs: titles, which chart belongs to which view, and how an operation is asked for."""
    arrivals: dict[str, str] = {}
    for window, rate in [*((v.case.window, v.case.rate_per_s) for v in found.views), *_OFFERED_ARRIVALS]:
        key = _arrivals_key(window, rate)
        arrivals[key] = f" --rate {rate_text(rate)}" if rate else "" if window == 1 else f" --window {window}"
    return {
        "first": case_key(first.case),
        "views": {
            case_key(view.case): {"title": view.case.title, "sweep": number}
            for number, sweep in enumerate(found.sweeps)
            for view in sweep.views
        },
        "sweeps": [_chart(sweep) for sweep in found.sweeps],
        "arrivals": arrivals,
    }


# Figures.


def _chart(sweep: Sweep) -> Mapping[str, Any] | None:
    """Cost or rate of every way over size; none for a single size."""
    if len(sweep.views) < 2:
        return None
    by_rate = (sweep.window or 1) > 1
    series = []
    order = [row.key for row in sweep.at(SIZE).rows]
    keys = sorted(sweep.lines, key=lambda key: (order.index(key) if key in order else len(order), key))
    for number, key in enumerate(keys):
        points = [
            [row.case.bytes, value] for row in sweep.lines[key] if (value := _point(row, by_rate)) is not None
        ]
        if points:
            line = sweep.lines[key][0]
            series.append(
                {
                    "name": f"{line.interconnect}, {line.driver}",
                    "platform": line.platform,
                    "colour": f"c{number % _COLOURS + 1}",
                    "dashed": number >= _COLOURS,
                    "points": points,
                }
            )
    unit = "MB/s" if by_rate else "us"
    return {"series": series, "unit": unit, "label": f"{sweep.subject}: {unit} over bytes in a request"}


def _point(row: Row, by_rate: bool) -> float | None:
    if by_rate:
        return None if row.bytes_per_s is None else row.bytes_per_s / 1e6
    return None if row.p50 is None or row.saturated else row.p50 / 1e6


def _decision(view: View, sweep: Sweep) -> str:
    """The recommendation, where its time goes, and how to get more."""
    more = view.faster(sweep)
    return (
        f'<p class="decision">{escape(view.decision)}</p>'
        + (_bar(view.best, _place_colours(view)) if view.total else "")
        + (f'<p class="note">To get more: {escape("; ".join(more))}.</p>' if more else "")
    )


def _bar(row: Row, colours: Mapping[str, int]) -> str:
    """The time of one transfer by place, as a line of boxes."""
    total = sum(part.ps for part in row.parts)
    segments = "".join(
        f'<span class="p{colours[part.place]}" style="width:{100 * part.ps / total:.2f}%" '
        f'title="{escape(part.name)} {escape(time(part.ps))}, {percent(part.ps / total)}">'
        f"{escape(part.name) if part.ps / total > 0.14 else ''}</span>"
        for part in row.parts
    )
    return (
        f'<div class="barrow"><span class="barname">{escape(row.interconnect)}, {escape(row.driver)}</span>'
        f'<span class="bar">{segments}</span><span class="bartime">{escape(time(total))}</span></div>'
    )


def _table(view: View, found: Answer) -> str:
    """The rows of the first screen: the same cells as on the terminal."""
    star = found.star
    tail = has_p99(view)
    p99_head = f'<th scope="col">p99{star}</th>' if tail else ""
    head = (
        f'<th scope="col" class="text">interconnect</th><th scope="col">p50{star}</th>'
        f'{p99_head}<th scope="col">MB/s</th><th scope="col" class="more">ratio</th>'
        '<th scope="col" class="more text">bounded by</th>'
    )
    rows = []
    for row in view.rows:
        interconnect, platform, driver, p50, p99, rate, ratio, bound = cells(view, row)
        best = ' class="best"' if row is view.best else ""
        rows.append(
            f'<tr{best}><th scope="row" class="text"><span class="what">{escape(interconnect)}, '
            f"{escape(driver)}</span> <small>{escape(platform)}</small></th><td>{escape(p50)}</td>"
            f"{f'<td>{escape(p99)}</td>' if tail else ''}<td>{escape(rate)}</td>"
            f'<td class="more">{escape(ratio)}</td>'
            f'<td class="more text">{escape(bound)}</td></tr>'
        )
    return f'<table class="first"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _place_colours(view: View) -> Mapping[str, int]:
    """The number of each place's colour: no two of a figure have the same where there are colours enough."""
    known = [*dict.fromkeys(name for road in roads() for name in road.places)]
    seen = dict.fromkeys(part.place for row in view.rows for part in row.parts)
    order = sorted(seen, key=lambda place: known.index(place) if place in known else len(known))
    return {place: number % _COLOURS + 1 for number, place in enumerate(order)}


def _bars(view: View) -> str:
    """Where the time of one request goes: a bar for each row, each its own 100 %, and the numbers."""
    rows = [row for row in view.rows if sum(part.ps for part in row.parts)]
    if not rows:
        return ""
    colours = _place_colours(view)
    made = []
    numbers: list[Sequence[str]] = []
    names: dict[str, None] = {}
    for row in rows:
        total = sum(part.ps for part in row.parts)
        names.update(dict.fromkeys(part.place for part in row.parts))
        made.append(_bar(row, colours))
        numbers += [[row.name, part.name, time(part.ps), percent(part.ps / total)] for part in row.parts]
    legend = "".join(
        f'<li><i class="p{colours[place]}"></i>{escape(place_text(place))}</li>' for place in names
    )
    return (
        '<h2>Where the time of one request goes</h2><p class="note">Each bar is the whole of one transfer '
        "at the end of the series, with as much company as its road leaves it; its duration is shown at its "
        "end, and bars are as long as each other.</p>"
        f'<ul class="legend">{legend}</ul>{"".join(made)}'
        "<details><summary>Numbers of this figure</summary>"
        + _plain(("way", "place", "time", "share"), numbers, "Time by place")
        + "</details>"
    )


def _plain(columns: Sequence[str], rows: Iterable[Sequence[str]], label: str, wide: bool = False) -> str:
    """A table that scrolls sideways in its own box; columns of text are flush left."""
    found = [list(row) for row in rows]
    text = [all(not _numeric(row[n]) for row in found) for n in range(len(columns))]

    def cell(tag: str, value: str, number: int) -> str:
        kind = (" text" + (" wide" if wide else "")) if text[number] else ""
        scope = ' scope="col"' if tag == "th" else ""
        return f'<{tag}{scope} class="{kind.strip()}">{escape(value)}</{tag}>'

    head = "".join(cell("th", name, n) for n, name in enumerate(columns))
    body = "".join(
        "<tr>" + "".join(cell("td", value, n) for n, value in enumerate(row)) + "</tr>" for row in found
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}"><table><thead>'
        f"<tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _numeric(text: str) -> bool:
    return text in ("", "-") or text.lstrip("-")[:1].isdigit()


def _notes(found: Answer) -> str:
    latency = any(row.m.latency for row in found.rows)
    made = []
    if found.noise:
        made.append(f"With operating-system noise of {found.noise}.")
    elif latency:
        made.append(
            f"* {NO_NOISE}: hardware and software alone; --noise FILE adds a measured histogram of yours."
        )
    operations = dict.fromkeys(sweep.operation for sweep in found.sweeps)
    made += [f"{operation}: {OPERATIONS[operation].done}." for operation in operations]
    made += found.notes
    return "".join(f'<p class="note">{escape(text)}</p>' for text in made)


# Tabs.


def _tabs(found: Answer, document: Document) -> str:
    tabs = [
        ("sizes", "All sizes", _sizes(found)),
        ("crossovers", "Crossovers", _crossovers(found)),
        ("percentiles", "Percentiles", _percentiles(found)),
        ("transfer", "One transfer", _transfer(found)),
        ("constants", "Constants", _constants(document)),
        ("published", "Published", _published()),
        ("method", "How measured", _method(found, document)),
        ("raw", "Raw", _raw(found)),
    ]
    shown = [(key, name, content) for key, name, content in tabs if content]
    buttons = "".join(
        f'<button role="tab" id="tab-{key}" aria-controls="{key}" aria-selected="false">{name}</button>'
        for key, name, _ in shown
    )
    panels = "\n".join(
        f'<section role="tabpanel" id="{key}" aria-labelledby="tab-{key}"><h2>{name}</h2>{content}</section>'
        for key, name, content in shown
    )
    return f'<div role="tablist" aria-label="More">{buttons}</div>\n{panels}'


def _sizes(found: Answer) -> str:
    made = []
    for sweep in found.sweeps:
        if len(sweep.views) < 2:
            continue
        sizes = spread(sweep.sizes, 24)
        rows = [
            [
                line[0].name,
                *(size_cell(next((r for r in line if r.case.bytes == size), None), sweep) for size in sizes),
            ]
            for line in sweep.lines.values()
        ]
        unit = "MB/s" if (sweep.window or 1) > 1 else f"p50{found.star} in us"
        made.append(f"<h3>{escape(sweep.subject)}, {escape(sweep.arrivals)}: {unit}</h3>")
        made.append(_plain(["way", *(size_text(size) for size in sizes)], rows, sweep.subject))
    return "".join(made)


def _crossovers(found: Answer) -> str:
    made = []
    for sweep in found.sweeps:
        if len(sweep.views) < 2:
            continue
        items = "".join(f"<li>{escape(text)}.</li>" for text in sweep.crossovers)
        made.append(
            f"<h3>{escape(sweep.subject)}</h3><p>{escape(sweep.winners)}.</p>"
            + (f"<ul>{items}</ul>" if items else "<p>No way overtakes another one.</p>")
        )
    return "".join(made)


def _percentiles(found: Answer) -> str:
    rows = []
    for row in found.rows:
        latency = row.m.latency
        if latency is None:
            continue
        rows.append(
            [
                row.case.operation,
                size_text(row.case.bytes),
                row.case.arrivals,
                row.name,
                time(latency.min),
                *(
                    "" if latency.percentiles[k] is None else time(latency.percentiles[k] or 0)
                    for k in PERCENTILES
                ),
                time(latency.max),
                str(latency.samples),
                "" if row.requests_per_s is None else digits(row.requests_per_s),
            ]
        )
    if not rows:
        return ""
    columns = [
        "operation", "bytes", "arrivals", "way", "min",
        *(f"{key}{found.star}" for key in PERCENTILES), "max", "n", "requests/s",
    ]  # fmt: skip
    why = ", ".join(f"{key} from n = {needed(share)}" for key, share in PERCENTILES.items())
    return f'<p class="note">A percentile is shown where ten samples lie beyond it: {why}.</p>' + _plain(
        columns, rows, "Percentiles"
    )


def _transfer(found: Answer) -> str:
    made = []
    for sweep in found.sweeps:
        row = sweep.at(SIZE).best
        total = sum(stage.time for stage in row.m.stages)
        if not total:
            continue
        rows = [
            [stage.name, stage.where, time(stage.time), percent(stage.time / total)] for stage in row.m.stages
        ]
        rows.append(["total", "", time(total), ""])
        made.append(f"<h3>{escape(row.case.title)}, {escape(row.name)}</h3>")
        made.append(_plain(("stage", "place", "time", "share"), rows, "Stages of one transfer"))
    return "".join(made)


def _constants(document: Document) -> str:
    return "".join(_platform(given) for _, given in sorted(document.constants.items()))


def _platform(given: Constants) -> str:
    rows = [[f"{c.part}.{c.name}", c.what, f"{c.value:g}", c.unit, c.source] for c in given.constants]
    return (
        f"<details><summary>{escape(given.platform)}: {escape(given.title)}</summary>"
        + _plain(("key", "constant", "value", "unit", "source"), rows, f"Constants of {given.platform}", True)
        + "</details>"
    )


def _published() -> str:
    return (
        "<p>The models behind these figures repeat published measurements: <code>./isthmus verify</code> "
        "puts each published number beside the simulated one, those that differ first.</p>"
    )


def _method(found: Answer, document: Document) -> str:
    checked = sum(m.checked.bytes for m in document)
    wrong = sum(m.checked.wrong + m.checked.lost for m in document)
    evaluated = sum(m.evaluated_cycles for m in document)
    left_out = sorted({m.excluded_head + m.excluded_tail for m in document})
    span = f"{left_out[0]}" if len(left_out) == 1 else f"{left_out[0]} to {left_out[-1]}"
    lines = [
        "The gateware is the synthesizable SystemVerilog of this repository, evaluated clock by clock "
        f"({evaluated:,} clock cycles); host, interfaces and wires are models whose constants are listed "
        "with their sources.",
        f"A measurement is a steady window: {span} requests at both ends are left out.",
        "A latency counts from the intended start of its request. With one request at a time the next one "
        "starts when the one before is done; a rate is an open loop with Poisson arrivals.",
        "A road that cannot carry a rate is saturated: it has a throughput and no latency.",
        f"All data is checked: {checked:,} bytes, {wrong:,} wrong or lost.",
        "Times are simulated; the same seed gives the same numbers. 1 MB is 10^6 bytes, 1 KiB 1024 bytes.",
        "Bounded by: with one request at a time the place with the largest part of its time; else the "
        "resource that is busy for nine tenths of the time or more; else the latency.",
    ]
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _raw(found: Answer) -> str:
    header: tuple[str, ...] = (
        "#operation",
        "bytes",
        "arrivals",
        *(name.replace(" ", "_") for name in HEADER),
    )
    rows: list[Sequence[str]] = [header]
    for view in found.views:
        for row in view.rows:
            case = view.case
            rows.append((case.operation, str(case.bytes), case.arrivals, *cells(view, row)))
    text = escape(aligned(rows, left=(0, 2, 3, 4, 5, 10)))
    return (
        "<p>The whole result, with histograms, is <code>compare.json</code> beside this page; its table is "
        f'<code>compare.csv</code>.</p><pre class="scroll" tabindex="0">{text}</pre>'
    )


def _footer(document: Document) -> str:
    context = document.context
    pairs = [
        ("Command", context.command),
        ("Seed", str(context.seed)),
        ("Commit", context.commit),
        ("Sources", f"sha256 {context.sources}"),
        ("Tools", ", ".join(f"{name} {version}" for name, version in context.tools.items())),
        ("Run took", f"{context.wall_s:.1f} s"),
        ("Charts", "Apache ECharts 5.6.0, Apache License 2.0"),
    ]
    entries = "".join(f"<dt>{escape(k)}</dt><dd><code>{escape(v)}</code></dd>" for k, v in pairs if v)
    return f"<dl>{entries}</dl>"
