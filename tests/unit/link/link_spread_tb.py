# SPDX-License-Identifier: Apache-2.0
"""link_spread among real links: each choice as the page says, balance for each destination, the whole rate.

The Python model below chooses again in every cycle, from the words it has counted itself; an answer comes in
the first cycle that is 2 after the request began, and 1 after the links that are up have changed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge

LINKS = int(os.environ["SPREAD_LINKS"])
DESTS = int(os.environ["SPREAD_DESTS"])
MAX_WORDS = 16
MAX_AHEAD = 32
READY_AFTER = 2
ALL = (1 << LINKS) - 1
ALWAYS = 1 << 16


@dataclass
class Model:
    """The choice, from the page: least of those that can, the next in turn among equals."""

    words: list[list[int]] = field(default_factory=lambda: [[0] * LINKS for _ in range(DESTS)])
    turn: int = 0
    # Cycles that the request has stood, and the links that were up in the cycle before.
    age: int = 0
    up: int = ALL
    # Requests taken back, by the cycles that they had stood: 0 none, 1, 2 or more.
    taken_back: list[int] = field(default_factory=lambda: [0] * (READY_AFTER + 1))

    def choose(self, up: int, free: int, dest: int) -> int | None:
        base = [self.words[dest][i] for i in range(LINKS) if up >> i & 1]
        ahead = [max(0, words - min(base, default=0)) for words in self.words[dest]]
        able = [i for i in range(LINKS) if up & free & 1 << i and ahead[i] <= MAX_AHEAD]
        return min(able, key=lambda i: (ahead[i], (i - self.turn) % LINKS), default=None)

    def give(self, up: int, dest: int, link: int, words: int) -> None:
        least = min(self.words[dest][i] for i in range(LINKS) if up >> i & 1)
        self.words[dest] = [max(0, held - least) for held in self.words[dest]]
        self.words[dest][link] += words
        self.turn = (link + 1) % LINKS


async def made(dut: Any) -> Model:
    cocotb.start_soon(Clock(dut.clk_i, 10, "ns").start())
    dut.rst_ni.value = 0
    dut.signal_i.value = ALL
    dut.block_i.value = 0
    dut.mute_i.value = 0
    dut.same_i.value = 0
    dut.shy_i.value = 0
    dut.send_i.value = 0
    await ClockCycles(dut.clk_i, 60)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    for _ in range(100):
        await ClockCycles(dut.clk_i, 10)
        if int(dut.up_o.value) == ALL:
            break
    assert int(dut.up_o.value) == ALL
    await FallingEdge(dut.clk_i)
    return Model()


async def watched(dut: Any, model: Model, cycles: int) -> list[list[int]]:
    """Run and hold every choice against the model; words given, of each destination to each link."""
    given = [[0] * LINKS for _ in range(DESTS)]
    for _ in range(cycles):
        grant, up = int(dut.gnt_o.value), int(dut.up_o.value)
        if dut.req_valid_o.value:
            free, dest = int(dut.free_o.value), int(dut.req_dest_o.value)
            ranked = model.age >= READY_AFTER and up == model.up
            chosen = model.choose(up, free, dest) if ranked else None
            assert grant == (0 if chosen is None else 1 << chosen), (model, up, free, dest, grant)
            if chosen is not None:
                words = int(dut.req_words_o.value)
                model.give(up, dest, chosen, words)
                given[dest][chosen] += words
            model.age = 0 if chosen is not None else model.age + 1
        else:
            model.taken_back[min(model.age, READY_AFTER)] += model.age > 0
            assert grant == 0
            model.age = 0
        model.up = up
        await FallingEdge(dut.clk_i)
    return given


async def rest(dut: Any) -> None:
    dut.send_i.value = 0
    dut.block_i.value = 0
    await ClockCycles(dut.clk_i, 1200)
    assert int(dut.wrong_o.value) == 0


def balanced(given: list[list[int]]) -> None:
    for words in given:
        assert max(words) - min(words) <= MAX_AHEAD + MAX_WORDS, given


@cocotb.test()
async def packets_are_spread_evenly_and_come_at_the_rate_of_all_links(dut: Any) -> None:
    model = await made(dut)
    dut.send_i.value = ALWAYS
    balanced(await watched(dut, model, 2500))
    words, cycles = int(dut.words_o.value), 10_000
    await ClockCycles(dut.clk_i, cycles)
    rate = (int(dut.words_o.value) - words) / cycles
    mean = (1 + MAX_WORDS) / 2
    # SOP and end, and a cycle from one packet to the choice of the next; the source, one packet in 4 cycles.
    assert rate > 0.85 * min(LINKS * mean / (mean + 3), mean / 4), rate
    await rest(dut)
    assert int(dut.good_o.value) == int(dut.begun_o.value) > 500
    assert int(dut.check_o.value) == int(dut.bad_o.value) == 0
    # Packets overtake each other from link to link (the sinks hold that they never do in one).
    assert int(dut.overtaken_o.value) > 50
    dut._log.info("%.2f words a cycle, %d of %d overtaken", rate, dut.overtaken_o.value, dut.good_o.value)


@cocotb.test()
async def a_link_that_stands_still_holds_its_destinations_and_one_that_is_down_does_not(dut: Any) -> None:
    model = await made(dut)
    dut.send_i.value = 30000
    dut.block_i.value = 1
    balanced(await watched(dut, model, 2500))
    begun = int(dut.begun_o.value)
    await watched(dut, model, 500)
    assert int(dut.begun_o.value) == begun, "no destination goes on without the link"
    # The link goes down: the others carry everything, still evenly among themselves.
    dut.signal_i.value = ALL & ~1
    dut.block_i.value = 0
    given = await watched(dut, model, 1500)
    assert all(words[0] == 0 for words in given)
    balanced([words[1:] for words in given])
    assert int(dut.begun_o.value) > begun + 50
    dut.signal_i.value = ALL
    given = await watched(dut, model, 1500)
    assert all(words[0] > 100 for words in given), "it takes part again"
    await rest(dut)
    # What was on the link that went down is lost, and nothing else.
    assert int(dut.begun_o.value) - int(dut.good_o.value) <= 2 + 96 * DESTS // 2


@cocotb.test()
async def at_low_load_links_take_turns(dut: Any) -> None:
    """Packets of one length, far apart: of equal links the next in turn, whatever the destination."""
    model = await made(dut)
    dut.send_i.value = 3000
    dut.same_i.value = 1
    given = await watched(dut, model, 4000)
    balanced(given)
    assert min(given[0]) > 0
    await rest(dut)
    assert int(dut.good_o.value) == int(dut.begun_o.value)


@cocotb.test()
async def a_request_that_is_taken_back_leaves_nothing_behind(dut: Any) -> None:
    model = await made(dut)
    dut.send_i.value = ALWAYS
    dut.shy_i.value = 1
    balanced(await watched(dut, model, 3000))
    assert min(model.taken_back[1:]) > 30, model.taken_back
    await rest(dut)
    assert int(dut.good_o.value) == int(dut.begun_o.value) > 100
    assert int(dut.check_o.value) == int(dut.bad_o.value) == 0
