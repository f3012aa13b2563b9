# SPDX-License-Identifier: Apache-2.0
"""The table of results: one line a measurement, the same columns first on every road, each road's own behind.

An absent number is an empty field. Times are microseconds, MB are 10^6 bytes.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.errors import UserError
from isthmus.results.model import PERCENTILES, Latency, Measurement
from isthmus.roads.table import resolve, road, roads

Cell = str | int | float | None


@dataclass(frozen=True)
class Column:
    """One column: its name with its unit, its meaning, and its value from a measurement."""

    name: str
    what: str
    get: Callable[[Measurement], Cell]


def keyed(key: str) -> Callable[[Measurement], Cell]:
    """The value of a key of the workload, if it has that."""

    def get(m: Measurement) -> Cell:
        value: Cell = m.workload.get(key)
        return value

    return get


FULL = 0.9
"""A resource that is busy for this share of the time bounds a run."""


def bounded_by(m: Measurement) -> str:
    """The bottleneck: with one request in flight, the place that takes most of its time; else the resource
    that is busy, or its latency. Empty if unknown."""
    window, rate = core(m, "window"), core(m, "rate_per_s")
    if window in (None, 1) and rate is None:
        places: dict[str, int] = {}
        for stage in m.stages:
            places[stage.where] = places.get(stage.where, 0) + stage.time
        if not places:
            return ""
        most = max(places, key=lambda place: places[place])
        return f"{most} {100 * places[most] / sum(places.values()):.0f} %"
    busy: Mapping[str, float] = m.workload.get("busy") or {}
    if not busy:
        return ""
    most = max(busy, key=lambda name: busy[name])
    return f"{most} busy {100 * busy[most]:.0f} %" if busy[most] >= FULL else "latency"


def core(m: Measurement, name: str) -> Any:
    """A field of the common workload: from the engine, or from the road for its own workloads."""
    found = m.workload.get(name)
    if found is not None or "operation" in m.workload:
        # A measurement of the common workload has all fields: a null there is meant.
        return found
    derive = road(m.road).core
    return resolve(derive)(m).get(name) if derive else None


def _core(name: str) -> Callable[[Measurement], Cell]:
    def get(m: Measurement) -> Cell:
        found = core(m, name)
        return found if isinstance(found, str | int | float) else None

    return get


def _us(get: Callable[[Latency], float | None]) -> Callable[[Measurement], Cell]:
    def cell(m: Measurement) -> Cell:
        found = None if m.latency is None else get(m.latency)
        return None if found is None else microseconds(found)

    return cell


def microseconds(ps: float | None) -> Cell:
    """Picoseconds as a cell."""
    return None if ps is None else round(ps / 1e6, 6)


def _percentile(key: str) -> Callable[[Measurement], Cell]:
    return _us(lambda latency: latency.percentiles[key])


def _mb(m: Measurement) -> Cell:
    return round(m.throughput.payload_bit_s / 8e6, 6) if m.throughput else None


def _wire(m: Measurement) -> Cell:
    wire = m.throughput.wire_bit_s if m.throughput else None
    return None if wire is None else round(wire / 8e6, 6)


def _requests(m: Measurement) -> Cell:
    return round(m.throughput.cycles_per_s, 3) if m.throughput else None


COMMON: Sequence[Column] = (
    Column("road", "the road", lambda m: m.road),
    Column("platform", "the platform", lambda m: m.platform),
    Column("profile", "as-published or isthmus", lambda m: m.profile),
    Column("driver", "how a program uses the bus", _core("driver")),
    Column("method", "how requests are made, in the road's words", lambda m: m.method),
    Column("operation", "what is transferred, and which side starts it", _core("operation")),
    Column("bytes", "of one request", _core("bytes")),
    Column("window", "requests in flight", _core("window")),
    Column("rate_per_s", "requests a second that were asked for", _core("rate_per_s")),
    Column("n", "samples of the latency", lambda m: m.latency.samples if m.latency else m.iterations),
    Column("min_us", "shortest", _us(lambda t: t.min)),
    Column("p50_us", "median", _percentile("p50")),
    Column("p90_us", "90 % are not longer", _percentile("p90")),
    Column("p99_us", "99 % are not longer", _percentile("p99")),
    Column("mean_us", "mean", _us(lambda t: t.avg)),
    Column("payload_MB_per_s", "what the program asked for", _mb),
    Column("requests_per_s", "requests that ended in a second", _requests),
    Column("bounded_by", "the place or resource that bounds it", bounded_by),
)
"""First in every table."""

MORE: Sequence[Column] = (
    Column("max_us", "longest", _us(lambda t: t.max)),
    Column("stdev_us", "standard deviation", _us(lambda t: t.stdev)),
    *(
        Column(f"{key.replace('.', '_')}_us", f"{key[1:]} % are not longer", _percentile(key))
        for key in PERCENTILES
        if "." in key
    ),
    Column("wire_MB_per_s", "payload with framing, where something counts it", _wire),
    Column(
        "os_noise",
        "whether operating-system noise from a histogram is in the latencies",
        lambda m: "yes" if m.workload.get("noise") else "no",
    ),
    Column("definition", "what a latency is", lambda m: m.definition),
    Column("arrivals", "how requests come", lambda m: m.arrivals),
    Column("iterations", "requests that count", lambda m: m.iterations),
    Column("excluded_head", "requests left out before", lambda m: m.excluded_head),
    Column("excluded_tail", "requests left out after", lambda m: m.excluded_tail),
    Column("seed", "random seed", lambda m: m.seed),
    Column("blank_percentiles", "why a percentile is an empty field", lambda m: why_blank(m.latency)),
    Column("id", "the measurement in the result file", lambda m: m.id),
)
"""Behind those, on every road too."""


def own(name: str) -> Sequence[Column]:
    """The columns of one road alone, their names beginning with the road's."""
    found = road(name)
    if not found.columns:
        return ()
    return [Column(f"{name}_{one.name}", one.what, one.get) for one in resolve(found.columns)]


def columns(present: Iterable[str]) -> list[Column]:
    """The columns of a table of these roads."""
    wanted = set(present)
    made = [*COMMON, *MORE]
    for each in roads():
        if each.name in wanted:
            made += own(each.name)
    return made


def by_column(results: Iterable[Measurement]) -> dict[str, list[Cell]]:
    """The table of results by column. An empty cell is None."""
    rows = list(results)
    owners = {each.name: {one.name for one in own(each.name)} for each in roads()}
    found: dict[str, list[Cell]] = {}
    for column in columns(m.road for m in rows):
        owner = next((name for name, names in owners.items() if column.name in names), None)
        found[column.name] = [column.get(m) if owner in (None, m.road) else None for m in rows]
    return found


def to_csv(results: Iterable[Measurement]) -> str:
    """The table as CSV."""
    found = by_column(results)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(found)
    writer.writerows(zip(*(map(_text, cells) for cells in found.values()), strict=True))
    return out.getvalue()


def to_parquet(results: Iterable[Measurement], path: Path) -> None:
    """The table as a Parquet file. Raises `UserError` where the package for it is missing."""
    try:
        import pyarrow  # type: ignore[import-not-found,unused-ignore]
        from pyarrow import parquet
    except ImportError:
        raise UserError(
            "parquet: needs the package pyarrow: pip install pyarrow, or isthmus[parquet]"
        ) from None
    sink = io.BytesIO()
    parquet.write_table(pyarrow.table(by_column(results)), sink)
    from isthmus.storage import store

    store(path, sink.getvalue())


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    # No exponent, which some readers treat as text.
    return f"{cell:.6f}".rstrip("0").rstrip(".") if isinstance(cell, float) else str(cell)


def why_blank(latency: Latency | None) -> str:
    """Why percentiles are empty fields, in one field."""
    if latency is None:
        return ""
    reasons = ((key, latency.why_blank(key)) for key in PERCENTILES)
    return "; ".join(f"{key}: {reason}" for key, reason in reasons if reason)
