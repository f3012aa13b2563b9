# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios: builds the model where it is missing, keeps the cores busy, shows progress.

They run in threads of this program, or, for a `Sweep`, on a Dask cluster. A sweep stores each finished
point and resumes where it was stopped.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus import jobs
from isthmus.errors import DataError
from isthmus.roads.table import resolve, road

if TYPE_CHECKING:
    from isthmus.models import ModelSpec
    from isthmus.native import RunProgress

Results = list[dict[str, Any]]
Runner = Callable[[Mapping[str, Any]], Results]
"""Runs one scenario and gives its measurements; tests bring their own."""


def run(scenario: Mapping[str, Any], progress: Callable[[RunProgress], None] | None = None) -> Results:
    """One scenario through the Rust engine."""
    from isthmus import native

    return native.run_scenario(scenario, progress)


def spec(
    top: str, parameters: Mapping[str, int] | None = None, *, waveform: bool = False, many: bool = False
) -> ModelSpec:
    """The model of a board top with these parameters. `many`: of which many run at once."""
    from isthmus.models import ModelSpec

    return ModelSpec(f"isthmus:board:{top}", top, parameters or {}, "fst" if waveform else "none", many=many)


def place(wanted: ModelSpec) -> Path:
    """Where a model is, or will be once it is built."""
    from isthmus.models import place

    return place(wanted)


def build(wanted: Sequence[ModelSpec]) -> list[Path]:
    """The shared objects, those that are missing built side by side; a build shows its progress."""
    from isthmus.console import building
    from isthmus.models import build_many

    with building() as progress:
        return build_many(wanted, progress)


def model(
    top: str, parameters: Mapping[str, int] | None = None, *, waveform: bool = False, many: bool = False
) -> Path:
    """The shared object of one board top."""
    return build([spec(top, parameters, waveform=waveform, many=many)])[0]


def models(wanted: Mapping[str, Mapping[str, int]], *, many: bool = False) -> dict[str, Path]:
    """The shared objects of the board tops of one system, by their names, with these parameters; `many`:
    compiled for speed, as those of which many run at once."""
    made = build([spec(top, parameters, many=many) for top, parameters in wanted.items()])
    return dict(zip(wanted, made, strict=True))


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
