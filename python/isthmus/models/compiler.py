# SPDX-License-Identifier: Apache-2.0
"""Translates SystemVerilog with Verilator and compiles its C++, without Verilator's Perl and makefiles.

Verilator writes many small files; each would read the same headers again. They are compiled in a few large
units instead, one a core, behind a precompiled header. Verilator's runtime and that header are compiled
once for all programs of one `Kind` and cached.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from isthmus import cache
from isthmus.jobs import pool
from isthmus.models import fst, tools

_UNIT_BYTES = 600_000
"""Generated C++ of less than this is one unit."""

_MODEL = "-O1 -fgcse -fcse-follow-jumps -frerun-cse-after-loop -fexpensive-optimizations"
"""What of -O3 speeds up simulation: a quarter less time to compile, at most 6 % more to run. -O1 alone
makes the coherent link's models a fifth slower, those of RDMA no slower."""

_HEADER = "ahead.h"
"""What every unit reads first. A compiler that finds no precompiled form of it, or one made with other
options, reads its text."""


@dataclass(frozen=True)
class Kind:
    """Kinds of build: shared objects for the simulator with or without waveforms, or programs for
    cocotb."""

    name: Literal["model", "fst", "bench"]
    many: bool = False
    """Many instances run at once, so that a faster model is worth a longer compilation."""

    @property
    def flags(self) -> list[str]:
        common = ["-std=c++17", "-pthread", "-w"]
        trace = int(self.name == "fst")
        common += ["-DVERILATOR=1", "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0"]
        common += [f"-DVM_TRACE={trace}", f"-DVM_TRACE_FST={trace}", "-DVM_TRACE_VCD=0", "-DVM_TRACE_SAIF=0"]
        if self.name == "bench":
            return common
        # A fault of a model must reach the caller and not end the process: the shim has the handlers.
        common += ["-DVL_USER_FATAL", "-DVL_USER_STOP"]
        # Every shared object has its own Verilator runtime: none of its symbols may be unified.
        return [*common, "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique"]

    @property
    def fast(self) -> str:
        """Optimisation of what runs in every clock cycle. A bench waits for Python most of its time."""
        if self.many:
            return "-O3"
        return "-O1" if self.name == "bench" else _MODEL


class Jobs:
    """Runs tools, at most `limit` at a time over all builds."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = limit or os.cpu_count() or 1
        self._free = threading.BoundedSemaphore(self.limit)

    def run(
        self, command: Sequence[str | Path], cwd: Path, log: Path, env: dict[str, str] | None = None
    ) -> None:
        with self._free:
            tools.run(command, cwd, log, env)


@dataclass(frozen=True)
class Translated:
    """The C++ files of one top: of its own, and of Verilator's runtime."""

    fast: list[Path]
    slow: list[Path]
    runtime: list[Path]


class Compiler:
    """Builds one program of `kind` in the folder `work`."""

    def __init__(self, toolchain: tools.Toolchain, kind: Kind, jobs: Jobs, work: Path) -> None:
        self.toolchain = toolchain
        self.kind = kind
        self.jobs = jobs
        self.work = work

    def translate(self, arguments: Sequence[str | Path], prefix: str, files: Sequence[Path]) -> Translated:
        """Run Verilator on `files`."""
        verilator = self.toolchain.verilator
        command: list[str | Path] = [verilator.binary, "--cc", "--make", "json"]
        command += ["--prefix", prefix, "--Mdir", self.work]
        environment = {"VERILATOR_ROOT": str(verilator.root)}
        log = self.work / "verilator.log"
        self.jobs.run([*command, *arguments, *files], self.work, log, environment)
        listed = json.loads((self.work / f"{prefix}.json").read_text())["sources"]

        def named(*groups: str) -> list[Path]:
            return [Path(file) for group in groups for file in listed.get(group, [])]

        return Translated(
            named("classes_fast", "support_fast"), named("classes_slow", "support_slow"), named("global")
        )

    def units(self, translated: Translated, more: Sequence[Path]) -> list[tuple[Path, str]]:
        """The files to compile, each with its optimisation, longest first; `more` are not Verilator's."""
        every_cycle = [*translated.fast, *more]
        size = sum(file.stat().st_size for file in every_cycle)
        if size + sum(file.stat().st_size for file in translated.slow) < _UNIT_BYTES:
            return [(self._unit("all", [*every_cycle, *translated.slow]), self.kind.fast)]
        count = max(1, min(self.jobs.limit, round(size / _UNIT_BYTES)))
        parts: list[list[Path]] = [[] for _ in range(count)]
        for file in sorted(every_cycle, key=lambda file: -file.stat().st_size):
            min(parts, key=lambda part: sum(f.stat().st_size for f in part)).append(file)
        made = [(self._unit(f"fast{i}", part), self.kind.fast) for i, part in enumerate(parts) if part]
        made.append((self._unit("slow", translated.slow), "-O0"))
        return made

    def _unit(self, name: str, files: Sequence[Path]) -> Path:
        unit = self.work / f"unit-{name}.cpp"
        unit.write_text("".join(f'#include "{file}"\n' for file in files))
        return unit

    def compile(
        self,
        units: Sequence[tuple[Path, str]],
        runtime: Sequence[Path],
        compiled: Callable[[], None] = lambda: None,
    ) -> list[Path]:
        """Objects of `units` and of the `runtime`; `compiled` is called after each unit and the runtime."""

        def one(unit: tuple[Path, str]) -> list[Path]:
            source, optimise = unit
            made = self.work / f"{source.stem}.o"
            ahead = self._header(optimise)
            self._compile_one(source, made, optimise, made.with_suffix(".log"), ["-include", ahead])
            compiled()
            return [made]

        def common() -> list[Path]:
            made = self.runtime(runtime)
            compiled()
            return made

        with pool(self.jobs.limit + 1) as threads:
            shared = threads.submit(common)
            own = threads.map(one, units)
            return [made for part in [*own, shared.result()] for made in part]

    def link(self, objects: Sequence[Path], target: Path, options: Sequence[str]) -> None:
        log = self.work / "link.log"
        self.jobs.run([self.toolchain.compiler, "-pthread", "-o", target, *objects, *options], self.work, log)

    def runtime(self, files: Sequence[Path]) -> list[Path]:
        """Objects of Verilator's runtime `files`, with the compression libraries if waveforms need them."""
        c_files = fst.sources() if self.kind.name == "fst" else []
        names = [file.name for file in (*files, *c_files)]
        key = cache.digest([*self.toolchain.key(), *self.kind.flags, Path(__file__), *names, *c_files])
        folder = cache.entry("runtime", f"{self.kind.name}-{key[:16]}")
        objects = [folder / f"{name}.o" for name in names]
        with cache.making(folder) as work:
            if work is None:
                return objects
            made = work / "made"
            made.mkdir()

            def one(file: Path) -> None:
                # The log stays with the model's own, whose folder outlives a failed build.
                self._compile_one(file, made / f"{file.name}.o", "-O2", self.work / f"{file.name}.log")

            with pool(self.jobs.limit) as threads:
                threads.map(one, [*files, *c_files])
            cache.publish(made, folder)
        return objects

    def _header(self, optimise: str) -> Path:
        """The header of all units with this optimisation, its precompiled form beside it."""
        names = ["verilated.h"] + ["verilated_vpi.h"] * (self.kind.name == "bench")
        key = cache.digest([*self.toolchain.key(), *self.kind.flags, optimise, Path(__file__), *names])
        folder = cache.entry("headers", f"{self.kind.name}-{key[:16]}")
        with cache.making(folder) as work:
            if work is not None:
                made = work / "made"
                made.mkdir()
                header = made / _HEADER
                header.write_text("".join(f'#include "{name}"\n' for name in names))
                log = self.work / f"{_HEADER}-{key[:16]}.log"
                self._compile_one(header, made / f"{_HEADER}.gch", optimise, log, ["-x", "c++-header"])
                cache.publish(made, folder)
        return folder / _HEADER

    def _compile_one(
        self, source: Path, target: Path, optimise: str, log: Path, more: Sequence[str | Path] = ()
    ) -> None:
        include = self.toolchain.verilator.include
        command: list[str | Path] = [self.toolchain.compiler]
        if source.suffix == ".c":
            # zlib's configure script would find unistd.h.
            command += ["-x", "c", "-fPIC", "-fvisibility=hidden", "-w", "-DHAVE_UNISTD_H"]
        else:
            command += [*self.kind.flags, f"-I{self.work}", f"-I{include}", f"-I{include / 'vltstd'}"]
        if self.kind.name == "fst":
            command += [f"-I{folder}" for folder in fst.includes()]
        self.jobs.run([*command, *optimise.split(), *more, "-c", "-o", target, source], self.work, log)
        log.unlink()
