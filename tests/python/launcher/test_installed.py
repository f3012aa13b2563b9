# SPDX-License-Identifier: Apache-2.0
"""The installed package works on a checkout that it finds, and says in one line that it finds none."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from isthmus.errors import UserError
from isthmus.paths import find_root

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LIMIT_S = 120


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages with a copy of isthmus in it, as pip leaves it."""
    folder = tmp_path_factory.mktemp("lib") / "site-packages"
    shutil.copytree(
        ROOT / "python" / "isthmus",
        folder / "isthmus",
        ignore=shutil.ignore_patterns("__pycache__", "*.so"),
    )
    return folder


def start(
    site: Path, *arguments: str, cwd: Path, root: str | None = None
) -> subprocess.CompletedProcess[str]:
    env = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "ISTHMUS_ROOT")}
    env |= {"PYTHONPATH": str(site)} | ({"ISTHMUS_ROOT": root} if root is not None else {})
    module, _, function = PROJECT["scripts"]["isthmus"].partition(":")
    program = f"import sys; from {module} import {function}; sys.argv[0] = 'isthmus'; {function}()"
    command = [sys.executable, "-P", "-c", program, *arguments]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=LIMIT_S)


def test_outside_a_checkout_one_line_says_what_is_missing(site: Path, tmp_path: Path) -> None:
    done = start(site, "platforms", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"isthmus: needs its checkout, .* ISTHMUS_ROOT\n", done.stderr)


def test_a_checkout_is_found_around_the_current_folder_and_by_its_name(site: Path, tmp_path: Path) -> None:
    for done in (
        start(site, "platforms", cwd=ROOT / "docs" / "how-to"),
        start(site, "platforms", cwd=tmp_path, root=str(ROOT)),
    ):
        assert done.returncode == 0, done.stderr
        assert "gige-direct" in done.stdout


def test_the_native_module_is_that_of_the_checkout(site: Path, tmp_path: Path) -> None:
    native = ROOT / "python" / "isthmus" / "_native.abi3.so"
    if not native.is_file():
        pytest.skip("the native module is not built")
    code = "from isthmus import native; print(native.load().__file__)"
    env = {**os.environ, "PYTHONPATH": str(site), "ISTHMUS_ROOT": str(ROOT)}
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.stdout.strip() == str(native), done.stderr


def test_a_wrong_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a checkout of isthmus"):
        find_root(tmp_path / "a" / "isthmus", str(tmp_path), ROOT)
    assert find_root(ROOT / "python" / "isthmus", str(tmp_path), tmp_path) == ROOT, "its own goes first"


def test_the_package_needs_what_the_checkout_needs() -> None:
    lines = (ROOT / "requirements" / "run.in").read_text().splitlines()
    assert PROJECT["dependencies"] == [line for line in lines if not line.startswith("#")]
    assert set(PROJECT["optional-dependencies"]) == {"dask", "frame", "gpu", "parquet", "postgres"}
