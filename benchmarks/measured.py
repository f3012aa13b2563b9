# SPDX-License-Identifier: Apache-2.0
"""What the benchmarks in this folder share: a figure beside its target, and how it is printed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))


@dataclass(frozen=True)
class Figure:
    """One figure and its target: at most that much, or at least."""

    name: str
    value: float
    target: float
    unit: str
    least: bool = False

    @property
    def met(self) -> bool:
        return self.value >= self.target if self.least else self.value <= self.target


def table(figures: Sequence[Figure]) -> str:
    lines = [f"{'#':<44}{'figure':>10}{'target':>12}{'ratio':>8}  unit"]
    for one in figures:
        target = f"{'>=' if one.least else '<='} {one.target:g}"
        missed = "" if one.met else "  missed"
        ratio = one.value / one.target if one.target else 0.0
        lines.append(f"{one.name:<44}{one.value:>10.4g}{target:>12}{ratio:>8.2f}  {one.unit}{missed}")
    return "\n".join(lines)


def main(measure: Callable[[argparse.Namespace], Sequence[Figure]], parser: argparse.ArgumentParser) -> int:
    """Measure and print. Exit status 1 where a target is missed and `--check` was given."""
    parser.add_argument("--check", action="store_true", help="exit 1 where a target is missed")
    options = parser.parse_args()
    figures = measure(options)
    print(table(figures))
    return int(options.check and not all(one.met for one in figures))
