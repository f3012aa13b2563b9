# SPDX-License-Identifier: Apache-2.0
"""The trigger on a GPU: NVRTC compiles the kernels' source when it is needed, NVIDIA's driver runs them.

Neither is needed to use isthmus. NVRTC comes from PyPI (`pip install isthmus[gpu]`); it compiles
without a GPU and without a driver. What is missing is said in one line.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from isthmus.errors import UserError
from isthmus.paths import ROOT
from isthmus.trigger import native

SOURCES = ROOT / "crates" / "isthmus-trigger" / "src" / "gpu"
KERNELS = SOURCES / "rings.cu"
HEADER = SOURCES / "lanes.h"
PACKAGE = "nvidia-cuda-nvrtc-cu12"
DRIVER = "libcuda.so.1"
ARCHITECTURE = "sm_90"
MAGIC, HEADER_BYTES, RECORD_BYTES = b"ISTHTRG1", 64, 70
"""Of a file of events: docs/reference/trigger-formats.md."""
LINES = 4096
"""Of the ring between host and GPU: at 10 M events a second it holds 0.4 ms."""
OPTIONS = ("--std=c++17", "--fmad=false")
"""No fused multiply-add: the numbers are then those of the CPU's finder."""


class UnavailableError(UserError):
    """What a GPU or its compiler lacks here, in one line."""


def compiler() -> Path:
    """NVRTC's library, of the package from PyPI. Raises `UnavailableError`."""
    for file in _files():
        if file.name.startswith("libnvrtc.so"):
            return file
    raise UnavailableError(f"no CUDA compiler here: {PACKAGE} is not installed (pip install isthmus[gpu])")


def _files() -> Iterator[Path]:
    try:
        found = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return
    for one in found:
        yield Path(str(one.locate()))


def compiled(architecture: str = ARCHITECTURE) -> bytes:
    """The kernels as a cubin, from the cache where they are in it. Raises `UnavailableError`."""
    from isthmus import cache

    library = compiler()
    key = cache.digest([KERNELS, HEADER, architecture, *OPTIONS, importlib.metadata.version(PACKAGE)])
    entry = cache.entry("cubin", f"rings-{key[:32]}")
    with cache.making(entry) as work:
        if work is not None:
            made = work / "rings.cubin"
            made.write_bytes(compile_kernels(library, architecture))
            cache.publish(made, entry)
    return entry.read_bytes()


def compile_kernels(library: Path, architecture: str) -> bytes:
    """The kernels as a cubin, by this NVRTC. Raises `UserError` with the compiler's first line."""
    nvrtc = ctypes.CDLL(str(library))
    program = ctypes.c_void_p()
    names = (ctypes.c_char_p * 1)(HEADER.name.encode())
    headers = (ctypes.c_char_p * 1)(HEADER.read_bytes())
    source = KERNELS.read_bytes()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, KERNELS.name.encode(), 1, headers, names):
        raise UserError(f"{library.name}: makes no program")
    try:
        options = [f"--gpu-architecture={architecture}", *OPTIONS]
        texts = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        if nvrtc.nvrtcCompileProgram(program, len(options), texts):
            log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
            first = next((line for line in log.decode(errors="replace").splitlines() if line.strip()), "")
            raise UserError(f"{KERNELS.name}: {first or 'the CUDA compiler refuses it'}")
        return _text(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _text(size: ctypes._NamedFuncPointer, copy: ctypes._NamedFuncPointer, program: ctypes.c_void_p) -> bytes:
    length = ctypes.c_size_t()
    size(program, ctypes.byref(length))
    made = ctypes.create_string_buffer(length.value)
    copy(program, made)
    return made.raw


def missing() -> str:
    """Why nothing can be measured on a GPU here, in one line; empty where it can."""
    try:
        native.gpu_name(DRIVER)
        compiler()
    except UserError as err:
        return str(err)
    return ""


METHODS = ("GPU, persistent kernel", "GPU, a launch per batch")


def noted(made: native.Bench) -> native.Bench:
    """The benchmark with rows that say why the GPU is not in it."""
    why = missing() or "isthmus trigger gpu measures it"
    return replace(made, absent=tuple((name, why) for name in METHODS))


def measure(
    events: bytes, launch: bool, batch: int, rate_hz: float, seconds: float, blocks: int
) -> native.GpuRun:
    """The events of a file on the GPU of this machine, again and again for so many seconds."""
    native.gpu_name(DRIVER)
    records = events[HEADER_BYTES:]
    if events[:8] != MAGIC or not records or len(records) % RECORD_BYTES:
        raise UserError("not a file of events")
    lines = LINES
    while lines % (4 * blocks) or lines < 4 * batch:
        lines *= 2
        if lines > 1 << 22:
            raise UserError(f"--blocks {blocks}: expected a power of two")
    return native.gpu_run(
        DRIVER, compiled(), records, launch=launch, batch=batch, rate_hz=rate_hz,
        events=max(batch, int(rate_hz * seconds)), blocks=blocks, lines=lines,
        watchdog_s=10 * seconds + 10,
    )  # fmt: skip
