# SPDX-License-Identifier: Apache-2.0
"""The constants that a run was given, as its document stores them.

A page that is drawn later shows these, even if the platform files have changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isthmus.platforms import Platform

NOT_STORED = "constants not stored"
"""The note for a document that is older than stored constants."""


@dataclass(frozen=True)
class StoredConstant:
    """One constant: its table, its name there, its meaning and its value."""

    part: str
    name: str
    what: str
    value: float
    unit: str
    source: str


@dataclass(frozen=True)
class Constants:
    """All constants of one platform."""

    platform: str
    title: str
    bus: str
    constants: tuple[StoredConstant, ...]

    def value(self, part: str, name: str) -> float | None:
        """The number of one constant; None where the platform has none of this name."""
        found = (one.value for one in self.constants if (one.part, one.name) == (part, name))
        return next(found, None)


def profile_part(profile: str) -> str:
    """The part with a profile's own constants."""
    return f"profile.{profile}"


def stored(platforms: Iterable[Platform]) -> dict[str, Any]:
    """The constants of platforms, as the document has them: by the platform's name."""
    from isthmus.platforms import declared

    made: dict[str, Any] = {}
    for platform in platforms:
        holders = {"fpga": platform.fpga, **platform.groups}
        holders |= {profile_part(name): holder for name, holder in platform.profiles.items()}
        rows = []
        for part, holder in holders.items():
            for name, wanted in declared(type(holder)).items():
                one = getattr(holder, name)
                rows.append(
                    {
                        "part": part,
                        "name": name,
                        "what": wanted.what,
                        "value": one.value,
                        "unit": one.unit,
                        "source": one.source,
                    }
                )
        made[platform.name] = {"title": platform.title, "bus": platform.bus, "constants": rows}
    return made


def read(data: Mapping[str, Any]) -> dict[str, Constants]:
    """The constants of a document by platform; empty where it has none."""
    return {
        name: Constants(
            name,
            str(found["title"]),
            str(found["bus"]),
            tuple(
                StoredConstant(
                    one["part"], one["name"], one["what"], float(one["value"]), one["unit"], one["source"]
                )
                for one in found["constants"]
            ),
        )
        for name, found in data.items()
    }
