# SPDX-License-Identifier: Apache-2.0
"""Two link_ports with an oscillator each: what transceivers and elastic buffers need of the words."""

from __future__ import annotations

import json
import os
import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Timer

ALIGN_WORDS = int(os.environ["LINK_ALIGN_WORDS"])
MAX_WORDS = int(os.environ["LINK_MAX_WORDS"])
LONG_WORDS = int(os.environ["LINK_LONG_WORDS"])
PERIOD_PS, OTHER_PS = 10_000, 10_002
"""200 ppm apart, which is what two crystals of 100 ppm may be."""
START_WORDS = 1024 + 600
GAP = ALIGN_WORDS + MAX_WORDS + 3
"""Words in which a comma comes, while packets follow each other without a pause."""


class Line:
    """The bench, with its counters by name: one number an end."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut

    def __getattr__(self, name: str) -> list[int]:
        value = getattr(self.dut, f"{name}_o").value.to_unsigned()
        width = 1 if name in ("up", "signal") else 32
        return [value >> width * e & (1 << width) - 1 for e in (0, 1)]

    async def pass_words(self, count: int) -> None:
        """Time for so many words."""
        await Timer(count * PERIOD_PS, "ps")

    async def start(self, periods: tuple[int, int]) -> None:
        dut = self.dut
        dut.rst_ni.value = dut.run_i.value = dut.slip_i.value = 0
        for e, period in enumerate(periods):
            cocotb.start_soon(Clock(dut.clk_i[e], period, "ps").start())
            await Timer(random.randrange(2, period, 2), "ps")
        await self.pass_words(10)
        dut.rst_ni.value = 3
        await self.pass_words(START_WORDS)

    async def rest(self) -> None:
        self.dut.run_i.value = 0
        await self.pass_words(3000)


async def made(dut: Any, periods: tuple[int, int] = (PERIOD_PS, OTHER_PS)) -> Line:
    line = Line(dut)
    await line.start(periods)
    return line


@cocotb.test()
async def a_link_starts_over_transceivers_that_align_on_commas(dut: Any) -> None:
    """Without a comma before a link is up its transceivers would wait for ever."""
    line = await made(dut)
    assert line.signal == [1, 1], "no transceiver has seen a comma"
    assert line.up == [1, 1]


@cocotb.test()
@cocotb.parametrize((("first", "second"), [(PERIOD_PS, OTHER_PS), (OTHER_PS, PERIOD_PS)]))
async def two_oscillators_lose_nothing_under_full_load(dut: Any, first: int, second: int) -> None:
    """Packets back to back both ways: the elastic buffers find words to remove, or to add ALIGN to."""
    line = await made(dut, (first, second))
    dut.run_i.value = 3
    before = list(zip(line.align, line.words, strict=True))
    await line.pass_words(LONG_WORDS)
    for align, words, (align_before, words_before) in zip(line.align, line.words, before, strict=True):
        # One when it is due, and no more: behind AlignWords words and the packet under way.
        least, most = ((words - words_before) / distance for distance in (GAP + 1, ALIGN_WORDS + 1))
        assert least - 1 <= align - align_before <= most + 1
    assert all(gap <= GAP for gap in line.gap), (line.gap, GAP)
    rate = [data / words for data, words in zip(line.data, line.words, strict=True)]
    await line.rest()
    assert line.lost == [0, 0]
    assert line.starts == [1, 1]
    assert line.bad == line.wrong == line.missing == [0, 0]
    slow, fast = (1, 0) if first < second else (0, 1)
    drift = LONG_WORDS * (OTHER_PS - PERIOD_PS) / PERIOD_PS
    assert line.removed[slow] > 0.8 * drift - 4, "the slower end hears too many words"
    assert line.added[fast] > 0.8 * drift - 4, "the faster end hears too few words"
    spoilt = sum(line.bad + line.wrong + line.missing)
    told = {
        "periods_ps": [first, second],
        "words": LONG_WORDS,
        "rate": rate,
        "good": line.good,
        "lost": line.lost,
    }
    told |= {
        "spoilt": spoilt,
        "removed": line.removed,
        "added": line.added,
        "align": line.align,
        "gap": line.gap,
    }
    print("link_line " + json.dumps(told))


@cocotb.test()
async def a_transceiver_that_slips_under_load_is_aligned_again_by_the_next_align(dut: Any) -> None:
    line = await made(dut)
    dut.run_i.value = 3
    await line.pass_words(2000)
    for _ in range(3):
        # One period of end 0 has one of its edges.
        dut.slip_i.value = 1
        await Timer(PERIOD_PS, "ps")
        dut.slip_i.value = 0
        await line.pass_words(GAP + 400)
        good = line.good
        await line.pass_words(2 * GAP)
        assert line.good[1] > good[1] + GAP // MAX_WORDS
    await line.rest()
    assert line.wrong == [0, 0]
    assert line.missing[1] >= 3, "each slip costs the packets until the next comma"
    good = line.good
    dut.run_i.value = 3
    await line.pass_words(2000)
    await line.rest()
    assert all(now > before for now, before in zip(line.good, good, strict=True))
