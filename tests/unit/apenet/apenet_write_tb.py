# SPDX-License-Identifier: Apache-2.0
"""apenet_write: the bytes of each packet's place, in commands of at most 2 KiB, each with its beats."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

COMMAND = 2048
KEY_BITS, ADDRESS_BITS, LENGTH_BITS, COMMAND_BITS = 16, 48, 13, 12


class Place(NamedTuple):
    key: int
    address: int
    bytes: int

    def commands(self) -> list[tuple[int, int, int]]:
        parts = range(0, self.bytes, COMMAND)
        return [(self.key, self.address + at, min(COMMAND, self.bytes - at)) for at in parts]


@dataclass
class Bench:
    dut: Any
    rng: random.Random = field(default_factory=lambda: random.Random(cocotb.RANDOM_SEED))
    places: deque[Place] = field(default_factory=deque)
    beats: deque[tuple[int, int]] = field(default_factory=deque)
    commands: deque[tuple[int, int, int]] = field(default_factory=deque)
    data: deque[tuple[int, int, bool]] = field(default_factory=deque)
    """Keep, beat, last: of the commands that were taken."""
    sent: deque[tuple[int, int]] = field(default_factory=deque)
    unanswered: int = 0
    asks: int = 0
    most: int = 0

    def __post_init__(self) -> None:
        self.width = int(self.dut.DataWidth.value)
        self.pending = int(self.dut.Pending.value)
        self.firmware = bool(self.dut.Firmware.value)

    def add(self, size: int) -> None:
        rng = self.rng
        offset = rng.randrange((4096 - size) // 64 + 1) * 64
        place = Place(rng.getrandbits(KEY_BITS), rng.getrandbits(ADDRESS_BITS - 12) << 12 | offset, size)
        self.places.append(place)
        self.commands += place.commands()
        for _ in range(-(-size * 8 // self.width)):
            beat = rng.getrandbits(1), rng.getrandbits(self.width)
            self.beats.append(beat)
            self.sent.append(beat)

    async def start(self) -> None:
        d = self.dut
        for name in ("rst_ni", "place_valid_i", "beat_valid_i", "answer_i", "cmd_ready_i"):
            getattr(d, name).value = 0
        for name in ("place_i", "beat_i", "beat_keep_i", "data_ready_i", "answered_i"):
            getattr(d, name).value = 0
        cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
        for _ in range(3):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        await FallingEdge(d.clk_i)
        assert d.idle_o.value

    async def run(self, offer: float, ready: float, answer: float) -> int:
        """Until all is written and answered; cycles to the first command."""
        d, rng = self.dut, self.rng
        given_place = given_beat = False
        ahead = 0  # beats of places that were given
        held = False
        left = 0  # beats of the command under way
        first = -1
        for cycle in range(200_000):
            given_place = bool(self.places) and (given_place or rng.random() < offer)
            given_beat = ahead > 0 and (given_beat or rng.random() < offer)
            d.place_valid_i.value, d.beat_valid_i.value = given_place, given_beat
            if given_place:
                place = self.places[0]
                d.place_i.value = (place.key << ADDRESS_BITS | place.address) << LENGTH_BITS | place.bytes
            if given_beat:
                d.beat_keep_i.value, d.beat_i.value = self.beats[0]
            d.cmd_ready_i.value = command_ready = rng.random() < ready
            d.data_ready_i.value = data_ready = rng.random() < ready
            d.answered_i.value = answered = self.unanswered > 0 and rng.random() < answer
            d.answer_i.value = firmware = rng.random() < ready
            await ReadOnly()
            write = int(d.write_o.value)
            fields = (1, KEY_BITS, 64, COMMAND_BITS, 1, 1, 1)
            values = []
            for bits in reversed(fields):
                values.append(write & (1 << bits) - 1)
                write >>= bits
            last, keep, data_valid, size, address, key, command_valid = values
            asks = bool(d.ask_o.value)
            self.asks += asks and firmware
            if command_valid:
                first = cycle if first < 0 else first
                assert (key, address, size) == self.commands[0]
                assert self.unanswered < self.pending
                assert not left
            assert command_valid or not held, "a command that was offered is gone"
            held = bool(command_valid) and not command_ready
            if data_valid:
                assert left
                assert (keep, int(d.data_o.value)) == self.sent[0]
                assert bool(last) == (left == 1)
                if data_ready:
                    self.sent.popleft()
                    left -= 1
            if command_valid and command_ready:
                self.commands.popleft()
                left = -(-size * 8 // self.width)
                self.unanswered += 1
                self.most = max(self.most, self.unanswered)
            self.unanswered -= answered
            if given_place and d.place_ready_o.value:
                ahead += -(-self.places.popleft().bytes * 8 // self.width)
                given_place = False
            if given_beat and d.beat_ready_o.value:
                self.beats.popleft()
                ahead -= 1
                given_beat = False
            over = not (self.places or self.beats or self.commands or self.sent or self.unanswered)
            await FallingEdge(d.clk_i)
            if over:
                assert d.idle_o.value
                return first
            assert not d.idle_o.value or not (self.unanswered or left)
        raise AssertionError(f"not done: {len(self.commands)} commands, {len(self.sent)} beats")


@cocotb.test()
@cocotb.parametrize(ready=[1.0, 0.6, 0.2])
async def commands_are_the_bytes_of_the_places_in_order(dut: Any, ready: float) -> None:
    bench = Bench(dut)
    await bench.start()
    for answer in (1.0, 0.3, 0.001):
        sizes = [bench.rng.choice((1, 64, 2048, 2049, 4096, bench.rng.randrange(1, 4097))) for _ in range(25)]
        for size in sizes:
            bench.add(size)
        before = bench.asks
        await bench.run(bench.rng.choice((0.3, 1.0)), ready, answer)
        assert bench.asks - before == (len(sizes) if bench.firmware else 0)
    assert bench.most == bench.pending


@cocotb.test()
async def a_places_first_command_is_there_two_cycles_later(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for _ in range(5):
        bench.add(bench.rng.randrange(1, 4097))
        assert await bench.run(1.0, 1.0, 1.0) == (3 if bench.firmware else 2)
