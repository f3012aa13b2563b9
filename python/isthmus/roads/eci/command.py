# SPDX-License-Identifier: Apache-2.0
"""What `isthmus bench eci` does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus import platforms
from isthmus.bench import traces
from isthmus.bench.output import FORMATS, Format, publish
from isthmus.bench.runner import Runner
from isthmus.errors import UserError, choose
from isthmus.platforms import PROFILES, Platform, Profile
from isthmus.results import Document
from isthmus.roads.eci import ROAD, tables
from isthmus.roads.eci.bench import (
    ALL_OPERATIONS,
    BARRIER,
    DRIVERS,
    HOMES,
    HOST_OPERATIONS,
    IO,
    IPI,
    LIFE_OPERATIONS,
    OPERATIONS,
    PCIE,
    PLATFORM,
    POLICIES,
    PORTS,
    SIZES,
    WORD_OPERATIONS,
    Point,
    lives,
    measure,
    models,
    points,
    rates,
    scenario,
    together,
)
from isthmus.roads.eci.platform import KINDS
from isthmus.storage import result_file

BOTH = "both"
"""Reads, and writes, of both ends at once, and each alone."""
_ONE = "--op, --driver, --port, -s, --window, --policy, --errors, --platform, --profile"
"""Options that choose one run."""


@dataclass(frozen=True)
class Asked:
    """What is measured. `errors`: shares of blocks that arrive wrong, with commas; `all`: `ERRORS`."""

    operation: str = "all"
    driver: str = "uncached"
    links: int = 1
    policy: str = "all"
    pcie: bool = False
    errors: str = "0"
    size: str = SIZES
    iterations: int | None = None
    window: int | None = None
    platform: str = PLATFORM
    profile: str = "isthmus"
    seed: int = 1
    port: str = "lines"
    homes: str = "one"
    life: bool = False


def wanted(asked: Asked) -> list[Point]:
    """The runs. Raises `UserError` with one line for what cannot be run."""
    a = asked
    choose("op", a.operation, (*ALL_OPERATIONS, BOTH, "all"))
    choose("driver", a.driver, (*DRIVERS, IO, IPI, BARRIER, *PCIE))
    lines = OPERATIONS if a.driver in PCIE or a.port != "lines" else (*OPERATIONS, *HOST_OPERATIONS)
    every = WORD_OPERATIONS.get(a.driver, lines)
    both = a.operation == BOTH
    if a.pcie and a.operation not in (*OPERATIONS, BOTH, "all"):
        raise UserError(f"pcie: {a.operation} is not measured over PCIe; expected {' or '.join(OPERATIONS)}")
    if both and (a.driver not in DRIVERS or a.port != "lines" or a.pcie):
        raise UserError(f"op: both ends read and write lines by {', '.join(DRIVERS)}, on port lines")
    operations = every if a.operation in (BOTH, "all") else (a.operation,)
    choose("homes", a.homes, HOMES)
    homes = "both" if both else a.homes
    choose("policy", a.policy, (*POLICIES, "all"))
    choose("port", a.port, PORTS)
    choose("profile", a.profile, (*PROFILES, "all"))
    profiles = PROFILES if a.profile == "all" else (a.profile,)
    chosen = platforms.chosen(a.platform, KINDS, ROAD.name)
    if a.life:
        return _lives(a, chosen, profiles)  # type: ignore[arg-type]
    found = points(
        chosen,
        profiles,  # type: ignore[arg-type]
        operations,  # type: ignore[arg-type]
        a.size,
        a.iterations,
        a.window,
        a.seed,
        a.driver,
        a.links,
        POLICIES if a.policy == "all" else (a.policy,),
        a.pcie and a.driver not in PCIE,
        rates(a.errors),
        a.port,
        homes,
    )
    return together(found) if both else found


def _lives(a: Asked, chosen: Sequence[Platform], profiles: Sequence[Profile]) -> list[Point]:
    operation = LIFE_OPERATIONS[0] if a.operation == "all" else a.operation
    if a.driver not in ("uncached", "cached") or a.port != "lines" or a.pcie:
        raise UserError("life: a line's life is through the cache, over the coherent link, on port lines")
    if operation not in LIFE_OPERATIONS:
        raise UserError(f"life: {operation}; expected --op {' or '.join(LIFE_OPERATIONS)}")
    if a.window is not None or a.size != SIZES:
        raise UserError("life: it is of one line at a time; expected no -s and no --window")
    policies = POLICIES if a.policy == "all" else (a.policy,)
    return lives(
        chosen,
        profiles,
        operation,  # type: ignore[arg-type]
        a.iterations,
        a.seed,
        a.links,
        policies,
        rates(a.errors),
        a.homes,
    )


def scenario_text(asked: Asked) -> str:
    """The scenario of the one run as JSON, its models built."""
    found = wanted(asked)
    if len(found) != 1:
        raise UserError(f"print-scenario: {len(found)} runs; name {_ONE}")
    [point] = found
    t = point.transfers
    made = models(point.platform, point.profile, t.cached, t.links, t.driver, t.port, t.homes, t.trace)
    return json.dumps(scenario(point, made), indent=1)


def run(
    asked: Asked,
    *,
    waveform: Path | None = None,
    format: Format = "table",  # noqa: A002
    out: Path = Path("out"),
    out_json: Path | None = None,
    runner: Runner | None = None,
    given: Mapping[str, Path] | None = None,
) -> Document:
    """`isthmus bench eci`: measure, write `out/eci.json`, `.csv` and `.html`, print."""
    choose("format", format, FORMATS)
    found = wanted(asked)
    if waveform is not None:
        traces.check_waveform(waveform, len(found), _ONE)
    target = result_file(out, "eci", out_json)
    made = measure(found, waveform=waveform, runner=runner, given=given)
    publish(made, target, format, tables.text)
    if waveform is not None and format == "table":
        print(traces.how_to_open(waveform))
    return made
