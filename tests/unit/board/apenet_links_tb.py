# SPDX-License-Identifier: Apache-2.0
"""Puts between two apenet_nodes over real links: framing, credits, checks, lanes. Memory is compared."""

from __future__ import annotations

import random
import struct
from typing import Any

import cocotb
from apenet_node_tb import (
    BAD,
    CONTROL,
    KEY,
    LAND,
    MEMORY,
    PAGE,
    PAGES,
    POST,
    POST_PLACES,
    PUT_BYTES,
    PUT_LO,
    PUTS,
    QUEUE,
    QUEUE_LO,
    QUEUE_SIZE,
    QUEUE_TAKEN,
    REGION_LO,
    REGION_PAGES,
    REGION_SET,
    SERVE,
    SERVED_KEY,
    TABLE,
    TARGET_HI,
    TARGET_LO,
    TARGET_SET,
    VALID,
)
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster, AxiRam
from pins import Pins

BLOCKS = 0x180
GET = 1 << 31


class Node:
    """A host: its program's registers and its memory."""

    def __init__(self, dut: Any, pins: Pins, number: int) -> None:
        self.number, self.taken = number, 0
        self.rng = random.Random(cocotb.RANDOM_SEED + number)
        kind = {"reset_active_level": False}
        bus = f"n{number}_"
        self.bar = AxiMaster(AxiBus.from_prefix(pins, bus + "bar"), dut.clk_i, dut.rst_ni, **kind)
        self.ram = AxiRam(AxiBus.from_prefix(pins, bus + "dma"), dut.clk_i, dut.rst_ni, size=MEMORY, **kind)
        self.ram.write(0, self.rng.randbytes(MEMORY))
        self.ram.write(QUEUE, bytes(32 * 16))
        self.ram.write(TABLE, struct.pack("<3Q", *(page | 1 for page in PAGES)))

    async def write(self, register: int, value: int) -> None:
        await self.bar.write(register, struct.pack("<I", value))

    async def read(self, register: int) -> int:
        return struct.unpack("<I", (await self.bar.read(register, 4)).data)[0]

    async def configure(self) -> None:
        far = 1 - self.number
        # Target 2 for puts into the far region, 3 for gets of the far put memory.
        for register, value in (
            (CONTROL, 0), (QUEUE_LO, QUEUE), (QUEUE_SIZE, 4), (REGION_LO, TABLE), (REGION_PAGES, len(PAGES)),
            (REGION_SET, KEY | VALID), (PUT_LO, PUTS), (PUT_BYTES, 64 * BLOCKS), (TARGET_LO, 0),
            (TARGET_HI, KEY << 16), (TARGET_SET, 2 | far << 8 | VALID), (TARGET_HI, SERVED_KEY << 16),
            (TARGET_SET, 3 | far << 8 | VALID), (LAND, KEY), (SERVE, 1 << 16 | SERVED_KEY), (CONTROL, 1),
        ):  # fmt: skip
            await self.write(register, value)

    async def post(self, offset: int, remote: int, size: int, target: int, flags: int = 0) -> None:
        await self.write(POST_PLACES, remote << 16 | offset)
        await self.write(POST, flags | target << 24 | size)

    async def events(self) -> list[tuple[int, int, int]]:
        """New events: list, error, bytes."""
        found: list[tuple[int, int, int]] = []
        while True:
            words = struct.unpack("<4Q", self.ram.read(QUEUE + self.taken % 16 * 32, 32))
            if words[3] >> 63 != 1 - self.taken // 16 % 2:
                await self.write(QUEUE_TAKEN, self.taken)
                return found
            self.taken += 1
            found.append((words[0] >> 8 & 0xFF, words[0] & 1, words[0] >> 32))

    def region(self) -> bytes:
        return b"".join(self.ram.read(page, PAGE) for page in PAGES)

    def put_memory(self) -> bytes:
        return bytes(self.ram.read(PUTS, 64 * BLOCKS))


async def made(dut: Any) -> list[Node]:
    dut.rst_ni.value = 0
    dut.time_cycles_i.value, dut.spoil_i.value, dut.signal_i.value = 0, 0, 0xF
    pins = Pins(dut)
    nodes = [Node(dut, pins, n) for n in (0, 1)]
    cocotb.start_soon(Clock(dut.clk_i, 4, "ns").start())
    await ClockCycles(dut.clk_i, 40)
    dut.rst_ni.value = 1
    for _ in range(4000):
        await RisingEdge(dut.clk_i)
        if dut.up_o.value == 0xF:
            break
    assert dut.up_o.value == 0xF
    await ClockCycles(dut.clk_i, 100)
    for node in nodes:
        await node.configure()
    return nodes


async def settle(dut: Any, cycles: int = 600) -> None:
    """Until both nodes are idle for so long that nothing is on a link."""
    quiet = 0
    for _ in range(60_000):
        await RisingEdge(dut.clk_i)
        quiet = quiet + 1 if dut.idle_o.value == 3 else 0
        if quiet == cycles:
            return
    raise AssertionError("it does not come to rest")


@cocotb.test()
async def puts_both_ways_are_in_the_far_memory_and_announced(dut: Any) -> None:
    nodes = await made(dut)
    shadows = [bytearray(node.region()) for node in nodes]
    for size in (1, 64, 100, 4096, 5000, 9000):
        for node in nodes:
            offset = node.rng.randrange(BLOCKS - 145)
            remote = node.rng.randrange((12288 - size) // 64)
            data = node.put_memory()[64 * offset :][:size]
            shadows[1 - node.number][64 * remote : 64 * remote + size] = data
            await node.post(offset, remote, size, 2)
        await settle(dut)
        for node in nodes:
            assert node.region() == shadows[node.number]
            assert sorted(await node.events()) == [(0x81, 0, size), (0x82, 0, size)]
    assert int(dut.status_bad_o.value) == int(dut.status_torn_o.value) == 0


@cocotb.test()
async def a_get_brings_the_far_put_memory(dut: Any) -> None:
    nodes = await made(dut)
    for size in (64, 4097):
        node, far = nodes
        shadow = bytearray(node.region())
        shadow[640 : 640 + size] = far.put_memory()[:size]
        await node.post(10, 0, size, 3, GET)
        await settle(dut)
        assert node.region() == shadow
        assert [event[::2] for event in await node.events()] == [(0x83, size)]


@cocotb.test()
async def a_put_that_a_wrong_word_hits_is_not_announced_and_the_next_one_is(dut: Any) -> None:
    """At any word of the put: payload, header, framing; on both links, of which a put takes one."""
    nodes = await made(dut)
    node, far = nodes
    hit = 0
    for number in range(12):
        await node.post(0, 0, 3000, 2)
        # Registers to memory to link takes some 40 cycles, and the packet 190.
        await ClockCycles(dut.clk_i, 60 + 10 * number)
        dut.spoil_i.value = 3
        await RisingEdge(dut.clk_i)
        dut.spoil_i.value = 0
        await settle(dut)
        assert (0x81, 0, 3000) in await node.events()
        came = await far.events()
        assert came in ([], [(0x82, 0, 3000)])
        hit += came == []
        if came:
            assert far.region()[:3000] == node.put_memory()[:3000]
        # One that may be lost behind a lost begin, and one that is not.
        for _ in range(2):
            await node.post(1, 64, 2000, 2)
            await settle(dut)
        assert (await far.events())[-1:] == [(0x82, 0, 2000)]
        assert far.region()[4096:6096] == node.put_memory()[64:2064]
        await node.events()
    assert hit > 3
    assert await far.read(BAD) != 0 or int(dut.status_torn_o.value) != 0
