# SPDX-License-Identifier: Apache-2.0
"""pcie_word_buffer against a list of committed words and one of those that may be taken back."""

from __future__ import annotations

import random
from collections import deque
from typing import Any, NamedTuple

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge

WRITE_TO_VALID, COMMIT_TO_VALID = 3, 1


class Entry(NamedTuple):
    word: int
    first: bool
    cycle: int


class Bench:
    """Drives one clock at a time and holds every output against the model."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.depth = int(dut.Depth.value)
        self.cycle = 0
        self.committed: deque[Entry] = deque()
        self.open: list[Entry] = []
        self.changed = 0  # clock of the last commit that found nothing committed, rollback or clear
        self.taken: list[int] = []

    async def start(self) -> None:
        d = self.dut
        for name in ("clear", "write", "commit", "rollback", "ready", "first", "lanes", "data"):
            getattr(d, f"{name}_i").value = 0
        d.rst_ni.value = 0
        cocotb.start_soon(Clock(d.clk_i, 8, "ns").start())
        for _ in range(3):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1

    @property
    def used(self) -> int:
        return len(self.committed) + len(self.open)

    async def clock(
        self,
        lanes: int = 0,
        first: bool = False,
        commit: bool = False,
        rollback: bool = False,
        clear: bool = False,
        ready: bool = False,
    ) -> bool:
        """One clock; whether a word was taken. `lanes` 0: nothing is written."""
        d = self.dut
        await FallingEdge(d.clk_i)
        data = random.getrandbits(64)
        d.write_i.value = lanes != 0
        d.lanes_i.value = lanes or random.getrandbits(2)
        d.data_i.value = data
        d.first_i.value = first if lanes else random.getrandbits(1)
        d.commit_i.value = commit
        d.rollback_i.value = rollback
        d.clear_i.value = clear
        d.ready_i.value = ready
        await RisingEdge(d.clk_i)
        valid = bool(d.valid_o.value)
        assert int(d.used_o.value) == self.used
        assert int(d.committed_o.value) == len(self.committed)
        if valid:
            assert self.committed, "a word that is not committed is offered"
            front = self.committed[0]
            assert (int(d.data_o.value), bool(d.first_o.value)) == (front.word, front.first)
        elif self.committed:
            since = self.cycle - max(self.committed[0].cycle + WRITE_TO_VALID, self.changed)
            assert since < 0, f"the front word is not offered {since} clocks after it was due"
        taken = valid and ready
        if taken:
            self.taken.append(self.committed.popleft().word)
        self._written(lanes, first, commit, rollback, clear, data)
        self.cycle += 1
        return taken

    def _written(self, lanes: int, first: bool, commit: bool, rollback: bool, clear: bool, data: int) -> None:
        words = [data >> 32 * lane & 0xFFFFFFFF for lane in range(2) if lanes >> lane & 1]
        self.open += [Entry(word, first and n == 0, self.cycle) for n, word in enumerate(words)]
        if clear:
            self.committed.clear()
            self.open.clear()
        elif rollback:
            self.open.clear()
            # What was shown ahead is fetched again.
            self.changed = self.cycle + WRITE_TO_VALID
        elif commit:
            if not self.committed and self.open:
                self.changed = max(self.changed, self.cycle + COMMIT_TO_VALID)
            self.committed += self.open
            self.open.clear()


async def started(dut: Any) -> Bench:
    bench = Bench(dut)
    await bench.start()
    return bench


@cocotb.test()
@cocotb.parametrize(ready_rate=[0.2, 0.5, 0.9, 1.0])
async def random_writes_commits_and_rollbacks_match_the_model(dut: Any, ready_rate: float) -> None:
    b = await started(dut)
    rng = random.Random(cocotb.RANDOM_SEED)
    full = 0
    for _ in range(6000):
        room = b.depth - b.used
        full += room == 0
        lanes = rng.choice([0, 1, 2, 3, 3]) if room >= 2 else rng.choice([0, 1, 2]) if room else 0
        choice = rng.random()
        # A full buffer without a committed word would stay full.
        stuck = room == 0 and not b.committed
        await b.clock(
            lanes,
            first=rng.random() < 0.3,
            commit=choice < 0.3,
            rollback=0.3 <= choice < 0.36 or (stuck and choice >= 0.3),
            clear=choice > 0.995,
            ready=rng.random() < ready_rate,
        )
    assert len(b.taken) > 500
    assert full > 0 or ready_rate > 0.5, "never full: the test did not reach it"


@cocotb.test()
async def a_word_shows_after_three_clocks_and_a_commit_after_one(dut: Any) -> None:
    b = await started(dut)
    await b.clock(lanes=3, commit=True)
    for _ in range(WRITE_TO_VALID - 1):
        await b.clock()
        assert not dut.valid_o.value
    await b.clock()
    assert dut.valid_o.value
    await b.clock(ready=True)
    await b.clock(ready=True)
    await b.clock(lanes=1)
    for _ in range(6):
        await b.clock()
        assert not dut.valid_o.value
    await b.clock(commit=True)
    await b.clock()
    assert dut.valid_o.value


@cocotb.test()
async def words_leave_one_a_clock_while_two_come(dut: Any) -> None:
    b = await started(dut)
    for _ in range(b.depth // 2):
        await b.clock(lanes=3, commit=True)
    for _ in range(WRITE_TO_VALID):
        await b.clock()
    for n in range(4 * b.depth):
        lanes = (3 if n % 2 else 0) if b.used <= b.depth - 2 else 0
        assert await b.clock(lanes, commit=lanes != 0, ready=True)


@cocotb.test()
async def a_rollback_takes_back_what_was_shown_ahead_and_that_clock_s_words(dut: Any) -> None:
    b = await started(dut)
    await b.clock(lanes=1, commit=True)
    for _ in range(5):
        await b.clock(lanes=3)
    kept = b.committed[0].word
    await b.clock(lanes=3, rollback=True, commit=False)
    assert b.used == 1
    await b.clock(lanes=2, commit=True)
    for _ in range(8):
        await b.clock(ready=True)
    assert b.taken[0] == kept
    assert len(b.taken) == 2
    assert int(dut.used_o.value) == 0
