# SPDX-License-Identifier: Apache-2.0
"""Reads and writes of host memory by an FPGA, and of its memory by the host, over one coherent link or two.

`scenario` makes one run (docs/reference/eci-scenario.md), `measure` runs several.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal

from isthmus import platforms
from isthmus.bench import runner as running
from isthmus.bench.session import Session, changed
from isthmus.errors import UserError, choose
from isthmus.platforms import Platform, Profile, entries
from isthmus.platforms.keys import largest
from isthmus.results import Document
from isthmus.workload import parse_sizes

PLATFORM = "eci"
FPGA, HOST = "eci_fpga", "eci_host"
"""The end that asks for lines, and their home: of the FPGA's memory, these change places."""
PEER = "eci_peer"
"""Either end where each has memory of its own and a cache of the other's lines."""
AXI_FPGA = "eci_axi_fpga"
"""The FPGA whose logic is an AXI master."""
DMA = "ccix_dma_fpga"
"""The FPGA on PCIe: a DMA engine of 512 bits."""
OPERATIONS = ("device-read", "device-write")
"""Of lines of host memory, by the FPGA's logic; `update` is of one shared word there."""
HOST_OPERATIONS = ("host-read", "host-write")
"""Of lines of the FPGA's memory, by a core of the host, or of its registers."""
UPDATE = "update"
ALL_OPERATIONS = (*OPERATIONS, UPDATE, *HOST_OPERATIONS, "message")
WORD_BYTES = 8
DRIVERS = ("uncached", "cached", "cached-dirty", "cached-hit")
"""Without a cache; through it: lines that no cache has, that the home has just written, that are in it."""
STATES = ("cached-dirty", "cached-hit")
"""Drivers that say where the line is: dirty in the cache of its home, or in that of the end that asks."""
HOMES = ("one", "both")
"""Which ends have memory: the one whose lines are used, or each."""
BESIDE: Mapping[str, str] = {"device-read": "host-read", "device-write": "host-write"}
"""What both ends do at once, each with the other one's memory: `--op both`."""
PORTS = ("lines", "axi")
"""What the FPGA's logic is connected to: the agent's own port, or an AXI port in front of its cache."""
CACHED = DRIVERS[1:]
"""Drivers that an AXI port has."""
PCIE = ("pcie-dma", "pcie-ring")
"""Beside the coherent link, the same by DMA over PCIe: of addresses that the FPGA's logic has; of
descriptors in a ring in host memory."""
PCIE_PARTS = ("link", "root", "endpoint")
IN_FLIGHT_TASKS = 128
"""Over PCIe."""
FIRST_LINES = 1 << 20
"""Lines that no cache has are accessed once each: so many at most."""
ATOMIC = "atomic"
LIFE_OPERATIONS = ("device-read", "host-read")
"""Of a line of the host's memory, which the FPGA caches, or of the FPGA's."""
LIVES, MOST_LIVES = 4, 256
"""Lines, one after the other: both parities of both halves."""
IO, IPI, BARRIER = "io", "ipi", "barrier"
WORD_OPERATIONS: Mapping[str, tuple[str, ...]] = {
    IO: HOST_OPERATIONS,
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
CACHE_SLICES, DIRECTORY_HOMES, TWO_LINK_MSHRS = 2, 2, 48
"""Over two links: caches in the FPGA; homes of each parity at the host; lines in flight through the caches.
190 million lines a second for a round trip of 191 ns are 36 lines."""
LINE_BYTES = 128
LARGEST = largest("EciWorkload", "bytes")
IN_FLIGHT_LINES = 2048
"""Lines of all transfers in flight: half of the memory that a run uses."""
CACHE_LINES = 256
"""The same of transfers that hit."""
SIZES = "128:16K"
ERRORS = (0.0, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3)
"""Shares of blocks with a wrong check, of a curve of what is left of the rate."""
MOST_ERRORS = 0.1
"""With more a link hardly ever leaves replay."""
WARMUP = 20
TRACE = 512
"""Records of the tracer at each end, of what reads it."""
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
    port: str = "lines"
    homes: str = "one"
    beside: str | None = None
    life: bool = False

    @property
    def trace(self) -> int:
        """Records of the tracer at each end: of what is not asked for one line's life, none."""
        return TRACE if self.life else 0

    @property
    def cached(self) -> bool:
        """Whether it needs a cache at the end that asks, and a directory at the lines' home."""
        return needs_cache(self.driver) or self.homes == "both"

    @property
    def home(self) -> Literal["host", "fpga"]:
        """The end with the memory."""
        return "fpga" if self.operation in HOST_OPERATIONS and self.driver in DRIVERS else "host"

    @property
    def lines(self) -> int:
        """Lines of all transfers, those of warm-up and at the edges as well."""
        edge = 0 if self.window == 1 else self.window or 16
        series = 1 if self.beside is None else 2
        return series * (self.iterations + WARMUP + 2 * edge + 1) * -(-self.size // LINE_BYTES)


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
    choose("port", t.port, PORTS)
    choose("homes", t.homes, HOMES)
    if t.homes == "both" and (t.port != "lines" or t.driver not in DRIVERS or t.operation == UPDATE):
        raise UserError(
            f"homes: both ends have reads and writes of lines by {', '.join(DRIVERS)}; not {t.operation} by "
            f"{t.driver} on port {t.port}"
        )
    if t.port != "lines" and t.home == "fpga":
        raise UserError(f"port: axi is in front of the FPGA's cache, and {t.operation} uses the host's")
    if t.port != "lines" and t.driver not in CACHED:
        raise UserError(
            f"port: axi is in front of the FPGA's cache; expected a driver of {', '.join(CACHED)}"
        )
    if t.life and (t.driver != "cached" or t.port != "lines" or t.operation not in LIFE_OPERATIONS):
        raise UserError(
            f"life: {t.operation} by {t.driver} on port {t.port}; expected {' or '.join(LIFE_OPERATIONS)} by "
            "cached on port lines"
        )
    if t.life and t.iterations > MOST_LIVES:
        raise UserError(f"iterations: {t.iterations} lives of lines; at most {MOST_LIVES}")
    if t.driver in PCIE and t.links > 1:
        raise UserError(f"links: {t.driver} has one link")
    if t.driver in PCIE and t.faults:
        raise UserError(f"errors: {t.driver} has no blocks; expected 0")
    if t.driver == "cached" and t.lines > FIRST_LINES:
        raise UserError(
            f"iterations: {t.iterations} transfers of {t.size} bytes access {t.lines} lines that no cache "
            f"has, each once; at most {FIRST_LINES}"
        )
    if t.operation == UPDATE and t.driver in CACHED and t.port != "axi":
        raise UserError("port: lines has no update in the FPGA's cache; expected axi")
    if t.operation == UPDATE and t.size != WORD_BYTES:
        raise UserError(f"size: an update is of {WORD_BYTES} bytes")
    if t.driver == IO and t.size > WORD_BYTES:
        raise UserError(f"size: an I/O access is of 1 to {WORD_BYTES} bytes")
    if t.driver in (IPI, BARRIER) and t.size != WORD_BYTES:
        raise UserError(f"size: a message of {t.driver} has {WORD_BYTES} bytes")
    if not 1 <= t.size <= LARGEST:
        raise UserError(f"size: {t.size} bytes are outside 1 to {LARGEST}")
    most = 1 if t.operation == UPDATE and t.port == "axi" else most_in_flight(t.size, t.driver)
    if t.window is not None and not 1 <= t.window <= most:
        raise UserError(f"window: {t.window} is outside 1 to {most} for transfers of {t.size} bytes")


def needs_cache(driver: str) -> bool:
    """Whether a driver needs a cache at the end that asks."""
    return driver not in ("uncached", *PCIE, *WORD_OPERATIONS)


def drivers_of(operation: str) -> tuple[str, ...]:
    """The drivers of an operation."""
    words = tuple(driver for driver, carried in WORD_OPERATIONS.items() if operation in carried)
    lines: tuple[str, ...] = (ATOMIC, *CACHED) if operation == UPDATE else ()
    if operation in OPERATIONS:
        lines = (*DRIVERS, *PCIE)
    if operation in HOST_OPERATIONS:
        lines = DRIVERS
    return (*lines, *words)


def most_in_flight(size: int, driver: str = "uncached") -> int:
    """Transfers of this size that may be in flight."""
    if driver in WORD_OPERATIONS:
        return 1 if driver == BARRIER else OPEN_WORDS
    if driver in PCIE:
        return max(1, min(IN_FLIGHT_TASKS, IN_FLIGHT_LINES // -(-size // LINE_BYTES)))
    lines = CACHE_LINES if driver == "cached-hit" else IN_FLIGHT_LINES
    return max(1, lines // -(-size // LINE_BYTES))


def rates(text: str) -> tuple[float, ...]:
    """Shares of blocks as people write them. Raises `UserError`."""
    if text == "all":
        return ERRORS
    made = []
    for each in text.split(","):
        try:
            rate = float(each)
        except ValueError:
            rate = math.nan
        if not 0 <= rate <= MOST_ERRORS:
            raise UserError(
                f"errors: {each.strip()[:32]!r}; expected shares from 0 to {MOST_ERRORS:g}, or all"
            )
        made.append(rate)
    return tuple(dict.fromkeys(made))


def faults_of(rate: float, links: int) -> tuple[tuple[str, float], ...]:
    """Bits inverted in so many blocks, of both directions of all links."""
    if not rate:
        return ()
    ways = [f"{way}{link}" for link in ("", "_1")[:links] for way in ("to_host", "to_fpga")]
    return tuple((f"{way}.block_error", rate) for way in ways)


def usual_iterations(size: int) -> int:
    """Without -n: as many as have `VOLUME` bytes, within `FEWEST` and `ITERATIONS`."""
    return max(FEWEST, min(ITERATIONS, VOLUME // size))


def saturating(size: int, driver: str = "uncached") -> int:
    """A window that keeps the link busy: 64 lines, over PCIe with its longer round trip 256; at least two
    transfers."""
    lines = 256 if driver in PCIE else 64
    return max(2, lines // -(-size // LINE_BYTES))


def scenario(point: Point, models: Mapping[str, Path], **changes: Any) -> dict[str, Any]:
    """One run as the engine takes it; `changes` replace keys of the document, or add to its tables."""
    t, platform = point.transfers, point.platform
    check(t)
    workload: dict[str, Any] = {
        "operation": t.operation,
        "driver": t.driver,
        **({"port": t.port} if t.port != "lines" else {}),
        **({"homes": t.homes} if t.homes != "one" else {}),
        **({"beside": t.beside} if t.beside is not None else {}),
        **({"links": t.links, "policy": t.policy} if t.links > 1 else {}),
        **({"life": True} if t.life else {}),
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
            **entries(platform.groups["fpga_memory"]),
            **entries(platform.groups["core"]),
        },
        "workload": workload,
        "seed": t.seed,
        "limits": {"wall_s": WALL_S},
    }
    if t.driver in PCIE:
        made["fpga"] = {"model_path": str(models[DMA])}
        made["platform"]["pcie"] = {
            **entries(platform.groups["pcie"]),
            **{name: entries(platform.groups[name]) for name in PCIE_PARTS},
            "memory": entries(platform.groups["dma"]),
        }
    else:
        ends = {"fpga": top_of(t.port), "host": HOST}
        if t.homes == "both":
            ends = {"fpga": PEER, "host": PEER}
        elif t.home == "fpga":
            ends = {"fpga": HOST, "host": FPGA}
        made |= {end: {"model_path": str(models[top])} for end, top in ends.items()}
    if t.faults:
        made["faults"] = {name: {"rate": rate} for name, rate in t.faults}
    return changed(made, changes)


def top_of(port: str) -> str:
    """The top of an FPGA at the coherent link."""
    return FPGA if port == "lines" else AXI_FPGA


def tops(driver: str, port: str = "lines", homes: str = "one") -> tuple[str, ...]:
    """The tops of a driver's devices."""
    if homes == "both":
        return (PEER,)
    return (DMA,) if driver in PCIE else (top_of(port), HOST)


def parameters(
    platform: Platform, profile: Profile, top: str, cached: bool = False, links: int = 1, trace: int = 0
) -> dict[str, int]:
    """The parameters of one end; `cached`: with a cache where lines are used, a directory at their home.
    `trace`: records of its tracer, 0: none."""
    if top == DMA:
        return {"Overlap": 1}
    design = platform.profiles[profile]
    made = {
        "DataDepth": int(design.data.value),
        "RestDepth": int(design.rest.value),
        "Window": int(design.replay.value),
        "RoundTrip": int(design.round_trip.value),
    }
    if links > 1:
        made["NumLinks"] = links
    if trace:
        made["Trace"] = trace
    if cached:
        cache = {"CacheSets": int(design.cache.value) // WAYS, "CacheWays": WAYS}
        if top in (FPGA, PEER):
            cache["Atomics"] = 1
        directory = {"DirectorySets": int(design.directory.value) // WAYS, "DirectoryWays": WAYS}
        if links > 1:
            cache |= {"CacheSlices": CACHE_SLICES, "NumMshr": TWO_LINK_MSHRS}
            directory["DirectoryHomes"] = DIRECTORY_HOMES
        made |= (cache if top != HOST else {}) | (directory if top in (HOST, PEER) else {})
    return made


def designs(
    platform: Platform,
    profile: Profile,
    cached: bool = False,
    links: int = 1,
    driver: str = "uncached",
    port: str = "lines",
    homes: str = "one",
    trace: int = 0,
) -> dict[str, dict[str, int]]:
    """The parameters of a driver's devices by the name of their top."""
    return {
        top: parameters(platform, profile, top, cached, links, trace) for top in tops(driver, port, homes)
    }


def slow(cached: bool, links: int) -> bool:
    """Whether the devices are worth a longer compilation: two links with caches, a tenth faster by it."""
    return cached and links > 1


def models(
    platform: Platform,
    profile: Profile,
    cached: bool = False,
    links: int = 1,
    driver: str = "uncached",
    port: str = "lines",
    homes: str = "one",
    trace: int = 0,
) -> dict[str, Path]:
    """The shared objects of a driver's devices by the name of their top; a build shows its progress."""
    made = designs(platform, profile, cached, links, driver, port, homes, trace)
    return running.models(made, many=slow(cached, links))


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
    pcie: bool = False,
    errors: Sequence[float] = (0.0,),
    port: str = "lines",
    homes: str = "one",
) -> list[Point]:
    """A transfer at a time, and as many as keep the link busy; `window`: that many alone. `policies`: of two
    links. `pcie`: reads and writes of lines also by DMA over PCIe. `errors`: shares of blocks that arrive
    wrong, each of them measured. `port`: of the FPGA's logic at the coherent link."""
    made = []
    for platform in chosen:
        for profile in profiles:
            for operation in operations:
                possible = drivers_of(operation)
                own = driver in possible if operation in HOST_OPERATIONS else operation in OPERATIONS
                own = own or (operation == UPDATE and port == "axi")
                way = driver if own else possible[0]
                one_size = operation == UPDATE or way in (IPI, BARRIER) or (way == IO and sizes == SIZES)
                for size in (WORD_BYTES,) if one_size else parse_sizes(sizes):
                    count = usual_iterations(size) if iterations is None else iterations
                    most = min(saturating(size, way), most_in_flight(size, way))
                    if operation == UPDATE and port == "axi":
                        most = 1
                    flights = tuple(dict.fromkeys((1, most))) if window is None else (window,)
                    used = policies if links > 1 else POLICIES[:1]
                    for rate, flight, policy in product(errors, flights, used):
                        one = Transfers(
                            operation, size, count, flight, seed=seed, faults=faults_of(rate, links),
                            driver=way, links=links, policy=policy, port=port, homes=homes,
                        )  # fmt: skip
                        check(one)
                        made.append(Point(one, profile, platform))
    if pcie:
        lines = [name for name in operations if name in OPERATIONS]
        for over in PCIE:
            made += points(chosen, profiles, lines, sizes, iterations, window, seed, over)
    return made


def lives(
    chosen: Sequence[Platform],
    profiles: Sequence[Profile],
    operation: Operation,
    iterations: int | None = None,
    seed: int = 1,
    links: int = 1,
    policies: Sequence[str] = POLICIES[:1],
    errors: Sequence[float] = (0.0,),
    homes: str = "one",
) -> list[Point]:
    """One line's life, of so many lines one after the other."""
    used = policies if links > 1 else POLICIES[:1]
    made = []
    for platform, profile, policy, rate in product(chosen, profiles, used, errors):
        one = Transfers(
            operation, LINE_BYTES, LIVES if iterations is None else iterations, seed=seed,
            faults=faults_of(rate, links), driver="cached", links=links, policy=policy, homes=homes,
            life=True,
        )  # fmt: skip
        check(one)
        made.append(Point(one, profile, platform))
    return made


def together(alone: Sequence[Point]) -> list[Point]:
    """The points, and behind the last one of each direction's size both directions at once."""
    made = list(alone)
    for point in alone:
        t = point.transfers
        if t.operation in BESIDE:
            made.append(replace(point, transfers=replace(t, beside=BESIDE[t.operation])))
    for point in made:
        check(point.transfers)
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
    session = Session(title, runner=runner, given=given, waveform=waveform, command=command)
    runs = []
    for point in wanted:
        platform, t = session.platform(point.platform), point.transfers
        tops_of = designs(platform, point.profile, t.cached, t.links, t.driver, t.port, t.homes, t.trace)
        shown = HOST if t.home == "fpga" and t.homes == "one" else next(iter(tops_of))
        made = {
            top: session.model(
                top, values, waveform=None if top == shown else False, many=slow(t.cached, t.links)
            )
            for top, values in tops_of.items()
        }
        runs.append(scenario(point, made))
    return session.document(session.run(runs), wanted[0].transfers.seed if wanted else 0)


def loaded(name: str = PLATFORM) -> Platform:
    """The platform of a name."""
    return platforms.load(name)


def label(made: Mapping[str, Any]) -> str:
    """What progress calls a scenario."""
    w = made["workload"]
    return f"{made['platform']['name']} {made['profile']} {w['driver']} {w['operation']} {w['bytes']}"
