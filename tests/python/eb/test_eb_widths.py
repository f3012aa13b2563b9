# SPDX-License-Identifier: Apache-2.0
"""`isthmus eb` on links wider than the device: what reaches the bus, operation by operation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from isthmus import eb
from isthmus.eb import tools

Run = Callable[..., tuple[int, str, str]]
SIZE = 0x1_0000


@pytest.fixture
def wide() -> Iterator[eb.SoftwareSlave]:
    memories = [
        eb.Memory(0, bytes(SIZE)),
        eb.Memory(0x20_0000, bytes(256), vendor=tools.ECA[0], device=tools.ECA[1], name="ECA"),
    ]
    with eb.SoftwareSlave(memories, data_widths=(8, 16, 32, 64), log=True) as running:
        yield running


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bus says of its devices that they take 32-bit operations only."""
    found = eb.Device.sdb
    monkeypatch.setattr(
        eb.Device,
        "sdb",
        lambda self, *depth: [
            one if one.bus_specific is None else one._replace(bus_specific=4) for one in found(self, *depth)
        ],
    )


def operations(slave: eb.SoftwareSlave) -> list[str]:
    """Reads and writes below the table, without their values."""
    lines = [line.split()[:2] for line in slave.events(0.5)]
    return [" ".join(words) for words in lines if words[0] in ("read", "write") and words[1] < "0xffff"]


@pytest.mark.usefixtures("narrow")
def test_a_64_bit_value_of_a_32_bit_device_is_two_operations(isthmus: Run, wide: eb.SoftwareSlave) -> None:
    name = wide.names[0]
    assert isthmus("eb", "write", name, "0x10/8", "0x1122334455667788") == (0, "", "")
    assert operations(wide) == ["write 0x00000010/11110000", "write 0x00000010/00001111"]
    assert isthmus("eb", "read", name, "0x10/8") == (0, "1122334455667788\n", "")
    assert operations(wide) == ["read 0x00000010/11110000", "read 0x00000010/00001111"]
    assert isthmus("eb", "read", name, "0x14/4") == (0, "55667788\n", "")
    # Two bytes are read as the four that hold them.
    assert isthmus("eb", "read", name, "0x14/2") == (0, "5566\n", "")
    code, _, err = isthmus("eb", "write", name, "0x14/2", "0")
    assert (code, err) == (2, "isthmus: no operation of 2 bytes at 0x14; expected 4\n")
    code, _, err = isthmus("eb", "read", "-f", name, "0x10/8")
    assert (code, err) == (2, "isthmus: -f: no operation of 8 bytes at 0x10; expected 4\n")


@pytest.mark.usefixtures("narrow")
def test_a_link_narrower_than_the_device_is_refused(isthmus: Run, wide: eb.SoftwareSlave) -> None:
    code, out, err = isthmus("eb", "read", "-d", "8", wide.names[0], "0x10/4")
    assert (code, out) == (2, "")
    assert err == (
        "isthmus: the device at 0x10 takes 32-bit operations, "
        "the link carries 8 bit; -d offers other widths\n"
    )


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("length", [8, 1004, 1003])
def test_files_are_copied_in_the_device_s_width(
    isthmus: Run, wide: eb.SoftwareSlave, tmp_path: Path, length: int
) -> None:
    name = wide.names[0]
    data = os.urandom(length)
    (tmp_path / "in").write_bytes(data)
    assert isthmus("eb", "put", name, "0x100", tmp_path / "in") == (0, "", "")
    assert isthmus("eb", "get", name, f"0x100/{length}", tmp_path / "out") == (0, "", "")
    assert (tmp_path / "out").read_bytes() == data
    made = operations(wide)
    assert made
    assert {line.partition("/")[2] for line in made} == {"11110000", "00001111"}


@pytest.mark.parametrize("order", [[], ["-b"], ["-l"], ["-p"]])
@pytest.mark.parametrize(
    ("address", "length"), [(0x101, 1003), (0x101, 1), (0x103, 2), (0x107, 10), (0x100, 17), (0x105, 3)]
)
def test_put_takes_any_address_and_length(
    isthmus: Run, wide: eb.SoftwareSlave, tmp_path: Path, order: list[str], address: int, length: int
) -> None:
    name = wide.names[0]
    before = os.urandom(0x800)
    data = os.urandom(length)
    (tmp_path / "all").write_bytes(before)
    (tmp_path / "in").write_bytes(data)
    for width in ("64", "32"):
        given = [*order, "-d", width, name]
        assert isthmus("eb", "put", *given, "0", tmp_path / "all") == (0, "", "")
        assert isthmus("eb", "put", *given, f"{address:#x}", tmp_path / "in") == (0, "", "")
        assert isthmus("eb", "get", *given, f"0/{len(before)}", tmp_path / "out") == (0, "", "")
        expected = before[:address] + data + before[address + length :]
        assert (tmp_path / "out").read_bytes() == expected, width


def test_put_past_the_device_s_end_is_refused_unless_forced(
    isthmus: Run, wide: eb.SoftwareSlave, tmp_path: Path
) -> None:
    name = wide.names[0]
    (tmp_path / "in").write_bytes(bytes([7]) * (SIZE + 4))
    code, _, err = isthmus("eb", "put", name, "0", tmp_path / "in")
    assert (code, err) == (
        2,
        "isthmus: end address 0x10003 is past device end 0xffff; -f writes all the same\n",
    )
    assert isthmus("eb", "read", name, "0/4")[1] == "00000000\n"
    assert isthmus("eb", "put", "-f", name, "0", tmp_path / "in")[0] == 0
    assert isthmus("eb", "read", name, "0/4")[1] == "07070707\n"


@pytest.mark.parametrize("mode", ["0", "1", "2"])
def test_perf_reads_32_bit_times_over_a_64_bit_link(isthmus: Run, wide: eb.SoftwareSlave, mode: str) -> None:
    code, out, err = isthmus("eb", "perf", wide.names[0], "0", "4", "2", mode)
    assert (code, err) == (0, "")
    assert out.startswith(f"mode {mode} (")
