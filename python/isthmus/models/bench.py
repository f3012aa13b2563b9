# SPDX-License-Identifier: Apache-2.0
"""Builds the program that simulates one top under cocotb: Verilator's C++ with cocotb's main and VPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from isthmus import cache
from isthmus.models import tools
from isthmus.models.compiler import Compiler, Jobs, Kind

_TRANSLATE = (
    "-O3",
    "--vpi",
    "--assert",
    "--no-timing",
    # Signals without a value start with a random one.
    "--x-assign",
    "unique",
    "--x-initial",
    "unique",
    "--timescale",
    "1ns/1ps",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
)


def build(
    files: Sequence[Path],
    top: str,
    parameters: Mapping[str, int],
    *,
    inner_signals: bool = False,
    into: Path | None = None,
) -> Path:
    """The folder of the program `top`, built only where the cache has none.

    cocotb sees the signals of `top`, with `inner_signals` those of every module. With `into` the program is
    built there, and the cache has no part in it.
    """
    toolchain = tools.find_toolchain()
    jobs = Jobs()
    if into is not None:
        into.mkdir(parents=True, exist_ok=True)
        if not (into / top).is_file():
            _build(files, top, parameters, inner_signals, toolchain, jobs, into).rename(into / top)
        return into
    folder = cache.entry("benches", f"{top}-{key(files, top, parameters, inner_signals, toolchain)[:16]}")
    with cache.making(folder) as work:
        if work is not None:
            program = _build(files, top, parameters, inner_signals, toolchain, jobs, work)
            (work / "made").mkdir()
            program.rename(work / "made" / top)
            cache.publish(work / "made", folder)
    return folder


def key(
    files: Sequence[Path],
    top: str,
    parameters: Mapping[str, int],
    inner_signals: bool,
    toolchain: tools.Toolchain,
) -> str:
    """A hash of all inputs of the program."""
    from importlib.metadata import version

    arguments = [top, *(f"{name}={value}" for name, value in sorted(parameters.items())), str(inner_signals)]
    generator = [Path(__file__), Path(__file__).with_name("compiler.py")]
    rtl = map(cache.code, files)
    return cache.digest([*arguments, *toolchain.key(), version("cocotb"), *generator, *rtl])


def _build(
    files: Sequence[Path],
    top: str,
    parameters: Mapping[str, int],
    inner_signals: bool,
    toolchain: tools.Toolchain,
    jobs: Jobs,
    work: Path,
) -> Path:
    from cocotb_tools import config

    compiler = Compiler(toolchain, Kind("bench"), jobs, work)
    arguments: list[str | Path] = [*_TRANSLATE, "--top-module", top]
    arguments += [f"-G{name}={value}" for name, value in parameters.items()]
    if inner_signals:
        arguments.append("--public-flat-rw")
    else:
        visible = work / "visible.vlt"
        visible.write_text(f'`verilator_config\npublic_flat_rw -module "{top}" -var "*"\n')
        arguments.append(visible)
    translated = compiler.translate(arguments, "Vtop", files)
    main = Path(config.share_dir) / "lib" / "verilator" / "verilator.cpp"
    objects = compiler.compile(compiler.units(translated, [main]), translated.runtime)
    program = work / "program"
    # Where cocotb's library is, is said when the program starts: the cache outlives a Python environment.
    compiler.link(objects, program, [f"-L{config.libs_dir}", "-lcocotbvpi_verilator"])
    return program
