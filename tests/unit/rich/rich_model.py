# SPDX-License-Identifier: Apache-2.0
"""The ring search in Python, written from its page, not from the Rust model: memories and answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).parent / "rich_golden.txt"
NULL_ID = 1023
VOTES, PLACES, CENTRES, BOUNDS = range(4)
RADII_MM = [106.0 + 11.0 * at for at in range(8)]
NO_PLACE = (-64, -64)
MIN_VOTES, MAX_SEEDS, MAX_HITS = 4, 14, 32
ROW_MM = 13 * math.sqrt(0.75)

Word = tuple[int, int, int]
Answer = tuple[int, int, int, int]
"""Slot of the hit, votes, first and last best cell."""


@cache
def sites() -> list[tuple[int, int]]:
    """The 976 lattice sites nearest to the middle, row by row from below."""
    every = [(x, y) for y in range(-25, 26) for x in range(-45, 46) if (x + y) % 2 == 0]
    every.sort(key=lambda at: (at[0] ** 2 + 3 * at[1] ** 2, -abs(at[1]), at[1], at[0]))
    return sorted(every[:976], key=lambda at: (at[1], at[0]))


@cache
def centres() -> list[tuple[int, int]]:
    """Of the hexagonal grid within 132 mm, row by row: half pitches of 6.5 mm, rows of 11.26 mm."""
    every = [(2 * x + y % 2, y) for y in range(-15, 16) for x in range(-15, 16)]
    return [at for at in sorted(every, key=lambda at: (at[1], at[0])) if math.hypot(*_mm(at)) <= 132]


def _mm(centre: tuple[int, int]) -> tuple[float, float]:
    return 6.5 * centre[0], ROW_MM * centre[1]


@cache
def _table() -> np.ndarray:
    """Who votes for what: [1024 ids, 3032 cells] of bool."""
    place = np.array(sites()) * [9.0, 18 * math.sqrt(0.75)]
    centre = np.array([_mm(at) for at in centres()])
    away = np.hypot(*(place[:, None, :] - centre[None, :, :]).transpose(2, 0, 1))
    # Exactly 11 mm is not near.
    near = np.abs(away[:, :, None] - np.array(RADII_MM)) < 11.0 - 1e-9
    votes = np.zeros((1024, 8 * len(centre)), dtype=bool)
    votes[: len(place)] = near.reshape(len(place), -1)
    return votes


def _bounds(radius: float) -> tuple[int, int]:
    """Squares, 1/16 mm^2, of distances that a circle covers: within 12 mm, by the software's series."""
    squares = np.arange(int(16 * (radius - 20) ** 2), int(16 * (radius + 20) ** 2)) / 16
    t = (squares / radius**2 - 1) / 2
    away = radius * (t + 0.5 * t * t * (t - 1))
    inside = (squares[np.abs(away) < 12.0] * 16).astype(int)
    return int(inside[0]), int(inside[-1]) + 1


@dataclass(frozen=True)
class Model:
    """Of a search with the first `cells` cells."""

    cells: int

    def words(self) -> Iterator[Word]:
        """All words of the memories, in the order in which they are written."""
        bits = np.zeros((1024, 48 * 64), dtype=np.uint8)
        bits[:, : self.cells] = _table()[:, : self.cells]
        packed = np.packbits(bits.reshape(1024, 48, 64), axis=2, bitorder="little").view("<u8")[:, :, 0]
        for at in range(1024 * 48):
            yield VOTES, at // 48 * 64 + at % 48, int(packed[at // 48, at % 48])
        places = [*sites(), *[NO_PLACE] * (1024 - len(sites()))]
        for memory, list_ in ((PLACES, places), (CENTRES, centres())):
            for at, (x, y) in enumerate(list_):
                yield memory, at, x & 255 | (y & 255) << 8
        for at in range(15):
            low, high = _cover(at)
            yield BOUNDS, at, low | high << 24

    def answers(self, ids: list[int]) -> list[Answer]:
        """What comes out for an event."""
        ids = ids[:MAX_HITS]
        table = _table()[:, : self.cells]
        counts = table[ids].sum(axis=0)
        counts = np.where(counts > 31, 16 + counts % 16, counts)
        covered = [False] * len(ids)
        found: list[Answer] = []
        number = 0
        for hit, id_ in enumerate(ids):
            if covered[hit] or number >= MAX_SEEDS:
                continue
            votes = np.where(table[id_], counts, 0)
            best = int(votes.max())
            if best < MIN_VOTES:
                continue
            cells = np.nonzero(votes == best)[0]
            first, last = int(cells[0]), int(cells[-1])
            found.append((hit, best, first, last))
            for candidate in _candidates(first, last):
                number += 1
                covered = [was or _covers(candidate, at) for was, at in zip(covered, ids, strict=True)]
        return found


@cache
def _cover(radius: int) -> tuple[int, int]:
    return _bounds(106.0 + 5.5 * radius)


def _candidates(first: int, last: int) -> list[tuple[int, int, int]]:
    """Centres in halves of the grid's steps, number of the radius in halves."""
    a, b = ((*centres()[cell // 8], cell % 8) for cell in (first, last))
    apart = 6.5 * abs(a[0] - b[0]) + ROW_MM * abs(a[1] - b[1]) + 11 * abs(a[2] - b[2])
    if apart < 30:
        return [(a[0] + b[0], a[1] + b[1], a[2] + b[2])]
    return [(2 * c[0], 2 * c[1], 2 * c[2]) for c in (a, b)]


def _covers(candidate: tuple[int, int, int], id_: int) -> bool:
    if id_ >= len(sites()):
        return False
    u, v, radius = candidate
    x, y = sites()[id_]
    low, high = _cover(radius)
    return low <= (36 * x - 13 * u) ** 2 + 3 * (36 * y - 13 * v) ** 2 < high


def golden() -> tuple[int, list[tuple[list[int], list[Answer]]]]:
    """What the Rust model says: the sum over all words, and events with their answers."""
    first, *lines = GOLDEN.read_text().splitlines()
    events = []
    for line in lines:
        ids, *answers = line.split(" ")
        parsed = [tuple(int(part) for part in answer.split(":")) for answer in answers]
        events.append(([int(id_) for id_ in ids.split(",")], parsed))
    return int(first.split()[1], 16), events  # type: ignore[return-value]


def checksum(words: Iterator[Word]) -> int:
    """FNV-1a over memory, address and data of each word, taken as numbers of 64 bits."""
    total = 0xCBF29CE484222325
    for word in words:
        for number in word:
            total = (total ^ number) * 0x100000001B3 & (1 << 64) - 1
    return total
