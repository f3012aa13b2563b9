# SPDX-License-Identifier: Apache-2.0
"""A test marked `deterministic` that passed with the same files is not run again; any other test is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

CONFTEST = Path(__file__).resolve().parents[2] / "conftest.py"
TESTS = """
import pathlib, pytest
RAN = pathlib.Path(__file__).parents[1] / "ran"

@pytest.fixture(scope="module")
def made():
    with RAN.open("a") as file:
        file.write("fixture ")

def note(name):
    with RAN.open("a") as file:
        file.write(name + " ")

@pytest.mark.deterministic
def test_kept(made):
    note("kept")

@pytest.mark.deterministic
def test_failing(made):
    note("failing")
    assert (pathlib.Path(__file__).parents[2] / "rtl" / "good").exists()

def test_other():
    note("other")
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "tests" / "system").mkdir(parents=True)
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl" / "x.sv").write_text("module x; endmodule")
    (tmp_path / "tests" / "conftest.py").write_text(CONFTEST.read_text())
    (tmp_path / "tests" / "system" / "test_it.py").write_text(TESTS)
    return tmp_path


def ran(checkout: Path, **variables: str) -> tuple[list[str], list[bool]]:
    """Run the tests; what they noted, and which passes were reported as cached."""
    (checkout / "tests" / "ran").unlink(missing_ok=True)
    report = checkout / "tests" / "report.xml"
    environment = os.environ | {"ISTHMUS_CACHE": str(checkout / "tests" / "cache")} | variables
    options = ["-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1", f"--junitxml={report}"]
    markers = ["-o", "markers=deterministic"]
    command = [sys.executable, "-B", "-m", "pytest", *options, *markers, "--rootdir", str(checkout), "tests"]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    cases = list(ElementTree.parse(report).getroot().iter("testcase"))
    cached = [any(item.get("name") == "cached" for item in case.iter("property")) for case in cases]
    noted = (checkout / "tests" / "ran").read_text().split() if (checkout / "tests" / "ran").exists() else []
    report.unlink()
    return noted, cached


def test_a_pass_is_kept_and_a_failure_is_not(checkout: Path) -> None:
    assert ran(checkout) == (["fixture", "kept", "failing", "other"], [False, False, False])
    assert ran(checkout) == (["fixture", "failing", "other"], [True, False, False])
    assert ran(checkout, ISTHMUS_FRESH="1")[0] == ["fixture", "kept", "failing", "other"]


def test_a_changed_file_runs_all_again(checkout: Path) -> None:
    ran(checkout)
    (checkout / "rtl" / "good").touch()
    assert ran(checkout) == (["fixture", "kept", "failing", "other"], [False, False, False])
    assert ran(checkout) == (["other"], [True, True, False])
    (checkout / "rtl" / "x.sv").write_text("module x; wire a; endmodule")
    assert ran(checkout)[0] == ["fixture", "kept", "failing", "other"]


@pytest.mark.parametrize("name", ["ISTHMUS_RTL", "ISTHMUS_RTL_OVERRIDE"])
def test_a_pass_with_sources_from_elsewhere_is_neither_kept_nor_taken(checkout: Path, name: str) -> None:
    (checkout / "rtl" / "good").touch()
    everything = ["fixture", "kept", "failing", "other"]
    replaced = {name: str(checkout / "elsewhere")}
    assert ran(checkout, **replaced)[0] == everything
    assert ran(checkout)[0] == everything
    assert ran(checkout, **replaced)[0] == everything


def test_a_changed_test_runs_again_wherever_it_lies(checkout: Path) -> None:
    (checkout / "rtl" / "good").touch()
    (checkout / "tests" / "python").mkdir()
    moved = checkout / "tests" / "python" / "test_it.py"
    (checkout / "tests" / "system" / "test_it.py").rename(moved)
    ran(checkout)
    assert ran(checkout) == (["other"], [True, True, False])
    moved.write_text(TESTS + "\n# changed\n")
    assert ran(checkout)[0] == ["fixture", "kept", "failing", "other"]
