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
from cocotb.triggers import ClockCycles, Timer
from isthmus import coherence

MESSAGES = int(os.environ.get("ISTHMUS_COHERENCE_MESSAGES", "100000"))
LINES = (1, 2, 4, 8, 12)
STEP = 2000
# The rarest rows come about five times in MESSAGES, so one run in a hundred lacks one: more traffic then.
ROUNDS = 10


async def read(dut: Any, table: int, row: int) -> int:
    dut.sel_i.value = table << 10 | row
    await Timer(1, "ns")
    return int(dut.count_o.value)


async def traffic(dut: Any, lines: int, messages: int, seed: int) -> dict[str, dict[tuple[str, ...], int]]:
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
    names = ["none", *(m.name for m in coherence.load().messages)]
    found: dict[str, dict[tuple[str, ...], int]] = {"remote": {}, "request": {}, "response": {}, "core": {}}
    for s, state in enumerate(coherence.REMOTE):
        for i, name in enumerate(coherence.INPUTS):
            found["remote"][state, name] = await read(dut, 0, s << 4 | i)
    for d, directory in enumerate(coherence.DIRECTORY):
        for h, home in enumerate(coherence.HOME):
            for m, name in enumerate(names):
                found["request"][directory, home, name] = await read(dut, 1, d << 8 | h << 5 | m)
    for p, phase in enumerate(coherence.PHASES):
        for m, name in enumerate(names):
            found["response"][phase, name] = await read(dut, 2, p << 5 | m)
    for o, name in enumerate(coherence.CORE):
        for d, directory in enumerate(coherence.DIRECTORY):
            found["core"][name, directory] = await read(dut, 3, o << 2 | d)
    return found


def rows(table: coherence.Table) -> dict[str, set[tuple[str, ...]]]:
    """The rows that the model reaches."""
    return {
        "remote": {(s.state, s.input) for s in table.remote if s.does != "never"},
        "request": {(r.directory, r.home, r.message) for r in table.requests if "never" not in r.does},
        "response": {(r.phase, r.message) for r in table.responses if "never" not in r.effects},
        "core": {(s.input, s.state) for s in table.core},
    }


@cocotb.test()
async def every_row_of_the_table_and_no_other_is_used(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns", impl="gpi").start())
    total: dict[str, dict[tuple[str, ...], int]] = {}
    wanted = rows(coherence.load())
    for number in range(ROUNDS * len(LINES)):
        lines = LINES[number % len(LINES)]
        found = await traffic(dut, lines, MESSAGES // len(LINES), (cocotb.RANDOM_SEED + number) % 2**64)
        for kind, counts in found.items():
            mine = total.setdefault(kind, {})
            for row, count in counts.items():
                mine[row] = mine.get(row, 0) + count
        round_ends = lines == LINES[-1]
        if round_ends and all(total[kind][row] for kind in wanted for row in wanted[kind]):
            break
    for kind, counts in total.items():
        print(f"{kind}: state, message, how often")
        for row, count in counts.items():
            if count or row in wanted[kind]:
                print(f"  {' '.join(row):24} {count}")
    missing = {
        kind: sorted(wanted[kind] - {r for r, n in counts.items() if n}) for kind, counts in total.items()
    }
    extra = {
        kind: sorted({r for r, n in counts.items() if n} - wanted[kind]) for kind, counts in total.items()
    }
    assert not any(extra.values()), f"outside the table: {extra}"
    assert not any(missing.values()), f"never used: {missing}"
