# SPDX-License-Identifier: Apache-2.0
"""The table of measured cores (cores.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from isthmus.errors import UserError
from isthmus.models.ports import Parameter

TABLE = Path(__file__).with_name("cores.toml")


@dataclass(frozen=True)
class Clock:
    """A clock port, the frequency it must reach, and which ports are registered by it."""

    port: str
    mhz: float
    prefixes: tuple[str, ...]


@dataclass(frozen=True)
class Peer:
    """Somebody else's figures for a comparable design, and where they stand."""

    name: str
    source: str
    family: str
    figures: Mapping[str, float]


@dataclass(frozen=True)
class CoreEntry:
    """One measured configuration of a core."""

    name: str
    core: str
    top: str
    parameters: Mapping[str, Parameter]
    clocks: tuple[Clock, ...]
    peers: tuple[Peer, ...]


def load(path: Path = TABLE) -> dict[str, CoreEntry]:
    """All entries by name. Raises `UserError` for a table that cannot be used."""
    entries: dict[str, CoreEntry] = {}
    try:
        for row in tomllib.loads(path.read_text())["core"]:
            clocks = tuple(
                Clock(port, float(what["mhz"]), tuple(what["ports"])) for port, what in row["clocks"].items()
            )
            peers = tuple(
                Peer(p["name"], p["source"], p["family"], dict(p["figures"])) for p in row.get("peer", [])
            )
            entries[row["name"]] = CoreEntry(
                row["name"], row["core"], row["top"], dict(row.get("parameters", {})), clocks, peers
            )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError, ValueError) as err:
        raise UserError(f"{path.name}: not a table of cores: {err!r}") from err
    return entries


def select(names: list[str], path: Path = TABLE) -> list[CoreEntry]:
    """The named entries, or all. Raises `UserError` for an unknown name."""
    entries = load(path)
    for name in names:
        if name not in entries:
            raise UserError(f"no core named {name!r}; there are: {', '.join(entries)}")
    return [entries[name] for name in names or entries]
