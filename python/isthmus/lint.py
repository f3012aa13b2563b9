# SPDX-License-Identifier: Apache-2.0
"""Elaborates and lints every top of every core: slang for errors, Verilator -Wall for everything else."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from isthmus import jobs
from isthmus.errors import UserError
from isthmus.models.sources import load_cores, sources
from isthmus.models.tools import Verilator, find_verilator
from isthmus.paths import ROOT, RTL

TIMEOUT_S = 300


@dataclass(frozen=True)
class Finding:
    """Messages of one check of one core or top; empty text: none."""

    name: str
    text: str


def lint(rtl: Path = RTL, done: Callable[[Finding], None] = lambda _: None) -> list[Finding]:
    """One finding a core (elaboration) and one a top of it (lint)."""
    verilator = find_verilator()
    waivers = rtl / "waivers.vlt"
    tops_found: list[tuple[str, str, list[Path]]] = []
    findings: list[Finding] = []
    for name, core in load_cores(rtl).items():
        files = sources(name, rtl)
        own_tops, text = tops(files, set(core.files))
        findings.append(Finding(f"elaborate {name}", text))
        done(findings[-1])
        if waivers.is_file():
            files = [waivers, *files]
        tops_found += [(name, top, files) for top in own_tops]

    def one(job: tuple[str, str, list[Path]]) -> Finding:
        core, top, files = job
        finding = Finding(f"lint {core} {top}", _verilator(verilator, top, files))
        done(finding)
        return finding

    with jobs.pool(os.cpu_count() or 1) as pool:
        findings += pool.map(one, tops_found)
    return findings


def tops(files: list[Path], own: set[Path]) -> tuple[list[str], str]:
    """Modules of `own` files that nothing instantiates, and the errors of the whole."""
    from pyslang import driver

    run = driver.Driver()
    run.addStandardArgs()
    arguments = " ".join(f'"{part}"' for part in ("slang", "--timescale", "1ps/1ps", *map(str, files)))
    if not (run.parseCommandLine(arguments) and run.processOptions()):
        raise UserError(f"the elaborator refused its arguments: {arguments}")
    run.parseAllSources()
    compilation = run.createCompilation()
    manager = run.sourceManager
    found = [
        top.name
        for top in compilation.getRoot().topInstances
        if Path(manager.getFileName(top.body.location)).resolve() in {file.resolve() for file in own}
    ]
    errors = [
        f"{Path(manager.getFileName(d.location)).name}:{manager.getLineNumber(d.location)}: "
        f"{run.diagEngine.formatMessage(d)}"
        for d in compilation.getAllDiagnostics()
        if d.isError()
    ]
    return found, "\n".join(errors)


def _verilator(verilator: Verilator, top: str, files: list[Path]) -> str:
    command: list[str | Path] = [
        verilator.binary,
        "--lint-only",
        "-Wall",
        "--timing",
        "--top-module",
        top,
    ]
    environment = {"VERILATOR_ROOT": str(verilator.root)}
    try:
        done = jobs.run_tool([*command, *files], cwd=ROOT, env=environment, timeout_s=TIMEOUT_S)
    except jobs.ToolTimeoutError as err:
        return str(err)
    return done.errors.strip() if done.code != 0 or "%Warning" in done.errors else ""
