# SPDX-License-Identifier: Apache-2.0
"""gige_udp behind an echo service, against cocotbext-eth's GMII models and `frames.Stack`."""

from __future__ import annotations

import itertools
import random
import struct

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, Timer, with_timeout
from cocotb.utils import get_sim_time
from cocotbext.eth import GmiiFrame, GmiiSink, GmiiSource
from frames import (
    BROADCAST,
    COUNTERS,
    ETH_ARP,
    ETH_IP,
    ICMP,
    TAG,
    UDP,
    Node,
    Stack,
    arp,
    arp_request,
    ethernet,
    icmp_frame,
    ipv4,
    malformed,
    tagged_wire,
    udp,
    udp_frame,
    with_fcs,
    with_tag,
)

ME = Node(bytes.fromhex("021122334455"), bytes([192, 168, 7, 2]), 60368)
PEER = Node(bytes.fromhex("0a0b0c0d0e0f"), bytes([192, 168, 7, 77]), 40001)
CLK_PS = 8000
MAC_RX_FIRST, MAC_RX_LAST, MAC_RX_VERDICT, MAC_TX_FIRST, MAC_TX_LAST = range(5)

# Cycles with aligned clocks of one frequency, from the cycle in which a byte is on gmii_rxd_i.
LAST_BYTE_TO_WORD = 4
LAST_FCS_BYTE_TO_END = 5
TX_VALID_TO_PREAMBLE = 1
# Of a reply that the service has said to be due, with this service, 1 cycle.
LAST_FCS_BYTE_TO_PREAMBLE = 4
PREAMBLE_BYTES = 8
BEGIN = 0xD5


class Bench:
    def __init__(self, dut: object) -> None:
        self.dut = dut
        self.stack = Stack(ME)
        self.expected = dict.fromkeys(COUNTERS, 0)
        self.frames: list[GmiiFrame] = []

    async def start(self, *, aligned: bool = True, phy_ps: int = CLK_PS, phase_ps: int = 0) -> None:
        dut = self.dut
        dut.rst_ni.value = 0
        dut.aligned_i.value = aligned
        dut.cfg_mac_i.value = int.from_bytes(ME.mac, "big")
        dut.cfg_ip_i.value = int.from_bytes(ME.ip, "big")
        dut.cfg_netmask_i.value = int.from_bytes(self.stack.netmask, "big")
        dut.cfg_port_i.value = ME.port
        dut.refuse_i.value = 0
        dut.hold_i.value = 0
        self.allow([])
        cocotb.start_soon(Clock(dut.clk_i, CLK_PS, "ps").start())
        if phase_ps:
            await Timer(phase_ps, "ps")
        high = phy_ps // 2
        self.phy_clock = Clock(dut.phy_clk_i, phy_ps, "ps", period_high=high)
        self.phy_clock.start()
        self.source = GmiiSource(dut.gmii_rxd_i, dut.gmii_rx_er_i, dut.gmii_rx_dv_i, dut.gmii_rx_clk_o)
        self.sink = GmiiSink(dut.gmii_txd_o, dut.gmii_tx_er_o, dut.gmii_tx_en_o, dut.clk_i)
        for model in (self.source, self.sink):
            model.log.setLevel("WARNING")
        await ClockCycles(dut.clk_i, 5)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 8)

    def allow(self, entries: list[tuple[bytes, bytes]]) -> None:
        self.stack.allow = entries
        enable = ip = mask = 0
        for i, (a, m) in enumerate(entries):
            enable |= 1 << i
            ip |= int.from_bytes(a, "big") << (32 * i)
            mask |= int.from_bytes(m, "big") << (32 * i)
        self.dut.cfg_allow_enable_i.value = enable
        self.dut.cfg_allow_ip_i.value = ip
        self.dut.cfg_allow_mask_i.value = mask

    def subnet(self, bits: int) -> None:
        mask = 0xFFFFFFFF << (32 - bits) & 0xFFFFFFFF
        self.stack.netmask = mask.to_bytes(4, "big")
        self.dut.cfg_netmask_i.value = mask

    def counters(self) -> dict[str, int]:
        value = int(self.dut.counters_o.value)
        words = [value >> (32 * i) & 0xFFFFFFFF for i in reversed(range(len(COUNTERS)))]
        return dict(zip(COUNTERS, words, strict=True))

    def expect(self, **deltas: int) -> None:
        for name, delta in deltas.items():
            self.expected[name] += delta

    def check_counters(self) -> None:
        assert self.counters() == self.expected

    def send(self, frame: bytes, *, error_at: int | None = None, preamble: bytes | None = None) -> None:
        """Queue a frame (with FCS) for the wire. `error_at` raises rx_er on that byte."""
        raw = (b"\x55" * 7 + b"\xd5" if preamble is None else preamble) + frame
        error = None
        if error_at is not None:
            error = [int(i == error_at + len(raw) - len(frame)) for i in range(len(raw))]
        self.source.send_nowait(GmiiFrame(raw, error))

    async def drain(self) -> None:
        """Until the wire and the stack are idle, and the counters have settled."""
        await with_timeout(self.source.wait(), 100, "us")
        await ClockCycles(self.dut.clk_i, 6)
        while not self.dut.idle_o.value:
            await with_timeout(RisingEdge(self.dut.idle_o), 100, "us")
            await ClockCycles(self.dut.clk_i, 2)
        await ClockCycles(self.dut.clk_i, 3)

    def begun(self) -> int:
        """Preambles without a frame behind the last frame so far: of replies to what turned out bad."""
        count = 0
        while not self.sink.empty():
            frame = self.sink.recv_nowait()
            if BEGIN in bytes(frame.data):
                self.frames.append(frame)
                break
            self.check_preamble(frame)
            count += 1
        return count

    @staticmethod
    def check_preamble(frame: GmiiFrame) -> None:
        # GmiiSink drops the first byte.
        assert bytes(frame.data) == b"\x55" * 3

    async def reply(self) -> bytes:
        """The next frame sent, with preamble and FCS checked and taken off."""
        while not self.frames:
            frame = await with_timeout(self.sink.recv(), 100, "us")
            if BEGIN in bytes(frame.data):
                self.frames.append(frame)
            else:
                self.check_preamble(frame)
        frame = self.frames.pop()
        # GmiiSink drops the first byte; `pins_of_one_frame` looks at all eight.
        assert bytes(frame.get_preamble()) == b"\x55" * 6 + b"\xd5"
        assert frame.check_fcs()
        assert frame.error is None
        return bytes(frame.get_payload())

    async def exchange(self, frame: bytes) -> None:
        """One frame (with FCS): its verdict is counted and its reply comes, as the model says."""
        verdict, reply = self.stack.receive(frame)
        self.send(frame)
        await self.drain()
        self.expect(**{verdict: 1})
        await self.expect_reply(reply)
        self.check_counters()

    async def expect_reply(self, reply: bytes | None) -> None:
        if reply is None:
            self.begun()
            assert not self.frames, "a reply that nobody asked for"
            return
        assert (await self.reply()).hex() == reply.hex()
        self.expect(tx_frames=1)
        if reply[12:14] == b"\x08\x06":
            self.expect(tx_arp=1)
        elif reply[23] == ICMP:
            self.expect(tx_icmp=1)

    async def prove_alive(self) -> None:
        """After anything whatever: a datagram, a ping and an ARP request are answered."""
        await self.exchange(with_fcs(udp_frame(PEER, ME, random.randbytes(16))))
        await self.exchange(with_fcs(icmp_frame(PEER, ME, 8, random.randbytes(9))))
        await self.exchange(with_fcs(arp_request(PEER, ME.ip)))


async def bench(dut: object, **clocks: int) -> Bench:
    b = Bench(dut)
    await b.start(**clocks)
    return b


def now_ps() -> int:
    return int(get_sim_time("ps"))


async def rise(signal: object) -> int:
    await RisingEdge(signal)
    return now_ps()


async def last_rise(signal: object, events: list[int]) -> None:
    while True:
        events.append(await rise(signal))


async def probe_times(dut: object, seen: dict[int, list[tuple[int, int]]]) -> None:
    while True:
        await FallingEdge(dut.clk_i)
        value = int(dut.probe_o.value)
        if value:
            tags = int(dut.probe_tag_o.value)
            for i in range(5):
                if value >> i & 1:
                    seen.setdefault(i, []).append((now_ps() - CLK_PS // 2, tags >> (8 * i) & 0xFF))


# Latency ------------------------------------------------------------------------------------------


@cocotb.test()
async def latency_in_cycles_is_exact(dut: object) -> None:
    b = await bench(dut)
    probes: dict[int, list[tuple[int, int]]] = {}
    cocotb.start_soon(probe_times(dut, probes))
    for tag, length in enumerate([4, 20, 64, 1472]):
        words: list[int] = []
        watch = cocotb.start_soon(last_rise(dut.rx_valid_o, words))
        end = cocotb.start_soon(rise(dut.rx_end_o))
        valid = cocotb.start_soon(rise(dut.tx_valid_o))
        first = cocotb.start_soon(rise(dut.gmii_tx_en_o))
        frame = with_fcs(udp_frame(PEER, ME, random.randbytes(length)))
        raw = GmiiFrame(b"\x55" * 7 + b"\xd5" + frame)
        done: list[GmiiFrame] = []
        raw.tx_complete = done.append
        b.source.send_nowait(raw)
        end_ps, valid_ps, first_ps = await end, await valid, await first
        last_fcs_ps = done[0].sim_time_end
        first_in_ps = done[0].sim_time_start
        payload_end_ps = first_in_ps + (8 + 42 + length - 1) * CLK_PS
        assert len(words) == length // 4
        assert words[-1] - payload_end_ps == LAST_BYTE_TO_WORD * CLK_PS
        assert end_ps - last_fcs_ps == LAST_FCS_BYTE_TO_END * CLK_PS
        assert valid_ps - end_ps == CLK_PS
        # The preamble begins before, so that the reply's header is 12 cycles behind the last FCS byte.
        assert first_ps - last_fcs_ps == LAST_FCS_BYTE_TO_PREAMBLE * CLK_PS
        assert LAST_FCS_BYTE_TO_PREAMBLE + PREAMBLE_BYTES == 12
        watch.cancel()
        verdict, reply = b.stack.receive(frame)
        await b.drain()
        b.expect(**{verdict: 1})
        await b.expect_reply(reply)
        assert probes.pop(MAC_RX_FIRST) == [(first_in_ps + 3 * CLK_PS, tag)]
        assert probes.pop(MAC_RX_LAST) == [(end_ps - CLK_PS, tag)]
        assert probes.pop(MAC_RX_VERDICT) == [(end_ps, tag)]
        assert probes.pop(MAC_TX_FIRST) == [(first_ps, tag)]
        assert probes.pop(MAC_TX_LAST) == [(first_ps + (8 + len(reply) + 4 - 1) * CLK_PS, tag)]
    b.check_counters()


@cocotb.test()
async def a_reply_that_was_not_due_begins_with_its_preamble(dut: object) -> None:
    b = await bench(dut)
    dut.hold_i.value = 1
    frame = with_fcs(udp_frame(PEER, ME, random.randbytes(32)))
    b.send(frame)
    await b.source.wait()
    await ClockCycles(dut.clk_i, 20)
    first = cocotb.start_soon(rise(dut.gmii_tx_en_o))
    await FallingEdge(dut.clk_i)
    dut.hold_i.value = 0
    valid_ps = now_ps() - CLK_PS // 2
    assert await first - valid_ps == TX_VALID_TO_PREAMBLE * CLK_PS
    verdict, reply = b.stack.receive(frame)
    await b.drain()
    b.expect(**{verdict: 1})
    await b.expect_reply(reply)
    b.check_counters()


@cocotb.test()
async def what_turns_out_bad_at_its_end_gets_four_bytes_of_preamble_and_no_frame(dut: object) -> None:
    b = await bench(dut)
    good = udp_frame(PEER, ME, random.randbytes(40))
    spoilt = with_fcs(good)[:-1] + bytes([with_fcs(good)[-1] ^ 1])
    # Behind the datagram there may be more: the frame's end is not where it was expected.
    trailer = with_fcs(good + bytes(8))
    wrong_sum = with_fcs(good[:-1] + bytes([good[-1] ^ 1]))
    for frame, begun in ((spoilt, 1), (trailer, 1), (wrong_sum, 0), (with_fcs(good), 0)):
        verdict, reply = b.stack.receive(frame)
        widths = []
        watch = cocotb.start_soon(lengths_of(dut.gmii_tx_en_o, dut.clk_i, widths))
        b.send(frame)
        await b.drain()
        await ClockCycles(dut.clk_i, 20)
        watch.cancel()
        assert widths[:begun] == [4] * begun
        assert len(widths) == begun + (reply is not None)
        assert b.begun() == begun
        b.expect(**{verdict: 1})
        await b.expect_reply(reply)
        b.check_counters()
    await b.prove_alive()


async def lengths_of(signal: object, clk: object, seen: list[int]) -> None:
    """How many cycles it is high each time."""
    width = 0
    while True:
        await FallingEdge(clk)
        if signal.value:
            width += 1
        elif width:
            seen.append(width)
            width = 0


@cocotb.test()
async def latency_at_any_phase_stays_below_the_aligned_one(dut: object) -> None:
    b = await bench(dut, aligned=False, phase_ps=random.randrange(1, CLK_PS))
    for _ in range(4):
        end = cocotb.start_soon(rise(dut.rx_end_o))
        done: list[GmiiFrame] = []
        frame = with_fcs(udp_frame(PEER, ME, random.randbytes(20)))
        b.source.send_nowait(GmiiFrame(b"\x55" * 7 + b"\xd5" + frame, tx_complete=done.append))
        latency = await end - done[0].sim_time_end
        assert (LAST_FCS_BYTE_TO_END - 1) * CLK_PS < latency <= LAST_FCS_BYTE_TO_END * CLK_PS
        await b.drain()


@cocotb.test()
async def pins_of_one_frame(dut: object) -> None:
    """Each byte on gmii_txd_o from the first preamble byte to the last FCS byte."""
    b = await bench(dut)
    frame = with_fcs(udp_frame(PEER, ME, random.randbytes(8)))
    b.send(frame)
    await RisingEdge(dut.gmii_tx_en_o)
    pins = b""
    await FallingEdge(dut.clk_i)
    while dut.gmii_tx_en_o.value:
        pins += bytes([int(dut.gmii_txd_o.value)])
        assert dut.gmii_tx_er_o.value == 0
        await FallingEdge(dut.clk_i)
    reply = b.stack.receive(frame)[1]
    assert reply is not None
    assert pins.hex() == (b"\x55" * 7 + b"\xd5" + with_fcs(reply)).hex()


# What is answered ---------------------------------------------------------------------------------


@cocotb.test()
async def udp_payloads_come_back_whole(dut: object) -> None:
    b = await bench(dut)
    for length in [0, 4, 8, 16, 20, 1468, 1472]:
        await b.exchange(with_fcs(udp_frame(PEER, ME, random.randbytes(length))))
    # All-ones and all-zero payloads meet both representations of zero in the sums.
    for payload in [bytes(8), b"\xff" * 8, b"\xff" * 1472]:
        await b.exchange(with_fcs(udp_frame(PEER, ME, payload)))
    plain = udp(PEER, ME, random.randbytes(12), csum=0)
    await b.exchange(with_fcs(ethernet(ME.mac, PEER.mac, ETH_IP, ipv4(PEER.ip, ME.ip, UDP, plain))))


@cocotb.test()
async def udp_checksum_that_comes_out_as_zero_is_sent_as_ones(dut: object) -> None:
    b = await bench(dut)
    probe = udp(ME, PEER, bytes(4))
    word = int.from_bytes(probe[6:8], "big")  # a payload word equal to the checksum makes it zero
    frame = with_fcs(udp_frame(PEER, ME, struct.pack(">HH", word, 0)))
    _, reply = b.stack.receive(frame)
    assert reply is not None
    assert reply[40:42] == b"\xff\xff"
    await b.exchange(frame)


@cocotb.test()
async def pings_of_every_size_class_are_answered(dut: object) -> None:
    b = await bench(dut)
    for length in [4, 5, 18, 19, 56, 1471, 1476]:  # identifier and sequence number included
        await b.exchange(with_fcs(icmp_frame(PEER, ME, 8, random.randbytes(length))))
    # Checksums around the end-around carry of +0800, and a request with its own TTL, id and TOS.
    for word in [0x0000, 0xF7FF, 0xF800, 0x07FF, 0xFFFF, 0xF7FE, 0xF801]:
        rest = struct.pack(">HH", 0, word)
        await b.exchange(with_fcs(icmp_frame(PEER, ME, 8, rest, ttl=1, ident=0xBEEF, tos=0x10)))
    zero = icmp_frame(PEER, ME, 8, bytes(60))
    await b.exchange(with_fcs(zero))


@cocotb.test()
async def arp_is_answered_to_the_sender_it_names(dut: object) -> None:
    b = await bench(dut)
    await b.exchange(with_fcs(arp_request(PEER, ME.ip)))
    await b.exchange(with_fcs(arp_request(PEER, ME.ip, dst=ME.mac)))
    await b.exchange(with_fcs(arp_request(PEER, bytes([192, 168, 7, 3]))))
    proxy = arp(1, bytes.fromhex("0badc0ffee01"), bytes(4), bytes(6), ME.ip)
    await b.exchange(with_fcs(ethernet(BROADCAST, PEER.mac, ETH_ARP, proxy)))
    answer = arp(2, PEER.mac, PEER.ip, ME.mac, ME.ip)
    await b.exchange(with_fcs(ethernet(ME.mac, PEER.mac, ETH_ARP, answer)))


@cocotb.test()
async def udp_to_our_port_is_delivered_from_broadcast_addresses_and_marked(dut: object) -> None:
    b = await bench(dut)
    starts: list[int] = []

    async def watch() -> None:
        while True:
            await RisingEdge(dut.rx_start_o)
            await FallingEdge(dut.clk_i)
            starts.append(int(dut.rx_broadcast_o.value))

    cocotb.start_soon(watch())

    async def send(to: bytes, mac: bytes, port: int = ME.port) -> int | None:
        """Whether it was marked; None: not delivered."""
        before = len(starts)
        there = Node(mac, to, port)
        await b.exchange(with_fcs(udp_frame(PEER, there, random.randbytes(8))))
        return starts[before] if len(starts) > before else None

    for bits, subnet in ((24, "192.168.7.255"), (16, "192.168.255.255"), (30, "192.168.7.3"), (32, None)):
        b.subnet(bits)
        for mac in (BROADCAST, ME.mac):
            assert await send(ME.ip, mac) == 0
            assert await send(b"\xff\xff\xff\xff", mac) == 1
            for address in (
                "192.168.7.255",
                "192.168.255.255",
                "192.168.7.3",
                "192.168.7.0",
                "255.255.255.254",
            ):
                to = bytes(int(part) for part in address.split("."))
                assert await send(to, mac) == (1 if address == subnet else None), (bits, address)
    b.subnet(24)
    # Nothing but the service: no other port, no ping, no fragment, no wrong checksum.
    ours = bytes([192, 168, 7, 255])
    assert await send(ours, BROADCAST, port=ME.port ^ 1) is None
    there = Node(BROADCAST, ours, ME.port)
    await b.exchange(with_fcs(icmp_frame(PEER, there, 8, random.randbytes(8))))
    wrong = udp(PEER, there, random.randbytes(8), csum=0x1234)
    await b.exchange(with_fcs(ethernet(BROADCAST, PEER.mac, ETH_IP, ipv4(PEER.ip, ours, UDP, wrong))))
    right = udp(PEER, there, random.randbytes(8))
    for fields in ({"flags": 0x2000}, {"csum": 0x4321}, {"total": 900}):
        await b.exchange(
            with_fcs(ethernet(BROADCAST, PEER.mac, ETH_IP, ipv4(PEER.ip, ours, UDP, right, **fields)))
        )
    # The list of senders holds here too.
    b.allow([(bytes([10, 0, 0, 0]), bytes([255, 0, 0, 0]))])
    assert await send(ours, BROADCAST) is None
    b.allow([(PEER.ip, bytes([255] * 4))])
    assert await send(ours, BROADCAST) == 1
    b.allow([])
    await b.prove_alive()


@cocotb.test()
async def arp_ping_and_udp_at_once_are_all_answered(dut: object) -> None:
    b = await bench(dut)
    for _ in range(4):
        frames = [
            with_fcs(arp_request(PEER, ME.ip)),
            with_fcs(icmp_frame(PEER, ME, 8, random.randbytes(60))),
            with_fcs(udp_frame(PEER, ME, random.randbytes(40))),
            with_fcs(udp_frame(PEER, ME, random.randbytes(4))),
        ]
        random.shuffle(frames)
        replies = set()
        for frame in frames:
            verdict, reply = b.stack.receive(frame)
            b.send(frame)
            b.expect(**{verdict: 1}, tx_frames=1)
            replies.add(reply)
        b.expect(tx_arp=1, tx_icmp=1)
        await b.drain()
        got = {await b.reply() for _ in frames}
        assert got == replies
        b.check_counters()


@cocotb.test()
async def requests_while_the_reply_waits_are_dropped_and_corrupt_nothing(dut: object) -> None:
    b = await bench(dut)
    long = with_fcs(udp_frame(PEER, ME, random.randbytes(1472)))
    first = with_fcs(icmp_frame(PEER, ME, 8, random.randbytes(400)))
    second = with_fcs(icmp_frame(PEER, ME, 8, random.randbytes(80)))
    ask = with_fcs(arp_request(PEER, ME.ip))
    again = with_fcs(arp_request(Node(PEER.mac[::-1], PEER.ip[::-1], 1), ME.ip))
    for frame in [long, first, second, ask, again]:
        b.send(frame)
    await b.drain()
    want = [b.stack.receive(f)[1] for f in (long, first, ask)]
    assert [await b.reply() for _ in range(3)] == [want[0], *want[1:]]
    b.expect(rx_good=3, rx_busy=2, tx_frames=3, tx_icmp=1, tx_arp=1)
    b.check_counters()
    await b.prove_alive()


@cocotb.test()
async def a_request_right_behind_another_finds_the_buffer_taken(dut: object) -> None:
    """One idle cycle and no preamble between the two: the shortest way from verdict to next start."""
    b = await bench(dut)
    b.source.ifg = 1
    other = Node(PEER.mac[::-1], PEER.ip[::-1], 1)
    for make in [
        lambda node: with_fcs(icmp_frame(node, ME, 8, random.randbytes(30))),
        lambda node: with_fcs(arp_request(node, ME.ip)),
    ]:
        first, second = make(PEER), make(other)
        b.send(first)
        b.send(second, preamble=b"\xd5")
        await b.drain()
        b.expect(rx_good=1, rx_busy=1)
        await b.expect_reply(b.stack.receive(first)[1])
        b.check_counters()


@cocotb.test()
async def a_stream_of_datagrams_does_not_starve_arp_and_ping(dut: object) -> None:
    b = await bench(dut)
    dut.hold_i.value = 1
    for _ in range(6):
        b.send(with_fcs(udp_frame(PEER, ME, random.randbytes(64))))
    await with_timeout(b.source.wait(), 100, "us")
    await ClockCycles(dut.clk_i, 20)
    dut.hold_i.value = 0
    b.send(with_fcs(arp_request(PEER, ME.ip)))
    b.send(with_fcs(icmp_frame(PEER, ME, 8, random.randbytes(16))))
    await b.drain()
    kinds = []
    for _ in range(8):
        reply = await b.reply()
        kinds.append("arp" if reply[12:14] == b"\x08\x06" else {ICMP: "icmp", UDP: "udp"}[reply[23]])
    # One datagram is on its way when they come; then one at most goes before each of the two.
    assert kinds.index("arp") <= 4, kinds
    assert kinds.index("icmp") <= 4, kinds
    assert sorted(kinds[:2]) != ["arp", "icmp"]


@cocotb.test()
async def minimum_frames_back_to_back_lose_nothing(dut: object) -> None:
    b = await bench(dut)
    starts: list[int] = []
    cocotb.start_soon(last_rise(dut.gmii_tx_en_o, starts))
    count = 100
    frames = [with_fcs(udp_frame(PEER, ME, random.randbytes(16))) for _ in range(count)]
    for frame in frames:
        b.send(frame)
    await with_timeout(b.source.wait(), 200, "us")
    await b.drain()
    for frame in frames:
        verdict, reply = b.stack.receive(frame)
        b.expect(**{verdict: 1})
        await b.expect_reply(reply)
    b.check_counters()
    # 84 byte times a frame: the reply stream runs at line rate too.
    assert {y - x for x, y in itertools.pairwise(starts)} == {84 * CLK_PS}


# What is dropped ----------------------------------------------------------------------------------


@cocotb.test()
async def every_malformed_frame_is_counted_once_and_the_next_good_one_answered(dut: object) -> None:
    b = await bench(dut)
    for counter, what, frame in malformed(PEER, ME):
        assert b.stack.receive(frame)[0] == counter, what
        dut._log.info("%s: %s", counter, what)
        await b.exchange(frame)
        await b.exchange(with_fcs(udp_frame(PEER, ME, random.randbytes(8))))
    await b.prove_alive()


@cocotb.test()
async def rx_er_and_bad_preambles_are_counted(dut: object) -> None:
    b = await bench(dut)
    frame = with_fcs(udp_frame(PEER, ME, random.randbytes(24)))
    for error_at in [-8, -1, 0, 13, 44, len(frame) - 1]:
        b.send(frame, error_at=error_at)
        await b.drain()
        b.expect(rx_fcs=1)
        b.check_counters()
    for preamble in [b"", b"\x55" * 7, b"\x55\x55\xaa" + b"\x55" * 4 + b"\xd5"]:
        b.send(frame, preamble=preamble)
        await b.drain()
        b.expect(rx_length=1)
        b.check_counters()
    b.send(b"", preamble=b"\x55" * 8)
    await b.drain()
    b.expect(rx_length=1)
    b.check_counters()
    # A PHY may eat preamble bytes; one is enough, none is too.
    for preamble in [b"\x55\xd5", b"\xd5"]:
        b.send(frame, preamble=preamble)
        await b.drain()
        b.expect(rx_good=1)
        await b.expect_reply(b.stack.receive(frame)[1])
    await b.prove_alive()


@cocotb.test()
async def the_allow_list_holds_for_udp_and_ping_but_not_arp(dut: object) -> None:
    b = await bench(dut)
    near, far = bytes([192, 168, 7, 0]), bytes([10, 1, 2, 3])
    stranger = Node(PEER.mac, bytes([10, 1, 2, 4]), 99)
    friend = Node(PEER.mac, far, 98)
    b.allow([(far, b"\xff" * 4), (near, bytes([255, 255, 255, 0]))])
    for node in [PEER, friend, stranger]:
        await b.exchange(with_fcs(udp_frame(node, ME, random.randbytes(8))))
        await b.exchange(with_fcs(icmp_frame(node, ME, 8, random.randbytes(8))))
        await b.exchange(with_fcs(arp_request(node, ME.ip)))
    assert b.counters()["rx_denied"] == 2
    b.allow([])
    await b.exchange(with_fcs(udp_frame(stranger, ME, random.randbytes(8))))


@cocotb.test()
async def a_refused_datagram_is_dropped_whole(dut: object) -> None:
    b = await bench(dut)
    dut.refuse_i.value = 1
    b.send(with_fcs(udp_frame(PEER, ME, random.randbytes(100))))
    await ClockCycles(dut.clk_i, 100)
    dut.refuse_i.value = 0  # too late for this one
    await b.drain()
    b.expect(rx_refused=1)
    b.check_counters()
    await b.prove_alive()


# Tags ---------------------------------------------------------------------------------------------

TCIS = [0, 1, 0xE000, 0x1FFF, 0xFFFF, 0x8100, 0x0800, 0x0806, 0x4500]
"""Of a tag: no VLAN, priorities, and what reads like an EtherType or a header."""


@cocotb.test()
async def a_frame_with_a_tag_is_answered_as_without(dut: object) -> None:
    b = await bench(dut)
    frames = [udp_frame(PEER, ME, random.randbytes(length)) for length in [0, 4, 8, 12, 16, 20, 24, 1472]]
    frames += [icmp_frame(PEER, ME, 8, random.randbytes(length)) for length in [4, 5, 18, 19, 56, 1476]]
    frames += [arp_request(PEER, ME.ip), arp_request(PEER, ME.ip, dst=ME.mac)]
    for frame in frames:
        plain = b.stack.receive(with_fcs(frame))
        assert plain[0] == "rx_good"
        # Padded to 64 bytes on the wire, or before the tag came: then there are 68.
        for tci in random.sample(TCIS, 2):
            for wire in (with_fcs(with_tag(frame, tci)), with_fcs(with_tag(frame.ljust(60, b"\0"), tci))):
                assert b.stack.receive(wire) == plain
                await b.exchange(wire)
                await b.exchange(with_fcs(frame))
    for tci in TCIS:
        await b.exchange(with_fcs(with_tag(udp_frame(PEER, ME, random.randbytes(16)), tci)))


@cocotb.test()
async def every_malformed_frame_with_a_tag_is_counted_once(dut: object) -> None:
    b = await bench(dut)
    for counter, what, frame in malformed(PEER, ME):
        wire = tagged_wire(frame)
        assert b.stack.receive(wire)[0] == counter or what in ("63 bytes", "1519 bytes"), what
        await b.exchange(wire)
        await b.exchange(with_fcs(with_tag(udp_frame(PEER, ME, random.randbytes(8)))))
    await b.prove_alive()


@cocotb.test()
async def a_tag_counts_in_the_least_length_and_not_in_the_most(dut: object) -> None:
    b = await bench(dut)
    good = with_tag(udp_frame(PEER, ME, random.randbytes(8)))
    for size in [14, 16, 17, 18, 20, 59, 60, 62, 63, 64, 65, 66, 67, 68, 1518, 1519, 1521, 1522, 1523, 1524]:
        wire = with_fcs(good.ljust(size - 4, b"\0")[: size - 4], pad=False)
        assert (b.stack.receive(wire)[0] == "rx_good") == (64 <= size <= 1522)
        await b.exchange(wire)
    # Cut inside the tag or at its edges: the next frames, with and without one, are whole.
    for size in range(10, 20):
        plain = udp_frame(PEER, ME, random.randbytes(8))
        await b.exchange(good[:size])
        await b.exchange(with_fcs(plain))
        await b.exchange(good[:size])
        await b.exchange(with_fcs(good))
    await b.prove_alive()


@cocotb.test()
async def two_tags_and_tags_of_providers_are_another_protocol(dut: object) -> None:
    b = await bench(dut)
    good = udp_frame(PEER, ME, random.randbytes(40))
    for frame in (
        with_tag(with_tag(good)),
        with_tag(with_tag(with_tag(good))),
        with_tag(good, kind=b"\x88\xa8"),
        with_tag(good, kind=b"\x91\x00"),
        with_tag(with_tag(good), kind=b"\x88\xa8"),
        with_tag(with_tag(good, kind=b"\x88\xa8")),
        with_tag(ethernet(ME.mac, PEER.mac, 0x86DD, bytes(60))),
    ):
        assert b.stack.receive(with_fcs(frame))[0] == "rx_other"
        await b.exchange(with_fcs(frame))
        await b.exchange(with_fcs(with_tag(good)))


@cocotb.test()
async def a_tag_changes_no_latency_but_that_of_a_preamble_ahead(dut: object) -> None:
    """Below 68 bytes nobody knows whether a tagged frame is padded: no preamble goes ahead of its end."""
    b = await bench(dut)
    payloads = [random.randbytes(length) for length in (4, 16, 20, 24, 64, 1472)]
    for payload in payloads:
        words: list[int] = []
        watch = cocotb.start_soon(last_rise(dut.rx_valid_o, words))
        end = cocotb.start_soon(rise(dut.rx_end_o))
        first = cocotb.start_soon(rise(dut.gmii_tx_en_o))
        frame = with_fcs(with_tag(udp_frame(PEER, ME, payload)))
        raw = GmiiFrame(b"\x55" * 7 + b"\xd5" + frame)
        done: list[GmiiFrame] = []
        raw.tx_complete = done.append
        b.source.send_nowait(raw)
        end_ps, first_ps = await end, await first
        watch.cancel()
        payload_end_ps = done[0].sim_time_start + (8 + 46 + len(payload) - 1) * CLK_PS
        assert len(words) == len(payload) // 4
        assert words[-1] - payload_end_ps == LAST_BYTE_TO_WORD * CLK_PS
        assert end_ps - done[0].sim_time_end == LAST_FCS_BYTE_TO_END * CLK_PS
        ahead = 3 if len(frame) >= 68 else 0
        assert first_ps - done[0].sim_time_end == (LAST_FCS_BYTE_TO_PREAMBLE + 3 - ahead) * CLK_PS
        await b.drain()
        b.expect(rx_good=1)
        await b.expect_reply(b.stack.receive(frame)[1])
    b.check_counters()


# What must not hang -------------------------------------------------------------------------------


@cocotb.test()
async def a_receive_clock_that_stops_or_runs_away_is_survived(dut: object) -> None:
    b = await bench(dut, aligned=False, phase_ps=1234)
    frame = with_fcs(udp_frame(PEER, ME, random.randbytes(400)))
    b.send(frame)
    await RisingEdge(dut.rx_start_o)
    b.phy_clock.stop()
    assert await with_timeout(rise(dut.rx_end_o), 1, "us")
    assert dut.rx_good_o.value == 0
    await ClockCycles(dut.clk_i, 5)
    b.expect(rx_length=1)
    b.check_counters()
    b.phy_clock.start()
    await b.drain()
    await b.prove_alive()
    # At 250 MHz the crossing overflows, inside a datagram and from a frame's start on.
    for inside in [True, False]:
        b.send(frame)
        if inside:
            await RisingEdge(dut.rx_start_o)
        b.phy_clock.stop()
        fast = Clock(dut.phy_clk_i, 4000, "ps")
        fast.start()
        if inside:
            await with_timeout(RisingEdge(dut.rx_end_o), 20, "us")
            assert dut.rx_good_o.value == 0
        await b.drain()
        b.expect(rx_overflow=1)
        fast.stop()
        b.phy_clock.start()
        await ClockCycles(dut.clk_i, 4)
        b.check_counters()
        await b.prove_alive()


@cocotb.test()
async def an_endless_frame_ends_for_the_service(dut: object) -> None:
    b = await bench(dut)
    frame = with_fcs(udp_frame(PEER, ME, random.randbytes(1472)))
    b.send(frame + random.randbytes(6000))
    await RisingEdge(dut.rx_start_o)
    await with_timeout(RisingEdge(dut.rx_end_o), 1500 * CLK_PS, "ps")
    assert dut.rx_good_o.value == 0
    await b.drain()
    b.expect(rx_length=1)
    b.check_counters()
    await b.prove_alive()


@cocotb.test()
async def a_reset_inside_a_frame_leaves_no_trace(dut: object) -> None:
    b = await bench(dut)
    b.send(with_fcs(udp_frame(PEER, ME, random.randbytes(200))))
    await RisingEdge(dut.rx_start_o)
    await ClockCycles(dut.clk_i, 20)
    dut.rst_ni.value = 0
    await ClockCycles(dut.clk_i, 3)
    dut.rst_ni.value = 1
    await b.drain()
    b.expect(rx_length=1)  # the frame's rest, which has no start delimiter
    b.check_counters()
    await b.prove_alive()


# Everything mixed ---------------------------------------------------------------------------------


def random_frame() -> tuple[bytes, bool]:
    """A frame with FCS, often wrong somewhere, and whether rx_er falls inside."""
    peer = Node(random.randbytes(6), random.randbytes(4), random.randrange(1 << 16))
    length = random.choice([0, 4, 8, 16, random.randrange(64), random.randrange(1473)])
    dst = random.choices([ME.mac, BROADCAST, random.randbytes(6)], [8, 1, 1])[0]
    match random.randrange(4):
        case 0:
            frame = ethernet(dst, peer.mac, ETH_ARP, arp_request(peer, ME.ip)[14:])
        case 1:
            frame = dst + icmp_frame(peer, ME, 8, random.randbytes(4 + length))[6:]
        case _:
            frame = dst + udp_frame(peer, ME, random.randbytes(length & random.choice([~3, -1])))[6:]
    if random.random() < 0.4:
        frame = with_tag(frame, random.choice([None, *TCIS]), random.choice([TAG, TAG, TAG, b"\x88\xa8"]))
    if random.random() < 0.25:  # a wrong bit that the FCS covers
        broken = bytearray(frame)
        broken[random.randrange(min(len(frame), 60))] ^= 1 << random.randrange(8)
        frame = bytes(broken)
    if random.random() < 0.1:
        frame += random.randbytes(random.randrange(1, 40))  # trailer
    wire = with_fcs(frame, pad=random.random() < 0.95)
    match random.randrange(20):
        case 0:
            wire = wire[: random.randrange(1, len(wire))]
        case 1:
            broken = bytearray(wire)
            broken[random.randrange(len(wire))] ^= 1 << random.randrange(8)
            wire = bytes(broken)
        case 2:
            return wire, True
    return wire, False


@cocotb.test()
@cocotb.parametrize(phy_ps=[7999, 8000, 8001])
async def random_frames_over_clock_offsets(dut: object, phy_ps: int) -> None:
    """Receive clock 125 ppm fast, exact and slow, at a random phase; replies compared byte by byte."""
    b = await bench(dut, aligned=False, phy_ps=phy_ps, phase_ps=random.randrange(1, CLK_PS))
    b.source.ifg = 12
    batches = 25
    for _ in range(batches):
        replies = []
        for kind in random.sample(["udp", "udp", "udp", "any"], 4):
            wire, error = random_frame()
            verdict, reply = b.stack.receive(wire, error)
            if kind == "udp" and reply is not None and (reply[12:14] != b"\x08\x00" or reply[23] != UDP):
                continue  # at most one ARP or ping a batch, so that none is busy
            b.send(wire, error_at=random.randrange(len(wire)) if error else None)
            b.expect(**{verdict: 1})
            if reply is not None:
                replies.append(reply)
        await b.drain()
        got = [await b.reply() for _ in replies]
        assert sorted(got) == sorted(replies)
        for reply in replies:
            b.expect(tx_frames=1)
            if reply[12:14] == b"\x08\x06":
                b.expect(tx_arp=1)
            elif reply[23] == ICMP:
                b.expect(tx_icmp=1)
        b.begun()
        assert not b.frames
        b.check_counters()
    await b.prove_alive()
