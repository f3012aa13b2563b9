# SPDX-License-Identifier: Apache-2.0
"""The run that NaNet's document needs of the torus."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.results import Document
from isthmus.roads.gives import Request
from isthmus.roads.torus.bench import Traffic, measure

LINKED = 200
"""Packets over one link of a torus."""


def links(seed: int = 1) -> Sequence[Traffic]:
    """One node of a torus sends to its neighbour without a pause."""
    return [Traffic((4, 4, 1), "single", None, size=4096, packets=LINKED, seed=seed)]


def given(request: Request) -> Document:
    """Run it."""
    return measure(links(request.seed), title=f"{request.title}, torus", runner=request.runner)
