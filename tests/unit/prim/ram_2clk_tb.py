# SPDX-License-Identifier: Apache-2.0
"""ram_2clk against an array, over clock ratios and phases."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer

DEPTH = 48


async def start(dut: object, write_ps: int, read_ps: int) -> None:
    dut.we_i.value = 0
    dut.re_i.value = 0
    cocotb.start_soon(Clock(dut.wclk_i, write_ps, "ps").start())
    await Timer(random.randrange(2, write_ps, 2), "ps")
    cocotb.start_soon(Clock(dut.rclk_i, read_ps, "ps").start())


async def write(dut: object, address: int, word: int, enable: bool = True) -> None:
    await FallingEdge(dut.wclk_i)
    dut.we_i.value = enable
    dut.waddr_i.value = address
    dut.wdata_i.value = word
    await RisingEdge(dut.wclk_i)
    await Timer(2, "ps")
    dut.we_i.value = 0


async def read(dut: object, address: int, enable: bool = True) -> int:
    """What is read, a cycle later."""
    await FallingEdge(dut.rclk_i)
    dut.re_i.value = enable
    dut.raddr_i.value = address
    await FallingEdge(dut.rclk_i)
    dut.re_i.value = 0
    return int(dut.rdata_o.value)


@cocotb.test()
@cocotb.parametrize((("write_ps", "read_ps"), [(8000, 8000), (10000, 12800), (12800, 10000), (4000, 9000)]))
async def a_read_a_cycle_behind_a_write_sees_its_word(dut: object, write_ps: int, read_ps: int) -> None:
    await start(dut, write_ps, read_ps)
    memory = {address: random.getrandbits(32) for address in range(DEPTH)}
    for address, word in memory.items():
        await write(dut, address, word)
    for _ in range(300):
        address, word = random.randrange(DEPTH), random.getrandbits(32)
        enable = random.random() < 0.8
        await write(dut, address, word, enable)
        if enable:
            memory[address] = word
        await RisingEdge(dut.rclk_i)
        assert await read(dut, address) == memory[address]
        other = random.randrange(DEPTH)
        assert await read(dut, other) == memory[other]


@cocotb.test()
async def what_was_read_stays_without_a_read_whatever_is_written(dut: object) -> None:
    await start(dut, 8000, 9000)
    for address in range(DEPTH):
        await write(dut, address, address + 1)
    for _ in range(100):
        address = random.randrange(DEPTH)
        word = await read(dut, address)
        await write(dut, address, random.getrandbits(32))
        assert await read(dut, random.randrange(DEPTH), enable=False) == word
