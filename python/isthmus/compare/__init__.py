# SPDX-License-Identifier: Apache-2.0
"""`./isthmus compare`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isthmus.bench.runner import Runner
    from isthmus.results import Document

__all__ = ["run"]


def run(
    *,
    iterations: int = 90,
    seed: int = 1,
    out: Path = Path("out"),
    runner: Runner | None = None,
    model: Path | None = None,
) -> Document:
    """Measure timestamps over every road that reads them, print the answer, write page and results.

    iterations  -n, --iters: cycles of each measurement
    seed        --seed
    out         --out: folder of `compare.html`, `compare.json` and `compare.csv`
    """
    from isthmus.roads.etherbone import command

    return command.run(name="compare", iterations=iterations, seed=seed, out=out, runner=runner, model=model)
