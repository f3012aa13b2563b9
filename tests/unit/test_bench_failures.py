# SPDX-License-Identifier: Apache-2.0
"""What a failed bench says: which tests, or how its simulation ended."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import bench
import pytest
import time_limit
from bench import failure

PASSED = '<testcase name="counts" />'
FAILED = '<testcase name="wraps/width=3"><properties /><failure message="0 != 7" /></testcase>'
BROKEN = '<testcase name="resets"><error /></testcase>'


@pytest.mark.parametrize(
    ("cases", "status", "said"),
    [
        (PASSED, 0, None),
        (PASSED + FAILED + BROKEN, 1, "2 of 3 tests failed: wraps/width=3, resets"),
        ("", 0, "no test ran"),
        (PASSED, -signal.SIGXCPU, "more than 600 s of processor time: the simulation may have no end"),
        (PASSED, 134, "all tests passed, but the simulation ended with 134"),
    ],
)
def test_a_run_says_what_is_wrong_with_it(tmp_path: Path, cases: str, status: int, said: str | None) -> None:
    results = tmp_path / "results.xml"
    results.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    assert failure(results, status) == said


def test_a_simulation_that_left_no_results_is_a_failure(tmp_path: Path) -> None:
    said = "the simulation ended with 0 and without results"
    assert failure(tmp_path / "results.xml", 0) == said


def test_a_simulation_that_a_signal_ends_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Runner:
        def test(self, **_: object) -> None:
            raise RuntimeError("Command failed with return code: -11")

    monkeypatch.setattr(bench, "get_runner", lambda _: Runner())
    assert bench._simulate(tmp_path, "top", "top_tb", 1, tmp_path / "results.xml", tmp_path) == -11


def test_a_simulation_without_an_end_is_stopped(tmp_path: Path) -> None:
    code = "import time_limit\nwhile True: pass"
    folder = str(Path(__file__).parent)
    env = {**os.environ, "PYTHONPATH": folder, time_limit.LIMIT: "1"}
    done = subprocess.run([sys.executable, "-c", code], env=env, check=False, timeout=60)
    assert done.returncode == -signal.SIGXCPU
