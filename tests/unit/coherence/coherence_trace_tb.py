# SPDX-License-Identifier: Apache-2.0
"""The message tracer against a list of what was on the circuits, read through its registers."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly, Timer
from isthmus.coherence import load

CIRCUITS, CHUNK, SHOWN, DEPTH = 13, 9, 8, 16
CONTROL, LINE, MASK, STATUS, TAKE, HEADER, TIME, LOOK = range(8)
ON, OLDEST, CLEAR = 1, 2, 1 << 63
LINES = 0x0FFC << 16
ALL = 0x1FFF << 16
MESSAGES = load().messages


def header(opcode: int, index: int, rng: random.Random) -> int:
    """All but code and line is any: no two are alike."""
    return opcode << 59 | rng.getrandbits(19) << 40 | index << 7 | rng.getrandbits(7)


class Bench:
    """Circuits that carry messages at random, and the registers."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.links = len(dut.rx_pop_i) // (4 * CIRCUITS)
        self.left = [0] * (CIRCUITS * (1 + self.links))
        self.seen: list[tuple[int, int, int]] = []
        """Of each message that begins: clock, source, header."""
        self.clock = 0
        self.apart = 0
        """Clocks between messages of a circuit, at the least."""
        self.begun = [-1000] * len(self.left)

    async def start(self) -> None:
        cocotb.start_soon(Clock(self.dut.clk_i, 4, "ns").start())
        for pin in ("tx_i", "tx_ready_i", "rx_words_i", "rx_pop_i", "window_i", "looked_i"):
            getattr(self.dut, pin).value = 0
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 3)
        await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    async def step(self, rate: float = 0.0, window: int = 0) -> None:
        """One clock with messages at this rate a circuit, and an access of a register."""
        valid = count = ready = pop = 0
        words = shown = 0
        for source, left in enumerate(self.left):
            circuit, link = source % CIRCUITS, source // CIRCUITS - 1
            early = not left and self.clock - self.begun[source] < self.apart
            if early or self.rng.random() >= (0.7 if left else rate):
                # What is offered and not taken is no message.
                if link < 0 and self.rng.random() < 0.3:
                    valid |= 1 << circuit
                    count |= 1 << 4 * circuit
                continue
            word = self.rng.getrandbits(64)
            if left == 0:
                word, left = self.message(circuit)
                self.seen.append((self.clock, source, word))
                self.begun[source] = self.clock
            most = CHUNK if link < 0 else SHOWN
            taken = min(left, most if link < 0 else self.rng.randint(1, most))
            self.left[source] = left - taken
            if link < 0:
                valid |= 1 << circuit
                ready |= 1 << circuit
                count |= taken << 4 * circuit
                words |= word << 64 * CHUNK * circuit
            else:
                at = link * CIRCUITS + circuit
                pop |= taken << 4 * at
                shown |= word << 64 * SHOWN * at
        self.dut.tx_i.value = valid << CIRCUITS * (4 + 64 * CHUNK) | count << CIRCUITS * 64 * CHUNK | words
        self.dut.tx_ready_i.value = ready
        self.dut.rx_words_i.value = shown
        self.dut.rx_pop_i.value = pop
        self.dut.window_i.value = window
        self.clock += 1
        await FallingEdge(self.dut.clk_i)

    def message(self, circuit: int) -> tuple[int, int]:
        """A header and how many words its message has."""
        if circuit in (0, 1):
            two = self.rng.random() < 0.5
            opcode = (3 if two else 0) if circuit == 0 else (0 if two else 1)
            return header(opcode, self.rng.getrandbits(33), self.rng), 2 if two else 1
        if circuit == 12:
            return header(1, self.rng.getrandbits(33), self.rng), 1
        of = [m for m in MESSAGES if m.circuit // 2 == circuit // 2]
        chosen = self.rng.choice(of)
        return header(chosen.opcode, self.rng.randrange(8), self.rng), chosen.words

    async def store(self, register: int, value: int, mask: int = 0xFF, rate: float = 0.0) -> None:
        await self.step(rate, 1 << 76 | 1 << 75 | register << 72 | mask << 64 | value)

    async def load(self, register: int, rate: float = 0.0) -> int:
        self.dut.window_i.value = 1 << 76 | register << 72
        await self.settle()
        value = int(self.dut.window_data_o.value)
        await self.step(rate, 1 << 76 | register << 72)
        return value

    async def settle(self) -> None:
        await Timer(1, "ps")
        await ReadOnly()
        await Timer(1, "ps")

    async def records(self, rate: float = 0.0) -> list[tuple[int, int, int, bool]]:
        """Takes all records: clock, source, header, whether others were lost before it."""
        found = []
        for _ in range(10 * DEPTH):
            rest = await self.load(TAKE, rate)
            if not rest >> 63:
                break
            first = await self.load(HEADER, rate)
            circuit, received, link = rest >> 32 & 15, rest >> 36 & 1, rest >> 37 & 1
            source = circuit + CIRCUITS * (received * (1 + link))
            found.append((rest & 0xFFFF_FFFF, source, first, bool(rest >> 62 & 1)))
        return found


@cocotb.test()
async def every_message_is_recorded_once_with_its_time(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.apart = len(bench.left) + 1
    await bench.store(CONTROL, ON | ALL)
    got, zero = [], None
    every = set(range(CIRCUITS * (1 + bench.links)))
    for _ in range(600):
        if {source for _, source, _ in bench.seen} == every and len(bench.seen) > 200:
            break
        for _ in range(4):
            await bench.step(0.02)
        for _ in range(8):
            await bench.step()
        got += await bench.records()
    assert (await bench.load(STATUS)) >> 16 == 0, "lost, or overwritten"
    assert len(got) == len(bench.seen) > 200
    for ticks, source, word, gap in got:
        match = [seen for seen in bench.seen if seen[1:] == (source, word)]
        assert len(match) == 1
        assert not gap
        zero = ticks - match[0][0] if zero is None else zero
        assert ticks - match[0][0] == zero, "a wrong time"
    assert {source for _, source, _, _ in got} == every


@cocotb.test()
async def a_mask_chooses_lines_and_circuits_are_chosen(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    await bench.store(LINE, 5)
    await bench.store(MASK, 0x1_FFFF_FFFF)
    await bench.store(MASK, 0, mask=0x7F)  # part of a word: changes nothing
    await bench.store(CONTROL, ON | ALL)
    bench.apart = len(bench.left) + 1
    got = []
    for _ in range(200):
        await bench.step(0.05)
        got += await bench.records()
    for _ in range(4):
        await bench.step()
    got += await bench.records()
    # What is about no line has none that must agree.
    words = [s for s in bench.seen if not 2 <= s[1] % CIRCUITS <= 11]
    lines = [s for s in bench.seen if s not in words and s[2] >> 7 & 0x1_FFFF_FFFF == 5]
    assert sorted(g[1:3] for g in got) == sorted(s[1:] for s in words + lines)
    assert words
    assert lines
    await bench.store(CONTROL, LINES)
    before = len(bench.seen)
    for _ in range(100):
        await bench.step(0.1)
    assert len(bench.seen) > before
    assert await bench.records() == [], "off"


@cocotb.test()
async def what_is_lost_is_counted_and_the_next_record_says_so(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    await bench.store(CONTROL, ON | OLDEST | ALL)
    for _ in range(200):
        await bench.step(0.3)
    total = len(bench.seen)
    for _ in range(100):
        await bench.step()
    status = await bench.load(STATUS)
    lost, inside = status >> 16 & 0xFFFF_FFFF, status & 0xFFFF
    assert DEPTH <= inside <= DEPTH + 1
    assert not status >> 48, "the oldest stay"
    first = await bench.records()
    for _ in range(100):
        await bench.step()
    first += await bench.records()
    assert len(first) + lost == total
    # Those of the first clocks are there; a gap is said once for what was lost before.
    full = bench.seen[0][0] + DEPTH + 4
    assert {g[1:3] for g in first[:DEPTH]} <= {s[1:] for s in bench.seen if s[0] <= full}
    assert any(g[3] for g in first)
    await bench.store(CONTROL, ON | ALL | CLEAR)
    for _ in range(2 * DEPTH):
        await bench.step()
    assert await bench.load(STATUS) == 0
    bench.seen.clear()
    await bench.step(1.0)
    for _ in range(60):
        await bench.step()
    got = await bench.records()
    assert not any(g[3] for g in got[:1]), "cleared"


@cocotb.test()
async def a_record_a_clock_from_one_circuit_or_from_all(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    await bench.store(CONTROL, ON | OLDEST | ALL)
    # Interrupts have one word: a message each clock.
    for _ in range(DEPTH - 2):
        bench.seen.append((bench.clock, 12, word := header(1, bench.rng.getrandbits(33), bench.rng)))
        dut.tx_i.value = (
            (1 << CIRCUITS * (4 + 64 * CHUNK) + 12)
            | (1 << CIRCUITS * 64 * CHUNK + 48)
            | (word << 64 * CHUNK * 12)
        )
        dut.tx_ready_i.value = 1 << 12
        bench.clock += 1
        await FallingEdge(dut.clk_i)
    for _ in range(3):
        await bench.step()
    assert await bench.load(STATUS) == DEPTH - 2
    assert [found[1:3] for found in await bench.records()] == [seen[1:] for seen in bench.seen]
    # One of each circuit: place 1 clock, group 1, then they follow each other into the ring.
    bench.seen.clear()
    await bench.step(1.0)
    count = min(len(bench.seen), DEPTH)
    assert count == DEPTH
    await bench.step()
    for number in range(count):
        assert await bench.load(STATUS) == number
    for _ in range(60):
        await bench.step()
    await bench.records()


@cocotb.test()
async def the_newest_stay_where_that_is_chosen(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.apart = len(bench.left) + 1
    await bench.store(CONTROL, ON | ALL)
    for _ in range(200):
        await bench.step(0.02)
        for _ in range(3):
            await bench.step()
    for _ in range(60):
        await bench.step()
    status = await bench.load(STATUS)
    assert status >> 48 & 1, "overwritten"
    assert status >> 16 & 0xFFFF_FFFF == 0, "and not lost"
    got = await bench.records()
    assert DEPTH <= len(got) <= DEPTH + 1
    last = {s[1:] for s in bench.seen[-len(got) - 4 :]}
    assert {g[1:3] for g in got} <= last


@cocotb.test()
async def a_record_that_is_taken_as_the_next_one_needs_its_place_is_not_gone(dut: Any) -> None:
    """A ring that is full or nearly so, one more message, and a load of the oldest record clocks later."""
    bench = Bench(dut)
    await bench.start()
    for filled in (DEPTH, DEPTH + 1):
        for later in range(10):
            await bench.store(CONTROL, ON | ALL | CLEAR)
            for _ in range(2 * DEPTH):
                await bench.step()
            for number in range(filled + 1):
                last = number == filled
                for clock in range(1 if last else 8):
                    dut.tx_i.value = (
                        (1 << CIRCUITS * (4 + 64 * CHUNK) + 12)
                        | (1 << CIRCUITS * 64 * CHUNK + 48)
                        | (header(1, number, bench.rng) << 64 * CHUNK * 12)
                    )
                    dut.tx_ready_i.value = (clock == 0) << 12
                    dut.window_i.value = 0
                    await FallingEdge(dut.clk_i)
            for _ in range(later):
                await bench.step()
            taken = await bench.load(TAKE) >> 63
            for _ in range(20):
                await bench.step()
            gone = await bench.load(STATUS) >> 48 & 1
            found = taken + len(await bench.records())
            assert gone == (found < filled + 1), (filled, later, found)


@cocotb.test()
async def a_line_is_asked_for_until_it_is_known(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    assert await bench.load(LOOK) == 0
    dut.looked_i.value = 1 << 16 | 0x5555  # before any question
    await bench.step()
    dut.looked_i.value = 0
    assert await bench.load(LOOK) == 0
    for index, state in ((0x1_2345_6789, 0x0003), (7, 0x4321)):
        await bench.store(LOOK, index)
        for _ in range(3):
            assert int(dut.look_o.value) == 1 << 33 | index
            assert not await bench.load(LOOK) >> 63
        dut.looked_i.value = 1 << 16 | state
        await bench.step()
        dut.looked_i.value = 0xFFFF
        assert not int(dut.look_o.value) >> 33
        assert await bench.load(LOOK) == 1 << 63 | state
        dut.looked_i.value = 1 << 16 | 0xAAAA  # an answer to nothing
        await bench.step()
        dut.looked_i.value = 0
        assert await bench.load(LOOK) == 1 << 63 | state
