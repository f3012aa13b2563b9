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
from isthmus.roads.ccix.locks import MODES, Point

pytestmark = pytest.mark.deterministic


@pytest.fixture(scope="module")
def models() -> dict[str, Path]:
    return {
        letter: runner.model(locks.TOP, False, locks.parameters(bench.loaded(), "isthmus", mode))
        for letter, mode in MODES.items()
    }


def turn(number: int) -> Transaction:
    """Two records that no other transaction has, the second below the first: a try."""
    return Transaction(number % 2 == 1, (Step(2 * number + 1, True), Step(2 * number, False)))


def replay(
    models: dict[str, Path], letter: str, trace: Trace, requesters: int, seed: int = 1
) -> dict[str, Any]:
    point = Point(trace, MODES[letter], requesters, "isthmus", bench.loaded(), seed)
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


def test_a_device_that_mixes_up_where_the_table_is_is_found_out(models: dict[str, Path]) -> None:
    point = Point(lock_trace.hot(20), MODES["b"], 4, "isthmus", bench.loaded())
    with pytest.raises(DataError, match="ccix:"):
        native.run_scenario(locks.scenario(point, models["a"]))
