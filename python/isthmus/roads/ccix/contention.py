# SPDX-License-Identifier: Apache-2.0
"""Lines to which the FPGA and the host store at random at the same time: the document's fourth experiment.

The FPGA's side is gateware: its cache, its messages. The host's is a model: a store is at the home after the
time of a write, and takes the line from the FPGA where that has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from isthmus.bench import runner as running
from isthmus.errors import UserError
from isthmus.platforms import Platform, Profile
from isthmus.results import Document, Measurement
from isthmus.roads.ccix.bench import CONTENDED, LINE_BYTES, Contention, Point, Transfers
from isthmus.roads.ccix.bench import measure as measured
from isthmus.roads.ccix.contention_model import Predicted, Terms, predicted

LINES = "1:4096"
MOST_LINES = 4096
"""All of the FPGA's cache."""
ACCESSES = 1024
WINDOWS = (1, 16)
MOST_WINDOW = 16
"""Forwards that the FPGA has room for."""
BYTES = LINE_BYTES // 2
"""Of a store: each side has half of a line, so that no store of either may be lost."""
ROUNDS = 8
"""Of one run: 2 x 1024 stores, 16 in flight, are some 60 waits for lines under way: too few for a mean."""
MODEL_LINES = 4 * 32
"""From four times the lines that the FPGA's cache requests at once on. Of fewer lines the share that a side
has wanders far from its mean within a run, and the model has means alone."""


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
    rounds: int = ROUNDS,
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
            contention=Contention(count, window, rounds),
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


def terms(m: Measurement) -> Terms:
    """As the run measured them before its accesses."""
    found: Mapping[str, float] = m.workload["contention"]["terms_ps"]
    return Terms(**{name: value / 1e3 for name, value in found.items()})


@dataclass(frozen=True)
class Side:
    """One side of a run, in ns; `remote` is the share of its accesses that brought a line over.

    An access begins when its place is free; `offered`: the longest from the FPGA's port, where it waits while
    the FPGA takes none.
    """

    mean: float
    longest: float
    offered: float
    accesses: int
    transfers: int
    remote: float


def side(m: Measurement, name: str) -> Side:
    """`fpga` or `host`."""
    found: Mapping[str, Any] = m.workload["contention"][name]
    accesses, transfers = int(found["accesses"]), int(found["transfers"])
    return Side(
        found["mean_ps"] / 1e3,
        found["longest_ps"] / 1e3,
        found["longest_offered_ps"] / 1e3,
        accesses,
        transfers,
        transfers / max(1, accesses),
    )


def formula(m: Measurement, name: str) -> float:
    """The document's timing formula for one side: hits and misses as counted, each with its own term."""
    t, share = terms(m), side(m, name).remote
    local, remote = (t.fpga_local, t.fpga_remote) if name == "fpga" else (t.host_local, t.host_remote)
    return (1 - share) * local + share * remote


def model(m: Measurement) -> Predicted:
    """Of a measurement's lines and windows, with its terms."""
    c = m.workload["contention"]
    accesses = int(c["fpga"]["accesses"]) // int(c["rounds"])
    return predicted(terms(m), int(c["lines"]), accesses, int(c["fpga"]["window"]))


def mean(m: Measurement) -> float:
    """Of both sides' accesses, in ns."""
    assert m.latency is not None
    return m.latency.avg / 1e3


def model_mean(m: Measurement) -> float:
    """The same by the model."""
    found = model(m)
    return (found.fpga + found.host) / 2


def longest_round_trips(m: Measurement) -> float:
    """The longest wait of either side from its port, in round trips: the FPGA's remote time."""
    return max(side(m, name).offered for name in ("fpga", "host")) / terms(m).fpga_remote


def longest_queued(m: Measurement) -> float:
    """The same from when its place was free."""
    return max(side(m, name).longest for name in ("fpga", "host")) / terms(m).fpga_remote
