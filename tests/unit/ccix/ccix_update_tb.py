# SPDX-License-Identifier: Apache-2.0
"""The near-data unit against a lock table and a memory in the bench: two-phase locking, order, values."""

from __future__ import annotations

import os
import random
from collections import deque
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

SLOTS, RECORDS, MASK64 = 8, 12, (1 << 64) - 1
LOCK_WIDTH = int(os.environ.get("CCIX_LOCK_WIDTH", "16"))
"""A record's lock is so many low bits of its number."""
SILENCE = 3000
"""Clocks without an end of a transaction: they wait for each other."""
ACQUIRE, TRY, RELEASE = 0, 1, 2
GRANTED, QUEUED, BUSY, RELEASED = 0, 1, 2, 4


class Locks:
    """A lock table: first come, first served; answers come later, a grant behind its queued."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.holders: dict[int, dict[int, bool]] = {}
        self.waiting: dict[int, deque[tuple[int, bool]]] = {}
        self.fences: dict[int, int] = {}
        self.answers: deque[tuple[int, int, int]] = deque()

    def compatible(self, lock: int, exclusive: bool) -> bool:
        held = self.holders.setdefault(lock, {})
        return not held or (not exclusive and not any(held.values()))

    def grant(self, lock: int, slot: int, exclusive: bool) -> None:
        self.holders[lock][slot] = exclusive
        self.answers.append((GRANTED, slot, self.fences.setdefault(lock, self.rng.getrandbits(16))))

    def order(self, op: int, exclusive: bool, lock: int, slot: int, fence: int) -> None:
        queue = self.waiting.setdefault(lock, deque())
        assert op == RELEASE or slot not in self.holders.get(lock, {}), f"slot {slot} waits for itself"
        if op == RELEASE:
            assert slot in self.holders.get(lock, {}), f"slot {slot} releases {lock}, which it does not hold"
            assert fence == self.fences[lock], "another fence than the grant's"
            del self.holders[lock][slot]
            self.answers.append((RELEASED, slot, 0))
            while queue and self.compatible(lock, queue[0][1]):
                self.grant(lock, *queue.popleft())
        elif not queue and self.compatible(lock, exclusive):
            self.grant(lock, slot, exclusive)
        elif op == TRY:
            self.answers.append((BUSY, slot, 0))
        else:
            queue.append((slot, exclusive))
            self.answers.append((QUEUED, slot, 0))


class Bench:
    """Drives transactions, answers, and replays what was locked in the order of the last locks."""

    locks_of = Locks

    def __init__(self, dut: Any, seed: int) -> None:
        self.dut, self.rng = dut, random.Random(seed)
        self.locks = self.locks_of(self.rng)
        self.silence = 0
        self.memory = [self.rng.getrandbits(64) for _ in range(RECORDS)]
        self.first = list(self.memory)
        self.open: dict[int, tuple[int, list[tuple[int, int, int]]]] = {}
        self.accesses: list[tuple[int, int, bool, int]] = []
        self.serial: list[tuple[int, list[tuple[int, int, int]], int]] = []
        self.locked: set[int] = set()
        self.digests: dict[int, int] = {}
        self.aborted = self.refused = 0

    def steps(self) -> list[tuple[int, int, int]]:
        """Records in any order, some twice; some steps may not wait. Which others may not, the unit says."""
        records = [self.rng.randrange(RECORDS) for _ in range(self.rng.randint(1, 4))]
        return [(int(self.rng.random() < 0.1), self.rng.getrandbits(1), record) for record in records]

    def check_access(self, slot: int, record: int, write: bool) -> None:
        held = self.locks.holders.get(record % (1 << LOCK_WIDTH), {})
        assert slot in self.locked, f"slot {slot} has not all its locks"
        assert slot in held, f"slot {slot} does not hold record {record}"
        assert held[slot] or not write, f"slot {slot} holds record {record} for reading alone"

    def sampled(self) -> None:
        """Whatever else is to be seen at an edge."""

    def driven(self) -> bool:
        """Whatever else is to be driven; whether a transaction may begin."""
        return True

    async def run(self, transactions: int) -> None:
        dut, number = self.dut, 0
        while number < transactions or self.open:
            await RisingEdge(dut.clk_i)
            self.silence += 1
            assert self.silence < SILENCE, f"none of the transactions ends: {self.open}"
            self.sampled()
            if dut.locked_o.value:
                slot = int(dut.locked_slot_o.value)
                self.locked.add(slot)
                self.serial.append((*self.open[slot], slot))
            if dut.order_valid_o.value and dut.order_ready_i.value:
                ports = (dut.order_op_o, dut.order_exclusive_o, dut.order_lock_o, dut.order_slot_o)
                op, exclusive, lock, slot = (int(port.value) for port in ports)
                self.locks.order(op, bool(exclusive), lock, slot, int(dut.order_fence_o.value))
            if dut.refused_o.value or dut.done_o.value:
                self.silence = 0
            if dut.refused_o.value:
                self.refused += 1
                del self.open[int(dut.refused_slot_o.value)]
            if dut.done_o.value:
                slot = int(dut.done_slot_o.value)
                ident, _ = self.open.pop(slot)
                assert bool(dut.done_aborted_o.value) == (slot not in self.locked)
                self.aborted += int(dut.done_aborted_o.value)
                if slot in self.locked:
                    self.digests[ident] = int(dut.done_digest_o.value)
                self.locked.discard(slot)
            if dut.req_valid_o.value and dut.req_ready_i.value:
                tag, record, write = (
                    int(port.value) for port in (dut.req_tag_o, dut.req_index_o, dut.req_write_o)
                )
                self.check_access(tag & 0x7F, record, bool(write))
                if write:
                    assert int(dut.req_mask_o.value) == 0xFF
                    self.memory[record] = int(dut.req_data_o.value) & MASK64
                self.accesses.append((tag, record, bool(write), self.memory[record]))
            await FallingEdge(dut.clk_i)
            dut.order_ready_i.value = int(self.rng.random() < 0.6)
            dut.req_ready_i.value = int(self.rng.random() < 0.6)
            answers = bool(self.locks.answers) and self.rng.random() < 0.7
            dut.ans_valid_i.value = int(answers)
            if answers:
                status, slot, fence = self.locks.answers.popleft()
                dut.ans_status_i.value, dut.ans_slot_i.value, dut.ans_fence_i.value = status, slot, fence
            answers = bool(self.accesses) and self.rng.random() < 0.5
            dut.rsp_valid_i.value = int(answers)
            if answers:
                tag, _, _, value = self.accesses.pop(self.rng.randrange(len(self.accesses)))
                dut.rsp_tag_i.value = tag
                dut.rsp_data_i.value = value | self.rng.getrandbits(448) << 64
            free = [slot for slot in range(SLOTS) if slot not in self.open]
            begins = self.driven() and number < transactions and bool(free) and self.rng.random() < 0.3
            dut.task_valid_i.value = int(begins)
            if begins:
                slot, steps, ident = self.rng.choice(free), self.steps(), self.rng.getrandbits(31) << 1 | 1
                packed = sum((t << 17 | w << 16 | r) << 18 * at for at, (t, w, r) in enumerate(steps))
                dut.task_slot_i.value, dut.task_id_i.value = slot, ident
                dut.task_last_i.value, dut.task_steps_i.value = len(steps) - 1, packed
                self.open[slot] = (ident, steps)
                number += 1

    def replay(self) -> None:
        memory = list(self.first)
        for ident, steps, _ in self.serial:
            digest = 0
            for _, write, record in steps:
                digest = (33 * digest + memory[record]) & MASK64
                if write:
                    memory[record] = (33 * memory[record] + ident) & MASK64
            assert self.digests.get(ident, digest) == digest, f"transaction {ident:#x} read other values"
        assert memory == self.memory


async def started(dut: Any, *more: str) -> int:
    """Behind a reset, all ports quiet; the seed."""
    seed = cocotb.RANDOM_SEED
    dut._log.info(f"seed {seed}")
    for port in ("task_valid_i", "ans_valid_i", "rsp_valid_i", "order_ready_i", "req_ready_i", *more):
        getattr(dut, port).value = 0
    dut.rst_ni.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 4, unit="ns").start())
    for _ in range(4):
        await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    return seed


@cocotb.test()
async def what_transactions_did_is_what_they_do_one_after_the_other(dut: Any) -> None:
    bench = Bench(dut, await started(dut))
    await bench.run(600)
    bench.replay()
    assert not dut.fail_o.value
    assert all(ident in bench.digests for ident, _, _ in bench.serial)
    assert min(bench.aborted, bench.refused) > 20
    assert len(bench.serial) > 200
    assert bench.aborted + bench.refused + len(bench.serial) == 600
