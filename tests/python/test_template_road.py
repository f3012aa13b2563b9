# SPDX-License-Identifier: Apache-2.0
"""Adding a road is one line in the table of roads: the template road is added, and every command knows it."""

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from isthmus import cli, platforms, verify
from isthmus.bench import runner
from isthmus.results import load
from isthmus.roads import table

TESTS = Path(__file__).parents[1]
ROOM = TESTS / "template_road"
MAILBOX = str(ROOM / "mailbox.toml")
LINES = 200


def engine(scenario: Mapping[str, Any], progress: object = None) -> list[dict[str, Any]]:
    """In the place of the road's room in Rust, which runs a scenario."""
    work, platform = scenario["workload"], scenario["platform"]
    wait = platform["mailbox"]["wait_cycles"]
    stages = [
        {"name": "load", "where": "host", "ps": int(1e3 * platform["host"]["load_ns"]) * work["bytes"] // 4},
        {"name": "answer", "where": "mailbox", "ps": int(1e6 * wait / platform["fpga"]["clock_mhz"])},
    ]
    total, n = sum(stage["ps"] for stage in stages), work["iterations"]
    names = ("min", "max", "typical", "avg", "p50")
    return [
        {
            "id": f"template/{platform['name']}/{scenario['profile']}/load/host-read{work['bytes']}w1",
            **{key: scenario[key] for key in ("road", "profile", "seed")},
            "platform": platform["name"],
            "method": "load",
            "workload": {**work, "driver": "loads", "window": 1, "rate_per_s": None, "wait_cycles": wait},
            "definition": "rtt",
            "arrivals": "window:1",
            "iterations": n,
            "latency_ps": {**dict.fromkeys(names, total), "stdev": 0.0},
            "throughput": {
                "payload_bytes": work["bytes"] * n, "wire_bytes": None, "elapsed_ps": total * n,
                "payload_bit_s": 8e12 * work["bytes"] / total, "wire_bit_s": None,
                "cycles_per_s": 1e12 / total,
            },
            "stages": stages,
            "stages_total_ps": total,
            "checked": {"bytes": work["bytes"] * n, "wrong": 0, "lost": 0},
        }
    ]  # fmt: skip


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The one edit of an existing file, and a folder to work in."""
    monkeypatch.setitem(table.ROADS, "template", "template_road")
    monkeypatch.syspath_prepend(str(TESTS))
    monkeypatch.setattr(runner, "run", engine)
    monkeypatch.setattr("isthmus.bootstrap.ensure_native", lambda: None)
    monkeypatch.chdir(tmp_path)
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "template_road"]:
        del sys.modules[name]
    table._load.cache_clear()
    cli._made.cache_clear()


def test_it_is_measured_shown_and_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["bench", "template", "--platform", MAILBOX, "--size", "4,64,256"]) == 0
    printed = capsys.readouterr().out
    assert "# template / mailbox / isthmus / load: round trip, window:1, seed 1" in printed
    made = load(Path("out/template.json"))
    assert len(made.results) == 6
    rows = list(csv.DictReader(Path("out/template.csv").read_text().splitlines()))
    row = next(row for row in rows if row["id"] == "template/mailbox/isthmus/load/host-read64w1")
    said = [
        row[name] for name in ("operation", "bytes", "driver", "window", "bounded_by", "template_wait_cycles")
    ]
    assert said == ["host-read", "64", "loads", "1", "host 98 %", "10"]
    page = Path("out/template.html").read_text()
    assert "Reading a mailbox" in page
    assert "clocks from a load to its answer" in page, "its constants"
    assert 'id="published"' not in page, "nothing of it is published"


def test_it_is_drawn_again_and_compared_with_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["bench", "template", "--platform", MAILBOX]) == 0
    first = Path("out/template.html").read_text()
    assert cli.run(["report", "out/template.json"]) == 0
    assert Path("out/template.html").read_text() == first
    capsys.readouterr()
    assert cli.run(["report", "out/template.json", "--text"]) == 0
    assert capsys.readouterr().out.startswith(
        "# template: A mailbox\n# template / mailbox / as-published / load"
    )
    assert cli.run(["diff", "out/template.json", "out/template.json"]) == 0
    assert capsys.readouterr().out.endswith("0 of 4 common measurements changed\n")


def test_its_quantities_places_and_platforms_are_known() -> None:
    assert cli.run(["bench", "template", "--platform", MAILBOX]) == 0
    made = load(Path("out/template.json"))
    assert verify.measured(made, "template/*/as-published/*/*", "mailbox_cycles") == 20
    assert table.road("template").places["mailbox"].words == "the mailbox"
    assert platforms.load(MAILBOX).bus == "mailbox"


def test_it_resumes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli.run(["bench", "template", "--platform", MAILBOX, "--resume"]) == 0
    before = json.loads(Path("out/template.json").read_text())["results"]
    monkeypatch.setattr(runner, "run", lambda *_: pytest.fail("measured again"))
    assert cli.run(["bench", "template", "--platform", MAILBOX, "--resume"]) == 0
    assert json.loads(Path("out/template.json").read_text())["results"] == before


def test_help_lists_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["bench", "--help"]) == 0
    assert "template Reads of a mailbox." in " ".join(capsys.readouterr().out.split())


def test_mistakes_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["bench", "template", "--platform", "gige-direct"]) == 2
    assert "platform: 'gige-direct' is of kind gige" in capsys.readouterr().err


def test_a_copy_under_another_name_is_another_road(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What the page on a new road says: copy the folder, replace the word, add the line."""
    (tmp_path / "roads").mkdir()
    for file in ROOM.iterdir():
        if file.is_file():
            (tmp_path / "roads" / file.name).write_text(file.read_text().replace("template", "letterbox"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(table.ROADS, "letterbox", "roads")
    try:
        assert cli.run(["bench", "--help"]) == 0
        assert "letterbox Reads of a mailbox." in " ".join(capsys.readouterr().out.split())
        mine = str(tmp_path / "roads" / "mailbox.toml")
        assert cli.run(["bench", "letterbox", "--platform", mine, "--size", "4"]) == 0
        assert "# letterbox / mailbox / isthmus / load" in capsys.readouterr().out
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "roads"]:
            del sys.modules[name]


def test_the_template_is_short() -> None:
    assert sum(len(file.read_text().splitlines()) for file in ROOM.glob("*.py")) < LINES
