# SPDX-License-Identifier: Apache-2.0
"""The runs that the FORTH prototype's figures 7 to 9 and `isthmus verify rdma` need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from isthmus.bench import engine
from isthmus.bench.rdma import (
    PLATFORM,
    PLATFORMS,
    POSTINGS,
    Point,
    Posting,
    Test,
    Transfers,
    measure,
    usual_iterations,
    warmup,
)
from isthmus.platforms import PROFILES, Profile
from isthmus.results import Document

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


def _one_way(size: int, posting: Posting, profile: Profile, platform: str, seed: int) -> Point:
    count, before = usual_iterations("one-way", size), warmup("one-way", size)
    return Point(
        Transfers("one-way", size, count, before, links=LINKS, posting=posting, seed=seed), profile, platform
    )


def _latency(
    test: Test, size: int, profile: Profile, platform: str, seed: int, combined: bool = True
) -> Point:
    before = warmup(test, size)
    made = Transfers(test, size, LATENCIES, before, links=LINKS, combined=combined, seed=seed)
    return Point(made, profile, platform)


def breakdown_points(profile: Profile, platform: str = PLATFORM, seed: int = 1) -> list[Point]:
    """Figure 9: a write of 8 bytes in single words and combined, a message of 8 bytes."""
    return [
        _latency("write-lat", SHORT, profile, platform, seed, combined=False),
        _latency("write-lat", SHORT, profile, platform, seed),
        _latency("send-lat", SHORT, profile, platform, seed),
    ]


def _crossing(profile: Profile, platform: str, seed: int) -> list[Point]:
    tests: tuple[Test, ...] = ("write-lat", "send-lat")
    return [_latency(test, size, profile, platform, seed) for test in tests for size in CROSSING]


def figure_points(
    profiles: Iterable[Profile] = PROFILES, platform: str = PLATFORM, seed: int = 1
) -> list[Point]:
    """All that the page draws, the longest first."""
    made: list[Point] = []
    for profile in profiles:
        for size in reversed(ONE_WAY):
            made += [_one_way(size, posting, profile, platform, seed) for posting in POSTINGS]
        made += breakdown_points(profile, platform, seed) + _crossing(profile, platform, seed)
    return list(dict.fromkeys(made))


def points(seed: int = 1) -> list[Point]:
    """What `isthmus verify rdma` compares, the longest first."""
    made: list[Point] = []
    for size, postings in VERIFIED:
        for profile in PROFILES:
            made += [_one_way(size, posting, profile, PLATFORM, seed) for posting in postings]
    for profile in PROFILES:
        made += breakdown_points(profile, PLATFORM, seed) + _crossing(profile, PLATFORM, seed)
    return list(dict.fromkeys(made))


def verified(
    seed: int = 1,
    runner: engine.Runner | None = None,
    given: Mapping[str, Path] | None = None,
    more: Sequence[Point] = (),
) -> Document:
    """Run them; `more` points go into the same document."""
    return measure([*points(seed), *more], title="verify rdma", runner=runner, given=given)


COMPARED: Sequence[tuple[Test, int]] = (
    ("write-lat", 8),
    ("write-lat", 64),
    ("write-lat", 4096),
    ("send-lat", 8),
)
COMPARED_ITERATIONS = 20


def compared(seed: int = 1) -> list[Point]:
    """What `isthmus compare --rdma` adds: a word, a line and a page into another host's memory, and a message
    that is answered by one, on both buses. Two models, a few seconds."""
    return [
        Point(Transfers(test, size, COMPARED_ITERATIONS, warmup(test, size), seed=seed), "isthmus", platform)
        for platform in PLATFORMS
        for test, size in COMPARED
    ]
