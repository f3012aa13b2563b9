# SPDX-License-Identifier: Apache-2.0
"""`isthmus serve etherbone` as other programs meet it: bytes on a real socket."""

from __future__ import annotations

import os
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from isthmus import serve
from isthmus.errors import UserError
from isthmus.native import ServeStatus
from isthmus.paths import ROOT

PROBE = bytes.fromhex("4e6f11ff01020304")
PROBE_REPLY = bytes.fromhex("4e6f164401020304")
SERVER = """
import sys
from pathlib import Path
from isthmus import serve
from isthmus.errors import UserError
try:
    serve.serve(serve.ServeOptions(Path(sys.argv[1]), sys.argv[2], device=eval(sys.argv[3])))
except UserError as err:
    print(f"isthmus: {err}", file=sys.stderr)
    sys.exit(2)
"""


@contextmanager
def serving(
    model: Path, udp: str = "127.0.0.1:0", device: str = "{}"
) -> Iterator[tuple[subprocess.Popen[str], socket.socket]]:
    """A server process, and a socket connected to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(model), udp, device],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        words = process.stdout.readline().split()
        assert words[:2] == ["etherbone", "udp"], (words, process.poll())
        host, _, port = words[2].rpartition(":")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(10)
            client.connect((host, int(port)))
            yield process, client
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=10)


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
        assert "1 client, 4 datagrams, 4 replies, 0 errors" in err


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


def test_a_reset_in_mid_frame_costs_that_frame_only(gige: Path) -> None:
    # The first frame is on the wire from 10 us on.
    resets = "{'resets': [{'at_ps': 10_400_000, 'cycles': 4}]}"
    with serving(gige, device=resets) as (_, client):
        client.send(PROBE)
        client.settimeout(1)
        with pytest.raises(TimeoutError):
            client.recv(64)
        assert ask(client, PROBE) == PROBE_REPLY


def test_a_taken_port_is_one_line(gige: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-c", SERVER, str(gige), address, "{}"],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(f"isthmus: bind udp {address}: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("address", ["", "60368", "localhost:1", "127.0.0.1:", "127.0.0.1:65536", ":1"])
def test_a_wrong_address_is_one_line(address: str) -> None:
    with pytest.raises(UserError, match="right would be IP:PORT"):
        serve.split(address)


def test_only_loopback_unless_asked() -> None:
    def bound(udp: str, public: bool) -> str:
        return str(serve.scenario(serve.ServeOptions(Path("m.so"), udp, public))["bind"])

    assert bound(serve.DEFAULT_ADDRESS, False) == "127.0.0.1:60368"
    assert bound(serve.DEFAULT_ADDRESS, True) == "0.0.0.0:60368"
    assert bound("[::1]:5", False) == "[::1]:5"
    assert bound("[::1]:5", True) == "[::]:5"
    assert bound("192.0.2.1:5", False) == "192.0.2.1:5"


def test_the_status_line() -> None:
    status = ServeStatus("127.0.0.1:1", 1, 5, 4, 1, 9, 1_234_567.0, 0)
    assert serve.text(status) == "1 client, 5 datagrams, 4 replies, 1 errors, 1235 kcycles/s"
