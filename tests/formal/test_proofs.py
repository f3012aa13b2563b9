# SPDX-License-Identifier: Apache-2.0
"""Every proof holds, and none of them holds for a broken copy of its block."""

import tomllib
from pathlib import Path

import pytest
from isthmus import formal

ROOT = Path(__file__).resolve().parents[2]
RTL = ROOT / "rtl"
MUTATIONS = tomllib.loads((ROOT / "benchmarks" / "mutations.toml").read_text())["mutation"]
FAULTS = [fault for fault in MUTATIONS if fault.get("always")]


def test_all_proofs_hold() -> None:
    results = formal.prove(jobs=2)
    print(formal.summary(results))
    assert len(results) >= 9
    assert [r.name for r in results if not r.passed] == []


def test_every_proof_has_a_broken_block() -> None:
    assert set(formal.available()) == {fault["proof"] for fault in FAULTS}


@pytest.mark.parametrize("fault", FAULTS, ids=[fault["proof"] for fault in FAULTS])
def test_a_broken_block_is_caught(fault: dict[str, str], tmp_path: Path) -> None:
    source = RTL / fault["file"]
    text = source.read_text()
    assert text.count(fault["old"]) == 1, f"{source} changed: {fault['old']!r} is no longer there once"
    (tmp_path / source.name).write_text(text.replace(fault["old"], fault["new"]))
    [result] = formal.prove([fault["proof"]], override=tmp_path)
    assert not result.passed
    assert "Assert failed" in result.failure or "failed assertion" in result.failure
    # A task that waits for a job which nobody gives back ends by its limit.
    assert "Reached TIMEOUT" not in result.log.read_text()


def test_an_unknown_proof_is_named() -> None:
    with pytest.raises(
        formal.FormalError, match=r"no proof named 'prim/nothing'; there are: .*etherbone/etherbone_core"
    ):
        formal.prove(["prim/nothing"])


def test_a_script_without_tasks_is_named(tmp_path: Path) -> None:
    script = tmp_path / "block.sby"
    script.write_text("[tasks]\n\n[options]\nmode prove\n")
    with pytest.raises(formal.FormalError, match=r"block.sby: its section \[tasks\] names none"):
        formal.tasks(script)
