# SPDX-License-Identifier: Apache-2.0
"""Boards: their tops lint, every port has a pin, and an image is written only where its clocks are met."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from isthmus.errors import DataError, UserError
from isthmus.figures import image
from isthmus.models.ports import elaborate
from isthmus.models.tools import find_verilator
from isthmus.paths import ROOT, RTL

BOARDS = pytest.mark.parametrize("board", sorted(image.BOARDS))
TRANSCEIVERS = ("sata_",)
"""Names of ports of transceivers begin so."""


@pytest.mark.deterministic
@BOARDS
def test_the_top_of_a_board_lints_without_a_warning(board: str) -> None:
    verilator = find_verilator()
    done = subprocess.run(
        [
            *[verilator.binary, "--lint-only", "-Wall", "--timing", "--top-module", board],
            *[RTL / "waivers.vlt", *image.files(board)],
        ],
        env={**os.environ, "VERILATOR_ROOT": str(verilator.root)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, "%Warning" in done.stderr) == (0, False), done.stderr


@pytest.mark.deterministic
@BOARDS
def test_every_port_has_a_pin_of_its_own_and_a_voltage(board: str) -> None:
    top = elaborate(image.files(board), board, {}, device=False)
    bits = [
        port.name if port.width == 1 else f"{port.name}[{bit}]"
        for port in top.ports
        for bit in range(port.width)
    ]
    text = (ROOT / "boards" / board / f"{board}.lpf").read_text()
    sites = dict(re.findall(r'LOCATE COMP "([^"]+)" SITE "([^"]+)"', text))
    assert sorted(sites) == sorted(bits)
    assert len(set(sites.values())) == len(sites)
    # Pins of transceivers are theirs alone.
    ordinary = sorted(bit for bit in bits if not bit.startswith(TRANSCEIVERS))
    assert sorted(re.findall(r'IOBUF PORT "([^"]+)" IO_TYPE=', text)) == ordinary


def test_an_image_that_misses_a_clock_is_not_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tried: list[int] = []

    def place(name: str, seed: int, directory: Path) -> list[image.ClockFigure]:
        del name, directory
        tried.append(seed)
        return [image.ClockFigure("clk", 124.9, 125.0), image.ClockFigure("rx", 200.0, 125.0)]

    monkeypatch.setattr("isthmus.figures.yosys.run", lambda *_: None)
    monkeypatch.setattr("isthmus.figures.image._place", place)
    with pytest.raises(DataError, match=r"ecpix5: no placement of 5 meets its clocks: clk 124\.9 of 125 MHz"):
        image.build("ecpix5", tmp_path / "x.bit", lambda _: None)
    assert tried == list(image.SEEDS)
    assert not list(tmp_path.iterdir())


def test_an_unknown_board_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="unknown board 'ecpix'; did you mean 'ecpix5'"):
        image.build("ecpix", tmp_path / "x.bit", lambda _: None)
