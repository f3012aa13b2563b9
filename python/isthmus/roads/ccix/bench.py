# SPDX-License-Identifier: Apache-2.0
"""Reads and writes of coherent host memory by an FPGA over CCIX.

`scenario` makes one run (docs/reference/ccix-scenario.md), `measure` runs several.
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

PLATFORM, OTHER = "ccix-au280", "ccix-vck5000"
FPGA, DMA = "ccix_fpga", "ccix_dma_fpga"
OPERATIONS = ("device-read", "device-write")
LINE_BYTES = 64
LARGEST = largest("CcixWorkload", "bytes")
IN_FLIGHT_LINES, IN_FLIGHT = 4096, 128
"""Lines of all transfers in flight: half of the memory that a run uses; and transfers."""
SIZES = "64:64K"
PCIE = ("link", "root", "endpoint", "memory")
WARMUP = 20
ITERATIONS, FEWEST, VOLUME = 1000, 100, 4 << 20
WALL_S = 600

Operation = Literal["device-read", "device-write"]
Driver = Literal["request-agent", "pcie-dma"]
DRIVERS: tuple[Driver, ...] = ("request-agent", "pcie-dma")
"""A CCIX request agent; the document's comparison, DMA over PCIe with physical addresses."""
TOPS: Mapping[str, str] = {"request-agent": FPGA, "pcie-dma": DMA}


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


@dataclass(frozen=True)
class Point:
    """One run of the benchmark."""

    transfers: Transfers
    profile: Profile
    platform: Platform


def check(transfers: Transfers) -> None:
    """Raises `UserError` with one line for what cannot be run."""
    t = transfers
    choose("operation", t.operation, OPERATIONS)
    choose("driver", t.driver, DRIVERS)
    if not 1 <= t.size <= LARGEST:
        raise UserError(f"size: {t.size} bytes are outside 1 to {LARGEST}")
    if t.window is not None and not 1 <= t.window <= most_in_flight(t.size):
        raise UserError(
            f"window: {t.window} is outside 1 to {most_in_flight(t.size)} for transfers of {t.size} bytes"
        )


def most_in_flight(size: int) -> int:
    """Transfers of this size that may be in flight."""
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
        "warmup": WARMUP,
        "driver": t.driver,
    }
    workload |= {"window": t.window} if t.rate_per_s is None else {"rate_per_s": t.rate_per_s}
    made: dict[str, Any] = {
        "road": "ccix",
        "profile": point.profile,
        "platform": {
            "name": platform.name,
            **entries(platform.fpga),
            "transport": {**entries(platform.groups["transport"]), **_packets(platform, point.profile)},
            "home": entries(platform.groups["home"]),
            "pcie": {name: entries(platform.groups[name]) for name in PCIE},
        },
        "fpga": {"model_path": str(models[TOPS[t.driver]])},
        "workload": workload,
        "seed": t.seed,
        "limits": {"wall_s": WALL_S},
    }
    for key, value in changes.items():
        made[key] = {**made[key], **value} if isinstance(made.get(key), dict) else value
    return made


def _packets(platform: Platform, profile: Profile) -> dict[str, int]:
    """What a profile says of packets, as the engine takes it."""
    design = platform.profiles[profile]
    return {
        "header_bytes": int(design.header.value),
        "packet_bytes": int(design.packet.value),
        "packet_messages": int(design.messages.value),
    }


def parameters(platform: Platform, profile: Profile, driver: str) -> dict[str, int]:
    """The parameters of the driver's top."""
    design = platform.profiles[profile]
    if driver == "pcie-dma":
        return {"Overlap": int(design.descriptors.value > 1)}
    return {
        "NumTxns": int(design.transactions.value),
        "MaxWords": int(design.packet.value) // 8,
        "MaxMessages": int(design.messages.value),
    }


def model(platform: Platform, profile: Profile, driver: str, waveform: bool = False) -> dict[str, Path]:
    """The shared object of a driver's top by its name; a build shows its progress."""
    top = TOPS[driver]
    return {top: running.model(top, waveform, parameters(platform, profile, driver))}


def points(
    chosen: Sequence[Platform],
    profiles: Sequence[Profile],
    operations: Sequence[Operation],
    sizes: str = SIZES,
    iterations: int | None = None,
    window: int | None = None,
    seed: int = 1,
    drivers: Sequence[Driver] = ("request-agent",),
) -> list[Point]:
    """A transfer at a time, and as many as keep the link busy; `window`: that many alone."""
    made = []
    cases = product(chosen, profiles, operations, drivers, parse_sizes(sizes))
    for platform, profile, operation, driver, size in cases:
        count = usual_iterations(size) if iterations is None else iterations
        for flight in (1, saturating(size)) if window is None else (window,):
            one = Transfers(operation, size, count, flight, seed=seed, driver=driver)
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
    begin = monotonic()
    if runner is None:
        bootstrap.ensure_native()
    built: dict[str, Path] = {}
    made: dict[tuple[str, Profile, str], Mapping[str, Path]] = {}
    runs = []
    for point in wanted:
        key = (point.platform.name, point.profile, point.transfers.driver)
        if key not in made:
            made[key] = given or model(point.platform, *key[1:], waveform=waveform is not None)
            built |= {f"{top} {key[0]} {key[1]}": path for top, path in made[key].items()}
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
    return f"{made['platform']['name']} {made['profile']} {w['driver']} {w['operation']} {w['bytes']}"
