# SPDX-License-Identifier: Apache-2.0
"""Progress display: bars on a terminal, plain lines elsewhere, on standard error.

Nothing is shown in the first second. A pipe or a file gets one line each ten seconds at most, and one at the
end of the reported progress.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isthmus.models import Progress, Step

START_S = 1.0
LINE_S = 10.0
_BAR_S = 0.1


@contextmanager
def building() -> Iterator[Progress]:
    """A progress callback for `isthmus.models.build`: silent for a model that is already built."""
    with _shown() as show:
        started: dict[str, float] = {}

        def report(step: Step) -> None:
            since = started.setdefault(step.model, time.monotonic())
            took = f" in {time.monotonic() - since:.1f} s" if step.done == step.total else ""
            show(f"model {step.model}", f"{step.phase}{took}", step.done, step.total)

        yield report


@contextmanager
def counting(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """A callback for `total` jobs: call it with the name of each that is done."""
    with running(title, total) as jobs:
        yield jobs.done


@contextmanager
def running(title: str, total: int) -> Iterator[Running]:
    """For `total` jobs some of which run at a time."""
    with _shown() as show:
        yield Running(title, total, show)


class Running:
    """Jobs of which some run now. Its methods may be called by several threads."""

    def __init__(self, title: str, total: int, show: Callable[[str, str, float, int], None]) -> None:
        self._title = title
        self._total = total
        self._show = show
        self._done = 0
        self._shares: dict[str, float] = {}
        self._lock = threading.Lock()

    def running(self, name: str, share: float, text: str) -> None:
        """The job `name` has done `share` of its work, 0 to 1; `text` says so in words."""
        with self._lock:
            self._shares[name] = share
            self._tell(f"{name}: {text}")

    def done(self, name: str) -> None:
        """The job `name` is done."""
        with self._lock:
            self._shares.pop(name, None)
            self._done += 1
            self._tell(name)

    def _tell(self, text: str) -> None:
        self._show(self._title, text, self._done + sum(self._shares.values()), self._total)


@dataclass
class _Row:
    """One title's bar or line."""

    text: str
    done: float
    total: int
    printed: str = ""


class _Lines:
    """Plain lines for a pipe or a file."""

    def __init__(self) -> None:
        self._next = 0.0

    def draw(self, rows: dict[str, _Row]) -> None:
        if time.monotonic() < self._next:
            return
        # The newest comes last.
        title, row = next(reversed(rows.items()))
        if row.printed != row.text:
            self._next = time.monotonic() + LINE_S
            self._print(title, row)

    def close(self, rows: dict[str, _Row]) -> None:
        """A last line for a job that was shown and is complete."""
        for title, row in rows.items():
            if row.printed not in ("", row.text) and row.done >= row.total:
                self._print(title, row)

    def _print(self, title: str, row: _Row) -> None:
        row.printed = row.text
        print(f"{title}: {row.text} ({int(row.done)}/{row.total})", file=sys.stderr, flush=True)


class _Bars:
    """Bars for a terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[what]}"),
            TimeElapsedColumn(),
        )
        self._progress = Progress(*columns, console=Console(stderr=True), auto_refresh=False)
        self._tasks: dict[str, TaskID] = {}
        self._progress.start()

    def draw(self, rows: dict[str, _Row]) -> None:
        for title, row in rows.items():
            if title not in self._tasks:
                self._tasks[title] = self._progress.add_task(title, total=row.total, what=row.text)
            self._progress.update(self._tasks[title], completed=row.done, total=row.total, what=row.text)
        self._progress.refresh()

    def close(self, rows: dict[str, _Row]) -> None:
        self.draw(rows)
        self._progress.stop()


@contextmanager
def _shown() -> Iterator[Callable[[str, str, float, int], None]]:
    """`show(title, what, done, total)` only stores the values: a separate thread draws."""
    rows: dict[str, _Row] = {}
    lock, over = threading.Lock(), threading.Event()

    def show(title: str, what: str, done: float, total: int) -> None:
        with lock:
            row = rows.pop(title, None) or _Row(what, done, total)
            row.text, row.done, row.total = what, done, total
            rows[title] = row

    def draw() -> None:
        drawn: _Bars | _Lines | None = None
        ended = over.wait(START_S)
        # The reader of this stream may be closed: then nothing is shown any more.
        with suppress(OSError, ValueError):
            while not ended:
                with lock:
                    present = dict(rows)
                if present:
                    drawn = drawn or (_Bars() if sys.stderr.isatty() else _Lines())
                    drawn.draw(present)
                ended = over.wait(_BAR_S)
            if drawn is not None:
                drawn.close(rows)

    thread = threading.Thread(target=draw, name="progress", daemon=True)
    thread.start()
    try:
        yield show
    finally:
        over.set()
        thread.join()
