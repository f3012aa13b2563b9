# SPDX-License-Identifier: Apache-2.0
"""nanet_ends against a list of what was begun: bit 0 of an entry says whether it is read."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

ENTRIES = 2_000


@cocotb.test()
async def entries_end_in_order_behind_their_own_read_with_its_bad_beats(dut: Any) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
    for name in ("begin_valid", "beat", "beat_bad", "beat_end", "end_ready", "head_read"):
        getattr(dut, f"{name}_i").value = 0
    dut.rst_ni.value = 0
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1

    begun: list[int] = []  # not taken yet
    reads: list[int] = []  # whose last beat has not come: their numbers
    bad: dict[int, bool] = {}  # of ended reads; of the others so far
    ended: set[int] = set()
    number = taken = earlier_bad = overtaken = 0
    while taken < ENTRIES:
        await FallingEdge(dut.clk_i)
        eager = 0.2 if taken % 200 < 100 else 0.9
        dut.begin_valid_i.value = int(number < ENTRIES and rng.random() < 0.5)
        dut.begin_i.value = 2 * (number % (1 << 15)) + (rng.random() < 0.6)
        beat = bool(reads) and rng.random() < 0.7
        dut.beat_i.value = int(beat)
        dut.beat_bad_i.value = int(rng.random() < 0.2)
        dut.beat_end_i.value = int(rng.random() < 0.4)
        dut.end_ready_i.value = int(rng.random() < eager)
        dut.head_read_i.value = int(dut.head_o.value) & 1 if begun else 0
        assert bool(dut.idle_o.value) == (not begun)
        await RisingEdge(dut.clk_i)
        over = bool(dut.end_o.value)
        head = begun[0] if begun else 0
        assert over == (bool(begun) and (not head & 1 or taken in ended))
        if over and dut.end_ready_i.value:
            assert int(dut.head_o.value) == head
            assert bool(dut.head_bad_o.value) == (bool(head & 1) and bad[taken])
            overtaken += not head & 1 and bool(ended)
            begun.pop(0)
            ended.discard(taken)
            taken += 1
        if beat:
            one, wrong = reads[0], bool(dut.beat_bad_i.value)
            if dut.beat_end_i.value:
                reads.pop(0)
                ended.add(one)
                earlier_bad += bad.get(one, False) and not wrong
            bad[one] = bad.get(one, False) or wrong
        if dut.begin_valid_i.value and dut.begin_ready_o.value:
            begun.append(int(dut.begin_i.value))
            if begun[-1] & 1:
                reads.append(number)
            number += 1
    # What the scenario is for was met.
    assert earlier_bad > 50
    assert overtaken > 20
