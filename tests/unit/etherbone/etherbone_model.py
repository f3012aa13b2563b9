# SPDX-License-Identifier: Apache-2.0
"""Etherbone version 1 in words: builds requests and says what a slave must do and answer.

Written from the wire format alone, so that it is independent of the RTL and of the host library.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

BCA, RCA, RFF, CYC, WCA, WFF = 0x80, 0x40, 0x20, 0x08, 0x04, 0x02
NO_READS, PROBE_REPLY, PROBE = 0x4, 0x2, 0x1


@dataclass
class Record:
    """One record: `writes` are values, `reads` are addresses."""

    flags: int = 0
    sel: int = 0xF
    write_base: int = 0
    writes: list[int] = field(default_factory=list)
    return_base: int = 0x8000
    reads: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Operation:
    """One bus operation that the slave must make."""

    write: bool
    adr: int
    sel: int
    dat: int  # 0 for reads
    cycle: int  # number of the bus cycle (cyc high) it belongs to


class Bus:
    """Reference bus: word memory, and addresses (word-aligned) that answer err."""

    def __init__(self, width: int = 32) -> None:
        self.width = width
        self.memory: dict[int, int] = {}
        self.errors: set[int] = set()

    def fill(self, adr: int) -> int:
        """What an address holds before anything is written: a hash of the address."""
        return ((adr * 0x9E3779B97F4A7C15) ^ 0xA5A5A5A5A5A5A5A5) >> 3 & ((1 << self.width) - 1)

    def read(self, adr: int) -> tuple[int, bool]:
        return self.memory.get(adr, self.fill(adr)), adr in self.errors

    def write(self, adr: int, dat: int, sel: int) -> bool:
        if adr in self.errors:
            return True
        old = self.memory.get(adr, self.fill(adr))
        for byte in range(self.width // 8):
            if sel >> byte & 1:
                mask = 0xFF << (8 * byte)
                old = old & ~mask | dat & mask
        self.memory[adr] = old
        return False


def code(width: int) -> int:
    return {32: 4, 64: 8}[width]


def head(value: int, width: int) -> int:
    """A 4-byte header or record header as the first bytes of a word."""
    return value << (width - 32)


def header(width: int = 32, flags: int = 0) -> int:
    return head(0x4E6F1000 | flags << 8 | code(width) * 0x11, width)


def request(records: list[Record], width: int = 32, flags: int = 0) -> list[int]:
    words = [header(width, flags)]
    for r in records:
        words.append(head(r.flags << 24 | r.sel << 16 | len(r.writes) << 8 | len(r.reads), width))
        if r.writes:
            words += [r.write_base, *r.writes]
        if r.reads:
            words += [r.return_base, *r.reads]
    return words


class Slave:
    """Reference slave over a `Bus`: keeps the error register from frame to frame."""

    def __init__(self, bus: Bus, config: dict[int, int]) -> None:
        self.bus = bus
        self.config = config  # 64-bit registers by address, multiples of 8
        self.errors = 0
        self.cycle = 0
        self.in_cycle = False

    def _done(self, error: bool) -> None:
        self.errors = (self.errors << 1 | error) & ((1 << 64) - 1)

    def _config(self, adr: int) -> int:
        adr &= 0xFFFF
        value = self.errors if adr & ~7 == 0 else self.config.get(adr & ~7, 0)
        if self.bus.width == 64:
            return value
        return value & 0xFFFFFFFF if adr & 4 else value >> 32

    def close(self) -> None:
        if self.in_cycle:
            self.cycle += 1
        self.in_cycle = False

    def serve(self, records: list[Record]) -> tuple[list[int], list[Operation]]:
        """Reply words and bus operations for a well-formed data frame; ends the bus cycle."""
        width = self.bus.width
        step = width // 8
        words = [header(width, NO_READS)]
        operations: list[Operation] = []

        def operation(write: bool, adr: int, sel: int, dat: int) -> None:
            self.in_cycle = True
            operations.append(Operation(write, adr, sel, dat, self.cycle))

        for r in records:
            for i, value in enumerate(r.writes):
                if not r.flags & WCA:
                    adr = r.write_base if r.flags & WFF else r.write_base + i * step
                    adr &= (1 << width) - 1
                    operation(True, adr, r.sel, value)
                    self._done(self.bus.write(adr, value, r.sel))
            if r.writes:
                words += [0] * (len(r.writes) + 1)
                if not r.reads:
                    words.append(0)
            elif not r.reads:
                words.append(0)
            if r.reads:
                flags = (WCA if r.flags & BCA else 0) | (WFF if r.flags & RFF else 0) | r.flags & CYC
                words.append(head(flags << 24 | r.sel << 16 | len(r.reads) << 8, width))
                words.append(r.return_base)
            for adr in r.reads:
                if r.flags & RCA:
                    words.append(self._config(adr))
                else:
                    operation(False, adr, r.sel, 0)
                    value, error = self.bus.read(adr)
                    self._done(error)
                    words.append(value)
            if r.flags & CYC:
                self.close()
        self.close()
        return words, operations


def random_records(rng: random.Random, width: int = 32, budget: int = 80) -> list[Record]:
    """A legal frame's worth of records, with every flag and both kinds of empty record."""
    records: list[Record] = []
    step = width // 8
    while budget > 0 and (not records or rng.random() < 0.7):
        writes = rng.choice([0, 0, 1, 2, rng.randrange(0, 20)])
        reads = rng.choice([0, 0, 1, 2, rng.randrange(0, 20)])
        flags = 0
        for flag in (BCA, RFF, CYC, WFF):
            flags |= flag if rng.random() < 0.4 else 0
        for flag in (RCA, WCA):
            flags |= flag if rng.random() < 0.2 else 0
        # few addresses, so that reads meet earlier writes and errors
        places = [i * step for i in range(16)]
        if flags & RCA:
            places = [0x0, 0x8, 0x10, 0x18, 0x28, 0x50]
            if width == 32:
                places += [0x4, 0xC, 0x14, 0x1C, 0x2C]
        records.append(
            Record(
                flags,
                rng.choice([(1 << step) - 1, rng.randrange(1 << step)]),
                rng.randrange(16) * step,
                [rng.getrandbits(width) for _ in range(writes)],
                rng.getrandbits(16),
                [rng.choice(places) for _ in range(reads)],
            )
        )
        budget -= 3 + writes + reads
    return records
