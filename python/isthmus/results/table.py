# SPDX-License-Identifier: Apache-2.0
"""Text tables: perftest's columns, and plain aligned columns for everything else."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from isthmus.results.model import DEFINITIONS, PERCENTILES, Latency, Measurement

_HEADER = (
    "#bytes",
    "#iterations",
    "t_min[usec]",
    "t_max[usec]",
    "t_typical[usec]",
    "t_avg[usec]",
    "t_stdev[usec]",
    *PERCENTILES,
    "workload",
)


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
    beyond it is blank.
    """
    parts = []
    for key, group in groupby(results, lambda m: (m.road, m.platform, m.profile, m.method)):
        members = list(group)
        first = members[0]
        parts.append(
            f"# {' / '.join(key)}: {DEFINITIONS[first.definition]}, {first.arrivals}, seed {first.seed}\n"
        )
        rows: list[Sequence[str]] = [_HEADER]
        rows += [_row(m, m.latency) for m in members if m.latency is not None]
        parts.append(aligned(rows))
        parts.append("\n")
    return "".join(parts)


def _row(m: Measurement, latency: Latency) -> Sequence[str]:
    values = [latency.min, latency.max, latency.typical, latency.avg, latency.stdev]
    return (
        str(m.payload_bytes),
        str(m.iterations),
        *(f"{value / 1e6:.3f}" for value in values),
        *("" if v is None else f"{v / 1e6:.3f}" for v in latency.percentiles.values()),
        m.name,
    )
