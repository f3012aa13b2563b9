# SPDX-License-Identifier: Apache-2.0
"""The merging of boards' events: whole streams, losses, repetitions, starvation, windows that fill.

Each record that comes out is computed anew from the fragments that its word says are in it; each fragment
that went in is in one event or counted.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, with_timeout
from merge_model import Detector, Fragment, Merged, Packet, is_packet, merged, record

HEAD, DATA, END = range(3)
GOOD, OVERFLOW = 1, 2
WAIT = 400
FIELDS = ("late", "repeated", "other", "missing", "malformed", "bad")


@dataclass
class Bench:
    dut: Any
    rng: random.Random = field(default_factory=lambda: random.Random(cocotb.RANDOM_SEED))
    out: list[Merged] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    datagrams: list[int] = field(default_factory=list)
    cycle: int = 0
    ready: float = 1.0

    def __post_init__(self) -> None:
        self.ports = len(self.dut.in_valid_i)
        self.width = len(self.dut.out_o)
        self.kinds = [0] * self.ports
        self.beats = [0] * self.ports
        self.valid = [0] * self.ports

    async def start(self, wait: int = WAIT) -> None:
        d = self.dut
        for name in ("in_valid_i", "in_kind_i", "in_i", "out_ready_i", "clear_i"):
            getattr(d, name).value = 0
        d.wait_i.value = wait
        d.rst_ni.value = 0
        cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
        for _ in range(3):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self.take())
        await FallingEdge(d.clk_i)

    async def take(self) -> None:
        """Takes datagrams apart; what is offered must stay until it is taken."""
        d = self.dut
        offered: tuple[int, int] | None = None
        data = b""
        length = -1
        while True:
            await FallingEdge(d.clk_i)
            d.out_ready_i.value = self.rng.random() < self.ready
            await RisingEdge(d.clk_i)
            self.cycle += 1
            now = (int(d.out_kind_o.value), int(d.out_o.value)) if d.out_valid_o.value else None
            if offered is not None:
                assert now == offered
            offered = now
            if now is None or not d.out_ready_i.value:
                continue
            offered = None
            kind, beat = now
            if kind == HEAD:
                assert length < 0, "a head inside a datagram"
                length, data = beat & 0xFFFF, b""
                self.datagrams.append(self.cycle)
            elif kind == DATA:
                data += beat.to_bytes(self.width // 8, "little")
            else:
                assert beat & 3 == GOOD
                assert length <= len(data) < length + self.width // 8
                events = merged(data[:length])
                self.out += events
                self.at += [self.cycle] * len(events)
                length = -1

    def drive(self) -> None:
        d = self.dut
        d.in_valid_i.value = sum(bit << at for at, bit in enumerate(self.valid))
        d.in_kind_i.value = sum(kind << 2 * at for at, kind in enumerate(self.kinds))
        d.in_i.value = sum(beat << self.width * at for at, beat in enumerate(self.beats))

    async def put(self, port: int, data: bytes, end: int = GOOD, eager: float = 1.0, kept: int = 999) -> None:
        """A datagram, or its first beats."""
        d = self.dut
        size = self.width // 8
        words = [data[at : at + size].ljust(size, b"\xa5") for at in range(0, len(data), size)][:kept]
        entries = [(HEAD, 0xC0A80001 << 32 | 7 << 16 | len(data))]
        entries += [(DATA, int.from_bytes(word, "little")) for word in words]
        for kind, beat in [*entries, (END, end)]:
            while self.rng.random() > eager:
                await FallingEdge(d.clk_i)
            self.kinds[port], self.beats[port], self.valid[port] = kind, beat, 1
            self.drive()
            await RisingEdge(d.clk_i)
            while not int(d.in_ready_o.value) >> port & 1:
                await RisingEdge(d.clk_i)
            await FallingEdge(d.clk_i)
            self.valid[port] = 0
            self.drive()

    async def put_all(self, ports: Iterable[tuple[int, list[Packet]]], eager: float = 1.0) -> None:
        """Each port its packets."""

        async def one(port: int, packets: list[Packet]) -> None:
            for packet in packets:
                await self.put(port, packet.bytes, eager=eager)

        for task in [cocotb.start_soon(one(port, packets)) for port, packets in ports]:
            await task

    async def end(self) -> None:
        async def idle() -> None:
            while not self.dut.idle_o.value:
                await FallingEdge(self.dut.clk_i)

        await ClockCycles(self.dut.clk_i, 8)
        await with_timeout(idle(), 2, "ms")
        await FallingEdge(self.dut.clk_i)

    def counters(self) -> dict[str, list[int]]:
        """By port; MERGED and INCOMPLETE of all."""
        value = int(self.dut.state_o.value)
        made = {"incomplete": [value & 0xFFFF_FFFF], "merged": [value >> 32 & 0xFFFF_FFFF]}
        for at, name in enumerate(reversed(FIELDS)):
            made[name] = [value >> 64 + 64 * at + 16 * port & 0xFFFF for port in range(self.ports)]
        return made

    def check(self, sent: dict[int, list[Fragment]]) -> None:
        """Every event is what its fragments give, and its word says which."""
        numbers = [event.number for event in self.out]
        assert len(set(numbers)) == len(numbers), "an event twice"
        for event in self.out:
            fragments = [one for one in sent[event.number] if event.boards >> one.board & 1]
            assert all(one.stamp == event.stamp for one in fragments)
            assert event.record == record(event.stamp, fragments)
        counters = self.counters()
        assert counters["merged"] == [len(self.out)]
        every = (1 << self.ports) - 1
        assert counters["incomplete"] == [sum(event.boards | event.other != every for event in self.out)]
        for port in range(self.ports):
            assert counters["missing"][port] == sum(
                not (event.boards | event.other) >> port & 1 for event in self.out
            )
            assert counters["other"][port] == sum(event.other >> port & 1 for event in self.out)


def nothing_but(counters: dict[str, list[int]], **expected: list[int]) -> None:
    """No other counter than these counts."""
    for name in FIELDS:
        assert counters[name] == expected.get(name, [0] * len(counters[name])), name


@cocotb.test()
async def all_that_comes_is_merged(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(wait=100_000)
    made = Detector(bench.rng, bench.ports)
    numbers = 0
    for eager, bench.ready, hits in ((1.0, 1.0, 20), (0.3, 1.0, 8), (1.0, 0.2, 20), (1.0, 1.0, 3)):
        made.hits = hits
        groups = [made.group(bench.rng.choice((1, 2, 5, 8))) for _ in range(12)]
        await bench.put_all(enumerate(list(packets) for packets in zip(*groups, strict=True)), eager)
        await bench.end()
        assert [event.number for event in bench.out] == list(range(made.number))
        assert made.number > numbers
        numbers = made.number
    bench.check(made.sent)
    nothing_but(bench.counters())


@cocotb.test()
async def boards_may_pack_events_differently(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(wait=100_000)
    made = Detector(bench.rng, bench.ports, hits=4, number=0xFF_FFF0)
    events = [made.event() for _ in range(60)]
    streams = []
    for port, size in zip(range(bench.ports), (20, 3, 7, 1), strict=False):
        own = [event[port] for event in events]
        streams.append((port, [Packet(tuple(own[at : at + size])) for at in range(0, len(own), size)]))
    await bench.put_all(streams)
    await bench.end()
    assert [event.number for event in bench.out] == [0xFF_FFF0 + at & 0xFF_FFFF for at in range(60)]
    bench.check(made.sent)
    nothing_but(bench.counters())


@cocotb.test()
async def what_is_lost_late_or_repeated_is_counted(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    made = Detector(bench.rng, bench.ports, hits=6)
    every = (1 << bench.ports) - 1
    lost = bench.ports - 1
    # One board's datagram is bad, cut, or no packet.
    for number, how in enumerate(("bad", "cut", "malformed")):
        packets = made.group(3)
        for port, packet in enumerate(packets[:lost]):
            await bench.put(port, packet.bytes)
        if how == "bad":
            await bench.put(lost, packets[lost].bytes, end=0)
        elif how == "cut":
            await bench.put(lost, packets[lost].bytes, end=OVERFLOW, kept=3)
        else:
            await bench.put(lost, packets[lost].bytes[:-4])
        await bench.end()
        assert [event.boards for event in bench.out[3 * number :]] == [every & ~(1 << lost)] * 3
    zeros = [0] * lost
    nothing_but(bench.counters(), bad=[*zeros, 2], malformed=[*zeros, 1], missing=[*zeros, 9])
    # One comes when its events have left, though all are there again then; and one twice.
    packets = made.group(3)
    await bench.put_all(enumerate([packet] for packet in packets[:lost]))
    await bench.end()
    await bench.put(lost, packets[lost].bytes)
    await bench.end()
    packets = made.group(4)
    await bench.put_all(enumerate([packet] for packet in packets))
    await bench.end()
    await bench.put(0, packets[0].bytes)
    await bench.end()
    packets = made.group(2)
    await bench.put(0, packets[0].bytes)
    await bench.put_all(enumerate([packet] for packet in packets))
    await bench.end()
    assert [event.boards for event in bench.out[12:]] == [every] * 6
    bench.check(made.sent)
    nothing_but(
        bench.counters(),
        bad=[*zeros, 2],
        malformed=[*zeros, 1],
        missing=[*zeros, 12],
        late=[*zeros, 3],
        repeated=[6, *[0] * lost],
    )


@cocotb.test()
async def another_time_stamp_stays_outside(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    made = Detector(bench.rng, bench.ports, hits=6)
    packets = made.group(6)
    wrong = [
        replace(fragment, stamp=fragment.stamp + at % 2) for at, fragment in enumerate(packets[1].fragments)
    ]
    packets[1] = Packet(tuple(wrong))
    await bench.put_all(enumerate([packet] for packet in packets))
    await bench.end()
    assert [event.other for event in bench.out] == [0, 2] * 3
    assert len({event.number for event in bench.out}) == 6
    bench.check(made.sent)
    nothing_but(bench.counters(), other=[0, 3, *[0] * (bench.ports - 2)])


@cocotb.test()
async def a_silent_board_is_waited_for_once(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    made = Detector(bench.rng, bench.ports, hits=2)
    last = bench.ports - 1
    begin = bench.cycle
    groups = [made.group(1) for _ in range(30)]
    streams = [(port, [group[port] for group in groups]) for port in range(last)]
    await bench.put_all(streams)
    await bench.end()
    assert len(bench.out) == 30
    assert bench.at[0] - begin > WAIT
    assert bench.at[-1] - bench.at[0] < 30 * 100, "each waits"
    # When something of it comes, it is waited for again: with the next group it is late, then it is there.
    groups = [made.group(1) for _ in range(2)]
    await bench.put_all([(port, [groups[0][port]]) for port in range(last)])
    await bench.end()
    await bench.put(last, groups[0][last].bytes)
    await bench.end()
    await bench.put_all([(port, [groups[1][port]]) for port in range(last)])
    await ClockCycles(dut.clk_i, WAIT // 2)
    await bench.put(last, groups[1][last].bytes)
    await bench.end()
    assert bench.out[-1].boards == (1 << bench.ports) - 1
    bench.check(made.sent)
    nothing_but(bench.counters(), missing=[*[0] * last, 31], late=[*[0] * last, 1])


@cocotb.test()
async def a_full_window_ends_the_wait(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(wait=0xFFFF_FFFF)
    made = Detector(bench.rng, bench.ports, hits=20)
    groups = [made.group(4) for _ in range(20)]
    last = bench.ports - 1
    await bench.put_all([(port, [group[port] for group in groups]) for port in range(last)])
    for _ in range(20_000):
        await FallingEdge(dut.clk_i)
        if len(bench.out) >= 40:
            break
    # What is left is waited for, without an end, until something of that board comes.
    await bench.put(last, groups[-1][last].bytes)
    await bench.end()
    assert len(bench.out) == 80
    bench.check(made.sent)
    assert bench.out[-1].boards == (1 << bench.ports) - 1
    nothing_but(bench.counters(), missing=[*[0] * last, 76])


@cocotb.test()
async def numbers_begin_again_behind_a_burst(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    sent: dict[int, list[Fragment]] = {}
    for size, number, burst in ((5, 1000, True), (3, 7, False)):
        made = Detector(bench.rng, bench.ports, hits=5, number=number)
        await bench.put_all(enumerate([packet] for packet in made.group(size, burst=burst)))
        await bench.end()
        sent |= made.sent
    assert [event.number for event in bench.out] == [1000, 1001, 1002, 1003, 1004, 7, 8, 9]
    bench.check(sent)
    # Without a burst's end they are repeated, until the list is disabled.
    for clear in (False, True):
        dut.clear_i.value = int(clear)
        await ClockCycles(dut.clk_i, 4)
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0
        made = Detector(bench.rng, bench.ports, hits=5, number=7)
        await bench.put_all(enumerate([packet] for packet in made.group(2)))
        await bench.end()
    assert [event.number for event in bench.out[8:]] == [7, 8]
    nothing_but(bench.counters(), repeated=[2] * bench.ports)


@cocotb.test()
async def one_board_with_a_wrong_number_stops_nothing(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    made = Detector(bench.rng, bench.ports, hits=4, number=1000)
    await bench.put_all(enumerate([packet] for packet in made.group(2)))
    await bench.end()
    # Valid, and nothing else of its number ever comes. Then of one that is behind.
    for number in (1_000_000, 1002 + 256, 400):
        wrong = Detector(bench.rng, bench.ports, hits=4, number=number)
        await bench.put(0, wrong.group(1)[0].bytes)
        await ClockCycles(dut.clk_i, 2 * WAIT)
    groups = [made.group(2) for _ in range(25)]
    await bench.put_all(enumerate(list(packets) for packets in zip(*groups, strict=True)))
    await bench.end()
    assert [event.number for event in bench.out] == list(range(1000, 1052))
    bench.check(made.sent)
    nothing_but(bench.counters(), late=[3, *[0] * (bench.ports - 1)])


@cocotb.test()
async def numbers_that_begin_elsewhere_on_all_boards_are_taken_soon(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    sent: dict[int, list[Fragment]] = {}
    expected: list[int] = []
    for number in (1000, 500_000, 9):
        made = Detector(bench.rng, bench.ports, hits=4, number=number)
        groups = [made.group(1) for _ in range(50)]
        await bench.put_all(enumerate(list(packets) for packets in zip(*groups, strict=True)))
        await bench.end()
        sent |= made.sent
        came = [event.number for event in bench.out if number <= event.number < number + 50]
        assert came == list(range(number + 50 - len(came), number + 50))
        # 32 fragments are late before, at the worst nearly all of one board.
        assert len(came) >= (50 if number == 1000 else 50 - 32)
        expected += came
    assert [event.number for event in bench.out] == expected
    bench.check(sent)


@cocotb.test()
async def one_board_behind_is_late_for_ever_and_doubles_nothing(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    made = Detector(bench.rng, bench.ports, hits=4)
    last = bench.ports - 1
    groups = [made.group(1) for _ in range(100)]
    await bench.put_all([(port, [group[port] for group in groups]) for port in range(last)])
    await bench.end()
    await bench.put_all([(last, [group[last] for group in groups])])
    await bench.end()
    assert [event.number for event in bench.out] == list(range(100))
    bench.check(made.sent)
    nothing_but(bench.counters(), missing=[*[0] * last, 100], late=[*[0] * last, 100])


@cocotb.test()
async def what_comes_behind_its_burst_is_late_and_the_next_burst_is_whole(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    made = Detector(bench.rng, bench.ports, hits=4, number=1000)
    packets = made.group(6, burst=True)
    last = bench.ports - 1
    await bench.put_all(enumerate([packet] for packet in packets[:last]))
    # The events have left without it, and what is of the burst counts as such for as long again.
    await ClockCycles(dut.clk_i, WAIT + WAIT // 2)
    tail = packets[last].fragments
    await bench.put(last, Packet(tail[:4]).bytes)
    await bench.put(last, Packet(tail[4:]).bytes, end=0)
    await bench.end()
    assert [event.number for event in bench.out] == list(range(1000, 1006))
    following = Detector(bench.rng, bench.ports, hits=4, number=7)
    groups = [following.group(2) for _ in range(50)]
    await bench.put_all(enumerate(list(packets) for packets in zip(*groups, strict=True)))
    await bench.end()
    assert [event.number for event in bench.out[6:]] == list(range(7, 107))
    bench.check(made.sent | following.sent)
    nothing_but(bench.counters(), missing=[*[0] * last, 6], late=[*[0] * last, 4], bad=[*[0] * last, 1])


@cocotb.test()
async def a_list_that_is_disabled_while_an_event_waits_begins_anew(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(wait=100_000)
    last = bench.ports - 1
    # Wherever the merging is, up to a datagram that is whole but for one board.
    for at, pause in enumerate(range(0, 90, 3)):
        packets = Detector(bench.rng, bench.ports, hits=4, number=5000 + 10 * at).group(3)
        await bench.put_all(enumerate([packet] for packet in packets[:last]))
        await ClockCycles(dut.clk_i, pause)
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 1
        await ClockCycles(dut.clk_i, 1 + at % 3 * 70)
        await FallingEdge(dut.clk_i)
        dut.clear_i.value = 0
        made = Detector(bench.rng, bench.ports, hits=4, number=10 * at)
        await bench.put_all(enumerate([packet] for packet in made.group(4)))
        await bench.end()
        assert [event.number for event in bench.out[-4:]] == list(range(10 * at, 10 * at + 4))
        assert all(event.boards == (1 << bench.ports) - 1 for event in bench.out[-4:])


@cocotb.test()
async def a_clear_ends_the_waiting_of_a_datagram_that_has_begun(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start(wait=100_000)
    made = Detector(bench.rng, bench.ports, hits=4)
    packets = made.group(3)
    last = bench.ports - 1
    packets[last] = Packet(packets[last].fragments[:1])
    await bench.put_all(enumerate([packet] for packet in packets))
    await ClockCycles(dut.clk_i, 400)
    assert not dut.idle_o.value
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 1
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 0
    await ClockCycles(dut.clk_i, 400)
    assert dut.idle_o.value
    assert [event.number for event in bench.out] == [0, 1, 2]
    bench.check(made.sent)
    nothing_but(bench.counters(), missing=[*[0] * last, 2])


@cocotb.test()
async def what_comes_while_the_list_is_disabled_is_counted_and_not_merged_later(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    # A datagram that waits for a board when the list is disabled; then boards go on.
    old = Detector(bench.rng, bench.ports, hits=4, number=1000)
    last = bench.ports - 1
    packets = old.group(2)
    packets[last] = Packet(packets[last].fragments[:1])
    await bench.put_all(enumerate([packet] for packet in packets))
    await ClockCycles(dut.clk_i, WAIT // 2)
    await FallingEdge(dut.clk_i)
    dut.clear_i.value = 1
    groups = [old.group(3) for _ in range(20)]
    await bench.put_all(enumerate(list(packets) for packets in zip(*groups, strict=True)))
    await bench.end()
    assert [event.number for event in bench.out] == [1000, 1001]
    nothing_but(bench.counters(), late=[60] * bench.ports, missing=[*[0] * last, 1])
    assert dut.quiet_o.value
    # Enabled, it begins with what comes then.
    dut.clear_i.value = 0
    new = Detector(bench.rng, bench.ports, hits=4, number=6000)
    groups = [new.group(1) for _ in range(40)]
    await bench.put_all(enumerate(list(packets) for packets in zip(*groups, strict=True)))
    await bench.end()
    assert [event.number for event in bench.out[2:]] == list(range(6000, 6040))
    bench.check(old.sent | new.sent)
    nothing_but(bench.counters(), late=[60] * bench.ports, missing=[*[0] * last, 1])


@cocotb.test()
@cocotb.parametrize(size=[5, 60, 300])
async def a_burst_with_the_numbers_of_the_one_before_is_whole(dut: Any, size: int) -> None:
    """Each counts from 0, and its first events are near the end of the one before."""
    bench = Bench(dut)
    await bench.start()
    for _ in range(2):
        made = Detector(bench.rng, bench.ports, hits=2)
        groups = [made.group(5, burst=at == size - 5) for at in range(0, size, 5)]
        await bench.put_all(enumerate(list(packets) for packets in zip(*groups, strict=True)))
        await bench.end()
        await ClockCycles(dut.clk_i, WAIT + 20)
    assert [event.number for event in bench.out] == 2 * list(range(size))
    nothing_but(bench.counters())


@cocotb.test()
async def numbers_before_a_short_burst_are_not_of_it(dut: Any) -> None:
    """At once, without a pause: a burst of 6 events has no tail of more."""
    bench = Bench(dut)
    await bench.start()
    sent: dict[int, list[Fragment]] = {}
    for number in (1000, 900):
        made = Detector(bench.rng, bench.ports, hits=2, number=number)
        await bench.put_all(enumerate([packet] for packet in made.group(6, burst=True)))
        await bench.end()
        sent |= made.sent
    assert [event.number for event in bench.out] == [*range(1000, 1006), *range(900, 906)]
    bench.check(sent)
    nothing_but(bench.counters())


@cocotb.test()
async def the_tail_of_a_burst_lasts_as_long_as_something_of_it_comes(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    made = Detector(bench.rng, bench.ports, hits=2, number=1000)
    packets = made.group(6, burst=True)
    last = bench.ports - 1
    await bench.put_all(enumerate([packet] for packet in packets[:last]))
    await bench.end()
    for at in range(6):
        await ClockCycles(dut.clk_i, 3 * WAIT // 4)
        await FallingEdge(dut.clk_i)
        await bench.put(last, Packet(packets[last].fragments[at : at + 1]).bytes)
        await bench.end()
    assert [event.number for event in bench.out] == list(range(1000, 1006))
    nothing_but(bench.counters(), missing=[*[0] * last, 6], late=[*[0] * last, 6])


@cocotb.test()
async def anything_else_gives_nothing(dut: Any) -> None:
    """Bits turned in good datagrams: what is no packet is counted, and no event is touched by it."""
    bench = Bench(dut)
    await bench.start()
    made = Detector(bench.rng, bench.ports, hits=6)
    refused = 0
    for _ in range(120):
        packets = made.group(bench.rng.choice((1, 3)))
        spoiled = bytearray(packets[0].bytes)
        for _ in range(bench.rng.choice((1, 1, 2, 20))):
            at = bench.rng.randrange(8 * len(spoiled))
            spoiled[at // 8] ^= 1 << at % 8
        if bench.rng.random() < 0.2:
            spoiled = spoiled[: bench.rng.randrange(len(spoiled) + 1)]
        if not is_packet(bytes(spoiled)):
            await bench.put(0, bytes(spoiled))
            refused += 1
        await bench.put_all(enumerate([packet] for packet in packets), bench.rng.choice((0.5, 1.0)))
    await bench.end()
    assert refused > 60
    assert [event.number for event in bench.out] == list(range(made.number))
    bench.check(made.sent)
    nothing_but(bench.counters(), malformed=[refused, *[0] * (bench.ports - 1)])


@cocotb.test()
async def a_packet_longer_than_its_window_is_refused(dut: Any) -> None:
    bench = Bench(dut)
    await bench.start()
    made = Detector(bench.rng, bench.ports, hits=1)
    many = tuple(itertools.islice(((7 << 8, 5) for _ in itertools.count()), 1200))
    long = Packet((Fragment(0, 7, 0, many),))
    assert is_packet(long.bytes)
    await bench.put(0, long.bytes)
    await bench.put_all(enumerate([packet] for packet in made.group(2)))
    await bench.end()
    bench.check(made.sent)
    assert len(bench.out) == 2
    nothing_but(bench.counters(), malformed=[1, *[0] * (bench.ports - 1)])


@cocotb.test()
async def no_order_loses_or_doubles_a_hit(dut: Any) -> None:
    """Packets lost, repeated, exchanged and delayed at random, on every port by itself."""
    bench = Bench(dut)
    await bench.start(wait=150)
    made = Detector(bench.rng, bench.ports, hits=6)
    groups = [made.group(bench.rng.choice((1, 2, 4))) for _ in range(120)]
    given = [0] * bench.ports

    async def one(port: int) -> None:
        rng = random.Random(bench.rng.random())
        packets = [group[port] for group in groups]
        for at in range(len(packets) - 1):
            if rng.random() < 0.1:
                packets[at], packets[at + 1] = packets[at + 1], packets[at]
        for packet in packets:
            copies = rng.choices((0, 1, 2), (0.1, 0.8, 0.1))[0]
            for _ in range(copies):
                if rng.random() < 0.2:
                    await ClockCycles(dut.clk_i, rng.randrange(300))
                    await FallingEdge(dut.clk_i)
                await bench.put(port, packet.bytes)
                given[port] += len(packet.fragments)

    for task in [cocotb.start_soon(one(port)) for port in range(bench.ports)]:
        await task
    await bench.end()
    bench.check(made.sent)
    numbers = [event.number for event in bench.out]
    assert numbers == sorted(numbers)
    counters = bench.counters()
    for port in range(bench.ports):
        taken = sum(event.boards >> port & 1 for event in bench.out)
        assert given[port] == taken + counters["late"][port] + counters["repeated"][port]
        assert taken > 5
    for name in ("late", "repeated", "missing"):
        assert sum(counters[name]) > 5, name


@cocotb.test()
async def a_hit_a_cycle(dut: Any) -> None:
    """Events of 20 hits on a disk, all there: cycles of an event, and of the first one."""
    bench = Bench(dut)
    await bench.start(wait=100_000)
    made = Detector(bench.rng, bench.ports)
    events = []
    for number in range(8):
        hits = [((100 << 8) + at & 0x7FFFF, 25 * at) for at in range(20)]
        fragments = [
            Fragment(number, 100, board, tuple(hits if board == 0 else ())) for board in range(bench.ports)
        ]
        events.append(fragments)
        made.sent[number] = fragments
    packets = [Packet(tuple(event[port] for event in events)) for port in range(bench.ports)]
    for port in range(1, bench.ports):
        await bench.put(port, packets[port].bytes)
    await bench.put(0, packets[0].bytes)
    begin = bench.cycle
    await bench.end()
    bench.check(made.sent)
    # 20 hits, a word without a hit of each other board, a cycle a board and 4.
    whole = 8 * (20 + (bench.ports - 1) + bench.ports + 4)
    assert bench.at[-1] - begin <= whole + 30, bench.at[-1] - begin
    assert bench.datagrams[-1] - begin <= 8
