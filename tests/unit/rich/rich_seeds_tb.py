# SPDX-License-Identifier: Apache-2.0
"""Candidates of rings: every answer is the model's, in whatever rhythm hits come and answers are taken."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from rich_model import MAX_HITS, NULL_ID, Answer, Model, golden

WRITTEN: list[Model] = []

Event = tuple[list[Answer], bool]
"""Answers, and whether hits were left out."""


@dataclass
class Bench:
    """Drives both streams; `give` and `take` are the chances that a hit or an answer moves in a cycle."""

    dut: Any
    rng: random.Random = field(default_factory=lambda: random.Random(cocotb.RANDOM_SEED))
    give: float = 1.0
    take: float = 1.0
    cycle: int = 0

    async def start(self) -> Model:
        d = self.dut
        model = Model(int(d.Cells.value))
        cocotb.start_soon(Clock(d.clk_i, 4, "ns").start())
        d.rst_ni.value = 0
        d.cfg_we_i.value = 0
        d.hit_valid_i.value = 0
        d.hit_last_i.value = 0
        d.hit_id_i.value = 0
        d.seed_ready_i.value = 0
        for _ in range(3):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        # The memories keep what the first test has written.
        d.cfg_we_i.value = int(not WRITTEN)
        for memory, address, data in () if WRITTEN else model.words():
            if memory == 0 and address % 64 * 64 >= model.cells:
                continue
            d.cfg_memory_i.value = memory
            d.cfg_addr_i.value = address
            d.cfg_data_i.value = data
            await FallingEdge(d.clk_i)
        d.cfg_we_i.value = 0
        WRITTEN.append(model)
        return model

    async def run(
        self, events: list[list[int]], ends: int | None = None, limit: int = 200_000
    ) -> list[Event]:
        """Send all events and give their answers, or those of `ends` events."""
        d = self.dut
        beats = [
            (id_, at == len(ids or [NULL_ID]) - 1)
            for ids in events
            for at, id_ in enumerate(ids or [NULL_ID])
        ]
        sent, done, answers = 0, [], []
        held = None
        begin = self.cycle
        wanted = len(events) if ends is None else ends
        while len(done) < wanted:
            assert self.cycle - begin < limit, f"{len(done)} of {wanted} events after {limit} cycles"
            offered = sent < len(beats) and (bool(d.hit_valid_i.value) or self.rng.random() < self.give)
            d.hit_valid_i.value = int(offered)
            if offered:
                d.hit_id_i.value, d.hit_last_i.value = beats[sent][0], int(beats[sent][1])
            ready = self.rng.random() < self.take
            d.seed_ready_i.value = int(ready)
            # Ready and the answer depend on registers alone: they are stable since the edge.
            taken = offered and bool(d.hit_ready_o.value)
            word = int(d.seed_o.value) if d.seed_valid_o.value else None
            assert held is None or word == held, "an answer changed before it was taken"
            held = word if not ready else None
            if word is not None and ready:
                over, last = word >> 35, word >> 34 & 1
                if last:
                    done.append((answers, bool(over)))
                    answers = []
                else:
                    answers.append((word & 31, word >> 5 & 31, word >> 10 & 4095, word >> 22 & 4095))
            await FallingEdge(d.clk_i)
            self.cycle += 1
            if taken:
                sent += 1
                d.hit_valid_i.value = 0
        assert sent == len(beats)
        d.hit_valid_i.value = 0
        return done


def expected(model: Model, events: list[list[int]]) -> list[Event]:
    return [(model.answers(ids), len(ids) > MAX_HITS) for ids in events]


@cocotb.test()
async def events_of_a_detector_have_the_softwares_candidates(dut: Any) -> None:
    """And leave at more than 10 million events a second of a clock of 250 MHz."""
    bench = Bench(dut)
    model = await bench.start()
    _, stored = golden()
    events = [ids for ids, _ in stored]
    found = await bench.run(events)
    assert found == expected(model, events)
    if model.cells == 3032:
        assert [answers for answers, _ in found] == [answers for _, answers in stored]
        reference = events[:120]
        begin = bench.cycle
        await bench.run(reference)
        clocks = (bench.cycle - begin) / len(reference)
        print(f"{clocks:.2f} clocks an event of {sum(map(len, reference)) / len(reference):.2f} hits")
        assert clocks < 25
        begin = bench.cycle
        assert (await bench.run([reference[0]]))[0] == found[0]
        print(f"a lone event of {len(reference[0])} hits: {bench.cycle - begin} clocks to its end")


@cocotb.test()
async def no_rhythm_changes_an_answer(dut: Any) -> None:
    bench = Bench(dut)
    model = await bench.start()
    rng = bench.rng
    for give, take in ((0.3, 1.0), (1.0, 0.2), (0.6, 0.4), (1.0, 1.0)):
        bench.give, bench.take = give, take
        events = []
        for _ in range(30):
            # Few photomultipliers, so that hits are often the same and circles have many votes.
            near = rng.sample(range(976), rng.choice((3, 12, 40)))
            events.append([rng.choice(near) for _ in range(rng.choice((1, 2, 5, 17, 31, 32)))])
        assert await bench.run(events) == expected(model, events)


@cocotb.test()
async def empty_full_and_overlong_events_end_with_their_marks(dut: Any) -> None:
    bench = Bench(dut)
    model = await bench.start()
    rng = bench.rng
    some = rng.sample(range(976), 40)
    events: list[list[int]] = [[], [500] * 32, [], some[:32], some[:33], some, [some[0]], [500] * 33, []]
    found = await bench.run(events)
    assert found == expected(model, events)
    assert [over for _, over in found] == [False, False, False, False, True, True, False, True, False]


@cocotb.test()
async def answers_that_nobody_takes_stop_the_hits_and_lose_none(dut: Any) -> None:
    bench = Bench(dut)
    model = await bench.start()
    events = [ids for ids, _ in golden()[1][:8]]
    dut.seed_ready_i.value = 0
    accepted = 0
    beats = [(id_, at == len(ids) - 1) for ids in events for at, id_ in enumerate(ids)]
    for _ in range(600):
        dut.hit_valid_i.value = 1
        dut.hit_id_i.value, dut.hit_last_i.value = beats[accepted][0], int(beats[accepted][1])
        taken = bool(dut.hit_ready_o.value)
        await FallingEdge(dut.clk_i)
        accepted += taken
    dut.hit_valid_i.value = 0
    # Four have their answers or will, one waits with its counts.
    assert accepted == sum(len(ids) for ids in events[:5])
    assert await bench.run([], ends=5) == expected(model, events[:5])
