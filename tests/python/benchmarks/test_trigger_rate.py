# SPDX-License-Identifier: Apache-2.0
"""The trigger over real sockets, between two network namespaces of its own: at a low rate nothing is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from isthmus import bootstrap

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module", autouse=True)
def _namespaces(script: Callable[[str], ModuleType]) -> None:
    if missing := script("trigger_rate").missing_tools():
        pytest.skip(f"needed for networks of its own: {', '.join(missing)}")
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", "--net", "--pid", "--fork", "--mount-proc", *user]
    command += ["ip", "link", "add", "here", "type", "veth", "peer", "name", "there"]
    probe = subprocess.run(command, capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"no network namespace with a virtual cable: {probe.stderr.strip()}")
    bootstrap.ensure_native()


def run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / "trigger_rate.py"), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)


def test_a_low_rate_loses_nothing() -> None:
    made = run("--rate", "4e3", "--seconds", "1")
    assert made.returncode == 0, made.stdout + made.stderr
    # 4000 events in datagrams of 20: each is answered.
    assert "200       200" in made.stdout
    assert "200 datagrams, 4,000 events" in made.stdout
    assert ", 0 malformed, 0 answers not sent" in made.stdout
    assert "highest rate without loss: 0.00" in made.stdout


def test_a_rate_that_nothing_can_answer_is_not_called_lossless() -> None:
    made = run("--rate", "60e6", "--seconds", "0.02")
    assert made.returncode == 1, made.stdout + made.stderr
    assert "highest rate without loss: no rate" in made.stdout
