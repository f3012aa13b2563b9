# SPDX-License-Identifier: Apache-2.0
"""Reads and writes of host memory by an FPGA over one coherent link, or two.

`scenario` makes one run (docs/reference/eci-scenario.md), `measure` runs several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from isthmus import bootstrap, platforms
from isthmus.bench import runner as running
from isthmus.errors import UserError, choose
from isthmus.platforms import Platform, Profile, entries
from isthmus.platforms.keys import largest
from isthmus.results import Document
from isthmus.workload import parse_sizes

PLATFORM = "eci"
FPGA, HOST = "eci_fpga", "eci_host"
OPERATIONS = ("device-read", "device-write")
"""Of lines; `update` is of one shared word."""
UPDATE = "update"
ALL_OPERATIONS = (*OPERATIONS, UPDATE, "host-read", "host-write", "message")
WORD_BYTES = 8
DRIVERS = ("uncached", "cached", "cached-dirty", "cached-hit")
"""Without a cache; through it: lines that no cache has, that the host has just written, that are in it."""
STATES = ("cached-dirty", "cached-hit")
"""Drivers that say where the line is: dirty in the host's cache, or in the FPGA's already."""
ATOMIC = "atomic"
IO, IPI, BARRIER = "io", "ipi", "barrier"
WORD_OPERATIONS: Mapping[str, tuple[str, ...]] = {
    IO: ("host-read", "host-write"),
    IPI: ("message", "device-write"),
    BARRIER: ("device-write",),
}
"""What is about words: I/O accesses of a host program, interrupts to the FPGA and to the host, barriers of
the FPGA."""
OPEN_WORDS = 32
LINKS = 2
"""At most."""
POLICIES = ("balance", "partition")
"""How messages take two links: by the room in their queues, by a hash of the line's address."""
WAYS = 4
LINE_BYTES = 128
LARGEST = largest("EciWorkload", "bytes")
IN_FLIGHT_LINES = 2048
"""Lines of all transfers in flight: half of the memory that a run uses."""
CACHE_LINES = 256
"""The same of transfers that hit."""
SIZES = "128:16K"
WARMUP = 20
ITERATIONS, FEWEST, VOLUME = 1000, 100, 4 << 20
WALL_S = 600

Operation = Literal["device-read", "device-write", "update", "host-read", "host-write", "message"]


@dataclass(frozen=True)
class Transfers:
    """What is transferred. `window`: transfers in flight; None: `rate_per_s` a second, at random times.
    `faults`: points of the lanes that fail, by name, with the share of blocks."""

    operation: Operation
    size: int = LINE_BYTES
    iterations: int = ITERATIONS
    window: int | None = 1
    rate_per_s: float | None = None
    seed: int = 1
    faults: tuple[tuple[str, float], ...] = ()
    driver: str = "uncached"
    links: int = 1
    policy: str = "balance"

    @property
    def cached(self) -> bool:
        """Whether it needs a cache in the FPGA, and a directory at the host."""
        return needs_cache(self.driver)


@dataclass(frozen=True)
class Point:
    """One run of the benchmark."""

    transfers: Transfers
    profile: Profile
    platform: Platform


def check(transfers: Transfers) -> None:
    """Raises `UserError` with one line for what cannot be run."""
    t = transfers
    choose("operation", t.operation, ALL_OPERATIONS)
    choose("driver", t.driver, drivers_of(t.operation))
    if not 1 <= t.links <= LINKS:
        raise UserError(f"links: {t.links} is outside 1 to {LINKS}")
    choose("policy", t.policy, POLICIES)
    if t.operation == UPDATE and t.size != WORD_BYTES:
        raise UserError(f"size: an update is of {WORD_BYTES} bytes")
    if t.driver == IO and t.size > WORD_BYTES:
        raise UserError(f"size: an I/O access is of 1 to {WORD_BYTES} bytes")
    if t.driver in (IPI, BARRIER) and t.size != WORD_BYTES:
        raise UserError(f"size: a message of {t.driver} has {WORD_BYTES} bytes")
    if not 1 <= t.size <= LARGEST:
        raise UserError(f"size: {t.size} bytes are outside 1 to {LARGEST}")
    most = most_in_flight(t.size, t.driver)
    if t.window is not None and not 1 <= t.window <= most:
        raise UserError(f"window: {t.window} is outside 1 to {most} for transfers of {t.size} bytes")


def needs_cache(driver: str) -> bool:
    """Whether a driver needs a cache in the FPGA."""
    return driver != "uncached" and driver not in WORD_OPERATIONS


def drivers_of(operation: str) -> tuple[str, ...]:
    """The drivers of an operation."""
    words = tuple(driver for driver, carried in WORD_OPERATIONS.items() if operation in carried)
    lines = (ATOMIC,) if operation == UPDATE else DRIVERS if operation in OPERATIONS else ()
    return (*lines, *words)


def most_in_flight(size: int, driver: str = "uncached") -> int:
    """Transfers of this size that may be in flight."""
    if driver in WORD_OPERATIONS:
        return 1 if driver == BARRIER else OPEN_WORDS
    lines = CACHE_LINES if driver == "cached-hit" else IN_FLIGHT_LINES
    return max(1, lines // -(-size // LINE_BYTES))


def usual_iterations(size: int) -> int:
    """Without -n: as many as have `VOLUME` bytes, within `FEWEST` and `ITERATIONS`."""
    return max(FEWEST, min(ITERATIONS, VOLUME // size))


def saturating(size: int) -> int:
    """A window that keeps the link busy: 64 lines, at least two transfers."""
    return max(2, 64 // -(-size // LINE_BYTES))


def scenario(point: Point, models: Mapping[str, Path], **changes: Any) -> dict[str, Any]:
    """One run as the engine takes it; `changes` replace keys of the document, or add to its tables."""
    t, platform = point.transfers, point.platform
    check(t)
    workload: dict[str, Any] = {
        "operation": t.operation,
        "driver": t.driver,
        **({"links": t.links, "policy": t.policy} if t.links > 1 else {}),
        "bytes": t.size,
        "iterations": t.iterations,
        "warmup": WARMUP,
    }
    workload |= {"window": t.window} if t.rate_per_s is None else {"rate_per_s": t.rate_per_s}
    made: dict[str, Any] = {
        "road": "eci",
        "profile": point.profile,
        "platform": {
            "name": platform.name,
            **entries(platform.fpga),
            "lanes": entries(platform.groups["lanes"]),
            **entries(platform.groups["memory"]),
            **entries(platform.groups["core"]),
        },
        "fpga": {"model_path": str(models[FPGA])},
        "host": {"model_path": str(models[HOST])},
        "workload": workload,
        "seed": t.seed,
        "limits": {"wall_s": WALL_S},
    }
    if t.faults:
        made["faults"] = {name: {"rate": rate} for name, rate in t.faults}
    for key, value in changes.items():
        made[key] = {**made[key], **value} if isinstance(made.get(key), dict) else value
    return made


def parameters(
    platform: Platform, profile: Profile, top: str, cached: bool = False, links: int = 1
) -> dict[str, int]:
    """The parameters of one end; `cached`: with a cache in the FPGA, and a directory at the host."""
    design = platform.profiles[profile]
    made = {
        "DataDepth": int(design.data.value),
        "RestDepth": int(design.rest.value),
        "Window": int(design.replay.value),
        "RoundTrip": int(design.round_trip.value),
    }
    if links > 1:
        made["NumLinks"] = links
    if cached:
        cache = {"CacheSets": int(design.cache.value) // WAYS, "CacheWays": WAYS}
        directory = {"DirectorySets": int(design.directory.value) // WAYS, "DirectoryWays": WAYS}
        made |= cache if top == FPGA else directory
    return made


def models(
    platform: Platform, profile: Profile, waveform: bool = False, cached: bool = False, links: int = 1
) -> dict[str, Path]:
    """The shared objects of both ends by the name of their top; a build shows its progress."""
    return {
        top: running.model(top, waveform and top == FPGA, parameters(platform, profile, top, cached, links))
        for top in (FPGA, HOST)
    }


def points(
    chosen: Sequence[Platform],
    profiles: Sequence[Profile],
    operations: Sequence[Operation],
    sizes: str = SIZES,
    iterations: int | None = None,
    window: int | None = None,
    seed: int = 1,
    driver: str = "uncached",
    links: int = 1,
    policies: Sequence[str] = POLICIES[:1],
) -> list[Point]:
    """A transfer at a time, and as many as keep the link busy; `window`: that many alone. `policies`: of two
    links."""
    made = []
    for platform in chosen:
        for profile in profiles:
            for operation in operations:
                possible = drivers_of(operation)
                way = possible[0] if operation not in OPERATIONS else driver
                one_size = way in (ATOMIC, IPI, BARRIER) or (way == IO and sizes == SIZES)
                for size in (WORD_BYTES,) if one_size else parse_sizes(sizes):
                    count = usual_iterations(size) if iterations is None else iterations
                    most = min(saturating(size), most_in_flight(size, way))
                    flights = tuple(dict.fromkeys((1, most))) if window is None else (window,)
                    for flight, policy in product(flights, policies if links > 1 else POLICIES[:1]):
                        one = Transfers(
                            operation, size, count, flight, seed=seed, driver=way, links=links, policy=policy
                        )
                        check(one)
                        made.append(Point(one, profile, platform))
    return made


def measure(
    wanted: Sequence[Point],
    *,
    title: str = "eci",
    waveform: Path | None = None,
    runner: running.Runner | None = None,
    given: Mapping[str, Path] | None = None,
    command: str | None = None,
) -> Document:
    """Run the points and give the result document; nothing is printed but progress.

    waveform  FST file of the FPGA, of the one point
    given     the models instead of those built for the points
    runner    instead of the simulator
    """
    begin = monotonic()
    if runner is None:
        bootstrap.ensure_native()
    built: dict[str, Path] = {}
    made: dict[tuple[str, Profile, bool, int], Mapping[str, Path]] = {}
    runs = []
    for point in wanted:
        cached, links = point.transfers.cached, point.transfers.links
        key = (point.platform.name, point.profile, cached, links)
        if key not in made:
            made[key] = given or models(point.platform, point.profile, waveform is not None, cached, links)
            name = f"{key[0]} {key[1]}{' cached' if cached else ''}{' two links' if links > 1 else ''}"
            built |= {f"{top} {name}": path for top, path in made[key].items()}
        one = scenario(point, made[key])
        runs.append(one if waveform is None else {**one, "waveform": str(waveform.resolve())})
    found = running.run_all(runs, title, runner or running.run)
    seed = wanted[0].transfers.seed if wanted else 0
    used = list({point.platform.name: point.platform for point in wanted}.values())
    return running.gather(found, used, seed=seed, begin=begin, models=built, command=command)


def loaded(name: str = PLATFORM) -> Platform:
    """The platform of a name."""
    return platforms.load(name)


def label(made: Mapping[str, Any]) -> str:
    """What progress calls a scenario."""
    w = made["workload"]
    return f"{made['platform']['name']} {made['profile']} {w['operation']} {w['bytes']}"
