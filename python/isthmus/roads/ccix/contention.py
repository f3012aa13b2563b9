# SPDX-License-Identifier: Apache-2.0
"""Lines to which the FPGA and the host store at random at the same time: the document's fourth experiment.

The FPGA's side is gateware: its cache, its messages. The host's is a model: a store is at the home after the
time of a write, and takes the line from the FPGA where that has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from isthmus.bench import runner as running
from isthmus.errors import UserError
from isthmus.platforms import Platform, Profile
from isthmus.results import Document, Measurement
from isthmus.roads.ccix.bench import CONTENDED, LINE_BYTES, Contention, Point, Transfers
from isthmus.roads.ccix.bench import measure as measured

LINES = "1:4096"
MOST_LINES = 4096
"""All of the FPGA's cache."""
ACCESSES = 1024
WINDOWS = (1, 16)
MOST_WINDOW = 16
"""Forwards that the FPGA has room for."""
BYTES = LINE_BYTES // 2
"""Of a store: each side has half of a line, so that no store of either may be lost."""
MODEL_LINES = 4 * 32
"""From four times the lines that the FPGA's cache requests at once on, lines under way are few."""
STEP = 1 / 8
"""Of an access, between two points of the model."""


def counts(name: str, text: str, most: int) -> tuple[int, ...]:
    """Numbers from 1 on, in ascending order: 64, a list 1,64, or powers of two 1:4096."""
    low, between, high = text.partition(":")
    parts = [low, high] if between else text.split(",")
    if not all(part.isascii() and part.isdigit() and len(part) <= 6 for part in parts):
        raise UserError(f"{name}: {text!r}; expected a number, a list 1,64 or FROM:TO, which doubles")
    found = sorted({int(part) for part in parts})
    if not 1 <= found[0] <= found[-1] <= most:
        raise UserError(f"{name}: {text} is outside 1 to {most}")
    if between:
        if int(low) > int(high):
            raise UserError(f"{name}: {text} begins above its end")
        found = [found[0] << step for step in range(most.bit_length()) if found[0] << step <= found[-1]]
    return tuple(found)


def points(
    platforms: Sequence[Platform],
    profiles: Sequence[Profile],
    lines: Sequence[int],
    windows: Sequence[int] = WINDOWS,
    accesses: int = ACCESSES,
    seed: int = 1,
) -> list[Point]:
    """A run for each number of lines, with as many stores in flight on either side."""
    made = []
    for platform, profile, window, count in product(platforms, profiles, windows, lines):
        one = Transfers(
            "device-write",
            BYTES,
            accesses,
            window,
            seed=seed,
            driver="contended",
            contention=Contention(count, window),
        )
        made.append(Point(one, profile, platform))
    return made


def measure(
    wanted: Sequence[Point],
    runner: running.Runner | None = None,
    given: Mapping[str, Path] | None = None,
) -> Document:
    """Run them."""
    return measured(wanted, title="ccix contention", runner=runner, given=given)


def contended(document: Document) -> list[Measurement]:
    """The measurements of contention."""
    return [m for m in document if m.workload.get("driver") == CONTENDED]


@dataclass(frozen=True)
class Terms:
    """Times of one store, in ns, measured one at a time on lines that no one else uses."""

    fpga_local: float
    fpga_remote: float
    host_local: float
    host_remote: float


def terms(m: Measurement) -> Terms:
    """As the run measured them before its accesses."""
    found: Mapping[str, float] = m.workload["contention"]["terms_ps"]
    return Terms(**{name: value / 1e3 for name, value in found.items()})


@dataclass(frozen=True)
class Side:
    """One side of a run, in ns; `remote` is the share of its accesses that brought a line over."""

    mean: float
    longest: float
    accesses: int
    transfers: int
    remote: float


def side(m: Measurement, name: str) -> Side:
    """`fpga` or `host`."""
    found: Mapping[str, Any] = m.workload["contention"][name]
    accesses, transfers = int(found["accesses"]), int(found["transfers"])
    return Side(
        found["mean_ps"] / 1e3, found["longest_ps"] / 1e3, accesses, transfers, transfers / max(1, accesses)
    )


def formula(m: Measurement, name: str) -> float:
    """The document's timing formula for one side: hits and misses as counted, each with its own term."""
    t, share = terms(m), side(m, name).remote
    local, remote = (t.fpga_local, t.fpga_remote) if name == "fpga" else (t.host_local, t.host_remote)
    return (1 - share) * local + share * remote


@dataclass(frozen=True)
class Flow:
    """Times of an access of either side, and the share of its accesses that bring a line over."""

    times: tuple[float, float]
    moves: tuple[float, float]


def flow(t: Terms, lines: int, busy: Sequence[int], share: float, before: Flow) -> Flow:
    """Of `busy` accesses in flight, where lines under way are those of `before`.

    A side has its rate times its moves times the remote time of lines under way, and a random access meets
    one of them in one case of `lines`. What is left of a wait that it meets at any time is even between 0 and
    the whole: 1/2 of it on the mean, and its square 1/3 of the whole's.
    """
    remote, local = (t.fpga_remote, t.host_remote), (t.fpga_local, t.host_local)
    under_way = [n / time * part * wait for n, time, part, wait in
                 zip(busy, before.times, before.moves, remote, strict=True)]  # fmt: skip
    met = [some / lines for some in under_way]
    # Those of the side's other accesses: the line is there when they end.
    others = [some * max(0, n - 1) / max(1, n) for some, n in zip(met, busy, strict=True)]
    # A line on its way to the host has left the FPGA for half of it. One on its way to the FPGA is kept at
    # the home from half of it on until the FPGA's answer, half a round trip behind its end: the host waits,
    # and then takes it.
    moves = (
        max(0.0, 1 - share - others[0] + met[1] / 2),
        max(0.0, share - others[1] + met[0] / 2),
    )
    times = [here + part * (away - here) for here, away, part in zip(local, remote, moves, strict=True)]
    # The FPGA's cache is blocked while a store waits for its own side's line: each other that ends meanwhile
    # leaves its place empty for what is left.
    times[0] += others[0] * remote[0] * (1 / 2 + others[0] * lines / 6)
    times[1] += met[0] * remote[0] / 2 + others[1] * remote[1] / 2
    return Flow((times[0], times[1]), moves)


@dataclass(frozen=True)
class Predicted:
    """The analytic model's means of both sides in ns, and lines that changed sides."""

    fpga: float
    host: float
    transfers: float


@cache
def predicted(t: Terms, lines: int, accesses: int, window: int) -> Predicted:
    """The share of lines that the FPGA has, over time, from none on.

    Each side has `window` accesses in flight to lines drawn at random. It waits its local time where it has
    the line, its remote time where it has not, and then has it. An access whose line is under way waits for
    what is left of that, half of it on the mean (`flow`).
    """
    share, transfers = 0.0, 0.0
    now = Flow((t.fpga_remote, t.host_local), (1.0, 0.0))
    left = [float(accesses), float(accesses)]
    waited = [0.0, 0.0]
    while max(left) > 0:
        busy = [window if some > 0 else 0 for some in left]
        now = flow(t, lines, busy, share, now)
        rates = [window / time if some > 0 else 0.0 for time, some in zip(now.times, left, strict=True)]
        # A step is a part of an access of the faster side, and short beside a change of the share.
        step = min(STEP * max(1.0, lines / 16) / max(rates), *(
            some / rate for some, rate in zip(left, rates, strict=True) if rate > 0
        ))  # fmt: skip
        moved = (rates[0] * now.moves[0] * step, rates[1] * now.moves[1] * step)
        for number, (time, rate) in enumerate(zip(now.times, rates, strict=True)):
            done = min(left[number], rate * step)
            waited[number] += done * time
            left[number] -= done if left[number] - done > 1e-9 else left[number]
        transfers += sum(moved)
        share = min(1.0, max(0.0, share + (moved[0] - moved[1]) / lines))
    return Predicted(waited[0] / accesses, waited[1] / accesses, transfers)


def model(m: Measurement) -> Predicted:
    """Of a measurement's lines and windows, with its terms."""
    c = m.workload["contention"]
    return predicted(terms(m), int(c["lines"]), int(c["fpga"]["accesses"]), int(c["fpga"]["window"]))


def mean(m: Measurement) -> float:
    """Of both sides' accesses, in ns."""
    assert m.latency is not None
    return m.latency.avg / 1e3


def model_mean(m: Measurement) -> float:
    """The same by the model."""
    found = model(m)
    return (found.fpga + found.host) / 2


def longest_round_trips(m: Measurement) -> float:
    """The longest wait of either side, in round trips: the FPGA's remote time."""
    return max(side(m, name).longest for name in ("fpga", "host")) / terms(m).fpga_remote
