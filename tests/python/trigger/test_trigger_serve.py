# SPDX-License-Identifier: Apache-2.0
"""`isthmus trigger serve` on loopback: answers are those of the finder, whatever else is sent."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
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


def sent_to(port: int, capsys: pytest.CaptureFixture[str], *more: str, code: int = 0) -> list[str]:
    """What the sender prints."""
    arguments = ["trigger", "events", "--out", f"udp:127.0.0.1:{port}", "--rate", "100k", "-n", "1010", *more]
    assert cli.run(arguments) == code
    return capsys.readouterr().out.splitlines()


def test_events_are_sent_at_their_rate_and_every_answer_is_compared(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with server() as (process, (_, port)):
        # The last datagram has 10 events.
        what, sent, answered, times = sent_to(port, capsys, "--seed", "4")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert what == f"127.0.0.1:{port}: 1,010 events of sample reference, seed 4, 100k a second"
    head, _, rate = sent.removesuffix(" M events/s").rpartition(" ")
    assert head == "51 datagrams of 1,010 events sent,"
    # Never early: 51 datagrams in the time of 50. A busy machine is late.
    assert 0 < float(rate) <= 0.102
    assert answered == "51 answered, 0 not, 0 with other rings than this machine finds, 0 unexpected"
    assert times.startswith("from due to answered [us]: p50 ")
    assert "51 datagrams, 1,010 events (rings: " in err


@contextmanager
def answering(how: Callable[[bytes], list[bytes]]) -> Iterator[int]:
    """A port of something that answers each datagram so."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.bind(("127.0.0.1", 0))
        own.settimeout(0.1)
        ended = threading.Event()

        def run() -> None:
            while not ended.is_set():
                try:
                    data, back = own.recvfrom(2048)
                except TimeoutError:
                    continue
                for answer in how(data):
                    own.sendto(answer, back)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield own.getsockname()[1]
        finally:
            ended.set()
            thread.join()


def test_wrong_lost_doubled_and_strange_answers_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    def how(data: bytes) -> list[bytes]:
        first, count = int.from_bytes(data[:3], "little"), data[3]
        empty = data[:4] + bytes(20 * count)
        if first == 0:
            return []
        return [empty, empty] if first == 20 else [b"x", empty, data[:4]]

    with answering(how) as port:
        _, sent, answered, _ = sent_to(port, capsys)
    assert sent.startswith("51 datagrams of 1,010 events")
    # The first is lost, the second comes twice, each of the others between two that are none.
    assert answered == "50 answered, 1 not, 50 with other rings than this machine finds, 99 unexpected"


def test_a_receiver_that_does_not_answer_is_said_and_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(lambda _data: []) as port:
        assert sent_to(port, capsys)[2:] == ["no answers"]


def test_where_nobody_listens_refusals_are_counted_and_it_is_a_failure(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    # Whether a send or a receive hears of a refusal first is the system's.
    _, sent, end = sent_to(port, capsys, code=1)
    assert sent.startswith("51 datagrams of 1,010 events sent, ")
    assert sent.endswith(" refused: nobody listens there")
    assert end == "no answers"


@pytest.mark.parametrize(
    "wrong", ["udp:", "udp:localhost:1", "udp:127.0.0.1", "udp:127.0.0.1:0", "udp:127.0.0.1:70000"]
)
def test_an_address_to_send_to_that_is_none_is_one_line(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["trigger", "events", "--out", wrong]) == 2
    err = capsys.readouterr().err
    assert err == f"isthmus: --out {wrong}: expected udp:IP:PORT, such as udp:127.0.0.1:58400\n"
