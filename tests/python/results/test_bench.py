# SPDX-License-Identifier: Apache-2.0
"""The benchmark: which scenarios it runs, what it writes and prints, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fixture
import pytest
from isthmus.errors import DataError, UserError
from isthmus.results import load
from isthmus.roads.etherbone import bench as etherbone
from isthmus.roads.etherbone import command


def test_the_whole_measurement_of_the_document() -> None:
    made = fixture.document()
    ids = {m.id for m in made}
    assert len(ids) == len(made.results)
    for system in ("gige-direct", "gige-switch", "pcie-scu3", "pcie-t5810", "usb-t5810", "vme-rio4"):
        for profile in ("as-published", "isthmus"):
            for method in ("convenience", "blocking", "pipelined"):
                for count in range(1, 9):
                    assert f"etherbone/{system}/{profile}/{method}/ts{count}" in ids
            assert f"etherbone/{system}/{profile}/blocking/tlu" in ids
    assert {m.iterations for m in made if m.name.startswith("ts")} == {90}


def test_run_writes_json_and_csv_and_prints_tables(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    command.run(size="8", platform="gige-direct", out=tmp_path, runner=fixture.engine, model=fixture.MODEL)
    printed = capsys.readouterr().out
    assert "#bytes  #iterations  t_min[usec]" in printed
    assert "round trip" in printed
    assert f"# results: {tmp_path}/etherbone.json" in printed
    made = load(tmp_path / "etherbone.json")
    assert (tmp_path / "etherbone.csv").read_text().count("\n") == len(made.results) + 1
    assert "stages of one transfer: etherbone/gige-direct/isthmus/blocking/ts8" in printed


@pytest.mark.parametrize("form", ["csv", "json"])
def test_machine_formats_print_nothing_else(form: str, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    command.run(
        size="1",
        platform="gige-direct",
        method="blocking",
        profile="isthmus",
        format=form,
        out_json=tmp_path / "other.json",
        runner=fixture.engine,
        model=fixture.MODEL,
    )
    printed = capsys.readouterr().out
    written = tmp_path / f"other.{form}"
    assert printed == written.read_text()
    if form == "json":
        assert json.loads(printed)["schema"] == "isthmus.result/1"


def test_traces_are_named_by_run(tmp_path: Path) -> None:
    asked: list[Mapping[str, Any]] = []

    def engine(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        asked.append(scenario)
        return fixture.engine(scenario)

    etherbone.measure(
        timestamps=(1, 2),
        systems=("gige-direct",),
        methods=("blocking",),
        trace="perfetto",
        out=tmp_path,
        runner=engine,
        model=fixture.MODEL,
    )
    files = [scenario["trace"]["timeline"] for scenario in asked if "trace" in scenario]
    assert len(set(files)) == len(files)
    assert all(Path(file).parent == tmp_path / "traces" for file in files)
    assert any(file.endswith("gige-direct-isthmus-timestamps-blocking-2.perfetto-trace") for file in files)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"size": "9"}, "size: 9 timestamps a cycle; the report's measurement has 1 to 8"),
        ({"size": "x"}, "size: 'x'; expected 4, 1,2,8 or 1..8"),
        ({"size": "8..1"}, "size: '8..1'; expected 1 to 8 timestamps"),
        ({"iterations": 0}, "iterations: 0 is outside 1 to 1000000"),
        ({"platform": "ring"}, "unknown platform 'ring'; "),
        ({"method": "fast"}, "unknown method 'fast'; choose from convenience, blocking, pipelined"),
        ({"profile": "x"}, "unknown profile 'x'; choose from as-published, isthmus"),
        ({"trace": "vcd"}, "unknown trace 'vcd'; choose from none, fst, perfetto, pcapng"),
        ({"format": "xml"}, "unknown format 'xml'; choose from table, csv, json"),
    ],
)
def test_mistakes_are_named_before_anything_runs(given: dict[str, Any], said: str, tmp_path: Path) -> None:
    def never(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        raise AssertionError("ran")

    with pytest.raises(UserError) as error:
        command.run(out=tmp_path, runner=never, model=fixture.MODEL, **given)
    assert str(error.value).startswith(said)
    assert not list(tmp_path.iterdir())


def test_wrong_data_fails_the_run() -> None:
    def broken(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        made = fixture.engine(scenario)
        made[0]["checked"]["wrong"] = 3
        return made

    with pytest.raises(DataError, match="blocking/ts1: 3 bytes wrong, 0 bytes lost"):
        etherbone.measure(timestamps=(1,), methods=("blocking",), runner=broken, model=fixture.MODEL)


def test_the_first_failure_ends_the_run() -> None:
    ran = []

    def failing(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        ran.append(1)
        raise DataError("no reply")

    with pytest.raises(DataError, match="no reply"):
        etherbone.measure(runner=failing, model=fixture.MODEL)
    assert len(ran) < 20
