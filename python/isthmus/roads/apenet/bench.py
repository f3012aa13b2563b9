# SPDX-License-Identifier: Apache-2.0
"""Puts over APElink: scenarios, and how they are measured.

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
from isthmus.platforms import Platform, Profile, entries
from isthmus.platforms.keys import largest
from isthmus.platforms.parts import MEMORIES
from isthmus.results import Document

PLATFORM = "apelink"
TOP = "apenet_node"
LINK_TOP = "apenet_link_node"
LINKS = ("delay", "lanes")
LINK_CLOCKS = 6
"""Clocks of both ends of a link beside its line (asserted: tests/system/test_apelink_memory.py)."""
TESTS = ("one-way", "put", "ping-pong", "get", "burst")
TARGETS = ("address", "list")
"""A place of the far node's registered pages; its circular list of buffers, where each put is a message."""
LONGEST_MESSAGE = 4096
LONGEST_INLINE = 64
"""Bytes of a put whose payload comes with its post."""
LARGEST = largest("ApenetWorkload", "bytes")
MOST_NODES = largest("ApenetWorkload", "nodes")
MOST_IN_FLIGHT = largest("ApenetWorkload", "window")
MEMORY = 4 << 20
"""Bytes of a put memory."""
PAGE = 4096
"""Puts begin at multiples of it."""
WALL_S = 3600


@dataclass(frozen=True)
class Puts:
    """Puts of a size from one node of a ring to the one halfway round.

    test        one-way, put and ping-pong put; put ends when the last byte is in the far memory, the others
                when the program there has its event; get asks the far node for as much, and waits for it
    near, far   memory of the first node and of the far one: of MEMORIES
    target      of TARGETS; a list has a buffer for each put that may be in flight or compared
    rate_per_s  with one-way, put and get: so many a second, Poisson; window is then the most in flight
    burst       with test burst, which puts from all other nodes into the far one's list: its `ApenetList`
    link        of LINKS: a delay of flits; the gateware of both ends, over lanes
    inline      payload is stored together with the post, by the host or, where memory is gpu, by a kernel of
                that GPU, which has its events there
    """

    size: int = 4096
    window: int = 1
    test: str = "one-way"
    nodes: int = 2
    near: str = "host"
    far: str = "host"
    target: str = "address"
    rate_per_s: float | None = None
    burst: Mapping[str, Any] | None = None
    link: str = "delay"
    inline: bool = False
    iterations: int = 20
    seed: int = 1


@dataclass(frozen=True)
class Point:
    """One run."""

    puts: Puts
    profile: Profile = "isthmus"
    platform: Platform | str = PLATFORM


def check(puts: Puts) -> None:
    """Raises `UserError` for what cannot be."""
    choose("test", puts.test, TESTS)
    choose("memory", puts.near, MEMORIES)
    choose("memory", puts.far, MEMORIES)
    choose("target", puts.target, TARGETS)
    choose("link", puts.link, LINKS)
    if puts.target == "list":
        _check_list(puts)
    if puts.inline:
        _check_inline(puts)
    if not 1 <= puts.size <= LARGEST:
        raise UserError(f"size: {puts.size} bytes; a put has 1 to {LARGEST}")
    if not 2 <= puts.nodes <= MOST_NODES:
        raise UserError(f"nodes: {puts.nodes}; expected 2 to {MOST_NODES}")
    if not 1 <= puts.window <= MOST_IN_FLIGHT:
        raise UserError(f"window: {puts.window}; expected 1 to {MOST_IN_FLIGHT} puts in flight")
    if puts.test == "get" and (puts.near != "host" or puts.far == "staged"):
        raise UserError(f"memory: {memories(puts.near, puts.far)}; a get goes from host or gpu to host")
    if puts.test == "put" and puts.far != "host":
        raise UserError(f"memory: {memories(puts.near, puts.far)}; test put ends in the far host's memory")
    if puts.test == "ping-pong" and puts.window != 1:
        raise UserError(f"window: {puts.window}; a ping-pong has one put in flight")
    if puts.rate_per_s is not None and puts.test not in ("one-way", "put", "get"):
        raise UserError(f"rate: a test {puts.test} has puts in flight, and no rate")
    room = room_of(puts.size)
    if puts.window > room:
        raise UserError(f"window: {puts.window}; a put memory holds {room} of {puts.size} bytes")


def room_of(size: int) -> int:
    """Puts of so many bytes that a put memory holds."""
    return MEMORY // (-(-size // PAGE) * PAGE)


def _check_list(puts: Puts) -> None:
    if puts.size > LONGEST_MESSAGE:
        raise UserError(f"size: {puts.size} bytes; a message into a list has 1 to {LONGEST_MESSAGE}")
    if puts.test in ("put", "get"):
        raise UserError(f"target: list; test {puts.test} has a place in the far memory")
    if (puts.near, puts.far) != ("host", "host"):
        raise UserError(f"memory: {memories(puts.near, puts.far)}; a list is in the host's memory here")


def _check_inline(puts: Puts) -> None:
    if puts.size > LONGEST_INLINE:
        raise UserError(f"inline: {puts.size} bytes; a post brings at most {LONGEST_INLINE}")
    if puts.test in ("get", "burst"):
        raise UserError(f"inline: not with test {puts.test}")
    if "staged" in (puts.near, puts.far):
        raise UserError(f"inline: not with memory {memories(puts.near, puts.far)}")


def parameters(platform: Platform, profile: Profile) -> dict[str, int]:
    """The parameters of the gateware: nodes of a ring."""
    design = platform.profiles[profile]
    return {
        "Dims": 1,
        "DataWidth": int(platform.fpga.data.value),
        "Depth": int(design.buffer.value),
        "Firmware": int(design.firmware.value),
    }


def scenario(platform: Platform, profile: Profile, puts: Puts, model: Path, **changes: Any) -> dict[str, Any]:
    """One run as the engine takes it. `changes` replace whole groups of it."""
    check(puts)
    design = platform.profiles[profile]
    firmware = {f"{name}_us": getattr(design, name).value for name in ("wake_min", "wake_max", "work")}
    groups = platform.groups
    made: dict[str, Any] = {
        "road": "apenet",
        "profile": profile,
        "platform": {
            "name": platform.name,
            "serdes_ns": groups["serdes"].latency.value,
            "cable_ns": groups["cable"].delay.value,
            **{
                name: entries(group)
                for name, group in groups.items()
                if name not in ("serdes", "cable", "kernel")
            },
            "kernel_ns": groups["kernel"].turn.value,
        },
        "node": {
            "model_path": str(model),
            "clock_mhz": platform.fpga.clock.value,
            **({"firmware": firmware} if design.firmware.value else {}),
            **({"links": puts.link} if puts.link != "delay" else {}),
        },
        "workload": {
            "operation": "get" if puts.test == "get" else "put",
            "test": puts.test,
            "bytes": puts.size,
            "iterations": puts.iterations,
            "window": puts.window,
            **({"rate_per_s": puts.rate_per_s} if puts.rate_per_s is not None else {}),
            "nodes": puts.nodes,
            "near": puts.near,
            "far": puts.far,
            "target": puts.target,
            **({"list": dict(puts.burst)} if puts.burst is not None else {}),
            **({"inline": True} if puts.inline else {}),
        },
        "seed": puts.seed,
        "limits": {"wall_s": WALL_S},
    }
    return {**made, **changes}


def measure(
    points: Sequence[Point],
    *,
    title: str = "apenet",
    runner: running.Runner | None = None,
    given: Path | None = None,
) -> Document:
    """Run the points and give the result document; nothing is printed but progress.

    given     the model instead of those built for the points
    runner    instead of the simulator
    """
    session = Session(title, runner=runner, given=given)
    wanted = []
    for point in points:
        check(point.puts)
        platform = session.platform(point.platform)
        top = LINK_TOP if point.puts.link == "lanes" else TOP
        model = session.model(top, parameters(platform, point.profile))
        wanted.append(scenario(platform, point.profile, point.puts, model))
    return session.document(session.run(wanted), points[0].puts.seed if points else 0)


def label(made: Mapping[str, Any]) -> str:
    """What progress calls a scenario."""
    workload = made["workload"]
    kinds = (workload.get("near", "host"), workload.get("far", "host"))
    memory = "" if kinds == ("host", "host") else f" {memories(*kinds)}"
    memory += " list" if workload.get("target") == "list" else ""
    memory += " inline" if workload.get("inline") else ""
    memory += " lanes" if made["node"].get("links") == "lanes" else ""
    return f"{made['platform']['name']} {made['profile']} {workload['test']} {workload['bytes']}{memory}"


def memories(near: str, far: str) -> str:
    """Both memories in a word: `gpu`, or `host:gpu`."""
    return near if near == far else f"{near}:{far}"


def parse_memories(text: str) -> list[tuple[str, str]]:
    """A list of memories, near and far: `host,gpu,host:gpu`. Raises `UserError`."""
    found = []
    for word in text.split(","):
        near, _, far = word.strip().partition(":")
        pair = (near, far or near)
        for kind in pair:
            choose("memory", kind, MEMORIES)
        if pair not in found:
            found.append(pair)
    return found
