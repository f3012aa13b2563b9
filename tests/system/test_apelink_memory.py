# SPDX-License-Identifier: Apache-2.0
"""Puts between the memories of hosts and of GPUs, over the built nodes of a ring.

The engine itself fails a run in which a byte is wrong, or a put does not come, comes twice or out of order
(docs/explanation/cores/apenet.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.bench import runner
from isthmus.errors import UserError
from isthmus.platforms import Profile
from isthmus.roads.apenet.bench import LINK_CLOCKS, LINK_TOP, TOP, Puts, parameters, scenario

pytestmark = pytest.mark.deterministic


def run(
    puts: Puts, profile: Profile = "isthmus", name: str = "apelink-gen3", **changes: Any
) -> dict[str, Any]:
    """One run, its model built where it is not."""
    platform = platforms.load(name)
    top = LINK_TOP if puts.link == "lanes" else TOP
    model = runner.model(top, parameters(platform, profile))
    (found,) = native.run_scenario(scenario(platform, profile, replace(puts, seed=7), model, **changes))
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


@pytest.mark.parametrize("test", ["put", "get"])
def test_puts_and_gets_at_a_rate_begin_when_they_are_due(test: str) -> None:
    def at(rate: float | None, window: int = 16) -> dict[str, Any]:
        return run(Puts(64, window=window, test=test, rate_per_s=rate, iterations=150))

    alone, calm, busy = at(None, 1), at(1e5), at(1e8)
    assert (calm["workload"]["rate_per_s"], calm["workload"]["window"]) == (1e5, None)
    # Nothing is in front of most of them.
    assert calm["latency_ps"]["p50"] == pytest.approx(alone["latency_ps"]["p50"], rel=0.05)
    # More than a program can post: a latency would be that of the run's length.
    assert busy["workload"]["saturated"]
    assert busy["latency_ps"] is None
    with pytest.raises(UserError, match="rate: a test ping-pong has puts in flight, and no rate"):
        run(Puts(64, test="ping-pong", rate_per_s=1e4))


@pytest.mark.parametrize("test", ["one-way", "put", "get"])
def test_what_waits_for_those_before_it_counts_from_when_it_was_due(test: str) -> None:
    # All 72 are due in the same 0.1 us, and one is in flight. 32 are before the 8 that count.
    found = run(Puts(64, window=1, test=test, rate_per_s=1e9, iterations=8))
    assert found["excluded"] == {"head": 32, "tail": 32}
    each = found["throughput"]["elapsed_ps"] / 8
    # From the time when its program had time for it, each takes one of them.
    assert found["latency_ps"]["min"] > 32 * each
    assert found["latency_ps"]["max"] - found["latency_ps"]["min"] == pytest.approx(7 * each, rel=0.05)


@pytest.mark.parametrize(("test", "delays"), [("put", 1), ("get", 2), ("one-way", 2), ("ping-pong", 1)])
def test_noise_delays_each_program_that_waited(test: str, delays: int) -> None:
    """A put waits until it is due; a get also for its answer; one-way the far program waits, too."""
    rate = None if test == "ping-pong" else 5e4
    puts = Puts(64, test=test, rate_per_s=rate, window=16 if rate else 1, iterations=40)
    calm, late = run(puts), run(puts, noise={"unit": "ns", "buckets": [[2_000, 1]]})
    assert (calm["workload"]["noise"], late["workload"]["noise"]) == (False, True)
    # Few are due while a program is delayed for another one. Of a ping-pong a half counts.
    more = late["latency_ps"]["p50"] - calm["latency_ps"]["p50"]
    assert more == pytest.approx(delays * 2e6, rel=0.04)
    assert late["checked"]["lost"] == late["checked"]["wrong"] == 0


def test_noise_of_puts_into_a_list_by_many_programs_is_refused() -> None:
    burst = {"buffers": 8, "policy": "newest", "recycles": True}
    noise = {"unit": "ns", "buckets": [[20_000, 1]]}
    with pytest.raises(UserError, match="scenario: noise: not with test burst"):
        run(Puts(64, test="burst", target="list", burst=burst), noise=noise)
    with pytest.raises(UserError, match=r"noise\.buckets: no delay was counted in it"):
        run(Puts(64), noise={"unit": "ns", "buckets": []})


@pytest.mark.parametrize("test", ["put", "get"])
def test_a_program_is_busy_while_it_posts_and_takes_events(test: str) -> None:
    seldom = run(Puts(64, test=test, window=16, rate_per_s=5e4, iterations=40))
    often = run(Puts(64, test=test, window=16, iterations=40))
    assert 0 < seldom["workload"]["busy"]["host"] < 0.05
    assert often["workload"]["busy"]["host"] > 0.2


def test_more_nodes_are_more_hops() -> None:
    near = run(Puts(64, iterations=3))
    far = run(Puts(64, iterations=3, nodes=6))
    clock = 1e6 / 212.5
    # Two more links of 19 clocks and routers of 3.
    assert far["latency_ps"]["avg"] - near["latency_ps"]["avg"] == pytest.approx(
        2 * 22 * clock, abs=2 * clock
    )


@pytest.mark.parametrize("far", ["host", "gpu"])
def test_puts_into_either_memory_fill_the_link(far: str) -> None:
    found = run(Puts(65_536, window=4, iterations=6, far=far))
    assert found["throughput"]["payload_bit_s"] / 8 > 0.98 * found["workload"]["link_limit_byte_s"]


def test_peer_to_peer_a_put_costs_the_gpus_link_and_its_read_more() -> None:
    host, gpu = (run(Puts(64, test="ping-pong", iterations=4, near=k, far=k)) for k in ("host", "gpu"))
    more = gpu["latency_ps"]["avg"] - host["latency_ps"]["avg"]
    # Read: a link there and back, four ports of 108 ns; 344 instead of 100 ns of memory. What is written is
    # not waited for: the event is in the host's memory.
    assert more == pytest.approx(4 * 108e3 + 244e3, abs=15e3)
    assert gpu["latency_ps"]["max"] < 8_200_000 / 3


def test_staging_costs_both_copies() -> None:
    host, staged = (run(Puts(64, iterations=3, near=k, far=k), name="apelink") for k in ("host", "staged"))
    more = staged["latency_ps"]["avg"] - host["latency_ps"]["avg"]
    assert more == pytest.approx(20e6, abs=60e3)
    names = [stage["name"] for stage in staged["stages"]]
    assert (names[0], names[-1]) == ("copy out of the GPU", "copy into the GPU")
    assert sum(stage["ps"] for stage in staged["stages"]) == staged["stages_total_ps"]


def test_many_packets_over_pages_of_a_gpu_come_whole() -> None:
    # Every byte is compared in the GPU's memory, behind the writes.
    found = run(Puts(150_001, window=2, iterations=3, near="gpu", far="gpu"), name="apelink")
    assert found["checked"] == {"bytes": 150_001 * (3 + 4 + 2), "wrong": 0, "lost": 0}


@pytest.mark.parametrize("far", ["host", "gpu"])
def test_a_get_is_a_request_and_a_put_back(far: str) -> None:
    put, get = (
        run(Puts(64, test=test, iterations=4, far=far), name="apelink") for test in ("one-way", "get")
    )
    (one,) = {stage["ps"] for stage in get["stages"] if stage["name"] == "request: routers and links"}
    # Its way to the far node is of a header: nothing is read for it. Else it is what a put of the far node
    # takes, whose post is the request.
    assert one == pytest.approx(26 * 1e6 / 212.5, abs=3e6 / 212.5)
    more = get["latency_ps"]["avg"] - put["latency_ps"]["avg"] - one
    assert more == pytest.approx(0 if far == "host" else 687e3, abs=60e3)
    assert sum(stage["ps"] for stage in get["stages"]) == get["stages_total_ps"]


def test_gets_fill_the_link_and_each_byte_is_compared() -> None:
    found = run(Puts(65_536, test="get", window=4, iterations=6))
    assert found["throughput"]["payload_bit_s"] / 8 > 0.98 * found["workload"]["link_limit_byte_s"]
    assert found["checked"] == {"bytes": 65_536 * (6 + 8 + 4), "wrong": 0, "lost": 0}


@pytest.mark.release
def test_the_published_firmware_takes_its_time_for_each_packet() -> None:
    found = run(Puts(4096, window=8, iterations=20), "as-published", "apelink")
    wake, work = (0.6e6, 2.0e6), 4.0e6
    took = 4096 * 8e12 / found["throughput"]["payload_bit_s"]
    assert wake[0] + work < took < wake[1] + work + 2e6


def test_a_put_is_in_memory_before_its_event_is_with_the_program() -> None:
    put, seen = (run(Puts(5000, test=test, iterations=3), name="apelink") for test in ("put", "one-way"))
    # The event is a write behind the last one of the payload, and its load takes 70 ns.
    assert 70e3 < seen["latency_ps"]["avg"] - put["latency_ps"]["avg"] < 250e3
    assert put["stages"][-1]["name"] == "last write: bus and memory"
    assert sum(stage["ps"] for stage in put["stages"]) == put["stages_total_ps"]


@pytest.mark.parametrize("test", ["one-way", "get"])
def test_over_a_bus_that_is_slower_than_the_link_the_bus_is_filled(test: str) -> None:
    found = run(Puts(65_536, test=test, window=4, iterations=6), name="apelink")
    work = found["workload"]
    # By hand: 3986.4 MB/s of eight lanes beside SKP; 512 bytes in 8 completions of 84, a DLLP of 8 for the
    # acknowledgement of the request and one for its credit.
    assert work["bus_limit_byte_s"] == pytest.approx(3986.4e6 * 512 / (8 * 84 + 16), rel=1e-6)
    assert work["bus_limit_byte_s"] < work["link_limit_byte_s"]
    assert found["throughput"]["payload_bit_s"] / 8 > 0.98 * work["bus_limit_byte_s"]
    assert work["busy"]["pcie"] > 0.98


def test_a_program_has_an_event_by_one_load_of_its_line() -> None:
    found = run(Puts(64, iterations=3), name="apelink")
    (event,) = (stage["ps"] for stage in found["stages"] if stage["name"].startswith("event"))
    # Two ports, memory, wire and one load of 70 ns; a second load would be 70 ns more.
    assert 2 * 108e3 + 50e3 + 70e3 < event < 2 * 108e3 + 50e3 + 70e3 + 85e3


def test_the_ends_of_a_link_take_six_clocks_and_lose_nothing() -> None:
    delay, lanes = (run(Puts(64, iterations=10, link=link)) for link in ("delay", "lanes"))
    clock = 1e6 / 212.5
    assert lanes["latency_ps"]["avg"] - delay["latency_ps"]["avg"] == pytest.approx(
        LINK_CLOCKS * clock, abs=clock
    )
    assert sum(stage["ps"] for stage in lanes["stages"]) == lanes["stages_total_ps"]
    assert lanes["id"] == delay["id"] + "-lanes"
    for name in ("dropped", "torn", "gaps", "refused", "downs"):
        assert lanes["counters"][f"node0.{name}"] == lanes["counters"][f"node1.{name}"] == 0


def test_over_lanes_puts_and_gets_of_many_packets_are_whole() -> None:
    for test in ("one-way", "get"):
        found = run(Puts(16_384, window=4, test=test, iterations=4, nodes=3, link="lanes"))
        assert found["checked"]["bytes"] >= 4 * 16_384
        share = found["throughput"]["payload_bit_s"] / 8 / found["workload"]["link_limit_byte_s"]
        assert 0.9 < share < 1


@pytest.mark.parametrize(
    ("near", "far"), [("host", "host"), ("gpu", "gpu"), ("host", "gpu"), ("gpu", "host")]
)
def test_puts_that_bring_their_payload_come_whole_into_either_memory(near: str, far: str) -> None:
    for size in (1, 7, 8, 33, 56, 57, 64):
        found = run(Puts(size, window=4, near=near, far=far, inline=True, iterations=8), name="apelink")
        assert found["checked"] == {"bytes": size * (8 + 8 + 4), "wrong": 0, "lost": 0}
        assert (found["workload"]["payload"], found["workload"]["driver"]) == ("inline", "inline")


def test_between_hosts_a_put_that_brings_its_payload_saves_the_read() -> None:
    puts = Puts(64, test="ping-pong", iterations=4)
    read, inline = (run(replace(puts, inline=brought), name="apelink") for brought in (False, True))
    # Two ways over a link of two ports of 108 ns, and memory of 100 ns: no less is saved.
    assert read["latency_ps"]["avg"] - inline["latency_ps"]["avg"] > 4 * 108e3 + 100e3
    assert inline["latency_ps"]["max"] < 1_000_000
    one = run(Puts(64, inline=True, iterations=3), name="apelink")
    assert sum(stage["ps"] for stage in one["stages"]) == one["stages_total_ps"]
    assert "its packet, of what came with the post" in [stage["name"] for stage in one["stages"]]
    assert abs(one["latency_ps"]["avg"] - inline["latency_ps"]["avg"]) < 10_000


def test_from_gpu_to_gpu_kernels_put_in_less_than_two_microseconds() -> None:
    found = run(Puts(64, test="ping-pong", near="gpu", far="gpu", inline=True, iterations=5), name="apelink")
    assert found["latency_ps"]["max"] < 2_000_000
    # Its turn alone is a quarter of it: the far kernel's looks are paid for.
    assert found["latency_ps"]["min"] > 426_000 + 8 * 108_000
    one = run(Puts(64, near="gpu", far="gpu", inline=True, iterations=3), name="apelink")
    assert sum(stage["ps"] for stage in one["stages"]) == one["stages_total_ps"]


def test_puts_that_bring_their_payload_go_into_lists_over_lanes_and_at_a_rate() -> None:
    listed = run(Puts(40, window=4, target="list", inline=True, iterations=12))
    lanes = run(Puts(40, test="ping-pong", link="lanes", inline=True, iterations=4))
    calm = run(Puts(40, test="put", window=16, rate_per_s=1e5, inline=True, iterations=100))
    for found in (listed, lanes, calm):
        assert found["checked"]["wrong"] == found["checked"]["lost"] == 0
        assert found["checked"]["bytes"] > 0


@pytest.mark.parametrize(
    ("puts", "why"),
    [
        (Puts(65), "65 bytes: a post brings at most 64"),
        (Puts(64, test="get"), "not with test get"),
        (Puts(64, far="staged"), "not with memory staged"),
    ],
)
def test_what_brings_no_payload_is_refused_by_the_engine_too(puts: Puts, why: str) -> None:
    platform = platforms.load("apelink")
    made = scenario(platform, "isthmus", puts, runner.model(TOP, parameters(platform, "isthmus")))
    made["workload"]["inline"] = True
    with pytest.raises(UserError, match=f"workload.inline: {why}"):
        native.run_scenario(made)


def test_noise_delays_a_hosts_program_and_no_kernel() -> None:
    noise = {"unit": "ns", "buckets": [[2_000, 1]]}
    calm = run(Puts(64, inline=True, iterations=40))
    late = run(Puts(64, inline=True, iterations=40), noise=noise)
    assert late["latency_ps"]["p50"] - calm["latency_ps"]["p50"] > 1_900_000
    with pytest.raises(UserError, match="no operating system delays a GPU's kernel"):
        run(Puts(64, far="gpu", inline=True), noise=noise)
