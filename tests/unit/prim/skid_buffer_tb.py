# SPDX-License-Identifier: Apache-2.0
"""skid_buffer against a queue, with random stalls on both sides."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge


async def reset(dut: object) -> None:
    dut.rst_ni.value = 0
    dut.valid_i.value = 0
    dut.ready_i.value = 0
    dut.data_i.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


@cocotb.test()
async def passes_every_word_once_in_order_under_random_stalls(dut: object) -> None:
    await reset(dut)
    sent: list[int] = []
    got: list[int] = []
    taken_in = True
    for _ in range(2000):
        await FallingEdge(dut.clk_i)
        if not (dut.valid_i.value and not taken_in):
            dut.valid_i.value = random.random() < 0.7
            dut.data_i.value = random.getrandbits(32)
        dut.ready_i.value = random.random() < 0.6
        await RisingEdge(dut.clk_i)
        taken_in = bool(dut.valid_i.value) and bool(dut.ready_o.value)
        if taken_in:
            sent.append(int(dut.data_i.value))
        if dut.valid_o.value and dut.ready_i.value:
            got.append(int(dut.data_o.value))
    assert len(got) > 500
    assert got == sent[: len(got)]
    assert len(sent) - len(got) <= 2


@cocotb.test()
async def sustains_one_word_a_cycle(dut: object) -> None:
    await reset(dut)
    got = 0
    for cycle in range(101):
        await FallingEdge(dut.clk_i)
        dut.valid_i.value = 1
        dut.ready_i.value = 1
        dut.data_i.value = cycle
        await RisingEdge(dut.clk_i)
        got += int(dut.valid_o.value)
    assert got == 100
