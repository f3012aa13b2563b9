# SPDX-License-Identifier: Apache-2.0
"""The measurement of the Etherbone report: timestamps over every bus, method by method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from isthmus.bench import runner as running
from isthmus.bench.session import Session
from isthmus.errors import UserError, choose
from isthmus.platforms import PROFILES, Platform, Profile
from isthmus.results import Document
from isthmus.roads.etherbone import scenario
from isthmus.roads.etherbone.platform import KINDS
from isthmus.roads.etherbone.scenario import METHODS, Method, Procedure

ITERATIONS = 90
TIMESTAMPS = tuple(range(1, 9))
# The report's four systems get the whole measurement; the others are in its table of the latch unit.
SERIES = ("gige-direct", "gige-switch", "pcie-scu3", "pcie-t5810", "usb-t5810", "vme-rio4")
TABLE = ("gige-scu3", "pcie-scu2", "pcie-t3500", "usb-t3500", "vme-a020")
SYSTEMS = (*SERIES, *TABLE)
WORDS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
WORDS_ITERATIONS = 10
# A convenience call a word: a thousand words are a thousand round trips, all alike.
WORDS_ITERATIONS_CONVENIENCE = 1
PATH_READS = (1, 2, 4, 8, 16, 64, 255)
THROUGHPUT_ITERATIONS = 2000
# Frames back to back, straight onto the wire: the shortest ones, and the longest full of timestamps.
LINE_RATE: tuple[tuple[int, int], ...] = ((1000, 0), (200, max(TIMESTAMPS)))

ETHERNET = "gige"
Trace = Literal["none", "fst", "perfetto", "pcapng"]
_TRACES: Mapping[Trace, tuple[str, str]] = {
    "fst": ("waveform", "fst"),
    "perfetto": ("timeline", "perfetto-trace"),
    "pcapng": ("pcap", "pcapng"),
}


def measure(
    *,
    iterations: int = ITERATIONS,
    timestamps: Sequence[int] = TIMESTAMPS,
    systems: Sequence[Platform | str] = SYSTEMS,
    methods: Sequence[Method] = METHODS,
    profiles: Sequence[Profile] = PROFILES,
    seed: int = 1,
    trace: Trace = "none",
    out: Path = Path("out"),
    command: str | None = None,
    procedure: Procedure = "steady",
    runner: running.Runner | None = None,
    model: Path | None = None,
) -> Document:
    """Run it and give the result document; nothing is printed but progress.

    systems     platforms, or their names
    iterations  cycles of each series that count; a pipelined one continues until its rate is steady
    procedure   steady: warm-up and drain are excluded; published: as the document measured
    """
    _check(iterations, timestamps, methods, profiles, trace)
    session = Session("measure", runner=runner, given=model, command=command)
    loaded = {platform.name: platform for platform in map(session.platform, systems)}
    if trace == "pcapng":
        without = [platform.name for platform in loaded.values() if platform.bus != ETHERNET]
        if without:
            raise UserError(
                f"trace: pcapng has Ethernet frames, and {', '.join(without)} has none: perfetto, fst"
            )
    files = dict(_trace_files(trace, out))
    runs = [
        scenario.scenario(
            platform,
            profile,
            session.model(KINDS[platform.bus].boards[profile], waveform=trace == "fst"),
            workload,
            seed,
            _named(files, f"{name}-{profile}-{_name(workload)}"),
        )
        for name, platform in loaded.items()
        for profile in profiles
        for workload in _workloads(name, methods, timestamps, iterations, procedure)
    ]
    if "gige-direct" in loaded:
        # The gateware is the same on every path and in both profiles: its own clocks are taken once.
        bare = [scenario.path(list(PATH_READS)), *(scenario.line_rate(*load) for load in LINE_RATE)]
        direct = loaded["gige-direct"]
        built = session.model(KINDS[direct.bus].boards[profiles[0]], waveform=trace == "fst")
        runs += [scenario.scenario(direct, "isthmus", built, workload, seed) for workload in bare]
    return session.document(session.run(runs), seed)


def _workloads(
    system: str,
    methods: Iterable[Method],
    timestamps: Iterable[int],
    iterations: int,
    procedure: Procedure,
) -> list[dict[str, Any]]:
    if system in TABLE:
        return [scenario.tlu(iterations)] if "blocking" in methods else []
    counts = list(timestamps)
    made = []
    for method in methods:
        made += [scenario.timestamps(method, count, iterations, procedure) for count in counts]
        repeats = WORDS_ITERATIONS_CONVENIENCE if method == "convenience" else WORDS_ITERATIONS
        made.append(scenario.words(method, list(WORDS), repeats))
        if method == "blocking":
            made.append(scenario.tlu(iterations))
        if method == "pipelined":
            made.append(scenario.throughput(max(counts), THROUGHPUT_ITERATIONS, procedure))
    return made


def _name(workload: Mapping[str, Any]) -> str:
    parts = [workload["kind"], workload.get("method", ""), str(workload.get("timestamps_per_cycle", ""))]
    return "-".join(part for part in parts if part)


def _trace_files(trace: Trace, out: Path) -> Iterable[tuple[str, str]]:
    if trace != "none":
        key, ending = _TRACES[trace]
        folder = out / "traces"
        folder.mkdir(parents=True, exist_ok=True)
        yield key, str(folder.resolve() / f"{{}}.{ending}")


def _named(files: Mapping[str, str], name: str) -> dict[str, str] | None:
    return {key: pattern.format(name) for key, pattern in files.items()} or None


def _check(
    iterations: int,
    timestamps: Sequence[int],
    methods: Sequence[str],
    profiles: Sequence[str],
    trace: str,
) -> None:
    if not 1 <= iterations <= 1_000_000:
        raise UserError(f"iterations: {iterations} is outside 1 to 1000000")
    if not timestamps:
        raise UserError("size: give at least one number of timestamps, 1 to 8")
    for count in timestamps:
        if not 1 <= count <= 8:
            raise UserError(f"size: {count} timestamps a cycle; the report's measurement has 1 to 8")
    for name, given, known in (
        ("method", methods, METHODS),
        ("profile", profiles, PROFILES),
        ("trace", [trace], ("none", *_TRACES)),
    ):
        for value in given:
            choose(name, value, known)


def sizes(text: str) -> tuple[int, ...]:
    """Timestamps a cycle as people write them: "4", "1,2,8" or "1..8"."""
    try:
        if ".." in text:
            low, high = (int(part) for part in text.split(".."))
            if not 1 <= low <= high <= TIMESTAMPS[-1]:
                raise UserError(f"size: {text!r}; expected 1 to {TIMESTAMPS[-1]} timestamps in a cycle")
            return tuple(range(low, high + 1))
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UserError(f"size: {text!r}; expected 4, 1,2,8 or 1..8") from None
