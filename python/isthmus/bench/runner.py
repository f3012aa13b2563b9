# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios: builds the model where it is missing, keeps the cores busy, shows progress.

They run in threads of this program, or, for a `Sweep`, on a Dask cluster. A sweep stores each finished
point and resumes where it was stopped.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus import jobs
from isthmus.errors import DataError
from isthmus.roads.table import resolve, road

if TYPE_CHECKING:
    from isthmus.native import RunProgress
    from isthmus.platforms import Platform
    from isthmus.results import Document

Results = list[dict[str, Any]]
Runner = Callable[[Mapping[str, Any]], Results]
"""Runs one scenario and gives its measurements; tests bring their own."""


def run(scenario: Mapping[str, Any], progress: Callable[[RunProgress], None] | None = None) -> Results:
    """One scenario through the Rust engine."""
    from isthmus import native

    return native.run_scenario(scenario, progress)


def model(
    top: str, trace: bool = False, parameters: Mapping[str, int | str] | None = None, many: bool = False
) -> Path:
    """The shared object of a board top; a build shows its progress. `many`: of which many run at once."""
    from isthmus.console import building
    from isthmus.models import ModelSpec, build

    spec = ModelSpec(f"isthmus:board:{top}", top, parameters or {}, "fst" if trace else "none", many=many)
    with building() as progress:
        return build(spec, progress)


def models(wanted: Sequence[tuple[str, Mapping[str, int]]]) -> list[Path]:
    """The shared objects of board tops with these parameters, built side by side."""
    from isthmus.console import building
    from isthmus.models import ModelSpec, build_many

    with building() as progress:
        return build_many([ModelSpec(f"isthmus:board:{top}", top, dict(p)) for top, p in wanted], progress)


@dataclass(frozen=True)
class Sweep:
    """A runner that stores each point in a folder and reuses stored ones; `scheduler`: the address of a
    Dask cluster to measure on."""

    folder: Path
    scheduler: str | None = None

    def __call__(self, scenario: Mapping[str, Any]) -> Results:
        return run_all([scenario], "point", self)


def sweep(out: Path, scheduler: str | None, resume: bool) -> Sweep | None:
    """The runner that --scheduler and --resume ask for; None: neither."""
    return Sweep(out / "points", scheduler) if resume or scheduler else None


def run_all(scenarios: Sequence[Mapping[str, Any]], title: str, runner: Runner = run) -> Results:
    """All measurements, in the order of the scenarios. Every answer's data is checked.

    The first scenario that fails, and Ctrl-C, end the others within the time between two calls of their
    progress.
    """
    if isinstance(runner, Sweep):
        return _kept(scenarios, title, runner)
    return [item for found in _threads(scenarios, title, runner) for item in found]


def _threads(
    scenarios: Sequence[Mapping[str, Any]],
    title: str,
    runner: Runner,
    keep: Callable[[Mapping[str, Any], Callable[[], Results]], Results] = lambda _, measure: measure(),
) -> list[Results]:
    """The measurements of each scenario; `keep` is given the scenario and what measures it."""
    from isthmus.console import running

    # The engine works outside the interpreter's lock, so threads are enough; scenarios share nothing.
    threads = min(len(scenarios), os.cpu_count() or 1)
    with running(title, len(scenarios)) as shown, jobs.pool(threads) as pool:

        def one(item: Mapping[str, Any]) -> Results:
            name = _name(item)

            def report(progress: RunProgress) -> None:
                pool.scope.check()
                shown.running(name, progress.share, _text(progress))

            def measure() -> Results:
                found = run(item, report) if runner is run else runner(item)
                _check(found)
                return found

            found = keep(item, measure)
            shown.done(name)
            return found

        return pool.map(one, scenarios)


def _kept(scenarios: Sequence[Mapping[str, Any]], title: str, wanted: Sweep) -> Results:
    """A sweep: points that are not in its folder are measured and stored there."""
    from isthmus import bootstrap
    from isthmus.bench import cluster, points
    from isthmus.console import running

    cluster.check(scenarios)
    bootstrap.ensure_native()
    store = points.Store(wanted.folder)
    store.token()
    keys = [points.key(scenario) for scenario in scenarios]
    by_key = dict(zip(keys, scenarios, strict=True))
    found = {key: stored for key in by_key if (stored := store.find(key)) is not None}
    missing = {key: scenario for key, scenario in by_key.items() if key not in found}
    if wanted.scheduler is not None and missing:
        with running(title, len(missing)) as shown:

            def done(key: str, measured: Results) -> None:
                found[key] = measured
                _check(measured)
                shown.done(_name(missing[key]))

            cluster.sweep(wanted.scheduler, store, missing, done)
    elif missing:
        by_id = {id(scenario): key for key, scenario in missing.items()}
        made = _threads(
            list(missing.values()), title, run, lambda item, measure: store.once(by_id[id(item)], measure)
        )
        found |= zip(missing, made, strict=True)
    return [item for key in keys for item in found[key]]


def gather(
    measured: Sequence[Mapping[str, Any]],
    platforms: Iterable[Platform],
    *,
    seed: int,
    begin: float,
    models: Mapping[str, Path] | None = None,
    command: str | None = None,
) -> Document:
    """The result document of measurements that were begun at `begin`, by `time.monotonic`.

    models   those that took part, by a name
    command  instead of this program's
    """
    # Imported here: asks git and hashes the sources, which a caller that fails early need not wait for.
    from isthmus.results import document
    from isthmus.results.context import collect

    text = command or " ".join(["isthmus", *sys.argv[1:]])
    context = collect(text, seed, models or {}, time.monotonic() - begin)
    return document(context, measured, platforms)


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
