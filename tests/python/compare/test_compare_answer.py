# SPDX-License-Identifier: Apache-2.0
"""The answer follows from the document: ranking, decision, bounds, and what the terminal shows of it."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import made_up
import pytest
from isthmus.compare.answer import Answer, answer, answers
from isthmus.compare.api import Comparison
from isthmus.compare.terminal import LINES, WIDTH, Files, details, screen
from isthmus.errors import UserError
from isthmus.results import Document, document

FILES = Files("out/compare.html", "out/compare.csv")
GOLDEN = Path(__file__).with_name("golden")

SHOWN: dict[str, dict[str, Any]] = {
    "overview": {},
    "read-256": {"op": "read", "size": 256},
    "read-sweep": {"op": "read", "size": "8:4K", "platforms": ["pcie-gen3x4", "gige-direct", "usb-t5810"]},
    "read-window": {"op": "read", "size": 256, "window": 8},
    "read-rate": {"op": "read", "size": 256, "rate": "100k"},
    "write-rate-sweep": {"op": "write", "size": "8:1K", "rate": "25k"},
    "put": {"op": "put", "size": "8:2K"},
    "device-write": {"op": "device-write", "size": 64},
    "set": {
        "op": "read",
        "platforms": ["pcie-t5810", "gige-direct"],
        "settings": ["link.generation=3", "link.lanes=8"],
    },
    "few": {"op": "read", "platforms": ["gige-direct"], "iterations": 20},
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_first_screen(name: str) -> None:
    text = screen(made_up.found(**SHOWN[name]).answer, FILES)
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("ISTHMUS_UPDATE_GOLDEN"):
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(text)
    assert text == file.read_text()
    lines = text.splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= WIDTH
    assert all(line == line.rstrip() for line in lines)


def test_an_update_of_one_word_is_not_advised_to_have_more_in_flight_or_more_bytes() -> None:
    text = screen(made_up.found(op="update").answer, FILES)
    assert "a shared word of 8 bytes" in text
    assert "--window" not in text
    assert "--size" not in text


def test_many_rows_are_cut_and_the_screen_says_so() -> None:
    names = [
        "pcie-gen3x4",
        "pcie-gen3x8",
        "pcie-gen4x4",
        "pcie-t5810",
        "pcie-t3500",
        "pcie-scu2",
        "pcie-scu3",
    ]
    lines = screen(made_up.found(op="read", platforms=[*names, "gige-direct", "usb-t5810"]).answer, FILES)
    assert len(lines.splitlines()) == LINES
    assert "slower rows: --details" in lines


def _changed(found: Comparison, change: Callable[[dict[str, Any]], None], part: str = "") -> Document:
    raw = copy.deepcopy(dict(found.document.raw))
    for item in raw["results"]:
        if part in item["id"]:
            change(item)
    return document(raw["context"], raw["results"])


def _read(**options: Any) -> Comparison:
    return made_up.found(op="read", platforms=["pcie-gen3x4", "gige-direct"], **options)


def _slow(item: dict[str, Any]) -> None:
    for key in ("p50", "avg", "min", "max"):
        item["latency_ps"][key] *= 1000


def test_the_fastest_row_leads_and_another_winner_changes_the_decision() -> None:
    found = _read()
    assert found.answer.views[0].decision.startswith(
        "Use PCIe Gen3 x4 with DMA ring: 1.9 times as fast as the next interconnect (Etherbone, Gen3 x4 with "
        "DMA), 40.6 times as fast as the same platform with loads. "
        "Its figures: 1.18 us per read, 216 MB/s."
    )
    slow = answer(_changed(found, _slow, "/pcie-gen3x4/")).views[0]
    assert slow.best.platform == "gige-direct"


def test_an_answer_never_mixes_two_operations() -> None:
    for sweep in made_up.found().answer.sweeps:
        assert {row.case.operation for view in sweep.views for row in view.rows} == {sweep.operation}
    for view in made_up.found().answer.views:
        assert {(row.case.bytes, row.case.window) for row in view.rows} == {(view.case.bytes, 1)}


def test_one_request_at_a_time_is_bounded_by_its_largest_place() -> None:
    assert {row.bound for row in _read().answer.rows} == {"host 42 %"}


@pytest.mark.parametrize(
    ("busy", "bound"),
    [
        ({"host": 0.97, "wire": 0.41}, "host busy 97 %"),
        ({"host": 0.4, "fpga": 0.93}, "FPGA busy 93 %"),
        ({"host": 0.9}, "host busy 90 %"),
        ({"host": 0.89, "wire": 0.5}, "latency"),
        ({}, ""),
    ],
)
def test_several_in_flight_are_bounded_by_what_is_busy(busy: dict[str, float], bound: str) -> None:
    for options in ({"window": 4}, {"rate": "10k"}):
        made = _changed(_read(**options), lambda item: item["workload"].update(busy=busy))
        assert {row.bound for row in answer(made).rows} == {bound}


def test_a_rate_that_is_not_carried_has_no_latency_and_comes_last() -> None:
    view = _read(rate="100k").answer.views[0]
    carried = [not row.saturated for row in view.rows]
    assert carried == sorted(carried, reverse=True)
    assert "; 3 saturate below it, the best of them (Etherbone, GbE with UDP, " in view.decision
    nobody = _read(rate="10M").answer.views[0]
    first = "No road here carries this rate; PCIe Gen3 x4 with DMA ring comes closest: "
    assert nobody.decision.startswith(first)


def test_ways_to_get_more_follow_from_what_was_measured() -> None:
    idle = answer(_changed(_read(), lambda item: item["workload"].update(busy={"host": 0.42})))
    assert idle.views[0].faster() == ("--window 4 (no resource is busy for more than 42 % of the time)",)
    full = answer(_changed(_read(), lambda item: item["workload"].update(busy={"host": 0.95})))
    assert full.views[0].faster() == ()
    sweep = _read(size="256,4K").answer.sweeps[0]
    assert any("more bytes a request (4 KiB take 1.4 times" in text for text in sweep.views[0].faster(sweep))
    assert not any("more bytes" in text for text in sweep.views[1].faster(sweep))


def test_what_carries_an_operation_and_was_not_measured_at_a_size_is_in_the_decision() -> None:
    large = made_up.found(op="read", size="64K,128K", platforms=["pcie-gen3x4"]).answer
    assert "Not measured here" not in large.views[0].decision
    why = "host-read over PCIe by a ring takes 1 to 65536 bytes in one request"
    assert large.views[1].decision.endswith(f" Not measured here: {why}.")


def test_a_document_s_design_is_not_the_next_interconnect() -> None:
    found = made_up.found(op="put", size=256)
    [view] = found.answer.views
    best = view.best

    def behind(item: dict[str, Any]) -> None:
        for key in ("p50", "avg", "min", "max"):
            item["latency_ps"][key] = 1.01 * best.cost

    [view] = answer(_changed(found, behind, "rdma/forth-rdma/as-published/")).views
    assert view.best.key == best.key
    assert not view.rows[1].ours, "a document's is behind the best"
    assert ", paper), " not in view.decision
    assert "the next interconnect (forth-rdma with DMA)" in view.decision


def test_a_percentile_of_too_few_samples_says_how_many_it_needs() -> None:
    few = made_up.found(op="read", iterations=20, platforms=["gige-direct"])
    assert "p99" not in screen(few.answer)
    mixed = _changed(_read(), lambda item: item["latency_ps"].update(p99=None), "/gige-direct/")
    assert "n < 1000" in screen(answer(mixed))
    text = details(few.answer)
    assert "blank or left out: p90 needs -n 100, p99 needs -n 1000" in text
    [heads] = [line.split() for line in text.splitlines() if line.split()[:1] == ["platform"]]
    assert heads == ["platform", "driver", "min", "max", "n", "requests/s"]


@pytest.mark.parametrize(
    ("options", "said"), [({}, " 1.18 us = "), ({"window": 4}, "one observed transfer, 1.18 us = ")]
)
def test_where_time_goes_says_that_it_is_of_one_transfer_where_the_others_took_another_time(
    options: dict[str, Any], said: str
) -> None:
    assert said in screen(_read(**options).answer)


def test_noise_takes_the_star_away_and_names_its_source(tmp_path: Path) -> None:
    file = tmp_path / "host.hist"
    file.write_text("1000 990\n50000 10\n")
    quiet, noisy = _read(), _read(noise=file)
    assert "p99*" in screen(quiet.answer)
    assert "--noise FILE" in screen(quiet.answer)
    text = screen(noisy.answer)
    assert "*" not in text
    assert "with operating-system noise of host.hist: 1000 samples, largest 50 us" in text
    assert (noisy.answer.rows[0].p99 or 0) > (quiet.answer.rows[0].p99 or 0) + 49e6


def test_a_sweep_names_winners_and_crossovers() -> None:
    [sweep] = _read(size="8:4K").answer.sweeps
    assert sweep.winners == "PCIe Gen3 x4 with DMA ring is the fastest at every size"
    assert any(
        text.startswith(
            "Etherbone, GbE (gige-direct), UDP, poll overtakes Etherbone, Gen3 x4 (pcie-gen3x4), loads from "
        )
        for text in sweep.crossovers
    )


def test_details_hold_every_row_stage_and_note() -> None:
    found = made_up.found(**SHOWN["set"])
    text = details(found.answer)
    for row in found.answer.rows:
        assert text.count(row.platform) >= 1
        for stage in row.m.stages:
            assert stage.name in text
    assert "warning: pcie-t5810: --set sets PCIe generation 3 but keeps the ports'" in text
    assert "pcie-t5810 with link.generation=3, link.lanes=8" in text
    assert "  link.generation = 3  (set by --set)" in text
    assert "Constants of gige-direct: Host and FPGA on one Gigabit Ethernet cable" in text
    assert all(len(line) <= WIDTH for line in text.splitlines())
    flat = " ".join(text.split())
    given = [one for row in found.answer.rows if row.m.constants for one in row.m.constants.constants]
    assert given
    for constant in given:
        assert f"({' '.join(constant.source.split())})" in flat, "a source is whole"


def test_a_document_of_something_else_is_refused() -> None:
    raw = dict(_read().document.raw)
    other = document(raw["context"], [{**raw["results"][0], "workload": {}}])
    assert not answers(other)
    assert answers(_read().document)
    with pytest.raises(UserError, match="the result holds no answer of compare"):
        answer(other)


def test_a_notebook_gets_records_stages_and_text() -> None:
    found = _read()
    assert isinstance(found.answer, Answer)
    first = found.records()[0]
    assert (first["platform"], first["driver"], first["bytes"], first["n"]) == (
        "pcie-gen3x4",
        "ring",
        256,
        1000,
    )
    assert first["p50_us"] == pytest.approx(1.183, abs=0.01)
    spent = sum(s["us"] for s in found.stages() if (s["platform"], s["driver"]) == ("pcie-gen3x4", "ring"))
    assert spent == pytest.approx(first["p50_us"])
    assert str(found) == screen(found.answer)
    assert "<pre>Host reads 256 bytes" in found._repr_html_()


def test_a_frame_has_a_row_for_each_record_and_its_columns() -> None:
    found = _read()
    frame = found.frame()
    assert list(frame.columns) == list(found.records()[0])
    assert frame.shape[0] == len(found.records())
    assert frame["p50_us"].tolist() == [record["p50_us"] for record in found.records()]


def test_a_frame_needs_pandas_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match="needs pandas: pip install pandas"):
        _read().frame()
