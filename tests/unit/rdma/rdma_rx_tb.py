# SPDX-License-Identifier: Apache-2.0
"""The receive half at its pins: rules of docs/explanation/cores/rdma.md, one by one, then all at once."""

from __future__ import annotations

import os
import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge
from rdma_rx_host import (
    COMPLETE,
    HOST,
    NOTIFY,
    Host,
    Packet,
    control,
    fields,
)
from rdma_rx_traffic import Traffic
from rdma_words import (
    ACK,
    BOUNDS,
    BROKEN,
    FULL,
    KEY,
    LOST,
    MESSAGE,
    OPEN,
    PROBE,
    QUEUE,
    REFUSED,
    SESSION,
    WRITE,
)
from rdma_words import SHORT as SHORT_MESSAGE

LINKS = int(os.environ["RDMA_LINKS"])
STORED = os.environ["RDMA_STORED"] == "1"
BASE = 0x12_3450_0000
WORDS = 0x9_0000_0000
RING = 0x8_0000_0040
SHORT = 0x200_0000  # below 4 GiB: what a short address reaches


async def begin(dut: Any, **kwargs: Any) -> Host:
    h = Host(dut, LINKS, random.Random(cocotb.RANDOM_SEED))
    await h.start(**kwargs)
    return h


async def with_ring(dut: Any, size: int = 4, **kwargs: Any) -> Host:
    h = await begin(dut, ring=(RING, size), **kwargs)
    h.legal.append(range(RING, RING + (16 << size)))
    return h


def data(rng: random.Random, beats: int) -> list[int]:
    return [rng.getrandbits(64) for _ in range(beats)]


def write(
    h: Host, seq: int, address: int, beats: int = 1, src: int = 1, session: int = 7, **more: Any
) -> Packet:
    return Packet(src, seq, session, WRITE, data(h.rng, beats), address, **more)


def message(h: Host, seq: int, queue: int, beats: int, src: int = 1, session: int = 7, **more: Any) -> Packet:
    immediate = h.rng.getrandbits(32)
    return Packet(src, seq, session, MESSAGE, data(h.rng, beats), queue | immediate << 32, **more)


def record(h: Host, n: int, size: int = 4) -> tuple[int, ...]:
    """(code, tag, host, received, more, phase, address) of record n."""
    at = RING + 16 * (n % (1 << size))
    low, high = h.get(at, 2)
    assert low is not None
    assert high is not None
    return low & 0xFF, low >> 8 & 0xFF, low >> 16 & 0x7F, low >> 23 & 1, low >> 24 & 0xFFF, low >> 63, high


@cocotb.test()
async def a_short_write_is_checked_against_its_sources_region(dut: Any) -> None:
    h = await with_ring(dut)
    await h.region(1, SHORT, 0x1000, 1 << 1)
    await h.region(2, SHORT, 0x1000, 1 << 1)  # source 2's own, which it may not write
    await h.open(1, 7)
    await h.open(2, 7)
    good = [write(h, 0, SHORT, 8), write(h, 1, SHORT + 0x1000 - 64, 8, completion=True)]
    for p in good:
        h.send(p.beats())
    bad = [
        (write(h, 2, SHORT - 8, 8, tag=1), BOUNDS),
        (write(h, 3, SHORT + 0x1000 - 56, 8, tag=2), BOUNDS),
        (write(h, 4, SHORT + 4, 1, tag=3), BOUNDS),
        (write(h, 5, (1 << 64) - 8, 2, tag=4), BOUNDS),
        (write(h, 6, SHORT + 0x1000, 1, tag=5), BOUNDS),
        (write(h, 0, SHORT, 1, src=2, tag=6), KEY),
        (write(h, 1, SHORT, 1, src=2, tag=7, third=1), KEY),  # nonce 0 of region 1, but not source 2's
    ]
    for p, _ in bad:
        h.send(p.beats())
    h.send(write(h, 7, SHORT + 64, 1, tag=8, completion=True).beats())
    await h.rest()
    for p in good:
        assert h.get(p.second, 8) == p.payload
    # Flows are in no order to each other.
    records = [record(h, n)[:4] for n in range(len(bad))]
    refused = [(dst, code, tag) for what, dst, _, _, code, tag, more in h.ctl if what == REFUSED]
    for src in (1, 2):
        of_src = [(p, code) for p, code in bad if p.src == src]
        assert [r for r in records if r[2] == src] == [(code, p.tag, p.src, 1) for p, code in of_src]
        assert [r for r in refused if r[0] == src] == [(p.src, code, p.tag) for p, code in of_src]
    assert len(refused) == len(bad)
    assert (ACK, 1, 7, 8, 1, 0, 0) in h.ctl
    assert h.events["refused"] == len(bad)
    assert h.events["taken"] == 3


@cocotb.test()
async def a_key_names_a_region_and_repeats_its_nonce(dut: Any) -> None:
    h = await with_ring(dut)
    nonce = h.rng.getrandbits(24)
    await h.region(40, BASE, 0x2000, 1 << 1 | 1 << 6, nonce)
    await h.region(41, BASE + 0x10000, 0x2000, 0xFF, nonce, valid=False)
    await h.region(42, BASE + 0x20004, 0x2000, 0xFF, nonce)  # a base that is none
    for src in (1, 6, 7):
        await h.open(src, 7)
    key = 40 | nonce << 8
    h.send(write(h, 0, BASE + 8, 3, third=key).beats())
    h.send(write(h, 0, BASE + 0x1FF8, 1, src=6, third=key | 0xABCD << 32).beats())
    refused = [
        (write(h, 1, BASE, 1, third=key ^ 1 << 8, tag=1), KEY),
        (write(h, 2, BASE, 1, third=key ^ 1 << 31, tag=2), KEY),
        (write(h, 3, BASE, 1, third=key | 0x40, tag=3), KEY),
        (write(h, 4, BASE + 0x10000, 1, third=41 | nonce << 8, tag=4), KEY),
        (write(h, 5, BASE + 0x20008, 1, third=42 | nonce << 8, tag=5), BOUNDS),
        (write(h, 0, BASE, 1, src=7, third=key, tag=6), KEY),
        (write(h, 6, BASE + 0x1FF8, 2, third=key, tag=7), BOUNDS),
    ]
    for p, _ in refused:
        h.send(p.beats())
    await h.rest()
    assert h.get(BASE + 8, 3) != [None] * 3
    assert h.get(BASE + 0x1FF8, 1) != [None]
    # Flows are in no order to each other.
    records = [record(h, n) for n in range(len(refused))]
    for src in (1, 7):
        told = [r[:3] for r in records if r[2] == src]
        assert told == [(code, p.tag, p.src) for p, code in refused if p.src == src]
    assert [r[6] for r in records if r[1] in (1, 7)] == [BASE, BASE + 0x2000]  # last beats


@cocotb.test()
async def bursts_end_at_4_kib_and_tell_what_follows(dut: Any) -> None:
    h = await begin(dut)
    await h.region(40, BASE, 0x10000, 2)
    await h.open(1, 7)
    places = ((0x1000 - 8, 64), (0x1000, 64), (0x2000 - 256, 64), (0x3000 - 504, 64), (0x4FF8, 2))
    for seq, (offset, beats) in enumerate(places):
        h.bursts.clear()
        p = write(h, seq, BASE + offset, beats, third=40)
        h.send(p.beats())
        await h.rest()
        assert h.get(BASE + offset, beats) == p.payload
        first = min(beats, (0x1000 - offset % 0x1000) // 8)
        lengths = [first, beats - first] if first < beats else [beats]
        assert [(b.address, len(b.data), b.follow) for b in h.bursts] == [
            (BASE + offset + 8 * sum(lengths[:n]), length, 8 * (beats - sum(lengths[:n])))
            for n, length in enumerate(lengths)
        ]


@cocotb.test()
async def a_flow_that_is_not_open_writes_nothing_and_is_told_once(dut: Any) -> None:
    h = await begin(dut)
    await h.region(1, SHORT, 0x1000, 2)
    for seq in range(5):
        h.send(write(h, seq, SHORT, 1, session=9).beats())
    await h.rest()
    assert h.ctl == [(REFUSED, 1, 9, 0, SESSION, 0, 0)]
    assert h.events["not_open"] == 5
    h.ctl.clear()
    # a probe is always answered
    for _ in range(2):
        h.send(control(1, PROBE, 9, 5))
        await h.rest()
    assert h.ctl == [(REFUSED, 1, 9, 0, SESSION, 0, 0)] * 2
    await h.open(1, 9, 0xFFFE)
    h.ctl.clear()
    # an OPEN of the session that is open changes nothing
    h.send(write(h, 0xFFFE, SHORT, 1, session=9, completion=True).beats())
    h.send(control(1, OPEN, 9, 0xFFFE))
    h.send(write(h, 0xFFFF, SHORT + 8, 1, session=9, completion=True).beats())
    h.send(write(h, 0, SHORT + 16, 1, session=9, completion=True).beats())
    await h.rest()
    acked = [number for what, *_, number, code, _, _ in h.ctl if what == ACK and code == 1]
    assert acked[-1] == 1
    assert len(h.memory) == 3
    # another session's packet: refused, and once
    h.ctl.clear()
    for seq in range(3):
        h.send(write(h, seq + 1, SHORT + 64, 1, session=10).beats())
    await h.rest()
    assert h.ctl == [(REFUSED, 1, 10, 0, SESSION, 0, 0)]
    assert len(h.memory) == 3
    await h.open(1, 10, 77)
    h.ctl.clear()
    h.send(write(h, 77, SHORT + 64, 1, session=11).beats())
    h.send(write(h, 77, SHORT + 64, 1, session=10, completion=True).beats())
    await h.rest()
    assert sorted(h.ctl) == [(ACK, 1, 10, 78, 1, 0, 0), (REFUSED, 1, 11, 0, SESSION, 0, 0)]


@cocotb.test()
async def a_session_begins_after_the_last_ones_writes(dut: Any) -> None:
    h = await begin(dut)
    await h.region(1, SHORT, 0x1000, 2)
    await h.region(2, SHORT + 0x1000, 0x1000, 4)
    await h.open(1, 7)
    await h.open(2, 7)
    h.slave.hold = True
    for seq in range(6):
        h.send(write(h, seq, SHORT + 8 * seq, 1).beats())
    await h.clocks(300)
    h.ctl.clear()
    h.send(control(1, OPEN, 8, 0))
    h.send(write(h, 6, SHORT + 48, 1).beats())  # of the old session: neither written nor refused
    await h.clocks(1500)
    assert not h.ctl
    h.slave.hold = False
    await h.rest()
    assert h.ctl == [(ACK, 1, 8, 0, 1, 0, 0)]
    assert h.get(SHORT + 40, 2)[1] is None
    assert h.get(SHORT + 40, 2)[0] is not None
    # the places are as new
    h.send(write(h, 1, SHORT + 8, 1, session=8, completion=True).beats())
    h.send(write(h, 0, SHORT, 1, session=8, completion=True).beats())
    await h.rest()
    assert h.ctl[-1] == (ACK, 1, 8, 2, 1, 0, 0)
    # closed by the driver
    dut.enable_i.value = 0
    await h.clocks(10)
    dut.enable_i.value = 1
    h.send(write(h, 2, SHORT, 1, session=8).beats())
    await h.rest()
    assert h.ctl[-1] == (REFUSED, 1, 8, 0, SESSION, 0, 0)


@cocotb.test()
async def an_open_of_the_open_session_with_other_numbers_is_told_to_take_another_one(dut: Any) -> None:
    """Its source has started again and knows no session; a repeat that data has overtaken looks alike."""
    h = await begin(dut)
    await h.region(1, SHORT, 0x1000, 2)
    await h.open(1, 7, 40)
    # A repeat, before anything has come: the ACK was lost.
    await h.open(1, 7, 40)
    first = write(h, 41, SHORT, 4, completion=True)
    h.send(first.beats())
    await h.rest()
    # Nothing is retired, but something has come; then something is; then at other numbers.
    for number, then in ((40, 40), (40, None), (0, None), (42, None)):
        h.ctl.clear()
        h.send(control(1, OPEN, 7, number))
        await h.rest()
        if (number, then) == (42, None):
            assert h.ctl == [(ACK, 1, 7, 42, 1, 0, 0)], "the number that is due, and nothing behind it"
        else:
            assert h.ctl == [(REFUSED, 1, 7, 0, SESSION, 1, 0)]
        if then is not None:
            h.send(write(h, then, SHORT + 64, 4).beats())
            await h.rest()
    # The session goes on as if nothing had been, and another one opens.
    h.send(write(h, 42, SHORT, 4, completion=True).beats())
    await h.rest()
    assert h.ctl[-1] == (ACK, 1, 7, 43, 1, 0, 0)
    await h.open(1, 8, 0)


@cocotb.test()
async def what_comes_twice_or_outside_the_window_is_dropped(dut: Any) -> None:
    h = await begin(dut, lost=0)
    await h.region(1, SHORT, 0x1000, 2)
    await h.open(1, 7, 0xFFF0)
    first = write(h, 0xFFF1, SHORT, 4, completion=True)
    h.send(first.beats())
    await h.rest()
    again = write(h, 0xFFF1, SHORT, 4)
    for p in (again, write(h, 0xFFEF, SHORT, 4), write(h, 0xFFF0 + 64, SHORT, 4), write(h, 0x7FF0, SHORT, 4)):
        h.send(p.beats())
    await h.rest()
    assert h.get(SHORT, 4) == first.payload
    assert (h.events["known"], h.events["beyond"]) == (3, 1)
    h.send(write(h, 0xFFF0 + 63, SHORT + 64, 4).beats())
    h.send(write(h, 0xFFF0, SHORT + 32, 4, completion=True).beats())
    await h.rest()
    assert h.ctl[-1][3] == 0xFFF2
    assert h.events["taken"] == 3


@cocotb.test()
async def what_is_no_packet_is_swallowed(dut: Any) -> None:
    h = await begin(dut, lost=0)
    await h.region(1, SHORT, 0x1000, 2)
    await h.open(1, 7)
    before = h.events["malformed"]
    p = write(h, 0, SHORT, 4)
    good = p.beats()
    bad = [
        [good[0] ^ 1 << 31, *good[1:]],           # for another host
        [good[0] | 0x78 << 24, *good[1:]],        # from a host that is none
        [good[0] | 3 << 45 | 1 << 51, good[1]],   # a short message that is extended
        [good[0] ^ 1 << 31 | 3 << 45, good[1]],   # one for another host
        [good[0] & ~(0x7F << 38) | 3 << 45, 0],   # one of no payload
        [good[0] | 3 << 45],
        [good[0] | 1 << 45 | 1 << 63, *good[1:]],  # a queue where none stands
        [good[0] & ~(0x7F << 38), good[1]],       # no payload
        [good[0] | 0x7F << 38, *good[1:]],        # too long for a packet
        [good[0] | 1 << 63, *good[1:]],
        good[:1], good[:2],
        [*control(1, 9, 7)],                      # a control packet that is none
        [*control(1, OPEN, 8), 0],                # goes on
    ]  # fmt: skip
    for beats in bad:
        h.send(beats)
    await h.rest()
    assert h.events["malformed"] - before == len(bad)
    assert not h.memory
    assert len(h.ctl) == 1
    # ends that are bad
    h.send(good, end="edb")
    await h.rest()
    h.send(good[:-2], end="edb")
    await h.rest()
    h.send(good[:3], odd=True)
    h.send(control(1, OPEN, 8), end="edb")
    await h.rest()
    assert len(h.ctl) == 1
    assert h.events["taken"] == (0 if STORED else 3)
    # and nothing stands in the way of what is good: the place of a bad one waits for the packet
    h.send([*good[:2], *p.payload[:2]])  # shorter than its header says
    h.send([*good, 1, 2, 3])  # and longer
    h.send(good)
    h.send(write(h, 1, SHORT + 64, 1, completion=True).beats())
    await h.rest()
    assert h.get(SHORT, 4) == p.payload
    assert h.ctl[-1] == (ACK, 1, 7, 2, 1, 0, 0)


@cocotb.test()
async def a_host_may_be_named_while_packets_come(dut: Any) -> None:
    """What came before is swallowed to its end, and nothing behind it stands."""
    h = await begin(dut, lost=0)
    await h.region(1, SHORT, 0x4000, 2)
    await h.open(1, 7)
    p = write(h, 0, SHORT, 40)
    for wait in range(4, 60, 5):
        dut.host_id_i.value = 0
        h.send(p.beats())
        await h.clocks(wait)
        dut.host_id_i.value = HOST
        await h.rest()
    h.send(write(h, 1, SHORT + 0x800, 1, completion=True).beats())
    h.send(p.beats())
    await h.rest()
    assert h.get(SHORT, 40) == p.payload
    assert h.ctl[-1] == (ACK, 1, 7, 2, 1, 0, 0)


@cocotb.test()
async def notifications_wait_for_everything_before(dut: Any) -> None:
    h = await begin(dut)
    await h.region(40, BASE, 0x10000, 2)
    await h.address(NOTIFY + 1, WORDS)
    await h.open(1, 7)
    h.early_range = lambda address: address == WORDS
    last = write(h, 3, BASE + 0x3000, 64, third=40, notify=True, irq=True)
    h.send(last.beats())
    h.send(write(h, 1, BASE + 0x1000, 64, third=40).beats())
    h.send(write(h, 2, BASE + 0x2000, 64, third=40).beats())
    await h.clocks(600)
    assert WORDS not in h.memory
    assert h.irqs[1] == 0
    h.slave.hold = True
    h.send(write(h, 0, BASE, 64, third=40).beats())
    await h.clocks(600)
    assert WORDS not in h.memory
    assert h.irqs[1] == 0
    h.slave.hold = False
    await h.rest()
    assert h.memory[WORDS] == 1 << 48 | (BASE + 0x3000 + 504) & (1 << 48) - 1
    assert h.irqs == [0, 1, 0, 0, 0, 0, 0, 0]
    # the interrupt comes when the word is in memory
    h.slave.hold = True
    h.send(write(h, 4, BASE, 1, third=40, irq=True).beats())
    h.send(write(h, 5, BASE, 1, third=40, notify=True, irq=True).beats())
    h.send(write(h, 6, BASE, 1, third=40).beats())
    await h.clocks(400)
    assert h.irqs[1] == 1
    h.slave.hold = False
    await h.rest()
    assert h.irqs[1] == 3
    assert h.memory[WORDS] >> 48 == 2
    # writing the address starts the count anew, and 0 is nowhere
    await h.address(NOTIFY + 1, WORDS + 8)
    h.send(write(h, 7, BASE, 1, third=40, notify=True).beats())
    await h.rest()
    assert h.memory[WORDS + 8] >> 48 == 1
    await h.address(NOTIFY + 1, 0)
    h.send(write(h, 8, BASE, 1, third=40, notify=True, irq=True).beats())
    await h.rest()
    assert h.irqs[1] == 4


@cocotb.test()
async def what_is_lost_is_given_up_after_its_time(dut: Any) -> None:
    h = await with_ring(dut, lost=1500)
    await h.region(1, SHORT, 0x4000, 2)
    await h.address(NOTIFY + 1, WORDS)
    await h.open(1, 7)
    begin_cycle = h.cycle
    for seq in (0, 3, 5):
        h.send(write(h, seq, SHORT + 8 * seq, 1, notify=seq == 5).beats())
    await h.until(lambda: h.events["lost"] == 3, "loss", 4000)
    # Nothing was awaited before: the first of two looks is a whole time behind the packets.
    assert 3000 <= h.cycle - begin_cycle <= 3200
    await h.rest()
    assert h.memory[WORDS] >> 63 == 1
    assert [record(h, n)[:4] for n in range(3)] == [(LOST, 0, 1, 1)] * 3
    assert [c for c in h.ctl if c[0] == REFUSED] == [(REFUSED, 1, 7, n, LOST, 0, 0) for n in (2, 3, 5)] or (
        [c[4] for c in h.ctl if c[0] == REFUSED] == [LOST] * 3
    )
    # too late
    h.send(write(h, 4, SHORT + 32, 1).beats())
    await h.rest()
    assert SHORT + 32 not in h.memory
    assert h.events["known"] == 1
    # the last ones: only a probe tells of them
    await h.clocks(4000)
    assert h.events["lost"] == 3
    h.ctl.clear()
    h.send(control(1, PROBE, 7, 8))
    await h.clocks(100)
    assert h.ctl == [(ACK, 1, 7, 6, 1, 0, 0)]
    h.send(write(h, 6, SHORT, 1, notify=True).beats())
    await h.until(lambda: h.events["lost"] == 4, "loss", 4000)
    await h.rest()
    assert h.memory[WORDS] >> 63 == 0  # the mark went with the last notification
    h.ctl.clear()
    h.send(control(1, PROBE, 7, 8))
    await h.rest()
    assert h.ctl[-1] == (ACK, 1, 7, 8, 1, 0, 0)
    # 0: never
    dut.lost_cycles_i.value = 0
    h.send(write(h, 9, SHORT, 1).beats())
    await h.clocks(6000)
    assert h.events["lost"] == 4


@cocotb.test()
async def a_whole_window_may_be_lost(dut: Any) -> None:
    """None of the 64 has come: only PROBE tells that they were sent."""
    h = await begin(dut, lost=300)
    await h.region(1, SHORT, 0x4000, 2)
    await h.open(1, 7, 20)
    h.send(control(1, PROBE, 7, 84))
    await h.until(lambda: h.events["lost"] == 64, "loss", 4000)
    h.send(write(h, 84, SHORT, 1, completion=True).beats())
    await h.rest()
    assert h.ctl[-1][3] == 85
    assert h.events["lost"] == 64


@cocotb.test()
async def a_session_waits_for_the_very_last_write_of_the_one_before(dut: Any) -> None:
    h = await begin(dut)
    await h.region(1, SHORT, 0x4000, 2)
    await h.open(1, 7)
    # Each answer takes longer than it takes to empty the places.
    h.slave.delay = lambda: 1500
    for seq in range(3):
        h.send(write(h, seq, SHORT + 8 * seq, 1).beats())
    await h.until(lambda: len(h.slave.waiting) == 3, "writes")
    h.ctl.clear()
    h.send(control(1, OPEN, 8, 0))
    await h.until(lambda: h.ctl, "ACK of OPEN", 8000)
    assert not h.slave.waiting
    assert SHORT + 16 in h.memory


@cocotb.test()
async def notices_and_frame_words_end_once(dut: Any) -> None:
    """A session that follows them opens as soon as the last write is answered, and no sooner."""
    h = await begin(dut)
    await h.region(1, SHORT, 0x4000, 2)
    await h.queue(6, BASE + 0x20000, 64, 1)
    await h.address(NOTIFY + 1, WORDS)
    await h.open(1, 7)
    session = 7
    for kind in ("notice", "frame word"):
        packet = write(h, 0, SHORT, 1, session=session, notify=True)
        if kind == "frame word":
            packet = message(h, 0, 6, 2, session=session)
        h.send(packet.beats())
        await h.rest()
        h.slave.hold = True
        h.send(write(h, 1, SHORT + 8, 1, session=session).beats())
        await h.until(lambda: h.slave.waiting, "a write that is not answered")
        h.ctl.clear()
        session += 1
        h.send(control(1, OPEN, session, 0))
        await h.clocks(1500)
        assert not h.ctl, kind
        h.slave.hold = False
        await h.until(lambda number=session: (ACK, 1, number, 0, 1, 0, 0) in h.ctl, f"OPEN after a {kind}")


@cocotb.test()
async def a_place_that_is_being_written_is_not_lost(dut: Any) -> None:
    h = await with_ring(dut, lost=300)
    await h.region(1, SHORT, 0x4000, 2)
    await h.open(1, 7)
    h.slave.hold = True
    for seq in range(4):
        h.send(write(h, seq, SHORT + 8 * seq, 1, completion=True).beats())
    await h.clocks(3000)
    assert h.events["lost"] == 0
    h.slave.hold = False
    await h.rest()
    assert h.ctl[-1][3] == 4


@cocotb.test()
async def a_failed_write_is_told_to_both_sides(dut: Any) -> None:
    h = await with_ring(dut)
    await h.region(40, BASE, 0x10000, 2)
    await h.address(NOTIFY + 1, WORDS)
    await h.queue(9, BASE + 0x20000, 64, 1)
    await h.open(1, 7)
    h.poison = [range(BASE + 0x1000, BASE + 0x1008)]
    h.send(write(h, 0, BASE + 0x1000 - 16, 4, third=40, tag=0x11).beats())
    h.send(write(h, 1, BASE + 0x800, 64, third=40, tag=0x22, notify=True).beats())
    await h.rest()
    assert record(h, 0) == (BROKEN, 0x11, 1, 1, 0, 1, BASE + 0x1008)
    assert (REFUSED, 1, 7, 1, BROKEN, 0x11, 0) in h.ctl
    assert h.memory[WORDS] >> 63 == 1
    # a body that was not written: its slot is skipped
    h.poison = [range(BASE + 0x20000 + 8, BASE + 0x20000 + 16)]
    h.send(message(h, 2, 9, 3, tag=0x83).beats())
    h.send(message(h, 3, 9, 3, tag=0x84).beats())
    await h.rest()
    assert h.memory[BASE + 0x20000] >> 1 & 0x7F == 0
    assert h.memory[BASE + 0x20000 + 64] >> 1 & 0x7F == 3
    assert record(h, 1)[:3] == (BROKEN, 0x83, 1)
    # and a frame word that was not
    h.poison = [range(BASE + 0x20000 + 128, BASE + 0x20000 + 136)]
    h.send(message(h, 4, 9, 3, tag=0x85).beats())
    await h.rest()
    assert record(h, 2)[:3] == (BROKEN, 0x85, 1)


@cocotb.test()
async def a_new_session_forgets_that_a_transfer_of_the_last_one_failed(dut: Any) -> None:
    h = await begin(dut)
    await h.region(40, BASE, 0x10000, 0b110)
    await h.address(NOTIFY + 1, WORDS)
    await h.address(NOTIFY + 2, WORDS + 8)
    await h.open(1, 7)
    await h.open(2, 7)
    h.poison = [range(BASE + 0x1000, BASE + 0x1008)]
    for src in (1, 2):
        h.send(write(h, 0, BASE + 0x1000, 1, src=src, third=40).beats())
    await h.rest()
    # Nothing was notified of it. Its sender begins anew, the other one does not.
    h.poison = []
    h.send(control(1, OPEN, 8, 0))
    await h.rest()
    h.send(write(h, 0, BASE, 1, session=8, third=40, notify=True).beats())
    h.send(write(h, 1, BASE + 8, 1, src=2, third=40, notify=True).beats())
    await h.rest()
    assert h.memory[WORDS] >> 48 == 1, "one notification, nothing failed"
    assert h.memory[WORDS + 8] >> 48 == 1 << 15 | 1


@cocotb.test()
async def messages_of_a_packed_queue_follow_each_other_round_its_ring(dut: Any) -> None:
    h = await with_ring(dut)
    base, wrap = BASE, 20
    await h.queue(5, base, wrap, 0, sources=2)
    await h.address(NOTIFY + 1, WORDS)
    await h.open(1, 7)
    seq, head, used = 0, 0, 0
    for beats in (8, 7, 4, 1):
        p = message(h, seq, 5, beats, tag=0x80 | seq, notify=True)
        h.send(p.beats())
        await h.rest()
        seq += 1
        if used + beats >= wrap:
            assert beats == 1
            assert record(h, 0)[:3] == (FULL, 0x83, 1)
            continue
        assert h.get(base + 8 * head, beats) == p.payload
        head, used = head + beats, used + beats
        assert h.memory[WORDS] & (1 << 48) - 1 == base + 8 * (head - 1)
        assert await h.read(0xC000 + 16 * 5 + 8) & 0x1FFFF == head
    await h.tail(5, 19)
    assert await h.read(0xD000 + 8 * 5) == 19
    p = message(h, seq, 5, 10)
    h.bursts.clear()
    h.send(p.beats())
    await h.rest()
    assert [h.memory[base + 8 * ((19 + n) % wrap)] for n in range(10)] == p.payload
    assert [(b.address, b.follow) for b in h.bursts] == [(base + 19 * 8, 8), (base, 72)]
    assert await h.read(0xC000 + 16 * 5 + 8) & 0x1FFFF == 9
    # to the very end
    await h.tail(5, 9)
    p = message(h, seq + 1, 5, 11)
    h.send(p.beats())
    await h.rest()
    assert h.get(base + 72, 11) == p.payload
    assert await h.read(0xC000 + 16 * 5 + 8) & 0x1FFFF == 0


@cocotb.test()
async def a_short_message_names_its_queue_in_its_first_beat(dut: Any) -> None:
    """Queues 0 to 15, immediate 0: as the long form, in slots and packed, refused and cut."""
    h = await with_ring(dut, lost=0)
    await h.queue(15, BASE, 64, 1, 1 << 1)
    await h.queue(0, BASE + 0x1000, 128, 0, 1 << 1)
    await h.open(1, 7)

    def short(seq: int, queue: int, beats: int, **more: Any) -> Packet:
        return Packet(1, seq, 7, SHORT_MESSAGE, data(h.rng, beats), queue, **more)

    sent = [short(0, 15, 7), message(h, 1, 15, 3), short(2, 0, 64), short(3, 15, 1, completion=True)]
    for p in sent:
        h.send(p.beats())
    await h.rest()
    frames = [h.get(BASE + 64 * n, 1)[0] for n in range(3)]
    words = [sent[n] for n in (0, 1, 3)]
    for n, (frame, p) in enumerate(zip(frames, words, strict=True)):
        assert frame == 1 | len(p.payload) << 1 | 1 << 8 | (n + 1) << 16 | p.second >> 32 << 32
        assert h.get(BASE + 64 * n + 8, len(p.payload)) == p.payload
    assert h.get(BASE + 0x1000, 64) == sent[2].payload[:64]
    assert h.ctl[-1] == (ACK, 1, 7, 4, 1, 0, 0)
    h.send(short(4, 9, 2, tag=0x85).beats())
    await h.rest()
    assert record(h, 0)[:4] == (QUEUE, 0x85, 1, 1)
    assert (REFUSED, 1, 7, 5, QUEUE, 0x85, 0) in h.ctl
    # cut behind its first beat, and in its body: nothing is taken, and the number waits
    p = short(5, 15, 2, completion=True)
    h.send(p.beats()[:1])
    h.send(p.beats()[:2], end="edb")
    await h.rest()
    assert h.ctl[-1][3] == 5
    h.send(p.beats())
    await h.rest()
    assert h.ctl[-1] == (ACK, 1, 7, 6, 1, 0, 0)


@cocotb.test()
async def slots_get_their_frame_word_when_the_body_is_there(dut: Any) -> None:
    h = await with_ring(dut)
    for slot in (1, 2, 3, 4):
        size = 4 << slot
        base = BASE + 0x10000 * slot
        await h.queue(slot, base, 3 * size, slot)
    for src in (1, 4):
        await h.open(src, 7)
    h.early_range = lambda address: any(
        address == BASE + 0x10000 * slot + 32 * n * (1 << slot) for slot in (1, 2, 3, 4) for n in range(3)
    )
    seqs = {1: 0, 4: 0}
    for slot in (1, 2, 3, 4):
        size, base = 4 << slot, BASE + 0x10000 * slot
        for n in range(7):
            src, beats, place = h.rng.choice((1, 4)), h.rng.randrange(1, size), n % 3
            p = message(h, seqs[src], slot, beats, src=src)
            seqs[src] += 1
            frame = base + 8 * place * size
            before = h.memory.get(frame)
            h.slave.hold = True
            h.send(p.beats())
            await h.clocks(300)
            assert h.memory.get(frame) == before
            h.slave.hold = False
            await h.rest()
            word = h.memory[frame]
            assert h.get(frame + 8, beats) == p.payload
            assert word == fields(
                (1 - n // 3 % 2, 0), (beats, 1), (src, 8), (n + 1, 16), (p.second >> 32, 32)
            ), hex(word)
            await h.tail(slot, (place + 1) % 3 * size)
    # more than a slot holds; a queue that is full; none; not ours; slots beyond the ring; no such slots
    await h.tail(1, 0)
    await h.queue(20, BASE + 0x80000, 64, 1, sources=1 << 4)
    await h.queue(21, BASE + 0x81000, 20, 2)
    await h.queue(22, BASE + 0x82000, 64, 5)
    await h.queue(23, BASE + 0x83000, 64, 0, head=64)
    await h.queue(24, BASE + 0x84000, 64, 0)
    await h.tail(24, 64)
    src, tries = (
        1,
        (
            (1, 8, BOUNDS),
            (99, 1, QUEUE),
            (20, 1, QUEUE),
            (22, 1, QUEUE),
            (23, 1, QUEUE),
            (24, 1, QUEUE),
        ),
    )
    for n, (queue, beats, code) in enumerate(tries):
        h.send(message(h, seqs[src], queue, beats, tag=0x80 + n).beats())
        seqs[src] += 1
        await h.rest()
        assert record(h, n)[:4] == (code, 0x80 + n, 1, 1), (queue, record(h, n))
    h.send(message(h, seqs[src], 21, 2).beats())
    h.send(message(h, seqs[src] + 1, 21, 2, tag=0x90).beats())
    await h.rest()
    assert record(h, len(tries))[:2] == (QUEUE, 0x90)
    # a full slotted queue
    await h.queue(25, BASE + 0x85000, 24, 1)
    for n in range(3):
        h.send(message(h, seqs[src] + 2 + n, 25, 2, tag=0xA0 + n).beats())
    await h.rest()
    assert record(h, len(tries) + 1)[:2] == (FULL, 0xA2)


@cocotb.test()
async def bodies_that_are_there_at_once_each_get_their_frame_word(dut: Any) -> None:
    h = await with_ring(dut)
    await h.queue(2, BASE, 16 * 16, 2)
    await h.open(1, 7)
    h.slave.delay = lambda: 0
    h.slave.hold = True
    for n in range(8):
        h.send(message(h, n, 2, 3).beats())
    await h.clocks(600)
    places = range(BASE, BASE + 8 * 128, 128)
    assert [h.memory.get(place) for place in places] == [None] * 8
    h.slave.hold = False  # and nothing comes behind them
    await h.rest()
    assert [h.memory[place] >> 16 & 0xFFFF for place in places] == list(range(1, 9))


@cocotb.test()
async def a_region_may_send_its_notifications_to_a_queue(dut: Any) -> None:
    h = await with_ring(dut)
    await h.region(40, BASE, 0x1000, 2, queue=7)
    await h.region(41, BASE, 0x1000, 2, queue=8)
    await h.queue(7, BASE + 0x10000, 24, 1)
    await h.queue(8, BASE + 0x20000, 4, 0)
    await h.address(NOTIFY + 1, WORDS)
    await h.open(1, 7)
    for n in range(2):
        h.send(write(h, 2 * n, BASE, 2, third=40 | (n + 5) << 32, notify=True, irq=True).beats())
        h.send(write(h, 2 * n + 1, BASE, 2, third=41 | (n + 9) << 32, notify=True).beats())
    await h.rest()
    assert WORDS not in h.memory
    assert [h.memory[BASE + 0x10000 + 64 * n] for n in range(2)] == [
        fields((1, 0), (1, 8), (1, 15), (n + 1, 16), (n + 5, 32)) for n in range(2)
    ]
    assert h.get(BASE + 0x20000, 2) == [
        fields((1, 0), (1, 8), (1, 15), (n + 1, 16), (n + 9, 32)) for n in range(2)
    ]
    assert h.irqs[1] == 2
    # no place: both sides are told, and nobody waits
    h.send(write(h, 4, BASE, 2, third=40, tag=5, notify=True, irq=True).beats())
    h.send(write(h, 5, BASE + 0x1000, 2, third=41, tag=6).beats())
    h.send(write(h, 6, BASE, 2, third=41 | 7 << 32, notify=True).beats())
    await h.rest()
    assert [record(h, n)[:4] for n in range(2)] == [(FULL, 5, 1, 1), (BOUNDS, 6, 1, 1)]
    assert h.memory[BASE + 0x20000 + 16] == fields((1, 0), (1, 1), (1, 8), (1, 15), (3, 16), (7, 32))
    assert sum(more + (what == REFUSED and code != SESSION) for what, _, _, _, code, _, more in h.ctl) == 2


@cocotb.test()
async def the_send_sides_words_are_written_where_the_host_said(dut: Any) -> None:
    h = await with_ring(dut, size=2)
    for n in range(32):
        await h.address(n, 0 if n == 9 else WORDS + 8 * n)
    for n in range(32):
        assert await h.read(0xF000 + 8 * n) == (0 if n == 9 else WORDS + 8 * n)
    for flow in range(8):
        await h.tell("local", flow=flow, message=0, count=0x1000 + flow)
        await h.tell("local", flow=flow, message=1, count=0x2000 + flow)
        await h.tell("done", flow=flow, word=0xAB << 56 | flow)
    await h.rest()
    for flow in range(8):
        assert h.memory[WORDS + 8 * flow] == 0x1000 + flow
        assert h.memory.get(WORDS + 64 + 8 * flow) == (None if flow == 1 else 0x2000 + flow)
        assert h.memory[WORDS + 8 * (COMPLETE + flow)] == 0xAB << 56 | flow
    # errors: a ring of 4
    for n in range(6):
        await h.tell("err", beat0=n + 1 | n << 8 | 5 << 16, beat1=n << 32)
    await h.rest()
    assert [record(h, n, 2) for n in range(4)] == [(n + 1, n, 5, 0, 0, 1, n << 32) for n in range(4)]
    dut.err_tail_i.value = 3
    for n in range(2):
        await h.tell("err", beat0=n + 20, beat1=0)
    await h.rest()
    assert [record(h, n, 2)[:1] + record(h, n, 2)[4:6] for n in (0, 1)] == [(20, 2, 0), (21, 0, 0)]
    dut.err_base_i.value = 0
    before = dict(h.memory)
    await h.tell("err", beat0=1, beat1=0)
    await h.rest()
    assert h.memory == before


@cocotb.test()
async def a_record_counts_what_the_send_side_counted_too(dut: Any) -> None:
    h = await with_ring(dut, size=2)
    await h.tell("err", beat0=1 | 7 << 24, beat1=0)
    await h.rest()
    assert record(h, 0, 2)[4] == 7
    for n in range(3):
        await h.tell("err", beat0=1, beat1=n)
    # three that find the ring full: themselves, and what they bring
    for more in (0, 5, 20):
        await h.tell("err", beat0=2 | more << 24, beat1=0)
    await h.rest()
    dut.err_tail_i.value = 4
    await h.tell("err", beat0=3 | 100 << 24, beat1=0)
    await h.tell("err", beat0=4 | 4095 << 24, beat1=0)
    await h.rest()
    assert [record(h, n, 2)[::4] for n in (0, 1)] == [(3, 128), (4, 4095)]
    # at most 4095
    dut.err_tail_i.value = 2
    for more in (4000, 4000):
        await h.tell("err", beat0=5 | more << 24, beat1=0)
    dut.err_tail_i.value = 6
    for more in (4090, 1):
        await h.tell("err", beat0=6 | more << 24, beat1=0)
    await h.rest()
    assert [record(h, n, 2)[::4] for n in (2, 3)] == [(6, 4095), (6, 1)]


@cocotb.test()
async def a_count_starts_anew_with_its_address_while_a_word_waits_for_the_bus(dut: Any) -> None:
    h = await with_ring(dut)
    await h.region(1, SHORT, 0x4000, 2)
    await h.open(1, 7)
    await h.address(NOTIFY + 1, WORDS)
    for n in range(3):
        h.send(write(h, n, SHORT, 1, notify=True).beats())
    await h.rest()
    assert h.memory[WORDS] >> 48 == 3
    seq, late = 3, 0
    for n in range(16):  # the new address comes at any time from the packet's answer to its word's
        old, new = WORDS + 16 * n, WORDS + 16 * (n + 1)
        h.bursts.clear()
        h.send(write(h, seq, SHORT, 1, notify=True).beats())
        await h.until(lambda: any(b.address == SHORT for b in h.bursts), "payload")
        h.slave.w_channel.pause = True
        await h.clocks(n)
        seen = int(dut.axi_wdata.value) if dut.axi_wvalid.value else None
        await h.address(NOTIFY + 1, new)
        await h.clocks(16)
        stands = int(dut.axi_wdata.value)
        assert seen in (None, stands), n
        h.slave.w_channel.pause = False
        await h.rest()
        if new in h.memory:
            assert h.memory[new] == stands
            assert stands >> 48 == 1
        else:
            late += 1
            assert h.memory[old] == stands
            assert stands >> 48 == (4 if n == 0 else 2)
            seq += 1
            h.send(write(h, seq, SHORT, 1, notify=True).beats())
            await h.rest()
            assert h.memory[new] >> 48 == 1, n
        seq += 1
    assert 2 <= late <= 12


@cocotb.test()
async def a_record_stands_on_the_bus_when_the_interface_is_stopped(dut: Any) -> None:
    h = await with_ring(dut, size=2)
    for n in range(4):
        await h.tell("err", beat0=n + 1, beat1=0)
    await h.tell("err", beat0=5, beat1=0)
    await h.rest()
    dut.err_tail_i.value = 1
    h.slave.w_channel.pause = True
    cocotb.start_soon(h.tell("err", beat0=6, beat1=0))
    await h.clocks(20)
    before = int(dut.axi_wdata.value)
    assert dut.axi_wvalid.value
    dut.enable_i.value = 0
    await h.clocks(4)
    assert int(dut.axi_wdata.value) == before
    h.slave.w_channel.pause = False
    await h.rest()
    assert record(h, 4, 2)[:1] + record(h, 4, 2)[4:6] == (6, 1, 0)
    # what fails while it stops is told behind it, and nothing is written over what was not read
    read = dict(h.memory)
    await h.tell("err", beat0=7, beat1=0)
    await h.rest()
    assert h.memory == read
    dut.err_tail_i.value = 2
    await h.tell("err", beat0=8, beat1=0)
    await h.rest()
    assert record(h, 5, 2)[:1] + record(h, 5, 2)[4:6] == (8, 1, 0)
    # enabled, the ring begins anew
    dut.err_tail_i.value = 0
    dut.enable_i.value = 1
    await h.clocks(4)
    await h.tell("err", beat0=9, beat1=0)
    await h.rest()
    assert record(h, 0, 2)[:1] + record(h, 0, 2)[4:6] == (9, 0, 1)


@cocotb.test()
async def tables_read_as_they_were_written_and_start_empty(dut: Any) -> None:
    h = await begin(dut)
    offsets = [
        *range(0xC000, 0xD000, 8), *range(0xD000, 0xD800, 8), *range(0xE000, 0xE800, 8),
        *range(0xF000, 0xF100, 8),
    ]  # fmt: skip
    for offset in offsets:
        assert await h.read(offset) == 0, hex(offset)
    written = {}
    for offset in (*range(0xC000, 0xD000, 0x78), *range(0xE000, 0xE800, 0x18), *range(0xF000, 0xF100, 8)):
        written[offset] = h.rng.getrandbits(64)
        await h.table(offset, written[offset])
        if offset & 0xF818 == 0xE018:
            written[offset] = 0  # a region has three beats
    for offset in range(0xD000, 0xD800, 0x38):
        written[offset] = h.rng.getrandbits(17)
        await h.table(offset, written[offset])
    await h.table(0xF100, 1)
    for offset, value in written.items():
        assert await h.read(offset) == value, hex(offset)
    for offset in (0x0, 0xD800, 0xE800, 0xF100):
        assert await h.read(offset) == 0


@cocotb.test()
async def a_send_side_that_stands_stops_nothing_here(dut: Any) -> None:
    h = await begin(dut)
    h.ctl_ready = lambda: False
    await h.region(1, SHORT, 0x4000, 2)
    await h.region(2, SHORT, 0x4000, 4)
    for src in (1, 2):
        h.send(control(src, OPEN, 7))
    await h.clocks(600)
    count = 60
    for seq in range(count):
        h.send(write(h, seq, SHORT - 8, 1, tag=seq).beats())
        h.send(write(h, seq, SHORT + 8 * seq, 1, src=2, session=7, completion=True).beats(), 1)
    await h.until(lambda: h.events["retired"] == 2 * count, "end", 8000)
    assert len(h.memory) == count
    # and tells all when it goes on: some by item, the others by number
    h.ctl_ready = lambda: True
    await h.rest()
    told = [c for c in h.ctl if c[1] == 1]
    items = [c for c in told if c[0] == REFUSED]
    assert 16 <= len(items) < count
    assert len(items) + sum(c[6] for c in told) == count
    assert [c[5] for c in items] == sorted(c[5] for c in items)
    assert (ACK, 2, 7, count, 1, 0, 0) in h.ctl


@cocotb.test()
async def a_host_without_room_holds_nobody_elses_control_packets(dut: Any) -> None:
    h = await begin(dut)
    await h.region(2, SHORT, 0x4000, 4)
    for src in (1, 2):
        await h.open(src, 7)
    await h.rest()
    h.ctl.clear()
    dut.ctl_room_i.value = 0xFD
    for src in (1, 2):
        h.send(control(src, PROBE, 7))
    await h.clocks(800)
    assert h.ctl == [(ACK, 2, 7, 0, 1, 0, 0)]
    for seq in range(30):
        h.send(write(h, seq, SHORT, 1, tag=seq).beats())  # source 1 has no region
    h.send(write(h, 0, SHORT - 8, 1, src=2, tag=99).beats())
    await h.clocks(2500)
    assert [c for c in h.ctl if c[0] == REFUSED] == [(REFUSED, 2, 7, 1, BOUNDS, 99, 0)] or h.ctl[-1][6] == 1
    assert all(c[1] == 2 for c in h.ctl)
    dut.ctl_room_i.value = 0xFF
    await h.rest()
    told = [c for c in h.ctl if c[1] == 1]
    assert sum(c[0] == REFUSED for c in told) + sum(c[6] for c in told) == 30
    assert any(c[0] == ACK for c in told)


@cocotb.test()
async def an_ack_is_not_passed_by_what_others_are_owed_again_and_again(dut: Any) -> None:
    h = await begin(dut)
    await h.region(1, SHORT, 0x4000, 2)
    await h.region(4, SHORT, 0x4000, 16)
    for src in (1, 2, 4):
        await h.open(src, 7)
    # a send side that takes a control packet only now and then: source 4 is owed an ACK whenever it is
    # asked, source 2 a refusal
    h.ctl_ready = lambda: h.cycle % 80 == 0
    seqs = {2: 0, 4: 0}

    def both(count: int) -> None:
        for _ in range(count):
            h.send(write(h, seqs[2], SHORT, 1, src=2, tag=seqs[2] & 0x7F).beats())  # has no region
            h.send(write(h, seqs[4], SHORT + 8, 1, src=4, completion=True).beats(), 1)
            seqs[2], seqs[4] = seqs[2] + 1, seqs[4] + 1

    both(12)
    h.send(write(h, 0, SHORT + 16, 1, completion=True).beats())
    await h.until(lambda: SHORT + 16 in h.memory, "word")
    both(120)
    before = len(h.ctl)
    await h.until(lambda: any(c[:2] == (ACK, 1) for c in h.ctl[before:]), "ACK", 1200)
    assert any(h.sent)  # while the others went on
    await h.rest()


@cocotb.test()
async def the_last_room_of_a_host_is_offered_once(dut: Any) -> None:
    h = await begin(dut)
    for src in (1, 2):
        await h.open(src, 7)
    await h.rest()
    # room for one packet to host 1, which goes when that has been taken
    before = len(h.ctl)

    def ready() -> bool:
        if any(c[1] == 1 for c in h.ctl[before:]):
            dut.ctl_room_i.value = 0xFD
        return h.cycle > stop and (int(dut.ctl_header_o.value) >> 31 & 7 != 1 or len(h.ctl) == before)

    stop = h.cycle + 800
    h.ctl_ready = ready
    h.send(write(h, 0, SHORT, 1, completion=True).beats())  # refused, and an ACK
    await h.clocks(300)
    h.send(write(h, 0, SHORT, 1, src=2, completion=True).beats())
    await h.until(lambda: len([c for c in h.ctl[before:] if c[1] == 2]) == 2, "what host 2 is owed")
    assert len([c for c in h.ctl[before:] if c[1] == 1]) == 1
    h.ctl_ready = lambda: True
    dut.ctl_room_i.value = 0xFF
    await h.rest()
    assert len([c for c in h.ctl[before:] if c[1] == 1]) == 2


@cocotb.test()
async def acks_come_after_a_quarter_of_a_window(dut: Any) -> None:
    h = await begin(dut)
    await h.region(1, SHORT, 0x4000, 2)
    await h.open(1, 7)
    h.ctl.clear()
    for seq in range(50):
        h.send(write(h, seq, SHORT + 8 * seq, 1).beats())
        await h.clocks(40)
    await h.rest()
    assert [c[3] for c in h.ctl] == [16, 32, 48]


@cocotb.test()
async def what_is_said_to_be_in_memory_is_there_although_writes_are_posted(dut: Any) -> None:
    """The bus core answers a write at once; it is in memory when a read that came behind it is."""
    h = await begin(dut)
    await h.region(1, SHORT, 0x4000, 2)
    await h.region(2, SHORT + 0x4000, 0x4000, 4)
    await h.open(1, 7)
    await h.open(2, 7, 100)
    h.lazy = True
    h.ctl.clear()
    # An ACK that opens a window does not wait, and does not say that anything is there.
    for seq in range(16):
        h.send(write(h, seq, SHORT + 8 * seq, 1).beats())
    await h.until(lambda: h.ctl, "ACK of a quarter")
    assert (h.ctl[-1][3], h.stored[1], h.flushes) == (16, 0, 0)
    assert SHORT not in h.memory
    # One that was asked for does, and one read is enough for all that wait.
    h.reads.hold = True
    h.ctl.clear()
    last = write(h, 16, SHORT + 0x80, 64, completion=True)
    h.send(last.beats())
    await h.clocks(800)
    assert not h.ctl
    h.send(write(h, 100, SHORT + 0x4000, 1, src=2, completion=True).beats())
    h.send(write(h, 17, SHORT + 0x400, 1, completion=True).beats())
    await h.clocks(800)
    assert not h.ctl
    h.reads.hold = False
    await h.until(lambda: len(h.ctl) == 1, "ACK")
    assert (h.stored[1], h.flushes) == (17, 1)
    assert h.get(last.second, 64) == last.payload
    await h.rest()
    assert (h.stored, h.flushes) == ({1: 18, 2: 101}, 2)
    assert not h.posted
    # A probe asks, too: not for a read where nothing was written since.
    h.ctl.clear()
    h.send(control(1, PROBE, 7, 18))
    await h.rest()
    assert (h.ctl[-1], h.stored[1], h.flushes) == ((ACK, 1, 7, 18, 1, 0, 0), 18, 2)
    h.send(write(h, 18, SHORT, 1).beats())
    await h.clocks(300)
    h.send(control(1, PROBE, 7, 19))
    await h.rest()
    assert (h.ctl[-1], h.stored[1], h.flushes) == ((ACK, 1, 7, 19, 1, 0, 0), 19, 3)
    assert not h.posted


@cocotb.test()
async def a_read_that_fails_tells_nobody_and_is_made_again_for_a_probe(dut: Any) -> None:
    h = await begin(dut)
    await h.region(1, SHORT, 0x4000, 2)
    await h.open(1, 7)
    h.ctl.clear()
    h.flush_fails = True
    h.send(write(h, 0, SHORT, 4, completion=True).beats())
    await h.rest()
    assert (h.ctl, h.flushes, h.errors()) == ([], 1, 1)
    h.flush_fails = False
    h.send(control(1, PROBE, 7, 1))
    await h.rest()
    assert (h.ctl, h.stored[1], h.flushes) == ([(ACK, 1, 7, 1, 1, 0, 0)], 1, 2)


@cocotb.test()
async def a_session_that_begins_waits_for_no_read_of_the_last_one(dut: Any) -> None:
    h = await begin(dut)
    await h.region(1, SHORT, 0x4000, 2)
    await h.open(1, 7)
    h.reads.hold = True
    h.send(write(h, 0, SHORT, 4, completion=True).beats())
    await h.until(lambda: h.dut.axi_arvalid.value, "read")
    await h.open(1, 8, 500)
    assert h.stored[1] == 500
    h.send(write(h, 500, SHORT, 4, session=8, completion=True).beats())
    await h.clocks(300)
    assert h.stored[1] == 500
    h.reads.hold = False
    await h.rest()
    assert (h.stored[1], h.flushes) == (501, 2)


@cocotb.test()
async def what_is_long_not_known_to_be_in_memory_stops_the_window(dut: Any) -> None:
    """4096 packets after the last read an ACK waits for one, so a number of 16 bits stays unique."""
    h = await begin(dut)
    await h.region(1, SHORT, 0x4000, 2)
    await h.open(1, 7)
    h.ctl.clear()
    for seq in range(4160):
        h.send(write(h, seq, SHORT, 1).beats())
    await h.until(lambda: h.events["retired"] == 4160, "all", 80_000)
    await h.rest()
    assert 1 <= h.flushes <= 4
    assert h.stored[1] >= 4096
    assert [c[3] for c in h.ctl] == sorted(c[3] for c in h.ctl)


@cocotb.test()
async def control_packets_for_our_flows_go_to_the_send_side(dut: Any) -> None:
    h = await begin(dut)
    sent = []
    for n in range(6):
        beats = control(n, ACK if n % 2 else REFUSED, n, 100 + n, h.rng.getrandbits(28))
        sent.append((beats[0], beats[1]))
        h.send(beats)
    await h.rest()
    assert h.rxctl == sent


@cocotb.test()
async def a_write_takes_the_cycles_that_the_page_says(dut: Any) -> None:
    h = await begin(dut)
    await h.region(1, SHORT, 0x4000, 2)
    await h.open(1, 7)
    for _ in range(4):
        p = write(h, _, SHORT, 1)
        h.send(p.beats())
        while not (dut.rx_valid_i.value and int(dut.rx_flit0_i.value) >> 32 == 2):
            await FallingEdge(dut.link_clk_i)
        await RisingEdge(dut.link_clk_i)
        # Without StoreForward the address is there before the payload: what counts is the data.
        cycles = 0
        while not dut.axi_wvalid.value:
            await RisingEdge(dut.clk_i)
            cycles += 1
            assert cycles < 100
        cocotb.log.info("Eop to wvalid %d host cycles", cycles)
        assert 6 <= cycles <= 8 if STORED else 2 <= cycles <= 4
        await h.rest()


class Ahead:
    """What awsoon_o told before each address, and each burst's last data: cycles, up without a break."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.up = 0  # cycles, this one included
        self.told = 0  # in all
        self.ahead: list[int] = []  # of each burst's address
        self.last: list[int] = []  # and data
        self.task = cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        d, offered = self.dut, 0
        while True:
            await FallingEdge(d.clk_i)
            soon, address = int(d.awsoon_o.value), int(d.axi_awvalid.value)
            self.up = self.up + 1 if soon else 0
            self.told += soon
            if address and not offered:
                self.ahead.append(self.up - 1)
            if int(d.axi_wvalid.value) and int(d.axi_wready.value) and int(d.axi_wlast.value):
                self.last.append(self.up - 1)
            offered = address and not int(d.axi_awready.value)
            assert not (soon and int(d.idle_o.value))

    def take(self) -> tuple[list[int], int]:
        """Of the bursts since it was asked last, and for how many cycles it was up."""
        found = self.ahead, self.told
        self.ahead, self.told = [], 0
        assert not self.up, "still up"
        return found


@cocotb.test()
async def the_bus_is_told_ahead_of_short_writes(dut: Any) -> None:
    """At least 3 cycles ahead of the address, so 4 of the data behind it; of a record a cycle less."""
    h = await with_ring(dut)
    await h.region(1, SHORT, 0x4000, 2)
    await h.region(40, BASE, 0x1000, 2)
    await h.queue(5, BASE + 0x10000, 64, 0)
    await h.queue(6, BASE + 0x20000, 64, 1)
    await h.address(NOTIFY + 1, WORDS)
    await h.address(0, WORDS + 8)
    await h.open(1, 7)
    await h.rest()
    told = Ahead(dut)
    seq = 0
    for size in (1, 2, 4):
        for p, notices in (
            (write(h, seq, SHORT, size), 0),
            (write(h, seq + 1, BASE, size, third=40), 0),
            (message(h, seq + 2, 5, size), 0),
            (message(h, seq + 3, 6, size), 1),
            (write(h, seq + 4, SHORT, size, notify=True), 1),
        ):
            h.send(p.beats())
            await h.rest()
            ahead, cycles = told.take()
            cocotb.log.info("%d beats: %s ahead, %d cycles", size, ahead, cycles)
            # A message's slot of 8 words has room for 7.
            assert len(ahead) == 1 + notices
            assert all(one >= 3 for one in ahead), (size, ahead)
            assert cycles <= 16 * len(ahead)
            if p.second & 0xFF == 6:
                await h.tail(6, (seq // 5 + 1) * 8 % 64)
        seq += 5
    # Local words, and records of errors.
    await h.tell("local", flow=0, message=0, count=5)
    await h.rest()
    await h.tell("err", beat0=7, beat1=9)
    await h.rest()
    ahead, _ = told.take()
    assert len(ahead) == 2
    assert all(one >= 2 for one in ahead), ahead
    # Of a long one the end alone: of its data 4 cycles ahead.
    for size in (5, 6, 7, 20, 64):
        h.send(write(h, seq, SHORT, size).beats())
        await h.rest()
        seq += 1
        last = told.last[-1]
        ahead, cycles = told.take()
        cocotb.log.info("%d beats: %s ahead of its last, %d cycles", size, last, cycles)
        assert 4 <= last < cycles <= 20
        if size > 6:
            assert ahead[0] <= 0, "told of while its data is far"


@cocotb.test()
async def the_bus_is_told_of_nothing_that_does_not_come(dut: Any) -> None:
    """A control packet is no write; one that is dropped is told of for its check."""
    h = await with_ring(dut, size=8)
    await h.region(1, SHORT, 0x4000, 2)
    await h.open(1, 7)
    h.send(write(h, 0, SHORT, 1).beats())
    await h.rest()
    told = Ahead(dut)
    for n in range(4):
        h.send(control(n, ACK, n, 100 + n))
        h.send(control(1, PROBE, 7, 1))
    await h.rest()
    assert told.take() == ([], 0)
    known = write(h, 0, SHORT, 1)
    closed = write(h, 0, SHORT, 1, src=2)
    short = [*known.beats()[:1]]
    for beats in (known.beats(), closed.beats(), short, known.beats()[:2]):
        h.send(beats)
        await h.rest()
        ahead, cycles = told.take()
        assert ahead == []
        assert cycles <= 16, cycles
    # Refused: nothing of it is written, but the record of it is.
    h.send(write(h, 1, SHORT + 0x8000, 2, tag=3).beats())
    await h.rest()
    ahead, cycles = told.take()
    assert len(ahead) == 1
    assert cycles <= 40


@cocotb.test()
async def payload_goes_at_the_rate_of_the_bus(dut: Any) -> None:
    if LINKS == 1:
        return
    h = await begin(dut)
    await h.region(1, SHORT, 0x20000, 2)
    await h.open(1, 7)
    h.slave.delay = lambda: 0
    h.slave.hold = True
    # both links full, then all at once
    for seq in range(12):
        h.send(write(h, seq, SHORT + 512 * seq, 64).beats(), seq)
    for channel in (h.slave.aw_channel, h.slave.w_channel):
        channel.pause = True
    await h.clocks(1500)
    for channel in (h.slave.aw_channel, h.slave.w_channel):
        channel.pause = False
    h.slave.hold = False
    begin_cycle, beats = h.cycle, 0
    while beats < 384:
        assert h.cycle - begin_cycle < 1000
        await RisingEdge(dut.clk_i)
        beats += int(dut.axi_wvalid.value) & int(dut.axi_wready.value)
    cocotb.log.info("%d beats in %d cycles", beats, h.cycle - begin_cycle)
    assert h.cycle - begin_cycle <= 384 * 67 // 64 + 12
    await h.rest()
    assert len(h.memory) == 12 * 64


@cocotb.test()
async def a_link_that_overruns_its_buffer_loses_whole_packets_and_nothing_else(dut: Any) -> None:
    h = await begin(dut, lost=2000)
    await h.region(1, SHORT, 0x20000, 2)
    await h.open(1, 7)
    h.fair = False
    h.slave.w_channel.pause = True
    sizes = [64, 64, 64, 64, 64, 64, 64, 3, 64, 1, 64, 7, 64, 64, 64, 2, 64, 64]
    packets = [write(h, n, SHORT + 512 * n, size) for n, size in enumerate(sizes)]
    for p in packets:
        h.send(p.beats())
    await h.until(lambda: not any(h.sent), "end of packets", 6000)
    await h.clocks(100)
    assert h.events["overflow"]
    h.slave.w_channel.pause = False
    h.fair = True
    h.send(write(h, len(sizes), SHORT + 0x10000, 1, completion=True).beats())
    await h.until(lambda: any(c[0] == ACK and c[3] == len(sizes) + 1 for c in h.ctl), "end", 9000)
    await h.rest()
    whole = [p for p in packets if h.get(p.second, len(p.payload)) == p.payload]
    assert 7 <= len(whole) < len(sizes)
    assert h.events["lost"] == len(sizes) - len(whole)
    if STORED:
        assert len(h.memory) == 1 + sum(len(p.payload) for p in whole)


@cocotb.test()
async def small_packets_go_one_in_few_cycles(dut: Any) -> None:
    h = await begin(dut)
    await h.region(1, SHORT, 0x20000, 2)
    await h.open(1, 7)
    h.slave.delay = lambda: 0
    for seq in range(60):
        h.send(write(h, seq, SHORT + 8 * seq, 1).beats(), seq)
    await h.until(lambda: h.events["taken"] == 10, "packets")
    begin_cycle = h.cycle
    await h.until(lambda: h.events["taken"] == 50, "packets")
    rate = (h.cycle - begin_cycle) / 40
    cocotb.log.info("%.1f cycles a packet", rate)
    assert rate <= (12.5 if LINKS == 1 else 13)
    await h.rest()


@cocotb.test()
async def everything_at_once(dut: Any) -> None:
    h = await with_ring(dut, size=8, lost=9000)
    traffic = Traffic(h, RING, 8, WORDS, transfers=45, damage=0.02, stored=STORED)
    await traffic.run()
    traffic.report()


@cocotb.test()
async def idle_means_that_nothing_changes(dut: Any) -> None:
    h = await begin(dut)
    await h.region(1, SHORT, 0x4000, 2)
    await h.open(1, 7)
    for seq in range(3):
        h.send(write(h, seq, SHORT, 8, completion=True).beats())
        await h.rest()
        before = (dict(h.events), len(h.bursts))
        for _ in range(300):
            await RisingEdge(dut.clk_i)
            assert dut.idle_o.value
        assert (dict(h.events), len(h.bursts)) == before
