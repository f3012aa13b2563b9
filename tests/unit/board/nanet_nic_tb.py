# SPDX-License-Identifier: Apache-2.0
"""nanet_nic and nanet_nic_10g, pins to pins: frames in by GMII or XGMII, registers and memory behind
cocotbext-axi, with back-pressure.

A model of the list says which datagram goes where; memory outside its buffers must stay as it was.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster, AxiRamWrite, AxiWriteBus
from cocotbext.eth import GmiiFrame, GmiiSink, GmiiSource, XgmiiFrame, XgmiiSink, XgmiiSource
from frames import ETH_IP, UDP, Node, Stack, arp_request, ethernet, icmp_frame, ipv4, udp, with_fcs, with_tag
from pins import Pins

ME = Node(bytes.fromhex("020000000010"), bytes([192, 168, 20, 16]), 6666)
PEER = Node(bytes.fromhex("020000000100"), bytes([192, 168, 20, 1]), 6000)
MEMORY = 1 << 16
QUEUE, BUFFERS = 0x8000, 0x1000
ID, CONTROL, QUEUE_LO, QUEUE_SIZE, QUEUE_TAKEN = 0x00, 0x08, 0x10, 0x18, 0x1C
BUFFER_LO, BUFFER_BYTES, BUFFER_SET = 0x30, 0x38, 0x3C
LIST, LIST_FLUSH, LIST_RETURNED, LIST_FILLED = 0x40, 0x50, 0x60, 0x70
FRAMES, OVERFLOW, NO_BUFFER, BAD, NO_EVENT, DELIVERED = 0x80, 0x90, 0xA0, 0xB0, 0xC0, 0xD0
PLACE = 64
NEWEST, OLDEST, HOLD = range(3)
ECHO = 1 << 26


def pauses(seed: int, share: float) -> Iterator[bool]:
    rng = random.Random(seed)
    while True:
        yield rng.random() < share


@dataclass
class Event:
    error: int
    list: int
    index: int
    bytes: int
    sequence: int
    source: tuple[bytes, int]
    datagrams: int
    lost: int
    phase: int


@dataclass
class Bench:
    dut: Any
    buffers: int = 4
    size: int = 512
    datagrams: int = 1
    policy: int = NEWEST
    echo: int = 0
    events: list[Event] = field(default_factory=list)

    async def start(self, share: float = 0.0, flush: int = 0) -> None:
        d = self.dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        d.rst_ni.value = 0
        d.time_cycles_i.value = 0
        d.cfg_mac_i.value = int.from_bytes(ME.mac, "big")
        d.cfg_ip_i.value = int.from_bytes(ME.ip, "big")
        d.cfg_udp_port_i.value = ME.port
        d.cfg_firmware_wake_min_i.value = 20
        d.cfg_firmware_wake_span_i.value = 30
        d.cfg_firmware_work_i.value = 40
        self.ten_gigabit = hasattr(d, "xgmii_rxd_i")
        if self.ten_gigabit:
            rx_clk = d.xgmii_rx_clk_i
            self.source = XgmiiSource(d.xgmii_rxd_i, d.xgmii_rxc_i, rx_clk)
            self.sink = XgmiiSink(d.xgmii_txd_o, d.xgmii_txc_o, d.eth_clk_i)
        else:
            rx_clk = d.gmii_rx_clk_i
            self.source = GmiiSource(d.gmii_rxd_i, d.gmii_rx_er_i, d.gmii_rx_dv_i, rx_clk)
            self.sink = GmiiSink(d.gmii_txd_o, d.gmii_tx_er_o, d.gmii_tx_en_o, d.eth_clk_i)
        kind = {"reset_active_level": False}
        pins = Pins(d)
        self.bar = AxiMaster(AxiBus.from_prefix(pins, "bar"), d.clk_i, d.rst_ni, **kind)
        self.ram = AxiRamWrite(AxiWriteBus.from_prefix(pins, "dma"), d.clk_i, d.rst_ni, size=MEMORY, **kind)
        self.empty = self.rng.randbytes(MEMORY)
        self.ram.write(0, self.empty)
        for n, channel in enumerate((self.ram.aw_channel, self.ram.w_channel, self.ram.b_channel)):
            channel.set_pause_generator(pauses(cocotb.RANDOM_SEED + n, share))
        cocotb.start_soon(Clock(d.clk_i, 5, "ns").start())
        for eth_clk in (rx_clk, d.eth_clk_i):
            cocotb.start_soon(Clock(eth_clk, 6400 if self.ten_gigabit else 8000, "ps").start())
        await ClockCycles(d.eth_clk_i, 8)
        await self.configure(flush)

    async def configure(self, flush: int = 0) -> None:
        """Lets it out of reset and sets it up."""
        d = self.dut
        self.ram.write(QUEUE, bytes(32 * 16))
        d.rst_ni.value = 1
        await ClockCycles(d.eth_clk_i, 8)
        assert await self.read(ID) == 0x4E414E45
        for n in range(self.buffers):
            for register, value in (
                (BUFFER_LO, self.place(n)), (BUFFER_BYTES, self.size), (BUFFER_SET, n),
            ):  # fmt: skip
                await self.write(register, value)
        for register, value in (
            (QUEUE_LO, QUEUE), (QUEUE_SIZE, 4), (QUEUE_TAKEN, 0), (LIST_FLUSH, flush), (LIST_RETURNED, 0),
            (LIST, 1 | self.buffers << 8 | self.datagrams << 16 | self.policy << 24 | self.echo),
            (CONTROL, 1),
        ):  # fmt: skip
            await self.write(register, value)

    def place(self, n: int) -> int:
        return BUFFERS + n * (self.size + 128)

    async def read(self, register: int) -> int:
        return struct.unpack("<I", (await self.bar.read(register, 4)).data)[0]

    async def write(self, register: int, value: int) -> None:
        await self.bar.write(register, struct.pack("<I", value))

    async def send(self, payload: bytes, spoil: str = "", tag: int | None = None) -> None:
        """A datagram, with a VLAN tag where one is named."""
        datagram = udp(PEER, ME, payload, csum=0x1234 if spoil == "checksum" else None)
        made = ethernet(ME.mac, PEER.mac, ETH_IP, ipv4(PEER.ip, ME.ip, UDP, datagram))
        frame = with_fcs(made if tag is None else with_tag(made, tag))
        if spoil == "fcs":
            frame = frame[:-1] + bytes([frame[-1] ^ 1])
        if spoil == "cut":
            frame = frame[: len(frame) // 2]
        await self.put(frame)

    async def put(self, frame: bytes) -> None:
        kind = XgmiiFrame if self.ten_gigabit else GmiiFrame
        await self.source.send(kind.from_raw_payload(frame))

    async def settle(self) -> None:
        await self.source.wait()
        for _ in range(4000):
            await RisingEdge(self.dut.clk_i)
            if self.dut.idle_o.value:
                break
        await ClockCycles(self.dut.clk_i, 40)

    def take(self) -> list[Event]:
        """The events that are new in memory."""
        new = []
        while True:
            n = len(self.events)
            words = struct.unpack("<4Q", self.ram.read(QUEUE + n % 16 * 32, 32))
            if words[3] >> 63 != 1 - n // 16 % 2:
                return new
            event = Event(
                words[0] & 1, words[0] >> 8 & 0xFF, words[0] >> 16 & 0xFFFF, words[0] >> 32,
                words[1] & 0xFFFFFFFF, ((words[1] >> 32).to_bytes(4, "big"), words[2] & 0xFFFF),
                words[2] >> 16 & 0xFFFF, words[2] >> 32, words[3] >> 63,
            )  # fmt: skip
            self.events.append(event)
            new.append(event)

    def data(self, event: Event) -> bytes:
        return self.ram.read(self.place(event.index), event.bytes)

    def untouched(self) -> bool:
        """Whether nothing was written between buffers and behind the queue."""
        holes = [(0, BUFFERS)] + [(self.place(n) + self.size, 128) for n in range(self.buffers)]
        holes.append((QUEUE + 16 * 32, MEMORY - QUEUE - 16 * 32))
        return all(self.ram.read(at, length) == self.empty[at : at + length] for at, length in holes)


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.5])
async def every_good_datagram_is_announced_once_with_its_bytes_and_its_sender(dut: Any, share: float) -> None:
    bench = Bench(dut)
    await bench.start(share)
    returned = lost = 0
    bad = 0
    for n in range(60):
        payload = bench.rng.randbytes(bench.rng.choice((0, 1, 3, 4, 15, 16, 64, 127, 129, 500, 512)))
        spoil = bench.rng.choice(("", "", "", "checksum", "fcs", "cut"))
        if spoil == "cut" and len(payload) < 200:
            spoil = ""
        tag = bench.rng.choice((None, bench.rng.randrange(1 << 16)))
        await bench.send(payload, spoil, tag)
        await bench.settle()
        new = bench.take()
        assert len(new) == (not spoil), (n, spoil, len(payload), tag)
        bad += bool(spoil)
        for event in new:
            assert (event.error, event.list, event.index) == (0, 0, event.sequence % bench.buffers)
            assert event.sequence == len(bench.events) - 1
            assert (event.bytes, event.datagrams, event.lost) == (len(payload), 1, lost + bad)
            assert event.source == (PEER.ip, PEER.port)
            assert bench.data(event) == payload
            returned += 1
            await bench.write(LIST_RETURNED, returned)
            await bench.write(QUEUE_TAKEN, returned)
    assert await bench.read(DELIVERED) == len(bench.events)
    assert (await bench.read(BAD)) >> 16 == bad
    assert await bench.read(FRAMES) == bad << 16 | len(bench.events)
    assert bench.untouched()


@cocotb.test()
async def what_finds_no_place_is_dropped_and_counted_and_the_rest_stays(dut: Any) -> None:
    bench = Bench(dut, buffers=2)
    await bench.start()
    first = [bench.rng.randbytes(100) for _ in range(5)]
    for payload in first:
        await bench.send(payload)
    await bench.settle()
    assert [bench.data(event) for event in bench.take()] == first[:2]
    assert (await bench.read(NO_BUFFER)) >> 16 == 3
    # A datagram longer than a buffer is not written, not in part.
    await bench.write(LIST_RETURNED, 2)
    await bench.send(bench.rng.randbytes(513))
    last = bench.rng.randbytes(512)
    await bench.send(last)
    await bench.settle()
    (event,) = bench.take()
    assert bench.data(event) == last
    assert (event.sequence, event.lost) == (2, 4)
    assert (await bench.read(BAD)) & 0xFFFF == 1
    assert bench.untouched()


@cocotb.test()
async def a_buffer_holds_datagrams_at_places_of_64_bytes_until_it_is_full_or_late(
    dut: Any,
) -> None:
    bench = Bench(dut, datagrams=3)
    await bench.start(flush=2000)
    sent = [bench.rng.randbytes(bench.rng.randrange(1, 130)) for _ in range(4)]
    for payload in sent:
        await bench.send(payload)
    # A bad one between leaves no trace.
    await bench.send(bytes(100), "fcs")
    await bench.settle()
    full, flushed = bench.take()
    assert (full.datagrams, flushed.datagrams) == (3, 1)
    at = 0
    for payload in sent[:3]:
        assert bench.data(full)[at : at + len(payload)] == payload
        at = -(-(at + len(payload)) // PLACE) * PLACE
    assert bench.data(flushed) == sent[3]
    assert bench.untouched()


@cocotb.test()
async def a_stalled_bus_loses_whole_datagrams_and_a_stopped_list_takes_none(dut: Any) -> None:
    bench = Bench(dut, buffers=16)
    await bench.start()
    bench.ram.w_channel.pause = True
    bench.ram.w_channel.set_pause_generator(pauses(1, 1.0))
    sent = [bench.rng.randbytes(500) for _ in range(40)]
    for payload in sent:
        await bench.send(payload)
    await bench.source.wait()
    await ClockCycles(dut.clk_i, 200)
    bench.ram.w_channel.clear_pause_generator()
    bench.ram.w_channel.pause = False
    await bench.settle()
    taken = [bench.data(event) for event in bench.take()]
    overflow = (await bench.read(OVERFLOW)) >> 16
    assert overflow > 0
    no_buffer = (await bench.read(NO_BUFFER)) >> 16
    assert len(taken) + overflow + no_buffer == len(sent)
    assert taken == [payload for payload in sent if payload in taken]
    await bench.write(CONTROL, 0)
    await bench.send(sent[0])
    await bench.settle()
    assert (await bench.read(NO_BUFFER)) & 0xFFFF == 1
    assert (await bench.read(CONTROL)) >> 8 & 1 == 1
    assert bench.untouched()


@cocotb.test()
async def a_full_event_queue_gives_the_buffer_to_the_next_datagram(dut: Any) -> None:
    bench = Bench(dut, buffers=16)
    await bench.start()
    taken: list[int] = []
    for n in range(20):
        await bench.send(bytes([n]) * 40)
        await bench.settle()
        taken += [bench.data(event)[0] for event in bench.take()]
        await bench.write(LIST_RETURNED, min(n + 1, 16))
    assert taken == list(range(16))
    assert (await bench.read(NO_EVENT)) == 4
    await bench.write(QUEUE_TAKEN, 16)
    await bench.send(b"last")
    await bench.settle()
    (event,) = bench.take()
    assert bench.data(event) == b"last"
    assert (event.sequence, event.lost) == (16, 4)


@cocotb.test()
async def the_oldest_buffers_are_given_up_for_the_newest_datagrams(dut: Any) -> None:
    bench = Bench(dut, buffers=4, policy=OLDEST)
    await bench.start()
    sent = [bench.rng.randbytes(bench.rng.randrange(1, 500)) for _ in range(10)]
    for payload in sent:
        await bench.send(payload)
    await bench.settle()
    events = bench.take()
    assert [event.sequence for event in events] == list(range(10))
    assert [event.index for event in events] == [n % 4 for n in range(10)]
    assert [bench.data(event) for event in events[-4:]] == sent[-4:]
    # A program knows which those are.
    filled = await bench.read(LIST_FILLED)
    assert [event.sequence for event in events if filled - event.sequence <= 4] == [6, 7, 8, 9]
    assert await bench.read(DELIVERED) == 10
    assert await bench.read(NO_EVENT) == 6 << 16
    assert (await bench.read(NO_BUFFER)) >> 16 == 0
    # Late returns of what was given up give nothing back twice.
    await bench.write(QUEUE_TAKEN, 10)
    await bench.write(LIST_RETURNED, 3)
    await bench.send(b"late")
    await bench.settle()
    assert await bench.read(NO_EVENT) == 7 << 16
    await bench.write(LIST_RETURNED, 11)
    for n in range(4):
        await bench.send(bytes([n]))
    await bench.settle()
    assert [bench.data(event) for event in bench.take()][1:] == [bytes([n]) for n in range(4)]
    assert await bench.read(NO_EVENT) == 7 << 16
    assert bench.untouched()


@cocotb.test()
async def held_datagrams_wait_for_a_buffer_and_are_lost_where_they_find_no_room(dut: Any) -> None:
    bench = Bench(dut, buffers=2, policy=HOLD)
    await bench.start()
    sent = [n.to_bytes(2, "big") + bench.rng.randbytes(498) for n in range(36)]
    for payload in sent:
        await bench.send(payload)
    await bench.source.wait()
    await ClockCycles(dut.clk_i, 400)
    got = [bench.data(event) for event in bench.take()]
    assert got == sent[:2]
    returned = 0
    while returned < len(bench.events):
        returned += 1
        await bench.write(QUEUE_TAKEN, returned)
        await bench.write(LIST_RETURNED, returned)
        await ClockCycles(dut.clk_i, 200)
        got += [bench.data(event) for event in bench.take()]
    overflow = (await bench.read(OVERFLOW)) >> 16
    assert got == [payload for payload in sent if payload in got]
    assert 0 < overflow == len(sent) - len(got)
    # What waited is the burst's begin, as much as the queue holds.
    beats = -(-len(sent[0]) // len(dut.dma_wstrb_o)) + 2
    waited = 256 // beats - 1
    assert got[: 2 + waited] == sent[: 2 + waited]
    assert (await bench.read(NO_BUFFER)) >> 16 == (await bench.read(NO_EVENT)) == 0
    assert await bench.read(DELIVERED) == len(got)
    # The next event says how many were lost before it, each counted once.
    await bench.send(b"after")
    await bench.settle()
    (event,) = bench.take()
    assert (bench.data(event), event.lost) == (b"after", overflow)
    assert bench.untouched()


@cocotb.test()
async def held_datagrams_wait_for_the_event_queue_too(dut: Any) -> None:
    bench = Bench(dut, buffers=16, policy=HOLD)
    await bench.start()
    for n in range(16):
        await bench.send(bytes([n]) * 40)
    await bench.settle()
    first = [bench.data(event)[0] for event in bench.take()]
    assert first == list(range(16))
    await bench.write(LIST_RETURNED, 16)
    for n in range(16, 20):
        await bench.send(bytes([n]) * 40)
    await bench.source.wait()
    await ClockCycles(dut.clk_i, 400)
    assert bench.take() == []
    await bench.write(QUEUE_TAKEN, 16)
    await bench.settle()
    assert [bench.data(event)[0] for event in bench.take()] == [16, 17, 18, 19]
    assert await bench.read(NO_EVENT) == 0


@cocotb.test()
@cocotb.parametrize(echo=[0, ECHO])
async def arp_and_ping_are_answered_and_datagrams_where_the_list_says_so(dut: Any, echo: int) -> None:
    bench = Bench(dut, echo=echo)
    await bench.start()
    if bench.ten_gigabit:
        echo = 0  # it has none
    stack, expected = Stack(ME), []
    for request in (arp_request(PEER, ME.ip), icmp_frame(PEER, ME, 8, bench.rng.randbytes(61))):
        frame = with_fcs(request)
        expected.append(stack.receive(frame)[1])
        await bench.put(frame)
    sent = [bench.rng.randbytes(length) for length in (1, 2, 3, 4, 62, 63, 512)]
    for payload in sent:
        await bench.send(payload)
        if echo:
            reply = ethernet(PEER.mac, ME.mac, ETH_IP, ipv4(ME.ip, PEER.ip, UDP, udp(ME, PEER, payload)))
            expected.append(reply.ljust(60, b"\0"))
    await bench.settle()
    replies = [bench.sink.recv_nowait() for _ in range(bench.sink.count())]
    assert all(reply.check_fcs() for reply in replies)
    assert sorted(bytes(reply.get_payload()) for reply in replies) == sorted(expected)
    # Memory has them all the same; without a free buffer the last ones are dropped.
    assert [bench.data(event) for event in bench.take()] == sent[: bench.buffers]


@cocotb.test()
@cocotb.parametrize(policy=[NEWEST, OLDEST, HOLD])
async def after_a_reset_in_the_middle_of_a_datagram_all_begins_anew(dut: Any, policy: int) -> None:
    bench = Bench(dut, policy=policy)
    await bench.start()
    await bench.send(bench.rng.randbytes(500))
    await ClockCycles(dut.clk_i, bench.rng.randrange(200, 700))
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 20)
    await bench.configure()
    payload = bench.rng.randbytes(300)
    await bench.send(payload)
    await bench.settle()
    (event,) = bench.take()
    assert (event.sequence, event.lost, bench.data(event)) == (0, 0, payload)
    assert await bench.read(DELIVERED) == 1
    assert bench.untouched()


async def stop(bench: Bench) -> None:
    """Disables, and waits until the program may set up anew."""
    await bench.write(CONTROL, 0)
    for _ in range(100):
        if await bench.read(CONTROL) >> 8 & 1:
            return
    raise AssertionError("never ready")


@cocotb.test()
@cocotb.parametrize(waits=["memory", "queue"])
async def a_list_that_waits_is_ready_after_a_disable_and_its_datagrams_are_counted(
    dut: Any, waits: str
) -> None:
    """A full buffer waits for answers of memory, or, held, for a place in the event queue."""
    bench = Bench(dut, buffers=32, size=128, policy=HOLD)
    await bench.start()
    if waits == "memory":
        bench.ram.b_channel.set_pause_generator(pauses(1, 1.0))
    count = 1 if waits == "memory" else 17
    for n in range(count):
        await bench.send(bytes([n]) * 40)
    await bench.source.wait()
    await ClockCycles(dut.clk_i, 600)
    assert len(bench.take()) == count - 1
    await bench.write(CONTROL, 0)
    assert not await bench.read(CONTROL) >> 8 & 1 or waits == "queue"
    bench.ram.b_channel.clear_pause_generator()
    bench.ram.b_channel.pause = False
    await stop(bench)
    assert await bench.read(NO_EVENT) == 1
    assert await bench.read(DELIVERED) == count - 1
    # Nothing of it is in the next run.
    bench.events.clear()
    await bench.configure()
    await bench.send(b"first")
    await bench.settle()
    (event,) = bench.take()
    assert (event.sequence, event.index, event.lost, bench.data(event)) == (0, 0, 1, b"first")


@cocotb.test()
async def datagrams_of_a_buffer_that_is_open_at_a_disable_are_counted(dut: Any) -> None:
    bench = Bench(dut, datagrams=3)
    await bench.start()
    for n in range(5):
        await bench.send(bytes([n]) * 40)
    await bench.settle()
    assert len(bench.take()) == 1
    await stop(bench)
    assert await bench.read(NO_EVENT) == 2
    assert await bench.read(DELIVERED) == 3
    assert (await bench.read(NO_BUFFER), await bench.read(BAD)) == (0, 0)
