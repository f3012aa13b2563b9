# SPDX-License-Identifier: Apache-2.0
"""The document's numbers of its bus, out of the model itself: nothing here is made up."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from isthmus import bootstrap, native, verify
from isthmus.errors import UserError
from isthmus.platforms import load as platform
from isthmus.results import Document
from isthmus.results.files import validate
from isthmus.roads.pcix import bench as pcix
from isthmus.roads.rdma import bench as rdma

CLOCK_NS = 10


@pytest.fixture(scope="module")
def made() -> Document:
    bootstrap.ensure_native()
    return pcix.measure()


def _scenario(test: Any = "read", size: int = 4096, times: int = 1) -> dict[str, Any]:
    return pcix.scenario(platform(rdma.PLATFORM), "as-published", pcix.Access(test, size, times))


def test_the_parts_of_the_bus_add_up_to_the_documents_totals(made: Document) -> None:
    validate(made.raw, "test")
    rows = {row.id: row for row in verify.rows(made, "rdma") if row.id.startswith("forth.pcix.")}
    assert not [row.id for row in rows.values() if row.kind == "prediction"], "its parts are inputs"
    sums = {row.id: row.verdict for row in rows.values() if row.kind == "identity"}
    assert sums == dict.fromkeys(
        (
            "forth.pcix.store.single",
            "forth.pcix.store.descriptor",
            "forth.pcix.store.uncombined",
            "forth.pcix.read.4k",
            "forth.pcix.read.utilization",
            "forth.pcix.read.rate",
        ),
        "agrees",
    )
    # What went in comes out again.
    for name, value in (
        ("store.line", 24),
        ("first_data", 50),
        ("between", 6),
        ("completions", 3),
        ("write.4k", 570),
    ):
        row = rows[f"forth.pcix.{name}"]
        assert (row.kind, row.simulated) == ("input", value), name


def test_two_reads_under_way_carry_more_and_change_nothing_else(made: Document) -> None:
    for row in (
        row for row in verify.rows(made, "rdma") if row.simulated and row.id.startswith("forth.pcix.")
    ):
        assert row.isthmus is not None
        if row.id == "forth.pcix.read.rate":
            # 544 clocks a read: the first request of a run, which waits for none, is not in it.
            assert row.isthmus == pytest.approx(4096 / (544 * CLOCK_NS) * 1e9 / 2**20, abs=0.1)
        else:
            assert row.isthmus == row.simulated


def test_a_slower_memory_shows(made: Document) -> None:
    scenario = copy.deepcopy(_scenario())
    scenario["platform"]["bus"]["bridge"]["memory_read_ns"] += 3 * CLOCK_NS
    (slow,) = native.run_scenario(scenario)
    fast = made.by_id(slow["id"])
    assert fast is not None
    for key in ("cycles", "first_data_cycles"):
        assert slow["workload"][key] == fast.workload[key] + 3


def test_bytes_come_whole_and_are_counted(made: Document) -> None:
    for m in made:
        assert m.checked.bytes == m.workload["size_bytes"] * m.workload["times"]
    (found,) = native.run_scenario(_scenario("store-combined", 40))
    assert (found["workload"]["data_cycles"], found["workload"]["transactions"]) == (10, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bytes": 12}, "workload.bytes: 12: a multiple of 8 from 8 to 4096 expected"),
        ({"bytes": 8192}, "workload.bytes: 8192 is outside 4 to 4096"),
        ({"test": "store", "bytes": 6}, "workload.bytes: 6: a multiple of 4 from 4 to 4096 expected"),
        ({"times": 0}, "workload.times: 0 is outside 1 to 10000"),
        ({"test": "load"}, "unknown variant `load`"),
        ({"speed": 1}, "unknown field `speed`"),
    ],
)
def test_what_the_bus_cannot_do_is_refused(change: dict[str, Any], message: str) -> None:
    bootstrap.ensure_native()
    scenario = _scenario()
    scenario["workload"] |= change
    with pytest.raises(UserError) as error:
        native.run_scenario(scenario)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
