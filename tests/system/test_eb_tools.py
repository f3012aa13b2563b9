# SPDX-License-Identifier: Apache-2.0
"""`isthmus eb` against the Verilated FPGA behind `isthmus serve etherbone`: the whole bus, both ways."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from isthmus import cli, eb, native
from isthmus.paths import ROOT
from isthmus.roads.etherbone import scenario
from test_serve import serving

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def name(gige: Path) -> Iterator[str]:
    with serving(gige) as (_, client):
        host, port = client.getpeername()
        yield f"udp/{host}/{port}"


@pytest.fixture
def isthmus(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> tuple[int, str, str]:
        code = cli.run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_ls_shows_the_whole_bus(isthmus: Run, name: str) -> None:
    bus = (
        "BusPath         VendorID:Product           BaseAddress(Hex)  Description\n"
        "1               00697374686d7573:00000001                 0  isthmus-ram\n"
        "2               0000000000000651:b2afc251            200000  ECA_UNIT:CONTROL\n"
        "3               0000000000000651:10051981            300000  GSI_TM_LATCH_V2\n"
        "4               00697374686d7573:00000002            400000  isthmus-gige-ctrl\n"
    )
    assert isthmus("eb", "ls", name) == (0, bus, "")


def test_read_and_write(isthmus: Run, name: str) -> None:
    assert isthmus("eb", "write", name, "0x100/4", "0xcafef00d") == (0, "", "")
    assert isthmus("eb", "read", name, "0x100/4") == (0, "cafef00d\n", "")
    assert isthmus("eb", "read", name, "0x102/2") == (0, "f00d\n", "")
    code, out, err = isthmus("eb", "read", name, "0x600000/4")
    assert (code, out) == (1, "")
    assert err == "isthmus: read 0x00600000 (operation 0): bus error (1 of 1 operations failed)\n"


def test_find_and_discover(isthmus: Run, name: str) -> None:
    assert isthmus("eb", "find", name, "0x651", "0xb2afc251") == (0, "0x200000\n", "")
    code, out, err = isthmus("eb", "discover", "--silence", "0.5", name)
    assert (code, out, err) == (0, f"{name.replace('udp', 'udp4')} V1 data=32-bit addr=32-bit\n", "")


def test_get_and_put(isthmus: Run, name: str, tmp_path: Path) -> None:
    data = os.urandom(0x2000)
    (tmp_path / "in").write_bytes(data)
    assert isthmus("eb", "put", name, "0x4000", tmp_path / "in") == (0, "", "")
    assert isthmus("eb", "get", name, "0x4000/0x2000", tmp_path / "out") == (0, "", "")
    assert (tmp_path / "out").read_bytes() == data


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_perf_prints_the_published_fields(isthmus: Run, name: str, mode: int) -> None:
    code, out, err = isthmus("eb", "perf", name, 0, 20, 4, mode)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith(f"mode {mode} (")
    assert lines[1].split() == ["realistic", "underestimated"]
    fields = {line[:16].strip(): [float(value) for value in line[16:].split()] for line in lines[2:]}
    wanted = ["elapsed [ms]", "words (32 bit)", "us/EB cycle", "us/TS", "kHz cycle", "kHz TS", "Mbit/s"]
    assert list(fields) == wanted
    assert fields["words (32 bit)"] == [160, 160]
    realistic, under = fields["us/TS"]
    # The separate timestamp comes earlier, so its window is the longer one.
    assert realistic > under > 0
    assert fields["elapsed [ms]"][0] == pytest.approx(80 * realistic / 1e3, rel=1e-2)
    assert fields["Mbit/s"][0] == pytest.approx(64 / realistic, rel=1e-2)


def test_pipelining_makes_a_timestamp_cheaper_for_the_device(name: str) -> None:
    cycle = eb.Cycle().reads([0x20_0018, 0x20_001C] * 4)
    with eb.Device(name) as device:

        def span_ns(pipelined: bool) -> int:
            words = device.repeat(cycle, 32, pipelined=pipelined)
            return (words[-2] << 32 | words[-1]) - (words[0] << 32 | words[1])

        blocking = span_ns(False)
        assert span_ns(True) < blocking / 2


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark: apt-get install tshark")
def test_the_dissector_reads_the_captures_that_a_run_writes(scenario_of: Any, tmp_path: Path) -> None:
    path = tmp_path / "x.pcapng"
    native.run_scenario(scenario_of(scenario.timestamps("blocking", 2, 3), trace={"pcap": str(path)}))
    script = ROOT / "tools" / "wireshark" / "etherbone.lua"
    command = [
        "tshark",
        "-n",
        "-X",
        f"lua_script:{script}",
        "-r",
        str(path),
        "-Y",
        "etherbone",
        "-T",
        "fields",
    ]
    names = ("etherbone.dialect", "etherbone.read.address", "_ws.expert.message")
    command += [word for name in names for word in ("-e", name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert {line[0] for line in lines} == {"OHWR"}
    assert {line[2] for line in lines} == {""}
    stamps = ["0x0000000000200018", "0x000000000020001c"] * 2
    requests = [line[1].split(",")[:4] for line in lines if line[1]]
    assert requests.count(stamps) >= 3
