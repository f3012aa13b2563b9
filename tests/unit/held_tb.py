# SPDX-License-Identifier: Apache-2.0
"""A bench that looks at nothing: what fails here fails by what every bench checks."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles


@cocotb.test()
async def a_word_waits_for_ready(dut) -> None:  # type: ignore[no-untyped-def]
    dut.rst_ni.value = 0
    dut.ready_i.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    await ClockCycles(dut.clk_i, 3)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, 100)
    dut.ready_i.value = 1
    await ClockCycles(dut.clk_i, 100)
    assert dut.count_o.value.to_unsigned() > 90
