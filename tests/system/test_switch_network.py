# SPDX-License-Identifier: Apache-2.0
"""The built switch among its network: every packet accounted for, under load and faults, beside the models.

The engine itself fails a run in which a packet is lost, doubled, out of order, misrouted or wrong
(docs/explanation/switch-model.md); crates/isthmus-road/src/switch.rs breaks a switch to see it do so.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.roads.switch.bench import PLATFORM, Design, Traffic, model, scenario

pytestmark = pytest.mark.deterministic

PORTS = 4
Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def built() -> Path:
    return model(platforms.load(PLATFORM), PORTS, Design())


@pytest.fixture(scope="module")
def run(built: Path) -> Run:
    """One run of the 4x4 switch; `faults` and `drain` beside the traffic's own settings."""

    def one(kind: str = "rtl", faults: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
        traffic = Traffic(**{"ports": PORTS, "packets": 5_000, "seed": 7, **settings})
        made = scenario(platforms.load(PLATFORM), traffic, Design(), kind, built, faults=faults or {})  # type: ignore[arg-type]
        made["workload"]["drain"] = True
        (found,) = native.run_scenario(made)
        return found

    return one


def _all_arrived(found: dict[str, Any]) -> None:
    counted = found["counters"]
    assert counted["packets.delivered"] + counted["packets.excused"] == counted["packets.created"]
    assert counted["packets.delivered"] > 0


@pytest.mark.parametrize("load", [0.2, 0.5, 0.8, 0.9])
def test_the_gateware_agrees_with_the_model(run: Run, load: float) -> None:
    """Mean delay within 5 %, and the same packets delivered; both under the same seed."""
    gateware, reference = (run(kind, load=load, packets=15_000) for kind in ("rtl", "reference"))
    ratio = gateware["latency_ps"]["avg"] / reference["latency_ps"]["avg"]
    assert 0.95 <= ratio <= 1.05, f"load {load}: {ratio:.3f}"
    for found in (gateware, reference):
        assert found["counters"]["packets.excused"] == 0
        _all_arrived(found)


def test_a_trace_gives_the_same_packets(run: Run, tmp_path: Path) -> None:
    lines = [f"{40 * n} {n % 4} {n * 7 % 4} {64 + 4 * (n % 113)}" for n in range(2_000)]
    file = tmp_path / "packets.txt"
    file.write_text("# clock source destination bytes\n" + "\n".join(lines))
    sums = set()
    for kind in ("rtl", "reference"):
        found = run(kind, pattern=f"trace:{file}")
        assert found["counters"]["packets.delivered"] == found["iterations"] == len(lines)
        # From the first packet to the end of the last, made at 79960: its 17 + 2 * 113 words and its way.
        assert 79_960 + 61 <= found["workload"]["window_clocks"] <= 79_960 + 1_000
        assert sum(found["workload"]["wire_shares"].values()) == pytest.approx(1.0, abs=1e-9)
        assert found["throughput"]["payload_bytes"] == sum(64 + 4 * (n % 113) for n in range(2_000))
        sums.add(found["counters"]["packets.checksum"])
    assert len(sums) == 1


def test_the_fastest_packet_is_accounted_for(run: Run) -> None:
    """No more than 8 clocks in the idle switch, whose own time stamps say the same for every packet."""
    found = run(load=0.05, packets=1_000)
    clocks = found["workload"]["clocks"]
    assert clocks["fastest_switch"] <= 8
    assert clocks["fastest"] == 3 + 25 + clocks["fastest_switch"] + 25
    least, most = clocks["stamps_off"]
    assert least == most == 0
    assert found["counters"]["stamps.altered"] == 0
    assert [stage["ps"] // 12_800 for stage in found["stages"]] == [3, 25, clocks["fastest_switch"], 25]


def test_one_flow_keeps_its_line_as_long_as_credit_comes_back_in_time(built: Path) -> None:
    """2 KB hold a longest packet and the way of a credit: 386 clocks in all (docs/explanation/cores/link.md).

    Of these the gateware's own stages take up to 17, so the lines may hold 369 words. The model has fewer
    stages; it must agree on what is left beyond.
    """
    found: dict[tuple[str, int], float] = {}
    for words in (360, 400, 450):
        for kind in ("rtl", "reference"):
            traffic = Traffic(PORTS, pattern="single", sizes=(512, 512), load=None, packets=2_000, seed=7)
            made = scenario(platforms.load(PLATFORM), traffic, Design(round_trip=words), kind, built)  # type: ignore[arg-type]
            (run,) = native.run_scenario(made)
            found[kind, words] = PORTS * run["workload"]["payload_share"] / (128 / 130)
    assert found["rtl", 360] > 0.997, found
    assert found["rtl", 400] < 0.95, found
    # Beyond, a round trip carries what the buffer holds besides the packet that waits for room.
    assert 0.80 < found["rtl", 450] < 0.86, found
    for words in (400, 450):
        assert abs(found["rtl", words] / found["reference", words] - 1) < 0.015, found


def test_saturation(run: Run) -> None:
    found = run(load=None, packets=10_000)
    workload = found["workload"]
    assert 1 - workload["wire_shares"]["idle"] >= 0.995
    assert workload["payload_share"] >= 0.95
    assert workload["flows"]["jain"] > 0.99


def test_permutation_of_minimum_packets(run: Run) -> None:
    found = run(load=None, pattern="permutation", sizes=(64, 64), packets=5_000)
    # Packets, credits, and an ALIGN behind 1024 words of them: no other word.
    idle = found["workload"]["wire_shares"]["idle"]
    assert 1 / 1043 - 1e-4 <= idle <= 1 / 1025 + 1e-4


@pytest.mark.parametrize("rate", [1e-3, 0.03, 0.5])
def test_lost_credits_lose_no_packet(run: Run, rate: float) -> None:
    found = run(load=0.6, faults={"credit_loss_rate": rate})
    assert found["counters"]["fault.credits_lost"] > 0
    assert found["counters"]["packets.delivered"] == found["counters"]["packets.created"]


def test_corrupted_credits_lose_no_packet(run: Run) -> None:
    found = run(load=0.6, faults={"credit_corrupt_rate": 0.2})
    assert found["counters"]["fault.credits_corrupted"] > 0
    assert found["counters"]["packets.delivered"] == found["counters"]["packets.created"]


@pytest.mark.parametrize("rate", [1e-6, 1e-5])
def test_bit_errors_cost_their_own_packets_alone(run: Run, rate: float) -> None:
    found = run(load=0.6, faults={"bit_error_rate": rate}, packets=10_000)
    counted = found["counters"]
    assert counted["fault.bit_errors"] > 5
    assert 0 < counted["packets.excused"] <= counted["fault.bit_errors"]
    _all_arrived(found)


def test_a_stalled_sink_stops_only_what_is_for_it(run: Run) -> None:
    free = run(load=0.5)
    held = run(load=0.5, faults={"stalls": [[2, 60_000, 40_000]]})
    assert held["counters"]["packets.delivered"] == held["counters"]["packets.created"]
    assert held["counters"]["end.overruns"] == 0
    assert held["latency_ps"]["p50"] < 1.5 * free["latency_ps"]["p50"]
    assert held["latency_ps"]["max"] > 20_000 * 12_800


def test_a_link_that_starts_again_takes_only_what_was_on_it(run: Run) -> None:
    found = run(load=0.6, faults={"resets": [[1, 9_000, 50], [3, 20_000, 5_000], [1, 30_000, 1]]})
    counted = found["counters"]
    assert counted["fault.resets"] == 3
    assert counted["end.starts"] >= PORTS + 3
    assert counted["packets.excused"] < 60
    _all_arrived(found)


@pytest.mark.parametrize(
    "settings",
    [
        {"pattern": "hotspot:0.5", "load": 0.3},
        {"pattern": "unbalanced:0.5", "load": 0.7},
        {"pattern": "single", "load": 0.9},
        {"arrivals": "poisson", "load": 0.6},
        {"arrivals": "bursty", "load": 0.5},
        {"sizes": (24, 24), "load": 0.7},
        {"sizes": (512, 512), "load": 0.9},
    ],
    ids=lambda settings: "-".join(str(value) for value in settings.values()),
)
def test_every_traffic_arrives(run: Run, settings: dict[str, Any]) -> None:
    found = run(**settings, packets=4_000)
    assert found["counters"]["packets.delivered"] == found["counters"]["packets.created"]
