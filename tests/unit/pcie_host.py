# SPDX-License-Identifier: Apache-2.0
"""The host's side of pcie_etherbone in a bench: memory that checks, and the documented driver sequence.

Independent of the RTL: register offsets come from the register description, the rest from
docs/explanation/cores/pcie.md.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import cocotb
from cocotb.queue import Queue
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiBus, AxiMaster, AxiSlaveWrite
from cocotbext.axi.address_space import Region
from cocotbext.axi.axi_channels import AxiARSink, AxiRSource
from isthmus import regs
from pins import Pins

REG = {r.name: r.offset for r in regs.load("pcie_dma").registers}
WINDOW = 0x1000
RUNNING, DRAINING = 1, 2
ERRORS = ("config_bad", "tail_bad", "consumed_bad", "push_refused", "read_response", "write_response")


class Memory(Region):
    """Host memory: bytes by address; a write outside `writable` or to the poison list fails the test."""

    def __init__(self) -> None:
        super().__init__(1 << 64)
        self.bytes: dict[int, int] = {}
        self.writable: list[range] = []
        self.poisoned_writes: set[int] = set()
        self.poisoned_reads: set[int] = set()
        self.writes: list[tuple[int, bytes]] = []
        self.violations: list[tuple[int, bytes]] = []

    def get(self, address: int, length: int) -> bytes:
        return bytes(self.bytes.get(address + i, 0xEE) for i in range(length))

    def put(self, address: int, data: bytes) -> None:
        self.bytes.update((address + i, byte) for i, byte in enumerate(data))

    async def _read(self, address: int, length: int, **_: Any) -> bytes:
        if not self.poisoned_reads.isdisjoint(range(address, address + length)):
            raise ValueError("poisoned")
        return self.get(address, length)

    async def _write(self, address: int, data: bytes, **_: Any) -> None:
        if not any(address in ok and address + len(data) - 1 in ok for ok in self.writable):
            self.violations.append((address, bytes(data)))
        if not self.poisoned_writes.isdisjoint(range(address, address + len(data))):
            raise ValueError("poisoned")
        self.writes.append((address, bytes(data)))
        self.put(address, data)


class Reads:
    """Read side of host memory: each burst's data begins `latency` clocks after its address, in order."""

    def __init__(self, bus: AxiBus, clock: Any, memory: Memory, latency: int) -> None:
        self.memory = memory
        self.latency = latency
        self.clock = clock
        self.ar_channel = AxiARSink(bus.read.ar, clock)
        self.r_channel = AxiRSource(bus.read.r, clock)
        self.r_channel.queue_occupancy_limit = 2
        self.bursts: list[tuple[int, int]] = []  # address, bytes
        self.cycle = 0
        self._due: Queue[tuple[int, Any]] = Queue()
        cocotb.start_soon(self._count())
        cocotb.start_soon(self._take())
        cocotb.start_soon(self._answer())

    async def _count(self) -> None:
        while True:
            await RisingEdge(self.clock)
            self.cycle += 1

    async def _take(self) -> None:
        while True:
            ar = await self.ar_channel.recv()
            self.bursts.append((int(ar.araddr), 8 * (int(ar.arlen) + 1)))
            await self._due.put((self.cycle + self.latency, ar))

    async def _answer(self) -> None:
        while True:
            due, ar = await self._due.get()
            while self.cycle < due:
                await RisingEdge(self.clock)
            beats = int(ar.arlen) + 1
            for n in range(beats):
                r = self.r_channel._transaction_obj()
                r.rid, r.rlast, r.rresp, r.rdata = int(ar.arid), n == beats - 1, 0, 0
                try:
                    data = await self.memory.read(int(ar.araddr) + 8 * n, 8)
                    r.rdata = int.from_bytes(data, "little")
                except ValueError:
                    r.rresp = 2
                await self.r_channel.send(r)


class Host:
    """One driver of one engine: rings, positions, registers through any `load` and `store`."""

    def __init__(
        self,
        memory: Memory,
        load: Callable[[int, int], Awaitable[bytes]],
        store: Callable[[int, bytes], Awaitable[None]],
        clock: Any,
        request: tuple[int, int],
        reply: tuple[int, int],
        status: int,
    ) -> None:
        self.memory = memory
        self.load, self.store = load, store
        self.clock = clock
        (self.req_base, self.req_log2), (self.rep_base, self.rep_log2) = request, reply
        self.status = status
        self.tail = self.consumed = self.pushed = 0
        memory.writable = [range(self.rep_base, self.rep_base + self.rep_size), range(status, status + 8)]

    @property
    def req_size(self) -> int:
        return 1 << self.req_log2

    @property
    def rep_size(self) -> int:
        return 1 << self.rep_log2

    async def get(self, name: str) -> int:
        return int.from_bytes(await self.load(REG[name], 4), "little")

    async def set(self, name: str, value: int) -> None:
        await self.store(REG[name], (value & 0xFFFFFFFF).to_bytes(4, "little"))

    async def errors(self) -> list[str]:
        value = await self.get("ERRORS")
        return [name for bit, name in enumerate(ERRORS) if value >> bit & 1]

    async def configure(self) -> None:
        self.memory.put(self.status, bytes(8))
        for prefix, base in (("REQ_BASE", self.req_base), ("REP_BASE", self.rep_base)):
            await self.store(REG[f"{prefix}_LO"], base.to_bytes(8, "little"))
        await self.set("REQ_SIZE", self.req_log2)
        await self.set("REP_SIZE", self.rep_log2)
        await self.set("STATUS_LO", self.status)
        await self.set("STATUS_HI", self.status >> 32)
        await self.set("ERRORS", 0xFFFFFFFF)
        self.tail = self.consumed = self.pushed = 0

    async def start(self, irq: bool = False) -> None:
        await self.stop()
        await self.configure()
        await self.set("CONTROL", 1 | irq << 1)
        assert await self.get("STATE") == RUNNING, await self.errors()

    async def stop(self, limit: int = 2000) -> None:
        await self.set("CONTROL", 0)
        for _ in range(limit):
            if await self.get("STATE") == 0:
                return
        raise AssertionError("does not come to rest")

    def positions(self) -> tuple[int, int]:
        """Reply tail and request head as the status word tells them."""
        word = self.memory.get(self.status, 8)
        return int.from_bytes(word[:4], "little"), int.from_bytes(word[4:], "little")

    async def ring(self, data: bytes) -> None:
        """Queue `data` in the request ring, waiting for room, one doorbell."""
        while self.req_size - (self.tail - self.positions()[1]) < len(data):
            await RisingEdge(self.clock)
        for i, byte in enumerate(data):
            self.memory.bytes[self.req_base + (self.tail + i) % self.req_size] = byte
        self.tail += len(data)
        await self.set("REQ_TAIL", self.tail)

    async def push(self, data: bytes, pieces: Iterator[int] | None = None) -> None:
        """Store `data` into the push window, in pieces of at most 64 bytes that do not cross a line."""
        while data:
            offset = self.pushed % 4096
            length = min(len(data), 64 - offset % 64, 4 * next(pieces) if pieces else 64)
            await self.store(WINDOW + offset, data[:length])
            self.pushed += length
            data = data[length:]

    async def take(self, length: int, limit: int = 20_000, give_back: bool = True) -> bytes:
        """The next `length` bytes of replies, in pieces where the ring is shorter."""
        out = b""
        for _ in range(limit):
            ready = min(self.positions()[0] - self.consumed, length - len(out))
            assert ready >= 0
            for i in range(ready):
                out += self.memory.get(self.rep_base + (self.consumed + i) % self.rep_size, 1)
            self.consumed += ready
            if ready and give_back:
                await self.set("REP_CONSUMED", self.consumed)
            if len(out) == length:
                return out
            await RisingEdge(self.clock)
        raise AssertionError(f"{len(out)} of {length} bytes came, state {self.positions()}")


def words_to_bytes(words: list[int]) -> bytes:
    return b"".join(word.to_bytes(4, "big") for word in words)


def bytes_to_words(data: bytes) -> list[int]:
    return [int.from_bytes(data[i : i + 4], "big") for i in range(0, len(data), 4)]


def paused(rng: random.Random, probability: float) -> Iterator[bool]:
    while True:
        yield rng.random() < probability


def attach(dut: Any, memory: Memory, latency: int) -> tuple[AxiMaster, AxiSlaveWrite, Reads]:
    """Bus models on the device's AXI sides."""
    for name in ("bar", "dma"):
        logging.getLogger(f"cocotb.{dut._name}.{name}").setLevel(logging.WARNING)
    pins = Pins(dut)
    bar = AxiMaster(AxiBus.from_prefix(pins, "bar"), dut.clk_i)
    dma = AxiBus.from_prefix(pins, "dma")
    return bar, AxiSlaveWrite(dma.write, dut.clk_i, target=memory), Reads(dma, dut.clk_i, memory, latency)
