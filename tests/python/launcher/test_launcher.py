# SPDX-License-Identifier: Apache-2.0
"""The launcher in a checkout of its own, with no packages to fetch, and what it says when something lacks."""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def make_checkout(root: Path, lock: str = "") -> Path:
    package = root / "python" / "isthmus"
    package.mkdir(parents=True)
    (root / "requirements").mkdir()
    (root / "requirements" / "run.lock").write_text(lock)
    shutil.copy(ROOT / "isthmus", root / "isthmus")
    for module in ("bootstrap.py", "errors.py", "jobs.py", "paths.py"):
        shutil.copy(ROOT / "python" / "isthmus" / module, package / module)
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text("import sys\nprint('ran', sys.argv[1:], sys.prefix)\nsys.exit(7)\n")
    return root


def start(
    checkout: Path, *arguments: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(checkout / "isthmus"), *arguments],
        cwd="/",
        env={**os.environ, "ISTHMUS_PYTHON": sys.executable, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_checkout(tmp_path_factory.mktemp("with space") / "check out")
    # Two first starts at once: one makes the environment, the other waits for it.
    command = [str(made / "isthmus"), "a b", "*"]
    environment = {**os.environ, "ISTHMUS_PYTHON": sys.executable}
    both = [
        subprocess.Popen(
            command, cwd="/", env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [7, 7], outputs
    for out, _ in outputs:
        assert out == f"ran ['a b', '*'] {made / '.isthmus' / 'venv'}\n"
    said = "".join(err for _, err in outputs)
    assert said.count("isthmus: Python packages (0) ...\n") == 1
    assert said.count("Python environment") == 2  # its start and its time
    return made


def test_a_later_start_says_nothing_and_passes_arguments_and_exit_code(checkout: Path) -> None:
    done = start(checkout, "x", "--y")
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout.startswith("ran ['x', '--y'] ")


def test_a_start_through_another_directory_and_a_foreign_pythonpath(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "isthmus").mkdir()
    (tmp_path / "isthmus" / "__main__.py").write_text("print('wrong package')")
    done = start(checkout, env={"PYTHONPATH": str(tmp_path)})
    assert done.stdout.startswith("ran []")


@pytest.mark.slow
def test_a_changed_lock_file_makes_the_environment_again(checkout: Path) -> None:
    (checkout / "requirements" / "run.lock").write_text("# changed\n")
    done = start(checkout)
    assert done.returncode == 7
    assert "isthmus: Python environment" in done.stderr
    assert start(checkout).stderr == ""


@pytest.mark.slow
def test_a_moved_checkout_makes_the_environment_again(checkout: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(checkout, moved, symlinks=True)
    done = start(moved)
    assert done.returncode == 7
    assert "isthmus: Python environment" in done.stderr
    assert done.stdout.endswith(f" {moved / '.isthmus' / 'venv'}\n")


@pytest.mark.slow
def test_an_unreachable_registry_is_one_line_and_the_next_start_tries_again(tmp_path: Path) -> None:
    lock = "typer==0.0.1 --hash=sha256:" + "0" * 64 + "\n"
    made = make_checkout(tmp_path / "offline", lock)
    # Port 9 of this machine: nothing answers there.
    offline = {
        "PIP_INDEX_URL": "http://127.0.0.1:9/",
        "PIP_RETRIES": "0",
        "PIP_FIND_LINKS": "",
        "PIP_NO_CACHE_DIR": "1",
    }
    for _ in range(2):  # a failed set-up leaves nothing that looks finished
        done = start(made, env=offline)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.splitlines()[-1] == (
            "isthmus: cannot reach the package registry, which this first set-up needs "
            "(output: .isthmus/log/pip-run.log)"
        )


def test_without_a_usable_python_one_line_says_how_to_get_it(checkout: Path, tmp_path: Path) -> None:
    bare = make_checkout(tmp_path / "bare")
    old = tmp_path / "bin" / "python3"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    for tool in ("cat", "env"):
        (old.parent / tool).symlink_to(str(shutil.which(tool)))
    done = subprocess.run(
        ["/bin/sh", str(bare / "isthmus")],
        env={"PATH": str(old.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "isthmus: needs Python 3.11 or newer: apt-get install g++ python3 python3-venv\n"


def cpu_seconds(command: list[str]) -> float:
    """CPU time of one run with its children: what the machine's other load does not change much."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_takes_less_than_200_ms_of_which_the_launcher_less_than_50() -> None:
    launcher = [str(ROOT / "isthmus"), "--help"]
    subprocess.run(launcher, stdout=subprocess.DEVNULL, check=True)
    direct = [str(ROOT / ".isthmus" / "venv" / "bin" / "python"), "-P", "-m", "isthmus", "--help"]
    whole, inner = [], []
    for _ in range(7):
        whole.append(cpu_seconds(launcher))
        inner.append(cpu_seconds(direct))
    assert statistics.median(whole) < 0.2
    assert statistics.median(whole) - statistics.median(inner) < 0.05
