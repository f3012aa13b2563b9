# SPDX-License-Identifier: Apache-2.0
"""What is shown while something takes time."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from isthmus import console
from isthmus.bench import runner as running
from isthmus.native import RunProgress

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "START_S", 0.2)
    monkeypatch.setattr(console, "LINE_S", 0.5)


def test_what_is_over_at_once_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with console.counting("measure", 3) as done:
        for name in "abc":
            done(name)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("quick")
def test_a_pipe_gets_a_line_each_period_and_one_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    with console.counting("measure", 150) as done:
        for number in range(150):
            time.sleep(0.01)
            done(f"run {number}")
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 2 + (time.monotonic() - began) / 0.5
    assert lines[-1] == "measure: run 149 (150/150)"


@pytest.mark.usefixtures("quick")
def test_one_long_scenario_shows_its_transfers_and_simulated_time(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(scenario: Mapping[str, Any], progress: Any) -> list[dict[str, Any]]:
        for number in range(40):
            progress(RunProgress(0, 1, 100 * number, 4_000, 25_000_000 * number, 7))
            time.sleep(0.01)
        return []

    monkeypatch.setattr(running, "run", run)
    scenario = {
        "road": "rdma",
        "platform": {"name": "forth-rdma"},
        "profile": "isthmus",
        "workload": {"test": "write-bw", "size_bytes": 8},
    }
    assert running.run_all([scenario], "rdma", run) == []
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith("rdma: forth-rdma isthmus write-bw 8: ")
    done, simulated = first.partition("8: ")[2].split(" transfers, ")
    number = int(done.removesuffix("/4000")) // 100
    assert number > 0
    assert simulated == f"{0.025 * number:.3f} ms simulated (0/1)"


def test_the_share_of_a_scenario_counts_its_measurements_and_their_transfers() -> None:
    assert RunProgress(1, 4, 50, 100, 0, 0).share == 0.375
    # Not known, or more than planned.
    assert RunProgress(1, 4, 50, 0, 0, 0).share == 0.25
    assert RunProgress(3, 4, 500, 100, 0, 0).share == 1.0


def test_a_failed_scenario_ends_the_others_at_their_next_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    both = threading.Barrier(2)

    def run(scenario: Mapping[str, Any], progress: Any) -> list[dict[str, Any]]:
        both.wait(10)
        if scenario["profile"] == "bad":
            raise ValueError("the cause")
        while True:
            progress(RunProgress(0, 1, 0, 0, 0, 0))
            time.sleep(0.01)

    monkeypatch.setattr(running, "run", run)
    scenarios = [
        {"road": "etherbone", "platform": {"name": "x"}, "profile": profile, "workload": {"kind": "path"}}
        for profile in ("good", "bad")
    ]
    with pytest.raises(ValueError, match="the cause"):
        running.run_all(scenarios, "measure", run)


def test_a_terminal_gets_a_bar_also_for_one_job() -> None:
    program = (
        "import time\n"
        "from isthmus import console\n"
        "console.START_S = 0.2\n"
        "with console.running('measure', 1) as jobs:\n"
        "    for n in range(100):\n"
        "        jobs.running('run', n / 100, f'{n}/100 transfers')\n"
        "        time.sleep(0.01)\n"
        "    jobs.done('run')\n"
    )
    main, side = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen([sys.executable, "-c", program], stderr=side, env=environment)
    os.close(side)
    text = b""
    while True:
        try:
            part = os.read(main, 4096)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(main)
    assert process.wait(20) == 0
    assert "measure" in text.decode()
    assert "/100 transfers" in text.decode()
    assert "━" in text.decode()
