# SPDX-License-Identifier: Apache-2.0
"""Reads and writes of coherent host memory by an FPGA over CCIX.

`scenario` makes one run (docs/reference/ccix-scenario.md), `measure` runs several.
"""

from __future__ import annotations

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

PLATFORM, OTHER = "ccix-au280", "ccix-vck5000"
FPGA, DMA = "ccix_fpga", "ccix_dma_fpga"
OPERATIONS = ("device-read", "device-write")
UPDATE = "update"
"""Atomics of the FPGA's AXI master on words that the host changes too."""
CHANGES = ("add", "swap", "compare-and-swap", "mixed")
WORD_BYTES = 8
MOST_WORDS = largest("CcixUpdates", "words")
LINE_BYTES = 64
LARGEST = largest("CcixWorkload", "bytes")
IN_FLIGHT_LINES, IN_FLIGHT = 4096, 128
"""Lines of all transfers in flight: half of the memory that a run uses; and transfers."""
SIZES = "64:64K"
PCIE = ("link", "root", "endpoint", "memory")
WARMUP = 20
ITERATIONS, FEWEST, VOLUME = 1000, 100, 4 << 20
WALL_S = 600

Operation = Literal["device-read", "device-write", "update"]
Driver = Literal["request-agent", "svm", "cached", "cached-hit", "contended", "pcie-dma"]
DRIVERS: tuple[Driver, ...] = ("request-agent", "svm", "cached", "cached-hit", "pcie-dma")
"""A CCIX request agent; the same with virtual addresses; one with a cache, on lines that it does not have and
on lines that it has; the document's comparison, DMA over PCIe."""
CACHED = ("cached", "cached-hit")
PORTS = ("lines", "axi")
"""What the FPGA's logic is connected to: the agent, or, of `CACHED`, an AXI port before its cache."""
CONTENDED = "contended"
"""Through the cache, while the host stores to the same lines: of `isthmus bench ccix-contention` alone."""
TOPS: Mapping[str, str] = {
    "pcie-dma": DMA,
    **dict.fromkeys(("request-agent", "svm", *CACHED, CONTENDED), FPGA),
}
HIT_LINES = 2048
"""Lines that are read before and hit: half of the cache."""
RETRY: Mapping[str, int] = {"Atomics": 1, "Tries": 255, "Wait": 250}
"""Of an AXI master under which pages move, or that makes atomics: how often it tries again what was answered
with an error, and the cycles between: 255 times, each a wait of 1 us and a round trip."""
PAGES = ("4K", "2M", "1G")
ORDERS = ("sequential", "random")
SKEWED = "skewed"
"""Order of `isthmus bench ccix-translation` alone: half of the transfers in the first sixteenth of memory."""
FOOTPRINTS: Mapping[str, tuple[int, bool]] = {"hit": (1 << 20, True), "miss": (32 << 20, False)}
"""Memory that transfers visit, and whether its pages are read before: half of what the FPGA's 512
translations of 4 KiB reach, and sixteen times that."""
PAGE_BYTES = 4096
"""With virtual addresses each transfer begins at another page of this size."""


@dataclass(frozen=True)
class Translation:
    """Virtual memory that transfers visit.

    warm   each page is read once before the first transfer
    moves  pages that the host moves to other frames while transfers run
    """

    page: str = "4K"
    order: str = "sequential"
    footprint: int = FOOTPRINTS["miss"][0]
    warm: bool = False
    moves: int = 0


def translated(case: str, page: str = "4K", order: str = "sequential") -> Translation:
    """`hit`: all pages are in the FPGA's translation cache. `miss`: those of 4 KiB are not."""
    footprint, warm = FOOTPRINTS[case]
    return Translation(page, order, footprint, warm)


@dataclass(frozen=True)
class Contention:
    """Lines to which both sides store, the stores that the host has in flight, and how often all is done."""

    lines: int
    host_window: int = 1
    rounds: int = 1


@dataclass(frozen=True)
class Updates:
    """Words that both sides change: what the FPGA does, how many, and the host's additions in flight.

    in_turn  the FPGA changes one after the other, not at random
    """

    change: str = "add"
    words: int = 64
    host_window: int = 1
    in_turn: bool = False


@dataclass(frozen=True)
class Transfers:
    """What is transferred. `window`: transfers in flight; None: `rate_per_s` a second, at random times."""

    operation: Operation
    size: int = LINE_BYTES
    iterations: int = ITERATIONS
    window: int | None = 1
    rate_per_s: float | None = None
    seed: int = 1
    driver: Driver = "request-agent"
    translation: Translation | None = None
    """Of the driver `svm`, and of no other."""
    cache: bool = False
    """With the driver `svm`: lines come through the FPGA's cache."""
    warmup: int = WARMUP
    contention: Contention | None = None
    """Of the driver `contended`, and of no other."""
    port: str = "lines"
    updates: Updates | None = None
    """Of the operation `update`, and of no other."""


@dataclass(frozen=True)
class Point:
    """One run of the benchmark."""

    transfers: Transfers
    profile: Profile
    platform: Platform


def check(transfers: Transfers) -> None:
    """Raises `UserError` with one line for what cannot be run."""
    t = transfers
    choose("operation", t.operation, (*OPERATIONS, UPDATE))
    choose("driver", t.driver, (*DRIVERS, CONTENDED))
    choose("port", t.port, PORTS)
    if t.port != "lines" and t.driver not in CACHED and not t.cache:
        raise UserError(
            f"port: axi is in front of the FPGA's cache; expected a driver of {', '.join(CACHED)}, "
            "or svm with --cache"
        )
    if t.operation == UPDATE and (t.port != "axi" or t.driver not in ("cached", "svm")):
        raise UserError(
            "op: update is of an AXI port; expected --port axi, and --driver cached or svm --cache"
        )
    if t.operation == UPDATE and t.size != WORD_BYTES:
        raise UserError(f"size: an update is of {WORD_BYTES} bytes")
    if t.operation == UPDATE and t.window != 1:
        raise UserError("window: the FPGA's AXI master has 1 atomic open; expected 1")
    assert (t.operation == UPDATE) == (t.updates is not None), t
    assert (t.driver == "svm") == (t.translation is not None), t
    if t.cache and t.driver != "svm":
        raise UserError(
            "cache: of the driver svm; cached and cached-hit are the cache with physical addresses"
        )
    assert (t.driver == CONTENDED) == (t.contention is not None), t
    if not 1 <= t.size <= LARGEST:
        raise UserError(f"size: {t.size} bytes are outside 1 to {LARGEST}")
    most = most_in_flight(t.size, t.translation, t.driver)
    if t.window is not None and not 1 <= t.window <= most:
        raise UserError(f"window: {t.window} is outside 1 to {most} for transfers of {t.size} bytes")


def most_in_flight(
    size: int, translation: Translation | None = None, driver: Driver = "request-agent"
) -> int:
    """Transfers of this size that may be in flight."""
    if driver == "cached-hit":
        return max(1, min(IN_FLIGHT, HIT_LINES // 2 // -(-size // LINE_BYTES)))
    if translation is not None:
        places = translation.footprint // (-(-size // PAGE_BYTES) * PAGE_BYTES)
        return max(1, min(IN_FLIGHT, places // 2))
    return max(1, min(IN_FLIGHT, IN_FLIGHT_LINES // -(-size // LINE_BYTES)))


def usual_iterations(size: int) -> int:
    """Without -n: as many as have `VOLUME` bytes, within `FEWEST` and `ITERATIONS`."""
    return max(FEWEST, min(ITERATIONS, VOLUME // size))


def saturating(size: int) -> int:
    """A window that keeps the link busy: twice the 128 lines of an agent, at least two transfers."""
    return max(2, min(IN_FLIGHT, 256 // -(-size // LINE_BYTES)))


def scenario(point: Point, models: Mapping[str, Path], **changes: Any) -> dict[str, Any]:
    """One run as the engine takes it; `changes` replace keys of the document, or add to its tables."""
    t, platform = point.transfers, point.platform
    check(t)
    workload: dict[str, Any] = {
        "operation": t.operation,
        "bytes": t.size,
        "iterations": t.iterations,
        "warmup": 0 if t.contention else t.warmup,
        "driver": t.driver,
    }
    workload |= {"window": t.window} if t.rate_per_s is None else {"rate_per_s": t.rate_per_s}
    if t.port != "lines":
        workload["port"] = t.port
    if t.cache:
        workload["cache"] = True
    if t.translation is not None:
        v = t.translation
        workload["translation"] = {
            "page": v.page,
            "order": v.order,
            "footprint_bytes": v.footprint,
            "warm": v.warm,
            "moves": v.moves,
        }
    if t.updates is not None:
        u = t.updates
        choose("change", u.change, CHANGES)
        workload["updates"] = {"change": u.change, "words": u.words, "host_window": u.host_window}
        if u.in_turn:
            workload["updates"]["in_turn"] = True
    if t.contention is not None:
        c = t.contention
        workload["contention"] = {"lines": c.lines, "host_window": c.host_window, "rounds": c.rounds}
    made: dict[str, Any] = {
        "road": "ccix",
        "profile": point.profile,
        "platform": {
            "name": platform.name,
            **entries(platform.fpga),
            "transport": {**entries(platform.groups["transport"]), **packets(platform, point.profile)},
            "home": entries(platform.groups["home"]),
            "iommu": entries(platform.groups["iommu"]),
            "pcie": {name: entries(platform.groups[name]) for name in PCIE},
        },
        "fpga": {"model_path": str(models[TOPS[t.driver]])},
        "workload": workload,
        "seed": t.seed,
        "limits": {"wall_s": WALL_S},
    }
    return changed(made, changes)


def packets(platform: Platform, profile: Profile) -> dict[str, int]:
    """What a profile says of packets, as the engine takes it."""
    design = platform.profiles[profile]
    return {
        "header_bytes": int(design.header.value),
        "packet_bytes": int(design.packet.value),
        "packet_messages": int(design.messages.value),
    }


def parameters(
    platform: Platform,
    profile: Profile,
    driver: str,
    port: str = "lines",
    cache: bool = False,
    retry: bool = False,
) -> dict[str, int]:
    """The parameters of the driver's top.

    cache  with the driver `svm`, one behind the translation
    retry  the AXI master tries again where a page is away
    """
    design = platform.profiles[profile]
    if driver == "pcie-dma":
        return {"Overlap": int(design.descriptors.value > 1)}
    made = {
        "NumTxns": int(design.transactions.value),
        "MaxWords": int(design.packet.value) // 8,
        "MaxMessages": int(design.messages.value),
    }
    lines = {"CacheLines": int(design.cache.value)}
    if port == "axi":
        lines |= {"AxiPort": 1, **(RETRY if retry else {})}
    if driver in (*CACHED, CONTENDED):
        return made | lines
    if driver != "svm":
        return made
    pages = int(design.block_pages.value)
    if pages not in (1, 2, 4, 8):
        raise UserError(f"profile.{profile}.block_pages: {pages}; expected 1, 2, 4 or 8")
    return made | {
        "Translate": 1,
        "NumMiss": int(design.translations.value),
        "PagesLog2": pages.bit_length() - 1,
        "Ahead": int(design.ahead.value),
        # Through a cache reads alone, which go around it.
        "Direct": int(design.direct.value),
        **(lines if cache else {}),
    }


def retries(transfers: Transfers) -> bool:
    """The FPGA's AXI master meets pages that are away, or makes atomics."""
    memory = transfers.translation
    moves = memory is not None and memory.moves > 0
    return transfers.port == "axi" and (moves or transfers.operation == UPDATE)


def models(
    platform: Platform,
    profile: Profile,
    driver: str,
    port: str = "lines",
    cache: bool = False,
    retry: bool = False,
) -> dict[str, Path]:
    """The shared object of a driver's top by its name; a build shows its progress."""
    return running.models({TOPS[driver]: parameters(platform, profile, driver, port, cache, retry)})


def points(
    chosen: Sequence[Platform],
    profiles: Sequence[Profile],
    operations: Sequence[Operation],
    sizes: str = SIZES,
    iterations: int | None = None,
    window: int | None = None,
    seed: int = 1,
    drivers: Sequence[Driver] = ("request-agent",),
    virtual: Sequence[Translation] = (translated("hit"), translated("miss")),
    port: str = "lines",
    cache: bool = False,
    updates: Updates | None = None,
) -> list[Point]:
    """A transfer at a time, and as many as keep the link busy; `window`: that many alone.

    virtual  the memory that the driver `svm` visits
    cache    it does so through the FPGA's cache
    updates  of the operation `update`
    """
    made = []
    cases = product(chosen, profiles, operations, drivers)
    for platform, profile, operation, driver in cases:
        memories: Sequence[Translation | None] = virtual if driver == "svm" else (None,)
        if operation == UPDATE:  # at random
            memories = [one and replace(one, warm=False) for one in memories]
        for memory, size in product(memories, parse_sizes(sizes)):
            count = usual_iterations(size) if iterations is None else iterations
            full = min(saturating(size), most_in_flight(size, memory, driver))
            full = 1 if operation == UPDATE else full
            for flight in dict.fromkeys((1, full)) if window is None else (window,):
                one = Transfers(
                    operation,
                    size,
                    count,
                    flight,
                    seed=seed,
                    driver=driver,
                    translation=memory,
                    port=port,
                    cache=cache,
                    updates=updates if operation == UPDATE else None,
                )
                check(one)
                made.append(Point(one, profile, platform))
    return made


def measure(
    wanted: Sequence[Point],
    *,
    title: str = "ccix",
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
        values = parameters(platform, point.profile, t.driver, t.port, t.cache, retries(t))
        top = TOPS[t.driver]
        runs.append(scenario(point, {top: session.model(top, values)}))
    return session.document(session.run(runs), wanted[0].transfers.seed if wanted else 0)


def loaded(name: str = PLATFORM) -> Platform:
    """The platform of a name."""
    return platforms.load(name)


def label(made: Mapping[str, Any]) -> str:
    """What progress calls a scenario."""
    w = made["workload"]
    v = w.get("translation")
    memory = f" {v['page']} {v['order']}" if v else ""
    memory += ", cache" if w.get("cache") else ""
    if "contention" in w:
        memory = f" {w['contention']['lines']} lines"
    return f"{made['platform']['name']} {made['profile']} {w['driver']}{memory} {w['operation']} {w['bytes']}"
