# SPDX-License-Identifier: Apache-2.0
"""The torus benchmark without its simulator: what it asks for, prints, draws and refuses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from isthmus import platforms, verify
from isthmus.errors import UserError
from isthmus.results import Document
from isthmus.roads.torus import bench as torus
from isthmus.roads.torus import cli, command, page, published, tables
from isthmus.roads.torus.bench import Traffic

MODEL = Path("torus_node.so")
CLOCK_PS = 4_706


def engine(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the simulator would give, near enough: more load, more delay."""
    work = scenario["workload"]
    x, y, z = work["nodes"]
    load, count = work["load"], work["packets"]
    full = load is None
    carried = 0.84 if full else load
    delay = 80 * CLOCK_PS * (1 + (carried / (1.02 - carried)))
    rate = "backlog" if full else f"poisson-{load:.3f}"
    lanes = scenario["device"].get("links") == "lanes"
    errors = scenario["faults"]["bit_error_rate"] if lanes else 0.0
    lost = round(count * errors * 1e5)
    named = ("-lanes" if lanes else "") + (f"-ber-{errors:g}" if errors else "")
    over_lanes = {
        "links": "lanes", "framing_share": carried * 0.1, "credit_share": 0.04, "align_share": 0.002,
        "errors": errors, "lost": lost,
    }  # fmt: skip
    counted = {
        "packets.lost": 0, "packets.missing": lost, "packets.poisoned": lost // 2,
        "lines.wrong_bits": 2 * lost,
        "links.torn": lost, "links.gaps": 0, "links.dropped": 0,
    }  # fmt: skip
    shown = {
        "min": 36 * CLOCK_PS, "max": int(4 * delay), "typical": int(delay), "avg": delay,
        "stdev": delay / 3, "p50": int(delay), "p90": int(2 * delay), "p99": int(3 * delay),
        "p99.9": None, "p99.99": None,
    }  # fmt: skip
    return [
        {
            "id": f"torus/{scenario['platform']['name']}/isthmus/router/"
            f"{x}x{y}x{z}-{work['pattern']}-{work['bytes']}-{rate}{named}",
            "road": "torus",
            "platform": scenario["platform"]["name"],
            "profile": "isthmus",
            "method": "router",
            "workload": {
                "nodes": [x, y, z], "pattern": work["pattern"], "bytes": work["bytes"],
                "flits": work["bytes"] // 16 + 2, "load": load, "carried": carried, "saturated": full,
                "link_share": carried / 2, "link_share_most": carried * 0.6, "hop_clocks": 19,
                "buffer_flits": 64, "delay_clocks": delay / CLOCK_PS, "hops": 3.05,
                "packets": count + 200, "longest_queue": 9, **(over_lanes if lanes else {}),
            },
            "definition": "one_way",
            "arrivals": "backlog" if full else f"poisson:{load}",
            "seed": scenario["seed"],
            "iterations": count,
            "excluded": {"head": 200, "tail": 0},
            "latency_ps": None if full else shown,
            "histogram": None
            if full
            else {"unit": "ps", "significant_digits": 3, "buckets": [[int(delay), count]]},
            "throughput": {
                "payload_bytes": count * work["bytes"], "wire_bytes": count * (work["bytes"] + 32),
                "elapsed_ps": 1_000_000_000, "payload_bit_s": 1e11, "wire_bit_s": 1.2e11,
                "cycles_per_s": 1e8,
            },
            "stages": [],
            "stages_total_ps": 0,
            "timeline": [],
            "checked": {"bytes": count * work["bytes"], "wrong": 0, "lost": 0},
            "counters": {
                "clocks": 10_000, "packets.delivered": count + 200, **(counted if lanes else {})
            },
            "simulation": {"device_cycles": 640_000, "evaluated_cycles": 640_000, "wall_s": 1.0},
        }
    ]  # fmt: skip


def measured() -> Document:
    """Two loads and saturation of the usual torus."""
    points = [Traffic(load=load, packets=1000) for load in (0.2, 0.8, None)]
    return torus.measure(points, runner=engine, given=MODEL)


def test_the_published_limit_of_a_link_is_compared_with_that_of_the_torus() -> None:
    made = torus.measure(published.links(), runner=engine, given=MODEL)
    row = next(row for row in verify.rows(made, "nanet") if row.id == "nanet.apelink.link")
    assert row.simulated == pytest.approx(1e11 / 8e6)
    assert row.verdict == "agrees"


def test_a_scenario_has_the_platforms_link_and_the_models_buffer() -> None:
    platform = platforms.load(torus.PLATFORM)
    traffic = Traffic((4, 4, 1), load=0.5)
    made = torus.scenario(platform, traffic, MODEL)
    assert torus.parameters(platform, traffic) == {"Dims": 2, "Depth": made["device"]["buffer_flits"]}
    assert made["platform"] == {
        "name": "apenet", "clock_mhz": 212.5, "serdes_ns": 80, "cable_ns": 10
    }  # fmt: skip
    assert made["workload"]["nodes"] == [4, 4, 1]
    # A credit's round trip: the buffer keeps a channel at its full rate.
    link = (made["platform"]["serdes_ns"] + made["platform"]["cable_ns"]) * 0.2125
    assert made["device"]["buffer_flits"] >= 4 + 2 + 2 * link


@pytest.mark.parametrize(("text", "found"), [("8", (8, 1, 1)), ("4x3", (4, 3, 1)), ("4x4x4", (4, 4, 4))])
def test_shapes_are_written_as_people_do(text: str, found: tuple[int, int, int]) -> None:
    assert torus.nodes(text) == found
    assert torus.shape(found) == text


@pytest.mark.parametrize("text", ["", "1", "4x", "4x4x4x4", "33", "4x1x4", "0x4", "-4", "axb", "32x32"])
def test_a_wrong_shape_is_one_line(text: str) -> None:
    with pytest.raises(UserError, match=r"^nodes: "):
        torus.nodes(text)


def test_a_wrong_size_load_or_pattern_is_one_line() -> None:
    for traffic, wrong in (
        (Traffic(size=24), "size: 24"),
        (Traffic(size=8192), "size: 8192"),
        (Traffic(load=1.5), "load: 1.5"),
        (Traffic(pattern="unifrom"), "unifrom"),
    ):
        with pytest.raises(UserError, match=wrong):
            torus.check(traffic)
    assert cli.PATTERNS == torus.PATTERNS


def test_the_table_has_a_row_a_load_and_says_what_was_compared(tmp_path: Path) -> None:
    made = command.run(load="0.8,0.2", packets=1000, out=tmp_path, format="table", runner=engine, given=MODEL)
    text = tables.text(made)
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    assert [row[0] for row in rows] == ["0.200", "0.800", "full"]
    assert rows[-1][-1] == "saturated"
    assert "# 3600 packets compared" in text
    assert (tmp_path / "torus.csv").is_file()


def test_the_page_says_what_is_carried_and_has_a_panel_for_delay_and_rate(tmp_path: Path) -> None:
    made = command.run(load="0.2,0.8", packets=1000, out=tmp_path, runner=engine, given=MODEL)
    drawn = page.page(made)
    assert "0.84 flits a clock" in drawn
    assert "All of 3,600 packets arrived" in drawn
    assert "Mean delay over offered load" in drawn


def test_links_of_lanes_are_another_device_and_the_default_scenario_is_as_before() -> None:
    platform = platforms.load(torus.PLATFORM)
    plain, lanes = (Traffic((4, 4, 1), link=link) for link in torus.LINKS)
    assert (torus.top(plain), torus.top(lanes)) == ("torus_node", "torus_link_node")
    assert torus.parameters(platform, plain) == torus.parameters(platform, lanes)
    before, made = (torus.scenario(platform, traffic, MODEL) for traffic in (plain, lanes))
    assert "links" not in before["device"]
    assert "faults" not in before
    assert made["device"]["links"] == "lanes"
    assert made["faults"] == {"bit_error_rate": 0.0}
    assert torus.label(before) == "4x4 uniform load 0.5"
    assert torus.label(made) == "4x4 uniform load 0.5 lanes"
    assert cli.LINKS == torus.LINKS


def test_wrong_links_and_rates_of_errors_are_one_line() -> None:
    for traffic, wrong in (
        (Traffic(link="cable"), "cable"),
        (Traffic(errors=1e-7), "errors: --link delay has no bits"),
        (Traffic(link="lanes", errors=0.1), "errors: 0.1 is outside"),
    ):
        with pytest.raises(UserError, match=wrong):
            torus.check(traffic)
    with pytest.raises(UserError, match="errors: 'few'"):
        command.rates("few")
    assert command.rates("1e-7,0,1e-8") == [0, 1e-8, 1e-7]


def test_the_table_of_lanes_has_framing_credits_and_losses(tmp_path: Path) -> None:
    made = command.run(
        load="0.2", packets=1000, link="lanes", errors="0,1e-7", out=tmp_path, runner=engine, given=MODEL
    )
    text = tables.text(made)
    assert "a link takes 19 clocks and its ends 6" in text
    rows = [line.split() for line in text.splitlines() if not line.startswith("#")]
    assert [row[0] for row in rows] == ["0.200", "full"] * 2
    assert rows[0][-6:] == ["2.0", "%", "4.0", "%", "1200", "0"]
    assert "lanes with errors 1e-07" in text
    assert "# 40 wrong bits cost 20 packets: 10 arrived with a poisoned tail" in text
    assert "each that is not lost arrived once" in text
    drawn = page.page(made)
    assert "40 wrong bits cost 20 others" in drawn
    assert "without bit errors and framing" not in drawn
    assert "All of" not in drawn
