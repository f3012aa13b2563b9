# SPDX-License-Identifier: Apache-2.0
"""The table of faults fits the sources, and the script tells a seen fault from an unseen one."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "benchmarks" / "mutations.py"


@pytest.fixture(scope="module")
def mutations(script: Callable[[str], ModuleType]) -> ModuleType:
    return script("mutations")


def test_every_fault_applies_and_every_module_has_three(mutations: ModuleType) -> None:
    table = mutations.load()
    assert all(m.mutated() != (ROOT / "rtl" / m.file).read_text() for m in table)
    families = ["prim", "wishbone", "ethernet", "etherbone", "usb", "vme", "pcie", "link", "crossbar", "rdma"]
    families += ["blocklink", "coherence"]
    modules = {
        path.relative_to(ROOT / "rtl").with_suffix("").as_posix()
        for family in families
        for path in (ROOT / "rtl" / family).glob("*.sv")
        if not path.name.endswith("_pkg.sv")
    }
    modules |= {"regs/wb_gige_ctrl", "regs/wb_regs_adapter", "board/gige_etherbone", "board/usb_etherbone"}
    modules |= {"board/vme_wishbone", "board/link_switch", "board/pcie_etherbone", "board/pcie_mmio"}
    modules |= {"board/rdma_ni", "board/gige_master"}
    few = {name for name in modules if sum(m.module == name for m in table) < 3}
    assert few == set()


def test_every_bench_of_the_table_exists(mutations: ModuleType) -> None:
    nodes = sorted({m.bench for m in mutations.load() if m.bench})
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *nodes],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_seen_fault_is_killed_and_an_unseen_one_survives(mutations: ModuleType) -> None:
    seen = mutations.Mutation("prim/arb_fixed.sv", "(~req_i + 1'b1)", "~(req_i << 1)", proof="prim/arb_fixed")
    outcome = mutations.run(seen)
    assert outcome.verdict == "killed", outcome
    same = mutations.Mutation(
        "prim/arb_fixed.sv", "(~req_i + 1'b1)", "(1'b1 + ~req_i)", proof="prim/arb_fixed"
    )
    assert mutations.run(same).verdict == "survived"
    wrong = mutations.Mutation("prim/arb_fixed.sv", "(~req_i + 1'b1)", "(~req_i +", proof="prim/arb_fixed")
    assert mutations.run(wrong).verdict == "broken"


def test_a_bench_that_sees_a_fault_is_red_and_names_its_tests(mutations: ModuleType) -> None:
    fault = ("gray_q  <= count_d ^ (count_d >> 1);", "gray_q  <= count_d;")
    bench = "tests/unit/prim/test_gray_counter.py"
    outcome = mutations.run(mutations.Mutation("prim/gray_counter.sv", *fault, bench=bench))
    assert outcome.verdict == "killed", outcome
    assert "a_reader_never_sees_a_count_that_was_not" in outcome.note


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ('old = "nowhere"\nnew = "x"\nbench = "b"', "occurs 0 times, expected once"),
        ('old = "req_i"\nnew = "x"\nbench = "b"', "times, expected once"),
        ('old = "nowhere"\nnew = "x"', "must have either bench or proof"),
        ('old = "nowhere"\nbench = "b"', "must have file, old, new"),
        ('old = "& (~req_i"\nnew = "x"\nproof = "prim/none"', "no proof prim/none"),
        (
            'old = "& (~req_i"\nnew = "x"\nproof = "prim/arb_fixed"\nalways = 1',
            "always is 1, it must be true",
        ),
        ('old = "& (~req_i"\nnew = "x"\nbench = "b"\nalways = true', "with a proof"),
    ],
)
def test_a_wrong_entry_is_named(mutations: ModuleType, tmp_path: Path, entry: str, says: str) -> None:
    table = tmp_path / "table.toml"
    table.write_text(f'[[mutation]]\nfile = "prim/arb_fixed.sv"\n{entry}\n')
    with pytest.raises(mutations.MutationError, match=r"table\.toml, mutation 1: ") as error:
        mutations.load(table)
    assert says in str(error.value)


def test_an_unknown_module_is_one_clear_line() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--module", "prim/none"], capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 2
    assert done.stderr.startswith("mutations: no module 'prim/none'; expected one of apenet/")
    assert done.stderr.count("\n") == 1
