# SPDX-License-Identifier: Apache-2.0
"""The benchmark of puts without its simulator: what it asks for, prints, draws and refuses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from isthmus import platforms, verify
from isthmus.errors import UserError
from isthmus.results import Document
from isthmus.roads.apenet import bench as apenet
from isthmus.roads.apenet import command, page, tables
from isthmus.roads.apenet.bench import Point, Puts
from isthmus.roads.nanet import published

MODEL = Path("apenet_node.so")


def engine(scenario: Mapping[str, Any], progress: object = None) -> list[dict[str, Any]]:
    """What the simulator would give, near enough: 1 us and 3 GB/s; with firmware 5 us and 0.6 GB/s."""
    del progress
    work, profile = scenario["workload"], scenario["profile"]
    size, window, count = work["bytes"], work["window"], work["iterations"]
    ping_pong = work["test"] == "ping-pong"
    slow = "firmware" in scenario["node"]
    rate = 0.6e9 if slow else 3e9
    took = round((5e6 if slow else 1e6) + size / rate * 1e12)
    name = scenario["platform"]["name"]
    stages = [{"name": "post: program and bus", "where": "host", "ps": took - 400_000},
              {"name": "routers and links", "where": "wire", "ps": 400_000}]  # fmt: skip
    staged = stages if window == 1 and not ping_pong else []
    return [
        {
            "id": f"apenet/{name}/{profile}/poll/put/b{size}-{'ping-pong' if ping_pong else f'w{window}'}",
            "road": "apenet",
            "platform": name,
            "profile": profile,
            "method": "poll",
            "workload": {
                "operation": "put", "bytes": size, "driver": "poll", "window": window, "rate_per_s": None,
                "noise": False, "busy": {"wire": 0.9}, "saturated": False, "test": work["test"],
                "nodes": work["nodes"], "hop_clocks": 19, "link_limit_byte_s": 3.37e9,
            },
            "definition": "half_round_trip" if ping_pong else "one_way",
            "arrivals": f"window:{window}",
            "seed": scenario["seed"],
            "iterations": count,
            "excluded": {"head": 4, "tail": 0},
            "latency_ps": {
                "min": took, "max": took, "typical": took, "avg": float(took), "stdev": 0.0, "p50": took,
                "p90": None, "p99": None, "p99.9": None, "p99.99": None,
            },
            "histogram": {"unit": "ps", "significant_digits": 3, "buckets": [[took, count]]},
            "throughput": None
            if ping_pong
            else {
                "payload_bytes": count * size, "wire_bytes": count * (size + 32), "elapsed_ps": 1_000_000,
                "payload_bit_s": 8 * rate, "wire_bit_s": 8.1 * rate, "cycles_per_s": 1e6,
            },
            "stages": staged,
            "stages_total_ps": sum(stage["ps"] for stage in staged),
            "timeline": [],
            "checked": {"bytes": count * size, "wrong": 0, "lost": 0},
            "counters": {"node1.packets": count},
            "simulation": {"device_cycles": 1000, "evaluated_cycles": 1000, "wall_s": 1.0},
        }
    ]  # fmt: skip


def measured() -> Document:
    """One way, back and forth, and the rate."""
    shapes = [Puts(), Puts(test="ping-pong"), Puts(window=8)]
    points = [Point(puts, profile) for puts in shapes for profile in ("as-published", "isthmus")]  # type: ignore[arg-type]
    return apenet.measure(points, runner=engine, given=MODEL)


def test_the_terminal_shows_latency_rate_and_the_way_of_a_put() -> None:
    text = tables.text(measured())
    rows = [line.split() for line in text.splitlines()]
    assert ["apelink", "isthmus", "ping-pong", "1", "4096", *["2.365"] * 3, "-", "-"] in rows
    assert ["apelink", "isthmus", "one-way", "8", "4096", *["2.365"] * 3, "3,000", "89.0", "%"] in rows
    assert "# the way of one put of 4096 bytes, in us" in text
    assert text.count("sum") == 1


def test_the_page_answers_with_the_smallest_round_trip_and_the_highest_rate() -> None:
    drawn = page.page(measured())
    assert "A put of 4096 bytes is with the far program after 2.365 us (apelink, isthmus" in drawn
    assert "3000 MB/s come, 89.0 % of what the link carries" in drawn
    assert "chart-puts-0" in drawn


def test_the_published_figures_of_apelink_are_beside_ours() -> None:
    made = apenet.measure(published.puts(), runner=engine, given=MODEL)
    found = {row.id: row for row in verify.rows(made, "nanet")}
    assert found["nanet.apelink.rate.hw"].simulated == pytest.approx(3000)
    assert found["nanet.apelink.rate.hw"].verdict == "agrees"
    assert found["nanet.apelink.rate.host"].simulated == pytest.approx(600)
    assert found["nanet.apelink.latency"].kind == "context"


def test_a_scenario_has_the_link_of_the_torus_and_firmware_only_as_published() -> None:
    platform, torus = platforms.load(apenet.PLATFORM), platforms.load("apenet")
    assert platform.fpga.clock.value == torus.fpga.clock.value
    for group, name in (("serdes", "latency"), ("cable", "delay")):
        assert getattr(platform.groups[group], name).value == getattr(torus.groups[group], name).value
    ours = apenet.scenario(platform, "isthmus", Puts(), MODEL)
    theirs = apenet.scenario(platform, "as-published", Puts(), MODEL)
    assert "firmware" not in ours["node"]
    assert theirs["node"]["firmware"] == {"wake_min_us": 0.6, "wake_max_us": 2.0, "work_us": 4.0}
    assert apenet.parameters(platform, "isthmus")["Firmware"] == 0
    assert apenet.parameters(platform, "as-published")["Firmware"] == 1
    assert platforms.load("apelink-gen3").groups["link"].generation.value == 3


@pytest.mark.parametrize(
    ("puts", "message"),
    [
        (Puts(0), "size: 0 bytes; a put has 1 to 4194304"),
        (Puts(window=17), "window: 17; expected 1 to 16 puts in flight"),
        (Puts(window=2, test="ping-pong"), "window: 2; a ping-pong has one put in flight"),
        (Puts(4 << 20, window=2), "window: 2; a put memory holds 1 of 4194304 bytes"),
        (Puts(nodes=17), "nodes: 17; expected 2 to 16"),
        (Puts(test="round"), "unknown test 'round'; choose from one-way, ping-pong"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_built(puts: Puts, message: str) -> None:
    with pytest.raises(UserError, match=message):
        apenet.measure([Point(puts)], runner=engine, given=MODEL)


def test_the_command_runs_each_shape_size_and_profile(tmp_path: Path) -> None:
    made = command.run(size="64,4096", out=tmp_path, runner=engine, given=MODEL)
    assert len(list(made)) == 3 * 2 * 2
    assert (tmp_path / "apenet.html").is_file()
    one = command.run(size="64", window=1, profile="isthmus", out=tmp_path, runner=engine, given=MODEL)
    assert [m.definition for m in one] == ["one_way", "half_round_trip"]
