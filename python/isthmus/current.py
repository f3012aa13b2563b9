# SPDX-License-Identifier: Apache-2.0
"""Whether the native module is up to date, by the times and sizes of its sources.

A hash over all sources costs as much as a dozen reads over Etherbone. Here their sizes and times are compared
with those at the last time that the hash fitted, as make and git do; anything new leads to the hash.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from isthmus.paths import NATIVE, ROOT, STATE

STAMP = STATE / "native.stat"


def ensure_native() -> None:
    """As `bootstrap.ensure_native`. Raises `bootstrap.SetupError`."""
    seen = _state()
    try:
        if STAMP.read_text() == f"{_file(NATIVE)} {seen}":
            return
    except OSError:
        # Never built, or never checked.
        pass
    from isthmus import bootstrap

    bootstrap.ensure_native()
    # From before the build: a source that changed meanwhile is checked again.
    partial = STAMP.with_name(f"{STAMP.name}.{os.getpid()}")
    partial.write_text(f"{_file(NATIVE)} {seen}")
    partial.replace(STAMP)


def _state() -> str:
    """Sizes and times of everything that cargo reads."""
    files = [f"{name}:{_file(ROOT / name)}" for name in ("Cargo.toml", "Cargo.lock")]
    folders = [str(ROOT / "crates")]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "target":
                        folders.append(entry.path)
                else:
                    found = entry.stat()
                    files.append(f"{entry.path}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}")
    return " ".join([sys.platform, os.environ.get("RUSTFLAGS", ""), str(ROOT), *sorted(files)])


def _file(path: Path) -> str:
    found = path.stat()
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}"
