# SPDX-License-Identifier: Apache-2.0
"""The traffic generator against a memory in the bench: its lines, its bytes, and what it notices."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

LINE, MASK32 = 64, (1 << 32) - 1


def xorshift(value: int) -> int:
    """Marsaglia's 13, 17, 5."""
    value ^= value << 13 & MASK32
    value ^= value >> 17
    return value ^ value << 5 & MASK32


def pattern(index: int, seed: int) -> int:
    """A line's bytes as a number."""
    line = 0
    for word in range(8):
        low = xorshift(xorshift((index << 3 & MASK32 | word) ^ seed))
        line |= (xorshift(low) << 32 | low) << 64 * word
    return line


def bits(mask: int) -> int:
    return sum(0xFF << 8 * byte for byte in range(LINE) if mask >> byte & 1)


class Memory:
    """Answers requests in any order.

    spoil   turns a byte of a read line round
    faults  lines that have no page
    """

    def __init__(self, dut: Any, rng: random.Random) -> None:
        self.dut, self.rng = dut, rng
        self.lines: dict[int, int] = {}
        self.open: list[tuple[int, int, bool]] = []
        self.seen: list[tuple[int, bool]] = []
        self.spoil: tuple[int, int] | None = None
        self.faults: set[int] = set()
        self.faulted: list[int] = []
        self.wrong = 0
        self.done: list[int] = []

    async def run(self) -> None:
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            self.wrong += int(dut.wrong_o.value)
            if int(dut.task_done_o.value):
                self.done.append(int(dut.task_done_tag_o.value))
                if int(dut.task_done_fault_o.value):
                    self.faulted.append(self.done[-1])
            if int(dut.req_valid_o.value) and int(dut.req_ready_i.value):
                index, write = int(dut.req_index_o.value), bool(int(dut.req_write_o.value))
                tag, mask = int(dut.req_tag_o.value), int(dut.req_mask_o.value)
                assert tag not in [one[0] for one in self.open], "a tag is used twice"
                if write:
                    data, before = int(dut.req_data_o.value), self.lines.get(index, 0)
                    self.lines[index] = before & ~bits(mask) | data & bits(mask)
                self.open.append((tag, index, write))
                self.seen.append((index, write))
            await FallingEdge(dut.clk_i)
            dut.req_ready_i.value = int(self.rng.random() < 0.7)
            answers = bool(self.open) and self.rng.random() < 0.6
            dut.rsp_valid_i.value = int(answers)
            if answers:
                tag, index, write = self.open.pop(self.rng.randrange(len(self.open)))
                line = self.lines.get(index, 0)
                if self.spoil is not None and self.spoil[0] == index and not write:
                    line ^= 0x5A << 8 * self.spoil[1]
                dut.rsp_tag_i.value, dut.rsp_data_i.value = tag, line
                dut.rsp_fault_i.value = int(index in self.faults)


async def begin(dut: Any) -> tuple[random.Random, Memory]:
    rng = random.Random(cocotb.RANDOM_SEED)
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
    for pin in (dut.task_valid_i, dut.req_ready_i, dut.rsp_valid_i, dut.rsp_fault_i, dut.rst_ni):
        pin.value = 0
    await ClockCycles(dut.clk_i, 3)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    memory = Memory(dut, rng)
    cocotb.start_soon(memory.run())
    return rng, memory


async def give(dut: Any, tag: int, write: bool, first: int, size: int, seed: int) -> None:
    dut.task_valid_i.value, dut.task_write_i.value, dut.task_tag_i.value = 1, int(write), tag
    dut.task_address_i.value, dut.task_bytes_i.value, dut.task_seed_i.value = first * LINE, size, seed
    while True:
        await RisingEdge(dut.clk_i)
        if int(dut.task_ready_o.value):
            break
    await FallingEdge(dut.clk_i)
    dut.task_valid_i.value = 0


async def until_done(dut: Any, memory: Memory, count: int) -> None:
    for _ in range(20_000):
        if len(memory.done) == count:
            break
        await RisingEdge(dut.clk_i)
    assert len(memory.done) == count
    await ClockCycles(dut.clk_i, 4)


@cocotb.test()
async def writes_store_their_bytes_and_reads_find_them(dut: Any) -> None:
    rng, memory = await begin(dut)
    expected: dict[int, int] = {}
    sizes = [1, 63, 64, 65, 640, 4096 + 7]
    for tag, size in enumerate(sizes):
        seed, first = rng.getrandbits(32), 1000 * tag
        await give(dut, tag, True, first, size, seed)
        for line in range(-(-size // LINE)):
            mask = (1 << min(LINE, size - LINE * line)) - 1
            expected[first + line] = pattern(first + line, seed) & bits(mask)
        await until_done(dut, memory, 2 * tag + 1)
        await give(dut, tag, False, first, size, seed)
        await until_done(dut, memory, 2 * tag + 2)
    assert memory.lines == expected
    assert memory.wrong == 0
    assert memory.done == [tag for tag in range(len(sizes)) for _ in range(2)]


@cocotb.test()
async def a_wrong_byte_is_noticed_and_one_outside_the_range_is_not(dut: Any) -> None:
    _, memory = await begin(dut)
    for index in range(4):
        memory.lines[index] = pattern(index, 9)
    for number, (spoil, wrong) in enumerate([((1, 17), 1), ((3, 6), 1), ((3, 7), 0), ((0, 63), 1)]):
        memory.spoil, memory.wrong = spoil, 0
        await give(dut, 5, False, 0, 3 * LINE + 7, 9)
        await until_done(dut, memory, number + 1)
        assert memory.wrong == wrong, spoil
    memory.spoil, memory.wrong = None, 0
    await give(dut, 6, False, 0, 4 * LINE, 8)
    await until_done(dut, memory, 5)
    assert memory.wrong == 4, "another seed's lines"


@cocotb.test()
async def tasks_overlap_and_end_once_each(dut: Any) -> None:
    rng, memory = await begin(dut)
    for index in range(2_000):
        memory.lines[index] = pattern(index, 1)
    for tag in range(100):
        await give(dut, tag, False, rng.randrange(1_000), rng.randint(1, 600), 1)
    await until_done(dut, memory, 100)
    assert sorted(memory.done) == list(range(100))
    assert memory.wrong == 0


@cocotb.test()
async def a_task_with_a_fault_says_so_and_compares_the_rest(dut: Any) -> None:
    _, memory = await begin(dut)
    for index in range(8):
        memory.lines[index] = pattern(index, 9)
    memory.lines[3] = 0
    # In any place of the task, with other tasks beside it; the next task with its tag has none.
    for number, faults in enumerate([{3}, {3, 0}, {3, 7}, {3, 5}]):
        memory.faults = faults
        await give(dut, 4, False, 0, 8 * LINE, 9)
        await give(dut, 5, False, 1, 2 * LINE, 9)
        await until_done(dut, memory, 3 * number + 2)
        assert memory.faulted == [4]
        memory.faulted = []
        await give(dut, 4, False, 1, 2 * LINE, 9)
        await until_done(dut, memory, 3 * number + 3)
        assert not memory.faulted
    assert memory.wrong == 0
