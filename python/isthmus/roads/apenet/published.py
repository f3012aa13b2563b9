# SPDX-License-Identifier: Apache-2.0
"""The runs that NaNet's document needs of puts."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.platforms import PROFILES, Profile
from isthmus.results import Document
from isthmus.roads.apenet.bench import Point, Puts, measure
from isthmus.roads.gives import Request

PUT = 20
"""Puts, or round trips."""
RATES: Sequence[tuple[int, Profile]] = ((4096, "as-published"), (65_536, "isthmus"))
"""Bytes of a put whose rate is measured: with firmware the size of a packet."""


def puts(seed: int = 1) -> Sequence[Point]:
    """Puts between two nodes: one back and forth between GPUs in both profiles, peer to peer and staged;
    with payload that comes with the post, between hosts and between GPUs' kernels;
    the rate of each profile from a host's memory into a host's and into a GPU's; and gets."""
    return [
        *(
            Point(Puts(64, test="ping-pong", near=kind, far=kind, iterations=PUT, seed=seed), profile)
            for kind in ("gpu", "staged")
            for profile in PROFILES
        ),
        *(
            Point(
                Puts(64, test="ping-pong", near=kind, far=kind, inline=True, iterations=PUT, seed=seed),
                "isthmus",
            )
            for kind in ("host", "gpu")
        ),
        *(
            Point(Puts(size, window=8, far=far, iterations=PUT, seed=seed), profile)
            for far in ("host", "gpu")
            for size, profile in RATES
        ),
        *(
            Point(Puts(size, test="get", window=window, iterations=PUT, seed=seed), "isthmus")
            for size, window in ((64, 1), (65_536, 8))
        ),
    ]


def given(request: Request) -> Document:
    """Run them."""
    return measure(puts(request.seed), title=f"{request.title}, puts", runner=request.runner)
