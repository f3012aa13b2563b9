# SPDX-License-Identifier: Apache-2.0
"""Locks in lines: a cache in the bench that loses its lines to the other side, which takes locks as well."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

LINES, WRITER, HIT, MISS = 5, 1 << 63, 4, 40
ACQUIRE, TRY, RELEASE = 0, 1, 2
GRANTED, BUSY, RELEASED = 0, 2, 4


class Cache:
    """Lines with a lock each; those that are owned answer after HIT clocks, the others after MISS."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.locks = [0] * LINES
        self.owned = [False] * LINES
        self.answers: dict[int, list[tuple[int, int, bool]]] = {}
        self.theirs: dict[int, bool] = {}
        """Locks of the other side, and whether exclusive."""

    def access(self, clock: int, line: int, tag: int, write: bool, mask: int, data: int) -> None:
        if write and mask:
            assert mask == 0xFF << 56
            assert self.owned[line], f"the lock of line {line}, which is not owned, is written"
            self.locks[line] = data >> 448
        at = clock + (HIT if self.owned[line] else MISS + self.rng.randrange(20))
        while any(one[2] for one in self.answers.get(at, [])):
            at += 1
        self.answers.setdefault(at, []).append((tag, line, True))

    def answer(self, clock: int) -> tuple[int, int] | None:
        found = self.answers.pop(clock, None)
        if not found:
            return None
        tag, line, _ = found[0]
        self.owned[line] = True
        return tag, self.locks[line]

    def steal(self) -> None:
        """The other side takes a line, and a lock in it or leaves one."""
        line = self.rng.randrange(LINES)
        self.owned[line] = False
        if line in self.theirs:
            self.locks[line] = 0 if self.theirs.pop(line) else self.locks[line] - 1
        elif self.rng.random() < 0.5 and not self.locks[line]:
            self.theirs[line], self.locks[line] = True, WRITER
        elif not self.locks[line] & WRITER:
            self.theirs[line] = False
            self.locks[line] += 1


@cocotb.test()
async def a_writer_is_alone_and_a_lock_is_free_when_all_have_left(dut: Any) -> None:
    """At times the cache takes no access before it was given a snoop: what it waits for is behind one."""
    seed = cocotb.RANDOM_SEED
    dut._log.info(f"seed {seed}")
    rng = random.Random(seed)
    cache = Cache(rng)
    for port in ("order_valid_i", "req_valid_i", "req_ready_i", "rsp_valid_i"):
        getattr(dut, port).value = 0
    dut.rst_ni.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 4, unit="ns").start())
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    held: dict[int, tuple[int, bool]] = {}
    asking: dict[int, tuple[int, int, bool]] = {}
    leaving: set[int] = set()
    counts = {GRANTED: 0, BUSY: 0, RELEASED: 0}
    clock, offered, waits_for_snoop, answered = 0, None, False, 0
    while counts[GRANTED] < 600 or held or asking or leaving:
        await RisingEdge(dut.clk_i)
        clock += 1
        if dut.ans_valid_o.value:
            status, slot = int(dut.ans_status_o.value), int(dut.ans_slot_o.value)
            counts[status] += 1
            answered = clock
            if status == RELEASED:
                leaving.remove(slot)
            else:
                op, line, exclusive = asking.pop(slot)
                assert status == GRANTED or op == TRY
                if status == GRANTED:
                    others = [other for at, other in held.values() if at == line]
                    others += [cache.theirs[line]] if line in cache.theirs else []
                    assert not (exclusive and others), f"a writer of line {line} beside others"
                    assert not any(others), f"a lock of line {line} beside a writer"
                    held[slot] = (line, exclusive)
        if dut.order_valid_i.value and dut.order_ready_o.value and offered:
            op, slot, line, exclusive = offered
            if op == RELEASE:
                leaving.add(slot)
                # From now on it may be taken by others.
                del held[slot]
            else:
                asking[slot] = (op, line, exclusive)
            offered = None
        if dut.req_valid_o.value and dut.req_ready_i.value:
            ports = (dut.req_index_o, dut.req_tag_o, dut.req_write_o, dut.req_mask_o, dut.req_data_o)
            line, tag, write, mask, data = (int(port.value) for port in ports)
            cache.access(clock, line, tag, bool(write), mask, data)
        await FallingEdge(dut.clk_i)
        answer = cache.answer(clock)
        dut.rsp_valid_i.value = int(answer is not None)
        if answer:
            dut.rsp_tag_i.value, dut.rsp_lock_i.value = answer
        elif not dut.hold_snoops_o.value and rng.random() < 0.05:
            cache.steal()
        if not dut.hold_snoops_o.value:
            waits_for_snoop = False
        elif rng.random() < 0.02:
            waits_for_snoop = True
        dut.req_ready_i.value = int(not waits_for_snoop and rng.random() < 0.8)
        assert clock - answered < 5_000, "no order ends, and the snoops are held"
        if offered is None and rng.random() < 0.3:
            free = [
                slot for slot in range(16) if slot not in held and slot not in asking and slot not in leaving
            ]
            if held and rng.random() < 0.6:
                slot = rng.choice(list(held))
                offered = (RELEASE, slot, *held[slot])
            elif free and counts[GRANTED] < 600:
                offered = (
                    rng.choice((ACQUIRE, TRY)),
                    rng.choice(free),
                    rng.randrange(LINES),
                    rng.random() < 0.5,
                )
        dut.order_valid_i.value = int(offered is not None)
        if offered:
            op, slot, line, exclusive = offered
            dut.order_op_i.value, dut.order_slot_i.value = op, slot
            dut.order_lock_i.value, dut.order_exclusive_i.value = line, int(exclusive)
        assert clock < 400_000, "orders that do not end"
    for line, lock in enumerate(cache.locks):
        left = 0 if line not in cache.theirs else WRITER if cache.theirs[line] else 1
        assert lock == left, f"line {line} keeps a lock"
    assert counts[BUSY] > 20


@cocotb.test()
async def a_lock_takes_20_cycles_alone_and_16_behind_another(dut: Any) -> None:
    """Lines that the cache owns, which takes each access at once."""
    cache = Cache(random.Random(1))
    cache.owned = [True] * LINES
    for port in ("order_valid_i", "req_valid_i", "rsp_valid_i", "rst_ni"):
        getattr(dut, port).value = 0
    dut.req_ready_i.value = 1
    cocotb.start_soon(Clock(dut.clk_i, 4, unit="ns").start())
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    orders, ends = {0: 0, 40: 1, 41: 2, 42: 3}, []
    for clock in range(120):
        dut.order_valid_i.value = int(clock in orders)
        if clock in orders:
            dut.order_op_i.value, dut.order_exclusive_i.value = ACQUIRE, 1
            dut.order_slot_i.value = dut.order_lock_i.value = orders[clock]
        await RisingEdge(dut.clk_i)
        if dut.ans_valid_o.value:
            ends.append(clock)
        if dut.req_valid_o.value:
            ports = (dut.req_index_o, dut.req_tag_o, dut.req_write_o, dut.req_mask_o, dut.req_data_o)
            line, tag, write, mask, data = (int(port.value) for port in ports)
            cache.access(clock, line, tag, bool(write), mask, data)
        await FallingEdge(dut.clk_i)
        answer = cache.answer(clock + 1)
        dut.rsp_valid_i.value = int(answer is not None)
        if answer:
            dut.rsp_tag_i.value, dut.rsp_lock_i.value = answer
    assert ends == [20, 60, 76, 92]
