# SPDX-License-Identifier: Apache-2.0
"""UDP into registered memory: scenarios, and how they are measured.

`scenario` makes one run, `measure` runs several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.bench import runner as running
from isthmus.bench.session import Session
from isthmus.errors import UserError, choose
from isthmus.platforms import PROFILES, Platform, Profile, entries
from isthmus.platforms.keys import largest
from isthmus.platforms.parts import MEMORIES
from isthmus.results import Document
from isthmus.roads.nanet.platform import TEN_GIGABIT_PORTS, is_ten_gigabit, top

PLATFORM, TEN_GIGABIT = "nanet", "nanet-10g"
DRIVERS = ("poll", "interrupt")
POLICIES = ("newest", "oldest", "hold")
PAGES = (0, 4, 64, 2048)
"""KiB of a page; 0: buffers have addresses of the bus."""
REGIONS = 16
"""Of an interface that translates addresses."""
LARGEST = largest("NanetWorkload", "bytes")
LARGEST_BUFFERS = largest("NanetWorkload", "buffers")
SMALLEST = 4
PORTS = largest("NanetInterface", "ports")
RECEIVE, SEND = "nic-to-memory", "message"
"""Operations: from the wire to a program, or from a program's memory to the other end of the cable, or to the
program there."""
MOST_POSTS = 16
STREAM_WINDOW = 16
"""Datagrams of a port in flight where a rate is measured: the wire is never idle."""
WALL_S = 600


@dataclass(frozen=True)
class Stream:
    """What comes in: datagrams of a size, as many as may be in flight or at a rate, on so many ports.

    memory  where the data goes: one of `MEMORIES`
    remote  of what a program sends: whether another host's program takes it, or it ends at the cable's end
    """

    size: int = LARGEST
    window: int | None = 1
    rate_per_s: float | None = None
    ports: int = 1
    buffers: int = LARGEST_BUFFERS
    datagrams: int = 1
    driver: str = "poll"
    policy: str = "newest"
    page_kib: int = 0
    operation: str = RECEIVE
    remote: bool = False
    memory: str = "host"
    iterations: int = 200
    seed: int = 1


@dataclass(frozen=True)
class Point:
    """One run."""

    stream: Stream
    profile: Profile = "isthmus"
    platform: Platform | str = PLATFORM


def check(stream: Stream) -> None:
    """Raises `UserError` for what cannot be."""
    if not SMALLEST <= stream.size <= LARGEST:
        raise UserError(f"size: {stream.size} bytes; a datagram of Ethernet has {SMALLEST} to {LARGEST}")
    if not 1 <= stream.ports <= PORTS:
        raise UserError(f"ports: {stream.ports}; expected 1 to {PORTS}")
    if not 1 <= stream.buffers <= LARGEST_BUFFERS or stream.buffers & (stream.buffers - 1):
        raise UserError(f"buffers: {stream.buffers}; expected a power of two, 1 to {LARGEST_BUFFERS}")
    if stream.page_kib not in PAGES:
        raise UserError(f"page: {stream.page_kib} KiB; expected 4, 64, 2048, or 0 for none")
    if stream.policy not in POLICIES:
        raise UserError(f"policy: {stream.policy}; expected one of {', '.join(POLICIES)}")
    choose("memory", stream.memory, MEMORIES)
    if stream.operation == SEND:
        if stream.memory != "host":
            raise UserError(f"memory: {stream.memory}; a program sends from its host's memory")
        if stream.ports != 1:
            raise UserError("operation: a program sends by one port")
        if stream.window is not None and stream.window > MOST_POSTS:
            raise UserError(f"window: a program has 1 to {MOST_POSTS} datagrams to send in flight")
        if stream.rate_per_s is not None and not stream.remote:
            raise UserError("rate: a program sends to the cable's end with a window; message has rates")
    if stream.window is not None and stream.window > stream.buffers * stream.datagrams:
        room = stream.buffers * stream.datagrams
        raise UserError(f"window: {stream.window} datagrams in flight; the buffers hold {room}")


def parameters(
    platform: Platform, profile: Profile, ports: int, page_kib: int = 0, *, send: bool = False
) -> dict[str, int]:
    """The parameters of the gateware."""
    design = platform.profiles[profile]
    return {
        "NumPorts": ports,
        "DataWidth": int(platform.fpga.data.value),
        "Stores": int(design.stores.value),
        "Firmware": int(design.firmware.value),
        **({"Regions": REGIONS} if page_kib else {}),
        **({"Send": 1} if send else {}),
    }


def scenario(
    platform: Platform, profile: Profile, stream: Stream, model: Path, **changes: Any
) -> dict[str, Any]:
    """One run as the engine takes it. `changes` replace whole groups of it."""
    check(stream)
    design = platform.profiles[profile]
    firmware = {f"{name}_us": getattr(design, name).value for name in ("wake_min", "wake_max", "work")}
    arrivals: dict[str, Any] = {"window": stream.window}
    if stream.rate_per_s is not None:
        arrivals = {"rate_per_s": stream.rate_per_s}
    made: dict[str, Any] = {
        "road": "nanet",
        "profile": profile,
        "platform": {
            "name": platform.name,
            **{name: entries(group) for name, group in platform.groups.items()},
        },
        "interface": {
            "model_path": str(model),
            "clock_mhz": platform.fpga.clock.value,
            "ports": stream.ports,
            "page_bytes": stream.page_kib * 1024,
            **({"firmware": firmware} if design.firmware.value else {}),
        },
        "workload": {
            "operation": stream.operation,
            **({"remote": True} if stream.remote else {}),
            "bytes": stream.size,
            "iterations": stream.iterations,
            "buffers": stream.buffers,
            "datagrams": stream.datagrams,
            "driver": stream.driver,
            "policy": stream.policy,
            "memory": stream.memory,
            **arrivals,
        },
        "seed": stream.seed,
        "limits": {"wall_s": WALL_S},
    }
    return {**made, **changes}


def measure(
    points: Sequence[Point],
    *,
    title: str = "nanet",
    waveform: Path | None = None,
    runner: running.Runner | None = None,
    given: Path | None = None,
) -> Document:
    """Run the points and give the result document; nothing is printed but progress.

    waveform  FST file of the interface, of the one point
    given     the model instead of those built for the points
    runner    instead of the simulator
    """
    session = Session(title, runner=runner, given=given, waveform=waveform)
    wanted = scenarios(session, points)
    return session.document(session.run(wanted), points[0].stream.seed if points else 0)


def scenarios(session: Session, points: Sequence[Point]) -> list[dict[str, Any]]:
    """The points as the engine takes them, with the models of a session. Raises `UserError`."""
    wanted = []
    for point in points:
        check(point.stream)
        platform, stream = session.platform(point.platform), point.stream
        sends = stream.operation == SEND
        if is_ten_gigabit(platform) and stream.ports > TEN_GIGABIT_PORTS:
            raise UserError(
                f"ports: {stream.ports}; {platform.name} has 10 Gigabit Ethernet: expected 1 or 2"
            )
        if stream.memory != "host" and "gpu" not in platform.groups:
            raise UserError(f"memory: {stream.memory}; {platform.name} has no GPU: expected a table gpu")
        values = parameters(platform, point.profile, stream.ports, stream.page_kib, send=sends)
        model = session.model(top(platform), values)
        wanted.append(scenario(platform, point.profile, stream, model))
    return wanted


def profiles(chosen: str) -> Sequence[Profile]:
    """Those that an option names."""
    return [one for one in PROFILES if chosen in ("all", one)]


def parse_memories(text: str) -> Sequence[str]:
    """A list of memories: `host,gpu`. Raises `UserError`."""
    return list(dict.fromkeys(choose("memory", word.strip(), MEMORIES) for word in text.split(",")))


def label(made: Mapping[str, Any]) -> str:
    """What progress calls a scenario."""
    workload = made["workload"]
    if made.get("commodity"):
        return "without the interface"
    if (chain := made.get("chain")) is not None:
        return f"{made['profile']} {chain['format']} {chain['finder']} {chain['rate_per_s'] / 1e6:g} M/s"
    memory = "" if workload["memory"] == "host" else f" {workload['memory']}"
    return f"{made['platform']['name']} {made['profile']} {workload['bytes']}{memory}"
