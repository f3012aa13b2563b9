# SPDX-License-Identifier: Apache-2.0
"""link_deskew: lanes that come at different times stand side by side behind it."""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from link_model import ALIGN, control

LANES = int(os.environ["LINK_LANES"])
MAX_SKEW = int(os.environ["LINK_MAX_SKEW"])
GAP = 3 * MAX_SKEW + 5  # words between two marks
MARK = control(ALIGN)


class Lanes:
    """The same numbered words on each lane, lane i `skew[i]` cycles late; a mark every GAP words."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.time = 1000
        self.skew = [0] * LANES

    async def start(self) -> None:
        cocotb.start_soon(Clock(self.dut.clk_i, 10, "ns").start())
        self.dut.rst_ni.value = 0
        self.dut.signal_i.value = self.dut.step_i.value = 1
        await self.step()
        await self.step()
        self.dut.rst_ni.value = 1

    async def pause(self) -> None:
        """A clock without a word: whatever is at the inputs then, the outputs stay."""
        before = int(self.dut.aligned_o.value), int(self.dut.word_o.value)
        self.dut.step_i.value = 0
        self.dut.lane_i.value = sum(MARK << 36 * i for i in range(LANES) if random.random() < 0.5)
        await FallingEdge(self.dut.clk_i)
        assert (int(self.dut.aligned_o.value), int(self.dut.word_o.value)) == before
        self.dut.step_i.value = 1

    async def step(self, pauses: float = 0.0) -> tuple[bool, list[int]]:
        """One clock: aligned_o and the words of all lanes. `pauses`: how often none comes."""
        while random.random() < pauses:
            await self.pause()
        words = 0
        for i, skew in enumerate(self.skew):
            number = self.time - skew
            word = MARK if number % GAP == 0 else i << 28 | number
            words |= word << 36 * i
        self.time += 1
        self.dut.lane_i.value = words
        await FallingEdge(self.dut.clk_i)
        seen = int(self.dut.word_o.value)
        return bool(self.dut.aligned_o.value), [seen >> 36 * i & (1 << 36) - 1 for i in range(LANES)]


def same(words: list[int]) -> bool:
    """All lanes show the same instant."""
    return all(w == MARK for w in words) or {w & 0xFFFFFFF for w in words if w != MARK} == {
        words[0] & 0xFFFFFFF
    }


@cocotb.test()
async def any_skew_is_taken_out(dut: Any) -> None:
    """Every skew up to MAX_SKEW: aligned at the second mark at the latest, and then in step for good."""
    rng = random.Random(cocotb.RANDOM_SEED)
    lanes = Lanes(dut)
    await lanes.start()
    for _ in range(30):
        lanes.skew = [rng.randint(0, MAX_SKEW) for _ in range(LANES)]
        base = min(lanes.skew)
        lanes.skew[rng.randrange(LANES)] = base  # the first lane comes at once
        for _ in range(4 * GAP):  # the old alignment is found to be wrong, the new one is made
            aligned, words = await lanes.step(pauses=0.2)
        assert aligned
        last = None
        for _ in range(3 * GAP):
            aligned, words = await lanes.step()
            assert aligned
            assert same(words), [hex(w) for w in words]
            if words[0] != MARK:
                number = words[0] & 0xFFFFFFF
                assert last is None or number in (last + 1, last + 2)
                last = number
        # The lane that comes last is delayed by the one register alone.
        assert last is not None
        assert lanes.time - 1 - max(lanes.skew) - last in (0, 1)


@cocotb.test()
async def too_much_skew_is_not_taken(dut: Any) -> None:
    """A lane more than MAX_SKEW behind: never aligned."""
    if LANES == 1:
        return
    lanes = Lanes(dut)
    await lanes.start()
    lanes.skew = [0] * (LANES - 1) + [MAX_SKEW + 1]
    for _ in range(6 * GAP):
        aligned, _ = await lanes.step()
        assert not aligned


@cocotb.test()
async def a_slip_is_found(dut: Any) -> None:
    """A lane that slips by a word is found at the next mark; a lost signal ends the alignment at once."""
    lanes = Lanes(dut)
    await lanes.start()
    for _ in range(3 * GAP):
        aligned, _ = await lanes.step()
    assert aligned
    dut.signal_i.value = 0
    aligned, _ = await lanes.step()
    assert not aligned
    dut.signal_i.value = 1
    for _ in range(3 * GAP):
        aligned, _ = await lanes.step()
    assert aligned
    if LANES == 1:
        return
    lanes.skew[-1] += 1
    found = False
    for _ in range(GAP + MAX_SKEW + 3):
        aligned, _ = await lanes.step()
        found = found or not aligned
    assert found
