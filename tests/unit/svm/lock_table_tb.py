# SPDX-License-Identifier: Apache-2.0
"""lock_table against a model of its queues: every answer, and when it comes."""

from __future__ import annotations

import itertools
import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from cocotb.utils import get_sim_time

LOCKS, PLACES, OWNERS, MOST = 16, 8, 12, 15
ACQUIRE, TRY, RELEASE, REVOKE = range(4)
GRANTED, QUEUED, BUSY, FULL, RELEASED, STALE, REVOKED = range(7)


@dataclass
class Lock:
    exclusive: bool = False
    holders: list[int] = field(default_factory=list)
    queue: deque[tuple[int, bool]] = field(default_factory=deque)
    fence: int = 0


@dataclass
class Table:
    """Answers of an order: status, owner and whether exclusive, one a cycle."""

    locks: list[Lock] = field(default_factory=lambda: [Lock() for _ in range(LOCKS)])

    def waiting(self) -> int:
        return sum(len(lock.queue) for lock in self.locks)

    def do(self, op: int, number: int, owner: int, exclusive: bool, fence: int) -> list[tuple[int, int]]:
        lock = self.locks[number]
        full = not lock.exclusive and len(lock.holders) == MOST
        if op in (ACQUIRE, TRY):
            fits = not lock.holders or not (lock.exclusive or exclusive or full)
            if fits and not lock.queue:
                lock.exclusive = exclusive
                lock.holders.append(owner)
                return [(GRANTED, owner)]
            if op == TRY:
                return [(BUSY, owner)]
            if self.waiting() == PLACES or (lock.holders and full):
                return [(FULL, owner)]
            lock.queue.append((owner, exclusive))
            return [(QUEUED, owner)]
        if op == RELEASE:
            if not lock.holders or fence != lock.fence:
                return [(STALE, owner)]
            lock.holders.remove(owner) if owner in lock.holders else lock.holders.pop()
            return [(RELEASED, owner), *self.hand(lock)]
        if not lock.holders:
            return [(STALE, owner)]
        if lock.exclusive and lock.holders != [owner]:
            return [(BUSY, owner)]
        lock.holders, lock.fence = [], lock.fence + 1
        return [(REVOKED, owner), *self.hand(lock)]

    def hand(self, lock: Lock) -> list[tuple[int, int]]:
        granted = []
        while lock.queue:
            owner, exclusive = lock.queue[0]
            if lock.holders and (lock.exclusive or exclusive or len(lock.holders) == MOST):
                break
            lock.queue.popleft()
            lock.exclusive = exclusive
            lock.holders.append(owner)
            granted.append((GRANTED, owner))
        return granted


def cycle() -> int:
    return int(get_sim_time("ns")) // 4


async def start(dut: Any) -> None:
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
    dut.req_valid_i.value = dut.rst_ni.value = 0
    await FallingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    while not int(dut.req_ready_o.value):
        await FallingEdge(dut.clk_i)


def present(dut: Any, op: int, number: int, owner: int, exclusive: bool, fence: int) -> None:
    dut.req_valid_i.value, dut.req_op_i.value, dut.req_lock_i.value = 1, op, number
    dut.req_owner_i.value, dut.req_exclusive_i.value, dut.req_fence_i.value = owner, int(exclusive), fence


def said(dut: Any) -> tuple[int, int, int, int]:
    """Status, owner, lock and fence of the answer of this cycle."""
    assert int(dut.rsp_valid_o.value) == 1
    ports = (dut.rsp_status_o, dut.rsp_owner_o, dut.rsp_lock_o, dut.rsp_fence_o)
    return tuple(int(port.value) for port in ports)  # type: ignore[return-value]


async def order(
    dut: Any, table: Table, op: int, number: int, owner: int, exclusive: bool = True, fence: int | None = None
) -> list[tuple[int, int]]:
    """One order alone; its answers, which are those of the model, one a cycle from the next cycle on."""
    lock = table.locks[number]
    given = lock.fence if fence is None else fence
    present(dut, op, number, owner, exclusive, given)
    assert int(dut.req_ready_o.value) == 1
    assert int(dut.rsp_valid_o.value) == 0
    expected = table.do(op, number, owner, exclusive, given)
    for status, whose in expected:
        await FallingEdge(dut.clk_i)
        dut.req_valid_i.value = 0
        assert said(dut) == (status, whose, number, lock.fence)
    await FallingEdge(dut.clk_i)
    return expected


def chosen(rng: random.Random, table: Table, few: int) -> tuple[int, int, int, bool, int]:
    """An order: of a few locks that are contended or many that are not, of owners that are gone too."""
    number, owner = rng.randrange(few), rng.randrange(OWNERS)
    lock = table.locks[number]
    op = rng.choices((ACQUIRE, TRY, RELEASE, REVOKE), (45, 10, 42, 3))[0]
    fence = lock.fence
    if op in (RELEASE, REVOKE) and lock.holders and rng.random() < 0.9:
        owner = rng.choice(lock.holders)
    if op == RELEASE and lock.fence and rng.random() < 0.1:
        fence -= 1
    return op, number, owner, rng.random() < 0.5, fence


@cocotb.test()
async def every_answer_is_that_of_the_model(dut: Any) -> None:
    """A few locks that are contended, many that are not; owners that are gone while they hold or wait."""
    rng = random.Random(cocotb.RANDOM_SEED)
    await start(dut)
    table = Table()
    seen = [0] * 7
    for few in (1, 3, LOCKS):
        for _ in range(1500):
            if rng.random() < 0.1:
                await FallingEdge(dut.clk_i)
            for status, _ in await order(dut, table, *chosen(rng, table, few)):
                seen[status] += 1
    print(f"answers by status: {seen}")
    assert min(seen) > 10


@cocotb.test()
async def orders_behind_each_other_have_the_same_answers(dut: Any) -> None:
    """An order a cycle, now and then none: the answers are the model's, one a cycle without a gap."""
    rng = random.Random(cocotb.RANDOM_SEED)
    await start(dut)
    table = Table()
    due: deque[tuple[int, int, int, int]] = deque()
    seen, waited = [0] * 7, 0
    for few, gap in itertools.product((1, 2, LOCKS), (0.0, 0.4)):
        wanted = None
        for _ in range(2500):
            wanted = wanted or (chosen(rng, table, few) if rng.random() >= gap else None)
            dut.req_valid_i.value = int(wanted is not None)
            taken = []
            if wanted:
                present(dut, *wanted)
                # The only wait is that of an order behind a hand-over with one that waits already.
                if int(dut.req_ready_o.value):
                    op, number, owner, exclusive, fence = wanted
                    taken = table.do(op, number, owner, exclusive, fence)
                    taken = [(*one, number, table.locks[number].fence) for one in taken]
                    wanted = None
                else:
                    waited += 1
                    assert len(due) >= 2
            assert int(dut.rsp_valid_o.value) == (len(due) > 0)
            assert int(dut.idle_o.value) == (len(due) == 0)
            if due:
                assert said(dut) == due.popleft()
            due.extend(taken)
            for status, *_ in taken:
                seen[status] += 1
            await FallingEdge(dut.clk_i)
        # Fences go on from here: what is not answered yet comes now.
        dut.req_valid_i.value = 0
        while due:
            assert said(dut) == due.popleft()
            await FallingEdge(dut.clk_i)
    print(f"answers by status: {seen}, cycles that an order waited: {waited}")
    assert min(seen) > 10
    assert waited > 10


@cocotb.test()
async def an_order_a_cycle(dut: Any) -> None:
    """Of one lock and of many; a hand-over costs a cycle a waiter."""
    await start(dut)
    table = Table()
    wanted = [(ACQUIRE, number, 1, True, 0) for number in range(LOCKS)]
    wanted += [(op, 3, 1, True, 0) for op in (RELEASE, TRY) * LOCKS]
    answers = []
    for one in wanted:
        present(dut, *one)
        assert int(dut.req_ready_o.value) == 1
        await FallingEdge(dut.clk_i)
        answers.append(said(dut)[0])
    dut.req_valid_i.value = 0
    assert answers == [GRANTED] * LOCKS + [RELEASED, GRANTED] * LOCKS
    for number in range(LOCKS):
        table.do(ACQUIRE, number, 1, True, 0)
    await FallingEdge(dut.clk_i)
    # A release hands the lock over in the cycle behind its answer, to all shared ones beside each other.
    for owner in (2, 3, 4):
        await order(dut, table, ACQUIRE, 0, owner, exclusive=False)
    await order(dut, table, ACQUIRE, 0, 5)
    await order(dut, table, ACQUIRE, 0, 6, exclusive=False)
    before = cycle()
    answers_of = await order(dut, table, RELEASE, 0, 1)
    assert answers_of == [(RELEASED, 1), (GRANTED, 2), (GRANTED, 3), (GRANTED, 4)]
    assert cycle() - before == 5


@cocotb.test()
async def an_owner_that_comes_back_is_refused(dut: Any) -> None:
    """It held a lock when it was reset; the lock was revoked and went to the next. Its release is stale."""
    await start(dut)
    table = Table()
    await order(dut, table, ACQUIRE, 3, 1)
    await order(dut, table, ACQUIRE, 3, 2)
    assert await order(dut, table, REVOKE, 3, 7) == [(BUSY, 7)]
    assert await order(dut, table, REVOKE, 3, 1) == [(REVOKED, 1), (GRANTED, 2)]
    assert await order(dut, table, RELEASE, 3, 1, fence=0) == [(STALE, 1)]
    assert await order(dut, table, TRY, 3, 4) == [(BUSY, 4)]
    assert await order(dut, table, RELEASE, 3, 2) == [(RELEASED, 2)]


@cocotb.test()
async def a_reset_forgets_everything(dut: Any) -> None:
    await start(dut)
    table = Table()
    for owner in range(3):
        await order(dut, table, ACQUIRE, 5, owner)
    await start(dut)
    assert await order(dut, Table(), ACQUIRE, 5, 9) == [(GRANTED, 9)]
