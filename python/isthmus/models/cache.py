# SPDX-License-Identifier: Apache-2.0
"""Content-addressed files, safe against several processes that build the same one at once."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def digest(parts: Iterable[str | bytes | Path]) -> str:
    """SHA-256 over strings and over the content of files, each with its length."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            content = part.read_bytes()
        else:
            content = part.encode() if isinstance(part, str) else part
        total.update(f"{len(content)}:".encode())
        total.update(content)
    return total.hexdigest()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`; another holder is waited for. A dead holder's lock is free."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
