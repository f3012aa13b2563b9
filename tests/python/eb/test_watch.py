# SPDX-License-Identifier: Apache-2.0
"""Looking on: what is found in frames, and `isthmus eb snoop --passive` on the loopback interface."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
import sys
import threading

import pytest
from isthmus import eb
from isthmus.eb.watch import Watch, datagrams

ETHERNET = bytes(6) + bytes([2, 0, 0, 0, 0, 1])
V4 = (bytes([10, 0, 0, 1]), bytes([10, 0, 7, 1]))


def udp(payload: bytes, ports: tuple[int, int] = (40000, 60368)) -> bytes:
    return struct.pack(">4H", *ports, 8 + len(payload), 0) + payload


def ipv4(body: bytes, *, protocol: int = 17, fragment: int = 0, options: bytes = b"") -> bytes:
    head = struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, 0, 20 + len(body), 1, fragment, 64, protocol, 0)
    return b"\x08\x00" + head + V4[0] + V4[1] + options + body


def test_datagrams_are_found_in_frames() -> None:
    padded = ETHERNET + ipv4(udp(b"abcd")) + bytes(14)
    (one,) = datagrams(padded)
    assert (one.source, one.destination, one.payload) == (("10.0.0.1", 40000), ("10.0.7.1", 60368), b"abcd")
    assert str(one) == "udp/10.0.0.1/40000 to udp/10.0.7.1/60368"
    tagged = ETHERNET + bytes.fromhex("88a8000181000002") + ipv4(udp(b"x"), options=bytes(8))
    assert [found.payload for found in datagrams(tagged)] == [b"x"]
    v6 = struct.pack(">IHBB", 0x60000000, 9, 17, 64) + bytes(15) + b"\x01" + bytes(15) + b"\x02"
    (six,) = datagrams(ETHERNET + b"\x86\xdd" + v6 + udp(b"y"))
    assert (six.source[0], six.destination[0], six.payload) == ("::1", "::2", b"y")
    many = datagrams(ETHERNET + ipv4(udp(b"aabbc")), 2)
    assert [found.payload for found in many] == [b"aa", b"bb", b"c"]


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        ETHERNET,
        ETHERNET + b"\x08\x06" + bytes(28),
        ETHERNET + ipv4(udp(b"abcd"), protocol=6),
        ETHERNET + ipv4(udp(b"abcd"), fragment=0x2000),
        ETHERNET + ipv4(udp(b"abcd"), fragment=8),
        ETHERNET + ipv4(udp(b"abcd"))[:24],
        (ETHERNET + ipv4(udp(b"abcd")))[:40],
        ETHERNET + bytes.fromhex("81000001"),
    ],
)
def test_what_is_no_datagram_is_passed_over(frame: bytes) -> None:
    assert datagrams(frame) == []


def test_a_datagram_is_told_operation_by_operation() -> None:
    assert eb.describe(bytes.fromhex("4e6f11ff00000007")) == [
        "probe 0x7: address 8/16/32/64 data 8/16/32/64 bit"
    ]
    write = bytes.fromhex("4e6f1044a80f010000000104000000ff")
    assert eb.describe(write) == ["write 0x00000104/1111 0x000000ff"]
    assert eb.describe(b"GET /")[0].startswith("malformed: ")


@pytest.fixture
def may_watch() -> None:
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except OSError:
        pytest.skip("watching an interface needs CAP_NET_RAW")


@pytest.mark.usefixtures("may_watch")
def test_other_traffic_of_the_interface_loses_no_datagram_of_the_port() -> None:
    """More than the socket's buffer holds passes while nothing is received."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wanted,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        for receiver in (wanted, other):
            receiver.bind(("127.0.0.1", 0))
        with Watch(wanted.getsockname()[1], "lo") as watch:
            for count in range(400):
                for _ in range(4):
                    sender.sendto(bytes(9000), other.getsockname())
                sender.sendto(count.to_bytes(2), wanted.getsockname())
            # Each passes twice on loopback; on its way out it yields nothing.
            found = [datagram.payload for _ in range(800) for datagram in watch.receive(5)]
    assert found == [count.to_bytes(2) for count in range(400)]


@pytest.mark.usefixtures("may_watch")
def test_the_port_filter_takes_ipv6_and_either_direction() -> None:
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as one:
        try:
            one.bind(("::1", 0))
        except OSError:
            pytest.skip("no IPv6 here")
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as two:
            two.bind(("::1", 0))
            with Watch(one.getsockname()[1], "lo") as watch:
                two.sendto(b"to", one.getsockname())
                one.sendto(b"from", two.getsockname())
                found: list[bytes] = []
                while len(found) < 2:
                    found += [d.payload for d in watch.receive(5)]
    assert found == [b"to", b"from"]


@pytest.mark.usefixtures("may_watch")
def test_snoop_watches_what_others_say() -> None:
    with eb.SoftwareSlave([eb.Memory(0x100, bytes(0x100))], tcp=()) as slave:
        name = slave.names[0]
        port = name.split("/")[2]
        process = subprocess.Popen(
            [sys.executable, "-m", "isthmus", "eb", "snoop", "--passive", "--interface", "lo", port],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        overdue = threading.Timer(60, process.kill)
        overdue.start()
        try:
            assert process.stdout.readline() == f"watching udp port {port} on lo\n"
            with eb.Device(name) as device:
                device.write(0x104, 7)
                # Many of one length, which the system keeps together on this interface.
                cycle = eb.Cycle().reads([0x104] * 200)
                device.repeat(cycle, 40, pipelined=True)
            lines = [process.stdout.readline().rstrip() for _ in range(7)]
            assert lines[0].endswith(f"to udp/127.0.0.1/{port}")
            assert lines[1].startswith("  probe 0x1: ")
            assert lines[3] == "  probe reply 0x1: address 32 data 32 bit"
            assert lines[5] == "  write 0x00000104/1111 0x00000007"
            assert lines[6].startswith("  config read  0x00000004/1111 to ")
            # Probe and write, forty cycles of a datagram each, and as many replies.
            left = 84 - 3
            while left > 0 and (line := process.stdout.readline()):
                left -= line.startswith("udp/")
        finally:
            overdue.cancel()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert err == "84 datagrams, 0 malformed\n"
