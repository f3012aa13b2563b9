# SPDX-License-Identifier: Apache-2.0
"""apenet_puts beside a model: which packets and puts are whole, what is announced and counted."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

PUT, GET, ANSWER, REFUSED, MESSAGE = range(1, 6)
ARRIVED, ANSWERS = 0x82, 0x83


@dataclass(frozen=True)
class Record:
    """What is left to find out of a packet."""

    good: bool
    late: bool
    what: int
    first: bool
    last: bool
    commands: int
    source: int
    put: int
    number: int
    total: int
    begin: int
    key: int
    cycles: int

    def bits(self) -> int:
        value = 0
        for one, width in (
            (self.good, 1), (self.late, 1), (self.what, 4), (self.first, 1), (self.last, 1),
            (self.commands, 2), (self.source, 15), (self.put, 32), (self.number, 11), (self.total, 23),
            (self.begin, 48), (self.key, 16), (self.cycles, 63),
        ):  # fmt: skip
            value = value << width | one
        return value

    @property
    def bare(self) -> bool:
        """No part of a put."""
        return self.what in (GET, REFUSED) or self.late


@dataclass
class Model:
    place_bits: int
    puts: dict[int, tuple[int, bool, int, int]] = field(default_factory=dict)
    """By entry, of puts that are whole so far: source, whether an answer, number, next packet."""
    packets: int = 0
    bad_packets: int = 0
    bad_puts: int = 0

    def entry(self, source: int) -> int:
        index = 0
        for dimension in (2, 1, 0):
            coordinate = source >> 5 * dimension & (1 << self.place_bits) - 1
            index = index << self.place_bits | coordinate
        return index

    def packet(self, record: Record, errors: bool, enabled: bool) -> int | None:
        """The event of a packet whose commands are answered, if it is the end of a whole put."""
        entry = self.entry(record.source)
        mine = record.source, record.what == ANSWER, record.put, record.number
        if record.bare:
            follows = record.first
        else:
            follows = record.number == 0 if record.first else self.puts.get(entry) == mine
        whole = record.good and not errors and follows
        lost = self.bad_puts
        self.packets += 1
        self.bad_packets += not record.good or errors
        self.bad_puts += record.last and not whole
        if not record.bare and record.what != MESSAGE:
            self.puts.pop(entry, None)
            if whole and not record.last:
                self.puts[entry] = (record.source, record.what == ANSWER, record.put, record.number + 1)
        if not (whole and record.last and enabled) or record.what in (GET, MESSAGE):
            return None
        return event(record, lost)


def event(record: Record, lost: int) -> int:
    refused = record.what == REFUSED
    value = 0
    for one, width in (
        (record.cycles, 63), (lost, 32), (0 if refused else record.number + 1, 16), (record.source, 16),
        (record.begin >> 6, 32), (record.put, 32), (record.total, 32), (record.key, 16),
        (ARRIVED if record.what == PUT else ANSWERS, 8), (record.number & 3 if refused else 0, 7),
        (refused, 1),
    ):  # fmt: skip
        value = value << width | one & (1 << width) - 1
    return value


@dataclass
class Bench:
    dut: Any
    rng: random.Random = field(default_factory=lambda: random.Random(cocotb.RANDOM_SEED))
    announced: int = 0

    def records(self, puts: int) -> list[Record]:
        """Puts of several sources, packets between each other's, some lost, bad or of no put."""
        rng = self.rng
        sources = [rng.getrandbits(15) for _ in range(6)]
        # One that shares an entry of the table with another.
        sources.append(sources[0] ^ 0x10)
        open_: list[list[Record]] = []
        out = []
        for number in range(puts):
            open_.append(self.put(rng.choice(sources), number))
            while len(open_) > 3 or (open_ and rng.random() < 0.3):
                packets = rng.choice(open_)
                out.append(packets.pop(0))
                if not packets:
                    open_.remove(packets)
        return out + [packet for packets in open_ for packet in packets]

    def put(self, source: int, number: int) -> list[Record]:
        rng = self.rng
        what = rng.choice((PUT, PUT, PUT, ANSWER, ANSWER, GET, REFUSED, MESSAGE))
        single = what in (GET, REFUSED, MESSAGE)
        count = 1 if single else rng.randrange(1, 5)
        total = rng.getrandbits(23)
        begin, key = rng.getrandbits(48), rng.getrandbits(16)
        put = rng.choice((number, rng.getrandbits(32)))
        late = what in (ANSWER, REFUSED) and rng.random() < 0.15
        packets = [
            Record(
                rng.random() < 0.93, late, what, at == 0, at == count - 1,
                0 if single else rng.randrange(4), source, put, at, total, begin, key, rng.getrandbits(63),
            )
            for at in range(count)
        ]  # fmt: skip
        if what == REFUSED:
            packets = [replace(packets[0], number=rng.randrange(4), first=rng.random() < 0.9)]
        if count > 1 and rng.random() < 0.2:
            # A packet is lost, or is of another put, or has another number.
            at = rng.randrange(count)
            changes: list[dict[str, int]] = [{"put": put ^ 1 << rng.randrange(32)}]
            changes.append({"number": packets[at].number ^ 1 << rng.randrange(11)})
            change = rng.choice((None, *changes))
            if change is None:
                del packets[at]
            else:
                packets[at] = replace(packets[at], **change)
        return packets

    async def start(self) -> None:
        d = self.dut
        for name in ("rst_ni", "record_valid_i", "record_i", "done_valid_i", "done_error_i"):
            getattr(d, name).value = 0
        d.event_ready_i.value, d.enable_i.value = 0, 1
        cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
        for _ in range(3):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        await FallingEdge(d.clk_i)

    async def run(self, records: list[Record], offer: float, ready: float, answer: float) -> None:
        d, rng = self.dut, self.rng
        model = Model(int(d.PlaceBits.value))
        arrivals = int(d.arrivals_o.value)
        assert arrivals == 0
        errors = [[rng.random() < 0.05 for _ in range(record.commands)] for record in records]
        answers = deque(error for some in errors for error in some)
        decided = 0
        coming = deque(records)
        stored = 0  # answers that were given and are not taken
        taken = 0  # of the packet under decision
        given = offered = False
        enabled = True
        pending = int(d.Pending.value)
        while decided < len(records):
            given = bool(coming) and (given or rng.random() < offer)
            d.record_valid_i.value = given
            d.record_i.value = coming[0].bits() if given else rng.getrandbits(218)
            done = bool(answers) and stored < pending and rng.random() < answer
            d.done_valid_i.value = done
            d.done_error_i.value = answers.popleft() if done else rng.getrandbits(1)
            d.event_ready_i.value = event_ready = rng.random() < ready
            # An event that is offered is withdrawn where its program ends; that is not tried here.
            if not offered:
                enabled = rng.random() < 0.98
            d.enable_i.value = enabled
            await ReadOnly()
            here = len(records) - len(coming) > decided
            packets, bad_packets, bad_puts = model.packets, model.bad_packets, model.bad_puts
            counts = packets << 32 | bad_packets << 16 | bad_puts
            assert int(d.arrivals_o.value) == counts
            assert bool(d.idle_o.value) == (not here)
            record = records[decided]
            answered = here and taken == record.commands
            assert bool(d.answer_take_o.value) == (here and not answered and stored > 0)
            announced = int(d.announced_o.value)
            if answered:
                trial = copy_of(model)
                due = trial.packet(record, any(errors[decided]), enabled)
                assert bool(d.event_valid_o.value) == (due is not None)
                if due is not None:
                    assert int(d.event_o.value) == due
                assert announced >> 8 == (due is not None and event_ready)
                assert announced & 0xFF == record.put & 0xFF or not announced >> 8
                # A packet with an event is done when its event is taken.
                if due is None or event_ready:
                    model, decided, taken = trial, decided + 1, 0
                    self.announced += due is not None
            else:
                assert not d.event_valid_o.value
                assert not announced >> 8
            offered = bool(d.event_valid_o.value) and not event_ready
            if d.answer_take_o.value:
                stored -= 1
                taken += 1
            if given and d.record_ready_o.value:
                coming.popleft()
                given = False
            stored += done
            await FallingEdge(d.clk_i)


def copy_of(model: Model) -> Model:
    """What would become of a packet is tried on this one: its event may have to wait."""
    return replace(model, puts=dict(model.puts))


# How often a record is offered, an event taken, an answer given.
PACES = {"at once": (1.0, 1.0, 1.0), "slow host": (0.5, 0.3, 0.4), "slow memory": (1.0, 0.9, 0.1)}


@cocotb.test()
@cocotb.parametrize(pace=list(PACES))
async def whole_puts_are_announced_and_all_else_is_counted(dut: Any, pace: str) -> None:
    bench = Bench(dut)
    await bench.start()
    await bench.run(bench.records(600), *PACES[pace])
    assert bench.announced > 150
    assert int(dut.arrivals_o.value) & 0xFFFF > 30
