# SPDX-License-Identifier: Apache-2.0
"""An FPGA's request agent, the link, the host's home and memory: every byte, limits, the time of each part.

The engine fails a run in which a byte read or written is wrong, an answer is missing or doubled, a request
has no credit, or memory is not what was written to it in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isthmus import native
from isthmus.bench import runner
from isthmus.roads.ccix import bench

pytestmark = pytest.mark.deterministic

Run = Callable[..., dict[str, Any]]
CLOCK_PS = 4_000
LINK_BYTES_S = 16e9 * 8 * 128 / 130 / 8 * (1 - 0.0027)
PINS_BYTES_S = 64 * 250e6


@pytest.fixture(scope="module")
def built() -> dict[str, dict[str, Path]]:
    return {driver: bench.model(bench.loaded(), "isthmus", driver) for driver in bench.DRIVERS}


@pytest.fixture(scope="module")
def run(built: dict[str, dict[str, Path]]) -> Run:
    """One run; `transport`, `home` and `pcie` replace constants."""

    def one(
        transport: dict[str, Any] | None = None,
        home: dict[str, Any] | None = None,
        seed: int = 3,
        model: Path | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        transfers = bench.Transfers(
            **{"operation": "device-read", "iterations": 200, "seed": seed, **settings}
        )
        models = built[transfers.driver] if model is None else {bench.FPGA: model}
        made = bench.scenario(bench.Point(transfers, "isthmus", bench.loaded()), models)
        made["platform"]["transport"] |= transport or {}
        made["platform"]["home"] |= home or {}
        (found,) = native.run_scenario(made)
        return found

    return one


def payload(found: dict[str, Any]) -> float:
    return float(found["throughput"]["payload_bit_s"]) / 8


def test_a_full_link_carries_reads_three_to_a_packet(run: Run) -> None:
    found = run(size=4096, iterations=600, window=4)
    assert found["workload"]["packet_messages"] == pytest.approx(3, abs=0.05)
    assert payload(found) >= 0.98 * LINK_BYTES_S * 3 * 64 / (3 * 72 + 12)
    assert found["workload"]["link_bytes_s"] <= LINK_BYTES_S * 1.001


def test_a_full_link_carries_writes_in_whole_beats(run: Run) -> None:
    found = run(operation="device-write", size=4096, iterations=600, window=4)
    assert payload(found) >= 0.98 * min(PINS_BYTES_S * 3 / 4, LINK_BYTES_S * 192 / 252)


def test_without_packing_a_packet_has_one_message(run: Run) -> None:
    single = runner.model(
        bench.FPGA, False, bench.parameters(bench.loaded(), "as-published", "request-agent")
    )
    for operation in bench.OPERATIONS:
        transport = {"packet_messages": 1, "packet_bytes": 128}
        found = run(transport, operation=operation, size=4096, iterations=300, window=4, model=single)
        assert found["workload"]["packet_messages"] == pytest.approx(1, abs=0.02)
        assert payload(found) <= LINK_BYTES_S * 64 / 84


def test_a_line_read_costs_eight_clocks_beside_the_bought_parts(run: Run) -> None:
    ports = ("device_transmit_ns", "device_receive_ns", "host_transmit_ns", "host_receive_ns")
    bare = dict.fromkeys((*ports, "propagation_ns"), 0)
    home = {"gateway_ns": 0, "memory_read_ns": 0, "memory_write_ns": 0}
    found = run(bare, home, size=64)
    bits = (28 + 84) / LINK_BYTES_S * 1e12
    assert found["latency_ps"]["min"] <= 8 * CLOCK_PS + bits


def test_a_delay_of_the_world_is_in_the_latency_once(run: Run) -> None:
    base = run(home={"memory_read_ns": 0})["latency_ps"]["avg"]
    slow = run(home={"memory_read_ns": 100})["latency_ps"]["avg"]
    far = run({"propagation_ns": 101}, {"memory_read_ns": 0})["latency_ps"]["avg"]
    assert slow - base == pytest.approx(100_000, abs=CLOCK_PS)
    assert far - base == pytest.approx(200_000, abs=CLOCK_PS)


@pytest.mark.parametrize("driver", bench.DRIVERS)
@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("size", [4, 64, 1000, 8192])
def test_stages_add_up_to_the_latency(run: Run, driver: str, operation: str, size: int) -> None:
    found = run(driver=driver, operation=operation, size=size, iterations=20)
    total = sum(stage["ps"] for stage in found["stages"])
    assert total == found["stages_total_ps"]
    low, high = found["latency_ps"]["min"], found["latency_ps"]["max"]
    assert total <= high + CLOCK_PS
    # A write by DMA is done when it is posted: the next one follows, and waits for the link.
    assert total >= low - CLOCK_PS or (driver, operation) == ("pcie-dma", "device-write")
    assert found["checked"]["bytes"] >= 20 * size


@pytest.mark.parametrize("operation", bench.OPERATIONS)
def test_a_home_with_few_places_is_slow_and_right(run: Run, operation: str) -> None:
    few = run(home={"requests": 4, "lines": 2}, operation=operation, size=1024, iterations=100, window=4)
    many = run(operation=operation, size=1024, iterations=100, window=4)
    assert payload(few) < payload(many) / 4


def test_the_link_holds_back_a_device_without_credits(run: Run) -> None:
    slow = {"generation": 1, "lanes": 1}
    found = run(slow, operation="device-write", size=512, iterations=60, window=8)
    assert found["workload"]["busy"]["wire"] >= 0.97
    assert found["workload"]["packet_messages"] == pytest.approx(3, abs=0.1)


def test_one_seed_gives_one_result(run: Run) -> None:
    first, second = (run(size=512, iterations=300, window=8) for _ in range(2))
    assert first["latency_ps"] == second["latency_ps"]
    assert first["counters"] == second["counters"]


@pytest.mark.parametrize("driver", bench.DRIVERS)
def test_transfers_at_random_times_do_not_wait_for_each_other(run: Run, driver: str) -> None:
    found = run(size=256, iterations=1_000, window=None, rate_per_s=1e6, driver=driver)
    assert found["arrivals"] == "poisson:1000000/s"
    assert not found["workload"]["saturated"]
    assert payload(found) == pytest.approx(256e6, rel=0.15)
