# SPDX-License-Identifier: Apache-2.0
"""The coherent link's benchmark without its simulator: what it asks for, prints, draws and refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from isthmus import verify
from isthmus.errors import UserError
from isthmus.results import Document, load
from isthmus.roads.eci import bench as eci
from isthmus.roads.eci import command, page, published, tables
from isthmus.roads.eci.bench import Point, Transfers

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compare"))

import made_up

GIVEN = {top: Path(f"{top}.so") for top in (eci.FPGA, eci.HOST)}


def measured(sizes: str = "128,1K") -> Document:
    points = eci.points([eci.loaded()], ["isthmus", "as-published"], eci.OPERATIONS, sizes)  # type: ignore[arg-type]
    return eci.measure(points, runner=made_up.engine, given=GIVEN)


def test_a_scenario_has_every_constant_of_the_platform() -> None:
    made = eci.scenario(Point(Transfers("device-read", 256, 10, 4), "isthmus", eci.loaded()), GIVEN)
    assert made["platform"]["clock_mhz"] == 300
    assert made["platform"]["lanes"] == {
        "lanes": 12,
        "lane_mbit_s": 10312.5,
        "coded_bits": 67,
        "metaframe_words": 2048,
        "control_words": 4,
        "serdes_ns": 29.8,
        "trace_ns": 2,
    }
    assert made["workload"] == {
        "operation": "device-read", "driver": "uncached", "bytes": 256, "iterations": 10,
        "warmup": eci.WARMUP, "window": 4,
    }  # fmt: skip


def test_the_buffers_of_lines_cover_the_round_trip() -> None:
    ours = eci.parameters(eci.loaded(), "isthmus", eci.FPGA)
    assert ours["DataDepth"] >= 3 * ours["RoundTrip"] > 0


def test_each_size_is_measured_alone_and_with_64_lines_in_flight() -> None:
    points = eci.points([eci.loaded()], ["isthmus"], ["device-read"], "128:16K")
    flights = {p.transfers.size: [] for p in points}  # type: ignore[var-annotated]
    for point in points:
        flights[point.transfers.size].append(point.transfers.window)
    assert flights[128] == [1, 64]
    assert flights[1024] == [1, 8]
    assert flights[16384] == [1, 2]


def test_the_table_and_the_page_show_every_measurement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = command.run(size="128,1K", iterations=40, out=tmp_path, runner=made_up.engine, given=GIVEN)
    text = capsys.readouterr().out
    assert text.count("\n  128 ") == 4
    assert "device-write of host memory" in text
    assert len(load(tmp_path / "eci.json").results) == len(made.results) == 8
    drawn = (tmp_path / "eci.html").read_text()
    for title in ("Latency of device-read", "What is carried", "Where the time of one line goes"):
        assert title in drawn


def test_two_links_are_measured_by_both_policies_and_shown_apart() -> None:
    points = eci.points([eci.loaded()], ["isthmus"], ["device-read"], "128", links=2, policies=eci.POLICIES)
    assert [(p.transfers.window, p.transfers.policy) for p in points] == [
        (1, "balance"), (1, "partition"), (64, "balance"), (64, "partition"),
    ]  # fmt: skip
    workload = eci.scenario(points[1], GIVEN)["workload"]
    assert (workload["links"], workload["policy"]) == (2, "partition")
    assert eci.parameters(eci.loaded(), "isthmus", eci.FPGA, links=2)["NumLinks"] == 2
    made = eci.measure(points, runner=made_up.engine, given=GIVEN)
    text = tables.text(made)
    assert "two links, balance" in text
    assert "two links, partition" in text
    names = [one["name"] for one in page.PAGE.figures(made)[0].panels[0].option["series"]]
    assert names == ["isthmus, balance", "isthmus, partition"]


@pytest.mark.parametrize(
    ("driver", "operations"), [("io", ["host-read", "host-write"]), ("barrier", ["device-write"])]
)
def test_words_are_measured_by_all_operations_of_their_driver(
    tmp_path: Path, driver: str, operations: list[str]
) -> None:
    made = command.run(driver=driver, iterations=5, out=tmp_path, runner=made_up.engine, given=GIVEN)
    assert list(dict.fromkeys(m.workload["operation"] for m in made)) == operations
    assert {m.workload["bytes"] for m in made} == {8}


def test_the_page_of_both_profiles_draws_two_lines() -> None:
    figures = page.PAGE.figures(measured())
    first = figures[0].panels[0].option["series"]
    assert [one["name"] for one in first] == ["isthmus", "as-published"]
    assert len(tables.text(measured()).splitlines()) > 10


def test_published_numbers_name_runs_that_verify_makes() -> None:
    ids = {
        f"eci/eci/{p.profile}/{p.transfers.operation}/{links}{driver}{p.transfers.size}-w{p.transfers.window}"
        for p in published.points()
        for links in [f"{p.transfers.policy}-" if p.transfers.links > 1 else ""]
        for driver in ["" if p.transfers.driver == "uncached" else f"{p.transfers.driver}-"]
    }
    with (verify.PUBLISHED / verify.TARGETS).open() as file:
        targets = [line.split(",") for line in file if line.startswith("eci.")]
    named = {cell for line in targets for cell in line if cell.startswith("eci/")}
    named |= {line["measurement"] for line in verify.published("eci") if line["measurement"]}
    assert len(named) > 1
    assert {one.replace("{profile}", "isthmus") for one in named} <= ids


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"size": "65540"}, "size: 65540 bytes are outside 1 to 65536"),
        ({"size": "1K", "window": 300}, "window: 300 is outside 1 to 256 for transfers of 1024 bytes"),
        ({"size": "1K", "platform": "gige-direct"}, "is of kind gige; eci runs on eci"),
        ({"links": 3}, "links: 3 is outside 1 to 2"),
        ({"driver": "io", "size": "16"}, "size: an I/O access is of 1 to 8 bytes"),
        ({"policy": "balanced"}, "unknown policy 'balanced'; did you mean 'balance'?"),
        ({"driver": "ipi", "operation": "device-read"}, "unknown driver 'ipi'"),
        ({"operation": "device-raed"}, "unknown op 'device-raed'; did you mean 'device-read'?"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(settings: dict[str, object], says: str) -> None:
    with pytest.raises(UserError) as refused:
        command.run(**settings, runner=made_up.engine, given=GIVEN)  # type: ignore[arg-type]
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
