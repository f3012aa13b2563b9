# SPDX-License-Identifier: Apache-2.0
"""xgmii_udp against cocotbext-eth's XGMII source and `frames.Stack`."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, with_timeout
from cocotb.utils import get_sim_time
from cocotbext.eth import XgmiiFrame, XgmiiSink, XgmiiSource
from frames import (
    COUNTERS,
    ETH_IP,
    ICMP,
    UDP,
    Node,
    Stack,
    arp_request,
    ethernet,
    icmp_frame,
    in_ip,
    ipv4,
    malformed,
    tagged_wire,
    udp,
    udp_frame,
    with_fcs,
    with_tag,
    without_tag,
)
from xgmii_words import ERROR, IDLE, PREAMBLE, TERMINATE, Lane, data, frame, idle, words

ME = Node(bytes.fromhex("021122334455"), bytes([192, 168, 7, 2]), 60368)
PEER = Node(bytes.fromhex("0a0b0c0d0e0f"), bytes([192, 168, 7, 77]), 40001)
CLK_PS = 6400
TX_CLK_PS = 6402  # another clock of the same rate
WORD_TO_PAYLOAD = 2
TERMINATE_TO_END = 5


@dataclass
class Datagram:
    """What the service sees of one."""

    meta: int
    broadcast: bool
    begin: int
    words: list[tuple[int, int]]
    """Cycle and content."""
    good: bool = False
    end: int = 0

    @property
    def tag(self) -> int:
        return self.meta & 0xFF

    @property
    def source(self) -> Node:
        raw = self.meta.to_bytes(15, "big")
        return Node(raw[:6], raw[6:10], int.from_bytes(raw[10:12], "big"))

    @property
    def payload(self) -> bytes:
        length = self.meta >> 8 & 0xFFFF
        raw = b"".join(word.to_bytes(8, "little") for _, word in self.words)
        assert len(self.words) == (length + 7) // 8, (len(self.words), length)
        return raw[:length]


class Bench:
    def __init__(self, dut: object) -> None:
        self.dut = dut
        self.stack = Stack(ME)
        self.seen: list[Datagram] = []
        self.expected = dict.fromkeys(COUNTERS, 0)
        self.pings = 0

    async def start(self) -> None:
        dut = self.dut
        dut.rst_ni.value = 0
        dut.xgmii_rxd_i.value = int.from_bytes(bytes([IDLE] * 8), "little")
        dut.xgmii_rxc_i.value = 0xFF
        dut.cfg_mac_i.value = int.from_bytes(ME.mac, "big")
        dut.cfg_ip_i.value = int.from_bytes(ME.ip, "big")
        dut.cfg_netmask_i.value = int.from_bytes(self.stack.netmask, "big")
        dut.cfg_port_i.value = ME.port
        dut.rx_refuse_i.value = 0
        for name in ("tx_valid_i", "tx_meta_i", "tx_spoil_i", "tx_data_i", "ask_i"):
            getattr(dut, name).value = 0
        dut.tx_rst_ni.value = 0
        self.allow([])
        cocotb.start_soon(Clock(dut.clk_i, CLK_PS, "ps").start())
        self.tx_clock = Clock(dut.tx_clk_i, TX_CLK_PS, "ps", period_high=TX_CLK_PS // 2)
        self.tx_clock.start()
        await ClockCycles(dut.clk_i, 4)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        dut.tx_rst_ni.value = 1
        self.sink = XgmiiSink(dut.xgmii_txd_o, dut.xgmii_txc_o, dut.tx_clk_i)
        self.sink.log.setLevel("WARNING")
        await ClockCycles(dut.clk_i, 2)
        cocotb.start_soon(self.watch())
        self.source = XgmiiSource(dut.xgmii_rxd_i, dut.xgmii_rxc_i, dut.clk_i)
        self.source.log.setLevel("WARNING")
        await ClockCycles(dut.clk_i, 2)  # it drives idle once, then nothing until it has a frame

    def allow(self, entries: list[tuple[bytes, bytes]]) -> None:
        self.stack.allow = entries
        packed = 0
        for i, (ip, mask) in enumerate(entries):
            entry = 1 << 64 | int.from_bytes(ip, "big") << 32 | int.from_bytes(mask, "big")
            packed |= entry << 65 * i
        self.dut.cfg_allow_i.value = packed

    async def watch(self) -> None:
        dut, open_ = self.dut, None
        while True:
            await FallingEdge(dut.clk_i)
            cycle = get_sim_time("ps") // CLK_PS
            if dut.rx_start_o.value:
                assert open_ is None, "a datagram began inside another"
                open_ = Datagram(int(dut.rx_meta_o.value), bool(dut.rx_broadcast_o.value), cycle, [])
            if dut.rx_valid_o.value:
                assert open_ is not None, "payload outside a datagram"
                assert int(dut.rx_meta_o.value) == open_.meta
                open_.words.append((cycle, int(dut.rx_data_o.value)))
            if dut.rx_end_o.value:
                assert open_ is not None
                assert dut.verdict_valid_o.value
                open_.good, open_.end = bool(dut.rx_good_o.value), cycle
                self.seen.append(open_)
                open_ = None

    def counters(self) -> dict[str, int]:
        value = int(self.dut.counters_o.value)
        values = [value >> (32 * i) & 0xFFFFFFFF for i in reversed(range(len(COUNTERS)))]
        return dict(zip(COUNTERS, values, strict=True))

    def check_counters(self) -> None:
        found = self.counters()
        # A ping that comes while a reply waits is busy: how many do, the lengths and gaps say.
        busy = found["rx_busy"] - self.expected["rx_busy"]
        assert 0 <= busy <= self.pings
        expected = dict(self.expected)
        for name, change in (("rx_busy", busy), ("rx_good", -busy), ("tx_icmp", self.pings - busy)):
            expected[name] += change
        wrong = {name: (found[name], want) for name, want in expected.items() if found[name] != want}
        assert not wrong, wrong

    def replies(self) -> list[bytes]:
        """What was sent since the last call, without FCS."""
        sent = [self.sink.recv_nowait() for _ in range(self.sink.count())]
        assert all(one.check_fcs() for one in sent)
        return [bytes(one.get_payload()) for one in sent]

    def verdict(self, raw: bytes) -> str:
        """What the model says; payload may have any length here."""
        found, _ = self.stack.receive(raw)
        return "rx_good" if found == "rx_unaligned" else found

    def expect(self, raw: bytes) -> None:
        """Counts a frame as the model says."""
        verdict, plain = self.verdict(raw), without_tag(raw)
        self.expected[verdict] += 1
        if verdict == "rx_good":
            self.expected["tx_arp"] += plain[12:14] == b"\x08\x06"
            self.pings += plain[12:14] == b"\x08\x00" and plain[23] == ICMP

    async def send(self, raws: Sequence[bytes], *, late: bool = False) -> list[Datagram]:
        """Frames with their FCS, each counted as the model says; the datagrams that came of them."""
        before = len(self.seen)
        self.source.force_offset_start, self.source.enable_dic = late, not late
        for raw in raws:
            self.expect(raw)
            self.source.send_nowait(XgmiiFrame.from_raw_payload(raw))
        await with_timeout(self.source.wait(), 10, "ms")
        for _ in range(80):
            await ClockCycles(self.dut.clk_i, 12)
            if self.dut.idle_o.value:
                break
        assert self.dut.idle_o.value
        self.check_counters()
        return self.seen[before:]

    async def drive(self, lanes: Sequence[Lane]) -> int:
        dut, begin = self.dut, 0
        for word, control in [*words(lanes), *words(idle(128))]:
            await RisingEdge(dut.clk_i)
            begin = begin or get_sim_time("ps") // CLK_PS
            dut.xgmii_rxd_i.value = word
            dut.xgmii_rxc_i.value = control
        return begin


async def bench(dut: object) -> Bench:
    made = Bench(dut)
    await made.start()
    return made


@cocotb.test()
async def every_length_of_payload_arrives_from_both_starts(dut: object) -> None:
    b = await bench(dut)
    payloads = [random.randbytes(size) for size in [*range(50), 1463, 1471, 1472]]
    for late in (False, True):
        seen = await b.send([with_fcs(udp_frame(PEER, ME, one)) for one in payloads], late=late)
        assert [one.payload for one in seen] == payloads
        assert all(one.good and one.source == PEER and not one.broadcast for one in seen)
        assert [one.tag for one in seen] == [(late * len(payloads) + i) & 0xFF for i in range(len(seen))]


@cocotb.test()
async def what_pads_a_short_frame_is_in_no_sum(dut: object) -> None:
    b = await bench(dut)
    payloads = [random.randbytes(size) for size in range(18)] * 4
    for late in (False, True):
        frames = [udp_frame(PEER, ME, one) for one in payloads]
        raws = [with_fcs(one + random.randbytes(60 - len(one))) for one in frames]
        seen = await b.send(raws, late=late)
        assert [one.payload for one in seen] == payloads
        assert all(one.good for one in seen)


@cocotb.test()
async def minimum_frames_at_line_rate(dut: object) -> None:
    b = await bench(dut)
    payloads = [random.randbytes(18) for _ in range(100)]
    seen = await b.send([with_fcs(udp_frame(PEER, ME, one)) for one in payloads])
    assert [one.payload for one in seen] == payloads
    spent = seen[99].begin - seen[1].begin
    assert 98 * 10.5 - 1 <= spent <= 98 * 10.5 + 1, spent


@cocotb.test()
async def latency_in_cycles_is_what_the_header_says(dut: object) -> None:
    b = await bench(dut)
    payload = random.randbytes(100)
    plain = udp_frame(PEER, ME, payload)
    for late, tag in itertools.product((0, 4), (0, 4)):
        raw = with_fcs(with_tag(plain) if tag else plain)
        b.seen.clear()
        lanes = [*idle(late), *frame(raw)]
        begin = await b.drive(lanes)
        (one,) = b.seen
        # Where a byte of the frame is on the wire, and where the payload's words end.
        for number, (cycle, _) in enumerate(one.words):
            last = min(42 + tag + 8 * number + 7, len(raw) - 1)
            on_wire = (late + 8 + last) // 8
            # Its word is complete with the next, on the wire or behind a tag.
            wait = 1 if tag or (late and (8 + last) % 8 < 4) else 0
            if number < len(one.words) - 1:
                assert cycle == begin + on_wire + wait + WORD_TO_PAYLOAD, (
                    late,
                    number,
                    cycle - begin,
                    on_wire,
                    wait,
                )
        first = begin + (late + 8 + 42 + tag) // 8
        assert one.words[0][0] - first <= 3 + (late > 0 or tag > 0)
        assert one.begin == one.words[0][0] - 1
        word, lane = divmod(late + 8 + len(raw), 8)
        assert one.end == begin + word + (late > 0 and lane >= 4) + TERMINATE_TO_END, late


@cocotb.test()
async def every_malformed_frame_is_counted_once_and_the_next_good_one_taken(dut: object) -> None:
    b = await bench(dut)
    for counter, what, raw in malformed(PEER, ME):
        dut._log.info("%s: %s", counter, what)
        payload = random.randbytes(random.randrange(30))
        seen = await b.send([raw, with_fcs(udp_frame(PEER, ME, payload))])
        assert [one.payload for one in seen if one.good][-1] == payload


@cocotb.test()
async def random_faults_in_headers_are_judged_as_the_model_judges(dut: object) -> None:
    """A bit of the first 48 bytes is flipped and the FCS made right again, back to back."""
    b = await bench(dut)
    raws = []
    for _ in range(400):
        body = bytearray(udp_frame(PEER, ME, random.randbytes(random.randrange(24))).ljust(60, b"\0"))
        if random.randrange(2):
            body = bytearray(with_tag(bytes(body)))
        for _ in range(random.randrange(3)):
            body[random.randrange(48)] ^= 1 << random.randrange(8)
        raws.append(with_fcs(bytes(body)))
    await b.send(raws)


@cocotb.test()
async def a_checksum_of_ones_complement_zero_and_none_at_all_pass(dut: object) -> None:
    b = await bench(dut)
    raws = []
    for _ in range(30):
        body = bytearray(random.randbytes(random.randrange(2, 60)))
        # The payload's last two bytes make the sum what it must be for a checksum of zero, sent as ones.
        body[-2 - len(body) % 2 : len(body) - len(body) % 2] = b"\0\0"
        made = udp(PEER, ME, bytes(body))
        body[-2 - len(body) % 2 : len(body) - len(body) % 2] = made[6:8]
        whole = udp(PEER, ME, bytes(body))
        assert whole[6:8] == b"\xff\xff"
        for datagram in (whole, udp(PEER, ME, bytes(body), csum=0)):
            raws.append(with_fcs(ethernet(ME.mac, PEER.mac, ETH_IP, ipv4(PEER.ip, ME.ip, UDP, datagram))))
    seen = await b.send(raws)
    assert len(seen) == len(raws)
    assert all(one.good for one in seen)


@cocotb.test()
async def a_frame_with_a_tag_arrives_as_without_from_both_starts(dut: object) -> None:
    b = await bench(dut)
    payloads = [random.randbytes(size) for size in [*range(60), *range(1464, 1473)]]
    for late in (False, True):
        frames = [with_tag(udp_frame(PEER, ME, one)) for one in payloads]
        for least in (60, 64):  # padded on the wire, or before the tag came
            raws = [with_fcs(one + random.randbytes(max(least - len(one), 0))) for one in frames]
            seen = await b.send(raws, late=late)
            assert [one.payload for one in seen] == payloads
            assert all(one.good and one.source == PEER and not one.broadcast for one in seen)
        # And in turn with others, so that nothing of a tag is left.
        mixed = [raw for one in frames for raw in (with_fcs(one), with_fcs(without_tag(one)))]
        random.shuffle(mixed)
        assert len(await b.send(mixed, late=late)) == len(mixed)
    for _ in range(10):
        request = with_fcs(with_tag(arp_request(Node(random.randbytes(6), random.randbytes(4), 1), ME.ip)))
        await b.send([request], late=bool(random.randrange(2)))
        assert b.replies() == [b.stack.receive(request)[1]]


@cocotb.test()
async def every_malformed_frame_with_a_tag_is_counted_once(dut: object) -> None:
    b = await bench(dut)
    for late in (False, True):
        for _, what, raw in malformed(PEER, ME):
            dut._log.info("%s", what)
            payload = random.randbytes(random.randrange(30))
            good = udp_frame(PEER, ME, payload)
            follows = with_fcs(random.choice([good, with_tag(good)]))
            seen = await b.send([tagged_wire(raw), follows], late=late)
            assert [one.payload for one in seen if one.good][-1] == payload


@cocotb.test()
async def a_tagged_frame_cut_anywhere_is_no_datagram(dut: object) -> None:
    """Its length, its datagram or its checksum says so; the next frame is whole."""
    b = await bench(dut)
    for late in (False, True):
        for size in [*range(1, 80), *range(1500, 1530)]:
            body = with_tag(udp_frame(PEER, ME, random.randbytes(30))).ljust(size, b"\0")
            good = with_fcs(udp_frame(PEER, ME, random.randbytes(9)))
            await b.send([with_fcs(body[: max(size - 4, 0)], pad=False)[:size], good], late=late)
        # A datagram that takes all of its frame, and up to twelve bytes more than that.
        for size in [*range(34, 52), 1472]:
            whole = with_tag(udp_frame(PEER, ME, random.randbytes(size)))
            for missing in range(13):
                seen = await b.send([with_fcs(whole[: len(whole) - missing])], late=late)
                assert [one.good for one in seen] == [missing == 0]


@cocotb.test()
async def two_tags_and_tags_of_providers_are_another_protocol(dut: object) -> None:
    b = await bench(dut)
    good = udp_frame(PEER, ME, random.randbytes(40))
    for late in (False, True):
        for body in (
            with_tag(with_tag(good)),
            with_tag(with_tag(with_tag(good))),
            with_tag(good, kind=b"\x88\xa8"),
            with_tag(with_tag(good), kind=b"\x88\xa8"),
            with_tag(with_tag(good, kind=b"\x88\xa8")),
            with_tag(ethernet(ME.mac, PEER.mac, 0x86DD, bytes(60))),
        ):
            assert b.verdict(with_fcs(body)) == "rx_other"
            assert len(await b.send([with_fcs(body), with_fcs(with_tag(good))], late=late)) == 1


@cocotb.test()
async def no_checksum_is_one_too(dut: object) -> None:
    b = await bench(dut)
    payloads = [random.randbytes(size) for size in range(40)]
    seen = await b.send([in_ip(PEER, ME, udp(PEER, ME, one, csum=0)) for one in payloads])
    assert [one.payload for one in seen if one.good] == payloads


@cocotb.test()
async def what_is_for_others_is_not_held_against_its_length(dut: object) -> None:
    """Only a datagram for us is bad if its frame is too short for it."""
    b = await bench(dut)
    long = ipv4(PEER.ip, bytes([192, 168, 7, 3]), UDP, bytes(40), total=1500)
    for kind, body in ((ETH_IP, long), (0x86DD, b"\xff" * 60), (0x0842, b"\x01" * 60)):
        await b.send([with_fcs(ethernet(ME.mac, PEER.mac, kind, body))])


@cocotb.test()
async def broadcast_reaches_our_port_alone(dut: object) -> None:
    b = await bench(dut)
    everybody, subnet = b"\xff" * 4, bytes([192, 168, 7, 255])
    # Each of the wrong ones differs in one half of the address.
    for ip in (everybody, subnet, bytes([192, 168, 8, 255]), bytes([192, 169, 7, 255])):
        for port in (ME.port, ME.port ^ 1):
            node = Node(b"\xff" * 6, ip, port)
            seen = await b.send([with_fcs(udp_frame(PEER, node, b"hello"))])
            taken = ip in (everybody, subnet) and port == ME.port
            assert [one.broadcast for one in seen] == [True] * taken, (ip, port)


@cocotb.test()
async def the_allow_list_holds_for_udp_but_not_arp(dut: object) -> None:
    b = await bench(dut)
    b.allow([(bytes([10, 1, 2, 3]), b"\xff" * 4), (bytes([192, 168, 7, 0]), bytes([255, 255, 255, 0]))])
    stranger = Node(PEER.mac, bytes([10, 1, 2, 4]), 99)
    for node in (PEER, Node(PEER.mac, bytes([10, 1, 2, 3]), 98), stranger):
        await b.send([with_fcs(udp_frame(node, ME, bytes(8))), with_fcs(arp_request(node, ME.ip))])
    assert b.counters()["rx_denied"] == 1
    assert len(b.replies()) == 3


@cocotb.test()
async def requests_by_arp_are_answered_and_nothing_else_is(dut: object) -> None:
    b = await bench(dut)
    for _ in range(20):
        node = Node(random.randbytes(6), random.randbytes(4), 1)
        wanted = with_fcs(arp_request(node, ME.ip))
        others = [
            with_fcs(arp_request(node, bytes([192, 168, 7, 9]))),
            with_fcs(arp_request(node, ME.ip, dst=bytes(6))),
            with_fcs(icmp_frame(node, ME, 13, bytes(8))),
        ]
        raws = [wanted, *others]
        random.shuffle(raws)
        await b.send(raws)
        assert b.replies() == [b.stack.receive(wanted)[1]]


@cocotb.test()
async def frames_at_the_least_gap_keep_their_own_verdicts(dut: object) -> None:
    """Good ones, bad ones and requests in random order, 5 to 8 bytes apart, from both starts."""
    b = await bench(dut)
    good = [with_fcs(udp_frame(PEER, ME, random.randbytes(size))) for size in range(30)]
    kinds = [*good, *(raw for _, _, raw in malformed(PEER, ME) if len(raw) >= 60)]
    kinds += [tagged_wire(raw) for raw in kinds]
    lanes: list[Lane] = []
    asked = 0
    for _ in range(300):
        raw = random.choice(kinds)
        if random.randrange(40) == 0:
            request = arp_request(PEER, ME.ip)
            raw, asked = with_fcs(random.choice([request, with_tag(request)])), asked + 1
        b.expect(raw)
        lanes += frame(raw)
        lanes += idle(4 + -len(lanes) % 4)
    await b.drive(lanes)
    b.check_counters()
    assert len(b.replies()) == asked + b.counters()["tx_icmp"]


@cocotb.test()
async def a_fragment_at_the_least_gap_leaves_the_frame_before_it_good(dut: object) -> None:
    """A fragment of one word ends before the frame in front of it is judged."""
    b = await bench(dut)
    for size in range(18, 34):
        payload = random.randbytes(size)
        lanes = frame(with_fcs(udp_frame(PEER, ME, payload)))
        lanes += idle(4 + -len(lanes) % 4)
        for rest in (0, 1, 4, 7, 8, 12, 40):
            before = len(b.seen)
            await b.drive([*lanes, *PREAMBLE, *data(bytes(rest)), (TERMINATE, 1)])
            assert [(one.good, one.payload) for one in b.seen[before:]] == [(True, payload)], (size, rest)


@cocotb.test()
async def requests_that_find_no_room_are_counted_as_busy(dut: object) -> None:
    b = await bench(dut)
    b.tx_clock.stop()
    for _ in range(30):
        b.source.send_nowait(XgmiiFrame.from_raw_payload(with_fcs(arp_request(PEER, ME.ip))))
    await b.source.wait()
    await ClockCycles(dut.clk_i, 12)
    counted = b.counters()
    assert counted["rx_good"] + counted["rx_busy"] == 30
    assert 8 <= counted["rx_good"] <= 10
    b.tx_clock.start()
    await ClockCycles(dut.clk_i, 200)
    assert len(b.replies()) == counted["rx_good"] == counted["tx_arp"]
    b.expected.update(counted)
    await b.send([with_fcs(arp_request(PEER, ME.ip))])
    assert len(b.replies()) == 1


@cocotb.test()
async def a_refused_datagram_is_dropped_whole(dut: object) -> None:
    b = await bench(dut)
    dut.rx_refuse_i.value = 1
    b.expected["rx_good"] -= 1
    b.expected["rx_refused"] += 1
    assert not await b.send([with_fcs(udp_frame(PEER, ME, random.randbytes(100)))])
    dut.rx_refuse_i.value = 0
    assert len(await b.send([with_fcs(udp_frame(PEER, ME, random.randbytes(100)))])) == 1


@cocotb.test()
async def noise_in_the_middle_of_a_frame_ends_its_datagram_as_bad(dut: object) -> None:
    b = await bench(dut)
    payload = random.randbytes(40)
    raw = with_fcs(udp_frame(PEER, ME, payload))
    lanes: list[Lane] = []
    for at in range(8, 8 + len(raw)):
        broken = frame(raw)
        broken[at] = (ERROR, 1)
        lanes += [*broken, *idle(3 + -(len(lanes) + len(broken) + 3) % 4), *frame(raw), *idle(11)]
        lanes += idle(-len(lanes) % 4)
    await b.drive(lanes)
    good = [one for one in b.seen if one.good]
    assert [one.payload for one in good] == [payload] * len(raw)
    counted = b.counters()
    assert counted["rx_good"] == len(raw)
    assert counted["rx_length"] + counted["rx_fcs"] == len(raw), counted
