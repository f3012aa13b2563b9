# SPDX-License-Identifier: Apache-2.0
"""Datagrams that pass an interface of this machine: only observed, never answered."""

from __future__ import annotations

import ctypes
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from types import TracebackType
from typing import Self

from isthmus.eb.device import EtherboneError
from isthmus.errors import UserError

# From <linux/if_packet.h>, <linux/if_ether.h> and <linux/virtio_net.h>.
SOL_PACKET = 263
PACKET_VNET_HDR = 15
PACKET_OUTGOING = 4
ETH_P_ALL = 0x0003
GSO_UDP_L4 = 5
GSO_ECN = 0x80

SO_ATTACH_FILTER = 26
SO_RCVBUFFORCE = 33

VNET = struct.Struct("=BBHHHH")
LARGEST = 1 << 17
BUFFER = 8 << 20
"""Bytes that wait in the kernel while this program is busy."""
VLAN_TAGS = (0x8100, 0x88A8)
IPV4, IPV6, UDP = 0x0800, 0x86DD, 17


@dataclass(frozen=True)
class Datagram:
    """A UDP datagram in flight."""

    source: tuple[str, int]
    destination: tuple[str, int]
    payload: bytes

    def __str__(self) -> str:
        return f"udp/{'/'.join(map(str, self.source))} to udp/{'/'.join(map(str, self.destination))}"


def datagrams(frame: bytes, segment: int = 0) -> list[Datagram]:
    """The UDP datagrams of an Ethernet frame, in order; none of one that is anything else.

    `segment`: payload bytes of each, if the system passes several to the interface at once; 0: it is one.
    IP fragments are omitted: only the first one has a header.
    """
    at, kind = 14, int.from_bytes(frame[12:14])
    while kind in VLAN_TAGS:
        kind = int.from_bytes(frame[at + 2 : at + 4])
        at += 4
    if kind == IPV4 and len(frame) >= at + 20:
        fragment = int.from_bytes(frame[at + 6 : at + 8]) & 0x3FFF
        protocol, addresses, udp = frame[at + 9], frame[at + 12 : at + 20], at + 4 * (frame[at] & 0xF)
        if fragment or frame[at] >> 4 != 4:
            return []
    elif kind == IPV6 and len(frame) >= at + 40:
        protocol, addresses, udp = frame[at + 6], frame[at + 8 : at + 40], at + 40
    else:
        return []
    header = frame[udp : udp + 8]
    if protocol != UDP or len(header) < 8:
        return []
    half = len(addresses) // 2
    hosts = [str(ip_address(part)) for part in (addresses[:half], addresses[half:])]
    ports = struct.unpack(">HH", header[:4])
    length = int.from_bytes(header[4:6])
    # Padding of a short frame is not payload; a length of many datagrams at once may be 0.
    payload = frame[udp + 8 : udp + length] if length >= 8 and not segment else frame[udp + 8 :]
    step = segment or max(len(payload), 1)
    parts = [payload[first : first + step] for first in range(0, len(payload), step)]
    return [Datagram((hosts[0], ports[0]), (hosts[1], ports[1]), part) for part in parts]


# From <linux/bpf_common.h>: load a half word, a byte, the length of the IPv4 header; compare; return.
_LDH_ABS, _LDH_IND, _LDB_ABS, _LDX_MSH, _JEQ, _RET = 0x28, 0x48, 0x30, 0xB1, 0x15, 0x06


def port_filter(port: int) -> bytes:
    """A classic BPF program: UDP over IPv4 or IPv6 from or to `port`, and every frame with a VLAN tag.

    The kernel drops the rest, so that other traffic takes no place in the socket's buffer.
    """
    take, drop = 19, 18

    def equal(at: int, value: int, then: int, otherwise: int) -> tuple[int, int, int, int]:
        return (_JEQ, then - at - 1, otherwise - at - 1, value)

    program = [
        (_LDH_ABS, 0, 0, 12),
        equal(1, IPV6, 10, 2),
        equal(2, IPV4, 3, 16),
        (_LDB_ABS, 0, 0, 14 + 9),
        equal(4, UDP, 5, drop),
        (_LDX_MSH, 0, 0, 14),
        (_LDH_IND, 0, 0, 14),
        equal(7, port, take, 8),
        (_LDH_IND, 0, 0, 16),
        equal(9, port, take, drop),
        (_LDB_ABS, 0, 0, 14 + 6),
        equal(11, UDP, 12, drop),
        (_LDH_ABS, 0, 0, 14 + 40),
        equal(13, port, take, 14),
        (_LDH_ABS, 0, 0, 14 + 42),
        equal(15, port, take, drop),
        equal(16, VLAN_TAGS[0], take, 17),
        equal(17, VLAN_TAGS[1], take, drop),
        (_RET, 0, 0, 0),
        (_RET, 0, 0, 0xFFFFFFFF),
    ]
    return b"".join(struct.pack("=HBBI", *line) for line in program)


class Watch:
    """An interface's datagrams from and to a UDP port; `interface` empty: all of them.

    Raises `EtherboneError` where the system refuses: it needs CAP_NET_RAW.
    """

    def __init__(self, port: int, interface: str = "") -> None:
        self._port = port
        if not hasattr(socket, "AF_PACKET"):
            raise UserError("--passive needs Linux")
        where = interface or "all interfaces"
        try:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        except OSError as err:
            raise EtherboneError(
                f"watch {where}: {err.strerror} (it needs the right to, CAP_NET_RAW)"
            ) from err
        try:
            # Says where the system keeps several datagrams together.
            self._socket.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
            self._keep_only(port)
            self._socket.bind((interface, ETH_P_ALL))
        except OSError as err:
            self._socket.close()
            raise EtherboneError(f"watch {where}: {err.strerror}") from err

    def _keep_only(self, port: int) -> None:
        code = ctypes.create_string_buffer(port_filter(port))
        lines = len(code) // 8
        program = struct.pack("@HP", lines, ctypes.addressof(code))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
        except OSError:
            # Needs CAP_NET_ADMIN; the system's limit holds otherwise.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)

    def receive(self, timeout_s: float) -> Iterator[Datagram]:
        """The next datagram; none if the timeout passes before."""
        self._socket.settimeout(timeout_s)
        try:
            data, (name, _, direction, *_) = self._socket.recvfrom(LARGEST)
        except TimeoutError:
            return
        except OSError as err:
            raise EtherboneError(f"watch: {err.strerror}") from err
        # The loopback interface shows every frame twice: when sent and when received.
        if name == "lo" and direction == PACKET_OUTGOING:
            return
        _, kind, _, size, _, _ = VNET.unpack_from(data)
        segment = size if kind & ~GSO_ECN == GSO_UDP_L4 else 0
        for datagram in datagrams(data[VNET.size :], segment):
            if self._port in (datagram.source[1], datagram.destination[1]):
                yield datagram

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
