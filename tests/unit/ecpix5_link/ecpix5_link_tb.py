# SPDX-License-Identifier: Apache-2.0
"""The whole board over a model of its transceivers, seen as a user sees it: LEDs and serial port."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer

BIT_PS = 400
WORD_PS = 40 * BIT_PS
BAUD_PS = 2 * WORD_PS
LINE = re.compile(r"A (.) good (.{8}) bad (.{8})   B (.) good (.{8}) bad (.{8})\r\n")
UP = 3


@dataclass(frozen=True)
class End:
    """What the serial port says of an end: bit 1: words come; bit 0: the link is up."""

    state: int
    good: int
    bad: int


class Board:
    def __init__(self, dut: Any) -> None:
        self.dut = dut

    async def words(self, count: int) -> None:
        await Timer(count * WORD_PS, "ps")

    async def character(self) -> str:
        dut = self.dut
        if dut.serial_tx_o.value:
            await FallingEdge(dut.serial_tx_o)
        await Timer(BAUD_PS // 2, "ps")
        value = 0
        for bit in range(8):
            await Timer(BAUD_PS, "ps")
            value |= int(dut.serial_tx_o.value) << bit
        await Timer(BAUD_PS, "ps")
        assert dut.serial_tx_o.value == 1, "no stop bit"
        return chr(value)

    async def line(self) -> list[End]:
        """The next whole line."""
        while await self.character() != "\n":
            pass
        text = ""
        while not text.endswith("\n"):
            text += await self.character()
        found = LINE.fullmatch(text)
        assert found, repr(text)
        numbers = [int(digits, 16) for digits in found.groups()]
        return [End(*numbers[:3]), End(*numbers[3:])]

    def lit(self, colour: str) -> list[bool]:
        """LED 0 to 3."""
        value = getattr(self.dut, f"led_{colour}_no").value.to_unsigned()
        return [not value >> led & 1 for led in range(4)]


async def made(dut: Any, loop: int, plug: int) -> Board:
    dut.rst_ni.value = 1
    dut.loop_i.value, dut.plug_i.value, dut.spoil_i.value = loop, plug, 0
    cocotb.start_soon(Clock(dut.clk100_i, 10_000, "ps").start())
    await Timer(random.randrange(1, 5000), "ps")
    cocotb.start_soon(Clock(dut.bit_clk_i, BIT_PS, "ps").start())
    # What registers hold before a reset is random here, and 0 in the FPGA: so the first one lets the
    # transceivers' clocks run, and the second one resets what they drive.
    for run_ns in (300, 10_000):
        await Timer(run_ns, "ns")
        dut.rst_ni.value = 0
        await Timer(300, "ns")
        dut.rst_ni.value = 1
    assert dut.serial_tx_o.value == 1
    return Board(dut)


async def joined(board: Board, limit: int = 8) -> list[End]:
    """Lines until both ends are up; the last."""
    for _ in range(limit):
        ends = await board.line()
        if all(end.state == UP for end in ends):
            return ends
    raise AssertionError(f"not up: {ends}")


@cocotb.test()
async def a_board_alone_sends_and_checks_over_its_own_loops(dut: Any) -> None:
    board = await made(dut, loop=1, plug=0)
    assert board.lit("red")[:3] == [True, False, False]
    before = await joined(board)
    after = await board.line()
    for then, now in zip(before, after, strict=True):
        assert now.good > then.good + 10
        assert now.bad == 0
    assert board.lit("red") == [False] * 4
    assert board.lit("green")[1:3] == [True, True]
    assert board.lit("blue") == [False] * 4


@cocotb.test()
async def with_a_jumper_the_line_is_the_connectors(dut: Any) -> None:
    """A plug that is pulled ends the link, one that is back starts it; a wrong bit is counted and shown."""
    board = await made(dut, loop=0, plug=1)
    ends = await joined(board)
    assert [end.bad for end in ends] == [0, 0]

    # Channel 0 carries what end B hears.
    dut.spoil_i.value = 1
    await Timer(BIT_PS, "ps")
    dut.spoil_i.value = 0
    await board.words(1500)
    ends = await board.line()
    assert ends[0].bad == 0
    assert ends[1].bad >= 1
    assert board.lit("red")[3]

    dut.plug_i.value = 0
    await board.words(600)
    ends = await board.line()
    assert [end.state & 1 for end in ends] == [0, 0]
    assert board.lit("red")[2]
    dut.plug_i.value = 1
    before = await joined(board)
    after = await board.line()
    assert all(now.good > then.good + 10 for now, then in zip(after, before, strict=True))
    assert all(now.bad == then.bad for now, then in zip(after, before, strict=True))


@cocotb.test()
async def without_a_plug_an_end_hears_nothing(dut: Any) -> None:
    board = await made(dut, loop=0, plug=0)
    for _ in range(2):
        ends = await board.line()
    # End A hears B, which goes on saying that it begins.
    assert [end.state for end in ends] == [2, 0]
    assert [end.good + end.bad for end in ends] == [0, 0]
    assert board.lit("red") == [False, False, True, False]
    assert board.lit("blue") == [False, True, False, False]
