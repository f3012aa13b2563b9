# SPDX-License-Identifier: Apache-2.0
"""pcie_push: bursts of every shape against the rule that the docs state, and what passes it by.

The channel is driven beat by beat, since a bus model writes whole ranges only and never leaves a hole.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

INPUTS = (
    "awvalid", "awid", "awaddr", "awlen", "awsize", "wvalid", "wdata", "wstrb", "wlast", "bready",
    "bus_awready", "bus_wready", "bus_bvalid", "bus_bid", "bus_bresp", "start", "open", "room",
)  # fmt: skip
WINDOW_WORDS = 1024


@dataclass
class Burst:
    """A write burst at the pins: word address in the window, beats of data and strobes."""

    word: int
    size: int  # log2 of the bytes a beat
    beats: list[tuple[int, int]] = field(default_factory=list)

    def enabled(self) -> list[tuple[int, int, int]]:
        """(word address, data, strobes) of every lane that has a strobe."""
        out = []
        for n, (data, strobes) in enumerate(self.beats):
            at = (self.word & ~1) + 2 * n if self.size == 3 else self.word + n
            for lane in range(2):
                four = strobes >> 4 * lane & 0xF
                if four:
                    out.append(((at & ~1) + lane, data >> 32 * lane & 0xFFFFFFFF, four))
        return out


def accepted(burst: Burst, follows: int, is_open: bool, room: int) -> list[int] | None:
    """The words that the documented rule lets in, or None where the burst is refused whole."""
    most = len(burst.beats) * (2 if burst.size == 3 else 1)
    if not is_open or burst.size < 2 or room < most:
        return None
    if any(strobes == 0 for _, strobes in burst.beats):
        return None
    lanes = burst.enabled()
    if any(four != 0xF or at != (follows + n) % WINDOW_WORDS for n, (at, _, four) in enumerate(lanes)):
        return None
    return [data for _, data, _ in lanes]


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.words: list[int] = []
        self.events: list[tuple[str, int]] = []
        self.next = 0

    async def start(self) -> None:
        d = self.dut
        for name in INPUTS:
            getattr(d, f"{name}_i").value = 0
        d.rst_ni.value = 0
        cocotb.start_soon(Clock(d.clk_i, 8, "ns").start())
        for _ in range(3):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        await FallingEdge(d.clk_i)

    async def _sampled(self) -> None:
        """One clock: what went to the buffer in it."""
        d = self.dut
        await RisingEdge(d.clk_i)
        if d.write_o.value:
            lanes, data = int(d.lanes_o.value), int(d.data_o.value)
            assert bool(d.first_o.value) == (not self.words), "a push's first word is marked, no other"
            self.words += [data >> 32 * lane & 0xFFFFFFFF for lane in range(2) if lanes >> lane & 1]
        for name in ("commit", "rollback", "refused"):
            if getattr(d, f"{name}_o").value:
                self.events.append((name, int(d.words_o.value) if name == "commit" else 0))
        await FallingEdge(d.clk_i)

    async def send(self, burst: Burst, gaps: float = 0.0) -> None:
        d, rng = self.dut, self.rng
        self.words, self.events = [], []
        ident = rng.randrange(16)
        assert d.idle_o.value
        d.awvalid_i.value, d.awid_i.value = 1, ident
        d.awaddr_i.value = 1 << 10 | burst.word
        d.awlen_i.value, d.awsize_i.value = len(burst.beats) - 1, burst.size
        d.bus_awready_i.value = rng.getrandbits(1)
        await self._sampled()
        assert not d.idle_o.value
        d.awvalid_i.value = 0
        # Leave and room are looked at with the address alone.
        d.open_i.value, d.room_i.value = rng.getrandbits(1), rng.getrandbits(9)
        for n, (data, strobes) in enumerate(burst.beats):
            while rng.random() < gaps:
                d.wvalid_i.value = 0
                d.wdata_i.value, d.wstrb_i.value = rng.getrandbits(64), rng.getrandbits(8)
                d.wlast_i.value = rng.getrandbits(1)
                await self._sampled()
            d.wvalid_i.value, d.wdata_i.value, d.wstrb_i.value = 1, data, strobes
            d.wlast_i.value = n == len(burst.beats) - 1
            assert d.wready_o.value
            await self._sampled()
        d.wvalid_i.value = 0
        while not d.bready_i.value:
            assert (d.bvalid_o.value, int(d.bid_o.value), int(d.bresp_o.value)) == (1, ident, 0)
            d.bready_i.value = rng.random() >= gaps
            await self._sampled()
        d.bready_i.value = 0
        assert d.idle_o.value

    async def check(self, burst: Burst, is_open: bool = True, room: int = 511, gaps: float = 0.0) -> bool:
        """Send `burst` and hold what came of it against the rule; whether it was let in."""
        self.dut.open_i.value, self.dut.room_i.value = is_open, room
        await self.send(burst, gaps)
        expected = accepted(burst, self.next, is_open, room)
        if expected is None:
            most = len(burst.beats) * (2 if burst.size == 3 else 1)
            admitted = is_open and burst.size >= 2 and room >= most
            # A buffer that lent room gets it back; one that did not is left alone.
            assert self.events == [*([("rollback", 0)] * admitted), ("refused", 0)]
        else:
            assert self.words == expected
            assert self.events == [("commit", len(expected))]
            self.next = (self.next + len(expected)) % WINDOW_WORDS
        assert int(self.dut.next_o.value) == 4 * self.next
        return expected is not None


async def started(dut: Any) -> Bench:
    bench = Bench(dut)
    await bench.start()
    return bench


def line(rng: random.Random, word: int, words: int, size: int) -> Burst:
    """`words` whole words from `word` on, as a host's store buffer sends them."""
    burst = Burst(word, size)
    at, end = word, word + words
    while at < end:
        low, high = not at & 1, size == 3 and end - (at & ~1) >= 2
        if size == 2:
            low, high = not at & 1, bool(at & 1)
        strobes = (0x0F if low else 0) | (0xF0 if high else 0)
        burst.beats.append((rng.getrandbits(64), strobes))
        at = (at & ~1) + 2 if size == 3 else at + 1
    return burst


@cocotb.test()
async def pushes_of_every_length_and_place_are_one_stream(dut: Any) -> None:
    b = await started(dut)
    for _ in range(400):
        size = b.rng.choice([2, 3])
        words = b.rng.randrange(1, min(17, WINDOW_WORDS - b.next + 1))
        assert await b.check(line(b.rng, b.next, words, size), gaps=b.rng.choice([0.0, 0.4]))


@cocotb.test()
async def what_breaks_a_rule_is_refused_whole_and_the_stream_goes_on(dut: Any) -> None:
    b = await started(dut)
    reasons: dict[str, int] = {}
    for _ in range(1500):
        size = b.rng.choice([2, 3, 3])
        words = b.rng.randrange(1, min(9, WINDOW_WORDS - b.next + 1))
        burst, is_open, room = line(b.rng, b.next, words, size), True, 511
        reason = b.rng.choice(["none", "place", "strobe", "hole", "closed", "room", "narrow"])
        n = b.rng.randrange(len(burst.beats))
        data, strobes = burst.beats[n]
        if reason == "place":
            burst.word = (b.next + b.rng.choice([-2, -1, 1, 2, 512])) % (WINDOW_WORDS - 16)
            if size == 2 or (burst.word ^ b.next) & 1:
                burst = line(b.rng, burst.word, words, size)
        elif reason == "strobe":
            burst.beats[n] = (data, strobes & ~(1 << b.rng.choice([i for i in range(8) if strobes >> i & 1])))
        elif reason == "hole":
            burst.beats[n] = (data, b.rng.choice([0, strobes & 0x0F, strobes & 0xF0]))
        elif reason == "closed":
            is_open = False
        elif reason == "room":
            room = b.rng.randrange(2 * len(burst.beats) + 1)
        elif reason == "narrow":
            burst.size = b.rng.randrange(2)
            is_open = b.rng.random() < 0.8
        good = await b.check(burst, is_open, room, b.rng.choice([0.0, 0.4]))
        if reason == "none":
            assert good
        reasons[reason] = reasons.get(reason, 0) + (not good)
    for reason in ("place", "strobe", "hole", "closed", "room", "narrow"):
        assert reasons[reason] > 50, (reason, "was not refused often enough to say anything")


@cocotb.test()
async def a_start_puts_the_window_back_to_its_begin(dut: Any) -> None:
    b = await started(dut)
    assert await b.check(line(b.rng, 0, 5, 3))
    dut.start_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.start_i.value = 0
    b.next = 0
    assert int(dut.next_o.value) == 0
    assert not await b.check(line(b.rng, 5, 2, 3))
    assert await b.check(line(b.rng, 0, 2, 3))


@cocotb.test()
async def every_other_write_passes_and_pushes_nothing(dut: Any) -> None:
    b = await started(dut)
    d, rng = dut, b.rng
    d.open_i.value, d.room_i.value = 1, 511
    for _ in range(60):
        d.awvalid_i.value, d.awaddr_i.value = 1, rng.randrange(WINDOW_WORDS)
        taken = False
        while not taken:
            d.bus_awready_i.value = rng.getrandbits(1)
            await RisingEdge(d.clk_i)
            assert d.bus_awvalid_o.value
            taken = bool(d.bus_awready_i.value)
            assert bool(d.awready_o.value) == taken
            await FallingEdge(d.clk_i)
        d.awvalid_i.value = 0
        d.wvalid_i.value = 1
        taken = False
        while not taken:
            d.bus_wready_i.value = rng.getrandbits(1)
            await RisingEdge(d.clk_i)
            taken = bool(d.bus_wready_i.value)
            assert (bool(d.bus_wvalid_o.value), bool(d.wready_o.value)) == (True, taken)
            assert (d.write_o.value, d.commit_o.value, d.refused_o.value) == (0, 0, 0)
            await FallingEdge(d.clk_i)
        d.wvalid_i.value = 0
        ident, answer = rng.randrange(16), rng.choice([0, 2])
        d.bus_bvalid_i.value, d.bus_bid_i.value, d.bus_bresp_i.value = 1, ident, answer
        taken = False
        while not taken:
            d.bready_i.value = rng.getrandbits(1)
            await RisingEdge(d.clk_i)
            taken = bool(d.bready_i.value)
            assert bool(d.bus_bready_o.value) == taken
            assert (d.bvalid_o.value, int(d.bid_o.value), int(d.bresp_o.value)) == (1, ident, answer)
            await FallingEdge(d.clk_i)
        d.bus_bvalid_i.value = 0
        d.bready_i.value = 0
        assert d.idle_o.value
        assert int(d.next_o.value) == 0
