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
from isthmus.roads.torus.bench import PLATFORM, TOP, Traffic, parameters, scenario

pytestmark = pytest.mark.deterministic


def run(traffic: Traffic) -> dict[str, Any]:
    """One run, its model built where it is not."""
    platform = platforms.load(PLATFORM)
    model = runner.model(TOP, parameters(platform, traffic), many=True)
    (found,) = native.run_scenario(scenario(platform, replace(traffic, seed=5), model))
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
