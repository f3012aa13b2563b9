# SPDX-License-Identifier: Apache-2.0
"""The table of measured cores (cores.toml)."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isthmus.errors import UserError, choose
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
    """Another project's figures for a comparable design, and their source."""

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
    without: Mapping[str, str] = field(default_factory=dict)
    flat: bool = True
    """Area across module borders; else each module once, for a design with hundreds of copies of one."""
    block: tuple[str, ...] = ()
    """Memories that are of blocks. Yosys 0.70 takes one with one port and more than 256 words on
    UltraScale+ for LUT memories of 2^16 words, which do not exist, and stops."""


@dataclass(frozen=True)
class Sum:
    """A row that adds up measured cores, for comparison with a peer of the same content."""

    name: str
    of: tuple[str, ...]
    peers: tuple[Peer, ...]


def load(path: Path = TABLE) -> dict[str, CoreEntry]:
    """All entries by name. Raises `UserError` for a table that cannot be used."""
    entries: dict[str, CoreEntry] = {}
    with _readable(path) as table:
        for row in table["core"]:
            clocks = tuple(
                Clock(port, float(what["mhz"]), tuple(what["ports"])) for port, what in row["clocks"].items()
            )
            entries[row["name"]] = CoreEntry(
                row["name"],
                row["core"],
                row["top"],
                dict(row.get("parameters", {})),
                clocks,
                _peers(row),
                dict(row.get("without", {})),
                bool(row.get("flat", True)),
                tuple(row.get("block", ())),
            )
    return entries


def sums(path: Path = TABLE) -> list[Sum]:
    """The rows that add up cores."""
    with _readable(path) as table:
        return [Sum(row["name"], tuple(row["of"]), _peers(row)) for row in table.get("sum", [])]


def _peers(row: Mapping[str, Any]) -> tuple[Peer, ...]:
    return tuple(Peer(p["name"], p["source"], p["family"], dict(p["figures"])) for p in row.get("peer", []))


@contextmanager
def _readable(path: Path) -> Iterator[dict[str, Any]]:
    try:
        yield tomllib.loads(path.read_text())
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError, ValueError) as err:
        raise UserError(f"{path.name}: not a table of cores: {err!r}") from err


def select(names: list[str], path: Path = TABLE) -> list[CoreEntry]:
    """The named entries, or all. Raises `UserError` for an unknown name."""
    entries = load(path)
    for name in names:
        choose("core", name, entries)
    return [entries[name] for name in names or entries]
