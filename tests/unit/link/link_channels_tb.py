# SPDX-License-Identifier: Apache-2.0
"""Virtual channels of two link_ports back to back: turns, credit, nothing lost."""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles

IDS = int(os.environ["LINK_IDS"])
ALL = (1 << 2 * IDS) - 1


class Ends:
    """The bench: `good` and its like are one list of numbers by channel for each end."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut

    def __getattr__(self, name: str) -> list[list[int]]:
        value = getattr(self.dut, f"{name}_o").value.to_unsigned()
        return [[value >> 32 * (IDS * e + i) & 0xFFFF_FFFF for i in range(IDS)] for e in (0, 1)]

    @property
    def words(self) -> list[int]:
        value = self.dut.words_o.value.to_unsigned()
        return [value & 0xFFFF_FFFF, value >> 32]

    async def cycles(self, count: int) -> None:
        await ClockCycles(self.dut.clk_i, count)

    async def rest(self) -> None:
        """Every source stops, every reader reads: all that was begun has come."""
        self.dut.send_i.value = 0
        self.dut.read_i.value = ALL
        await self.cycles(1500)
        assert self.good == self.begun[::-1], "a packet is missing"
        assert self.errors == [[0] * IDS] * 2
        assert self.dut.idle_o.value.to_unsigned() == 3


async def made(dut: Any) -> Ends:
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    dut.rst_ni.value = 0
    dut.signal_i.value = 3
    dut.send_i.value = 0
    dut.read_i.value = ALL
    await ClockCycles(dut.clk_i, 20)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, 300)
    assert dut.up_o.value.to_unsigned() == 3
    return Ends(dut)


@cocotb.test()
async def channels_that_all_want_the_link_have_it_in_turn(dut: Any) -> None:
    ends = await made(dut)
    dut.send_i.value = ALL
    await ends.cycles(200)
    before, words = ends.begun, ends.words
    await ends.cycles(4000)
    for e in (0, 1):
        counts = [now - then for now, then in zip(ends.begun[e], before[e], strict=True)]
        assert max(counts) - min(counts) <= 1
        # The link's own words, credits and ALIGN, take the rest.
        assert ends.words[e] - words[e] > 0.9 * 4000
    assert all(waited <= IDS - 1 for end in ends.waited for waited in end)
    await ends.rest()


@cocotb.test()
async def a_channel_that_nobody_reads_stops_no_other(dut: Any) -> None:
    ends = await made(dut)
    dut.send_i.value = ALL
    for blocked in range(IDS):
        dut.read_i.value = ALL ^ (1 << IDS + blocked)  # of end 1
        await ends.cycles(600)
        before, words = ends.begun[0], ends.words[0]
        await ends.cycles(2000)
        counts = [now - then for now, then in zip(ends.begun[0], before, strict=True)]
        assert counts[blocked] == 0
        others = counts[:blocked] + counts[blocked + 1 :]
        if others:
            assert max(others) - min(others) <= 1
            # A source whose Sop is left out pauses a cycle there: one alone leaves gaps.
            assert ends.words[0] - words > 0.8 * 2000
    await ends.rest()


@cocotb.test()
async def random_sources_and_readers_lose_nothing(dut: Any) -> None:
    ends = await made(dut)
    for _ in range(150):
        dut.send_i.value = random.getrandbits(2 * IDS)
        dut.read_i.value = random.getrandbits(2 * IDS) | random.getrandbits(2 * IDS)
        await ends.cycles(random.randrange(1, 120))
        assert all(waited <= max(IDS - 1, 0) for end in ends.waited for waited in end)
    await ends.rest()
    assert all(count > 20 for end in ends.good for count in end)


@cocotb.test()
async def packets_wait_while_the_link_is_down(dut: Any) -> None:
    ends = await made(dut)
    dut.signal_i.value = 0
    await ends.cycles(100)
    dut.send_i.value = ALL
    await ends.cycles(300)
    assert ends.begun == [[0] * IDS] * 2
    dut.signal_i.value = 3
    await ends.cycles(1500)
    assert all(count > 5 for end in ends.good for count in end)
    await ends.rest()
