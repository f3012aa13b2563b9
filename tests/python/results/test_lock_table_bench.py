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
    assert values["a"] == {"NumTxns": 128, "Table": 0, "Posted": 1, "MaxWords": 16, "MaxMessages": 1}
    assert values["b"] == {
        "NumTxns": 128, "Table": 1, "MaxWords": 32, "MaxMessages": 31, "CacheLines": 4096,
    }  # fmt: skip
    assert values["c"] == {"NumTxns": 128, "Table": 1, "MaxWords": 32, "MaxMessages": 31}


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
    assert len(made.results) == 3 * 7
    assert "trace ycsb-a" in text
    for words in ("a: table at the host", "b: table in the FPGA", "c: table as b", "models: link"):
        assert words in text
    assert len(load(tmp_path / "lock-table.json").results) == 21
    assert "Transactions a second, and how long they wait" in (tmp_path / "lock-table.html").read_text()


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"mode": "d"}, "unknown mode 'd'; choose from a, b, c"),
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
