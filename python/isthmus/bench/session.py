# SPDX-License-Identifier: Apache-2.0
"""The runs of one result document: from points of a road to measurements with their context."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from isthmus import bootstrap, platforms
from isthmus.bench import runner as running
from isthmus.platforms import Platform

if TYPE_CHECKING:
    from isthmus.models import ModelSpec
    from isthmus.results import Document

Models = Callable[[str, Mapping[str, int]], Path]
"""Gives the shared object of a board top with these parameters."""

Given = Path | Mapping[str, Path] | Models | None
"""Models instead of those that would be built: one for all, by the name of their top, or by a function."""


class Session:
    """Finds the platforms and models of points once, runs scenarios, and gathers the document.

    A model has its path before it exists: scenarios are made with it, and `run` builds all that are missing
    side by side.
    """

    def __init__(
        self,
        title: str,
        *,
        runner: running.Runner | None = None,
        given: Given = None,
        waveform: Path | None = None,
        command: str | None = None,
    ) -> None:
        """
        title     what progress calls the runs
        runner    instead of the simulator
        given     the models, which are not built then
        waveform  FST file of the one scenario
        command   in the document, instead of this program's
        """
        self._title = title
        self._runner = runner
        self._given = given
        self._waveform = waveform
        self._traced = waveform is not None
        self._command = command
        self._begin = monotonic()
        self._platforms: dict[str, Platform] = {}
        self._models: dict[str, Path] = {}
        self._missing: list[ModelSpec] = []

    def platform(self, named: Platform | str) -> Platform:
        """A platform, or that of this name; the same one for all points that name it."""
        name = named if isinstance(named, str) else named.name
        if name not in self._platforms:
            loaded = platforms.load(named) if isinstance(named, str) else named
            self._platforms[name] = loaded
        return self._platforms[name]

    def model(
        self,
        top: str,
        parameters: Mapping[str, int] | None = None,
        *,
        waveform: bool | None = None,
        many: bool = False,
    ) -> Path:
        """The shared object of a board top; `run` builds it where it is missing.

        waveform  whether it can write one; None: where the session has one
        many      compiled for speed: many run at once, or one is slow
        """
        values = dict(parameters or {})
        name = " ".join([top, *(f"{key}={value}" for key, value in values.items())])
        if name not in self._models:
            traced = self._traced if waveform is None else waveform
            self._models[name] = self._place(top, values, traced, many)
        return self._models[name]

    def _place(self, top: str, values: Mapping[str, int], waveform: bool, many: bool) -> Path:
        if isinstance(self._given, Path):
            return self._given
        if isinstance(self._given, Mapping):
            return self._given[top]
        if self._given is not None:
            return self._given(top, values)
        spec = running.spec(top, values, waveform=waveform, many=many)
        self._missing.append(spec)
        return running.place(spec)

    def run(self, scenarios: Sequence[Mapping[str, Any]], title: str = "") -> running.Results:
        """All measurements, in the order of the scenarios; `title` instead of the session's."""
        if self._runner is None:
            bootstrap.ensure_native()
        missing, self._missing = self._missing, []
        if missing:
            running.build(missing)
        if self._waveform is not None:
            scenarios = [{**one, "waveform": str(self._waveform.resolve())} for one in scenarios]
        return running.run_all(scenarios, title or self._title, self._runner or running.run)

    def document(
        self, found: Sequence[Mapping[str, Any]], seed: int, remarks: Mapping[str, Any] | None = None
    ) -> Document:
        """The document of what `run` found; `remarks` are further entries of its context."""
        # Imported here: asks git and hashes the sources, which a caller that fails early need not wait for.
        from isthmus.results import document
        from isthmus.results.context import collect

        command = self._command or " ".join(["isthmus", *sys.argv[1:]])
        context = collect(command, seed, self._models, monotonic() - self._begin)
        return document({**context, **(remarks or {})}, found, self._platforms.values())


def changed(made: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A scenario with other keys; of those that are tables only what `changes` has."""
    for key, value in changes.items():
        made[key] = {**made[key], **value} if isinstance(made.get(key), dict) else value
    return made
