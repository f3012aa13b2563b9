# SPDX-License-Identifier: Apache-2.0
"""UDP into registered memory: the interface between Gigabit sources and a host on PCI Express.

The engine compares every byte and refuses a run that loses a datagram; here is what rates, times and
counters must be.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.bench.runner import model
from isthmus.bench.session import Session
from isthmus.errors import UserError
from isthmus.results import Measurement
from isthmus.roads.nanet.bench import (
    PLATFORM,
    SEND,
    Point,
    Stream,
    measure,
    parameters,
    scenario,
    scenarios,
)
from isthmus.roads.nanet.platform import top

pytestmark = pytest.mark.deterministic

Run = Callable[..., dict[str, Any]]
PS_PER_CYCLE = 5_000
"""Of 200 MHz."""
TEN_GIGABIT = "nanet-10g"


@pytest.fixture(scope="module")
def run() -> Run:
    """One run. `settings` go into the workload, `groups` replace constants of the platform's tables."""
    built: dict[tuple[str, str, int, bool], Path] = {}

    def one(
        profile: str = "isthmus",
        ports: int = 1,
        faults: dict[str, int] | None = None,
        groups: dict[str, dict[str, Any]] | None = None,
        skip_idle: bool = True,
        page_kib: int = 0,
        where: str = PLATFORM,
        without: str = "",
        noise: dict[str, Any] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        platform = platforms.load(where)
        key = where, profile, ports, page_kib != 0
        if key not in built:
            built[key] = model(top(platform), parameters(platform, profile, ports, page_kib))  # type: ignore[arg-type]
        stream = Stream(ports=ports, iterations=60, page_kib=page_kib, seed=5)
        made = scenario(platform, profile, stream, built[key], faults=faults or {})  # type: ignore[arg-type]
        made["skip_idle"] = skip_idle
        made["noise"] = noise
        if "rate_per_s" in settings:
            del made["workload"]["window"]
        made["workload"] |= settings
        for name, constants in (groups or {}).items():
            made["platform"][name] |= constants
        made["platform"].pop(without, None)
        (found,) = native.run_scenario(made)
        return found

    return one


def lost(found: dict[str, Any], name: str) -> int:
    """A counter of the interface, over all ports."""
    return sum(
        count
        for key, count in found["counters"].items()
        if key.startswith("port") and key.endswith(f".{name}")
    )


@pytest.mark.parametrize("profile", ["isthmus", "as-published"])
def test_the_stages_of_a_datagram_are_its_latency(run: Run, profile: str) -> None:
    found = run(profile)
    assert found["stages_total_ps"] == sum(stage["ps"] for stage in found["stages"])
    assert found["latency_ps"]["min"] <= found["stages_total_ps"] <= found["latency_ps"]["max"]
    assert found["checked"]["wrong"] == found["checked"]["lost"] == 0


def test_cut_through_is_even_to_two_cycles(run: Run) -> None:
    parts = run()["workload"]["parts_ps"]
    assert parts["after_frame"]["max"] - parts["after_frame"]["min"] <= 2 * PS_PER_CYCLE
    assert parts["after_frame"]["max"] <= 150_000
    assert parts["to_program"]["max"] <= 2_500_000


def test_as_published_only_the_firmware_varies(run: Run) -> None:
    parts = run("as-published")["workload"]["parts_ps"]
    for stable in ("udp", "work"):
        assert parts[stable]["max"] == parts[stable]["min"]
    spread = {name: parts[name]["max"] - parts[name]["min"] for name in ("wake", "inside")}
    assert abs(spread["inside"] - spread["wake"]) <= 2 * PS_PER_CYCLE
    # The stages overlap: they take longer than the whole.
    assert sum(parts[name]["avg"] for name in ("udp", "wake", "work", "write")) > parts["inside"]["avg"] + 1e6


@pytest.mark.parametrize(("ports", "least"), [(1, 119.6), (4, 478.5)])
def test_every_port_runs_at_line_rate_and_loses_nothing(run: Run, ports: int, least: float) -> None:
    found = run(ports=ports, window=16, bytes=1472)
    assert found["throughput"]["payload_bit_s"] / 8e6 >= least
    assert found["workload"]["lost"] == 0


def test_a_sleeping_program_pays_for_its_interrupt_and_its_wake_up(run: Run) -> None:
    waits = {
        driver: run(driver=driver)["workload"]["parts_ps"]["to_program"] for driver in ("poll", "interrupt")
    }
    host = platforms.load(PLATFORM).groups["host"]
    paid = (host.interrupt.value + host.wakeup.value) * 1e3
    assert paid <= waits["interrupt"]["min"] - waits["poll"]["min"] <= 1.2 * paid


def test_an_idle_interface_that_is_not_evaluated_changes_no_result(run: Run) -> None:
    one, other = (run(skip_idle=skip, rate_per_s=20_000, bytes=300, ports=2) for skip in (True, False))
    assert one.pop("simulation")["evaluated_cycles"] < other.pop("simulation")["evaluated_cycles"] / 2
    assert one == other


def test_the_smallest_frames_come_back_to_back(run: Run) -> None:
    found = run(window=32, bytes=18, iterations=200)
    # A frame with preamble and gap takes 84 bytes: 672 ns.
    assert found["throughput"]["cycles_per_s"] >= 0.99 * 1e9 / 672
    assert found["workload"]["lost"] == 0


@pytest.mark.parametrize("size", [4, 5, 7, 15, 16, 17, 63, 65, 127, 129, 1471])
def test_a_datagram_may_have_any_length(run: Run, size: int) -> None:
    found = run(bytes=size, window=4, iterations=12)
    assert found["checked"]["bytes"] >= 12 * size


@pytest.mark.parametrize("fault", ["bad_checksum_every", "bad_fcs_every"])
def test_what_is_spoilt_is_never_announced_and_counted_where_it_is_dropped(run: Run, fault: str) -> None:
    found = run(faults={fault: 5}, bytes=200, window=4)
    bad = found["workload"]["sent"] // 5
    assert lost(found, "bad") == lost(found, "frames_bad") == bad
    assert lost(found, "delivered") == lost(found, "frames_good") == found["workload"]["sent"] - bad


def test_a_slow_program_loses_the_newest_and_every_one_is_counted(run: Run) -> None:
    found = run(rate_per_s=60_000, buffers=4, work_ns=40_000, bytes=200, may_lose=True)
    assert found["workload"]["lost"] > 0
    assert lost(found, "no_buffer") == found["workload"]["lost"]
    assert lost(found, "delivered") + lost(found, "no_buffer") == found["workload"]["sent"]


def test_a_slow_program_loses_the_oldest_and_every_one_is_counted(run: Run) -> None:
    settings = {"rate_per_s": 60_000, "buffers": 4, "work_ns": 40_000, "bytes": 200, "may_lose": True}
    found = run(policy="oldest", **settings)
    assert lost(found, "delivered") + lost(found, "no_event") == found["workload"]["sent"]
    # Some are overwritten after the program has looked at them, and before it gives them back.
    assert 0 < found["workload"]["lost"] <= lost(found, "overwritten") + lost(found, "no_event")
    assert lost(found, "overwritten") > lost(found, "no_event")
    assert lost(found, "no_buffer") == 0


def test_held_datagrams_are_lost_where_their_port_has_no_room(run: Run) -> None:
    settings = {"rate_per_s": 60_000, "buffers": 4, "work_ns": 40_000, "bytes": 200, "may_lose": True}
    found = run(policy="hold", **settings)
    assert lost(found, "overflow") == found["workload"]["lost"] > 0
    assert lost(found, "no_buffer") == lost(found, "overwritten") == 0
    assert lost(found, "delivered") + lost(found, "overflow") == found["workload"]["sent"]


@pytest.mark.parametrize("page_kib", [4, 64, 2048])
def test_buffers_in_pages_anywhere_hold_what_was_sent(run: Run, page_kib: int) -> None:
    # A buffer has two datagrams of 23 times 64 bytes: pages of 4 KiB end inside of them.
    found = run(ports=4, page_kib=page_kib, window=16, bytes=1472, datagrams=2)
    assert found["workload"]["lost"] == 0
    counters, filled = found["counters"], found["workload"]["sent"] // 8
    places = [(64 * port + n) * 2944 + at for port in range(4) for n in range(filled) for at in (0, 2943)]
    # Every page is read once: all of them fit the cache.
    assert counters["translate.walks"] == len({place // (page_kib * 1024) for place in places})
    assert counters["translate.refused"] == 0
    # Written while it arrives: in many pieces.
    assert counters["translate.translated"] > 8 * found["workload"]["sent"]


def test_a_translation_costs_a_cycle_a_write(run: Run) -> None:
    without, translated = (run(page_kib=kib)["workload"]["parts_ps"]["after_frame"] for kib in (0, 2048))
    assert 0 < translated["min"] - without["min"] <= 2 * PS_PER_CYCLE
    assert translated["max"] - without["max"] <= 2 * PS_PER_CYCLE


def test_a_slow_bus_loses_whole_datagrams_and_every_one_is_counted(run: Run) -> None:
    slow = {"link": {"generation": 1, "lanes": 1}}
    found = run(ports=4, window=32, bytes=1472, groups=slow, may_lose=True)
    assert lost(found, "overflow") > 0
    assert lost(found, "overflow") == found["workload"]["lost"]
    assert lost(found, "delivered") + lost(found, "overflow") == found["workload"]["sent"]


def test_a_buffer_of_several_datagrams_has_one_event(run: Run) -> None:
    found = run(datagrams=4, window=16, bytes=100)
    assert found["workload"]["lost"] == 0
    assert lost(found, "delivered") == found["workload"]["sent"]


def test_a_buffer_that_does_not_fill_is_announced_after_its_time(run: Run) -> None:
    found = run(datagrams=8, window=2, bytes=100, flush_us=5.0)
    assert found["latency_ps"]["max"] >= 5_000_000
    assert found["latency_ps"]["max"] <= 10_000_000


# GPU memory ---------------------------------------------------------------------------------------


def in_the_gpu(found: dict[str, Any]) -> dict[str, int]:
    """Bytes that the GPU's link carried to it."""
    return {name: count for name, count in found["counters"].items() if name.startswith("gpu.down.")}


@pytest.mark.parametrize("where", [PLATFORM, TEN_GIGABIT])
@pytest.mark.parametrize("memory", ["gpu", "staged"])
def test_the_stages_of_a_datagram_into_a_gpu_are_its_latency(run: Run, memory: str, where: str) -> None:
    found = run(where=where, memory=memory)
    stages = {stage["name"]: stage["ps"] for stage in found["stages"]}
    assert found["stages_total_ps"] == sum(stages.values())
    assert found["latency_ps"]["min"] <= found["stages_total_ps"] <= found["latency_ps"]["max"]
    parts = found["workload"]["parts_ps"]
    last = {"gpu": "last bytes visible in the GPU", "staged": "copy into the GPU"}[memory]
    assert list(stages)[-1] == last
    low, high = (parts["to_gpu"][end] - parts["to_program"][end] for end in ("min", "max"))
    assert min(low, high) <= stages[last] <= max(low, high) or low == high == stages[last]
    assert found["workload"]["memory"] == memory
    assert found["id"].endswith(f"-{memory}")
    assert found["checked"]["wrong"] == found["checked"]["lost"] == 0


def test_peer_to_peer_every_byte_crosses_the_gpus_link_and_no_other_does(run: Run) -> None:
    gpu, host = (run(memory=memory, window=4, bytes=1472) for memory in ("gpu", "host"))
    assert in_the_gpu(gpu)["gpu.down.payload_bytes"] == 1472 * gpu["workload"]["sent"]
    assert in_the_gpu(host) == {}
    # The same gateware on the same link does the same: what differs is behind the root port.
    assert gpu["counters"]["pcie.up.payload_bytes"] == host["counters"]["pcie.up.payload_bytes"]


@pytest.mark.parametrize("profile", ["isthmus", "as-published"])
def test_the_memory_behind_the_root_port_changes_no_part_inside_the_interface(run: Run, profile: str) -> None:
    """Writes are posted, so the interface never waits for the GPU: the document's stages are the same."""
    gpu, host = (run(profile, memory=memory)["workload"]["parts_ps"] for memory in ("gpu", "host"))
    inside = ("udp", "wake", "work", "write", "inside")
    assert {name: gpu[name] for name in inside} == {name: host[name] for name in inside}
    # The next datagram is sent later, and so meets another phase of the clocks.
    for name in ("after_frame", "to_program"):
        assert abs(gpu[name]["min"] - host[name]["min"]) <= 2 * PS_PER_CYCLE
    assert gpu.keys() - host.keys() == {"to_gpu"}


def test_the_last_bytes_are_in_the_gpu_a_link_after_the_event(run: Run) -> None:
    parts = run(memory="gpu")["workload"]["parts_ps"]
    groups = platforms.load(PLATFORM).groups
    root = groups["root"]
    ports = (root.transmit_latency.value + root.receive_latency.value) * 1e3
    assert 0 <= parts["to_gpu"]["min"] - parts["to_program"]["min"] <= ports
    # No sooner than its own writes can be: both links, and the GPU's memory.
    assert parts["to_gpu"]["min"] - parts["after_frame"]["min"] < 2 * ports + 300_000


def test_a_staged_datagram_costs_its_copy(run: Run) -> None:
    parts = run(memory="staged", bytes=1472)["workload"]["parts_ps"]
    copy = platforms.load(PLATFORM).groups["gpu"].copy.value * 1e6
    # 16 lanes of 5 GT/s carry 8 GB/s before headers; with them at the least three quarters of that.
    payload = 1472 / 8e9 * 1e12
    for end in ("min", "max"):
        assert payload <= parts["to_gpu"][end] - parts["to_program"][end] - copy <= payload * 4 / 3


@pytest.mark.parametrize("memory", ["gpu", "staged"])
def test_a_port_runs_at_line_rate_into_a_gpu_and_loses_nothing(run: Run, memory: str) -> None:
    found = run(memory=memory, window=16, bytes=1472, iterations=120)
    assert found["throughput"]["payload_bit_s"] / 8e6 >= (119.6 if memory == "gpu" else 119.0)
    assert found["workload"]["lost"] == 0


def test_four_ports_run_at_line_rate_into_a_gpu(run: Run) -> None:
    found = run(ports=4, memory="gpu", window=16, bytes=1472)
    assert found["throughput"]["payload_bit_s"] / 8e6 >= 478.5
    assert found["workload"]["lost"] == 0


@pytest.mark.parametrize("memory", ["gpu", "staged"])
def test_pages_in_a_gpu_hold_what_was_sent(run: Run, memory: str) -> None:
    # A buffer has two datagrams of 23 times 64 bytes: pages of 4 KiB end inside of them.
    found = run(page_kib=4, memory=memory, window=8, bytes=1472, datagrams=2)
    assert found["workload"]["lost"] == 0
    assert found["counters"]["translate.refused"] == 0
    assert found["checked"]["bytes"] == 1472 * found["workload"]["sent"]
    assert (in_the_gpu(found).get("gpu.down.payload_bytes", 0) > 0) == (memory == "gpu")


def test_a_program_that_copies_slower_than_datagrams_come_loses_them_and_every_one_is_counted(
    run: Run,
) -> None:
    settings = {"rate_per_s": 200_000, "buffers": 4, "bytes": 200, "may_lose": True, "iterations": 200}
    staged, gpu = (run(memory=memory, **settings) for memory in ("staged", "gpu"))
    assert lost(staged, "no_buffer") == staged["workload"]["lost"] > 0
    assert lost(staged, "delivered") + lost(staged, "no_buffer") == staged["workload"]["sent"]
    assert gpu["workload"]["lost"] == 0


def test_an_idle_interface_that_is_not_evaluated_changes_no_result_in_a_gpu(run: Run) -> None:
    one, other = (run(skip_idle=skip, rate_per_s=20_000, bytes=300, memory="gpu") for skip in (True, False))
    assert one.pop("simulation")["evaluated_cycles"] < other.pop("simulation")["evaluated_cycles"]
    assert one == other


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bytes": 1473}, r"workload\.bytes: 1473 is outside 4 to 1472"),
        ({"buffers": 3}, r"workload\.buffers: 3: expected a power of two"),
        ({"window": 5, "buffers": 4}, r"workload\.window: 5: the buffers hold 4 datagrams"),
        ({"datagrams": 8, "window": 2}, "expected flush_us above 0"),
        ({"groups": {"cable": {"rate_mbit_s": 2500.0}}}, r"rate_mbit_s: 2500: expected 1000 or 10000"),
        ({"operation": "put"}, "nanet does not carry put: expected one of nic-to-memory"),
        ({"memory": "disk"}, "unknown variant `disk`, expected one of `host`, `gpu`, `staged`"),
        ({"memory": "gpu", "operation": "message"}, "workload.memory: gpu: a program sends from its host's"),
        ({"memory": "gpu", "groups": {"gpu": {"lanes": 4}}}, "gpu.lanes: 4: fewer than platform.link.lanes"),
        ({"memory": "gpu", "without": "gpu"}, "workload.memory: gpu: this platform has no GPU"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(run: Run, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        run(**settings)


# 10 Gigabit Ethernet ------------------------------------------------------------------------------


def line_rate(payload: int) -> float:
    """Payload a second of 10 Gigabit Ethernet, in bit/s."""
    headers, least, around = 14 + 20 + 8, 60, 8 + 4 + 12
    return 10e9 * payload / (max(payload + headers, least) + around)


@pytest.mark.parametrize(("size", "iterations"), [(16, 1024), (20, 1024), (64, 512), (65, 512), (1472, 128)])
def test_two_ports_of_10_gigabit_run_at_line_rate_at_every_size(run: Run, size: int, iterations: int) -> None:
    """Back to back, and each byte arrives. A datagram of 65 bytes makes starts in both lanes."""
    flight = {"window": 512, "datagrams": 32} if size < 1000 else {"window": 64, "datagrams": 4}
    found = run(ports=2, where=TEN_GIGABIT, bytes=size, iterations=iterations, **flight)
    assert found["throughput"]["payload_bit_s"] == pytest.approx(2 * line_rate(size), rel=0.01)
    assert found["workload"]["busy"]["wire"] > 0.99
    assert found["checked"]["wrong"] == found["checked"]["lost"] == 0


def test_the_stages_of_a_datagram_at_10_gigabit_are_its_latency(run: Run) -> None:
    found = run(where=TEN_GIGABIT)
    assert found["stages_total_ps"] == sum(stage["ps"] for stage in found["stages"])
    parts = found["workload"]["parts_ps"]
    # Clocks of 156.25 and 200 MHz meet at every phase.
    assert parts["after_frame"]["max"] - parts["after_frame"]["min"] <= 3 * PS_PER_CYCLE
    assert parts["after_frame"]["max"] <= 150_000


def test_bad_frames_at_10_gigabit_are_counted_and_cost_no_other(run: Run) -> None:
    faults = {"bad_fcs_every": 7, "bad_checksum_every": 5}
    found = run(
        ports=2,
        where=TEN_GIGABIT,
        bytes=24,
        iterations=256,
        window=64,
        datagrams=4,
        flush_us=2.0,
        faults=faults,
    )
    assert lost(found, "bad") == lost(found, "frames_bad") > 2 * 256 / 7
    assert found["checked"]["wrong"] == found["checked"]["lost"] == 0


def test_an_idle_10_gigabit_interface_that_is_not_evaluated_changes_no_result(run: Run) -> None:
    one, other = (
        run(where=TEN_GIGABIT, skip_idle=skip, rate_per_s=200_000, bytes=300, ports=2)
        for skip in (True, False)
    )
    assert one.pop("simulation")["evaluated_cycles"] < other.pop("simulation")["evaluated_cycles"]
    assert one == other


@pytest.mark.parametrize("where", [PLATFORM, TEN_GIGABIT])
def test_a_program_sends_at_the_line_and_begins_a_frame_within_a_microsecond(where: str) -> None:
    streams = [Stream(size=1472, window=window, operation=SEND, iterations=32) for window in (1, 16)]
    one, many = measure([Point(stream, platform=where) for stream in streams])
    assert one.workload["parts_ps"]["to_wire"]["max"] < 1_000_000
    assert many.workload["busy"]["wire"] > 0.999
    assert all(found.checked.wrong == found.checked.lost == 0 for found in (one, many))


@pytest.mark.parametrize("where", [PLATFORM, TEN_GIGABIT])
def test_a_message_ends_in_the_other_host_s_program_behind_the_cable_s_end(where: str) -> None:
    def stream(remote: bool, driver: str = "poll", window: int = 1) -> Point:
        settings = {"operation": SEND, "remote": remote, "driver": driver, "window": window}
        return Point(Stream(size=256, iterations=32, **settings), platform=where)  # type: ignore[arg-type]

    end, program, sleeper, many = measure(
        [stream(False), stream(True), stream(True, "interrupt"), stream(True, window=8)]
    )
    assert end.latency is not None
    assert program.latency is not None
    assert sleeper.latency is not None
    # An event passes the bus of the other host, and its program reads four lines.
    assert end.latency.avg + 500_000 < program.latency.avg < end.latency.avg + 2_000_000
    assert sleeper.latency.avg > program.latency.avg + 2_000_000, "it is woken"
    assert many.throughput is not None
    assert program.throughput is not None
    assert many.throughput.payload_bit_s > 1.5 * program.throughput.payload_bit_s
    for found in (program, sleeper, many):
        assert (found.checked.wrong, found.checked.lost) == (0, 0)
        assert found.checked.bytes >= 32 * 256
        assert found.latency is not None
        whole = sum(stage.time for stage in found.stages)
        assert found.latency.min <= whole <= found.latency.max
    places = [stage.where for stage in program.stages]
    assert places == ["host", "bus", "wire", "fpga", "bus", "host"]


def test_only_a_message_goes_to_another_host() -> None:
    with pytest.raises(UserError, match=r"workload\.remote: only a message goes to another host"):
        measure([Point(Stream(remote=True))])


def messages(where: str, rate: float, *noise: tuple[int, int]) -> Measurement:
    """Messages of 256 bytes at a rate, by programs that noise delays: delays in ns, and how often."""
    session = Session("nanet")
    point = Point(Stream(256, rate_per_s=rate, iterations=400, operation=SEND, remote=True), platform=where)
    (wanted,) = scenarios(session, [point])
    changes = {"noise": {"unit": "ns", "buckets": noise}} if noise else {}
    (found,) = session.document(session.run([{**wanted, **changes}]), 1)
    return found


@pytest.mark.parametrize("where", [PLATFORM, TEN_GIGABIT])
def test_messages_at_a_rate_begin_when_they_are_due(where: str) -> None:
    calm, busy = messages(where, 1e4), messages(where, 1e8)
    (alone,) = measure([Point(Stream(256, iterations=32, operation=SEND, remote=True), platform=where)])
    assert alone.latency is not None
    assert calm.latency is not None
    assert (calm.workload["rate_per_s"], calm.workload["window"], calm.workload["saturated"]) == (
        1e4,
        None,
        False,
    )
    # Nothing is in front of most of them.
    assert calm.latency.typical == pytest.approx(alone.latency.typical, rel=0.05)
    # More than the wire carries: a latency of those that wait for it would be that of the run's length.
    assert (busy.workload["saturated"], busy.latency) == (True, None)
    assert busy.checked.lost == busy.checked.wrong == 0


def test_a_message_that_waits_for_those_before_it_counts_from_when_it_was_due() -> None:
    session = Session("nanet")
    point = Point(Stream(256, rate_per_s=1e9, iterations=8, operation=SEND, remote=True))
    (found,) = session.document(session.run(scenarios(session, [point])), 1)
    # All 72 are due in the same 0.1 us, and at most 16 are in flight. 32 are before the 8 that count.
    assert (found.excluded_head, found.excluded_tail) == (32, 32)
    assert found.latency is not None
    assert found.throughput is not None
    each = found.throughput.elapsed / 8
    # From the time when its program had time for it, none takes longer than 17 of them.
    assert found.latency.min > 30 * each
    assert found.latency.max - found.latency.min == pytest.approx(7 * each, rel=0.1)


@pytest.mark.parametrize("remote", [False, True], ids=["receive", "message"])
def test_a_program_that_sleeps_is_not_busy(remote: bool) -> None:
    """Its wake-up is a part of the latency, and no work of the host."""

    def busy(driver: str) -> float:
        settings = {"operation": SEND, "remote": True} if remote else {}
        stream = Stream(256, window=1, iterations=64, driver=driver, **settings)  # type: ignore[arg-type]
        (found,) = measure([Point(stream)])
        return float(found.workload["busy"]["host"])

    polls, sleeps = busy("poll"), busy("interrupt")
    assert 0 < sleeps < polls < 0.5


def test_noise_delays_the_programs_of_a_message_that_have_waited() -> None:
    calm, noisy = messages(PLATFORM, 1e4), messages(PLATFORM, 1e4, (0, 90), (20_000, 10))
    assert calm.latency is not None
    assert noisy.latency is not None
    assert noisy.workload["noise"]
    assert not calm.workload["noise"]
    # 81 % of the messages meet no delay, 18 % one of either program, 1 % both.
    assert noisy.latency.typical == pytest.approx(calm.latency.typical, rel=0.05)
    assert noisy.latency.avg - calm.latency.avg == pytest.approx(2 * 0.1 * 20_000_000, rel=0.3)
    assert noisy.latency.max >= calm.latency.typical + 40_000_000


def test_noise_delays_the_program_that_takes_datagrams(run: Run) -> None:
    settings = {"bytes": 256, "iterations": 200}
    calm, late = run(**settings), run(**settings, noise={"unit": "ns", "buckets": [[5_000, 1]]})
    assert late["latency_ps"]["p50"] - calm["latency_ps"]["p50"] == pytest.approx(5_000_000, rel=0.01)
    assert late["checked"]["lost"] == 0


def test_a_program_that_sends_to_the_cable_s_end_has_a_window_and_no_noise(run: Run) -> None:
    with pytest.raises(
        UserError, match=r"workload\.rate_per_s: only messages to another host come at a rate"
    ):
        run(operation="message", window=None, rate_per_s=1e4)
    noise = {"unit": "ns", "buckets": [[5_000, 1]]}
    with pytest.raises(UserError, match="noise: a program that sends to the cable's end is measured without"):
        run(operation="message", noise=noise)
    with pytest.raises(UserError, match=r"noise\.buckets: no delay was counted in it"):
        run(noise={"unit": "ns", "buckets": []})
