# SPDX-License-Identifier: Apache-2.0
"""Files that a generator makes: written, or compared with those in the checkout."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from isthmus.storage import store


def write(root: Path, files: Iterable[tuple[Path, str]]) -> list[Path]:
    """Write each text to its path below `root`."""
    written = []
    for path, text in files:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        store(target, text)
        written.append(target)
    return written


def stale(root: Path, generate: Callable[[Path, Path], list[Path]]) -> list[str]:
    """Files, relative to `root`, that are missing or differ from the output of `generate(out_root, root)`."""
    with tempfile.TemporaryDirectory() as scratch:
        fresh = generate(Path(scratch), root)
        names = [path.relative_to(scratch) for path in fresh]
        return [
            str(name)
            for name, path in zip(names, fresh, strict=True)
            if not (root / name).is_file() or (root / name).read_text() != path.read_text()
        ]
