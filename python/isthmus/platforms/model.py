# SPDX-License-Identifier: Apache-2.0
"""A platform as typed constants. The fields below are the schema of `platforms/*.toml`.

Every constant is declared once, with its unit and its range; the loader and the reference page read
the declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_type_hints

Profile = Literal["as-published", "isthmus"]
PROFILES: tuple[Profile, ...] = ("as-published", "isthmus")


@dataclass(frozen=True)
class Constant:
    """One number of a model, with where it comes from."""

    value: float
    unit: str
    source: str
    file: str = ""


@dataclass(frozen=True)
class Declared:
    """What a constant must be: its unit, its legal range (both ends included), what it means."""

    unit: str
    low: float
    high: float
    what: str


def declared(group: type) -> Mapping[str, Declared]:
    """The constants of a group by name, in the order in which they are declared."""
    if group not in _DECLARED:
        hints = get_type_hints(group, include_extras=True)
        _DECLARED[group] = {name: hint.__metadata__[0] for name, hint in hints.items()}
    return _DECLARED[group]


_DECLARED: dict[type, Mapping[str, Declared]] = {}
"""What `declared` has found: reading annotations takes longer than all else of a scenario."""


@dataclass(frozen=True)
class Kind:
    """A kind of platform: usually one bus of a host.

    groups   its tables of constants by name
    boards   the board top of each profile
    optional tables that a platform may leave out
    one_of   of these tables a platform has exactly one, by its meaning
    fpga, profile  the types of the tables that every platform has
    profile_of     what a profile's constants belong to, in words
    drivers  of these tables each profile takes one: how its program uses the bus
    """

    groups: Mapping[str, type]
    boards: Mapping[Profile, str]
    fpga: type
    profile: type
    profile_of: str = "library"
    optional: frozenset[str] = frozenset()
    one_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    drivers: Mapping[Profile, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Platform:
    """One system: everything between the user program and the FPGA's pins. Equal to itself alone.

    All tables are instances of the types that its kind names; `groups`: those of its bus alone, by name.
    """

    name: str
    title: str
    bus: str
    fpga: Any
    groups: Mapping[str, Any]
    profiles: Mapping[Profile, Any]
    file: str
