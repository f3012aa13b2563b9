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
from cocotb.queue import Queue
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster
from cocotbext.axi.axi_channels import AxiARSink, AxiAWSink, AxiBSource, AxiRSource, AxiWSink
from cocotbext.pcie.core import Device, RootComplex
from cocotbext.pcie.core.endpoint import MemoryEndpoint
from cocotbext.pcie.core.tlp import Tlp, TlpType
from etherbone_model import BCA, CYC, Bus, Record, Slave, random_records, request
from pcie_host import REG, RUNNING, Host, bytes_to_words, paused, words_to_bytes

RAM, SDB = (n << 20 for n in range(2))
BAR_BYTES = 8192
ABOVE_4G = 0x1_0000_0000
HEADER = [0x4E6F1044]
WRITES = (TlpType.MEM_WRITE, TlpType.MEM_WRITE_64)
READS = (TlpType.MEM_READ, TlpType.MEM_READ_64)


class Places:
    """Bytes of host memory by bus address, as `Host` keeps them, in regions of the root complex."""

    def __init__(self) -> None:
        self.regions: list[tuple[int, Any]] = []

    def region(self, address: int) -> tuple[int, Any]:
        return next((base, mem) for base, mem in self.regions if base <= address < base + len(mem))

    def __setitem__(self, address: int, value: int) -> None:
        base, mem = self.region(address)
        mem[address - base] = value


class RootMemory:
    """What `Host` wants of a memory. `writable` is where the device may write."""

    def __init__(self) -> None:
        self.bytes = Places()
        self.writable: list[range] = []

    def get(self, address: int, length: int) -> bytes:
        base, mem = self.bytes.region(address)
        return bytes(mem[address - base : address - base + length])

    def put(self, address: int, data: bytes) -> None:
        for i, byte in enumerate(data):
            self.bytes[address + i] = byte


class HardBlock(MemoryEndpoint):  # type: ignore[misc]
    """Between TLPs and the device's two AXI sides."""

    def __init__(self, dut: Any, memory: RootMemory) -> None:
        super().__init__()
        self.vendor_id, self.device_id = 0x1556, 0x1000
        self.clock = dut.clk_i
        self.memory = memory
        self.tlps: list[Tlp] = []
        self.read_bytes, self.write_bytes = int(dut.ReadBytes.value), int(dut.WriteBytes.value)
        for name in ("bar", "dma"):
            logging.getLogger(f"cocotb.{dut._name}.{name}").setLevel(logging.WARNING)
        self.log.setLevel(logging.ERROR)
        self.bar_side = AxiMaster(AxiBus.from_prefix(dut, "bar"), dut.clk_i)
        dma = AxiBus.from_prefix(dut, "dma")
        self.aw, self.w = AxiAWSink(dma.write.aw, dut.clk_i), AxiWSink(dma.write.w, dut.clk_i)
        self.b = AxiBSource(dma.write.b, dut.clk_i)
        self.ar, self.r = AxiARSink(dma.read.ar, dut.clk_i), AxiRSource(dma.read.r, dut.clk_i)
        for channel in (self.aw, self.w, self.ar):
            channel.queue_occupancy_limit = 4
        self.add_mem_region(BAR_BYTES, self._load, self._store)
        self._answers: Queue[tuple[Any, Any]] = Queue()
        cocotb.start_soon(self._writes())
        cocotb.start_soon(self._reads())
        cocotb.start_soon(self._answer())

    async def _load(self, address: int, length: int) -> bytes:
        return bytes((await self.bar_side.read(address, length, size=2)).data)

    async def _store(self, address: int, data: bytes) -> None:
        await self.bar_side.write(address, bytes(data))

    async def send(self, tlp: Tlp) -> None:
        """Everything that leaves for the host is checked against what the host configured."""
        if tlp.fmt_type in WRITES + READS:
            self.tlps.append(tlp)
            assert tlp.address % 4096 + 4 * tlp.length <= 4096
            assert (tlp.fmt_type in (TlpType.MEM_WRITE_64, TlpType.MEM_READ_64)) == (tlp.address >= 1 << 32)
        if tlp.fmt_type in WRITES:
            assert 4 * tlp.length <= 128 << self.pcie_cap.max_payload_size
            first = tlp.address + tlp.get_first_be_offset()
            last = first + tlp.get_be_byte_count() - 1
            assert any(first in ok and last in ok for ok in self.memory.writable), hex(first)
        if tlp.fmt_type in READS:
            assert 4 * tlp.length <= 128 << self.pcie_cap.max_read_request_size
        await super().send(tlp)

    @staticmethod
    def _check(address: int, beats: int, size: int, burst: int, longest: int) -> None:
        """The hard block makes one request of a burst where the link's limits are the device's own."""
        assert (size, burst, address % 8) == (3, 1, 0)
        last = address + 8 * beats - 1
        assert address // longest == last // longest, f"{address:#x} to {last:#x} crosses a boundary"

    async def _writes(self) -> None:
        while True:
            aw = await self.aw.recv()
            self._check(int(aw.awaddr), int(aw.awlen) + 1, int(aw.awsize), int(aw.awburst), self.write_bytes)
            pieces: list[tuple[int, bytearray]] = []
            for n in range(int(aw.awlen) + 1):
                w = await self.w.recv()
                assert bool(int(w.wlast)) == (n == int(aw.awlen))
                data = int(w.wdata).to_bytes(8, "little")
                for lane in range(8):
                    if not int(w.wstrb) >> lane & 1:
                        continue
                    at = int(aw.awaddr) + 8 * n + lane
                    if pieces and pieces[-1][0] + len(pieces[-1][1]) == at:
                        pieces[-1][1].append(data[lane])
                    else:
                        pieces.append((at, bytearray([data[lane]])))
            b = self.b._transaction_obj()
            b.bid, b.bresp = int(aw.awid), 0
            try:
                for at, piece in pieces:
                    await self.mem_region.write(at, bytes(piece))
            except AssertionError:
                raise
            except Exception:  # the model has no narrower class
                b.bresp = 2
            await self.b.send(b)

    async def _reads(self) -> None:
        """Requests leave as they come, so several are in flight."""
        while True:
            ar = await self.ar.recv()
            self._check(int(ar.araddr), int(ar.arlen) + 1, int(ar.arsize), int(ar.arburst), self.read_bytes)
            length = 8 * (int(ar.arlen) + 1)
            task = cocotb.start_soon(self._fetch(int(ar.araddr), length))
            await self._answers.put((ar, task))

    async def _fetch(self, address: int, length: int) -> bytes | None:
        try:
            return bytes(await self.mem_region.read(address, length))
        except AssertionError:
            raise
        except Exception:  # the model has no narrower class
            return None

    async def _answer(self) -> None:
        while True:
            ar, task = await self._answers.get()
            data = await task
            for n in range(int(ar.arlen) + 1):
                r = self.r._transaction_obj()
                r.rid, r.rlast = int(ar.arid), n == int(ar.arlen)
                r.rresp = 0 if data is not None else 2
                r.rdata = int.from_bytes(data[8 * n : 8 * n + 8], "little") if data is not None else 0
                await self.r.send(r)


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
        self.block = HardBlock(d, self.memory)
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
            self.memory.bytes.regions.append((base, region.mem))
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
