# SPDX-License-Identifier: Apache-2.0
"""Etherbone over PCIe, USB and VMEbus: the built devices behind their buses, driven by the host's drivers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.errors import UserError
from isthmus.models.build import ModelSpec, build
from isthmus.platforms import PROFILES
from isthmus.roads.etherbone import bench as etherbone
from isthmus.roads.etherbone import scenario

pytestmark = pytest.mark.deterministic

SYSTEMS = ("pcie-t5810", "usb-t5810", "vme-rio4")


def board(platform: str, profile: Any) -> Path:
    top = platforms.kind(platforms.load(platform).bus).boards[profile]
    return build(ModelSpec(f"isthmus:board:{top}", top))


def made(platform: str, profile: Any, workload: dict[str, Any]) -> dict[str, Any]:
    return scenario.scenario(platforms.load(platform), profile, board(platform, profile), workload, 1)


def one(what: dict[str, Any]) -> dict[str, Any]:
    (result,) = native.run_scenario(what)
    assert result["checked"]["wrong"] == result["checked"]["lost"] == 0
    assert result["checked"]["bytes"] > 0
    return result


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("platform", SYSTEMS)
def test_every_method_reads_right_values_and_its_stages_add_up(platform: str, profile: Any) -> None:
    for method in ("convenience", "blocking", "pipelined"):
        result = one(made(platform, profile, scenario.timestamps(method, 4, 20)))
        assert sum(stage["ps"] for stage in result["stages"]) == result["stages_total_ps"]
        if method == "pipelined":
            assert result["stages"] == [], "bytes of a stream belong to no one cycle"
        else:
            assert result["latency_ps"]["min"] <= result["stages_total_ps"] <= result["latency_ps"]["max"]
            assert any(stage["where"] == "fpga" for stage in result["stages"])
    words = native.run_scenario(made(platform, profile, scenario.words("blocking", [1, 300], 2)))
    assert [r["workload"]["words"] for r in words] == [1, 300]
    assert one(made(platform, profile, scenario.tlu(20)))["throughput"]["payload_bytes"] == 20 * 16


@pytest.mark.parametrize("platform", SYSTEMS)
def test_skipping_of_idle_devices_changes_nothing(platform: str) -> None:
    what = made(platform, "isthmus", scenario.timestamps("pipelined", 3, 30))
    plain, evaluated, checked = (
        one({**what, **change}) for change in ({}, {"skip_idle": False}, {"check_idle": True})
    )
    for result in (plain, evaluated, checked):
        del result["simulation"]
    assert plain == evaluated == checked


def test_dma_over_four_lanes_runs_one_operation_a_clock_inside_a_cycle() -> None:
    result = one(made("pcie-t5810", "isthmus", scenario.timestamps("blocking", 8, 20)))
    assert result["windows_ps"]["inside_cycle_per_timestamp"] <= 20_000


def test_a_blocking_dma_cycle_is_one_write_out_and_two_back_and_no_read() -> None:
    counters = [
        one(made("pcie-t5810", "isthmus", scenario.timestamps("blocking", 1, cycles)))["counters"]
        for cycles in (20, 21)
    ]
    tlps = {way: counters[1][f"pcie.{way}.tlps"] - counters[0][f"pcie.{way}.tlps"] for way in ("down", "up")}
    assert tlps == {"down": 1, "up": 2}, "the request; the reply and the status word behind it"
    assert counters[1]["device.read_bursts"] == 0


def test_pipelined_usb_fills_the_bus() -> None:
    result = one(made("usb-t5810", "isthmus", scenario.throughput(8, 2000)))
    # Half of 53.248 MB/s, in cycles of 84 bytes with 8 timestamps each.
    ceiling = 53.248e6 / 2 / 84 * 8 * 64
    # The window's edges lie at ends of rounds, not of USB transfers: up to one more transfer falls into it.
    assert 0.95 * ceiling < result["throughput"]["payload_bit_s"] <= 1.001 * ceiling


def test_workloads_that_drive_an_ethernet_are_refused_on_other_buses() -> None:
    with pytest.raises(UserError, match=r"platform\.bus: this workload drives the wire"):
        native.run_scenario(made("vme-rio4", "isthmus", scenario.fuzz(10)))
    with pytest.raises(UserError, match=r"workload\.kind: clocks on the pins are measured over Gigabit"):
        native.run_scenario(made("vme-rio4", "isthmus", scenario.path([1])))


def per_timestamp(result: dict[str, Any]) -> float:
    return 1e12 / float(result["throughput"]["timestamps_per_s"])


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("platform", ["gige-direct", "pcie-t5810", "usb-t5810"])
def test_a_pipelined_figure_at_default_options_is_that_of_a_long_run(platform: str, profile: Any) -> None:
    # 10^5 cycles: benchmarks/steady.py.
    default, long = (
        one(made(platform, profile, scenario.timestamps("pipelined", 1, cycles)))
        for cycles in (etherbone.ITERATIONS, 10_000)
    )
    assert per_timestamp(default) == pytest.approx(per_timestamp(long), rel=0.01)
    assert default["excluded"]["head"] >= 256, "the pipe was full"
    # The latency is that of the window, however many cycles follow.
    assert default["arrivals"] == long["arrivals"] == "window:256"
    assert default["latency_ps"]["avg"] == pytest.approx(long["latency_ps"]["avg"], rel=0.05)
