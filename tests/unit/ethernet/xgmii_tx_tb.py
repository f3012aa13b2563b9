# SPDX-License-Identifier: Apache-2.0
"""xgmii_tx against cocotbext-eth's XGMII sink."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, with_timeout
from cocotb.utils import get_sim_time
from cocotbext.eth import XgmiiFrame, XgmiiSink
from xgmii_words import ERROR

CLK_PS = 6400
BYTE_PS = CLK_PS // 8
VALID_TO_START = 6
SETTLE = 24
PREAMBLE, FCS, GAP, LEAST_GAP = 8, 4, 12, 9


class Bench:
    def __init__(self, dut: object) -> None:
        self.dut = dut
        self.asked = 0

    async def start(self) -> None:
        dut = self.dut
        dut.rst_ni.value = 0
        dut.in_valid_i.value = 0
        dut.in_last_i.value = 0
        dut.in_bad_i.value = 0
        dut.in_bytes_i.value = 8
        dut.in_i.value = 0
        cocotb.start_soon(Clock(dut.clk_i, CLK_PS, "ps").start())
        await ClockCycles(dut.clk_i, 4)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        self.sink = XgmiiSink(dut.xgmii_txd_o, dut.xgmii_txc_o, dut.clk_i)
        self.sink.log.setLevel("WARNING")
        await ClockCycles(dut.clk_i, 4)
        await FallingEdge(dut.clk_i)

    async def put(self, frame: bytes, late_at: int | None = None, *, bad: bool = False) -> None:
        """Hand a frame over, its words one after the other; word `late_at` comes late."""
        dut = self.dut
        for number, at in enumerate(range(0, len(frame), 8)):
            piece = frame[at : at + 8]
            if number == late_at:
                dut.in_valid_i.value = 0
                for _ in range(random.randrange(1, 4)):
                    await FallingEdge(dut.clk_i)
            dut.in_valid_i.value = 1
            dut.in_last_i.value = at + 8 >= len(frame)
            # Only the last word's counts.
            dut.in_bad_i.value = bad if at + 8 >= len(frame) else random.randrange(2)
            dut.in_bytes_i.value = len(piece)
            # What is behind the last byte is anything.
            dut.in_i.value = int.from_bytes(piece + random.randbytes(8 - len(piece)), "little")
            self.asked = self.asked or get_sim_time("ps")
            while not dut.in_ready_o.value:
                await FallingEdge(dut.clk_i)
            await FallingEdge(dut.clk_i)
        dut.in_valid_i.value = 0

    async def settle(self, count: int) -> list[XgmiiFrame]:
        # A short frame that waits for the gap behind the one before: padding, FCS and its own gap.
        for _ in range(SETTLE):
            if self.dut.idle_o.value:
                break
            await FallingEdge(self.dut.clk_i)
        assert self.dut.idle_o.value
        await ClockCycles(self.dut.clk_i, 2)
        return [await with_timeout(self.sink.recv(), 1, "us") for _ in range(count)]

    async def send(self, frames: Sequence[bytes]) -> list[XgmiiFrame]:
        for frame in frames:
            await self.put(frame)
        return await self.settle(len(frames))


def check(frames: Sequence[bytes], sent: Sequence[XgmiiFrame]) -> None:
    for frame, one in zip(frames, sent, strict=True):
        assert bytes(one.get_preamble()) == b"\x55" * 7 + b"\xd5"
        assert one.ctrl is None
        assert bytes(one.get_payload()) == frame.ljust(60, b"\0")
        assert one.check_fcs()


def gaps(sent: Sequence[XgmiiFrame]) -> list[int]:
    """Bytes between two frames, the terminate among them."""
    starts = [one.sim_time_start // BYTE_PS for one in sent]
    return [y - x - len(one) for (x, y), one in zip(itertools.pairwise(starts), sent, strict=False)]


@cocotb.test()
async def frames_of_every_length_are_padded_and_closed_by_their_fcs(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    frames = [random.randbytes(size) for size in [*range(1, 90), 1507, 1513, 1514]]
    sent = await bench.send(frames)
    check(frames, sent)
    assert {one.start_lane for one in sent} == {0, 4}


@cocotb.test()
async def gaps_are_twelve_bytes_on_average_and_nine_at_the_least(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    for sizes in (
        [60] * 40,
        [61] * 40,
        [62] * 40,
        [63] * 40,
        [random.randrange(60, 120) for _ in range(200)],
    ):
        frames = [random.randbytes(size) for size in sizes]
        sent = await bench.send(frames)
        check(frames, sent)
        found = gaps(sent)
        assert min(found) >= LEAST_GAP, found
        assert max(found) <= GAP + 3, found
        owed = 0
        for gap in found:
            owed += GAP - gap
            assert 0 <= owed <= 3, found
        # Line rate: what is owed at the end is all that is missing.
        assert sum(found) == GAP * len(found) - owed


@cocotb.test()
async def an_idle_line_starts_in_lane_0_as_soon_as_the_header_says(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    for size in (60, 61, 64, 100):
        bench.asked = 0
        (sent,) = await bench.send([random.randbytes(size)])
        assert sent.start_lane == 0
        # The sink sees a word at the edge that ends its cycle; in_valid_i was set in the middle of one.
        assert (sent.sim_time_start - bench.asked) // CLK_PS == VALID_TO_START
        await ClockCycles(dut.clk_i, random.randrange(4))
        await FallingEdge(dut.clk_i)


@cocotb.test()
async def a_word_that_is_late_spoils_its_frame_alone(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    for _ in range(20):
        frames = [random.randbytes(random.randrange(60, 100)) for _ in range(3)]
        await bench.put(frames[0])
        await bench.put(frames[1], late_at=random.randrange(1, 7))
        await bench.put(frames[2])
        sent = await bench.settle(3)
        check(frames[::2], sent[::2])
        spoilt = sent[1]
        assert spoilt.ctrl is not None
        assert ERROR in [char for char, control in zip(spoilt.data, spoilt.ctrl, strict=True) if control]


@cocotb.test()
async def a_frame_that_is_bad_has_its_bytes_and_a_wrong_fcs(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    for size in [*range(1, 90), 1507, 1514]:
        frames = [random.randbytes(random.randrange(1, 100)), random.randbytes(size)]
        bad = [False, True]
        if random.randrange(2):
            frames, bad = [*frames, random.randbytes(60)], [*bad, False]
        for one, spoilt in zip(frames, bad, strict=True):
            await bench.put(one, bad=spoilt)
        sent = await bench.settle(len(frames))
        assert [bytes(one.get_payload()) for one in sent] == [one.ljust(60, b"\0") for one in frames]
        assert [not one.check_fcs() for one in sent] == bad


@cocotb.test()
async def random_pauses_between_frames_keep_them_whole(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    frames = [random.randbytes(random.randrange(1, 130)) for _ in range(150)]
    for frame in frames:
        await bench.put(frame)
        for _ in range(random.choice([0, 0, 1, 2, 3, 5, 9])):
            await FallingEdge(dut.clk_i)
    sent = await bench.settle(len(frames))
    check(frames, sent)
    assert min(gaps(sent)) >= LEAST_GAP
