# SPDX-License-Identifier: Apache-2.0
"""gray_counter: what a reader in another clock sees of a count."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge


@cocotb.test()
@cocotb.parametrize(clocks=[(12_800, 10_000), (8_000, 8_000), (3_000, 20_000)])
async def a_reader_never_sees_a_count_that_was_not(dut: object, clocks: tuple[int, int]) -> None:
    write_ps, read_ps = clocks
    dut.rst_ni.value = dut.rrst_ni.value = 0
    dut.event_i.value = 0
    cocotb.start_soon(Clock(dut.clk_i, write_ps, "ps").start())
    cocotb.start_soon(Clock(dut.rclk_i, read_ps, "ps").start())
    await ClockCycles(dut.rclk_i, 4)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = dut.rrst_ni.value = 1
    counted, seen = [0], [0]

    async def read() -> None:
        while True:
            await FallingEdge(dut.rclk_i)
            now = int(dut.count_o.value)
            step = (now - seen[0]) % 64
            assert step <= counted[0] - seen[-1], (now, seen[0], counted[0])
            seen[0], seen[-1] = now, seen[-1] + step

    seen.append(0)
    cocotb.start_soon(read())
    for _ in range(2_000):
        await FallingEdge(dut.clk_i)
        dut.event_i.value = event = random.random() < 0.7
        await RisingEdge(dut.clk_i)
        counted[0] += event
    await FallingEdge(dut.clk_i)
    dut.event_i.value = 0
    await ClockCycles(dut.rclk_i, 4)
    await FallingEdge(dut.rclk_i)
    assert int(dut.count_o.value) == counted[0] % 64
    assert seen[-1] == counted[0]
