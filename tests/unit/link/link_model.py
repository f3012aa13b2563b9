# SPDX-License-Identifier: Apache-2.0
"""The wire format of a link, from its page, bit by bit: words, checks, packets, and a receiver's framing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

IDLE, SOP, EOP, EDB = 0xBC, 0xFB, 0xFD, 0xFE
CREDIT, CHECK, ALIGN = 0x5C, 0x7C, 0x3C
INIT = 0x100 | IDLE
"""INIT and READY have IDLE's symbol; what they say is in the argument, and IDLE's is 0."""
K_SOP, K_DATA, K_EOP, K_EDB = range(4)
"""Kinds of flits."""


def crc(bits: int, width: int, poly: int, size: int, start: int) -> int:
    """Remainder of the `width` bits of `bits`, most significant first: `size` bits wide, bit by bit."""
    value = start
    for position in reversed(range(width)):
        top = value >> (size - 1) & 1
        value = value << 1 & (1 << size) - 1
        if top ^ (bits >> position & 1):
            value ^= poly
    return value


def crc8(data: int) -> int:
    """Check of a control word's upper 24 bits."""
    return crc(data, 24, 0x07, 8, 0xFF)


def crc24(words: Sequence[int], bench: bool = False) -> int:
    """Check of a packet's data words; `bench`: words 4 and 5 count as 0."""
    value = 0xFFFFFF
    for index, word in enumerate(words):
        if bench and index in (4, 5):
            word = 0
        value = (value << 16 & 0xFFFFFF) ^ _HALVES[value >> 8 ^ word >> 16]
        value = (value << 16 & 0xFFFFFF) ^ _HALVES[value >> 8 ^ word & 0xFFFF]
    return value ^ 0xFFFFFF


_BYTES = [crc(byte, 8, 0x328B63, 24, 0) for byte in range(256)]
_HALVES = [
    (_BYTES[high] << 8 & 0xFFFFFF) ^ _BYTES[_BYTES[high] >> 16 ^ low]
    for high in range(256)
    for low in range(256)
]


def control(symbol: int, argument: int = 0) -> int:
    """A control word, 36 bits: K flags above the data."""
    return 0x8 << 32 | symbol << 24 | argument


def fielded(symbol: int, ident: int, count: int) -> int:
    """SOP, CREDIT, CHECK or INIT with its check."""
    head = (symbol & 0xFF) << 16 | ident << 10 | count
    return 0x8 << 32 | head << 8 | crc8(head)


@dataclass(frozen=True)
class Word:
    """A 36-bit word, taken apart: kind is a symbol, 'data' or 'invalid'."""

    kind: int | str
    ident: int = 0
    count: int = 0
    data: int = 0


def parse(word: int) -> Word:
    """What a word is; a control word whose check is wrong is invalid."""
    return _control(word) if word >> 32 else Word("data", data=word)


@cache
def _control(word: int) -> Word:
    k, data = word >> 32, word & 0xFFFFFFFF
    symbol, argument = data >> 24, data & 0xFFFFFF
    if k == 8 and symbol in (EOP, EDB):
        return Word(symbol, data=data)
    if k == 8 and symbol in (IDLE, ALIGN) and argument == 0:
        return Word(symbol)
    if k == 8 and symbol in (SOP, CREDIT, CHECK, IDLE) and crc8(data >> 8) == argument & 0xFF:
        symbol = INIT if symbol == IDLE else symbol
        return Word(symbol, argument >> 18, argument >> 8 & 0x3FF, data)
    return Word("invalid")


@dataclass
class Framing:
    """A receiver's framing: one word in, at most one flit out, exactly as the page says."""

    ids: int
    max_words: int
    bench: bool = False
    inside: bool = False
    ident: int = 0
    words: list[int] = field(default_factory=list)

    def step(self, word: int, after: int, live: bool) -> tuple[int, int, int] | None:
        """Flit (kind, id, data) of `word`, which `after` follows; `live`: the link takes words."""
        now = parse(word)
        sop_next = after >> 24 == 0x8 << 8 | SOP
        if now.kind in (SOP, CHECK) and now.ident >= self.ids:
            now = Word("invalid")
        if now.kind == CREDIT and now.ident >= self.ids:
            now = Word("invalid")
        if not live:
            now = Word("invalid")
        if not self.inside:
            if now.kind != SOP or sop_next:
                return None
            self.inside, self.ident, self.words = True, now.ident, []
            return K_SOP, now.ident, now.ident
        data = word & 0xFFFFFFFF
        if now.kind == EOP and self.words:
            self.inside = False
            good = crc24(self.words, self.bench) == data & 0xFFFFFF
            return (K_EOP if good else K_EDB), self.ident, data
        if now.kind == "data" and not sop_next and len(self.words) < self.max_words:
            self.words.append(data)
            return K_DATA, self.ident, data
        if now.kind in (CREDIT, CHECK) and not sop_next:
            return None
        self.inside = False
        return K_EDB, self.ident, data
