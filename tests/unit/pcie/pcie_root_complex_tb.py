# SPDX-License-Identifier: Apache-2.0
"""The device behind cocotbext-pcie: a root complex enumerates it and drives it by TLPs alone.

The endpoint here is the hard block: bursts of the device's AXI master become memory requests, which the
model splits, credits and completes; requests to BAR 0 become AXI bursts.
"""

from __future__ import annotations

import logging
import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.pcie.core import Device, RootComplex
from etherbone_model import BCA, CYC, Bus, Record, Slave, random_records, request
from pcie_block import READS, WRITES, HardBlock, RootMemory
from pcie_host import REG, RUNNING, Host, bytes_to_words, paused, words_to_bytes

RAM, SDB = (n << 20 for n in range(2))
BAR_BYTES = 8192
ABOVE_4G = 0x1_0000_0000
HEADER = [0x4E6F1044]


class Bench:
    """Root complex, link, hard block, device; `host` is the documented driver above them."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.memory = RootMemory()

    async def start(self, payload: int = 0, high: bool = True) -> None:
        """Reset, enumerate with `payload` (128 << payload bytes), and set the driver up."""
        d = self.dut
        d.rst_ni.value = 0
        d.time_ns_i.value = 0
        d.trigger_i.value = 0
        bursts = int(d.ReadBytes.value), int(d.WriteBytes.value)
        self.block = HardBlock(d, self.memory, BAR_BYTES, bursts)
        cocotb.start_soon(Clock(d.clk_i, 8, "ns").start())
        self.rc = RootComplex()
        self.rc.log.setLevel(logging.ERROR)
        logging.getLogger("cocotb.pcie").setLevel(logging.ERROR)
        self.rc.max_payload_size = payload
        self.device = Device(self.block)
        self.device.upstream_port.max_link_speed, self.device.upstream_port.max_link_width = 1, 4
        self.rc.make_port().connect(self.device)
        for _ in range(5):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        await self.rc.enumerate()
        self.function = self.rc.find_device(self.block.pcie_id)
        assert self.function is not None
        await self.function.enable_device()
        await self.function.set_master()
        self.bar = self.function.bar_window[0]
        pool = self.rc.mem_address_space.create_pool(ABOVE_4G, ABOVE_4G) if high else self.rc.mem_pool
        bases = []
        for size in (4096, 1024, 64):
            region = pool.alloc_region(size)
            base = region.get_absolute_address(0)
            self.memory.regions_at(base, region.mem)
            bases.append(base)

        async def load(address: int, length: int) -> bytes:
            return bytes(await self.bar.read(address, length))

        async def store(address: int, data: bytes) -> None:
            await self.bar.write(address, data)

        memory: Any = self.memory
        self.host = Host(memory, load, store, d.clk_i, (bases[0], 12), (bases[1], 10), bases[2] + 8)

    async def handshake(self) -> None:
        await self.host.start()
        await self.host.push(words_to_bytes(HEADER))
        assert bytes_to_words(await self.host.take(4)) == [0x4E6F1444]

    async def ask(self, words: list[int], push: bool) -> list[int]:
        data = words_to_bytes(words)
        if push:
            while self.host.positions()[1] != self.host.tail:
                await RisingEdge(self.dut.clk_i)
            await self.host.push(data, iter(lambda: self.rng.randrange(1, 17), None))
        else:
            await self.host.ring(data)
        return bytes_to_words(await self.host.take(len(data)))

    def slow(self, probability: float) -> None:
        side = self.bar_side = self.block.bar_side
        for channel in (
            side.write_if.aw_channel, side.write_if.w_channel, side.write_if.b_channel,
            side.read_if.ar_channel, side.read_if.r_channel,
            self.block.aw, self.block.w, self.block.b, self.block.ar, self.block.r,
        ):  # fmt: skip
            channel.set_pause_generator(paused(self.rng, self.rng.choice([0.0, probability])))


async def started(dut: Any, **kwargs: Any) -> Bench:
    b = Bench(dut)
    await b.start(**kwargs)
    return b


def body(records: list[Record]) -> list[int]:
    return request(records)[1:]


@cocotb.test()
async def a_root_complex_finds_the_device_and_its_registers(dut: Any) -> None:
    b = await started(dut)
    assert (b.function.vendor_id, b.function.device_id) == (0x1556, 0x1000)
    assert b.function.bar_size[0] == BAR_BYTES
    assert await b.host.get("ID") == 0x50444D41
    # One load of 8 bytes is two registers, and a byte of a register is that byte.
    assert await b.bar.read(REG["ID"], 8) == (0x50444D41).to_bytes(4, "little") + await b.bar.read(4, 4)


async def random_requests(dut: Any, payload: int, high: bool, split: bool) -> None:
    """Records that the reference slave answers, by ring and by push, with back-pressure everywhere."""
    b = await started(dut, payload=payload, high=high)
    b.rc.split_on_all_rcb = split
    await b.handshake()
    bus = Bus()
    model = Slave(bus, {0x08: SDB, 0x28: 2})
    values = [b.rng.getrandbits(32) for _ in range(16)]
    await b.ask(body([Record(CYC, 0xF, RAM, values)]), push=True)
    bus.memory = {RAM + 4 * i: value for i, value in enumerate(values)}
    b.slow(0.4)
    ways = set()
    for turn in range(16):
        records = [*random_records(b.rng, budget=b.rng.choice([10, 40])), Record(CYC)]
        words, expected = body(records), model.serve(records)[0][1:]
        while 4 * len(words) > 900:
            records = [*random_records(b.rng, budget=10), Record(CYC)]
            words, expected = body(records), model.serve(records)[0][1:]
        push = b.rng.random() < 0.5
        ways.add(push)
        assert await b.ask(words, push) == expected, turn
    assert await b.host.errors() == []
    assert await b.host.get("RING_WORDS") == b.host.tail // 4
    assert await b.host.get("PUSH_WORDS") == b.host.pushed // 4
    assert await b.host.get("REPLY_WORDS") == (b.host.tail + b.host.pushed) // 4
    # Where the link takes the device's longest write, a burst is one request.
    if 128 << payload >= b.block.write_bytes:
        written = await b.host.get("WRITE_BURSTS") + await b.host.get("STATUS_WRITES")
        assert sum(t.fmt_type in WRITES for t in b.block.tlps) == written
    # Data, then the status word, are what the host's memory saw last.
    status = [t for t in b.block.tlps if t.fmt_type in WRITES and t.address == b.host.status]
    assert len(status) == await b.host.get("STATUS_WRITES")
    assert b.block.tlps[-1] is status[-1]
    assert any(t.fmt_type in READS for t in b.block.tlps) == (False in ways)


@cocotb.test()
async def requests_are_answered_with_the_smallest_payload_and_split_completions(dut: Any) -> None:
    await random_requests(dut, payload=0, high=True, split=True)


@cocotb.test()
async def requests_are_answered_in_memory_below_4_gib_with_256_bytes(dut: Any) -> None:
    await random_requests(dut, payload=1, high=False, split=False)


@cocotb.test()
async def a_long_ring_of_requests_streams_through_the_credits_of_the_link(dut: Any) -> None:
    b = await started(dut, payload=1)
    await b.handshake()
    values = [b.rng.getrandbits(32) for _ in range(100)]
    await b.ask(body([Record(CYC, 0xF, RAM, values)]), push=False)
    words = body([Record(BCA | CYC, 0xF, 0, [], 0x8000, [RAM + 4 * i for i in range(100)] * 2)])
    b.block.tlps.clear()
    for _ in range(3):
        task = cocotb.start_soon(b.host.ring(words_to_bytes(words)))
        reply = bytes_to_words(await b.host.take(4 * len(words)))
        await task
        assert reply[2:] == values * 2
    # Whole bursts: 256 bytes a request but at the ends of rings and of what was rung.
    assert sum(t.fmt_type in READS for t in b.block.tlps) <= 3 * (4 * len(words) // 256 + 3)
    assert await b.host.errors() == []


@cocotb.test()
async def a_completion_without_success_stops_the_engine_and_a_new_start_mends_it(dut: Any) -> None:
    b = await started(dut)
    good = b.host.req_base
    b.host.req_base = good + (1 << 20)  # nobody is there: unsupported request
    await b.host.start()
    await b.host.set("REQ_TAIL", 64)
    for _ in range(3000):
        await RisingEdge(dut.clk_i)
    assert (await b.host.get("STATE"), await b.host.errors()) == (0, ["read_response"])
    assert b.function.pcie_id == b.block.pcie_id
    b.host.req_base = good
    await b.handshake()
    assert await b.host.get("STATE") == RUNNING
    reply = await b.ask(body([Record(BCA | CYC, 0xF, 0, [], 0x8000, [SDB])]), push=False)
    assert reply[-1] == 0x5344422D


@cocotb.test()
async def without_bus_mastering_nothing_is_written_and_the_error_is_told(dut: Any) -> None:
    b = await started(dut)
    await b.function.set_master(False)
    await b.host.start()
    await b.host.push(words_to_bytes(HEADER))
    for _ in range(2000):
        await RisingEdge(dut.clk_i)
    assert b.block.tlps == []
    assert (await b.host.get("STATE"), await b.host.errors()) == (0, ["write_response"])
    await b.function.set_master()
    await b.handshake()
