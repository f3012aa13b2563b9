# SPDX-License-Identifier: Apache-2.0
"""A platform's constants and a workload become the scenario that `isthmus-road` runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from isthmus.platforms import Platform, Profile, entries
from isthmus.roads.etherbone.platform import KINDS

Method = Literal["convenience", "blocking", "pipelined"]
METHODS: tuple[Method, ...] = ("convenience", "blocking", "pipelined")


def scenario(
    platform: Platform,
    profile: Profile,
    model: Path,
    workload: Mapping[str, Any],
    seed: int,
    trace: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """One run as the engine takes it."""
    made: dict[str, Any] = {
        "road": "etherbone",
        "profile": profile,
        "platform": constants(platform, profile),
        "device": {"model_path": str(model)},
        "workload": dict(workload),
        "seed": seed,
    }
    if trace:
        made["trace"] = dict(trace)
    return made


def constants(platform: Platform, profile: Profile) -> dict[str, Any]:
    """The platform's numbers without their sources, each key with its unit."""
    return {
        "name": platform.name,
        "fpga": entries(platform.fpga),
        "bus": {platform.bus: _bus(platform, profile)},
        "library": entries(platform.profiles[profile]),
    }


def _bus(platform: Platform, profile: Profile) -> dict[str, Any]:
    """The bus's tables; a choice and the profile's driver one level deeper, under their names."""
    kind = KINDS[platform.bus]
    made: dict[str, Any] = {}
    for name, group in platform.groups.items():
        if name in kind.drivers.values():
            if name == kind.drivers[profile]:
                made["driver"] = {name: entries(group)}
            continue
        place = next((what for what, choice in kind.one_of.items() if name in choice), None)
        if place is None:
            made[name] = entries(group)
        else:
            made[place] = {name: entries(group)}
    return made


Procedure = Literal["steady", "published"]
"""The part of a series that counts: a steady window, or all of it as in the Etherbone document."""


def timestamps(
    method: Method, per_cycle: int, iterations: int, procedure: Procedure = "steady"
) -> dict[str, Any]:
    return {
        "kind": "timestamps",
        "method": method,
        "timestamps_per_cycle": per_cycle,
        "iterations": iterations,
        "procedure": procedure,
    }


def words(method: Method, counts: list[int], iterations: int) -> dict[str, Any]:
    return {"kind": "words", "method": method, "words": counts, "iterations": iterations}


def tlu(iterations: int) -> dict[str, Any]:
    return {"kind": "tlu", "method": "blocking", "iterations": iterations}


def throughput(per_cycle: int, iterations: int, procedure: Procedure = "steady") -> dict[str, Any]:
    return {
        "kind": "throughput",
        "timestamps_per_cycle": per_cycle,
        "iterations": iterations,
        "procedure": procedure,
    }


def line_rate(frames: int, timestamps_per_cycle: int = 0) -> dict[str, Any]:
    return {"kind": "line-rate", "frames": frames, "timestamps_per_cycle": timestamps_per_cycle}


def fuzz(frames: int) -> dict[str, Any]:
    return {"kind": "fuzz", "frames": frames}


def path(reads: list[int]) -> dict[str, Any]:
    return {"kind": "path", "reads": reads}


def label(made: Mapping[str, Any]) -> str:
    """The name of a scenario in the progress display."""
    workload = made["workload"]
    method = workload.get("method") or workload["kind"]
    if "operation" in workload:
        method = f"{workload['operation']} {workload['bytes']}"
    return f"{made['platform']['name']} {made['profile']} {method}"
