# SPDX-License-Identifier: Apache-2.0
"""Result documents: what is read, what is refused, and the text forms."""

from __future__ import annotations

import copy
import csv
import io
import json
from pathlib import Path

import fixture
import pytest
from isthmus import results
from isthmus.results import ResultError, document, latency_table, load, measurement, to_csv, write


def _small():
    return fixture.document(timestamps=(1, 8), systems=("gige-direct",), methods=("blocking",))


def test_a_document_survives_the_disk(tmp_path: Path) -> None:
    made = _small()
    write(made, tmp_path / "deep" / "result.json")
    again = load(tmp_path / "deep" / "result.json")
    assert again.results == made.results
    assert again.raw == json.loads(json.dumps(made.raw))
    assert again.context.seed == 1
    assert len(again.context.sources) == 64


def test_unknown_fields_are_ignored_and_kept(tmp_path: Path) -> None:
    raw = copy.deepcopy(dict(_small().raw))
    raw["results"][0]["later_invention"] = {"a": 1}
    made = document(raw["context"], raw["results"])
    write(made, tmp_path / "r.json")
    assert load(tmp_path / "r.json").raw["results"][0]["later_invention"] == {"a": 1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r.pop("definition"), "'definition' is a required property"),
        (lambda r: r.update(definition="guess"), "results/0/definition: 'guess' is not one of"),
        (lambda r: r["latency_ps"].update(min=-1), "results/0/latency_ps/min: -1 is less than the minimum"),
        (lambda r: r.update(iterations=0), "results/0/iterations: 0 is less than the minimum of 1"),
        (lambda r: r["stages"][0].pop("where"), "results/0/stages/0: 'where' is a required property"),
    ],
)
def test_a_wrong_document_is_refused_by_place(tmp_path: Path, change, said: str) -> None:
    raw = copy.deepcopy(dict(_small().raw))
    change(raw["results"][0])
    path = tmp_path / "r.json"
    path.write_text(json.dumps(raw))
    with pytest.raises(ResultError) as error:
        load(path)
    assert said in str(error.value)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    with pytest.raises(ResultError, match=r"r\.json: No such file or directory; expected a result file"):
        load(path)
    path.write_text("{")
    with pytest.raises(ResultError, match=r"r\.json: not JSON"):
        load(path)
    path.write_text('{"schema": "isthmus.result/2"}')
    with pytest.raises(ResultError, match=r"schema is 'isthmus\.result/2'; this version reads"):
        load(path)
    path.write_text("[]")
    with pytest.raises(ResultError, match="schema is 'list'"):
        load(path)


def test_stages_must_add_up() -> None:
    raw = copy.deepcopy(_small().raw["results"][0])
    raw["stages"][0]["ps"] += 1
    with pytest.raises(ResultError, match=r"blocking/ts1: its stages add up to \d+ ps, but it took \d+ ps"):
        measurement(raw)


@pytest.mark.parametrize(
    ("samples", "shown"),
    [
        (19, []),
        (20, ["p50"]),
        (90, ["p50"]),
        (100, ["p50", "p90"]),
        (999, ["p50", "p90"]),
        (1000, ["p50", "p90", "p99"]),
        (100_000, ["p50", "p90", "p99", "p99.9", "p99.99"]),
    ],
)
def test_percentiles_need_ten_samples_beyond(samples: int, shown: list[str]) -> None:
    raw = copy.deepcopy(_small().raw["results"][0])
    raw["latency_ps"] |= {"p50": 1, "p90": 1, "p99": 1, "p99.9": 1, "p99.99": 1}
    raw["histogram"]["buckets"] = [[1, samples]]
    latency = measurement(raw).latency
    assert latency is not None
    assert [key for key, value in latency.percentiles.items() if value is not None] == shown


def test_a_run_without_samples_is_not_a_failure() -> None:
    raw = copy.deepcopy(_small().raw["results"][0])
    raw |= {"latency_ps": None, "histogram": None, "throughput": None}
    m = measurement(raw)
    assert m.time_per_timestamp is None
    assert to_csv([m]).count("\n") == 2
    assert latency_table([m]).count("\n") == 3


def test_csv_has_a_line_a_measurement_and_blanks_for_percentiles() -> None:
    made = _small()
    rows = list(csv.DictReader(io.StringIO(to_csv(made))))
    assert [row["id"] for row in rows] == [m.id for m in made]
    first = rows[0]
    assert first["p90_us"] == ""
    assert first["blank_percentiles"].startswith(
        "p90: n=90, needs 100: -n 100; p99: n=90, needs 1000: -n 1000"
    )
    assert float(first["p50_us"]) > 0
    assert float(first["mean_us"]) == pytest.approx(made.results[0].latency.avg / 1e6)
    assert first["definition"] == "rtt"


GOLDEN = """\
# etherbone / gige-direct / isthmus / blocking: round trip, closed-loop, seed 1
#bytes  #iterations  t_min[usec]  t_max[usec]  t_typical[usec]  t_avg[usec]  t_stdev[usec]\
  p50 (no OS noise)  workload
     8           90       11.173       11.176           11.174       11.174          0.001\
             11.174       ts1
    64           90       11.761       11.764           11.762       11.762          0.001\
             11.762       ts8
# blank: p90: n=90, needs 100: -n 100; p99: n=90, needs 1000: -n 1000; p99.9: n=90, needs 10000: -n 10000;\
 p99.99: n=90, needs 100000: -n 100000

"""


def test_the_latency_table_is_perftests() -> None:
    made = [m for m in _small() if m.profile == "isthmus" and m.name.startswith("ts")]
    assert latency_table(made) == GOLDEN


def test_the_reference_page_has_every_field() -> None:
    schema = json.loads((Path(results.__file__).parent / "result-1.schema.json").read_text())
    page = (Path(__file__).parents[3] / "docs" / "reference" / "results.md").read_text()
    for field in schema["$defs"]["measurement"]["properties"]:
        assert f"`{field}`" in page, field


def test_wire_bytes_that_nothing_counts_are_an_empty_field() -> None:
    raw = copy.deepcopy(_small().raw["results"][0])
    raw["throughput"] |= {"wire_bytes": None, "wire_bit_s": None}
    m = measurement(raw)
    assert m.throughput is not None
    assert m.throughput.wire_bytes is None
    (row,) = csv.DictReader(io.StringIO(to_csv([m])))
    assert (row["wire_MB_per_s"], row["payload_MB_per_s"] != "") == ("", True)


def test_what_was_left_out_is_in_the_csv() -> None:
    row = next(csv.DictReader(io.StringIO(to_csv(_small()))))
    assert (row["excluded_head"], row["excluded_tail"]) == ("1", "1")
