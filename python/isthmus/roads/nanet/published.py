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
RATES: Sequence[tuple[int, Profile]] = ((4096, "as-published"), (65_536, "isthmus"))
"""Bytes of a put whose rate is measured: with firmware the size of a packet."""


def puts(seed: int = 1) -> Sequence[PutPoint]:
    """Puts between two nodes: one back and forth between GPUs in both profiles, peer to peer and staged,
    the rate of each profile from a host's memory into a host's and into a GPU's; and gets."""
    return [
        *(
            PutPoint(Puts(64, test="ping-pong", near=kind, far=kind, iterations=PUT, seed=seed), profile)
            for kind in ("gpu", "staged")
            for profile in PROFILES
        ),
        *(
            PutPoint(Puts(size, window=8, far=far, iterations=PUT, seed=seed), profile)
            for far in ("host", "gpu")
            for size, profile in RATES
        ),
        *(
            PutPoint(Puts(size, test="get", window=window, iterations=PUT, seed=seed), "isthmus")
            for size, window in ((64, 1), (65_536, 8))
        ),
    ]


def verified() -> Document:
    """Run them."""
    streams = measure(points(), title="verify nanet")
    streams = merged(streams, measure_chains(chains(), title="verify nanet, trigger"))
    streams = merged(streams, measure_torus(links(), title="verify nanet, torus"))
    return merged(streams, measure_puts(puts(), title="verify nanet, puts"))
