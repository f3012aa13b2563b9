# SPDX-License-Identifier: Apache-2.0
"""Loads and stores of words, interrupts and barriers between two ends, against a dictionary of registers."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge

LOAD, STORE, IPI, BARRIER = range(4)
REGISTERS, CIRCUITS = 16, 13


def field(value: Any, end: int, width: int) -> int:
    """What end `end` has of a vector over both."""
    return int(value) >> (width * end) & (1 << width) - 1


class End:
    """One end: what it asks for, and what it must see."""

    def __init__(self, number: int, rng: random.Random, kinds: tuple[int, ...]) -> None:
        self.number, self.rng, self.kinds = number, rng, kinds
        self.offered: tuple[int, int, int, int, int] | None = None
        self.open: dict[int, int | None] = {}
        self.order: deque[int] = deque()
        self.barrier: int | None = None
        self.registers = [0] * REGISTERS  # of the far end
        self.asked = self.done = self.known = 0
        # What the far end must see of this one's requests, in order: stores and interrupts.
        self.stores: deque[int] = deque()
        self.interrupts: deque[int] = deque()

    def ask(self) -> None:
        kind, register = self.rng.choice(self.kinds), self.rng.randrange(REGISTERS)
        mask = self.rng.getrandbits(8) if kind == STORE else 0xFF
        # All registers are stored to before one is loaded.
        if kind in (LOAD, STORE) and self.known < REGISTERS:
            kind, register, mask = STORE, self.known, 0xFF
            self.known += 1
        if kind == BARRIER and self.barrier is not None:
            return
        free = [tag for tag in range(256) if tag not in self.open and tag != self.barrier]
        address = self.rng.getrandbits(40) if kind == IPI else 8 * register
        self.offered = (kind, address, mask, self.rng.choice(free), self.rng.getrandbits(64))

    def taken(self) -> None:
        assert self.offered is not None
        kind, address, mask, tag, data = self.offered
        self.offered = None
        self.asked += 1
        if kind == IPI:
            self.interrupts.append(address)
            self.done += 1
        elif kind == BARRIER:
            self.barrier = tag
        else:
            self.order.append(tag)
            at = address // 8
            if kind == STORE:
                bits = sum(0xFF << 8 * byte for byte in range(8) if mask >> byte & 1)
                self.registers[at] = self.registers[at] & ~bits | data & bits
                self.stores.append(address)
            self.open[tag] = self.registers[at] if kind == LOAD else None

    def response(self, tag: int, data: int) -> None:
        self.done += 1
        if tag == self.barrier:
            self.barrier = None
            return
        assert tag == self.order.popleft(), "answers of I/O are not in order"
        word = self.open.pop(tag)
        assert word is None or word == data

    def seen(self, ipi: bool, address: int) -> None:
        """What this end's requests did at the far end."""
        assert (self.interrupts if ipi else self.stores).popleft() == address


async def traffic(
    dut: Any, count: int, kinds: tuple[int, ...], agents: bool = True, quiet: float = 1.0
) -> None:
    rng = random.Random(cocotb.RANDOM_SEED)
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
    dut.rst_ni.value, dut.req_valid_i.value, dut.pass_i.value = 0, 0, 0
    dut.agents_i.value, dut.quiet_i.value = int(agents), 0
    await ClockCycles(dut.clk_i, 3)
    dut.rst_ni.value = 1
    ends = [End(number, rng, kinds) for number in range(2)]
    for _ in range(200 * count):
        if all(end.done == count and not (end.stores or end.interrupts) for end in ends):
            break
        await RisingEdge(dut.clk_i)
        for end in ends:
            n = end.number
            if end.offered is not None and field(dut.req_ready_o.value, n, 1):
                end.taken()
        for end in ends:
            n = end.number
            if field(dut.rsp_valid_o.value, n, 1):
                end.response(field(dut.rsp_tag_o.value, n, 8), field(dut.rsp_data_o.value, n, 64))
            if field(dut.event_valid_o.value, n, 1):
                ipi = bool(field(dut.event_ipi_o.value, n, 1))
                ends[1 - n].seen(ipi, field(dut.event_address_o.value, n, 40))
        assert not int(dut.stray_o.value)
        await FallingEdge(dut.clk_i)
        dut.pass_i.value = rng.getrandbits(CIRCUITS) | rng.getrandbits(CIRCUITS)
        # Once quiet, a node that is held back stays so.
        stays = int(dut.quiet_i.value) & int(dut.hold_o.value)
        dut.quiet_i.value = stays | sum((rng.random() < quiet) << n for n in range(2))
        for end in ends:
            if end.offered is None and end.asked < count and rng.random() < 0.8:
                end.ask()
        some = [end.offered or (0, 0, 0, 0, 0) for end in ends]
        dut.req_valid_i.value = sum((end.offered is not None) << end.number for end in ends)
        for at, (pin, width) in enumerate(
            [("kind", 2), ("address", 40), ("mask", 8), ("tag", 8), ("data", 64)]
        ):
            getattr(dut, f"req_{pin}_i").value = sum(one[at] << width * n for n, one in enumerate(some))
    assert [end.done for end in ends] == [count, count], "something was not answered"
    assert not any(end.stores or end.interrupts for end in ends), "something was not seen"
    assert not int(dut.wrong_o.value)
    assert not int(dut.early_o.value)
    assert not agents or int(dut.agents_o.value) > count


@cocotb.test()
async def words_are_loaded_as_they_were_stored(dut: Any) -> None:
    await traffic(dut, 600, (LOAD, STORE))


@cocotb.test()
async def all_kinds_at_once_beside_an_agent_of_lines(dut: Any) -> None:
    await traffic(dut, 800, (LOAD, STORE, IPI, BARRIER))


@cocotb.test()
async def a_barrier_leaves_when_no_older_store_is_open(dut: Any) -> None:
    await traffic(dut, 100, (BARRIER,), quiet=0.1)


@cocotb.test()
async def interrupts_come_in_order(dut: Any) -> None:
    await traffic(dut, 400, (IPI,), agents=False)
