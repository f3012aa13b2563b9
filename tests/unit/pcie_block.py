# SPDX-License-Identifier: Apache-2.0
"""A device behind cocotbext-pcie: what its hard block does between TLPs and AXI, and the host's memory."""

from __future__ import annotations

import logging
from typing import Any

import cocotb
from cocotb.queue import Queue
from cocotbext.axi import AxiBus, AxiMaster
from cocotbext.axi.axi_channels import AxiARSink, AxiAWSink, AxiBSource, AxiRSource, AxiWSink
from cocotbext.pcie.core.endpoint import MemoryEndpoint
from cocotbext.pcie.core.tlp import Tlp, TlpType
from pins import Pins

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

    def regions_at(self, base: int, mem: Any) -> None:
        """`mem` stands at `base`."""
        self.bytes.regions.append((base, mem))

    def get(self, address: int, length: int) -> bytes:
        base, mem = self.bytes.region(address)
        return bytes(mem[address - base : address - base + length])

    def put(self, address: int, data: bytes) -> None:
        for i, byte in enumerate(data):
            self.bytes[address + i] = byte


class HardBlock(MemoryEndpoint):  # type: ignore[misc]
    """Between TLPs and a device's two AXI sides, `<prefix>bar_*` and `<prefix>dma_*`, on `clk_i`.

    bar_bytes    of BAR 0
    bursts       a read's and a write's longest burst in bytes: none crosses a multiple of its length
    """

    def __init__(
        self, dut: Any, memory: RootMemory, bar_bytes: int, bursts: tuple[int, int], prefix: str = ""
    ) -> None:
        super().__init__()
        self.vendor_id, self.device_id = 0x1556, 0x1000
        self.memory = memory
        self.tlps: list[Tlp] = []
        self.read_bytes, self.write_bytes = bursts
        for name in ("bar", "dma"):
            logging.getLogger(f"cocotb.{dut._name}.{prefix}{name}").setLevel(logging.WARNING)
        self.log.setLevel(logging.ERROR)
        pins = Pins(dut)
        self.bar_side = AxiMaster(AxiBus.from_prefix(pins, f"{prefix}bar"), dut.clk_i)
        dma = AxiBus.from_prefix(pins, f"{prefix}dma")
        self.aw, self.w = AxiAWSink(dma.write.aw, dut.clk_i), AxiWSink(dma.write.w, dut.clk_i)
        self.b = AxiBSource(dma.write.b, dut.clk_i)
        self.ar, self.r = AxiARSink(dma.read.ar, dut.clk_i), AxiRSource(dma.read.r, dut.clk_i)
        for channel in (self.aw, self.w, self.ar):
            channel.queue_occupancy_limit = 4
        self.add_mem_region(bar_bytes, self._load, self._store)
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
