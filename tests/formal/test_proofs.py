# SPDX-License-Identifier: Apache-2.0
"""Every proof holds, and those of `SAMPLE` do not hold for a broken copy of their block.

`benchmarks/mutations.py` has broken copies for all of them, and is run before a release.
"""

import os
import shutil
import tomllib
from pathlib import Path

import pytest
from isthmus import cache, formal
from isthmus.jobs import pool
from isthmus.testing import ALL, FRESH

ROOT = Path(__file__).resolve().parents[2]
RTL = ROOT / "rtl"
MUTATIONS = tomllib.loads((ROOT / "benchmarks" / "mutations.toml").read_text())["mutation"]
FAULTS = [fault for fault in MUTATIONS if fault.get("always")]
SAMPLE = (
    "apenet/apenet_put",
    "axi/event_queue",
    "blocklink/blocklink_replay",
    "ccix/ccix_txns",
    "coherence/coherence_directory",
    "coherence/coherence_responses",
    "crossbar/crosspoint",
    "etherbone/etherbone_lite_tx",
    "ethernet/xgmii_rx",
    "link/link_ids",
    "nanet/nanet_stream",
    "pcie/pcie_axi_wb",
    "prim/arb_fixed",
    "rdma/rdma_read",
    "rich/rich_best",
    "svm/atc_epochs",
    "torus/torus_lane",
    "usb/fx2_port",
    "vme/vme_wb",
    "wishbone/wb_slice",
)
"""A quick proof of each family, and the one of the coherent home."""


@pytest.fixture
def fresh() -> bool:
    return bool(os.environ.get(FRESH))


@pytest.mark.parametrize("name", formal.available())
def test_a_proof_holds(name: str, fresh: bool, request: pytest.FixtureRequest) -> None:
    """A long one that is stored as proved from the same inputs runs with `--all` and `--fresh` only."""
    if not fresh and not os.environ.get(ALL) and formal.stored(name) is not None:
        request.node.user_properties.append(("stored", "true"))
        return
    [result] = formal.prove([name], jobs=1, fresh=fresh)
    assert result.passed, formal.summary([result])
    if result.cached:
        request.node.user_properties.append(("cached", "true"))


def test_there_are_proofs() -> None:
    assert len(formal.available()) >= 9


def test_every_proof_has_a_broken_block() -> None:
    assert set(formal.available()) == {fault["proof"] for fault in FAULTS}
    assert {name.split("/")[0] for name in SAMPLE} == {name.split("/")[0] for name in formal.available()}


@pytest.mark.parametrize("name", formal.available())
def test_what_a_stand_in_leaves_undriven_is_one_value_wherever_it_is_used(name: str) -> None:
    """Behind `prep` each use of an undriven net is a value of its own, or none at all."""
    text = (formal.FORMAL / f"{name}.sby").read_text()
    script, _, files = text.partition("[script]")[2].partition("[files]")
    if any(Path(file).name.startswith(("any_", "watched_")) for file in files.split()):
        before, _, _ = script.partition("prep -top")
        assert "setundef -undriven -anyseq" in before


@pytest.mark.parametrize("proof", SAMPLE)
def test_a_broken_block_is_caught(
    proof: str, tmp_path: Path, fresh: bool, request: pytest.FixtureRequest
) -> None:
    """That this very fault was caught is recorded, apart from the proofs that passed."""
    fault = next(fault for fault in FAULTS if fault["proof"] == proof)
    source = RTL / fault["file"]
    text = source.read_text()
    assert text.count(fault["old"]) == 1, f"{source} changed: {fault['old']!r} is no longer there once"
    (tmp_path / source.name).write_text(text.replace(fault["old"], fault["new"]))
    key = formal.key(fault["proof"], tmp_path)
    if not fresh and cache.passed("faults", fault["proof"], key):
        request.node.user_properties.append(("cached", "true"))
        return
    [result] = formal.prove([fault["proof"]], override=tmp_path)
    assert not result.passed
    assert "Assert failed" in result.failure or "failed assertion" in result.failure
    # A task that waits for a job which nobody gives back ends by its limit.
    assert "Reached TIMEOUT" not in result.log.read_text()
    cache.record_pass("faults", fault["proof"], key)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISTHMUS_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("own_cache")
def test_a_proof_that_passed_is_taken_from_the_cache_until_an_input_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "prim/arb_fixed"
    [first] = formal.prove([name])
    [second] = formal.prove([name])
    [third] = formal.prove([name], fresh=True)
    assert [r.passed for r in (first, second, third)] == [True, True, True]
    assert [r.cached for r in (first, second, third)] == [False, True, False]
    assert "(from the cache)" in formal.summary([second])
    before = formal.key(name)
    for tree in ("formal", "rtl"):
        shutil.copytree(ROOT / tree, tmp_path / tree)
    monkeypatch.setattr(formal, "FORMAL", tmp_path / "formal")
    assert formal.key(name) == before, "where the sources are does not matter"
    for file in ("formal/prim/arb_fixed.sby", "formal/prim/arb_fixed_props.sv", "rtl/prim/arb_fixed.sv"):
        changed = tmp_path / file
        text = changed.read_text()
        changed.write_text(text + "\n")
        assert formal.key(name) != before, file
        changed.write_text(text)


def test_one_proof_twice_at_once_passes_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two commands of one checkout, each with a cache of its own: the second waits for the first."""

    def prove(number: int) -> formal.ProofResult:
        monkeypatch.setenv("ISTHMUS_CACHE", str(tmp_path / str(number)))
        return formal.prove(["prim/arb_fixed"], fresh=True)[0]

    with pool(2) as threads:
        results = threads.map(prove, range(2))
    assert [result.failure for result in results] == ["", ""]


@pytest.mark.usefixtures("own_cache")
def test_a_proof_of_a_replaced_source_is_neither_taken_from_the_cache_nor_recorded(tmp_path: Path) -> None:
    name = "prim/arb_fixed"
    copy = tmp_path / "override"
    copy.mkdir()
    shutil.copy(RTL / "prim" / "arb_fixed.sv", copy)
    # The same text as in rtl/: it passes, and yet leaves no record.
    assert formal.prove([name], override=copy)[0].passed
    assert formal.prove([name])[0].cached is False
    assert formal.prove([name], override=copy)[0].cached is False


@pytest.mark.usefixtures("own_cache")
def test_a_failed_proof_is_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for tree in ("formal", "rtl"):
        shutil.copytree(ROOT / tree, tmp_path / tree)
    block = tmp_path / "rtl" / "prim" / "arb_fixed.sv"
    block.write_text(block.read_text().replace("(~req_i + 1'b1)", "~(req_i << 1)"))
    monkeypatch.setattr(formal, "FORMAL", tmp_path / "formal")
    for _ in range(2):
        [result] = formal.prove(["prim/arb_fixed"])
        assert (result.passed, result.cached) == (False, False)


def test_a_long_proof_is_stored_as_long_as_none_of_its_inputs_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tree in ("formal", "rtl"):
        shutil.copytree(ROOT / tree, tmp_path / tree)
    monkeypatch.setattr(formal, "FORMAL", tmp_path / "formal")
    monkeypatch.setattr(formal, "PROVED", tmp_path / "proved.json")

    def result(name: str, passed: bool, seconds: float) -> formal.ProofResult:
        return formal.ProofResult(name, passed, seconds, "" if passed else "wrong", None)

    long, short, failed = "prim/arb_fixed", "prim/arb_rr", "prim/fifo"
    written = formal.store([result(long, True, 99.0), result(short, True, 1.0), result(failed, False, 99.0)])
    assert written == [long]
    assert [formal.stored(name) for name in (long, short, failed)] == [99.0, None, None]
    # Another run keeps what it did not look at, and takes away what does not hold now.
    assert formal.store([result(failed, True, 50.0)]) == [failed]
    assert formal.store([result(failed, False, 50.0)]) == []
    assert [formal.stored(name) for name in (long, failed)] == [99.0, None]
    block = tmp_path / "rtl" / "prim" / "arb_fixed.sv"
    block.write_text(block.read_text() + "\n")
    assert formal.stored(long) is None


def test_a_file_of_stored_proofs_that_is_none_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formal, "PROVED", tmp_path / "proved.json")
    for text in ("", "[]", '{"prim/fifo": 1}', '{"prim/fifo": {"key": "x"}}'):
        formal.PROVED.write_text(text)
        with pytest.raises(formal.FormalError, match=r"proved.json: expected a table of proofs"):
            formal.stored("prim/fifo")


def test_an_unknown_proof_is_named() -> None:
    with pytest.raises(
        formal.FormalError, match=r"no proof named 'prim/nothing'; expected one of .*etherbone/etherbone_core"
    ):
        formal.prove(["prim/nothing"])


def test_a_script_without_tasks_is_named(tmp_path: Path) -> None:
    script = tmp_path / "block.sby"
    script.write_text("[tasks]\n\n[options]\nmode prove\n")
    with pytest.raises(formal.FormalError, match=r"block.sby: its section \[tasks\] names none"):
        formal.tasks(script)
