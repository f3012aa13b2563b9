# SPDX-License-Identifier: Apache-2.0
"""Reads and writes of lines through the request agent, against a home that reorders, delays and packs."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

LINE, BLOCK_CREDITS = 64, 8
WHOLE = (1 << LINE) - 1
FRAMES = 1 << 41
"""In the numbers of physical lines, and not in those of virtual ones."""
FAULT = 1 << 31
READ, WRITE, PART, COMP, DATA, CREDIT = range(1, 7)
LENGTH = {READ: 2, WRITE: 10, PART: 11, COMP: 1, DATA: 9, CREDIT: 1}


def bits(mask: int) -> int:
    """A mask of bytes as a mask of bits."""
    return sum(0xFF << 8 * byte for byte in range(LINE) if mask >> byte & 1)


class Home:
    """The home and the hard block between: packets in, packets out, credits in both directions."""

    def __init__(self, dut: Any, rng: random.Random, slow: int, requests: int, lines: int) -> None:
        self.dut, self.rng, self.slow = dut, rng, slow
        self.lines: dict[int, int] = {}
        self.free = [requests, lines]
        self.open: list[tuple[int, int, list[int]]] = []
        self.out = [[CREDIT << 60 | 1 << 56 | requests << 40 | lines << 32]]
        self.packet: list[int] = []
        self.packets: list[list[int]] = []
        self.longest = 0
        self.direct = 0
        self.refuses = False
        self.dense = False
        """Packets leave as full as they can be, once several answers wait."""

    def line(self, index: int) -> int:
        return self.lines.get(index, index * 0x0123_4567_89AB_CDEF & (1 << 512) - 1)

    def receive(self, words: list[int], cycle: int) -> int:
        """A packet's messages. Returns how many."""
        count = 0
        while words:
            kind, length, txn = words[0] >> 60, words[0] >> 56 & 15, words[0] >> 48 & 0xFF
            assert kind in (READ, WRITE, PART)
            assert length == LENGTH[kind]
            message, words = words[:length], words[length:]
            assert len(message) == length, "a message ends outside its packet"
            index, direct = message[1] >> 6, bool(message[1] & 1)
            index = index if direct else index ^ FRAMES
            self.direct += direct
            self.free[0] -= 1
            self.free[1] -= kind != READ
            assert min(self.free) >= 0, "more requests than places"
            if self.refuses:
                line_credit = int(kind != READ)
                answer = [COMP << 60 | 1 << 56 | txn << 48 | 1 << 40 | line_credit << 32 | FAULT]
            elif kind == READ:
                line = self.line(index)
                answer = [DATA << 60 | 9 << 56 | txn << 48 | 1 << 40]
                answer += [line >> 64 * word & (1 << 64) - 1 for word in range(8)]
            else:
                mask = message[2] if kind == PART else WHOLE
                data = sum(word << 64 * number for number, word in enumerate(message[-8:]))
                self.lines[index] = self.line(index) & ~bits(mask) | data & bits(mask)
                answer = [COMP << 60 | 1 << 56 | txn << 48 | 1 << 40 | 1 << 32]
            self.open.append((cycle + self.rng.randint(1, self.slow), int(kind != READ), answer))
            count += 1
        return count

    async def run(self) -> None:
        dut, cycle, held, given = self.dut, 0, 0, 0
        to_grant = BLOCK_CREDITS
        stream: list[int] = []
        dut.rx_valid_i.value = dut.tx_credit_i.value = 0
        while True:
            await RisingEdge(dut.clk_i)
            cycle += 1
            given += int(dut.rx_credit_o.value)
            if int(dut.tx_valid_o.value):
                held += 1
                assert held <= BLOCK_CREDITS, "a beat without a credit"
                data, words = int(dut.tx_data_o.value), int(dut.tx_words_o.value)
                self.packet += [data >> 64 * word & (1 << 64) - 1 for word in range(words)]
                assert words == 8 or int(dut.tx_last_o.value)
                if int(dut.tx_last_o.value):
                    self.longest = max(self.longest, self.receive(self.packet, cycle))
                    self.packets.append(self.packet)
                    self.packet = []
            await FallingEdge(dut.clk_i)
            give = to_grant > 0 or (held > 0 and self.rng.random() < 0.6)
            if to_grant:
                to_grant -= 1
            elif give:
                held -= 1
            dut.tx_credit_i.value = int(give)
            due = [one for one in self.open if one[0] <= cycle]
            for one in self.rng.sample(due, len(due)):
                self.open.remove(one)
                self.free[0] += 1
                self.free[1] += one[1]
                self.out.append(one[2])
            waits = len(self.out) > 6 or len(self.open) == 0 if self.dense else self.rng.random() < 0.7
            if len(stream) < 24 and self.out and waits:
                packet: list[int] = []
                while (
                    self.out
                    and len(packet) + len(self.out[0]) <= 32
                    and (self.dense or self.rng.random() < 0.8)
                ):
                    packet += self.out.pop(0)
                # A packet begins at a multiple of 16 bytes.
                stream += packet + [0] * (len(packet) % 2)
            go = bool(stream) and given > 0 and self.rng.random() < 0.9
            dut.rx_valid_i.value = int(go)
            if go:
                given -= 1
                words, stream = stream[:8], stream[8:]
                dut.rx_words_i.value = len(words)
                rest = [self.rng.getrandbits(64)] * (8 - len(words))
                dut.rx_data_i.value = sum(word << 64 * number for number, word in enumerate(words + rest))


async def begin(dut: Any, slow: int, requests: int = 64, lines: int = 64) -> tuple[random.Random, Home]:
    rng = random.Random(cocotb.RANDOM_SEED)
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
    dut.req_valid_i.value, dut.rst_ni.value = 0, 0
    dut.rx_valid_i.value = dut.tx_credit_i.value = 0
    await ClockCycles(dut.clk_i, 3)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    home = Home(dut, rng, slow, requests, lines)
    cocotb.start_soon(home.run())
    return rng, home


async def traffic(
    dut: Any,
    count: int,
    among: int,
    slow: int,
    reads: float = 0.5,
    requests: int = 64,
    lines: int = 64,
    dense: bool = False,
) -> tuple[int, Home]:
    """Random requests; each answer is compared with the line as all earlier writes left it.
    Returns how many were in flight at most, and the home."""
    rng, home = await begin(dut, slow, requests, lines)
    home.dense = dense
    expected: dict[int, int] = {}
    flying: dict[int, tuple[int, int | None]] = {}
    free, most, done = list(range(256)), 0, 0
    offered: tuple[int, int, int | None, int] | None = None
    left = count
    for _ in range(400 * count):
        if done == count:
            break
        await RisingEdge(dut.clk_i)
        if offered is not None and int(dut.req_ready_o.value):
            tag, index, mask, data = offered
            assert index not in [one[0] for one in flying.values()], "two operations open on a line"
            before = expected.get(index, home.line(index))
            if mask is None:
                flying[tag] = (index, before)
            else:
                expected[index] = before & ~bits(mask) | data & bits(mask)
                flying[tag] = (index, None)
            offered = None
        if int(dut.rsp_valid_o.value):
            tag = int(dut.rsp_tag_o.value)
            _, line = flying.pop(tag)
            free.append(tag)
            done += 1
            assert line is None or int(dut.rsp_data_o.value) == line
            assert not int(dut.rsp_fault_o.value)
        most = max(most, len(flying))
        assert not int(dut.stray_o.value)
        assert not int(dut.fail_o.value)
        await FallingEdge(dut.clk_i)
        if offered is None and left and free and rng.random() < 0.9:
            left -= 1
            tag, index = free.pop(rng.randrange(len(free))), rng.randrange(among)
            mask = None if rng.random() < reads else WHOLE if rng.random() < 0.5 else rng.getrandbits(LINE)
            offered = (tag, index, mask, rng.getrandbits(512))
            # The line's number is virtual. Some requests go to the home with it, others with a physical one.
            direct = rng.random() < 0.3
            dut.req_tag_i.value, dut.req_key_i.value = tag, index
            dut.req_index_i.value, dut.req_direct_i.value = index if direct else index ^ FRAMES, int(direct)
            dut.req_write_i.value = int(mask is not None)
            dut.req_mask_i.value, dut.req_data_i.value = mask or 0, offered[3]
        dut.req_valid_i.value = int(offered is not None)
    assert done == count, f"{done} of {count} were answered"
    await ClockCycles(dut.clk_i, 40)
    for index, line in expected.items():
        assert home.line(index) == line
    assert int(dut.places_o.value) == requests, "credits are missing at the end"
    assert 0.2 * count < home.direct < 0.4 * count
    return most, home


@cocotb.test()
async def lines_that_are_hit_again_are_ordered(dut: Any) -> None:
    await traffic(dut, 500, among=6, slow=20)


@cocotb.test()
async def all_numbers_are_used_and_used_again(dut: Any) -> None:
    most, _ = await traffic(dut, 500, among=1 << 42, slow=200, reads=1.0)
    assert most == int(dut.NumTxns.value)


@cocotb.test()
async def a_home_with_few_places_is_never_overrun(dut: Any) -> None:
    most, _ = await traffic(dut, 400, among=5000, slow=60, reads=0.3, requests=5, lines=2)
    assert most == 5


@cocotb.test()
async def packets_have_as_many_messages_as_wait_and_fit(dut: Any) -> None:
    _, home = await traffic(dut, 500, among=5000, slow=10, reads=0.2)
    words, messages = int(dut.MaxWords.value), int(dut.MaxMessages.value)
    assert max(map(len, home.packets)) <= words
    assert home.longest == 1 if messages == 1 else home.longest >= 3


@cocotb.test()
async def answers_with_and_without_lines_share_full_packets(dut: Any) -> None:
    await traffic(dut, 1_500, among=5000, slow=3, dense=True)


@cocotb.test()
async def a_request_that_the_home_does_not_allow_ends_with_a_fault(dut: Any) -> None:
    _, home = await begin(dut, 5)
    await ClockCycles(dut.clk_i, 40)
    home.refuses = True
    await FallingEdge(dut.clk_i)
    dut.req_tag_i.value, dut.req_key_i.value, dut.req_index_i.value = 77, 9, 9
    dut.req_direct_i.value, dut.req_write_i.value, dut.req_valid_i.value = 1, 0, 1
    responses = []
    for _ in range(80):
        await RisingEdge(dut.clk_i)
        if int(dut.rsp_valid_o.value):
            responses.append((int(dut.rsp_tag_o.value), int(dut.rsp_fault_o.value)))
        assert not int(dut.stray_o.value)
        await FallingEdge(dut.clk_i)
        dut.req_valid_i.value = 0
    assert responses == [(77, 1)]


@cocotb.test()
async def an_answer_to_nothing_is_shown_and_goes_nowhere(dut: Any) -> None:
    _, home = await begin(dut, 5)
    await ClockCycles(dut.clk_i, 40)
    home.out.append([DATA << 60 | 9 << 56 | 3 << 48, *range(8)])
    home.out.append([COMP << 60 | 1 << 56 | 0x77 << 48])
    strays = 0
    for _ in range(60):
        await RisingEdge(dut.clk_i)
        strays += int(dut.stray_o.value)
        assert not int(dut.rsp_valid_o.value)
    assert strays == 2
