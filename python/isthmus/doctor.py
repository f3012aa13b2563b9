# SPDX-License-Identifier: Apache-2.0
"""`isthmus doctor`: what is on this machine, and what each missing tool is needed for."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from isthmus import bootstrap


@dataclass(frozen=True)
class Tool:
    """A program of the machine, what makes it say its version, what needs it and how to get it."""

    name: str
    version: Sequence[str]
    needed_for: str
    install: str


TOOLS = (
    Tool("g++", ("--version",), "models", "apt-get install g++"),
    Tool("cargo", ("--version",), "the simulator", "rustup toolchain install stable"),
    Tool("perl", ("-e", "print $^V"), "isthmus test", "apt-get install perl"),
    Tool("make", ("--version",), "isthmus test", "apt-get install make"),
)
HEADERS = (
    ("zlib.h", "waveforms", "apt-get install zlib1g-dev"),
    ("lz4.h", "waveforms", "apt-get install liblz4-dev"),
)


def run() -> int:
    """Print a line a tool, then make the environment and the native module. 1 where something is missing."""
    missing = False
    print(f"python  {sys.version.split()[0]}")
    for tool in TOOLS:
        path = bootstrap.find(tool.name)
        said = f"missing, for {tool.needed_for}: {tool.install}"
        print(f"{tool.name:<7} {_first_line([path, *tool.version]) if path else said}")
        missing |= path is None
    for header, needed_for, install in HEADERS:
        found = _has_header(header)
        print(f"{header:<7} {'found' if found else f'missing, for {needed_for}: {install}'}")
        missing |= not found
    bootstrap.ensure_development()
    bootstrap.ensure_native()
    return int(missing)


def _first_line(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return done.stdout.partition("\n")[0]


def _has_header(name: str) -> bool:
    if shutil.which("g++") is None:
        return False
    command = ["g++", "-E", "-x", "c++", "-"]
    done = subprocess.run(command, input=f"#include <{name}>\n", capture_output=True, text=True, check=False)
    return done.returncode == 0
