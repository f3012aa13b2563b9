# SPDX-License-Identifier: Apache-2.0
"""The runs that the FORTH prototype's figures 6 to 9 and `isthmus verify rdma` need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from isthmus.bench import runner as running
from isthmus.platforms import PROFILES, Profile
from isthmus.results import Document
from isthmus.roads.gives import Request, joined
from isthmus.roads.rdma.bench import (
    DESCRIPTOR_BYTES,
    PLATFORM,
    POSTINGS,
    Point,
    Posting,
    System,
    Test,
    Transfers,
    measure,
    usual_iterations,
    warmup,
)

VERIFY = "verify rdma"
LINKS = 4
"""Figure 7 shows more than twice what one link carries; the interface has up to four."""
ONE_WAY = (8, 64, 512, 1024, 4096, 8192, 65_536, 524_288)
"""Sizes of figures 7 and 8; the document's go up to the last."""
VERIFIED: Sequence[tuple[int, Sequence[Posting]]] = (
    (524_288, POSTINGS),
    (65_536, ("v2",)),
    (4096, ("v1", "v2")),
    (512, POSTINGS),
)
"""Of these, what the text of V-D gives a number or a conclusion for."""
SHORT = 8
CROSSING = (8, 64, 128, 192, 256, 320, 384, 448, 504)
"""Sizes at which a message and a write are compared."""
LATENCIES = 100
"""A latency without other traffic is nearly the same every time."""
PATHS = (2, 4)
"""Links of the transfers that are shown packet by packet."""
SPREAD = (1, 2)
"""Beside `LINKS`: how many links a row of transfers is measured over, to see what bounds it."""
LIMITED = (1, LINKS)
"""Links of the writes that are held against what bounds them: the link, and the bus."""
SINGLE = 4
"""Transfers of such a run: of one, the last, is shown what happened to it."""


def _one_way(size: int, posting: Posting, profile: Profile, platform: System, seed: int) -> Point:
    count, before = usual_iterations("one-way", size), warmup("one-way", size)
    return Point(
        Transfers("one-way", size, count, before, links=LINKS, posting=posting, seed=seed), profile, platform
    )


def _latency(
    test: Test,
    size: int,
    profile: Profile,
    platform: System,
    seed: int,
    combined: bool = True,
    inline: int = 0,
) -> Point:
    before = warmup(test, size)
    made = Transfers(test, size, LATENCIES, before, links=LINKS, combined=combined, seed=seed, inline=inline)
    return Point(made, profile, platform)


def breakdown_points(profile: Profile, platform: System = PLATFORM, seed: int = 1) -> list[Point]:
    """Figure 9: a write of 8 bytes in single words and combined, a message of 8 bytes; and ours, a write that
    brings its data with it."""
    ours = [_latency("write-lat", SHORT, profile, platform, seed, inline=SHORT)]
    return [
        _latency("write-lat", SHORT, profile, platform, seed, combined=False),
        _latency("write-lat", SHORT, profile, platform, seed),
        *(ours if profile == "isthmus" else []),
        _latency("send-lat", SHORT, profile, platform, seed),
    ]


def _crossing(profile: Profile, platform: System, seed: int) -> list[Point]:
    tests: tuple[Test, ...] = ("write-lat", "send-lat")
    made = [_latency(test, size, profile, platform, seed) for test in tests for size in CROSSING]
    if profile == "isthmus":
        made += [_latency("write-lat", size, profile, platform, seed, inline=size) for size in CROSSING]
    return made


def packet_points(profile: Profile, platform: System = PLATFORM, seed: int = 1) -> list[Point]:
    """One descriptor's longest transfer, packet by packet, over a number of links."""
    return [
        Point(
            Transfers(
                "write-lat", DESCRIPTOR_BYTES, SINGLE, warmup("write-lat", SHORT), links=links, seed=seed
            ),
            profile,
            platform,
        )
        for links in PATHS
    ]


def _spread(profile: Profile, platform: System, seed: int) -> list[Point]:
    """What fewer links carry."""
    made = [_one_way(size, "v2", profile, platform, seed) for size in reversed(ONE_WAY)]
    return [
        replace(point, transfers=replace(point.transfers, links=links)) for links in SPREAD for point in made
    ]


def figure_points(
    profiles: Iterable[Profile] = PROFILES, platform: System = PLATFORM, seed: int = 1
) -> list[Point]:
    """All that the page draws, the longest first. Over other numbers of links than `LINKS`, which each want
    gateware of their own, the last profile alone."""
    made: list[Point] = []
    profiles = list(profiles)
    for profile in profiles:
        for size in reversed(ONE_WAY):
            made += [_one_way(size, posting, profile, platform, seed) for posting in POSTINGS]
    for profile in profiles[-1:]:
        made += _spread(profile, platform, seed) + packet_points(profile, platform, seed)
    for profile in profiles:
        made += breakdown_points(profile, platform, seed) + _crossing(profile, platform, seed)
    return list(dict.fromkeys(made))


def drawn(
    profiles: Sequence[Profile] = PROFILES,
    chosen: Sequence[System] = (PLATFORM,),
    seed: int = 1,
    runner: running.Runner | None = None,
    given: Mapping[str, Path] | None = None,
) -> Document:
    """`isthmus bench rdma figures`: the runs of figures 6 to 9, and the bus by itself."""
    wanted = [point for each in chosen for point in figure_points(profiles, each, seed)]
    made = measure(wanted, title="figures 7 to 9", runner=runner, given=given)
    if PLATFORM not in {each if isinstance(each, str) else each.name for each in chosen}:
        return made
    return joined(made, "bench rdma figures", Request("figure 6", profiles, seed, runner, given))


def points(seed: int = 1) -> list[Point]:
    """What `isthmus verify rdma` compares, the longest first."""
    made: list[Point] = []
    for size, postings in VERIFIED:
        for profile in PROFILES:
            made += [_one_way(size, posting, profile, PLATFORM, seed) for posting in postings]
    for profile in PROFILES:
        made += breakdown_points(profile, PLATFORM, seed) + _crossing(profile, PLATFORM, seed)
    return list(dict.fromkeys(made + limited_points(seed)))


def limited_points(seed: int = 1) -> list[Point]:
    """Writes of a whole descriptor one behind the other, for our own limits."""
    size = DESCRIPTOR_BYTES
    count, before = usual_iterations("write-bw", size), warmup("write-bw", size)
    return [
        Point(Transfers("write-bw", size, count, before, links=links, seed=seed), "isthmus", PLATFORM)
        for links in LIMITED
    ]


def promised(
    seed: int = 1,
    runner: running.Runner | None = None,
    given: Mapping[str, Path] | None = None,
) -> Document:
    """The part of `verified` that holds our own limits, with a write and a message of 8 bytes as published
    and the bus by itself: half a minute instead of minutes."""
    made = [*breakdown_points("as-published", PLATFORM, seed), *breakdown_points("isthmus", PLATFORM, seed)]
    wanted = [*limited_points(seed), *made]
    found = measure(wanted, title="limits of rdma", runner=runner, given=given)
    return joined(found, VERIFY, Request(VERIFY, PROFILES, seed, runner, given))


def verified(
    seed: int = 1,
    runner: running.Runner | None = None,
    given: Mapping[str, Path] | None = None,
    more: Sequence[Point] = (),
) -> Document:
    """Run them, and the bus by itself; `more` points go into the same document."""
    found = measure([*points(seed), *more], title=VERIFY, runner=runner, given=given)
    return joined(found, VERIFY, Request(VERIFY, PROFILES, seed, runner, given))
