# SPDX-License-Identifier: Apache-2.0
"""prim_assert: what does not hold at an edge ends the simulation; in reset, and between edges, it may."""

import os

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer

BREAK = os.environ["PRIM_ASSERT_BREAK"] == "1"


@cocotb.test()
async def a_fact_is_checked_at_each_edge(dut: object) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    dut.rst_ni.value = dut.ok_i.value = 0
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.ok_i.value = dut.rst_ni.value = 1
    for _ in range(5):
        await RisingEdge(dut.clk_i)
        await Timer(1, "ns")
        dut.ok_i.value = 0
        await FallingEdge(dut.clk_i)
        dut.ok_i.value = 1
    if BREAK:
        dut.ok_i.value = 0
        for _ in range(2):
            await FallingEdge(dut.clk_i)
