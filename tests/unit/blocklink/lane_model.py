# SPDX-License-Identifier: Apache-2.0
"""The coding of a lane from its page (docs/explanation/cores/lanes.md), bit by bit: 64 bits to 67."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

LANES = 12
BLOCK_WORDS = 8
SYNC, SKIP = 0x78F678F678F678F6, 0x1E1E1E1E1E1E1E1E
SCRAMBLER_TYPE, DIAG_TYPE = 0b001010, 0b011001
DATA, CONTROL = 0b01, 0b10
ALL = (1 << 64) - 1
CRC32C, CRC24 = 0x1EDC6F41, 0x328B63


def bits_of(value: int, width: int) -> Iterator[int]:
    """Most significant first."""
    return (value >> place & 1 for place in reversed(range(width)))


def crc(value: int, width: int, poly: int, size: int, start: int) -> int:
    """The register behind `width` bits of `value`, the most significant first."""
    for bit in bits_of(value, width):
        top = start >> (size - 1) & 1
        start = start << 1 & (1 << size) - 1
        if top ^ bit:
            start ^= poly
    return start


def block_check(block: int) -> int:
    """CRC-24 of a block whose check is 0."""
    return crc(block, 512, CRC24, 24, 0xFFFFFF) ^ 0xFFFFFF


def first_state(lane: int) -> int:
    """What a lane's scrambler begins with."""
    return (lane + 1) << 52 | 0x5A5A5A5A5A5A5


@dataclass
class Sender:
    """One lane's sender. `total`: ones less zeros of all that it has sent."""

    state: int
    total: int = 0
    check: int = 0xFFFFFFFF

    def scrambled(self, word: int) -> int:
        out = 0
        for bit in bits_of(word, 64):
            last = self.state >> 57 & 1
            made = last ^ (self.state >> 38 & 1)
            self.state = (self.state << 1 | made) & (1 << 58) - 1
            out = out << 1 | (bit ^ last)
        return out

    def coded(self, header: int, word: int) -> int:
        """With the inversion bit: inverted where that brings the sum nearer to 0."""
        excess = 2 * word.bit_count() - 64 - 1
        invert = self.total * excess > 0
        self.total += -excess if invert else excess
        return invert << 66 | header << 64 | (word ^ ALL if invert else word)

    def covered(self, word: int) -> None:
        self.check = crc(word, 64, CRC32C, 32, self.check)

    def sync(self) -> int:
        self.check = 0xFFFFFFFF
        self.covered(SYNC)
        return self.coded(CONTROL, SYNC)

    def scrambler(self) -> int:
        self.covered(SCRAMBLER_TYPE << 58)
        return self.coded(CONTROL, SCRAMBLER_TYPE << 58 | self.state)

    def skip(self) -> int:
        self.covered(SKIP)
        return self.coded(CONTROL, self.scrambled(SKIP))

    def word(self, word: int, control: bool) -> int:
        self.covered(word)
        return self.coded(CONTROL if control else DATA, self.scrambled(word))

    def diag(self, health: int = 0) -> int:
        word = DIAG_TYPE << 58 | health << 32
        self.covered(word)
        return self.coded(CONTROL, self.scrambled(word | self.check ^ 0xFFFFFFFF))


def words_of(blocks: Iterable[Sequence[int]]) -> Iterator[tuple[int, bool]]:
    """The words of blocks in the order of the lanes; True: a control word."""
    for block in blocks:
        for place, word in enumerate(block):
            yield word, place == BLOCK_WORDS - 1


def lanes_of(
    blocks: Iterable[Sequence[int]], metaframe: int, added: Iterable[bool], health: Sequence[int]
) -> Iterator[list[int]]:
    """Of each word time the coded words of all lanes. `added`: of each, whether a SKIP was sent for a row."""
    senders = [Sender(first_state(lane)) for lane in range(LANES)]
    words = words_of(blocks)
    place = 0
    for skipped in added:
        if place == 0:
            yield [sender.sync() for sender in senders]
        elif place == 1:
            yield [sender.scrambler() for sender in senders]
        elif place == 2 or skipped:
            yield [sender.skip() for sender in senders]
        elif place == metaframe - 1:
            yield [sender.diag(one) for sender, one in zip(senders, health, strict=True)]
        else:
            yield [sender.word(*next(words)) for sender in senders]
        if not skipped:
            place = (place + 1) % metaframe
