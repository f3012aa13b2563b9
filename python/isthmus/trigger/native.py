# SPDX-License-Identifier: Apache-2.0
"""Typed access to the trigger's part of `isthmus._native`. Its errors become `UserError`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from isthmus import native
from isthmus.errors import UserError


class _Module(Protocol):
    """What `isthmus._native` holds of the trigger."""

    ScenarioError: type[Exception]

    def trigger_events(self, sample: str, seed: int, count: int, rate_hz: float) -> tuple[bytes, bytes]: ...

    def trigger_find(
        self, events: bytes, truths: bytes | None, finder: str, level: str | None, passes: int
    ) -> str: ...

    def trigger_bench(
        self, sample: str, seed: int, count: int, passes: int, progress: Callable[[int, int], None]
    ) -> str: ...

    def trigger_times(
        self, sample: str, seed: int, sizes: list[int], samples: int, progress: Callable[[int, int], None]
    ) -> str: ...

    def trigger_circles(self, records: bytes, single: bool, level: str | None) -> bytes: ...

    def trigger_gpu_tables(self) -> bytes: ...

    def trigger_gpu_name(self, library: str) -> str: ...

    def trigger_gpu_events(
        self,
        library: str,
        cubin: bytes,
        sample: str,
        seed: int,
        count: int,
        rate_hz: float,
        together: int,
    ) -> tuple[bytes, bytes]: ...

    def trigger_gpu_run(
        self,
        library: str,
        cubin: bytes,
        file: bytes,
        method: str,
        batch: int,
        rate_hz: float,
        events: int,
        blocks: int,
        lines: int,
        watchdog_s: float,
        progress: Callable[[int, int], None],
    ) -> str: ...

    def trigger_send(
        self, address: str, records: bytes, rate_hz: float, tick: Callable[[int, int], None]
    ) -> str: ...

    def trigger_serve(self, address: str, tick: Callable[[str, str], None]) -> str: ...


@dataclass(frozen=True)
class Quality:
    """Of a finder; shares are of true rings or of events."""

    events: int
    efficiency: tuple[float | None, float | None, float | None]
    """In events of 1, 2 and 3 rings; None where there was no such event."""
    multiplicity: tuple[float | None, float | None, float | None, float | None]
    """Share of events of 0 to 3 rings with the right number."""
    confusion: tuple[tuple[int, ...], ...]
    fakes: float
    """An event."""
    radius_mm: tuple[float, float]
    """Root mean square of the error, and half the width of 68 %."""
    centre_mm: tuple[float, float]

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Quality:
        values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in found.items()}
        values["confusion"] = tuple(tuple(row) for row in found["confusion"])
        return cls(**values)


@dataclass(frozen=True)
class Row:
    """One finder with one instruction set."""

    finder: str
    level: str
    per_second: float
    sixteen_us: tuple[float, float]
    """Time of sixteen events that come together: median and shortest."""
    quality: Quality | None

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Row:
        quality = None if found["quality"] is None else Quality.of(found["quality"])
        return cls(found["finder"], found["level"], found["per_second"], tuple(found["sixteen_us"]), quality)


@dataclass(frozen=True)
class Found:
    """What a finder made of a file of events."""

    sample: str
    seed: int
    events: int
    hits: float
    found: tuple[int, int, int, int]
    row: Row


Circle = tuple[float, float, float, bool]


@dataclass(frozen=True)
class Display:
    """An event to look at, mm."""

    event: int
    hits: tuple[tuple[float, float, int], ...]
    """x, y, and a bit for each ring that the hit belongs to."""
    truth: tuple[Circle, ...]
    """x, y, r, and whether it was found."""
    found: tuple[Circle, ...]
    """x, y, r, and whether it is a true one."""


@dataclass(frozen=True)
class Times:
    """Times of one kind, ns."""

    samples: int
    mean: float
    percentiles: tuple[float | None, float | None, float | None, float | None]
    """Median, 99 %, 99.9 %, 99.99 %; None with fewer than ten samples beyond."""
    most: float
    buckets: tuple[tuple[int, int], ...]
    """Highest time of a bucket in ns, and samples in it."""

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Times:
        buckets = tuple((ns, count) for ns, count in found["buckets"])
        return cls(**{**found, "percentiles": tuple(found["percentiles"]), "buckets": buckets})


@dataclass(frozen=True)
class Way:
    """A processor that finds the rings of batches: a core, or a GPU and how events reach it."""

    name: str
    batch: int
    """Events of the batches of `first` and `last`."""
    rate_hz: float
    """Of these, events a second that are due."""
    first: Times
    """From the time at which a batch is due to the rings of its first event."""
    last: Times
    rates: tuple[tuple[int, float], ...]
    """Events of a batch, and events a second where the next batch is always there."""

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Way:
        times = {name: Times.of(found[name]) for name in ("first", "last")}
        rates = tuple((batch, rate) for batch, rate in found["rates"])
        return cls(**{**found, **times, "rates": rates})


@dataclass(frozen=True)
class Bench:
    """All finders on one sample."""

    sample: str
    seed: int
    events: int
    hits: float
    levels: tuple[str, ...]
    rows: tuple[Row, ...]
    samples: Mapping[str, Quality]
    radius: tuple[float, ...]
    """Share of radii whose error lies in each half millimetre from -10 mm."""
    centre: tuple[float, ...]
    displays: tuple[Display, ...]
    ways: tuple[Way, ...] = ()
    absent: tuple[tuple[str, str], ...] = ()
    """Ways that were not measured on this machine, and why."""

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Bench:
        return cls(
            found["sample"],
            found["seed"],
            found["events"],
            found["hits"],
            tuple(found["levels"]),
            tuple(Row.of(row) for row in found["rows"]),
            {name: Quality.of(quality) for name, quality in found["samples"]},
            tuple(found["radius"]),
            tuple(found["centre"]),
            tuple(_display(one) for one in found["displays"]),
            tuple(Way.of(way) for way in found.get("ways", ())),
            tuple((name, why) for name, why in found.get("absent", ())),
        )


@dataclass(frozen=True)
class GpuRun:
    """Events on a GPU."""

    device: str
    events: int
    answered: int
    as_cpu: int
    """Results that are the CPU's: number of circles, and all of them to a hundredth of a millimetre."""
    first: Times
    """From the intended time of a batch to the result of its first event."""
    last: Times
    stages: tuple[float, float, float] | None
    """ns from detected to loaded, to fitted, to published; None for a graph or launch."""
    torn: int
    polls: int
    delayed: int
    per_second: float


@dataclass(frozen=True)
class Sent:
    """Events that were sent as datagrams, and what came back."""

    datagrams: int
    events: int
    unsent: int
    """Datagrams that the system did not take: its buffer was full."""
    refused: int
    """Refusals that came back: nobody listens there."""
    answered: int
    different: int
    """Answers with other circles than this machine finds."""
    unexpected: int
    per_second: float
    answers: Times
    """From the time at which a datagram was due to its answer."""


@dataclass(frozen=True)
class Served:
    """What the server has done so far."""

    datagrams: int
    events: int
    malformed: int
    found: tuple[int, int, int, int]
    unsent: int
    together: int


def circles(records: bytes, single: bool = False, level: str | None = None) -> bytes:
    """The circles of records: of each 11 words, or with `single` 4 floats."""
    module = _load()
    try:
        return module.trigger_circles(records, single, level)
    except module.ScenarioError as err:
        raise UserError(str(err)) from err


def gpu_tables() -> bytes:
    """What the GPU's kernels read besides events."""
    return _load().trigger_gpu_tables()


def gpu_name(library: str) -> str:
    """Name of the GPU. Raises `UserError` of one line if the machine has none."""
    module = _load()
    try:
        return module.trigger_gpu_name(library)
    except module.ScenarioError as err:
        raise UserError(str(err)) from err


def gpu_events(
    library: str,
    cubin: bytes,
    sample: str,
    seed: int,
    count: int,
    rate_hz: float,
    *,
    together: int = 1 << 18,
) -> tuple[bytes, bytes]:
    """Events that a GPU makes, so many together, and their truths: those of `events`, without the headers."""
    module = _load()
    try:
        return module.trigger_gpu_events(library, cubin, sample, seed, count, rate_hz, together)
    except module.ScenarioError as err:
        raise UserError(str(err)) from err


def gpu_run(
    library: str,
    cubin: bytes,
    file: bytes,
    *,
    method: str,
    batch: int,
    rate_hz: float,
    events: int,
    blocks: int,
    lines: int,
    watchdog_s: float,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> GpuRun:
    """Sends the events of a file to a GPU at their times; methods: `isthmus.trigger.gpu.METHODS`.

    `progress` is called with the events answered and those in all."""
    module = _load()
    try:
        text = module.trigger_gpu_run(
            library, cubin, file, method, batch, rate_hz, events, blocks, lines, watchdog_s, progress
        )
    except module.ScenarioError as err:
        raise UserError(str(err)) from err
    found = json.loads(text)
    times = {name: Times.of(found[name]) for name in ("first", "last")}
    stages = None if found["stages"] is None else tuple(found["stages"])
    return GpuRun(**{**found, **times, "stages": stages})


def send(address: str, records: bytes, rate_hz: float, tick: Callable[[int, int], None]) -> Sent:
    """Sends records to a UDP address, 20 a datagram; `tick` gets datagrams sent and in all."""
    module = _load()
    try:
        found = json.loads(module.trigger_send(address, records, rate_hz, tick))
    except module.ScenarioError as err:
        raise UserError(str(err)) from err
    return Sent(**{**found, "answers": Times.of(found["answers"])})


def serve(address: str, tick: Callable[[str, Served], None]) -> Served:
    """Answers datagrams at a UDP address until Control-C. `tick` gets the address and the counts."""
    module = _load()
    try:
        return _served(module.trigger_serve(address, lambda own, text: tick(own, _served(text))))
    except module.ScenarioError as err:
        raise UserError(str(err)) from err


def _served(text: str) -> Served:
    found = json.loads(text)
    return Served(**{**found, "found": tuple(found["found"])})


def events(sample: str, seed: int, count: int, rate_hz: float) -> tuple[bytes, bytes]:
    """A file of events, and that of their truths."""
    module = _load()
    try:
        return module.trigger_events(sample, seed, count, rate_hz)
    except module.ScenarioError as err:
        raise UserError(str(err)) from err


def find(made: bytes, truths: bytes | None, finder: str, level: str | None, passes: int) -> Found:
    """The rings of a file's events."""
    module = _load()
    try:
        found = json.loads(module.trigger_find(made, truths, finder, level, passes))
    except module.ScenarioError as err:
        raise UserError(str(err)) from err
    return Found(**{**found, "found": tuple(found["found"]), "row": Row.of(found["row"])})


def bench(sample: str, seed: int, count: int, passes: int, progress: Callable[[int, int], None]) -> Bench:
    """All finders on one sample; an exception in `progress` ends it and comes out here."""
    module = _load()
    try:
        found = json.loads(module.trigger_bench(sample, seed, count, passes, progress))
    except module.ScenarioError as err:
        raise UserError(str(err)) from err
    return Bench.of(found)


def times(
    sample: str, seed: int, sizes: Sequence[int], samples: int, progress: Callable[[int, int], None]
) -> Mapping[str, Any]:
    """How long finding, merging and handing over take here, as distributions."""
    module = _load()
    try:
        found: Mapping[str, Any] = json.loads(
            module.trigger_times(sample, seed, list(sizes), samples, progress)
        )
    except module.ScenarioError as err:
        raise UserError(str(err)) from err
    return found


def _display(one: Mapping[str, Any]) -> Display:
    hits, truth, found = (tuple(tuple(item) for item in one[name]) for name in ("hits", "truth", "found"))
    return Display(one["event"], hits, truth, found)


def _load() -> _Module:
    return cast("_Module", native.load())
