# SPDX-License-Identifier: Apache-2.0
"""The whole VME device: a master's words on one side, the slaves inside."""

from __future__ import annotations

import random
from typing import Any

import bus_map
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, Timer
from cocotb.utils import get_sim_time
from vme_model import Vme

BASE = 0x12
WINDOW = BASE << 25
SDB, ECA, CTRL, SILENT = 0x100000, 0x200000, 0x400000, 0x500000
ERRORS, TABLE = WINDOW + (1 << 24) + 0xC, WINDOW + (1 << 24) + 0x10


async def start(dut: Any) -> Vme:
    dut.cfg_vme_base_i.value = BASE
    dut.trigger_i.value = 0
    dut.time_ns_i.value = 0
    dut.rst_ni.value = 0
    vme = Vme(dut, random.Random(cocotb.RANDOM_SEED))
    cocotb.start_soon(Clock(dut.clk_i, 8, "ns").start())
    await ClockCycles(dut.clk_i, 3)
    dut.rst_ni.value = 1

    async def time() -> None:
        while True:
            await RisingEdge(dut.clk_i)
            dut.time_ns_i.value = (5 << 32) + int(get_sim_time("ns"))

    cocotb.start_soon(time())
    await ClockCycles(dut.clk_i, 3)
    return vme


@cocotb.test()
async def words_times_and_the_table_are_read(dut: Any) -> None:
    vme = await start(dut)
    for word in range(16):
        await vme.write(WINDOW + 4 * word, word * 0x01010101)
    for word in range(16):
        assert await vme.read(WINDOW + 4 * word) == word * 0x01010101
    assert await vme.read(WINDOW + ECA + 0x18) == 5
    before = int(get_sim_time("ns"))
    assert before < await vme.read(WINDOW + ECA + 0x1C) < int(get_sim_time("ns"))
    table = await vme.read(TABLE)
    assert table == SDB
    assert await vme.read(WINDOW + table) == 0x5344422D
    assert await vme.read(WINDOW + table + 4) >> 16 == 4, "interconnect, RAM, ECA, TLU"


@cocotb.test()
async def errors_and_time_outs_are_told_and_counted(dut: Any) -> None:
    vme = await start(dut)
    assert (await vme.access(WINDOW + CTRL))[0] == "berr"
    assert (await vme.access(WINDOW + 0x900000))[0] == "berr"
    assert (await vme.access(WINDOW + SILENT))[0] == "berr"
    await vme.read(WINDOW)
    assert await vme.read(ERRORS) == 0b1110
    await Timer(50, "ns")
    names = ("accesses", "operations", "bus_errors", "timeouts")
    assert [int(getattr(dut, f"status_{name}_o").value) for name in names] == [5, 4, 3, 1]


@cocotb.test()
async def probes_follow_an_access(dut: Any) -> None:
    vme = await start(dut)
    seen: list[tuple[int, int, int]] = []

    async def watch() -> None:
        cycle = 0
        while True:
            await RisingEdge(dut.clk_i)
            cycle += 1
            strobes, tags = int(dut.probe_o.value), int(dut.probe_tag_o.value)
            seen.extend((b, tags >> 8 * b & 0xFF, cycle) for b in range(4) if strobes >> b & 1)

    cocotb.start_soon(watch())
    for _ in range(3):
        await vme.read(WINDOW + ECA + 0x1C)
    assert [(bit, tag) for bit, tag, _ in seen] == [(bit, tag) for tag in range(3) for bit in range(4)]
    for first in range(0, 12, 4):
        cycles = [cycle - seen[first][2] for _, _, cycle in seen[first : first + 4]]
        dut._log.info("strobe, issue, answer, pins: %s", cycles)
        assert cycles == [0, 2, 6, 7]
    await Timer(100, "ns")
    assert dut.idle_o.value


@cocotb.test()
async def every_window_ends_where_the_sdb_table_and_the_page_say(dut: Any) -> None:
    vme = await start(dut)
    upper = WINDOW + (1 << 24) + 4

    async def point(address: int) -> int:
        await vme.write(upper, address & 0xFF000000)
        return WINDOW + (address & 0xFFFFFF)

    async def read(address: int) -> int | None:
        answer, value = await vme.access(await point(address))
        return value if answer == "dtack" else None

    async def write(address: int, value: int) -> bool:
        return (await vme.access(await point(address), value))[0] == "dtack"

    assert await bus_map.walk(read, write, None) > 100
