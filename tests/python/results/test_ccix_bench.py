# SPDX-License-Identifier: Apache-2.0
"""The benchmark of CCIX without its simulator: what it asks for, prints, draws and refuses."""

from __future__ import annotations

import fnmatch
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from isthmus import platforms, verify
from isthmus.errors import UserError
from isthmus.report.figures import Figure
from isthmus.results import Document, document, load
from isthmus.roads.ccix import bench as ccix
from isthmus.roads.ccix import command, page, published, tables
from isthmus.roads.ccix.bench import Point, Transfers

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compare"))

import made_up

GIVEN = {top: Path(f"{top}.so") for top in (ccix.FPGA, ccix.DMA)}


def measured(sizes: str = "64,1K") -> Document:
    points = ccix.points(
        [ccix.loaded()],
        ["isthmus", "as-published"],
        ccix.OPERATIONS,  # type: ignore[arg-type]
        sizes,
        drivers=ccix.DRIVERS,
    )
    return ccix.measure(points, runner=made_up.engine, given=GIVEN)


def test_a_scenario_has_every_constant_of_the_platform() -> None:
    made = ccix.scenario(Point(Transfers("device-read", 256, 10, 4), "isthmus", ccix.loaded()), GIVEN)
    assert made["platform"]["transport"] == {
        "generation": 4, "lanes": 8, "reserved_share": 0.0027, "header_bytes": 4, "propagation_ns": 1,
        "device_transmit_ns": 95.5, "device_receive_ns": 95.5, "host_transmit_ns": 95.5,
        "host_receive_ns": 95.5, "block_beats": 8, "packet_bytes": 256, "packet_messages": 31,
    }  # fmt: skip
    assert made["platform"]["home"]["memory_read_ns"] == 81
    assert made["fpga"] == {"model_path": "ccix_fpga.so"}
    assert made["workload"] == {
        "operation": "device-read", "bytes": 256, "iterations": 10, "warmup": ccix.WARMUP,
        "driver": "request-agent", "window": 4,
    }  # fmt: skip


def test_virtual_memory_is_part_of_the_workload_and_of_the_gateware() -> None:
    memory = ccix.translated("miss", "2M", "random")
    transfers = Transfers("device-read", 64, 10, driver="svm", translation=memory)
    made = ccix.scenario(Point(transfers, "isthmus", ccix.loaded()), GIVEN)
    assert made["workload"]["translation"] == {
        "page": "2M", "order": "random", "footprint_bytes": 32 << 20, "warm": False, "moves": 0,
    }  # fmt: skip
    assert made["platform"]["iommu"] == {"access_ns": 81, "walkers": 8, "cache_entries": 64}
    parameters = ccix.parameters(ccix.loaded(), "isthmus", "svm")
    assert {name: parameters[name] for name in ("Translate", "NumMiss", "PagesLog2", "Ahead")} == {
        "Translate": 1, "NumMiss": 8, "PagesLog2": 3, "Ahead": 6,
    }  # fmt: skip
    assert "Translate" not in ccix.parameters(ccix.loaded(), "isthmus", "request-agent")


def test_dma_has_the_same_link_and_memory_behind_it() -> None:
    transfers = Transfers("device-read", 64, 10, 1, driver="pcie-dma")
    made = ccix.scenario(Point(transfers, "isthmus", ccix.loaded()), GIVEN)
    transport, home, pcie = (made["platform"][name] for name in ("transport", "home", "pcie"))
    for key in ("generation", "lanes", "reserved_share", "propagation_ns"):
        assert pcie["link"][key] == transport[key]
    assert pcie["endpoint"]["transmit_latency_ns"] == transport["device_transmit_ns"]
    assert pcie["root"]["receive_latency_ns"] == transport["host_receive_ns"]
    assert pcie["memory"]["read_ns"] == home["gateway_ns"] + home["memory_read_ns"]
    assert pcie["memory"]["write_ns"] == home["gateway_ns"] + home["memory_write_ns"]
    assert made["fpga"] == {"model_path": "ccix_dma_fpga.so"}


def test_gateware_and_host_make_the_same_packets() -> None:
    for profile in platforms.PROFILES:
        platform = ccix.loaded()
        made = ccix.scenario(Point(Transfers("device-read"), profile, platform), GIVEN)
        parameters = ccix.parameters(platform, profile, "request-agent")
        assert parameters["MaxWords"] * 8 == made["platform"]["transport"]["packet_bytes"]
        assert parameters["MaxMessages"] == made["platform"]["transport"]["packet_messages"]
        assert parameters["NumTxns"] <= made["platform"]["home"]["requests"]


def test_each_size_is_measured_alone_and_with_a_full_link() -> None:
    points = ccix.points([ccix.loaded()], ["isthmus"], ["device-read"], "64:64K")
    flights = {p.transfers.size: [] for p in points}  # type: ignore[var-annotated]
    for point in points:
        flights[point.transfers.size].append(point.transfers.window)
    assert flights[64] == [1, 128]
    assert flights[1024] == [1, 16]
    assert flights[65536] == [1, 2]


def test_the_table_and_the_page_show_every_measurement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = command.run(
        size="64,1K", iterations=40, driver="all", out=tmp_path, runner=made_up.engine, given=GIVEN
    )
    text = capsys.readouterr().out
    # Each operation, alone and with a full link, by agent, with virtual addresses (hit and miss), with a
    # cache (miss and hit), by DMA.
    assert text.count("\n   64 ") == 24
    assert "virtual addresses: pages of 4K sequential, miss" in text
    assert "device-write of host memory by pcie-dma" in text
    assert len(load(tmp_path / "ccix.json").results) == len(made.results) == 48
    drawn = (tmp_path / "ccix.html").read_text()
    for title in ("Latency of device-read", "What the link carries", "Where the time of one line goes"):
        assert title in drawn


def test_up_to_six_lines_of_a_figure_have_colours_of_their_own() -> None:
    points = [
        Point(Transfers(op, size, 10, driver="svm", translation=memory), profile, ccix.loaded())
        for op in ccix.OPERATIONS
        for size in (64, 1024)
        for profile in ("isthmus", "as-published")
        for memory in (
            ccix.translated("hit", "4K"),
            ccix.translated("miss", "4K"),
            ccix.translated("miss", "2M"),
        )
    ]
    made = ccix.measure(points, runner=made_up.engine, given=GIVEN)
    # Whatever the road wants: here the same colour for all.
    alike = replace(page.PAGE, colours=dict.fromkeys(map(page.PAGE.case, made), "c3"))
    for figure in alike.figures(made):
        if figure.id == "stages":
            assert max(len(line) for text in labels(figure) for line in text.splitlines()) <= 20
            continue
        colours = {swatch.name: swatch.colour for swatch in figure.legend}
        assert len(colours) == len(set(colours.values())) == 6
        for panel in figure.panels:
            assert {line["name"]: line["colour"] for line in panel.option["series"]} == colours


def labels(figure: Figure) -> list[str]:
    [panel] = figure.panels
    return list(panel.option["yAxis"]["data"])


def test_the_page_draws_a_line_for_each_profile_and_driver() -> None:
    figures = page.PAGE.figures(measured())
    first = figures[0].panels[0].option["series"]
    assert [one["name"] for one in first] == [
        f"{profile}{case}"
        for profile in ("isthmus", "as-published")
        for case in ("", ", 4K sequential, hit", ", 4K sequential, miss", ", cached", ", cached-hit", ", DMA")
    ]  # fmt: skip
    assert len(tables.text(measured()).splitlines()) > 10


def test_a_round_trip_and_one_way_have_figures_of_their_own() -> None:
    made = measured()
    raw = [
        {**item, "definition": "rtt" if item["workload"]["driver"] == "cached-hit" else "one_way"}
        for item in made.raw["results"]
    ]
    mixed = document(made.raw["context"], raw)
    named = [figure.id for figure in page.PAGE.figures(mixed) if figure.id.startswith("latency-device-read")]
    assert sorted(named) == ["latency-device-read-one_way", "latency-device-read-rtt"]


def memory_name(v: ccix.Translation) -> str:
    size = f"{v.footprint >> 20}M" if v.footprint >> 20 else f"{v.footprint >> 10}K"
    return f"-{v.page}-{v.order}-{size}{'-warm' if v.warm else ''}"


def test_published_numbers_name_runs_that_verify_makes() -> None:
    ids = {
        f"ccix/ccix-au280/{p.profile}/{t.operation}/{t.size}-w{t.window}"
        + {
            "pcie-dma": "-dma",
            "svm": "-svm",
            "cached": "-cached",
            "cached-hit": "-hit",
            "contended": "-contended",
        }.get(t.driver, "")
        + ("-cache" if t.cache else "")
        + ("" if t.port == "lines" else f"-{t.port}")
        + (memory_name(t.translation) if t.translation else "")
        + (f"-{t.contention.lines}-h{t.contention.host_window}" if t.contention else "")
        for p in published.points()
        for t in [p.transfers]
    }
    ids |= {
        f"ccix/ccix-au280/isthmus/update/locks-{p.trace.name}-{p.mode.name}-q{p.requesters}"
        for p in published.transactions()
    }
    with (verify.PUBLISHED / verify.TARGETS).open() as file:
        targets = [line.split(",") for line in file if line.startswith("ccix.")]
    cells = [cell for line in targets for cell in line if cell.startswith("ccix/")]
    named = {part for cell in cells for part in cell.split(" / ")}
    for line in verify.published("ccix"):
        named |= set(filter(None, line["measurement"].split(" / ")))
    assert len(named) > 8
    filled = {one.replace("{profile}", profile) for one in named for profile in platforms.PROFILES}
    assert [one for one in filled if not fnmatch.filter(ids, one)] == []
    assert len(ids) == len(published.points()) + len(published.transactions())


def test_an_axi_master_may_have_virtual_addresses_and_tries_again_where_pages_move() -> None:
    memory = ccix.translated("miss")
    through = Transfers("device-read", 64, 10, driver="svm", translation=memory, cache=True, port="axi")
    ccix.check(through)
    made = ccix.parameters(ccix.loaded(), "isthmus", "svm", "axi", cache=True)
    assert (made["Translate"], made["AxiPort"], made["CacheLines"]) == (1, 1, 4096)
    assert made["Direct"] == 1
    moved = replace(through, translation=replace(memory, moves=1))
    ccix.check(moved)
    assert not ccix.retries(through)
    assert ccix.retries(moved)
    again = ccix.parameters(ccix.loaded(), "isthmus", "svm", "axi", cache=True, retry=True)
    assert again == made | ccix.RETRY


def test_an_update_is_an_atomic_of_the_axi_master_on_words_that_the_host_changes_too() -> None:
    platform = ccix.loaded()
    (one,) = ccix.points(
        [platform], ["isthmus"], ["update"], "8", 100, drivers=["svm"], virtual=[ccix.translated("hit")],
        port="axi", cache=True, updates=ccix.Updates("swap", 8, 2),
    )  # fmt: skip
    assert ccix.retries(one.transfers)
    workload = ccix.scenario(one, {"ccix_fpga": Path("model.so")})["workload"]
    assert workload["updates"] == {"change": "swap", "words": 8, "host_window": 2}
    assert (workload["operation"], workload["window"], workload["translation"]["warm"]) == (
        "update",
        1,
        False,
    )
    for wrong, says in (
        ({"port": "lines"}, "expected --port axi"),
        ({"size": 4}, "an update is of 8 bytes"),
        ({"window": 2}, "1 atomic open"),
    ):
        with pytest.raises(UserError, match=says):
            ccix.check(replace(one.transfers, **wrong))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"size": "65540"}, "size: 65540 bytes are outside 1 to 65536"),
        ({"size": "4K", "window": 65}, "window: 65 is outside 1 to 64 for transfers of 4096 bytes"),
        ({"size": "1K", "platform": "gige-direct"}, "is of kind gige; ccix runs on ccix"),
        ({"operation": "device-raed"}, "unknown op 'device-raed'; did you mean 'device-read'?"),
        (
            {"driver": "dma"},
            "unknown driver 'dma'; choose from request-agent, svm, cached, cached-hit, pcie-dma, all",
        ),
        (
            {"port": "axi"},
            "port: axi is in front of the FPGA's cache; expected a driver of cached, cached-hit, or svm with "
            "--cache",
        ),
        ({"driver": "cached", "port": "ahb"}, "unknown port 'ahb'; choose from lines, axi"),
        ({"driver": "svm", "page": "8K"}, "unknown page '8K'; choose from 4K, 2M, 1G, all"),
        ({"driver": "svm", "translation": "mis"}, "unknown translation 'mis'; did you mean 'miss'?"),
        ({"driver": "svm", "size": "64K", "window": 9}, "window: 9 is outside 1 to 8 for transfers of 65536"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(settings: dict[str, object], says: str) -> None:
    with pytest.raises(UserError) as refused:
        command.run(**settings, runner=made_up.engine, given=GIVEN)  # type: ignore[arg-type]
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
