# SPDX-License-Identifier: Apache-2.0
"""etherbone_udp between a stand-in for the UDP stack and a bus: frames, verdicts, replies, cycles."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly
from etherbone_model import BCA, CYC, NO_READS, RFF, WCA, Bus, Record, Slave, random_records, request

CONFIG = {0x08: 0x00100000, 0x10: 0x0250C0FFEE01, 0x18: 0xC0A80064 << 32 | 0xEBD0, 0x28: 2}


EVENTS = ("timeout", "bus_error", "record", "broadcast", "malformed", "overflow")
"""Members of etherbone_pkg::events_t, from bit 0 on."""


@dataclass(frozen=True)
class Reply:
    meta: int
    words: list[int]
    sum_ok: bool
    cycle: int  # in which tx_valid_o rose


def ones_sum(words: list[int]) -> int:
    total = sum((w >> 16) + (w & 0xFFFF) for w in words)
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Bench:
    def __init__(self, dut: Any, lite: bool = False) -> None:
        self.dut = dut
        self.lite = lite
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.bus = Bus()
        self.cycle = 0
        self.latency = 1
        self.hung = False
        self.tx_wait = 0  # cycles until the stand-in takes a reply
        self.tx_pace = 1  # cycles a word
        self.replies: list[Reply] = []
        self.writes: list[int] = []
        self.reads = 0
        self.counts = dict.fromkeys(EVENTS, 0)
        self.tag = 0
        self.busy = 0
        self.last_end = 0

    async def start(self) -> None:
        d = self.dut
        d.rst_ni.value = 0
        for name in ("rx_start_i", "rx_valid_i", "rx_end_i", "rx_good_i", "tx_ready_i", "tx_next_i"):
            getattr(d, name).value = 0
        for name in ("rx_meta_i", "rx_data_i", "wb_stall_i", "wb_ack_i", "wb_err_i", "wb_dat_i"):
            getattr(d, name).value = 0
        d.lite_i.value = self.lite
        d.reply_port_i.value = 0
        d.rx_broadcast_i.value = 0
        d.sdb_address_i.value = CONFIG[8]
        d.own_mac_i.value = CONFIG[0x10]
        d.own_ip_i.value = 0xC0A80064
        d.own_port_i.value = 0xEBD0
        cocotb.start_soon(Clock(d.clk_i, 8, "ns").start())
        for _ in range(4):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self._bus())
        cocotb.start_soon(self._transmit())
        await FallingEdge(d.clk_i)

    async def _bus(self) -> None:
        d = self.dut
        answers: deque[tuple[int, int, bool]] = deque()
        while True:
            await FallingEdge(d.clk_i)
            due = bool(answers) and answers[0][0] <= self.cycle
            data, error = answers.popleft()[1:] if due else (0, False)
            d.wb_ack_i.value = due and not error
            d.wb_err_i.value = due and error
            d.wb_dat_i.value = data
            await ReadOnly()
            if not d.wb_cyc_o.value:
                answers.clear()
            if d.wb_stb_o.value and not self.hung:
                adr, sel = int(d.wb_adr_o.value), int(d.wb_sel_o.value)
                if d.wb_we_o.value:
                    self.writes.append(int(d.wb_dat_o.value))
                    answers.append((self.cycle + self.latency, 0, self.bus.write(adr, self.writes[-1], sel)))
                else:
                    self.reads += 1
                    answers.append((self.cycle + self.latency, *self.bus.read(adr)))
            events = int(d.events_o.value)
            for place, name in enumerate(EVENTS):
                self.counts[name] += events >> place & 1
            self.busy = 0 if d.idle_o.value else self.busy + 1
            self.cycle += 1

    async def _transmit(self) -> None:
        """Takes replies as the stack does: ready once, after a while, then the words at its pace."""
        d = self.dut
        while True:
            await FallingEdge(d.clk_i)
            if not d.tx_valid_o.value:
                continue
            seen = self.cycle
            for _ in range(self.tx_wait):
                await FallingEdge(d.clk_i)
            meta, total = int(d.tx_meta_o.value), int(d.tx_sum_o.value)
            d.tx_ready_i.value = 1
            await FallingEdge(d.clk_i)
            d.tx_ready_i.value = 0
            for _ in range(3):
                await FallingEdge(d.clk_i)
            words = []
            for _ in range((meta >> 8 & 0xFFFF) // 4):
                d.tx_next_i.value = 1
                words.append(int(d.tx_data_o.value))
                await FallingEdge(d.clk_i)
                d.tx_next_i.value = 0
                for _ in range(self.tx_pace - 1):
                    await FallingEdge(d.clk_i)
            self.replies.append(Reply(meta, words, ones_sum(words) == total, seen))

    async def frame(
        self, words: list[int], good: bool = True, pace: int = 4, verdict: int = 5, broadcast: bool = False
    ) -> int:
        """Pushes one frame as it comes off the wire; returns its meta, or -1 when it was refused."""
        d = self.dut
        self.tag = (self.tag + 1) % 256
        meta = self.rng.getrandbits(96) << 24 | len(words) * 4 << 8 | self.tag
        if d.rx_refuse_o.value:
            return -1
        d.rx_start_i.value = 1
        d.rx_meta_i.value = meta
        d.rx_broadcast_i.value = broadcast
        await FallingEdge(d.clk_i)
        d.rx_start_i.value = 0
        d.rx_broadcast_i.value = self.rng.getrandbits(1)  # means nothing from here on
        for word in words:
            d.rx_valid_i.value = 1
            d.rx_data_i.value = word
            await FallingEdge(d.clk_i)
            d.rx_valid_i.value = 0
            for _ in range(pace - 1):
                await FallingEdge(d.clk_i)
        for _ in range(max(0, verdict - pace)):
            await FallingEdge(d.clk_i)
        d.rx_end_i.value = 1
        d.rx_good_i.value = good
        self.last_end = self.cycle
        await FallingEdge(d.clk_i)
        d.rx_end_i.value = 0
        return meta

    async def quiet(self, limit: int = 40_000) -> None:
        for _ in range(limit):
            await FallingEdge(self.dut.clk_i)
            if self.busy == 0:
                for _ in range(8 + 380 * self.tx_pace):
                    await FallingEdge(self.dut.clk_i)
                return
        raise AssertionError(f"not idle within {limit} cycles")


async def started(dut: Any, lite: bool = False) -> Bench:
    bench = Bench(dut, lite)
    await bench.start()
    return bench


def reads(n: int) -> list[int]:
    return request([Record(CYC | BCA | RFF, 0xF, reads=[4 * (i % 64) for i in range(n)])])


@cocotb.test()
async def every_good_frame_is_answered_in_order_and_no_bad_one_writes(dut: Any) -> None:
    b = await started(dut)
    reference = Bus()
    slave = Slave(reference, CONFIG)
    expected: list[tuple[int, list[int]]] = []
    for _ in range(150):
        b.latency = b.rng.choice([1, 1, 3])
        b.tx_wait = b.rng.choice([0, 60])
        b.tx_pace = b.rng.choice([1, 4])
        records = random_records(b.rng, budget=b.rng.choice([4, 40]))
        words = request(records)
        kind = b.rng.choice(["good", "good", "good", "bad", "silent", "cut"])
        if kind == "bad":
            # its reads may run, and shift the error register: without errors that is not seen
            await b.frame(words, good=False, verdict=b.rng.randrange(4, 30))
        elif kind == "cut" and (records[-1].writes or records[-1].reads):
            await b.frame(words[:-1], verdict=8)
        elif kind == "silent":
            slave.serve(records)
            await b.frame(request(records, flags=NO_READS))
        else:
            meta = await b.frame(words, pace=b.rng.choice([1, 4]), verdict=b.rng.randrange(4, 10))
            if meta >= 0:
                expected.append((meta, slave.serve(records)[0]))
        for _ in range(b.rng.choice([1, 20, 2000])):
            await FallingEdge(dut.clk_i)
    await b.quiet()
    assert [(r.meta, r.words) for r in b.replies] == expected
    assert all(r.sum_ok for r in b.replies)
    assert reference.memory == b.bus.memory


@cocotb.test()
async def the_reply_is_offered_3_cycles_after_the_verdict_for_any_number_of_reads(dut: Any) -> None:
    b = await started(dut)
    for n in (1, 2, 3, 8, 64, 255):
        await b.frame(reads(n), pace=4, verdict=7)
        await b.quiet()
        assert b.replies[-1].cycle - b.last_end == 3, n


@cocotb.test()
async def a_bad_frame_leaves_nothing_behind_wherever_it_ends(dut: Any) -> None:
    b = await started(dut)
    write = request([Record(0, 0xF, 0, reads=[0, 4]), Record(CYC, 0xF, 0x40, [1, 2, 3])])
    for cut in range(len(write) + 1):
        for pace in (1, 4):
            before = len(b.replies)
            await b.frame(write[:cut], good=False, pace=pace, verdict=b.rng.randrange(1, 9) + pace)
            meta = await b.frame(reads(3))
            await b.quiet()
            assert [r.meta for r in b.replies[before:]] == [meta]
    assert b.writes == []
    assert b.counts["malformed"] == 0


@cocotb.test()
async def malformed_frames_are_counted_and_write_nothing(dut: Any) -> None:
    b = await started(dut)
    good = request([Record(CYC, 0xF, 0x40, [1, 2, 3]), Record(CYC, 0xF, 0x80, [4], 0x8000, [0])])
    bad = [good[:i] for i in range(2, len(good)) if i != 6] + [[*good, 0x08FF0001], [0x4E6F2044, *good[1:]]]
    bad += [[0x4E6F11FF], [0x4E6F11FF, 1, 0], [0x4E6F1644, 5, 0], [0x4E6F1088, *good[1:]], []]
    for i, frame in enumerate(bad):
        await b.frame(frame)
        await b.quiet()
        assert b.writes == []
        assert b.counts["malformed"] == i + 1
    meta = await b.frame(good)
    await b.quiet()
    assert b.writes == [1, 2, 3, 4]
    assert [r.meta for r in b.replies] == [meta]


@cocotb.test()
async def a_hung_bus_ends_in_errors_that_the_status_read_shows(dut: Any) -> None:
    b = await started(dut)
    b.hung = True
    status = Record(BCA | RFF | 0x40 | CYC, 0xF, 0, [], 0x8001, [4])
    await b.frame(request([Record(BCA | RFF, 0xF, 0, [], 0x8000, [0, 4, 8]), status]))
    await b.quiet()
    assert b.replies[-1].words[-1] & 7 == 7
    assert b.counts["timeout"] >= 1
    b.hung = False
    await b.frame(reads(2))
    await b.quiet()
    assert b.replies[-1].words[-2:] == [b.bus.fill(0), b.bus.fill(4)]


@cocotb.test()
async def what_finds_no_room_is_dropped_and_counted_and_nothing_else_is_lost(dut: Any) -> None:
    b = await started(dut)
    b.latency = 30
    b.tx_wait = 3000
    metas = [await b.frame(reads(240), pace=1, verdict=3) for _ in range(12)]
    metas += [await b.frame(reads(1), pace=1, verdict=3) for _ in range(60)]
    await b.quiet(400_000)
    assert b.counts["overflow"] > 0
    assert -1 in metas
    answered = [r.meta for r in b.replies]
    assert answered == [m for m in metas if m in set(answered)]
    assert len(answered) == 72 - b.counts["overflow"] - metas.count(-1)
    b.tx_wait = 0
    meta = await b.frame(reads(255))
    await b.quiet()
    assert b.replies[-1].meta == meta


@cocotb.test()
async def replies_go_to_the_request_s_port_or_to_the_one_that_is_set(dut: Any) -> None:
    b = await started(dut)
    meta = await b.frame(reads(1))
    await b.quiet()
    dut.reply_port_i.value = 1234
    other = await b.frame(reads(1))
    await b.quiet()
    port = 0xFFFF << 24
    assert [r.meta for r in b.replies] == [meta, other & ~port | 1234 << 24]


@cocotb.test()
async def config_writes_are_discarded(dut: Any) -> None:
    b = await started(dut)
    await b.frame(request([Record(CYC | WCA, 0xF, 0x10, [1, 2])]))
    await b.quiet()
    assert b.writes == []
    assert len(b.replies) == 1


@cocotb.test()
async def a_broadcast_is_answered_when_it_is_a_probe_and_else_does_nothing(dut: Any) -> None:
    b = await started(dut)
    write = request([Record(CYC, 0xF, 0x40, [1, 2, 3]), Record(CYC | BCA | RFF, 0xF, reads=[0, 4])])
    probe = [0x4E6F11FF, 0x1234]
    nothing = [reads(1), reads(255), write, [0x4E6F1044], [0x4E6F1044, 0], [0x4E6F1044, 0xA80F0001], []]
    nothing += [[*probe, *write], [*probe, 0], [0x4E6F11FF], [0x4E6F1644, 5], [0x4E6F2100, 5], write[:2]]
    expected, dropped = [], 0
    for _ in range(3):
        b.rng.shuffle(nothing)
        for words in nothing:
            await b.frame(words, pace=b.rng.choice([1, 4]), broadcast=True)
            dropped += 1
            meta = await b.frame(probe, broadcast=True)
            expected.append((meta, [0x4E6F1644, 0x1234]))
            if b.rng.random() < 0.5:
                meta = await b.frame(write[:6])
                expected.append((meta, [0x4E6F1444, 0, 0, 0, 0, 0]))
            await b.quiet()
    assert [(r.meta, r.words) for r in b.replies] == expected
    singles = len(expected) - 3 * len(nothing)
    assert b.writes == [1, 2, 3] * singles
    assert b.reads == 0
    assert (b.counts["broadcast"], b.counts["malformed"]) == (dropped, 0)
    # A bad frame check is no broadcast that was refused.
    await b.frame(probe, good=False, broadcast=True)
    await b.frame(write, good=False, broadcast=True)
    await b.quiet()
    assert b.counts["broadcast"] == dropped
    assert len(b.replies) == len(expected)
