# SPDX-License-Identifier: Apache-2.0
"""Contention without its simulator: the analytic model at its ends, what is printed, drawn and refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from isthmus.errors import UserError
from isthmus.results import load
from isthmus.roads.ccix import bench as ccix
from isthmus.roads.ccix import command, contention
from isthmus.roads.ccix.contention_model import Terms, predicted

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "compare"))

import made_up

GIVEN = {ccix.FPGA: Path("ccix_fpga.so")}
EVEN = Terms(fpga_local=10, fpga_remote=500, host_local=10, host_remote=500)


def test_on_many_lines_the_fpga_misses_always_and_the_host_never() -> None:
    found = predicted(EVEN, 1 << 18, 1024, 1)
    assert found.fpga == pytest.approx(500, rel=0.01)
    assert found.host == pytest.approx(10, rel=0.01)
    assert found.transfers == pytest.approx(1024, rel=0.01)


def test_each_store_of_either_side_ends_and_lines_go_to_and_fro() -> None:
    """What came to the FPGA and did not go back is there, at most all of the lines."""
    for lines, window in ((32, 1), (64, 4), (512, 16)):
        found = predicted(EVEN, lines, 1024, window)
        assert 0 <= found.to_fpga - found.to_host <= lines
        assert found.to_fpga < 1024


def test_one_store_at_a_time_meets_no_line_under_way() -> None:
    assert predicted(EVEN, 64, 1024, 1).met == 0
    assert 30 < predicted(EVEN, 64, 1024, 16).met < 200


def test_a_line_under_way_is_waited_for_by_all_that_meet_it() -> None:
    one, many = (predicted(EVEN, 512, 1024, window) for window in (1, 16))
    assert many.fpga > 1.03 * one.fpga
    assert many.host > 1.05 * one.host
    # What others wait for is there when they end: fewer lines cross the link.
    assert many.transfers < one.transfers + 100


def test_a_first_store_to_each_line_is_what_crosses_for_a_host_that_stores_little() -> None:
    """Then the FPGA's misses are its first touches, as drawn with repetition."""
    lines, accesses = 32, 64
    found = predicted(Terms(10, 500, 5_000, 5_500), lines, accesses, 1)
    assert found.to_fpga == pytest.approx(lines * (1 - (1 - 1 / lines) ** accesses), rel=0.05)


def test_means_do_not_depend_on_the_unit_of_time() -> None:
    slow = Terms(fpga_local=70, fpga_remote=3_500, host_local=70, host_remote=3_500)
    one, other = predicted(EVEN, 128, 1024, 4), predicted(slow, 128, 1024, 4)
    assert other.fpga == pytest.approx(7 * one.fpga)
    assert other.transfers == pytest.approx(one.transfers)


def test_twice_the_accesses_in_flight_change_no_mean() -> None:
    one, two = (predicted(EVEN, 4096, 1024, window) for window in (1, 2))
    assert one.fpga == pytest.approx(two.fpga, rel=0.01)


def test_the_other_side_of_a_slow_one_keeps_its_lines() -> None:
    slow = Terms(fpga_local=10, fpga_remote=5_000, host_local=10, host_remote=500)
    found = predicted(slow, 32, 500, 1)
    assert found.host < predicted(EVEN, 32, 500, 1).host


def test_the_formula_weighs_terms_with_hits_as_counted() -> None:
    points = contention.points([ccix.loaded()], ["isthmus"], [64], [1], accesses=100)
    (made,) = contention.measure(points, made_up.engine, GIVEN)
    # One access in four brings a line over.
    assert contention.formula(made, "fpga") == pytest.approx(0.75 * 24 + 0.25 * 552)
    assert contention.formula(made, "host") == pytest.approx(0.75 * 20 + 0.25 * 474)


def test_a_run_for_each_number_of_lines_and_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = command.contention(lines="1:8", window="1,16", out=tmp_path, runner=made_up.engine, given=GIVEN)
    text = capsys.readouterr().out
    assert [m.workload["contention"]["lines"] for m in made] == [1, 2, 4, 8] * 2
    assert "host: a model" in text
    assert "terms, measured alone, ns: FPGA local 24.0, remote 552.0" in text
    assert len(load(tmp_path / "ccix-contention.json").results) == 8
    assert "A store&#x27;s time over the number of lines" in (tmp_path / "ccix-contention.html").read_text()


def test_both_sides_have_half_of_a_line() -> None:
    (point,) = contention.points([ccix.loaded()], ["isthmus"], [64], [16])
    made = ccix.scenario(point, GIVEN)
    assert made["workload"] == {
        "operation": "device-write", "bytes": 32, "iterations": 1024, "warmup": 0, "driver": "contended",
        "window": 16, "contention": {"lines": 64, "host_window": 16, "rounds": 8},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"lines": "0"}, "lines: 0 is outside 1 to 4096"),
        ({"lines": "1:4097"}, "lines: 1:4097 is outside 1 to 4096"),
        ({"lines": "8:4"}, "lines: 8:4 begins above its end"),
        ({"lines": "many"}, "lines: 'many'; expected a number, a list 1,64 or FROM:TO, which doubles"),
        ({"window": "17"}, "window: 17 is outside 1 to 16"),
        ({"platform": "gige-direct"}, "is of kind gige; ccix runs on ccix"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(settings: dict[str, str], says: str) -> None:
    with pytest.raises(UserError) as refused:
        command.contention(**settings, runner=made_up.engine, given=GIVEN)  # type: ignore[arg-type]
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
