# SPDX-License-Identifier: Apache-2.0
"""The runs that `isthmus verify switch` compares with the FORTH prototype, and with our own limits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from isthmus.bench import runner as running
from isthmus.platforms import PROFILES, Profile
from isthmus.results import Document
from isthmus.roads.gives import Request
from isthmus.roads.switch.bench import ENGINES, TOP, Design, Point, Traffic, curve, line_load
from isthmus.roads.switch.bench import measure as measured

PACKETS = 20_000
LIGHT = 0.1
PUBLISHED_PORTS = 4
IDEAL_LOADS = (0.5, 0.8, 0.9)


def points(packets: int = PACKETS, seed: int = 1) -> list[Point]:
    """All of them, the longest first."""
    small = Traffic(ports=PUBLISHED_PORTS, packets=packets, seed=seed)
    large = Traffic(packets=packets, seed=seed)
    busy = line_load(0.8, small.sizes)
    made: list[Point] = []
    for profile in PROFILES:
        design = Design(profile)
        made += [Point(replace(small, load=load), design, "rtl") for load in (LIGHT, round(busy, 6), None)]
        full = replace(small, load=None, pattern="permutation", sizes=(512, 512))
        made.append(Point(full, design, "rtl"))
    design = Design()
    made.append(Point(replace(small, load=0.8), design, "rtl"))
    made.append(Point(replace(small, load=round(busy, 6)), design, "ideal"))
    made += [Point(replace(large, load=load), design, kind) for load in IDEAL_LOADS for kind in ENGINES]  # type: ignore[arg-type]
    full = replace(large, load=None)
    short = replace(full, pattern="permutation", sizes=(64, 64))
    single = replace(full, pattern="single", packets=packets // 4)
    made += [Point(each, design, "rtl") for each in (full, short, single)]
    return made


def measure(
    packets: int = PACKETS,
    seed: int = 1,
    runner: running.Runner | None = None,
    given: Path | None = None,
    more: Sequence[Point] = (),
) -> Document:
    """Run them; `more` points go into the same document."""
    return measured([*points(packets, seed), *more], title="verify switch", runner=runner, given=given)


DELAY_PORTS = 4
DELAY_LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
DELAY_PACKETS = 20_000


def delay_points(profiles: Iterable[Profile] = PROFILES, seed: int = 1) -> list[Point]:
    """Figure 6: delay against load through the document's switch of 4 ports, and saturation."""
    traffic = Traffic(ports=DELAY_PORTS, packets=DELAY_PACKETS, seed=seed)
    return [
        point
        for profile in profiles
        for point in curve(traffic, Design(profile), DELAY_LOADS, ("rtl", "ideal"))
    ]


def given(request: Request) -> Document:
    """Figure 6, for the page of the network that has the switch in it."""
    model = None if request.given is None else request.given[TOP]
    points = delay_points(request.profiles, request.seed)
    return measured(points, title=request.title, runner=request.runner, given=model)
