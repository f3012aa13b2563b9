# SPDX-License-Identifier: Apache-2.0
"""Tests that share a long measurement run in one process, all others wherever there is room."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONFTEST = Path(__file__).resolve().parents[2] / "conftest.py"
TESTS = """
import os, pathlib, pytest, time

HERE = pathlib.Path(__file__)
ROOT = HERE.parents[2]

@pytest.mark.parametrize("number", range(8))
def test_it(number):
    if HERE.stem == "test_other":
        # The first process to come waits for a second one: how fast either starts does not matter.
        (ROOT / f"process-{os.getpid()}").touch()
        until = time.monotonic() + 20
        while len(list(ROOT.glob("process-*"))) < 2 and not (ROOT / "alone").exists():
            if time.monotonic() > until:
                (ROOT / "alone").touch()
            time.sleep(0.01)
    with (ROOT / "ran").open("a") as file:
        file.write(f"{HERE.stem} {os.getpid()}\\n")
"""


def test_a_file_of_the_list_has_one_process_and_another_has_several(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "system"
    folder.mkdir(parents=True)
    (tmp_path / "tests" / "conftest.py").write_text(CONFTEST.read_text())
    for name in ("test_claims", "test_other"):
        (folder / f"{name}.py").write_text(TESTS)
    options = ["-q", "-n", "2", "--dist=loadscope", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    command = [sys.executable, "-B", "-m", "pytest", *options, "tests"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr
    ran = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    assert len(ran) == 16
    assert len({pid for name, pid in ran if name == "test_claims"}) == 1
    assert len({pid for name, pid in ran if name == "test_other"}) == 2
