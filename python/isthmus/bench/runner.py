# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios: builds the model where it is missing, keeps the cores busy, shows progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus import jobs
from isthmus.errors import DataError
from isthmus.roads.table import resolve, road

if TYPE_CHECKING:
    from isthmus.native import RunProgress

Runner = Callable[[Mapping[str, Any]], list[dict[str, Any]]]
"""Runs one scenario and gives its measurements; tests bring their own."""


def run(
    scenario: Mapping[str, Any], progress: Callable[[RunProgress], None] | None = None
) -> list[dict[str, Any]]:
    """One scenario through the Rust engine."""
    from isthmus import native

    return native.run_scenario(scenario, progress)


def model(top: str, trace: bool = False, parameters: Mapping[str, int | str] | None = None) -> Path:
    """The shared object of a board top; a build shows its progress."""
    from isthmus.console import building
    from isthmus.models import ModelSpec, build

    spec = ModelSpec(f"isthmus:board:{top}", top, parameters or {}, trace="fst" if trace else "none")
    with building() as progress:
        return build(spec, progress)


def run_all(scenarios: Sequence[Mapping[str, Any]], title: str, runner: Runner = run) -> list[dict[str, Any]]:
    """All measurements, in the order of the scenarios. Every answer's data is checked.

    The first scenario that fails, and Ctrl-C, end the others within the time between two calls of their
    progress.
    """
    from isthmus.console import running

    # The engine works outside the interpreter's lock, so threads are enough; scenarios share nothing.
    threads = min(len(scenarios), os.cpu_count() or 1)
    with running(title, len(scenarios)) as shown, jobs.pool(threads) as pool:

        def one(item: Mapping[str, Any]) -> list[dict[str, Any]]:
            name = _name(item)

            def report(progress: RunProgress) -> None:
                pool.scope.check()
                shown.running(name, progress.share, _text(progress))

            found = run(item, report) if runner is run else runner(item)
            _check(found)
            shown.done(name)
            return found

        return [item for found in pool.map(one, scenarios) for item in found]


def _check(found: Sequence[Mapping[str, Any]]) -> None:
    for item in found:
        wrong, lost = item["checked"]["wrong"], item["checked"]["lost"]
        if wrong or lost:
            raise DataError(f"{item['id']}: {wrong} bytes wrong, {lost} bytes lost")


def _text(progress: RunProgress) -> str:
    simulated = f"{progress.simulated_ps / 1e9:.3f} ms simulated"
    if progress.transfers:
        # A retry or a warm-up may make more than were planned.
        done = min(progress.transfers_done, progress.transfers)
        return f"{done}/{progress.transfers} transfers, {simulated}"
    return simulated


def _name(scenario: Mapping[str, Any]) -> str:
    made = road(str(scenario["road"]))
    if made.label:
        return str(resolve(made.label)(scenario))
    return f"{scenario['platform']['name']} {scenario['profile']}"
