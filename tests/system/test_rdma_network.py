# SPDX-License-Identifier: Apache-2.0
"""Hosts with RDMA interfaces, two links each and a switch for each: what programs get, what faults cost.

The engine itself fails a run in which a byte is wrong, a notification comes before its data or twice, or a
loss is not reported to the program that posted the transfer (docs/reference/rdma-scenario.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.errors import DataError, UserError
from isthmus.roads.rdma.bench import PLATFORM, Transfers, models, scenario

pytestmark = pytest.mark.deterministic

LINKS = 2
HOSTS = 4
PACKET_WORDS = 128
FRAME_WORDS = 134
"""With header, SOP and EOP."""
Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def built() -> dict[str, Path]:
    return models(platforms.load(PLATFORM), "isthmus", LINKS, HOSTS)


@pytest.fixture(scope="module")
def run(built: dict[str, Path]) -> Run:
    """One run; `test` may be one that the command does not offer, `faults` those of the scenario."""

    def one(test: str = "write-lat", faults: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
        seed, wait_us = settings.pop("seed", 7), settings.pop("wait_us", None)
        base = Transfers("write-lat", links=LINKS, seed=seed, inline=0)
        interface, switch = built["rdma_ni"], built["link_switch"]
        made = scenario(platforms.load(PLATFORM), "isthmus", base, interface, switch)
        made["switch"]["ports"] = HOSTS
        settings = {"iterations": 10, "warmup": 2, **settings}
        made["workload"] = {**made["workload"], "test": test, **settings}
        made["faults"] = faults or {}
        if wait_us is not None:
            made["interface"] |= {"probe_us": wait_us, "lost_us": wait_us}
        (found,) = native.run_scenario(made)
        return found

    return one


def _sum(found: dict[str, Any], counter: str) -> int:
    """Of all interfaces."""
    counters = found["counters"]
    return sum(value for name, value in counters.items() if name.startswith("ni") and name.endswith(counter))


@pytest.mark.parametrize("test", ["write-lat", "send-lat"])
def test_the_stages_of_a_transfer_are_its_time(run: Run, test: str) -> None:
    found = run(test)
    parts = dict(found["workload"]["components_ps"])
    total = parts.pop("total")
    assert sum(parts.values()) == total
    assert sum(stage["ps"] for stage in found["stages"]) == found["stages_total_ps"] > total
    assert parts["propagation"] == 640_000, "two hops"
    assert (parts["send_dma"] == 0) == (test == "send-lat"), "a message needs no read of memory"


def test_a_result_says_how_transfers_came_and_claims_no_bytes_that_nothing_counted(run: Run) -> None:
    ping = run()
    assert ping["arrivals"] == "closed-loop"
    assert ping["throughput"] is None or ping["throughput"]["wire_bytes"] is None
    row = run("write-bw", iterations=20, warmup=8)
    assert row["arrivals"] == "backlog"
    assert (row["throughput"]["wire_bytes"], row["throughput"]["wire_bit_s"]) == (None, None)
    assert _trace(run, [[0, 0, 1, "write", 64]])["arrivals"] == "open-loop trace"


def test_a_rate_counts_from_the_look_that_ends_the_warm_up_without_what_it_found(run: Run) -> None:
    found = run("write-bw", iterations=20, warmup=8, hosts=2)
    left_out = found["excluded"]["head"]
    assert left_out >= 8
    counted = 20 + 8 - left_out
    assert found["throughput"]["payload_bytes"] == counted * found["workload"]["size_bytes"]


def test_clock_cycles_are_those_of_all_interfaces_and_switches(run: Run) -> None:
    few, many = (run(hosts=hosts)["simulation"]["device_cycles"] for hosts in (2, 4))
    # The pairs run side by side: four interfaces beside the switches instead of two, for as long.
    assert many > 1.25 * few


def test_each_packet_of_a_transfer_is_followed_from_bus_to_bus(run: Run) -> None:
    found = run(size_bytes=4096)
    packets = found["workload"]["packets"]
    spans = [{s["name"]: (s["begin_ps"], s["end_ps"]) for s in packet["steps"]} for packet in packets]
    assert [(packet["number"], packet["bytes"]) for packet in packets] == [(n, 512) for n in range(8)]
    assert {packet["link"] for packet in packets} == set(range(LINKS))
    for steps in spans:
        begins = [begin for begin, _ in steps.values()]
        assert begins == sorted(begins)
        assert all(begin <= end for begin, end in steps.values())
        # A hop is 25 words of a link, and a packet is there when its last word is.
        assert steps["switch"][0] - steps["link to the switch"][0] == 320_000
        assert steps["link to the switch"][1] > steps["switch"][0]
        assert steps["VOQ"][1] == steps["link to the switch"][0]
        assert steps["switch"][1] == steps["link from the switch"][0]
        assert steps["receive"][1] == steps["write"][0]
    for before, after in pairwise(spans):
        assert after["bus read"][0] > before["bus read"][0]
        assert after["write"][0] >= before["write"][1], "a bus moves one packet at a time"
    assert ["notification" in steps for steps in spans] == 7 * [False] + [True]
    # From the first request for the bus to the last byte over the far bus, as the parts have it.
    posted = spans[0]["descriptor"][0]
    assert max(steps["write"][1] for steps in spans) - posted == found["workload"]["components_ps"]["total"]
    assert spans[-1]["notification"][1] < found["stages_total_ps"]


def test_each_sample_is_kept_where_it_is_asked_for(run: Run) -> None:
    for test, hosts in (("write-lat", [0]), ("write-bw", [0, 1])):
        settings = {"both_ways": test == "write-bw", "iterations": 20}
        found = run(test, keep_samples=True, **settings)
        assert [taken["host"] for taken in found["samples"]] == hosts
        assert all(len(taken["ps"]) == 20 for taken in found["samples"])
        every = [ps for taken in found["samples"] for ps in taken["ps"]]
        latency = found["latency_ps"]
        assert (min(every), max(every)) == (latency["min"], latency["max"])
        assert sum(every) / len(every) == pytest.approx(latency["avg"])
        without = run(test, **settings)
        assert "samples" not in without
        assert without["latency_ps"] == latency, "they cost the programs nothing"


def _trace(run: Run, lines: list[list[Any]], **settings: Any) -> dict[str, Any]:
    longest = max(line[-1] for line in lines)
    settings = {"iterations": len(lines), "size_bytes": longest, "warmup": 0, **settings}
    return run("trace", trace=lines, hosts=HOSTS, keep_samples=True, **settings)


def test_a_trace_is_replayed_at_its_times(run: Run) -> None:
    # Far apart; the same at once to one host; lines may stand in any order.
    lines = [[20_000 * n, n % HOSTS, (n + 1) % HOSTS, "write", 8] for n in range(8)]
    found = _trace(run, lines[::-1])
    assert [taken["host"] for taken in found["samples"]] == [0, 1, 2, 3]
    alone = found["latency_ps"]
    assert alone["max"] < 3_000_000, "none waits for another, and flows are open"
    assert alone["max"] - alone["min"] < 100_000
    assert found["throughput"]["elapsed_ps"] == pytest.approx(7 * 20_000_000 + alone["avg"], abs=200_000)
    assert found["throughput"]["payload_bytes"] == found["checked"]["bytes"] - 4 * 8 == 64
    crowd = _trace(run, [[0, n, 0, "write", 4096] for n in (1, 2, 3) for _ in range(4)])
    # Twelve times 4096 bytes over two links of 312.5 MB/s each, the bus's time for a descriptor being less.
    assert crowd["throughput"]["elapsed_ps"] > 12 * 4096 / 625 * 1e6
    assert crowd["latency_ps"]["max"] > 12 * 4096 / 625 * 1e6
    for taken in crowd["samples"]:
        assert taken["ps"] == sorted(taken["ps"]), "a host's transfers wait for each other"


def test_every_kind_of_a_trace_arrives_and_inline_is_first(run: Run) -> None:
    kinds = ("write", "inline", "message")
    lines = [[10_000 * n, 0, 1, kind, 64] for n, kind in enumerate(kinds)]
    found = _trace(run, lines)
    (taken,) = found["samples"]
    write, inline, message = taken["ps"]
    assert inline < min(write, message), "no read of memory, and no program that has to look"
    assert found["counters"]["trace.messages_received"] == 1
    assert found["counters"]["trace.writes_notified"] == 3, "one of them opens the flow"


def test_as_many_packets_are_reported_as_were_lost_whatever_the_bit_errors_hit(run: Run) -> None:
    # A third of all packets is hit on its way, reports and acknowledgements as well.
    lines = [[1_000 * n, n % HOSTS, (n + 1) % HOSTS, "write", 8] for n in range(12)]
    openers = 0
    for seed in (1, 2, 3):
        found = _trace(run, lines, faults={"bit_error_rate": 1e-3}, seed=seed, wait_us=100)
        counters = found["counters"]
        lost = _sum(found, ".packets_lost") + _sum(found, ".packets_refused")
        assert counters["trace.reports"] == lost > 0
        arrived = sum(len(taken["ps"]) for taken in found["samples"])
        assert counters["trace.writes"] == len(lines) + HOSTS
        right = counters["trace.writes_notified"] - counters["trace.writes_told_failed"]
        openers += right - arrived
    assert openers < 3 * HOSTS, "a trace begins although a write that opens a flow is lost"


def test_seven_senders_fill_one_queue_and_each_hears_of_every_message_that_found_no_room() -> None:
    hosts, each = 8, 60
    made = models(platforms.load(PLATFORM), "isthmus", 1, hosts)
    base = Transfers("write-lat", hosts=hosts, seed=7, inline=0)
    one = scenario(platforms.load(PLATFORM), "isthmus", base, made["rdma_ni"], made["link_switch"])
    lines = [[1_000 * n, source, 0, "message", 64] for n in range(each) for source in range(1, hosts)]
    sent = len(lines)
    settings = {"trace": lines, "iterations": sent, "size_bytes": 64, "warmup": 0, "keep_samples": True}
    one["workload"] = {**one["workload"], "test": "trace", **settings}
    # The program of host 0 takes nothing until all have sent.
    one["faults"] = {"stalls": [[0, 100_000, 1_000_000]]}
    (found,) = native.run_scenario(one)
    counters = found["counters"]
    missing = counters["trace.messages_missing"]
    # 256 slots of which one stays empty.
    assert counters["trace.messages_received"] == sent - missing == 255
    assert counters["trace.reports"] == missing == counters["ni0.packets_refused"]
    assert {taken["host"] for taken in found["samples"]} <= set(range(1, hosts))
    assert sum(len(taken["ps"]) for taken in found["samples"]) == 255 == found["iterations"]


def test_packets_of_one_link_follow_each_other_on_it(run: Run) -> None:
    packets = run(size_bytes=4096)["workload"]["packets"]
    for link in range(LINKS):
        mine = [packet["steps"] for packet in packets if packet["link"] == link]
        out = [next(s for s in steps if s["name"] == "link to the switch") for steps in mine]
        for before, after in pairwise(out):
            # Of both the hop is a part: what is left is the time on the link.
            assert after["begin_ps"] >= before["end_ps"] - 320_000


def test_a_message_is_one_packet_that_nothing_is_read_for(run: Run) -> None:
    (packet,) = run("send-lat", size_bytes=504)["workload"]["packets"]
    names = [step["name"] for step in packet["steps"]]
    assert packet["bytes"] == 504
    assert names[0] == "message"
    assert names[-1] == "notification", "its frame word"
    assert "bus read" not in names
    (packet,) = run("send-lat", size_bytes=504, packed=True)["workload"]["packets"]
    assert packet["steps"][-1]["name"] == "write", "a packed queue has no frame words"


def test_what_has_many_descriptors_adds_up_and_is_not_shown_by_packet(run: Run) -> None:
    found = run(size_bytes=65_536, iterations=2)
    parts = dict(found["workload"]["components_ps"])
    assert sum(parts.values()) == 2 * parts["total"]
    assert found["workload"]["packets"] == []


def test_a_message_is_there_before_a_write_of_the_same_size(run: Run) -> None:
    message, write = (run(test)["workload"]["components_ps"]["total"] for test in ("send-lat", "write-lat"))
    assert message < write


def test_a_write_with_its_data_inline_waits_for_no_read(run: Run) -> None:
    inline, read = (run(size_bytes=64, inline_bytes=size) for size in (64, 56))
    assert (inline["method"], read["method"]) == ("write-lat-inline", "write-lat")
    parts, others = (one["workload"]["components_ps"] for one in (inline, read))
    assert parts["send_dma"] == 0
    assert parts["total"] < others["total"] - 200_000
    (packet,) = inline["workload"]["packets"]
    names = [step["name"] for step in packet["steps"]]
    assert (names[0], names[-1]) == ("inline write", "notification")
    assert "bus read" not in names
    assert packet["bytes"] == 64


def test_inline_writes_of_every_length_are_right_to_the_last_byte(run: Run) -> None:
    for size, post_list in ((8, 1), (504, 1), (120, 16)):
        found = run(
            "write-bw", size_bytes=size, inline_bytes=504, iterations=200, warmup=20, post_list=post_list,
            both_ways=True,
        )  # fmt: skip
        assert found["checked"]["bytes"] == 2 * 220 * size
        assert sum(v for k, v in found["counters"].items() if k.endswith(".records_lost")) == 0


def test_combined_stores_begin_a_transfer_earlier(run: Run) -> None:
    combined, single = (run(combined=which)["workload"]["components_ps"] for which in (True, False))
    assert combined["send_initiation"] == 120_000, "12 clocks of PCI-X: one transaction of 16 bytes"
    assert single["send_initiation"] >= 390_000, "four of one word"


def test_two_links_carry_98_percent_of_what_they_can(run: Run) -> None:
    found = run("write-bw", size_bytes=4096, iterations=200, warmup=150)
    assert found["workload"]["link_share"] >= 0.98 * PACKET_WORDS / FRAME_WORDS


def test_batches_that_wait_for_each_other_lose_to_a_ring(run: Run) -> None:
    rates = {
        posting: run("one-way", size_bytes=512, iterations=300, warmup=140, posting=posting)["throughput"]
        for posting in ("v1", "v2")
    }
    assert rates["v1"]["payload_bit_s"] < 0.8 * rates["v2"]["payload_bit_s"]


def test_both_directions_at_once_are_right_to_the_last_byte(run: Run) -> None:
    for test in ("write-bw", "send-bw"):
        found = run(test, size_bytes=256, iterations=300, warmup=20, both_ways=True)
        assert found["checked"]["bytes"] == 2 * 320 * 256


def test_lists_of_writes_are_right_to_the_last_byte(run: Run) -> None:
    found = run("write-bw", size_bytes=264, iterations=600, warmup=40, post_list=16)
    assert found["checked"]["bytes"] == 640 * 264


def test_messages_in_lists_are_right_to_the_last_byte_and_faster(run: Run) -> None:
    rates = {}
    for post_list in (1, 16):
        found = run("send-bw", size_bytes=8, iterations=2_000, warmup=40, both_ways=True, post_list=post_list)
        assert found["checked"]["bytes"] == 2 * 2_040 * 8
        rates[post_list] = found["throughput"]["payload_bit_s"]
    assert rates[16] > 1.4 * rates[1]


def test_messages_may_overtake_each_other_over_two_links_and_all_come(run: Run) -> None:
    found = run("send-bw", size_bytes=8, iterations=1_000, warmup=20)
    assert found["checked"]["bytes"] == 1_020 * 8


def test_everything_that_is_posted_to_everybody_arrives_once(run: Run) -> None:
    found = run("soak", hosts=HOSTS, size_bytes=2048, iterations=400, warmup=0)
    counted = found["counters"]
    assert counted["soak.writes"] == counted["soak.writes_notified"] > 900
    assert counted["soak.messages"] == counted["soak.messages_received"] > 400
    assert counted["soak.reports"] == counted["soak.writes_told_failed"] == 0
    assert _sum(found, ".packets_sent") == _sum(found, ".packets_taken") == _sum(found, ".packets_retired")


def test_bit_errors_and_lost_credits_cost_what_they_hit_and_are_reported(run: Run) -> None:
    faults = {
        "bit_error_rate": 3e-7,
        "credit_loss_rate": 0.1,
        "credit_corrupt_rate": 0.1,
        "resets": [[1, 0, 40_000, 3_000], [0, 1, 60_000, 2_000]],
    }
    found = run("soak", faults, hosts=HOSTS, size_bytes=2048, iterations=300, warmup=0)
    counted = found["counters"]
    assert counted["links.bit_errors"] > 20
    assert counted["links.credits_lost"] > 1_000
    assert counted["links.resets"] == 4, "two links, either way"
    lost = _sum(found, ".packets_lost")
    assert lost > 0
    assert counted["soak.reports"] == lost + _sum(found, ".packets_refused")
    assert counted["soak.writes_told_failed"] > 0


@pytest.mark.parametrize("seed", [1, 2])
def test_no_wrong_byte_is_ever_in_memory_where_half_of_all_packets_are_hit(run: Run, seed: int) -> None:
    # More than the error rings hold: what finds no place there is in the completion words all the same.
    settings = {"hosts": HOSTS, "size_bytes": 2048, "iterations": 300, "warmup": 0, "wait_us": 100}
    found = run("soak", {"bit_error_rate": 1e-4}, seed=seed, **settings)
    counted = found["counters"]
    lost, sent = _sum(found, ".packets_lost"), _sum(found, ".packets_sent")
    assert 0.4 * sent < lost < 0.6 * sent
    assert counted["soak.refusals_known"] == lost + _sum(found, ".packets_refused")
    assert _sum(found, ".records_lost") > 0
    assert _sum(found, ".packets_refused") == 0, "no header is looked at before its check sum was good"
    assert counted["soak.writes_notified"] > counted["soak.writes_told_failed"] > 0


def test_a_program_that_stops_taking_messages_has_them_refused_and_the_senders_told(run: Run) -> None:
    found = run(
        "soak", {"stalls": [[2, 200_000, 2_500_000]]}, hosts=HOSTS, size_bytes=64, iterations=1_000, warmup=0
    )
    counted = found["counters"]
    refused = _sum(found, ".packets_refused")
    assert refused > 0
    assert counted["soak.messages_missing"] == refused == counted["soak.reports"]
    assert counted["soak.writes_notified"] == counted["soak.writes"]


def test_forged_keys_and_addresses_change_no_byte_and_are_reported_to_who_posted_them(run: Run) -> None:
    found = run("soak", {"forged_rate": 0.2}, hosts=HOSTS, size_bytes=1024, iterations=400, warmup=0)
    counted = found["counters"]
    assert counted["soak.writes_forged"] == counted["soak.writes_refused"] == counted["soak.reports"] > 250
    assert counted["soak.writes_forged"] == _sum(found, ".packets_refused")
    assert counted["soak.writes_notified"] == counted["soak.writes"] > 600
    assert counted["soak.messages_received"] == counted["soak.messages"] > 300


def test_an_interface_that_is_reset_breaks_its_own_flows_alone(run: Run) -> None:
    found = run(
        "soak", {"node_resets": [[1, 450_000, 50]]}, hosts=HOSTS, size_bytes=512, iterations=500, warmup=0
    )
    assert _sum(found, ".sessions_failed") > 0
    assert found["counters"]["soak.writes_notified"] > 900


def test_an_exchange_and_a_sort_over_all_hosts_are_right(run: Run) -> None:
    exchange = run("exchange", hosts=HOSTS, size_bytes=512, iterations=3, warmup=1)
    assert exchange["checked"]["bytes"] == 4 * HOSTS * HOSTS * 512
    phases = exchange["workload"]["phases_ps"]
    assert 0 < phases["post"] < phases["network"]
    assert phases["wait"] > 0
    sort = run("sort", hosts=HOSTS, size_bytes=512, iterations=6, warmup=0)
    assert sort["checked"]["bytes"] == HOSTS * 6 * 512
    phases = sort["workload"]["phases_ps"]
    assert sum(phases.values()) == sort["latency_ps"]["max"]
    assert phases["compute"] > 0


def test_one_seed_gives_one_result(run: Run) -> None:
    runs = [
        run("soak", {"bit_error_rate": 1e-6}, hosts=2, size_bytes=256, iterations=100, warmup=0) for _ in "ab"
    ]
    for found in runs:
        found.pop("simulation")
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size_bytes": 12}, "workload.size_bytes: 12: a multiple of 8 from 8 to 1048576 expected"),
        ({"test": "send-lat", "size_bytes": 512}, "workload.size_bytes: 512: a multiple of 8 from 8 to 504"),
        ({"hosts": 3}, "workload.hosts: 3: pairs send to each other"),
        ({"hosts": 5}, "workload.hosts: 5 is outside 2 to 4"),
        ({"inline_bytes": 505}, "workload.inline_bytes: 505"),
        (
            {"test": "send-lat", "inline_bytes": 8},
            "workload.inline_bytes: send-lat: only put, write-lat and write-bw",
        ),
        ({"post_list": 4}, "workload.post_list: 4: write-lat hands over one at a time"),
        ({"test": "send-bw", "post_list": 65}, "workload.post_list: 65: 1 to 64 expected"),
        ({"both_ways": True}, "workload.both_ways: a latency test goes there and back already"),
        (
            {"faults": {"stalls": [[0, 1, 1]]}},
            "faults.stalls: only a soak and a trace know programs that stop",
        ),
        (
            {"faults": {"node_resets": [[0, 1, 1]]}},
            "faults.node_resets: only a soak knows resets and forgeries",
        ),
        (
            {"test": "trace"},
            "workload.trace: transfers one by one belong to the test trace, and it needs them",
        ),
        ({"trace": [[0, 0, 1, "write", 8]]}, "workload.trace: transfers one by one belong to the test trace"),
        (
            {"test": "trace", "size_bytes": 64, "trace": [[0, 0, 1, "write", 8], [0, 0, 2, "write", 8]]},
            "workload.trace[1]: from 0 to 2: two of 2 hosts expected",
        ),
        (
            {"test": "trace", "size_bytes": 64, "trace": [[0, 0, 1, "message", 72]]},
            "workload.trace[0]: 72: a multiple of 8 from 8 to 64 expected",
        ),
        (
            {"test": "trace", "trace": [[0, 0, 1, "write", 8]]},
            "workload.iterations: 10: the trace has 1 transfers",
        ),
        ({"colour": 1}, "unknown field `colour`"),
    ],
)
def test_a_wrong_scenario_is_one_line_that_names_the_key(run: Run, settings: Any, message: str) -> None:
    with pytest.raises((DataError, UserError)) as caught:
        run(**settings)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("clock_mhz", [43.1, 50.0, 200 / 3, 133.3, 156.25])
def test_a_host_clock_below_or_above_the_links_loses_and_changes_nothing(clock_mhz: float) -> None:
    """PCI-X at 66 MHz and at 133 MHz beside links at 78.125 MHz, and from the least ratio, 0.55, to 2."""
    platform = platforms.load(PLATFORM)
    clock = replace(platform.fpga.clock, value=clock_mhz)
    platform = replace(platform, fpga=replace(platform.fpga, clock=clock))
    made = models(platform, "isthmus", 1, 2)
    for test, size, count in (("send-bw", 64, 800), ("send-lat", 8, 100), ("write-bw", 512, 100)):
        transfers = Transfers(test, size=size, iterations=count, warmup=0, links=1, seed=3)  # type: ignore[arg-type]
        (found,) = native.run_scenario(
            scenario(platform, "isthmus", transfers, made["rdma_ni"], made["link_switch"])
        )
        assert (found["checked"]["wrong"], found["checked"]["lost"]) == (0, 0)
        assert found["checked"]["bytes"] >= count * size


def test_a_host_clock_at_which_a_link_would_read_too_early_is_refused(built: dict[str, Path]) -> None:
    transfers = Transfers("send-lat", size=8, links=LINKS, iterations=1, warmup=0)
    made = scenario(platforms.load(PLATFORM), "isthmus", transfers, built["rdma_ni"], built["link_switch"])
    made["interface"]["clock_mhz"] = made["platform"]["bus"]["pcix"]["clock_mhz"] = 40.0
    with pytest.raises(
        UserError, match=r"interface.clock_mhz: 40 MHz beside links of 78.125 MHz: 43.0 or more"
    ):
        native.run_scenario(made)
