# SPDX-License-Identifier: Apache-2.0
"""Paths in a checkout: the one that contains this package, else ISTHMUS_ROOT, else the one that contains
the current folder. Standard library only, as `bootstrap`, which uses it."""

from __future__ import annotations

import os
from pathlib import Path

from isthmus.errors import UserError


def _is_checkout(folder: Path) -> bool:
    return (folder / "python" / "isthmus" / "paths.py").is_file()


def find_root(package: Path, named: str, here: Path) -> Path:
    """The checkout. Raises `UserError`: an installed package finds none.

    package  the folder of the package
    named    what ISTHMUS_ROOT says, or nothing
    here     the current folder
    """
    own = package.parents[1]
    if _is_checkout(own):
        return own
    if named:
        if not _is_checkout(Path(named)):
            raise UserError(f"ISTHMUS_ROOT is {named!r}, which is not a checkout of isthmus")
        return Path(named).resolve()
    found = next((folder for folder in (here, *here.parents) if _is_checkout(folder)), None)
    if found is None:
        raise UserError(
            "needs its checkout, for rtl/ and platforms/: run it inside one, or name one in ISTHMUS_ROOT"
        )
    return found


ROOT = find_root(Path(__file__).resolve().parent, os.environ.get("ISTHMUS_ROOT", ""), Path.cwd())
"""The checkout."""

STATE = ROOT / ".isthmus"
"""Everything that is built on demand; safe to delete."""

NATIVE = ROOT / "python" / "isthmus" / "_native.abi3.so"
LOGS = STATE / "log"
RTL = Path(os.environ.get("ISTHMUS_RTL") or ROOT / "rtl")
"""The gateware's sources: those of the checkout, or a copy with a change that is tried on all of it."""
BENCHMARKS = ROOT / "benchmarks"
