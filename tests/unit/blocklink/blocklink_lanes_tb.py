# SPDX-License-Identifier: Apache-2.0
"""Two ends of 12 lanes with oscillators of their own: the coding bit by bit, the rate, errors, slips.

Parameters of the tests, beside those of the bench, are in the environment: see test_blocklink_lanes.py.
Time is 100 times as long as on a board, so that 200 ppm of a period are whole picoseconds.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, Timer
from lane_model import LANES, block_check, lanes_of

METAFRAME = int(os.environ["BLOCKLINK_METAFRAME"])
LONG_WORDS = int(os.environ["BLOCKLINK_WORDS"])
SKEW = int(os.environ["BLOCKLINK_SKEW"])
RIGHT_PS, SLOW_PS = (620_606, 333_334), (620_730, 333_400)
"""Periods of lanes, 64 bits of 10.3125 Gbit/s, and of the core: right, and 200 ppm slower."""
WORD_PS = RIGHT_PS[0] * 67 / 64
LINE_GBIT_S = 12 * 10.3125
START_WORDS = 64 * 8 + 8 * METAFRAME
LATENCY_CYCLES = 22
"""Of clk_i, the page's budget: lanes without skew."""
MASK = (1 << 32) - 1


class Bench:
    """The bench, with its counters by name: one number an end."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut

    def __getattr__(self, name: str) -> list[int]:
        port = getattr(self.dut, f"{name}_o").value
        width, value = len(port) // 2, port.to_unsigned()
        return [value >> width * end & (1 << width) - 1 for end in (0, 1)]

    async def pass_words(self, count: float) -> None:
        await Timer(round(count * WORD_PS), "ps")

    async def start(self, *, same: bool = False, core_ps: int = 0) -> None:
        """`same`: one oscillator; `core_ps`: another period of end 0's core."""
        dut = self.dut
        dut.rst_ni.value = dut.spoil_i.value = dut.slide_i.value = dut.error_i.value = 0
        for end in (0, 1):
            lane, core = RIGHT_PS if same or end == 0 else SLOW_PS
            core = core_ps if core_ps and end == 0 else core
            for clock, period in ((dut.lane_clk_i, lane), (dut.clk_i, core)):
                cocotb.start_soon(Clock(clock[end], period, "ps").start())
                await Timer(random.randrange(2, period, 2), "ps")
        await self.pass_words(10)
        dut.rst_ni.value = 1

    async def lock(self) -> None:
        """Until both ends are aligned, and what was lost before is past."""
        for _ in range(30):
            await self.pass_words(START_WORDS / 10)
            if self.aligned == [1, 1]:
                break
        assert self.aligned == [1, 1], (self.framed, self.skew)
        await self.pass_words(2 * METAFRAME + 40)
        assert self.aligned == [1, 1]
        assert self.wrong == [0, 0]

    def counts(self) -> dict[str, list[int]]:
        return {name: getattr(self, name) for name in ("good", "missing", "bad", "words", "added", "made")}


def changed(before: dict[str, list[int]], after: dict[str, list[int]]) -> dict[str, list[int]]:
    return {name: [(b - a) & MASK for a, b in zip(before[name], after[name], strict=True)] for name in before}


def block_of(number: int) -> list[int]:
    """Block `number` of the bench, words 0 to 7."""
    words = [number]
    for index in range(1, 7):
        words.append((number * 0x9E3779B1 & MASK) << 32 | (number ^ index) * 0x85EBCA6B & MASK)
    control = 0b100 << 61 | (number & 1) << 60 | (number >> 1 & 0xFF) << 52
    control |= int(f"{number >> 4 & 15:x}" * 7, 16) << 24
    block = control << 448 | sum(word << 64 * place for place, word in enumerate(words))
    return [*words, control | block_check(block)]


def blocks() -> Iterator[list[int]]:
    number = 0
    while True:
        yield block_of(number)
        number += 1


async def compared(dut: Any) -> int:
    """Each bit of all lanes behind reset, over more than two metaframes; SKIPs in the place of rows."""
    dut.rst_ni.value = 0
    await Timer(4 * RIGHT_PS[0], "ps")
    await FallingEdge(dut.code_clk_o)
    dut.rst_ni.value = 1
    codes, added = [], []
    while len(codes) < 2 * METAFRAME + 20:
        await FallingEdge(dut.code_clk_o)
        if int(dut.ready_o.value):
            value = int(dut.code_o.value)
            codes.append([value >> 67 * lane & (1 << 67) - 1 for lane in range(LANES)])
            added.append(bool(int(dut.skip_o.value)))
    # Two words are in the sender's registers; the first one has passed, SYNC with it: it is never added.
    expected = lanes_of(blocks(), METAFRAME, [False, *added[:-1]], [0] * LANES)
    for place, (code, must) in enumerate(zip(codes[1:], expected, strict=False)):
        assert code == must, (place, [lane for lane in range(LANES) if code[lane] != must[lane]])
    return sum(added)


@cocotb.test()
async def coded_words_are_those_of_the_model(dut: Any) -> None:
    await Bench(dut).start()
    assert await compared(dut) < 3


@cocotb.test()
async def a_slow_core_sends_skips_and_loses_no_block(dut: Any) -> None:
    """A core of 200 MHz, which has no row for every word: the far end gets all blocks, in order."""
    bench = Bench(dut)
    await bench.start(core_ps=500_000)
    assert await compared(dut) > METAFRAME // 8
    await bench.pass_words(2 * START_WORDS)
    before = bench.counts()
    await bench.pass_words(10 * METAFRAME)
    run = changed(before, bench.counts())
    assert run["added"][0] > METAFRAME
    assert run["good"][1] > 5 * METAFRAME
    assert run["missing"][1] == run["bad"][1] == bench.wrong[1] == 0


@cocotb.test()
async def blocks_come_at_the_rate_of_the_coding(dut: Any) -> None:
    """Two oscillators 200 ppm apart, delays of their own on all lanes: no block is lost, none comes twice."""
    bench = Bench(dut)
    await bench.start()
    await bench.lock()
    for end in (0, 1):
        skews = [bench.skew[end] >> 3 * lane & 7 for lane in range(LANES)]
        must = [(lane * 5 + 3 * end) % (SKEW + 1) for lane in range(LANES)]
        # Besides, a word each for a lane's phase at the begin, its gearbox's pause, and its clock.
        waits = [skew - (max(must) - one) for skew, one in zip(skews, must, strict=True)]
        assert max(waits) - min(waits) <= 3, (skews, must)
    assert bench.far == [(1 << 2 * LANES) - 1] * 2, "both ends send that they have lock"
    before = bench.counts()
    await bench.pass_words(LONG_WORDS)
    run = changed(before, bench.counts())
    assert run["missing"] == run["bad"] == run["added"] == [0, 0], run
    assert bench.wrong == bench.lost == bench.realign == [0, 0]
    # Framing is 4 words of each metaframe, 3 of 67 bits are coding.
    seconds = LONG_WORDS * WORD_PS * 1e-14
    for end, far in ((0, 1), (1, 0)):
        share = run["good"][end] * 8 / (run["words"][far] * LANES)
        edge = 2 / LONG_WORDS + 4 / LONG_WORDS
        assert abs(share - (METAFRAME - 4) / METAFRAME) < edge, share
        gbit_s = run["good"][end] * 512 / seconds / 1e9
        slower = RIGHT_PS[0] / SLOW_PS[0] if far == 1 else 1.0
        must = LINE_GBIT_S * slower * 64 / 67 * (METAFRAME - 4) / METAFRAME
        assert abs(gbit_s / must - 1) < edge + 2e-5, (gbit_s, must)
        told = {"end": end, "words": LONG_WORDS, "gbit_s": gbit_s, "expected": must}
        told |= {"blocks": run["good"][end], "lost": run["missing"][end] + run["bad"][end]}
        told |= {"wrong": bench.wrong[end], "full": bench.lost[end], "added": run["added"][end]}
        print("blocklink_lanes " + json.dumps(told))


@cocotb.test()
async def wrong_bits_cost_their_block_and_nothing_else(dut: Any) -> None:
    """A wrong bit in 1000 words of every lane: each altered block is found, no lane loses its lock."""
    bench = Bench(dut)
    await bench.start()
    await bench.lock()
    before = bench.counts()
    dut.error_i.value = sum(int(2**32 / 1000) << 32 * lane for lane in range(LANES))
    await bench.pass_words(3000)
    dut.error_i.value = 0
    await bench.pass_words(100)
    run = changed(before, bench.counts())
    assert run["missing"] == run["bad"], "every block that is missing came with a wrong check"
    assert run["bad"][1] > 10, run
    assert run["bad"][0] == 0, run
    assert bench.wrong == bench.lost == bench.realign == [0, 0]
    found = [bench.crc_bad[1] >> 16 * lane & 0xFFFF for lane in range(LANES)]
    assert sum(found) > (run["bad"][1] // 2 if METAFRAME < 100 else LANES), found
    assert bench.crc_bad[0] == 0


@cocotb.test()
async def a_sync_with_a_wrong_bit_changes_nothing(dut: Any) -> None:
    """Three SYNCs of a lane in a row with a wrong bit: its place is known. Four: the lane begins again."""
    bench = Bench(dut)
    await bench.start()
    await bench.lock()
    lane = random.randrange(LANES)
    before = bench.counts()
    dut.spoil_i.value = 1 << lane
    await bench.pass_words(3 * METAFRAME)
    dut.spoil_i.value = 0
    await bench.pass_words(2 * METAFRAME)
    run = changed(before, bench.counts())
    assert run["missing"] == run["bad"] == [0, 0]
    assert bench.realign == [0, 0]
    dut.spoil_i.value = 1 << lane
    await bench.pass_words(5.5 * METAFRAME + 20)
    assert bench.framed[1] == ((1 << LANES) - 1) ^ 1 << lane
    assert bench.aligned == [1, 0]
    dut.spoil_i.value = 0
    await bench.lock()
    before = bench.counts()
    await bench.pass_words(4 * METAFRAME)
    run = changed(before, bench.counts())
    assert run["missing"] == run["bad"] == [0, 0]
    assert min(run["good"]) > 0


@cocotb.test()
async def a_lane_that_slips_is_aligned_again(dut: Any) -> None:
    """Word lock, metaframe lock and alignment one after the other; the other direction does not notice."""
    bench = Bench(dut)
    await bench.start()
    await bench.lock()
    before = bench.counts()
    # Lane 0 has even phase and comes neither first nor last.
    dut.slide_i.value = 1
    await Timer(RIGHT_PS[0], "ps")
    dut.slide_i.value = 0
    await bench.pass_words(120 + METAFRAME)
    assert bench.aligned == [1, 0]
    await bench.lock()
    run = changed(before, bench.counts())
    assert run["bad"][0] == run["missing"][0] == 0
    assert bench.wrong == [0, 0]
    before = bench.counts()
    await bench.pass_words(4 * METAFRAME)
    run = changed(before, bench.counts())
    assert run["missing"] == run["bad"] == [0, 0]
    assert min(run["good"]) > 0


@cocotb.test()
async def a_block_takes_so_long(dut: Any) -> None:
    """From block_ready_o to block_valid_o at the far end, less the line: the mean of a run."""
    bench = Bench(dut)
    await bench.start(same=True)
    await bench.lock()
    names = ("age_sum", "good", "lag_sum", "lag_words")
    before = {name: getattr(bench, name) for name in names}
    await bench.pass_words(3000)
    after = {name: getattr(bench, name) for name in names}
    run = {name: [b - a for a, b in zip(before[name], after[name], strict=True)] for name in names}
    for end in (0, 1):
        whole = run["age_sum"][end] / run["good"][end]
        # Of the lanes' mean; the slowest lane's extra wait is the coding's.
        line = run["lag_sum"][end] / run["lag_words"][end] * RIGHT_PS[0] / RIGHT_PS[1]
        told = {"end": end, "cycles": whole - line, "whole": whole, "line": line}
        print("blocklink_latency " + json.dumps(told))
        if SKEW == 0:
            assert whole - line < LATENCY_CYCLES, told
