# SPDX-License-Identifier: Apache-2.0
"""Stored figures that a later run is held against."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from isthmus.errors import UserError
from isthmus.paths import BENCHMARKS
from isthmus.storage import store

TOLERANCE = 0.02
"""A figure may be worse than its baseline by this much before the command fails."""

Figures = dict[str, float]


@dataclass(frozen=True)
class Verdict:
    """One figure against its baseline; `ratio` is figure / baseline, None without one."""

    ratio: float | None
    worse: bool


def load(name: str, directory: Path = BENCHMARKS / "baselines") -> dict[str, dict[str, Figures]]:
    """core -> variant -> figure name -> value; empty where nothing is stored yet."""
    path = directory / f"{name}.json"
    if not path.is_file():
        return {}
    try:
        stored: dict[str, dict[str, Figures]] = json.loads(path.read_text())["figures"]
    except (ValueError, KeyError, TypeError) as err:
        raise UserError(f"{path.name}: not a baseline; --update writes a new one") from err
    return stored


def update(
    name: str,
    measured: Mapping[str, Mapping[str, Figures]],
    tools: Mapping[str, str],
    directory: Path = BENCHMARKS / "baselines",
) -> Path:
    """Replace the stored figures of measured cores; all others stay."""
    stored = load(name, directory)
    for core, variants in measured.items():
        for variant, figures in variants.items():
            stored.setdefault(core, {})[variant] = dict(figures)
    path = directory / f"{name}.json"
    document = {"tools": dict(tools), "figures": stored}
    store(path, json.dumps(document, indent=2, sort_keys=True) + "\n")
    return path


def judge(value: float, stored: float | None, *, more_is_better: bool = False) -> Verdict:
    """Compare one figure with its baseline."""
    if stored is None:
        return Verdict(None, False)
    if stored == 0:
        return Verdict(1.0 if value == 0 else None, value > 0 and not more_is_better)
    ratio = value / stored
    worse = ratio < 1 - TOLERANCE if more_is_better else ratio > 1 + TOLERANCE
    return Verdict(ratio, worse)
