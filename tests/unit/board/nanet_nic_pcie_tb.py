# SPDX-License-Identifier: Apache-2.0
"""nanet_nic behind cocotbext-pcie: a root complex enumerates it and drives it by TLPs.

Datagrams into the host's memory and out of it pass a PCIe link that splits, credits and completes; each
request is checked against what the host configured and where it lets the interface write.
"""

from __future__ import annotations

import logging
import random
import struct
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi.address_space import MemoryRegion
from cocotbext.eth import GmiiSink, GmiiSource
from cocotbext.pcie.core import Device, RootComplex
from frames import arp_request, with_fcs
from nanet_nic_tb import CONTROL, LIST_RETURNED, ME, MEMORY, NO_BUFFER, PEER, QUEUE, QUEUE_TAKEN
from nanet_send_tb import BLOCKS, MAX_PAYLOAD, PEERS, SENDS, SENT, TAKEN, Sender, expected
from pcie_block import READS, WRITES, HardBlock, RootMemory

BAR_BYTES = 4096
BURST = 128
"""Bytes of a write of the interface: what every host takes."""
BURSTS = 4096, 4096


class Memory(RootMemory):
    """As the benches without PCIe name it."""

    def read(self, address: int, length: int) -> bytes:
        return self.get(address, length)

    def write(self, address: int, data: bytes) -> None:
        self.put(address, data)


class Behind(Sender):
    """The same program above a root complex."""

    async def attach(self, payload: int) -> None:
        d = self.dut
        logging.getLogger("cocotb.pcie").setLevel(logging.ERROR)
        self.rng = random.Random(cocotb.RANDOM_SEED)
        d.rst_ni.value = 0
        d.time_cycles_i.value = 0
        d.cfg_mac_i.value = int.from_bytes(ME.mac, "big")
        d.cfg_ip_i.value = int.from_bytes(ME.ip, "big")
        d.cfg_udp_port_i.value = ME.port
        for name in ("wake_min", "wake_span", "work"):
            getattr(d, f"cfg_firmware_{name}_i").value = 0
        self.ten_gigabit = False
        self.source = GmiiSource(d.gmii_rxd_i, d.gmii_rx_er_i, d.gmii_rx_dv_i, d.gmii_rx_clk_i)
        self.sink = GmiiSink(d.gmii_txd_o, d.gmii_tx_er_o, d.gmii_tx_en_o, d.eth_clk_i)
        self.rc = RootComplex()
        self.rc.log.setLevel(logging.ERROR)
        self.rc.max_payload_size = payload
        self.rc.split_on_all_rcb = True
        region = MemoryRegion(MEMORY)
        self.rc.mem_pool.register_region(region, 0)
        self.ram = Memory()
        self.ram.regions_at(0, region.mem)
        self.empty = self.rng.randbytes(MEMORY)
        self.ram.write(0, self.empty)
        self.ram.writable = [range(self.place(n), self.place(n) + self.size) for n in range(self.buffers)]
        self.ram.writable.append(range(QUEUE, QUEUE + 16 * 32))
        self.block = HardBlock(d, self.ram, BAR_BYTES, BURSTS)
        device = Device(self.block)
        device.upstream_port.max_link_speed, device.upstream_port.max_link_width = 2, 8
        self.rc.make_port().connect(device)
        cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
        for clock in (d.gmii_rx_clk_i, d.eth_clk_i):
            cocotb.start_soon(Clock(clock, 8, "ns").start())
        await ClockCycles(d.eth_clk_i, 8)
        d.rst_ni.value = 1
        await ClockCycles(d.eth_clk_i, 8)
        await self.rc.enumerate()
        function = self.rc.find_device(self.block.pcie_id)
        assert function is not None
        assert function.bar_size[0] == BAR_BYTES
        await function.enable_device()
        await function.set_master()
        self.bar = function.bar_window[0]
        await self.configure()
        self.read_addresses = []
        self.taken = 0
        await self.send_memory()
        await self.posted()

    async def read(self, register: int) -> int:
        return int.from_bytes(await self.bar.read(register, 4), "little")

    async def posted(self) -> None:
        """What was stored before is in the interface: a read is behind it."""
        await self.read(SENT)

    async def until_idle(self) -> None:
        """Requests of the interface have their TLPs, and those have reached the host."""
        await self.source.wait()
        for _ in range(20_000):
            await RisingEdge(self.dut.clk_i)
            if self.dut.idle_o.value:
                break
        assert self.dut.idle_o.value
        await ClockCycles(self.dut.clk_i, 800)


async def start(dut: Any, payload: int, **settings: int) -> Behind:
    bench = Behind(dut, **settings)
    await bench.attach(payload)
    return bench


@cocotb.test()
@cocotb.parametrize(payload=[0, 2])
async def datagrams_of_all_sizes_are_in_memory_before_their_events(dut: Any, payload: int) -> None:
    bench = await start(dut, payload, size=1536)
    for number, size in enumerate((0, 1, 7, 64, 127, 128, 129, 500, 513, 1471, 1472)):
        data = bench.rng.randbytes(size)
        bench.block.tlps.clear()
        await bench.send(data)
        await bench.until_idle()
        (event,) = bench.take()
        assert bench.data(event) == data
        written = [tlp for tlp in bench.block.tlps if tlp.fmt_type in WRITES]
        *payload_writes, last = [tlp.address >= QUEUE for tlp in written]
        assert last, "the event goes last"
        assert not any(payload_writes)
        if size > 512:
            assert max(4 * tlp.length for tlp in written) == BURST
        await bench.write(LIST_RETURNED, number + 1)
        await bench.write(QUEUE_TAKEN, number + 1)
        await bench.posted()
    assert bench.untouched()


@cocotb.test()
@cocotb.parametrize(payload=[0, 2])
async def a_program_sends_and_nothing_but_its_send_memory_is_read(dut: Any, payload: int) -> None:
    bench = await start(dut, payload)
    sizes = [0, 1, 15, 64, 65, 255, 257, 1000, 1471, MAX_PAYLOAD]
    bench.rng.shuffle(sizes)
    sent = []
    for number, size in enumerate(sizes):
        data = bench.rng.randbytes(size)
        blocks = -(-size // 64)
        block = BLOCKS - blocks if number == 0 else bench.rng.randrange(BLOCKS - blocks + 1)
        bench.fill(block, data)
        await bench.post(block, size, number % 2)
        await bench.posted()
        await bench.until_idle()
        sent.append((data, number % 2))
    assert bench.frames() == [expected(data, PEERS[peer]) for data, peer in sent]
    found = bench.completions()
    assert [(one.refusal, one.error, one.bytes) for one in found] == [
        (TAKEN, 0, len(data)) for data, _ in sent
    ]
    reads = [tlp for tlp in bench.block.tlps if tlp.fmt_type in READS]
    assert reads
    ends = SENDS + 64 * BLOCKS
    assert all(tlp.address >= SENDS and tlp.address + 4 * tlp.length <= ends for tlp in reads)


@cocotb.test()
async def both_ways_at_once_every_byte_is_right_with_the_smallest_payload(dut: Any) -> None:
    bench = await start(dut, 0, buffers=16, size=512)
    leaves = [bench.rng.randbytes(size) for size in (700, 64, 1472, 333)]
    comes = [bench.rng.randbytes(bench.rng.randrange(1, 512)) for _ in range(8)]
    at = 0
    for number, data in enumerate(leaves):
        bench.fill(at, data)
        await bench.post(at, len(data), number % 2)
        at += -(-len(data) // 64)
        for piece in comes[2 * number : 2 * number + 2]:
            await bench.send(piece)
    await bench.put(with_fcs(arp_request(PEER, ME.ip)))
    await bench.posted()
    await bench.until_idle()
    words = [struct.unpack("<4Q", bench.ram.read(QUEUE + 32 * n, 32)) for n in range(12)]
    events = [(word[0] >> 8 & 0xFF, word[0] >> 16 & 0xFFFF, word[0] >> 32) for word in words]
    assert all(word[3] >> 63 for word in words)
    taken = [bench.ram.read(bench.place(index), size) for kind, index, size in events if kind == 0]
    assert taken == comes
    assert [size for kind, _, size in events if kind == 0x80] == [len(data) for data in leaves]
    frames = bench.frames()
    wanted = [expected(data, PEERS[number % 2]) for number, data in enumerate(leaves)]
    assert [frame for frame in frames if frame in wanted] == wanted
    assert len(frames) == len(wanted) + 1, "and the answer by ARP"
    assert await bench.read(SENT) == len(wanted), "none was spoiled"


@cocotb.test()
async def a_host_that_takes_its_bus_back_gets_no_request(dut: Any) -> None:
    """The list is disabled: what comes then is counted, and no TLP leaves."""
    bench = await start(dut, 1)
    await bench.send(b"before")
    await bench.until_idle()
    (event,) = bench.take()
    assert bench.data(event) == b"before"
    await bench.write(CONTROL, 0)
    await bench.posted()
    bench.block.tlps.clear()
    for _ in range(5):
        await bench.send(bench.rng.randbytes(300))
    await bench.post(0, 64, 0)
    await bench.posted()
    await bench.until_idle()
    assert bench.block.tlps == []
    assert bench.frames() == []
    assert await bench.read(NO_BUFFER) & 0xFFFF == 5, "no list took them"
