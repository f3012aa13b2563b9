# SPDX-License-Identifier: Apache-2.0
"""Published beside simulated: nothing is hidden, and verdicts follow the numbers."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path

import fixture
import pytest
from isthmus import verify
from isthmus.errors import UserError
from isthmus.results import Document, document
from isthmus.verify import PUBLISHED


@pytest.fixture(scope="module")
def made() -> Document:
    return fixture.document()


def _by_id(rows: list[verify.Row]) -> dict[str, verify.Row]:
    return {row.id: row for row in rows}


def test_every_published_number_is_a_row(made: Document) -> None:
    rows = verify.rows(made)
    lines = [x for x in (PUBLISHED / "etherbone.csv").read_text().splitlines() if not x.startswith("#")]
    assert [row.id for row in rows] == [line.partition(",")[0] for line in lines[1:]]
    assert all(row.where for row in rows)
    printed = verify.text(rows, verify.targets(made))
    for row in rows:
        assert f"\n{row.id} " in printed


def test_every_prediction_and_claim_is_simulated(made: Document) -> None:
    judged = [row for row in verify.rows(made) if row.kind in ("prediction", "claim", "bound")]
    assert [row.id for row in judged if row.simulated is None] == []


def test_platforms_that_were_not_measured_say_so() -> None:
    rows = verify.rows(fixture.document(systems=("gige-direct",), timestamps=(1, 8)))
    others = [row for row in rows if row.kind == "prediction" and "gige" not in row.id]
    assert Counter(row.verdict for row in others) == {"not simulated": len(others)}
    assert len(others) > 20


def test_a_claim_holds_when_its_ratio_is_above_one(made: Document) -> None:
    raw = copy.deepcopy(dict(made.raw))
    rows = _by_id(verify.rows(made))
    claim = rows["eb.claim.usb.over.pcie"]
    assert (claim.kind, claim.simulated, claim.verdict) == ("claim", 1.0, "DIFFERS")
    for item in raw["results"]:
        if item["id"] == "etherbone/usb-t5810/as-published/pipelined/ts8":
            item["throughput"]["payload_bit_s"] *= 2
    changed = _by_id(verify.rows(document(raw["context"], raw["results"])))
    assert (changed["eb.claim.usb.over.pcie"].simulated, changed["eb.claim.usb.over.pcie"].verdict) == (
        2.0,
        "agrees",
    )


def test_verdicts_follow_the_documents_own_error(made: Document) -> None:
    rows = _by_id(verify.rows(made))
    inside = rows["eb.gige.inside.timestamp"]
    assert (inside.simulated, inside.ratio, inside.verdict) == (64.0, 1.0, "agrees")
    tlu = rows["eb.tlu.gige.time"]
    assert tlu.simulated == pytest.approx(29.258)
    assert tlu.verdict == "DIFFERS"
    assert rows["eb.fpga.clock"].verdict == "input"
    assert rows["eb.error.gige"].verdict == "context"


def test_a_run_without_the_switch_leaves_its_rows_open() -> None:
    rows = _by_id(verify.rows(fixture.document(systems=("gige-direct",), timestamps=(1, 2))))
    assert rows["eb.tlu.gige.time"].verdict == "not simulated"
    assert rows["eb.gige.blocking.flat"].verdict == "agrees"


def test_limits_are_met_or_missed(made: Document) -> None:
    raw = copy.deepcopy(dict(made.raw))
    assert [t.verdict for t in verify.targets(made)] == ["met"] * 7
    for item in raw["results"]:
        if item["id"].endswith("/path16"):
            item["workload"]["clocks"]["turnaround"] = 13
        if item["id"].endswith("/line-rate8"):
            item["throughput"]["payload_bit_s"] = 711e6
    found = {t.id: t for t in verify.targets(document(raw["context"], raw["results"]))}
    most, least = found["eb.rtl.turnaround"], found["eb.rtl.throughput"]
    assert (most.simulated, most.least, most.verdict) == (13.0, False, "MISSED")
    assert (least.simulated, least.least, least.verdict) == (711.0, True, "MISSED")


def test_the_summary_counts(made: Document) -> None:
    rows = verify.rows(made)
    found = verify.summary(rows, verify.targets(made))
    judged = [row for row in rows if row.kind == "prediction" and row.tolerance is not None]
    agree = sum(row.verdict == "agrees" for row in judged)
    left = sum(row.kind == "prediction" and row.tolerance is None for row in rows)
    assert found == (
        f"{agree} of {len(judged)} predictions agree within the document's own error ({left} not judged: "
        "not simulated, or no error given); 1 of 5 of the document's conclusions and bounds come out; 7 of 7 "
        "gateware limits met."
    )


def test_limits_that_were_not_simulated_are_not_counted_as_missed(made: Document) -> None:
    raw = dict(made.raw)
    some = [item for item in raw["results"] if not item["id"].endswith(("/path1", "/line-rate8"))]
    limits = verify.targets(document(raw["context"], some))
    known = sum(target.simulated is not None for target in limits)
    assert 0 < known < 7
    assert verify.summary([], limits).endswith(
        f"; {known} of {known} gateware limits met ({7 - known} not simulated)."
    )


def test_unknown_document_and_wrong_lines(made: Document, tmp_path: Path) -> None:
    for name in ("forth", "rtl-targets"):
        with pytest.raises(
            UserError, match=f"nothing published as '{name}'; there are: etherbone, rdma, switch$"
        ):
            verify.run(name, document=made)
    text = (PUBLISHED / "etherbone.csv").read_text()
    (tmp_path / "etherbone.csv").write_text(text.replace(",input,", ",guess,", 1))
    with pytest.raises(UserError, match="kind 'guess' is none of input, prediction, claim, bound, context"):
        verify.rows(made, folder=tmp_path)
    (tmp_path / "etherbone.csv").write_text(text.replace("latency_spread", "happiness"))
    with pytest.raises(UserError, match="quantity 'happiness' is none of"):
        verify.rows(made, folder=tmp_path)
