# SPDX-License-Identifier: Apache-2.0
"""nanet_nic and nanet_nic_10g with a send queue, pins to pins: posts by register, payload read from
memory behind cocotbext-axi, frames on GMII or XGMII.

Memory around the send memory has other bytes, and the bench records every address that is read.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiRamRead, AxiReadBus
from frames import (
    BROADCAST,
    ETH_ARP,
    ETH_IP,
    UDP,
    Node,
    arp,
    arp_request,
    ethernet,
    ipv4,
    udp,
    with_fcs,
    with_tag,
)
from nanet_nic_tb import (
    BUFFER_BYTES,
    BUFFER_LO,
    BUFFER_SET,
    BUFFERS,
    CONTROL,
    ME,
    MEMORY,
    PEER,
    QUEUE,
    QUEUE_TAKEN,
    Bench,
    pauses,
)
from pins import Pins

SENDS, BLOCKS = 0x2000, 96
SEND = 0x100
SEND_LO, SEND_BYTES, PEER_MAC, PEER_PORT, PEER_IP, PEER_SET = (SEND + at for at in (0, 8, 16, 20, 24, 28))
POST, SENT, NOT_SENT = SEND + 0x20, SEND + 0x24, SEND + 0x28
ASK, ANSWER_MAC, ANSWER = SEND + 0x2C, SEND + 0x30, SEND + 0x34
VALID = 1 << 24
PEERS = [PEER, Node(bytes.fromhex("0200000001a5"), bytes([10, 1, 2, 3]), 40_001)]
TAKEN, LONG, OUTSIDE, UNKNOWN = range(4)
MAX_PAYLOAD = 1472
MIN_FRAME = 60


@dataclass(frozen=True)
class Completion:
    refusal: int
    error: int
    index: int
    bytes: int
    sequence: int
    peer: tuple[bytes, int]
    datagrams: int


class Sender(Bench):
    """The bench of the interface, with memory that is read too."""

    async def prepare(self, share: float = 0.0) -> None:
        await self.start()
        d, pins = self.dut, Pins(self.dut)
        # Reads are of the same memory as the writes.
        kind = {"reset_active_level": False, "size": MEMORY, "mem": self.ram.mem}
        self.reader = AxiRamRead(AxiReadBus.from_prefix(pins, "dma"), d.clk_i, d.rst_ni, **kind)
        self.read_addresses: list[tuple[int, int]] = []
        for n, channel in enumerate((self.reader.ar_channel, self.reader.r_channel)):
            channel.set_pause_generator(pauses(cocotb.RANDOM_SEED + 10 + n, share))
        cocotb.start_soon(self.record())
        await self.send_memory()

    async def send_memory(self) -> None:
        """Lets it read the send memory, for its peers."""
        await self.write(CONTROL, 0)
        await self.write(SEND_LO, SENDS)
        await self.write(SEND_BYTES, BLOCKS * 64)
        for n, peer in enumerate(PEERS):
            await self.set_peer(n, peer)
        await self.write(CONTROL, 1)
        self.taken = 0

    async def set_peer(self, n: int, peer: Node, valid: int = VALID) -> None:
        mac = int.from_bytes(peer.mac, "big")
        await self.write(PEER_MAC, mac & 0xFFFFFFFF)
        await self.write(PEER_PORT, mac >> 32 | peer.port << 16)
        await self.write(PEER_IP, int.from_bytes(peer.ip, "big"))
        await self.write(PEER_SET, n | valid)

    async def record(self) -> None:
        d = self.dut
        while True:
            await RisingEdge(d.clk_i)
            if d.dma_arvalid_o.value and d.dma_arready_i.value:
                beats, width = int(d.dma_arlen_o.value) + 1, 1 << int(d.dma_arsize_o.value)
                self.read_addresses.append((int(d.dma_araddr_o.value), beats * width))

    async def post(self, block: int, length: int, peer: int = 0) -> None:
        await self.write(POST, peer << 27 | length << 16 | block)

    def fill(self, block: int, payload: bytes) -> None:
        self.ram.write(SENDS + 64 * block, payload)

    def completions(self) -> list[Completion]:
        found = []
        while True:
            words = struct.unpack("<4Q", self.ram.read(QUEUE + self.taken % 16 * 32, 32))
            if words[3] >> 63 != 1 - self.taken // 16 % 2:
                return found
            self.taken += 1
            assert words[0] >> 8 & 0xFF == 0x80
            found.append(Completion(
                words[0] >> 1 & 0x7F, words[0] & 1, words[0] >> 16 & 0xFFFF, words[0] >> 32,
                words[1] & 0xFFFFFFFF, ((words[1] >> 32).to_bytes(4, "big"), words[2] & 0xFFFF),
                words[2] >> 16 & 0xFFFF,
            ))  # fmt: skip

    async def finish(self) -> None:
        """Waits until posts, reads and frames have ended."""
        for _ in range(40_000):
            await RisingEdge(self.dut.clk_i)
            if self.dut.idle_o.value:
                break
        assert self.dut.idle_o.value
        await ClockCycles(self.dut.clk_i, 40)

    def frames(self) -> list[bytes]:
        """The frames sent so far, without preamble, with their FCS."""
        found, self.begins = [], []
        while not self.sink.empty():
            frame = self.sink.recv_nowait()
            found.append(bytes(frame.get_payload(strip_fcs=False)))
            self.begins.append(frame.sim_time_start)
        return found

    def inside(self) -> bool:
        """Whether nothing but the send memory was read."""
        return all(at >= SENDS and at + size <= SENDS + 64 * BLOCKS for at, size in self.read_addresses)

    async def ask(self, ip: bytes) -> None:
        await self.write(ASK, int.from_bytes(ip, "big"))

    async def answer(self) -> bytes | None:
        """The MAC address that the last request was answered with."""
        high = await self.read(ANSWER)
        if not high & VALID:
            return None
        return ((high & 0xFFFF) << 32 | await self.read(ANSWER_MAC)).to_bytes(6, "big")

    async def tell(self, frame: bytes) -> None:
        await self.put(with_fcs(frame))
        await self.source.wait()
        await self.finish()


def request(ip: bytes) -> bytes:
    """The frame of a request: what it has for the address that it asks for says nothing."""
    return with_fcs(ethernet(BROADCAST, ME.mac, ETH_ARP, arp(1, ME.mac, ME.ip, BROADCAST, ip)))


def reply(of: Node, to: Node = ME, mac: bytes = ME.mac, op: int = 2) -> bytes:
    return ethernet(mac, of.mac, ETH_ARP, arp(op, of.mac, of.ip, to.mac, to.ip))


def good(frame: bytes) -> bool:
    return zlib.crc32(frame[:-4]).to_bytes(4, "little") == frame[-4:]


def expected(payload: bytes, peer: Node) -> bytes:
    """A whole frame: the UDP check sum is 0."""
    datagram = udp(ME, peer, payload, csum=0)
    frame = ethernet(peer.mac, ME.mac, ETH_IP, ipv4(ME.ip, peer.ip, UDP, datagram))
    return with_fcs(frame.ljust(MIN_FRAME, b"\0"))


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.3])
async def what_a_program_posts_is_on_the_wire_and_announced_in_order(dut: Any, share: float) -> None:
    bench = Sender(dut)
    await bench.prepare(share)
    sizes = [0, 1, 2, 3, 4, 15, 16, 17, 63, 64, 65, 255, 257, 1471, MAX_PAYLOAD]
    bench.rng.shuffle(sizes)
    sent = []
    for number, size in enumerate(sizes):
        payload = bench.rng.randbytes(size)
        blocks = -(-size // 64)
        # The last place too.
        block = BLOCKS - blocks if number == 0 else bench.rng.randrange(BLOCKS - blocks + 1)
        peer = bench.rng.randrange(len(PEERS))
        bench.fill(block, payload)
        await bench.post(block, size, peer)
        if number % 3 == 0:
            await bench.finish()
            bench.fill(block, bytes(size))
        else:
            # Its place is not used again before it is announced.
            while dut.status_events_o.value != number + 1:
                await RisingEdge(dut.clk_i)
        sent.append((payload, block, peer))
        if number % 8 == 7:
            await bench.write(QUEUE_TAKEN, number + 1)
    await bench.finish()
    assert bench.frames() == [expected(payload, PEERS[peer]) for payload, _, peer in sent]
    assert bench.completions() == [
        Completion(TAKEN, 0, block, len(payload), n, (PEERS[peer].ip, PEERS[peer].port), 1)
        for n, (payload, block, peer) in enumerate(sent)
    ]
    assert await bench.read(SENT) == len(sent)
    assert bench.inside()


@cocotb.test()
async def posts_one_behind_the_other_keep_the_line_busy(dut: Any) -> None:
    bench = Sender(dut)
    await bench.prepare()
    payload = bench.rng.randbytes(MAX_PAYLOAD)
    bench.fill(0, payload)
    for _ in range(8):
        await bench.post(0, MAX_PAYLOAD)
    await bench.finish()
    assert bench.frames() == [expected(payload, PEERS[0])] * 8
    # Preamble, frame and gap: nothing between them. At 10 Gigabit a start is in lane 0 or 4.
    octets = 8 + 42 + MAX_PAYLOAD + 4 + 12
    octet_ps = 800 if bench.ten_gigabit else 8000
    steps = {round((late - early) / octet_ps) for early, late in pairwise(bench.begins)}
    assert steps == ({octets - 2, octets + 2} if bench.ten_gigabit else {octets})


@cocotb.test()
async def what_must_not_be_sent_is_refused_before_anything_is_read(dut: Any) -> None:
    bench = Sender(dut)
    await bench.prepare()
    wrong = [
        (0, MAX_PAYLOAD + 1, 0, LONG), (0, 2047, 1, LONG), (BLOCKS, 1, 0, OUTSIDE),
        (BLOCKS - 1, 65, 0, OUTSIDE), (0xFFFF, 64, 0, OUTSIDE), (0, 64, 2, UNKNOWN), (0, 0, 15, UNKNOWN),
    ]  # fmt: skip
    for block, length, peer, _ in wrong:
        await bench.post(block, length, peer)
    await bench.finish()
    assert bench.read_addresses == []
    assert bench.frames() == []
    found = bench.completions()
    assert [one.refusal for one in found] == [reason for *_, reason in wrong]
    assert all(one.datagrams == 0 and not one.error for one in found)
    # A peer that was taken away is unknown; the one beside it is not.
    await bench.set_peer(0, PEER, valid=0)
    await bench.post(0, 64, 0)
    await bench.post(0, 64, 1)
    await bench.finish()
    assert [one.refusal for one in bench.completions()] == [UNKNOWN, TAKEN]
    assert len(bench.frames()) == 1
    assert await bench.read(NOT_SENT) == len(wrong) + 1
    # Without a send memory nothing is read.
    await bench.write(CONTROL, 0)
    await bench.write(SEND_BYTES, 0)
    await bench.write(CONTROL, 1)
    before = len(bench.read_addresses)
    await bench.post(0, 64, 1)
    await bench.finish()
    assert len(bench.read_addresses) == before
    assert bench.inside()


@cocotb.test()
async def memory_that_is_late_spoils_its_own_frame_and_no_other(dut: Any) -> None:
    bench = Sender(dut)
    await bench.prepare()
    payload = bench.rng.randbytes(MAX_PAYLOAD)
    bench.fill(0, payload)
    await bench.post(0, MAX_PAYLOAD)
    # The first beats come, then none for longer than headers and those take.
    while not (dut.dma_rvalid_i.value and dut.dma_rready_o.value):
        await RisingEdge(dut.clk_i)
    await ClockCycles(dut.clk_i, 4)
    bench.reader.r_channel.set_pause_generator(pauses(1, 1.0))
    await ClockCycles(dut.clk_i, 1200)
    bench.reader.r_channel.clear_pause_generator()
    bench.reader.r_channel.pause = False
    # An answer of the interface between them is not spoiled.
    await bench.put(with_fcs(arp_request(PEER, ME.ip).ljust(MIN_FRAME, b"\0")))
    await bench.source.wait()
    await bench.finish()
    await bench.post(0, 100)
    await bench.finish()
    late, *others = bench.frames()
    assert len(late) == len(expected(payload, PEER))
    assert not good(late)
    assert len(others) == 2
    assert all(good(frame) for frame in others)
    assert expected(payload[:100], PEER) in others
    assert await bench.read(SENT) == 1 << 16 | 2
    assert [one.error for one in bench.completions()] == [0, 0]


@cocotb.test()
async def an_error_of_memory_is_in_the_event_and_the_frame_is_spoiled(dut: Any) -> None:
    bench = Sender(dut)
    await bench.prepare()
    bench.fill(0, bench.rng.randbytes(1000))
    right = bench.reader._read

    async def fail(address: int, length: int) -> bytes:
        if address >= SENDS + 512:
            raise OSError
        return await right(address, length)

    bench.reader._read = fail
    await bench.post(0, 1000)
    await bench.post(0, 500)
    await bench.finish()
    bad, whole = bench.frames()
    assert not good(bad)
    assert good(whole)
    assert [one.error for one in bench.completions()] == [1, 0]
    assert await bench.read(SENT) == 1 << 16 | 2


@cocotb.test()
async def a_post_without_room_is_counted_and_a_full_event_queue_is_waited_for(dut: Any) -> None:
    bench = Sender(dut)
    await bench.prepare()
    for n in range(20):
        bench.fill(n, bytes([n]) * 64)
    # Events wait: 16 in the queue, 8 under way, one checked, 16 posted.
    posted = 16 + 8 + 1 + 16
    for n in range(posted + 3):
        await bench.post(n % 20, 64)
        await ClockCycles(dut.clk_i, 200)
    await ClockCycles(dut.clk_i, 400)
    assert await bench.read(NOT_SENT) == 3 << 16
    done = 0
    found = []
    while len(found) < posted:
        new = bench.completions()
        found += new
        done += len(new)
        await bench.write(QUEUE_TAKEN, done)
        await ClockCycles(dut.clk_i, 200)
    await bench.finish()
    assert [one.sequence for one in found] == list(range(posted))
    assert [one.index for one in found] == [n % 20 for n in range(posted)]
    assert bench.frames() == [expected(bytes([n % 20]) * 64, PEER) for n in range(posted)]
    # Disabled, it drops posts, and begins anew.
    await bench.write(CONTROL, 0)
    await bench.post(0, 64)
    await bench.finish()
    assert bench.frames() == []
    assert await bench.read(CONTROL) & 0x100


@cocotb.test()
async def an_address_that_is_asked_for_is_the_one_of_its_reply(dut: Any) -> None:
    bench = Sender(dut)
    await bench.prepare()
    # A reply that answers no request.
    await bench.tell(reply(PEER))
    assert await bench.answer() is None
    for peer in (PEER, PEERS[1]):
        await bench.ask(peer.ip)
        await bench.finish()
        assert bench.frames() == [request(peer.ip)]
        assert await bench.answer() is None
        # All that is no reply to it.
        other = Node(bytes.fromhex("0200000000ee"), bytes([9, 9, 9, 9]), 0)
        for wrong in (
            reply(other), reply(Node(other.mac, peer.ip[:3] + bytes([peer.ip[3] ^ 1]), 0)),
            reply(Node(other.mac, peer.ip, 0), mac=other.mac), reply(Node(other.mac, peer.ip, 0), to=other),
            reply(Node(other.mac, peer.ip, 0), op=3),
            *(flipped(reply(Node(other.mac, peer.ip, 0)), at)
              for at in (12, *range(14, 22), *range(28, 32), *range(38, 42))),
        ):  # fmt: skip
            await bench.tell(wrong)
        await bench.put(with_fcs(reply(other))[:-1] + b"?")
        await bench.put(flipped(with_fcs(reply(Node(other.mac, peer.ip, 0))), 61))
        await bench.put(with_fcs(reply(Node(other.mac, peer.ip, 0)))[:50])
        await bench.settle()
        # Two tags, one of a provider.
        await bench.tell(with_tag(with_tag(reply(Node(other.mac, peer.ip, 0)))))
        await bench.tell(with_tag(reply(Node(other.mac, peer.ip, 0)), kind=b"\x88\xa8"))
        assert await bench.answer() is None
        await bench.tell(with_tag(reply(peer)) if peer is PEER else reply(peer))
        assert await bench.answer() == peer.mac
        # One answer a request.
        await bench.tell(reply(Node(other.mac, peer.ip, 0)))
        assert await bench.answer() == peer.mac
        assert bench.frames() == []


def flipped(frame: bytes, at: int) -> bytes:
    return frame[:at] + bytes([frame[at] ^ 1]) + frame[at + 1 :]


@cocotb.test()
async def requests_and_replies_of_both_sides_do_not_mix(dut: Any) -> None:
    """They share the transmitter's place for ARP, at any distance."""
    bench = Sender(dut)
    await bench.prepare()
    mine = [ethernet(PEER.mac, ME.mac, ETH_ARP, arp(2, ME.mac, ME.ip, PEER.mac, PEER.ip))]
    payload = bench.rng.randbytes(200)
    bench.fill(0, payload)
    for number, distance in enumerate(range(0, 200, 9)):
        await bench.put(with_fcs(arp_request(PEER, ME.ip)))
        await ClockCycles(dut.clk_i, distance)
        ip = bench.rng.randbytes(4)
        await bench.ask(ip)
        await bench.post(0, 200)
        await bench.source.wait()
        await bench.finish()
        wanted = [with_fcs(mine[0]), request(ip), expected(payload, PEER)]
        assert sorted(bench.frames()) == sorted(wanted), distance
        await bench.write(QUEUE_TAKEN, number + 1)


@cocotb.test()
async def the_answer_counts_for_the_last_request(dut: Any) -> None:
    bench = Sender(dut)
    await bench.prepare()
    first, second = PEERS
    await bench.ask(first.ip)
    await bench.ask(second.ip)
    await bench.finish()
    assert bench.frames() == [request(first.ip), request(second.ip)]
    await bench.tell(reply(first))
    assert await bench.answer() is None
    await bench.tell(reply(second))
    assert await bench.answer() == second.mac
    # A new request forgets it, and a reset in it.
    await bench.ask(first.ip)
    assert await bench.answer() is None


BUFFER_KEY, REGION_LO, REGION_PAGES, REGION_SET = 0x2C, 0xE0, 0xE8, 0xEC
KEY, TABLE, PAGE, PAGE_BYTES = 0x4E40, 0xF000, 0xB000, 0x1000


@cocotb.test()
async def what_comes_is_translated_while_a_program_sends(dut: Any) -> None:
    """Page tables and payload are read by one port."""
    if not int(dut.Regions.value):
        return
    bench = Sender(dut)
    await bench.prepare(0.2)
    # The buffers' page of the region is elsewhere in memory.
    table = [0, PAGE | 1]
    bench.ram.write(TABLE, struct.pack("<2Q", *table))
    await bench.write(CONTROL, 0)
    await bench.write(BUFFER_KEY, KEY)
    for n in range(bench.buffers):
        await bench.write(BUFFER_LO, bench.place(n))
        await bench.write(BUFFER_BYTES, bench.size)
        await bench.write(BUFFER_SET, n)
    for register, value in ((REGION_LO, TABLE), (REGION_PAGES, len(table)), (REGION_SET, VALID | KEY)):
        await bench.write(register, value)
    await bench.write(CONTROL, 1)
    before = bench.ram.read(BUFFERS, PAGE_BYTES)
    sent, came = [], []
    for number in range(bench.buffers):
        # The first one misses, among reads of payload.
        payload = bench.rng.randbytes(200 + number)
        came.append(payload)
        await bench.send(payload)
        for block in (0, 8, 16):
            sent.append(bench.rng.randbytes(500))
            bench.fill(block, sent[-1])
            await bench.post(block, 500, 1)
        await bench.source.wait()
        await bench.finish()
        await bench.write(QUEUE_TAKEN, 4 * (number + 1))
    assert bench.frames() == [expected(payload, PEERS[1]) for payload in sent]
    for number, payload in enumerate(came):
        assert bench.ram.read(PAGE + bench.place(number) % PAGE_BYTES, len(payload)) == payload
    assert bench.ram.read(BUFFERS, PAGE_BYTES) == before
    tables = [at for at, _ in bench.read_addresses if at >= TABLE]
    # The beat that has the page's word, once.
    assert tables == [TABLE]
