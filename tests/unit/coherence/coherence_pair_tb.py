# SPDX-License-Identifier: Apache-2.0
"""Loads and stores of lines through requester and home, against a dictionary of lines."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

LINE, CIRCUITS = 128, 13
TWO = 2 * CIRCUITS
WHOLE = (1 << LINE) - 1


class Memory:
    """Lines behind the home: answers in any order after a random time, with pauses on both handshakes."""

    def __init__(self, dut: Any, rng: random.Random, slow: int) -> None:
        self.dut, self.rng, self.slow = dut, rng, slow
        self.lines: dict[int, int] = {}
        self.open: list[tuple[int, int, int | None, int, int]] = []
        self.busy: dict[int, int] = {}

    def line(self, index: int) -> int:
        return self.lines.get(index, index * 0x0123_4567_89AB_CDEF & (1 << 1024) - 1)

    def store(self, index: int, mask: int, data: int) -> None:
        bits = sum(0xFF << 8 * byte for byte in range(LINE) if mask >> byte & 1)
        self.lines[index] = self.line(index) & ~bits | data & bits

    async def run(self) -> None:
        dut, cycle = self.dut, 0
        dut.mem_rsp_valid_i.value = dut.mem_req_ready_i.value = 0
        offered: tuple[int, int, int | None, int, int] | None = None
        while True:
            await RisingEdge(dut.clk_i)
            cycle += 1
            if offered is not None and int(dut.mem_rsp_ready_o.value):
                del self.busy[offered[1]]
                offered = None
            if int(dut.mem_req_valid_o.value) and int(dut.mem_req_ready_i.value):
                index, tag = int(dut.mem_req_index_o.value), int(dut.mem_req_tag_o.value)
                assert index not in self.busy.values(), "two transactions of a line"
                assert tag not in self.busy, "a transaction's tag is used twice"
                self.busy[tag] = index
                mask = int(dut.mem_req_mask_o.value) if int(dut.mem_req_write_o.value) else None
                self.open.append(
                    (cycle + self.rng.randint(1, self.slow), tag, mask, index, int(dut.mem_req_data_o.value))
                )
            await FallingEdge(dut.clk_i)
            dut.mem_req_ready_i.value = int(self.rng.random() < 0.7)
            circuits = len(dut.pass_i)
            dut.pass_i.value = self.rng.getrandbits(circuits) | self.rng.getrandbits(circuits)
            due = [one for one in self.open if one[0] <= cycle]
            if offered is None and due and self.rng.random() < 0.8:
                offered = self.rng.choice(due)
                self.open.remove(offered)
                _, tag, mask, index, data = offered
                if mask is not None:
                    self.store(index, mask, data)
                dut.mem_rsp_tag_i.value, dut.mem_rsp_data_i.value = tag, self.line(index)
            dut.mem_rsp_valid_i.value = int(offered is not None)


async def begin(dut: Any, slow: int, partition: bool) -> tuple[random.Random, Memory]:
    rng = random.Random(cocotb.RANDOM_SEED)
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
    dut.req_valid_i.value, dut.pass_i.value, dut.rst_ni.value = 0, 0, 0
    dut.partition_i.value = int(partition)
    memory = Memory(dut, rng, slow)
    cocotb.start_soon(memory.run())
    await ClockCycles(dut.clk_i, 3)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)
    return rng, memory


async def traffic(
    dut: Any, count: int, lines: int, slow: int, reads: float = 0.5, partition: bool = False
) -> int:
    """Random requests; each answer is compared with the line as all earlier stores to it left it.
    Returns how many were in flight at most."""
    rng, memory = await begin(dut, slow, partition)
    expected: dict[int, int] = {}
    flying: dict[int, tuple[int, int | None]] = {}
    free, most, done = list(range(256)), 0, 0
    offered: tuple[int, int, int | None, int] | None = None
    left = count
    for _ in range(400 * count):
        if done == count:
            break
        await RisingEdge(dut.clk_i)
        if offered is not None and int(dut.req_ready_o.value):
            tag, index, mask, data = offered
            assert index not in [one[0] for one in flying.values()], "two operations open on a line"
            if mask is None:
                flying[tag] = (index, expected.get(index, memory.line(index)))
            else:
                bits = sum(0xFF << 8 * byte for byte in range(LINE) if mask >> byte & 1)
                before = expected.get(index, memory.line(index))
                expected[index] = before & ~bits | data & bits
                flying[tag] = (index, None)
            offered = None
        if int(dut.rsp_valid_o.value):
            tag = int(dut.rsp_tag_o.value)
            _, line = flying.pop(tag)
            free.append(tag)
            done += 1
            assert line is None or int(dut.rsp_data_o.value) == line
        most = max(most, len(flying))
        assert not int(dut.stray_o.value)
        await FallingEdge(dut.clk_i)
        if offered is None and left and free and rng.random() < 0.9:
            left -= 1
            tag, index = free.pop(rng.randrange(len(free))), rng.randrange(lines)
            mask = None if rng.random() < reads else WHOLE if rng.random() < 0.5 else rng.getrandbits(LINE)
            offered = (tag, index, mask, rng.getrandbits(1024))
            dut.req_tag_i.value, dut.req_index_i.value = tag, index
            dut.req_write_i.value = int(mask is not None)
            dut.req_mask_i.value, dut.req_data_i.value = mask or 0, offered[3]
        dut.req_valid_i.value = int(offered is not None)
    assert done == count, f"{done} of {count} were answered"
    await ClockCycles(dut.clk_i, 50)
    for index, line in expected.items():
        assert memory.line(index) == line
    assert not int(dut.wrong_link_o.value)
    return most


@cocotb.test()
async def lines_that_are_hit_again_are_ordered(dut: Any) -> None:
    await traffic(dut, 600, lines=6, slow=20)


@cocotb.test()
async def all_ids_are_used_and_used_again(dut: Any) -> None:
    most = await traffic(dut, 600, lines=5000, slow=300, reads=1.0)
    assert most == 64


@cocotb.test()
async def stores_of_parts_leave_the_rest(dut: Any) -> None:
    await traffic(dut, 400, lines=40, slow=5, reads=0.2)


def shares(dut: Any) -> list[int]:
    """Words that each link carried."""
    both = int(dut.words_o.value)
    return [both & 0xFFFF_FFFF, both >> 32]


@cocotb.test()
async def two_links_that_are_balanced_carry_the_same(dut: Any) -> None:
    if len(dut.pass_i) != TWO:
        return
    await traffic(dut, 500, lines=40, slow=5)
    first, second = shares(dut)
    assert abs(first - second) < 0.1 * (first + second)


@cocotb.test()
async def two_links_that_are_partitioned_have_each_their_lines(dut: Any) -> None:
    if len(dut.pass_i) != TWO:
        return
    await traffic(dut, 500, lines=40, slow=5, partition=True)
    assert min(shares(dut)) > 0.3 * sum(shares(dut))


@cocotb.test()
async def two_lines_that_are_hit_again_are_ordered_with_a_partition(dut: Any) -> None:
    await traffic(dut, 400, lines=2, slow=3, partition=True)


@cocotb.test()
async def two_lines_that_are_hit_again_are_ordered_over_all_links(dut: Any) -> None:
    await traffic(dut, 400, lines=2, slow=3)
