# SPDX-License-Identifier: Apache-2.0
"""The measurements of a run as typed values. Times are picoseconds unless a name says otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Literal

from isthmus.errors import UserError
from isthmus.results.constants import Constants

SCHEMA = "isthmus.result/1"

Definition = Literal["one_way", "rtt", "half_round_trip", "per_transfer", "whole_call", "stage"]
DEFINITIONS: Mapping[str, str] = {
    "one_way": "one-way",
    "rtt": "round trip",
    "half_round_trip": "half a round trip",
    "per_transfer": "from one transfer to the next",
    "whole_call": "the whole call",
    "stage": "one stage",
}
"""The meaning of a latency, as shown to users."""

PERCENTILES: Mapping[str, float] = {
    "p50": 50.0,
    "p90": 90.0,
    "p99": 99.0,
    "p99.9": 99.9,
    "p99.99": 99.99,
}
BEYOND = 10
"""A percentile is shown only where at least this many samples lie beyond it."""
NO_NOISE = "no OS noise"
"""Part of every percentile's column name: hardware and software paths are modelled, an operating system's
noise is not."""


def percentile_name(key: str) -> str:
    """A percentile as columns call it, on every road."""
    return f"{key} ({NO_NOISE})"


def needed(percentile: float) -> int:
    """The fewest samples that show a percentile."""
    return ceil(BEYOND * 100.0 / (100.0 - percentile) - 1e-9)


class ResultError(UserError):
    """A result document that cannot be used; the text says what and where."""


@dataclass(frozen=True)
class Latency:
    """The distribution of one measurement. A percentile with too few samples beyond it is None."""

    min: int
    max: int
    typical: float
    avg: float
    stdev: float
    percentiles: Mapping[str, float | None]
    samples: int = 0

    def why_blank(self, key: str) -> str:
        """Why a percentile is not shown, and what would show it; empty where it is."""
        if self.percentiles[key] is not None:
            return ""
        least = needed(PERCENTILES[key])
        return f"n={self.samples}, needs {least}: -n {least}"


@dataclass(frozen=True)
class Windows:
    """The time windows of the Etherbone report (see docs/explanation/honest-numbers.md)."""

    realistic: int | None
    underestimated: int | None
    inside_cycle_per_timestamp: float | None


@dataclass(frozen=True)
class Throughput:
    """Rates over the measured span. Payload is the data the user wanted; wire is every byte towards the
    host with preamble, headers, padding, FCS and the shortest gap, None where nothing counts them."""

    payload_bytes: int
    wire_bytes: int | None
    elapsed: int
    payload_bit_s: float
    wire_bit_s: float | None
    cycles_per_s: float
    timestamps_per_s: float | None


@dataclass(frozen=True)
class Stage:
    name: str
    where: str
    time: int


@dataclass(frozen=True)
class Span:
    track: str
    name: str
    start: int
    end: int
    tag: int


@dataclass(frozen=True)
class Checked:
    """Every byte that came back was compared."""

    bytes: int
    wrong: int
    lost: int


@dataclass(frozen=True)
class Measurement:
    """One workload over one road with one method."""

    id: str
    road: str
    platform: str
    profile: str
    method: str
    workload: Mapping[str, Any]
    definition: Definition
    arrivals: str
    seed: int
    iterations: int
    excluded_head: int
    excluded_tail: int
    latency: Latency | None
    windows: Windows
    throughput: Throughput | None
    stages: tuple[Stage, ...]
    timeline: tuple[Span, ...]
    checked: Checked
    counters: Mapping[str, int]
    evaluated_cycles: int
    device_cycles: int
    wall_s: float
    constants: Constants | None = None
    """The constants of the run; None if the document has none."""

    @property
    def name(self) -> str:
        """The workload's short name, the last part of the id: ts8, max8, words64, tlu, path16."""
        return self.id.rpartition("/")[2]

    @property
    def timestamps(self) -> int:
        """Timestamps in one cycle; 0 for a workload that counts otherwise."""
        return int(self.workload.get("timestamps_per_cycle", 0))

    @property
    def operations(self) -> int:
        """Wishbone operations that the user asked for in one cycle; 0 where there are no cycles."""
        return int(self.workload.get("operations_per_cycle", 0))

    @property
    def payload_bytes(self) -> int:
        """Bytes of 32-bit words that one cycle reads or writes for the user."""
        return 4 * self.operations

    @property
    def time_per_timestamp(self) -> float | None:
        """Average time until the next timestamp is in the user's memory, over the whole run."""
        rate = self.throughput.timestamps_per_s if self.throughput else None
        return 1e12 / rate if rate else None

    @property
    def time_per_cycle(self) -> float | None:
        rate = self.throughput.cycles_per_s if self.throughput else None
        return 1e12 / rate if rate else None


@dataclass(frozen=True)
class Context:
    """All that is needed to run it again."""

    commit: str
    sources: str
    command: str
    seed: int
    tools: Mapping[str, str] = field(default_factory=dict)
    created: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    wall_s: float = 0.0


@dataclass(frozen=True)
class Document:
    """A result file. `raw` is the document as it was read or made: writing loses no field."""

    context: Context
    results: tuple[Measurement, ...]
    raw: Mapping[str, Any]
    constants: Mapping[str, Constants] = field(default_factory=dict)
    """Constants of each platform; empty if the document has none."""

    def __iter__(self) -> Iterator[Measurement]:
        return iter(self.results)

    def by_id(self, wanted: str) -> Measurement | None:
        return next((m for m in self.results if m.id == wanted), None)


def measurement(data: Mapping[str, Any], where: str = "result") -> Measurement:
    """A measurement from the engine's JSON. Unknown fields are ignored; a missing one is an error."""
    name = data.get("id", where)
    try:
        made = _measurement(data)
    except (KeyError, TypeError, ValueError, AttributeError) as err:
        raise ResultError(f"{name}: not a measurement of {SCHEMA}: {err!r}") from err
    total = data.get("stages_total_ps")
    if made.stages and total != sum(stage.time for stage in made.stages):
        raise ResultError(
            f"{name}: its stages add up to {sum(s.time for s in made.stages)} ps, but it took {total} ps"
        )
    return made


def _measurement(data: Mapping[str, Any]) -> Measurement:
    definition = data["definition"]
    if definition not in DEFINITIONS:
        raise ValueError(f"definition {definition!r} is not one of {', '.join(DEFINITIONS)}")
    windows = data.get("windows_ps") or {}
    excluded = data.get("excluded") or {}
    simulation = data.get("simulation") or {}
    checked = data["checked"]
    return Measurement(
        id=data["id"],
        road=data["road"],
        platform=data["platform"],
        profile=data["profile"],
        method=data["method"],
        workload=dict(data["workload"]),
        definition=definition,
        arrivals=data["arrivals"],
        seed=int(data["seed"]),
        iterations=int(data["iterations"]),
        excluded_head=int(excluded.get("head", 0)),
        excluded_tail=int(excluded.get("tail", 0)),
        latency=_latency(data),
        windows=Windows(
            windows.get("realistic"),
            windows.get("underestimated"),
            windows.get("inside_cycle_per_timestamp"),
        ),
        throughput=_throughput(data["throughput"]),
        stages=tuple(
            Stage(stage["name"], stage["where"], int(stage["ps"])) for stage in data.get("stages", ())
        ),
        timeline=tuple(
            Span(
                span["track"],
                span["name"],
                int(span["start_ps"]),
                int(span["end_ps"]),
                int(span.get("tag", 0)),
            )
            for span in data.get("timeline", ())
        ),
        checked=Checked(int(checked["bytes"]), int(checked["wrong"]), int(checked["lost"])),
        counters={key: int(value) for key, value in (data.get("counters") or {}).items()},
        evaluated_cycles=int(simulation.get("evaluated_cycles", 0)),
        device_cycles=int(simulation.get("device_cycles", 0)),
        wall_s=float(simulation.get("wall_s", 0.0)),
    )


def _latency(data: Mapping[str, Any]) -> Latency | None:
    found = data["latency_ps"]
    if found is None:
        return None
    samples = _samples(data)
    return Latency(
        min=int(found["min"]),
        max=int(found["max"]),
        typical=float(found["typical"]),
        avg=float(found["avg"]),
        stdev=float(found["stdev"]),
        percentiles={
            key: found.get(key) if enough(samples, share) else None for key, share in PERCENTILES.items()
        },
        samples=samples,
    )


def _throughput(found: Mapping[str, Any] | None) -> Throughput | None:
    if found is None:
        return None
    timestamps = found.get("timestamps_per_s")
    return Throughput(
        payload_bytes=int(found["payload_bytes"]),
        wire_bytes=None if found["wire_bytes"] is None else int(found["wire_bytes"]),
        elapsed=int(found["elapsed_ps"]),
        payload_bit_s=float(found["payload_bit_s"]),
        wire_bit_s=None if found["wire_bit_s"] is None else float(found["wire_bit_s"]),
        cycles_per_s=float(found["cycles_per_s"]),
        timestamps_per_s=None if timestamps is None else float(timestamps),
    )


def _samples(data: Mapping[str, Any]) -> int:
    """How many latencies the distribution holds: a convenience cycle has several, one an operation."""
    buckets = (data.get("histogram") or {}).get("buckets") or ()
    counted = sum(int(count) for _, count in buckets)
    return counted or int(data["iterations"])


def enough(samples: int, percentile: float) -> bool:
    """Whether at least `BEYOND` of the samples lie beyond the percentile."""
    return samples * (100.0 - percentile) >= BEYOND * 100.0 - 1e-9
