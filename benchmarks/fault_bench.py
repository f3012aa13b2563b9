# SPDX-License-Identifier: Apache-2.0
"""Runs a unit bench many times on one build, each time with another fault of a module selected."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from fault_netlists import ROOT, BrokenError, Fault, Module, faulty_module, instead

UNIT = ROOT / "tests" / "unit"
START_LIMIT_S = 300.0
WAITS = 30.0
"""So many times its processor time a run may last: other work on the machine is no fault's effect."""

RECORD = """
import json, os, sys
from pathlib import Path
sys.path[:0] = [sys.argv[1]]
import bench
before = dict(os.environ)
runs = []
def record(core, top, test_module, *, parameters=None, extra_sources=(), more_cores=(), inner_signals=False):
    files = list(dict.fromkeys(f for name in (core, *more_cores) for f in bench.sources(name)))
    files += extra_sources
    changed = {k: v for k, v in os.environ.items() if before.get(k) != v and not k.startswith("PYTEST")}
    runs.append({
        "top": top, "test": test_module, "parameters": dict(parameters or {}), "inner": inner_signals,
        "files": [str(Path(f).resolve()) for f in files], "environment": changed,
    })
bench.run = record
import pytest
code = pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *sys.argv[3:]])
Path(sys.argv[2]).write_text(json.dumps({"code": int(code), "runs": runs}))
"""

SIMULATE = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[2]), int(sys.argv[2]) + 1))
from cocotb_tools.runner import get_runner
get_runner("verilator").test(**json.loads(sys.argv[1]))
"""


@dataclass(frozen=True)
class Run:
    """One program that a bench builds, and the tests that run on it."""

    top: str
    test: str
    parameters: Mapping[str, int]
    inner: bool
    files: tuple[Path, ...]
    environment: Mapping[str, str]


def recorded(nodes: Sequence[str], place: Path) -> list[Run]:
    """What the benches would run, in their order, without running it."""
    from isthmus import jobs

    place.mkdir(parents=True, exist_ok=True)
    out = place / "runs.json"
    command: list[str | Path] = [sys.executable, "-c", RECORD, UNIT, out, *nodes]
    done = jobs.run_tool(command, cwd=ROOT, timeout_s=START_LIMIT_S, env={"PYTHONPATH": str(ROOT / "python")})
    found: dict[str, Any] = json.loads(out.read_text()) if out.is_file() else {"code": done.code or 1}
    if found["code"]:
        raise BrokenError(f"{' '.join(nodes)}: {(done.output + done.errors).strip()[-600:]}")
    return [
        Run(
            run["top"],
            run["test"],
            run["parameters"],
            run["inner"],
            tuple(map(Path, run["files"])),
            run["environment"],
        )
        for run in found["runs"]
    ]


@dataclass(frozen=True)
class Instances:
    """How a module is used in a design: its most frequent parameters, its ports, and all outputs, by their
    paths, of the blocks directly below the top that have it inside."""

    parameters: Mapping[str, int]
    ports: tuple[str, ...]
    outputs: tuple[str, ...]


def instances(
    files: Sequence[Path], top: str, parameters: Mapping[str, int], name: str, defines: Sequence[str] = ()
) -> Instances | None:
    """None: the design has none."""
    from isthmus.models.ports import literal
    from pyslang import ast, driver

    run = driver.Driver()
    run.addStandardArgs()
    words = ["slang", "--top", top, "--timescale", "1ps/1ps", *(f"-D{define}" for define in defines)]
    words += [f"-G{key}={literal(value)}" for key, value in parameters.items()]
    words += [f'"{file}"' for file in files]
    if not (run.parseCommandLine(" ".join(words)) and run.processOptions()):
        raise BrokenError(f"{top}: the elaborator refused its arguments")
    run.parseAllSources()
    root = run.createCompilation().getRoot()
    modules: list[ast.InstanceSymbol] = []

    def visit(symbol: object) -> None:
        if isinstance(symbol, ast.InstanceSymbol):
            modules.append(symbol)

    root.visit(visit)
    # Modules that nothing instantiates are there too, beside the top.
    inside = [one for one in modules if f"{one.hierarchicalPath}.".startswith(f"{top}.")]
    found = [one for one in inside if one.definition.name == name]
    if not found:
        return None
    values = [
        tuple(
            (p.name, str(p.value)) for p in one.body.parameters if not p.isLocalParam and hasattr(p, "value")
        )
        for one in found
    ]
    [(usual, _)] = Counter(values).most_common(1)
    first = next(one for one, value in zip(found, values, strict=True) if value == usual)
    paths = {str(one.hierarchicalPath).partition(".")[2]: one for one in modules}
    blocks = {
        min((path for path in paths if path and f"{own}.".startswith(f"{path}.")), key=len, default="")
        for own in (str(one.hierarchicalPath).partition(".")[2] for one in found)
    }
    outputs = [
        f"{path}.{port.name}"
        for path in sorted(blocks - {""})
        for port in paths[path].body.portList
        if port.direction == ast.ArgumentDirection.Out
    ]
    ports = tuple(port.name for port in first.body.portList)
    return Instances({key: _number(value) for key, value in usual}, ports, tuple(outputs))


def _number(text: str) -> int:
    """Of a literal as slang prints it: 12, 3'b101, 32'd7, 8'hff."""
    _, mark, digits = text.partition("'")
    if not mark:
        return int(text)
    digits = digits.removeprefix("s")
    return int(digits[1:].replace("_", ""), {"b": 2, "o": 8, "d": 10, "h": 16}[digits[0]])


class Bench:
    """A built bench in which the module is the netlist with all faults."""

    def __init__(
        self,
        run: Run,
        module: Module,
        ports: Sequence[str],
        faults: Mapping[int, Fault],
        of: int,
        place: Path,
    ) -> None:
        from isthmus.models import bench

        self.run = run
        self.place = place
        self.limit_s = START_LIMIT_S
        text = faulty_module(module, faults, of, place / "netlist")
        source = next(file for file in run.files if file.name == f"{module.name}.sv")
        (place / source.name).write_text(instead(module, source.read_text(), ports, of))
        (place / f"{module.name}_faulty.v").write_text(text)
        files = [place / f.name if f == source else f for f in run.files]
        files.insert(files.index(place / source.name), place / f"{module.name}_faulty.v")
        self.built = bench.build(files, run.top, run.parameters, inner_signals=run.inner, into=place / "unit")

    def start(self) -> float:
        """Run the module as it is, which must pass; seconds of processor time."""
        begin = os.times()
        wrong = self.failure(0)
        if wrong:
            raise BrokenError(f"{self.run.test} on {self.run.top}: without a fault: {wrong}")
        end = os.times()
        seconds = end.children_user - begin.children_user + end.children_system - begin.children_system
        self.limit_s = 20.0 + 4.0 * seconds
        return seconds

    def failure(self, select: int) -> str:
        """What the tests say of the fault; empty: all pass. A bench that does not end has seen it."""
        from cocotb_tools import config
        from isthmus import jobs

        place = self.place / f"run-{select}"
        place.mkdir(exist_ok=True)
        results = place / "results.xml"
        results.unlink(missing_ok=True)
        libraries = os.pathsep.join([str(config.libs_dir), os.environ.get("LD_LIBRARY_PATH", "")])
        arguments = {
            "hdl_toplevel": self.run.top,
            "hdl_toplevel_lang": "verilog",
            "test_module": self.run.test,
            "test_dir": str(place),
            "build_dir": str(self.built),
            "seed": 1,
            "results_xml": str(results),
            "plusargs": [f"+fault={select}"],
            "extra_env": {"LD_LIBRARY_PATH": libraries},
        }
        environment = {**self.run.environment, "COCOTB_MAX_FAILURES": "1"}
        try:
            done = jobs.run_tool(
                [sys.executable, "-c", SIMULATE, json.dumps(arguments), str(ceil(self.limit_s))],
                cwd=place, timeout_s=WAITS * self.limit_s, env=environment, log=place / "log.txt",
            )  # fmt: skip
        except jobs.ToolTimeoutError as error:
            raise BrokenError(
                f"{self.run.test} on {self.run.top}: too little processor time: {error}"
            ) from error
        sys.path.insert(0, str(UNIT))
        try:
            from bench import failure
        finally:
            sys.path.remove(str(UNIT))
        return failure(results, done.code) or ""
