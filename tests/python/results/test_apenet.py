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
from isthmus.roads.apenet import command, page, published, tables
from isthmus.roads.apenet.bench import Point, Puts

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
    near, far = work["near"], work["far"]
    took += 10_000_000 * [near, far].count("staged") + 400_000 * [near, far].count("gpu")
    memory = "" if (near, far) == ("host", "host") else f"-{near}" if near == far else f"-{near}-{far}"
    shape = "ping-pong" if ping_pong else f"w{window}"
    what, definition = ("get", "rtt") if work["test"] == "get" else ("put", "one_way")
    name = scenario["platform"]["name"]
    stages = [{"name": "post: program and bus", "where": "host", "ps": took - 400_000},
              {"name": "routers and links", "where": "wire", "ps": 400_000}]  # fmt: skip
    over_lanes = {"links": "lanes"} if scenario["node"].get("links") == "lanes" else {}
    lanes = "-lanes" if over_lanes else ""
    brought = {"payload": "inline"} if work.get("inline") else {}
    took -= 500_000 if brought else 0
    inline = "-inline" if brought else ""
    staged = stages if window == 1 and not ping_pong else []
    return [
        {
            "id": f"apenet/{name}/{profile}/poll/{what}/b{size}-{shape}{inline}{lanes}{memory}",
            "road": "apenet",
            "platform": name,
            "profile": profile,
            "method": "poll",
            "workload": {
                "operation": work["operation"], "bytes": size, "driver": "dma", "window": window,
                "rate_per_s": None,
                "noise": False, "busy": {"wire": 0.9}, "saturated": False, "test": work["test"],
                "nodes": work["nodes"], "near": near, "far": far, "hop_clocks": 19,
                "link_limit_byte_s": 3.37e9, "bus_limit_byte_s": 3.1e9, **over_lanes,
                **brought,
            },
            "definition": "half_round_trip" if ping_pong else definition,
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
    assert [
        "apelink",
        "isthmus",
        "host",
        "address",
        "read",
        "ping-pong",
        "1",
        "4096",
        *["2.365"] * 3,
        "-",
        "-",
        "-",
    ] in rows
    assert [
        "apelink",
        "isthmus",
        "host",
        "address",
        "read",
        "one-way",
        "8",
        "4096",
        *["2.365"] * 3,
        "3,000",
        "89.0",
        "%",
        "96.8",
        "%",
    ] in rows
    assert "# the way of one put of 4096 bytes, in us" in text
    assert text.count("sum") == 1


def test_the_page_answers_with_the_smallest_round_trip_and_the_highest_rate() -> None:
    drawn = page.page(measured())
    assert "A put of 4096 bytes is with the far program after 2.365 us (apelink, isthmus" in drawn
    assert "bytes carry 3000 MB/s, 89.0 % of what the link carries" in drawn
    assert "chart-puts-0" in drawn


def test_the_published_figures_of_apelink_are_beside_ours() -> None:
    made = apenet.measure(published.puts(), runner=engine, given=MODEL)
    found = {row.id: row for row in verify.rows(made, "nanet")}
    assert found["nanet.apelink.rate.hw"].simulated == pytest.approx(3000)
    assert found["nanet.apelink.rate.hw"].verdict == "agrees"
    assert found["nanet.apelink.rate.host"].simulated == pytest.approx(600)
    assert found["nanet.apelink.rate.gpu.hw"].verdict == "agrees"
    assert found["nanet.apelink.latency"].kind == "context"
    assert found["nanet.apelink.latency"].simulated == pytest.approx(5.8 + 64 / 0.6e3, abs=1e-3)
    assert found["nanet.apelink.staged"].simulated == pytest.approx(25 + 64 / 0.6e3, abs=1e-3)
    assert found["nanet.apelink.p2p"].verdict == "agrees"


def test_gets_are_measured_by_their_own_operation_and_have_limits_in_the_documents_verify() -> None:
    made = apenet.measure(published.puts(), runner=engine, given=MODEL)
    limits = {limit.id: limit for limit in verify.targets(made, "nanet")}
    assert limits["nanet.get.latency"].simulated == pytest.approx(1 + 64 / 3e3, abs=1e-3)
    assert limits["nanet.put.inline.host"].simulated == pytest.approx(0.5 + 64 / 3e3, abs=1e-3)
    assert limits["nanet.put.inline.gpu"].simulated == pytest.approx(1.3 + 64 / 3e3, abs=1e-3)
    assert limits["nanet.put.inline.gpu"].verdict == "met"
    assert (limits["nanet.get.latency"].verdict, limits["nanet.get.rate"].verdict) == ("met", "met")
    (one,) = apenet.measure([Point(Puts(64, test="get"))], runner=engine, given=MODEL)
    assert (one.definition, one.workload["operation"]) == ("rtt", "get")
    assert "isthmus, get" in page.page(made)


def test_memory_is_given_for_both_ends_or_for_each() -> None:
    assert apenet.parse_memories("host, gpu,host:gpu,gpu") == [
        ("host", "host"), ("gpu", "gpu"), ("host", "gpu")
    ]  # fmt: skip
    with pytest.raises(UserError, match="unknown memory 'disk'; choose from host, gpu, staged"):
        apenet.parse_memories("host:disk")
    made = apenet.measure([Point(Puts(near="gpu", far="host", window=8))], runner=engine, given=MODEL)
    assert [line.split()[2] for line in tables.text(made).splitlines() if line[0] != "#"] == ["gpu:host"]
    assert "isthmus, gpu:host" in page.page(made)


def test_a_platform_has_a_gpu_whose_copies_cost_what_the_source_of_its_generation_says() -> None:
    for name, copy in (("apelink", 10), ("apelink-gen3", 6.5)):
        made = apenet.scenario(platforms.load(name), "isthmus", Puts(far="gpu"), MODEL)
        assert made["platform"]["gpu"] == {"lanes": 16, "read_ns": 344, "write_ns": 50, "copy_us": copy}
        assert (made["workload"]["near"], made["workload"]["far"]) == ("host", "gpu")


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
        (Puts(near="disk"), "unknown memory 'disk'; choose from host, gpu, staged"),
        (Puts(test="get", near="gpu"), "memory: gpu:host; a get goes from host or gpu to host"),
        (Puts(test="put", far="gpu"), "memory: host:gpu; test put ends in the far host's memory"),
        (Puts(65, inline=True), "inline: 65 bytes; a post brings at most 64"),
        (Puts(64, test="get", inline=True), "inline: not with test get"),
        (Puts(64, near="staged", inline=True), "inline: not with memory staged:host"),
        (Puts(test="round"), "unknown test 'round'; choose from one-way, put, ping-pong, get, burst"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_built(puts: Puts, message: str) -> None:
    with pytest.raises(UserError, match=message):
        apenet.measure([Point(puts)], runner=engine, given=MODEL)


def test_the_command_runs_each_shape_size_and_profile(tmp_path: Path) -> None:
    made = command.run(size="64,4096", out=tmp_path, runner=engine, given=MODEL)
    assert len(list(made)) == 3 * 2 * 2
    assert (tmp_path / "apenet.html").is_file()
    gets = command.run(size="64", operation="get", out=tmp_path, runner=engine, given=MODEL)
    assert [(m.workload["test"], m.workload["window"]) for m in gets] == [("get", 1), ("get", 8)]
    both = command.run(
        size="64", memory="gpu,staged", profile="isthmus", out=tmp_path, runner=engine, given=MODEL
    )
    assert [m.workload["near"] for m in both] == ["gpu", "gpu", "gpu", "staged", "staged", "staged"]
    one = command.run(size="64", window=1, profile="isthmus", out=tmp_path, runner=engine, given=MODEL)
    assert [m.definition for m in one] == ["one_way", "half_round_trip"]


def test_links_of_lanes_are_another_device_and_the_default_scenario_is_as_before(tmp_path: Path) -> None:
    platform = platforms.load(apenet.PLATFORM)
    before, made = (apenet.scenario(platform, "isthmus", Puts(link=link), MODEL) for link in apenet.LINKS)
    assert "links" not in before["node"]
    assert made["node"]["links"] == "lanes"
    assert apenet.label(made) == apenet.label(before) + " lanes"
    with pytest.raises(UserError, match="cable"):
        apenet.check(Puts(link="cable"))
    measured = command.run(
        size="64", profile="isthmus", link="lanes", out=tmp_path, runner=engine, given=MODEL
    )
    assert "6 clocks beside the 19 of its line" in tables.text(measured)
    assert "without bit errors and framing" not in page.page(measured)


def test_puts_that_bring_their_payload_are_beside_those_that_are_read(tmp_path: Path) -> None:
    made = command.run(inline=True, memory="gpu", out=tmp_path, runner=engine, given=MODEL)
    # Both kinds, three shapes, two sizes, isthmus alone: the document has none.
    assert len(list(made)) == 2 * 3 * 2
    assert {m.profile for m in made} == {"isthmus"}
    assert [m.workload.get("payload") for m in made] == ["inline"] * 6 + [None] * 6
    rows = [line.split() for line in tables.text(made).splitlines()]
    assert ["apelink", "isthmus", "gpu", "address", "inline", "ping-pong", "1", "64"] in [
        row[:8] for row in rows
    ]
    assert "isthmus, inline, gpu" in page.page(made)
    with pytest.raises(UserError, match="inline: a get has no payload"):
        command.run(inline=True, operation="get", out=tmp_path, runner=engine, given=MODEL)


def test_a_kernel_is_the_program_of_a_gpu_by_what_gdrcopys_round_trip_leaves() -> None:
    platform = platforms.load(apenet.PLATFORM)
    made = apenet.scenario(platform, "isthmus", Puts(64, near="gpu", inline=True), MODEL)
    assert (
        made["platform"]["kernel_ns"]
        == 1088 - (10 + 50 + 4 * 108 + 50 + 70) - made["platform"]["gpu"]["write_ns"]
    )
    assert made["workload"]["inline"] is True
    assert apenet.label(made).endswith(" gpu:host inline")
    assert "inline" not in apenet.scenario(platform, "isthmus", Puts(64), MODEL)["workload"]
