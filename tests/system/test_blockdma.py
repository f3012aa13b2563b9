# SPDX-License-Identifier: Apache-2.0
"""Blocks by DMA over PCI Express: the engine's gateware, a ring and a doorbell, from the program's post on.

The engine compares every byte that it reads, the program every byte that it gets: a run that ends has no
wrong one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.bench.runner import model
from isthmus.compare.question import Driver
from isthmus.roads.blockdma import question as road
from isthmus.workload import question

Run = Callable[..., dict[str, Any]]
DRIVER = Driver("ring", "isthmus")
PORTS_NS = 2 * 95.5
"""A TLP's way through both ports of pcie-gen4x4."""
MEMORY_NS = 100.0
CLOCK_NS = 8.0
LINK_BYTES_S = 16e9 * 4 * 128 / 130 / 8 * (1 - 0.0034)


@pytest.fixture(scope="module")
def built() -> Path:
    return model(road.TOP, road.PARAMETERS)


@pytest.fixture
def run(built: Path) -> Run:
    def one(
        operation: str, size: int, platform: str = "pcie-gen4x4", change: Any = None, **asked: Any
    ) -> dict[str, Any]:
        of = question(operation, size if size % 4 == 0 else 4, **{"iterations": 100, "seed": 3, **asked})
        made = road.scenario(of, platforms.load(platform), DRIVER, size, str(built))
        if change is not None:
            change(made)
        (found,) = native.run_scenario(made)
        return found

    return one


@pytest.mark.parametrize("operation", road.OPERATIONS)
@pytest.mark.parametrize("size", [1, 8, 64, 100, 4096, 65536])
def test_blocks_of_any_size_arrive_whole_and_their_stages_add_up(run: Run, operation: str, size: int) -> None:
    found = run(operation, size, iterations=20)
    # All that were moved: two before the measured ones, one in flight at either end, one observed alone.
    assert found["checked"] == {"bytes": 25 * size, "wrong": 0, "lost": 0}
    total = sum(stage["ps"] for stage in found["stages"])
    assert total == found["stages_total_ps"]
    # The one that is observed ran like those before it, one at a time.
    low, high = found["latency_ps"]["min"], found["latency_ps"]["max"]
    assert low - 1000 * CLOCK_NS <= total <= high + 1000 * CLOCK_NS


def test_a_read_takes_a_doorbell_a_descriptor_and_its_data_through_the_ports(run: Run) -> None:
    found = run("host-read", 8)
    stages = {stage["name"]: stage["ps"] / 1e3 for stage in found["stages"]}
    for name in ("doorbell", "descriptor, to the host", "descriptor, back", "data"):
        assert PORTS_NS < stages[name] < PORTS_NS + 4 * CLOCK_NS, name
    assert stages["descriptor, memory"] == MEMORY_NS
    assert found["latency_ps"]["p50"] / 1e3 > 4 * PORTS_NS + MEMORY_NS


def test_a_write_takes_two_round_trips_more_than_its_doorbell(run: Run) -> None:
    found = run("host-write", 8)
    floor = 5 * PORTS_NS + 2 * MEMORY_NS
    assert floor < found["latency_ps"]["p50"] / 1e3 < floor + 200
    assert found["definition"] == "one_way"


@pytest.mark.parametrize("operation", road.OPERATIONS)
def test_many_blocks_in_flight_fill_the_link(run: Run, operation: str) -> None:
    found = run(operation, 4096, window=16, iterations=400)
    # Writes have the largest payload, completions 64 bytes, and 20 of each packet are its own. Descriptors
    # and records take their part.
    packet = {"host-read": 256, "host-write": 64}[operation]
    share = found["throughput"]["payload_bit_s"] / 8 / LINK_BYTES_S
    assert 0.9 < share / (packet / (packet + 20)) < 1
    assert found["workload"]["busy"]["pcie"] > 0.9


@pytest.mark.parametrize("operation", road.OPERATIONS)
def test_more_blocks_in_flight_are_not_slower(run: Run, operation: str) -> None:
    rates = [
        run(operation, 256, "pcie-gen3x4", window=window, iterations=300)["throughput"]["payload_bit_s"]
        for window in (4, 8, 14, 16, 18, 32, 64)
    ]
    # How completions are cut changes with it, and with that what packets cost.
    assert all(after > 0.95 * before for before, after in pairwise(rates)), rates


def test_one_at_a_time_the_next_block_waits_for_the_one_before(run: Run) -> None:
    found = run("host-read", 256)
    each = 8e12 * 256 / found["throughput"]["payload_bit_s"]
    assert each == pytest.approx(found["latency_ps"]["avg"], rel=0.01)


def test_a_rate_that_the_host_cannot_post_is_saturated(run: Run) -> None:
    slow, fast = (run("host-write", 64, rate=rate, iterations=2000) for rate in ("100k", "100M"))
    assert not slow["workload"]["saturated"]
    assert fast["workload"]["saturated"]


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("window", 65, "workload.window: 65 blocks of 64 bytes: at most 64"),
        ("bytes", 65537, "workload.bytes: 65537 is outside 1 to 65536"),
        ("operation", "device-read", "workload.operation"),
    ],
)
def test_a_wrong_scenario_is_named(run: Run, key: str, value: Any, said: str) -> None:
    def change(made: dict[str, Any]) -> None:
        made["workload"][key] = value

    with pytest.raises(Exception, match=said):
        run("host-read", 64, change=change)


def test_a_run_repeats_exactly(run: Run) -> None:
    one, other = (run("host-read", 512, rate="500k") for _ in range(2))
    assert one["latency_ps"] == other["latency_ps"]
    assert one["histogram"] == other["histogram"]
