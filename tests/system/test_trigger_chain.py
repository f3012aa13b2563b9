# SPDX-License-Identifier: Apache-2.0
"""A trigger on rings, whole: events by four links into memory, rings found there, answers out by pins.

The engine finds the rings of what it sends before it sends it, and refuses a run in which an answer is wrong
or missing. Here is what times, rates and counts must be. Times of steps are made up, so that they are known.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.bench.runner import model
from isthmus.errors import UserError
from isthmus.roads.nanet import bench
from isthmus.roads.nanet.chain import Chain, commodity, parameters, scenario
from isthmus.roads.nanet.platform import top
from isthmus.trigger.times import Times

pytestmark = pytest.mark.deterministic

Run = Callable[..., dict[str, Any]]

SIZES, FINDERS, LAYOUTS = (2, 4, 8, 20), ("isthmus", "almagest"), ("packed", "tel62")
MADE_UP = {
        **{f"handover/{words}": [(100, 1)] for words in (1, 2, 4, 5)},
        **{f"merge/{layout}/{n}": [(200, 1)] for layout in LAYOUTS for n in SIZES},
        **{f"find/{finder}/{n}": [(2_000, 9), (4_000, 1)] for finder in FINDERS for n in SIZES},
        **{f"fit/isthmus/{n}": [(1_000, 1)] for n in SIZES},
}  # fmt: skip
TIMES = Times("made up", "", "reference", 1, "none", None, 8, MADE_UP, {name: [(50, 1)] for name in MADE_UP})
"""Finding takes 2 us, and 4 us of each tenth group; fitting given candidates takes 1 us. Without noise each
step takes 50 ns."""


@pytest.fixture(scope="module")
def run() -> Run:
    """One run. `settings` are the chain's."""
    built: dict[str, Path] = {}

    def one(
        profile: str = "isthmus",
        platform_name: str = bench.PLATFORM,
        workload: dict[str, Any] | None = None,
        faults: dict[str, int] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        platform = platforms.load(platform_name)
        chain = Chain(
            **{"rate_per_s": 4e6, "groups": 150, "seed": 5, "share": settings.get("events", 8), **settings}
        )
        which = f"{platform_name} {profile} {chain.place} {chain.merge}"
        if which not in built:
            built[which] = model(top(platform), parameters(platform, profile, chain))  # type: ignore[arg-type]
        made = scenario(platform, profile, chain, TIMES, built[which])  # type: ignore[arg-type]
        made["workload"] |= workload or {}
        made["faults"] = faults or {}
        (found,) = native.run_scenario(made)
        return found

    return one


def ns(found: dict[str, Any], part: str, figure: str) -> float:
    """A figure of a part of the way."""
    return float(found["workload"]["parts_ps"][part][figure]) / 1e3


@pytest.mark.parametrize("layout", ["packed", "tel62"])
def test_every_event_is_answered_and_its_way_adds_up(run: Run, layout: str) -> None:
    found = run(format=layout, rate_per_s=1e6, events=4)
    assert found["checked"]["lost"] == 0
    # 32 groups before, 150 that count, 16 after; a word each event.
    assert found["checked"]["bytes"] == 4 * 4 * (32 + 150 + 16)
    assert found["stages_total_ps"] == sum(stage["ps"] for stage in found["stages"])
    assert found["workload"]["late"] == 0
    delivered = sum(found["counters"][f"port{port}.delivered"] for port in range(4))
    assert delivered == (32 + 150 + 16) * (4 if layout == "tel62" else 1)


def test_two_links_of_10_gigabit_carry_what_four_of_1_gigabit_cannot(run: Run) -> None:
    """20 million events a second: 9.6 million fill the four."""
    settings = {"rate_per_s": 20e6, "events": 8, "share": 2, "cores": 64}
    found = run(platform_name="nanet-10g", **settings)
    assert found["checked"] == {"bytes": 4 * 8 * (32 + 150 + 16), "wrong": 0, "lost": 0}
    assert (found["workload"]["saturated"], found["workload"]["late"]) == (False, 0)
    assert [found["counters"][f"port{port}.delivered"] for port in range(2)] == [99, 99]
    assert run(**settings)["workload"]["saturated"]


def test_the_published_interface_answers_later_by_its_firmware(run: Run) -> None:
    """Its program takes 4.6 to 6 us for a buffer, and one datagram after the other."""
    published, own = (run(profile=one, rate_per_s=2e5) for one in ("as-published", "isthmus"))
    assert published["checked"]["lost"] == own["checked"]["lost"] == 0
    longer = ns(published, "seen", "p50") - ns(own, "seen", "p50")
    assert 4_600 < longer < 8_000


def test_what_the_published_interface_cannot_take_is_lost_and_counted(run: Run) -> None:
    """A datagram every 0.4 us, where its firmware needs 5: queues overflow, and events get no answer.
    A loss that no port counts would be in `checked`."""
    found = run(profile="as-published", rate_per_s=2e7, groups=400)
    overflow = sum(found["counters"][f"port{port}.overflow"] for port in range(4))
    assert found["workload"]["lost"] == 8 * overflow > 0
    assert found["checked"]["lost"] == 0


def test_the_interface_merges_as_the_program_does(run: Run) -> None:
    """Each record is compared by the engine; here is what it saves, and that nothing is left over."""
    settings = {"format": "tel62", "rate_per_s": 1e6, "events": 8, "sample": "noisy"}
    own, program = (run(merge=merge, **settings) for merge in ("fpga", "cpu"))
    for found in (own, program):
        assert found["checked"]["lost"] == 0
        assert found["checked"]["bytes"] == 4 * 8 * (32 + 150 + 16)
    counters = own["counters"]
    assert counters["merge.events"] == 8 * (32 + 150 + 16)
    assert counters["merge.incomplete_events"] == 0
    names = ("late", "repeated", "missing", "other_time", "malformed", "refused")
    assert not any(counters[f"port{port}.merge_{name}"] for port in range(4) for name in names)
    # One datagram a group instead of four.
    assert [counters[f"port{port}.delivered"] for port in range(4)] == [32 + 150 + 16, 0, 0, 0]
    busy = [found["workload"]["busy"]["merger"] for found in (own, program)]
    assert busy[0] == pytest.approx(busy[1] / 4, rel=0.05)


def lossy(run: Run, rate: float, groups: int, **workload: Any) -> tuple[dict[str, Any], int, int]:
    """A run in which the second board's datagram of each 20th group is lost; its groups; those that lost."""
    settings = {"format": "tel62", "rate_per_s": rate, "groups": groups, "events": 8, "merge": "fpga"}
    found = run(faults={"lost_every": 20}, workload=workload, **settings)
    total = 32 + groups + 16
    return found, total, total // 20


def test_events_that_lost_a_board_on_the_wire_leave_without_it_and_are_answered(run: Run) -> None:
    """The engine compares their records, which have the other boards' hits, and their rings.

    They leave when the board's next datagram has later events.
    """
    found, total, lost = lossy(run, 0.5e6, 150)
    counters = found["counters"]
    assert counters["merge.events"] == 8 * total
    assert counters["merge.incomplete_events"] == 8 * lost
    assert counters["merge.incomplete"] == lost
    assert [counters[f"port{port}.merge_missing"] for port in range(4)] == [0, 8 * lost, 0, 0]
    for name in ("late", "repeated", "other_time", "malformed", "refused"):
        assert not any(counters[f"port{port}.merge_{name}"] for port in range(4)), name
    assert [counters[f"port{port}.frames_good"] for port in range(4)] == [total, total - lost, total, total]
    # Every event is answered, these too, before the time that they would wait at the most.
    assert found["checked"] == {"bytes": 4 * 8 * total, "wrong": 0, "lost": 0}
    assert found["workload"]["event_to_answer"]["latency_ps"]["max"] < 100e6


@pytest.mark.release
def test_without_a_later_datagram_they_leave_by_their_wait(run: Run) -> None:
    """A group is 160 us on the average: the wait of 100 us, 20,000 clocks, ends before the next comes."""
    found, total, lost = lossy(run, 5e4, 10, may_lose=True)
    counters = found["counters"]
    assert counters["merge.events"] == 8 * total
    late = [counters[f"port{port}.merge_late"] for port in range(4)]
    # A board that was given up is not waited for until it comes again: its next group's first event may
    # leave without it. That group has no answer here, for the engine sent all of it.
    assert late[0] == late[2] == late[3] == 0
    assert late[1] <= lost
    assert counters["port1.merge_missing"] == counters["merge.incomplete_events"] == 8 * lost + late[1]
    assert found["checked"]["lost"] == 4 * 8 * late[1]
    assert found["workload"]["event_to_answer"]["latency_ps"]["max"] > 100e6


@pytest.mark.parametrize(("settings", "what"), [({"format": "packed"}, "tel62"), ({"events": 20}, "18")])
def test_what_cannot_be_merged_is_refused(run: Run, settings: dict[str, Any], what: str) -> None:
    with pytest.raises(UserError, match=what):
        run(**{"format": "tel62", "merge": "fpga", **settings})


def test_each_step_takes_what_was_measured(run: Run) -> None:
    found = run()
    assert (ns(found, "find", "min"), ns(found, "find", "max")) == (2_000, 4_000)
    assert ns(found, "merge", "min") == 200
    # From core to core, and then a core is free.
    assert ns(found, "core", "min") == 100
    # A datagram is in the program within a microsecond; eight answers are stores of some ten ns.
    assert 300 <= ns(found, "seen", "min") <= 700
    assert 300 <= ns(found, "answer", "min") <= 1_000


def test_a_group_is_shared_among_cores(run: Run) -> None:
    whole, quarters = (run(share=share, rate_per_s=1e6, cores=16) for share in (8, 2))
    for found in (whole, quarters):
        assert found["checked"]["bytes"] == 4 * 8 * (32 + 150 + 16)
        assert found["stages_total_ps"] == sum(stage["ps"] for stage in found["stages"])
    # A core is busy for as long with its share as another one with all: the times are made up.
    times_as_busy = quarters["workload"]["busy"]["cores"] / whole["workload"]["busy"]["cores"]
    assert 3 < times_as_busy < 4.2
    # Eight answers are eight stores, whoever makes them.
    assert ns(quarters, "answer", "p50") <= ns(whole, "answer", "p50")
    # The last of four is one of the slow tenth oftener than one alone.
    assert ns(whole, "find", "avg") < ns(quarters, "find", "avg") <= 4_000


def test_without_noise_times_are_the_data_s_own(run: Run) -> None:
    found = run(noise=False)
    assert (ns(found, "find", "max"), ns(found, "merge", "max"), ns(found, "core", "min")) == (50, 50, 50)
    assert found["workload"]["noise"] is False
    assert run()["workload"]["noise"] is True


def test_a_free_core_is_waited_for(run: Run) -> None:
    # Eight events every 2 us, and 2.2 us for them: one core is not enough, two are.
    short, enough = (run(cores=cores, groups=200) for cores in (1, 2))
    assert short["workload"]["busy"]["cores"] > 0.95
    assert ns(short, "core", "max") > 10_000 > ns(enough, "core", "max")
    assert short["workload"]["late"] >= enough["workload"]["late"] == 0


def test_four_links_carry_ten_million_events_and_no_more(run: Run) -> None:
    below, above = (run(rate_per_s=rate, events=20, groups=400, cores=32) for rate in (8e6, 16e6))
    assert below["throughput"]["cycles_per_s"] == pytest.approx(8e6, rel=0.05)
    assert not below["workload"]["saturated"]
    # The wire is never idle: preamble, headers and gap are 66 bytes of each datagram.
    assert above["workload"]["busy"]["wire"] > 0.98
    size = above["workload"]["bytes_an_event"]
    assert above["throughput"]["cycles_per_s"] == pytest.approx(500e6 / (size + 66 / 20), rel=0.02)
    # What the wire cannot take waits at the detector, not in the interface.
    assert above["latency_ps"]["max"] < 2 * below["latency_ps"]["max"]
    waited = [one["workload"]["event_to_answer"]["latency_ps"]["max"] for one in (below, above)]
    assert waited[1] > 3 * waited[0]


def test_an_answer_behind_the_fixed_latency_is_late(run: Run) -> None:
    ages = run()["workload"]["event_to_answer"]["latency_ps"]
    none, some, all_ = (
        run(release_us=us)["workload"] for us in (ages["max"] / 1e6 + 0.001, ages["typical"] / 1e6, 0.5)
    )
    assert none["late"] == 0
    assert 0 < some["late"] < some["counted_events"]
    assert all_["late"] == all_["counted_events"] == 150 * 8


def test_the_interface_releases_each_answer_in_its_clock_or_counts_it(run: Run) -> None:
    """Every change of the lines is compared with the events in the engine."""
    in_time = run(rate_per_s=4e6)["counters"]
    assert in_time["release.released"] == in_time["release.clocks"] > 1000
    assert in_time["release.late"] == in_time["release.early"] == in_time["release.lost"] == 0
    typical = run()["workload"]["event_to_answer"]["latency_ps"]["typical"]
    some = run(release_us=typical / 1e6)
    counters = some["counters"]
    assert counters["release.released"] == counters["release.clocks"] > 100
    # Of all groups, not of those that count alone; what comes in the last clocks is late for the gateware.
    assert counters["release.late"] >= some["workload"]["late"] > 100
    assert counters["release.early"] == counters["release.lost"] == 0
    # A longer time than the slots have is the engine's alone.
    assert "release.released" not in run(release_us=200.0)["counters"]


def test_one_seed_is_one_result(run: Run) -> None:
    one, other, another = run(), run(), run(seed=6)
    for each in (one, other, another):
        each.pop("simulation")
    assert one == other
    assert one["latency_ps"] != another["latency_ps"]


def test_the_published_interface_is_slower_by_its_firmware(run: Run) -> None:
    slow, fast = (run(profile, rate_per_s=0.5e6) for profile in ("as-published", "isthmus"))
    # Less than the whole of it: the datagrams are short, and two stores of a short one cost little.
    assert 4_600 <= ns(slow, "seen", "min") - ns(fast, "seen", "min") <= 7_000


@pytest.mark.release
def test_the_interface_s_candidates_give_the_cores_answers(run: Run) -> None:
    """Every candidate is compared with the model's by the engine, every answer with the finder's."""
    cores, interface = (run(place=place, groups=400) for place in ("cpu", "fpga"))
    one, other = cores["workload"], interface["workload"]
    assert interface["checked"]["lost"] == 0
    assert other["quality"] == one["quality"]
    assert one["quality"]["efficiency"][0] > 0.99
    assert one["quality"]["fakes"] < 0.1 < other["candidates"]["fakes"]
    assert (ns(interface, "find", "min"), ns(interface, "find", "max")) == (1_000, 1_000)
    # The search ends within some hundred clocks of the last hit: 4 ns each, and 200 MHz for the rest.
    assert 100 < ns(interface, "seen", "p50") - ns(cores, "seen", "p50") < 2_000
    # A datagram of candidates behind each one of events.
    delivered = [
        sum(made["counters"][f"port{port}.delivered"] for port in range(4)) for made in (cores, interface)
    ]
    assert delivered[1] == 2 * delivered[0]
    # At its limit, the wire's, the search keeps up: nothing is lost.
    full = run(place="fpga", rate_per_s=12e6, groups=400)
    assert full["checked"]["lost"] == 0
    assert full["workload"]["busy"]["wire"] > 0.97


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"share": 3}, r"share: 3; expected a divisor of the 8 events of a group"),
        ({"share": 1}, r"handover/8: not measured on made up; measured sizes: 1, 2, 4, 5"),
        ({"place": "gpu"}, r"place: gpu; expected one of cpu, fpga"),
        ({"place": "fpga", "format": "tel62"}, r"place: fpga needs whole events on a link"),
        ({"place": "fpga", "finder": "almagest"}, r"place: fpga finds the candidates of isthmus"),
    ],
)
def test_a_place_that_cannot_search_is_refused_before_anything_is_built(
    settings: dict[str, Any], message: str
) -> None:
    platform = platforms.load(bench.PLATFORM)
    with pytest.raises(UserError, match=message):
        scenario(platform, "isthmus", Chain(1e6, **settings), TIMES, Path("none"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sample": "none"}, r'chain\.sample: "none": expected one of reference'),
        ({"format": "tel62", "events": 20}, r"chain\.events: 20: one group has \d+ bytes on a link"),
        ({"faults": {"lost_every": 2}}, r"faults\.lost_every: a lost datagram needs"),
        ({"groups": 900_000, "events": 20}, r"workload\.iterations: \d+ groups of 20 events: at most 2\^24"),
        ({"workload": {"datagrams": 2, "flush_us": 1.0}}, r"workload\.datagrams: a chain's buffer holds"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(run: Run, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        run(**settings)


def test_the_path_without_the_interface_has_the_published_percentiles() -> None:
    platform = platforms.load(bench.PLATFORM)
    (found,) = native.run_scenario(commodity(platform))
    part = found["workload"]["parts_ps"]["receive"]
    published = platform.groups["commodity"]
    for key in ("p50", "p90", "p99"):
        assert part[key] / 1e6 == pytest.approx(getattr(published, key).value, rel=0.03), key
    # A few of all draws decide it, where the distribution is steep: between its neighbours.
    assert published.p99_5.value < part["p99.9"] / 1e6 < published.p99_99.value
    fixed = published.copies.value + published.processing.value
    assert found["latency_ps"]["p50"] / 1e6 == pytest.approx(published.p50.value + fixed, rel=0.01)
    assert found["stages_total_ps"] == sum(stage["ps"] for stage in found["stages"])
