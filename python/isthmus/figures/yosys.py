# SPDX-License-Identifier: Apache-2.0
"""Runs Yosys passes in a separate process: `python -m isthmus.figures.yosys PASS...`.

Yosys ends its process on an error, and its log goes to standard output; neither may reach the caller.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from isthmus import jobs
from isthmus.errors import UserError
from isthmus.figures.cores import CoreEntry
from isthmus.models.ports import literal
from isthmus.models.sources import sources
from isthmus.models.tools import first_error
from isthmus.paths import ROOT

TIMEOUT_S = 900


def read(entry: CoreEntry, extra: Sequence[Path] = (), top: str | None = None) -> str:
    """The pass that reads a core with its parameters; `top` is a module of `extra` around it."""
    words = ["read_slang", "--top", top or entry.top]
    if top is None:
        words += [f"-G{name}={literal(value)}" for name, value in entry.parameters.items()]
    return " ".join([*words, *map(str, sources(entry.core)), *map(str, extra)])


def run(what: str, passes: Sequence[str], directory: Path) -> None:
    """Run `passes` in order in `directory`. Raises `UserError` with the first error of the log."""
    command = [sys.executable, "-m", "isthmus.figures.yosys", *passes]
    try:
        environment = {"PYTHONPATH": str(ROOT / "python")}
        done = jobs.run_tool(command, cwd=directory, env=environment, timeout_s=TIMEOUT_S)
    except jobs.ToolTimeoutError as err:
        raise UserError(f"{what}: synthesis not done after {TIMEOUT_S} s") from err
    if done.code != 0:
        raise UserError(f"{what}: synthesis: {first_error(done.errors + done.output)}")


def main() -> None:
    from pyosys import libyosys

    design = libyosys.Design()
    for one in sys.argv[1:]:
        libyosys.run_pass(one, design)


if __name__ == "__main__":
    main()
