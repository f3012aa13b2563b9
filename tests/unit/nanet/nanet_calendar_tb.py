# SPDX-License-Identifier: Apache-2.0
"""nanet_calendar against a table of what is due: answers of any time, in any order, over several bursts."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

CLOCKS = 6_000
"""Behind the clocks in which slots are emptied, and a lap of them."""
NEAREST = 4


@cocotb.test()
async def what_is_due_is_released_in_its_clock_and_nothing_else(dut: Any) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    width, slots, lines = (int(getattr(dut, name).value) for name in ("TimeWidth", "Slots", "Lines"))
    span = 1 << width
    latency = rng.randrange(slots // 2, 2 * slots)
    cocotb.start_soon(Clock(dut.clk_i, 24_952, "ps").start())
    for name in ("start", "valid", "time", "lines"):
        getattr(dut, f"{name}_i").value = 0
    dut.latency_i.value = latency
    dut.rst_ni.value = 0
    for _ in range(3):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1

    due: dict[int, int] = {}  # clock: lines
    seen: Counter[str] = Counter()
    now, zero = 1, 0
    waited = 0
    offered: tuple[int, int] | None = None
    while now < CLOCKS + 2 * slots:
        await FallingEdge(dut.clk_i)
        assert int(dut.now_o.value) == now % span
        expected = due.pop(now, 0)
        assert bool(dut.trigger_o.value) == (expected != 0)
        assert int(dut.lines_o.value) == expected
        seen["released"] += expected != 0
        starts = now > slots and rng.random() < 0.002
        dut.start_i.value = int(starts)
        share = 0.9 if now // 500 % 2 else 0.2
        if offered is None and rng.random() < share:
            # Most are in time; some are late by little or much, some far too early.
            usual = [rng.randrange(NEAREST, slots)] * 8
            ahead = rng.choice([*usual, rng.randrange(-slots, slots), 3, 4, slots + 1 + 2 * rng.randrange(4)])
            offered = (now + ahead - zero - latency) % span, 1 << rng.randrange(lines)
        dut.valid_i.value = int(offered is not None)
        if offered is not None:
            dut.time_i.value, dut.lines_i.value = offered
        await RisingEdge(dut.clk_i)
        ready = bool(dut.ready_o.value)
        late, early = bool(dut.late_o.value), bool(dut.early_o.value)
        if offered is not None and ready:
            away = (zero + offered[0] + latency - now + span // 2) % span - span // 2
            assert (late, early) == (away < NEAREST, away >= slots), away
            seen["late" if late else "early" if early else "taken"] += 1
            if not late and not early:
                seen["together"] += now + away in due
                due[now + away] = due.get(now + away, 0) | offered[1]
            offered, waited = None, 0
        else:
            assert not late
            assert not early
            waited += offered is not None
            assert waited <= 1 or now <= slots // 2 + 1, "an answer waits for more than a clock"
        if starts:
            # Answers that wait are of the burst before: they would be of another clock now.
            zero, offered, waited = now + 1, None, 0
            seen["bursts"] += 1
        now += 1
    assert min(seen[what] for what in ("released", "late", "early", "taken", "together", "bursts")) > 3, seen
