# SPDX-License-Identifier: Apache-2.0
"""The benchmark of lock tables without its simulator: what it asks for, prints, draws and refuses."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from isthmus.errors import UserError
from isthmus.results import load
from isthmus.roads.ccix import bench as ccix
from isthmus.roads.ccix import command, lock_trace, locks
from isthmus.roads.ccix.locks import MODES, Point

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compare"))

import made_up

GIVEN = Path("ccix_locks_fpga.so")


def test_a_mode_is_where_the_table_is_and_how_records_are_reached() -> None:
    values = {letter: locks.parameters(ccix.loaded(), "isthmus", mode) for letter, mode in MODES.items()}
    assert {value.pop("Lease") for value in values.values()} == {1024}
    assert values["a"] == {"NumTxns": 128, "Table": 0, "Posted": 1, "MaxWords": 16, "MaxMessages": 1}
    assert values["b"] == {
        "NumTxns": 128, "Table": 1, "MaxWords": 32, "MaxMessages": 31, "CacheLines": 4096,
    }  # fmt: skip
    assert values["c"] == {"NumTxns": 128, "Table": 1, "MaxWords": 32, "MaxMessages": 31}
    assert values["d"] == values["b"] | {"Table": 0, "Cas": 1}


def test_messages_of_mode_a_have_the_header_of_pcie_and_a_packet_each() -> None:
    trace = lock_trace.hot(4)
    made = locks.scenario(Point(trace, MODES["a"], 2, "isthmus", ccix.loaded()), GIVEN)
    transport = made["platform"]["transport"]
    assert (transport["header_bytes"], transport["packet_messages"]) == (16, 1)
    assert made["workload"]["iterations"] == 4
    assert made["workload"]["locks"]["transactions"][1] == {
        "fpga": True, "steps": [{"record": 0, "update": True}],
    }  # fmt: skip


def test_the_table_and_the_page_show_every_mode_and_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = command.lock_table(requesters="1:64", out=tmp_path, runner=made_up.engine, given=GIVEN)
    text = capsys.readouterr().out
    assert len(made.results) == 4 * 7
    assert "trace ycsb-a" in text
    for words in (
        "a: table at the host",
        "b: table in the FPGA",
        "c: table as b",
        "d: no table",
        "models: link",
        "stages: ",
    ):
        assert words in text
    assert "undone" not in text
    assert len(load(tmp_path / "lock-table.json").results) == 28
    assert "Transactions a second, and how long they wait" in (tmp_path / "lock-table.html").read_text()


def test_where_the_unit_stops_a_table_says_what_became_of_its_transactions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = command.lock_table(
        requesters="8", mode="b", resets=5, holds=3, out=tmp_path, runner=made_up.engine, given=GIVEN
    )
    assert [m.workload["locks"]["faults"]["resets"] for m in made] == [5]
    *_, header, row, _ = capsys.readouterr().out.splitlines()
    assert header.split() == [
        "mode",
        "requesters",
        "resets",
        "holds",
        "undone",
        "complete",
        "refused",
        "free[us]",
    ]
    assert row.split() == ["b", "8", "5", "3", "5", "1", "0", "5.00"]


def test_where_all_of_the_fpga_is_reset_a_table_says_what_the_log_has_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = command.lock_table(requesters="8", fpga_resets=5, out=tmp_path, runner=made_up.engine, given=GIVEN)
    assert [m.workload["locks"]["mode"] for m in made] == ["host", "shared", "hybrid", "cas"]
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    header = next(at for at, row in enumerate(rows) if row[:4] == ["mode", "requesters", "FPGA", "resets"])
    assert rows[header + 2] == ["b", "8", "5", "17", "6", "2", "23", "188", "130.00"]


def test_a_log_is_in_the_model_where_all_of_the_fpga_is_reset() -> None:
    for mode in MODES.values():
        plain, logs = (locks.parameters(ccix.loaded(), "isthmus", mode, log) for log in (False, True))
        assert logs == plain | {"Log": 1}


def test_p99_of_lock_waits_is_shown_over_one_requester_beside_what_the_load_makes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command.lock_table(
        trace="uniform", transactions=2000, requesters="1,64", mode="b", out=tmp_path,
        runner=made_up.engine, given=GIVEN,
    )  # fmt: skip
    text = capsys.readouterr().out
    assert "by load over 1" in text
    assert "held locks = rate x hold" in text


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"mode": "e"}, "unknown mode 'e'; choose from a, b, c, d"),
        ({"resets": 1001}, "resets and holds: 0 to 1000"),
        ({"workload": "tpc-h"}, "unknown workload 'tpc-h'; did you mean 'tpc-c'?"),
        ({"requesters": "65"}, "requesters: 65 is outside 1 to 64"),
        ({"requesters": "0:8"}, "requesters: 0:8 is outside 1 to 64"),
        ({"trace": Path("/nowhere")}, "/nowhere: No such file or directory"),
        ({"platform": "gige-direct"}, "is of kind gige; ccix runs on ccix"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError) as refused:
        command.lock_table(**settings, runner=made_up.engine, given=GIVEN)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
