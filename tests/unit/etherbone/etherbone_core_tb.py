# SPDX-License-Identifier: Apache-2.0
"""etherbone_core against the reference slave: values, operations, order, and exact cycles."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge
from etherbone_model import (
    BCA,
    CYC,
    NO_READS,
    PROBE,
    PROBE_REPLY,
    RCA,
    RFF,
    Bus,
    Operation,
    Record,
    Slave,
    head,
    header,
    random_records,
    request,
)

SDB, MAC, IP, PORT = 0x00100000, 0x0250C0FFEE01, 0xC0A80064, 0xEBD0
CONFIG = {0x08: SDB, 0x10: MAC, 0x18: IP << 32 | PORT, 0x28: 2}


class Bench:
    """Drives the request stream, answers the bus with a given latency, collects the reply."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.width = len(dut.rx_data_i)
        self.bus = Bus(self.width)
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.cycle = 0
        self.latency = 1
        self.stall = 0.0  # chance that the bus stalls in a cycle
        self.tx_stall = 0.0
        self.words: list[tuple[int, int]] = []  # (cycle, word)
        self.ends: list[bool] = []  # commit of each end beat
        self.operations: list[Operation] = []
        self.issued: list[int] = []  # cycle in which each operation was taken
        self.bus_cycles = 0
        self.malformed = 0
        self.idle_low = 0

    async def start(self) -> None:
        d = self.dut
        d.rst_ni.value = 0
        for port in (
            "rx_valid_i",
            "rx_last_i",
            "rx_open_i",
            "rx_abort_i",
            "wb_stall_i",
            "wb_ack_i",
            "wb_err_i",
        ):
            getattr(d, port).value = 0
        d.rx_data_i.value = 0
        d.wb_dat_i.value = 0
        d.rx_verified_i.value = 1
        d.tx_ready_i.value = 1
        d.sdb_address_i.value = SDB
        d.own_mac_i.value = MAC
        d.own_ip_i.value = IP
        d.own_port_i.value = PORT
        cocotb.start_soon(Clock(d.clk_i, 8, "ns").start())
        for _ in range(4):
            await RisingEdge(d.clk_i)
        await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self._run())
        await FallingEdge(d.clk_i)

    async def _run(self) -> None:
        d = self.dut
        answers: deque[tuple[int, int, bool]] = deque()  # (due cycle, data, error)
        cyc_was = 0
        while True:
            # settled values of this cycle, inputs having been driven at the falling edge
            await FallingEdge(d.clk_i)
            d.wb_stall_i.value = self.rng.random() < self.stall
            d.tx_ready_i.value = self.rng.random() >= self.tx_stall
            due = answers and answers[0][0] <= self.cycle
            data, error = (answers.popleft()[1:]) if due else (self.rng.getrandbits(self.width), False)
            d.wb_ack_i.value = bool(due) and not error
            d.wb_err_i.value = bool(due) and error
            d.wb_dat_i.value = data
            await ReadOnly()
            if d.tx_valid_o.value and d.tx_ready_i.value:
                if d.tx_end_o.value:
                    self.ends.append(bool(d.tx_commit_o.value))
                else:
                    self.words.append((self.cycle, int(d.tx_data_o.value)))
            cyc, stb = int(d.wb_cyc_o.value), int(d.wb_stb_o.value)
            assert cyc or not stb, "stb outside cyc"
            assert cyc or not answers, "cyc dropped before the last answer"
            if cyc_was and not cyc:
                self.bus_cycles += 1
            cyc_was = cyc
            if stb and not d.wb_stall_i.value:
                write, adr, sel = int(d.wb_we_o.value), int(d.wb_adr_o.value), int(d.wb_sel_o.value)
                dat = int(d.wb_dat_o.value) if write else 0
                self.operations.append(Operation(bool(write), adr, sel, dat, self.bus_cycles))
                self.issued.append(self.cycle)
                if write:
                    result, error = 0, self.bus.write(adr, dat, sel)
                else:
                    result, error = self.bus.read(adr)
                answers.append((self.cycle + self.latency, result, error))
            self.malformed += int(d.malformed_o.value)
            self.idle_low = 0 if d.idle_o.value else self.idle_low + 1
            self.cycle += 1

    async def send(self, words: list[int], gap: float = 0.0, last: bool = True) -> list[int]:
        """Sends a frame; returns the cycle in which each word was taken."""
        d = self.dut
        taken: list[int] = []
        for i, word in enumerate(words):
            while self.rng.random() < gap:
                d.rx_valid_i.value = 0
                await FallingEdge(d.clk_i)
            d.rx_valid_i.value = 1
            d.rx_data_i.value = word
            d.rx_last_i.value = last and i == len(words) - 1
            while True:
                await RisingEdge(d.clk_i)  # values before the edge
                ready = bool(d.rx_ready_o.value)
                cycle = self.cycle - 1
                await FallingEdge(d.clk_i)
                if ready:
                    taken.append(cycle)
                    break
                assert self.cycle < 200_000
        d.rx_valid_i.value = 0
        return taken

    async def quiet(self, limit: int = 5000) -> None:
        """Waits until the core is idle; it must be within `limit` cycles."""
        for _ in range(limit):
            await FallingEdge(self.dut.clk_i)
            if self.idle_low == 0 and self.cycle > 3:
                await FallingEdge(self.dut.clk_i)
                await FallingEdge(self.dut.clk_i)
                return
        raise AssertionError(f"not idle within {limit} cycles")

    def take(self) -> tuple[list[int], list[bool], list[Operation]]:
        result = [w for _, w in self.words], self.ends, self.operations
        self.words, self.ends, self.operations, self.issued = [], [], [], []
        return result


async def started(dut: Any) -> Bench:
    bench = Bench(dut)
    await bench.start()
    return bench


def reads(n: int, flags: int = CYC | BCA | RFF) -> Record:
    return Record(flags, 0xF, return_base=0x8000, reads=[4 * i for i in range(n)])


@cocotb.test()
async def answers_random_frames_as_the_reference_slave_does(dut: Any) -> None:
    b = await started(dut)
    reference = Bus(b.width)
    step = b.width // 8
    reference.errors = {3 * step, 9 * step}
    b.bus.errors = set(reference.errors)
    slave = Slave(reference, CONFIG)
    for _ in range(300):
        b.latency = b.rng.choice([1, 1, 2, 7])
        b.stall = b.rng.choice([0.0, 0.3, 0.8])
        b.tx_stall = b.rng.choice([0.0, 0.4])
        records = random_records(b.rng, b.width)
        expected, operations = slave.serve(records)
        await b.send(request(records, b.width), gap=b.rng.choice([0.0, 0.5]))
        await b.quiet()
        words, ends, seen = b.take()
        assert words == expected
        assert ends == [True]
        assert seen == operations
    assert reference.memory == b.bus.memory


@cocotb.test()
async def first_word_leaves_1_cycle_and_last_word_3_cycles_after_it_came(dut: Any) -> None:
    b = await started(dut)
    for n in (1, 2, 8, 64, 255):
        taken = await b.send(request([reads(n)], b.width))
        await b.quiet()
        assert b.words[0][0] - taken[0] == 1
        assert b.words[-1][0] - taken[-1] == 3, f"n={n}"
        assert len(b.words) == len(taken)
        assert [b.issued[i + 1] - b.issued[i] for i in range(n - 1)] == [1] * (n - 1)
        b.take()


@cocotb.test()
async def operations_follow_each_other_on_a_slow_bus(dut: Any) -> None:
    b = await started(dut)
    b.latency = 9
    await b.send(request([reads(16)], b.width))
    await b.quiet()
    assert [b.issued[i + 1] - b.issued[i] for i in range(15)] == [1] * 15


@cocotb.test()
async def every_address_and_data_bit_reaches_the_bus(dut: Any) -> None:
    b = await started(dut)
    sel = (1 << (b.width // 8)) - 1
    bits = [1 << i for i in range(b.width)]
    base = (1 << b.width) - b.width // 8
    await b.send(request([Record(CYC, sel, base, [bits[-1]])], b.width))
    await b.send(request([Record(CYC, sel, return_base=0x8000, reads=bits)], b.width))
    await b.quiet()
    _, _, operations = b.take()
    assert (operations[0].adr, operations[0].dat) == (base, bits[-1])
    assert [o.adr for o in operations[1:]] == bits


@cocotb.test()
async def records_of_one_cycle_follow_each_other_without_a_gap(dut: Any) -> None:
    b = await started(dut)
    records = [reads(5, BCA) for _ in range(20)]
    taken = await b.send(request(records, b.width))
    assert taken == list(range(taken[0], taken[0] + len(taken))), "the request stalled"
    await b.quiet()
    assert b.bus_cycles == 1


@cocotb.test()
async def a_dropped_cycle_line_costs_no_stall_at_slave_latency_1(dut: Any) -> None:
    b = await started(dut)
    records = [reads(3) for _ in range(10)]
    taken = await b.send(request(records, b.width))
    assert taken == list(range(taken[0], taken[0] + len(taken)))
    await b.quiet()
    assert b.bus_cycles == 10


@cocotb.test()
async def a_probe_is_answered_with_its_id_and_the_own_widths(dut: Any) -> None:
    b = await started(dut)
    mask = 0x44 if b.width == 32 else 0x88
    ident = 0xDEADBEEF
    if b.width == 32:
        await b.send([0x4E6F11FF, ident])
        expected = [0x4E6F1600 | mask, ident]
    else:
        await b.send([0x4E6F11FF << 32 | ident])
        expected = [(0x4E6F1600 | mask) << 32 | ident]
    await b.quiet()
    assert b.take() == (expected, [True], [])


@cocotb.test()
async def a_silent_request_is_executed_and_not_answered(dut: Any) -> None:
    b = await started(dut)
    await b.send(request([Record(CYC, 0xFF, 0x20, [7, 8])], b.width, flags=NO_READS))
    await b.quiet()
    _, ends, operations = b.take()
    assert ends == [False]
    assert [o.dat for o in operations] == [7, 8]


@cocotb.test()
async def malformed_frames_are_refused_and_the_next_valid_one_is_answered(dut: Any) -> None:
    b = await started(dut)
    good = request([reads(4)], b.width)
    # nothing of a frame with one of these headers may reach the bus
    wrong = [
        head(0x4E6E1044, b.width),
        head(0x4E6F2044, b.width),
        head(0x4E6F1040, b.width),
        head(0x4E6F1004, b.width),
        head(0x4E6F10FF, b.width),
        header(b.width, PROBE_REPLY),
        0,
    ]
    for word in wrong:
        before = b.malformed
        await b.send([word, *good[1:]])
        await b.quiet()
        assert b.take()[1:] == ([False], []), hex(word)
        assert b.malformed == before + 1
    cut = [good[:i] for i in range(2, len(good))]
    cut += [[header(b.width, PROBE), *([0] * n)] for n in ((0, 2, 9) if b.width == 32 else (1, 9))]
    for frame in cut:
        before = b.malformed
        await b.send(frame)
        await b.quiet()
        assert b.take()[1] == [False], frame
        assert b.malformed == before + 1
    await b.send(good)
    await b.quiet()
    words, ends, _ = b.take()
    assert ends == [True]
    assert len(words) == len(good)


@cocotb.test()
async def random_words_never_hang_it(dut: Any) -> None:
    b = await started(dut)
    for _ in range(300):
        frame = [
            b.rng.choice([0, b.rng.getrandbits(b.width), header(b.width)])
            for _ in range(b.rng.randrange(1, 30))
        ]
        if b.rng.random() < 0.8:
            frame[0] = header(b.width)
        await b.send(frame)
        await b.quiet()
        assert len(b.take()[1]) == 1
    await b.send(request([reads(2)], b.width))
    await b.quiet()
    assert b.take()[1] == [True]


@cocotb.test()
async def a_config_read_sees_the_errors_of_the_operations_before_it(dut: Any) -> None:
    b = await started(dut)
    b.latency = 9
    b.bus.errors = {0x8}
    stride = b.width // 8
    status = Record(BCA | RFF | RCA | CYC, 0xF, return_base=0x8001, reads=[8 - stride])
    record = Record(BCA | RFF, 0xF, return_base=0x8000, reads=[0x0, 0x8, 0x10])
    await b.send(request([record, status], b.width))
    await b.quiet()
    words, _, _ = b.take()
    assert words[-1] & 0b111 == 0b010


@cocotb.test()
async def writes_wait_for_the_verdict_and_reads_do_not(dut: Any) -> None:
    if int(dut.Admission.value) != 1:
        return
    b = await started(dut)
    dut.rx_verified_i.value = 0
    dut.rx_open_i.value = 1
    record = Record(CYC, (1 << (b.width // 8)) - 1, 0x40, [1, 2], 0x8000, [0x40])
    frame = request([reads(2, 0), record], b.width)
    sending = cocotb.start_soon(b.send(frame))
    for _ in range(40):
        await FallingEdge(dut.clk_i)
    assert [o.write for o in b.operations] == [False, False]
    assert b.ends == []
    dut.rx_verified_i.value = 1
    dut.rx_open_i.value = 0
    await sending
    await b.quiet()
    words, ends, operations = b.take()
    assert [o.write for o in operations] == [False, False, True, True, False]
    assert ends == [True]
    assert words[-1] == 1


@cocotb.test()
async def an_aborted_frame_writes_nothing_more_and_is_not_answered(dut: Any) -> None:
    if int(dut.Admission.value) != 1:
        return
    b = await started(dut)
    good = request([reads(3)], b.width)
    frame = request([reads(4, 0), Record(CYC, 0xF, 0x40, [1, 2])], b.width)
    for cut in range(1, len(frame) - 1):
        dut.rx_verified_i.value = 0
        dut.rx_open_i.value = 1
        await b.send(frame[:cut], last=False)
        dut.rx_abort_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.rx_abort_i.value = 0
        dut.rx_open_i.value = 0
        dut.rx_verified_i.value = 1
        await b.send(good)
        await b.quiet()
        words, ends, operations = b.take()
        assert ends == [False, True], cut
        assert not any(o.write for o in operations)
        assert len(words) == cut + len(good)


@cocotb.test()
async def reads_of_a_whole_frame_run_before_its_verdict_but_no_reply_ends(dut: Any) -> None:
    if int(dut.Admission.value) != 1:
        return
    b = await started(dut)
    dut.rx_verified_i.value = 0
    dut.rx_open_i.value = 1
    await b.send(request([reads(6)], b.width))
    for _ in range(30):
        await FallingEdge(dut.clk_i)
    assert len(b.operations) == 6
    assert b.ends == []
    dut.rx_open_i.value = 0
    await b.quiet()
    assert b.ends == [True]


@cocotb.test()
async def a_held_fifo_read_address_and_return_flags_are_echoed(dut: Any) -> None:
    b = await started(dut)
    await b.send(request([Record(RFF | CYC, 0x3, return_base=0x1234, reads=[8, 8, 8])], b.width))
    await b.quiet()
    words, _, operations = b.take()
    assert words[1] == head(0x0A030300, b.width)
    assert words[2] == 0x1234
    assert [o.adr for o in operations] == [8, 8, 8]
    assert {o.sel for o in operations} == {3}


@cocotb.test()
async def byte_enables_are_echoed_whole_even_those_beyond_the_bus(dut: Any) -> None:
    b = await started(dut)
    for writes in ([], [7]):
        await b.send(request([Record(CYC, 0xE3, 0x20, writes, 0x1234, [8])], b.width))
        await b.quiet()
        words, _, operations = b.take()
        assert words[1 + (len(writes) + 1 if writes else 0)] == head(0x08E30100, b.width)
        assert {o.sel for o in operations} == {0xE3 & ((1 << b.width // 8) - 1)}
