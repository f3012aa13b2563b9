# SPDX-License-Identifier: Apache-2.0
"""vme_wb between a VME master and a Wishbone slave that stalls, answers late, fails, or does not."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer
from vme_model import Vme

BASE = 0x4A
SDB = 0x100000
WINDOW = BASE << 25
CONTROL = WINDOW + (1 << 24)
CYCLE, UPPER, ERRORS_HIGH, ERRORS_LOW, TABLE = (CONTROL + 4 * n for n in range(5))


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.vme = Vme(dut, self.rng)
        self.memory: dict[int, int] = {}
        self.faulty: set[int] = set()
        self.silent = False
        self.stall = 0.0
        self.delay = 0
        self.seen: list[tuple[bool, int]] = []
        self.cycles = 0  # times that the cycle line rose

    async def start(self) -> None:
        d = self.dut
        d.base_i.value = BASE
        d.sdb_address_i.value = SDB
        for name in ("wb_stall_i", "wb_ack_i", "wb_err_i", "wb_dat_i"):
            getattr(d, name).value = 0
        d.rst_ni.value = 0
        cocotb.start_soon(Clock(d.clk_i, 8, "ns").start())
        await ClockCycles(d.clk_i, 3)
        d.rst_ni.value = 1
        cocotb.start_soon(self._slave())
        await ClockCycles(d.clk_i, 3)

    async def _slave(self) -> None:
        d, rng = self.dut, self.rng
        waiting: list[list[int]] = []
        cyc = False
        stall = 0
        while True:
            await RisingEdge(d.clk_i)
            now = bool(d.wb_cyc_o.value)
            self.cycles += now and not cyc
            cyc = now
            if not cyc:
                assert not d.wb_stb_o.value
                waiting.clear()
            elif d.wb_stb_o.value and not stall:
                adr, we = int(d.wb_adr_o.value), bool(d.wb_we_o.value)
                assert d.wb_sel_o.value == 0xF
                self.seen.append((we, adr))
                error = adr in self.faulty
                if we and not error:
                    self.memory[adr] = int(d.wb_dat_o.value)
                if not self.silent:
                    waiting.append([self.delay, error, self.memory.get(adr, 0)])
            await FallingEdge(d.clk_i)
            due = waiting.pop(0) if waiting and waiting[0][0] == 0 else None
            for item in waiting:
                item[0] = max(0, item[0] - 1)
            d.wb_ack_i.value = int(due is not None and not due[1])
            d.wb_err_i.value = int(due is not None and bool(due[1]))
            d.wb_dat_i.value = due[2] if due and not due[1] else rng.getrandbits(32)
            stall = int(rng.random() < self.stall)
            d.wb_stall_i.value = stall


@cocotb.test()
async def random_accesses_reach_the_bus_once_each_and_bring_its_answer(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    rng, errors, expected = bench.rng, 0, {}
    for _ in range(300):
        bench.stall, bench.delay = rng.choice([(0.0, 0), (0.7, 0), (0.5, 5)])
        adr = 4 * rng.randrange(1 << 5) | rng.choice([0, 0xFFFF00])
        bench.faulty = {adr} if rng.random() < 0.1 else set()
        value = rng.getrandbits(32) if rng.random() < 0.5 else None
        before = len(bench.seen)
        answer, data = await bench.vme.access(WINDOW + adr, value, am=rng.choice([0x09, 0x0D]))
        assert bench.seen[before:] == [(value is not None, adr)]
        assert answer == ("berr" if bench.faulty else "dtack")
        errors = errors << 1 | bool(bench.faulty)
        if not bench.faulty and value is not None:
            expected[adr] = value
        elif not bench.faulty:
            assert data == expected.get(adr, 0)
    assert await bench.vme.read(ERRORS_LOW) == errors & 0xFFFFFFFF
    assert await bench.vme.read(ERRORS_HIGH) == errors >> 32 & 0xFFFFFFFF


@cocotb.test()
async def what_is_not_ours_gets_no_answer_and_no_bus_operation(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for address, options in (
        (WINDOW ^ 1 << 25, {}),
        (WINDOW ^ 1 << 31, {}),
        (WINDOW, {"am": 0x39}),
        (WINDOW, {"am": 0x0B}),
        (WINDOW, {"iack": 0}),
    ):
        assert (await bench.vme.access(address, timeout_ns=400, **options))[0] == "none"
        assert await bench.vme.read(TABLE) == SDB
    assert bench.seen == []


@cocotb.test()
async def accesses_that_are_not_of_32_bits_end_in_a_bus_error(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for options in ({"strobes": 1}, {"strobes": 2}, {"lword": 1}):
        for address in (WINDOW, CONTROL):
            assert (await bench.vme.access(address, **options))[0] == "berr"
            assert (await bench.vme.access(address, 1, **options))[0] == "berr"
    assert (await bench.vme.access(WINDOW + 2))[0] == "berr"
    assert bench.seen == []
    assert await bench.vme.read(CYCLE) == 0
    assert await bench.vme.read(ERRORS_LOW) == 0, "the bus saw none of them"


@cocotb.test()
async def the_window_moves_and_the_cycle_line_is_held(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    vme = bench.vme
    await vme.write(UPPER, 0x12345678)
    assert await vme.read(UPPER) == 0x12000000
    await vme.write(WINDOW + 0x40, 7)
    assert bench.seen == [(True, 0x12000040)]
    cycles = bench.cycles
    for _ in range(3):
        await vme.read(WINDOW + 0x40)
    assert bench.cycles == cycles + 3
    await vme.write(CYCLE, 1)
    assert await vme.read(CYCLE) == 1
    for _ in range(3):
        await vme.read(WINDOW + 0x40)
    assert bench.cycles == cycles + 4
    assert dut.wb_cyc_o.value
    await vme.write(CYCLE, 0)
    assert not dut.wb_cyc_o.value
    assert await vme.read(CONTROL + 0x14) == 0


@cocotb.test()
async def a_bus_that_does_not_answer_ends_in_a_bus_error(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.silent = True
    assert (await bench.vme.access(WINDOW))[0] == "berr"
    assert bench.vme.answer_ns >= 8 * 200
    bench.silent = False
    assert (await bench.vme.access(WINDOW))[0] == "dtack"
    assert await bench.vme.read(ERRORS_LOW) == 2


@cocotb.test()
async def a_master_that_gives_up_is_not_answered_and_its_next_access_is(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    bench.memory = {0: 0xAAAA, 4: 0xBBBB}
    for _ in range(30):
        bench.delay = 60
        limit = bench.rng.randrange(50, 460)
        assert (await bench.vme.access(WINDOW, timeout_ns=limit))[0] == "none"
        bench.delay = bench.rng.choice([0, 10])
        assert await bench.vme.read(WINDOW + 4) == 0xBBBB


@cocotb.test()
async def the_clocks_to_an_answer_are_those_of_the_contract(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    for address, clocks in ((TABLE, 5), (WINDOW, 7)):
        times = []
        for _ in range(40):
            await bench.vme.read(address)
            times.append(bench.vme.answer_ns)
        dut._log.info("%#x: %.1f to %.1f ns", address, min(times), max(times))
        # Up to 20 ns of skew lie before the second strobe, which starts the count.
        assert 8 * (clocks - 1) <= max(times) <= 8 * clocks + 1
    await Timer(100, "ns")
    assert dut.idle_o.value
