# SPDX-License-Identifier: Apache-2.0
"""Jobs and tools that end together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from isthmus import jobs

SLEEPS = "sleep 60 & echo $! > child; wait"
"""A tool that starts another, and says which."""


def shell(script: str, folder: Path, timeout_s: float = 30.0) -> jobs.Done:
    return jobs.run_tool(["sh", "-c", script], cwd=folder, timeout_s=timeout_s)


def child(folder: Path) -> int:
    """The process that the tool in `folder` started."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        text = (folder / "child").read_text() if (folder / "child").is_file() else ""
        if text.endswith("\n"):
            return int(text)
        time.sleep(0.01)
    raise AssertionError("the tool started nothing")


def is_gone(pid: int) -> bool:
    """Whether it ends within ten seconds: a signal was sent, and a loaded machine delivers it late."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def test_results_come_in_the_order_of_the_items() -> None:
    with jobs.pool(4) as pool:
        assert pool.map(lambda n: (time.sleep(0.02 * (3 - n)), n)[1], range(4)) == [0, 1, 2, 3]
        assert sorted(pool.as_completed(str, range(3))) == ["0", "1", "2"]


def test_the_first_failure_ends_running_jobs_and_starts_no_more(tmp_path: Path) -> None:
    started = []

    def job(number: int) -> None:
        started.append(number)
        if number == 1:
            child(tmp_path)
            raise ValueError("the cause")
        shell(SLEEPS, tmp_path)

    began = time.monotonic()
    with pytest.raises(ValueError, match="the cause"), jobs.pool(2) as pool:
        pool.map(job, range(20))
    assert time.monotonic() - began < 30
    assert len(started) <= 3
    assert is_gone(child(tmp_path))


def test_jobs_see_that_they_are_to_end() -> None:
    waiting = threading.Event()

    def job(number: int) -> None:
        scope = jobs.current()
        if number == 1:
            waiting.wait(10)
            raise ValueError("the cause")
        waiting.set()
        for _ in range(1_000):
            scope.check()
            time.sleep(0.01)

    with pytest.raises(ValueError, match="the cause"), jobs.pool(2) as pool:
        pool.map(job, range(2))


def test_a_pool_within_a_job_ends_with_the_outer_one(tmp_path: Path) -> None:
    def outer(number: int) -> None:
        if number == 1:
            child(tmp_path)
            raise ValueError("the cause")
        with jobs.pool(1) as inner:
            inner.map(lambda _: shell(SLEEPS, tmp_path), range(5))

    began = time.monotonic()
    with pytest.raises(ValueError, match="the cause"), jobs.pool(2) as pool:
        pool.map(outer, range(2))
    assert time.monotonic() - began < 30
    assert is_gone(child(tmp_path))


def test_an_exception_of_the_block_ends_its_jobs(tmp_path: Path) -> None:
    def block() -> None:
        with jobs.pool(1) as pool:
            pool.submit(lambda: shell(SLEEPS, tmp_path))
            child(tmp_path)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        block()
    assert is_gone(child(tmp_path))


def test_a_tool_has_its_output_and_exit_code(tmp_path: Path) -> None:
    done = shell("echo out; echo err >&2; exit 3", tmp_path)
    assert done == jobs.Done(3, "out\n", "err\n")
    log = tmp_path / "log"
    done = jobs.run_tool(
        ["sh", "-c", "echo $MORE; echo err >&2"], cwd=tmp_path, timeout_s=9, env={"MORE": "1"}, log=log
    )
    assert (done, log.read_text()) == (jobs.Done(0, "", ""), "1\nerr\n")
    with pytest.raises(FileNotFoundError):
        jobs.run_tool(["no-such-tool"], cwd=tmp_path, timeout_s=9)


def test_a_tool_that_takes_too_long_ends_with_what_it_started(tmp_path: Path) -> None:
    with pytest.raises(jobs.ToolTimeoutError, match=r"sh: not done after 0\.5 s"):
        shell(SLEEPS, tmp_path, timeout_s=0.5)
    assert is_gone(child(tmp_path))


def test_a_tool_may_clean_up_and_one_that_refuses_to_end_is_ended(tmp_path: Path) -> None:
    for script in (
        "trap 'touch cleaned; exit' TERM; sleep 60 & echo $$ > child; wait",
        "trap '' TERM; echo $$ > child; while :; do sleep 1; done",
    ):
        (tmp_path / "child").unlink(missing_ok=True)
        began = time.monotonic()
        with pytest.raises(jobs.ToolTimeoutError):
            shell(script, tmp_path, timeout_s=0.3)
        assert time.monotonic() - began < 20
        assert is_gone(child(tmp_path))
    assert (tmp_path / "cleaned").exists()


def test_a_tool_leads_a_session_of_its_own(tmp_path: Path) -> None:
    # Ctrl-C at a terminal reaches isthmus alone, which ends its tools itself.
    done = shell("ps -o sid= -p $$ 2>/dev/null || cut -d' ' -f6 /proc/$$/stat", tmp_path)
    assert int(done.output) != os.getsid(0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_another_thread_caught_still_wakes_the_program(number: signal.Signals) -> None:
    # The same state as a signal that arrives just before the main thread enters a system call.
    script = f"""
import signal, threading, time
from isthmus import jobs

def program():
    def caught():
        time.sleep(0.1)
        signal.pthread_kill(threading.get_ident(), {int(number)})
    threading.Thread(target=caught).start()
    try:
        time.sleep(20)
    except KeyboardInterrupt:
        print("cleaned up")
        return 7
    return 0

jobs.main(program)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=15, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "cleaned up\n", "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_program_that_is_ended_says_which_signal_did_it(number: signal.Signals) -> None:
    # Its main thread never returns to the interpreter: the C library blocks it with the signals held back.
    script = f"""
import signal, threading, time
from isthmus import jobs

def program():
    def caught():
        time.sleep(0.1)
        signal.pthread_kill(threading.get_ident(), {int(number)})
    thread = threading.Thread(target=caught)
    thread.start()
    signal.pthread_sigmask(signal.SIG_BLOCK, {{{int(number)}}})
    time.sleep(20)
    return 0

jobs.main(program)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=15, check=False
    )
    assert (done.returncode, done.stderr) == (128 + number, "isthmus: stopped\n")
