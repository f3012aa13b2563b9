# SPDX-License-Identifier: Apache-2.0
"""A torus of built routers: every packet accounted for, whatever the shape and the load.

The engine itself fails a run in which a packet is lost, doubled, out of order, misrouted or wrong, or where
nothing moves (docs/explanation/cores/torus.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.bench import runner
from isthmus.roads.torus.bench import LINK_CLOCKS, PLATFORM, Traffic, parameters, scenario, top

pytestmark = pytest.mark.deterministic


def run(traffic: Traffic, seed: int = 5) -> dict[str, Any]:
    """One run, its model built where it is not."""
    platform = platforms.load(PLATFORM)
    model = runner.model(top(traffic), parameters(platform, traffic), many=True)
    (found,) = native.run_scenario(scenario(platform, replace(traffic, seed=seed), model))
    return found


@pytest.mark.parametrize("load", [0.3, None], ids=["0.3", "full"])
def test_ten_thousand_packets_through_4x4x4_nodes_arrive_once_and_in_order(load: float | None) -> None:
    found = run(Traffic((4, 4, 4), load=load, size=64, packets=10_000))
    counted = found["counters"]
    assert counted["packets.delivered"] == counted["packets.entered"] >= 10_000
    assert counted["packets.lost"] == 0
    carried = found["workload"]["carried"]
    # Saturation is that of the local ports; below it the network carries what is offered.
    assert found["workload"]["saturated"] == (load is None)
    assert carried > 0.75 if load is None else abs(carried - load) < 0.03


@pytest.mark.parametrize("nodes", [(2, 1, 1), (7, 1, 1), (4, 3, 1), (3, 2, 5)])
@pytest.mark.parametrize("pattern", ["uniform", "opposite"])
def test_rings_and_tori_of_odd_and_even_sizes_do_not_stop_under_full_load(
    nodes: tuple[int, int, int], pattern: str
) -> None:
    """Packets of 66 flits in buffers of 64: each lies in several routers at once."""
    found = run(Traffic(nodes, pattern, None, size=1024, packets=300))
    assert found["counters"]["packets.delivered"] == found["counters"]["packets.entered"] >= 300


def test_a_lone_packet_takes_three_clocks_a_router_and_those_of_the_links() -> None:
    found = run(Traffic((4, 4, 4), "single", 0.01, size=16, packets=20))
    period = 1e6 / 212.5
    workload = found["workload"]
    # Two routers, one link, the two flits behind the head, one clock each to the pins and from them.
    expected = 2 * 3 + workload["hop_clocks"] + workload["flits"] - 1 + 2
    assert round(found["latency_ps"]["min"] / period) == expected


def test_a_flow_alone_has_a_link_of_its_own() -> None:
    """4 KiB packets: all but header and footer of every flit are payload."""
    found = run(Traffic((4, 4, 1), "neighbour", None, size=4096, packets=200))
    assert found["workload"]["carried"] > 0.99


def test_the_same_seed_gives_the_same_run() -> None:
    traffic = Traffic((3, 3, 1), packets=500)
    first, second = run(traffic), run(traffic)
    assert (first["latency_ps"], first["counters"]) == (second["latency_ps"], second["counters"])


LANES = [(4, 1, 1), (2, 2, 1)]
"""Shapes with few nodes: a ring, and one with two dimensions."""


@pytest.mark.parametrize("nodes", LANES)
@pytest.mark.parametrize("load", [0.3, None], ids=["0.3", "full"])
def test_over_lanes_packets_arrive_once_and_in_order_too(
    nodes: tuple[int, int, int], load: float | None
) -> None:
    found = run(Traffic(nodes, load=load, packets=2_000, link="lanes"))
    counted, workload = found["counters"], found["workload"]
    assert counted["packets.delivered"] == counted["packets.entered"] >= 2_000
    assert counted["lines.wrong_bits"] == counted["packets.missing"] == workload["lost"] == 0
    # A begin and an end for each chunk; an ALIGN in 513 words, a little later behind a chunk.
    assert workload["framing_share"] > 2 / workload["flits"] * workload["link_share"] / 2
    assert 1 / 600 < workload["align_share"] <= 1 / 480
    assert workload["saturated"] == (load is None)


@pytest.mark.parametrize("nodes", LANES)
def test_over_lanes_packets_longer_than_buffers_do_not_stop_a_ring(nodes: tuple[int, int, int]) -> None:
    """4 KiB halfway round from every node at once: 258 flits in buffers of 64."""
    found = run(Traffic(nodes, "opposite", None, size=4096, packets=100, link="lanes"))
    assert found["counters"]["packets.delivered"] == found["counters"]["packets.entered"] >= 100


def test_the_ends_of_a_link_take_six_clocks_beside_its_line() -> None:
    delay, lanes = (
        run(Traffic((4, 1, 1), "single", 0.01, size=16, packets=20, link=link)) for link in ("delay", "lanes")
    )
    period = 1e6 / 212.5
    clocks = [round(found["latency_ps"]["min"] / period) for found in (delay, lanes)]
    assert delay["workload"]["hop_clocks"] == lanes["workload"]["hop_clocks"] == 19
    assert clocks[1] - clocks[0] == LINK_CLOCKS


@pytest.mark.parametrize(("nodes", "pattern"), [((4, 1, 1), "uniform"), ((2, 2, 1), "opposite")])
@pytest.mark.parametrize("load", [0.3, None], ids=["0.3", "full"])
def test_wrong_bits_cost_packets_that_are_counted_and_no_other_thing(
    nodes: tuple[int, int, int], pattern: str, load: float | None
) -> None:
    """The engine compares each packet that arrives whole, and looks for a wrong bit on the way of each other
    one."""
    found = run(Traffic(nodes, pattern, load, size=512, packets=1_000, link="lanes", errors=5e-6))
    counted = found["counters"]
    lost, bits = counted["packets.missing"], counted["lines.wrong_bits"]
    assert counted["packets.delivered"] + lost == counted["packets.entered"]
    assert 10 < lost == found["workload"]["lost"] <= 2 * bits
    # What has a poisoned tail was cut by a link; what left nothing has lost its begin.
    assert 0 < counted["packets.poisoned"] <= counted["links.torn"]
    assert lost <= 3 * (counted["links.torn"] + counted["links.gaps"] + counted["links.dropped"])
    # Most bits are wrong while nothing is sent.
    if load is not None:
        assert lost < bits


def test_lanes_without_a_wrong_bit_give_what_they_give_without_the_option() -> None:
    """So few that none is wrong in the run: the same packets at the same clocks."""
    clean, rare = (run(Traffic((4, 1, 1), packets=500, link="lanes", errors=rate)) for rate in (0.0, 1e-12))
    assert rare["counters"]["lines.wrong_bits"] == 0
    assert rare["latency_ps"] == clean["latency_ps"]


def test_the_same_seed_gives_the_same_wrong_bits() -> None:
    traffic = Traffic((2, 2, 1), packets=500, link="lanes", errors=1e-6)
    first, second, other = run(traffic), run(traffic), run(traffic, seed=6)
    assert (first["latency_ps"], first["counters"]) == (second["latency_ps"], second["counters"])
    assert first["counters"] != other["counters"]
