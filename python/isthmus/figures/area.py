# SPDX-License-Identifier: Apache-2.0
"""Area of the cores after synthesis.

Counted as the published peers are: LUT = all LUT1..LUT6 cells without pairing two into one site; memories in
LUTs, carries, block memories and multipliers apart. Nothing is placed: no estimate enters.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from isthmus import jobs
from isthmus.errors import UserError
from isthmus.figures import yosys
from isthmus.figures.cores import CoreEntry

_BY_AREA = "by area: "
_MAP_BY_AREA = (
    "opt_expr -mux_undef -noclkinv",
    # A comma means a space.
    "abc -lut 4 -script +strash;dch,-f;if,-a;mfs2,-a,-e;lutpack,-S,1",
    "clean",
    "xilinx_srl -fixed -minlen 3",
    "techmap -map +/xilinx/lut_map.v -map +/xilinx/cells_map.v -D LUT_WIDTH=4",
    "xilinx_dffopt -lut4",
    "opt_lut_ins -tech xilinx",
)
"""Replaces `map_luts` of synth_xilinx when mapping for area. Its own script minimises depth first and LUTs
second; this one minimises LUTs at any depth: no clock rate is given for them."""

FAMILIES = {
    "xc7": ("synth_xilinx -family xc7 -noiopad -noclkbuf",),
    "xcup": ("synth_xilinx -family xcup -noiopad -noclkbuf",),
    "xc2vp": (
        "synth_xilinx -family xc2vp -noiopad -noclkbuf",
        "synth_xilinx -family xc2vp -nowidelut -noiopad -noclkbuf",
        _BY_AREA + "synth_xilinx -family xc2vp -nowidelut -noiopad -noclkbuf",
    ),
    "ecp5": ("synth_ecp5",),
}
"""The mappings of a family; the one with the fewest LUTs counts. Joining LUT4s by MUXF5..8 saves LUTs for
multiplexers and costs three times the LUTs for parities. Mapping by area is used only for xc2vp: its peers
are figures of a vendor's tools; elsewhere they were mapped like our cores."""

FIGURES = ("lut", "lutram", "srl", "ff", "bram36", "carry", "dsp")
"""Names of the figures, in the order of the table. ECP5's 18 kbit memories count as half a bram36."""

_CLASSES: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("srl", ("SRL",), 1),
    ("bram36", ("RAMB36", "RAMB18", "RAMB16", "DP16KD", "PDPW16KD"), 1),
    ("lutram", ("RAM16", "RAM32", "RAM64", "RAM128", "RAM256", "RAM512", "TRELLIS_DPR16X4"), 1),
    ("carry", ("CARRY4", "CARRY8", "MUXCY", "CCU2C"), 1),
    ("dsp", ("DSP48", "MULT18"), 1),
    ("ff", ("FD", "LDCE", "LDPE", "TRELLIS_FF"), 1),
    ("lut", ("LUT1", "LUT2", "LUT3", "LUT4", "LUT5", "LUT6"), 1),
)
_FREE = (
    "INV",
    "MUXF",
    "XORCY",
    "PFUMX",
    "L6MUX21",
    "BUF",
    "IBUF",
    "OBUF",
    "$scopeinfo",
    "GND",
    "VCC",
    "VLO",
    "VHI",
)
"""Cells without a separate LUT: inside a slice, or absorbed by their load."""


_DEEPER = {"RAM32X1": 2, "RAM64X1": 4, "RAM128X1": 8}
"""Memories of 16 bits that a Virtex-II makes of one: its LUTs have 16 bits."""


def count(cells: Mapping[str, int], family: str = "") -> dict[str, float]:
    """Cells by type -> figures. Raises `UserError` for a cell without a class."""
    figures = dict.fromkeys(FIGURES, 0.0)
    for kind, number in cells.items():
        if kind.startswith(_FREE):
            continue
        for name, prefixes, weight in _CLASSES:
            if kind.startswith(prefixes):
                half = name == "bram36" and not kind.startswith("RAMB36")
                deeper = _DEEPER.get(kind[:-1], 1) if family == "xc2vp" else 1
                figures[name] += number * (0.5 if half else weight * deeper)
                break
        else:
            raise UserError(f"area: {number} cells of unknown kind {kind!r} after synthesis")
    return figures


def measure(entry: CoreEntry, family: str) -> dict[str, float]:
    """Synthesise one core for one family, in each way there is; the smallest."""
    measured = (measure_way(entry, family, way) for way in FAMILIES[family])
    return min(measured, key=lambda figures: figures["lut"])


def synthesis(way: str, options: str) -> list[str]:
    """The passes of a way of `FAMILIES`, behind the one that reads the sources."""
    command = f"{way.removeprefix(_BY_AREA)} {options}"
    if not way.startswith(_BY_AREA):
        return [command]
    return [f"{command} -run begin:map_luts", *_MAP_BY_AREA, f"{command} -run finalize:"]


def measure_way(entry: CoreEntry, family: str, way: str) -> dict[str, float]:
    """Synthesise one core in one of the ways of `FAMILIES`."""
    hierarchy = "" if family == "ecp5" else "-flatten"
    if not entry.flat:
        hierarchy = "-noflatten" if family == "ecp5" else ""
    with tempfile.TemporaryDirectory(prefix="isthmus-area-") as name:
        report = Path(name) / "stat.json"
        passes = synthesis(way, f"{hierarchy} -top {entry.top}")
        blocks = [
            command
            for memory in entry.block
            for command in (f"select -assert-any m:{memory}", f'setattr -set ram_style "block" m:{memory}')
        ]
        passes = [yosys.read(entry), *blocks, *passes, f"tee -q -o {report} stat -json"]
        yosys.run(f"{entry.name} ({family})", passes, Path(name))
        cells: dict[str, int] = json.loads(report.read_text())["design"]["num_cells_by_type"]
    return count(cells, family)


def pairs(entries: Sequence[CoreEntry], families: Sequence[str]) -> list[tuple[CoreEntry, str]]:
    """The measurable cores."""
    return [(entry, family) for entry in entries for family in families if family not in entry.without]


def measure_all(
    entries: Sequence[CoreEntry], families: Sequence[str], done: Callable[[str], None]
) -> dict[str, dict[str, dict[str, float]]]:
    """core -> family -> figures; a job a core of the machine. `done` is called for each finished one."""

    def one(job: tuple[CoreEntry, str]) -> dict[str, float]:
        figures = measure(*job)
        done(f"{job[0].name} ({job[1]})")
        return figures

    wanted = pairs(entries, families)
    with jobs.pool(os.cpu_count() or 1) as pool:
        results = pool.map(one, wanted)
    measured: dict[str, dict[str, dict[str, float]]] = {entry.name: {} for entry in entries}
    for (entry, family), figures in zip(wanted, results, strict=True):
        measured[entry.name][family] = figures
    return measured


def tools() -> dict[str, str]:
    """Inputs of the figures in addition to the sources."""
    return {"yosys": version("pyosys"), "slang": "built into yosys"}
