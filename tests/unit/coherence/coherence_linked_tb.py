# SPDX-License-Identifier: Apache-2.0
"""Both ends of coherent links whose blocks are altered and lost: the bench checks, this runs and counts.

Each kind of fault in FAULTS must have come, else the run fails: traffic without them would prove nothing. No
row of the protocol's table may be used but those that the model checker has used.
"""

from __future__ import annotations

import os
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Timer
from coherence_rows import Counts, add, show, used
from isthmus import coherence

MESSAGES = int(os.environ.get("ISTHMUS_COHERENCE_MESSAGES", "20000"))
CASES = ((1, 0, 1e-3, 2), (2, 1, 1e-2, 10), (4, 0, 1e-2, 24), (48, 1, 1e-3, 10), (64, 0, 3e-3, 10))
"""Lines of each memory, partition, bad blocks a block, clocks on a wire."""
PLANS = 1500
# The rarest faults come a few times in MESSAGES: more traffic where one is lacking.
ROUNDS = 5
STEP = 2000
FAULTS = (
    "altered: words", "altered: credits", "altered: idle, ack", "altered: idle", "altered: SYNC, answer",
    "altered: SYNC, request", "vanished: words or credits", "vanished: SYNC", "vanished: idle, ack",
    "bad with credits", "bad among repeats", "bad while asking", "clocks both ends ask", "bursts from 8",
    "bursts beyond the window", "stalls", "stalls from 300", "overdue acks", "repeats dropped",
    "blocks again",
    "clocks without credits", "clocks MSHRs full", "clocks TBEs full", "MSHR ids again at once",
    "request ids again at once", "messages, link 0", "messages, link 1", "settled",
)  # fmt: skip


async def read(dut: Any, fault: int) -> tuple[int, int]:
    """How often the fault came, and messages of the kind with this number."""
    dut.fault_i.value = fault
    await Timer(1, "ns")
    return int(dut.fault_o.value), int(dut.kind_o.value)


async def traffic(
    dut: Any, case: tuple[int, int, float, int], messages: int, seed: int, io: tuple[int, int] = (150, 60)
) -> tuple[Counts, dict[str, int], dict[str, int]]:
    """So many messages; then all must end. Rows of the table, faults and kinds of messages.

    io  clocks an operation of words, of which one is a barrier
    """
    lines, partition, rate, delay = case
    dut.rst_ni.value, dut.stop_i.value, dut.lines_i.value, dut.seed_i.value = 0, 0, lines, seed
    dut.partition_i.value, dut.delay_i.value, dut.plans_i.value = partition, delay, PLANS
    dut.words_i.value, dut.barriers_i.value = io
    dut.rate_i.value, dut.sel_i.value, dut.fault_i.value = round(rate * 2**32), 0, 0
    await ClockCycles(dut.clk_i, 4)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, STEP)
    while int(dut.messages_o.value) < messages:
        # All stop now and then, and what is open must end by itself, bad blocks or not.
        await ClockCycles(dut.clk_i, STEP)
        dut.stop_i.value = 1
        for _ in range(600):
            await ClockCycles(dut.clk_i, 50)
            if int(dut.quiet_o.value):
                break
        assert int(dut.quiet_o.value), f"something stays open: {case}, seed {seed}"
        dut.stop_i.value = 0
    made = int(dut.messages_o.value)
    dut._log.info(
        "%d lines, seed %d: %d messages, %d operations, %d clocks, the longest operation %d; partition %d, "
        "rate %g, wires %d",
        lines, seed, made, dut.operations_o.value, dut.clocks_o.value, dut.longest_o.value, partition,
        rate, delay,
    )  # fmt: skip
    assert made < 2**31
    faults = {name: (await read(dut, number))[0] for number, name in enumerate(FAULTS)}
    names = ["words", *(m.name for m in coherence.load().messages)]
    kinds = {name: (await read(dut, number))[1] for number, name in enumerate(names)}
    return await used(dut), faults, kinds


@cocotb.test()
async def links_with_bad_blocks_keep_every_line_coherent(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns", impl="gpi").start())
    total: Counts = {}
    faults: dict[str, int] = {}
    kinds: dict[str, int] = {}
    for number in range(ROUNDS * len(CASES)):
        case = CASES[number % len(CASES)]
        seed = (cocotb.RANDOM_SEED + number) % 2**64
        rows, found, messages = await traffic(dut, case, MESSAGES // len(CASES), seed)
        add(total, rows)
        for name, count in found.items():
            faults[name] = faults.get(name, 0) + count
        for name, count in messages.items():
            kinds[name] = kinds.get(name, 0) + count
        if case == CASES[-1] and all(faults.values()) and all(kinds.values()):
            break
    missing, extra = show(total)
    for name, count in faults.items():
        print(f"fault: {name:28} {count}")
    for name, count in kinds.items():
        print(f"message: {name:8} {count}")
    print(f"rows not used: {missing}")
    assert not any(extra.values()), f"outside the table: {extra}"
    assert all(faults.values()), f"never came: {[name for name, count in faults.items() if not count]}"
    assert all(kinds.values()), f"never sent: {[name for name, count in kinds.items() if not count]}"


@cocotb.test()
async def barriers_hold_back_nothing_that_a_home_is_deciding(dut: Any) -> None:
    """A store of an own line was done twice if a barrier came between its choice and its end."""
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns", impl="gpi").start())
    for lines in (1, 8):
        await traffic(dut, (lines, 0, 0, 2), 2_000, cocotb.RANDOM_SEED % 2**64, io=(20, 2))
