# SPDX-License-Identifier: Apache-2.0
"""etherbone_udp in LiteEth's dialect: layout, order, cycles, and what made other devices hang."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.triggers import FallingEdge
from etherbone_model import BCA, CYC, RFF, Record, request
from etherbone_udp_tb import Bench, Reply, started
from lite_model import HEADER, PROBE, PROBE_REPLY, RCA, Lite, random_record, words


async def lite(dut: Any) -> Bench:
    bench: Bench = await started(dut, lite=True)
    return bench


def sized(meta: int, reply: list[int]) -> int:
    """A request's meta with the reply's length."""
    return meta & ~(0xFFFF << 8) | len(reply) * 4 << 8


def found(replies: list[Reply]) -> list[tuple[int, list[int]]]:
    assert all(reply.sum_ok for reply in replies)
    return [(reply.meta, reply.words) for reply in replies]


async def still_answers(b: Bench) -> None:
    """The next valid request is answered."""
    del b.replies[:]
    record = Lite(reads=[0, 4, 8], back=b.rng.getrandbits(32))
    meta = await b.frame(words(record.request()))
    await b.quiet()
    reply = record.serve(b.bus)
    assert reply is not None
    assert found(b.replies) == [(sized(meta, words(reply)), words(reply))]


@cocotb.test()
async def random_records_are_answered_as_the_layout_says(dut: Any) -> None:
    b = await lite(dut)
    reference = type(b.bus)()
    expected: list[tuple[int, list[int]]] = []
    for _ in range(200):
        b.latency = b.rng.choice([1, 1, 3])
        b.tx_wait = b.rng.choice([0, 60])
        b.tx_pace = b.rng.choice([1, 4])
        record = random_record(b.rng)
        frame = words(record.request())
        kind = b.rng.choice(["good", "good", "good", "probe", "bad", "cut", "long"])
        if kind == "probe":
            meta = await b.frame(words(PROBE), pace=b.rng.choice([1, 4]))
            if meta >= 0:
                expected.append((meta, words(PROBE_REPLY)))
        elif kind == "bad":
            await b.frame(frame, good=False, verdict=b.rng.randrange(4, 30))
        elif kind == "cut":
            await b.frame(frame[:-1], verdict=8)
        elif kind == "long":
            await b.frame([*frame, b.rng.getrandbits(32)], verdict=8)
        else:
            meta = await b.frame(frame, pace=b.rng.choice([1, 4]), verdict=b.rng.randrange(4, 10))
            if meta >= 0 and (reply := record.serve(reference)) is not None:
                expected.append((sized(meta, words(reply)), words(reply)))
        for _ in range(b.rng.choice([1, 20, 2000])):
            await FallingEdge(dut.clk_i)
    await b.quiet()
    assert found(b.replies) == expected
    assert reference.memory == b.bus.memory


@cocotb.test()
async def the_reply_is_offered_3_cycles_after_the_verdict_as_in_the_other_dialect(dut: Any) -> None:
    b = await lite(dut)
    for n in (1, 2, 3, 8, 64, 255):
        await b.frame(words(Lite(reads=[4 * (i % 64) for i in range(n)]).request()), pace=4, verdict=7)
        await b.quiet()
        assert b.replies[-1].cycle - b.last_end == 3, n


@cocotb.test()
async def words_that_come_every_cycle_are_answered_every_cycle(dut: Any) -> None:
    b = await lite(dut)
    # the word that is taken out of a request makes room for the one that its reply gets
    await b.frame(words(Lite(reads=[4 * i for i in range(200)]).request()), pace=1, verdict=10)
    await b.quiet()
    assert b.replies[-1].cycle - b.last_end == 3


@cocotb.test()
async def a_probe_of_three_words_is_answered_with_its_number(dut: Any) -> None:
    b = await lite(dut)
    meta = await b.frame([0x4E6F1144, 0x01020304, 0])
    await b.quiet()
    assert found(b.replies) == [(meta, [0x4E6F1244, 0x01020304, 0])]


@cocotb.test()
async def writes_alone_are_not_answered_and_writes_come_before_reads(dut: Any) -> None:
    b = await lite(dut)
    await b.frame(words(Lite([1, 2], base=0x40).request()))
    await b.quiet()
    assert b.replies == []
    meta = await b.frame(words(Lite([7], [0x40, 0x44], 0x40, 0xFFFF0001).request()))
    await b.quiet()
    reply = [*words(HEADER), 0x000F0200, 0xFFFF0001, 7, 2]
    assert found(b.replies) == [(sized(meta, reply), reply)]


@cocotb.test()
async def mirrored_flags_reach_the_configuration_space(dut: Any) -> None:
    b = await lite(dut)
    b.bus.errors = {0x8}
    await b.frame(words(Lite(reads=[0, 8]).request()))
    await b.frame(words(Lite(reads=[0x0C, 0x04], flags=RCA).request()))
    await b.quiet()
    assert b.replies[-1].words[-2:] == [0x00100000, 0b01]


async def drops(b: Bench, frame: list[int]) -> None:
    """It is dropped and counted, nothing of it reaches the bus, and the next request is answered."""
    malformed, reads = b.counts["malformed"], b.reads
    await b.frame(frame)
    await b.quiet()
    assert b.replies == []
    assert b.counts["malformed"] == malformed + 1
    assert (b.reads, b.writes) == (reads, [])
    await still_answers(b)
    del b.replies[:]


@cocotb.test()
async def a_standard_probe_of_8_bytes_is_dropped(dut: Any) -> None:
    b = await lite(dut)
    for ident in (0, 0x01020304):
        await drops(b, [0x4E6F11FF, ident])


@cocotb.test()
async def frames_of_the_other_dialect_are_dropped(dut: Any) -> None:
    b = await lite(dut)
    status = Record(BCA | RFF | 0x40 | CYC, 0xF, return_base=0x8001, reads=[4])
    for records in (
        [Record(CYC | BCA | RFF, 0xF, return_base=0x8000, reads=[0, 4])],
        [Record(BCA | RFF, 0xF, 0x40, [1, 2]), status],
        [Record(CYC, 0xF, 0x40, [1])],
    ):
        await drops(b, request(records))


@cocotb.test()
async def more_reads_than_the_frame_has_are_dropped(dut: Any) -> None:
    b = await lite(dut)
    frame = words(Lite(reads=[0, 4, 8]).request())
    for count in (4, 17, 255):
        await drops(b, [*frame[:2], 0x000F0000 | count, *frame[3:]])
        await drops(b, [*frame[:2], 0x000F0000 | count << 8, *frame[3:]])


@cocotb.test()
async def more_than_one_record_and_broken_headers_are_dropped(dut: Any) -> None:
    b = await lite(dut)
    frame = words(Lite(reads=[0, 4]).request())
    for bad in (
        [*frame, *frame[2:]],
        [frame[0], 1, *frame[2:]],
        [0x4E6E1044, *frame[1:]],
        [0x4E6F2044, *frame[1:]],
        [0x4E6F1084, *frame[1:]],
        [0x4E6F1244, *frame[1:]],
        frame[:1],
        frame[:2],
        [*words(PROBE), 0],
        [],
    ):
        await drops(b, bad)


@cocotb.test()
async def the_most_reads_of_a_record_are_answered_back_to_back(dut: Any) -> None:
    b = await lite(dut)
    record = Lite(reads=[4 * i for i in range(255)], back=5)
    metas = [await b.frame(words(record.request()), pace=4, verdict=5) for _ in range(4)]
    await b.quiet()
    reply = words(record.serve(b.bus) or b"")
    assert found(b.replies) == [(meta, reply) for meta in metas]


@cocotb.test()
async def a_frame_cut_anywhere_leaves_nothing_behind(dut: Any) -> None:
    b = await lite(dut)
    frame = words(Lite([1, 2], [0, 4], 0x40).request())
    for cut in range(len(frame) + 1):
        for pace in (1, 4):
            await b.frame(frame[:cut], good=False, pace=pace, verdict=b.rng.randrange(1, 9) + pace)
            await still_answers(b)
    assert b.writes == []


@cocotb.test()
async def a_hung_bus_is_given_up_and_the_next_request_is_answered(dut: Any) -> None:
    b = await lite(dut)
    b.hung = True
    await b.frame(words(Lite(reads=[0, 4]).request()))
    await b.quiet()
    assert len(b.replies) == 1
    assert b.counts["timeout"] >= 1
    b.hung = False
    await still_answers(b)
