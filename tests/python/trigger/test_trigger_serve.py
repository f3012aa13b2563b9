# SPDX-License-Identifier: Apache-2.0
"""`isthmus trigger serve` on loopback: answers are those of the finder, whatever else is sent."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from isthmus import bootstrap, cli
from isthmus.trigger import native

RECORDS = 20


@pytest.fixture(scope="module", autouse=True)
def _native() -> None:
    bootstrap.ensure_native()


@contextmanager
def server() -> Iterator[tuple[subprocess.Popen[str], tuple[str, int]]]:
    command = [sys.executable, "-m", "isthmus", "trigger", "serve", "--udp", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline().split()
            assert line[:2] == ["trigger", "udp"]
            host, _, port = line[2].rpartition(":")
            yield process, (host, int(port))
        finally:
            process.kill()


def datagram(first: int, records: bytes) -> bytes:
    return struct.pack("<I", first | len(records) // 70 << 24) + records


def test_answers_are_the_finders_and_counts_come_at_control_c() -> None:
    records = native.events("reference", 11, 520, 1e7)[0][64:]
    found = list(struct.iter_unpack("<I10f", native.circles(records)))
    with server() as (process, where), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(20)
        client.sendto(b"", where)
        client.sendto(b"\xff" * 1404, where)
        client.sendto(datagram(0, records[: 70 * 20]) + b"\0", where)
        client.sendto(bytes(9000), where)
        for first in range(0, 520, RECORDS):
            client.sendto(datagram(first, records[70 * first : 70 * (first + RECORDS)]), where)
            answer = client.recv(2048)
            assert len(answer) == 4 + 20 * RECORDS
            assert struct.unpack_from("<I", answer)[0] == first | RECORDS << 24
            for at in range(RECORDS):
                count, zero, *lengths = struct.unpack_from("<BBhhHhhHhhH", answer, 4 + 20 * at)
                expected = found[first + at]
                assert (count, zero) == (expected[0], 0)
                near = [abs(a / 64 - b) < 0.02 for a, b in zip(lengths, expected[2:], strict=True)]
                assert all(near)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    rings = ", ".join(f"{sum(one[0] == number for one in found)} of {number}" for number in range(4))
    assert err.endswith(f"26 datagrams, 520 events (rings: {rings}), 4 malformed, 0 answers not sent\n")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("nowhere", "expected IP:PORT"),
        ("127.0.0.1:99999", "expected IP:PORT"),
        ("0.0.0.0:0", "add --bind-public"),
        ("203.0.113.7:58400", "add --bind-public"),
    ],
)
def test_a_wrong_address_is_one_line(address: str, error: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["trigger", "serve", "--udp", address]) == 2
    err = capsys.readouterr().err
    assert error in err
    assert err.count("\n") == 1


def test_an_address_in_use_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        where = f"127.0.0.1:{other.getsockname()[1]}"
        assert cli.run(["trigger", "serve", "--udp", where]) == 2
    assert f"--udp {where}: " in capsys.readouterr().err
