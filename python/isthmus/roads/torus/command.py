# SPDX-License-Identifier: Apache-2.0
"""What `isthmus bench torus` does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from isthmus import platforms
from isthmus.bench.output import Format, publish
from isthmus.bench.runner import Runner
from isthmus.errors import UserError
from isthmus.results import Document
from isthmus.roads.torus import ROAD, tables
from isthmus.roads.torus.bench import (
    BYTES,
    MOST_ERRORS,
    PACKETS,
    PLATFORM,
    Traffic,
    check,
    measure,
    nodes,
)
from isthmus.roads.torus.platform import KINDS
from isthmus.storage import result_file


def loads(text: str) -> list[float]:
    """Loads as people write them: 0.5 or 0.2,0.5,0.8."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(0.001 <= load <= 1 for load in found):
        raise UserError(f"load: {text!r}; expected 0.5 or 0.2,0.5,0.8, each from 0.001 to 1")
    return found


def rates(text: str) -> list[float]:
    """Rates of wrong bits as people write them: 0 or 1e-8,1e-7."""
    try:
        found = sorted({float(part) for part in text.split(",")})
    except ValueError:
        found = []
    if not found or not all(0 <= rate <= MOST_ERRORS for rate in found):
        raise UserError(f"errors: {text[:32]!r}; expected 0 or 1e-8,1e-7, each from 0 to {MOST_ERRORS:g}")
    return found


def run(
    *,
    shape: str = "4x4x4",
    pattern: str = "uniform",
    load: str = "0.1,0.3,0.5,0.7,0.8",
    size: int = BYTES,
    packets: int = PACKETS,
    link: str = "delay",
    errors: str = "0",
    platform: str = PLATFORM,
    seed: int = 1,
    format: Format = "table",  # noqa: A002
    out: Path = Path("out"),
    out_json: Path | None = None,
    runner: Runner | None = None,
    given: Path | None = None,
) -> Document:
    """`isthmus bench torus`: measure, write `out/torus.json`, `.csv` and `.html`, print."""
    system, *others = platforms.chosen(platform, KINDS, ROAD.name)
    if others:
        raise UserError(f"platform: {platform!r}; expected one platform")
    traffic = Traffic(nodes(shape), pattern, None, size, packets, seed, link)
    kinds = [replace(traffic, errors=rate) for rate in rates(errors)]
    for kind in kinds:
        check(kind)
    if not 100 <= packets <= 100_000_000:
        raise UserError(f"packets: {packets} is outside 100 to 100000000")
    target = result_file(out, ROAD.name, out_json)
    offered = [*sorted(loads(load)), None]
    points = [replace(kind, load=each) for kind in kinds for each in offered]
    made = measure(points, platform=system, runner=runner, given=given)
    publish(made, target, format, tables.text)
    return made
