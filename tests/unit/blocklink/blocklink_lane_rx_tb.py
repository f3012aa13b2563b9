# SPDX-License-Identifier: Apache-2.0
"""One receive lane against words of the model: any number of SKIPs, wrong bits in framing, loss of lock."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from lane_model import Sender, first_state

METAFRAME = 16
PAYLOAD = METAFRAME - 4


@dataclass
class Lane:
    """Sends metaframes of random words, and keeps what must come out."""

    dut: Any
    sender: Sender = field(default_factory=lambda: Sender(first_state(3)))
    rng: random.Random = field(default_factory=lambda: random.Random(cocotb.RANDOM_SEED))
    must: list[tuple[bool, int | None]] = field(default_factory=list)
    came: list[tuple[bool, int]] = field(default_factory=list)
    skips: int = 0
    crc_bad: int = 0
    sync_bad: int = 0

    async def start(self) -> None:
        cocotb.start_soon(Clock(self.dut.clk_i, 10, "ns").start())
        self.dut.rst_ni.value = self.dut.valid_i.value = 0
        self.dut.locked_i.value = 1
        for _ in range(2):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    async def send(self, code: int) -> None:
        """One word, now and then a cycle without any before it."""
        idle = self.rng.random() < 0.1
        for valid in (0, 1) if idle else (1,):
            self.dut.valid_i.value = valid
            self.dut.code_i.value = code
            await FallingEdge(self.dut.clk_i)
            if int(self.dut.valid_o.value):
                self.came.append((bool(int(self.dut.mark_o.value)), int(self.dut.word_o.value)))
            self.skips += int(self.dut.skip_o.value)
            self.crc_bad += int(self.dut.crc_bad_o.value)
            self.sync_bad += int(self.dut.sync_bad_o.value)

    async def metaframe(
        self, skips: int = 1, alter: Callable[[str, int], int] = lambda _, code: code
    ) -> None:
        """A whole one; `alter` may change a word. Extra SKIPs are between the words of blocks."""
        sender = self.sender
        await self.send(alter("sync", sender.sync()))
        await self.send(alter("scrambler", sender.scrambler()))
        self.must += [(True, None), (False, None)]
        places = {0} if skips else set()
        while len(places) < skips:
            places.add(self.rng.randrange(1, PAYLOAD))
        for place in range(PAYLOAD):
            if place in places:
                await self.send(alter("skip", sender.skip()))
            last = place % 8 == 7
            word = self.rng.getrandbits(64) | (1 << 63 if last else 0)
            self.must.append((False, word))
            await self.send(alter("word", sender.word(word, last)))
        await self.send(alter("diag", sender.diag(0b10)))
        self.must.append((False, None))

    def check(self) -> None:
        """What came is the end of what was sent, less SKIPs."""
        assert len(self.came) > 2 * METAFRAME
        for (mark, word), (must_mark, must_word) in zip(
            reversed(self.came), reversed(self.must), strict=False
        ):
            assert mark == must_mark
            assert must_word is None or word == must_word, (hex(word), hex(must_word))


async def locked(dut: Any, skips: Sequence[int] = (1,)) -> Lane:
    lane = Lane(dut)
    await lane.start()
    for _ in range(5):
        await lane.metaframe(lane.rng.choice(skips))
    assert int(dut.framed_o.value)
    return lane


def flip(which: str, bit: int) -> Callable[[str, int], int]:
    return lambda what, code: code ^ 1 << bit if what == which else code


@cocotb.test()
async def skips_in_any_number_are_dropped(dut: Any) -> None:
    """A repeater may take a SKIP away or send more: no other word moves."""
    lane = await locked(dut, (0, 1, 2, 3))
    for _ in range(30):
        await lane.metaframe(lane.rng.choice((0, 1, 2, 3)))
    await lane.metaframe()
    lane.check()
    assert lane.skips > 20
    assert lane.crc_bad == lane.sync_bad == 0
    assert int(dut.health_o.value) == 0b10


@cocotb.test()
async def a_wrong_bit_in_a_framing_word_changes_nothing_else(dut: Any) -> None:
    """Any bit of SYNC, SCRAMBLER, SKIP and DIAG, the header's and the inversion's among them."""
    lane = await locked(dut)
    for which in ("sync", "scrambler", "skip", "diag"):
        # The inversion bit turns all bits: of a SKIP, that is none.
        bits = [lane.rng.randrange(64), lane.rng.randrange(64), 64, 65]
        for bit in bits if which == "skip" else [*bits, 66]:
            crc_bad = lane.crc_bad
            await lane.metaframe(alter=flip(which, bit))
            await lane.metaframe()
            # Where the check covers the bit: not the header, and not the scrambler's state.
            if bit < 64 and which != "scrambler":
                assert lane.crc_bad == crc_bad + 1, (which, bit)
            assert int(dut.framed_o.value)
    lane.check()
    assert lane.sync_bad == 5


@cocotb.test()
async def four_missing_syncs_end_the_lock(dut: Any) -> None:
    lane = await locked(dut)
    for count in range(4):
        assert int(dut.framed_o.value), count
        await lane.metaframe(alter=flip("sync", lane.rng.randrange(67)))
    assert not int(dut.framed_o.value)
    lane.came.clear()
    for _ in range(7):
        await lane.metaframe()
    assert int(dut.framed_o.value)
    lane.check()


@cocotb.test()
async def a_scrambler_out_of_step_ends_the_lock(dut: Any) -> None:
    """Three states in a row that are not the descrambler's; two are bit errors."""
    lane = await locked(dut)
    for _ in range(2):
        await lane.metaframe(alter=flip("scrambler", lane.rng.randrange(58)))
    await lane.metaframe()
    lane.check()
    lane.sender.state ^= 1 << 20
    for _ in range(3):
        assert int(dut.framed_o.value)
        # The descrambler does not find SKIPs now.
        await lane.metaframe(skips=0)
    assert not int(dut.framed_o.value)
    lane.came.clear()
    for _ in range(7):
        await lane.metaframe()
    assert int(dut.framed_o.value)
    lane.check()


@cocotb.test()
async def a_sync_elsewhere_moves_the_place(dut: Any) -> None:
    """A word too many: the next SYNC is found where it is, and the scrambler's state is taken again."""
    lane = await locked(dut)
    await lane.send(lane.sender.word(lane.rng.getrandbits(64), False))
    for _ in range(6):
        await lane.metaframe()
        assert int(dut.framed_o.value)
    lane.came = lane.came[-5 * METAFRAME + 5 :]
    lane.check()
    assert lane.sync_bad == 2


@cocotb.test()
async def without_word_lock_there_is_none_of_metaframes(dut: Any) -> None:
    lane = await locked(dut)
    dut.locked_i.value = 0
    await lane.metaframe()
    assert not int(dut.framed_o.value)
    lane.came.clear()
    await lane.metaframe()
    assert not lane.came
