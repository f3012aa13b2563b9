# SPDX-License-Identifier: Apache-2.0
"""The whole device, pins to pins: real frames in, real frames out, exact cycles in between."""

from __future__ import annotations

import itertools
import random
import struct
import zlib
from typing import Any

import bus_map
import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from etherbone_model import BCA, CYC, RFF, Record, request
from frames import (
    ETH_IP,
    UDP,
    Node,
    Stack,
    arp_request,
    ethernet,
    icmp_frame,
    ipv4,
    udp,
    udp_frame,
    with_fcs,
)

MAC, IP, PORT = 0x0250C0FFEE01, 0xC0A80064, 0xEBD0
NETMASK, BROADCAST_MAC = 0xFFFFFF00, 0xFFFFFFFFFFFF
PEER_MAC, PEER_IP, PEER_PORT = 0x02AABBCCDD01, 0xC0A80001, 40000
WB_ISSUE = 4  # its bit of probe_o
RAM, SDB, ECA, CTRL, SILENT = 0x0, 0x100000, 0x200000, 0x400000, 0x500000


def ones_sum(data: bytes) -> int:
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def pack(words: list[int]) -> bytes:
    return struct.pack(f">{len(words)}I", *words)


def frame(payload: bytes, ident: int = 1, to: int = IP, mac: int = MAC) -> bytes:
    """Ethernet frame with FCS that carries `payload` to the device's UDP port at an address."""
    udp = struct.pack(">HHHH", PEER_PORT, PORT, 8 + len(payload), 0) + payload
    pseudo = struct.pack(">IIBBH", PEER_IP, to, 0, 17, len(udp))
    checksum = ~ones_sum(pseudo + udp) & 0xFFFF or 0xFFFF
    udp = udp[:6] + struct.pack(">H", checksum) + udp[8:]
    head = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(udp), ident, 0x4000, 64, 17, 0, PEER_IP, to)
    head = head[:10] + struct.pack(">H", ~ones_sum(head) & 0xFFFF) + head[12:]
    body = mac.to_bytes(6, "big") + PEER_MAC.to_bytes(6, "big") + b"\x08\x00" + head + udp
    body = body.ljust(60, b"\0")
    return body + struct.pack("<I", zlib.crc32(body))


def payload_of(wire: bytes) -> bytes:
    """UDP payload of a frame that the device sent; every checksum, length and address must hold."""
    assert wire[:8] == b"\x55" * 7 + b"\xd5"
    body = wire[8:]
    assert len(body) >= 64
    assert zlib.crc32(body) == 0x2144DF1C
    assert body[:6] == PEER_MAC.to_bytes(6, "big")
    assert body[6:12] == MAC.to_bytes(6, "big")
    ip = body[14:34]
    assert ones_sum(ip) == 0xFFFF
    length = int.from_bytes(ip[2:4], "big")
    udp = body[34 : 14 + length]
    assert struct.unpack(">HHH", udp[:6]) == (PORT, PEER_PORT, len(udp))
    assert udp[6:8] != b"\0\0"
    assert ones_sum(ip[12:20] + struct.pack(">BBH", 0, 17, len(udp)) + udp) == 0xFFFF
    return udp[8:]


class Bench:
    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.rng = random.Random(cocotb.RANDOM_SEED)
        self.cycle = 0
        self.operations = 0
        self.sent: list[tuple[bytes, int]] = []  # (frame on the wire, cycle of its first preamble byte)

    async def start(self) -> None:
        d = self.dut
        d.rst_ni.value = 0
        d.cfg_mac_i.value = MAC
        d.cfg_ip_i.value = IP
        d.cfg_netmask_i.value = NETMASK
        d.cfg_udp_port_i.value = PORT
        d.cfg_dialect_i.value = 0
        d.cfg_reply_port_i.value = 0
        for name in ("gmii_rxd_i", "gmii_rx_dv_i", "gmii_rx_er_i", "trigger_i", "time_ns_i"):
            getattr(d, name).value = 0
        cocotb.start_soon(Clock(d.clk_i, 8, "ns").start())
        cocotb.start_soon(Clock(d.gmii_rx_clk_i, 8, "ns").start())
        for _ in range(5):
            await FallingEdge(d.clk_i)
        d.rst_ni.value = 1
        cocotb.start_soon(self._watch())
        for _ in range(10):
            await FallingEdge(d.clk_i)

    async def _watch(self) -> None:
        d = self.dut
        wire = bytearray()
        first = 0
        while True:
            await RisingEdge(d.clk_i)  # pins as they were before this edge
            d.time_ns_i.value = 10**18 + 8 * self.cycle
            self.operations += int(d.probe_o.value) >> WB_ISSUE & 1
            if d.gmii_tx_en_o.value:
                if not wire:
                    first = self.cycle
                wire.append(int(d.gmii_txd_o.value))
            elif wire:
                self.sent.append((bytes(wire), first))
                wire = bytearray()
            self.cycle += 1

    async def send(self, body: bytes, gap: int = 12) -> int:
        """Drives one frame; returns the cycle in which its last FCS byte is on the pins."""
        d = self.dut
        for byte in b"\x55" * 7 + b"\xd5" + body:
            d.gmii_rx_dv_i.value = 1
            d.gmii_rxd_i.value = byte
            await FallingEdge(d.clk_i)
        last = self.cycle - 1
        d.gmii_rx_dv_i.value = 0
        for _ in range(gap):
            await FallingEdge(d.clk_i)
        return last

    async def ask(
        self, words: list[int], limit: int = 40_000, to: int = IP, mac: int = MAC
    ) -> tuple[list[int], int]:
        """One request; returns the reply's words and the cycles from last FCS byte to preamble."""
        before = len(self.sent)
        last = await self.send(frame(pack(words), to=to, mac=mac))
        for _ in range(limit):
            if len(self.sent) > before:
                break
            await FallingEdge(self.dut.clk_i)
        assert len(self.sent) > before, f"no reply within {limit} cycles"
        data = payload_of(self.sent[-1][0])
        return list(struct.unpack(f">{len(data) // 4}I", data)), self.sent[-1][1] - last

    async def quiet(self) -> None:
        for _ in range(5000):
            await FallingEdge(self.dut.clk_i)
            if self.dut.idle_o.value:
                return
        raise AssertionError("not idle")


async def started(dut: Any) -> Bench:
    bench = Bench(dut)
    await bench.start()
    return bench


def reads(addresses: list[int]) -> list[int]:
    return request([Record(CYC | BCA | RFF, 0xF, return_base=0x8000, reads=addresses)])


def admission(dut: Any) -> int:
    """When operations may run: 0 as they arrive, 1 reads early, 2 after the frame check."""
    return int(dut.Admission.value)


@cocotb.test()
async def reads_add_nothing_to_the_reply_unless_they_wait_for_the_frame_check(dut: Any) -> None:
    b = await started(dut)
    cycles = {}
    for n in (*range(1, 20), 32, 64, 100, 128, 200, 254, 255):
        words, cycles[n] = await b.ask(reads([RAM + 4 * i for i in range(n)]))
        assert len(words) == n + 3
    cocotb.log.info("last FCS byte to first preamble byte, by reads: %s", cycles)
    if admission(dut) == 2:
        assert all(taken == 17 + n for n, taken in cycles.items())
    else:
        assert max(cycles.values()) <= 12
        # the frame of one read is padded: its read is over long before the frame check
        assert cycles == {n: 10 if n == 1 else 12 for n in cycles}


@cocotb.test()
async def liteeth_s_dialect_is_answered_in_the_same_cycles(dut: Any) -> None:
    b = await started(dut)
    dut.cfg_dialect_i.value = 1
    for n in (1, 2, 8, 64, 255):
        addresses = [RAM + 4 * i for i in range(n)]
        words, cycles = await b.ask([0x4E6F1044, 0, 0x000F0000 | n, 7, *addresses])
        assert words[:4] == [0x4E6F1044, 0, 0x000F0000 | n << 8, 7]
        assert len(words) == n + 4
        assert cycles == (17 + n if admission(dut) == 2 else 12)
    words, _ = await b.ask([0x4E6F1144, 0, 0])
    assert words == [0x4E6F1244, 0, 0]


@cocotb.test()
async def writes_take_effect_and_cost_one_cycle_each_when_they_wait_for_the_frame_check(dut: Any) -> None:
    b = await started(dut)
    for n in (1, 10, 100):
        values = [b.rng.getrandbits(32) for _ in range(n)]
        _, cycles = await b.ask(request([Record(CYC, 0xF, RAM + 0x100, values)]))
        cocotb.log.info("%d writes: %d cycles", n, cycles)
        assert cycles == ((10 if n == 1 else 12) if admission(dut) == 0 else 17 + n)
        words, _ = await b.ask(reads([RAM + 0x100 + 4 * i for i in range(n)]))
        assert words[3:] == values


@cocotb.test()
async def the_sdb_table_is_where_config_space_says(dut: Any) -> None:
    b = await started(dut)
    words, _ = await b.ask(request([Record(CYC | BCA | RFF | 0x40, 0xF, 0, [], 0x8000, [0x0C])]))
    assert words[-1] == SDB
    words, _ = await b.ask(reads([SDB + 4 * i for i in range(16 * 5)]))
    table = struct.pack(f">{len(words) - 3}I", *words[3:])
    assert table[:4] == b"SDB-"
    assert int.from_bytes(table[4:6], "big") == 5
    names = [table[64 * i + 44 : 64 * i + 63].decode().strip() for i in range(5)]
    assert names == [
        "WB4-Crossbar-GSI",
        "isthmus-ram",
        "ECA_UNIT:CONTROL",
        "GSI_TM_LATCH_V2",
        "isthmus-gige-ctrl",
    ]


@cocotb.test()
async def timestamps_inside_one_cycle_are_64_ns_apart(dut: Any) -> None:
    b = await started(dut)
    words, _ = await b.ask(reads([ECA + 0x18, ECA + 0x1C] * 8))
    stamps = [words[3 + 2 * i] << 32 | words[4 + 2 * i] for i in range(8)]
    # one read a byte-wide address: the line's rate; from the buffer: one read a clock
    assert {y - x for x, y in itertools.pairwise(stamps)} == {16 if admission(dut) == 2 else 64}


@cocotb.test()
async def minimum_frames_back_to_back_are_all_answered_at_line_rate(dut: Any) -> None:
    b = await started(dut)
    body = frame(struct.pack(">4I", *reads([RAM])[:4]))
    assert len(body) == 64
    count = 200
    tags: list[list[int]] = [[] for _ in range(len(dut.probe_o))]

    async def watch_probes() -> None:
        while True:
            await RisingEdge(dut.clk_i)
            strobes, numbers = int(dut.probe_o.value), int(dut.probe_tag_o.value)
            for probe, seen in enumerate(tags):
                if strobes >> probe & 1:
                    seen.append(numbers >> 8 * probe & 0xFF)

    cocotb.start_soon(watch_probes())
    for _ in range(count):
        await b.send(body)
    await b.quiet()
    assert len(b.sent) == count
    # Every stage sees every frame once, in order, under its own tag.
    first = tags[0][0]
    assert tags == [[(first + n) % 256 for n in range(count)]] * len(tags)
    starts = [cycle for _, cycle in b.sent]
    assert {y - x for x, y in itertools.pairwise(starts)} == {84}


@cocotb.test()
async def a_silent_slave_ends_in_an_error_and_the_device_goes_on(dut: Any) -> None:
    b = await started(dut)
    status = Record(CYC | BCA | RFF | 0x40, 0xF, 0, [], 0x8001, [4])
    words, _ = await b.ask(request([Record(BCA | RFF, 0xF, 0, [], 0x8000, [SILENT, RAM]), status]))
    assert words[-1] & 2 == 2
    words, cycles = await b.ask(reads([RAM]))
    assert cycles <= 18
    assert int(dut.status_eb_timeouts_o.value) == int(dut.SilentSlave.value)


@cocotb.test()
async def a_frame_with_a_flipped_bit_never_writes(dut: Any) -> None:
    if admission(dut) == 0:
        return  # the price of the lowest latency
    b = await started(dut)
    old = (await b.ask(reads([RAM + 0x40])))[0][-1]
    good = frame(struct.pack(">5I", *request([Record(CYC, 0xF, RAM + 0x40, [~old & 0xFFFFFFFF])])[:4], 0))
    before = len(b.sent)
    for _ in range(60):
        bit = b.rng.randrange(8 * len(good))
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        await b.send(bytes(bad))
    await b.quiet()
    assert len(b.sent) == before
    assert (int(dut.status_drop_fcs_o.value), int(dut.status_drop_size_o.value)) == (60, 0)
    assert (await b.ask(reads([RAM + 0x40])))[0][-1] == old


@cocotb.test()
async def every_window_ends_where_the_sdb_table_and_the_page_say(dut: Any) -> None:
    b = await started(dut)
    status = Record(CYC | BCA | RFF | 0x40, 0xF, 0, [], 0x8001, [4])

    async def read(address: int) -> int | None:
        words, _ = await b.ask(request([Record(BCA | RFF, 0xF, 0, [], 0x8000, [address]), status]))
        return None if words[-1] & 1 else words[3]

    async def write(address: int, value: int) -> bool:
        words, _ = await b.ask(request([Record(0, 0xF, address, [value]), status]))
        return not words[-1] & 1

    before = int(dut.status_eb_bus_errors_o.value)
    strays = await bus_map.walk(read, write, 0x00)
    assert strays > 100
    assert int(dut.status_eb_bus_errors_o.value) - before == 2 * strays, "one err for each access"
    assert int(dut.status_eb_timeouts_o.value) == 0


@cocotb.test()
async def probes_are_answered_at_broadcast_addresses_and_nothing_else_is_done_there(dut: Any) -> None:
    b = await started(dut)
    subnet = IP | ~NETMASK & 0xFFFFFFFF
    read = request([Record(BCA | RFF | CYC, 0xF, 0, [], 0x8000, [RAM + 0x20])])
    await b.ask(request([Record(CYC, 0xF, RAM + 0x20, [0x600DF00D])]))
    asked = 0
    for address in (subnet, 0xFFFFFFFF):
        for mac in (BROADCAST_MAC, MAC):
            asked += 1
            words, _ = await b.ask([0x4E6F11FF, asked], to=address, mac=mac)
            assert words == [0x4E6F1644, asked]
    silent = [
        request([Record(CYC, 0xF, RAM + 0x20, [0xBAD])]),
        read,
        [0x4E6F1044, 0x08000000],  # as short as a probe
        [0x4E6F1044],
        [0x4E6F11FF, 1, 0],
        [0x4E6F11FF, 1, *request([Record(CYC, 0xF, RAM + 0x20, [0xBAD])])],
    ]
    sent, operations = len(b.sent), b.operations
    for words in silent:
        await b.send(frame(pack(words), to=subnet, mac=BROADCAST_MAC))
    await b.quiet()
    assert len(b.sent) == sent
    assert b.operations == operations, "no bus operation, not even an early read"
    assert int(dut.status_drop_broadcast_o.value) == len(silent)
    assert int(dut.status_drop_malformed_o.value) == 0
    # Another subnet's broadcast address is somebody else's.
    mac_before = int(dut.status_drop_mac_o.value)
    await b.send(frame(pack([0x4E6F11FF, 1]), to=subnet ^ 0x100, mac=BROADCAST_MAC))
    await b.quiet()
    assert len(b.sent) == sent
    assert int(dut.status_drop_mac_o.value) == mac_before + 1
    assert (await b.ask(read))[0][3:] == [0x600DF00D]
    # The allow-list holds for broadcasts too; the other sender is on it.
    allow = [1, PEER_IP ^ 0x00010000, 0xFFFFFFFF]
    await b.ask(request([Record(CYC, 0xF, CTRL + 0x44, allow[1:]), Record(CYC, 0xF, CTRL + 0x40, allow[:1])]))
    sent = len(b.sent)
    await b.send(frame(pack([0x4E6F11FF, 1]), to=subnet, mac=BROADCAST_MAC))
    await b.quiet()
    assert len(b.sent) == sent
    assert int(dut.status_drop_denied_o.value) == 1


@cocotb.test()
async def liteeth_s_probes_are_answered_at_a_broadcast_address_too(dut: Any) -> None:
    b = await started(dut)
    dut.cfg_dialect_i.value = 1
    words, _ = await b.ask([0x4E6F1144, 0, 0], to=0xFFFFFFFF, mac=BROADCAST_MAC)
    assert words == [0x4E6F1244, 0, 0]
    sent, operations = len(b.sent), b.operations
    for words in ([0x4E6F1044, 0, 0x000F0001, 7, 0], [0x4E6F1044, 0, 0], [0x4E6F11FF, 1]):
        await b.send(frame(pack(words), to=0xFFFFFFFF, mac=BROADCAST_MAC))
    await b.quiet()
    assert (len(b.sent), b.operations) == (sent, operations)
    assert int(dut.status_drop_broadcast_o.value) == 3


COUNTED = {
    "rx_good": ("rx_good", 0x80),
    "rx_fcs": ("drop_fcs", 0x84),
    "rx_length": ("drop_size", 0x88),
    "rx_filtered": ("drop_mac", 0x8C),
    "rx_ip": ("drop_ip", 0x90),
    "rx_l4": ("drop_udp", 0x94),
    "rx_port": ("drop_port", 0x98),
    "rx_denied": ("drop_denied", 0x9C),
    "rx_refused": ("drop_refused", 0xA0),
    "rx_unaligned": ("drop_align", 0xA4),
    "rx_overflow": ("drop_overflow", 0xA8),
    "malformed": ("drop_malformed", 0xAC),
    "arp": ("arp_replies", 0xB0),
    "icmp": ("icmp_replies", 0xB4),
    "sent": ("tx_frames", 0xB8),
    "records": ("eb_records", 0xBC),
    "bus_errors": ("eb_bus_errors", 0xC0),
    "timeouts": ("eb_timeouts", 0xC4),
    "broadcasts": ("drop_broadcast", 0xC8),
}
"""What happened: its pin `status_*_o` and its register in the control block."""


@cocotb.test()
async def every_frame_is_counted_once_and_under_its_own_name_on_the_pins_and_on_the_bus(dut: Any) -> None:
    b = await started(dut)
    me = Node(MAC.to_bytes(6, "big"), IP.to_bytes(4, "big"), PORT)
    peer = Node(PEER_MAC.to_bytes(6, "big"), PEER_IP.to_bytes(4, "big"), PEER_PORT)
    other = Node(peer.mac, bytes([10, 0, 0, 9]), PEER_PORT)
    stack = Stack(me, NETMASK.to_bytes(4, "big"), [(peer.ip, b"\xff" * 4)])
    await b.ask(request([Record(CYC, 0xF, CTRL + 0x44, [PEER_IP, 0xFFFFFFFF])]))
    await b.ask(request([Record(CYC, 0xF, CTRL + 0x40, [1])]))
    await b.quiet()

    def by_udp(message: bytes, **fields: int) -> bytes:
        return with_fcs(ethernet(me.mac, peer.mac, ETH_IP, ipv4(peer.ip, me.ip, UDP, message, **fields)))

    good = by_udp(udp(peer, me, bytes(16), dport=PORT ^ 1))
    kinds = {
        "rx_fcs": good[:-1] + bytes([good[-1] ^ 1]),
        "rx_length": good[:40],
        "rx_filtered": with_fcs(udp_frame(peer, Node(b"\x02" * 6, me.ip, PORT), bytes(16))),
        "rx_ip": by_udp(udp(peer, me, bytes(16)), csum=0x1234),
        "rx_other": with_fcs(ethernet(me.mac, peer.mac, 0x88CC, bytes(50))),
        "rx_l4": by_udp(udp(peer, me, bytes(16), csum=0x1234)),
        "rx_port": by_udp(udp(peer, me, bytes(16), dport=PORT ^ 1)),
        "rx_denied": with_fcs(udp_frame(other, me, bytes(16))),
        "rx_unaligned": by_udp(udp(peer, me, bytes(18))),
        "malformed": with_fcs(udp_frame(peer, me, b"no Etherbone")),
        "arp": with_fcs(arp_request(peer, me.ip)),
        "icmp": with_fcs(icmp_frame(peer, me, 8, bytes(24))),
    }
    expected = dict.fromkeys((*COUNTED, "rx_other"), 0)

    def pins() -> dict[str, int]:
        names = {**{event: pin for event, (pin, _) in COUNTED.items()}, "rx_other": "rx_other"}
        return {event: int(getattr(dut, f"status_{pin}_o").value) for event, pin in names.items()}

    before = pins()
    # Each kind another number of times, so that no counter can stand in for another.
    for count, (kind, wire) in enumerate(kinds.items(), start=1):
        verdict, _ = stack.receive(wire)
        assert verdict == (kind if kind.startswith("rx_") else "rx_good")
        for _ in range(count):
            await b.send(wire)
            await b.quiet()
        expected[kind] += count
        if verdict == "rx_good":
            expected["rx_good"] += count
        if kind in ("arp", "icmp"):
            expected["sent"] += count
    for _ in range(2):
        await b.ask(request([Record(CYC, 0xF, RAM, [1, 2]), Record(CYC, 0xF, RAM, [3])]))
        await b.quiet()
    for event, count in (("rx_good", 2), ("sent", 2), ("records", 4)):
        expected[event] += count
    now = pins()
    found = {event: now[event] - before[event] for event in expected}
    assert found == expected, {e: (found[e], expected[e]) for e in expected if found[e] != expected[e]}

    registers = {event: offset for event, (_, offset) in COUNTED.items()}
    words, _ = await b.ask(reads([CTRL + offset for offset in registers.values()]))
    for event, value in zip(registers, words[3:], strict=True):
        # The request that reads the counters is itself a good frame of one record, counted or not yet.
        own = int(event in ("rx_good", "records"))
        assert now[event] <= value <= now[event] + own, event


@cocotb.test()
async def the_device_says_its_own_addresses_in_config_space_and_in_its_registers(dut: Any) -> None:
    b = await started(dut)
    own = [MAC >> 32, MAC & 0xFFFFFFFF, IP, PORT]
    config = Record(CYC | BCA | RFF | 0x40, 0xF, 0, [], 0x8000, [0x10, 0x14, 0x18, 0x1C])
    words, _ = await b.ask(request([config]))
    assert words[-4:] == own
    words, _ = await b.ask(reads([CTRL + offset for offset in (0x04, 0x08, 0x0C, 0x10, 0x14)]))
    assert words[3:] == [*own, NETMASK]
