# SPDX-License-Identifier: Apache-2.0
"""The switch benchmark without its simulator: what it asks for, prints, draws, compares and refuses."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from isthmus import platforms, verify
from isthmus.errors import UserError
from isthmus.results import Document, load
from isthmus.roads.switch import bench as switch
from isthmus.roads.switch import command as switch_command
from isthmus.roads.switch import page as drawing
from isthmus.roads.switch import published as switch_published
from isthmus.roads.switch.bench import Design, Traffic

MODEL = Path("link_switch.so")
CLOCK_PS = 12_800


def engine(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the simulator would give, near enough: more load, more delay."""
    work, device = scenario["workload"], scenario["device"]
    backlog = isinstance(work["arrivals"], dict) and "backlog" in work["arrivals"]
    traced = work["pattern"] == "trace"
    share = None if backlog or traced else work["load"]
    pattern = work["pattern"]
    if isinstance(pattern, dict):
        ((name, value),) = pattern.items()
        pattern = f"{name}:{value}"
    low, high = work["sizes_bytes"]
    mean = (low + high) / 8
    data = 0.961 if share is None else share * mean / (mean + 2)
    arrivals = "backlog" if backlog else work["arrivals"] if isinstance(work["arrivals"], str) else "bursty"
    arrivals = "trace" if traced else arrivals
    waiting = 0.0 if share is None else 40 * share / (1.02 - share)
    delay = (4 + 25 + 7 + 25 + waiting * (1.0 if work["engine"] == "ideal" else 1.03)) * CLOCK_PS
    count = work["packets"]
    size = f"{low}" if low == high else f"{low}-{high}"
    rate = arrivals if share is None else f"{arrivals}-{share:.3f}"
    ports = device["ports"]
    least = 61 * CLOCK_PS
    stages = [
        ("queue", "nic", 4), ("there", "wire", 25), ("switch", "switch", 7), ("back", "wire", 25),
    ]  # fmt: skip
    return [
        {
            "id": f"switch/{scenario['platform']['name']}/{scenario['profile']}/{work['engine']}/"
            f"{ports}x{ports}-{pattern}-{size}-{rate}",
            "road": "switch",
            "platform": scenario["platform"]["name"],
            "profile": scenario["profile"],
            "method": work["engine"],
            "workload": {
                "ports": ports,
                "pattern": pattern,
                "sizes_bytes": [low, high],
                "load": share,
                "payload_load": None if share is None else data,
                "steady": None if traced else True,
                "saturated": backlog or (share is not None and share >= 1),
                "payload_share": data,
                "wire_shares": {
                    "data": data, "framing": 0.027, "credit": 0.009, "idle": max(0.0, 0.964 - data),
                },
                "clocks": {"delay": delay / CLOCK_PS, "fastest": 61, "fastest_switch": 7},
                "flows": {"least_words": 97, "most_words": 100, "jain": 0.9999},
            },
            "definition": "one_way",
            "arrivals": "open-loop trace" if traced else arrivals if backlog else f"{arrivals}:{share}",
            "seed": scenario["seed"],
            "iterations": count,
            "excluded": {"head": 100, "tail": 10},
            "latency_ps": {
                "min": least, "max": int(4 * delay), "typical": delay, "avg": delay, "stdev": delay / 2,
                "p50": delay, "p90": 2 * delay, "p99": 3 * delay if count >= 1000 else None,
                "p99.9": 3.5 * delay if count >= 10_000 else None, "p99.99": None,
            },
            "histogram": {"unit": "ps", "significant_digits": 3, "buckets": [[int(delay), count]]},
            "throughput": {
                "payload_bytes": 1000, "wire_bytes": 1100, "elapsed_ps": 10**9, "payload_bit_s": 1e9,
                "wire_bit_s": 1.1e9, "cycles_per_s": 1e6,
            },
            "stages": [{"name": n, "where": w, "ps": c * CLOCK_PS} for n, w, c in stages],
            "stages_total_ps": least,
            "checked": {"bytes": 288 * count, "wrong": 0, "lost": 0},
            "counters": {},
            "simulation": {"device_cycles": 1000, "evaluated_cycles": 1000, "wall_s": 0.1},
        }
    ]  # fmt: skip


def _measured(**settings: Any) -> Document:
    points = switch.curve(Traffic(**settings), Design(), (0.1, 0.5, 0.9, 1.0), switch.ENGINES)  # type: ignore[arg-type]
    return switch.measure(points, runner=engine, given=MODEL)


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ("0.8", (0.8,)),
        ("0.5,0.9", (0.5, 0.9)),
        ("0.1:1.0", tuple(round(0.1 * n, 6) for n in range(1, 11))),
        ("0.8:0.9:0.05", (0.8, 0.85, 0.9)),
    ],
)
def test_loads(text: str, loads: tuple[float, ...]) -> None:
    assert switch.loads(text) == loads


@pytest.mark.parametrize("text", ["", "0", "1.1", "0.5:", "0.9:0.1", "0.1:1:2:3", "a", "0.1:1:0"])
def test_wrong_loads(text: str) -> None:
    with pytest.raises(UserError, match=r"^load: "):
        switch.loads(text)


def test_sizes() -> None:
    assert switch.sizes("64-512") == (64, 512)
    assert switch.sizes("256") == (256, 256)
    for wrong in ("63", "20", "512-64", "x"):
        with pytest.raises(UserError, match=r"^sizes: "):
            switch.sizes(wrong)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ports": 5}, "unknown ports '5'; choose from 4, 8, 12, 16"),
        ({"pattern": "round"}, "unknown pattern 'round'; "),
        ({"pattern": "unbalanced:2"}, "a share of the packets"),
        ({"pattern": "unbalanced"}, "unknown pattern 'unbalanced'; did you mean 'unbalanced:W'?"),
        ({"arrivals": "sometimes"}, "unknown arrivals 'sometimes'; "),
        ({"engines": "rtl,ghdl"}, "unknown engine 'ghdl'; "),
        ({"profile": "best"}, "unknown profile 'best'; "),
        ({"format": "xml"}, "unknown format 'xml'; "),
        ({"packets": 5}, "packets: 5 is outside"),
        ({"buffer_words": 1000}, "buffer-words: 1000 is outside"),
        ({"round_trip": 2}, "round-trip: 2 words are outside"),
        ({"pattern": "trace:/nowhere"}, "No such file"),
    ],
)
def test_refused(settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        switch_command.run(**settings, out=tmp_path, runner=engine, given=MODEL)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_a_trace_file_names_its_wrong_line(tmp_path: Path) -> None:
    file = tmp_path / "t"
    file.write_text("# clock source destination bytes\n0 1 2 64\n5,1,2,64 # again\n")
    assert switch.trace(file, 8) == [[0, 1, 2, 64], [5, 1, 2, 64]]
    for text, message in (
        (b"0 1 2\n", "t:1: '0 1 2'; a line is: clock source destination bytes"),
        (b"# none\n", "contains no packet; a line is: clock source destination bytes"),
        (b"0 1 2 64\n-1 1 2 64\n", "t:2: clock -1 is outside 0 to 1000000000"),
        (b"1000000001 1 2 64\n", "t:1: clock 1000000001 is outside"),
        (b"0 1 8 64\n", "t:1: port 8 is outside 0 to 7"),
        (b"0 1 2 63\n", "t:1: 63 bytes; expected a multiple of 4 from 24 to 512"),
        (b"0 1 2 516\n", "t:1: 516 bytes; expected a multiple of 4 from 24 to 512"),
        (b"0 1 2 1e30\n", "t:1: '0 1 2 1e30'"),
        (b"\x7fELF\xff\xfe\x00", "t: not a text file"),
    ):
        file.write_bytes(text)
        with pytest.raises(UserError) as error:
            switch.trace(file, 8)
        assert message in str(error.value)


def test_a_trace_asks_every_engine_for_just_its_packets(tmp_path: Path) -> None:
    file = tmp_path / "packets.txt"
    file.write_text("0 1 2 64\n5 1 3 512\n")
    asked = []

    def record(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        asked.append(scenario["workload"])
        return engine(scenario)

    made = switch_command.run(pattern=f"trace:{file}", out=tmp_path / "out", runner=record, given=MODEL)
    assert sorted(work["engine"] for work in asked) == ["ideal", "reference", "rtl"]
    for work in asked:
        assert work["trace"] == [[0, 1, 2, 64], [5, 1, 3, 512]]
        assert (work["packets"], work["sizes_bytes"], work["arrivals"]) == (2, [64, 512], "paced")
    assert {m.workload["load"] for m in made} == {None}


def test_a_trace_is_shown_as_delays_and_not_as_saturation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "packets.txt"
    file.write_text("0 1 2 64\n5 1 3 512\n")
    switch_command.run(pattern=f"trace:{file}", out=tmp_path, runner=engine, given=MODEL)
    shown = capsys.readouterr().out
    assert "saturation" not in shown
    assert [line.split()[0] for line in shown.splitlines() if "whole trace" in line] == list(switch.ENGINES)
    page = (tmp_path / "switch.html").read_text()
    assert "Under saturation" not in page
    assert "2 packets of a trace take" in page
    (rtl, *_) = csv.DictReader((tmp_path / "switch.csv").open())
    assert [rtl[f"switch_{name}"] for name in ("load", "steady", "saturated")] == ["", "", "0"]
    assert rtl["iterations"] == "2"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("window_clocks", 18446744073709385983),
        ("window_clocks", -1),
        ("wire_shares", {"data": 1.5, "framing": 0, "credit": 0, "idle": 0}),
        ("wire_shares", {"data": -0.1, "framing": 0, "credit": 0, "idle": 0}),
        ("load", 1.1),
    ],
)
def test_numbers_that_cannot_be_are_refused_by_the_schema(key: str, value: Any, tmp_path: Path) -> None:
    made = _measured(ports=4)
    made.raw["results"][0]["workload"][key] = value
    file = tmp_path / "wrong.json"
    file.write_text(json.dumps(made.raw))
    with pytest.raises(UserError, match=f"results/0/workload/{key}"):
        load(file)


def test_the_scenario_and_the_gateware_get_the_same_design() -> None:
    platform = platforms.load(switch.PLATFORM)
    for profile in platforms.PROFILES:
        design = Design(profile, buffer_words=256)
        device = switch.scenario(platform, Traffic(), design, "rtl", MODEL)["device"]
        built = switch.parameters(platform, 8, design)
        pairs = {
            "ports": "NumPorts", "buffer_words": "Depth", "max_words": "MaxWords",
            "credit_in_packet": "CreditInPacket", "credit_words": "CreditWords",
            "refresh_words": "RefreshWords", "init_words": "InitWords",
            "align_words": "AlignWords",
        }  # fmt: skip
        assert {key: int(device[key]) for key in pairs} == {key: built[name] for key, name in pairs.items()}


def test_a_round_trip_is_two_hops() -> None:
    platform = platforms.load(switch.PLATFORM)
    made = switch.scenario(platform, Traffic(), Design(round_trip=384), "reference")["platform"]
    assert (made["serdes_ns"] + made["cable_ns"]) * 2 / 12.8 == pytest.approx(384)


def test_one_load_of_the_document_counts_data_alone() -> None:
    assert switch.line_load(0.8, (64, 512)) == pytest.approx(0.8 * 74 / 72)


def test_run_writes_and_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    switch_command.run(load="0.5,0.9", out=tmp_path, runner=engine, given=MODEL)
    printed = capsys.readouterr().out
    assert "# 8x8, uniform, 64 to 512 bytes, profile isthmus, seed 1, paced" in printed
    assert "# saturation, rtl:" in printed
    assert "# fastest packet, ns: queue 51.2, there 320.0, switch 89.6, back 320.0; 780.8 in all" in printed
    made = load(tmp_path / "switch.json")
    rows = list(csv.reader((tmp_path / "switch.csv").open()))
    assert len(rows) == len(made.results) + 1
    assert {len(row) for row in rows} == {len(rows[0])}
    assert "Figure 6 drawn again" in (tmp_path / "switch.html").read_text()


@pytest.mark.parametrize("form", ["csv", "json"])
def test_machine_formats_print_nothing_else(
    form: switch.Format, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    switch_command.run(load="0.5", format=form, out=tmp_path, runner=engine, given=MODEL)
    assert capsys.readouterr().out == (tmp_path / f"switch.{form}").read_text()


def test_only_the_gateware_gets_a_model(tmp_path: Path) -> None:
    asked: list[Mapping[str, Any]] = []

    def watched(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        asked.append(scenario)
        return engine(scenario)

    switch_command.run(load="0.5", out=tmp_path, runner=watched, given=MODEL)
    assert {s["workload"]["engine"] for s in asked if "model_path" in s["device"]} == {"rtl"}
    # Ideal output queueing has no saturation to look for.
    assert sum(isinstance(s["workload"]["arrivals"], dict) for s in asked) == 2


def test_figure_6_leaves_saturated_points_out_and_shows_what_was_published() -> None:
    made = _measured()
    delay = drawing.figures(made)[0]
    (panel,) = delay.panels
    curves = {one["name"]: one["data"] for one in panel.option["series"]}
    assert len(curves["gateware"]) == 3
    assert [0.8, 3.0] in curves["published: light load; below, at 80 %"]
    assert curves["published: max load"][0][0] == 0.96
    assert len(delay.table.rows) == 12
    assert [row[-1] for row in delay.table.rows].count("saturated") == 3
    page = drawing.page(made)
    assert page.count("<section") >= 5
    assert "Constants of forth-switch" in page


def test_verify_shows_every_number_of_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    made = switch_published.measure(packets=1_000, runner=engine, given=MODEL)
    found, limits = verify.run("switch", document=made)
    printed = capsys.readouterr().out
    assert {row.id for row in found} == {line["id"] for line in verify.published("switch")}
    unknown = [row.id for row in found if row.verdict == "not simulated"]
    unknown += [limit.id for limit in limits if limit.verdict == "not simulated"]
    assert not unknown
    assert all(limit.id.startswith("switch.") for limit in limits)
    assert "forth.net.max_load" in printed
    both = [row for row in found if row.kind in ("prediction", "bound", "claim")]
    assert all(row.isthmus is not None for row in both)


def test_verify_says_what_differs() -> None:
    """A switch that keeps packets longer than the document says, and gateware that is not its model."""

    def slow(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        (found,) = engine(scenario)
        if scenario["workload"]["engine"] == "rtl":
            found["latency_ps"]["avg"] *= 1.5
            found["workload"]["payload_share"] *= 0.9
            found["workload"]["wire_shares"]["idle"] += 0.1
        return [found]

    made = switch_published.measure(packets=1_000, runner=slow, given=MODEL)
    rows = {row.id: row.verdict for row in verify.rows(made, "switch")}
    limits = {limit.id: limit.verdict for limit in verify.targets(made, "switch")}
    assert rows["forth.net.load80"] == "DIFFERS"
    # Its format was chosen with the number in view: no verdict.
    assert rows["forth.net.max_load"] == "input"
    for name in ("saturation", "ideal.80", "model.most", "path"):
        assert limits[f"switch.{name}"] == "MISSED", name


def test_the_report_command_knows_the_road(tmp_path: Path) -> None:
    from isthmus import report
    from isthmus.results import write

    write(_measured(), tmp_path / "switch.json")
    target = report.run(tmp_path / "switch.json", out=tmp_path / "page.html")
    assert "A buffered-crossbar switch" in target.read_text()


def test_etherbone_has_none_of_the_switchs_limits() -> None:
    made = _measured()
    assert all(limit.id.startswith("eb.") for limit in verify.targets(made, "etherbone"))
    assert json.dumps(sorted(line["id"] for line in verify.published("switch")))
