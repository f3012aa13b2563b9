# SPDX-License-Identifier: Apache-2.0
"""Measured times of a trigger's steps, with the machine that they are of: made, stored, read."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from isthmus.errors import UserError
from isthmus.storage import read_text

SCHEMA = "isthmus.trigger-times/2"
STORED = Path(__file__).with_name("measured-times.json")
"""Those that isthmus brings along."""
SIZES = (1, 2, 4, 8, 16, 20, 32)
"""Events of a group, or of a core's share of one, that are measured."""

WORDS = 8
"""Cores that a group is handed to, at most."""
KINDS = ("distributions", "own")

Buckets = Sequence[tuple[int, int]]
"""Highest time of a bucket in ns, and samples in it."""


@dataclass(frozen=True)
class Times:
    """All distributions of one machine."""

    machine: str
    date: str
    sample: str
    seed: int
    level: str
    interrupted: float | None
    """Share of blocks of 64 runs left out, as the system interrupted the core or gave it away."""
    runs: int
    """Of each input."""
    distributions: Mapping[str, Buckets]
    """All runs: `find/FINDER/EVENTS`, `fit/FINDER/EVENTS`, `merge/FORMAT/EVENTS`, `handover/WORDS`."""
    own: Mapping[str, Buckets]
    """The same, the shortest of the runs of each input: what its data cost, without the machine's noise."""

    def of(self, name: str, noise: bool = True) -> Buckets:
        """One distribution, with the machine's noise or without. Raises `UserError`: it was not measured."""
        found = (self.distributions if noise else self.own).get(name)
        if found is None:
            kind = name.rpartition("/")[0]
            sizes = sorted(int(one.rpartition("/")[2]) for one in self.distributions if one.startswith(kind))
            known = ", ".join(map(str, sizes)) or "none"
            raise UserError(f"{name}: not measured on {self.machine}; measured sizes: {known}")
        return found


def measured(made: Mapping[str, Any]) -> Times:
    """What the engine measured, with this machine and today's date."""
    return _times(
        {"machine": _machine(), "date": datetime.datetime.now(datetime.UTC).date().isoformat(), **made}
    )


def to_json(times: Times) -> str:
    """As a file: a line for each distribution."""
    values = asdict(times)
    text = ""
    for kind in KINDS:
        lines = [
            f" {json.dumps(name)}: {json.dumps(buckets, separators=(',', ':'))}"
            for name, buckets in values.pop(kind).items()
        ]
        text += f',\n "{kind}": {{\n' + ",\n".join(lines) + "\n }"
    return json.dumps({"schema": SCHEMA, **values}, indent=1)[:-2] + text + "\n}\n"


def load(file: Path | None = None) -> Times:
    """A file of times; None: those that isthmus brings along. Raises `UserError`."""
    where = file or STORED
    try:
        found = json.loads(read_text(where))
        if found.pop("schema") != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")
        return _times(found)
    except (ValueError, KeyError, TypeError, AttributeError) as err:
        raise UserError(f"{where}: no file of isthmus trigger times: {err}") from err


def _times(found: Mapping[str, Any]) -> Times:
    kinds: dict[str, dict[str, Buckets]] = {kind: {} for kind in KINDS}
    for kind, distributions in kinds.items():
        for name, buckets in found[kind].items():
            pairs = buckets["buckets"] if isinstance(buckets, Mapping) else buckets
            made = [(int(ns), int(count)) for ns, count in pairs]
            if any(ns < 0 or count < 0 for ns, count in made) or not sum(count for _, count in made):
                raise ValueError(f"{name}: no times")
            distributions[str(name)] = made
    return Times(**{**found, **kinds})


def quantile(buckets: Buckets, share: float) -> int:
    """The time that this share of samples takes at the most, ns."""
    left = share * sum(count for _, count in buckets)
    for ns, count in buckets:
        left -= count
        if left <= 0:
            return ns
    return buckets[-1][0]


def _machine() -> str:
    """The processor and how many cores of it there are."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("model name"):
            name = line.partition(":")[2].strip()
            break
    return f"{name}, {os.cpu_count()} processors, {platform.system()}"
