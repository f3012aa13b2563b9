# SPDX-License-Identifier: Apache-2.0
"""Sizes that keep a module readable: lines of a file, their columns, ports (a struct is one) of a module."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from isthmus.paths import ROOT, RTL

MOST_LINES = 400
MOST_PORTS = 40
MOST_COLUMNS = 100


def written() -> Iterator[Path]:
    """RTL that no generator made."""
    return (path for path in sorted(RTL.rglob("*.sv")) if "gen" not in path.parts)


def lined() -> Iterator[Path]:
    """All that is written by hand for hardware: RTL, register maps, constraints, proofs."""
    yield from written()
    for suffix in ("rdl", "sdc", "xdc"):
        yield from sorted(RTL.rglob(f"*.{suffix}"))
    yield from sorted((ROOT / "formal").rglob("*.sv"))


def ports(source: str) -> dict[str, int]:
    """Ports of each module by its name."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/|\(\*.*?\*\)", "", source, flags=re.DOTALL)
    heads = re.finditer(r"^module\s+(\w+)(.*?)\)\s*;", code, flags=re.DOTALL | re.MULTILINE)
    port = re.compile(r"^\s*(?:input|output|inout)\b", flags=re.MULTILINE)
    return {head[1]: len(port.findall(head[2])) for head in heads}


def test_an_rtl_file_has_at_most_400_lines() -> None:
    lines = {path.name: len(path.read_text().splitlines()) for path in written()}
    assert len(lines) > 200
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_a_line_has_at_most_100_columns() -> None:
    assert {path.suffix for path in lined()} == {".sv", ".rdl", ".sdc", ".xdc"}
    wide = [
        f"{path.name}:{number}"
        for path in lined()
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > MOST_COLUMNS
    ]
    assert wide == []


def test_a_module_below_a_boards_top_has_at_most_40_ports() -> None:
    """The pins of a board's top are flat: models and constraints address them by name."""
    inner = [path for path in written() if path.parent.name != "board"]
    found = {name: count for path in inner for name, count in ports(path.read_text()).items()}
    assert found["fifo"] == 10
    assert {name: count for name, count in found.items() if count > MOST_PORTS} == {}
