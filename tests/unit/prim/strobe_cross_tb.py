# SPDX-License-Identifier: Apache-2.0
"""strobe_cross: each strobe that is taken arrives once, over clock ratios and phases."""

from __future__ import annotations

import itertools
import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer

STAGES = 2


async def start(dut: Any, src_ps: int, dst_ps: int, phase_ps: int = 0) -> None:
    dut.src_rst_ni.value = dut.dst_rst_ni.value = 0
    dut.strobe_i.value = 0
    cocotb.start_soon(Clock(dut.src_clk_i, src_ps, "ps").start())
    if phase_ps:
        await Timer(phase_ps, "ps")
    cocotb.start_soon(Clock(dut.dst_clk_i, dst_ps, "ps").start())
    for _ in range(4):
        await FallingEdge(dut.src_clk_i)
        await FallingEdge(dut.dst_clk_i)
    dut.dst_rst_ni.value = 1
    await FallingEdge(dut.src_clk_i)
    dut.src_rst_ni.value = 1


async def count(dut: Any, seen: list[int]) -> None:
    while True:
        await FallingEdge(dut.dst_clk_i)
        seen[0] += int(dut.strobe_o.value)


@cocotb.test()
@cocotb.parametrize(
    (("src_ps", "dst_ps"), [(8000, 8000), (8000, 8002), (2000, 9000), (9000, 2000), (12800, 10000)])
)
async def every_strobe_that_is_taken_arrives_once(dut: Any, src_ps: int, dst_ps: int) -> None:
    await start(dut, src_ps, dst_ps, random.randrange(2, dst_ps, 2))
    seen = [0]
    cocotb.start_soon(count(dut, seen))
    for chance in (1.0, 0.3, 0.05):
        taken = refused = 0
        seen[0] = 0
        for _ in range(600):
            await FallingEdge(dut.src_clk_i)
            strobe = random.random() < chance
            dut.strobe_i.value = strobe
            taken += strobe and bool(dut.ready_o.value)
            refused += strobe and not dut.ready_o.value
        await FallingEdge(dut.src_clk_i)
        dut.strobe_i.value = 0
        for _ in range(8):
            await RisingEdge(dut.src_clk_i)
            await RisingEdge(dut.dst_clk_i)
        await Timer(2, "ps")
        assert seen[0] == taken > 5
        assert refused > 0 or chance < 1.0
        assert dut.ready_o.value == 1


@cocotb.test()
async def latency_and_distance_of_strobes_with_one_frequency(dut: Any) -> None:
    await start(dut, 8000, 8000)
    for _ in range(10):
        await FallingEdge(dut.src_clk_i)
    dut.strobe_i.value = 1
    arrivals = []
    for cycle in range(40):
        await FallingEdge(dut.dst_clk_i)
        if dut.strobe_o.value:
            arrivals.append(cycle)
    # The edge that takes it is the first of these cycles; STAGES edges behind it the strobe is there.
    assert arrivals[0] == STAGES
    gaps = {after - before for before, after in itertools.pairwise(arrivals)}
    assert gaps == {2 * STAGES + 2}
