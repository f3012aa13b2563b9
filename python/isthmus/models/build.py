# SPDX-License-Identifier: Apache-2.0
"""Builds a device top into a shared object that the simulator loads, or finds it in the cache.

The C++ that Verilator writes is compiled directly, a job a core; Verilator's own makefile is not used.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from isthmus import cache
from isthmus.jobs import pool
from isthmus.models import tools
from isthmus.models.compiler import Compiler, Jobs, Kind
from isthmus.models.ports import Parameter, literal
from isthmus.models.sources import sources
from isthmus.paths import LOGS, ROOT, RTL

Trace = Literal["none", "fst"]


@dataclass(frozen=True)
class ModelSpec:
    """Which model: a top of a core, its parameters, and whether it can write a waveform."""

    core: str
    top: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    trace: Trace = "none"
    rtl: Path = RTL
    many: bool = False
    """As `Kind.many`."""


@dataclass(frozen=True)
class Step:
    """Progress of one build: `done` of `total` steps of `model` are complete, `phase` runs now."""

    model: str
    phase: str
    done: int
    total: int


Progress = Callable[[Step], None]

_TRANSLATE = (
    "-O3",
    "--x-assign",
    "fast",
    # Not "fast": every run of one seed must start from the same state.
    "--x-initial",
    "0",
    "--no-assert",
    "--no-timing",
    "--timescale-override",
    "1ps/1ps",
    "-Wno-fatal",
    "-Wno-lint",
    "-Wno-style",
)


def build(spec: ModelSpec, progress: Progress | None = None) -> Path:
    """The shared object of `spec`; built only where the cache has none."""
    return build_many([spec], progress)[0]


def build_many(specs: Sequence[ModelSpec], progress: Progress | None = None) -> list[Path]:
    """The shared objects of `specs`, in their order. All builds share one job a core."""
    toolchain = tools.find_toolchain()
    targets = [_target(spec, toolchain) for spec in specs]
    # Two specs may mean one model; it is built once.
    missing = {path: (spec, key) for spec, (path, key) in zip(specs, targets, strict=True)}
    missing = {path: what for path, what in missing.items() if not cache.used(path)}
    if missing:
        jobs = Jobs()
        builds = [_Build(spec, key, path, toolchain, jobs, progress) for path, (spec, key) in missing.items()]
        with pool(len(builds)) as threads:
            threads.map(_Build.run, builds)
    return [path for path, _ in targets]


def place(spec: ModelSpec) -> Path:
    """Where the shared object of `spec` is, or will be once it is built."""
    return _target(spec, tools.find_toolchain())[0]


def _target(spec: ModelSpec, toolchain: tools.Toolchain) -> tuple[Path, str]:
    """The path of the model, existing or not, and its hash."""
    generator = Path(__file__).parent
    key = cache.digest(
        [
            spec.top,
            json.dumps({name: literal(value) for name, value in sorted(spec.parameters.items())}),
            spec.trace,
            str(spec.many),
            *toolchain.key(),
            *(
                generator / name
                for name in ("build.py", "bundles.py", "compiler.py", "inputs.py", "ports.py", "shim.py")
            ),
            *map(cache.code, sources(spec.core, spec.rtl)),
        ]
    )
    return cache.entry("models", f"{spec.top}-{key[:16]}.so"), key


class _Build:
    """The build of one model from sources to shared object, in a separate directory."""

    def __init__(
        self,
        spec: ModelSpec,
        key: str,
        target: Path,
        toolchain: tools.Toolchain,
        jobs: Jobs,
        progress: Progress | None,
    ) -> None:
        self.spec = spec
        self.key = key
        self.target = target
        self.toolchain = toolchain
        self.jobs = jobs
        self.progress = progress
        self.done = 0
        self.total = 3
        self.reporting = threading.Lock()

    def run(self) -> None:
        with cache.making(self.target) as work:
            if work is None:
                return
            try:
                self._run(work)
            except tools.ToolError as err:
                log = next((part for part in err.args[1:] if isinstance(part, Path)), None)
                if log is None or not log.is_file():
                    raise
                kept = LOGS / f"{self.target.stem}.log"
                LOGS.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(log, kept)
                raise tools.ToolError(
                    f"{self.spec.top}: {err.args[0]} (whole output: {kept.relative_to(ROOT)})"
                ) from err

    def _run(self, work: Path) -> None:
        from isthmus.models import bundles, inputs, ports, shim

        self._report("read ports", 0)
        files = sources(self.spec.core, self.spec.rtl)
        device = ports.elaborate(files, self.spec.top, self.spec.parameters)
        grouped = bundles.group(device)

        self._report("translate", 1)
        kind = Kind("fst" if self.spec.trace == "fst" else "model", self.spec.many)
        compiler = Compiler(self.toolchain, kind, self.jobs, work)
        translated = compiler.translate(self._arguments(), f"V{self.spec.top}", files)
        clocks = (port.name for port in device.ports if port.name.endswith("clk_i"))
        gated = inputs.gate(translated.fast, clocks)
        text = shim.generate(device, grouped, self.spec.trace, self.key, gated)
        (work / "shim.cpp").write_text(text)
        units = compiler.units(translated, [work / "shim.cpp"])
        self.total += len(units) + 1

        self._report("compile", 1)
        objects = compiler.compile(units, translated.runtime, lambda: self._report("compile", 1))
        made = work / "model.so"
        self._report("link", 0)
        compiler.link(objects, made, ["-shared"])
        cache.publish(made, self.target)
        self._report("ready", self.total - self.done)

    def _report(self, phase: str, steps: int) -> None:
        with self.reporting:
            self.done += steps
            if self.progress is not None:
                self.progress(Step(self.spec.top, phase, self.done, self.total))

    def _arguments(self) -> list[str | Path]:
        """Verilator's arguments for this model."""
        arguments: list[str | Path] = [*_TRANSLATE]
        if self.spec.trace == "fst":
            arguments += ["--trace-fst", "--trace-structs"]
        arguments += ["--top-module", self.spec.top]
        arguments += [f"-G{name}={literal(value)}" for name, value in self.spec.parameters.items()]
        return arguments
