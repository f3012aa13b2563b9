# SPDX-License-Identifier: Apache-2.0
"""Puts between the memories of hosts, over the built nodes of a ring.

The engine itself fails a run in which a byte is wrong, or a put does not come, comes twice or out of order
(docs/explanation/cores/apenet.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.bench import runner
from isthmus.platforms import Profile
from isthmus.roads.apenet.bench import TOP, Puts, parameters, scenario

pytestmark = pytest.mark.deterministic


def run(puts: Puts, profile: Profile = "isthmus", name: str = "apelink-gen3") -> dict[str, Any]:
    """One run, its model built where it is not."""
    platform = platforms.load(name)
    model = runner.model(TOP, parameters(platform, profile))
    (found,) = native.run_scenario(scenario(platform, profile, replace(puts, seed=7), model))
    return found


def test_puts_of_many_packets_fill_the_link() -> None:
    found = run(Puts(32_768, window=4, iterations=6))
    assert found["throughput"]["payload_bit_s"] / 8 > 0.98 * found["workload"]["link_limit_byte_s"]
    assert found["checked"]["bytes"] == 32_768 * (6 + 8 + 4)


def test_a_small_put_is_with_the_far_program_in_less_than_two_microseconds() -> None:
    found = run(Puts(64, test="ping-pong", iterations=5), name="apelink")
    assert found["latency_ps"]["max"] < 2_000_000
    one = run(Puts(100, iterations=3), name="apelink")
    assert sum(stage["ps"] for stage in one["stages"]) == one["stages_total_ps"]
    # Half of the round trip is one way: the programs poll.
    assert abs(one["latency_ps"]["avg"] - found["latency_ps"]["avg"]) < 50_000


def test_more_nodes_are_more_hops() -> None:
    near = run(Puts(64, iterations=3))
    far = run(Puts(64, iterations=3, nodes=6))
    clock = 1e6 / 212.5
    # Two more links of 19 clocks and routers of 3.
    assert far["latency_ps"]["avg"] - near["latency_ps"]["avg"] == pytest.approx(
        2 * 22 * clock, abs=2 * clock
    )


@pytest.mark.release
def test_the_published_firmware_takes_its_time_for_each_packet() -> None:
    found = run(Puts(4096, window=8, iterations=20), "as-published", "apelink")
    wake, work = (0.6e6, 2.0e6), 4.0e6
    took = 4096 * 8e12 / found["throughput"]["payload_bit_s"]
    assert wake[0] + work < took < wake[1] + work + 2e6
