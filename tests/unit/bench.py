# SPDX-License-Identifier: Apache-2.0
"""Runs one cocotb module against one RTL top under Verilator; used by every unit bench.

A bench is a folder ``tests/unit/<family>/`` with ``test_<module>.py`` (pytest entry, calls `run`)
and ``<module>_tb.py`` (cocotb tests). A bench that passed with the same RTL, Python modules, parameters and
tools is not simulated again: see `inputs` for what that covers.
"""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from pathlib import Path
from xml.etree import ElementTree

import find_libpython
import held
import pytest
import time_limit
from cocotb_tools import config
from cocotb_tools.runner import get_runner
from isthmus import cache
from isthmus.models import bench, tools
from isthmus.models.sources import sources
from isthmus.testing import FRESH

ROOT = Path(__file__).resolve().parents[2]
UNIT = ROOT / "tests" / "unit"
LONGEST_S = 600
"""Processor time after which a simulation counts as one without an end; the longest bench takes a tenth."""
outcomes: list[bool] = []
"""Of each run of the present test: whether its result was taken from the cache."""


def run(
    core: str,
    top: str,
    test_module: str,
    *,
    parameters: Mapping[str, int] | None = None,
    extra_sources: Sequence[Path] = (),
    more_cores: Sequence[str] = (),
    inner_signals: bool = False,
) -> None:
    """Build `top` from `core` with `parameters` and run the cocotb tests of `test_module`.

    The tests see the signals of `top`, with `inner_signals` those of every module: Verilator may optimise
    none away then, and a build and a run take 2.5 times as long. The seed is printed; a bench with its
    parameters has one of its own, and ISTHMUS_SEED sets another. `ISTHMUS_RTL_OVERRIDE` (a directory)
    replaces sources of the same file name; mutation testing uses it. With either the bench always runs and
    its result is not recorded. What a module offers must stay until it is taken (see `held`). A test that
    fails, or a run that ends badly, fails the calling test in one line.
    """
    if find_libpython.find_libpython() is None:
        pytest.skip("cocotb needs Python's shared library: apt-get install libpython3-dev")
    asked_seed = os.environ.get("ISTHMUS_SEED")
    override_env = os.environ.get("ISTHMUS_RTL_OVERRIDE")
    override = Path(override_env) if override_env else None
    files = list(dict.fromkeys(f for name in (core, *more_cores) for f in sources(name)))
    files += extra_sources
    if override is not None:
        files = [override / f.name if (override / f.name).is_file() else f for f in files]
    params = dict(parameters or {})
    with tempfile.TemporaryDirectory(prefix="isthmus-held-") as folder:
        files = [*files, held.CHECKER, held.written(files, Path(folder))]
        _run(files, top, test_module, params, inner_signals, asked_seed, override)


def _run(
    files: Sequence[Path],
    top: str,
    test_module: str,
    params: Mapping[str, int],
    inner_signals: bool,
    asked_seed: str | None,
    override: Path | None,
) -> None:
    name = f"{test_module}.{top}"
    # The same on every machine: what is red is red for everybody. benchmarks/seeds.py draws others.
    seed = int(asked_seed) if asked_seed else int(cache.digest([json.dumps([name, params])])[:7], 16)
    recorded = override is None and asked_seed is None
    if recorded:
        toolchain = tools.find_toolchain()
        key = cache.digest(
            [bench.key(files, top, params, inner_signals, toolchain), *inputs(test_module, os.environ)]
        )
        if not os.environ.get(FRESH) and cache.passed("benches", name, key):
            outcomes.append(True)
            return
    outcomes.append(False)
    # A build with replaced sources lies with them, never beside the normal ones.
    which = cache.digest([json.dumps([top, params, inner_signals])])[:12]
    into = override / "unit" / f"{top}-{which}" if override else None
    built = bench.build(files, top, params, inner_signals=inner_signals, into=into)
    print(f"seed {seed} (repeat with ISTHMUS_SEED={seed})")
    with tempfile.TemporaryDirectory(prefix=f"isthmus-{test_module}-") as place:
        results = (into or Path(place)) / f"{test_module}.xml"
        results.unlink(missing_ok=True)
        wrong = failure(results, _simulate(built, top, test_module, seed, results, Path(place)))
    if wrong is not None:
        pytest.fail(f"{test_module}: {wrong} (repeat with ISTHMUS_SEED={seed})", pytrace=False)
    if recorded:
        cache.record_pass("benches", name, key, seed=seed)


def _simulate(built: Path, top: str, test_module: str, seed: int, results: Path, place: Path) -> object:
    """Run the program; its exit status."""
    libraries = [str(config.libs_dir), os.environ.get("LD_LIBRARY_PATH", "")]
    try:
        get_runner("verilator").test(
            hdl_toplevel=top,
            hdl_toplevel_lang="verilog",
            test_module=["time_limit", test_module],
            test_dir=str(place),
            build_dir=str(built),
            seed=seed,
            results_xml=str(results),
            extra_env={
                "LD_LIBRARY_PATH": os.pathsep.join(part for part in libraries if part),
                time_limit.LIMIT: str(LONGEST_S),
            },
        )
    except SystemExit as stop:
        # So cocotb's runner says that a test failed, and no more than that.
        return stop.code
    except RuntimeError as wrong:
        # So it says that the program did not end with 0.
        status = re.search(r"return code: (-?\d+)", str(wrong))
        if status is None:
            raise
        return int(status[1])
    return 0


_ENVIRONMENT = re.compile(r"""\benviron(?:\.get\(|\[)\s*["'](\w+)["']""")


def inputs(test_module: str, environment: Mapping[str, str]) -> list[str | Path]:
    """What decides, beside the simulated program, whether the cocotb tests of `test_module` pass.

    That is the module and all modules of this repository that it imports, directly or not, the environment
    variables that they read and those of cocotb, and the installed Python packages.
    """
    found: dict[Path, None] = {}
    waiting = [_module(test_module)]
    while waiting:
        file = waiting.pop()
        if file is None or file in found:
            continue
        found[file] = None
        waiting += [_module(name) for name in _imports(file)]
    files = sorted(found)
    names = {name for name in environment if name.startswith(("COCOTB_", "GPI_", "PYGPI_"))}
    for file in files:
        text = file.read_text()
        names.update(_ENVIRONMENT.findall(text))
        if len(re.findall(r"\benviron\b", text)) != len(_ENVIRONMENT.findall(text)):
            raise ValueError(f"{file}: reads the environment in a way that the cache does not see")
    packages = sorted(f"{found.name}=={found.version}" for found in distributions())
    variables = [f"{name}={environment.get(name)}" for name in sorted(names)]
    return [Path(__file__), *files, *variables, *packages]


def _module(name: str) -> Path | None:
    """The file of a module of this repository; None for one of others."""
    path = Path(*name.split("."))
    for folder in (ROOT / "python", UNIT, *(p for p in UNIT.iterdir() if p.is_dir())):
        for file in (folder / path.with_suffix(".py"), folder / path / "__init__.py"):
            if file.is_file():
                return file
    return None


def _imports(file: Path) -> list[str]:
    """Modules that `file` imports anywhere; of ``from a import b`` both a and a.b."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    # A package runs before its modules.
    return [".".join(name.split(".")[: end + 1]) for name in names for end in range(name.count(".") + 1)]


def failure(results: Path, status: object) -> str | None:
    """What is wrong with a run that ended with `status` and left `results` (of cocotb, JUnit's format);
    None if all its tests passed."""
    if status == -signal.SIGXCPU:
        return f"more than {LONGEST_S} s of processor time: the simulation may have no end"
    if not results.is_file():
        return f"the simulation ended with {status} and without results"
    cases = list(ElementTree.parse(results).iter("testcase"))
    failed = [case.attrib["name"] for case in cases if {"failure", "error"} & {item.tag for item in case}]
    if failed:
        return f"{len(failed)} of {len(cases)} tests failed: {', '.join(failed)}"
    if not cases:
        return "no test ran"
    return f"all tests passed, but the simulation ended with {status}" if status else None
