# SPDX-License-Identifier: Apache-2.0
"""The table of roads. The rest of isthmus uses a road only through its entry here.

A road is a module that exports one value, `ROAD`. What it refers to is written "module:name" and imported
when it is used, so that help is instant and no road is loaded for another one.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from isthmus.errors import choose

ROADS: dict[str, str] = {
    "etherbone": "isthmus.roads.etherbone",
    "switch": "isthmus.roads.switch",
    "rdma": "isthmus.roads.rdma",
    "pcix": "isthmus.roads.pcix",
    "blockdma": "isthmus.roads.blockdma",
    "nanet": "isthmus.roads.nanet",
    "eci": "isthmus.roads.eci",
    "ccix": "isthmus.roads.ccix",
    "torus": "isthmus.roads.torus",
    "apenet": "isthmus.roads.apenet",
}
"""The module of each road. A new road is one line here."""


@dataclass(frozen=True)
class Place:
    """Where a transfer spends time: its name in sentences, and its colour in page.css."""

    words: str
    colour: str = "c6"


@dataclass(frozen=True)
class Road:
    """One road. Empty: the road has none. A reference is "module:name".

    commands     `isthmus bench NAME`: reference to a typer function, the road's own name first
    serve        reference to the typer function of `isthmus serve NAME`
    tools        further groups of commands: name -> (help, reference to a Typer)
    kinds        reference to its kinds of platform, `Mapping[str, platforms.Kind]`
    published    name of its file in `published/`, without .csv
    verify       reference to `() -> Document`: the runs that `isthmus verify` compares
    quantities   reference to `Mapping[str, quantities.Quantity]`
    comparisons  reference to `Mapping[str, quantities.Comparison]`
    area_notes   reference to `(Sequence[verify.Row]) -> list[str]`: remarks on its published figures of area
    text         reference to `(Document) -> str`: the tables for people
    core         reference to `(Measurement) -> Mapping[str, object]`: operation, bytes, driver and window of
                 its own workloads, which name them otherwise
    columns      reference to `Sequence[results.Column]`: its own columns of the table of results
    page         reference to `(Document) -> str`: the HTML page
    beside       roads whose measurements its page shows as well, by their `shown`
    shown        reference to `(Document) -> list[report.Figure]`: what other roads' pages show of its
                 measurements
    gives        what it measures for documents of others: "verify NAME" or another command -> reference to
                 `gives.Measure`
    svg          reference to `(Document) -> str`: the main figure
    places       where its transfers spend time
    question     reference to the module that answers `isthmus compare`
    label        reference to `(scenario) -> str`: what progress calls one scenario
    """

    name: str
    title: str
    commands: Mapping[str, str] = field(default_factory=dict)
    serve: str = ""
    tools: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    kinds: str = ""
    published: str = ""
    verify: str = ""
    quantities: str = ""
    comparisons: str = ""
    area_notes: str = ""
    text: str = ""
    core: str = ""
    columns: str = ""
    page: str = ""
    beside: frozenset[str] = frozenset()
    shown: str = ""
    gives: Mapping[str, str] = field(default_factory=dict)
    svg: str = ""
    places: Mapping[str, Place] = field(default_factory=dict)
    question: str = ""
    label: str = ""


def resolve(reference: str) -> Any:
    """The object that "module:name", or "module", refers to."""
    module, _, name = reference.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found


def road(name: str) -> Road:
    """The road `name`. Raises `UserError` with the nearest name."""
    return _load(ROADS[choose("road", name, ROADS)])


@cache
def _load(module: str) -> Road:
    found = resolve(f"{module}:ROAD")
    assert isinstance(found, Road), f"{module}.ROAD"
    return found


def roads() -> Iterator[Road]:
    """All roads, in the order of the table."""
    return (_load(module) for module in list(ROADS.values()))


def having(attribute: str) -> Sequence[Road]:
    """The roads whose entry has something there."""
    return [one for one in roads() if getattr(one, attribute)]
