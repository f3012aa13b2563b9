# SPDX-License-Identifier: Apache-2.0
"""Keys of scenarios, as the engine's own types describe them: each with its unit and its range.

Each road has the description in its `schema.json`; the name of a type means the same in all of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from isthmus.roads.table import ROADS
from isthmus.storage import read_text

SUFFIXES: Mapping[str, str] = {
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
    "word": "_words",
}
"""How a key ends, by its unit."""


@dataclass(frozen=True)
class Key:
    """A number of a scenario: its whole name, its unit, and its range with both ends."""

    name: str
    unit: str
    low: float
    high: float
    whole: bool


def key(owner: str, name: str) -> Key:
    """The key of the engine's type `owner` that is `name` and its unit. Raises `KeyError` without one."""
    keys = _keys(owner)
    for unit, suffix in SUFFIXES.items():
        found = keys.get(name + suffix)
        if found is not None and found.get("x-unit", "1") == unit and "maximum" in found:
            return Key(
                name=name + suffix,
                unit=unit,
                low=_plain(found["minimum"]),
                high=_plain(found["maximum"]),
                whole="integer" in found["type"],
            )
    raise KeyError(f"no road's schema has {name} with a range in {owner}")


def largest(owner: str, name: str, of: str = "maximum") -> int:
    """The largest legal value of a whole number; or another limit that its schema states, by its name."""
    return int(_keys(owner)[name][of])


def _plain(value: float) -> float:
    return int(value) if value == int(value) else value


@cache
def _keys(owner: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next((types[owner] for types in map(_types, ROADS) if owner in types), {})
    made: dict[str, dict[str, Any]] = {}
    # A key of only one of several variants belongs to the type as well.
    for form in (found, *found.get("oneOf", [])):
        for name, of in form.get("properties", {}).items():
            made[name] = {**made.get(name, {}), **of}
    return made


@cache
def _types(road: str) -> Mapping[str, Any]:
    path = Path(__file__).parents[1] / "roads" / road / "schema.json"
    found: Mapping[str, Any] = json.loads(read_text(path))["$defs"] if path.is_file() else {}
    return found
