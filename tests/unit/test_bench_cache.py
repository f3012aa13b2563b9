# SPDX-License-Identifier: Apache-2.0
"""A bench that passed is not simulated again, until anything that decides its outcome changes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import bench
import pytest
from isthmus import cache
from isthmus.testing import FRESH

GRAY = ("isthmus:prim:prim", "gray_counter", "gray_counter_tb")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The built programs are those of the user's cache; the records of passes are not."""
    built = cache.root() / "build"
    built.mkdir(parents=True, exist_ok=True)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "build").symlink_to(built)
    monkeypatch.setenv("ISTHMUS_CACHE", str(tmp_path / "cache"))
    for name in (FRESH, "ISTHMUS_SEED", "ISTHMUS_RTL_OVERRIDE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the test modules that were simulated; each run passes."""
    runs: list[str] = []

    def simulate(built: Path, top: str, module: str, seed: int, results: Path, place: Path) -> int:
        del top, seed, place
        assert built.is_dir()
        runs.append(module)
        results.write_text('<testsuite><testcase name="counts" /></testsuite>')
        return 0

    monkeypatch.setattr(bench, "_simulate", simulate)
    return runs


def gray(**parameters: int) -> bool:
    """Run the bench of the Gray counter: whether its pass was taken from the cache."""
    bench.run(*GRAY, parameters={"Width": 6, **parameters})
    return bench.outcomes.pop()


def test_a_bench_that_passed_is_taken_from_the_cache(simulated: list[str]) -> None:
    assert [gray(), gray(), gray()] == [False, True, True]
    assert simulated == ["gray_counter_tb"]


def test_a_bench_has_one_seed_with_its_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def simulate(built: Path, top: str, module: str, seed: int, results: Path, place: Path) -> int:
        del built, top, module, place
        seeds.append(seed)
        results.write_text('<testsuite><testcase name="counts" /></testsuite>')
        return 0

    monkeypatch.setattr(bench, "_simulate", simulate)
    monkeypatch.setenv(FRESH, "1")
    gray()
    gray()
    gray(Width=7)
    monkeypatch.setenv("ISTHMUS_SEED", "5")
    gray()
    assert seeds[0] == seeds[1] != seeds[2]
    assert seeds[3] == 5


def test_fresh_simulates_again(simulated: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    gray()
    monkeypatch.setenv(FRESH, "1")
    assert [gray(), gray()] == [False, False]
    assert len(simulated) == 3


def test_a_fixed_seed_always_simulates_and_is_not_recorded(
    simulated: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ISTHMUS_SEED", "1")
    assert [gray(), gray()] == [False, False]
    monkeypatch.delenv("ISTHMUS_SEED")
    assert gray() is False
    monkeypatch.setenv("ISTHMUS_SEED", "1")
    assert gray() is False
    assert len(simulated) == 4


def test_a_replaced_source_always_simulates_and_is_not_recorded(
    simulated: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "override"
    copy.mkdir()
    shutil.copy(bench.ROOT / "rtl" / "prim" / "gray_counter.sv", copy)
    monkeypatch.setenv("ISTHMUS_RTL_OVERRIDE", str(copy))
    assert [gray(), gray()] == [False, False]
    monkeypatch.delenv("ISTHMUS_RTL_OVERRIDE")
    assert gray() is False
    monkeypatch.setenv("ISTHMUS_RTL_OVERRIDE", str(copy))
    assert gray() is False
    assert len(simulated) == 4


def test_a_failed_bench_is_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):
        monkeypatch.setattr(bench, "_simulate", lambda *_: 1)
        with pytest.raises(pytest.fail.Exception, match="the simulation ended with 1 and without results"):
            gray()
        assert bench.outcomes.pop() is False


def test_another_parameter_another_pass(simulated: list[str]) -> None:
    gray()
    assert gray(Width=5) is False
    assert len(simulated) == 2


def test_inputs_are_the_module_and_all_it_imports_from_here() -> None:
    files = {part.name for part in bench.inputs("rdma_ni_pcie_tb", {}) if isinstance(part, Path)}
    assert {"bench.py", "rdma_ni_pcie_tb.py", "rdma_ni_tb.py", "rdma_words.py", "pcie_block.py"} <= files
    assert "vme_model.py" not in files


def test_inputs_are_the_variables_that_the_modules_read_and_those_of_cocotb() -> None:
    plain = bench.inputs("rdma_ni_tb", {"HOME": "/a"})
    assert "RDMA_LINKS=None" in plain
    assert bench.inputs("rdma_ni_tb", {"HOME": "/b"}) == plain
    assert bench.inputs("rdma_ni_tb", {"RDMA_LINKS": "2"}) != plain
    assert bench.inputs("rdma_ni_tb", {"COCOTB_TEST_FILTER": "x"}) != plain


def test_inputs_are_the_installed_packages() -> None:
    assert any(str(part).startswith("cocotb==") for part in bench.inputs("gray_counter_tb", {}))


@pytest.mark.parametrize("module", sorted(path.stem for path in bench.UNIT.glob("*/*_tb.py")))
def test_every_bench_reads_the_environment_as_the_cache_sees_it(module: str) -> None:
    assert bench.inputs(module, os.environ)


def test_a_hidden_look_at_the_environment_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "unit" / "x").mkdir(parents=True)
    (tmp_path / "unit" / "x" / "x_tb.py").write_text("import os\nname = 'A' + 'B'\nos.environ[name]\n")
    monkeypatch.setattr(bench, "UNIT", tmp_path / "unit")
    with pytest.raises(ValueError, match="reads the environment in a way that the cache does not see"):
        bench.inputs("x_tb", {})
