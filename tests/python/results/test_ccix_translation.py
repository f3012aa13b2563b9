# SPDX-License-Identifier: Apache-2.0
"""Virtual addresses through the cache without the simulator: terms, formula, what is printed and refused."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from isthmus.errors import UserError
from isthmus.results import Document, load
from isthmus.roads.ccix import bench as ccix
from isthmus.roads.ccix import command, translation
from isthmus.roads.ccix.bench import Transfers

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compare"))

import made_up

GIVEN = {ccix.FPGA: Path("ccix_fpga.so")}
TERMS = translation.Terms(local=24, remote=552, atc=4, ats=530)


def engine(scenario: Mapping[str, Any], off: float = 1.0) -> list[dict[str, Any]]:
    """A made-up measurement whose mean is the formula's with TERMS, of a mix times `off`."""
    (made,) = made_up.engine(scenario)
    work, own = scenario["workload"], made["workload"]
    memory = work.get("translation")
    lines = {"cached-hit": 1.0, "cached": 0.0}.get(work["driver"], 0.0)
    mean = lines * TERMS.local + (1 - lines) * TERMS.remote
    if memory:
        warm, skewed = memory["warm"], memory["order"] == "skewed"
        lines = (1.0 if warm else 0.25) if skewed else 0.0
        pages = 1.0 if warm else 0.5 if skewed else 0.1
        # A direct read has a walk of its own, beside that of its translation.
        own["translation"]["walks"], own["translation"]["direct"] = 1.5 * (1 - pages), 0.5 * (1 - pages)
        own["cache"] = {"hits": lines}
        mean = TERMS.mean(lines, pages) * (off if skewed and not warm else 1.0)
    made["latency_ps"]["avg"] = 1e3 * mean
    return [made]


def measured(off: float = 1.0) -> Document:
    points = translation.points([ccix.loaded()], ["isthmus"], (64,), (1 << 20, 4 << 20))
    return translation.measure(points, lambda scenario: engine(scenario, off), GIVEN)


def test_the_formula_weighs_each_term_with_its_share() -> None:
    assert TERMS.mean(1, 1) == 28
    assert TERMS.mean(0, 1) == 556
    assert TERMS.mean(0, 0) == 552 + 530
    assert TERMS.mean(0.5, 0.75) == pytest.approx(288 + 3 + 132.5)


def test_each_term_comes_from_its_own_run() -> None:
    made = measured()
    found = translation.terms(made, "ccix-au280", "isthmus")
    assert found is not None
    for name in ("local", "remote", "atc", "ats"):
        assert getattr(found, name) == pytest.approx(getattr(TERMS, name)), name
    assert translation.terms(made, "ccix-au280", "as-published") is None


def test_the_distance_is_that_of_the_worst_mix() -> None:
    for off, percent in ((1.0, 0), (1.07, 7)):
        made = measured(off)
        mixed = [m for m in made if translation.is_mixed(m)]
        assert len(mixed) == 2
        assert translation.percent(mixed, made) == pytest.approx(percent, abs=1e-6)
        # What is no mix has no distance.
        assert translation.percent(list(made), made) is None


def test_both_caches_are_in_the_gateware_and_reads_go_around_them_where_the_profile_says_so() -> None:
    for profile, direct in (("isthmus", 1), ("as-published", 0)):
        parameters = ccix.parameters(ccix.loaded(), profile, "svm", cache=True)  # type: ignore[arg-type]
        assert parameters["Translate"] == 1
        assert parameters["CacheLines"] == 4096
        assert parameters["Direct"] == direct
    one = Transfers("device-read", driver="svm", translation=translation.ALL_HIT, cache=True)
    work = ccix.scenario(ccix.Point(one, "isthmus", ccix.loaded()), GIVEN)["workload"]
    assert work["cache"] is True
    assert work["translation"]["order"] == "skewed"


def test_the_formula_is_printed_beside_the_mean(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = command.translation(size="64", out=tmp_path, runner=engine, given=GIVEN)
    text = capsys.readouterr().out
    assert "L_local 24.0, L_remote 552.0, L_atc 4.0, L_ats 530.0" in text
    assert "formula: P_sc L_local + (1 - P_sc) L_remote + P_atc L_atc + (1 - P_atc) L_ats" in text
    rows = [line.split() for line in text.splitlines() if " KiB " in line]
    assert [row[0] for row in rows] == [str(memory >> 10) for memory in translation.FOOTPRINTS]
    assert all(row[-1] == "1.000" for row in rows)
    assert "through a cache, virtual addresses: pages of 4K random, miss" in text
    stored = load(tmp_path / "ccix-translation.json")
    assert len(stored.results) == len(made.results)
    assert "isthmus, cache, 4K random, miss" in (tmp_path / "ccix-translation.html").read_text()


def test_a_cache_is_of_virtual_addresses_here() -> None:
    with pytest.raises(UserError, match="cache: of the driver svm"):
        command.run(driver="cached", cache=True, runner=engine, given=GIVEN)
    made = command.run(
        driver="svm", cache=True, operation="device-read", size="64", runner=engine, given=GIVEN,
        format="json",
    )  # fmt: skip
    assert all(m.workload["cache"] for m in made)
