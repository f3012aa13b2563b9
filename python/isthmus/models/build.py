# SPDX-License-Identifier: Apache-2.0
"""Builds a device top into a shared object that the simulator loads, or finds it in the cache.

The C++ that Verilator writes is compiled directly, a job a core; Verilator's own makefile is not used.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from isthmus.models import tools
from isthmus.models.cache import digest, locked
from isthmus.models.ports import Parameter, literal
from isthmus.models.sources import sources
from isthmus.paths import MODELS, RTL, STATE

Trace = Literal["none", "fst"]


@dataclass(frozen=True)
class ModelSpec:
    """Which model: a top of a core, its parameters, and whether it can write a waveform."""

    core: str
    top: str
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    trace: Trace = "none"
    rtl: Path = RTL


@dataclass(frozen=True)
class Step:
    """Progress of one build: `done` of `total` steps of `model` are behind us, `phase` runs now."""

    model: str
    phase: str
    done: int
    total: int


Progress = Callable[[Step], None]

_COMPILE = (
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-fvisibility=hidden",
    # Every shared object carries a Verilator runtime of its own: none of its symbols may be unified.
    "-fno-gnu-unique",
    "-pthread",
    "-w",
)
_TRANSLATE = (
    "--cc",
    "--make",
    "json",
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
    verilator = tools.find_verilator()
    compiler = tools.find_compiler()
    toolchain = _Toolchain(verilator, compiler, tools.compiler_version(compiler))
    targets = [_target(spec, toolchain) for spec in specs]
    # Two specs may mean one model; it is built once.
    missing = {path: (spec, key) for spec, (path, key) in zip(specs, targets, strict=True)}
    missing = {path: what for path, what in missing.items() if not path.is_file()}
    if missing:
        MODELS.mkdir(parents=True, exist_ok=True)
        jobs = _Jobs(os.cpu_count() or 1)
        with ThreadPoolExecutor(len(missing)) as pool:
            builds = [
                pool.submit(_Build(spec, key, path, toolchain, jobs, progress).run)
                for path, (spec, key) in missing.items()
            ]
            for done in builds:
                done.result()
    return [path for path, _ in targets]


@dataclass(frozen=True)
class _Toolchain:
    verilator: tools.Verilator
    compiler: str
    compiler_version: str


class _Jobs:
    """Runs tools, at most `limit` at a time over all builds."""

    def __init__(self, limit: int) -> None:
        self._free = threading.BoundedSemaphore(limit)
        self.limit = limit

    def run(self, command: Sequence[str | Path], cwd: Path, log: Path, env: dict[str, str]) -> None:
        with self._free:
            tools.run(command, cwd, log, env)


def _target(spec: ModelSpec, toolchain: _Toolchain) -> tuple[Path, str]:
    """Where the model is or will be, and the hash it is known by."""
    generator = Path(__file__).parent
    key = digest(
        [
            spec.top,
            json.dumps({name: literal(value) for name, value in sorted(spec.parameters.items())}),
            spec.trace,
            toolchain.verilator.version,
            toolchain.compiler,
            toolchain.compiler_version,
            *(generator / name for name in ("build.py", "bundles.py", "ports.py", "shim.py")),
            *sources(spec.core, spec.rtl),
        ]
    )
    return MODELS / f"{spec.top}-{key[:16]}.so", key


class _Build:
    """One model's way from sources to shared object, in a directory of its own."""

    def __init__(
        self,
        spec: ModelSpec,
        key: str,
        target: Path,
        toolchain: _Toolchain,
        jobs: _Jobs,
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
        with locked(self.target.with_suffix(".lock")):
            if self.target.is_file():
                return
            work = Path(tempfile.mkdtemp(prefix=f"{self.spec.top}-", dir=MODELS))
            try:
                self._run(work)
            except tools.ToolError as err:
                log = next((part for part in err.args[1:] if isinstance(part, Path)), None)
                if log is None or not log.is_file():
                    raise
                kept = self.target.with_suffix(".log")
                shutil.copyfile(log, kept)
                raise tools.ToolError(
                    f"{self.spec.top}: {err.args[0]} (whole output: {kept.relative_to(STATE.parent)})"
                ) from err
            finally:
                shutil.rmtree(work, ignore_errors=True)

    def _run(self, work: Path) -> None:
        from isthmus.models import bundles, ports, shim

        self._report("read ports", 0)
        files = sources(self.spec.core, self.spec.rtl)
        device = ports.elaborate(files, self.spec.top, self.spec.parameters)
        text = shim.generate(device, bundles.group(device), self.spec.trace, self.key)
        (work / "shim.cpp").write_text(text)

        self._report("translate", 1)
        self._translate(work, files)
        listed = json.loads((work / f"V{self.spec.top}.json").read_text())["sources"]
        fast = [work / "shim.cpp", *map(Path, listed["classes_fast"] + listed.get("support_fast", []))]
        slow = list(map(Path, listed["classes_slow"] + listed.get("support_slow", [])))
        runtime = list(map(Path, listed["global"]))
        self.total += len(fast) + len(slow) + 1

        self._report("compile", 1)
        objects = self._compile(work, fast, slow, runtime)
        linked = work / "model.so"
        libraries = ["-llz4", "-lz"] if self.spec.trace == "fst" else []
        self._report("link", 0)
        self.jobs.run(
            [self.toolchain.compiler, "-shared", "-pthread", "-o", linked, *objects, *libraries],
            work,
            work / "link.log",
            {},
        )
        linked.replace(self.target)
        self._report("ready", self.total - self.done)

    def _report(self, phase: str, steps: int) -> None:
        with self.reporting:
            self.done += steps
            if self.progress is not None:
                self.progress(Step(self.spec.top, phase, self.done, self.total))

    def _translate(self, work: Path, files: Sequence[Path]) -> None:
        command: list[str | Path] = [self.toolchain.verilator.binary, *_TRANSLATE]
        if self.spec.trace == "fst":
            command += ["--trace-fst", "--trace-structs"]
        command += ["--top-module", self.spec.top, "--prefix", f"V{self.spec.top}", "--Mdir", work]
        command += [f"-G{name}={literal(value)}" for name, value in self.spec.parameters.items()]
        environment = {"VERILATOR_ROOT": str(self.toolchain.verilator.root)}
        self.jobs.run([*command, *files], work, work / "verilator.log", environment)

    def _compile(
        self, work: Path, fast: Sequence[Path], slow: Sequence[Path], runtime: Sequence[Path]
    ) -> list[Path]:
        def one(source: Path, optimise: str) -> Path:
            # The class files of a model share their names' beginning; the log sits beside the object.
            made = work / f"{source.stem}.o"
            self._compile_one(source, made, optimise, work)
            self._report("compile", 1)
            return made

        def common() -> list[Path]:
            made = self._runtime(runtime, work)
            self._report("compile", 1)
            return made

        with ThreadPoolExecutor(self.jobs.limit + 1) as pool:
            shared = pool.submit(common)
            # Longest first, so that no core waits at the end for the one big file.
            ordered = sorted(fast, key=lambda file: -file.stat().st_size)
            own = [pool.submit(one, file, "-O3") for file in ordered]
            own += [pool.submit(one, file, "-O1") for file in slow]
            return [future.result() for future in own] + shared.result()

    def _compile_one(self, source: Path, target: Path, optimise: str, work: Path) -> None:
        include = self.toolchain.verilator.include
        defines = ["-DVERILATOR=1", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0"]
        fst = int(self.spec.trace == "fst")
        defines += [f"-DVM_TRACE={fst}", f"-DVM_TRACE_FST={fst}", "-DVM_TRACE_VCD=0"]
        defines += ["-DVM_TRACE_SAIF=0"]
        command = [self.toolchain.compiler, *_COMPILE, optimise, *defines]
        command += [f"-I{work}", f"-I{include}", f"-I{include / 'vltstd'}", "-c", "-o", str(target)]
        log = target.with_suffix(".log")
        try:
            self.jobs.run([*command, source], work, log, {})
        except tools.ToolError as err:
            text = log.read_text(errors="replace")
            if "zlib.h" in text or "lz4.h" in text:
                raise tools.ToolError(
                    "waveforms need the headers of zlib and lz4: apt-get install zlib1g-dev liblz4-dev"
                ) from err
            raise

    def _runtime(self, files: Sequence[Path], work: Path) -> list[Path]:
        """Verilator's runtime: the same for all models of one kind, so compiled once."""
        toolchain = self.toolchain
        parts = [toolchain.verilator.version, toolchain.compiler, toolchain.compiler_version]
        key = digest([*parts, self.spec.trace, Path(__file__), *map(str, files)])
        directory = MODELS / f"runtime-{key[:16]}"
        objects = [directory / f"{file.stem}.o" for file in files]
        if directory.is_dir():
            return objects
        with locked(directory.with_suffix(".lock")):
            if directory.is_dir():
                return objects
            partial = Path(tempfile.mkdtemp(prefix="runtime-", dir=MODELS))
            try:
                with ThreadPoolExecutor(self.jobs.limit) as pool:
                    list(
                        pool.map(
                            lambda file: self._compile_one(file, partial / f"{file.stem}.o", "-O3", work),
                            files,
                        )
                    )
                partial.rename(directory)
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                raise
        return objects
