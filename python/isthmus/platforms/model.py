# SPDX-License-Identifier: Apache-2.0
"""A platform as typed constants, as `platforms/*.toml` has them.

The unit and the range of a constant that the engine takes are those of the engine's own type, which its
table names; `Declared` states them for all others. The loader and the reference page read both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_type_hints

from isthmus.platforms.keys import key

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
    """The declaration of a constant: its unit, its legal range (both ends included), its meaning."""

    unit: str
    low: float
    high: float
    what: str
    key: str = ""
    """Its key in a scenario, where it is not its name with its unit."""
    whole: bool | None = None
    """Whether it is a whole number; None: as its unit says."""

    @property
    def is_whole(self) -> bool:
        return self.unit in _WHOLE if self.whole is None else self.whole


_WHOLE = frozenset({"1", "bit", "byte", "microframe", "TLP", "cycle", "word", "B"})


@dataclass(frozen=True)
class Of:
    """A constant that is a key of another type of the engine than its table's, or has another name."""

    owner: str
    name: str
    what: str


def declared(group: type) -> Mapping[str, Declared]:
    """The constants of a group by name, in the order in which they are declared.

    A constant's annotation is its `Declared`; or `Of`; or its meaning, if it is a key of the engine's type
    that the group has as `ENGINE`.
    """
    if group not in _DECLARED:
        hints = get_type_hints(group, include_extras=True)
        _DECLARED[group] = {
            name: _declared(group, name, hint.__metadata__[0])
            for name, hint in hints.items()
            if hasattr(hint, "__metadata__")
        }
    return _DECLARED[group]


def _declared(group: Any, name: str, found: Declared | Of | str) -> Declared:
    if isinstance(found, Declared):
        return found
    of = Of(group.ENGINE, name, found) if isinstance(found, str) else found
    one = key(of.owner, of.name)
    return Declared(one.unit, one.low, one.high, of.what, one.name, one.whole)


_DECLARED: dict[type, Mapping[str, Declared]] = {}
"""Results of `declared`: reading annotations takes longer than the rest of a scenario."""


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
