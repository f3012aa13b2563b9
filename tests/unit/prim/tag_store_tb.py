# SPDX-License-Identifier: Apache-2.0
"""tag_store against a model of its sets: every answer, every evicted entry, an operation a cycle."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

SETS, WAYS = int(os.environ["TAG_SETS"]), int(os.environ["TAG_WAYS"])
TAGS = 3 * WAYS
LOOKUP, FILL, INVALIDATE = range(3)


@dataclass
class Set:
    """Ways, and the order in which halves of halves were used: True, the right one is older."""

    ways: list[tuple[int, int] | None] = field(default_factory=lambda: [None] * WAYS)
    older: dict[tuple[int, int], bool] = field(default_factory=dict)

    def touch(self, way: int) -> None:
        low, high = 0, WAYS
        while high - low > 1:
            middle = (low + high) // 2
            self.older[low, high] = way < middle
            low, high = (low, middle) if way < middle else (middle, high)

    def victim(self) -> int:
        low, high = 0, WAYS
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.older.get((low, high), False) else (low, middle)
        return low

    def do(self, kind: int, tag: int, data: int) -> tuple[bool, int, int | None, tuple[int, int] | None]:
        """Hit, way, data of a hit, what a fill evicts."""
        found = [way for way, entry in enumerate(self.ways) if entry is not None and entry[0] == tag]
        empty = [way for way, entry in enumerate(self.ways) if entry is None]
        way = found[0] if found else empty[0] if empty else self.victim()
        held = self.ways[way]
        evicted = held if kind == FILL and not found else None
        if kind == FILL:
            self.ways[way] = tag, data
        elif kind == INVALIDATE and found:
            self.ways[way] = None
        if kind != INVALIDATE and (found or kind == FILL):
            self.touch(way)
        return bool(found), way, held[1] if found and held else None, evicted


async def start(dut: Any) -> list[Set]:
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    for name in ("clear_i", "valid_i", "fill_i", "invalidate_i", "index_i", "tag_i", "data_i", "rst_ni"):
        getattr(dut, name).value = 0
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await swept(dut)
    return [Set() for _ in range(SETS)]


async def swept(dut: Any) -> None:
    """From the cycle of reset's release, or of clear_i: ready again behind a cycle a set."""
    for _ in range(SETS):
        assert dut.ready_o.value == 0
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0
    assert dut.ready_o.value == 1


async def run(dut: Any, sets: list[Set], cycles: int, kinds: list[int], rate: float, few: int) -> list[int]:
    """Operations on the first `few` sets; how many hit, missed and evicted."""
    counts = [0, 0, 0]
    waiting: tuple[bool, int, int | None, tuple[int, int] | None] | None = None
    kind = LOOKUP
    for _ in range(cycles):
        await FallingEdge(dut.clk_i)
        assert bool(dut.done_o.value) == (waiting is not None)
        if waiting is not None:
            hit, way, data, evicted = waiting
            assert bool(dut.hit_o.value) == hit
            if hit or kind == FILL:
                assert int(dut.way_o.value) == way
            if hit:
                assert int(dut.data_o.value) == data
            assert bool(dut.evict_o.value) == (evicted is not None)
            if evicted is not None:
                assert (int(dut.evict_tag_o.value), int(dut.evict_data_o.value)) == evicted
            counts[0 if hit else 1] += 1
            counts[2] += evicted is not None
            waiting = None
        offered = random.random() < rate
        kind_now = random.choice(kinds)
        index, tag, data = random.randrange(few), random.randrange(TAGS), random.getrandbits(16)
        dut.valid_i.value = offered
        dut.fill_i.value, dut.invalidate_i.value = kind_now == FILL, kind_now == INVALIDATE
        dut.index_i.value, dut.tag_i.value, dut.data_i.value = index, tag, data
        assert dut.ready_o.value == 1
        if offered:
            kind = kind_now
            waiting = sets[index].do(kind, tag, data)
    await FallingEdge(dut.clk_i)
    dut.valid_i.value = 0
    await FallingEdge(dut.clk_i)
    return counts


@cocotb.test()
async def every_answer_is_that_of_the_model(dut: Any) -> None:
    """One set or all of them, so that operations follow each other in a set, and do not."""
    sets = await start(dut)
    for few in (1, 2, SETS):
        for rate, kinds in ((1.0, [LOOKUP, FILL, INVALIDATE]), (0.7, [LOOKUP, LOOKUP, FILL]), (1.0, [FILL])):
            hits, misses, evicted = await run(dut, sets, 800, kinds, rate, few)
            assert hits > 50
            assert misses > 50
            assert evicted > 20 or INVALIDATE in kinds


@cocotb.test()
async def a_sweep_empties_all_sets_in_a_cycle_each(dut: Any) -> None:
    sets = await start(dut)
    await run(dut, sets, 20 * SETS, [FILL], 1.0, SETS)
    dut.clear_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    await swept(dut)
    hits, misses, _ = await run(dut, [Set() for _ in range(SETS)], 40 * SETS, [LOOKUP], 1.0, SETS)
    assert hits == 0
    assert misses > 0
