# SPDX-License-Identifier: Apache-2.0
"""The GPU's kernels without a GPU: their numbers by a host's compiler, their cubin by NVRTC, their launcher
and the ring of lines with a driver that runs warps as threads."""

from __future__ import annotations

import ctypes
import json
import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import generator
import pytest
from isthmus import bootstrap, cache, cli
from isthmus.errors import UserError
from isthmus.trigger import gpu, native, page, result, tables
from isthmus.units import digits

HERE = Path(__file__).resolve().parent
FLAGS = (
    "-std=c++17",
    "-O2",
    "-ffp-contract=off",
    "-fPIC",
    "-shared",
    "-pthread",
    "-Wall",
    "-Wextra",
    "-Werror",
)


@pytest.fixture(scope="module", autouse=True)
def _native() -> None:
    bootstrap.ensure_native()


def built(source: Path) -> Path:
    """A shared object of a C++ file, from the cache where it is in it."""
    compiler = shutil.which("g++") or "g++"
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    key = cache.digest([source, *gpu.KERNELS, *gpu.HEADERS, version, *FLAGS])
    entry = cache.entry("host-kernels", f"{source.stem}-{key[:32]}")
    with cache.making(entry) as work:
        if work is not None:
            made = work / "made.so"
            command = [compiler, *FLAGS, "-I", str(gpu.SOURCES), "-x", "c++", str(source), "-o", str(made)]
            subprocess.run(command, check=True)
            cache.publish(made, entry)
    return entry


@pytest.fixture(scope="module")
def kernels() -> ctypes.CDLL:
    return ctypes.CDLL(str(built(gpu.KERNELS[0])))


@pytest.fixture(scope="module")
def driver() -> str:
    return str(built(HERE / "fake_cuda.cpp"))


def events(sample: str, count: int, seed: int = 77) -> bytes:
    """A file of events."""
    return native.events(sample, seed, count, 1e7)[0]


def records(sample: str, count: int, seed: int = 77) -> bytes:
    return events(sample, count, seed)[64:]


def rows(words: bytes, stride: int) -> list[tuple[float, ...]]:
    """Number of circles, margin, and three times x, y, r of each event."""
    return [struct.unpack_from("<I10f", words, at) for at in range(0, len(words), stride)]


@pytest.mark.parametrize(
    ("sample", "count"), [("reference", 6000), ("mixed", 3000), ("bright", 1500), ("noisy", 1500)]
)
def test_circles_are_those_of_the_cpu(kernels: ctypes.CDLL, sample: str, count: int) -> None:
    given = records(sample, count)
    expected = rows(native.circles(given), 44)
    results = ctypes.create_string_buffer(128 * count)
    kernels.host_rings_batch(native.gpu_tables(), given, results, count)
    found = rows(results.raw, 128)
    others, same_bits = [], 0
    for event, (own, cpu) in enumerate(zip(found, expected, strict=True)):
        same_bits += own == cpu
        if own[0] != cpu[0] or any(abs(a - b) > 0.01 for a, b in zip(own[2:], cpu[2:], strict=True)):
            others.append(event)
    # The robust fit adds in another order, so that a hit at its limit may fall on the other side.
    assert len(others) <= count // 1000, others
    # Events that leave at once and events of several circles have the CPU's bits.
    assert same_bits > 0.5 * count
    assert all(own == cpu for own, cpu in zip(found, expected, strict=True) if own[0] > 1 and cpu[0] > 1)
    assert sum(own[0] > 1 for own in found) > 0.1 * count


def test_one_circle_has_the_bits_of_the_cpu(kernels: ctypes.CDLL) -> None:
    given = records("reference", 4000)
    results = (ctypes.c_float * (4 * 4000))()
    kernels.host_taubin_batch(native.gpu_tables(), given, results, 4000)
    expected = struct.unpack("<16000f", native.circles(given, single=True))
    for event in range(4000):
        assert tuple(results[4 * event : 4 * event + 3]) == expected[4 * event : 4 * event + 3]
        assert results[4 * event + 3] ** 0.5 == pytest.approx(expected[4 * event + 3], rel=1e-5)


def test_any_bytes_are_read_within_the_tables(kernels: ctypes.CDLL) -> None:
    import random

    given = random.Random(3).randbytes(70 * 500)
    results = ctypes.create_string_buffer(128 * 500)
    kernels.host_rings_batch(native.gpu_tables(), given, results, 500)
    for count, _, *circles in rows(results.raw, 128):
        assert count <= 3
        assert all(97.9 < r < 199.1 for r in circles[2 : 3 * int(count) : 3])


ALL = 1 << 18


@pytest.mark.parametrize(
    ("sample", "seed", "count", "rate_hz", "together"),
    [
        ("reference", 1, 30_000, 1e7, ALL),
        ("reference", (1 << 64) - 1, 20_000, 1e3, 4096),
        ("mixed", 2, 30_000, 1e7, ALL),
        ("bright", 3, 15_000, 3e6, ALL),
        ("noisy", 4, 15_000, 1e8, 1000),
        ("single", 5, 15_000, 1e9, ALL),
        ("pile-up", 6, 30_000, 1e7, ALL),
        # Up to six rings an event, and events that end behind those which are drawn together.
        ("pile-up", 7, 20_000, 3e8, 1000),
        ("pile-up", 8, 20_000, 1e9, 64),
    ],
)
def test_events_made_by_a_gpu_are_those_of_the_cpu_bit_by_bit(
    driver: str, sample: str, seed: int, count: int, rate_hz: float, together: int
) -> None:
    expected = native.events(sample, seed, count, rate_hz)
    made = native.gpu_events(driver, b"fake", sample, seed, count, rate_hz, together=together)
    for own, cpu, size in zip(made, expected, (70, 156), strict=True):
        assert len(own) == size * count
        if own != cpu[64:]:
            other = [
                at for at in range(0, len(own), size) if own[at : at + size] != cpu[64 + at : 64 + at + size]
            ]
            pytest.fail(f"{len(other)} of {count}, the first {other[0] // size}")


def test_times_between_events_have_every_bit_of_their_doubles() -> None:
    # Records round times to TDC units; a fused multiplication would seldom be seen in them.
    steps = ctypes.CDLL(str(built(gpu.KERNELS[1]))).host_events_steps
    count, seed, first, rate_hz = 4000, 9, 1 << 33, 1e7
    doubles = [0.0] * 48
    doubles[17] = rate_hz * generator.TDC_NS  # of the sample's tables; without pile-up no other is read
    made, marks = (ctypes.c_double * count)(), (ctypes.c_uint32 * count)()
    steps(struct.pack("<48d", *doubles), ctypes.c_uint64(seed), ctypes.c_uint64(first), made, marks, count)
    expected = [generator.Draws(seed, first + at).exponential() * 1e9 / doubles[17] for at in range(count)]
    assert list(made) == expected


def test_more_events_at_once_than_the_gpu_draws_together_are_an_error(driver: str) -> None:
    with pytest.raises(UserError, match=r"^pile-up makes one of 2 events: too many for the GPU$"):
        native.gpu_events(driver, b"fake", "pile-up", 1, 1000, 1e9, together=2)
    for count, together in ((0, 64), (10, 0)):
        with pytest.raises(UserError, match="events"):
            native.gpu_events(driver, b"fake", "reference", 1, count, 1e7, together=together)


def test_events_that_the_gpu_made_are_found_without_a_copy(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 500 events of the file, in four passes.
    made = run(driver, method="resident", batch=100, lines=128)
    assert (made.events, made.answered, made.stages) == (2000, 2000, None)
    assert made.as_cpu >= 1998
    assert made.first.samples == 20
    of_other_sample = bytearray(events("reference", 40))
    of_other_sample[32:48] = b"mine".ljust(16, b"\0")
    settings = {"method": "resident", "batch": 20, "rate_hz": 1e6, "events": 40, "blocks": 1, "lines": 64}
    with pytest.raises(UserError, match=r"^not available: .* sample is known$"):
        native.gpu_run(driver, b"fake", bytes(of_other_sample), watchdog_s=1, **settings)  # type: ignore[arg-type]
    # What the GPU makes is compared with the file before anything is measured.
    monkeypatch.setenv("FAKE_CUDA_FLIP", "1")
    with pytest.raises(UserError, match=r"^event 7 as the GPU made it is not the given one$"):
        run(driver, method="resident")


def run(driver: str, **more: float | str) -> native.GpuRun:
    settings = {
        "method": "mapped", "batch": 20, "rate_hz": 20_000, "events": 2000, "blocks": 1, "lines": 64,
        "watchdog_s": 20, **more,
    }  # fmt: skip
    return native.gpu_run(driver, b"fake", events("reference", 500), **settings)  # type: ignore[arg-type]


def test_a_kernel_that_never_leaves_answers_every_event_in_its_line(driver: str) -> None:
    made = run(driver)
    assert (made.device, made.events, made.answered) == ("threads of the host", 2000, 2000)
    assert made.as_cpu >= 1998
    assert made.first.samples == made.last.samples == 100
    assert made.last.mean > made.first.mean > 0
    assert made.first.percentiles[2] is None
    assert made.stages is not None
    assert made.stages[1] > 0


def test_a_ring_that_is_full_delays_events_and_loses_none(driver: str) -> None:
    made = run(driver, rate_hz=1e9, lines=32, events=1000)
    assert made.answered == 1000
    assert made.as_cpu >= 999
    assert made.delayed > 0


def test_the_watchdog_ends_the_kernel_and_the_launcher_says_so(driver: str) -> None:
    with pytest.raises(UserError, match=r"was not answered: the kernel has left"):
        run(driver, watchdog_s=0.02, rate_hz=100, events=2000)


@pytest.mark.parametrize("method", ["launch", "graph"])
def test_a_kernel_a_batch_gives_the_same_circles(driver: str, method: str) -> None:
    made = run(driver, method=method, events=400)
    assert (made.answered, made.as_cpu >= 399, made.stages) == (400, True, None)


@pytest.mark.parametrize("batch", [20, 64])
def test_lines_that_are_copied_are_read_when_they_are_whole(driver: str, batch: int) -> None:
    # A batch of 20 goes over the end of the ring; the fake's copies put a line's number there first.
    made = run(driver, method="copy", batch=batch, events=1920, rate_hz=100_000)
    assert made.answered == 1920
    assert made.as_cpu >= 1918
    assert made.torn > 0


def test_stores_into_the_gpus_memory_are_used_where_the_machine_has_them(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=r"^not available: .*stores into the GPU's memory"):
        run(driver, method="store")
    monkeypatch.setenv("FAKE_CUDA_COHERENT", "1")
    made = run(driver, method="store", events=400)
    assert (made.answered, made.as_cpu >= 399) == (400, True)
    monkeypatch.setenv("FAKE_CUDA_FULL", "1")
    with pytest.raises(UserError, match=r"^cuMemPrefetchAsync: error 2$"):
        run(driver, method="store")


@pytest.mark.parametrize("method", ["mapped", "copy", "launch", "graph"])
def test_control_c_ends_a_run(driver: str, method: str) -> None:
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        if done or len(seen) == 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(driver, method=method, rate_hz=2000, events=40_000, progress=progress)  # type: ignore[arg-type]
    assert seen[0][1] == 40_000
    assert 0 < seen[-1][0] < 40_000


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"lines": 60}, "power of two"),
        ({"lines": 16}, "hold a batch"),
        ({"blocks": 0}, "multiple of the warps"),
        ({"events": 0}, "no events"),
        ({"watchdog_s": -1.0}, "watchdog"),
        ({"method": "radio"}, "no method 'radio'"),
    ],
)
def test_settings_that_cannot_run_are_one_line(driver: str, more: dict[str, float | str], error: str) -> None:
    with pytest.raises(UserError, match=error):
        run(driver, **more)


def test_what_a_machine_lacks_is_one_line(
    driver: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match=r"^no GPU here: /nowhere/libcuda\.so cannot be loaded$"):
        native.gpu_name("/nowhere/libcuda.so")
    with pytest.raises(UserError, match=r"^no GPU here: libm\.so\.6 has no cuInit$"):
        native.gpu_name("libm.so.6")
    monkeypatch.setenv("FAKE_CUDA_EMPTY", "1")
    with pytest.raises(UserError, match=r"^no GPU here: the driver has no device$"):
        native.gpu_name(driver)
    monkeypatch.setenv("FAKE_CUDA_ERROR", "1")
    with pytest.raises(UserError, match=r"^no GPU here: cuInit: CUDA_ERROR_NO_DEVICE$"):
        native.gpu_name(driver)
    monkeypatch.delenv("FAKE_CUDA_EMPTY")
    monkeypatch.delenv("FAKE_CUDA_ERROR")
    with pytest.raises(UserError, match="CUDA_ERROR_INVALID_IMAGE"):
        native.gpu_run(
            driver, b"none", events("single", 20), method="mapped", batch=1, rate_hz=1, events=1, blocks=1,
            lines=4, watchdog_s=1,
        )  # fmt: skip
    monkeypatch.setattr(gpu, "DRIVER", "/nowhere/libcuda.so")
    file = tmp_path / "rich.events"
    file.write_bytes(native.events("single", 1, 512, 1e7)[0])
    assert cli.run(["trigger", "gpu", str(file)]) == 2
    assert capsys.readouterr().err == "isthmus: no GPU here: /nowhere/libcuda.so cannot be loaded\n"


def test_the_command_prints_latencies(
    driver: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "DRIVER", driver)
    monkeypatch.setattr(gpu, "compiled", lambda: b"fake")
    file = tmp_path / "rich.events"
    file.write_bytes(native.events("reference", 1, 512, 1e7)[0])
    arguments = ["trigger", "gpu", str(file), "--rate", "10k", "--seconds", "0.05", "--blocks", "1"]
    assert cli.run(arguments) == 0
    out = capsys.readouterr().out
    assert out.startswith("# threads of the host: 500 of 500 events answered, ")
    assert "first event of a batch" in out
    assert "detected to loaded" in out
    assert cli.run([*arguments, "--method", "all", "--batch", "1,20", "--rate", "10k,20k"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in table[2:6]] == [
        ["mapped", "1", "0.01"], ["mapped", "1", "0.02"], ["mapped", "20", "0.01"], ["mapped", "20", "0.02"],
    ]  # fmt: skip
    assert [line.split()[0] for line in table[6::4]] == ["copy", "graph", "launch", "resident", "#"]
    assert table[-1].startswith("# store, 20 a batch, 0.02 M/s: not available: ")
    assert cli.run([*arguments, "--method", "store"]) == 2
    assert capsys.readouterr().err.startswith("isthmus: not available: ")
    for wrong, said in ((["--batch", "0"], "1 to 1024"), (["--method", "radio"], "unknown method 'radio'")):
        assert cli.run([*arguments, *wrong]) == 2
        assert said in capsys.readouterr().err
    assert cli.run([*arguments[:-1], "3"]) == 2
    assert "--blocks 3: expected a power of two" in capsys.readouterr().err


def benchmark(monkeypatch: pytest.MonkeyPatch, driver: str) -> native.Bench:
    """A small benchmark, on a machine that has this driver and a compiler."""
    monkeypatch.setattr(gpu, "DRIVER", driver)
    monkeypatch.setattr(gpu, "compiler", lambda: Path("libnvrtc.so"))
    monkeypatch.setattr(gpu, "compiled", lambda: b"fake")
    return native.bench("reference", 1, 512, 1, lambda _done, _total: None)


PACE = gpu.Pace(
    rate_hz=20_000, batch=20, seconds=0.05, batches=(4, 20), resident=(320, 1024), events=320, blocks=1
)


def test_the_benchmark_has_each_way_to_the_gpu_and_says_which_the_machine_lacks(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, float]] = []
    made = gpu.with_gpu(benchmark(monkeypatch, driver), lambda way, share: seen.append((way, share)), PACE)
    names = {method: f"GPU, {text}" for method, text in gpu.METHODS.items()}
    assert [way.name for way in made.ways] == [
        "isthmus, one core", "Almagest, one core",
        *(names[method] for method in ("mapped", "copy", "graph", "launch", "resident")),
    ]  # fmt: skip
    ((name, why),) = made.absent
    assert name == names["store"]
    assert why.startswith("not available: ")
    for way in made.ways[2:]:
        assert (way.batch, way.rate_hz, way.first.samples, way.last.samples) == (20, 20_000, 50, 50)
        larger = [320] if way.name == names["resident"] else []
        assert [batch for batch, rate in way.rates if rate > 0] == [4, 20, *larger]
        assert sum(count for _, count in way.first.buckets) == 50
    assert {way for way, _ in seen} >= {"mapped", "launch"}
    assert all(0 <= share <= 1 for _, share in seen)
    # The document holds all of it, and the page and the tables come from there.
    again = result.read(json.loads(result.to_json(made)), "it")
    assert again == made
    drawn = page.page(again)
    assert drawn.index('id="events"') < drawn.index('id="finders"') < drawn.index('id="ways"')
    rows = {row[0]: row for row in tables.ways_cells(again)}
    assert rows[names["store"]][1] == "not measured here"
    assert rows[names["copy"]][1:3] == ["20", "0.020"]
    mapped = again.ways[2]
    slow = replace(mapped, last=replace(mapped.last, percentiles=(9e6, None, None, None)))
    (row, *_) = tables.ways_cells(replace(again, ways=(slow,)))
    assert (row[3], row[8]) == (digits((mapped.first.percentiles[0] or 0) / 1e3, 3), "9,000")


def test_without_a_gpu_the_benchmark_says_why_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = gpu.with_gpu(
        benchmark(monkeypatch, "/nowhere/libcuda.so"), lambda _way, _share: pytest.fail("nothing runs")
    )
    assert [name for name, _ in made.absent] == [f"GPU, {text}" for text in gpu.METHODS.values()]
    said = "not measured here: no GPU here: /nowhere/libcuda.so cannot be loaded"
    assert tables.bench(made).count(said) == 1


KERNELS = (
    b"rings_serve", b"rings_batch", b"taubin_batch", b"events_steps", b"events_order", b"events_write",
)  # fmt: skip


def test_nvrtc_makes_a_cubin_of_the_same_source_without_a_gpu() -> None:
    try:
        gpu.compiler()
    except gpu.UnavailableError as err:
        pytest.skip(str(err))
    cubin = gpu.compiled()
    assert cubin[:4] == b"\x7fELF"
    # EM_CUDA, and the kernels' names among the symbols.
    assert struct.unpack_from("<H", cubin, 18) == (190,)
    for name in KERNELS:
        assert b".text." + name in cubin


def test_no_kernel_has_a_fused_multiply_add_or_an_approximation() -> None:
    try:
        library = gpu.compiler()
    except gpu.UnavailableError as err:
        pytest.skip(str(err))
    made = gpu.intermediate(library, gpu.ARCHITECTURE)
    assert all(f".entry {name.decode()}(" in made for name in KERNELS)
    assert "fma." not in made
    assert "mad.rn.f" not in made
    assert ".approx" not in made
    # Divisions and roots of the events are those of IEEE doubles.
    for one in ("add", "mul", "div", "sqrt"):
        assert f"{one}.rn.f64" in made
    # The check sees one where the compiler may fuse.
    assert "fma.rn.f64" in gpu.intermediate(library, gpu.ARCHITECTURE, ["--std=c++17", "--fmad=true"])


def test_an_error_of_the_compiler_is_its_first_line() -> None:
    try:
        library = gpu.compiler()
    except gpu.UnavailableError as err:
        pytest.skip(str(err))
    with pytest.raises(UserError, match=r"sm_1|architecture"):
        gpu.compile_kernels(library, "sm_1")
