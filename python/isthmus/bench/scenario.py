# SPDX-License-Identifier: Apache-2.0
"""A platform's constants and a workload become the scenario that `isthmus-road` runs.

Every key carries its unit in its name, so the unit of the platform file decides the key: a constant
in ns/byte named copy becomes copy_ns_per_byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from isthmus.platforms import BUSES, Constant, Platform, Profile, declared

Method = Literal["convenience", "blocking", "pipelined"]
METHODS: tuple[Method, ...] = ("convenience", "blocking", "pipelined")

_SUFFIXES: Mapping[str, str] = {
    "1": "",
    "s": "_s",
    "us": "_us",
    "ns": "_ns",
    "m": "_m",
    "MHz": "_mhz",
    "Mbit/s": "_mbit_s",
    "ns/m": "_ns_per_m",
    "ns/byte": "_ns_per_byte",
    "bit": "_bits",
    "byte": "_bytes",
    "microframe": "_microframes",
    "share": "_share",
    "TLP": "_tlps",
    "cycle": "_cycles",
}
_WHOLE = frozenset({"1", "bit", "byte", "microframe", "TLP", "cycle"})


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
    """The bus's tables; a choice and the profile's driver one level deeper, under what they stand for."""
    kind = BUSES[platform.bus]
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


def entries(group: Any) -> dict[str, float | int]:
    """The constants of one table, each key with its unit."""
    return dict(_entry(key, getattr(group, key)) for key in declared(type(group)))


def _entry(name: str, constant: Constant) -> tuple[str, float | int]:
    whole = constant.unit in _WHOLE or name == "epoch"
    value = int(constant.value) if whole else constant.value
    return name + _SUFFIXES[constant.unit], value


Procedure = Literal["steady", "published"]
"""What of a series counts: a steady window, or all of it as in the Etherbone document."""


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
