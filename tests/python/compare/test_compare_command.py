# SPDX-License-Identifier: Apache-2.0
"""`./isthmus compare` from its options to its files; what it refuses, before anything is measured."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import isthmus
import made_up
import pytest
import typer
from isthmus import cli, platforms
from isthmus.compare import api, settings
from isthmus.compare.measure import Request, measure, planned
from isthmus.compare.question import of_road
from isthmus.errors import UserError
from isthmus.figures import baseline
from isthmus.roads.table import having
from isthmus.workload import OPERATIONS

REAL = api.run


@pytest.fixture
def call(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Iterator[Any]:
    """Runs the command line on the made-up engine."""

    def run(request: Request, **options: Any) -> Any:
        return REAL(request, **{**options, "runner": made_up.engine}, models=made_up.model)

    monkeypatch.setattr(api, "run", run)
    monkeypatch.chdir(tmp_path)

    def made(text: str) -> tuple[int, str, str]:
        code = cli.run(["compare", *text.split()])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return made


def test_it_prints_the_answer_and_leaves_page_result_and_table(call: Any, tmp_path: Path) -> None:
    code, out, _ = call("--op read --size 2K --platform pcie-gen3x4,gige-direct --out there")
    assert code == 0
    assert out.startswith("Host reads 2 KiB from an FPGA, one request at a time, n = 128, seed 1\n")
    assert " page there/compare.html\n table there/compare.csv\n" in out
    document = json.loads((tmp_path / "there" / "compare.json").read_text())
    assert {item["workload"]["operation"] for item in document["results"]} == {"host-read"}
    assert len({item["id"] for item in document["results"]}) == len(document["results"]) == 5
    assert "<h1" in (tmp_path / "there" / "compare.html").read_text()
    assert (tmp_path / "there" / "compare.csv").read_text().count("\n") == 6


def test_report_draws_and_prints_it_again(
    call: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = call("--op read --size 2K --platform pcie-gen3x4,gige-direct")
    page = tmp_path / "out" / "compare.html"
    first = page.read_text()
    page.unlink()
    assert cli.run(["report"]) == 0
    assert page.read_text() == first
    capsys.readouterr()
    assert cli.run(["report", "--text"]) == 0
    again = capsys.readouterr().out
    assert again.splitlines()[:8] == out.splitlines()[:8]


def test_details_come_behind_the_first_screen(call: Any) -> None:
    short, long = call("--op read")[1], call("--op read --details")[1]
    assert long.startswith(short)
    assert "requests/s" in long.removeprefix(short)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("--op gpu-write", "no road here carries gpu-write yet; choose from host-read, host-write, "),
        (
            "--op read --size 17",
            "size: 17 bytes; expected a multiple of 4 from 4 to 1M, for example 16 or 20",
        ),
        ("--op read --window 2 --rate 1k", "--window and --rate exclude each other"),
        (
            "--op put --size 12 --platform forth-rdma",
            "12 bytes: put over RDMA by inline takes a multiple of 8 bytes, 8 to 504",
        ),
        ("--op message --size 2K", "2 KiB: message over RDMA by message takes a multiple of 8 bytes"),
        (
            "--op device-read --window 2 --platform rdma-pcie",
            "256 bytes: in device-read the interface decides how many are in flight: expected neither",
        ),
        (
            "--op device-write --size 1K --platform rdma-pcie",
            "1 KiB: device-write over RDMA by dma takes a multiple of 8 bytes, 8 to 512",
        ),
        ("--op put --window 65", "256 bytes: put over RDMA has 1 to 64 requests in flight at this size"),
        ("--op read --size 1M --window 5", "1 MiB: host-read over Etherbone has 1 to 4 requests in flight"),
        ("--op put --platform gige-direct", "gige-direct carries host-read and host-write, not put"),
        ("--op read --platform forth-switch", "forth-switch takes no part in compare"),
        (
            "--op read --size 128K --driver ring --platform pcie-gen3x4",
            "128 KiB: host-read over PCIe by a ring takes 1 to 65536 bytes in one request",
        ),
        (
            "--op read --platform pcie-gen3x4 --platform gige-direct",
            "--platform: given 2 times; expected once, values separated by commas",
        ),
        ("--op read --window 4 --window=2", "--window: given 2 times; expected once"),
        ("--op read --platform gige-direct --driver dma", "unknown driver 'dma'; choose from datagram"),
        ("--op read --driver dam", "unknown driver 'dam'; did you mean 'dma'?"),
        ("--op read --platform pcie-gen3x5", "unknown platform 'pcie-gen3x5'; did you mean 'pcie-gen3x"),
        ("--op read --platform gige-direct,gige-direct", "platform: 'gige-direct' is given twice"),
        ("--op read --platform my.toml", "platform: my.toml: no such file"),
        (
            "--op read --set link.generatoin=3",
            "set: unknown key link.generatoin; did you mean link.generation?",
        ),
        ("--op read --set link.generation=9", "set: link.generation: 9 is outside 1 to 4"),
        ("--op read --set link.lanes=2.5", "set: link.lanes: 2.5; expected a whole number"),
        (
            "--op read --set link.lanes",
            "set: 'link.lanes'; expected KEY=NUMBER, for example link.generation=3",
        ),
        ("--op read --set fpga.clock=nan", "set: 'fpga.clock=nan'; expected KEY=NUMBER"),
        ("--op read --noise nothing.hist", "nothing.hist: No such file or directory"),
    ],
)
def test_a_wrong_request_is_one_line_and_exit_code_2(call: Any, options: str, line: str) -> None:
    code, out, err = call(options)
    assert (code, out) == (2, "")
    assert err.startswith(f"isthmus: {line}")
    assert err.count("\n") == 1


def test_a_size_that_one_of_the_named_platforms_does_not_carry_is_a_note(call: Any) -> None:
    code, out, _ = call("--op read --size 1M --window 4 --platform eci,gige-direct")
    assert code == 0
    assert "Etherbone, GbE" in out
    assert "not measured at 1M: host-read over a coherent link takes 1 to 65536 bytes" in out


def test_a_platform_of_the_user_is_a_file(call: Any, tmp_path: Path) -> None:
    (tmp_path / "mycard.toml").write_text(
        'title = "My card"\nbase = "pcie-gen3x4.toml"\n'
        '[link]\nlanes = { value = 8, unit = "1", source = "data sheet" }\n'
    )
    code, out, _ = call("--op read --platform mycard.toml")
    assert code == 0
    assert "Etherbone, Gen3 x8" in out
    assert "mycard" in out


def test_a_setting_reaches_the_scenario_and_the_result(call: Any, tmp_path: Path) -> None:
    assert (
        call("--op read --platform pcie-t5810 --set link.generation=3 --set profile.isthmus.poll=1")[0] == 0
    )
    stored = json.loads((tmp_path / "out" / "compare.json").read_text())["platforms"]["pcie-t5810"][
        "constants"
    ]
    found = {f"{one['part']}.{one['name']}": one for one in stored}
    assert (found["link.generation"]["value"], found["link.generation"]["source"]) == (3.0, "set by --set")
    assert found["link.lanes"]["source"] != "set by --set"
    assert found["profile.isthmus.poll"]["source"] == "set by --set"


def test_a_generation_without_its_ports_latencies_is_warned_of(call: Any) -> None:
    warned = "keeps the ports' latencies of _pcie_link.toml"
    assert warned in " ".join(
        call("--op read --platform pcie-t5810 --set link.generation=3 --details")[1].split()
    )
    latencies = " ".join(
        f"--set {end}.{way}_latency=108" for end in ("root", "endpoint") for way in ("transmit", "receive")
    )
    assert (
        warned
        not in call(f"--op read --platform pcie-t5810 --set link.generation=3 {latencies} --details")[1]
    )


def test_a_clock_that_the_gateware_has_not_reached_is_warned_of(call: Any, tmp_path: Path) -> None:
    text = " ".join(call("--op read --platform gige-direct --set fpga.clock=1000 --details")[1].split())
    best = max(
        baseline.load(name)["gige_etherbone"]["clk_i"]["best_mhz"]
        for name in ("timing", "timing-lfe5um5g-85")
        if "gige_etherbone" in baseline.load(name)
    )
    assert f"--set sets fpga.clock to 1000 MHz, but gige_etherbone reached {best:g} MHz at most" in text
    assert "reached" not in call("--op read --platform gige-direct --set fpga.clock=120 --details")[1]


def test_a_clock_of_an_own_platform_file_is_warned_of(tmp_path: Path) -> None:
    own = tmp_path / "mine.toml"
    own.write_text(
        'title = "Mine"\nbase = "forth-rdma.toml"\n'
        '[fpga]\nlink_clock = { value = 156.25, unit = "MHz", source = "a faster link" }\n'
    )
    (warning,) = settings.warnings(platforms.load(str(own)))
    assert warning.startswith("mine: mine.toml sets fpga.link_clock to 156.25 MHz, but rdma_ni reached ")


@pytest.mark.parametrize("name", platforms.names())
def test_shipped_platforms_have_latencies_of_their_own_generation(name: str) -> None:
    assert settings.warnings(platforms.load(name)) == []


def test_a_state_of_the_caches_is_measured_only_where_it_is_named(call: Any) -> None:
    asked = "--op device-read --size 128 --platform eci"
    _, unnamed, _ = call(asked)
    _, named, _ = call(f"{asked} --driver cached-hit")
    assert " cached " in unnamed
    assert "cached-hit" not in unnamed
    assert "cached-dirty" not in unnamed
    assert " cached-hit " in named


def test_every_default_carries_something_and_every_operation_is_carried() -> None:
    carried: set[str] = set()
    for road in having("question"):
        module = of_road(road.name)
        for name in module.DEFAULTS:
            found = module.carries(platforms.load(name))
            assert found
            carried |= set(found)
    assert carried == set(OPERATIONS)


def test_without_options_every_road_answers_within_one_profile_each() -> None:
    runs = planned(Request()).runs
    assert {run.question.operation for run in runs} == set(OPERATIONS)
    for run in runs:
        names = {driver.name: set() for driver, _ in run.points}
        for driver, _ in run.points:
            names[driver.name].add(driver.profile)
        assert all(len(found) == 1 for found in names.values())


def test_command_notebook_and_request_take_the_same_options() -> None:
    request = {field.name for field in fields(Request)}
    notebook = set(inspect.signature(api.compare).parameters) - {"runner", "models"}
    command = next(c for c in typer.main.get_group(cli.app).commands.values() if c.name == "compare")
    options = {p.name for p in command.params} - {"out", "details", "help", "scheduler", "resume"}
    renamed = {"platform": "platforms", "set_": "settings"}
    assert notebook == request
    assert {renamed.get(str(name), str(name)) for name in options} == request


def test_the_package_is_the_notebook_function() -> None:
    found = isthmus.compare(
        "read", 256, platforms=["gige-direct"], runner=made_up.engine, models=made_up.model
    )
    assert found.answer.rows[0].platform == "gige-direct"
    with pytest.raises(UserError, match="unknown operation"):
        isthmus.compare("raed")
    with pytest.raises(AttributeError, match="module 'isthmus' has no attribute 'nothing'"):
        isthmus.nothing  # noqa: B018


def test_each_scenario_gets_its_own_model(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, str] = {}

    def run(scenario: dict[str, Any], **rest: Any) -> Any:
        seen[scenario["platform"]["name"]] = scenario["device"]["model_path"]
        return made_up.engine(scenario, **rest)

    monkeypatch.setattr("isthmus.bench.runner.place", lambda spec: Path(f"{spec.top}.so"))
    monkeypatch.setattr("isthmus.bench.runner.build", lambda specs: None)
    request = Request(op="read", platforms=["gige-direct", "usb-t5810"])
    measure(request, command="compare", runner=run)
    assert seen == {"gige-direct": "gige_etherbone.so", "usb-t5810": "usb_etherbone.so"}


def test_apelink_is_measured_beside_rdma_by_the_same_end_of_a_put() -> None:
    runs = planned(Request(op="put", size=64, platforms=["apelink", "forth-rdma"])).runs
    assert {run.platform.name for run in runs} == {"forth-rdma", "apelink"}
    (apelink,) = (run for run in runs if run.platform.name == "apelink")
    made = apelink.scenarios(lambda top, values: Path(f"{top}.so"))
    # Until the last byte is in the remote memory, as RDMA's, and not until the far program has its event.
    assert [one["workload"]["test"] for one in made] == ["put"] * 3
    assert [(one["profile"], one["workload"].get("inline", False)) for one in made] == [
        ("isthmus", False), ("isthmus", True), ("as-published", False),
    ]  # fmt: skip
    (get,) = planned(Request(op="get", size=64)).runs
    assert [one["workload"]["test"] for one in get.scenarios(lambda top, values: Path(f"{top}.so"))] == [
        "get"
    ]


def test_a_message_over_udp_is_measured_beside_rdma_by_the_same_end() -> None:
    runs = planned(Request(op="message", size=64)).runs
    assert {run.platform.name for run in runs} == {"forth-rdma", "rdma-pcie", "nanet", "nanet-10g"}
    for run in runs:
        made = run.scenarios(lambda top, values: Path(f"{top}-{values.get('Send', 0)}.so"))
        if run.platform.bus == "nanet":
            # Until the remote program has it, as RDMA's, and not until it is at the cable's end.
            assert [one["workload"]["remote"] for one in made] == [True, True]
            assert [one["workload"]["driver"] for one in made] == ["poll", "interrupt"]
            assert all(one["interface"]["model_path"].endswith("-1.so") for one in made)
    (receive,) = planned(Request(op="nic-to-memory", size=64, platforms=["nanet-10g"])).runs
    for one in receive.scenarios(lambda top, values: Path(f"{top}.so")):
        assert (one["profile"], one["workload"].get("remote", False)) == ("isthmus", False)


@pytest.mark.parametrize("op", ["message", "nic-to-memory"])
def test_a_rate_and_noise_are_measured_over_udp_too(op: str, tmp_path: Path) -> None:
    noise = tmp_path / "noise.txt"
    noise.write_text("0 9\n2000 1\n")
    runs = planned(Request(op=op, size=64, rate="50k", noise=noise)).runs
    assert {"nanet", "nanet-10g"} <= {run.platform.name for run in runs}
    for run in runs:
        for one in run.scenarios(lambda top, values: Path(f"{top}.so")):
            assert one["workload"]["rate_per_s"] == 50_000
            assert "window" not in one["workload"]
            assert one["noise"] == {"unit": "ns", "buckets": [[0, 9], [2000, 1]]}


@pytest.mark.parametrize("op", ["put", "get"])
def test_a_rate_and_noise_are_measured_over_apelink_too(op: str, tmp_path: Path) -> None:
    noise = tmp_path / "noise.txt"
    noise.write_text("0 9\n2000 1\n")
    (run,) = planned(Request(op=op, size=64, rate="50k", noise=noise, platforms=["apelink"])).runs
    for one in run.scenarios(lambda top, values: Path(f"{top}.so")):
        assert one["workload"]["test"] == op
        assert (one["workload"]["rate_per_s"], one["workload"]["window"]) == (50_000, 16)
        assert one["noise"] == {"unit": "ns", "buckets": [[0, 9], [2000, 1]]}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"size": 68, "driver": "inline"}, "inline over APElink: 1 to 64 bytes"),
        ({"window": 17}, "put over APElink: window: 17; expected 1 to 16 puts in flight"),
        ({"size": "1M", "window": 5}, "put over APElink: window: 5; a put memory holds 4 of 1048576 bytes"),
    ],
)
def test_what_apelink_does_not_carry_is_said(options: dict[str, Any], why: str) -> None:
    with pytest.raises(UserError, match=why):
        planned(Request(**{"op": "put", "platforms": ["apelink"], **options}))
