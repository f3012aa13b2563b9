# SPDX-License-Identifier: Apache-2.0
"""LiteEth's dialect of Etherbone in bytes: builds requests and says what a device must answer.

Written from the layout alone, so that it is independent of the RTL and of the host library:

| bytes | request | reply |
|---|---|---|
| 0-3 | 4E 6F 10 44 | the same |
| 4-7 | 0 | 0 |
| 8 | flags, first bit lowest | those of the answer, so |
| 9 | byte enables | the same |
| 10, 11 | writes, reads | reads, 0 |
| then | write address, values; return address, read addresses | return address, values |
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field

from etherbone_model import Bus

BCA, RCA, RFF, CYC, WCA, WFF = (1 << bit for bit in (0, 1, 2, 4, 5, 6))
HEADER = bytes.fromhex("4e6f1044 00000000")
PROBE = bytes.fromhex("4e6f1144 00000000 00000000")
PROBE_REPLY = bytes.fromhex("4e6f1244 00000000 00000000")


@dataclass
class Lite:
    """The one record of a frame."""

    writes: list[int] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)
    base: int = 0
    back: int = 0
    flags: int = 0
    enable: int = 0xF

    def request(self) -> bytes:
        record = bytes([self.flags, self.enable, len(self.writes), len(self.reads)])
        if self.writes:
            record += struct.pack(f">{1 + len(self.writes)}I", self.base, *self.writes)
        if self.reads:
            record += struct.pack(f">{1 + len(self.reads)}I", self.back, *self.reads)
        return HEADER + record

    def serve(self, bus: Bus) -> bytes | None:
        """Does it; the reply, unless nothing is read."""
        for index, value in enumerate(self.writes):
            address = self.base if self.flags & WFF else self.base + 4 * index
            bus.write(address, value, self.enable & 0xF)
        if not self.reads:
            return None
        flags = self.flags & CYC | (WCA if self.flags & BCA else 0) | (WFF if self.flags & RFF else 0)
        record = bytes([flags, self.enable, len(self.reads), 0]) + struct.pack(">I", self.back)
        values = [bus.read(address)[0] for address in self.reads]
        return HEADER + record + struct.pack(f">{len(values)}I", *values)


def words(data: bytes) -> list[int]:
    return list(struct.unpack(f">{len(data) // 4}I", data))


def random_record(rng: random.Random) -> Lite:
    count = [0, 0, 1, 1, 2, 7, 30]
    return Lite(
        [rng.getrandbits(32) for _ in range(rng.choice(count))],
        [4 * rng.randrange(16) for _ in range(rng.choice(count))],
        4 * rng.randrange(16),
        rng.getrandbits(32),
        rng.choice([0, 0, BCA, RFF, CYC, BCA | RFF | CYC, WFF]),
        rng.choice([0xF, 0xF, 0x3, 0xE1]),
    )
