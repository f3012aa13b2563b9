# SPDX-License-Identifier: Apache-2.0
"""Both ends of a coherent link, the lanes between them and host memory: every byte, limits, faults.

The engine fails a run in which a byte read is wrong, a response is missing or doubled, or memory is not what
was written to it in the end.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.errors import UserError
from isthmus.roads.eci import bench

pytestmark = pytest.mark.deterministic

Run = Callable[..., dict[str, Any]]
LINE_RATE = 12 * 10.3125e9 * (64 / 67) * (2044 / 2048) * (7 / 8) / 8
"""Bytes of words that the blocks of one link carry in a second."""
BOTH = ("to_host", "to_fpga")
LINE_OPERATIONS = (*bench.OPERATIONS, *bench.HOST_OPERATIONS)


@pytest.fixture(scope="module")
def built() -> dict[str, Path]:
    return bench.models(platforms.load(bench.PLATFORM), "isthmus")


@pytest.fixture(scope="module")
def both() -> dict[str, Path]:
    """With two links."""
    return bench.models(platforms.load(bench.PLATFORM), "isthmus", links=2)


@pytest.fixture(scope="module")
def both_cached() -> dict[str, Path]:
    return bench.models(platforms.load(bench.PLATFORM), "isthmus", cached=True, links=2)


@pytest.fixture(scope="module")
def cached() -> dict[str, Path]:
    return bench.models(platforms.load(bench.PLATFORM), "isthmus", cached=True)


@pytest.fixture(scope="module")
def peers() -> dict[str, Path]:
    """Each end has memory and a cache."""
    return bench.models(platforms.load(bench.PLATFORM), "isthmus", cached=True, homes="both")


@pytest.fixture(scope="module")
def both_peers() -> dict[str, Path]:
    return bench.models(platforms.load(bench.PLATFORM), "isthmus", cached=True, links=2, homes="both")


@pytest.fixture(scope="module")
def axi() -> dict[str, Path]:
    """The FPGA's logic is an AXI master in front of its cache."""
    return bench.models(platforms.load(bench.PLATFORM), "isthmus", cached=True, port="axi")


@pytest.fixture(scope="module")
def both_axi() -> dict[str, Path]:
    return bench.models(platforms.load(bench.PLATFORM), "isthmus", cached=True, links=2, port="axi")


@pytest.fixture(scope="module")
def pcie() -> dict[str, Path]:
    """The FPGA on PCIe."""
    return bench.models(platforms.load(bench.PLATFORM), "isthmus", driver="pcie-dma")


@pytest.fixture(scope="module")
def run(built: dict[str, Path], request: pytest.FixtureRequest) -> Run:
    """One run; `platform` replaces constants, `faults` are specifications by point."""

    def one(
        platform: dict[str, Any] | None = None, faults: dict[str, Any] | None = None, **settings: Any
    ) -> dict[str, Any]:
        transfers = bench.Transfers(**{"operation": "device-read", "iterations": 200, "seed": 3, **settings})
        if transfers.homes == "both":
            models = request.getfixturevalue("both_peers" if transfers.links == 2 else "peers")
        elif transfers.driver in bench.PCIE:
            models = request.getfixturevalue("pcie")
        elif transfers.port == "axi":
            models = request.getfixturevalue("both_axi" if transfers.links == 2 else "axi")
        elif transfers.links == 2:
            models = request.getfixturevalue("both_cached" if transfers.cached else "both")
        else:
            models = request.getfixturevalue("cached") if transfers.cached else built
        made = bench.scenario(bench.Point(transfers, "isthmus", bench.loaded()), models, faults=faults or {})
        lanes = made["platform"]["lanes"]
        for key, value in (platform or {}).items():
            (lanes if key in lanes else made["platform"])[key] = value
        found, *beside = native.run_scenario(made)
        return {**found, "other": beside[0]} if beside else found

    return one


@pytest.mark.parametrize("operation", LINE_OPERATIONS)
def test_a_full_link_carries_lines_at_the_rate_of_its_lanes(run: Run, operation: str) -> None:
    found = run(operation=operation, iterations=5_000, window=64)
    assert found["throughput"]["payload_bit_s"] / 8 >= 0.99 * LINE_RATE * 16 / 17
    assert found["workload"]["link_bytes_s"] == pytest.approx(LINE_RATE, rel=0.002)


def test_a_line_read_takes_no_more_than_22_clocks_without_transceivers_and_memory(run: Run) -> None:
    bare = {"serdes_ns": 0, "trace_ns": 0, "memory_read_ns": 0}
    found = run(platform=bare)
    assert found["workload"]["fastest_cycles"] <= 22
    # The lanes' turn differs by a clock each way.
    assert found["latency_ps"]["max"] - found["latency_ps"]["min"] <= 2 * 3_400


def test_a_delay_of_the_world_is_in_the_latency_once(run: Run) -> None:
    base = run(platform={"memory_read_ns": 0})["latency_ps"]["avg"]
    slow = run(platform={"memory_read_ns": 100})["latency_ps"]["avg"]
    far = run(platform={"memory_read_ns": 0, "trace_ns": 102})["latency_ps"]["avg"]
    assert slow - base == pytest.approx(100_000, abs=3_400)
    assert far - base == pytest.approx(200_000, abs=3_400)


@pytest.mark.parametrize("operation", LINE_OPERATIONS)
@pytest.mark.parametrize("size", [4, 128, 1000, 4096])
def test_stages_add_up_to_the_latency(run: Run, operation: str, size: int) -> None:
    found = run(operation=operation, size=size, iterations=20)
    total = sum(stage["ps"] for stage in found["stages"])
    assert total == found["stages_total_ps"]
    low, high = found["latency_ps"]["min"], found["latency_ps"]["max"]
    assert low - 3_400 <= total <= high + 3_400


MISS = [
    ("fpga", "request taken"), ("fpga", "cache"), ("fpga", "pack"), ("wire", "bits"),
    ("wire", "transceivers and traces"), ("host", "check, look up"), ("host", "memory"),
    ("host", "grant, pack"), ("wire", "bits"), ("wire", "transceivers and traces"),
    ("fpga", "check, collect, cache"),
]  # fmt: skip
DIRTY = [*MISS[:5], ("host", "check, look up, pack"), *MISS[8:]]
UPDATE = [
    MISS[0], *MISS[2:7], ("host", "change"), ("host", "memory"), ("host", "pack"), *MISS[8:10],
    ("fpga", "check, collect"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("operation", "driver", "wanted"),
    [
        ("device-read", "cached", MISS),
        ("device-write", "cached", MISS),
        ("device-read", "cached-dirty", DIRTY),
        ("device-write", "cached-dirty", DIRTY),
        ("device-read", "cached-hit", [("fpga", "request taken"), ("fpga", "cache")]),
        ("update", "atomic", UPDATE),
    ],
)
def test_stages_of_what_is_cached_are_these_and_add_up(
    run: Run, operation: str, driver: str, wanted: list[tuple[str, str]]
) -> None:
    found = run(operation=operation, driver=driver, size=8 if driver == "atomic" else 128, iterations=20)
    assert [(stage["where"], stage["name"]) for stage in found["stages"]] == wanted
    low, high = found["latency_ps"]["min"], found["latency_ps"]["max"]
    assert low - 3_400 <= sum(stage["ps"] for stage in found["stages"]) <= high + 3_400


@pytest.mark.parametrize("driver", ["cached", "cached-dirty", "cached-hit"])
def test_stages_of_many_cached_lines_add_up(run: Run, driver: str) -> None:
    found = run(operation="device-read", driver=driver, size=4096, iterations=20)
    assert sum(stage["ps"] for stage in found["stages"]) == found["stages_total_ps"] > 0


def test_lines_that_miss_the_cache_fill_the_link(run: Run) -> None:
    found = run(driver="cached", iterations=5_000, window=64)
    assert found["throughput"]["payload_bit_s"] / 8 >= 0.99 * LINE_RATE * 16 / 17


def test_lines_that_no_cache_has_are_accessed_once_however_many(run: Run) -> None:
    # More than the cache and the directory have places for: a line that came again might hit.
    many = run(driver="cached", iterations=6_000, window=64)
    assert many["throughput"]["payload_bit_s"] / 8 <= 1.002 * LINE_RATE * 16 / 17
    alone = run(driver="cached", iterations=300, size=4096)
    hit = run(driver="cached-hit", iterations=20, size=4096)
    assert many["latency_ps"]["min"] > 100_000
    assert alone["latency_ps"]["min"] > 3 * hit["latency_ps"]["max"]


def test_stores_that_miss_the_cache_are_bounded_by_a_chunk_a_clock(run: Run) -> None:
    """Request, the victim's line in two chunks, GACK: four clocks of the FPGA's packer a line."""
    found = run(operation="device-write", driver="cached", iterations=5_000, window=64)
    assert 0.88 <= found["throughput"]["payload_bit_s"] / 8 / (300e6 / 4 * 128) <= 1.0


@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("what", ["block_error", "block_lost"])
def test_bad_blocks_cost_time_and_no_byte(run: Run, operation: str, what: str) -> None:
    faults = {f"{way}.{what}": {"rate": 0.01} for way in BOTH}
    clean = run(operation=operation, size=1000, iterations=500, window=4)
    found = run(operation=operation, size=1000, iterations=500, window=4, faults=faults)
    assert found["workload"]["bad_blocks"] > 20
    assert found["workload"]["blocks_again"] > found["workload"]["bad_blocks"]
    assert found["latency_ps"]["avg"] > clean["latency_ps"]["avg"]
    assert (found["checked"]["wrong"], found["checked"]["lost"]) == (0, 0)
    assert found["checked"]["bytes"] >= 500 * 1000


def test_blocks_bad_in_a_row_and_on_the_way_back_are_survived(run: Run) -> None:
    bursts = {"at_count": [*range(3_000, 3_060), *range(3_100, 3_103), 3_110, 3_131]}
    faults = {
        "to_host.block_error": bursts,
        "to_fpga.block_error": {"at_count": [3_105, *range(3_125, 3_140)]},
    }
    found = run(size=4096, iterations=300, window=4, faults=faults)
    assert found["workload"]["bad_blocks"] >= 2


def test_one_seed_gives_one_result(run: Run) -> None:
    faults = {"to_fpga.block_error": {"rate": 0.01}}
    first, second = (run(size=512, iterations=300, window=8, faults=faults) for _ in range(2))
    assert first["latency_ps"] == second["latency_ps"]
    assert first["counters"] == second["counters"]


def test_a_link_that_never_works_ends_the_run_in_one_line(run: Run) -> None:
    with pytest.raises(UserError, match="eci: no link after"):
        run(faults={"to_host.block_lost": {"rate": 1.0}})


def test_transfers_at_random_times_do_not_wait_for_each_other(run: Run) -> None:
    found = run(size=256, iterations=2_000, window=None, rate_per_s=1e6)
    assert found["arrivals"] == "poisson:1000000/s"
    assert not found["workload"]["saturated"]
    assert found["throughput"]["payload_bit_s"] == pytest.approx(8 * 256e6, rel=0.1)


@pytest.mark.parametrize("operation", bench.OPERATIONS)
def test_a_hit_takes_five_clocks_at_the_port_and_one_comes_every_clock(run: Run, operation: str) -> None:
    alone = run(operation=operation, driver="cached-hit")
    assert alone["workload"]["fastest_cycles"] <= 5
    many = run(operation=operation, driver="cached-hit", window=64, iterations=2_000)
    assert many["throughput"]["payload_bit_s"] / 8 == pytest.approx(300e6 * 128, rel=0.01)


@pytest.mark.parametrize(("operation", "clocks"), [("device-read", 5), ("device-write", 7)])
def test_a_hit_through_the_axi_port_takes_so_many_clocks_from_address_to_answer(
    run: Run, operation: str, clocks: int
) -> None:
    found = run(operation=operation, driver="cached-hit", port="axi", size=64, iterations=50)
    stages = {stage["name"]: stage["ps"] for stage in found["stages"]}
    assert stages["port, cache"] == pytest.approx(clocks * 1e6 / 300, abs=2)
    # Nothing of it crosses the link.
    assert found["workload"]["link_bytes_s"] == 0


def test_hits_through_the_axi_port_come_one_a_clock_each_in_a_line_of_its_own(run: Run) -> None:
    found = run(driver="cached-hit", port="axi", size=64, window=64, iterations=5_000)
    assert found["workload"]["lines"] == 1
    assert found["throughput"]["payload_bit_s"] / 8 == pytest.approx(300e6 * 64, rel=0.001)
    assert found["workload"]["busy"] == pytest.approx({"fpga": 1, "wire": 0}, abs=0.001)


@pytest.mark.parametrize("operation", bench.OPERATIONS)
def test_long_bursts_that_hit_through_the_axi_port_have_a_beat_a_clock(run: Run, operation: str) -> None:
    found = run(operation=operation, driver="cached-hit", port="axi", size=4096, window=4, iterations=200)
    assert found["throughput"]["payload_bit_s"] / 8 == pytest.approx(300e6 * 64, rel=0.001)
    assert found["workload"]["busy"]["fpga"] == pytest.approx(1, abs=0.001)


AXI = [("fpga", "task taken"), ("fpga", "AXI master"), ("fpga", "port, cache")]


@pytest.mark.parametrize("size", [64, 1000])
@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("driver", bench.CACHED)
def test_stages_of_what_comes_through_the_axi_port_are_these_and_add_up(
    run: Run, driver: str, operation: str, size: int
) -> None:
    found = run(operation=operation, driver=driver, port="axi", size=size, iterations=20)
    names = [(stage["where"], stage["name"]) for stage in found["stages"]]
    if driver == "cached-hit":
        wanted = AXI if (operation, size) == ("device-read", 64) else [*AXI, ("fpga", "AXI master")]
    else:
        middle = MISS if driver == "cached" else DIRTY
        wanted = [*AXI, *middle[2:-1], ("fpga", "check, collect, cache, port")]
    assert names == wanted
    low, high = found["latency_ps"]["min"], found["latency_ps"]["max"]
    assert low - 3_400 <= sum(stage["ps"] for stage in found["stages"]) <= high + 3_400


def test_an_atomic_through_the_axi_port_is_done_in_the_cache_where_the_line_is_owned(run: Run) -> None:
    """The engine compares each old value, and the host's program all words in the end."""
    updates = {
        driver: run(operation="update", driver=driver, port="axi", size=8, iterations=50)
        for driver in ("cached-hit", "cached", "cached-dirty")
    }
    stages = {stage["name"]: stage["ps"] for stage in updates["cached-hit"]["stages"]}
    # A clock collects the beat, four are the cache's, one is R's register.
    assert stages["port, cache"] == pytest.approx(6 * 1e6 / 300, abs=2)
    assert updates["cached-hit"]["workload"]["link_bytes_s"] == 0
    at_home = run(operation="update", driver="atomic", size=8, iterations=50)
    fastest = {name: found["workload"]["fastest_cycles"] for name, found in updates.items()}
    assert fastest["cached-hit"] < 15 < fastest["cached-dirty"] < fastest["cached"]
    assert fastest["cached-hit"] < at_home["workload"]["fastest_cycles"] / 4


@pytest.mark.parametrize("driver", ["cached", "cached-dirty"])
def test_stages_of_an_atomic_that_misses_add_up(run: Run, driver: str) -> None:
    found = run(operation="update", driver=driver, port="axi", size=8, iterations=20)
    low, high = found["latency_ps"]["min"], found["latency_ps"]["max"]
    assert low - 3_400 <= sum(stage["ps"] for stage in found["stages"]) <= high + 3_400


def test_what_misses_through_the_axi_port_fills_the_link(run: Run) -> None:
    found = run(driver="cached", port="axi", size=4096, iterations=300, window=4)
    assert found["throughput"]["payload_bit_s"] / 8 >= 0.99 * LINE_RATE * 16 / 17


@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("driver", ["cached", "cached-dirty"])
def test_what_comes_through_the_axi_port_stays_coherent_over_bad_blocks_of_two_links(
    run: Run, driver: str, operation: str
) -> None:
    faults = {f"{way}{link}.block_error": {"rate": 0.01} for way in BOTH for link in ("", "_1")}
    found = run(
        operation=operation, driver=driver, port="axi", size=1000, iterations=200, window=4, links=2,
        policy="partition", faults=faults,
    )  # fmt: skip
    assert found["workload"]["bad_blocks"] > 20
    assert (found["checked"]["wrong"], found["checked"]["lost"]) == (0, 0)
    # In the end the host's program has read every line, from the FPGA's cache where it is there.
    assert found["checked"]["bytes"] >= 4096 * 128 + 200 * 1000


@pytest.mark.parametrize("policy", bench.POLICIES)
def test_a_line_through_the_axi_port_takes_the_link_of_its_address(run: Run, policy: str) -> None:
    # A partition has no choice; a balance sends less on the link that is slower.
    faults = {f"{way}_1.block_error": {"rate": 0.02} for way in BOTH}
    settings = {"operation": "device-write", "driver": "cached", "port": "axi", "size": 4096, "links": 2}
    found = run(**settings, iterations=200, window=4, policy=policy, faults=faults)
    share = found["workload"]["second_link_share"]
    assert share < 0.48 if policy == "balance" else share == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("operation", bench.OPERATIONS)
def test_a_line_dirty_at_the_host_comes_without_a_memory_access(run: Run, operation: str) -> None:
    slow = {"memory_read_ns": 500}
    dirty = run(platform=slow, operation=operation, driver="cached-dirty")
    missed = run(platform=slow, operation=operation, driver="cached")
    assert missed["latency_ps"]["avg"] - dirty["latency_ps"]["avg"] == pytest.approx(500_000, rel=0.1)


def _of_the_host(stages: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The same of a core of the host and the FPGA's memory."""
    ends = {"fpga": "host", "host": "fpga", "wire": "wire"}
    return [("host", "core"), *((ends[where], name) for where, name in stages), ("host", "core")]


@pytest.mark.parametrize("operation", bench.HOST_OPERATIONS)
@pytest.mark.parametrize(
    ("driver", "wanted"), [("cached", MISS), ("cached-dirty", DIRTY), ("cached-hit", MISS[:2])]
)
def test_a_core_has_the_fpgas_memory_by_the_same_steps_and_its_own_way_twice(
    run: Run, operation: str, driver: str, wanted: list[tuple[str, str]]
) -> None:
    found = run(operation=operation, driver=driver, iterations=20)
    assert [(stage["where"], stage["name"]) for stage in found["stages"]] == _of_the_host(wanted)
    low, high = found["latency_ps"]["min"], found["latency_ps"]["max"]
    assert low - 3_400 <= sum(stage["ps"] for stage in found["stages"]) <= high + 3_400
    there = run(operation=operation, driver=driver, iterations=20, platform={"core_ns": 60})
    assert there["latency_ps"]["avg"] - found["latency_ps"]["avg"] == pytest.approx(100_000, abs=3_400)


@pytest.mark.parametrize(("driver", "ways"), [("uncached", 1), ("cached", 1), ("cached-dirty", 0)])
def test_the_fpgas_own_memory_is_waited_for_and_not_the_hosts(run: Run, driver: str, ways: int) -> None:
    times = {
        key: run(operation="host-read", driver=driver, platform={key: 500})["latency_ps"]["avg"]
        for key in ("memory_read_ns", "fpga_memory_read_ns")
    }
    more = times["fpga_memory_read_ns"] - times["memory_read_ns"]
    assert more == pytest.approx(ways * 410_000, abs=3_400 * 4)


def test_one_transfer_in_flight_waits_for_the_core_both_ways(run: Run) -> None:
    found = run(operation="host-read", driver="cached-hit", size=128, iterations=500)
    # The next one leaves the core when the last has come: their rate is a latency's.
    rate = found["throughput"]["payload_bit_s"] / 8 / 128
    assert rate * found["latency_ps"]["avg"] / 1e12 == pytest.approx(1, rel=0.01)


def test_the_hosts_cache_has_no_axi_port(run: Run) -> None:
    with pytest.raises(UserError, match="port: axi is in front of the FPGA's cache"):
        run(operation="host-read", driver="cached", port="axi")
    with pytest.raises(UserError, match="driver"):
        run(operation="host-read", driver="pcie-dma")


@pytest.mark.parametrize("operation", ["device-write", "host-write"])
@pytest.mark.parametrize("driver", ["cached", "cached-dirty"])
def test_caches_stay_coherent_over_bad_blocks(run: Run, operation: str, driver: str) -> None:
    # In the end the home's program reads every line, most of them from the other end's cache.
    faults = {f"{way}.block_error": {"rate": 0.01} for way in BOTH}
    found = run(operation=operation, driver=driver, size=1000, iterations=200, window=4, faults=faults)
    assert found["workload"]["bad_blocks"] > 20
    assert found["checked"]["bytes"] > 4096 * 128


def test_each_update_of_a_shared_word_sees_the_one_before(run: Run) -> None:
    alone = run(operation="update", driver="atomic", size=8)
    found = run(operation="update", driver="atomic", size=8, window=4)
    # One at a time changes the word: four in flight each wait for three others, and lose no time.
    assert found["throughput"]["payload_bit_s"] >= 0.95 * alone["throughput"]["payload_bit_s"]


def test_what_cannot_be_updated_is_refused(run: Run) -> None:
    with pytest.raises(UserError, match="an update is of 8 bytes"):
        run(operation="update", driver="atomic", size=128)
    with pytest.raises(UserError, match="driver"):
        run(operation="device-read", driver="atomic")


@pytest.mark.parametrize("operation", bench.OPERATIONS)
def test_two_links_carry_twice_as_much_with_either_policy(run: Run, operation: str) -> None:
    rates = {}
    for policy in bench.POLICIES:
        found = run(operation=operation, iterations=5_000, window=64, links=2, policy=policy)
        rates[policy] = found["throughput"]["payload_bit_s"] / 8
        assert rates[policy] >= 0.98 * 2 * LINE_RATE * 16 / 17
        assert found["workload"]["second_link_share"] == pytest.approx(0.5, abs=0.01)
    assert rates["balance"] == pytest.approx(rates["partition"], rel=0.01)


@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("policy", bench.POLICIES)
def test_a_second_link_adds_at_most_a_clock_to_a_line_alone(run: Run, operation: str, policy: str) -> None:
    one = run(operation=operation, links=1)["workload"]["fastest_cycles"]
    assert run(operation=operation, links=2, policy=policy)["workload"]["fastest_cycles"] <= one + 1


def test_a_partition_sends_what_is_of_one_line_over_one_link(run: Run) -> None:
    # The host's answers to updates of one word; a balance takes empty links in turn.
    settings = {"operation": "update", "driver": "atomic", "size": 8, "links": 2}
    shares = {
        policy: run(**settings, policy=policy)["workload"]["second_link_share"] for policy in bench.POLICIES
    }
    assert shares == {"balance": pytest.approx(0.5, abs=0.01), "partition": 0}


@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("policy", bench.POLICIES)
def test_every_byte_is_right_while_one_of_two_links_has_bad_blocks(
    run: Run, operation: str, policy: str
) -> None:
    # What the good link carries overtakes what the other sends again.
    faults = {f"{way}_1.block_error": {"rate": 0.02} for way in BOTH}
    settings = {"operation": operation, "size": 1000, "iterations": 400, "window": 16, "links": 2}
    found = run(**settings, policy=policy, faults=faults)
    assert found["workload"]["bad_blocks"] > 20
    assert (found["checked"]["wrong"], found["checked"]["lost"]) == (0, 0)
    # A partition has no choice; a balance sends less on the link that is slower.
    share = found["workload"]["second_link_share"]
    assert share < 0.48 if policy == "balance" else share == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("policy", bench.POLICIES)
def test_stages_over_two_links_add_up_to_the_latency(run: Run, operation: str, policy: str) -> None:
    found = run(operation=operation, size=1000, iterations=20, links=2, policy=policy)
    total = sum(stage["ps"] for stage in found["stages"])
    low, high = found["latency_ps"]["min"], found["latency_ps"]["max"]
    assert low - 3_400 <= total == found["stages_total_ps"] <= high + 3_400


IO_WAY = [
    ("host", "core"), ("host", "issue, pack"), ("wire", "bits"), ("wire", "transceivers and traces"),
    ("fpga", "check, answer, pack"), ("wire", "bits"), ("wire", "transceivers and traces"),
    ("host", "check"), ("host", "core"),
]  # fmt: skip


@pytest.mark.parametrize("links", [1, 2])
def test_an_io_read_is_its_parts_and_takes_40_clocks_at_most(run: Run, links: int) -> None:
    found = run(operation="host-read", driver="io", size=8, links=links)
    assert found["workload"]["fastest_cycles"] <= 40
    assert [(stage["where"], stage["name"]) for stage in found["stages"]] == IO_WAY
    low, high = found["latency_ps"]["min"], found["latency_ps"]["max"]
    assert low - 3_400 <= sum(stage["ps"] for stage in found["stages"]) <= high + 3_400


@pytest.mark.parametrize("operation", ["host-read", "host-write"])
@pytest.mark.parametrize("size", [1, 3, 8])
def test_io_accesses_of_any_bytes_are_right_over_bad_blocks(run: Run, operation: str, size: int) -> None:
    # In the end all registers are read, and compared with what the byte enables left in them.
    faults = {f"{way}.block_error": {"rate": 0.02} for way in BOTH}
    found = run(operation=operation, driver="io", size=size, window=32, iterations=500, faults=faults)
    assert found["workload"]["bad_blocks"] > 10
    assert found["checked"]["bytes"] >= 64 * 8


@pytest.mark.parametrize(
    ("operation", "driver", "clocks"),
    [("message", "ipi", 20), ("device-write", "ipi", 20), ("device-write", "barrier", 34)],
)
def test_interrupts_and_barriers_take_no_more_than_their_way(
    run: Run, operation: str, driver: str, clocks: int
) -> None:
    found = run(operation=operation, driver=driver, size=8)
    assert found["workload"]["fastest_cycles"] <= clocks
    assert sum(stage["ps"] for stage in found["stages"]) == found["stages_total_ps"] > 0


def test_interrupts_come_once_and_in_order_over_two_links_with_bad_blocks(run: Run) -> None:
    faults = {f"{way}.block_error": {"rate": 0.02} for way in (*BOTH, "to_host_1", "to_fpga_1")}
    settings = {"driver": "ipi", "size": 8, "window": 32, "iterations": 2_000, "links": 2}
    for operation in ("message", "device-write"):
        assert run(operation=operation, faults=faults, **settings)["workload"]["bad_blocks"] > 20


def test_a_way_of_the_core_is_in_an_io_read_twice_and_in_a_write_once(run: Run) -> None:
    for operation, times in (("host-read", 2), ("host-write", 1)):
        near, far = (
            run(operation=operation, driver="io", size=8, platform={"core_ns": ns})["latency_ps"]["avg"]
            for ns in (0, 100)
        )
        assert far - near == pytest.approx(times * 100_000, abs=3_400)


@pytest.mark.release
@pytest.mark.parametrize("policy", bench.POLICIES)
@pytest.mark.parametrize("driver", ["cached", "cached-dirty"])
def test_caches_stay_coherent_over_two_links_with_bad_blocks(run: Run, driver: str, policy: str) -> None:
    faults = {f"{way}.block_error": {"rate": 0.01} for way in (*BOTH, "to_host_1")}
    settings = {"operation": "device-write", "size": 1000, "iterations": 200, "window": 4, "links": 2}
    found = run(driver=driver, policy=policy, faults=faults, **settings)
    assert found["workload"]["bad_blocks"] > 20
    assert found["checked"]["bytes"] > 4096 * 128


@pytest.mark.release
@pytest.mark.parametrize("policy", bench.POLICIES)
def test_lines_that_miss_two_slices_of_the_cache_fill_two_links(run: Run, policy: str) -> None:
    """One pipeline, which takes an operation and a response a line, would end at 19.2 GB/s."""
    found = run(driver="cached", iterations=5_000, window=64, links=2, policy=policy)
    assert found["throughput"]["payload_bit_s"] / 8 >= 0.98 * 2 * LINE_RATE * 16 / 17


BESIDE = ("device-read", "host-read")


@pytest.mark.parametrize("operation", BESIDE)
@pytest.mark.parametrize("driver", ["cached", "cached-hit"])
def test_an_end_with_memory_and_a_cache_takes_the_cycles_of_one_with_either(
    run: Run, driver: str, operation: str
) -> None:
    one, both = (run(operation=operation, driver=driver, homes=homes) for homes in bench.HOMES)
    assert both["workload"]["fastest_cycles"] == one["workload"]["fastest_cycles"]
    assert both["latency_ps"] == one["latency_ps"]
    assert both["stages"] == one["stages"]


@pytest.mark.parametrize(
    ("driver", "least", "limit"),
    [
        # A line and a request of the other direction; blocks leave with what is staged, 6.3 of 7 words.
        ("uncached", 0.88, LINE_RATE * 16 / 18),
        # Request, VICC, GACK and a line in two chunks, one a clock.
        ("cached", 0.90, 300e6 / 5 * 128),
    ],
)
def test_reads_of_both_ends_at_once_share_both_directions(
    run: Run, driver: str, least: float, limit: float
) -> None:
    found = run(driver=driver, homes="both", beside="host-read", iterations=3_000, window=64)
    for one in (found, found["other"]):
        assert least <= one["throughput"]["payload_bit_s"] / 8 / limit <= 1.001
    assert [one["method"] for one in (found, found["other"])] == list(BESIDE)


@pytest.mark.parametrize("driver", bench.DRIVERS)
@pytest.mark.parametrize("beside", bench.HOST_OPERATIONS)
@pytest.mark.parametrize("operation", bench.OPERATIONS)
def test_both_memories_are_right_whoever_uses_them_meanwhile_with_bad_blocks(
    run: Run, operation: str, beside: str, driver: str
) -> None:
    faults = {f"{way}.block_error": {"rate": 0.01} for way in BOTH}
    small = {"window": 4, "size": 1000} if driver != "cached-hit" else {"window": 2, "size": 300}
    found = run(
        operation=operation,
        beside=beside,
        driver=driver,
        homes="both",
        iterations=100,
        faults=faults,
        **small,
    )
    assert found["workload"]["bad_blocks"] > 2
    for one in (found, found["other"]):
        assert (one["checked"]["wrong"], one["checked"]["lost"]) == (0, 0)
        # Each end's program has read all of its memory in the end.
        assert one["checked"]["bytes"] > 4096 * 128


@pytest.mark.release
@pytest.mark.parametrize("policy", bench.POLICIES)
def test_reads_of_both_ends_at_once_share_two_links(run: Run, policy: str) -> None:
    settings = {"driver": "cached", "iterations": 5_000, "window": 64, "links": 2, "policy": policy}
    found = run(homes="both", beside="host-read", **settings)
    for one in (found, found["other"]):
        assert 0.92 <= one["throughput"]["payload_bit_s"] / 8 / (2 * 300e6 / 5 * 128) <= 1.001


def test_three_links_are_refused(run: Run) -> None:
    with pytest.raises(UserError, match="links: 3 is outside 1 to 2"):
        run(links=3)


GEN3_X16 = 8e9 * 16 * 128 / 130 / 8 * (1 - 0.0027)
"""Bytes of TLPs that the link carries in a second."""
PAYLOAD = 256 / (256 + 20)
"""Of a completion or a write of 256 bytes: 8 bytes of framing, a header of 12."""


@pytest.mark.parametrize("driver", bench.PCIE)
@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("size", [8, 128, 1000, 16_384])
def test_over_pcie_every_byte_is_right_and_stages_add_up(
    run: Run, operation: str, driver: str, size: int
) -> None:
    found = run(operation=operation, driver=driver, size=size, iterations=40)
    assert found["workload"]["pcie"] == "Gen3 x16"
    assert found["checked"]["bytes"] >= 40 * size
    total = sum(stage["ps"] for stage in found["stages"])
    assert total == found["stages_total_ps"]
    # Writes are posted: in the series a large one waits for the one before it to leave.
    least = 0.98 if operation == "device-read" or size < 16_384 else 0.9
    assert least <= total / found["latency_ps"]["avg"] <= 1.02


@pytest.mark.parametrize("operation", bench.OPERATIONS)
def test_the_dma_of_512_bits_carries_what_16_lanes_do(run: Run, operation: str) -> None:
    found = run(operation=operation, driver="pcie-dma", size=16_384, iterations=300, window=4)
    rate = found["throughput"]["payload_bit_s"] / 8
    assert 0.95 <= rate / (GEN3_X16 * PAYLOAD) <= 1.001


def test_a_descriptor_costs_a_round_trip_before_a_transfer(run: Run) -> None:
    bare, ring = (run(driver=driver)["latency_ps"]["avg"] for driver in bench.PCIE)
    assert ring == pytest.approx(2 * bare, rel=0.05)
    # Less 8 lanes' bits than the measured read of 64 bytes, which is no input here but its ports' times are.
    assert 540_000 < bare < 620_000


def test_over_pcie_there_is_one_link_without_block_errors(run: Run) -> None:
    with pytest.raises(UserError, match="links: pcie-dma has one link"):
        run(driver="pcie-dma", links=2)
    with pytest.raises(UserError, match="errors: pcie-ring has no blocks"):
        bench.check(bench.Transfers("device-read", driver="pcie-ring", faults=bench.faults_of(1e-4, 1)))
