# SPDX-License-Identifier: Apache-2.0
"""Checks a model for rumur, a model checker for Murphi: all states, every invariant, no deadlock."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from isthmus import cache, jobs
from isthmus.errors import UserError

TIMEOUT_S = 400.0
_FAILED = (
    r"Assertion failed: [^ ]* (.*)|(invariant .* failed)|(cover .* not hit)|"
    r"(liveness .* violated.*)|(deadlock.*)"
)
INSTALL = "rumur is not installed (Debian: apt-get install rumur)"


@dataclass(frozen=True)
class Checked:
    """What the checker found. `error`: empty, or what failed first; `states`: how many it saw."""

    error: str
    states: int


def available() -> bool:
    """Whether the checker and a C compiler are there."""
    return bool(shutil.which("rumur") and shutil.which("gcc"))


def key(text: str, many: bool = False) -> str:
    """A hash of all that decides what `check` finds: model, checker, compiler and how they are called.
    Raises `UserError` where they cannot be run."""
    if not available():
        raise UserError(INSTALL)
    with tempfile.TemporaryDirectory(prefix="isthmus-murphi-") as scratch:
        versions = [_run([tool, "--version"], Path(scratch)) for tool in ("rumur", "gcc")]
    return cache.digest([text, str(many), *versions, Path(__file__)])


def check(text: str, many: bool = False, timeout_s: float = TIMEOUT_S) -> Checked:
    """Explore all states of a model; `many`: so many that compiling for speed is worth its time.
    Raises `UserError` where it cannot be run."""
    if not available():
        raise UserError(INSTALL)
    with tempfile.TemporaryDirectory(prefix="isthmus-murphi-") as scratch:
        folder = Path(scratch)
        model, code, program = folder / "model.m", folder / "model.c", folder / "model"
        model.write_text(text)
        rumur = [
            "rumur",
            "--deadlock-detection",
            "stuttering",
            "--threads",
            "1",
            "--symmetry-reduction",
            "off",
        ]
        _run([*rumur, "--output", str(code), str(model)], folder)
        _run(
            [
                "gcc",
                "-O1" if many else "-O0",
                "-mcx16",
                "-w",
                "-o",
                str(program),
                str(code),
                "-latomic",
                "-lpthread",
            ],
            folder,
        )
        done = jobs.run_tool([str(program)], cwd=folder, timeout_s=timeout_s)
    states = re.search(r"(\d+) states,", done.output)
    if states is None:
        raise UserError(f"rumur: the model's program ended early: {done.errors.strip()[:200]}")
    return Checked("" if done.code == 0 else _first(done.output), int(states[1]))


def _run(command: list[str], folder: Path) -> str:
    done = jobs.run_tool(command, cwd=folder, timeout_s=TIMEOUT_S)
    if done.code != 0:
        raise UserError(f"{command[0]}: {(done.errors or done.output).strip().splitlines()[0]}")
    return done.output


def _first(output: str) -> str:
    """What failed, in the checker's words."""
    for line in output.splitlines():
        found = re.search(_FAILED, line)
        if found:
            return next(group for group in found.groups() if group)
    return "error"
