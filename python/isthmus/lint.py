# SPDX-License-Identifier: Apache-2.0
"""Elaborates and lints every top of every core: slang for errors, Verilator -Wall for everything else.

A core without a finding is remembered in the user's cache, under a hash of its sources and of the tools.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from isthmus import cache, jobs
from isthmus.errors import UserError
from isthmus.models.sources import load_cores, sources
from isthmus.models.tools import Verilator, find_verilator
from isthmus.paths import ROOT, RTL

TIMEOUT_S = 300


@dataclass(frozen=True)
class Finding:
    """Messages of one check of one core or top; empty text: none. `cached`: taken from the user's cache."""

    name: str
    text: str
    cached: bool = False


def lint(
    rtl: Path = RTL, done: Callable[[Finding], None] = lambda _: None, *, fresh: bool = False
) -> list[Finding]:
    """One finding a core (elaboration) and one a top of it (lint). `fresh`: none from the cache."""
    verilator = find_verilator()
    waivers = rtl / "waivers.vlt"
    tops_found: list[tuple[str, str, list[Path]]] = []
    findings: list[Finding] = []
    keys: dict[str, str] = {}
    for name, core in load_cores(rtl).items():
        files = sources(name, rtl)
        with_waivers = [waivers, *files] if waivers.is_file() else files
        keys[name] = _key(verilator, with_waivers, len(core.files))
        if not fresh and (record := cache.passed("lint", name, keys[name])):
            own_tops = record["tops"]
            assert isinstance(own_tops, list)
            clean = [_elaborated(name), *(_linted(name, top) for top in own_tops)]
            findings += (Finding(check, "", cached=True) for check in clean)
            continue
        own_tops, text = tops(files, set(core.files))
        findings.append(Finding(_elaborated(name), text))
        done(findings[-1])
        tops_found += [(name, top, with_waivers) for top in own_tops]

    def one(job: tuple[str, str, list[Path]]) -> Finding:
        core, top, files = job
        finding = Finding(_linted(core, top), _verilator(verilator, top, files))
        done(finding)
        return finding

    with jobs.pool(os.cpu_count() or 1) as pool:
        linted = list(pool.map(one, tops_found))
    findings += linted
    bad = {finding.name for finding in findings if finding.text}
    of_core: dict[str, list[str]] = defaultdict(list)
    for name, top, _ in tops_found:
        of_core[name].append(top)
    for name, own in of_core.items():
        if bad.isdisjoint([_elaborated(name), *(_linted(name, top) for top in own)]):
            cache.record_pass("lint", name, keys[name], tops=own)
    return findings


def _elaborated(core: str) -> str:
    return f"elaborate {core}"


def _linted(core: str, top: str) -> str:
    return f"lint {core} {top}"


def _key(verilator: Verilator, files: list[Path], own: int) -> str:
    """A hash of all that decides the findings of a core with `own` files behind those of others."""
    from importlib.metadata import version

    parts: list[str | Path] = [f"pyslang {version('pyslang')}", f"verilator {verilator.version}", str(own)]
    parts.append(Path(__file__))
    for file in files:
        parts += [file.name, file]
    return cache.digest(parts)


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
