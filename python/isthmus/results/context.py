# SPDX-License-Identifier: Apache-2.0
"""The origin of a result: commit, sources, tools, command."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from isthmus import __version__
from isthmus.cache import digest
from isthmus.paths import ROOT

_TOOLS = ("verilator",)
_SOURCES = ("rtl/**/*.sv", "crates/**/*.rs", "crates/**/Cargo.toml", "platforms/*.toml", "python/**/*.py")


def collect(command: str, seed: int, models: Mapping[str, Path], wall_s: float) -> dict[str, Any]:
    """The `context` of a document that is made now in this checkout."""
    return {
        "commit": commit(),
        "sources": sources_hash(),
        "command": command,
        "seed": seed,
        "tools": {"isthmus": __version__, **{name: _version(name) for name in _TOOLS}},
        "models": {name: path.name for name, path in models.items()},
        "wall_s": round(wall_s, 3),
    }


def commit() -> str:
    """The checkout's commit; "+changes" follows where tracked files differ from it."""
    try:
        head = _git("rev-parse", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return head + ("+changes" if changed else "")


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=10, check=True
    )
    return done.stdout.strip()


def sources_hash() -> str:
    """SHA-256 over all that can change a figure: gateware, simulator, platforms, Python."""
    files = sorted({path for pattern in _SOURCES for path in ROOT.glob(pattern)})
    parts: list[str | bytes | Path] = []
    for path in files:
        parts += [path.relative_to(ROOT).as_posix(), path]
    return digest(parts)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
