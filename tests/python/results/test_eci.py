# SPDX-License-Identifier: Apache-2.0
"""The coherent link's benchmark without its simulator: what it asks for, prints, draws and refuses."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from isthmus import verify
from isthmus.errors import UserError
from isthmus.results import Document, load
from isthmus.roads.eci import bench as eci
from isthmus.roads.eci import beside, command, page, published, tables
from isthmus.roads.eci.bench import Point, Transfers
from isthmus.roads.eci.command import Asked

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compare"))

import made_up
from isthmus.compare.terminal import Files, screen

FILES = Files("out/compare.html", "out/compare.csv")
GIVEN = {top: Path(f"{top}.so") for top in (eci.FPGA, eci.HOST, eci.PEER, eci.DMA)}


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
    made = command.run(Asked(size="128,1K", iterations=40), out=tmp_path, runner=made_up.engine, given=GIVEN)
    text = capsys.readouterr().out
    assert text.count("\n  128 ") == 8
    assert "device-write of host memory" in text
    assert "host-write of the FPGA's memory" in text
    assert len(load(tmp_path / "eci.json").results) == len(made.results) == 16
    drawn = (tmp_path / "eci.html").read_text()
    latencies = [f"Latency of {operation}" for operation in (*eci.OPERATIONS, *eci.HOST_OPERATIONS)]
    for title in (*latencies, "What is carried", "Where the time of one line goes"):
        assert title in drawn
    assert " (host-read of 128 bytes) and " in drawn


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


def test_the_same_transfers_over_pcie_are_shown_beside_with_their_crossovers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked("device-read", size="128:64K", pcie=True)
    made = command.run(asked, out=tmp_path, runner=made_up.engine, given=GIVEN)
    text = capsys.readouterr().out
    assert "# eci, isthmus, device-read of host memory by DMA, of addresses that the FPGA has" in text
    assert "of descriptors in a ring in host memory, pcie-ring; PCIe Gen3 x16" in text
    # Made up: 140 ns and 0.08 ns a byte here, 600 ns and 0.07 there; 1150 ns and 0.07 with a ring.
    latency = "device-read, latency, one at a time: one link is ahead"
    assert f"{latency} below 64 KiB, PCIe Gen3 x16 from there on" in text
    assert f"{latency} of PCIe Gen3 x16, ring from 128 bytes to 64 KiB, no crossover" in text
    drawn = (tmp_path / "eci.html").read_text()
    for sentence in beside.sentences(made):
        assert sentence.partition(" (")[0] in drawn
    names = [one["name"] for one in page.PAGE.figures(made)[0].panels[0].option["series"]]
    assert names == ["isthmus", "isthmus, PCIe Gen3 x16", "isthmus, PCIe Gen3 x16, ring"]


def test_an_axi_port_is_another_top_of_the_fpga_with_the_same_cache() -> None:
    platform = eci.loaded()
    asked = Asked(operation="device-read", driver="cached-hit", size="64", window=1, port="axi")
    [point] = command.wanted(asked)
    assert eci.tops("cached-hit", "axi") == (eci.AXI_FPGA, eci.HOST)
    made = eci.scenario(point, {top: Path(f"{top}.so") for top in eci.tops("cached-hit", "axi")})
    assert made["workload"]["port"] == "axi"
    assert made["fpga"] == {"model_path": "eci_axi_fpga.so"}
    ends = [eci.parameters(platform, "isthmus", top, cached=True) for top in (eci.FPGA, eci.AXI_FPGA)]
    assert ends[0] == ends[1] | {"Atomics": 1}
    plain = eci.scenario(Point(Transfers("device-read"), "isthmus", platform), GIVEN)
    assert "port" not in plain["workload"]


@pytest.mark.parametrize("operation", eci.HOST_OPERATIONS)
def test_the_home_of_the_fpgas_memory_is_in_the_fpga(operation: eci.Operation) -> None:
    platform = eci.loaded()
    point = Point(Transfers(operation, driver="cached"), "isthmus", platform)
    made = eci.scenario(point, GIVEN)
    assert made["fpga"]["model_path"] == f"{eci.HOST}.so"
    assert made["host"]["model_path"] == f"{eci.FPGA}.so"
    assert made["platform"]["fpga_memory_read_ns"] == 90
    words = eci.scenario(Point(Transfers(operation, 8, driver="io"), "isthmus", platform), GIVEN)
    assert words["fpga"]["model_path"] == f"{eci.FPGA}.so"


def test_both_ends_are_measured_alone_and_at_once() -> None:
    runs = [p.transfers for p in command.wanted(Asked("both", size="128", driver="cached"))]
    assert {one.homes for one in runs} == {"both"}
    at_once = [(one.operation, one.beside) for one in runs if one.beside is not None]
    assert at_once == [(name, beside) for name, beside in eci.BESIDE.items() for _ in (1, 64)]
    alone = {(one.operation, one.window) for one in runs if one.beside is None}
    names = (*eci.OPERATIONS, *eci.HOST_OPERATIONS)
    assert alone == {(name, window) for name in names for window in (1, 64)}
    made = eci.scenario(Point(runs[-1], "isthmus", eci.loaded()), GIVEN)
    assert made["fpga"] == made["host"] == {"model_path": "eci_peer.so"}
    assert (made["workload"]["homes"], made["workload"]["beside"]) == ("both", "host-write")
    directory, cache = (
        eci.parameters(eci.loaded(), "isthmus", top, cached=True) for top in (eci.HOST, eci.FPGA)
    )
    assert eci.parameters(eci.loaded(), "isthmus", eci.PEER, cached=True) == cache | directory
    with pytest.raises(UserError, match="op: both ends read and write lines"):
        command.wanted(Asked("both", driver="io"))
    with pytest.raises(UserError, match="homes: both ends have reads and writes of lines"):
        command.wanted(Asked("update", size="8", homes="both"))


def test_one_lines_life_is_through_the_cache_with_a_tracer_at_each_end() -> None:
    [point] = command.wanted(Asked("all", life=True))
    assert (point.transfers.operation, point.transfers.driver) == (eci.LIFE_OPERATIONS[0], "cached")
    assert (point.transfers.window, point.transfers.life) == (1, True)
    made = eci.scenario(point, GIVEN)
    assert made["workload"]["life"] is True
    for top, parameters in ((top, _traced(point, top)) for top in eci.tops("cached")):
        assert parameters["Trace"] == eci.TRACE, top
    # Every other run has none.
    [plain] = command.wanted(Asked("device-read", size="128", driver="cached", window=1))
    assert plain.transfers.trace == 0
    assert "life" not in eci.scenario(plain, GIVEN)["workload"]


def _traced(point: Point, top: str) -> dict[str, object]:
    t = point.transfers
    return dict(eci.parameters(point.platform, point.profile, top, t.cached, t.links, trace=t.trace))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked("all", life=True, driver="io"), "life: a line's life is through the cache"),
        (Asked("all", life=True, port="axi"), "life: a line's life is through the cache"),
        (Asked("all", life=True, pcie=True), "life: a line's life is through the cache"),
        (Asked("device-write", life=True), "life: device-write; expected --op device-read or host-read"),
        (
            Asked("all", life=True, window=4),
            "life: it is of one line at a time; expected no -s and no --window",
        ),
        (
            Asked("all", life=True, size="256"),
            "life: it is of one line at a time; expected no -s and no --window",
        ),
        (Asked("all", life=True, iterations=eci.MOST_LIVES + 1), f"at most {eci.MOST_LIVES}"),
    ],
)
def test_a_life_of_anything_else_is_refused_in_one_line(asked: Asked, said: str) -> None:
    with pytest.raises(UserError) as refused:
        command.wanted(asked)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_over_pcie_the_fpga_and_the_host_are_others() -> None:
    made = eci.scenario(Point(Transfers("device-read", driver="pcie-ring"), "isthmus", eci.loaded()), GIVEN)
    assert made["fpga"]["model_path"] == f"{eci.DMA}.so"
    assert "host" not in made
    assert (made["platform"]["pcie"]["link"]["generation"], made["platform"]["pcie"]["link"]["lanes"]) == (
        3,
        16,
    )
    assert (
        "pcie"
        not in eci.scenario(Point(Transfers("device-read"), "isthmus", eci.loaded()), GIVEN)["platform"]
    )


@pytest.mark.parametrize(
    ("driver", "operations"), [("io", ["host-read", "host-write"]), ("barrier", ["device-write"])]
)
def test_words_are_measured_by_all_operations_of_their_driver(
    tmp_path: Path, driver: str, operations: list[str]
) -> None:
    made = command.run(Asked(driver=driver, iterations=5), out=tmp_path, runner=made_up.engine, given=GIVEN)
    assert list(dict.fromkeys(m.workload["operation"] for m in made)) == operations
    assert {m.workload["bytes"] for m in made} == {8}


def test_compare_takes_two_links_where_they_are_set() -> None:
    asked = {"op": "device-read", "size": 128, "platforms": ["eci"], "driver": "uncached"}
    one = made_up.found(**asked)
    two = made_up.found(**asked, settings=["eci.links=2", "eci.partition=1"])
    assert "links" not in next(iter(one.document)).workload
    assert {(m.workload["links"], m.workload["policy"]) for m in two.document} == {(2, "partition")}
    assert "ECI, 2 x 12 lanes" in screen(two.answer, FILES)
    with pytest.raises(UserError, match=r"set: eci\.links: 3 is outside 1 to 2"):
        made_up.found(**asked, settings=["eci.links=3"])


def test_compare_reads_a_word_of_the_fpga_where_io_is_named() -> None:
    found = made_up.found(op="read", size="8", platforms=["eci"], driver="io")
    assert "ECI, 12 lanes" in screen(found.answer, FILES)
    unnamed = made_up.found(op="read", size="8", platforms=["eci"])
    assert {m.workload["driver"] for m in unnamed.document} == {"cached"}
    with pytest.raises(UserError, match="host-read over a coherent link takes 1 to 8 bytes"):
        made_up.found(op="read", size="16", platforms=["eci"], driver="io")


def test_compare_has_pcie_beside_it_where_it_is_named() -> None:
    found = made_up.found(op="device-write", size="4K", platforms=["eci"], driver="pcie-ring")
    assert "PCIe x16 ring" in screen(found.answer, FILES)


def test_a_curve_of_errors_has_a_run_for_each_share_of_both_directions() -> None:
    points = eci.points(
        [eci.loaded()], ["isthmus"], ["device-read"], "4K", 10, 4, errors=eci.rates("0,1e-4"), links=2
    )
    assert eci.scenario(points[0], GIVEN).get("faults") is None
    faults = eci.scenario(points[1], GIVEN)["faults"]
    assert set(faults) == {f"{way}{n}.block_error" for way in ("to_host", "to_fpga") for n in ("", "_1")}
    assert {one["rate"] for one in faults.values()} == {1e-4}
    assert eci.rates("all") == eci.ERRORS


def test_a_curve_of_errors_is_a_table_and_a_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked("device-read", size="4K", window=4, errors="1e-3,0,1e-5")
    made = command.run(asked, out=tmp_path, runner=made_up.engine, given=GIVEN)
    text = capsys.readouterr().out
    assert (
        "# eci, isthmus, device-read of host memory, lines of 128 bytes, uncached; one link; 0.001 of" in text
    )
    curve = text.partition("# goodput of isthmus, device-read, 4096 bytes, 4 in flight, one link")[2]
    assert [line.split()[0] for line in curve.splitlines()[2:5]] == ["0", "1e-05", "0.001"]
    assert page.PAGE.figures(made)[-1].panels[0].option["xAxis"]["data"] == ["0", "1e-05", "0.001"]
    assert "What bad blocks leave of the rate" in (tmp_path / "eci.html").read_text()
    assert "What bad blocks" not in page.page(measured())


def test_the_page_of_both_profiles_draws_two_lines() -> None:
    figures = page.PAGE.figures(measured())
    first = figures[0].panels[0].option["series"]
    assert [one["name"] for one in first] == ["isthmus", "as-published"]
    assert len(tables.text(measured()).splitlines()) > 10


def test_what_the_cache_has_is_not_said_to_come_over_the_link() -> None:
    over = [replace(m, workload={**m.workload, "link_bytes_s": 1e12}) for m in measured()]
    hits = [replace(m, workload={**m.workload, "link_bytes_s": 0.0}) for m in measured()]
    for results, said, other in (
        (over, "A link carries up to ", "cache gives"),
        (hits, "cache gives up to ", "A link carries"),
    ):
        drawn = page.page(replace(measured(), results=results))
        assert said in drawn
        assert other not in drawn


def test_published_numbers_name_runs_that_verify_makes() -> None:
    # Of two that run at once each has a measurement.
    asked = [(p.profile, t) for p in published.points() for t in [p.transfers]]
    asked += [(a, replace(t, operation=t.beside, beside=t.operation)) for a, t in asked if t.beside]  # type: ignore[arg-type]
    ids = {
        f"eci/eci/{profile}/{t.operation}/{links}{homes}{port}{driver}{t.size}-w{t.window}"
        for profile, t in asked
        for links in [f"{t.policy}-" if t.links > 1 else ""]
        for homes in ["" if t.homes == "one" else f"beside-{t.beside}-" if t.beside else "peers-"]
        for port in ["" if t.port == "lines" else f"{t.port}-"]
        for driver in ["" if t.driver == "uncached" else f"{t.driver}-"]
    }
    with (verify.PUBLISHED / verify.TARGETS).open() as file:
        targets = [line.split(",") for line in file if line.startswith("eci.")]
    cells = (cell for line in targets for cell in line if cell.startswith("eci/"))
    named = {one for cell in cells for one in cell.split(" / ")}
    lines = (line["measurement"] for line in verify.published("eci"))
    named |= {one for each in lines for one in each.split(" / ") if one}
    assert len(named) > 1
    assert {one.replace("{profile}", "isthmus") for one in named} <= ids


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"size": "65540"}, "size: 65540 bytes are outside 1 to 65536"),
        ({"size": "1K", "window": 300}, "window: 300 is outside 1 to 256 for transfers of 1024 bytes"),
        ({"size": "1K", "platform": "gige-direct"}, "is of kind gige; eci runs on eci"),
        ({"links": 3}, "links: 3 is outside 1 to 2"),
        (
            {"port": "axi"},
            "port: axi is in front of the FPGA's cache; expected a driver of cached, cached-dirty",
        ),
        ({"port": "ahb"}, "unknown port 'ahb'; choose from lines, axi"),
        ({"driver": "io", "size": "16"}, "size: an I/O access is of 1 to 8 bytes"),
        ({"policy": "balanced"}, "unknown policy 'balanced'; did you mean 'balance'?"),
        ({"driver": "ipi", "operation": "device-read"}, "unknown driver 'ipi'"),
        ({"errors": "1e-4,often"}, "errors: 'often'; expected shares from 0 to 0.1, or all"),
        ({"errors": "0.2"}, "errors: '0.2'; expected shares from 0 to 0.1, or all"),
        ({"driver": "pcie-dma", "errors": "1e-4"}, "errors: pcie-dma has no blocks; expected 0"),
        ({"driver": "pcie-dma", "links": 2}, "links: pcie-dma has one link"),
        (
            {"driver": "cached", "size": "16K", "iterations": 9000},
            "9000 transfers of 16384 bytes access 1154688 lines that no cache has, each once; at most",
        ),
        (
            {"pcie": True, "operation": "host-read"},
            "pcie: host-read is not measured over PCIe; expected device",
        ),
        ({"operation": "device-raed"}, "unknown op 'device-raed'; did you mean 'device-read'?"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(settings: dict[str, object], says: str) -> None:
    with pytest.raises(UserError) as refused:
        command.run(Asked(**settings), runner=made_up.engine, given=GIVEN)  # type: ignore[arg-type]
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
