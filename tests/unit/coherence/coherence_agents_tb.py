# SPDX-License-Identifier: Apache-2.0
"""Remote cache, agent without a cache and home with directory: the bench checks, this runs and covers.

The pairs of state and message that the gateware saw are compared with the protocol's table, whose rows the
model checker has all used (`tests/formal/test_protocol_models.py`): no pair but these, and all of these.
"""

from __future__ import annotations

import os
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from coherence_rows import Counts, add, rows, show, used
from isthmus import coherence

MESSAGES = int(os.environ.get("ISTHMUS_COHERENCE_MESSAGES", "100000"))
LINES = (1, 2, 4, 8, 12)
STEP = 2000
# The rarest rows come about five times in MESSAGES, so one run in a hundred lacks one: more traffic then.
ROUNDS = 10


async def traffic(dut: Any, lines: int, messages: int, seed: int) -> Counts:
    """So many messages about so many lines; then all must end. How often each row of the table was used."""
    dut.rst_ni.value, dut.stop_i.value, dut.lines_i.value, dut.seed_i.value = 0, 0, lines, seed
    await ClockCycles(dut.clk_i, 4)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, STEP)
    while int(dut.messages_o.value) < messages:
        # All stop now and then, and what is open must end by itself.
        await ClockCycles(dut.clk_i, STEP)
        dut.stop_i.value = 1
        for _ in range(100):
            await ClockCycles(dut.clk_i, 100)
            if int(dut.quiet_o.value):
                break
        assert int(dut.quiet_o.value), f"something stays open with {lines} lines, seed {seed}"
        dut.stop_i.value = 0
    made = int(dut.messages_o.value)
    dut._log.info("%d lines, seed %d: %d messages, %d operations", lines, seed, made, dut.operations_o.value)
    return await used(dut)


@cocotb.test()
async def every_row_of_the_table_and_no_other_is_used(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns", impl="gpi").start())
    total: Counts = {}
    wanted = rows(coherence.load())
    for number in range(ROUNDS * len(LINES)):
        lines = LINES[number % len(LINES)]
        add(total, await traffic(dut, lines, MESSAGES // len(LINES), (cocotb.RANDOM_SEED + number) % 2**64))
        round_ends = lines == LINES[-1]
        if round_ends and all(total[kind][row] for kind in wanted for row in wanted[kind]):
            break
    missing, extra = show(total)
    assert not any(extra.values()), f"outside the table: {extra}"
    assert not any(missing.values()), f"never used: {missing}"
