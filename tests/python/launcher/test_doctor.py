# SPDX-License-Identifier: Apache-2.0
"""`isthmus doctor`: its last line is "ready" or the one command that installs all that is missing.

What it asks of a machine is what the README, the how-to and the CI's script name, no more and no less.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from isthmus import bootstrap, doctor

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def last_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[[set[str]], tuple[int, str, str]]:
    """Runs doctor on a machine that lacks some requirements: exit code, last line, whole output."""
    monkeypatch.setattr(bootstrap, "ensure_development", lambda: None)
    monkeypatch.setattr(bootstrap, "ensure_native", lambda: None)

    def run(lacking: set[str]) -> tuple[int, str, str]:
        monkeypatch.setattr(bootstrap, "describe", lambda name: None if name in lacking else f"{name} 1.0")
        code = doctor.run()
        out = capsys.readouterr().out
        return code, out.splitlines()[-1], out

    return run


def test_a_machine_with_everything_is_ready(last_line: Callable[[set[str]], tuple[int, str, str]]) -> None:
    assert last_line(set())[:2] == (0, "ready")


def test_what_only_some_tests_need_does_not_make_a_machine_unready(
    last_line: Callable[[set[str]], tuple[int, str, str]],
) -> None:
    code, line, out = last_line({"tshark", "libpython3"})
    assert (code, line) == (0, "ready")
    tests = "tests of the Wireshark dissector"
    assert f"tshark        not found; optional, for {tests}: apt-get install tshark\n" in out


def test_the_last_line_installs_all_that_is_missing_at_once(
    last_line: Callable[[set[str]], tuple[int, str, str]],
) -> None:
    assert last_line({"g++"})[:2] == (1, "apt-get install g++")
    assert last_line({"g++", "python3-venv"})[:2] == (1, "apt-get install g++ python3-venv")


def test_rust_comes_from_rustup_after_the_packages(
    last_line: Callable[[set[str]], tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    have: set[str] = {"curl"}
    monkeypatch.setattr(shutil, "which", lambda name, **_: f"/bin/{name}" if name in have else None)
    rustup = "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y"
    assert last_line({"cargo", "g++"})[:2] == (1, f"apt-get install g++ && {rustup}")
    have.clear()
    assert last_line({"cargo"})[:2] == (1, f"apt-get install curl && {rustup}")
    have.add("rustup")
    assert last_line({"cargo"})[1] == "rustup toolchain install stable && rustup default stable"


def test_a_program_that_is_there_is_shown_with_its_version_and_a_missing_one_is_found_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/nonexistent")
    assert bootstrap.missing() == ["g++", "cargo"]
    # Where rustup puts it, which a shell that was started before does not know.
    cargo = tmp_path / ".cargo" / "bin" / "cargo"
    cargo.parent.mkdir(parents=True)
    cargo.write_text("#!/bin/sh\necho 'cargo 1.99.0 (x)'\n")
    cargo.chmod(0o755)
    assert bootstrap.describe("cargo") == "cargo 1.99.0 (x)"
    assert bootstrap.find_cargo() == str(cargo)
    assert bootstrap.missing() == ["g++"]


def test_a_rust_that_is_too_old_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    cargo = tmp_path / "cargo"
    wanted = re.search(r'rust-version = "1\.(\d+)"', (ROOT / "Cargo.toml").read_text())
    assert wanted is not None
    newest = int(wanted.group(1))
    for minor, found in ((newest - 1, None), (newest, f"cargo 1.{newest}.0")):
        cargo.write_text(f"#!/bin/sh\necho cargo 1.{minor}.0\n")
        cargo.chmod(0o755)
        assert bootstrap.describe("cargo") == found


def asked_of_a_machine() -> set[str]:
    """Debian packages of all requirements."""
    return {need.package for need in bootstrap.REQUIREMENTS_OF_THE_MACHINE if need.package} | {"python3"}


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/install.md"])
def test_the_pages_name_the_packages_that_are_needed_and_no_other(page: str) -> None:
    commands = re.findall(r"apt-get install ([a-z0-9+ -]+)", (ROOT / page).read_text())
    assert {name for command in commands for name in command.split()} == asked_of_a_machine() | {"git"}


@pytest.fixture
def ci(tmp_path: Path) -> Callable[[str], tuple[str, list[str]]]:
    """Runs the CI script with few programs in its path: what it printed, and the arguments of apt-get."""
    checkout, programs, calls = tmp_path / "checkout", tmp_path / "bin", tmp_path / "calls"
    (checkout / ".ci").mkdir(parents=True)
    programs.mkdir()
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci" / "run")
    for name in ("bash", "dirname", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))

    def program(path: Path, text: str) -> None:
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    program(checkout / "isthmus", 'echo "isthmus $*"')
    # A system that has no rumur.
    program(programs / "apt-get", f'echo "$@" >>{calls}; case "$*" in *rumur*) exit 100;; esac')
    program(programs / "id", "echo 0")

    def run(present: str) -> tuple[str, list[str]]:
        for name in present.split():
            program(programs / name, "exit 0")
        done = subprocess.run(
            [str(programs / "bash"), str(checkout / ".ci" / "run")],
            env={"PATH": str(programs), "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout, calls.read_text().splitlines() if calls.exists() else []

    return run


def test_the_ci_installs_what_the_readme_names_and_no_more(
    ci: Callable[[str], tuple[str, list[str]]],
) -> None:
    printed, calls = ci("")
    words = [word for call in calls if call.startswith("install ") for word in call.split()[1:]]
    assert {word for word in words if not word.startswith("-")} == asked_of_a_machine()
    assert printed == "isthmus test\n"


def test_the_ci_installs_nothing_where_nothing_is_missing(
    ci: Callable[[str], tuple[str, list[str]]],
) -> None:
    # This python3 has every module and library.
    assert ci("g++ python3 cargo tshark rumur") == ("isthmus test\n", [])
