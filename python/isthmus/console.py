# SPDX-License-Identifier: Apache-2.0
"""What is shown while something takes time: bars on a terminal, plain lines elsewhere, on standard error."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isthmus.models import Progress, Step


@contextmanager
def building() -> Iterator[Progress]:
    """A progress callback for `isthmus.models.build`: silent for a model that is already built."""
    with _bars() as show:
        started: dict[str, float] = {}

        def report(step: Step) -> None:
            since = started.setdefault(step.model, time.monotonic())
            took = f" in {time.monotonic() - since:.1f} s" if step.done == step.total else ""
            show(f"model {step.model}", f"{step.phase}{took}", step.done, step.total)

        yield report


@contextmanager
def counting(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """A callback for `total` jobs: call it with the name of each that is done."""
    with _bars() as show:
        done = 0
        lock = threading.Lock()

        def one(name: str) -> None:
            nonlocal done
            with lock:
                done += 1
                show(title, name, done, total)

        yield one


@contextmanager
def _bars() -> Iterator[Callable[[str, str, int, int], None]]:
    """`show(title, what, done, total)`; one bar a title, or one line a new `what`."""
    if not sys.stderr.isatty():
        last: dict[str, str] = {}

        def plain(title: str, what: str, done: int, total: int) -> None:
            if last.get(title) != what:
                last[title] = what
                print(f"{title}: {what} ({done}/{total})", file=sys.stderr, flush=True)

        yield plain
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[what]}"),
        TimeElapsedColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True))
    tasks: dict[str, TaskID] = {}

    def bar(title: str, what: str, done: int, total: int) -> None:
        if title not in tasks:
            # Started late, so that nothing is drawn where there is nothing to wait for.
            progress.start()
            tasks[title] = progress.add_task(title, total=total, what=what)
        progress.update(tasks[title], completed=done, total=total, what=what)

    try:
        yield bar
    finally:
        progress.stop()
