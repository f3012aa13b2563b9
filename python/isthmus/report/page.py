# SPDX-License-Identifier: Apache-2.0
"""One self-contained HTML page from its parts: question, answer, figures, published numbers, constants."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template

from isthmus import verify
from isthmus.platforms import kinds
from isthmus.report.figures import Figure, Swatch, Table
from isthmus.results import Document
from isthmus.results.constants import NOT_STORED, Constants
from isthmus.roads.table import Road, resolve, roads
from isthmus.units import digits

_ANSWER = """<section id="answer" aria-labelledby="answer-title">
<h2 id="answer-title">Answer</h2>
{}
</section>"""


def render(
    document: Document,
    *,
    title: str,
    question: str,
    answer: str,
    drawn: Sequence[Figure],
    road: str,
    source: str,
    method: str,
    note: str = "",
) -> str:
    """A page from its parts; it needs no network and no other file. `answer`, `method` and `note`, which
    is shown above the published numbers, are HTML; an empty answer has no section."""
    found = verify.rows(document, road) if verify.is_published(road) else []
    limits = verify.targets(document, road)
    published = _beside(found, limits, source, note)
    return assemble(title, question, answer, drawn, published, method, _footer(document))


def assemble(
    title: str,
    question: str,
    answer: str,
    drawn: Sequence[Figure],
    published: str,
    method: str,
    footer: str,
    *,
    first: str = "",
) -> str:
    """A page that needs no network and no other file. All but title and question are HTML; `first` comes
    before the figures, `published` behind them."""
    parts = files("isthmus.report")
    template = Template(parts.joinpath("page.html").read_text())
    return template.substitute(
        title=escape(title),
        question=escape(question),
        css=parts.joinpath("page.css").read_text(),
        answer=_ANSWER.format(answer) if answer else "",
        figures="\n".join([first, *(_figure(figure) for figure in drawn)]),
        published=published,
        method=method,
        footer=footer,
        echarts=_script(parts.joinpath("vendor/echarts.common.min.js").read_text()),
        data=_script(json.dumps([_data(figure) for figure in drawn], separators=(",", ":"))),
        js=parts.joinpath("page.js").read_text(),
    )


def _script(text: str) -> str:
    """Text inside a script element: nothing in it may end the element."""
    return text.replace("</", "<\\/")


def _data(figure: Figure) -> Mapping[str, object]:
    return {"id": figure.id, "panels": [{"option": panel.option} for panel in figure.panels]}


def _figure(figure: Figure) -> str:
    parts = [
        f'<section id="{figure.id}" aria-labelledby="{figure.id}-title">',
        f'<h2 id="{figure.id}-title">{escape(figure.title)}</h2>',
        f'<p class="caption">{escape(figure.caption)}</p>',
        _legend(figure.legend),
        '<div class="panels">',
    ]
    for number, panel in enumerate(figure.panels):
        title = f'<p class="panel-title">{escape(panel.title)}</p>' if panel.title else ""
        parts.append(
            f'<div>{title}<div class="chart" id="chart-{figure.id}-{number}" role="img" '
            f'style="height:{panel.height}px" aria-label="{escape(panel.label)}"></div></div>'
        )
    parts.append("</div>")
    # A number and its unit stay on one line.
    notes = [escape(note).replace(" %", "&nbsp;%").replace(" us", "&nbsp;us") for note in figure.notes]
    parts += [f'<p class="note">{note}</p>' for note in notes]
    # A figure without a chart is shown as its table.
    opened, caption = ("", "Numbers of this figure") if figure.panels else (" open", "Numbers")
    parts.append(f"<details{opened}><summary>{caption}</summary>")
    parts.append(_table(figure.table, figure.title))
    parts.append("</details>\n</section>")
    return "\n".join(parts)


def _legend(swatches: Sequence[Swatch]) -> str:
    if not swatches:
        return ""
    line = '<line x1="0" x2="30" y1="6" y2="6" stroke="{1}" stroke-width="2.5"{0}/>'
    box = '<rect x="8" y="0" width="14" height="12" rx="2" fill="{}"/>'
    shapes = {
        "solid": line.format("", "{}"),
        "solid-2": line.format(' stroke-dasharray="6 4"', "{}"),
        "solid-3": line.format(' stroke-dasharray="2 3"', "{}"),
        "dashed": line.format(' stroke-dasharray="6 4"', "{}"),
        "box": box,
        "box-2": box + '<path d="M8 6l6-6M8 12l12-12M14 12l8-8" stroke="var(--page)" stroke-width="1.5"/>',
        "box-3": box + '<path d="M11 3h9M11 9h9" stroke="var(--page)" stroke-width="2" '
        'stroke-dasharray="2 3"/>',
        "diamond": '<path d="M15 0l6 6-6 6-6-6z" fill="{}"/>',
    }

    def shape(swatch: Swatch) -> str:
        colour, _, style = swatch.colour.partition("-")
        drawn = shapes.get(f"{swatch.kind}-{style}", shapes[swatch.kind])
        return drawn.format(f"var(--{colour})")

    entries = "".join(
        f'<li><svg viewBox="0 0 30 12" aria-hidden="true">{shape(s)}</svg>{escape(s.name)}</li>'
        for s in swatches
    )
    return f'<ul class="legend">{entries}</ul>'


def _table(table: Table, label: str, classes: Sequence[str] = ()) -> str:
    """A table that scrolls sideways in its own box; columns of text are flush left."""
    text = [all(not _numeric(row[column]) for row in table.rows) for column in range(len(table.columns))]
    kinds = [
        classes[c] if c < len(classes) and classes[c] else "text" if t else "" for c, t in enumerate(text)
    ]

    def cell(tag: str, content: str, kind: str) -> str:
        extra = f' class="{kind}"' if kind else ""
        scope = ' scope="col"' if tag == "th" else ""
        return f"<{tag}{scope}{extra}>{escape(content)}</{tag}>"

    head = "".join(cell("th", name, kind) for name, kind in zip(table.columns, kinds, strict=True))
    rows = [
        "<tr>"
        + "".join(cell("td", text, _kind(text, kind)) for text, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for row in table.rows
    ]
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{escape(label)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>\n" + "\n".join(rows) + "\n</tbody></table></div>"
    )


def _kind(text: str, kind: str) -> str:
    verdicts = {"agrees": "good", "met": "good", "DIFFERS": "bad", "MISSED": "bad"}
    return f"{kind} {verdicts[text]}".strip() if text in verdicts else kind


def _numeric(text: str) -> bool:
    return text == "" or text.lstrip("-")[:1].isdigit()


def _beside(found: Sequence[verify.Row], limits: Sequence[verify.Target], source: str, note: str) -> str:
    """The section of published numbers and limits; nothing where none of them was simulated."""
    if all(one.simulated is None for one in found) and all(one.simulated is None for one in limits):
        return ""
    parts = [
        '<section id="published">\n<h2>Simulated beside published</h2>',
        f"<p>{escape(verify.summary(found, limits))}</p>",
        note + _published(found, source),
        "<h3>Limits of the gateware</h3>",
        _targets(limits),
        "</section>",
    ]
    return "\n".join(parts)


def _published(found: Sequence[verify.Row], source: str) -> str:
    columns = ["what", "kind", "published", "unit", "simulated", "ratio", "allowed", "isthmus", "verdict"]
    rows = [
        [
            f"{row.what} ({row.note})" if row.note else row.what,
            row.kind,
            f"{row.value:g}",
            row.unit,
            _number(row.simulated),
            _number(row.ratio),
            row.allowed,
            _number(row.isthmus),
            row.verdict,
        ]
        for row in sorted(found, key=lambda row: row.verdict != "DIFFERS")
        if not row.is_area
    ]
    note = (
        "<p class='note'>Simulated: profile as-published; isthmus: profile isthmus. Inputs are constants "
        "that a model was given; predictions had to come out; identities follow by arithmetic from inputs. "
        "Allowed: the document's own error; above, most: the published number is a threshold. Source: "
        f"{escape(source)}.</p>"
    )
    made = note + _table(Table(columns, rows), "Simulated beside published", ("text wide",))
    areas = [row for row in found if row.is_area]
    if not areas:
        return made
    cells = [[row.what.replace(", Virtex-II Pro", ""), *verify.area_cells(row)] for row in areas]
    notes = [verify.AREA_NOTE[0].upper() + verify.AREA_NOTE[1:] + ".", *verify.area_notes(areas)]
    table = Table(["what", "unit", "published", "ours", "ratio"], cells)
    return (
        made
        + "<h3>Area of the gateware</h3>"
        + "".join(f"<p class='note'>{escape(note)}</p>" for note in notes)
        + _table(table, "Area of the gateware", ("text wide",))
    )


def _targets(limits: Sequence[verify.Target]) -> str:
    if not limits:
        return "<p class='note'>This road has none of its own yet.</p>"
    columns = ["what", "limit", "unit", "simulated", "ratio", "verdict", "neighbouring cores"]
    bounds = {True: "at least", False: "at most"}
    rows = [
        [
            t.what,
            f"{bounds[t.least]} {t.limit:g}",
            t.unit,
            _number(t.simulated),
            _number(t.ratio),
            t.verdict,
            t.peers,
        ]
        for t in limits
    ]
    classes = ("text wide", "", "", "", "", "", "text wide")
    return _table(Table(columns, rows), "Limits of the gateware", classes)


def _number(value: float | None) -> str:
    return "" if value is None else digits(value, 4)


def beside(road: Road, document: Document) -> list[Figure]:
    """What the page of a road shows of the roads beside it."""
    others = (other for other in roads() if other.name in road.beside and other.shown)
    return [figure for other in others for figure in resolve(other.shown)(document)]


def platform_tables(document: Document) -> list[str]:
    """The constants of the runs, with their sources, as HTML. They come from the document, even if the
    platform files have changed. A note is shown if the page is drawn by other sources than those that
    measured.
    """
    from isthmus.results.context import sources_hash

    notes = []
    names = sorted({m.platform for m in document})
    missing = [name for name in names if name not in document.constants]
    if missing:
        notes.append(
            f"<p class='note'>{escape(', '.join(missing))}: {NOT_STORED}: the result was made before results "
            "held them. Measure again to see them.</p>"
        )
    if document.context.sources != sources_hash():
        notes.append(
            "<p class='note'>Measured by other sources than those that drew this page: figures are as "
            "measured, the words around them are today's.</p>"
        )
    return notes + [_platform(document.constants[name]) for name in names if name not in missing]


def _platform(platform: Constants) -> str:
    """Every constant with its source: the basis of the figures."""
    known = kinds()
    kind = known[platform.bus].profile_of if platform.bus in known else "profile"
    rows = [
        [
            one.part.replace("profile.", f"{kind}, ", 1) if one.part.startswith("profile.") else one.part,
            one.what,
            f"{one.value:g}",
            one.unit,
            one.source,
        ]
        for one in platform.constants
    ]
    table = _table(
        Table(["part", "constant", "value", "unit", "source"], rows),
        f"Constants of {platform.platform}",
        ("text", "text wide", "", "text", "text wide"),
    )
    return (
        f"<details><summary>Constants of {escape(platform.platform)} and their sources</summary>"
        f"<p>{escape(platform.title)}.</p>{table}</details>"
    )


def _footer(document: Document) -> str:
    context = document.context
    tools = ", ".join(f"{name} {version}" for name, version in context.tools.items())
    pairs = [
        ("Command", context.command),
        ("Seed", str(context.seed)),
        ("Commit", context.commit),
        ("Sources", f"sha256 {context.sources}"),
        ("Tools", tools),
        ("Models", ", ".join(context.models.values())),
        ("Run took", f"{context.wall_s:.1f} s"),
        ("Charts", "Apache ECharts 5.6.0, Apache License 2.0"),
    ]
    entries = "".join(f"<dt>{escape(k)}</dt><dd><code>{escape(v)}</code></dd>" for k, v in pairs if v)
    return f"<dl>{entries}</dl>"
