# SPDX-License-Identifier: Apache-2.0
"""Interrupts of wb_rdma: no source is lost, whatever the driver stores in the clock of its strobe."""

import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from isthmus import regs

REG = {r.name: r.offset for r in regs.load("rdma").registers}


class Driver:
    """Stores and loads, one clock each; sources strobe in any clock. `msis`: clocks with irq_o set."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.clock = 0
        self.msis: list[int] = []

    async def begin(self) -> None:
        d = self.dut
        for name in (
            "sources_i",
            "reg_cyc_i",
            "reg_stb_i",
            "reg_we_i",
            "reg_adr_i",
            "reg_dat_i",
            "reg_sel_i",
        ):
            getattr(d, name).value = 0
        d.rst_ni.value = 0
        cocotb.start_soon(Clock(d.clk_i, 8, unit="ns").start())
        for _ in range(4):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        await self.step()

    async def step(self, sources: int = 0, store: tuple[str, int] | None = None) -> None:
        """A clock with these strobes, and a store that reaches the registers in it."""
        d = self.dut
        d.sources_i.value = sources
        d.reg_cyc_i.value = d.reg_stb_i.value = d.reg_we_i.value = int(store is not None)
        d.reg_sel_i.value = 15
        if store is not None:
            d.reg_adr_i.value, d.reg_dat_i.value = REG[store[0]], store[1]
        await FallingEdge(d.clk_i)
        self.clock += 1
        if int(d.irq_o.value):
            self.msis.append(self.clock)

    async def load(self, name: str) -> int:
        d = self.dut
        d.sources_i.value = 0
        d.reg_cyc_i.value = d.reg_stb_i.value = 1
        d.reg_we_i.value = 0
        d.reg_adr_i.value = REG[name]
        await FallingEdge(d.clk_i)
        self.clock += 1
        d.reg_stb_i.value = 0
        while not int(d.reg_ack_o.value):
            await FallingEdge(d.clk_i)
            self.clock += 1
        value = int(d.reg_dat_o.value)
        await self.step()
        return value


async def started(dut: Any, mask: int = 0xFF) -> Driver:
    driver = Driver(dut)
    await driver.begin()
    await driver.step(store=("IRQ_MASK", mask))
    await driver.step()
    return driver


@cocotb.test()
async def a_source_that_strobes_in_the_clock_of_a_store_to_irq_is_kept_and_interrupts(dut: Any) -> None:
    for cleared in range(8):
        for source in range(8):
            for stored in (1 << cleared, 0, 0xFF):
                d = await started(dut)
                await d.step(1 << cleared)
                await d.step()
                assert len(d.msis) == 1
                await d.step(1 << source, ("IRQ", stored))
                await d.step()
                await d.step()
                kept = 0 if stored >> cleared & 1 else 1 << cleared
                assert await d.load("IRQ") == kept | 1 << source
                assert len(d.msis) == 2


@cocotb.test()
async def every_newly_set_source_interrupts_also_while_another_is_pending(dut: Any) -> None:
    d = await started(dut)
    for number in range(8):
        await d.step(1 << number)
        await d.step()
        assert len(d.msis) == number + 1
    await d.step(0x10)
    await d.step()
    assert len(d.msis) == 8, "a source that is set already does not interrupt again"


@cocotb.test()
async def a_masked_source_interrupts_when_the_mask_opens(dut: Any) -> None:
    d = await started(dut, 0xFE)
    await d.step(1)
    await d.step()
    assert not d.msis
    assert not int(dut.pending_o.value)
    await d.step(store=("IRQ_MASK", 0xFF))
    await d.step()
    await d.step()
    assert len(d.msis) == 1
    assert int(dut.pending_o.value)


@cocotb.test()
async def random_stores_and_strobes_follow_the_model(dut: Any) -> None:
    """The value is (value & ~cleared) | strobes; each bit that is set anew interrupts within two clocks."""
    d = await started(dut)
    value, mask = 0, 0xFF
    due: list[int] = []
    for _ in range(4000):
        sources = random.getrandbits(8) & random.getrandbits(8) & random.getrandbits(8)
        store = None
        kind = random.random()
        if kind < 0.3:
            store = ("IRQ", random.getrandbits(8))
        elif kind < 0.35:
            store = ("IRQ_MASK", random.getrandbits(8))
        before = value
        value = (value & ~(store[1] if store and store[0] == "IRQ" else 0)) | sources
        new = sources & ~before | (sources & store[1] if store and store[0] == "IRQ" else 0)
        await d.step(sources, store)
        if new & mask:
            due.append(d.clock)
        if store and store[0] == "IRQ_MASK":
            if value & store[1] & ~mask:
                due.append(d.clock)
            mask = store[1]
        assert bool(int(dut.pending_o.value)) == bool(value & mask)
    for _ in range(3):
        await d.step()
    assert await d.load("IRQ") == value
    served = set(d.msis)
    assert [clock for clock in due if not served & {clock, clock + 1}] == []
