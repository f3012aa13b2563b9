# SPDX-License-Identifier: Apache-2.0
"""What one road measures for the document of another, without either importing the other.

A published document is about a system, and a system may have several roads. The road that has the document
asks here, and each of the others says in its entry of the table what it gives (`Road.gives`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from isthmus.bench import runner as running
from isthmus.platforms import PROFILES, Profile
from isthmus.results import Document, merged
from isthmus.roads.table import having, resolve


@dataclass(frozen=True)
class Request:
    """How the other runs are made. `runner`: instead of the simulator; `given`: models by the name of their
    top instead of those built for the runs."""

    title: str
    profiles: Sequence[Profile] = PROFILES
    seed: int = 1
    runner: running.Runner | None = None
    given: Mapping[str, Path] | None = None


class Measure(Protocol):
    """Makes the runs."""

    def __call__(self, request: Request, /) -> Document: ...


def joined(document: Document, what: str, request: Request) -> Document:
    """The document with what other roads measure for `what`, in the order of the table."""
    for other in having("gives"):
        if reference := other.gives.get(what):
            measure: Measure = resolve(reference)
            document = merged(document, measure(request))
    return document
