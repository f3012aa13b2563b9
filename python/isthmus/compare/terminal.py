# SPDX-License-Identifier: Apache-2.0
"""The first screen of `./isthmus compare`, at most 25 lines of 80 columns, and what `--details` adds."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from isthmus.compare.answer import SIZE, Answer, Row, Sweep, View, family_best
from isthmus.compare.cells import (
    FULL,
    HEADER,
    MOST_COLUMNS,
    P99,
    by_rate,
    cells,
    has_p99,
    size_cell,
    spread,
    vs_best,
)
from isthmus.results.model import PERCENTILES, needed
from isthmus.roads.table import road
from isthmus.units import digits, percent, time
from isthmus.workload import OPERATIONS, bytes_text, short_name, size_text

WIDTH = 80
LINES = 25
NOISE_NOTE = "* without operating-system noise; --noise FILE adds a measured histogram"
BAR = 20
FEWEST_COLUMNS = 4
"""Sizes that are shown beside each other even where names are cut."""


@dataclass(frozen=True)
class Files:
    """Where a run left what it made."""

    page: str
    table: str

    def lines(self, more: str) -> list[str]:
        """One line, or three where the names are long."""
        parts = (f"page {self.page}", f"table {self.table}", f"more: {more}")
        one = f" {'   '.join(parts)}"
        return [one] if len(one) <= WIDTH else [f" {part}" for part in parts]


def screen(answer: Answer, files: Files | None = None) -> str:
    """The first screen."""
    head = answer.sweeps[0]
    if answer.overview:
        body = _overview(answer)
    elif len(head.views) > 1:
        body = _sweep(answer, head)
    else:
        body = _single(answer, head)
    tail = _tail(answer, files)
    room = LINES - len(tail) - sum(len(block.lines) for block in body if not block.rows)
    lines: list[str] = []
    for block in body:
        lines += _fitted(block, room) if block.rows else block.lines
    return "\n".join(line.rstrip() for line in (*lines, *tail)) + "\n"


@dataclass(frozen=True)
class _Block:
    """Lines that belong together; of `rows` the last ones may be left out where there are too many."""

    lines: Sequence[str]
    rows: bool = False


def _fitted(block: _Block, room: int) -> list[str]:
    if len(block.lines) <= room:
        return list(block.lines)
    left = len(block.lines) - (room - 1)
    return [*block.lines[: room - 1], f" ... {left} slower rows: --details"]


def _tail(answer: Answer, files: Files | None) -> list[str]:
    starred = any(row.m.latency is not None for row in answer.rows)
    made = [""]
    if answer.noise:
        made.append(_cut(f" with operating-system noise of {answer.noise}"))
    elif starred:
        made.append(f" {NOISE_NOTE}")
    most = 1 if answer.overview else 3
    notes = [_filled(note) for note in answer.notes]
    made += [line for note in notes[:most] for line in note]
    if len(notes) > most:
        made.append(f" {len(notes) - most} more notes or warnings: --details")
    made.append(f" how far to trust it: ./isthmus verify{_trust(answer)}")
    if files is not None:
        whole = any(len(s.views) > 1 or OPERATIONS[s.operation].one_word for s in answer.sweeps)
        more = "--details" if whole else "--details, --size 8:4K"
        made += files.lines(more)
    return made


def _trust(answer: Answer) -> str:
    """The published system to look at: that of the best row, where there is one answer."""
    best = {view.best.m.road for view in answer.views}
    [name] = best if len(best) == 1 else [""]
    published = road(name).published if name else ""
    return f" {published}" if published else ""


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 3] + "..."


def _filled(text: str, indent: str = " ", first: str | None = None) -> list[str]:
    # A number and its unit stay on one line.
    kept = re.sub(r"(?<=\d) (?=(?:%|[pnum]?s|k?requests/s|[kMG]?B/s|bytes|[KM]iB|times)\b|%)", "\0", text)
    kept = kept.replace("n = ", "n\0=\0").replace("seed ", "seed\0")
    found = textwrap.wrap(
        kept,
        WIDTH,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return [line.replace("\0", " ") for line in found]


# One size.


def _single(answer: Answer, sweep: Sweep) -> list[_Block]:
    view = sweep.views[0]
    head, *rows = table(view, answer.star)
    return [
        _Block([*_filled(view.title, ""), "", head]),
        _Block(rows, rows=True),
        _Block(["", *_filled(view.decision), *_where(view), *_faster(view, sweep)]),
    ]


def table(view: View, star: str) -> list[str]:
    """Header and rows, as wide as they have to be, at most `WIDTH`."""
    header = tuple(f"{name}{star}" if name in ("p50", "p99") else name for name in HEADER)
    if not any(row.m.latency for row in view.rows):
        header = HEADER
    found = [header, *(cells(view, row) for row in view.rows)]
    left = {0, 1, 2, len(HEADER) - 1}
    if not has_p99(view):
        found, left = _without(found, left, P99)
    # Where there is no room, an interconnect that one platform has stands for both.
    names = {(row.interconnect, row.platform) for row in view.rows}
    if _width(found, 1) > WIDTH and len({name for name, _ in names}) == len(names):
        found, left = _without(found, left, 1)
    return _aligned(found, left, shrink=(1, 2))


def _without(
    rows: Sequence[tuple[str, ...]], left: set[int], column: int
) -> tuple[list[tuple[str, ...]], set[int]]:
    """Rows without a column, and where the other columns of `left` are then."""
    kept = [(*row[:column], *row[column + 1 :]) for row in rows]
    return kept, {one - (one > column) for one in left if one != column}


def _width(rows: Sequence[Sequence[str]], gap: int) -> int:
    """Of a line, with this many blanks between columns and one in front."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return 1 + sum(widths) + gap * (len(widths) - 1)


def _aligned(rows: Sequence[Sequence[str]], left: Iterable[int], shrink: Sequence[int]) -> list[str]:
    """Rows as text; where they are too wide, columns of `shrink` are cut, the first one first."""
    flush = set(left)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    gap = 2
    over = _width(rows, gap) - WIDTH
    if over > 0:
        gap = 1
        over -= len(widths) - 1
    for column in shrink:
        if over > 0:
            cut = min(over, widths[column] - 6)
            widths[column] -= max(0, cut)
            over -= max(0, cut)

    def cell(text: str, column: int) -> str:
        width = widths[column]
        short = text if len(text) <= width else text[: width - 1] + "~"
        return short.ljust(width) if column in flush else short.rjust(width)

    return [" " + (" " * gap).join(cell(text, n) for n, text in enumerate(row)) for row in rows]


def _where(view: View) -> list[str]:
    """Where the time of the best row goes: a bar for each place, in one or two lines."""
    parts = [part for part in view.where if part.ps]
    if not parts:
        return []
    total = view.total
    shown = [
        f"{part.name} {time(part.ps)} {'#' * max(1, round(BAR * part.ps / total))}".rstrip() for part in parts
    ]
    # It is the last of the series or runs behind it, and others had more company or other places in a block.
    alone = not view.best.by_rate and view.best.p50 is not None and time(view.best.p50) == time(total)
    lines = [f" {time(total)} =" if alone else f" one observed transfer, {time(total)} ="]
    for number, text in enumerate(shown):
        joint = " " if number == 0 else " | "
        if len(lines[-1]) + len(joint) + len(text) > WIDTH:
            lines.append("   |")
            joint = " "
        lines[-1] += joint + text
    return lines


def _faster(view: View, sweep: Sweep) -> list[str]:
    found = view.faster(sweep)
    return _filled(f"To get more: {'; '.join(found)}.", "   ", " ") if found else []


# Several sizes.


def _sweep(answer: Answer, sweep: Sweep) -> list[_Block]:
    head, *rows = _sizes_table(sweep)
    what = "MB/s" if by_rate(sweep) else f"p50{answer.star} in us"
    full = f"; {FULL}: saturated" if sweep.rate_per_s is not None else ""
    title = f"{sweep.subject}, {sweep.arrivals}: {what} by size in bytes{full}"
    chosen = sweep.at(SIZE)
    said = [f"{sweep.winners}.", f"At {bytes_text(chosen.case.bytes)}: {chosen.decision}"]
    lines = [line for text in said for line in _filled(text)]
    return [
        _Block([*_filled(title, ""), "", head]),
        _Block(rows, rows=True),
        _Block(["", *lines, *_where(chosen), *_faster(chosen, sweep)]),
    ]


def _sizes_table(sweep: Sweep) -> list[str]:
    """As many sizes as leave room for the names."""
    for most in range(MOST_COLUMNS, FEWEST_COLUMNS - 1, -1):
        rows = _by_size(sweep, spread(sweep.sizes, most, kept=sweep.at(SIZE).case.bytes))
        if _width(rows, 1) <= WIDTH:
            break
    return _aligned(rows, left={0, 1, 2}, shrink=(1, 2, 0))


def _by_size(sweep: Sweep, sizes: Sequence[int]) -> list[tuple[str, ...]]:
    chosen = sweep.at(SIZE)
    order = [row.key for row in chosen.rows]
    winners = {view.best.key for view in sweep.views}

    def place(key: tuple[str, ...]) -> float:
        """What is the best at another size, and not measured at this one, is behind the best of this one."""
        if key in order:
            return order.index(key)
        return 0.5 if key in winners else len(order)

    keys = sorted(sweep.lines, key=lambda key: (place(key), key))
    rows = [("interconnect", "platform", "driver", *(size_text(size) for size in sizes))]
    for key in keys:
        line = sweep.lines[key]
        by_size = {row.case.bytes: row for row in line}
        rows.append((*_named(line[0]), *(size_cell(by_size.get(size), sweep) for size in sizes)))
    return rows


def _named(row: Row) -> tuple[str, str, str]:
    return row.interconnect, row.platform, row.driver


# Several operations.

_OVERVIEW_SIZES = (8, SIZE, 4096)
_OVERVIEW_ROWS = 17
"""With the lines around them a screen; what is left out is on the page."""


def _overview(answer: Answer) -> list[_Block]:
    """The best way of each interconnect, operation by operation, under one head of columns."""
    first = answer.sweeps[0]
    what = "MB/s" if by_rate(first) else f"p50{answer.star} in us"
    sizes = sorted({size for sweep in answer.sweeps for size in sweep.sizes})
    columns = [size for size in _OVERVIEW_SIZES if size in sizes] or spread(sizes, 3)
    shown = {sweep.operation: sweep for sweep in answer.sweeps}
    others = [name for name in OPERATIONS if name not in shown]
    head = ("operation", "interconnect", "driver", *map(_column, columns), "ratio", "bounded by")
    rows = [head]
    ranked = {name: family_best(sweep.at(SIZE).rows) for name, sweep in shown.items()}
    for name, most in _shared(ranked, _OVERVIEW_ROWS - 2 * bool(others)).items():
        sweep = shown[name]
        view = sweep.at(SIZE)
        for number, row in enumerate(ranked[name][:most]):
            by_size = {one.case.bytes: one for one in sweep.line(row.key)}
            rows.append(
                (
                    short_name(name) if number == 0 else "",
                    row.interconnect,
                    row.driver,
                    *(size_cell(by_size.get(size), sweep) for size in columns),
                    vs_best(view, row),
                    row.bound,
                )
            )
    lines = _aligned(rows, {0, 1, 2, 4 + len(columns)}, (2, 1))
    more = _filled(f"not shown: {', '.join(others)} (--op NAME)") if others else []
    advice = "ask your own: ./isthmus compare --op read --size 2K --platform NAME,FILE.toml"
    title = f"Best interconnects, {first.arrivals}, {what}; ratio to the best, {SIZE} B"
    return [_Block([_cut(title), *lines, "", *more, *_filled(advice)])]


def _shared(ranked: Mapping[str, Sequence[Row]], room: int) -> dict[str, int]:
    """How many rows of each operation are shown: the best of all first, then the second ones, and so on."""
    shown = dict.fromkeys(ranked, 0)
    deepest = max(map(len, ranked.values()))
    for name in (name for rank in range(deepest) for name in ranked if len(ranked[name]) > rank):
        if sum(shown.values()) < room:
            shown[name] += 1
    return shown


def _column(size: int) -> str:
    return bytes_text(size).replace("bytes", "B")


# --details.


def details(answer: Answer) -> str:
    """What the first screen has no room for: all rows, percentiles, stages, notes, constants."""
    parts: list[str] = []
    for view in answer.views:
        parts += ["", *_filled(view.title, ""), *table(view, answer.star), *_distribution(view, answer.star)]
    for sweep in answer.sweeps:
        if len(sweep.views) > 1:
            parts += ["", f"{sweep.subject}: {sweep.winners}."]
            parts += [line for text in sweep.crossovers for line in _filled(text, "   ", "  ")]
    parts += _stages(answer)
    if answer.notes:
        parts += ["", *(line for note in answer.notes for line in _filled(note, "  ", ""))]
    parts += _constants(answer)
    return "\n".join(line.rstrip() for line in parts) + "\n"


def _distribution(view: View, star: str) -> list[str]:
    """Percentiles, a column for each that a row has."""
    timed = [row.m.latency for row in view.rows if row.m.latency]
    wanted = [key for key in PERCENTILES if key != "p50"]
    keys = [key for key in wanted if any(latency.percentiles[key] is not None for latency in timed)]
    rows: list[tuple[str, ...]] = [
        ("platform", "driver", "min", *(f"{key}{star}" for key in keys), "max", "n", "requests/s")
    ]
    for row in view.rows:
        latency = row.m.latency
        if latency is None:
            continue
        rows.append(
            (
                row.platform,
                row.driver,
                time(latency.min),
                *("" if latency.percentiles[key] is None else time(row.percentile(key) or 0) for key in keys),
                time(latency.max),
                str(latency.samples),
                "" if row.requests_per_s is None else digits(row.requests_per_s),
            )
        )
    if len(rows) == 1:
        return []
    blank = [key for key in wanted if any(latency.percentiles[key] is None for latency in timed)]
    needs = ", ".join(f"{key} needs -n {needed(PERCENTILES[key])}" for key in blank)
    why = _filled(f"blank or left out: {needs}", "    ", "  ") if blank else []
    return ["", *_aligned(rows, {0, 1}, (0, 1)), *why]


def _stages(answer: Answer) -> list[str]:
    """Every stage of one transfer: of each row of a single table, else of the best row of each operation at
    the size shown first."""
    made: list[str] = []
    rows = answer.rows if len(answer.views) == 1 else [sweep.at(SIZE).best for sweep in answer.sweeps]
    for row in rows:
        total = sum(stage.time for stage in row.m.stages)
        if not total:
            continue
        made += ["", *_filled(f"{row.case.title}: one transfer over {row.name}, {time(total)}", "")]
        made += [
            f"  {time(stage.time):>9}  {percent(stage.time / total):>7}  {stage.where:<10} {stage.name}"
            for stage in row.m.stages
        ]
    return made


def _constants(answer: Answer) -> list[str]:
    """Every constant of every platform, with its source."""
    found = {row.m.platform: row.m.constants for row in answer.rows}
    made: list[str] = []
    for name, given in sorted(found.items()):
        if given is None:
            continue
        made += ["", *_filled(f"Constants of {name}: {given.title}", "  ", "")]
        for one in given.constants:
            unit = "" if one.unit == "1" else f" {one.unit}"
            made += _filled(f"{one.part}.{one.name} = {one.value:g}{unit}  ({one.source})", "      ", "  ")
    return made
