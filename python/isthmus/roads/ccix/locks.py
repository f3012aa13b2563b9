# SPDX-License-Identifier: Apache-2.0
"""A lock table that the host and the FPGA share: transactions of a trace, replayed by both sides at once.

Gateware: the FPGA's near-data unit, its agent or cache, the lock table where it is in the FPGA, the packets.
Models: the link, the host's home and memory, the host's requesters, the lock table where it is at the host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from isthmus.bench import runner as running
from isthmus.bench.session import Session
from isthmus.platforms import Platform, Profile, entries
from isthmus.results import Document, Measurement
from isthmus.roads.ccix.bench import WALL_S, packets
from isthmus.roads.ccix.lock_trace import Trace

TOP = "ccix_locks_fpga"
DRIVER = "locks"
REQUESTERS = "1:64"
MOST_REQUESTERS = 64
MOST_STOPS = 1000
LEASE = 1024
"""Clocks without a beat after which the near-data unit is taken for lost."""


@dataclass(frozen=True)
class Mode:
    """Where the table is, and how the FPGA reaches records."""

    letter: str
    name: str
    what: str


MODES: Mapping[str, Mode] = {
    mode.letter: mode
    for mode in (
        Mode(
            "a",
            "host",
            "table at the host, orders of the FPGA are PCIe messages; records by reads, posted writes",
        ),
        Mode(
            "b", "shared", "table in the FPGA, orders of the host are CCIX messages; records through a cache"
        ),
        Mode("c", "hybrid", "table as b; records by reads and writes of host memory"),
        Mode("d", "cas", "no table: a lock is a word of its record's line, swapped by who owns the line"),
    )
}


@dataclass(frozen=True)
class Stops:
    """How often the FPGA's near-data unit stops in a run."""

    resets: int = 0
    holds: int = 0
    """For twice its lease; then it goes on."""
    fpga: int = 0
    """Resets of all of the FPGA. It sends the host a log then."""


NONE = Stops()


@dataclass(frozen=True)
class Point:
    """One run of the benchmark."""

    trace: Trace
    mode: Mode
    requesters: int
    profile: Profile
    platform: Platform
    seed: int = 1
    stops: Stops = NONE


def parameters(platform: Platform, profile: Profile, mode: Mode, log: bool = False) -> dict[str, int]:
    """The parameters of the FPGA. The messages of mode a go one in a packet, as PCIe has them."""
    design = platform.profiles[profile]
    made = {"NumTxns": int(design.transactions.value), "Table": int(mode.name != "host"), "Lease": LEASE}
    if log:
        made |= {"Log": 1}
    if mode.name == "host":
        return made | {"Posted": 1, "MaxWords": 16, "MaxMessages": 1}
    made |= {"MaxWords": int(design.packet.value) // 8, "MaxMessages": int(design.messages.value)}
    if mode.name == "cas":
        made |= {"Table": 0, "Cas": 1}
    return made | ({"CacheLines": int(design.cache.value)} if mode.name in ("shared", "cas") else {})


def scenario(point: Point, model: Path) -> dict[str, Any]:
    """One run as the engine takes it."""
    platform, trace = point.platform, point.trace
    packed = packets(platform, point.profile)
    if point.mode.name == "host":
        packed = {"header_bytes": 16, "packet_bytes": 128, "packet_messages": 1}
    return {
        "road": "ccix",
        "profile": point.profile,
        "platform": {
            "name": platform.name,
            **entries(platform.fpga),
            "transport": {**entries(platform.groups["transport"]), **packed},
            "home": entries(platform.groups["home"]),
        },
        "fpga": {"model_path": str(model)},
        "workload": {
            "operation": "update",
            "bytes": 8,
            "iterations": len(trace.transactions),
            "warmup": 0,
            "driver": DRIVER,
            "window": point.requesters,
            "locks": {
                "trace": trace.name,
                "mode": point.mode.name,
                "rows": trace.rows,
                "requesters": point.requesters,
                "resets": point.stops.resets,
                "holds": point.stops.holds,
                "fpga_resets": point.stops.fpga,
                "lease_cycles": LEASE,
                "transactions": trace.scenario,
            },
        },
        "seed": point.seed,
        "limits": {"wall_s": WALL_S},
    }


def points(
    trace: Trace,
    platforms: Sequence[Platform],
    profiles: Sequence[Profile],
    modes: Sequence[Mode],
    requesters: Sequence[int],
    seed: int = 1,
    stops: Stops = NONE,
) -> list[Point]:
    """A run for each mode and number of requesters."""
    return [
        Point(trace, mode, count, profile, platform, seed, stops)
        for platform, profile, mode, count in product(platforms, profiles, modes, requesters)
    ]


def measure(
    wanted: Sequence[Point],
    *,
    title: str = "lock table",
    runner: running.Runner | None = None,
    given: Path | None = None,
) -> Document:
    """Run the points; nothing is printed but progress. `given`: the model instead of those built."""
    session = Session(title, runner=runner, given=given)
    runs = []
    for point in wanted:
        log = point.stops.fpga > 0
        values = parameters(session.platform(point.platform), point.profile, point.mode, log)
        runs.append(scenario(point, session.model(TOP, values)))
    return session.document(session.run(runs), wanted[0].seed if wanted else 0)


def measured(document: Document) -> list[Measurement]:
    """The measurements of lock tables."""
    return [m for m in document if m.workload.get("driver") == DRIVER]
