# SPDX-License-Identifier: Apache-2.0
"""Two results side by side: matched by id, a line for each change."""

import copy
from pathlib import Path
from typing import Any

import fixture
import pytest
import rdma_fixture
from isthmus import cli
from isthmus.results import Document, ResultError, document, write
from isthmus.results.diff import compare
from isthmus.roads.rdma import bench as rdma

TS8 = "etherbone/gige-direct/isthmus/blocking/ts8"


@pytest.fixture(scope="module")
def old() -> Document:
    return fixture.document(systems=("gige-direct",), timestamps=(1, 8))


def changed(made: Document, **changes: Any) -> Document:
    """The document with the results and platforms that a function of each changes."""
    raw = copy.deepcopy(dict(made.raw))
    for key, change in changes.items():
        change(raw[key])
    found = document(raw["context"], raw["results"])
    return Document(
        found.context, found.results, {**found.raw, "platforms": raw["platforms"]}, made.constants
    )


def test_a_result_beside_itself_has_no_change(old: Document) -> None:
    *_, last = compare(old, old).splitlines()
    assert last == f"0 of {len(old.results)} common measurements changed"
    assert TS8 not in compare(old, old)


def test_a_change_is_a_line_with_its_share(old: Document) -> None:
    was = old.by_id(TS8)
    assert was is not None
    assert was.latency is not None

    def slower(results: list[dict[str, Any]]) -> None:
        item = next(each for each in results if each["id"] == TS8)
        item["latency_ps"]["avg"] *= 1.25
        item["throughput"]["payload_bit_s"] /= 2

    text = compare(old, changed(old, results=slower))
    (line,) = [line for line in text.splitlines() if line.startswith(TS8)]
    assert "mean " in line
    assert "(+25.00 %)" in line
    assert "(-50.00 %)" in line
    assert "p50" not in line, "that is what it was"
    assert text.endswith(f"1 of {len(old.results)} common measurements changed\n")


def test_what_only_one_has_is_named(old: Document) -> None:
    def fewer(results: list[dict[str, Any]]) -> None:
        results[:] = [each for each in results if each["id"] != TS8]

    assert f"only in old: {TS8}\n" in compare(old, changed(old, results=fewer))
    assert f"only in new: {TS8}\n" in compare(changed(old, results=fewer), old)


def test_a_latency_that_is_no_more_is_a_change(old: Document) -> None:
    def saturated(results: list[dict[str, Any]]) -> None:
        next(each for each in results if each["id"] == TS8).update(latency_ps=None)

    assert " us -> none" in compare(old, changed(old, results=saturated))


def test_results_of_other_roads_are_refused(old: Document) -> None:
    points = [rdma.Point(rdma.Transfers("write-lat"))]
    other = rdma.measure(points, runner=rdma_fixture.engine, given=rdma_fixture.GIVEN)
    with pytest.raises(ResultError, match="old is of etherbone, new is of rdma: results of different kinds"):
        compare(old, other)


def test_nothing_in_common_is_refused(old: Document) -> None:
    other = fixture.document(systems=("usb-t5810",), timestamps=(1,))
    with pytest.raises(ResultError, match="no measurement in common"):
        compare(old, other)


def test_the_command_reads_files_and_names_changed_constants(
    old: Document, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def longer(platforms: dict[str, Any]) -> None:
        rows = platforms["gige-direct"]["constants"]
        next(one for one in rows if (one["part"], one["name"]) == ("link", "length"))["value"] = 100

    first, second = tmp_path / "a.json", tmp_path / "b.json"
    write(old, first)
    write(changed(old, platforms=longer), second)
    assert cli.run(["diff", str(first), str(second)]) == 0
    assert "# constant gige-direct link.length: 5 m -> 100 m\n" in capsys.readouterr().out
    assert cli.run(["diff", str(first), str(tmp_path / "none.json")]) == 2
