# SPDX-License-Identifier: Apache-2.0
"""Runs jobs in threads, and tools in separate process groups, so that all of them end together.

They end when the block that started them does, when one of them fails, at a time limit, and when the user
stops the program: Ctrl-C, SIGTERM or a closed terminal end any command within half a second, and no process
is left behind. Standard library only: the set-up uses it before there is an environment. No
dataclasses, here and on the way of `isthmus eb`: importing them takes a tenth of the time of one read.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, NamedTuple, NoReturn, TypeVar

if TYPE_CHECKING:
    # Imported where they are used: most commands need neither.
    import subprocess
    from concurrent.futures import Future, ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

STOP_S = 0.3
"""How long a stopped command may take to clean up; then it is killed."""

_TERM_S = 0.1
"""How long a tool that is ended has to remove its temporary files."""

_TELL_S = 0.02
"""Interval at which a signal is sent to the main thread again until it has seen it."""

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class JobCancelledError(Exception):
    """This job was ended because another one failed, or because the user stopped the program."""


class ToolTimeoutError(Exception):
    """A tool took longer than its limit and was ended."""


class Scope:
    """Jobs and tools that end together, and with the scope around them."""

    def __init__(self, outer: Scope | None) -> None:
        self._outer = outer
        self._lock = threading.RLock()
        self._cancelled = threading.Event()
        self._tools: set[subprocess.Popen[str]] = set()
        self._inner: set[Scope] = set()
        self.failure: BaseException | None = None
        """The first failure."""
        if outer is not None:
            with outer._lock:
                outer._inner.add(self)
            if outer.cancelled:
                self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def check(self) -> None:
        """Raise `JobCancelledError` where that is so."""
        if self.cancelled:
            raise JobCancelledError

    def add(self, tool: subprocess.Popen[str]) -> None:
        with self._lock:
            self._tools.add(tool)
        if self.cancelled:
            _end([tool])

    def remove(self, tool: subprocess.Popen[str]) -> None:
        with self._lock:
            self._tools.discard(tool)

    def fail(self, error: BaseException) -> None:
        """A job failed: the others are to end."""
        with self._lock:
            if self.failure is None and not self.cancelled:
                self.failure = error
        self.cancel()

    def cancel(self) -> None:
        """End all jobs, which check `cancelled`, and all tools."""
        _end(self._cancel())

    def _cancel(self) -> list[subprocess.Popen[str]]:
        self._cancelled.set()
        with self._lock:
            tools, inner = list(self._tools), list(self._inner)
        return tools + [tool for scope in inner for tool in scope._cancel()]

    def close(self) -> None:
        if self._outer is not None:
            with self._outer._lock:
                self._outer._inner.discard(self)


_ROOT = Scope(None)
_local = threading.local()


def current() -> Scope:
    """The scope of this thread's job; that of the whole program elsewhere."""
    scope = getattr(_local, "scope", _ROOT)
    assert isinstance(scope, Scope)
    return scope


class Pool:
    """Threads for jobs; made by `pool`."""

    def __init__(self, scope: Scope, executor: ThreadPoolExecutor) -> None:
        self.scope = scope
        self._executor = executor

    def submit(self, job: Callable[[], Result]) -> Future[Result]:
        """Run `job` when a thread is free. The first job that raises ends all others."""
        return self._executor.submit(self._run, job)

    def _run(self, job: Callable[[], Result]) -> Result:
        _local.scope = self.scope
        try:
            self.scope.check()
            return job()
        except BaseException as err:
            self.scope.fail(err)
            raise
        finally:
            del _local.scope

    def as_completed(self, job: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Run `job` for each item; the results as they come."""
        from concurrent.futures import as_completed

        futures = [self.submit(partial(job, item)) for item in items]
        for future in as_completed(futures):
            yield future.result()

    def map(self, job: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Run `job` for each item; the results in the order of the items."""
        from concurrent.futures import as_completed

        futures = [self.submit(partial(job, item)) for item in items]
        # In the order in which they end: the first failure ends the wait.
        for future in as_completed(futures):
            future.result()
        return [future.result() for future in futures]


@contextmanager
def pool(jobs: int) -> Iterator[Pool]:
    """At most `jobs` threads. If a job or the block raises, the other jobs and their tools are ended and
    waited for, and the first failure is raised."""
    from concurrent.futures import CancelledError, ThreadPoolExecutor

    scope = Scope(current())
    executor = ThreadPoolExecutor(max(1, jobs))
    try:
        yield Pool(scope, executor)
        executor.shutdown(wait=True)
    except BaseException as err:
        scope.cancel()
        executor.shutdown(wait=True, cancel_futures=True)
        if scope.failure is not None and isinstance(err, JobCancelledError | CancelledError):
            raise scope.failure from None
        raise
    finally:
        scope.close()


class Done(NamedTuple):
    """A tool that has ended."""

    code: int
    output: str
    """Standard output; empty where it went to a log."""
    errors: str
    """Standard error; empty where it went to the output or to a log."""


@contextmanager
def tool(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stdout: int | IO[str],
    stderr: int | IO[str],
) -> Iterator[subprocess.Popen[str]]:
    """A tool in a session of its own, `env` added to the environment.

    The tool and its children are ended if the block raises or its scope is cancelled; `JobCancelledError`
    is raised then. Raises `OSError` if it cannot be started.
    """
    import subprocess

    scope = current()
    scope.check()
    with _held():
        _adopt_orphans()
        process = subprocess.Popen(
            [str(part) for part in command],
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        scope.add(process)
    try:
        yield process
        process.wait()
        scope.check()
    except BaseException:
        _end([process])
        raise
    finally:
        scope.remove(process)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def run_tool(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    timeout_s: float,
    env: Mapping[str, str] | None = None,
    log: Path | IO[str] | None = None,
) -> Done:
    """Run a tool to its end, its output kept, or all of it written to `log`.

    Raises `ToolTimeoutError` after `timeout_s`, `JobCancelledError`, and `OSError` where it cannot be
    started.
    """
    import subprocess

    name = Path(command[0]).name
    with contextlib.ExitStack() as stack:
        out: int | IO[str] = subprocess.PIPE
        err: int | IO[str] = subprocess.PIPE
        if log is not None:
            out = stack.enter_context(log.open("w")) if isinstance(log, Path) else log
            err = subprocess.STDOUT
        process = stack.enter_context(tool(command, cwd=cwd, env=env, stdout=out, stderr=err))
        try:
            output, errors = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired as err:
            raise ToolTimeoutError(f"{name}: not done after {timeout_s:g} s") from err
    return Done(process.returncode, output or "", errors or "")


def _signal_group(process: subprocess.Popen[str], number: int) -> None:
    # PermissionError: on some systems, for a group of zombies.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _end(tools: Sequence[subprocess.Popen[str]]) -> None:
    """End tools and what they started."""
    if not tools:
        return
    import subprocess

    for process in tools:
        _signal_group(process, signal.SIGTERM)
    until = time.monotonic() + _TERM_S
    for process in tools:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, until - time.monotonic()))
    for process in tools:
        _signal_group(process, signal.SIGKILL)
        process.wait()


_REMOVE = 'cat; for again in 1 2 3 4 5 6 7 8; do rm -rf "$1" 2>/dev/null && exit; sleep 0.5; done'
"""Waits for the end of its input, then removes a folder."""


@contextmanager
def removed(folder: Path) -> Iterator[None]:
    """`folder` is removed at the end of the block, by a process of its own: however this program ends."""
    import subprocess

    remover = subprocess.Popen(
        ["sh", "-c", _REMOVE, "sh", str(folder)], stdin=subprocess.PIPE, start_new_session=True, cwd="/"
    )
    _state.removers.add(remover.pid)
    try:
        yield
    finally:
        assert remover.stdin is not None
        remover.stdin.close()
        remover.wait()


def _adopt_orphans() -> None:
    """Make what our tools leave behind our child, so that it is found at the end. Linux only."""
    if _state.adopts or not sys.platform.startswith("linux"):
        return
    _state.adopts = True
    import ctypes

    set_child_subreaper = 36
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)


def _descendants() -> list[int]:
    """All processes below this one, those of `removed` aside; none where there is no /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The name, in parentheses, may hold anything.
            state, parent = entry.read_text().rpartition(")")[2].split()[:2]
            if state != "Z":
                children.setdefault(int(parent), []).append(int(entry.parent.name))
    found, left = [], [os.getpid()]
    while left:
        own = [pid for pid in children.get(left.pop(), []) if pid not in _state.removers]
        found += own
        left += own
    return found


def _end_all() -> None:
    """End everything that this program started."""
    _ROOT.cancel()
    for _ in range(5):
        left = _descendants()
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


# Handling of signals.


class _State:
    def __init__(self) -> None:
        self.stopped_by: int | None = None
        self.holding = 0
        self.said = False
        self.code: int | None = None
        self.adopts = False
        self.removers: set[int] = set()


_state = _State()
_over = threading.Event()


@contextmanager
def _held() -> Iterator[None]:
    """In the main thread, a signal takes effect after the block: its processes are known by then."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = _state.stopped_by
    _state.holding += 1
    try:
        yield
    finally:
        _state.holding -= 1
    if not _state.holding and before is None and _state.stopped_by is not None:
        raise KeyboardInterrupt


def _stop(number: int, frame: FrameType | None) -> None:
    """The first signal raises KeyboardInterrupt; others change nothing: the program is ending."""
    del frame
    if _state.stopped_by is not None:
        return
    _state.stopped_by = number
    if not _state.holding:
        raise KeyboardInterrupt


def exit_code() -> int:
    """Exit code of a stopped program: 130 for Ctrl-C, 143 for SIGTERM."""
    return 128 + (signal.SIGINT if _state.stopped_by is None else _state.stopped_by)


def say_stopped() -> int:
    """Print the one line; gives the exit code."""
    _state.said = True
    with contextlib.suppress(OSError, ValueError):
        print("isthmus: stopped", file=sys.stderr, flush=True)
    return exit_code()


def _guard(pipe: int) -> None:
    """Ends a program that a signal has not ended in time: something holds its main thread."""
    caught: int | None = None
    while caught is None:
        try:
            numbers = os.read(pipe, 16)
        except OSError:
            return
        caught = next((number for number in numbers if number in _SIGNALS), None)
    main_thread = threading.main_thread().ident
    until = time.monotonic() + STOP_S
    while not _over.wait(_TELL_S) and time.monotonic() < until:
        if _state.stopped_by is None and main_thread is not None:
            # Caught in another thread, or just before a system call: the main thread waits in it, unaware.
            signal.pthread_kill(main_thread, caught)
    if not _over.is_set():
        _end_all()
        if _state.stopped_by is None:
            _state.stopped_by = caught
        if _state.code is None:
            os._exit(exit_code() if _state.said else say_stopped())
        os._exit(_state.code)


def main(program: Callable[[], int]) -> NoReturn:
    """Run a command line tool whose result is the exit code, and end the process.

    Ctrl-C, SIGTERM and SIGHUP raise KeyboardInterrupt in it, once, and end it within half a second in any
    case. The message is printed here. A signal that is ignored, as in a background job, stays ignored.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        for number in _SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _stop)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        threading.Thread(target=_guard, args=(reader,), name="stop", daemon=True).start()
        code = program()
    except KeyboardInterrupt:
        code = say_stopped()
    if _state.stopped_by is None:
        sys.exit(code)
    _state.code = code
    _end_all()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    _over.set()
    # Not sys.exit: it would wait for threads that are in the middle of something.
    os._exit(code)
