# SPDX-License-Identifier: Apache-2.0
"""The generator of events a second time, in Python: whole numbers and IEEE doubles, so that every bit is the
same as that of crates/isthmus-trigger."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

WORD = 0xFFFFFFFF
TDC_NS = 24.951059536 / 256.0
PITCH_MM = 18.0
SITES = 976
SLOTS = 32
NULL_ID = 1023
FOCAL_MM = 17_020.0
REFRACTIVITY = 62.8e-6
MOST_RINGS = 6
MASSES = {"electron": 0.000511, "muon": 0.105658, "pion": 0.139570}


def philox(counter: list[int], key: list[int]) -> list[int]:
    """A block of four words of Philox 4x32-10."""
    for number in range(10):
        if number:
            key = [(key[0] + 0x9E3779B9) & WORD, (key[1] + 0xBB67AE85) & WORD]
        a, b = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [b >> 32 ^ counter[1] ^ key[0], b & WORD, a >> 32 ^ counter[3] ^ key[1], a & WORD]
    return counter


def away_from_zero(value: float) -> int:
    """To the nearest whole number; halves go away from zero."""
    below = math.floor(abs(value))
    whole = below + (abs(value) - below >= 0.5)
    return int(math.copysign(whole, value))


class Draws:
    """The random numbers of one event."""

    def __init__(self, seed: int, event: int) -> None:
        self.key = [seed & WORD, seed >> 32]
        self.event, self.block, self.words = event, 0, list[int]()

    def word(self) -> int:
        if not self.words:
            self.words = philox([self.event & WORD, self.event >> 32, self.block, 0], self.key)
            self.block += 1
        return self.words.pop(0)

    def uniform(self) -> float:
        return (self.word() + 0.5) / 4294967296.0

    def below(self, bound: int) -> int:
        return self.word() * bound >> 32

    def normal(self) -> float:
        words = [self.word() for _ in range(6)]
        return (sum((word & 0xFFFF) + (word >> 16) for word in words) + 6.0) / 65536.0 - 6.0

    def direction(self) -> tuple[float, float]:
        turn = self.word()
        quarter = (turn + (1 << 29) & WORD) >> 30
        rest = turn - (quarter << 30) & WORD
        x = (rest - (1 << 32) if rest >> 31 else rest) * (math.tau / 4294967296.0)
        y = x * x
        cos = sin = 0.0
        for k in range(8, 0, -1):
            n = 2.0 * k
            cos = (1.0 + cos) * -y / (n * (n - 1.0))
            sin = (1.0 + sin) * -y / (n * (n + 1.0))
        cos, sin = 1.0 + cos, x * (1.0 + sin)
        return ((cos, sin), (-sin, cos), (-cos, -sin), (sin, -cos))[quarter]

    def poisson(self, mean: float) -> int:
        wanted = self.uniform()
        probability = below = exp_minus(mean)
        count = 0
        while wanted > below and count < 1000:
            count += 1
            probability = probability * mean / count
            below += probability
        return count

    def exponential(self) -> float:
        return -log(self.uniform())


def exp_minus(x: float) -> float:
    part, value = -x / 1024.0, 1.0
    for k in range(10, 0, -1):
        value = 1.0 + value * part / k
    for _ in range(10):
        value *= value
    return value


def log(x: float) -> float:
    mantissa, exponent = math.frexp(x)
    t = (mantissa - 1.0) / (mantissa + 1.0)
    total = 0.0
    for k in range(20, -1, -1):
        total = total * (t * t) + 1.0 / (2 * k + 1)
    return 2.0 * t * total + exponent * 0.6931471805599453


class Disk:
    """The lattice sites nearest to the centre of a disk, by (column, row)."""

    def __init__(self, count: int = SITES) -> None:
        reach = 40
        sites = [
            (x, y) for y in range(-reach, reach + 1) for x in range(-reach, reach + 1) if (x + y) % 2 == 0
        ]
        sites.sort(key=lambda site: (site[0] ** 2 + 3 * site[1] ** 2, -abs(site[1]), site[1], site[0]))
        chosen = sorted(sites[:count], key=lambda site: (site[1], site[0]))
        self.ids = {site: number for number, site in enumerate(chosen)}

    def at(self, x: float, y: float) -> int | None:
        """The photomultiplier within half a pitch of a place in mm."""
        half = PITCH_MM / 2.0
        u, row = x / half, y / (half * math.sqrt(3.0))
        low, found = math.floor(row), list[tuple[float, int]]()
        for iy in (low, low + 1):
            odd = iy % 2
            ix = 2 * away_from_zero((u - odd) / 2.0) + odd
            dx, dy = u - ix, (row - iy) * math.sqrt(3.0)
            d2 = dx * dx + dy * dy
            if d2 <= 1.0 and (ix, iy) in self.ids:
                found.append((d2, self.ids[ix, iy]))
        return min(found, key=lambda one: one[0])[1] if found else None


@dataclass(frozen=True)
class Sample:
    multiplicity: tuple[float, ...] = (0.0, 0.75, 0.18, 0.07)
    particles: tuple[str, ...] = ("pion",)
    photons: tuple[float, ...] = (18.0, 12.0, 9.0)
    drawn_hits: int = 6
    noise: float = 1.0
    window_ns: float = 0.0


REFERENCE = Sample()
SAMPLES = {
    "reference": REFERENCE,
    "mixed": replace(
        REFERENCE,
        multiplicity=(0.05, 0.7125, 0.171, 0.0665),
        particles=("electron", "muon", "pion"),
        drawn_hits=0,
    ),
    "bright": replace(REFERENCE, photons=(18.0, 18.0, 18.0)),
    "noisy": replace(REFERENCE, noise=3.0),
    "pile-up": replace(REFERENCE, multiplicity=(0.0, 1.0, 0.0, 0.0), window_ns=10.0),
    "single": replace(REFERENCE, multiplicity=(0.0, 1.0, 0.0, 0.0), photons=(20.0, 20.0, 20.0), noise=0.0),
}


@dataclass
class Event:
    time: float
    disk: int
    rings: int = 0
    hits: dict[int, float] = field(default_factory=dict)


def ring(disk: Disk, sample: Sample, draws: Draws, number: int) -> list[int] | None:
    """The photomultipliers of a ring; none where it is drawn again."""
    mass = MASSES[sample.particles[draws.below(len(sample.particles))]]
    momentum = 15.0 + 20.0 * draws.uniform()
    square = 2.0 * REFRACTIVITY - (mass / momentum) * (mass / momentum)
    if square <= 0.0:
        return None
    radius = FOCAL_MM * math.sqrt(square)
    away = 120.0 * math.sqrt(draws.uniform())
    cos, sin = draws.direction()
    x, y = away * cos, away * sin
    ids: list[int] = []
    for _ in range(draws.poisson(sample.photons[number - 1])):
        cos, sin = draws.direction()
        r = radius + 2.0 * draws.normal()
        one = disk.at(x + r * cos, y + r * sin)
        if one is not None and one not in ids:
            ids.append(one)
    return ids if len(ids) >= sample.drawn_hits else None


def made(disk: Disk, sample: Sample, seed: int, rate_hz: float) -> Iterator[Event]:
    """Events before those that overlap are one."""
    time, number = 0.0, 0
    while True:
        draws = Draws(seed, number)
        number += 1
        time += draws.exponential() * 1e9 / (rate_hz * TDC_NS)
        event = Event(time, draws.below(2))
        wanted, below, rings = draws.uniform(), 0.0, 0
        for share in sample.multiplicity:
            below += share
            if wanted <= below:
                break
            rings += 1

        def add(one: int, draws: Draws = draws, event: Event = event) -> None:
            event.hits.setdefault(one, 0.3 / TDC_NS * draws.normal())

        for _ in range(min(rings, 3)):
            for _ in range(1000):
                ids = ring(disk, sample, draws, min(rings, 3))
                if ids is not None:
                    event.rings += 1
                    for one in ids:
                        add(one)
                    break
        for _ in range(draws.poisson(sample.noise)):
            add(draws.below(SITES))
        yield event


def record(event: Event) -> bytes:
    """As the trigger reads it."""
    hits = sorted(event.hits.items(), key=lambda hit: (hit[1], hit[0]))[:SLOTS]
    time = away_from_zero(event.time)
    slots = [one | (max(-31, min(31, away_from_zero(at))) & 0x3F) << 10 for one, at in hits]
    slots += [NULL_ID] * (SLOTS - len(hits))
    return struct.pack("<IBB32H", time >> 8 & WORD, time & 0xFF, len(hits) | event.disk << 6, *slots)


def records(name: str, seed: int, count: int, rate_hz: float = 1e7) -> bytes:
    """The first `count` records of a sample."""
    sample, disk = SAMPLES[name], Disk()
    events = made(disk, sample, seed, rate_hz)
    whole, window = b"", sample.window_ns / TDC_NS
    first = next(events)
    for _ in range(count):
        while True:
            later = next(events)
            near = later.disk == first.disk and later.time - first.time < window
            if not near or first.rings + later.rings > MOST_RINGS:
                break
            for one, at in later.hits.items():
                first.hits.setdefault(one, at + (later.time - first.time))
            first.rings += later.rings
        whole += record(first)
        first = later
    return whole
