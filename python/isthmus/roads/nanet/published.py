# SPDX-License-Identifier: Apache-2.0
"""The runs that `isthmus verify nanet` compares."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.platforms import PROFILES, Profile
from isthmus.results import Document, merged
from isthmus.roads.apenet.bench import Point as PutPoint
from isthmus.roads.apenet.bench import Puts
from isthmus.roads.apenet.bench import measure as measure_puts
from isthmus.roads.nanet.bench import LARGEST, STREAM_WINDOW, Point, Stream, measure
from isthmus.roads.nanet.chain import Chain
from isthmus.roads.nanet.chain import measure as measure_chains
from isthmus.roads.torus.bench import Traffic
from isthmus.roads.torus.bench import measure as measure_torus

SINGLE = 400
"""Datagrams one at a time: the firmware's wake-up is random."""
STREAMED = 400


def points(seed: int = 1) -> Sequence[Point]:
    """Both profiles: one datagram at a time, and as fast as the wire goes."""
    return [
        Point(Stream(LARGEST, window=window, iterations=count, seed=seed), profile)
        for profile in PROFILES
        for window, count in ((1, SINGLE), (STREAM_WINDOW, STREAMED))
    ]


CHAINED = 400
"""Groups of events of the trigger."""


def chains(seed: int = 1) -> Sequence[tuple[Profile, Chain]]:
    """The trigger at half of what the links carry, and above."""
    return [("isthmus", Chain(rate, groups=CHAINED, seed=seed)) for rate in (5e6, 12e6)]


LINKED = 200
"""Packets over one link of a torus."""


def links(seed: int = 1) -> Sequence[Traffic]:
    """One node of a torus sends to its neighbour without a pause."""
    return [Traffic((4, 4, 1), "single", None, size=4096, packets=LINKED, seed=seed)]


PUT = 20
"""Puts, or round trips."""


def puts(seed: int = 1) -> Sequence[PutPoint]:
    """Puts between the memories of two hosts: one back and forth in both profiles, and the rate of each."""
    return [
        *(PutPoint(Puts(64, test="ping-pong", iterations=PUT, seed=seed), profile) for profile in PROFILES),
        PutPoint(Puts(4096, window=8, iterations=PUT, seed=seed), "as-published"),
        PutPoint(Puts(65_536, window=8, iterations=PUT, seed=seed), "isthmus"),
    ]


def verified() -> Document:
    """Run them."""
    streams = measure(points(), title="verify nanet")
    streams = merged(streams, measure_chains(chains(), title="verify nanet, trigger"))
    streams = merged(streams, measure_torus(links(), title="verify nanet, torus"))
    return merged(streams, measure_puts(puts(), title="verify nanet, puts"))
