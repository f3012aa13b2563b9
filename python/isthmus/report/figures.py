# SPDX-License-Identifier: Apache-2.0
"""Building blocks of figures: ECharts options as plain data, and each figure's table.

A figure has one definition of its vertical axis; series of another definition are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import Any, Literal

from isthmus.results import DEFINITIONS, Latency, Measurement, ResultError
from isthmus.units import digits


@dataclass(frozen=True)
class Table:
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Panel:
    """One chart: `label` is read out in its place by a screen reader."""

    title: str
    label: str
    option: Mapping[str, Any]
    height: int = 360


COLOURS = tuple(f"c{number}{style}" for style in ("", "-2", "-3") for number in range(1, 7))
"""Six colours of page.css, then the same in a second and a third style: dashed and dotted, or hatched."""


@dataclass(frozen=True)
class Swatch:
    """One entry of a legend: a line (solid or dashed), a filled box, or a diamond; `colour` as `COLOURS`."""

    name: str
    colour: str
    kind: Literal["solid", "dashed", "box", "diamond"]


@dataclass(frozen=True)
class Figure:
    id: str
    title: str
    caption: str
    panels: Sequence[Panel]
    table: Table
    legend: Sequence[Swatch]
    notes: Sequence[str] = field(default_factory=tuple)


def one_definition(members: Sequence[Measurement], figure: str) -> str:
    """The latency definition that all share. Raises `ResultError` where they differ."""
    found = sorted({m.definition for m in members})
    if len(found) != 1:
        names = " and ".join(DEFINITIONS[name] for name in found)
        raise ResultError(f"figure {figure}: {names} cannot share one axis; draw them apart")
    return DEFINITIONS[found[0]]


def decades(values: Iterable[float | None]) -> Mapping[str, float]:
    """Whole decades around the values: the panels of a figure share them, so that they compare."""
    found = [value for value in values if value]
    if not found:
        return {}
    low, high = floor(log10(min(found))), ceil(log10(max(found)))
    return {"min": 10.0**low, "max": 10.0 ** max(high, low + 1)}


def curve(name: str, colour: str, points: Iterable[Sequence[float]]) -> dict[str, Any]:
    """A series of a chart: a line through these points, from left to right."""
    return {
        "type": "line", "name": name, "colour": colour, "symbol": "circle", "symbolSize": 7,
        "data": sorted(points),
    }  # fmt: skip


def byte_axis(name: str, sizes: Sequence[int]) -> dict[str, Any]:
    """A logarithmic axis over these sizes, with labels in bytes, KiB and MiB."""
    low, high = min(sizes), max(sizes)
    # ECharts marks powers of the base, or every tenth of them: ten at most may lie between the ends.
    base = 2 if high < 512 * low else 8
    return {
        "type": "log", "logBase": base, "min": low, "max": max(high, 2 * low), "bytes": True,
        "name": name, "nameLocation": "middle",
    }  # fmt: skip


TAIL = ("p50", "p99", "p99.9")
"""The percentiles that tables of other roads have."""
BEYOND_NOTE = "A percentile needs ten samples beyond it; a cell without one says how many runs would show it."


def percentile_cell(latency: Latency, key: str, decimals: int | None = None) -> str:
    """A percentile in microseconds, with four digits or the given decimals; or why it is blank."""
    value = latency.percentiles[key]
    if value is None:
        return latency.why_blank(key)
    return number(value / 1e6) if decimals is None else f"{value / 1e6:.{decimals}f}"


def number(value: float | None) -> str:
    """Four digits, or nothing."""
    return "" if value is None else digits(value, 4)
