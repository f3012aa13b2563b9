# SPDX-License-Identifier: Apache-2.0
"""What `isthmus bench nanet` does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus import platforms
from isthmus.bench import runner as running
from isthmus.bench.output import Format, publish
from isthmus.bench.runner import Runner
from isthmus.bench.session import Session
from isthmus.errors import UserError
from isthmus.results import Document
from isthmus.roads.nanet import ROAD, chain_tables, tables
from isthmus.roads.nanet.bench import (
    LARGEST,
    PLATFORM,
    RECEIVE,
    SEND,
    STREAM_WINDOW,
    Point,
    Stream,
    check,
    measure,
    parse_memories,
    profiles,
    scenarios,
)
from isthmus.roads.nanet.chain import Chain
from isthmus.roads.nanet.chain import measure as measure_chains
from isthmus.roads.nanet.platform import KINDS, is_ten_gigabit
from isthmus.storage import result_file
from isthmus.workload import LARGEST_WINDOW, parse_rate, parse_sizes

AS_PUBLISHED = "as-published"
NOISES = {None: (True,), "yes": (True,), "no": (False,), "both": (True, False)}
"""With the noise of the machine whose times are drawn, or without."""
OPERATIONS = {"receive": RECEIVE, "send": SEND, "message": SEND}


@dataclass(frozen=True)
class Asked:
    """The runs that the options of `isthmus bench nanet` name."""

    size: str = "64,256,1024,1472"
    iterations: int = 200
    ports: int = 1
    window: str | None = None
    rate: str | None = None
    buffers: int = 64
    datagrams: int = 1
    driver: str = "poll"
    policy: str = "newest"
    page: int = 0
    memory: str = "host"
    operation: str = "receive"
    platform: str = PLATFORM
    profile: str = "all"
    seed: int = 1


def wanted(asked: Asked) -> list[Point]:
    """The runs. Raises `UserError` with one line for what cannot be run."""
    a = asked
    if a.window is not None and a.rate is not None:
        raise UserError("--window and --rate exclude each other: datagrams in flight, or datagrams a second")
    arrivals: list[tuple[int | None, float | None]] = [(None, parse_rate(a.rate))] if a.rate else []
    if not arrivals:
        arrivals = [(each, None) for each in _windows(a.window or f"1,{STREAM_WINDOW}")]
    chosen = platforms.chosen(a.platform, KINDS, ROAD.name)
    designs = profiles(a.profile)
    if a.page:
        if a.profile == AS_PUBLISHED:
            raise UserError(
                "page: the published interface translates no addresses; expected --profile isthmus"
            )
        designs = [one for one in designs if one != AS_PUBLISHED]
    if OPERATIONS[a.operation] == SEND:
        if a.profile == AS_PUBLISHED:
            raise UserError(
                "operation: the document has no figure of a program's UDP; expected --profile isthmus"
            )
        designs = [one for one in designs if one != AS_PUBLISHED]
    points = [
        Point(
            Stream(
                bytes_,
                flight,
                per_s,
                a.ports,
                a.buffers,
                a.datagrams,
                driver=a.driver,
                policy=a.policy,
                page_kib=a.page,
                operation=OPERATIONS[a.operation],
                remote=a.operation == "message",
                memory=kind,
                iterations=a.iterations,
                seed=a.seed,
            ),
            design,
            where,
        )
        for where in chosen
        for kind in parse_memories(a.memory)
        for flight, per_s in arrivals
        for bytes_ in parse_sizes(a.size, LARGEST)
        for design in designs
    ]
    for point in points:
        check(point.stream)
    return points


def scenario_text(asked: Asked) -> str:
    """The scenario of the one run as JSON, its model built."""
    points = wanted(asked)
    if len(points) != 1:
        raise UserError(
            f"print-scenario: {len(points)} runs; expected one size, one window, one memory and one profile"
        )
    [made] = scenarios(Session(ROAD.name, given=running.model), points)
    return json.dumps(made, indent=1)


def run(
    asked: Asked,
    *,
    waveform: Path | None = None,
    format: Format = "table",  # noqa: A002
    out: Path = Path("out"),
    out_json: Path | None = None,
    runner: Runner | None = None,
) -> Document:
    """`isthmus bench nanet`: measure, write `out/nanet.json`, `.csv` and `.html`, print."""
    target = result_file(out, ROAD.name, out_json)
    points = wanted(asked)
    if waveform is not None and len(points) != 1:
        raise UserError(
            f"waveform: {len(points)} runs; expected one size, one window, one memory and one profile"
        )
    made = measure(points, waveform=waveform, runner=runner)
    publish(made, target, format, tables.text)
    return made


def _windows(text: str) -> list[int]:
    found = [part.strip() for part in text.split(",")]
    if not all(_is_window(part) for part in found):
        raise UserError(f"window: {text!r}; expected datagrams in flight, for example 1 or 1,16")
    return [int(part) for part in found]


def _is_window(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= LARGEST_WINDOW


def chain(
    *,
    rate: str,
    groups: int,
    events: int,
    layout: str,
    finder: str,
    cores: int,
    share: int | None,
    noise: str | None,
    release: float,
    place: str | None,
    merge: str,
    search_clock: float,
    sample: str,
    times: Path | None,
    platform: str,
    profile: str,
    seed: int,
    format: Format,  # noqa: A002
    out: Path,
    out_json: Path | None,
    runner: Runner | None,
) -> Document:
    """`isthmus bench trigger-chain`: measure, write `out/trigger-chain.json`, `.csv` and `.html`, print."""
    rates = [parse_rate(one) for one in rate.split(",")]
    chosen = platforms.chosen(platform, KINDS, ROAD.name)
    if len(chosen) != 1:
        raise UserError(f"platform: {platform!r}; expected one platform")
    target = result_file(out, "trigger-chain", out_json)
    if noise not in NOISES:
        raise UserError(f"noise: {noise!r}; expected yes, no or both")
    # The interface searches only whole events, and only for candidates of the finder isthmus.
    searched = layout == "packed" and finder == "isthmus" and not is_ten_gigabit(chosen[0])
    chains = [
        (
            design,
            Chain(
                per_s, events, layout, finder, cores, release, sample, groups, seed, where, search_clock,
                share, noisy, merged,
            ),
        )
        for design in profiles(profile)
        for merged in merge.split(",")
        for where, per_s, noisy in _runs(rates, place, noise, searched)
    ]  # fmt: skip
    made = measure_chains(chains, platform=chosen[0], times=times, runner=runner)
    publish(made, target, format, chain_tables.text)
    return made


def _runs(
    rates: Sequence[float], place: str | None, noise: str | None, searched: bool
) -> list[tuple[str, float, bool]]:
    """Place, rate and noise of each run. What is not asked for is measured at one rate, the middle one: 3032
    counters take long to simulate."""
    middle = sorted(rates)[(len(rates) - 1) // 2]
    places = place.split(",") if place else ["cpu"]
    noises = NOISES[noise]
    runs = [(where, per_s, noisy) for where in places for noisy in noises for per_s in rates]
    if noise is None:
        runs += [(where, middle, False) for where in places]
    if place is None and searched:
        runs.append(("fpga", middle, noises[0]))
    return runs
