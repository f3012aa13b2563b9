# SPDX-License-Identifier: Apache-2.0
"""`isthmus serve etherbone` as other programs meet it: bytes on a real socket."""

from __future__ import annotations

import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from isthmus import addresses
from isthmus.errors import UserError
from isthmus.native import ServeStatus
from isthmus.paths import ROOT
from isthmus.roads.etherbone import serve

PROBE = bytes.fromhex("4e6f11ff01020304")
PROBE_REPLY = bytes.fromhex("4e6f164401020304")
SERVER = """
import sys
from pathlib import Path
from isthmus.roads.etherbone import serve
from isthmus.errors import UserError
try:
    serve.serve(serve.ServeOptions(Path(sys.argv[1]), **eval(sys.argv[2])))
except UserError as err:
    print(f"isthmus: {err}", file=sys.stderr)
    sys.exit(2)
"""


@dataclass
class Running:
    """A server process, and where it listens by kind."""

    process: subprocess.Popen[str]
    at: dict[str, str]

    def udp(self) -> socket.socket:
        return self._connected(socket.SOCK_DGRAM, "udp")

    def tcp(self) -> socket.socket:
        return self._connected(socket.SOCK_STREAM, "tcp")

    def _connected(self, kind: socket.SocketKind, name: str) -> socket.socket:
        host, _, port = self.at[name].rpartition(":")
        client = socket.socket(socket.AF_INET, kind)
        client.settimeout(10)
        client.connect((host, int(port)))
        return client


@contextmanager
def running(model: Path, **options: object) -> Iterator[Running]:
    options = options or {"udp": "127.0.0.1:0"}
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(model), repr(options)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        at = {}
        for _ in [kind for kind in ("udp", "tcp", "pty", "tap") if options.get(kind)]:
            words = process.stdout.readline().split()
            assert words[:1] == ["etherbone"], (words, process.poll())
            at[words[1]] = words[2]
        yield Running(process, at)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=10)


@contextmanager
def serving(model: Path, **device: object) -> Iterator[tuple[subprocess.Popen[str], socket.socket]]:
    """A server process, and a UDP socket connected to it."""
    with running(model, udp="127.0.0.1:0", device=device) as server, server.udp() as client:
        yield server.process, client


def ask(client: socket.socket, request: bytes) -> bytes:
    client.send(request)
    return client.recv(2048)


def read(*addresses: int) -> bytes:
    """A checked cycle of reads, written out by hand."""
    words = [0x4E6F1044, 0xA00F0000 | len(addresses), 0x8000, *addresses, 0xE80F0001, 0x8001, 4]
    return struct.pack(f">{len(words)}I", *words)


def values(reply: bytes, count: int) -> tuple[list[int], int]:
    """The values of a reply to `read`, and the error register."""
    words = struct.unpack(f">{len(reply) // 4}I", reply)
    assert words[0] == 0x4E6F1444
    assert words[1:3] == (0x060F0000 | count << 8, 0x8000)
    assert words[3 + count : 5 + count] == (0x0E0F0100, 0x8001)
    return list(words[3 : 3 + count]), words[5 + count]


def test_raw_reads_and_writes(gige: Path) -> None:
    with serving(gige) as (process, client):
        assert ask(client, PROBE) == PROBE_REPLY
        (hi, lo), errors = values(ask(client, read(0x20_0018, 0x20_001C)), 2)
        assert errors & 3 == 0
        assert hi << 32 | lo > 1_700_000_000_000_000_000
        # A write and a read of the same word in one record: writes go first.
        words = [0x4E6F1044, 0xA80F0101, 0x100, 0xCAFEF00D, 0x8000, 0x100]
        reply = ask(client, struct.pack(">6I", *words))
        assert reply.endswith(bytes.fromhex("cafef00d"))
        assert values(ask(client, read(0x60_0000)), 1)[1] & 1 == 1
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
        assert process.returncode == 0
        assert out == ""
        assert "Traceback" not in err
        assert "1 client, 4 requests, 4 replies, 0 errors" in err


def test_a_window_ends_where_the_table_says(gige: Path) -> None:
    from isthmus import eb

    with running(gige) as server, eb.Device(f"udp/{server.at['udp'].replace(':', '/')}") as device:
        devices = [record for record in device.sdb() if record.kind == "device"]
        assert len(devices) == 4
        device.write(0, 0x600DF00D)
        for record in devices:
            for past in (record.last + 1, record.last + 1 + 0x100, record.first + 0xF0000):
                with pytest.raises(eb.BusError, match=f"0x{past:08x}"):
                    device.read(past)
                with pytest.raises(eb.BusError, match=f"0x{past:08x}"):
                    device.write(past, 0xBAD)
        assert device.read(0) == 0x600DF00D


def test_a_file_longer_than_the_memory_ends_in_a_bus_error_and_leaves_the_first_half(
    gige: Path, tmp_path: Path
) -> None:
    from isthmus import eb

    data = random.Random(5).randbytes(0x20000)
    with running(gige) as server:
        name = f"udp/{server.at['udp'].replace(':', '/')}"
        with eb.Device(name) as device:
            # Without the client's own look at the table: it is the device that refuses.
            with pytest.raises(eb.BusError, match=r"0x00010000|operation"):
                device.write_bytes(0, data)
            assert device.read_bytes(0, 0x10000) == data[:0x10000]
        (tmp_path / "long").write_bytes(data)

        def put(*options: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [sys.executable, "-m", "isthmus", "eb", "put", *options, name, "0", str(tmp_path / "long")],
                env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )

        done = put()
        assert done.returncode == 2, done
        refused = "end address 0x1ffff is past device end 0xffff; -f writes all the same"
        assert done.stderr == f"isthmus: {refused}\n"
        # With -p the table is not read: again it is the device that refuses.
        done = put("-p")
        assert done.returncode == 1, done
        assert "0x10000" in done.stderr.replace("0x00010000", "0x10000"), done.stderr


def test_malformed_datagrams_and_then_a_valid_one(gige: Path) -> None:
    malformed = [
        b"",
        b"N",
        PROBE[:6],
        PROBE + b"\0",
        bytes.fromhex("4e6e1044") + bytes(12),
        bytes.fromhex("4e6f2044") + bytes(12),
        bytes.fromhex("4e6f1044a00fff00"),
        bytes.fromhex("4e6f1044a80f0100") + bytes(4),
        b"\xff" * 1472,
        bytes(1473),
        bytes(60000),
    ]
    with serving(gige) as (_, client):
        for index, datagram in enumerate(malformed):
            client.send(datagram)
            (ready,), errors = values(ask(client, read(0x0010_0000)), 1)
            assert ready == 0x5344422D, f"datagram {index}: the table's magic"
            assert errors & 1 == 0


def test_a_hung_slave_is_an_error_to_the_client_and_nobody_else(gige_silent: Path) -> None:
    with serving(gige_silent) as (_, client):
        assert values(ask(client, read(0x50_0000)), 1)[1] & 1 == 1
        found, errors = values(ask(client, read(0x0010_0000, 0x50_0004, 0x0010_0000)), 3)
        assert (found[0], errors & 0b111) == (0x5344422D, 0b011) or (
            found[0] == found[2] == 0x5344422D and errors & 0b111 == 0b010
        )
        assert values(ask(client, read(0x0010_0000)), 1) == ([0x5344422D], errors << 1 & 0xFFFFFFFF)


def checked_cycle(number: int, operations: bytes) -> bytes:
    """A cycle as libetherbone's masters write it: records that send results to 0x8000 + 2k of their
    configuration space, then a read of the error register, to 0x8001 + 2k, which drops the cycle line."""
    back = 0x8000 + 2 * number
    return operations.replace(b"RETN", struct.pack(">I", back)) + struct.pack(">3I", 0xE80F0001, back + 1, 4)


def reading(*addresses: int) -> bytes:
    return struct.pack(">I4s", 0xA00F0000 | len(addresses), b"RETN") + struct.pack(
        f">{len(addresses)}I", *addresses
    )


def writing(address: int, *data: int) -> bytes:
    return struct.pack(f">{2 + len(data)}I", 0xA00F0000 | len(data) << 8, address, *data)


def answered(number: int, *data: int, errors: int = 0) -> bytes:
    """The answer to a cycle of one record of reads: two writes into the master's configuration space."""
    back = 0x8000 + 2 * number
    words = [0x060F0000 | len(data) << 8, back, *data, 0x0E0F0100, back + 1, errors]
    return struct.pack(f">{len(words)}I", *words)


def test_libetherbone_s_wire_format_over_udp_several_cycles_in_a_datagram(gige: Path) -> None:
    with serving(gige) as (_, client):
        assert ask(client, PROBE) == PROBE_REPLY
        cycles = [
            checked_cycle(1, writing(0x40, 0x11, 0x22)),
            checked_cycle(2, reading(0x40, 0x44)),
            checked_cycle(3, reading(0x60_0000)),
            checked_cycle(4, reading(0x44)),
        ]
        reply = ask(client, b"\x4e\x6f\x10\x44" + b"".join(cycles))
        # The words of a write are empty records, as many as the request has words.
        status = struct.pack(">3I", 0x0E0F0100, 0x8003, 0)
        assert reply[:16] + reply[20:32] == b"\x4e\x6f\x14\x44" + bytes(12) + status
        first = answered(2, 0x11, 0x22)
        assert reply[32:].startswith(first)
        values_at = 32 + len(first) + 8
        failed = answered(3, *struct.unpack(">I", reply[values_at : values_at + 4]), errors=1)
        assert reply[32 + len(first) :] == failed + answered(4, 0x22, errors=2)


def test_libetherbone_s_wire_format_over_tcp_however_the_segments_fall(gige: Path) -> None:
    with running(gige, tcp="127.0.0.1:0", pty=True) as server, server.tcp() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream = PROBE + b"".join(checked_cycle(k, reading(0x10_0000, 0x40)) for k in range(200))
        expected = PROBE_REPLY + b"".join(answered(k, 0x5344422D, 0x1234) for k in range(200))
        # The RAM through the terminal: it is the same bus.
        terminal = os.open(server.at["pty"], os.O_RDWR | os.O_NOCTTY)
        tty.setraw(terminal)
        os.write(terminal, PROBE + checked_cycle(0, writing(0x40, 0x1234)))
        answer = b""
        while len(answer) < 8 + 12 + 12:
            answer += os.read(terminal, 64)
        assert answer == PROBE_REPLY + bytes(12) + struct.pack(">3I", 0x0E0F0100, 0x8001, 0)
        os.close(terminal)
        for at in range(0, len(stream), 333):
            client.send(stream[at : at + 333])
        received = b""
        while len(received) < len(expected):
            received += client.recv(65536)
        assert received == expected


def test_a_reset_in_mid_frame_costs_that_frame_only(gige: Path) -> None:
    # The first frame is on the wire from 10 us on.
    resets = [{"at_ps": 10_400_000, "cycles": 4}]
    with serving(gige, resets=resets) as (_, client):
        client.send(PROBE)
        client.settimeout(1)
        with pytest.raises(TimeoutError):
            client.recv(64)
        assert ask(client, PROBE) == PROBE_REPLY


@pytest.mark.parametrize("kind", ["udp", "tcp"])
def test_a_taken_port_is_one_line(gige: Path, kind: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-c", SERVER, str(gige), repr({kind: address})],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(f"isthmus: bind {kind} {address}: ")
    assert done.stderr.endswith("; use port 0 for any free one\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "address", ["", "60368", "localhost:1", "127.0.0.1:", "127.0.0.1:65536", ":1", "127.0.0.1:" + "9" * 5000]
)
def test_a_wrong_address_is_one_line(address: str) -> None:
    with pytest.raises(UserError, match="expected IP:PORT"):
        addresses.split(address)


def test_only_loopback_unless_asked() -> None:
    def bound(udp: str | None, public: bool) -> str:
        return str(serve.scenario(serve.ServeOptions(Path("m.so"), udp, bind_public=public))["udp"])

    assert bound(None, False) == "127.0.0.1:60368"
    assert bound(None, True) == "0.0.0.0:60368"
    assert bound("0.0.0.0:5", True) == "0.0.0.0:5"
    with pytest.raises(UserError, match=r"--bind-public and --udp 127\.0\.0\.1:5 exclude each other"):
        bound("127.0.0.1:5", True)
    assert bound("[::1]:5", False) == "[::1]:5"
    assert bound("192.0.2.1:5", False) == "192.0.2.1:5"
    for dialect in ("litex", "liteeth"):
        litex = serve.scenario(serve.ServeOptions(Path("m.so"), dialect=dialect))
        assert (litex["udp"], litex["device"]["udp_port"]) == ("127.0.0.1:1234", 1234)
    only = serve.scenario(serve.ServeOptions(Path("m.so"), tcp="127.0.0.1:7", pty=True))
    assert "udp" not in only
    assert (only["tcp"], only["pty"]) == ("127.0.0.1:7", True)


def test_networks_are_read_and_wrong_ones_are_one_line() -> None:
    assert [serve.network(text) for text in ("192.0.2.7", "10.1.2.3/8", "::1")] == [
        "192.0.2.7/32",
        "10.0.0.0/8",
        "::1/128",
    ]
    with pytest.raises(UserError, match="expected a network"):
        serve.network("192.0.2.0/33")


def test_the_status_line() -> None:
    status = ServeStatus(["udp 127.0.0.1:1"], 1, 5, 4, 1, 0, 9, 1_234_567.0, 0)
    assert serve.text(status) == "1 client, 5 requests, 4 replies, 1 errors, 1235 kcycles/s"
    refusing = status._replace(clients=2, not_allowed=3)
    assert serve.text(refusing) == "2 clients, 5 requests, 4 replies, 1 errors, 3 not allowed, 1235 kcycles/s"
