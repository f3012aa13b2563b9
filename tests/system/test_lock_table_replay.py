# SPDX-License-Identifier: Apache-2.0
"""Transactions of the host and of the FPGA's unit on the same records, with the gateware.

The engine fails a run in which a transaction reads what no order of all of them gives, memory differs in the
end, a lock stays held, or a message belongs to nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from isthmus import native
from isthmus.bench import runner
from isthmus.errors import DataError
from isthmus.roads.ccix import bench, lock_trace, locks
from isthmus.roads.ccix.lock_trace import Step, Trace, Transaction
from isthmus.roads.ccix.locks import MODES, NONE, Point, Stops

pytestmark = pytest.mark.deterministic


@pytest.fixture(scope="module")
def models() -> dict[str, Path]:
    return {
        letter: runner.model(locks.TOP, locks.parameters(bench.loaded(), "isthmus", mode))
        for letter, mode in MODES.items()
    }


@pytest.fixture(scope="module")
def logging() -> dict[str, Path]:
    """Models that send the host a log."""
    return {
        letter: runner.model(locks.TOP, locks.parameters(bench.loaded(), "isthmus", MODES[letter], True))
        for letter in MODES
    }


def turn(number: int) -> Transaction:
    """Two records that no other transaction has, the second below the first: a try."""
    return Transaction(number % 2 == 1, (Step(2 * number + 1, True), Step(2 * number, False)))


def replay(
    models: dict[str, Path],
    letter: str,
    trace: Trace,
    requesters: int,
    seed: int = 1,
    stops: Stops = NONE,
) -> dict[str, Any]:
    point = Point(trace, MODES[letter], requesters, "isthmus", bench.loaded(), seed, stops)
    (found,) = native.run_scenario(locks.scenario(point, models[letter]))
    return found


@pytest.mark.parametrize("letter", MODES)
def test_transactions_on_records_of_their_own_are_never_aborted(models: dict[str, Path], letter: str) -> None:
    trace = Trace("apart", 60, tuple(turn(number) for number in range(30)))
    found = replay(models, letter, trace, 1)
    counted = found["workload"]["locks"]
    assert counted["host"]["aborts"] == counted["fpga"]["aborts"] == 0
    assert counted["host"]["transactions"] == counted["fpga"]["transactions"] == 15


@pytest.mark.parametrize("letter", MODES)
def test_many_on_few_records_are_serialisable(models: dict[str, Path], letter: str) -> None:
    found = replay(models, letter, lock_trace.zipfian(150, rows=16, seed=5), 16)
    counted = found["workload"]["locks"]
    assert counted["host"]["aborts"] + counted["fpga"]["aborts"] > 20
    assert found["iterations"] == 150


@pytest.mark.parametrize("letter", MODES)
def test_many_of_three_steps_on_a_handful_of_records_come_to_an_end(
    models: dict[str, Path], letter: str
) -> None:
    found = replay(models, letter, lock_trace.zipfian(200, rows=6, steps=3, seed=2), 64)
    assert found["iterations"] == 200


@pytest.mark.parametrize("letter", MODES)
def test_the_same_seed_is_the_same_run(models: dict[str, Path], letter: str) -> None:
    trace = lock_trace.zipfian(40, rows=32, steps=4, seed=7)
    one, two = (replay(models, letter, trace, 8, seed=9) for _ in range(2))
    assert one["workload"] == two["workload"]


def test_a_lock_in_the_fpga_costs_the_fpga_clocks_and_the_host_a_round_trip(models: dict[str, Path]) -> None:
    waits = replay(models, "b", lock_trace.uniform(60, seed=3), 1)["workload"]["locks"]
    # A task, its order, its answer: four clocks of 4 ns and the strobe.
    assert waits["fpga"]["wait_ps"]["max"] <= 24_000
    assert waits["host"]["wait_ps"]["min"] >= 380_000
    waits = replay(models, "a", lock_trace.uniform(60, seed=3), 1)["workload"]["locks"]
    assert waits["host"]["wait_ps"]["max"] == 20_000
    assert waits["fpga"]["wait_ps"]["min"] >= 380_000


@pytest.mark.parametrize("letter", MODES)
def test_a_unit_that_stops_leaves_no_lock_and_no_half_of_a_transaction(
    models: dict[str, Path], letter: str
) -> None:
    found = replay(models, letter, lock_trace.zipfian(400, rows=64, seed=3), 16, stops=Stops(6, 3))
    of = found["workload"]["locks"]["faults"]
    assert min(of["resets"], of["holds"]) >= 1
    assert of["undone"] >= 10
    # A unit that was held goes on with an old token.
    assert found["counters"]["fpga.refused"] >= 1
    # A hold is noticed after the lease; then what waits for nothing is free within a few microseconds. A lock
    # that is swapped has no queue: one of the lost that waits for it may wait for long.
    assert of["lease_ps"] < of["longest_ps"] < (100 if letter == "d" else 10) * of["lease_ps"]


@pytest.mark.parametrize("letter", MODES)
def test_a_reset_of_the_whole_fpga_leaves_whole_transactions_or_none(
    logging: dict[str, Path], letter: str
) -> None:
    trace = lock_trace.zipfian(400, rows=64, steps=3, seed=3)
    of = [
        replay(logging, letter, trace, 16, seed, Stops(fpga=4))["workload"]["locks"]["losses"]
        for seed in (1, 2)
    ]
    total = {key: sum(one[key] for one in of) for key in of[0]}
    assert total["resets"] == 8
    # Some were open, and where records are in the FPGA's cache memory did not have what was complete.
    assert total["redone"] >= 8
    assert total["restored"] >= (1 if letter in "ac" else 20)
    assert of[0]["outage_ps"] >= of[0]["detect_ps"] > 0
    # Only a table in the FPGA takes the host's waits with it.
    assert (total["waited"] >= 1) == (letter in "bc")


def test_resets_of_the_unit_and_of_the_whole_fpga_in_one_run(logging: dict[str, Path]) -> None:
    found = replay(logging, "b", lock_trace.zipfian(400, rows=64, seed=4), 16, stops=Stops(4, 2, 3))
    counted = found["workload"]["locks"]
    assert counted["losses"]["resets"] == 3
    assert counted["faults"]["resets"] >= 1


def test_a_device_without_a_log_loses_what_it_has_done(models: dict[str, Path]) -> None:
    with pytest.raises(DataError, match="ccix:"):
        replay(models, "b", lock_trace.zipfian(400, rows=64, seed=3), 16, stops=Stops(fpga=4))


def test_waits_for_a_free_lock_stay_those_of_one_requester(models: dict[str, Path]) -> None:
    """What grows with 64 of them is the wait for locks that are held, which the load makes with any table."""
    one, many = (
        replay(models, "b", lock_trace.uniform(2000, seed=3), requesters)["workload"]["locks"]["waits"]
        for requesters in (1, 64)
    )
    assert one["met"] <= 4
    assert many["met"] / 2000 == pytest.approx(many["load"]["met"], rel=0.35)
    assert many["load"]["p99_ps"] > 1.2 * one["all_ps"]["p99"]
    assert many["all_ps"]["p99"] > many["load"]["p99_ps"]


@pytest.mark.parametrize("letter", MODES)
def test_the_stages_of_a_side_are_its_time(models: dict[str, Path], letter: str) -> None:
    found = replay(models, letter, lock_trace.zipfian(100, rows=32, seed=4), 8)
    sides = [found["workload"]["locks"][side] for side in ("host", "fpga")]
    mean = sum(sum(side["stages_ps"].values()) * side["transactions"] for side in sides) / 100
    assert mean == pytest.approx(found["latency_ps"]["avg"], rel=1e-3)


def test_a_lock_in_a_line_that_its_side_has_costs_no_round_trip(models: dict[str, Path]) -> None:
    alone = Trace("alone", 1, tuple(Transaction(True, (Step(0, True),)) for _ in range(20)))
    waits = replay(models, "d", alone, 1)["workload"]["locks"]["fpga"]["wait_ps"]
    # The first one brings the line. The others wait for the release before them, and then for three accesses
    # of the cache: 16 clocks of 4 ns each, and four to choose the next order.
    assert waits["max"] >= 500_000
    assert waits["p50"] <= 148_000


def test_a_lock_that_the_fpga_hands_over_comes_behind_its_records_line(models: dict[str, Path]) -> None:
    """So the host finds the record at home; a lock in a line, which brings both at once, is little faster."""
    table, line = (replay(models, letter, lock_trace.hot(60), 2) for letter in "bd")
    assert table["workload"]["locks"]["host"]["stages_ps"]["records"] == pytest.approx(20_000, abs=2_000)
    rates = [found["throughput"]["cycles_per_s"] for found in (table, line)]
    assert rates[0] > 1.7e6
    assert rates[1] < 1.2 * rates[0]


def test_a_device_that_mixes_up_where_the_table_is_is_found_out(models: dict[str, Path]) -> None:
    point = Point(lock_trace.hot(20), MODES["b"], 4, "isthmus", bench.loaded())
    with pytest.raises(DataError, match="ccix:"):
        native.run_scenario(locks.scenario(point, models["a"]))
