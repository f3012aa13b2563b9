# SPDX-License-Identifier: Apache-2.0
"""What `isthmus bench rdma` does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from isthmus import platforms
from isthmus.bench import traces
from isthmus.bench.output import FORMATS, Format, publish
from isthmus.bench.runner import Runner
from isthmus.errors import UserError, choose
from isthmus.platforms import PROFILES, Platform, Profile
from isthmus.results import Document
from isthmus.roads.rdma import ROAD, published, tables, tracefile
from isthmus.roads.rdma.bench import (
    INTERFACE,
    LAZY,
    OVERRUN,
    PLATFORM,
    SWITCH,
    TESTS,
    TRACE,
    WANTS_TRACE,
    Point,
    Transfers,
    all_sizes,
    check,
    measure,
    models,
    scenario,
    sizes,
    usual_iterations,
    usual_size,
    warmup,
)
from isthmus.roads.rdma.platform import KINDS
from isthmus.storage import result_file

FIGURES = "figures"


@dataclass(frozen=True)
class RdmaOptions:
    """What `isthmus bench rdma` was asked for.

    test         one of `TESTS`, or `figures`: the document's figures
    size         -s, --size: bytes, 64, 8,64 or 8:4096; `all_`: -a, every one
    iterations   -n, --iters: transfers measured at each size; `duration_ms`: -D, simulated time instead
    trace        --trace: the file of test trace; as many hosts as it names, at least
    posting      --posting: v1, v2 or v3; v3 needs `overrun`, which says that its queue may overrun
    uncombined   --uncombined: words of 4 bytes, without write-combining
    post_list    -l, --post-list: transfers of one post
    inline       -I, --inline_size: writes of at most this many bytes carry their data inline
    polled       --polled: the receiver polls its memory instead of using notifications
    histogram    -H: the whole distribution; `unsorted`: -U: each sample, in the result file as well
    gbits        --report-gbits
    waveform     --waveform: FST file of host 0's interface; one size, platform and profile
    platform     --platform: names or paths, with commas
    profile      --profile: as-published, isthmus or all; None: isthmus, and of figures all
    """

    test: str
    size: str | None = None
    all_: bool = False
    iterations: int | None = None
    duration_ms: float | None = None
    trace: Path | None = None
    hosts: int = 2
    links: int = 1
    posting: str | None = None
    overrun: bool = False
    uncombined: bool = False
    bidirectional: bool = False
    post_list: int = 1
    inline: int | None = None
    polled: bool = False
    histogram: bool = False
    unsorted: bool = False
    gbits: bool = False
    waveform: Path | None = None
    platform: str = PLATFORM
    profile: str | None = None
    seed: int = 1


def run(
    options: RdmaOptions,
    *,
    format: Format = "table",  # noqa: A002
    out: Path = Path("out"),
    out_json: Path | None = None,
    runner: Runner | None = None,
    given: Mapping[str, Path] | None = None,
) -> Document:
    """`isthmus bench rdma`: measure, write `out/rdma.json`, `.csv` and `.html`, print."""
    o = options
    choose("format", format, FORMATS)
    choose("test", o.test, (*TESTS, "figures"))
    profiles = _profiles(o)
    chosen = platforms.chosen(o.platform, KINDS, ROAD.name)
    _check(o)
    lines: tuple[tracefile.Line, ...] = ()
    if o.trace is not None:
        lines = tracefile.read(o.trace)
        o = replace(
            o,
            hosts=max(o.hosts, tracefile.hosts(lines)),
            iterations=len(lines),
            size=str(max(line.size for line in lines)),
        )
    points = [] if o.test == FIGURES else _points(o, chosen, profiles, lines)
    for point in points:
        check(point.transfers)
    if o.waveform is not None:
        traces.check_waveform(o.waveform, len(points), "-s, --platform, --profile")
    target = result_file(out, "rdma", out_json)
    if points:
        made = measure(points, duration_ms=o.duration_ms, waveform=o.waveform, runner=runner, given=given)
    else:
        made = published.drawn(profiles, chosen, o.seed, runner, given)

    def text(one: Document) -> str:
        return tables.text(one, gbits=o.gbits, histogram=o.histogram, unsorted=o.unsorted)

    publish(made, target, format, text)
    if o.waveform is not None and format == "table":
        print(traces.how_to_open(o.waveform))
    return made


def scenario_text(options: RdmaOptions) -> str:
    """The scenario of the one run as JSON, its models built."""
    o = options
    choose("test", o.test, TESTS)
    _check(o)
    chosen = platforms.chosen(o.platform, KINDS, ROAD.name)
    points = [] if o.trace is not None else _points(o, chosen, _profiles(o), ())
    if len(points) != 1:
        raise UserError(
            f"print-scenario: {len(points)} runs; name one size, platform and profile, and no trace"
        )
    [point] = points
    check(point.transfers)
    [platform] = chosen
    made = models(platform, point.profile, o.links, o.hosts)
    text = scenario(platform, point.profile, point.transfers, made[INTERFACE], made[SWITCH])
    return json.dumps(text, indent=1)


def _profiles(o: RdmaOptions) -> tuple[Profile, ...]:
    wanted = o.profile or ("all" if o.test == FIGURES else "isthmus")
    names = PROFILES if wanted == "all" else tuple(wanted.split(","))
    for each in names:
        choose("profile", each, (*PROFILES, "all"))
    return names  # type: ignore[return-value]


def _check(o: RdmaOptions) -> None:
    """Raises `UserError` for options that exclude each other."""
    if o.iterations is not None and o.duration_ms is not None:
        raise UserError("duration: give -n or -D, not both")
    if o.duration_ms is not None and not 0.001 <= o.duration_ms <= 10_000:
        raise UserError(f"duration: {o.duration_ms} ms are outside 0.001 to 10000 simulated ms")
    if o.duration_ms is not None and o.test == "sort":
        raise UserError("duration: sort runs once; -n says how many chunks each host has")
    if o.size is not None and o.all_:
        raise UserError("size: give -s or -a, not both")
    settings: dict[str, object] = {
        "size": o.size, "all": o.all_, "iters": o.iterations, "duration": o.duration_ms, "posting": o.posting,
        "bidirectional": o.bidirectional, "polled": o.polled, "inline_size": o.inline is not None,
    }  # fmt: skip
    if o.test == FIGURES:
        settings |= {
            "uncombined": o.uncombined, "post-list": o.post_list > 1, "report-unsorted": o.unsorted,
            "trace": o.trace,
        }  # fmt: skip
        _none(settings, "figures have settings of their own; name a test instead")
    if (o.test == TRACE) != (o.trace is not None):
        raise UserError(WANTS_TRACE)
    if o.trace is not None:
        _none(settings, "the trace says what is sent, when and how")
    if o.posting == "v3" and not o.overrun:
        raise UserError(f"posting: v3 checks for queue space every {LAZY} descriptors; it needs {OVERRUN}")


def _none(settings: Mapping[str, object], why: str) -> None:
    for name, value in settings.items():
        if value:
            raise UserError(f"{name}: {why}")


def _points(
    o: RdmaOptions,
    chosen: Sequence[Platform],
    profiles: Sequence[Profile],
    lines: tuple[tracefile.Line, ...],
) -> list[Point]:
    usual = all_sizes(o.test) if o.all_ else (usual_size(o.test),)
    wanted = usual if o.size is None else sizes(o.size)
    transfers = [
        Transfers(
            test=o.test,  # type: ignore[arg-type]
            size=size,
            iterations=usual_iterations(o.test, size) if o.iterations is None else o.iterations,
            warmup=warmup(o.test, size),
            hosts=o.hosts,
            links=o.links,
            posting=o.posting,  # type: ignore[arg-type]
            combined=not o.uncombined,
            both_ways=o.bidirectional,
            notify=not o.polled,
            seed=o.seed,
            post_list=o.post_list,
            inline=o.inline,
            keep_samples=o.unsorted,
            trace=lines,
        )
        for size in wanted
    ]
    return [
        Point(each, profile, platform) for platform in chosen for profile in profiles for each in transfers
    ]
