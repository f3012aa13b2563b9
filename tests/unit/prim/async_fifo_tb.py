# SPDX-License-Identifier: Apache-2.0
"""async_fifo against a queue, over clock ratios and phases, with random stalls on both sides."""

import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer

Task = cocotb.task.Task


async def start(dut: object, write_ps: int, read_ps: int, phase_ps: int) -> None:
    dut.wrst_ni.value = 0
    dut.rrst_ni.value = 0
    dut.wvalid_i.value = 0
    dut.rready_i.value = 0
    dut.wdata_i.value = 0
    cocotb.start_soon(Clock(dut.wclk_i, write_ps, "ps").start())
    if phase_ps:
        await Timer(phase_ps, "ps")
    cocotb.start_soon(Clock(dut.rclk_i, read_ps, "ps").start())
    for _ in range(4):
        await RisingEdge(dut.wclk_i)
    await FallingEdge(dut.wclk_i)
    dut.wrst_ni.value = 1
    await FallingEdge(dut.rclk_i)
    dut.rrst_ni.value = 1


async def write(dut: object, words: list[int], rate: float, stalls: list[int]) -> None:
    todo = deque(words)
    while todo:
        await FallingEdge(dut.wclk_i)
        offered = random.random() < rate
        dut.wvalid_i.value = offered
        dut.wdata_i.value = todo[0] if offered else random.getrandbits(16)
        await RisingEdge(dut.wclk_i)
        if offered:
            if dut.wready_o.value:
                todo.popleft()
            else:
                stalls[0] += 1
    await FallingEdge(dut.wclk_i)
    dut.wvalid_i.value = 0


async def read(dut: object, count: int, rate: float) -> list[int]:
    got: list[int] = []
    for _ in range(40 * count):
        await FallingEdge(dut.rclk_i)
        dut.rready_i.value = random.random() < rate
        await RisingEdge(dut.rclk_i)
        if dut.rvalid_o.value and dut.rready_i.value:
            got.append(int(dut.rdata_o.value))
            if len(got) == count:
                await FallingEdge(dut.rclk_i)
                dut.rready_i.value = 0
                break
    return got


@cocotb.test()
@cocotb.parametrize(
    # The early pointer is legal for a write period up to 1.25 read periods.
    (("write_ps", "read_ps"), [(8000, 8000), (8000, 8002), (8002, 8000), (4000, 9000), (9000, 8000)])
)
async def passes_every_word_once_in_order(dut: object, write_ps: int, read_ps: int) -> None:
    await start(dut, write_ps, read_ps, random.randrange(0, write_ps, 2))
    for write_rate, read_rate in [(1.0, 1.0), (1.0, 0.3), (0.3, 1.0), (0.6, 0.6)]:
        words = [random.getrandbits(16) for _ in range(300)]
        stalls = [0]
        writer = cocotb.start_soon(write(dut, words, write_rate, stalls))
        assert await read(dut, len(words), read_rate) == words
        await writer
        if (write_rate, read_rate) == (1.0, 0.3):
            assert stalls[0] > 0, "the FIFO was never full: the test did not reach it"
    for _ in range(8):
        await RisingEdge(dut.rclk_i)
        await RisingEdge(dut.wclk_i)
    await Timer(1, "ns")
    assert dut.rvalid_o.value == 0
    assert dut.settled_o.value == 1


@cocotb.test()
async def latency_with_aligned_clocks_is_sync_stages(dut: object) -> None:
    await start(dut, 8000, 8000, 0)
    stages = int(dut.SyncStages.value)
    for _ in range(5):
        await FallingEdge(dut.wclk_i)
        dut.wvalid_i.value = 1
        dut.wdata_i.value = word = random.getrandbits(16)
        await RisingEdge(dut.wclk_i)  # takes the word
        await FallingEdge(dut.wclk_i)
        dut.wvalid_i.value = 0
        for _ in range(stages):
            assert dut.rvalid_o.value == 0
            assert dut.settled_o.value == 0
            await FallingEdge(dut.rclk_i)
        assert dut.rvalid_o.value == 1
        assert int(dut.rdata_o.value) == word
        dut.rready_i.value = 1
        await FallingEdge(dut.rclk_i)
        dut.rready_i.value = 0
        assert dut.rvalid_o.value == 0
        for _ in range(random.randrange(4, 9)):
            await FallingEdge(dut.rclk_i)
        assert dut.settled_o.value == 1


@cocotb.test()
async def sustains_one_word_a_cycle(dut: object) -> None:
    await start(dut, 8000, 8000, random.randrange(0, 8000, 2))
    stalls = [0]
    cocotb.start_soon(write(dut, list(range(200)), 1.0, stalls))
    dut.rready_i.value = 1
    while not dut.rvalid_o.value:
        await FallingEdge(dut.rclk_i)
    for word in range(200):
        assert dut.rvalid_o.value == 1
        assert int(dut.rdata_o.value) == word
        await FallingEdge(dut.rclk_i)
    assert stalls[0] == 0
