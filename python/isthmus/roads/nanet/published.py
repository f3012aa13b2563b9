# SPDX-License-Identifier: Apache-2.0
"""The runs that `isthmus verify nanet` compares."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.platforms import PROFILES, Profile
from isthmus.results import Document, merged
from isthmus.roads.gives import Request, joined
from isthmus.roads.nanet.bench import LARGEST, STREAM_WINDOW, Point, Stream, measure
from isthmus.roads.nanet.chain import Chain
from isthmus.roads.nanet.chain import measure as measure_chains

TITLE = "verify nanet"
SINGLE = 400
"""Datagrams one at a time: the firmware's wake-up is random."""
STREAMED = 400


def points(seed: int = 1) -> Sequence[Point]:
    """Both profiles, into a GPU's memory, as the document, and the host's: one datagram at a time, and as
    fast as the wire goes."""
    return [
        Point(Stream(LARGEST, window=window, iterations=count, memory=memory, seed=seed), profile)
        for memory in ("gpu", "host")
        for profile in PROFILES
        for window, count in ((1, SINGLE), (STREAM_WINDOW, STREAMED))
    ]


CHAINED = 400
"""Groups of events of the trigger, where it saturates."""
JUDGED = 6_250
"""Groups of eight events whose rings are judged: 50,000 events."""


def chains(seed: int = 1) -> Sequence[tuple[Profile, Chain]]:
    """The trigger at half of what the links carry, and above."""
    given = ((5e6, JUDGED), (12e6, CHAINED))
    return [("isthmus", Chain(rate, groups=groups, seed=seed)) for rate, groups in given]


def verified() -> Document:
    """Run them, with what other roads measure of the document: links of a torus, and puts."""
    streams = measure(points(), title=TITLE)
    streams = merged(streams, measure_chains(chains(), title=f"{TITLE}, trigger"))
    return joined(streams, TITLE, Request(TITLE))
