# SPDX-License-Identifier: Apache-2.0
"""Packets of boards' events, and the record they give together: docs/reference/trigger-formats.md."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

SITES, SLOTS, MERGED = 976, 32, 18
NULL = 1023
Edge = tuple[int, int]
"""Time, 19 bits, and channel of the board, 0..511."""


@dataclass(frozen=True)
class Fragment:
    """One event of one board."""

    number: int
    stamp: int
    board: int
    edges: tuple[Edge, ...] = ()
    trailing: tuple[Edge, ...] = ()
    burst: bool = False
    fpgas: int = 4

    @property
    def data(self) -> bytes:
        words = [1 << self.fpgas - 1 | self.board << 16]
        for fpga in range(self.fpgas):
            frames: dict[int, list[int]] = {}
            marked = [(4, edge) for edge in self.edges] + [(5, edge) for edge in self.trailing]
            for kind, (time, channel) in marked:
                if channel >> 7 == fpga:
                    word = time | (channel & 31) << 19 | (channel >> 5 & 3) << 24 | kind << 28
                    frames.setdefault(time >> 8, []).append(word)
            words.append(len(frames) | 1 << 8 | fpga << 16)
            for period, edges in frames.items():
                words += [period & 0xFFFF | (len(edges) + 1) << 16, *edges]
        return b"".join(word.to_bytes(4, "little") for word in words)

    @property
    def bytes(self) -> bytes:
        data = self.data
        head = 8 + len(data) | (self.number & 255) << 16 | self.burst << 31
        return head.to_bytes(4, "little") + self.stamp.to_bytes(4, "little") + data


@dataclass(frozen=True)
class Packet:
    """Consecutive events of a board."""

    fragments: tuple[Fragment, ...]
    first: int = 0

    @property
    def bytes(self) -> bytes:
        body = b"".join(fragment.bytes for fragment in self.fragments)
        first = self.fragments[0].number if self.fragments else self.first
        board = self.fragments[0].board if self.fragments else 0
        second = 8 + len(body) | len(self.fragments) << 16 | board << 24
        return (first | 0x1C << 24).to_bytes(4, "little") + second.to_bytes(4, "little") + body


def is_packet(data: bytes) -> bool:
    """Whether every field of it is legal."""
    words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
    if len(data) % 4 or len(words) < 2 or words[1] & 0xFFFF != len(data):
        return False
    number, at = words[0] & 0xFF_FFFF, 2
    for event in range(words[1] >> 16 & 255):
        rest = words[at:]
        if not rest or rest[0] & 3 or rest[0] >> 16 & 0xFF != number + event & 255 or rest[0] >> 24 & 0x7F:
            return False
        size = (rest[0] & 0xFFFF) // 4
        if size < 4 or size > len(rest) or not _is_board(rest[2:size]):
            return False
        at += size
    return at == len(words)


def _is_board(words: list[int]) -> bool:
    flags, board = words[0] & 255, words[0] >> 16 & 255
    if flags not in (1, 2, 4, 8) or board > 3:
        return False
    at = 1
    for _ in range(flags.bit_length()):
        if at >= len(words) or words[at] >> 24 or words[at] >> 16 & 255 > 3:
            return False
        frames, fpga, at = words[at] & 255, words[at] >> 16 & 3, at + 1
        for _ in range(frames):
            if at >= len(words) or words[at] >> 16 == 0 or at + (words[at] >> 16) > len(words):
                return False
            for word in words[at + 1 : at + (words[at] >> 16)]:
                channel = board << 9 | fpga << 7 | word >> 24 - 5 & 96 | word >> 19 & 31
                if word >> 28 != 5 and (word >> 28 != 4 or channel >= 2 * SITES):
                    return False
            at += words[at] >> 16
    return at == len(words)


def record(stamp: int, fragments: list[Fragment]) -> bytes:
    """What the fragments of an event give."""
    found = []
    for fragment in fragments:
        for time, channel in fragment.edges:
            since = (time - (stamp << 8)) & 0x7FFFF
            since -= (since >> 18) << 19
            disk, site = divmod(fragment.board << 9 | channel, SITES)
            found.append((since, disk, site))
    found.sort()
    disk = int(2 * sum(hit[1] for hit in found) > len(found))
    hits = [hit for hit in found if hit[1] == disk][:SLOTS]
    middle = hits[len(hits) // 2][0] if hits else 0
    start = ((stamp << 8) + middle) & (1 << 40) - 1
    slots = [site | (max(-31, min(31, since - middle)) & 63) << 10 for since, _, site in hits]
    slots += [NULL] * (SLOTS - len(slots))
    head = (start >> 8).to_bytes(4, "little") + bytes([start & 255, len(hits) | disk << 6])
    return head + b"".join(slot.to_bytes(2, "little") for slot in slots)


@dataclass(frozen=True)
class Merged:
    """An event that came out."""

    number: int
    stamp: int
    boards: int
    other: int
    record: bytes


def merged(data: bytes) -> list[Merged]:
    """The events of a datagram."""
    first = int.from_bytes(data[:3], "little")
    count = data[3]
    assert 1 <= count <= MERGED
    assert len(data) == 4 + 78 * count
    made = []
    for at in range(count):
        word = int.from_bytes(data[4 + 70 * count + 8 * at :][:8], "little")
        assert word >> 40 == 0
        made.append(
            Merged(
                first + at & 0xFF_FFFF,
                word & 0xFFFF_FFFF,
                word >> 32 & 15,
                word >> 36 & 15,
                data[4 + 70 * at :][:70],
            )
        )
    return made


@dataclass
class Detector:
    """Random events, each in fragments of all boards."""

    rng: random.Random
    boards: int = 4
    hits: int = 20
    number: int = 0
    stamp: int = 1000
    sent: dict[int, list[Fragment]] = field(default_factory=dict)

    def event(self, *, burst: bool = False) -> list[Fragment]:
        rng = self.rng
        self.stamp = self.stamp + rng.randrange(1, 40) & 0xFFFF_FFFF
        disk = rng.randrange(2)
        fine = rng.randrange(256)
        found: list[list[Edge]] = [[] for _ in range(4)]
        late: list[list[Edge]] = [[] for _ in range(4)]
        spread = rng.choice((2, 8, 60))
        most = rng.choice((2, 2, 2, 3)) * self.hits
        for _ in range(rng.randrange(most + 1)):
            here = disk if rng.random() < 0.9 else 1 - disk
            channel = here * SITES + rng.randrange(SITES)
            time = (self.stamp << 8) + fine + rng.randrange(-spread, spread + 1) & 0x7FFFF
            found[channel >> 9].append((time, channel & 511))
            if rng.random() < 0.1:
                late[channel >> 9].append((time + 60 & 0x7FFFF, channel & 511))
        fragments = []
        for board in range(self.boards):
            highest = max((channel for _, channel in found[board] + late[board]), default=0)
            fpgas = rng.choice((highest // 128 + 1, 4))
            edges, trailing = tuple(found[board]), tuple(late[board])
            fragments.append(Fragment(self.number, self.stamp, board, edges, trailing, burst, fpgas))
        # As the board sends them: by FPGA, and by frame.
        fragments = [replace(one, edges=_sent(one)) for one in fragments]
        self.sent[self.number] = fragments
        self.number = self.number + 1 & 0xFF_FFFF
        return fragments

    def group(self, size: int, *, burst: bool = False) -> list[Packet]:
        """A packet of each board."""
        events = [self.event(burst=burst and at == size - 1) for at in range(size)]
        return [Packet(tuple(event[board] for event in events)) for board in range(self.boards)]


def _sent(fragment: Fragment) -> tuple[Edge, ...]:
    return tuple(sorted(fragment.edges, key=lambda edge: edge[1] >> 7))
