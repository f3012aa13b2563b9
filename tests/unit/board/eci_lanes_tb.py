# SPDX-License-Identifier: Apache-2.0
"""Reads of 128 bytes over real lanes, and over lanes that are constants: rate, and latency of one read."""

from __future__ import annotations

import json
import os
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

METAFRAME = int(os.environ["ECI_METAFRAME"])
CYCLES = int(os.environ["ECI_CYCLES"])
LANES = bool(int(os.environ["ECI_LANES"]))
# In 100 ps: 300 MHz, and a 64th of 10.3125 Gbit/s.
CORE_PS, LANE_PS = 333_334, 620_606
RATE = 12 * 10.3125 / 8 * 64 / 67 * (METAFRAME - 4) / METAFRAME * 7 / 8 * 16 / 17
"""GB/s of lines that the coding leaves."""


async def measured(dut: Any, cycles: int, window: int) -> dict[str, float]:
    names = ("done", "wait_sum", "lag_sum", "lag_words")
    dut.window_i.value = window
    dut.run_i.value = 1
    await ClockCycles(dut.clk_i, 400)
    before = [int(getattr(dut, f"{name}_o").value) for name in names]
    await ClockCycles(dut.clk_i, cycles)
    run = [int(getattr(dut, f"{name}_o").value) - old for name, old in zip(names, before, strict=True)]
    dut.run_i.value = 0
    await ClockCycles(dut.clk_i, 400)
    assert int(dut.sent_o.value) == int(dut.done_o.value), "every read is answered"
    done, wait, lag, words = run
    line = 2 * lag / words * LANE_PS / CORE_PS if words else 0.0
    return {
        "reads": done,
        "gb_s": done * 128 / (cycles * CORE_PS / 100 * 1e-3),
        "cycles": wait / done,
        "line": line,
    }


@cocotb.test()
async def lines_come_at_the_rate_of_the_coding(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk_i, CORE_PS, "ps").start())
    cocotb.start_soon(Clock(dut.lane_clk_i, LANE_PS, "ps").start())
    dut.rst_ni.value = dut.run_i.value = 0
    dut.window_i.value = 1
    await ClockCycles(dut.clk_i, 6)
    dut.rst_ni.value = 1
    for _ in range(20 * METAFRAME + 2000):
        await ClockCycles(dut.clk_i, 20)
        if int(dut.up_o.value) == 3:
            break
    assert int(dut.up_o.value) == 3
    alone = await measured(dut, CYCLES // 4, 1)
    loaded = await measured(dut, CYCLES, 60)
    assert int(dut.wrong_o.value) == int(dut.bad_o.value) == 0
    told = {"lanes": LANES, "metaframe": METAFRAME, "alone": alone, "loaded": loaded, "limit_gb_s": RATE}
    print("eci_lanes " + json.dumps(told))
    assert 0.99 < loaded["gb_s"] / RATE < 1.002, told
