# SPDX-License-Identifier: Apache-2.0
"""xgmii_rx against cocotbext-eth's XGMII source, and against words that no such source sends."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, with_timeout
from cocotb.utils import get_sim_time
from cocotbext.eth import XgmiiFrame, XgmiiSource
from frames import TAG, with_fcs, with_tag
from xgmii_words import ERROR, IDLE, PREAMBLE, START, TERMINATE, Lane, data, frame, idle, words

CLK_PS = 6400
WORD_TO_WORD = 1
TERMINATE_TO_END = 2


@dataclass
class Ended:
    """A frame as the module gave it."""

    raw: bytes
    length: bool
    fcs: bool
    cycle: int
    tagged: bool = False

    @property
    def good(self) -> bool:
        return not self.length and not self.fcs


class Bench:
    def __init__(self, dut: object) -> None:
        self.dut = dut
        self.ended: list[Ended] = []
        self.first: list[int] = []

    async def start(self) -> None:
        dut = self.dut
        dut.rst_ni.value = 0
        dut.xgmii_rxd_i.value = int.from_bytes(bytes([IDLE] * 8), "little")
        dut.xgmii_rxc_i.value = 0xFF
        cocotb.start_soon(Clock(dut.clk_i, CLK_PS, "ps").start())
        await ClockCycles(dut.clk_i, 4)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 2)
        cocotb.start_soon(self.watch())

    async def watch(self) -> None:
        dut, raw, inside, tagged = self.dut, b"", False, False
        done: list[tuple[bytes, bool]] = []
        while True:
            await FallingEdge(dut.clk_i)
            cycle = get_sim_time("ps") // CLK_PS
            # An end belongs to words of earlier cycles.
            if dut.end_valid_o.value:
                content, mark = done.pop(0) if done else (b"", False)
                self.ended.append(
                    Ended(content, bool(dut.end_length_o.value), bool(dut.end_fcs_o.value), cycle, mark)
                )
            if dut.word_valid_o.value:
                if dut.word_first_o.value:
                    assert not inside, "a frame began inside another"
                    raw, tagged = b"", False
                    self.first.append(cycle)
                elif not inside:
                    raise AssertionError("a word outside a frame")
                count = int(dut.word_bytes_o.value)
                word = int(dut.word_o.value).to_bytes(8, "little")
                assert word[count:] == bytes(8 - count)
                assert count == 8 or dut.word_last_o.value
                raw += word[:count]
                if dut.word_tag_o.value:
                    assert 8 < len(raw) <= 16
                    tagged = True
                inside = not dut.word_last_o.value
                if not inside:
                    done.append((raw, tagged))
            else:
                assert not inside, "a gap inside a frame"
                assert not dut.word_tag_o.value

    async def drive(self, lanes: Sequence[Lane]) -> int:
        """Put lanes on the wire, then idle words; the cycle of the first word."""
        dut, begin = self.dut, 0
        for word, control in [*words(lanes), *words(idle(64))]:
            await RisingEdge(dut.clk_i)
            begin = begin or get_sim_time("ps") // CLK_PS
            dut.xgmii_rxd_i.value = word
            dut.xgmii_rxc_i.value = control
        return begin

    async def send(
        self, raws: Sequence[bytes], *, dic: bool = True, late: bool = False, ifg: int = 12
    ) -> None:
        source = XgmiiSource(self.dut.xgmii_rxd_i, self.dut.xgmii_rxc_i, self.dut.clk_i)
        source.log.setLevel("WARNING")
        source.enable_dic, source.force_offset_start, source.ifg = dic, late, ifg
        for raw in raws:
            source.send_nowait(XgmiiFrame.from_raw_payload(raw))
        await with_timeout(source.wait(), 10, "ms")
        await ClockCycles(self.dut.clk_i, 8)


@cocotb.test()
async def every_length_ends_in_its_lane_from_both_starts(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    sizes = [*range(60, 84), 1514 - 7, 1513, 1514]
    frames = [with_fcs(random.randbytes(size)) for size in sizes]
    for late in (False, True):
        bench.ended.clear()
        await bench.send(frames, dic=not late, late=late)
        assert [one.raw for one in bench.ended] == frames
        assert all(one.good for one in bench.ended)
        assert dut.idle_o.value


@cocotb.test()
async def line_rate_with_deficit_idle_count(dut: object) -> None:
    """Minimum frames, and random ones, as close as the standard lets them."""
    bench = Bench(dut)
    await bench.start()
    frames = [with_fcs(random.randbytes(60)) for _ in range(40)]
    frames += [with_fcs(random.randbytes(random.randrange(60, 200))) for _ in range(40)]
    await bench.send(frames)
    assert [one.raw for one in bench.ended] == frames
    assert all(one.good for one in bench.ended)
    # 84 bytes each on the wire are 10.5 words.
    spent = bench.first[39] - bench.first[1]
    assert 38 * 10.5 - 1 <= spent <= 38 * 10.5 + 1, spent


@cocotb.test()
async def gaps_down_to_five_bytes_lose_nothing(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    frames, lanes = [], []
    for _ in range(200):
        raw = with_fcs(random.randbytes(random.randrange(60, 90)))
        frames.append(raw)
        lanes += frame(raw)
        # The terminate counts as the gap's first byte; a start is in lane 0 or 4.
        lanes += idle(4 + (-(len(lanes) + 4) % 4) + 4 * random.randrange(2))
    await bench.drive(lanes)
    assert [one.raw for one in bench.ended] == frames
    assert all(one.good for one in bench.ended)


@cocotb.test()
async def of_a_shorter_gap_a_frame_is_bad_where_the_next_one_follows_at_once(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    good, met, lanes = [], set(), []
    for _ in range(400):
        raw = with_fcs(random.randbytes(random.randrange(60, 90)))
        first = len(lanes) % 8
        lanes += frame(raw)
        more = -len(lanes) % 4 + 8 * random.randrange(2)
        gap = 1 + more  # with the terminate
        lanes += idle(more)
        met.add((first, len(lanes) % 8, gap))
        # The words of a frame from lane 4 are half a word late.
        if not (first == 4 and len(lanes) % 8 == 0 and gap < 5):
            good.append(raw)
    lanes += frame(raw)
    good.append(raw)
    await bench.drive(lanes)
    assert len(bench.ended) == 401
    assert [one.raw for one in bench.ended if one.good] == good
    assert all(not one.length for one in bench.ended)
    assert {(first, to, gap) for first in (0, 4) for to in (0, 4) for gap in (1, 2, 3, 4)} <= met


@cocotb.test()
async def the_last_word_and_the_end_come_when_the_header_says(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    raw = with_fcs(random.randbytes(60))
    begin = await bench.drive(frame(raw))
    # The start's word, eight words of frame, then the terminate in lane 0 of its own.
    assert bench.first == [begin + 1 + WORD_TO_WORD]
    assert bench.ended[0].cycle == begin + 9 + TERMINATE_TO_END


@cocotb.test()
async def any_flipped_bit_is_seen(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    raws, flips = [], []
    for _ in range(120):
        raw = bytearray(with_fcs(random.randbytes(random.randrange(60, 80))))
        flip = random.randrange(3)  # none, one bit, or a burst of up to 32 bits
        at = random.randrange(8 * len(raw) - 32)
        pattern = (0, 1, random.getrandbits(32) | 1)[flip]
        value = int.from_bytes(raw, "little") ^ pattern << at
        raws.append(value.to_bytes(len(raw), "little"))
        flips.append(flip > 0)
    await bench.send(raws)
    assert [one.raw for one in bench.ended] == raws
    assert [one.fcs for one in bench.ended] == flips
    assert not any(one.length for one in bench.ended)


@cocotb.test()
async def short_and_long_frames_are_judged_by_length(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    sizes = [1, 4, 7, 8, 9, 32, 63, 64, 1517, 1518, 1519, 1520, 1521, 1600, 3000, 64]
    lanes: list[Lane] = []
    for size in sizes:
        body = random.randbytes(max(size - 4, 0))
        raw = with_fcs(body, pad=False)[:size]
        lanes += [*frame(raw), *idle(16)]
        lanes += idle(-len(lanes) % 4)
    await bench.drive(lanes)
    assert len(bench.ended) == len(sizes)
    for size, one in zip(sizes, bench.ended, strict=True):
        assert one.length == (not 64 <= size <= 1518), size
        assert one.good == (64 <= size <= 1518), size


@cocotb.test()
async def a_tag_is_marked_and_its_frame_may_have_four_bytes_more(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    for late in (False, True):
        bench.ended.clear()
        lanes: list[Lane] = idle(4 * late)
        raws = []
        for size in [13, 14, 15, 16, 17, 63, 64, 65, 1517, 1518, *range(1519, 1530), 1600, 3000, 64]:
            for kind in (TAG, b"\x88\xa8", b"\x81\x01", b"\x08\x00"):
                body = with_tag(random.randbytes(max(size - 8, 12)), kind=kind)[: max(size - 4, 0)]
                raws.append(with_fcs(body, pad=False)[:size])
                lanes += [*frame(raws[-1]), *idle(16)]
                lanes += idle((4 * late - len(lanes)) % 8)
        await bench.drive(lanes)
        assert len(bench.ended) == len(raws)
        for raw, one in zip(raws, bench.ended, strict=True):
            tagged = raw[12:14] == TAG
            most = 1522 if tagged else 1518
            assert one.tagged == tagged
            assert one.length == (not 64 <= len(raw) <= most), (late, tagged, len(raw))
            assert one.good == (64 <= len(raw) <= most)
            if one.good:
                assert one.raw == raw


@cocotb.test()
async def an_error_character_anywhere_spoils_its_frame_alone(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    lanes: list[Lane] = []
    for at in range(8, 73):  # in place of each byte, and of the terminate
        raw = with_fcs(random.randbytes(60))
        broken = frame(raw)
        broken[at] = (random.choice([ERROR, IDLE, 0x9C]), 1)
        lanes += [*idle(4 * random.randrange(2)), *broken, *idle(11), *frame(raw), *idle(11)]
    await bench.drive(lanes)
    assert len(bench.ended) == 2 * 65
    assert not any(one.good for one in bench.ended[::2])
    assert all(one.good for one in bench.ended[1::2])


@cocotb.test()
async def a_start_without_delimiter_is_a_frame_that_never_began(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    raw = with_fcs(random.randbytes(60))
    lanes: list[Lane] = []
    spoiled = [
        (7, (0x55, 0)),
        (7, (0xD4, 0)),
        *((at, (random.choice((ERROR, TERMINATE)), 1)) for at in range(1, 8)),
    ]
    for first in (0, 4):
        for at, lane in spoiled:
            lanes += idle(first + -len(lanes) % 8)
            broken = list(PREAMBLE)
            broken[at] = lane
            lanes += [*broken, *data(raw), (TERMINATE, 1), *idle(11), *frame(raw), *idle(11)]
    await bench.drive(lanes)
    assert [one.length for one in bench.ended] == [True, False] * 2 * len(spoiled)
    assert all(one.good for one in bench.ended[1::2])


@cocotb.test()
async def a_start_inside_a_frame_ends_it_and_begins_the_next(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    raw = with_fcs(random.randbytes(92))
    # Cut in both halves of a word, and the next one starts in either.
    for first in (0, 4):
        for cut in (64, 68):
            bench.ended.clear()
            lanes = [*idle(first), *PREAMBLE, *data(raw)[: cut - 8], *frame(raw)]
            await bench.drive(lanes)
            kinds = [one.good for one in bench.ended]
            assert kinds[-1], (first, cut)
            assert not any(kinds[:-1]), (first, cut)
            assert bench.ended[-1].raw == raw


@cocotb.test()
async def ordered_sets_and_noise_between_frames_are_no_frames(dut: object) -> None:
    bench = Bench(dut)
    await bench.start()
    raw = with_fcs(random.randbytes(60))
    fault: list[Lane] = [(0x9C, 1), (0, 0), (0, 0), (1, 0)]
    noise: list[Lane] = [
        (random.choice([b for b in range(256) if b != START]), random.randrange(2)) for _ in range(160)
    ]
    await bench.drive([*fault * 8, *idle(8), *frame(raw), *idle(15), *noise, *idle(16), *frame(raw)])
    assert [one.good for one in bench.ended] == [True, True]
