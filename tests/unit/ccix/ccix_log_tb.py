# SPDX-License-Identifier: Apache-2.0
"""ccix_log against a list: each strobe is one message, in the order of the strobes."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

SLOTS = 8
UPDATE, COMPLETE, UNDONE = range(3)


def head(what: int, slot: int, ident: int) -> int:
    words = 3 if what == UPDATE else 1
    return 15 << 60 | words << 56 | slot << 48 | 15 << 44 | what << 42 | ident


def events(update: tuple[int, int, int, int] | None, complete: int | None, undone: int | None) -> int:
    """The struct log_events_t."""
    slot, record, old, new = update or (0, 0, 0, 0)
    packed = int(update is not None) << 6 | slot
    packed = (packed << 32 | record) << 128 | old << 64 | new
    for end in (complete, undone):
        packed = packed << 7 | int(end is not None) << 6 | (end or 0)
    return packed


@cocotb.test()
async def each_strobe_is_a_message_in_its_order(dut: Any) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
    dut.rst_ni.value = dut.task_valid_i.value = dut.log_i.value = dut.msg_ready_i.value = 0
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    due: deque[list[int]] = deque()
    ids: dict[int, int] = {}
    wrote: set[int] = set()
    seen, full, together = [0] * 3, 0, 0
    for cycle in range(12_000):
        await FallingEdge(dut.clk_i)
        # The link is slow for a while, then fast.
        ready = rng.random() < (0.3 if cycle // 500 % 2 else 0.9)
        dut.msg_ready_i.value = int(ready)
        assert int(dut.msg_valid_o.value) == (len(due) > 0)
        if ready and due:
            message = due.popleft()
            assert int(dut.msg_words_o.value) == len(message)
            found = int(dut.msg_o.value)
            assert [found >> 64 * at & (1 << 64) - 1 for at in range(len(message))] == message
        room = bool(dut.room_o.value)
        full += not room
        idle = [slot for slot in range(SLOTS) if slot not in ids]
        begun = rng.choice(idle) if idle and rng.random() < 0.5 else None
        dut.task_valid_i.value = int(begun is not None)
        if begun is not None:
            dut.task_slot_i.value, dut.task_id_i.value = begun, cycle + 1
        update = complete = undone = None
        slots = [*ids]
        if room and slots and rng.random() < 0.6:
            update = (rng.choice(slots), rng.getrandbits(32), rng.getrandbits(64), rng.getrandbits(64))
            wrote.add(update[0])
        rest = [slot for slot in slots if not update or slot != update[0]]
        if room and rest and rng.random() < 0.3:
            complete = rng.choice(rest)
            rest.remove(complete)
        # One that is undone waits for its release, beside which none is complete.
        if rest and cycle % 2 == 0 and rng.random() < 0.1:
            undone = rng.choice(rest)
        elif cycle % 2 and undone is None and complete is not None:
            complete = None
        dut.log_i.value = events(update, complete, undone)
        if update:
            due.append([head(UPDATE, update[0], update[1]), *update[2:]])
        if complete is not None:
            due.append([head(COMPLETE, complete, ids.pop(complete))])
            wrote.discard(complete)
        if undone is not None:
            ident = ids.pop(undone)
            together += complete is not None and undone in wrote
            if undone in wrote:
                due.append([head(UNDONE, undone, ident)])
            wrote.discard(undone)
        for what, one in enumerate((update, complete, undone)):
            seen[what] += one is not None
        if begun is not None:
            ids[begun] = cycle + 1
        # What is put in this cycle is valid in the next one; what is late, in the one behind it.
        if complete is not None and undone is not None:
            await FallingEdge(dut.clk_i)
            dut.log_i.value = dut.task_valid_i.value = dut.msg_ready_i.value = 0
    assert not dut.fail_o.value
    print(f"updates, complete, undone: {seen}, the last two at once {together}, cycles without room {full}")
    assert min(*seen, full, together) > 10
