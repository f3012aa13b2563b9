# SPDX-License-Identifier: Apache-2.0
"""Random faults: their names, their places in a proof's netlist, how they are counted and compared."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
LINE = (
    "mutate -mode cnot1 -module link_init -cell $procmux$39 -port A -portbit 1 -ctrlbit 5"
    " -src link_init.sv:52.9-52.35 -src link_init.sv:51.16-57.10"
)


@pytest.fixture(scope="module")
def mutate(script: Callable[[str], ModuleType]) -> ModuleType:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return script("mutate")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture
def netlists(mutate: ModuleType) -> ModuleType:
    return sys.modules["fault_netlists"]


def test_a_fault_is_read_from_yosys_and_given_back_with_its_select(netlists: ModuleType) -> None:
    fault = netlists.Fault.parse(LINE)
    assert str(fault) == "cnot1 by bit 5 $procmux$39 A[1] link_init.sv:52.9-52.35"
    assert fault.command("top", 7, 3) == (
        "mutate -mode cnot1 -module top -cell $procmux$39 -port A -portbit 1 -ctrlbit 5"
        " -ctrl isthmus_fault 7 3"
    )


def _cells(netlists: ModuleType, width: int, *names: str) -> object:
    return netlists.Cells({("m.sv:1.1", "$mux"): names}, {(name, "A"): width for name in names})


@pytest.mark.parametrize(
    ("bit", "control", "there"),
    [(0, None, (0, None)), (7, None, (3, None)), (4, None, (2, None)), (6, 7, (3, 2)), (0, 1, (0, 1))],
)
def test_a_fault_is_at_the_bit_of_the_same_rank_in_a_narrower_netlist(
    netlists: ModuleType, bit: int, control: int | None, there: tuple[int, int | None]
) -> None:
    fault = netlists.Fault("inv", "b", "A", bit, control)
    moved = netlists.there(fault, _cells(netlists, 8, "a", "b"), _cells(netlists, 4, "c", "d"))
    assert (moved.cell, moved.bit, moved.control) == ("d", *there)


def test_of_cells_at_one_place_it_is_in_the_one_as_wide(netlists: ModuleType) -> None:
    """The other netlist has them in another order."""
    key = ("top.sv:5.3", "$mux")
    drawn = netlists.Cells({key: ("a", "b")}, {("a", "Y"): 1, ("b", "Y"): 6})
    other = netlists.Cells({key: ("c", "d")}, {("c", "Y"): 6, ("d", "Y"): 1})
    moved = netlists.there(netlists.Fault("cnot1", "b", "Y", 5, 0), drawn, other)
    assert (moved.cell, moved.bit, moved.control) == ("c", 5, 0)


def test_a_fault_of_a_cell_that_the_proof_does_not_have_is_not_in_it(netlists: ModuleType) -> None:
    drawn = _cells(netlists, 8, "a", "b")
    assert netlists.there(netlists.Fault("inv", "a", "A", 0), drawn, netlists.Cells({}, {})) is None
    one_bit = _cells(netlists, 1, "a", "b")
    assert netlists.there(netlists.Fault("cnot0", "a", "A", 1, 2), drawn, one_bit) is None


def test_the_enable_of_a_memory_that_is_always_read_has_no_fault(netlists: ModuleType) -> None:
    read, write = ("top.sv:5.3", "$memrd_v2"), ("top.sv:7.3", "$memwr_v2")
    cells = netlists.Cells({read: ("a",), write: ("b",)}, {})
    assert netlists.always_on(cells, netlists.Fault("const0", "a", "EN", 0))
    assert not netlists.always_on(cells, netlists.Fault("const0", "a", "DATA", 0))
    assert not netlists.always_on(cells, netlists.Fault("const0", "b", "EN", 0))


def test_each_task_of_a_proof_has_its_own_lines(netlists: ModuleType) -> None:
    prove, pace, cover = netlists.Proof.load("rdma/rdma_ack").tasks
    assert (prove.name, prove.mode, prove.depth) == ("prove", "prove", 1)
    assert (pace.name, pace.mode, pace.depth) == ("pace", "prove", 8)
    assert (cover.name, cover.mode, cover.depth) == ("cover", "cover", 16)
    assert "-D PACE" in pace.script[0]
    assert "PACE" not in prove.script[0]
    assert prove.script[1:] == pace.script[1:] == cover.script[1:]
    assert prove.engine == ("--unroll", "z3", "combined_solver.solver2_timeout=1")
    assert cover.engine == ("z3",)
    assert netlists.Proof.load("link/link_elastic").tasks[0].multiclock


def test_every_proof_can_be_read(netlists: ModuleType) -> None:
    names = [f"{f.parent.name}/{f.stem}" for f in (ROOT / "formal").glob("*/*.sby")]
    for name in names:
        proof = netlists.Proof.load(name)
        assert all(file.is_file() for file in proof.files), name
        assert all(task.top and task.engine for task in proof.tasks), name


def test_modules_of_the_table_have_their_benches_and_proofs(mutate: ModuleType) -> None:
    targets = {target.module: target for target in mutate.targets()}
    for target in targets.values():
        assert (ROOT / "rtl" / f"{target.module}.sv").is_file(), target.module
        assert all((ROOT / bench.partition("::")[0]).is_file() for bench in target.benches)
    assert targets["link/link_init"].proofs() == ["link/link_init"]
    assert targets["rdma/rdma_parse"].proofs() == ["rdma/rdma_receive"]
    assert targets["rdma/rdma_segment"].proofs() == ["rdma/rdma_segment", "rdma/rdma_segment_spread"]


def test_faults_without_effect_do_not_count_and_a_reason_is_kept(
    mutate: ModuleType, netlists: ModuleType, tmp_path: Path
) -> None:
    def outcome(bit: int, **verdict: object) -> object:
        return mutate.Outcome(netlists.Fault("inv", "a", "A", bit), **verdict)

    outcomes = [
        outcome(0, proof=True, bench=True, simulated=True),
        outcome(1, bench=True, simulated=True),
        outcome(2, simulated=True, unseen="in runs of any length"),
        outcome(3, simulated=True, note="seen at the outputs in clock 5"),
    ]
    first = mutate.score(outcomes, 1, None)
    assert (first.faults, first.proof, first.bench, first.simulated, first.either) == (4, 1, 2, 4, 2)
    assert first.unseen == {"inv a A[2]": "in runs of any length"}
    assert first.missed == {"inv a A[3]": "not explained; seen at the outputs in clock 5"}
    assert first.share == pytest.approx(2 / 3)
    first.missed["inv a A[3]"] = "a statistic"
    file = tmp_path / "scores.json"
    mutate.store({"m": first}, file)
    again = mutate.score(outcomes, 1, mutate.stored(file)["m"])
    assert again.missed == {"inv a A[3]": "a statistic"}


@pytest.mark.parametrize(("found", "code"), [(3, 0), (2, 0), (1, 1)])
def test_a_score_below_the_stored_one_is_red(
    mutate: ModuleType,
    netlists: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    found: int,
    code: int,
) -> None:
    def outcomes(count: int) -> list[object]:
        return [mutate.Outcome(netlists.Fault("inv", "a", "A", k), proof=k < count) for k in range(3)]

    file = tmp_path / "scores.json"
    mutate.store({"link/link_init": mutate.score(outcomes(2), 1, None)}, file)
    monkeypatch.setattr(mutate, "stored", lambda: {"link/link_init": mutate.score(outcomes(2), 1, None)})
    monkeypatch.setattr(mutate, "measure", lambda *_: outcomes(found))
    assert mutate.main(["--module", "link/link_init"]) == code


def test_what_is_stored_belongs_to_the_table_and_is_explained(mutate: ModuleType) -> None:
    known = {target.module for target in mutate.targets()}
    scores = mutate.stored()
    assert set(scores) <= known
    for module, score in scores.items():
        assert score.faults == score.either + len(score.unseen) + len(score.missed), module
        assert not [why for why in score.missed.values() if why.startswith("not explained")], module


def test_an_unknown_module_is_one_clear_line(mutate: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        mutate.main(["--module", "prim/none"])
    assert stop.value.code == 2
    assert "no module 'prim/none'; expected one of link/link_init" in capsys.readouterr().err


def test_the_scores_are_readable_json(mutate: ModuleType) -> None:
    assert isinstance(json.loads(mutate.SCORES.read_text()), dict)


@pytest.mark.parametrize(("code", "found"), [("time.sleep(2.5)", False), ("while True: pass", True)])
def test_a_run_that_only_waits_is_not_ended(
    mutate: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, found: bool
) -> None:
    benches = sys.modules["fault_bench"]
    head, mark, _ = benches.SIMULATE.partition("from cocotb_tools")
    assert mark
    passed = "Path(json.loads(sys.argv[1])['results_xml']).write_text('<r><testcase name=\"a\"/></r>')"
    script = f"{head}\nimport time\nfrom pathlib import Path\n{code}\n{passed}\n"
    monkeypatch.setattr(benches, "SIMULATE", script)
    bench = object.__new__(benches.Bench)
    bench.run = benches.Run("top", "test", {}, False, (), {})
    bench.place = bench.built = tmp_path
    bench.limit_s = 1.0
    assert bool(bench.failure(1)) == found


COUNTER = """
; yosys-smt2-module top
(declare-sort |top_s| 0)
(declare-fun |top_is| (|top_s|) Bool)
; yosys-smt2-input isthmus_fault 2
; yosys-smt2-wire isthmus_fault 2
(declare-fun |top#0| (|top_s|) (_ BitVec 2))
(define-fun |top_n isthmus_fault| ((state |top_s|)) (_ BitVec 2) (|top#0| state))
(declare-fun |top#1| (|top_s|) (_ BitVec 2))
(define-fun |top_a| ((state |top_s|)) Bool (not (= (|top#1| state) (|top#0| state))))
(define-fun |top_u| ((state |top_s|)) Bool true)
(define-fun |top_h| ((state |top_s|)) Bool true)
(define-fun |top_i| ((state |top_s|)) Bool (= (|top#1| state) #b00))
(define-fun |top_t| ((state |top_s|) (next_state |top_s|)) Bool
  (= (|top#1| next_state) (ite (= (|top#1| state) #b10) #b10 (bvadd (|top#1| state) #b01))))
; yosys-smt2-topmod top
"""
"""A counter from 0 that stays at 2; fault k says that it is never k."""


@pytest.mark.parametrize("engine", [("bitwuzla",), ("z3",), ("--unroll", "z3")])
@pytest.mark.parametrize(
    ("arguments", "fails"),
    [(("-t", "4"), {1: 1, 2: 2}), (("-t", "2"), {1: 1}), (("-i", "-t", "1"), {1: 1, 2: 1})],
)
def test_one_solver_names_the_faults_that_break_an_assertion(
    netlists: ModuleType,
    tmp_path: Path,
    engine: tuple[str, ...],
    arguments: tuple[str, ...],
    fails: dict[int, int],
) -> None:
    model = tmp_path / "any.smt2"
    model.write_text(COUNTER)
    begin = time.monotonic()
    answers = netlists.solve_any(model, engine, arguments, [1, 2, 3], 60.0)
    assert time.monotonic() - begin < 60.0, "it does not end when it is done"
    assert answers.done, answers.said
    assert answers.fails == fails
    assert netlists.solve_any(model, engine, arguments, [3], 60.0).fails == {}


def test_a_proof_that_fails_without_a_fault_is_left_out_and_the_module_still_measured(
    mutate: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from types import SimpleNamespace

    sample = mutate.Sample.__new__(mutate.Sample)
    sample.target = mutate.Target("prim/fifo", ())
    sample.proofs = [
        SimpleNamespace(name=name, tasks=[SimpleNamespace(mode="prove")]) for name in ("whole", "inside")
    ]
    tried = []

    def task(proof: SimpleNamespace, _: object) -> None:
        tried.append(proof.name)
        if proof.name == "inside":
            raise mutate.BrokenError("inside prove: without a fault: assert failed")

    monkeypatch.setattr(sample, "_task", task)
    sample.prove()
    sample.prove()
    assert tried == ["whole", "inside", "whole"]
    assert "fifo: proof inside left out: inside prove: without a fault" in capsys.readouterr().err
