# SPDX-License-Identifier: Apache-2.0
"""Two hosts with their interfaces behind cocotbext-pcie: root complexes enumerate and drive them by TLPs.

What the interface does to its host's memory passes a PCIe link that splits, credits and completes, and each
request is checked against what the host configured and where it lets the interface write.
"""

from __future__ import annotations

import logging
import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi.address_space import MemoryRegion
from cocotbext.pcie.core import Device, RootComplex
from pcie_block import READS, WRITES, HardBlock, RootMemory
from rdma_ni_tb import DONE_FLAG, LINKS, LOCAL_FLAG, NOTIFY_FLAG, Host, slots, until
from rdma_words import BOUNDS, KEY

BAR_BYTES = 65_536
BURSTS = 4096, 4096
"""What AXI allows: the hard block makes of a burst as many requests as the link's limits ask for."""
DATA = 0x2_0000


class PcieHost(Host):
    """The same driver above a root complex."""

    def __init__(self, dut: Any, letter: str, number: int, payload: int) -> None:
        memory = RootMemory()
        self.rc = RootComplex()
        self.rc.log.setLevel(logging.ERROR)
        self.rc.max_payload_size = payload
        self.rc.split_on_all_rcb = True
        for base, size in ((self.SHORT, 0x4000), (self.BASE, 0x2_0000), (DATA, 0x1_0000)):
            region = MemoryRegion(size)
            low = base < 1 << 31  # which is the root complex's own pool
            (self.rc.mem_pool if low else self.rc.mem_address_space).register_region(region, base)
            memory.regions_at(base, region.mem)
        self.block = HardBlock(dut, memory, BAR_BYTES, BURSTS, f"{letter}_")
        device = Device(self.block)
        device.upstream_port.max_link_speed, device.upstream_port.max_link_width = 1, 4
        self.rc.make_port().connect(device)
        super().__init__(number, None, memory)

    async def enumerate(self) -> None:
        await self.rc.enumerate()
        function = self.rc.find_device(self.block.pcie_id)
        assert function is not None
        assert function.bar_size[0] == BAR_BYTES
        await function.enable_device()
        await function.set_master()
        self.bar = function.bar_window[0]

    async def load(self, offset: int, length: int) -> bytes:
        return bytes(await self.bar.read(offset, length))


async def start(dut: Any, payload: int) -> tuple[PcieHost, PcieHost]:
    logging.getLogger("cocotb.pcie").setLevel(logging.ERROR)
    cocotb.start_soon(Clock(dut.clk_i, 8_000, "ps").start())
    cocotb.start_soon(Clock(dut.link_clk_i, 12_800, "ps").start())
    for pin in (dut.rst_ni, dut.cut_i, dut.flip_i, dut.bench_i):
        pin.value = 0
    hosts = PcieHost(dut, "a", 0, payload), PcieHost(dut, "b", 1, payload)
    await ClockCycles(dut.clk_i, 10)
    dut.rst_ni.value = 1
    for host in hosts:
        await host.enumerate()
        await host.start(1 - host.number)
    await until(dut, "links up", lambda: int(dut.a_up.value) == int(dut.b_up.value) == (1 << LINKS) - 1)
    return hosts


@cocotb.test()
@cocotb.parametrize(payload=[0, 2])
async def writes_of_all_sizes_are_in_memory_before_their_notifications(dut: Any, payload: int) -> None:
    a, b = await start(dut, payload)
    for beats in (1, 15, 64, 65, 512):
        data = random.randbytes(8 * beats)
        source, target = DATA + 8 * random.randrange(512), b.SHORT + 8 * random.randrange(512)
        a.memory.put(source, data)
        b.memory.put(b.notified, bytes(8))
        await a.post(1, slots(source, target, beats, 1, NOTIFY_FLAG | LOCAL_FLAG))
        await until(dut, f"notification of {beats} beats", lambda: b.word(b.notified) != 0)
        assert b.memory.get(target, len(data)) == data
    await until(dut, "local notification", lambda: a.word(a.local) == a.slot)
    assert a.records() == b.records() == []
    assert any(tlp.fmt_type in READS for tlp in a.block.tlps), "the source"
    written = [tlp for tlp in b.block.tlps if tlp.fmt_type in WRITES]
    assert max(4 * tlp.length for tlp in written) == min(512, 128 << payload)


@cocotb.test()
async def messages_come_with_their_frame_words_over_pcie(dut: Any) -> None:
    a, b = await start(dut, 1)
    for number in range(10):
        body = [random.getrandbits(64) for _ in range(1 + number % 7)]
        await a.send(1, 7, body)
        slot = b.ring + 64 * (number % 8)
        frame = 1 - number // 8 % 2 | len(body) << 1 | a.number << 8 | (number + 1) << 16 | 0xABCD << 32
        await until(dut, f"message {number}", lambda slot=slot, frame=frame: b.word(slot) == frame)
        assert [b.word(slot + 8 + 8 * at) for at in range(len(body))] == body
        await b.write(0xD000 + 8 * 7, 8 * ((number + 1) % 8))


@cocotb.test()
async def what_may_not_be_written_makes_no_request_on_the_far_link(dut: Any) -> None:
    a, b = await start(dut, 1)
    a.memory.put(DATA, random.randbytes(64))
    right = 5 | 0xC0FFEE << 8
    b.block.tlps.clear()
    for key, target in ((right ^ 1 << 20, b.inbox), (right, b.inbox + 0x2000 - 56), (6, b.inbox)):
        await a.post(1, slots(DATA, target, 8, 1, key=key))
    await until(dut, "three refusals", lambda: len(a.records()) == 3)
    assert sorted(code for code, _ in a.records()) == [KEY, KEY, BOUNDS]
    # Their own records are all that was written there.
    records = range(b.errors, b.errors + 256)
    assert all(tlp.address in records for tlp in b.block.tlps if tlp.fmt_type in WRITES)
    await a.post(1, slots(DATA, b.inbox + 64, 8, 1, DONE_FLAG, key=right))
    await until(dut, "completion", lambda: a.word(a.done) & 0xFFFF == 4)
    assert b.memory.get(b.inbox + 64, 64) == a.memory.get(DATA, 64)


@cocotb.test()
async def both_ways_at_once_every_byte_is_right_with_the_smallest_payload(dut: Any) -> None:
    a, b = await start(dut, 0)
    size = 0x4000
    for host in (a, b):
        host.memory.put(DATA, random.randbytes(size))

    async def run(me: Host, other: Host) -> None:
        at = 0
        while at < size // 8:
            beats = min(random.choice((3, 64, 100, 512)), size // 8 - at)
            flags = NOTIFY_FLAG | DONE_FLAG if at + beats == size // 8 else 0
            await me.post(
                other.number, slots(DATA + 8 * at, other.SHORT + 8 * at, beats, other.number, flags)
            )
            at += beats

    tasks = [cocotb.start_soon(run(a, b)), cocotb.start_soon(run(b, a))]
    for task in tasks:
        await task
    await until(dut, "both notifications", lambda: all(host.word(host.notified) for host in (a, b)), 60_000)
    for me, other in ((a, b), (b, a)):
        assert other.memory.get(other.SHORT, size) == me.memory.get(DATA, size)
    assert a.records() == b.records() == []
    await RisingEdge(dut.clk_i)
