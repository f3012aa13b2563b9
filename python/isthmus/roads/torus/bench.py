# SPDX-License-Identifier: Apache-2.0
"""A torus under synthetic traffic: scenarios, and how they are measured.

Every node is the gateware of one router; the world has the links, and a source and a sink at each node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.bench import runner as running
from isthmus.bench.session import Session
from isthmus.errors import UserError, choose
from isthmus.platforms import Platform
from isthmus.platforms.keys import largest
from isthmus.results import Document

PLATFORM = "apenet"
TOP = "torus_node"
LINK_TOP = "torus_link_node"
LINKS = ("delay", "lanes")
MOST_ERRORS = 1e-5
"""Highest rate of wrong bits: above it most packets are lost."""
LINK_CLOCKS = 6
"""Clocks of both ends of a link beside its line (asserted: tests/system/test_torus_network.py)."""
PATTERNS = ("uniform", "opposite", "neighbour", "single")
FLIT_BYTES = 16
FRAMING_FLITS = 2
LARGEST = largest("TorusWorkload", "bytes")
MOST_NODES = 512
MOST_IN_RING = 32
BYTES = 128
PACKETS = 20_000
WALL_S = 36_000


@dataclass(frozen=True)
class Traffic:
    """A torus and its traffic. `load`: share of the clocks in which a node makes a flit, header and footer
    included; None: packets always wait at every node. `link`: a delay, or the gateware of its ends and lanes;
    `errors`: the rate of wrong bits on these."""

    nodes: tuple[int, int, int] = (4, 4, 4)
    pattern: str = "uniform"
    load: float | None = 0.5
    size: int = BYTES
    packets: int = PACKETS
    seed: int = 1
    link: str = "delay"
    errors: float = 0.0

    @property
    def dims(self) -> int:
        """Dimensions with a ring."""
        return sum(nodes > 1 for nodes in self.nodes)

    @property
    def flits(self) -> int:
        """Flits of a packet."""
        return self.size // FLIT_BYTES + FRAMING_FLITS


def check(traffic: Traffic) -> None:
    """Raises `UserError` for what cannot be."""
    choose("pattern", traffic.pattern, PATTERNS)
    if not FLIT_BYTES <= traffic.size <= LARGEST or traffic.size % FLIT_BYTES:
        raise UserError(f"size: {traffic.size} bytes; expected a multiple of 16 from 16 to {LARGEST}")
    if traffic.load is not None and not 0.001 <= traffic.load <= 1:
        raise UserError(f"load: {traffic.load:g} is outside 0.001 to 1")
    choose("link", traffic.link, LINKS)
    if not 0 <= traffic.errors <= MOST_ERRORS:
        raise UserError(f"errors: {traffic.errors:g} is outside 0 to {MOST_ERRORS:g}")
    if traffic.errors and traffic.link != "lanes":
        raise UserError(f"errors: --link {traffic.link} has no bits; expected 0, or --link lanes")


def nodes(text: str) -> tuple[int, int, int]:
    """Nodes of each dimension as people write them: 8, 4x4 or 4x4x4."""
    wrong = f"nodes: {text!r}; expected 2 to 32 in up to three dimensions, for example 8, 4x4 or 4x4x4"
    parts = text.split("x")
    if not 1 <= len(parts) <= 3 or not all(part.isascii() and part.isdigit() for part in parts):
        raise UserError(wrong)
    sizes = [int(part) for part in parts if len(part) <= 2]
    if len(sizes) != len(parts) or not all(2 <= size <= MOST_IN_RING for size in sizes):
        raise UserError(wrong)
    x, y, z = (*sizes, 1, 1)[:3]
    if x * y * z > MOST_NODES:
        raise UserError(f"nodes: {text} are {x * y * z}; at most {MOST_NODES} are simulated")
    return (x, y, z)


def top(traffic: Traffic) -> str:
    """The device of a node."""
    return LINK_TOP if traffic.link == "lanes" else TOP


def parameters(platform: Platform, traffic: Traffic) -> dict[str, int]:
    """The parameters of the gateware."""
    return {"Dims": traffic.dims, "Depth": int(platform.profiles["isthmus"].buffer.value)}


def scenario(platform: Platform, traffic: Traffic, model: Path, **changes: Any) -> dict[str, Any]:
    """One run as the engine takes it. `changes` replace whole groups of it."""
    check(traffic)
    made: dict[str, Any] = {
        "road": "torus",
        "profile": "isthmus",
        "platform": {
            "name": platform.name,
            "clock_mhz": platform.fpga.clock.value,
            "serdes_ns": platform.groups["serdes"].latency.value,
            "cable_ns": platform.groups["cable"].delay.value,
        },
        "device": {
            "model_path": str(model),
            "buffer_flits": int(platform.profiles["isthmus"].buffer.value),
        },
        "workload": {
            "nodes": list(traffic.nodes),
            "pattern": traffic.pattern,
            "load": traffic.load,
            "bytes": traffic.size,
            "packets": traffic.packets,
        },
        "seed": traffic.seed,
        "limits": {"wall_s": WALL_S},
    }
    if traffic.link == "lanes":
        made["device"]["links"] = traffic.link
        made["faults"] = {"bit_error_rate": traffic.errors}
    return {**made, **changes}


def measure(
    points: Sequence[Traffic],
    *,
    platform: Platform | str = PLATFORM,
    title: str = "torus",
    runner: running.Runner | None = None,
    given: Path | None = None,
) -> Document:
    """Run the points and give the result document; nothing is printed but progress.

    given     the model instead of those built for the points
    runner    instead of the simulator
    """
    for point in points:
        check(point)
    session = Session(title, runner=runner, given=given)
    used = session.platform(platform)
    found = session.run(
        [
            scenario(used, point, session.model(top(point), parameters(used, point), many=True))
            for point in points
        ]
    )
    return session.document(found, points[0].seed if points else 0)


def shape(sizes: Sequence[int]) -> str:
    """Nodes of each dimension, those of 1 at the end left out."""
    rings = [str(size) for size in sizes if size > 1]
    return "x".join(rings)


def label(made: Mapping[str, Any]) -> str:
    """What progress calls a scenario."""
    workload = made["workload"]
    load = "saturation" if workload["load"] is None else f"load {workload['load']:g}"
    made_of = f"{shape(workload['nodes'])} {workload['pattern']} {load}"
    if made["device"].get("links") != "lanes":
        return made_of
    errors = made["faults"]["bit_error_rate"]
    return f"{made_of} lanes" + (f", errors {errors:g}" if errors else "")
