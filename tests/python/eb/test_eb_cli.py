# SPDX-License-Identifier: Apache-2.0
"""`isthmus eb` against the software slave: what it prints, line by line."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CONTENTS, ROM
from isthmus import eb
from isthmus.eb import tools

Run = Callable[..., tuple[int, str, str]]


def test_read_and_write_print_as_the_known_tools_do(isthmus: Run, name: str) -> None:
    assert isthmus("eb", "write", name, "0x1000/4", "0xcafe") == (0, "", "")
    assert isthmus("eb", "read", name, "0x1000/4") == (0, "0000cafe\n", "")
    assert isthmus("eb", "read", name, "4098/2") == (0, "cafe\n", "")
    assert isthmus("eb", "read", name, "0x1003/1") == (0, "fe\n", "")
    assert isthmus("eb", "read", name, "0x1003/1", "-l") == (0, "00\n", "")
    assert isthmus("eb", "read", name, "0x1000/8", "-b") == (0, "0000cafe00000000\n", "")
    assert isthmus("eb", "read", name, "0x1000/8", "-l", "-p") == (0, "000000000000cafe\n", "")


def test_options_reach_the_protocol(isthmus: Run, name: str) -> None:
    # Silent: the bus error goes unnoticed.
    assert isthmus("eb", "read", "-s", name, "0x300000/4")[0] == 0
    code, out, err = isthmus("eb", "read", name, "0x300000/4")
    assert (code, out) == (1, "")
    assert err == "isthmus: read 0x00300000 (operation 0): bus error (1 of 1 operations failed)\n"
    # Configuration space: where the table lies.
    assert isthmus("eb", "read", "-c", name, "0xc/4") == (0, "ffff0000\n", "")
    # Fidelity: eight bytes are two operations.
    code, _, err = isthmus("eb", "read", "-f", name, "0x1000/8")
    assert (code, err) == (2, "isthmus: -f: no operation of 8 bytes at 0x1000; expected 4\n")
    code, out, err = isthmus("eb", "read", "-v", "-a", "32", "-d", "16/32", name, "0x1000/4")
    assert (code, out) == (0, "00000000\n")
    assert err == f"{name}: 32-bit addresses, 32-bit data\n"
    code, _, err = isthmus("eb", "read", "-d", "16", name, "0x1000/4")
    assert code == 1
    assert "no common width: the device offers address 32 data 32 bit" in err


def test_ls_lists_the_bus(isthmus: Run, name: str) -> None:
    assert isthmus("eb", "ls", name) == (
        0,
        "BusPath         VendorID:Product           BaseAddress(Hex)  Description\n"
        "1               0000000000000651:66cfeb52              1000  WB4-BlockRAM\n"
        "2               000000000000ce42:00001234            200000  ROM\n",
        "",
    )
    assert isthmus("eb", "ls", "-n", name)[1] == isthmus("eb", "ls", name)[1]
    details = isthmus("eb", "ls", "-v", name)[1].splitlines()
    assert details[2] == f"{'':<16}device, last address 10fff, version 1, date 20260101"
    assert details[3] == f"{'':<16}big-endian, 8/16/32/64 bit"


def test_find_prints_addresses_for_scripts(isthmus: Run, name: str) -> None:
    assert isthmus("eb", "find", name, "0xce42", "0x1234") == (0, "0x200000\n", "")
    code, out, err = isthmus("eb", "find", name, "0xce42", "1")
    assert (code, out) == (1, "")
    assert err == (f"isthmus: {name} has no device 000000000000ce42:00000001; isthmus eb ls lists them\n")


def test_get_and_put_copy_byte_for_byte(isthmus: Run, name: str, tmp_path: Path) -> None:
    data = os.urandom(0x8000)
    (tmp_path / "in").write_bytes(data)
    assert isthmus("eb", "put", name, "0x1000", tmp_path / "in") == (0, "", "")
    assert isthmus("eb", "get", name, "0x1000/0x8000", tmp_path / "out") == (0, "", "")
    assert (tmp_path / "out").read_bytes() == data
    # Beginning and end within words.
    assert isthmus("eb", "get", "-c", "3", name, "0x1003/7", tmp_path / "out")[0] == 0
    assert (tmp_path / "out").read_bytes() == data[3:10]
    assert isthmus("eb", "get", "-l", name, "0x1000/8", tmp_path / "out")[0] == 0
    assert (tmp_path / "out").read_bytes() == data[3::-1] + data[7:3:-1]
    assert isthmus("eb", "put", "-l", name, "0x1000", tmp_path / "out")[0] == 0
    assert isthmus("eb", "get", name, "0x1000/8", tmp_path / "out")[0] == 0
    assert (tmp_path / "out").read_bytes() == data[:8]


def test_get_beyond_the_end_leaves_no_file_unless_forced(isthmus: Run, name: str, tmp_path: Path) -> None:
    code, _, err = isthmus("eb", "get", name, f"{ROM:#x}/0x110", tmp_path / "out")
    assert (code, err.count("\n")) == (1, 1)
    assert "bus error" in err
    assert list(tmp_path.iterdir()) == []
    assert isthmus("eb", "get", "-f", name, f"{ROM:#x}/0x110", tmp_path / "out")[0] == 0
    assert (tmp_path / "out").read_bytes()[:256] == CONTENTS


def test_discover_lists_who_answers(isthmus: Run, name: str) -> None:
    code, out, err = isthmus("eb", "discover", "--silence", "0.2", name)
    assert (code, out, err) == (0, f"{name} V1 data=32-bit addr=32-bit\n", "")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["read", "DEVICE", "0x1000"], "'0x1000': expected ADDRESS/SIZE, such as 0x100/4"),
        (["read", "DEVICE", "0x1000/3"], "size 3: expected 1, 2, 4 or 8"),
        (["read", "DEVICE", "x/4"], "address 'x': expected a number such as 0x1f or 31, up to 64 bit"),
        (["read", "-b", "-l", "DEVICE", "0/4"], "-b and -l exclude each other"),
        (["read", "-a", "33", "DEVICE", "0/4"], "-a '33': expected 8, 16, 32 or 64, or several"),
        (["read", "-c", "DEVICE", "0/2"], "-c: the configuration space takes 4 bytes at a time, not 2"),
        (["read", "DEVICE", "0x1001/2"], "address 0x1001 must be a multiple of 2"),
        (["read", "DEVICE"], "Missing argument 'ADDRESS/SIZE'."),
        (["read", "usb/x", "0/4"], 'device "usb/x": unknown protocol "usb"; expected udp/HOST[/PORT]'),
        (
            ["read", "--dialect", "z", "DEVICE", "0/4"],
            'unknown dialect "z"; expected ohwr or liteeth (also: litex)',
        ),
        (["write", "DEVICE", "0x1000/1", "256"], "value 256: does not fit 1 bytes"),
        (["put", "DEVICE", "0x1000", "/nonexistent"], "/nonexistent: No such file or directory"),
        (["get", "DEVICE", "0x1000/4", "/nonexistent/x"], "/nonexistent/x: No such file or directory"),
        (["get", "DEVICE", "0x1000/0", "x"], "'0x1000/0': the length must be at least 1"),
        (["discover", "tcp/127.0.0.1"], "tcp/127.0.0.1/60368 cannot be probed, only udp can"),
        (["snoop", "0", "0x10"], "'0x10': expected LOW-HIGH, such as 0x0-0xffff"),
        (["snoop", "1"], "'': expected LOW-HIGH, such as 0x0-0xffff"),
        (["snoop", "--passive", "0"], "port 0: expected 1 to 65535"),
        (["snoop", "--passive", "1", "0-1"], "'0-1': --passive offers no memory"),
        (["snoop", "--interface", "lo", "1", "0-1"], "--interface goes with --passive"),
        (["snoop", "65536", "0-1"], "port 65536: expected 0 to 65535 (0: any)"),
        (
            ["perf", "DEVICE", "0", "90", "1", "3"],
            "Invalid value for 'MODE': Input should be less than or equal to 2",
        ),
        (["perf", "DEVICE"], "DEVICE has no ECA time unit (0000000000000651:b2afc251) to take time from"),
    ],
)
def test_every_mistake_is_one_line(isthmus: Run, name: str, arguments: list[str], line: str) -> None:
    code, out, err = isthmus("eb", *(name if word == "DEVICE" else word for word in arguments))
    assert code in (1, 2)
    assert out == ""
    assert err.startswith(f"isthmus: {line.replace('DEVICE', name)}")
    assert err.count("\n") == 1


def test_a_long_transfer_says_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    clock = iter((0.0, 1.0, 1.9, 2.5, 3.0, 5.0))
    progress = tools._Progress(tools.Link("x"), "get", 4 << 20, clock=lambda: next(clock))
    for _ in range(5):
        progress(1 << 19)
    progress.end()
    assert capsys.readouterr().err == "get: 1.5 of 4.0 MiB, 0.6 MiB/s\nget: 2.5 of 4.0 MiB, 0.5 MiB/s\n"


def test_windows_of_a_series() -> None:
    # One timestamp 1000 ns before a series of 2 cycles with 2 timestamps each.
    realistic, under = tools.windows(9_000, array("Q", [10_000, 11_000, 12_000, 13_000]), 2)
    assert dict(realistic.rows()) == {
        "elapsed [ms]": "0.004000",
        "words (32 bit)": "8",
        "us/EB cycle": "2.000",
        "us/TS": "1.000",
        "kHz cycle": "500.000",
        "kHz TS": "1000.000",
        "Mbit/s": "64.000",
    }
    assert dict(under.rows())["us/TS"] == "0.750"


def test_snoop_prints_what_masters_do() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "isthmus", "eb", "snoop", "0", "0x100-0x1ff"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        words = process.stdout.readline().split()
        assert words[0] == "etherbone"
        with eb.Device(words[1]) as device:
            device.write(0x104, 7)
            assert device.read(0x104) == 7
        lines = [process.stdout.readline().rstrip() for _ in range(6)]
        assert re.fullmatch(r"cycle by udp/127\.0\.0\.1/\d+", lines[0])
        assert lines[1:3] == ["write 0x00000104/1111 0x00000007", "end of cycle"]
        assert lines[4] == "read  0x00000104/1111 0x00000007"
    finally:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert err == "3 datagrams, 0 connections, 2 operations, 0 bus errors, 0 malformed\n"


def test_a_taken_port_is_a_wrong_request_with_a_way_out(isthmus: Run, name: str) -> None:
    port = name.rpartition("/")[2]
    code, out, err = isthmus("eb", "snoop", port, "0-0xff")
    assert (code, out) == (2, "")
    assert err.startswith(f"isthmus: listen on udp 127.0.0.1:{port}: Address already in use")
    assert err.endswith("; use port 0 for any free one\n")


def test_both_names_of_liteeth_s_dialect_are_taken(isthmus: Run) -> None:
    with eb.SoftwareSlave([eb.Memory(0, CONTENTS)], dialect="litex", tcp=()) as slave:
        for dialect in ("litex", "liteeth"):
            assert isthmus("eb", "read", "--dialect", dialect, slave.names[0], "0/4")[1] == "00010203\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_quiet_snoop_prints_its_counts_at_the_end_and_no_events(number: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "isthmus", "eb", "snoop", "-q", "0", "0x100-0x1ff"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        with eb.Device(process.stdout.readline().split()[1]) as device:
            device.write(0x104, 7)
    finally:
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "")
    assert err == "2 datagrams, 0 connections, 1 operations, 0 bus errors, 0 malformed\n"


def test_get_that_is_terminated_leaves_nothing(tmp_path: Path) -> None:
    with eb.SoftwareSlave([eb.Memory(0, bytes(1 << 28))]) as slave:
        process = subprocess.Popen(
            [sys.executable, "-m", "isthmus", "eb", "get", slave.names[0], f"0/{1 << 28}", tmp_path / "out"],
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 20
        while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 143
    assert list(tmp_path.iterdir()) == []


def test_a_device_without_a_table_is_taken_as_big_endian_with_a_warning(isthmus: Run) -> None:
    with eb.SoftwareSlave([eb.Memory(0, CONTENTS)], table=None) as slave:
        name = slave.names[0]
        code, out, err = isthmus("eb", "read", name, "0x1/1")
        assert (code, out) == (0, "01\n")
        assert err.startswith("warning: ")
        assert "taken as big-endian (-b or -l says which, -p does not ask)" in err
        assert isthmus("eb", "read", "-q", name, "0x1/1") == (0, "01\n", "")
        assert isthmus("eb", "read", "-p", name, "0x1/1") == (0, "01\n", "")

        code, out, err = isthmus("eb", "ls", name)
        assert (code, out) == (1, "")
        assert err == "isthmus: the device has no self-description (configuration register 8 is 0)\n"
