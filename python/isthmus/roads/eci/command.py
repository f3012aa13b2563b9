# SPDX-License-Identifier: Apache-2.0
"""What `isthmus bench eci` does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from isthmus import platforms
from isthmus.bench import traces
from isthmus.bench.output import FORMATS, Format, publish
from isthmus.bench.runner import Runner
from isthmus.errors import choose
from isthmus.platforms import PROFILES
from isthmus.results import Document
from isthmus.roads.eci import ROAD, tables
from isthmus.roads.eci.bench import (
    ALL_OPERATIONS,
    BARRIER,
    DRIVERS,
    IO,
    IPI,
    OPERATIONS,
    PLATFORM,
    POLICIES,
    SIZES,
    WORD_OPERATIONS,
    measure,
    points,
)
from isthmus.roads.eci.platform import KINDS
from isthmus.storage import result_file


def run(
    *,
    operation: str = "all",
    driver: str = "uncached",
    links: int = 1,
    policy: str = "all",
    size: str = SIZES,
    iterations: int | None = None,
    window: int | None = None,
    platform: str = PLATFORM,
    profile: str = "isthmus",
    waveform: Path | None = None,
    seed: int = 1,
    format: Format = "table",  # noqa: A002
    out: Path = Path("out"),
    out_json: Path | None = None,
    runner: Runner | None = None,
    given: Mapping[str, Path] | None = None,
) -> Document:
    """`isthmus bench eci`: measure, write `out/eci.json`, `.csv` and `.html`, print."""
    choose("format", format, FORMATS)
    choose("op", operation, (*ALL_OPERATIONS, "all"))
    choose("driver", driver, (*DRIVERS, IO, IPI, BARRIER))
    every = WORD_OPERATIONS.get(driver, OPERATIONS)
    operations = every if operation == "all" else (operation,)
    choose("policy", policy, (*POLICIES, "all"))
    choose("profile", profile, (*PROFILES, "all"))
    profiles = PROFILES if profile == "all" else (profile,)
    chosen = platforms.chosen(platform, KINDS, ROAD.name)
    policies = POLICIES if policy == "all" else (policy,)
    wanted = points(
        chosen,
        profiles,  # type: ignore[arg-type]
        operations,  # type: ignore[arg-type]
        size,
        iterations,
        window,
        seed,
        driver,
        links,
        policies,
    )
    if waveform is not None:
        traces.check_waveform(waveform, len(wanted), "--op, -s, --window, --policy, --platform, --profile")
    target = result_file(out, "eci", out_json)
    made = measure(wanted, waveform=waveform, runner=runner, given=given)
    publish(made, target, format, tables.text)
    if waveform is not None and format == "table":
        print(traces.how_to_open(waveform))
    return made
