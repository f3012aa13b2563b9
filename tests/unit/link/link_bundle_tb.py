# SPDX-License-Identifier: Apache-2.0
"""A pair of link_bundles over lanes that are late, slip, spoil words and lose their signal.

Sources, sinks and counts are in `link_bundle_bench.sv`; the tests here set what happens to the lanes and
hold the counts against it. Whatever happens, no packet may come wrong, doubled or out of order.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge

LANES = int(os.environ["LINK_LANES"])
MAX_SKEW = int(os.environ["LINK_MAX_SKEW"])
ALIGN_WORDS = int(os.environ["LINK_ALIGN_WORDS"])
IDS = 2
DEPTH = 128
MAX_WORDS = 16
INIT_WORDS = 256
DELAY = 12
COUNTS = (
    *("good", "bad", "wrong", "missing", "begun", "crc_bad", "invalid", "cut", "credit_bad", "dropped"),
    *("refused", "lost", "late", "downs", "mark_gap"),
)
ALIGN = 0x8_9C00_0000
ALWAYS = 1 << 16
MARK_LATEST = ALIGN_WORDS + MAX_WORDS + 3
"""Cycles between two marks at most: one is due, a packet has just begun, and ends."""


def packed(values: Sequence[int], width: int) -> int:
    """Values of `width` bits, the first lowest."""
    return sum(value << width * place for place, value in enumerate(values))


@dataclass
class Lanes:
    """What the tests set; `skew[e][l]`: words that lane l of end e's sending side is late."""

    dut: Any
    skew: list[list[int]]
    signal: list[int]
    errors: list[list[int]]

    def put(self) -> None:
        self.dut.skew_i.value = packed([packed(end, 5) for end in self.skew], 5 * LANES)
        self.dut.errors_i.value = packed([packed(end, 16) for end in self.errors], 16 * LANES)
        self.dut.signal_i.value = packed(self.signal, LANES)

    def counts(self, end: int) -> dict[str, int]:
        value = self.dut.count_o.value.to_unsigned() >> 32 * len(COUNTS) * end
        return {name: value >> 32 * place & 0xFFFFFFFF for place, name in enumerate(COUNTS)}

    def both(self, name: str) -> int:
        return self.counts(0)[name] + self.counts(1)[name]

    def up(self) -> bool:
        return int(self.dut.up_o.value) == 3

    def room(self, end: int, ident: int) -> int:
        return self.dut.room_o.value.to_unsigned() >> 10 * (IDS * end + ident) & 0x3FF

    def read(self, end: int, ident: int) -> int:
        return self.dut.read_o.value.to_unsigned() >> 32 * (IDS * end + ident) & 0xFFFFFFFF

    async def run(self, cycles: int) -> None:
        await ClockCycles(self.dut.clk_i, cycles)
        await FallingEdge(self.dut.clk_i)
        for end in (0, 1):
            counts = self.counts(end)
            assert counts["wrong"] == 0, counts

    async def until_up(self, limit: int = 4 * INIT_WORDS + 6 * ALIGN_WORDS + 8 * DELAY) -> None:
        for _ in range(limit // 16):
            await self.run(16)
            if self.up():
                return
        raise AssertionError(f"not up: {self.counts(0)} {self.counts(1)}")

    def load(
        self, send: Sequence[int], gap: int = 0, read: int = ALWAYS, lengths: tuple[int, int] = (1, MAX_WORDS)
    ) -> None:
        """Rates in 65536ths: begins, pauses inside a packet, reads."""
        self.dut.send_i.value = packed(send, 17)
        self.dut.gap_i.value = packed([gap] * 2, 17)
        self.dut.read_i.value = packed([read] * 2, 17)
        self.dut.least_i.value, self.dut.most_i.value = lengths

    async def rest(self) -> None:
        """Nothing more is sent or spoilt: all credit comes home."""
        self.load((0, 0))
        self.errors = [[0] * LANES for _ in range(2)]
        self.put()
        for _ in range(200):
            await self.run(64)
            if int(self.dut.rest_o.value) == 3:
                break
        else:
            rooms = [self.room(e, i) for e in (0, 1) for i in range(IDS)]
            raise AssertionError(f"not at rest: {rooms} {self.counts(0)} {self.counts(1)}")

    def accounted(self) -> None:
        """At rest: each packet that was begun came well, came bad, or its number is missing."""
        for end in (0, 1):
            there, here = self.counts(1 - end), self.counts(end)
            assert here["good"] <= there["begun"]
            assert here["missing"] <= there["begun"] - here["good"]


async def made(dut: Any, skew: Sequence[Sequence[int]] | None = None, up: bool = True) -> Lanes:
    """A pair, both ends out of reset with the given lanes; up unless told not to wait."""
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    lanes = Lanes(
        dut,
        [list(end) for end in (skew or [[0] * LANES] * 2)],
        [(1 << LANES) - 1] * 2,
        [[0] * LANES for _ in range(2)],
    )
    dut.rst_ni.value = 0
    dut.block_i.value = 0
    dut.mute_i.value = 0
    dut.silent_i.value = 0
    lanes.load((0, 0))
    lanes.put()
    await ClockCycles(dut.clk_i, DELAY + 40)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 3
    if up:
        await lanes.until_up()
    return lanes


def any_skew(rng: random.Random, most: int) -> list[int]:
    """A skew a lane, the largest difference being `most` exactly."""
    skew = [rng.randint(0, most) for _ in range(LANES)]
    if LANES > 1:
        early, late = rng.sample(range(LANES), 2)
        skew[early], skew[late] = 0, most
    base = rng.randint(0, 31 - max(skew))
    return [base + one for one in skew]


@cocotb.test()
async def every_packet_comes_over_lanes_of_any_skew(dut: Any) -> None:
    """Every skew to MaxSkew: nothing lost, full rate but for framing, credits and marks, marks in time."""
    rng = random.Random(cocotb.RANDOM_SEED)
    for most in range(MAX_SKEW + 1 if LANES > 1 else 1):
        lanes = await made(dut, [any_skew(rng, most), any_skew(rng, rng.randint(0, most))])
        gap, read = rng.choice([(0, ALWAYS), (3000, ALWAYS), (0, 30000)])
        lanes.load((ALWAYS, 20000), gap, read)
        await lanes.run(1500)
        await lanes.rest()
        lanes.accounted()
        assert lanes.counts(0)["good"] > 30
        for name in ("bad", "missing", "refused", "credit_bad", "crc_bad", "lost", "invalid", "downs"):
            assert lanes.both(name) == 0, name
    lanes = await made(dut)
    await lanes.run(3 * ALIGN_WORDS)
    assert [lanes.counts(e)["mark_gap"] for e in (0, 1)] == [ALIGN_WORDS + 1] * 2, "nothing in their way"
    lanes.load((ALWAYS, 0), lengths=(MAX_WORDS, MAX_WORDS))
    await lanes.run(200)
    words = sum(lanes.read(1, i) for i in range(IDS))
    cycles = 20 * ALIGN_WORDS
    await lanes.run(cycles)
    rate = (sum(lanes.read(1, i) for i in range(IDS)) - words) / cycles
    # A begin of the source's costs it a cycle; then SOP, words, end; and a mark behind every AlignWords.
    assert rate > 0.98 * MAX_WORDS / (MAX_WORDS + 3) * (1 - 1 / ALIGN_WORDS), rate
    await lanes.rest()
    assert ALIGN_WORDS < max(lanes.counts(e)["mark_gap"] for e in (0, 1)) <= MARK_LATEST
    lanes.accounted()


@cocotb.test()
async def lanes_too_far_apart_never_come_up(dut: Any) -> None:
    """More than MaxSkew: told by late_o, never aligned nor up, nothing delivered; made good, it comes up."""
    if LANES == 1:
        return
    rng = random.Random(cocotb.RANDOM_SEED)
    for over in (1, 3):
        lanes = await made(dut, [any_skew(rng, MAX_SKEW + over), [0] * LANES], up=False)
        lanes.load((ALWAYS, ALWAYS))
        for _ in range(20):
            await lanes.run(INIT_WORDS // 4)
            # Lane words of end 0 arrive at end 1.
            assert int(dut.aligned_o.value) & 2 == 0
            assert int(dut.up_o.value) == 0
        assert lanes.counts(1)["late"] > 3
        assert lanes.both("begun") == 0
        lanes.skew[0] = any_skew(rng, MAX_SKEW)
        lanes.put()
        await lanes.until_up()
        await lanes.run(400)
        await lanes.rest()
        assert lanes.both("good") > 20


@cocotb.test()
async def wrong_bits_on_one_lane_cost_their_packets_alone(dut: Any) -> None:
    """From one word in 4000 to one in 20: the link stays up and no lane loses its place by single errors."""
    rng = random.Random(cocotb.RANDOM_SEED)
    lanes = await made(dut, [any_skew(rng, MAX_SKEW), any_skew(rng, MAX_SKEW)])
    for rate in (16, 160):
        lanes.load((ALWAYS, ALWAYS), 1000, 60000)
        lanes.errors[rng.randrange(2)][rng.randrange(LANES)] = rate
        lanes.put()
        await lanes.run(18000)
        await lanes.rest()
    assert lanes.both("lost") == lanes.both("downs") == lanes.both("refused") == 0
    assert lanes.both("bad") > 3
    assert lanes.both("good") > 20 * lanes.both("bad")
    lanes.load((ALWAYS, ALWAYS), 1000, 60000)
    lanes.errors = [[3000] * LANES for _ in range(2)]
    lanes.put()
    await lanes.run(5000)
    await lanes.rest()
    assert lanes.both("good") > 300
    assert lanes.both("crc_bad") > 0
    lanes.accounted()


@cocotb.test()
async def a_lane_that_slips_is_found_and_taken_back(dut: Any) -> None:
    """One word more or less on a lane: the link stays up, is in step again in time, and no credit is lost."""
    if LANES == 1:
        return
    rng = random.Random(cocotb.RANDOM_SEED)
    skew = any_skew(rng, MAX_SKEW - 1)
    lanes = await made(dut, [[one - min(skew) + 4 for one in skew], [0] * LANES])
    for _ in range(6):
        lanes.load((ALWAYS, ALWAYS), 500, 60000)
        await lanes.run(rng.randint(100, 400))
        before, downs = lanes.counts(1), lanes.both("downs")
        lane = rng.randrange(LANES)
        for change in rng.sample((-1, 1), 2):
            slipped = list(lanes.skew[0])
            slipped[lane] += change
            if max(slipped) - min(slipped) <= MAX_SKEW and min(slipped) >= 0:
                break
        lanes.skew[0] = slipped
        lanes.put()
        taken = 0
        while lanes.counts(1)["lost"] == before["lost"]:
            await lanes.run(4)
            taken += 4
            # Two marks: the first apart raises a doubt, its stray second one confirms it.
            assert taken <= 2 * MARK_LATEST + 40
        invalid, found = lanes.counts(1)["invalid"], taken
        while not int(dut.aligned_o.value) & 2:
            await lanes.run(4)
            taken += 4
            assert taken <= 4 * MARK_LATEST + 40
        # No word is taken meanwhile, whatever it looks like.
        assert lanes.counts(1)["invalid"] - invalid >= taken - found - 8 > 8
        good = lanes.counts(1)["good"]
        await lanes.run(200)
        assert lanes.counts(1)["good"] > good
        assert lanes.both("downs") == downs, "the link went down for a slip"
        assert lanes.counts(1)["lost"] == before["lost"] + 1
        await lanes.rest()
    assert lanes.both("refused") == 0
    assert lanes.counts(1)["bad"] > 0
    # Further than MaxSkew: no alignment any more, and the link goes down until the lane is back.
    kept, lanes.skew[0] = lanes.skew[0], [0] * (LANES - 1) + [MAX_SKEW + 1]
    lanes.put()
    await lanes.run(6 * ALIGN_WORDS)
    assert not lanes.up()
    lanes.skew[0] = kept
    lanes.put()
    await lanes.until_up()
    lanes.load((ALWAYS, ALWAYS))
    good = lanes.both("good")
    await lanes.run(500)
    assert lanes.both("good") > good + 10
    await lanes.rest()
    lanes.accounted()


@cocotb.test()
async def a_lane_that_stays_away_ends_the_link(dut: Any) -> None:
    """A lane without lock, a lane that says nothing, and a reset: down, up again, and all credit home."""
    rng = random.Random(cocotb.RANDOM_SEED)
    lanes = await made(dut, [any_skew(rng, MAX_SKEW), any_skew(rng, MAX_SKEW)])
    for what in ("signal", "silent", "reset", "signal"):
        lanes.load((ALWAYS, ALWAYS), 500, 60000)
        await lanes.run(rng.randint(50, 500))
        lane, end, downs = rng.randrange(LANES), rng.randrange(2), lanes.both("downs")
        if what == "signal":
            lanes.signal[end] ^= 1 << lane
            lanes.put()
            await lanes.run(rng.choice((2, 300)))
            lanes.signal[end] = (1 << LANES) - 1
        elif what == "silent":
            # No marks, so no alignment, and after a while no link.
            dut.silent_i.value = 1 << LANES * end + lane
            await lanes.run(8 * ALIGN_WORDS)
            assert not lanes.up() or LANES == 1
            dut.silent_i.value = 0
        else:
            dut.rst_ni.value = 3 ^ 1 << end
            await lanes.run(rng.choice((1, 60)))
            dut.rst_ni.value = 3
        lanes.put()
        await lanes.run(2 * DELAY + 40)
        await lanes.until_up()
        assert lanes.both("downs") > downs or what == "reset" or (what == "silent" and LANES == 1)
        good = lanes.both("good")
        await lanes.run(500)
        assert lanes.both("good") > good + 10
        await lanes.rest()
    assert lanes.both("dropped") + lanes.both("cut") > 0
    lanes.accounted()


@cocotb.test()
async def words_take_one_cycle_out_and_three_in(dut: Any) -> None:
    """Sop offered to SOP at the pins 1, SOP at the latest lane's pins to its flit 3, plus nothing."""
    rng = random.Random(cocotb.RANDOM_SEED)
    for most in (0, MAX_SKEW if LANES > 1 else 0):
        skew = any_skew(rng, most)
        lanes = await made(dut, [skew, [0] * LANES])
        await lanes.rest()
        lanes.load((ALWAYS, 0), lengths=(3, 3))
        times: dict[str, int] = {}
        for cycle in range(6 * ALIGN_WORDS):
            await FallingEdge(dut.clk_i)
            word = dut.tx_o.value.to_unsigned() & 0xF_FFFF_FFFF
            if int(dut.sop_o.value) & 1:
                times.setdefault("offered", cycle)
            if "offered" in times and word >> 24 == 0x8FB:
                times.setdefault("sent", cycle)
            if int(dut.flit_o.value) & 2:
                times["taken"] = cycle
                break
        lanes.load((0, 0))
        assert times["sent"] - times["offered"] == 1
        assert times["taken"] - times["sent"] == DELAY + max(skew) + 3
        await lanes.rest()


@cocotb.test()
async def a_blocked_channel_leaves_the_line_to_the_others(dut: Any) -> None:
    """Virtual channels: with nobody reading id 0, id 1 has all of the line that framing and credits leave."""
    lanes = await made(dut)
    dut.block_i.value = 1 << IDS  # end 1, id 0
    lanes.load((ALWAYS, 0), lengths=(MAX_WORDS, MAX_WORDS))
    for _ in range(100):
        await lanes.run(64)
        if lanes.room(0, 0) <= MAX_WORDS:
            break
    assert lanes.room(0, 0) <= MAX_WORDS, "id 0 has filled its buffer"
    stopped, words, cycles = lanes.read(1, 0), lanes.read(1, 1), 40 * (MAX_WORDS + 4)
    await lanes.run(cycles)
    assert lanes.read(1, 0) == stopped
    # Every other draw of the source's is for the blocked id and costs it a cycle or two.
    assert (lanes.read(1, 1) - words) / cycles > 0.94 * MAX_WORDS / (MAX_WORDS + 4)
    dut.block_i.value = 0
    await lanes.rest()
    assert lanes.both("bad") == lanes.both("missing") == 0
    lanes.accounted()
