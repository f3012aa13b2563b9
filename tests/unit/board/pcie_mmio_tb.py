# SPDX-License-Identifier: Apache-2.0
"""The window onto the Wishbone at its AXI pins: one load or store, one bus operation."""

from __future__ import annotations

import logging
import random
from typing import Any

import bus_map
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster
from isthmus import regs
from pcie_host import paused
from pins import Pins

REG = {r.name: r.offset for r in regs.load("pcie_mmio").registers}
WINDOW = 0x10000
RAM, SDB, ECA, TLU, CTRL, SILENT, NOWHERE = (n << 20 for n in range(7))


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.cycle = 0
        self.upper: int | None = None
        self.pins: dict[str, list[int]] = {"aw": [], "w": [], "b": [], "ar": [], "r": []}

    async def start(self) -> None:
        d = self.dut
        logging.getLogger(f"cocotb.{d._name}.bar").setLevel(logging.WARNING)
        d.rst_ni.value = 0
        d.trigger_i.value = 0
        d.time_ns_i.value = 0
        self.bar = AxiMaster(AxiBus.from_prefix(Pins(d), "bar"), d.clk_i)
        cocotb.start_soon(Clock(d.clk_i, 8, "ns").start())
        for _ in range(5):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        d = self.dut
        at = Pins(d)
        channels = [(n, getattr(at, f"bar_{n}valid"), getattr(at, f"bar_{n}ready")) for n in self.pins]
        while True:
            await RisingEdge(d.clk_i)
            d.time_ns_i.value = 10**18 + 8 * self.cycle
            for name, valid, ready in channels:
                if valid.value and ready.value:
                    self.pins[name].append(self.cycle)
            self.cycle += 1

    async def get(self, name: str) -> int:
        answer = await self.bar.read(REG[name], 4, size=2)
        assert int(answer.resp) == 0
        return int.from_bytes(bytes(answer.data), "little")

    async def set(self, name: str, value: int) -> None:
        assert int((await self.bar.write(REG[name], value.to_bytes(4, "little"))).resp) == 0

    async def _point(self, address: int) -> int:
        if self.upper != address >> 16:
            self.upper = address >> 16
            await self.set("WINDOW", self.upper << 16)
        return WINDOW + (address & 0xFFFF)

    async def read(self, address: int, length: int = 4) -> tuple[int, int]:
        answer = await self.bar.read(await self._point(address), length, size=2)
        return int.from_bytes(bytes(answer.data), "little"), int(answer.resp)

    async def write(self, address: int, value: int, length: int = 4) -> int:
        return int((await self.bar.write(await self._point(address), value.to_bytes(length, "little"))).resp)


async def started(dut: Any) -> Bench:
    bench = Bench(dut)
    await bench.start()
    return bench


@cocotb.test()
async def a_load_takes_the_clocks_that_the_docs_say(dut: Any) -> None:
    b = await started(dut)
    for address, clocks in ((ECA + 0x1C, 5), (SDB, 5), (RAM, 7)):
        await b.read(address)
        await b.read(address)
        assert b.pins["r"][-1] - b.pins["ar"][-1] == clocks
        cocotb.log.info("load of %08x: %d clocks", address, b.pins["r"][-1] - b.pins["ar"][-1])
    await b.write(RAM, 1)
    assert b.pins["b"][-1] - b.pins["w"][-1] == 7


@cocotb.test()
async def random_loads_and_stores_of_every_size_reach_the_memory(dut: Any) -> None:
    b = await started(dut)
    model = bytearray(256)
    for i in range(0, 256, 4):
        await b.write(RAM + i, 0)
    for channel in (b.bar.write_if.aw_channel, b.bar.write_if.w_channel, b.bar.write_if.b_channel,
                    b.bar.read_if.ar_channel, b.bar.read_if.r_channel):  # fmt: skip
        channel.set_pause_generator(paused(b.rng, 0.3))
    for _ in range(300):
        length = b.rng.choice([1, 2, 3, 4, 4, 8, 16, 24])
        place = b.rng.randrange(256 - length)
        if b.rng.random() < 0.5:
            data = b.rng.randbytes(length)
            assert await b.write(RAM + place, int.from_bytes(data, "little"), length) == 0
            model[place : place + length] = data
        else:
            size = b.rng.choice([0, 1, 2, 3])
            answer = await b.bar.read(await b._point(RAM + place), length, size=size)
            assert (bytes(answer.data), int(answer.resp)) == (bytes(model[place : place + length]), 0)


@cocotb.test()
async def the_window_reaches_every_slave(dut: Any) -> None:
    b = await started(dut)
    assert await b.read(SDB) == (0x5344422D, 0)
    high, _ = await b.read(ECA + 0x18)
    low, _ = await b.read(ECA + 0x1C)
    assert abs((high << 32 | low) - (10**18 + 8 * b.cycle)) < 8 * 40
    assert await b.get("SDB") == SDB
    assert (await b.read(CTRL + REG["WINDOW"]))[0] == CTRL
    assert await b.write(CTRL + REG["WINDOW"], 0) == 2
    table = [(await b.read(SDB + 64 * 4 + 4 * i))[0] for i in range(16)]
    assert b"isthmus-pcie-mmio  " in b"".join(word.to_bytes(4, "big") for word in table)


@cocotb.test()
async def errors_are_shifted_in_and_read_as_ones(dut: Any) -> None:
    b = await started(dut)
    await b.write(RAM, 5)
    expected = 0
    for _ in range(80):
        bad = b.rng.random() < 0.4
        address = NOWHERE if bad else RAM
        if b.rng.random() < 0.5:
            assert await b.read(address) == ((0xFFFFFFFF, 2) if bad else (5, 0))
        else:
            assert await b.write(address, 5) == (2 if bad else 0)
        expected = (expected << 1 | bad) & (1 << 64) - 1
    assert await b.get("ERROR_LO") == expected & 0xFFFFFFFF
    assert await b.get("ERROR_HI") == expected >> 32
    assert int(dut.status_operations_o.value) == 81
    # an access outside of both is an error that the shift register does not know
    assert int((await b.bar.read(0x100, 4, size=2)).resp) == 2
    assert await b.get("ERROR_LO") == expected & 0xFFFFFFFF


@cocotb.test()
async def a_slave_that_never_answers_ends_in_an_error(dut: Any) -> None:
    b = await started(dut)
    await b.write(RAM, 5)
    assert await b.read(NOWHERE) == (0xFFFFFFFF, 2)
    assert int(dut.status_timeouts_o.value) == 0
    assert await b.read(SILENT) == (0xFFFFFFFF, 2)
    assert int(dut.status_timeouts_o.value) == int(dut.SilentSlave.value)
    assert await b.read(RAM) == (5, 0)


@cocotb.test()
async def the_bus_cycle_stays_open_while_the_host_asks_for_it(dut: Any) -> None:
    b = await started(dut)
    await b.write(RAM, 5)
    await b.set("CYCLE", 1)
    # A time-out gives up the bus for the rest of the cycle: that shows where it ends.
    silent = bool(dut.SilentSlave.value)
    assert (await b.read(SILENT))[1] == 2
    assert (await b.read(RAM))[1] == (2 if silent else 0)
    assert (await b.read(RAM))[1] == (2 if silent else 0)
    await b.set("CYCLE", 0)
    await b.set("CYCLE", 1)
    assert await b.read(RAM) == (5, 0)


@cocotb.test()
async def probes_follow_each_access(dut: Any) -> None:
    b = await started(dut)
    await b.read(RAM)
    seen: list[tuple[int, int]] = []

    async def watch() -> None:
        while True:
            await RisingEdge(dut.clk_i)
            strobes, tags = int(dut.probe_o.value), int(dut.probe_tag_o.value)
            seen.extend((n, tags >> 8 * n & 0xFF) for n in range(4) if strobes >> n & 1)

    cocotb.start_soon(watch())
    for n in range(5):
        await (b.read(RAM) if n % 2 else b.write(RAM, n))
        await b.get("WINDOW")
    first = seen[0][1]
    assert seen == [(stage, first + n) for n in range(5) for stage in range(4)]


@cocotb.test()
async def idle_means_that_nothing_changes(dut: Any) -> None:
    b = await started(dut)
    await b.set("CYCLE", 1)
    await b.read(RAM)
    for _ in range(10):
        await RisingEdge(dut.clk_i)
    assert dut.idle_o.value
    task = cocotb.start_soon(b.read(RAM))
    busy = 0
    for _ in range(20):
        await RisingEdge(dut.clk_i)
        busy += not dut.idle_o.value
    await task
    assert busy >= 7


@cocotb.test()
async def every_window_ends_where_the_sdb_table_and_the_page_say(dut: Any) -> None:
    b = await started(dut)

    async def read(address: int) -> int | None:
        value, response = await b.read(address)
        assert response in (0, 2)
        return None if response else value

    async def write(address: int, value: int) -> bool:
        return await b.write(address, value) == 0

    assert await bus_map.walk(read, write, REG["SDB"]) > 100
