# SPDX-License-Identifier: Apache-2.0
"""Published beside simulated: nothing is hidden, and verdicts follow the numbers."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from pathlib import Path

import fixture
import pytest
from isthmus import verify
from isthmus.errors import UserError
from isthmus.paths import ROOT
from isthmus.results import Document, document
from isthmus.verify import PUBLISHED


@pytest.fixture(scope="module")
def made() -> Document:
    return fixture.document()


def _by_id(rows: list[verify.Row]) -> dict[str, verify.Row]:
    return {row.id: row for row in rows}


def test_every_published_number_is_a_row(made: Document) -> None:
    rows = verify.rows(made, "etherbone")
    lines = [x for x in (PUBLISHED / "etherbone.csv").read_text().splitlines() if not x.startswith("#")]
    assert [row.id for row in rows] == [line.partition(",")[0] for line in lines[1:]]
    assert all(row.where for row in rows)
    printed = verify.text(rows, verify.targets(made, "etherbone"))
    for row in rows:
        assert f"\n{row.id} " in printed


def test_no_page_says_that_the_tables_have_every_number_of_a_document() -> None:
    """Points of figures are in none, and nobody can show that a list is complete."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    said = [page.name for page in pages if "every number of the" in " ".join(page.read_text().split())]
    assert said == []


def test_every_prediction_and_claim_is_simulated(made: Document) -> None:
    judged = [
        row
        for row in verify.rows(made, "etherbone")
        if row.kind in ("prediction", "identity", "claim", "bound")
    ]
    assert [row.id for row in judged if row.simulated is None] == []


def test_platforms_that_were_not_measured_say_so() -> None:
    rows = verify.rows(fixture.document(systems=("gige-direct",), timestamps=(1, 8)), "etherbone")
    others = [row for row in rows if row.kind == "prediction" and "gige" not in row.id]
    assert Counter(row.verdict for row in others) == {"not simulated": len(others)}
    assert len(others) > 15


def test_a_claim_holds_when_its_ratio_is_above_what_the_documents_error_leaves(made: Document) -> None:
    raw = copy.deepcopy(dict(made.raw))
    rows = _by_id(verify.rows(made, "etherbone"))
    claim = rows["eb.claim.usb.over.pcie"]
    assert (claim.kind, claim.simulated, claim.verdict) == ("claim", 1.0, "DIFFERS")
    assert (claim.value, claim.allowed) == (1.22, "above")
    for factor, verdict in ((1.2, "DIFFERS"), (1.25 / 1.2, "agrees")):
        for item in raw["results"]:
            if item["id"] == "etherbone/usb-t5810/as-published/pipelined/ts8":
                item["throughput"]["payload_bit_s"] *= factor
        changed = _by_id(verify.rows(document(raw["context"], raw["results"]), "etherbone"))
        assert changed["eb.claim.usb.over.pcie"].verdict == verdict


@pytest.mark.parametrize("name", ["etherbone", "rdma", "switch"])
def test_a_claim_without_a_threshold_of_its_own_is_marked_as_a_direction(name: str) -> None:
    for row in verify.rows(fixture.document(systems=("gige-direct",), timestamps=(8,)), name):
        if row.kind == "claim":
            assert row.value > 1 or "direction only" in row.note, row.id
            assert row.allowed == ("above" if row.value > 1 else "direction")


def test_verdicts_follow_the_documents_own_error(made: Document) -> None:
    rows = _by_id(verify.rows(made, "etherbone"))
    inside = rows["eb.gige.inside.timestamp"]
    assert (inside.simulated, inside.ratio, inside.verdict) == (64.0, 1.0, "agrees")
    tlu = rows["eb.tlu.usb.t5810.time"]
    assert tlu.simulated == pytest.approx(26.258)
    assert tlu.verdict == "DIFFERS"
    # Chosen with the number in view: it says nothing that it comes out.
    assert rows["eb.tlu.gige.pc"].verdict == "input"
    assert rows["eb.fpga.clock"].verdict == "input"
    assert rows["eb.error.gige"].verdict == "context"


def test_a_run_without_the_switch_leaves_its_rows_open() -> None:
    rows = _by_id(verify.rows(fixture.document(systems=("gige-direct",), timestamps=(1, 2)), "etherbone"))
    assert rows["eb.tlu.gige.pc"].simulated is None
    assert rows["eb.gige.inside.timestamp"].verdict == "not simulated"
    assert rows["eb.gige.blocking.flat"].simulated is not None


def test_limits_are_met_or_missed(made: Document) -> None:
    raw = copy.deepcopy(dict(made.raw))
    assert [t.verdict for t in verify.targets(made, "etherbone")] == ["met"] * 7
    for item in raw["results"]:
        if item["id"].endswith("/path16"):
            item["workload"]["clocks"]["turnaround"] = 13
        if item["id"].endswith("/line-rate8"):
            item["throughput"]["payload_bit_s"] = 711e6
    found = {t.id: t for t in verify.targets(document(raw["context"], raw["results"]), "etherbone")}
    most, least = found["eb.rtl.turnaround"], found["eb.rtl.throughput"]
    assert (most.simulated, most.least, most.verdict) == (13.0, False, "MISSED")
    assert (least.simulated, least.least, least.verdict) == (711.0, True, "MISSED")


def test_the_summary_counts(made: Document) -> None:
    rows = verify.rows(made, "etherbone")
    found = verify.summary(rows, verify.targets(made, "etherbone"))
    # 8 facts with an error, 2 of VMEbus without; five conclusions hold in the made-up numbers.
    facts = {fact.name: fact for fact in verify.facts(rows)}
    predicted = [fact for fact in facts.values() if fact.kind == "prediction"]
    assert sum(fact.verdict == "not judged" for fact in predicted) == 2
    agree = sum(fact.verdict == "agrees" for fact in predicted)
    held = sum(fact.kind == "conclusion" and fact.verdict == "agrees" for fact in facts.values())
    assert found == (
        f"{agree} of 8 predicted facts agree within the document's own error (2 not judged: not simulated, "
        f"or no error given); {held} of 9 of the document's conclusions and bounds come out; 1 of 1 "
        "identities hold; 2 numbers without an error are off by more than 1.5 times; 7 of 7 gateware limits "
        "met."
    )


def _row(name: str, kind: str, verdict: verify.Verdict, fact: str = "", note: str = "") -> verify.Row:
    return verify.Row(name, name, 1.0, "us", "here", kind, 10.0, 1.0, 1.0, verdict, fact or name, note)


def test_a_time_and_its_rate_are_one_fact_and_it_differs_where_one_of_them_does() -> None:
    rows = [
        _row("a.time", "prediction", "agrees", "a"),
        _row("a.rate", "prediction", "agrees", "a"),
        _row("b.time", "prediction", "agrees", "b"),
        _row("b.rate", "prediction", "DIFFERS", "b"),
        _row("c.time", "input", "input", "c"),
    ]
    assert {fact.name: fact.verdict for fact in verify.facts(rows)} == {"a": "agrees", "b": "DIFFERS"}
    assert verify.summary(rows, []).startswith("1 of 2 predicted facts agree")


def test_an_identity_is_not_counted_among_the_predictions() -> None:
    rows = [_row("sum", "identity", "agrees"), _row("total", "prediction", "DIFFERS")]
    assert verify.summary(rows, []) == (
        "0 of 1 predicted facts agree within the document's own error; 1 of 1 identities hold."
    )


def test_a_number_far_from_one_without_an_error_is_no_agreement() -> None:
    def row(name: str, simulated: float) -> verify.Row:
        return replace(_row(name, "prediction", "no tolerance"), tolerance=None, simulated=simulated)

    rows = [row("near", 1.4), row("low", 0.6), row("high", 1.6), _row("good", "prediction", "agrees")]
    printed = verify.text(rows, [])
    far = printed.index("# what is off by more than 1.5 times; the document gives no error")
    assert far < printed.index("\nlow ") < printed.index("\nhigh ") < printed.index("\nnear ")
    assert verify.summary(rows, []).endswith("; 2 numbers without an error are off by more than 1.5 times.")
    assert "off by more" not in verify.text(rows[:1], [])


def test_what_differs_is_printed_first_with_its_reason() -> None:
    rows = [
        _row("good", "prediction", "agrees", note="by the width of the error"),
        _row("bad", "prediction", "DIFFERS", note="the model is too cheap"),
    ]
    printed = verify.text(rows, [])
    assert (
        printed.index("\nbad ") < printed.index("\n# bad: the model is too cheap") < printed.index("\ngood ")
    )
    assert "by the width" not in printed
    assert "\n# good: by the width of the error\n" in verify.text(rows, [], notes=True)


def _limit(verdict: verify.Verdict) -> verify.Target:
    return verify.Target("mine", "", 1.0, False, "us", "", 2.0, verdict)


def test_a_missed_limit_fails_and_a_published_number_that_differs_only_if_that_is_asked_for() -> None:
    differs, agrees = [_row("a", "prediction", "DIFFERS")], [_row("a", "prediction", "agrees")]
    assert verify.failed(agrees, [_limit("MISSED")])
    assert not verify.failed(differs, [_limit("met")])
    assert verify.failed(differs, [_limit("met")], strict=True)
    assert not verify.failed(agrees, [_limit("met")], strict=True)


def test_the_command_ends_with_1_where_a_limit_is_missed(made: Document, tmp_path: Path) -> None:
    from isthmus import cli
    from isthmus.results import write
    from typer.testing import CliRunner

    def code(found: Document, *options: str) -> int:
        write(found, tmp_path / "some.json")
        command = ["verify", "etherbone", "--results", str(tmp_path / "some.json"), *options]
        return CliRunner().invoke(cli.app, command).exit_code

    raw = copy.deepcopy(dict(made.raw))
    assert code(made) == 0, "what differs from a document is a finding"
    assert code(made, "--strict") == 1
    for item in raw["results"]:
        if item["id"].endswith("/path16"):
            item["workload"]["clocks"]["turnaround"] = 13
    assert code(document(raw["context"], raw["results"])) == 1


@pytest.mark.parametrize("name", ["etherbone", "rdma", "switch"])
def test_a_row_says_in_its_note_why_an_input_was_no_prediction_or_a_context_is_not_judged(name: str) -> None:
    """What was a total, a claim or a figure of the document's own, and has no verdict, gives the reason."""
    for line in verify.published(name):
        measured = line["measurement"] and not line["measurement"].startswith("area/")
        if line["kind"] in ("input", "context") and measured and line["tolerance_percent"]:
            assert line["note"] or line["fact"], line["id"]
        if line["kind"] == "identity":
            assert line["note"], line["id"]


def test_limits_that_were_not_simulated_are_not_counted_as_missed(made: Document) -> None:
    raw = dict(made.raw)
    some = [item for item in raw["results"] if not item["id"].endswith(("/path1", "/line-rate8"))]
    limits = verify.targets(document(raw["context"], some), "etherbone")
    known = sum(target.simulated is not None for target in limits)
    assert 0 < known < 7
    assert verify.summary([], limits) == (
        f"{known} of {known} gateware limits met ({7 - known} not simulated)."
    )


def test_unknown_document_and_wrong_lines(made: Document, tmp_path: Path) -> None:
    for name in ("forth", "rtl-targets"):
        with pytest.raises(
            UserError,
            match=f"unknown published system '{name}'; "
            "choose from etherbone, switch, rdma, nanet, eci, ccix$",
        ):
            verify.run(name, document=made)
    text = (PUBLISHED / "etherbone.csv").read_text()
    (tmp_path / "etherbone.csv").write_text(text.replace(",input,", ",guess,", 1))
    with pytest.raises(
        UserError, match="kind 'guess' is not one of input, prediction, identity, claim, bound, context"
    ):
        verify.rows(made, "etherbone", folder=tmp_path)
    (tmp_path / "etherbone.csv").write_text(text.replace("latency_spread", "happiness"))
    with pytest.raises(UserError, match="quantity 'happiness' is not one of"):
        verify.rows(made, "etherbone", folder=tmp_path)


def test_the_first_line_names_the_system_and_the_others_that_can_be_verified(
    made: Document, capsys: pytest.CaptureFixture[str]
) -> None:
    verify.run("ccix", document=made)
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("# ccix: ")
    others = first.partition("other published systems: ")[2].partition(" (")[0].split(", ")
    assert {"etherbone", "rdma", "nanet", "eci"} <= set(others)
    assert "ccix" not in others
