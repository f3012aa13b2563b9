# SPDX-License-Identifier: Apache-2.0
"""What the trigger's commands print."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from isthmus.results.model import BEYOND
from isthmus.results.table import aligned
from isthmus.trigger.native import Bench, Found, GpuRun, Quality, Row, Sent, Served
from isthmus.trigger.times import Times, quantile
from isthmus.units import digits

if TYPE_CHECKING:
    from isthmus.trigger.gpu import Asked

COLUMNS = (
    "finder", "level", "M events/s", "16 events [us]", "found 1", "found 2", "found 3", "number 1",
    "number 2", "number 3", "fakes/event", "radius [mm]", "centre [mm]",
)  # fmt: skip
WAY_COLUMNS = (
    "processor", "batch", "M events/s due", "p50 [us]", "p99", "p99.9", "p99.99", "max", "last p50",
    "most M events/s", "of batches of",
)  # fmt: skip
"""Latencies are from the time at which a batch is due to the rings of its first event."""
NOTES = (
    "found: share of true rings found in events of 1, 2 and 3 rings; number: share of such events with the",
    "right number of rings; radius, centre: half the width of 68 % of the errors, of the centre along an "
    "axis",
    "speed: one core, records of the wire to rings; the shortest run of each 512 events",
)
WAY_NOTES = (
    "from the time at which a batch is due to the rings of its first event; a batch that waits for the one "
    "before",
    "has its wait in it; a core has half of its rate to do, a GPU what the detector sends",
)


def share(value: float | None) -> str:
    """Four decimals; nothing where there were no such events."""
    return "" if value is None else f"{value:.4f}"


def quality_cells(quality: Quality | None) -> list[str]:
    """The columns of quality; blank where nothing was scored."""
    if quality is None:
        return [""] * 9
    return [
        *(share(value) for value in quality.efficiency),
        *(share(value) for value in quality.multiplicity[1:]),
        f"{quality.fakes:.4f}",
        f"{quality.radius_mm[1]:.2f}",
        f"{quality.centre_mm[1]:.2f}",
    ]


def row_cells(row: Row) -> list[str]:
    """A row of the table of finders."""
    return [
        row.finder, row.level, digits(row.per_second / 1e6), digits(row.sixteen_us[0], 2),
        *quality_cells(row.quality),
    ]  # fmt: skip


def rows_cells(made: Bench) -> list[list[str]]:
    """The table of finders."""
    return [row_cells(row) for row in made.rows]


def ways_cells(made: Bench) -> list[list[str]]:
    """The table of processors: those that were measured, then those that were not."""
    rows = []
    for way in made.ways:
        times = (*way.first.percentiles, way.first.most, way.last.percentiles[0])
        latencies = ["" if ns is None else digits(ns / 1e3, 3) for ns in times]
        batch, most = max(way.rates, key=lambda rate: rate[1], default=(0, 0.0))
        rows.append(
            [way.name, str(way.batch), digits(way.rate_hz / 1e6, 2),
             *latencies,
             *([digits(most / 1e6, 3), str(batch)] if batch else ["", ""])]
        )  # fmt: skip
    absent = [[name, "not measured here", *[""] * (len(WAY_COLUMNS) - 2)] for name, _ in made.absent]
    return [*rows, *absent]


def best(rows: Sequence[Row], finder: str) -> Row | None:
    """The fastest row of a finder."""
    return max((row for row in rows if row.finder == finder), key=lambda row: row.per_second, default=None)


def ratio(made: Bench) -> float | None:
    """Speed of our finder over that of Almagest, in the same run."""
    own, peer = best(made.rows, "isthmus"), best(made.rows, "Almagest")
    return None if own is None or peer is None else own.per_second / peer.per_second


def bench(made: Bench) -> str:
    """The table of `isthmus bench trigger`."""
    head = (
        f"# sample {made.sample}, {made.events:,} events, seed {made.seed}, {made.hits:.1f} hits an event\n"
    )
    rows = [[f"#{COLUMNS[0]}", *COLUMNS[1:]], *rows_cells(made)]
    text = head + aligned(rows, left=(0, 1))
    if (times := ratio(made)) is not None:
        text += f"# isthmus over Almagest in this run: {times:.2f} times as fast\n"
    samples = [["#sample", *COLUMNS[4:]], *([name, *quality_cells(q)] for name, q in made.samples.items())]
    text += "\n" + aligned(samples, left=(0,)) + "".join(f"# {note}\n" for note in NOTES)
    if ways := ways_cells(made):
        text += "\n" + aligned([[f"#{WAY_COLUMNS[0]}", *WAY_COLUMNS[1:]], *ways], left=(0,))
        text += "".join(f"# {note}\n" for note in WAY_NOTES)
    whys = dict.fromkeys(why for _, why in made.absent)
    return text + "".join(f"# not measured here: {why}\n" for why in whys)


def to_csv(made: Bench) -> str:
    """The rows of the table of finders; units are in the names of the columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        (
            "sample", "events", "seed", "finder", "level", "events_per_s", "sixteen_us", "sixteen_min_us",
            *(f"{what}_{number}" for what in ("efficiency", "multiplicity") for number in (1, 2, 3)),
            "fakes_per_event", "radius_rms_mm", "radius_68_mm", "centre_rms_mm", "centre_68_mm",
        )
    )  # fmt: skip
    for row in made.rows:
        q = row.quality
        quality = [""] * 11
        if q is not None:
            quality = [
                "" if value is None else f"{value:.6g}"
                for value in (*q.efficiency, *q.multiplicity[1:], q.fakes, *q.radius_mm, *q.centre_mm)
            ]
        speed = [f"{row.per_second:.6g}", *(f"{us:.4g}" for us in row.sixteen_us)]
        writer.writerow((made.sample, made.events, made.seed, row.finder, row.level, *speed, *quality))
    return text.getvalue()


def found(made: Found) -> str:
    """What `isthmus trigger find` prints."""
    rows = [("#rings found", "events"), *((str(n), f"{count:,}") for n, count in enumerate(made.found))]
    text = (
        f"# sample {made.sample}, {made.events:,} events, seed {made.seed}, {made.hits:.1f} hits an event\n"
        f"{aligned(rows, left=(0,))}"
        f"{made.row.finder}, {made.row.level}: {digits(made.row.per_second / 1e6)} M events/s on one core, "
        f"16 events in {digits(made.row.sixteen_us[0], 2)} us\n"
    )
    quality = made.row.quality
    if quality is None:
        return text + "# no truth beside the file: quality is unknown\n"
    cells = quality_cells(quality)
    return text + (
        f"of true rings found, in events of 1, 2 and 3: {' '.join(cells[:3])}\n"
        f"of such events with the right number: {' '.join(cells[3:6])}\n"
        f"fakes an event: {cells[6]}; radius to {cells[7]} mm, centre to {cells[8]} mm (68 %)\n"
    )


def gpu(runs: Sequence[tuple[Asked, GpuRun | str]]) -> str:
    """What `isthmus trigger gpu` prints: one run in detail, or a row a run."""
    if len(runs) == 1 and isinstance(made := runs[0][1], GpuRun):
        return _gpu_run(made)
    rows: list[tuple[str, ...]] = [
        ("#method", "batch", "rate [M/s]", "answered", "as CPU", "M/s",
         "p50", "p99", "p99.99", "max", "last p50", "late"),
    ]  # fmt: skip
    absent = []
    for one, found in runs:
        if isinstance(found, str):
            absent.append(f"# {one.text}: {found}\n")
            continue
        p50, p99, _, p9999 = found.first.percentiles
        shown = [
            "" if value is None else f"{value / 1e3:.2f}"
            for value in (p50, p99, p9999, found.first.most, found.last.percentiles[0])
        ]
        rows.append(
            (one.method, str(one.batch), f"{one.rate_hz / 1e6:g}", f"{found.answered:,}",
             f"{found.as_cpu:,}", digits(found.per_second / 1e6), *shown, f"{found.delayed:,}")
        )  # fmt: skip
    device = next((found.device for _, found in runs if isinstance(found, GpuRun)), "")
    text = (
        f"# {device}; from a batch's intended time to the result of its first event [us], p50 of its last\n"
    )
    return (text + aligned(rows, left=(0,)) if device else "") + "".join(absent)


def _gpu_run(made: GpuRun) -> str:
    rows: list[tuple[str, ...]] = [
        ("#latency [us]", "samples", "mean", "p50", "p99", "p99.9", "p99.99", "max")
    ]
    for name, times in (("first event of a batch", made.first), ("last event", made.last)):
        cells = (times.mean, *times.percentiles, times.most)
        shown = ("" if value is None else f"{value / 1e3:.2f}" for value in cells)
        rows.append((name, f"{times.samples:,}", *shown))
    text = (
        f"# {made.device}: {made.answered:,} of {made.events:,} events answered, "
        f"{digits(made.per_second / 1e6)} M events/s; {made.as_cpu:,} as on the CPU\n"
        f"{aligned(rows, left=(0,))}"
    )
    if made.stages is not None:
        loaded, fitted, published = made.stages
        text += (
            f"# in the GPU, mean: detected to loaded {loaded:.0f} ns, to fitted {fitted:.0f} ns, to "
            f"published {published:.0f} ns; {made.polls:,} polls, {made.torn:,} torn lines read again\n"
        )
    return text + f"# batches sent late: {made.delayed:,}\n"


def sent(made: Sent) -> str:
    """What `isthmus trigger events --out udp:IP:PORT` prints."""
    text = f"{made.datagrams:,} datagrams of {made.events:,} events sent, "
    text += f"{digits(made.per_second / 1e6)} M events/s"
    if made.unsent:
        text += f"; {made.unsent:,} not taken by the system: its buffer is full"
    if made.refused:
        text += f"; {made.refused:,} refused: nobody listens there"
    if not made.answered:
        return f"{text}\nno answers\n"
    text += (
        f"\n{made.answered:,} answered, {made.datagrams - made.answered:,} not, {made.different:,} with "
        f"other rings than this machine finds, {made.unexpected:,} unexpected\n"
    )
    names = ("p50", "p99", "p99.9", "p99.99")
    shown = [
        f"{name} {digits(ns / 1e3, 3)}"
        for name, ns in zip(names, made.answers.percentiles, strict=True)
        if ns is not None
    ]
    shown.append(f"max {digits(made.answers.most / 1e3, 3)}")
    return text + f"from due to answered [us]: {', '.join(shown)}\n"


def served(made: Served) -> str:
    """The counts of `isthmus trigger serve`, one line."""
    rings = ", ".join(f"{count:,} of {number}" for number, count in enumerate(made.found))
    return (
        f"{made.datagrams:,} datagrams, {made.events:,} events (rings: {rings}), "
        f"{made.malformed:,} malformed, {made.unsent:,} answers not sent"
    )


def times(made: Times) -> str:
    """What `isthmus trigger times` prints."""
    shares = (0.5, 0.99, 0.999, 0.9999)
    rows: list[Sequence[str]] = [("#step, ns", "noise", "samples", "p50", "p99", "p99.9", "p99.99", "max")]
    for name in made.distributions:
        for noise in (True, False):
            buckets = made.of(name, noise)
            count = sum(samples for _, samples in buckets)
            cells = (
                str(quantile(buckets, share)) if count * (1 - share) >= BEYOND - 1e-6 else ""
                for share in shares
            )
            most = str(max(ns for ns, samples in buckets if samples))
            rows.append((name, "yes" if noise else "no", str(count), *cells, most))
    left_out = "" if made.interrupted is None else f"; {100 * made.interrupted:.1f} % of blocks left out"
    return (
        f"# {made.machine}; {made.level}, sample {made.sample}{left_out}\n"
        + aligned(rows, left=(0, 1))
        + f"# noise no: the shortest of {made.runs} runs of each input\n"
    )
