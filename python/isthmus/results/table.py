# SPDX-License-Identifier: Apache-2.0
"""Text tables: perftest's columns, and plain aligned columns for everything else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from isthmus.results.model import DEFINITIONS, PERCENTILES, Latency, Measurement, percentile_name

_HEADER = (
    "#bytes",
    "#iterations",
    "t_min[usec]",
    "t_max[usec]",
    "t_typical[usec]",
    "t_avg[usec]",
    "t_stdev[usec]",
)


def shown_percentiles(
    latencies: Iterable[Latency], keys: Iterable[str] = PERCENTILES
) -> tuple[list[str], str]:
    """The percentiles that have a number in some row, which are the columns of a table; and a line of
    comment that says why the others, and single cells, are blank."""
    rows, wanted = list(latencies), list(keys)
    shown = [key for key in wanted if any(row.percentiles[key] is not None for row in rows)]
    reasons: dict[str, list[str]] = {}
    for key in wanted:
        missing = [row for row in rows if row.percentiles[key] is None]
        if missing:
            reason = min(missing, key=lambda row: row.samples).why_blank(key)
            reasons.setdefault(reason, []).append(key)
    blanks = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
    return shown, f"# blank: {blanks}\n" if blanks else ""


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> str:
    """Columns of equal width, those of `left` flush left; no blanks at the end of a line."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"


def latency_table(results: Iterable[Measurement]) -> str:
    """A table for each platform, profile and method, in perftest's order of columns.

    #bytes is what one Etherbone cycle reads or writes for the user. A percentile with fewer than ten samples
    beyond it is blank; a line below says how many it needs.
    """
    parts = []
    for key, group in groupby(results, lambda m: (m.road, m.platform, m.profile, m.method)):
        members = list(group)
        first = members[0]
        parts.append(
            f"# {' / '.join(key)}: {DEFINITIONS[first.definition]}, {first.arrivals}, seed {first.seed}\n"
        )
        timed = [(m, m.latency) for m in members if m.latency is not None]
        shown, blanks = shown_percentiles(latency for _, latency in timed)
        rows: list[Sequence[str]] = [(*_HEADER, *map(percentile_name, shown), "workload")]
        rows += [_row(m, latency, shown) for m, latency in timed]
        parts.append(aligned(rows))
        parts.append(blanks)
        parts.append("\n")
    return "".join(parts)


def stages_line(m: Measurement) -> str:
    """Where the time of one transfer that ran alone goes, as a line of comment; empty where nothing says."""
    if not m.stages:
        return ""
    ways = ", ".join(f"{s.where} {s.name} {s.time / 1e3:.1f}" for s in m.stages)
    total = sum(s.time for s in m.stages) / 1e3
    return f"# {m.workload['bytes']} bytes alone, in ns: {ways}; together {total:.1f}\n"


def _row(m: Measurement, latency: Latency, shown: Iterable[str]) -> Sequence[str]:
    percentiles = [latency.percentiles[key] for key in shown]
    values = [latency.min, latency.max, latency.typical, latency.avg, latency.stdev]
    return (
        str(m.payload_bytes),
        str(m.iterations),
        *(f"{value / 1e6:.3f}" for value in values),
        *("" if v is None else f"{v / 1e6:.3f}" for v in percentiles),
        m.name,
    )
