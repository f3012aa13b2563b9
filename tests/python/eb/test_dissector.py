# SPDX-License-Identifier: Apache-2.0
"""The Wireshark dissector against datagrams of our own client and slave, and hand-written ones.

Where there is no tshark these are skipped.
"""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from isthmus import eb
from isthmus.paths import ROOT

SCRIPT = ROOT / "tools" / "wireshark" / "etherbone.lua"
pytestmark = pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark: apt-get install tshark")

Frame = tuple[int, int, bytes]
"""Source port, destination port, payload."""


def capture(path: Path, frames: list[Frame], protocol: int = 17) -> Path:
    """A pcap of IPv4 packets (link type 101)."""
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))
        sequence = {}
        for index, (source, target, payload) in enumerate(frames):
            if protocol == 17:
                head = struct.pack(">HHHH", source, target, 8 + len(payload), 0)
            else:
                at = sequence.get(source, 1)
                sequence[source] = at + len(payload)
                head = struct.pack(
                    ">HHIIBBHHH", source, target, at, sequence.get(target, 1), 0x50, 0x18, 8192, 0, 0
                )
            length = 20 + len(head) + len(payload)
            ip = struct.pack(
                ">BBHHHBBH4s4s", 0x45, 0, length, 0, 0, 64, protocol, 0, b"\n\0\0\1", b"\n\0\0\2"
            )
            out.write(struct.pack("<IIII", index, 0, length, length) + ip + head + payload)
    return path


def fields(path: Path, *names: str) -> list[list[str]]:
    """The fields of each packet, as tshark prints them."""
    command = ["tshark", "-n", "-X", f"lua_script:{SCRIPT}", "-r", str(path), "-T", "fields"]
    command += [word for name in names for word in ("-e", name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Lua" not in done.stderr
    assert "lua" not in done.stderr.replace(str(SCRIPT), "")
    return [line.split("\t") for line in done.stdout.splitlines()]


@contextmanager
def recorded(target: str, frames: list[Frame], port: int) -> Iterator[str]:
    """A relay to a UDP device that keeps what passes; yields its own name."""
    _, host, number = target.split("/")
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as front,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as back,
    ):
        front.bind(("127.0.0.1", 0))
        back.connect((host, int(number)))
        # A write in LiteEth's dialect has no reply.
        back.settimeout(0.3)
        stopping = threading.Event()

        def relay() -> None:
            while True:
                request, sender = front.recvfrom(65536)
                if stopping.is_set():
                    return
                frames.append((50000, port, request))
                back.send(request)
                try:
                    reply = back.recv(65536)
                except TimeoutError:
                    continue
                frames.append((port, 50000, reply))
                front.sendto(reply, sender)

        thread = threading.Thread(target=relay)
        thread.start()
        try:
            yield f"udp/127.0.0.1/{front.getsockname()[1]}"
        finally:
            stopping.set()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as last:
                last.sendto(b"", front.getsockname())
            thread.join(10)


def test_a_conversation_of_our_client(tmp_path: Path) -> None:
    frames: list[Frame] = []
    with (
        eb.SoftwareSlave([eb.Memory(0x1000, bytes(64))]) as slave,
        recorded(slave.names[0], frames, 60368) as name,
        eb.Device(name) as device,
    ):
        device.execute(eb.Cycle().write(0x1000, 0xCAFE).write(0x1004, 7).read(0x1004).read_config(0xC))
    shown = fields(
        capture(tmp_path / "x.pcap", frames),
        "_ws.col.Protocol",
        "etherbone.dialect",
        "etherbone.pf",
        "etherbone.addr_width",
        "etherbone.flags",
        "etherbone.write.address",
        "etherbone.write.value",
        "etherbone.read.address",
        "etherbone.return_address",
        "_ws.col.Info",
    )
    probe, reply, request, answer = shown
    assert probe[:4] == ["Etherbone", "OHWR", "1", "16/32/64"]
    assert reply[2:4] == ["0", "32"]
    assert reply[9] == "Probe reply, address 32 data 32 bit"
    assert request[1] == "OHWR"
    assert request[4].split(",") == ["0xa0", "0xe0", "0xe8"]
    assert request[5].split(",") == ["0x0000000000001000", "0x0000000000001004"]
    assert request[6].split(",") == ["0x000000000000cafe", "0x0000000000000007"]
    assert request[7].split(",") == ["0x0000000000001004", "0x000000000000000c", "0x0000000000000004"]
    assert set(request[8].split(",")) == {"0x0000000000008000", "0x0000000000008001"}
    assert request[9] == "W 0x1000=0xcafe, W 0x1004=0x7, R 0x1004, config R 0xc ... (5 operations)"
    assert answer[9].startswith("Reply config W 0x8000=0x7, ")


def test_liteeths_dialect_is_told_by_its_layout(tmp_path: Path) -> None:
    frames: list[Frame] = []
    with (
        eb.SoftwareSlave([eb.Memory(0x1000, bytes(64))], dialect="liteeth", tcp=()) as slave,
        recorded(slave.names[0], frames, 1234) as name,
        eb.Device(name, dialect="liteeth") as device,
    ):
        device.write(0x1000, 0xCAFE)
        assert device.read(0x1000) == 0xCAFE
    shown = fields(
        capture(tmp_path / "x.pcap", frames), "etherbone.dialect", "etherbone.probe_id", "_ws.col.Info"
    )
    assert [line[0] for line in shown] == ["LiteEth"] * len(frames)
    assert shown[0][1] == "0x00000001"
    infos = [line[2] for line in shown]
    assert any("W 0x1000=0xcafe" in info for info in infos)
    assert any("R 0x1000" in info for info in infos)


def test_wide_words_and_what_is_malformed(tmp_path: Path) -> None:
    wide = bytes.fromhex("4e6f1088 00000000 a8ff0101 00000000 0000000000000100 1122334455667788")
    wide += bytes.fromhex("0000000000008000 0000000000000108")
    frames: list[Frame] = [
        (50000, 60368, wide),
        (50000, 60368, wide[:-4]),
        (50000, 60368, bytes.fromhex("4e6f11440000000000")),
        (50000, 60368, bytes.fromhex("4e6f10cc")),
        (50000, 60368, b"No such protocol"),
        # Zero words in front of a record, as gateware's padding has them, are not LiteEth's header.
        (60368, 50000, bytes.fromhex("4e6f1444 00000000 0e0f0100 00008000 00000007")),
    ]
    shown = fields(
        capture(tmp_path / "x.pcap", frames),
        "etherbone.write.value",
        "etherbone.read.address",
        "_ws.expert.message",
        "etherbone.dialect",
    )
    assert shown[0] == ["0x1122334455667788", "0x0000000000000108", "", "OHWR"]
    assert shown[1][2] == "the record at byte 8 is cut off"
    assert shown[2][2] == "a probe of 9 bytes: 8, or LiteEth's 12"
    assert shown[3][2] == "each half of the widths must name exactly one"
    assert shown[4] == ["", "", "", ""]
    assert shown[5] == ["0x0000000000000007", "", "", "OHWR"]


def test_streams(tmp_path: Path) -> None:
    read = bytes.fromhex("a80f0001 00008000 00001004")
    frames: list[Frame] = [
        (50000, 60368, bytes.fromhex("4e6f11ff00000001")),
        (60368, 50000, bytes.fromhex("4e6f164400000001")),
        (50000, 60368, read[:6]),
        (50000, 60368, read[6:] + read),
    ]
    path = capture(tmp_path / "x.pcap", frames, protocol=6)
    shown = fields(path, "etherbone.probe_id", "etherbone.read.address", "_ws.col.Info")
    assert [line[0] for line in shown[:2]] == ["0x00000001"] * 2
    assert shown[3][1].split(",") == ["0x0000000000001004"] * 2
    assert shown[3][2] == "R 0x1004, R 0x1004"


def test_a_bundle_that_the_network_card_would_cut_is_several_messages(tmp_path: Path) -> None:
    write = struct.pack(">6I", 0x4E6F1044, 0x080F0300, 0x100, 1, 2, 3)
    read = struct.pack(">6I", 0x4E6F1044, 0xA80F0002, 0x8000, 0x200018, 0x20001C, 0)[:20]
    lite = struct.pack(">5I", 0x4E6F1044, 0, 0x000F0001, 7, 0x100000)
    wide = struct.pack(">QQQQ", 0x4E6F108800000000, 0xA8FF000100000000, 0x8000, 0x10)
    cases = {
        (write, write, read): (["0x0000000000000001", "0x0000000000000002", "0x0000000000000003"] * 2, 2),
        (read, read): ([], 4),
        (lite, lite, lite): ([], 3),
        (wide, wide): ([], 2),
        # One message is not a bundle, and what only looks like a header inside a record is a value.
        (struct.pack(">4I", 0x4E6F1044, 0x080F0100, 0x100, 0x4E6F1044),): (["0x000000004e6f1044"], 0),
    }
    path = capture(tmp_path / "x.pcap", [(40000, 60368, b"".join(messages)) for messages in cases])
    names = ("etherbone.bundle", "etherbone.write.value", "etherbone.read.address", "_ws.expert.message")
    for line, (messages, (values, reads)) in zip(fields(path, *names), cases.items(), strict=True):
        assert line[0] == (str(len(messages)) if len(messages) > 1 else "")
        assert [word for word in line[1].split(",") if word] == values
        assert len([word for word in line[2].split(",") if word]) == reads
        assert line[3] == "", "nothing malformed"
    # What the client's own tool says of the same datagrams, one by one.
    told = [eb.describe(message) for message in (write, write, read)]
    assert [sum("write" in line for line in lines) for lines in told] == [3, 3, 0]
