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
from isthmus.platforms import PROFILES
from isthmus.roads.ccix import bench, translation
from isthmus.roads.ccix.contention_model import Terms, predicted

pytestmark = pytest.mark.deterministic

Run = Callable[..., dict[str, Any]]
CLOCK_PS = 4_000
LINK_BYTES_S = 16e9 * 8 * 128 / 130 / 8 * (1 - 0.0027)
PINS_BYTES_S = 64 * 250e6


@pytest.fixture(scope="module")
def built() -> dict[str, dict[str, Path]]:
    drivers = [driver for driver in bench.DRIVERS if driver != "cached-hit"]
    made = {driver: bench.models(bench.loaded(), "isthmus", driver) for driver in drivers}
    return made | {"cached-hit": made["cached"], "contended": made["cached"]}


@pytest.fixture(scope="module")
def axi() -> Path:
    """The FPGA's logic is an AXI master in front of its cache."""
    return bench.models(bench.loaded(), "isthmus", "cached", port="axi")[bench.FPGA]


@pytest.fixture(scope="module")
def pointers() -> Path:
    """The same with virtual addresses: port, translation, cache."""
    return bench.models(bench.loaded(), "isthmus", "svm", "axi", cache=True)[bench.FPGA]


@pytest.fixture(scope="module")
def trying() -> Path:
    """The same, and the master tries again where a page is away."""
    return bench.models(bench.loaded(), "isthmus", "svm", "axi", cache=True, retry=True)[bench.FPGA]


@pytest.fixture(scope="module")
def behind() -> dict[str, Path]:
    """The cache behind the translation, in the design of each profile."""
    made = {
        profile: bench.models(bench.loaded(), profile, "svm", cache=True)  # type: ignore[arg-type]
        for profile in PROFILES
    }
    return {profile: models[bench.FPGA] for profile, models in made.items()}


@pytest.fixture(scope="module")
def waiting() -> Path:
    """Each line waits for the translation of its page, a page a completion, none ahead."""
    return bench.models(bench.loaded(), "as-published", "svm")[bench.FPGA]


@pytest.fixture(scope="module")
def run(built: dict[str, dict[str, Path]]) -> Run:
    """One run; `transport`, `home` and `iommu` replace constants. With `translation` the driver is svm."""

    def one(
        transport: dict[str, Any] | None = None,
        home: dict[str, Any] | None = None,
        iommu: dict[str, Any] | None = None,
        seed: int = 3,
        model: Path | None = None,
        until_visible: bool = False,
        **settings: Any,
    ) -> dict[str, Any]:
        settings = {"operation": "device-read", "iterations": 200, "seed": seed, **settings}
        if "translation" in settings:
            settings["driver"] = "svm"
        transfers = bench.Transfers(**settings)
        models = built[transfers.driver] if model is None else {bench.FPGA: model}
        made = bench.scenario(bench.Point(transfers, "isthmus", bench.loaded()), models)
        made["platform"]["transport"] |= transport or {}
        made["platform"]["home"] |= home or {}
        made["platform"]["iommu"] |= iommu or {}
        made["workload"]["until_visible"] = until_visible
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
    counters = found["counters"]
    assert counters["fpga.packets"] == counters["to_host.packets"]


def test_without_packing_a_packet_has_one_message(run: Run) -> None:
    single = runner.model(bench.FPGA, bench.parameters(bench.loaded(), "as-published", "request-agent"))
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


@pytest.mark.parametrize(("lines", "window"), [(1, 1), (3, 16), (300, 16)])
def test_no_store_is_lost_where_host_and_fpga_store_to_the_same_lines(
    run: Run, lines: int, window: int
) -> None:
    of = bench.Contention(lines, window)
    found = run(
        operation="device-write", size=32, iterations=300, window=window, driver="contended", contention=of
    )
    counted = found["workload"]["contention"]
    # The engine compares both halves of a line at every store of the host, and all of them in the end.
    assert found["checked"]["bytes"] >= 300 * 64
    assert counted["fpga"]["accesses"] == counted["host"]["accesses"] == 300
    # A line that changes sides twice is at the host again.
    assert 0 <= counted["fpga"]["transfers"] - counted["host"]["transfers"] <= lines
    terms = counted["terms_ps"]
    assert terms["fpga_local"] < terms["fpga_remote"]
    assert terms["host_local"] < terms["host_remote"]
    longest = max(counted[side]["longest_ps"] for side in ("fpga", "host"))
    assert longest <= 4 * terms["fpga_remote"]
    # What waits at the FPGA's port has begun.
    assert counted["fpga"]["longest_ps"] >= counted["fpga"]["longest_offered_ps"]


@pytest.mark.parametrize(("lines", "window"), [(128, 1), (128, 4), (128, 16), (256, 16), (1024, 16)])
def test_contention_is_what_its_analytic_model_says(run: Run, lines: int, window: int) -> None:
    of = bench.Contention(lines, window, rounds=8)
    settings: dict[str, Any] = {"operation": "device-write", "size": 32, "driver": "contended"}
    found = run(iterations=1024, window=window, contention=of, seed=1, **settings)
    counted = found["workload"]["contention"]
    terms = Terms(**{name: ps / 1e3 for name, ps in counted["terms_ps"].items()})
    model = predicted(terms, lines, 1024, window)
    assert found["latency_ps"]["avg"] / 1e3 == pytest.approx((model.fpga + model.host) / 2, rel=0.1)
    assert counted["fpga"]["mean_ps"] / 1e3 == pytest.approx(model.fpga, rel=0.1)


PHYSICAL = ("request-agent", "pcie-dma")
HIT, MISS = bench.translated("hit"), bench.translated("miss", order="random")


@pytest.mark.parametrize("driver", PHYSICAL)
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


@pytest.mark.parametrize("size", [64, 4096])
def test_writes_over_pcie_that_wait_for_one_another_take_their_latency_each(run: Run, size: int) -> None:
    settings: dict[str, Any] = {"driver": "pcie-dma", "operation": "device-write", "size": size}
    posted, waited = (run(**settings, iterations=40, until_visible=wait) for wait in (False, True))
    each = {
        name: 8e12 * size / found["throughput"]["payload_bit_s"]
        for name, found in (("posted", posted), ("waited", waited))
    }
    assert each["posted"] < 0.8 * each["waited"]
    # The FPGA sees what is visible in its next clock.
    least = waited["latency_ps"]["min"]
    assert least <= each["waited"] <= waited["latency_ps"]["max"] + 2 * CLOCK_PS


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


@pytest.mark.parametrize("settings", [*({"driver": one} for one in PHYSICAL), {"translation": HIT}])
def test_transfers_at_random_times_do_not_wait_for_each_other(run: Run, settings: dict[str, Any]) -> None:
    found = run(size=256, iterations=1_000, window=None, rate_per_s=1e6, **settings)
    assert found["arrivals"] == "poisson:1000000/s"
    assert not found["workload"]["saturated"]
    assert payload(found) == pytest.approx(256e6, rel=0.15)


def test_a_translation_that_hits_costs_two_clocks(run: Run) -> None:
    for operation in bench.OPERATIONS:
        physical = run(operation=operation)["latency_ps"]
        virtual = run(operation=operation, translation=HIT)
        # Behind the last page there is none: looking ahead finds that out once a round.
        assert virtual["workload"]["translation"]["walks"] < 0.05
        assert 0 <= virtual["latency_ps"]["min"] - physical["min"] <= 2 * CLOCK_PS
        assert virtual["latency_ps"]["avg"] - physical["avg"] == pytest.approx(2 * CLOCK_PS, abs=CLOCK_PS)


def test_a_line_that_begins_a_translation_costs_a_walk_and_no_round_trip(run: Run) -> None:
    for operation in bench.OPERATIONS:
        hit = run(operation=operation, size=64, translation=HIT)["latency_ps"]["avg"]

        def more(iommu: dict[str, Any] | None = None, operation: str = operation, hit: float = hit) -> float:
            """Of a miss, in ps: two walks of the host, for the line and for the FPGA's cache of pages."""
            found = run(operation=operation, size=64, translation=MISS, iommu=iommu)
            misses = float(found["workload"]["translation"]["walks"]) / 2
            assert 0.85 <= misses <= 1
            return (float(found["latency_ps"]["avg"]) - hit) / misses

        # The request for the translation is a packet of its own, in front of the line's.
        bits = 28 / LINK_BYTES_S * 1e12
        assert 81e3 <= more() <= 81e3 + bits + 3 * CLOCK_PS
        assert more({"access_ns": 181}) - more() == pytest.approx(100e3, abs=10e3)


def test_a_line_that_waits_for_its_translation_costs_a_round_trip_and_a_walk(run: Run, waiting: Path) -> None:
    hit = run(size=64, translation=HIT)["latency_ps"]["avg"]

    def more(iommu: dict[str, Any] | None = None) -> float:
        """Of a walk, in ps: some pages come with their neighbours."""
        found = run(size=64, translation=MISS, iommu=iommu, model=waiting)
        walks = float(found["workload"]["translation"]["walks"])
        assert 0.85 <= walks <= 1
        return (float(found["latency_ps"]["avg"]) - hit) / walks

    # Ports, request and answer on the link, and one access to a table. Of the answer's eight words the one
    # of the page may be all that the request waits for.
    parts = 4 * 95.5e3 + 2 * 1e3 + 20e3 + 81e3
    bits = (28 + 12 + 8 * 8) / LINK_BYTES_S * 1e12
    assert parts <= more() <= parts + bits + 16 * CLOCK_PS
    assert more({"access_ns": 181}) - more() == pytest.approx(100e3, abs=10e3)
    # Without a walk cache each walk reads four tables.
    assert more({"cache_entries": 0}) - more() == pytest.approx(243e3, abs=24e3)


@pytest.mark.parametrize("page", ["2M", "1G"])
def test_larger_pages_have_no_misses_in_the_same_memory(run: Run, page: str) -> None:
    large = bench.translated("miss", page, "random")
    hit, found = run(translation=HIT), run(translation=large)
    assert found["workload"]["translation"]["walks"] < 0.05
    assert found["latency_ps"]["min"] == hit["latency_ps"]["min"]


def test_pages_in_their_order_are_translated_ahead(run: Run) -> None:
    ahead = bench.translated("miss")
    physical, virtual = (
        run(size=4096, iterations=1_500, window=4, **one) for one in ({}, {"translation": ahead})
    )
    assert payload(virtual) >= 0.97 * payload(physical)
    # A walk brings the eight pages of a line of the table.
    assert virtual["workload"]["translation"]["walks"] == pytest.approx(1 / 8, rel=0.1)
    small, hit = (run(size=64, iterations=600, translation=one) for one in (ahead, HIT))
    assert small["latency_ps"]["avg"] <= 1.6 * hit["latency_ps"]["avg"]


@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("translation", [HIT, MISS, bench.translated("miss", "2M")])
@pytest.mark.parametrize("size", [4, 64, 1000, 8192])
def test_stages_with_translation_add_up(
    run: Run, operation: str, translation: bench.Translation, size: int
) -> None:
    found = run(operation=operation, size=size, iterations=20, translation=translation)
    total = sum(stage["ps"] for stage in found["stages"])
    assert total == found["stages_total_ps"]
    assert total <= found["latency_ps"]["max"] + CLOCK_PS
    walks = [stage for stage in found["stages"] if stage["name"] == "page walk"]
    assert bool(walks) == (translation == MISS)
    assert found["checked"]["bytes"] >= 20 * size


@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize(("page", "footprint", "moves"), [("4K", 1 << 20, 40), ("2M", 64 << 20, 12)])
def test_the_host_moves_pages_under_the_traffic(
    run: Run, operation: str, page: str, footprint: int, moves: int
) -> None:
    """A page is unmapped, the device completes the invalidation, and the page is mapped elsewhere: no access
    reaches the old frame after that (the home fails the run), none is lost, and accesses in between fault."""
    memory = bench.Translation(page, "random", footprint, moves=moves)
    for seed in (3, 4):
        found = run(
            operation=operation, size=4000, iterations=1_500, window=16, translation=memory, seed=seed
        )
        counters = found["counters"]
        assert counters["host.moves"] == moves
        retries = found["workload"]["translation"]["retries"]
        assert retries > 0
        assert counters["fpga.faults"] >= retries
        assert counters["host.faults"] > 0


@pytest.mark.parametrize("operation", bench.OPERATIONS)
def test_a_line_in_the_cache_costs_no_message(run: Run, operation: str) -> None:
    found = run(operation=operation, driver="cached-hit", size=64)
    counters = found["counters"]
    assert found["latency_ps"]["max"] <= 8 * CLOCK_PS
    (cache,) = (stage["ps"] for stage in found["stages"] if stage["name"] == "cache")
    assert cache <= 5 * CLOCK_PS
    # The home's credits, two lines before, and in the end the host's loads of those that were written.
    assert counters["to_fpga.packets"] <= 1 + 2 + 2
    many = run(operation=operation, driver="cached-hit", size=1024, iterations=400, window=4)
    assert payload(many) >= 0.98 * PINS_BYTES_S


@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("size", [4, 64, 1000, 8192])
def test_lines_through_the_cache_are_right_and_their_stages_add_up(
    run: Run, operation: str, size: int
) -> None:
    """The host loads every line that was written, in the end: what only the cache has comes back."""
    for driver in ("cached", "cached-hit"):
        found = run(driver=driver, operation=operation, size=size, iterations=150)
        total = sum(stage["ps"] for stage in found["stages"])
        assert total == found["stages_total_ps"]
        assert total <= found["latency_ps"]["max"] + CLOCK_PS
        assert found["checked"]["bytes"] >= 150 * size


@pytest.mark.parametrize(("operation", "clocks"), [("device-read", 5), ("device-write", 7)])
def test_a_hit_through_the_axi_port_takes_so_many_clocks_from_address_to_answer(
    run: Run, axi: Path, operation: str, clocks: int
) -> None:
    found = run(model=axi, port="axi", operation=operation, driver="cached-hit", size=64, iterations=50)
    (cache,) = (stage["ps"] for stage in found["stages"] if stage["name"] == "cache")
    # A store is offered to the cache a clock behind its beat, and the task ends a clock behind its answer.
    assert cache == clocks * CLOCK_PS
    assert found["counters"]["to_fpga.packets"] <= 1 + 2 + 2


def test_hits_through_the_axi_port_come_one_a_clock(run: Run, axi: Path) -> None:
    found = run(model=axi, port="axi", driver="cached-hit", size=64, window=64, iterations=5_000)
    assert payload(found) == pytest.approx(PINS_BYTES_S, rel=0.001)
    assert found["workload"]["busy"] == pytest.approx({"fpga": 1, "wire": 0}, abs=0.001)


@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("size", [4, 64, 1000, 8192])
def test_lines_through_the_axi_port_are_right_and_their_stages_add_up(
    run: Run, axi: Path, operation: str, size: int
) -> None:
    """More lines than the cache has: they are evicted, and the host loads all that were written."""
    for driver in bench.CACHED:
        found = run(
            model=axi, port="axi", driver=driver, operation=operation, size=size, iterations=300, window=2
        )
        assert sum(stage["ps"] for stage in found["stages"]) == found["stages_total_ps"] > 0
        assert found["checked"]["bytes"] >= 300 * size


ALL_HIT = translation.ALL_HIT
KNOWN = bench.translated("hit", order="random")


@pytest.mark.parametrize("operation", bench.OPERATIONS)
def test_a_virtual_address_costs_a_line_in_the_cache_one_clock(
    run: Run, behind: dict[str, Path], operation: str
) -> None:
    hit = run(operation=operation, driver="cached-hit", size=64)["latency_ps"]
    found = run(operation=operation, size=64, translation=ALL_HIT, cache=True, model=behind["isthmus"])
    assert found["workload"]["cache"]["hits"] == 1
    # Behind the last page there is none: looking ahead finds that out.
    assert found["workload"]["translation"]["walks"] <= 0.02
    assert found["latency_ps"]["min"] == hit["min"] + CLOCK_PS
    assert found["latency_ps"]["avg"] - hit["avg"] == pytest.approx(CLOCK_PS, abs=CLOCK_PS / 2)


@pytest.mark.parametrize(("operation", "clocks"), [("device-read", 6), ("device-write", 8)])
def test_a_hit_by_a_virtual_address_takes_so_many_clocks_through_the_axi_port(
    run: Run, pointers: Path, operation: str, clocks: int
) -> None:
    found = run(
        model=pointers,
        port="axi",
        operation=operation,
        size=64,
        iterations=50,
        translation=ALL_HIT,
        cache=True,
    )
    assert found["workload"]["cache"]["hits"] == 1
    inside = [stage["ps"] for stage in found["stages"] if stage["name"] in ("translation", "cache")]
    assert sum(inside) == clocks * CLOCK_PS


def test_hits_by_virtual_addresses_come_one_a_clock_through_the_axi_port(run: Run, pointers: Path) -> None:
    found = run(
        model=pointers, port="axi", size=4096, window=4, iterations=600, warmup=96,
        translation=translation.IN_CACHE, cache=True,
    )  # fmt: skip
    assert found["workload"]["cache"]["hits"] == 1
    # A page that is looked ahead takes a lookup's place.
    assert payload(found) == pytest.approx(PINS_BYTES_S, rel=0.005)


@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("size", [4, 64, 1000, 8192])
def test_what_comes_by_virtual_addresses_through_the_axi_port_is_right(
    run: Run, pointers: Path, operation: str, size: int
) -> None:
    """Pages that are known and not, lines too; the host loads all that were written."""
    for memory in (MISS, KNOWN):
        found = run(
            model=pointers, port="axi", operation=operation, size=size, iterations=300, window=2,
            translation=memory, cache=True,
        )  # fmt: skip
        assert sum(stage["ps"] for stage in found["stages"]) == found["stages_total_ps"] > 0
        assert found["checked"]["bytes"] >= 300 * size
        assert found["counters"]["fpga.faults"] == 0
        assert (found["counters"]["iommu.walks"] > 100) == (memory is MISS)


@pytest.mark.parametrize("operation", bench.OPERATIONS)
def test_a_line_that_the_cache_has_not_costs_a_round_trip_and_its_page_another(
    run: Run, behind: dict[str, Path], operation: str
) -> None:
    settings: dict[str, Any] = {"operation": operation, "size": 64, "model": behind["as-published"]}
    missed = run(operation=operation, size=64, driver="cached")["latency_ps"]["avg"]
    known = run(**settings, translation=KNOWN, cache=True)
    assert known["workload"]["cache"]["hits"] < 0.02
    assert known["latency_ps"]["avg"] - missed == pytest.approx(CLOCK_PS, abs=3 * CLOCK_PS)
    both = run(**settings, translation=MISS, cache=True)
    walks = both["workload"]["translation"]["walks"]
    assert 0.85 <= walks <= 1
    more = (both["latency_ps"]["avg"] - known["latency_ps"]["avg"]) / walks
    # Ports, gateway, one access to a table; and a request and an answer on the link, some clocks.
    parts = 4 * 95.5e3 + 2 * 1e3 + 20e3 + 81e3
    assert parts <= more <= parts + (28 + 12 + 64) / LINK_BYTES_S * 1e12 + 16 * CLOCK_PS


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize("memory", [HIT, MISS, bench.translated("miss", "2M")])
@pytest.mark.parametrize("size", [4, 64, 1000, 8192])
def test_lines_through_the_cache_by_virtual_addresses_are_right(
    run: Run,
    behind: dict[str, Path],
    profile: str,
    operation: str,
    memory: bench.Translation,
    size: int,
) -> None:
    """The host loads every line that was written, in the end: what only the cache has comes back."""
    found = run(
        model=behind[profile], operation=operation, size=size, iterations=60, window=2,
        translation=memory, cache=True,
    )  # fmt: skip
    assert sum(stage["ps"] for stage in found["stages"]) == found["stages_total_ps"]
    assert found["stages_total_ps"] <= found["latency_ps"]["max"] + CLOCK_PS
    assert found["checked"]["bytes"] >= 60 * size
    assert found["workload"]["busy"]["fpga"] > 0


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize(("page", "footprint", "moves"), [("4K", 256 << 10, 40), ("2M", 8 << 20, 8)])
def test_the_host_moves_pages_whose_lines_are_in_the_cache(
    run: Run,
    behind: dict[str, Path],
    profile: str,
    operation: str,
    page: str,
    footprint: int,
    moves: int,
) -> None:
    """An invalidation is complete: the host takes the frame's lines from the cache and moves
    the page. A request for a line of the old frame fails the run, and so does a byte that was left there."""
    memory = bench.Translation(page, "random", footprint, moves=moves)
    found = run(
        model=behind[profile], operation=operation, size=1000, iterations=1_500, window=16,
        translation=memory, cache=True,
    )  # fmt: skip
    counters = found["counters"]
    assert counters["host.moves"] == moves
    assert counters["fpga.faults"] >= found["workload"]["translation"]["retries"] > 0
    # Lines came from the cache, else moves would not meet it.
    assert counters["host.taken"] > moves


@pytest.mark.parametrize("operation", bench.OPERATIONS)
@pytest.mark.parametrize(
    ("size", "window", "page", "footprint", "moves"),
    [(1000, 16, "4K", 256 << 10, 40), (1000, 16, "2M", 8 << 20, 8), (4096, 2, "4K", 128 << 10, 40)],
)
def test_an_axi_master_tries_again_while_the_host_moves_pages(
    run: Run, trying: Path, operation: str, size: int, window: int, page: str, footprint: int, moves: int
) -> None:
    """The master sees no error: what the port answered with SLVERR came later, and each byte is right."""
    memory = bench.Translation(page, "random", footprint, moves=moves)
    found = run(
        model=trying, operation=operation, size=size, iterations=1_000, window=window,
        translation=memory, cache=True, port="axi",
    )  # fmt: skip
    counters = found["counters"]
    assert counters["host.moves"] == moves
    assert counters["fpga.faults"] >= counters["fpga.retries"] > 0
    assert counters["host.faults"] > 0
    # No task ends with a fault: the host's program tries nothing again.
    assert found["workload"]["translation"]["retries"] == 0
    assert counters["host.taken"] > moves
    assert found["checked"]["bytes"] >= 1_000 * size


@pytest.mark.parametrize("change", bench.CHANGES)
@pytest.mark.parametrize(("words", "host_window"), [(1, 1), (8, 4), (64, 0)])
def test_words_that_both_sides_change_atomically_lose_no_change(
    run: Run, trying: Path, change: str, words: int, host_window: int
) -> None:
    """Each change finds the word as another one left it, while pages move; additions end in their sum: the
    engine compares the chain of all changes with memory, and fails the run otherwise."""
    memory = bench.Translation("4K", "sequential", 256 << 10, moves=20)
    found = run(
        model=trying, operation="update", size=8, iterations=500, window=1, warmup=20, translation=memory,
        cache=True, port="axi", updates=bench.Updates(change, words, host_window),
    )  # fmt: skip
    updates, counters = found["workload"]["updates"], found["counters"]
    assert updates["fpga"] == 521
    assert updates["host"] == (521 if host_window else 0)
    assert counters["host.moves"] == 20
    assert counters["fpga.retries"] > 0
    # A comparison finds another word only where the host has changed it since.
    compares = change in ("compare-and-swap", "mixed")
    assert (updates["refused"] > 0) == (compares and host_window > 0)


def test_an_update_of_a_line_that_the_cache_lacks_is_a_round_trip_with_its_parts(run: Run) -> None:
    """Each in another line: all alike. Of one word, all but the first are hits."""
    model = bench.models(bench.loaded(), "isthmus", "cached", "axi", retry=True)[bench.FPGA]

    def of(words: int, iterations: int) -> dict[str, Any]:
        updates = bench.Updates("add", words, 0, in_turn=True)
        return run(
            model=model, operation="update", size=8, iterations=iterations, driver="cached", port="axi",
            updates=updates,
        )  # fmt: skip

    missed, hit = of(bench.MOST_WORDS, 1_000), of(1, 100)
    assert missed["workload"]["updates"]["in_turn"]
    latency = missed["latency_ps"]
    assert latency["min"] == latency["max"] == sum(stage["ps"] for stage in missed["stages"])
    places = {stage["where"] for stage in missed["stages"]}
    assert places == {"fpga", "wire", "host"}
    read = run(size=64, driver="cached", iterations=100)["latency_ps"]["p50"]
    # An addition is a read of the line, the word's change, and the master's own clocks.
    assert read < latency["p50"] < read + 15 * 4_000
    assert {stage["where"] for stage in hit["stages"]} == {"fpga"}
    assert hit["latency_ps"]["p50"] < 20 * 4_000


@pytest.mark.parametrize("profile", PROFILES)
def test_the_mean_is_what_the_timing_formula_says(run: Run, behind: dict[str, Path], profile: str) -> None:
    def mean(found: dict[str, Any]) -> float:
        return float(found["latency_ps"]["avg"]) / 1e3

    model = behind[profile]
    local, remote = (run(size=64, driver=driver, iterations=300) for driver in ("cached-hit", "cached"))
    settings: dict[str, Any] = {"size": 64, "cache": True, "model": model}
    hit, missed = (run(**settings, translation=one, iterations=300) for one in (ALL_HIT, MISS))

    def known_of(found: dict[str, Any]) -> float:
        # A direct read has a walk of its own, beside that of its translation.
        made = found["workload"]["translation"]
        return float(1 - (made["walks"] - made["direct"]))

    known = known_of(missed)
    atc = mean(hit) - mean(local)
    ats = (mean(missed) - mean(remote) - known * atc) / (1 - known)
    terms = translation.Terms(mean(local), mean(remote), atc, ats)
    of = bench.Translation("4K", "skewed", 4 << 20)
    mixed = run(**settings, translation=of, iterations=2_000, warmup=1_000)
    lines, pages = mixed["workload"]["cache"]["hits"], known_of(mixed)
    assert 0.1 < lines < 0.7
    assert 0.3 < pages < 0.95
    assert mean(mixed) == pytest.approx(terms.mean(lines, pages), rel=0.05)
    # A formula without the translations is not enough.
    assert mean(mixed) > 1.03 * (lines * terms.local + (1 - lines) * terms.remote)


def test_more_lines_than_the_cache_has_are_evicted_and_written_back(run: Run) -> None:
    found = run(operation="device-write", driver="cached", size=4096, iterations=300, window=2)
    lines = 300 * 64
    reads = run(operation="device-read", driver="cached", size=4096, iterations=300, window=2)
    # Requests, acknowledgements and victims are those of reads; the lines written back come on top, those
    # that are in the cache in the end as well, since the host loads them.
    written = found["counters"]["to_host.wire_bytes"] - reads["counters"]["to_host.wire_bytes"]
    assert written >= (lines - 4096) * 64


def test_one_seed_gives_one_result_with_translation(run: Run) -> None:
    memory = bench.Translation("4K", "random", 1 << 20, moves=5)
    first, second = (run(size=512, iterations=300, window=8, translation=memory) for _ in range(2))
    assert first["latency_ps"] == second["latency_ps"]
    assert first["counters"] == second["counters"]
