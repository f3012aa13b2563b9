# SPDX-License-Identifier: Apache-2.0
"""Runs scenarios: builds the model where it is missing, keeps the cores busy, shows progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from pathlib import Path
from threading import Event
from typing import Any

from isthmus.errors import DataError

QUIET = 8
"""So few scenarios are over within two seconds: they show no progress."""

Runner = Callable[[Mapping[str, Any]], list[dict[str, Any]]]
"""Runs one scenario and gives its measurements; tests bring their own."""


def run(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One scenario through the Rust engine."""
    from isthmus import native

    return native.run_scenario(scenario)


def model(top: str, trace: bool = False, parameters: Mapping[str, int | str] | None = None) -> Path:
    """The shared object of a board top; a build shows its progress."""
    from isthmus.console import building
    from isthmus.models import ModelSpec, build

    spec = ModelSpec(f"isthmus:board:{top}", top, parameters or {}, trace="fst" if trace else "none")
    with building() as progress:
        return build(spec, progress)


def run_all(scenarios: Sequence[Mapping[str, Any]], title: str, runner: Runner = run) -> list[dict[str, Any]]:
    """All measurements, in the order of the scenarios. Every answer's data is checked."""
    # The engine works outside the interpreter's lock, so threads are enough; scenarios share nothing.
    jobs = max(1, min(len(scenarios), os.cpu_count() or 1))
    failed = Event()

    def one(item: Mapping[str, Any]) -> list[dict[str, Any]]:
        # The first failure ends the run at once, even where this thread is quicker than who waits for it.
        if failed.is_set():
            return []
        try:
            return runner(item)
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(jobs) as pool, _counting(title, len(scenarios)) as done:
        futures = {pool.submit(one, item): item for item in scenarios}
        try:
            for future in as_completed(futures):
                future.result()
                done(_name(futures[future]))
        except BaseException:
            for future in futures:
                future.cancel()
            raise
    return [item for future in futures for item in _checked(future)]


def _checked(future: Future[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    found = future.result()
    for item in found:
        wrong, lost = item["checked"]["wrong"], item["checked"]["lost"]
        if wrong or lost:
            raise DataError(f"{item['id']}: {wrong} bytes wrong, {lost} bytes lost")
    return found


def _counting(title: str, total: int) -> Any:
    from isthmus.console import counting

    def silent(name: str) -> None:
        del name

    return nullcontext(silent) if total <= QUIET else counting(title, total)


def _name(scenario: Mapping[str, Any]) -> str:
    workload = scenario["workload"]
    kind = workload.get("method") or workload.get("kind")
    if "test" in workload:
        kind = f"{workload['test']} {workload['size_bytes']}"
    if kind is None:
        kind = f"{workload['engine']} {workload['load']:g}"
    return f"{scenario['platform']['name']} {scenario['profile']} {kind}"
