# SPDX-License-Identifier: Apache-2.0
"""Points that are done: each scenario's measurements in a folder, under a hash of all that decides them.

Layout of the folder: `KEY.json`, the measurements of one scenario; `KEY.lock`, while it is measured;
`journal.txt`, a line for each point that was measured. Several processes may share it, on one machine or on a
shared file system: a point is measured by one of them, and the others wait for it.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from isthmus.cache import digest
from isthmus.errors import DataError
from isthmus.results.context import sources_hash
from isthmus.storage import prepare, store_all

Results = list[dict[str, Any]]
MODEL = "model_path"
"""The key of a scenario's tables under which the path of a device's model is."""


def model_paths(scenario: Mapping[str, Any]) -> set[str]:
    """The models that a scenario names."""
    found = {str(scenario[MODEL])} if scenario.get(MODEL) else set()
    return found.union(*(model_paths(value) for value in scenario.values() if isinstance(value, Mapping)))


def with_models(scenario: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """The scenario with other paths of models."""
    made: dict[str, Any] = {}
    for key, value in scenario.items():
        if isinstance(value, Mapping):
            made[key] = with_models(value, change)
        else:
            made[key] = change(str(value)) if key == MODEL and value else value
    return made


@cache
def content(path: str) -> str:
    """The hash of a model. Its name in the cache has one too, but a copy elsewhere need not."""
    file = Path(path)
    return digest([file]) if file.is_file() else digest([path])


@cache
def sources() -> str:
    """The hash of the sources that measure here."""
    return sources_hash()


def key(scenario: Mapping[str, Any]) -> str:
    """The hash of all that decides a scenario's measurements: itself, its models, the sources."""
    return digest([json.dumps(with_models(scenario, content), sort_keys=True), sources()])[:32]


@dataclass(frozen=True)
class Store:
    """A folder of points."""

    folder: Path

    def find(self, point: str) -> Results | None:
        """The stored measurements of a point; None if there are none."""
        try:
            return cast("Results", json.loads((self.folder / f"{point}.json").read_text()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as err:
            raise DataError(f"{self.folder / point}.json: {err}; remove it to measure it again") from err

    def once(self, point: str, measure: Callable[[], Results]) -> Results:
        """The stored measurements of a point; if there are none, those of `measure`, which are then
        stored."""
        with (self.folder / f"{point}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            found = self.find(point)
            if found is None:
                found = measure()
                store_all({self.folder / f"{point}.json": json.dumps(found)})
                with (self.folder / "journal.txt").open("a") as journal:
                    journal.write(f"{point} process {os.getpid()}\n")
            Path(lock.name).unlink(missing_ok=True)
        return found

    def token(self) -> str:
        """A text known only to readers of this folder. Raises `UserError`: it cannot be written."""
        prepare(self.folder)
        file = self.folder / "token.txt"
        if not file.is_file():
            store_all({file: secrets.token_hex(16)})
        return file.read_text()

    def is_seen(self, token: str) -> bool:
        """Whether this process sees the folder of `token`."""
        try:
            return (self.folder / "token.txt").read_text() == token
        except OSError:
            return False
