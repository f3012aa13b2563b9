# SPDX-License-Identifier: Apache-2.0
"""Etherbone over Gigabit Ethernet with the real gateware: figures, faults, resets, determinism."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from isthmus import native
from isthmus.errors import DataError, UserError
from isthmus.roads.etherbone import scenario

pytestmark = pytest.mark.deterministic

Scenario = Callable[..., dict[str, Any]]
BLOCKING = scenario.timestamps("blocking", 4, 40)
PIPELINED = scenario.timestamps("pipelined", 8, 400)
ZERO_COST_LIBRARY = {
    "build_cycle_ns": 0,
    "build_operation_ns": 0,
    "parse_cycle_ns": 0,
    "parse_operation_ns": 0,
    "event_loop_ns": 0,
    "poll": 1,
}


def one(made: dict[str, Any]) -> dict[str, Any]:
    (result,) = native.run_scenario(made)
    assert result["checked"]["wrong"] == result["checked"]["lost"] == 0
    return result


def lost_or(made: dict[str, Any]) -> dict[str, Any] | None:
    """The result, or `None` where a cycle's reply was lost: a time-out that says so, and nothing else."""
    try:
        return one(made)
    except DataError as err:
        if "no reply within 200ms" not in str(err):
            raise
        return None


def without_cost(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key != "simulation"}


def test_turnaround_is_within_the_budget_for_any_number_of_reads(scenario_of: Scenario) -> None:
    results = native.run_scenario(scenario_of(scenario.path([*range(1, 40), 64, 128, 254, 255])))
    clocks = {r["workload"]["reads"]: r["workload"]["clocks"]["turnaround"] for r in results}
    assert max(clocks.values()) <= 12, clocks
    for result in results:
        fpga = sum(stage["ps"] for stage in result["stages"] if stage["where"] == "fpga")
        assert fpga == 8000 * result["workload"]["clocks"]["turnaround"]


@pytest.mark.parametrize("method", ["convenience", "blocking", "pipelined"])
@pytest.mark.parametrize("platform", ["gige-direct", "gige-switch"])
def test_every_method_on_every_path(scenario_of: Scenario, method: Any, platform: str) -> None:
    result = one(scenario_of(scenario.timestamps(method, 8, 30), platform=platform))
    assert sum(stage["ps"] for stage in result["stages"]) == result["stages_total_ps"]
    assert result["stages_total_ps"] in range(result["latency_ps"]["min"], result["latency_ps"]["max"] + 1)
    inside = result["windows_ps"]["inside_cycle_per_timestamp"]
    # Two words of four bytes at a byte in 8 ns.
    assert inside is None if method == "convenience" else inside == 64_000
    assert result["workload"]["topology"] == platform.removeprefix("gige-")


def test_throughput_reaches_the_wire(scenario_of: Scenario) -> None:
    made = scenario_of(scenario.throughput(8, 3000))
    made["platform"]["library"] = ZERO_COST_LIBRARY
    result = one(made)
    # 17 checked cycles of 84 bytes in a frame of 1432 + 42 + 24 bytes, 64 bit each timestamp.
    ceiling = 17 * 8 * 64 / ((4 + 17 * 84 + 42 + 4 + 8 + 12) * 8e-9)
    assert 0.98 * ceiling < result["throughput"]["payload_bit_s"] <= ceiling
    assert result["counters"]["device.drop_refused"] == 0


def test_words_and_latch_unit(scenario_of: Scenario) -> None:
    results = native.run_scenario(scenario_of(scenario.words("pipelined", [1, 255, 600], 3)))
    assert [r["workload"]["words"] for r in results] == [1, 255, 600]
    for method in ("convenience", "blocking", "pipelined"):
        result = one(scenario_of({"kind": "tlu", "method": method, "iterations": 70}))
        assert result["throughput"]["payload_bytes"] == 70 * 16


def test_one_seed_gives_one_result_with_and_without_skipping(scenario_of: Scenario) -> None:
    made = scenario_of(scenario.timestamps("pipelined", 3, 50))
    plain, again = one(made), one(made)
    evaluated = one({**made, "skip_idle": False})
    checked = one({**made, "check_idle": True})
    assert without_cost(plain) == without_cost(again)
    assert without_cost(plain) == without_cost(evaluated)
    assert without_cost(plain) == without_cost(checked)


def test_a_device_that_waits_is_not_evaluated(scenario_of: Scenario) -> None:
    # One request at a time leaves the device idle between them; a full pipe never does.
    made = scenario_of(scenario.timestamps("blocking", 3, 50))
    skipped, evaluated = one(made), one({**made, "skip_idle": False})
    assert without_cost(skipped) == without_cost(evaluated)
    assert skipped["simulation"]["evaluated_cycles"] < evaluated["simulation"]["evaluated_cycles"] / 5


@pytest.mark.parametrize("direction", ["a_to_b", "b_to_a"])
@pytest.mark.parametrize(("fault", "rate"), [("bit_error", 2e-5), ("drop", 0.02)])
def test_losses_end_in_an_error_and_never_in_wrong_data(
    scenario_of: Scenario, direction: str, fault: str, rate: float
) -> None:
    failures = 0
    for seed in range(1, 5):
        made = scenario_of(PIPELINED, seed=seed, faults={f"cable.{direction}.{fault}": {"rate": rate}})
        result = lost_or(made)
        failures += result is None
        if result is not None:
            assert result["counters"][f"fault.cable.{direction}.{fault}"] == 0
    assert failures > 0


@pytest.mark.parametrize("direction", ["a_to_b", "b_to_a"])
@pytest.mark.parametrize("fault", ["duplicate", "reorder"])
def test_doubled_and_late_frames_change_no_value(scenario_of: Scenario, direction: str, fault: str) -> None:
    point = f"cable.{direction}.{fault}"
    # The first frames are ARP and the probe; the series begins behind them.
    result = one(scenario_of(BLOCKING, faults={point: {"at_count": [10, 20, 30]}}))
    assert result["counters"][f"fault.{point}"] == 3
    assert (result["counters"]["client.stale"] > 0) == (fault == "duplicate")


@pytest.mark.parametrize("rate", [0.01, 0.1])
@pytest.mark.parametrize("direction", ["a_to_b", "b_to_a"])
@pytest.mark.parametrize("fault", ["drop", "duplicate", "reorder"])
def test_faults_at_1_and_10_percent(scenario_of: Scenario, fault: str, direction: str, rate: float) -> None:
    """Loss ends in a time-out, doubling and reordering in the right values; nothing hangs."""
    point = f"cable.{direction}.{fault}"
    workload = scenario.timestamps("blocking", 4, 400)
    hits = ended = 0
    for seed in range(1, 4):
        result = lost_or(scenario_of(workload, seed=seed, faults={point: {"rate": rate}}))
        ended += result is not None
        hits += result["counters"][f"fault.{point}"] if result else 1
    assert hits > 0
    # Of 400 replies one is lost for certain, and a doubled or late one harms nobody.
    assert ended == (0 if fault == "drop" else 3)


def test_a_reset_at_any_time_gives_an_error_or_the_right_data(scenario_of: Scenario) -> None:
    made = scenario_of(scenario.timestamps("blocking", 8, 8))
    whole = one({**made, "skip_idle": False})
    assert whole["stages_total_ps"] > 0
    # A run ends with 200 us of rest; the series takes the 110 us before that.
    end = whole["simulation"]["device_cycles"] * 8000 - 200_000_000
    resets = [{"at_ps": end - 2_000_000 - step * 400_000, "cycles": 3} for step in range(60)]
    results = [lost_or({**made, "device": {**made["device"], "resets": [reset]}}) for reset in resets]
    assert None in results
    assert any(results)


def test_wrong_scenarios_are_the_callers(scenario_of: Scenario) -> None:
    with pytest.raises(UserError, match=r"workload\.timestamps_per_cycle: 9 is outside 1 to 8"):
        native.run_scenario(scenario_of(scenario.timestamps("blocking", 9, 1)))
    made = scenario_of(BLOCKING, device={"model_path": "nowhere.so"})
    with pytest.raises(UserError, match=r"model nowhere\.so"):
        native.run_scenario(made)


def test_progress_is_reported_and_can_stop_the_run(scenario_of: Scenario) -> None:
    seen: list[native.RunProgress] = []
    native.run_scenario(scenario_of(scenario.path([1, 2, 3])), seen.append)
    assert [(p.measurements_done, p.measurements) for p in seen][-3:] == [(1, 3), (2, 3), (3, 3)]

    def stop(_: native.RunProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        native.run_scenario(scenario_of(scenario.path([1, 2, 3])), stop)


def test_traces_are_written(scenario_of: Scenario, tmp_path: Any) -> None:
    files = {"pcap": str(tmp_path / "x.pcapng"), "timeline": str(tmp_path / "x.perfetto-trace")}
    one(scenario_of(BLOCKING, trace=files))
    assert (tmp_path / "x.pcapng").read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    assert (tmp_path / "x.perfetto-trace").stat().st_size > 1000
