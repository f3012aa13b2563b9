# SPDX-License-Identifier: Apache-2.0
"""What `isthmus bench ccix` does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

from isthmus import platforms
from isthmus.bench import traces
from isthmus.bench.output import FORMATS, Format, publish
from isthmus.bench.runner import Runner
from isthmus.errors import UserError, choose
from isthmus.platforms import PROFILES, Platform, Profile
from isthmus.results import Document
from isthmus.roads.ccix import ROAD, lock_trace, locks, postgres, tables
from isthmus.roads.ccix import contention as both
from isthmus.roads.ccix import translation as through
from isthmus.roads.ccix.bench import (
    CHANGES,
    DRIVERS,
    FOOTPRINTS,
    OPERATIONS,
    ORDERS,
    PAGES,
    PLATFORM,
    PORTS,
    SIZES,
    UPDATE,
    WORD_BYTES,
    Updates,
    measure,
    points,
    translated,
)
from isthmus.roads.ccix.platform import KINDS
from isthmus.storage import result_file, store
from isthmus.workload import parse_sizes

_ONE = "--op, --driver, --port, --translation, --cache, --page, --order, -s, --window, --platform, --profile"
"""Options that choose one run."""


def run(
    *,
    operation: str = "all",
    driver: str = "request-agent",
    port: str = "lines",
    translation: str = "all",
    cache: bool = False,
    page: str = "4K",
    order: str = "sequential",
    change: str = "add",
    moves: int = 0,
    size: str | None = None,
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
    """`isthmus bench ccix`: measure, write `out/ccix.json`, `.csv` and `.html`, print."""
    choose("format", format, FORMATS)
    choose("op", operation, (*OPERATIONS, UPDATE, "all"))
    choose("change", change, CHANGES)
    choose("driver", driver, (*DRIVERS, "all"))
    choose("port", port, PORTS)
    choose("translation", translation, (*FOOTPRINTS, "all"))
    choose("page", page, (*PAGES, "all"))
    choose("order", order, (*ORDERS, "all"))
    virtual = [
        replace(translated(*one), moves=moves)
        for one in product(
            tuple(FOOTPRINTS) if translation == "all" else (translation,),
            PAGES if page == "all" else (page,),
            ORDERS if order == "all" else (order,),
        )
    ]
    operations = OPERATIONS if operation == "all" else (operation,)
    profiles, chosen = _designs(profile, platform)
    drivers = DRIVERS if driver == "all" else (driver,)
    wanted = points(
        chosen,
        profiles,
        operations,  # type: ignore[arg-type]
        size or (str(WORD_BYTES) if operation == UPDATE else SIZES),
        iterations,
        window,
        seed,
        drivers,  # type: ignore[arg-type]
        virtual,
        port,
        cache,
        Updates(change),
    )
    if waveform is not None:
        traces.check_waveform(waveform, len(wanted), _ONE)
    target = result_file(out, "ccix", out_json)
    made = measure(wanted, waveform=waveform, runner=runner, given=given)
    publish(made, target, format, tables.text)
    if waveform is not None and format == "table":
        print(traces.how_to_open(waveform))
    return made


def _designs(profile: str, platform: str) -> tuple[list[Profile], list[Platform]]:
    """The profiles and platforms of these options. Raises `UserError` for an unknown name."""
    choose("profile", profile, (*PROFILES, "all"))
    profiles = [one for one in PROFILES if profile in ("all", one)]
    return profiles, platforms.chosen(platform, KINDS, ROAD.name)


def contention(
    *,
    lines: str = both.LINES,
    window: str = "1,16",
    iterations: int = both.ACCESSES,
    rounds: int = both.ROUNDS,
    platform: str = PLATFORM,
    profile: str = "isthmus",
    seed: int = 1,
    format: Format = "table",  # noqa: A002
    out: Path = Path("out"),
    out_json: Path | None = None,
    runner: Runner | None = None,
    given: Mapping[str, Path] | None = None,
) -> Document:
    """`isthmus bench ccix-contention`: measure, write `out/ccix-contention.*`, print."""
    choose("format", format, FORMATS)
    profiles, chosen = _designs(profile, platform)
    windows = both.counts("window", window, both.MOST_WINDOW)
    over = both.counts("lines", lines, both.MOST_LINES)
    wanted = both.points(chosen, profiles, over, windows, iterations, seed, rounds)
    target = result_file(out, "ccix-contention", out_json)
    made = both.measure(wanted, runner, given)
    publish(made, target, format, tables.text)
    return made


def translation(
    *,
    size: str = "64,4K,64K",
    platform: str = PLATFORM,
    profile: str = "isthmus",
    seed: int = 1,
    format: Format = "table",  # noqa: A002
    out: Path = Path("out"),
    out_json: Path | None = None,
    runner: Runner | None = None,
    given: Mapping[str, Path] | None = None,
) -> Document:
    """`isthmus bench ccix-translation`: measure, write `out/ccix-translation.*`, print."""
    choose("format", format, FORMATS)
    profiles, chosen = _designs(profile, platform)
    wanted = through.points(chosen, profiles, parse_sizes(size), seed=seed)
    target = result_file(out, "ccix-translation", out_json)
    made = through.measure(wanted, runner, given)
    publish(made, target, format, tables.text)
    return made


def lock_table(
    *,
    trace: str | Path | None = None,
    workload: str = "ycsb-a",
    transactions: int = 1000,
    dsn: str | None = None,
    record: Path | None = None,
    resets: int = 0,
    holds: int = 0,
    fpga_resets: int = 0,
    mode: str | None = None,
    requesters: str = locks.REQUESTERS,
    platform: str = PLATFORM,
    profile: str = "isthmus",
    seed: int = 1,
    format: Format = "table",  # noqa: A002
    out: Path = Path("out"),
    out_json: Path | None = None,
    runner: Runner | None = None,
    given: Path | None = None,
) -> Document:
    """`isthmus bench lock-table`: measure, write `out/lock-table.*`, print."""
    choose("format", format, FORMATS)
    letters = dict.fromkeys((mode or "a,b,c,d").split(","))
    modes = [locks.MODES[choose("mode", letter, locks.MODES)] for letter in letters]
    counts = both.counts("requesters", requesters, locks.MOST_REQUESTERS)
    profiles, chosen = _designs(profile, platform)
    choose("workload", workload, postgres.WORKLOADS)
    if str(trace) == "postgres":
        read, said = postgres.record(workload, transactions, seed, dsn)
        if record is not None:
            store(record, lock_trace.text(read, said))
        if format == "table":
            print(f"# {said}")
    elif dsn is not None or record is not None:
        raise UserError("--dsn and --record are of --trace postgres")
    elif str(trace) == "uniform":
        read = lock_trace.uniform(transactions, seed=seed)
    else:
        read = lock_trace.load(Path(trace) if trace else lock_trace.STORED)
    stops = locks.Stops(resets, holds, fpga_resets)
    if not all(0 <= count <= locks.MOST_STOPS for count in (resets, holds, fpga_resets)):
        raise UserError(f"resets and holds: 0 to {locks.MOST_STOPS}")
    wanted = locks.points(read, chosen, profiles, modes, counts, seed, stops)
    target = result_file(out, "lock-table", out_json)
    made = locks.measure(wanted, runner=runner, given=given)
    publish(made, target, format, tables.text)
    return made
