# SPDX-License-Identifier: Apache-2.0
"""Two link_ports over 8b/10b transceivers of two symbols a clock, each end with an oscillator of its own."""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer

WORDS = int(os.environ["LINK_GEAR_WORDS"])
INIT_WORDS = 256
PERIOD_PS, OTHER_PS = 10_000, 10_002
"""Of a pair of symbols, 200 ppm apart; a word has two."""
WORD_PS = 2 * PERIOD_PS
START_WORDS = 2 * INIT_WORDS + 200


class Pair:
    """The bench, with its counters by name: one number an end."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut

    def __getattr__(self, name: str) -> list[int]:
        value = getattr(self.dut, f"{name}_o").value.to_unsigned()
        width = 1 if name in ("up", "signal") else 32
        return [value >> width * e & (1 << width) - 1 for e in (0, 1)]

    async def words(self, count: int) -> None:
        await Timer(count * WORD_PS, "ps")


async def made(dut: Any, periods: tuple[int, int] = (PERIOD_PS, OTHER_PS)) -> Pair:
    dut.rst_ni.value = dut.slip_i.value = 0
    dut.lock_i.value = 3
    dut.spoil_i.value = 0
    for e, period in enumerate(periods):
        cocotb.start_soon(Clock(dut.clk_i[e], period, "ps").start())
        await Timer(random.randrange(2, period, 2), "ps")
    pair = Pair(dut)
    await pair.words(10)
    for e in random.sample((0, 1), 2):
        dut.rst_ni.value = dut.rst_ni.value.to_unsigned() | 1 << e
        await pair.words(random.randrange(1, 40))
    await pair.words(START_WORDS)
    return pair


async def flow(pair: Pair, words: int) -> None:
    """Both ends hear good packets for so many words, and no bad one."""
    before, errors = pair.good, pair.errors
    await pair.words(words)
    # Packets of 128 words at most, 64 on average over many, and two of framing.
    least = 0.8 * words / 66.5 if words > 10_000 else words / 130 - 2
    for good, now in zip(before, pair.good, strict=True):
        assert now - good > least
    assert pair.errors == errors


@cocotb.test()
@cocotb.parametrize((("first", "second"), [(PERIOD_PS, OTHER_PS), (OTHER_PS, PERIOD_PS)]))
async def two_oscillators_lose_nothing(dut: Any, first: int, second: int) -> None:
    """200 ppm apart, under full load both ways: words are removed and added, none is lost."""
    pair = await made(dut, (first, second))
    assert pair.signal == [1, 1]
    assert pair.up == [1, 1]
    await flow(pair, WORDS)
    assert pair.lost == [0, 0]
    assert pair.errors == [0, 0]
    slow, fast = (1, 0) if first < second else (0, 1)
    drift = WORDS * (OTHER_PS - PERIOD_PS) / PERIOD_PS
    # The first Depth / 8 words of drift move only the buffers' fill.
    assert pair.removed[slow] > drift - 5
    assert pair.added[fast] > drift - 5


@cocotb.test()
async def a_line_that_slips_by_any_number_of_bits_is_found_again(dut: Any) -> None:
    """After each of 40 slips in turn: symbols and words have moved to every place there is."""
    pair = await made(dut)
    for _ in range(40):
        await FallingEdge(dut.clk_i[0])
        dut.slip_i.value = 1
        await FallingEdge(dut.clk_i[0])
        dut.slip_i.value = 0
        # Two commas, each of them behind AlignWords words and a packet.
        await pair.words(2 * (64 + 128 + 3) + 400)
        assert pair.up == [1, 1]
        await flow(pair, 300)


@cocotb.test()
async def a_wrong_bit_costs_a_packet_and_not_the_words_place(dut: Any) -> None:
    """Single bits, a few hundred words apart, both ways: what is not hit comes."""
    pair = await made(dut)
    errors = pair.errors
    hits = 60
    for _ in range(hits):
        e = random.randrange(2)
        await FallingEdge(dut.clk_i[e])
        dut.spoil_i.value = 1 << (20 * e + random.randrange(20))
        await FallingEdge(dut.clk_i[e])
        dut.spoil_i.value = 0
        await pair.words(random.randrange(450, 600))
        assert pair.up == [1, 1]
    counted = sum(pair.errors) - sum(errors)
    # A bit that makes a comma of data costs all until the next comma.
    assert hits / 4 < counted < 8 * hits
    await flow(pair, 600)


@cocotb.test()
async def words_of_a_line_without_lock_are_not_the_far_ends(dut: Any) -> None:
    pair = await made(dut)
    await FallingEdge(dut.clk_i[1])
    dut.lock_i.value = 0b10
    await pair.words(30)
    assert pair.signal[0] == 0
    assert pair.up[0] == 0
    dut.lock_i.value = 0b11
    await pair.words(3 * START_WORDS)
    assert pair.up == [1, 1]
    await flow(pair, 600)


@cocotb.test()
async def a_word_has_two_cycles_of_the_symbols(dut: Any) -> None:
    await made(dut)
    await RisingEdge(dut.word_clk_o[0])
    edges = 0
    for _ in range(8):
        await RisingEdge(dut.clk_i[0])
        await FallingEdge(dut.clk_i[0])
        edges += dut.word_clk_o.value.to_unsigned() & 1
    assert edges == 4
