# SPDX-License-Identifier: Apache-2.0
"""The contents of table cells: one place for terminal and page."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.compare.answer import Case, Row, Sweep, View
from isthmus.results.model import PERCENTILES, needed
from isthmus.units import digits, time

MOST_COLUMNS = 7
"""Sizes beside each other."""
FULL = "full"
"""A rate that is not carried, where there is no room for more."""
HEADER = ("interconnect", "platform", "driver", "p50", "p99", "MB/s", "ratio", "bounded by")

P99 = HEADER.index("p99")


def has_p99(view: View) -> bool:
    """Whether any row was measured often enough for one."""
    return any(row.p99 is not None and not row.saturated for row in view.rows)


def cells(view: View, row: Row) -> tuple[str, ...]:
    """A row as the first screen and the page show it, in the order of `HEADER`."""
    return (
        row.interconnect,
        row.platform,
        row.driver,
        _time(row.p50, row),
        _p99(row),
        "-" if row.bytes_per_s is None else digits(row.bytes_per_s / 1e6),
        vs_best(view, row),
        row.bound,
    )


def vs_best(view: View, row: Row) -> str:
    """How many times the best one's cost; empty where the two cannot be compared."""
    ratio = view.ratio(row)
    return "" if ratio is None or ratio == float("inf") else digits(ratio, 2 if ratio < 10 else 3)


def _time(ps: float | None, row: Row) -> str:
    if row.saturated:
        return "saturated"
    return "" if ps is None else time(ps)


def _p99(row: Row) -> str:
    if row.saturated or row.m.latency is None:
        return ""
    if row.p99 is None or row.p50 is None:
        return f"n < {needed(PERCENTILES['p99'])}"
    value, _, unit = time(row.p99).partition(" ")
    # The median beside it has the unit, where it is the same.
    return value if time(row.p50).endswith(f" {unit}") else f"{value} {unit}"


def by_rate(sweep: Sweep) -> bool:
    """Whether a sweep shows rates: several requests in flight."""
    return (sweep.window or 1) > 1


def spread(sizes: Sequence[int], most: int = MOST_COLUMNS, kept: int | None = None) -> list[int]:
    """Some of the sizes, evenly, the first and the last among them, and `kept` in place of its neighbour."""
    if len(sizes) <= most:
        return list(sizes)
    step = (len(sizes) - 1) / (most - 1)
    found = [sizes[round(step * n)] for n in range(most)]
    if kept is not None and kept in sizes and kept not in found:
        near = [abs(size - kept) for size in found[1:-1]]
        found[1 + near.index(min(near))] = kept
    return sorted(found)


def size_cell(row: Row | None, sweep: Sweep) -> str:
    """One size of one way: its median in us, or its rate in MB/s with several in flight."""
    if row is None:
        return "-"
    if row.saturated:
        return FULL
    if by_rate(sweep):
        return "" if row.bytes_per_s is None else digits(row.bytes_per_s / 1e6)
    return "" if row.p50 is None else digits(row.p50 / 1e6)


def case_key(case: Case) -> str:
    """A name of a case for the page's elements."""
    arrivals = f"r{case.rate_per_s:g}" if case.rate_per_s is not None else f"w{case.window}"
    return f"{case.operation}-{case.bytes}-{arrivals}"
