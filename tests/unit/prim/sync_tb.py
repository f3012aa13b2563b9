# SPDX-License-Identifier: Apache-2.0
"""sync_bits and sync_reset: how late, and how they begin."""

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

STAGES = {"two": 2, "four": 4}


async def started(dut: Any) -> None:
    dut.rst_ni.value = 0
    dut.d_i.value = 0b101
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    for _ in range(6):
        await FallingEdge(dut.clk_i)
        assert int(dut.two_o.value) == int(dut.four_o.value) == 0b101
        assert int(dut.two_rst_no.value) == int(dut.four_rst_no.value) == 0
    dut.rst_ni.value = 1


@cocotb.test()
async def a_bit_arrives_after_as_many_edges_as_there_are_stages(dut: Any) -> None:
    await started(dut)
    given = [0b101] * 4
    for _ in range(300):
        given.append(random.randrange(8))
        dut.d_i.value = given[-1]
        await FallingEdge(dut.clk_i)
        for name, stages in STAGES.items():
            assert int(getattr(dut, f"{name}_o").value) == given[-stages]
            settled = len(set(given[-stages:])) == 1
            assert bool(int(getattr(dut, f"{name}_settled_o").value)) == settled


@cocotb.test()
async def a_reset_is_asserted_at_once_and_released_after_its_stages(dut: Any) -> None:
    await started(dut)
    for _ in range(3):
        for edge in range(1, 8):
            await FallingEdge(dut.clk_i)
            for name, stages in STAGES.items():
                assert bool(int(getattr(dut, f"{name}_rst_no").value)) == (edge >= stages)
        dut.rst_ni.value = 0
        await Timer(1, "ns")
        assert int(dut.two_rst_no.value) == int(dut.four_rst_no.value) == 0
        await FallingEdge(dut.clk_i)
        assert int(dut.two_rst_no.value) == int(dut.four_rst_no.value) == 0
        dut.rst_ni.value = 1
