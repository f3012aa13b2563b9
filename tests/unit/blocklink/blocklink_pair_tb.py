# SPDX-License-Identifier: Apache-2.0
"""Two ends of a block link: every word once and in the order of its circuit, whatever the lanes do.

The parameters that a test needs beside those of the pair are in the environment: see test_blocklink.py.
"""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

CIRCUITS = 13
ALL = 0xFFFF


async def begin(
    dut: Any, alter: float = 0.0, lose: float = 0.0, ready: float = 0.768, offer: float = 0.2
) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
    dut.seed_i.value = rng.getrandbits(32) | 1
    dut.alter_i.value, dut.lose_i.value = int(alter * ALL), int(lose * ALL)
    dut.ready_i.value, dut.offer_i.value = int(ready * ALL), int(offer * ALL)
    dut.stop_source_i.value = dut.stop_sink_i.value = dut.lose_acks_i.value = 0
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 4)
    dut.rst_ni.value = 1


def numbers(port: Any, width: int = 32) -> list[int]:
    """A packed array of numbers, the lowest first."""
    value, size = int(port.value), len(port)
    return [value >> at & (1 << width) - 1 for at in range(0, size, width)]


async def drain(dut: Any) -> tuple[list[int], list[int]]:
    """Stop the sources, repair the lanes, wait for the last word; sent by each end, taken by each end."""
    dut.stop_source_i.value = (1 << 2 * CIRCUITS) - 1
    dut.alter_i.value = dut.lose_i.value = 0
    for _ in range(200):
        await ClockCycles(dut.clk_i, 50)
        sent, taken = numbers(dut.sent_o), numbers(dut.taken_o)
        if sent == taken[CIRCUITS:] + taken[:CIRCUITS]:
            break
    assert not int(dut.wrong_o.value), "a word came twice, never, or in another order"
    assert not int(dut.fail_o.value), "an acknowledgement of a block that was not sent"
    return sent, taken


@cocotb.test()
async def every_word_comes_once_and_in_order(dut: Any) -> None:
    await begin(dut)
    await ClockCycles(dut.clk_i, 3000)
    sent, taken = await drain(dut)
    assert sent == taken[CIRCUITS:] + taken[:CIRCUITS]
    assert min(sent) > 20
    assert numbers(dut.bad_o) == [0, 0]


@cocotb.test()
async def blocks_altered_and_lost_are_sent_again(dut: Any) -> None:
    await begin(dut, alter=0.01, lose=0.01)
    await ClockCycles(dut.clk_i, 12_000)
    bad = numbers(dut.bad_o)
    sent, taken = await drain(dut)
    assert sent == taken[CIRCUITS:] + taken[:CIRCUITS]
    assert min(bad) > 10
    assert min(numbers(dut.again_o)) > 100
    assert min(sent) > 20


@cocotb.test()
async def a_bad_block_in_every_round_trip_still_lets_words_through(dut: Any) -> None:
    await begin(dut, alter=0.02, lose=0.02, ready=1.0)
    await ClockCycles(dut.clk_i, 6_000)
    sent, taken = await drain(dut)
    assert sent == taken[CIRCUITS:] + taken[:CIRCUITS]
    assert sum(sent) > 100


@cocotb.test()
async def acknowledgements_that_vanish_with_idle_blocks_are_asked_for(dut: Any) -> None:
    """No check sees that an idle block is missing: its number is that of the next data block."""
    await begin(dut, offer=0.5)
    # End 1 only takes: what it acknowledges is in idle blocks, but for those that return credits.
    dut.stop_source_i.value = (1 << CIRCUITS) - 1 << CIRCUITS
    dut.lose_acks_i.value = 1
    await ClockCycles(dut.clk_i, 4000)
    before = numbers(dut.taken_o)[CIRCUITS:]
    await ClockCycles(dut.clk_i, 4000)
    after = numbers(dut.taken_o)[CIRCUITS:]
    assert min(b - a for a, b in zip(before, after, strict=True)) > 0
    sent, taken = await drain(dut)
    assert sent == taken[CIRCUITS:] + taken[:CIRCUITS]


@cocotb.test()
async def a_circuit_that_is_not_taken_stops_itself_alone(dut: Any) -> None:
    await begin(dut, offer=1.0)
    rng = random.Random(cocotb.RANDOM_SEED)
    still = rng.randrange(CIRCUITS)
    dut.stop_sink_i.value = 1 << still
    await ClockCycles(dut.clk_i, 1000)
    before = numbers(dut.taken_o)
    await ClockCycles(dut.clk_i, 1000)
    after = numbers(dut.taken_o)
    for circuit in range(2 * CIRCUITS):
        moved = after[circuit] - before[circuit]
        assert (moved == 0) if circuit % CIRCUITS == still else moved > 20, (circuit, moved)
    dut.stop_sink_i.value = 0
    sent, taken = await drain(dut)
    assert sent == taken[CIRCUITS:] + taken[:CIRCUITS]


@cocotb.test()
async def waiting_lines_fill_every_block(dut: Any) -> None:
    await begin(dut, offer=1.0, ready=1.0 if int(os.environ["BLOCKLINK_DATA"]) > 100 else 0.5)
    # Circuits of lines alone: 2 to 5.
    others = (1 << CIRCUITS) - 1 & ~0b111100
    dut.stop_source_i.value = others << CIRCUITS | others
    await ClockCycles(dut.clk_i, 300)
    start = numbers(dut.blocks_o), numbers(dut.words_o)
    await ClockCycles(dut.clk_i, 2000)
    end = numbers(dut.blocks_o), numbers(dut.words_o)
    for side in range(2):
        blocks, words = (end[what][side] - start[what][side] for what in range(2))
        if int(os.environ["BLOCKLINK_DATA"]) > 100:
            # Chunks of 1 to 9 words, 5 on the mean, one a cycle: full where the lanes take fewer.
            assert words >= 4.5 * 2000, (words, blocks)
    await RisingEdge(dut.clk_i)
    sent, taken = await drain(dut)
    assert sent == taken[CIRCUITS:] + taken[:CIRCUITS]
