# SPDX-License-Identifier: Apache-2.0
"""What stands in the cells of tables: one place for terminal and page."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.compare.answer import Case, Row, Sweep, View
from isthmus.units import digits, time

MOST_COLUMNS = 6
"""Sizes beside each other."""
HEADER = ("interconnect", "platform", "driver", "p50", "p99", "MB/s", "vs best", "bounded by")


def cells(view: View, row: Row) -> tuple[str, ...]:
    """A row as the first screen and the page show it, in the order of `HEADER`."""
    ratio = view.ratio(row)
    return (
        row.interconnect,
        row.platform,
        row.driver,
        _time(row.p50, row),
        _p99(row),
        "" if row.bytes_per_s is None else digits(row.bytes_per_s / 1e6),
        "" if ratio is None or ratio == float("inf") else digits(ratio, 2 if ratio < 10 else 3),
        row.bound,
    )


def _time(ps: float | None, row: Row) -> str:
    if row.saturated:
        return "saturated"
    return "" if ps is None else time(ps)


def _p99(row: Row) -> str:
    if row.saturated or row.m.latency is None:
        return ""
    return "n too small" if row.p99 is None else time(row.p99)


def by_rate(sweep: Sweep) -> bool:
    """Whether a sweep shows rates: several requests in flight."""
    return (sweep.window or 1) > 1


def spread(sizes: Sequence[int], most: int = MOST_COLUMNS) -> list[int]:
    """Some of the sizes, evenly, the first and the last among them."""
    if len(sizes) <= most:
        return list(sizes)
    step = (len(sizes) - 1) / (most - 1)
    return [sizes[round(step * n)] for n in range(most)]


def size_cell(row: Row | None, sweep: Sweep) -> str:
    """One size of one way: its median, or its rate with several in flight."""
    if row is None:
        return "-"
    if by_rate(sweep):
        return "" if row.bytes_per_s is None else digits(row.bytes_per_s / 1e6)
    return _time(row.p50, row)


def case_key(case: Case) -> str:
    """A name of a case for the page's elements."""
    arrivals = f"r{case.rate_per_s:g}" if case.rate_per_s is not None else f"w{case.window}"
    return f"{case.operation}-{case.bytes}-{arrivals}"
