# SPDX-License-Identifier: Apache-2.0
"""nanet_release: answers stored in the bus's clock change the lines in the experiment's, a fixed time after
their events; every answer is released, late, early or lost, and counted as such."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, with_timeout

LATENCY = 400
CLOCKS = 5_000


def counters(dut: Any) -> list[int]:
    """Released, late, early and lost."""
    state = int(dut.state_o.value)
    return [state >> 32 * at & 0xFFFFFFFF for at in (3, 2, 1, 0)]


@cocotb.test()
async def lines_change_a_fixed_time_after_the_event(dut: Any) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    slots = int(dut.Slots.value)
    cocotb.start_soon(Clock(dut.clk_i, rng.choice([4_000, 5_000, 8_000, 40_000]), "ps").start())
    cocotb.start_soon(Clock(dut.ttc_clk_i, 24_952, "ps").start())
    for name in ("result_valid_i", "result_i", "ttc_start_i"):
        getattr(dut, name).value = 0
    dut.latency_i.value = LATENCY
    dut.rst_ni.value = 0
    dut.ttc_rst_ni.value = 0
    for _ in range(4):
        await FallingEdge(dut.ttc_clk_i)
    dut.rst_ni.value = 1
    dut.ttc_rst_ni.value = 1
    for _ in range(slots // 2 + 8):
        await FallingEdge(dut.ttc_clk_i)
    dut.ttc_start_i.value = 1
    await FallingEdge(dut.ttc_clk_i)
    dut.ttc_start_i.value = 0

    # Clock 0 of the burst is the one behind the strobe.
    now = 0
    must: dict[int, int] = {}
    may: dict[int, int] = {}
    sent = 0
    told = {"late": 0, "near": 0, "early": 0}

    async def program() -> None:
        """Stores answers to events that were a while ago; some too late, some of a time to come."""
        nonlocal sent
        while now < CLOCKS - LATENCY - 50:
            await FallingEdge(dut.clk_i)
            if rng.random() > 0.1:
                continue
            age = rng.choice(
                [rng.randrange(5, LATENCY - 100)] * 20 + [LATENCY + 9, LATENCY - 6] + [-slots - 60] * 4
            )
            if now < age:
                continue
            rings = rng.randrange(6)
            stamp = now - age
            dut.result_i.value = rng.randrange(16) << 28 | rings << 24 | stamp % (1 << 24)
            dut.result_valid_i.value = 1
            await FallingEdge(dut.clk_i)
            dut.result_valid_i.value = 0
            sent += 1
            told["late"] += age > LATENCY
            told["near"] += LATENCY - 10 < age < LATENCY
            told["early"] += age < 0
            line = 1 << min(rings, 3)
            # What has less than a store's way may be released or late.
            if 0 <= age < LATENCY - 100:
                must[stamp + LATENCY] = must.get(stamp + LATENCY, 0) | line
            if -slots < age < LATENCY:
                may[stamp + LATENCY] = may.get(stamp + LATENCY, 0) | line

    storing = cocotb.start_soon(program())
    released = 0
    while now < CLOCKS:
        lines = int(dut.lines_o.value)
        assert bool(dut.trigger_o.value) == (lines != 0)
        assert must.get(now, 0) & ~lines == 0, f"clock {now}: {lines:#b}, due {must.get(now, 0):#b}"
        assert lines & ~may.get(now, 0) == 0, f"clock {now}: {lines:#b} and at most {may.get(now, 0):#b}"
        released += lines != 0
        await FallingEdge(dut.ttc_clk_i)
        now += 1
    await with_timeout(storing, 10, "us")
    # The counts cross into the bus's clock.
    for _ in range(6):
        await FallingEdge(dut.clk_i)
    counted, late, early, lost = counters(dut)
    assert counted == released > 100
    # One that comes about in time for its release is released or late.
    assert told["late"] <= late <= told["late"] + told["near"]
    assert early == told["early"]
    assert min(told["late"], early - late) > 3
    assert lost == 0
    assert sent > released
    assert bool(dut.settled_o.value)


@cocotb.test()
async def an_answer_without_a_place_is_counted(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 4_000, "ps").start())
    cocotb.start_soon(Clock(dut.ttc_clk_i, 24_952, "ps").start())
    for name in ("result_valid_i", "result_i", "ttc_start_i", "rst_ni", "ttc_rst_ni"):
        getattr(dut, name).value = 0
    for _ in range(4):
        await FallingEdge(dut.ttc_clk_i)
    dut.rst_ni.value = 1
    dut.ttc_rst_ni.value = 1
    # Slots are emptied: none is taken.
    await FallingEdge(dut.clk_i)
    dut.result_valid_i.value = 1
    for _ in range(40):
        await RisingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.result_valid_i.value = 0
    await FallingEdge(dut.clk_i)
    assert counters(dut)[3] == 40 - 32
