# SPDX-License-Identifier: Apache-2.0
"""UDP into memory after its engine: scenarios, tables, page, published numbers; measurements are made up."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from isthmus import platforms, verify
from isthmus.errors import UserError
from isthmus.results import Document, document
from isthmus.roads.nanet import chain, page, stages, tables
from isthmus.roads.nanet.bench import LARGEST, SEND, Point, Stream, measure, parse_memories
from isthmus.roads.nanet.platform import top
from isthmus.roads.nanet.published import points
from isthmus.roads.nanet.quantities import PARTS

PART_PS = 1_000_000
"""Every part takes as long, and half as much again at the most."""


def engine(scenario: Mapping[str, Any], progress: object = None) -> list[dict[str, Any]]:
    """FIXTURE, NOT A RESULT: one made-up measurement."""
    del progress
    work, platform = scenario["workload"], scenario["platform"]["name"]
    total = 1000 * (1_000 + 8 * work["bytes"])
    parts = {name: {"min": PART_PS, "avg": 1.2 * PART_PS, "max": 1.5 * PART_PS} for name in PARTS}
    window, driver, memory = work.get("window"), work["driver"], work["memory"]
    name = f"nic-to-memory/b{work['bytes']}-w{window}"
    if memory == "host":
        del parts["to_gpu"]
    else:
        name = f"{name}-{memory}"
        parts["to_gpu"] = {end: 2 * value for end, value in parts["to_gpu"].items()}
    return [
        {
            "id": f"nanet/{platform}/{scenario['profile']}/{driver}/{name}",
            "road": "nanet", "platform": platform, "profile": scenario["profile"], "method": driver,
            "workload": {
                "operation": "nic-to-memory", "bytes": work["bytes"], "driver": driver, "window": window,
                "rate_per_s": None, "noise": False, "busy": {"wire": 0.9}, "saturated": False, "lost": 0,
                "ports": scenario["interface"]["ports"], "buffers": work["buffers"], "datagrams": 1,
                "memory": memory,
                "parts_ps": parts,
            },
            "definition": "one_way", "arrivals": f"window:{window}", "seed": scenario["seed"],
            "iterations": work["iterations"], "excluded": {"head": 8, "tail": 1},
            "latency_ps": {
                "min": total, "max": total, "typical": total, "avg": float(total), "stdev": 0.0, "p50": total,
                "p90": None, "p99": None, "p99.9": None, "p99.99": None,
            },
            "histogram": {"unit": "ps", "significant_digits": 3, "buckets": [[total, work["iterations"]]]},
            "throughput": {
                "payload_bytes": 1000, "wire_bytes": 1100, "elapsed_ps": 10**7, "payload_bit_s": 8e8,
                "wire_bit_s": 8.8e8, "cycles_per_s": 1e5,
            },
            "stages": [{"name": "frame on the pins", "where": "wire", "ps": total}],
            "stages_total_ps": total, "timeline": [], "checked": {"bytes": 1, "wrong": 0, "lost": 0},
            "counters": {}, "simulation": {"device_cycles": 10, "evaluated_cycles": 9, "wall_s": 0.1},
        }
    ]  # fmt: skip


def measured() -> Document:
    """Those that `isthmus verify nanet` takes."""
    return measure(points(), runner=engine, given=Path("model.so"))


def test_the_terminal_shows_each_run_and_the_parts_of_the_largest_datagram() -> None:
    text = tables.text(measured())
    assert "as-published  host    window:1" in text
    assert "isthmus       gpu     window:16" in text
    assert f"# parts of the way, {LARGEST} bytes" in text
    assert "1.000..1.500" in text


def test_a_rate_that_is_not_carried_is_saturated() -> None:
    raw = copy.deepcopy(dict(measured().raw))
    for item in raw["results"]:
        item["workload"]["saturated"] = item["workload"].get("window") != 1
    text = tables.text(document(raw["context"], raw["results"]))
    rows = [line.split() for line in text.splitlines() if " window:" in line]
    assert {row[5] == "saturated" for row in rows if row[2] == "window:16"} == {True}
    assert {row[5] == "saturated" for row in rows if row[2] == "window:1"} == {False}


def test_the_page_answers_with_both_profiles() -> None:
    drawn = page.page(measured())
    assert "1.000 to 1.500 us (as-published), 1.000 to 1.500 us (isthmus) after its last byte" in drawn
    assert (
        "It is in a GPU&#x27;s memory 2.000 to 3.000 us (as-published, gpu), 2.000 to 3.000 us (isthmus, gpu)"
        in (drawn)
    )
    assert "1 port carries up to 100 MB/s, none lost." in drawn
    assert "visible in the GPU&#x27;s memory" in drawn


def test_the_page_of_a_program_that_sends_says_when_its_frame_is_on_the_wire_and_at_which_rate() -> None:
    def sent(scenario: Mapping[str, Any], progress: object = None) -> list[dict[str, Any]]:
        made = engine(scenario, progress)
        for m in made:
            m["workload"]["operation"] = "message"
            m["workload"]["parts_ps"] = {"to_wire": {"min": 930_000, "avg": 940_000.0, "max": 950_000}}
        return made

    streams = [
        Stream(size=size, window=window, operation="send") for size in (64, LARGEST) for window in (1, 16)
    ]
    made = measure([Point(stream) for stream in streams], runner=sent, given=Path("model.so"))
    shown = page.page(made)
    assert "begins 0.930 to 0.950 us after its post" in shown
    assert "sends 100 MB/s, 90.0 % of the line" in shown
    assert "chart-send-times-0" in shown
    assert "chart-send-rate-0" in shown


def test_the_page_draws_time_and_rate_over_size() -> None:
    runs = [Point(Stream(size, window=window), "isthmus") for size in (64, 1472) for window in (1, 16)]
    drawn = page.figures(measure(runs, runner=engine, given=Path("model.so")))
    assert [figure.id for figure in drawn] == ["stages", "after", "rate", "parts"]
    assert [row[1:] for row in drawn[2].table.rows] == [("64", "100.0", "90.0"), ("1472", "100.0", "90.0")]


def test_stages_follow_from_their_durations_and_from_what_ends_at_the_same_moment() -> None:
    raw = copy.deepcopy(dict(measured().raw))
    durations = {"udp": 3, "wake": 1, "work": 4, "write": 0.5, "inside": 7, "after_frame": 6, "to_program": 8}
    for item in raw["results"]:
        item["latency_ps"]["avg"] = 20e6
        for name, us in durations.items():
            item["workload"]["parts_ps"][name]["avg"] = us * 1e6
        if "to_gpu" in item["workload"]["parts_ps"]:
            item["latency_ps"]["avg"] = 21e6
            item["workload"]["parts_ps"]["to_gpu"]["avg"] = 9e6
    single = [m for m in document(raw["context"], raw["results"]) if m.workload["window"] == 1]
    expected = {
        "wire": (0, 12),
        "udp": (11, 14),
        "wake": (12.5, 13.5),
        "work": (13.5, 17.5),
        "write": (17.5, 18),
        "program": (18, 20),
    }
    found = {tables.way(m): stages.spans(m) for m in single}
    assert found["isthmus"] == found["as-published"] == expected
    assert found["isthmus, gpu"] == {**expected, "gpu": (20, 21)}


def test_the_distribution_has_all_datagrams_each_where_it_came() -> None:
    raw = copy.deepcopy(dict(measured().raw))
    for item in raw["results"]:
        item["histogram"]["buckets"] = [[500_000, 1], [1_500_000, 2], [10**9, 1]]
    made = document(raw["context"], raw["results"])
    corners = stages.distribution(made, next(iter(made)), 0.0, 1.0)
    assert corners[1:4] == [[0.0, 25], [1.0, 50], [2.0, 0]]
    assert corners[-2:] == [[59.0, 25], [60.0, 0]]


def test_every_published_number_of_the_interface_is_compared() -> None:
    found = {row.id: row for row in verify.rows(measured(), "nanet")}
    assert found["nanet.total.max"].simulated == pytest.approx(1.5)
    assert found["nanet.rate"].simulated == pytest.approx(100)
    assert {row.verdict for row in found.values() if row.kind == "input"} == {"input"}
    # Those of the trigger and of the torus: test_nanet_chain, test_torus.
    other = ("nanet.commodity", "nanet.budget", "nanet.input", "nanet.apelink")
    mine = [row for row in found.values() if row.kind != "context" and not row.id.startswith(other)]
    assert mine
    assert all(row.simulated is not None for row in mine)


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (Stream(1473), "size: 1473 bytes; a datagram of Ethernet has 4 to 1472"),
        (Stream(ports=5), "ports: 5; expected 1 to 4"),
        (Stream(buffers=3), "buffers: 3; expected a power of two, 1 to 64"),
        (Stream(window=9, buffers=8), "window: 9 datagrams in flight; the buffers hold 8"),
        (Stream(memory="gpus"), "unknown memory 'gpus'; did you mean 'gpu'"),
        (Stream(memory="gpu", operation=SEND), "memory: gpu; a program sends from its host's memory"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_built(stream: Stream, message: str) -> None:
    with pytest.raises(UserError, match=message):
        measure([Point(stream)], runner=engine, given=Path("model.so"))


def test_10_gigabit_ethernet_has_two_ports_and_its_own_device() -> None:
    platform = platforms.load("nanet-10g")
    assert top(platform) == "nanet_nic_10g"
    assert top(platforms.load("nanet")) == "nanet_nic"
    measure([Point(Stream(ports=2), platform=platform)], runner=engine, given=Path("model.so"))
    with pytest.raises(UserError, match="ports: 3; nanet-10g has 10 Gigabit Ethernet: expected 1 or 2"):
        measure([Point(Stream(ports=3), platform=platform)], runner=engine, given=Path("model.so"))


def test_the_10_gigabit_interface_has_no_search_and_no_merging() -> None:
    for refused in (chain.Chain(1e6, place="fpga"), chain.Chain(1e6, format="tel62")):
        with pytest.raises(UserError, match="10 Gigabit interface of nanet-10g neither searches nor merges"):
            chain.measure([("isthmus", refused)], platform="nanet-10g", runner=engine, given=Path("model.so"))


def test_a_page_without_a_gpu_does_not_speak_of_one() -> None:
    runs = [Point(Stream(1472, window=window), "isthmus") for window in (1, 16)]
    drawn = page.page(measure(runs, runner=engine, given=Path("model.so")))
    assert "is in a GPU&#x27;s memory" not in drawn
    assert "visible in the GPU&#x27;s memory" not in drawn
    assert "data in the GPU" not in tables.text(measure(runs, runner=engine, given=Path("model.so")))


def test_every_memory_has_its_own_line_and_its_own_colour() -> None:
    runs = [
        Point(Stream(size, window=window, memory=memory), "isthmus")
        for memory in ("host", "gpu", "staged")
        for size in (64, 1472)
        for window in (1, 16)
    ]
    drawn = page.figures(measure(runs, runner=engine, given=Path("model.so")))
    after, rate = drawn[1], drawn[2]
    series = [one["name"] for one in rate.panels[0].option["series"]]
    assert series == ["isthmus", "isthmus, gpu", "isthmus, staged"]
    assert len({one["colour"] for one in rate.panels[0].option["series"]}) == 3
    # Until the data is there: twice as long in the made-up runs of a GPU.
    rows = {(row[0], row[1]): row[2] for row in after.table.rows}
    assert (rows["isthmus, least", "64"], rows["isthmus, gpu, least", "64"]) == ("1.000", "2.000")


def test_a_list_of_memories() -> None:
    assert parse_memories("host, gpu,host") == ["host", "gpu"]
    with pytest.raises(UserError, match="unknown memory ''"):
        parse_memories("host,")


def test_a_platform_without_a_gpu_has_no_gpu_memory() -> None:
    stored = platforms.load("nanet")
    without = dataclasses.replace(stored, groups={k: v for k, v in stored.groups.items() if k != "gpu"})
    with pytest.raises(UserError, match="memory: gpu; nanet has no GPU: expected a table gpu"):
        measure([Point(Stream(memory="gpu"), platform=without)], runner=engine, given=Path("model.so"))
    measure([Point(Stream(), platform=without)], runner=engine, given=Path("model.so"))
