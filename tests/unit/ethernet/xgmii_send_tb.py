# SPDX-License-Identifier: Apache-2.0
"""What xgmii_udp sends, against cocotbext-eth's XGMII sink: datagrams, answers to ping, requests by ARP."""

from __future__ import annotations

import itertools
import random
from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.eth import XgmiiFrame
from frames import (
    BROADCAST,
    ETH_ARP,
    ETH_IP,
    ICMP,
    UDP,
    Node,
    arp,
    arp_request,
    ethernet,
    icmp_frame,
    ipv4,
    udp,
    udp_frame,
    with_fcs,
    with_tag,
)
from xgmii_udp_tb import ME, PEER, TX_CLK_PS, Bench

VALID_TO_START = 8
GAP = 12


@dataclass
class Post:
    """A datagram of the service."""

    peer: Node
    payload: bytes
    spoilt: bool = False

    @property
    def meta(self) -> int:
        head = self.peer.mac + self.peer.ip + self.peer.port.to_bytes(2, "big")
        return int.from_bytes(head + len(self.payload).to_bytes(2, "big") + b"\0", "big")

    @property
    def frame(self) -> bytes:
        datagram = udp(ME, self.peer, self.payload, csum=0)
        packet = ipv4(ME.ip, self.peer.ip, UDP, datagram)
        return ethernet(self.peer.mac, ME.mac, ETH_IP, packet).ljust(60, b"\0")

    def word(self, number: int) -> int:
        """What is behind the last byte is anything."""
        return int.from_bytes((self.payload[8 * number :] + random.randbytes(8))[:8], "little")


class Sender(Bench):
    """The bench with a UDP service that sends."""

    async def start(self) -> None:
        await super().start()
        self.posts: deque[Post] = deque()
        self.asked = 0
        cocotb.start_soon(self.serve())

    async def serve(self) -> None:
        dut = self.dut
        now: Post | None = None
        number = 0
        while True:
            await FallingEdge(dut.tx_clk_i)
            taken, next_ = bool(dut.tx_ready_o.value), bool(dut.tx_next_o.value)
            if taken:
                assert dut.tx_valid_i.value, "taken without one"
            if next_:
                assert now is not None, "a word of nothing"
                assert 8 * number < len(now.payload), "more words than there are"
                # In the cycle of the last word, or before: spoilt either way.
                if now.spoilt and 8 * number + 8 >= len(now.payload):
                    dut.tx_spoil_i.value = 1
            await RisingEdge(dut.tx_clk_i)
            if taken:
                assert now is None or 8 * number >= len(now.payload), "the one before is not sent"
                now, number = self.posts.popleft(), 0
                dut.tx_spoil_i.value = 0
            number += next_
            if now is not None:
                dut.tx_data_i.value = now.word(number)
            waits = bool(self.posts) and (now is None or 8 * number >= len(now.payload))
            if waits and not dut.tx_valid_i.value:
                self.asked = get_sim_time("ps")
            dut.tx_valid_i.value = waits
            if waits:
                dut.tx_meta_i.value = self.posts[0].meta

    async def quiet(self) -> None:
        for _ in range(4000):
            await ClockCycles(self.dut.tx_clk_i, 10)
            if not self.posts and self.dut.idle_o.value:
                break
        assert not self.posts
        assert self.dut.idle_o.value
        await ClockCycles(self.dut.tx_clk_i, 2)

    async def frames(self) -> list[XgmiiFrame]:
        await self.quiet()
        return [self.sink.recv_nowait() for _ in range(self.sink.count())]


async def sender(dut: object) -> Sender:
    made = Sender(dut)
    await made.start()
    return made


def stranger() -> Node:
    return Node(random.randbytes(6), random.randbytes(4), random.randrange(1 << 16))


def ping(node: Node, data: bytes) -> bytes:
    return icmp_frame(node, ME, 8, random.randbytes(4) + data)


def gaps(sent: list[XgmiiFrame]) -> list[int]:
    """Bytes between two frames, the terminate among them."""
    starts = [8 * one.sim_time_start / TX_CLK_PS for one in sent]
    return [round(y - x - len(one)) for (x, y), one in zip(itertools.pairwise(starts), sent, strict=False)]


@cocotb.test()
async def every_length_of_payload_leaves_whole(dut: object) -> None:
    b = await sender(dut)
    posts = [Post(stranger(), random.randbytes(size)) for size in [*range(80), *range(1462, 1473)]]
    for one in posts:
        b.posts.append(one)
        for _ in range(random.choice([0, 0, 1, 30, 200])):
            await FallingEdge(dut.tx_clk_i)
    sent = await b.frames()
    assert [bytes(one.get_payload()) for one in sent] == [one.frame for one in posts]
    assert all(one.check_fcs() and one.ctrl is None for one in sent)


@cocotb.test()
async def the_header_sum_holds_whatever_the_addresses(dut: object) -> None:
    """Sums with carries at every fold."""
    b = await sender(dut)
    ips = [bytes(4), b"\xff" * 4, b"\xff\xff\0\0", b"\0\0\xff\xff", *(random.randbytes(4) for _ in range(60))]
    own = int.from_bytes(ME.ip, "big")
    # Both ends of a carry in each fold.
    for total in (0xFFFE, 0xFFFF, 0x1FFFE, 0x1FFFF):
        rest = total - (own >> 16) - (own & 0xFFFF) - 0xC52D - 4
        ips += [(max(min(rest + d, 0xFFFF), 0)).to_bytes(4, "big") for d in range(-2, 3)]
    posts = [Post(Node(PEER.mac, ip, 7), random.randbytes(4)) for ip in ips]
    b.posts.extend(posts)
    sent = await b.frames()
    assert [bytes(one.get_payload()) for one in sent] == [one.frame for one in posts]


@cocotb.test()
async def datagrams_leave_at_line_rate(dut: object) -> None:
    b = await sender(dut)
    for size in (0, 18, 19, 22, 100, 1472):
        b.posts.extend(Post(PEER, random.randbytes(size)) for _ in range(12 if size > 1000 else 80))
        found = gaps(await b.frames())
        assert max(found) <= GAP + 3, (size, found)
        assert GAP * len(found) - 3 <= sum(found) <= GAP * len(found), (size, found)


@cocotb.test()
async def a_datagram_leaves_as_soon_as_the_header_says(dut: object) -> None:
    b = await sender(dut)
    for size in (0, 30, 200):
        b.posts.append(Post(PEER, random.randbytes(size)))
        (sent,) = await b.frames()
        # The sink sees a word at the edge that ends its cycle; tx_valid_i was set behind one.
        assert round((sent.sim_time_start - b.asked) / TX_CLK_PS) == VALID_TO_START + 1


@cocotb.test()
async def a_spoilt_payload_has_a_wrong_fcs_and_the_next_one_is_whole(dut: object) -> None:
    b = await sender(dut)
    sizes = [*range(1, 40), 1471, 1472]
    random.shuffle(sizes)
    posts = [Post(PEER, random.randbytes(size), spoilt=random.randrange(2) > 0) for size in sizes]
    b.posts.extend(posts)
    sent = await b.frames()
    assert [bytes(one.get_payload()) for one in sent] == [one.frame for one in posts]
    assert [not one.check_fcs() for one in sent] == [one.spoilt for one in posts]


@cocotb.test()
async def a_ping_of_every_length_is_answered_from_both_starts(dut: object) -> None:
    b = await sender(dut)
    for late in (False, True):
        for size in [*range(60), *range(1460, 1473)]:
            made = ping(stranger(), random.randbytes(size))
            raw = with_fcs(random.choice([made, with_tag(made)]))
            await b.send([raw], late=late)
            await b.quiet()
            assert b.replies() == [b.stack.receive(raw)[1]], size


@cocotb.test()
async def a_ping_whose_sum_ends_at_either_zero_is_answered(dut: object) -> None:
    """The request's check sum plus 0800, with its carry."""
    b = await sender(dut)
    for wanted in (0x0000, 0x0001, 0xF7FE, 0xF7FF, 0xF800, 0xF801, 0xFFFE):
        rest = bytearray(random.randbytes(30))
        rest[4:6] = b"\0\0"
        have = int.from_bytes(icmp_frame(PEER, ME, 8, bytes(rest))[36:38], "big")
        # One half of the data makes the sum what it must be.
        change = have - wanted
        rest[4:6] = (change % 0xFFFF).to_bytes(2, "big")
        made = icmp_frame(PEER, ME, 8, bytes(rest))
        assert int.from_bytes(made[36:38], "big") % 0xFFFF == wanted % 0xFFFF
        raw = with_fcs(made)
        await b.send([raw])
        await b.quiet()
        assert b.replies() == [b.stack.receive(raw)[1]]


@cocotb.test()
async def a_ping_that_is_wrong_in_one_bit_is_not_answered(dut: object) -> None:
    b = await sender(dut)
    for _ in range(150):
        body = bytearray(ping(PEER, random.randbytes(random.randrange(40))))
        end = 14 + int.from_bytes(body[16:18], "big")
        at = random.randrange(14, end)
        body[at] ^= 1 << random.randrange(8)
        raw = with_fcs(bytes(body))
        await b.send([raw])
        reply = b.stack.receive(raw)[1]
        assert b.replies() == ([reply] if reply else []), at
    # A message shorter than its header, and a frame shorter than its datagram.
    for size in range(8):
        message = ethernet(
            ME.mac, PEER.mac, ETH_IP, ipv4(PEER.ip, ME.ip, ICMP, b"\x08\0\xf7\xff\0\0\0\0"[:size])
        )
        await b.send([with_fcs(message)])
        assert b.replies() == []


@cocotb.test()
async def a_ping_that_comes_while_one_is_answered_is_counted(dut: object) -> None:
    b = await sender(dut)
    for size in (8, 56, 700, 1472):
        before = b.counters()
        raws = [with_fcs(ping(PEER, random.randbytes(size))) for _ in range(30)]
        await b.send(raws)
        await b.quiet()
        answers, after = b.replies(), b.counters()
        made = [b.stack.receive(raw)[1] for raw in raws]
        assert answers == [one for one in made if one in answers], "in their order, each as it was asked"
        busy = after["rx_busy"] - before["rx_busy"]
        assert len(answers) == 30 - busy
        assert busy > 0
        assert len(answers) > 1


@cocotb.test()
async def what_waits_gets_its_turn_beside_datagrams(dut: object) -> None:
    """While ARP or ping waits, one datagram at most begins before one of them."""
    b = await sender(dut)
    b.posts.extend(Post(PEER, random.randbytes(100)) for _ in range(200))
    raws = []
    for _ in range(12):
        raws += [with_fcs(ping(PEER, random.randbytes(56))), with_fcs(arp_request(PEER, ME.ip))]
        raws += [with_fcs(udp_frame(PEER, ME, random.randbytes(300)))] * 2
    for raw in raws:
        b.expect(raw)
        b.source.send_nowait(XgmiiFrame.from_raw_payload(raw))
    kinds = []
    for one in await b.frames():
        assert one.check_fcs()
        payload = bytes(one.get_payload())
        kinds.append("arp" if payload[12:14] == b"\x08\x06" else "udp" if payload[23] == UDP else "ping")
    b.check_counters()
    assert kinds.count("udp") == 200
    assert kinds.count("arp") == 12
    assert kinds.count("ping") == b.counters()["tx_icmp"] > 6
    last = max(i for i, kind in enumerate(kinds) if kind != "udp")
    assert last < 150, "they did not wait for the datagrams' end"


async def ask(b: Sender, ip: bytes) -> None:
    d = b.dut
    await FallingEdge(d.clk_i)
    while not d.ask_ready_o.value:
        await FallingEdge(d.clk_i)
    d.ask_i.value = 1 << 32 | int.from_bytes(ip, "big")
    await FallingEdge(d.clk_i)
    d.ask_i.value = 0


async def answers(b: Sender, found: list[tuple[bytes, bytes]]) -> None:
    while True:
        await FallingEdge(b.dut.clk_i)
        value = int(b.dut.answer_o.value)
        if value >> 80:
            raw = (value & (1 << 80) - 1).to_bytes(10, "big")
            found.append((raw[:4], raw[4:]))


@cocotb.test()
async def a_station_that_was_asked_for_is_told_once(dut: object) -> None:
    b = await sender(dut)
    found: list[tuple[bytes, bytes]] = []
    cocotb.start_soon(answers(b, found))

    def says(node: Node, dst: bytes = ME.mac, op: int = 2, tpa: bytes = ME.ip) -> bytes:
        return with_fcs(ethernet(dst, node.mac, ETH_ARP, arp(op, node.mac, node.ip, ME.mac, tpa)))

    for late in (False, True):
        for _ in range(12):
            node, other = stranger(), stranger()
            await b.send([says(node)], late=late)  # nobody asked
            await ask(b, node.ip)
            await b.quiet()
            request = ethernet(BROADCAST, ME.mac, ETH_ARP, arp(1, ME.mac, ME.ip, b"\xff" * 6, node.ip))
            assert b.replies() == [request.ljust(60, b"\0")]
            wrong = [
                says(other),
                says(node, tpa=bytes([192, 168, 7, 9])),
                says(node, op=3),
                says(node, dst=random.randbytes(5) + b"\1"),
                says(node)[:-1] + bytes([says(node)[-1] ^ 1]),
            ]
            random.shuffle(wrong)
            await b.send(wrong, late=late)
            assert found == []
            await b.send(
                [random.choice([says(node), with_fcs(with_tag(says(node)[:-4]))]), says(node)], late=late
            )
            assert found == [(node.ip, node.mac)]
            found.clear()
        # The second request replaces the first one.
        first, second = stranger(), stranger()
        await ask(b, first.ip)
        await ask(b, second.ip)
        await b.send([says(first), says(second)], late=late)
        await b.quiet()
        assert found == [(second.ip, second.mac)]
        assert len(b.replies()) == 2
        found.clear()


@cocotb.test()
async def a_request_of_our_own_and_one_for_us_both_leave_at_any_distance(dut: object) -> None:
    b = await sender(dut)
    for distance in range(40):
        other, station = stranger(), stranger()
        raw = with_fcs(arp_request(other, ME.ip))
        b.expect(raw)
        b.source.send_nowait(XgmiiFrame.from_raw_payload(raw))
        await ClockCycles(dut.clk_i, distance)
        await ask(b, station.ip)
        await b.source.wait()
        await ClockCycles(dut.clk_i, 30)
        await b.quiet()
        own = ethernet(BROADCAST, ME.mac, ETH_ARP, arp(1, ME.mac, ME.ip, b"\xff" * 6, station.ip))
        assert sorted(b.replies()) == sorted([own.ljust(60, b"\0"), b.stack.receive(raw)[1]]), distance
    b.check_counters()
