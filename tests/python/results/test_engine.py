# SPDX-License-Identifier: Apache-2.0
"""The same benchmark through the real engine and gateware: documents are valid and repeat exactly."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from isthmus import bootstrap, verify
from isthmus.results import Document
from isthmus.results.files import validate
from isthmus.roads.etherbone import bench as etherbone


def _measured(seed: int = 1) -> Document:
    return etherbone.measure(
        timestamps=(1, 8), systems=("gige-direct",), methods=("blocking",), seed=seed, command="test"
    )


@pytest.fixture(scope="module")
def made() -> Document:
    bootstrap.ensure_native()
    return _measured()


def _timeless(made: Document) -> list[dict[str, Any]]:
    results = copy.deepcopy(made.raw["results"])
    for item in results:
        del item["simulation"]["wall_s"]
    return results


def test_documents_of_the_engine_are_valid(made: Document) -> None:
    validate(made.raw, "run")
    for m in made:
        assert m.checked.bytes > 0
        assert m.latency is not None
        # More words than one cycle holds are several transfers, and frames straight onto the wire have no
        # way through a host: those have no stages of one.
        assert m.stages or m.name.startswith(("words", "line-rate"))


def test_one_seed_gives_one_result(made: Document) -> None:
    assert _timeless(_measured()) == _timeless(made)


def test_the_gateware_keeps_its_limits(made: Document) -> None:
    assert [t.verdict for t in verify.targets(made, "etherbone") if t.id.startswith("eb.rtl.")] == ["met"] * 5


def test_reads_inside_a_cycle_follow_each_other_at_line_rate(made: Document) -> None:
    m = made.by_id("etherbone/gige-direct/as-published/blocking/ts8")
    assert m is not None
    assert m.windows.inside_cycle_per_timestamp == 64_000
