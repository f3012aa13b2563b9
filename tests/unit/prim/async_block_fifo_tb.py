# SPDX-License-Identifier: Apache-2.0
"""async_block_fifo against a queue, over clock ratios and phases, with random stalls on both sides."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer

WIDTH = 512


class Fifo:
    """The queue of the model: words in it, and what each side may claim of their number."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.model: deque[int] = deque()
        self.depth = int(dut.Depth.value)
        self.written = self.read = self.stalls = self.full = 0

    async def start(self, write_ps: int, read_ps: int, phase_ps: int) -> None:
        dut = self.dut
        dut.wrst_ni.value = dut.rrst_ni.value = 0
        dut.wvalid_i.value = dut.rready_i.value = dut.wdata_i.value = 0
        cocotb.start_soon(Clock(dut.wclk_i, write_ps, "ps").start())
        if phase_ps:
            await Timer(phase_ps, "ps")
        cocotb.start_soon(Clock(dut.rclk_i, read_ps, "ps").start())
        for _ in range(4):
            await RisingEdge(dut.wclk_i)
            await RisingEdge(dut.rclk_i)
        await FallingEdge(dut.wclk_i)
        dut.wrst_ni.value = 1
        await FallingEdge(dut.rclk_i)
        dut.rrst_ni.value = 1

    async def write(self, count: int, rate: float) -> None:
        dut = self.dut
        while count:
            await FallingEdge(dut.wclk_i)
            offered, word = random.random() < rate, random.getrandbits(WIDTH)
            dut.wvalid_i.value, dut.wdata_i.value = offered, word
            used = int(dut.wused_o.value)
            assert len(self.model) - 1 <= used <= self.depth, "one word may be at the output"
            assert bool(dut.wready_o.value) == (used < self.depth)
            if offered and dut.wready_o.value:
                self.model.append(word)
                count -= 1
            elif offered:
                self.stalls += 1
        await FallingEdge(dut.wclk_i)
        dut.wvalid_i.value = 0

    async def take(self, count: int, rate: float) -> None:
        dut = self.dut
        stood: int | None = None
        for _ in range(60 * count):
            await FallingEdge(dut.rclk_i)
            valid, ready = bool(dut.rvalid_o.value), random.random() < rate
            dut.rready_i.value = ready
            known = int(dut.rcount_o.value)
            assert known <= len(self.model)
            assert valid == (known > 0) or known > 0
            word = int(dut.rdata_o.value)
            assert stood is None or (valid and word == stood), "a word that is not taken stays"
            stood = word if valid and not ready else None
            if valid and ready:
                assert word == self.model.popleft()
                count -= 1
                if not count:
                    break
        assert not count
        await FallingEdge(dut.rclk_i)
        dut.rready_i.value = 0


@cocotb.test()
@cocotb.parametrize((("write_ps", "read_ps"), [(3104, 4000), (4000, 3104), (8000, 8002), (4000, 18000)]))
async def passes_every_word_once_in_order(dut: Any, write_ps: int, read_ps: int) -> None:
    fifo = Fifo(dut)
    await fifo.start(write_ps, read_ps, random.randrange(2, write_ps, 2))
    for write_rate, read_rate in [(1.0, 1.0), (1.0, 0.2), (0.2, 1.0), (0.6, 0.6)]:
        fifo.stalls = 0
        writer = cocotb.start_soon(fifo.write(150, write_rate))
        await fifo.take(150, read_rate)
        await writer
        if (write_rate, read_rate) == (1.0, 0.2):
            assert fifo.stalls > 0, "the FIFO was never full: the test did not reach it"
    for _ in range(8):
        await RisingEdge(dut.rclk_i)
        await RisingEdge(dut.wclk_i)
    await Timer(2, "ps")
    assert (int(dut.rvalid_o.value), int(dut.rcount_o.value), int(dut.wused_o.value)) == (0, 0, 0)


@cocotb.test()
async def latency_with_aligned_clocks_is_sync_stages_and_one(dut: Any) -> None:
    fifo = Fifo(dut)
    await fifo.start(8000, 8000, 0)
    stages = int(dut.SyncStages.value)
    for _ in range(5):
        await FallingEdge(dut.wclk_i)
        dut.wvalid_i.value, dut.wdata_i.value = 1, random.getrandbits(WIDTH)
        await FallingEdge(dut.wclk_i)
        dut.wvalid_i.value = 0
        for _ in range(stages + 1):
            assert dut.rvalid_o.value == 0
            await FallingEdge(dut.rclk_i)
        assert dut.rvalid_o.value == 1
        dut.rready_i.value = 1
        await FallingEdge(dut.rclk_i)
        dut.rready_i.value = 0
        assert dut.rvalid_o.value == 0


@cocotb.test()
async def sustains_one_word_a_cycle(dut: Any) -> None:
    fifo = Fifo(dut)
    await fifo.start(8000, 8000, 2000)
    cocotb.start_soon(fifo.write(200, 1.0))
    while not dut.rvalid_o.value:
        await FallingEdge(dut.rclk_i)
    dut.rready_i.value = 1
    for _ in range(190):
        assert dut.rvalid_o.value == 1
        assert int(dut.rdata_o.value) == fifo.model.popleft()
        await FallingEdge(dut.rclk_i)
    assert fifo.stalls == 0
