# SPDX-License-Identifier: Apache-2.0
"""The trigger on a GPU: NVRTC compiles the kernels' source when it is needed, NVIDIA's driver runs them.

Neither is needed to use isthmus. NVRTC comes from PyPI (`pip install isthmus[gpu]`); it compiles
without a GPU and without a driver. What is missing is said in one line.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from isthmus.errors import UserError, choose
from isthmus.paths import ROOT
from isthmus.trigger import native
from isthmus.workload import parse_rate

SOURCES = ROOT / "crates" / "isthmus-trigger" / "src" / "gpu"
KERNELS = (SOURCES / "rings.cu", SOURCES / "events.cu")
"""The finder, and the generator of events."""
HEADERS = (SOURCES / "lanes.h", SOURCES / "draws.h")
PACKAGE = "nvidia-cuda-nvrtc-cu12"
DRIVER = "libcuda.so.1"
ARCHITECTURE = "sm_90"
MAGIC, HEADER_BYTES, RECORD_BYTES = b"ISTHTRG1", 64, 70
"""Of a file of events: docs/reference/trigger-formats.md."""
LINES = 4096
"""Of the ring between host and GPU: at 10 M events a second it holds 0.4 ms."""
LARGEST_BATCH = 1024
AT_ONCE_HZ = 1e12
"""More than any ring takes: the next batch is always there."""
OPTIONS = ("--std=c++17", "--fmad=false")
"""No fused multiply-add: the numbers are then those of the CPU."""


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
    version = importlib.metadata.version(PACKAGE)
    key = cache.digest([*KERNELS, *HEADERS, architecture, *OPTIONS, version])
    entry = cache.entry("cubin", f"trigger-{key[:32]}")
    with cache.making(entry) as work:
        if work is not None:
            made = work / "trigger.cubin"
            made.write_bytes(compile_kernels(library, architecture))
            cache.publish(made, entry)
    return entry.read_bytes()


def compile_kernels(library: Path, architecture: str) -> bytes:
    """The kernels as a cubin, by this NVRTC. Raises `UserError` with the compiler's first line."""
    return _compiled(library, architecture, OPTIONS, "CUBIN")


def intermediate(library: Path, architecture: str, options: Sequence[str] = OPTIONS) -> str:
    """The kernels in NVIDIA's intermediate language, PTX: which instructions the numbers are made by."""
    return _compiled(library, architecture, options, "PTX").decode()


def _compiled(library: Path, architecture: str, options: Sequence[str], form: str) -> bytes:
    nvrtc = ctypes.CDLL(str(library))
    program = ctypes.c_void_p()
    files = (*KERNELS, *HEADERS)
    names = (ctypes.c_char_p * len(files))(*(file.name.encode() for file in files))
    texts = (ctypes.c_char_p * len(files))(*(file.read_bytes() for file in files))
    # One module of all kernels: each source is a header of it.
    source = "".join(f'#include "{file.name}"\n' for file in KERNELS).encode()
    name = b"trigger.cu"
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, name, len(files), texts, names):
        raise UserError(f"{library.name}: makes no program")
    try:
        flags = [f"--gpu-architecture={architecture}", *options]
        given = (ctypes.c_char_p * len(flags))(*(flag.encode() for flag in flags))
        if nvrtc.nvrtcCompileProgram(program, len(flags), given):
            log = _text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
            first = next((line for line in log.decode(errors="replace").splitlines() if line.strip()), "")
            raise UserError(f"trigger.cu: {first or 'the CUDA compiler refuses it'}")
        size, copy = (getattr(nvrtc, f"nvrtcGet{form}{end}") for end in ("Size", ""))
        return _text(size, copy, program)
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


METHODS = {
    "mapped": "persistent kernel, events in the host's memory",
    "store": "persistent kernel, the host stores into the GPU's memory",
    "copy": "persistent kernel, the copy engine copies each batch",
    "graph": "a graph of copies and kernel per batch",
    "launch": "copy, launch and copy back per batch",
    "resident": "events made in the GPU's memory, a launch per batch, no copy",
}
"""How events reach the GPU. In the last way they do not cross the bus: it is the bound of the others."""


@dataclass(frozen=True)
class Pace:
    """What the benchmark gives each way to the GPU: events at the detector's rate, in batches as the
    published system's, for so long; then batches of these sizes as fast as they are taken, so many events
    each. Only events that are in the GPU's memory come in batches of the sizes `resident`, too."""

    rate_hz: float = 1e7
    batch: int = 20
    seconds: float = 0.5
    batches: tuple[int, ...] = (1, 4, 16, 20, 64, 256)
    resident: tuple[int, ...] = (1024, 4096, 16384, 65536)
    events: int = 1 << 20
    blocks: int = 16


def with_gpu(
    made: native.Bench, progress: Callable[[str, float], None], pace: Pace | None = None
) -> native.Bench:
    """The benchmark with the ways to this machine's GPU, or with why they are not in it.

    `progress` is called with the way that runs, and its share of the work done."""
    from isthmus.trigger import native

    why = missing()
    if why:
        return replace(made, absent=tuple((f"GPU, {text}", why) for text in METHODS.values()))
    pace = pace or Pace()
    events = native.events(made.sample, made.seed, made.events, pace.rate_hz)[0]
    ways, absent = [], []
    for method, text in METHODS.items():
        found = _way(method, events, pace, partial(progress, method))
        if isinstance(found, str):
            absent.append((f"GPU, {text}", found))
        else:
            ways.append(replace(found, name=f"GPU, {text}"))
    return replace(made, ways=(*made.ways, *ways), absent=tuple(absent))


def _way(method: str, events: bytes, pace: Pace, progress: Callable[[float], None]) -> native.Way | str:
    """Latency and rates of one method, or why this machine has it not."""
    # A batch is not larger than the file.
    most = (len(events) - HEADER_BYTES) // RECORD_BYTES
    more = [batch for batch in pace.resident if batch <= most] if method == "resident" else []
    batches = (*pace.batches, *more)
    total = 1 + len(batches)

    def run(number: int, batch: int, rate_hz: float, seconds: float) -> native.GpuRun | str:
        def step(_one: Asked, done: int, of: int) -> None:
            progress((number + done / of) / total)

        one = Asked(method, batch, rate_hz)
        ((_, found),) = measure(events, [one], seconds, pace.blocks, step)
        return found

    paced = run(0, pace.batch, pace.rate_hz, pace.seconds)
    if isinstance(paced, str):
        return paced
    rates = []
    for number, batch in enumerate(batches, 1):
        # All of them are due at once.
        full = run(number, batch, AT_ONCE_HZ, pace.events / AT_ONCE_HZ)
        assert not isinstance(full, str)
        rates.append((batch, full.per_second))
    return native.Way(method, pace.batch, pace.rate_hz, paced.first, paced.last, tuple(rates))


@dataclass(frozen=True)
class Asked:
    """One measurement."""

    method: str
    batch: int
    rate_hz: float

    @property
    def text(self) -> str:
        """For tables and progress."""
        return f"{self.method}, {self.batch} a batch, {self.rate_hz / 1e6:g} M/s"


def asked(methods: str, batches: str, rates: str) -> list[Asked]:
    """All measurements of the lists of the command's options."""
    names = list(METHODS) if methods == "all" else [choose("method", one, METHODS) for one in _items(methods)]
    return [
        Asked(name, _batch(batch), parse_rate(rate))
        for name in names
        for batch in _items(batches)
        for rate in _items(rates)
    ]


def _batch(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 4 and 1 <= int(text) <= LARGEST_BATCH):
        raise UserError(
            f"batch: {text[:32]!r}; expected events per batch, 1 to {LARGEST_BATCH}, for example 20"
        )
    return int(text)


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",")]


def measure(
    events: bytes,
    asked: Sequence[Asked],
    seconds: float,
    blocks: int,
    progress: Callable[[Asked, int, int], None],
) -> Iterator[tuple[Asked, native.GpuRun | str]]:
    """The events of a file on the GPU of this machine, again and again for so many seconds, in each way.

    Instead of a run: in one line why this machine cannot do it in this way. `progress` is called with what
    is measured, its events that are answered, and all of them.
    """
    native.gpu_name(DRIVER)
    length = len(events) - HEADER_BYTES
    if events[:8] != MAGIC or length <= 0 or length % RECORD_BYTES:
        raise UserError("not a file of events")
    cubin = compiled()
    ways = [(one, _lines(blocks, one.batch)) for one in asked]
    for one, lines in ways:
        try:
            yield (
                one,
                native.gpu_run(
                    DRIVER, cubin, events, method=one.method, batch=one.batch, rate_hz=one.rate_hz,
                    events=max(one.batch, int(one.rate_hz * seconds)), blocks=blocks, lines=lines,
                    watchdog_s=10 * seconds + 10, progress=partial(progress, one),
                ),
            )  # fmt: skip
        except UserError as err:
            if not str(err).startswith("not available: "):
                raise
            yield one, str(err)


def _lines(blocks: int, batch: int) -> int:
    """Of a ring for these."""
    lines = LINES
    while lines % (4 * blocks) or lines < 4 * batch:
        lines *= 2
        if lines > 1 << 22:
            raise UserError(f"--blocks {blocks}: expected a power of two")
    return lines
