# SPDX-License-Identifier: Apache-2.0
"""Frames for the Ethernet benches, and what the stack must make of them: byte arithmetic only."""

from __future__ import annotations

import random
import struct
import zlib
from dataclasses import dataclass, field

BROADCAST = b"\xff" * 6
ETH_IP, ETH_ARP = 0x0800, 0x0806
TAG = b"\x81\x00"
"""EtherType of an IEEE 802.1Q tag. Two bytes of priority and VLAN follow, then the frame's own EtherType."""
ICMP, UDP = 1, 17

# The fields of eth_counters_t, in order
COUNTERS = [
    "rx_overflow",
    "rx_length",
    "rx_fcs",
    "rx_filtered",
    "rx_ip",
    "rx_other",
    "rx_denied",
    "rx_port",
    "rx_l4",
    "rx_unaligned",
    "rx_refused",
    "rx_busy",
    "rx_good",
    "tx_arp",
    "tx_icmp",
    "tx_frames",
]


def ones_sum(data: bytes) -> int:
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@dataclass(frozen=True)
class Node:
    mac: bytes
    ip: bytes
    port: int


def with_fcs(frame: bytes, pad: bool = True) -> bytes:
    if pad:
        frame = frame.ljust(60, b"\0")
    return frame + struct.pack("<I", zlib.crc32(frame))


def ethernet(dst: bytes, src: bytes, kind: int, payload: bytes) -> bytes:
    return dst + src + struct.pack(">H", kind) + payload


def with_tag(frame: bytes, tci: int | None = None, kind: bytes = TAG) -> bytes:
    """A frame without its FCS, with a tag behind the source address."""
    tci = random.randrange(1 << 16) if tci is None else tci
    return frame[:12] + kind + struct.pack(">H", tci) + frame[12:]


def without_tag(frame: bytes) -> bytes:
    """What a receiver makes of a frame: its first tag does not count."""
    return frame[:12] + frame[16:] if frame[12:14] == TAG else frame


def tagged_wire(wire: bytes, tci: int | None = None) -> bytes:
    """A frame with its FCS, with a tag and the FCS for it. One that was wrong is wrong in the same bits."""
    if len(wire) < 16:
        return wire
    body, fcs = wire[:-4], int.from_bytes(wire[-4:], "little")
    tagged = with_tag(body, tci)
    return tagged + struct.pack("<I", zlib.crc32(tagged) ^ zlib.crc32(body) ^ fcs)


def ipv4(
    src: bytes,
    dst: bytes,
    proto: int,
    payload: bytes,
    *,
    ident: int = 0,
    flags: int = 0x4000,
    ttl: int = 64,
    tos: int = 0,
    first: int = 0x45,
    total: int | None = None,
    csum: int | None = None,
) -> bytes:
    total = 20 + len(payload) if total is None else total
    head = struct.pack(">BBHHHBBH", first, tos, total & 0xFFFF, ident, flags, ttl, proto, 0)
    head += src + dst
    value = 0xFFFF ^ ones_sum(head) if csum is None else csum
    return head[:10] + struct.pack(">H", value) + head[12:] + payload


def udp(
    src: Node,
    dst: Node,
    payload: bytes,
    *,
    csum: int | None = None,
    length: int | None = None,
    dport: int | None = None,
) -> bytes:
    length = 8 + len(payload) if length is None else length
    head = struct.pack(">HHHH", src.port, dst.port if dport is None else dport, length, 0)
    pseudo = src.ip + dst.ip + struct.pack(">HH", UDP, length)
    value = (0xFFFF ^ ones_sum(pseudo + head + payload)) or 0xFFFF
    return head[:6] + struct.pack(">H", value if csum is None else csum) + payload


def udp_frame(src: Node, dst: Node, payload: bytes) -> bytes:
    return ethernet(dst.mac, src.mac, ETH_IP, ipv4(src.ip, dst.ip, UDP, udp(src, dst, payload)))


def icmp(kind: int, rest: bytes, code: int = 0, csum: int | None = None) -> bytes:
    value = 0xFFFF ^ ones_sum(bytes([kind, code, 0, 0]) + rest) if csum is None else csum
    return struct.pack(">BBH", kind, code, value) + rest


def icmp_frame(src: Node, dst: Node, kind: int, rest: bytes, **ip_fields: int) -> bytes:
    return ethernet(dst.mac, src.mac, ETH_IP, ipv4(src.ip, dst.ip, ICMP, icmp(kind, rest), **ip_fields))


def arp(op: int, sha: bytes, spa: bytes, tha: bytes, tpa: bytes) -> bytes:
    return struct.pack(">HHBBH", 1, ETH_IP, 6, 4, op) + sha + spa + tha + tpa


def arp_request(src: Node, tpa: bytes, dst: bytes = BROADCAST) -> bytes:
    return ethernet(dst, src.mac, ETH_ARP, arp(1, src.mac, src.ip, bytes(6), tpa))


def in_ip(peer: Node, me: Node, payload: bytes, proto: int = UDP, **fields: int) -> bytes:
    """A frame with its FCS."""
    return with_fcs(ethernet(me.mac, peer.mac, ETH_IP, ipv4(peer.ip, me.ip, proto, payload, **fields)))


def malformed(peer: Node, me: Node) -> list[tuple[str, str, bytes]]:
    """(counter, what, frame with FCS) for every class of frame that must be dropped."""
    good = udp_frame(peer, me, random.randbytes(40))
    whole = with_fcs(good)
    datagram = udp(peer, me, random.randbytes(40))
    other = Node(bytes.fromhex("021122334454"), bytes([192, 168, 7, 3]), 1)
    ping = icmp(8, random.randbytes(40))
    swapped = bytearray(whole)
    swapped[-1] ^= 0x80
    return [
        ("rx_fcs", "last FCS bit", bytes(swapped)),
        ("rx_fcs", "one FCS byte missing", with_fcs(udp_frame(peer, me, bytes(80)))[:-1]),
        ("rx_length", "63 bytes", with_fcs(good[:59], pad=False)),
        ("rx_length", "1 byte", b"\x02"),
        ("rx_length", "cut in the UDP header", whole[:40]),
        ("rx_length", "1519 bytes", with_fcs(good.ljust(1515, b"\0"))),
        ("rx_length", "4000 bytes", with_fcs(good.ljust(3996, b"\0"))),
        ("rx_filtered", "other MAC", with_fcs(other.mac + good[6:])),
        ("rx_filtered", "MAC differs in its first bit", with_fcs(bytes([me.mac[0] ^ 1]) + good[1:])),
        ("rx_filtered", "five bytes of broadcast", with_fcs(b"\xff" * 5 + b"\xfe" + good[6:])),
        (
            "rx_filtered",
            "other IP",
            with_fcs(
                ethernet(me.mac, peer.mac, ETH_IP, ipv4(peer.ip, other.ip, UDP, udp(peer, other, bytes(16))))
            ),
        ),
        ("rx_ip", "version 6", in_ip(peer, me, datagram, first=0x65)),
        ("rx_ip", "options", in_ip(peer, me, bytes(4) + datagram, first=0x46)),
        ("rx_ip", "header checksum", in_ip(peer, me, datagram, csum=0x1234)),
        ("rx_ip", "first fragment", in_ip(peer, me, datagram, flags=0x2000)),
        ("rx_ip", "later fragment", in_ip(peer, me, datagram, flags=0x0001)),
        ("rx_ip", "longer than its frame", in_ip(peer, me, datagram, total=20 + len(datagram) + 1)),
        ("rx_ip", "length over 2047", in_ip(peer, me, datagram, total=0x8000 + 20 + len(datagram))),
        ("rx_other", "IPv6", with_fcs(ethernet(me.mac, peer.mac, 0x86DD, bytes(60)))),
        ("rx_other", "TCP", in_ip(peer, me, datagram, proto=6)),
        ("rx_other", "echo reply", in_ip(peer, me, icmp(0, bytes(40)), proto=ICMP)),
        (
            "rx_other",
            "ARP of another hardware",
            with_fcs(
                ethernet(
                    BROADCAST, peer.mac, ETH_ARP, b"\0\2" + arp(1, peer.mac, peer.ip, bytes(6), me.ip)[2:]
                )
            ),
        ),
        ("rx_port", "other port", in_ip(peer, me, udp(peer, me, bytes(16), dport=me.port ^ 0x100))),
        ("rx_l4", "UDP checksum", in_ip(peer, me, udp(peer, me, bytes(16), csum=0x4321))),
        ("rx_l4", "UDP longer than IP", in_ip(peer, me, udp(peer, me, bytes(16), length=28))),
        ("rx_l4", "UDP shorter than IP", in_ip(peer, me, udp(peer, me, bytes(16), length=20))),
        ("rx_l4", "UDP length 4", in_ip(peer, me, udp(peer, me, b"", length=4), total=24)),
        ("rx_l4", "IP too short for UDP", in_ip(peer, me, datagram, total=27)),
        ("rx_l4", "IP shorter than its header", in_ip(peer, me, datagram, total=10)),
        ("rx_l4", "ICMP checksum", in_ip(peer, me, icmp(8, bytes(40), csum=0x1111), proto=ICMP)),
        ("rx_l4", "ICMP of 7 bytes", in_ip(peer, me, ping, proto=ICMP, total=27)),
        (
            "rx_l4",
            "UDP length 4, no checksum",
            in_ip(peer, me, udp(peer, me, b"", length=4, csum=0), total=24),
        ),
        ("rx_l4", "ICMP of 4 bytes, right checksum", in_ip(peer, me, icmp(8, b""), proto=ICMP)),
        ("rx_unaligned", "5 byte payload", in_ip(peer, me, udp(peer, me, bytes(5)))),
        ("rx_unaligned", "6 byte payload", in_ip(peer, me, udp(peer, me, bytes(6)))),
    ]


@dataclass
class Stack:
    """What a stack at `me` does with one received frame, if nothing of it is busy."""

    me: Node
    netmask: bytes = b"\xff\xff\xff\x00"
    allow: list[tuple[bytes, bytes]] = field(default_factory=list)

    def broadcast(self, ip: bytes) -> bool:
        """Whether an address is the subnet's broadcast address, or everybody's."""
        subnet = bytes(own | ~mask & 0xFF for own, mask in zip(self.me.ip, self.netmask, strict=True))
        return ip != self.me.ip and ip in (subnet, b"\xff\xff\xff\xff")

    def allowed(self, ip: bytes) -> bool:
        value = int.from_bytes(ip, "big")
        return not self.allow or any(
            (value ^ int.from_bytes(a, "big")) & int.from_bytes(m, "big") == 0 for a, m in self.allow
        )

    def receive(self, frame: bytes, error: bool = False) -> tuple[str, bytes | None]:
        """Verdict, and the reply on the wire without FCS. `frame` ends with its FCS."""
        if not 64 <= len(frame) <= 1518 + len(frame) - len(without_tag(frame)):
            return "rx_length", None
        if error or zlib.crc32(frame[:-4]) != int.from_bytes(frame[-4:], "little"):
            return "rx_fcs", None
        frame = without_tag(frame[:-4])
        dst, src, kind = frame[:6], frame[6:12], int.from_bytes(frame[12:14], "big")
        if dst not in (self.me.mac, BROADCAST):
            return "rx_filtered", None
        if kind == ETH_ARP:
            head, sha, spa, tpa = frame[14:22], frame[22:28], frame[28:32], frame[38:42]
            if head != bytes.fromhex("0001080006040001") or tpa != self.me.ip:
                return "rx_other", None
            reply = arp(2, self.me.mac, self.me.ip, sha, spa)
            return "rx_good", ethernet(sha, self.me.mac, ETH_ARP, reply).ljust(60, b"\0")
        if kind != ETH_IP:
            return "rx_other", None
        return self.receive_ipv4(src, frame[14:])

    def receive_ipv4(self, src_mac: bytes, packet: bytes) -> tuple[str, bytes | None]:
        total, flags = struct.unpack(">H2xH", packet[2:8])
        proto, src, dst = packet[9], packet[12:16], packet[16:20]
        service = proto == UDP and int.from_bytes(packet[22:24], "big") == self.me.port
        if dst != self.me.ip and not (self.broadcast(dst) and service):
            return "rx_filtered", None
        if packet[0] != 0x45 or flags & 0x3FFF or ones_sum(packet[:20]) != 0xFFFF:
            return "rx_ip", None
        if total > len(packet):
            return "rx_ip", None
        if proto != UDP and (proto != ICMP or packet[20:22] != b"\x08\x00"):
            return "rx_other", None
        if not self.allowed(src):
            return "rx_denied", None
        message = packet[20:total]
        if proto == ICMP:
            if len(message) < 8 or ones_sum(message) != 0xFFFF:
                return "rx_l4", None
            # Type 8 becomes 0. Where the sum is zero this decides which of the two zeros is sent.
            csum = ones_sum(message[2:4] + b"\x08\x00")
            answer = icmp(0, message[4:], csum=csum)
            assert ones_sum(answer) == 0xFFFF
            reply = ipv4(self.me.ip, src, ICMP, answer)
        else:
            sport, dport, length, csum = struct.unpack(">HHHH", packet[20:28])
            if dport != self.me.port:
                return "rx_port", None
            pseudo = src + dst + struct.pack(">HH", UDP, length)
            if length != len(message) or length < 8:
                return "rx_l4", None
            if csum and ones_sum(pseudo + message) != 0xFFFF:
                return "rx_l4", None
            if length % 4:
                return "rx_unaligned", None
            peer = Node(src_mac, src, sport)
            reply = ipv4(self.me.ip, src, UDP, udp(self.me, peer, message[8:]))
        return "rx_good", ethernet(src_mac, self.me.mac, ETH_IP, reply).ljust(60, b"\0")
