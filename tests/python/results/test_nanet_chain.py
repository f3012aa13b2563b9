# SPDX-License-Identifier: Apache-2.0
"""The trigger chain after its engine: tables, page, published numbers; measurements are made up."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from isthmus import verify
from isthmus.errors import UserError
from isthmus.results import Document, document, to_csv
from isthmus.roads.nanet import chain_page, chain_tables, command, page, tables
from isthmus.roads.nanet.chain import Chain, measure, scenario
from isthmus.roads.nanet.published import chains
from isthmus.trigger import times as measuring

US = 1_000_000


def _latency(middle: float) -> dict[str, float | None]:
    found: dict[str, float | None] = {"min": middle / 2, "max": 2 * middle, "typical": middle, "avg": middle}
    return found | {
        "stdev": 0.0,
        "p50": middle,
        "p90": middle,
        "p99": 1.5 * middle,
        "p99.9": None,
        "p99.99": None,
    }


def engine(given: Mapping[str, Any], progress: object = None) -> list[dict[str, Any]]:
    """FIXTURE, NOT A RESULT: one made-up measurement; 10 million events a second are carried."""
    del progress
    common: dict[str, Any] = {
        "road": "nanet", "platform": given["platform"]["name"], "definition": "one_way", "seed": 1,
        "iterations": 4000, "excluded": {"head": 0, "tail": 0},
        "histogram": {"unit": "ps", "significant_digits": 3, "buckets": [[5 * US, 3000], [9 * US, 1000]]},
        "timeline": [], "checked": {"bytes": 4, "wrong": 0, "lost": 0}, "counters": {},
        "simulation": {"device_cycles": 1, "evaluated_cycles": 1, "wall_s": 0.1},
    }  # fmt: skip
    name = f"nanet/{given['platform']['name']}/{given['profile']}"
    if given.get("commodity"):
        parts = {part: _latency(50 * US) for part in ("receive", "copies", "processing")}
        return [
            {
                **common, "id": f"{name}/kernel/wire-to-result/commodity", "profile": "as-published",
                "method": "kernel", "arrivals": "one at a time", "latency_ps": _latency(140 * US),
                "workload": {
                    "parts_ps": parts, "communication_typical_ps": 110 * US, "driver": "kernel", "lost": 0,
                },
                "throughput": None, "stages": [{"name": "all", "where": "host", "ps": 140 * US}],
                "stages_total_ps": 140 * US,
            }
        ]  # fmt: skip
    chain = given["chain"]
    rate = chain["rate_per_s"]
    carried = min(rate, 10e6)
    same = ("sample", "format", "events", "share", "rate_per_s", "finder", "cores", "release_us")
    workload = {key: chain[key] for key in same}
    workload |= {
        "times": chain["times"]["machine"],
        "links": 4,
        "link_mbit_s": 1000.0,
        "late": 0 if carried == rate else 900,
        "lost": 0,
        "noise": chain["times"]["noise"],
        "counted_events": 3200,
        "saturated": carried < rate,
        "bytes_an_event": 43.0,
        "driver": "poll",
        "busy": {"wire": carried / 10e6, "cores": 0.5, "merger": 0.1},
        "event_to_answer": {"latency_ps": _latency(20 * US), "histogram": common["histogram"]},
        "parts_ps": {part: _latency(US) for part, _ in chain_tables.PARTS},
    }
    short = f"wire-to-trigger/{chain['format']}-e{chain['events']}-s{chain['share']}"
    short += f"-c{chain['cores']}-r{rate:.0f}{'' if chain['times']['noise'] else '-quiet'}"
    quality = {"events": 3200, "efficiency": [0.999, 0.97, None], "multiplicity": [0.998, 0.96, None]}
    workload |= {"search": "fpga" if "search" in chain else "cpu", "quality": {**quality, "fakes": 0.03}}
    if "search" in chain:
        short = short.replace("packed", "packed-fpga")
        workload |= {"search_mhz": 250.0, "candidates": {**quality, "fakes": 0.4}}
        workload["parts_ps"] |= {"find": _latency(US / 2)}
    return [
        {
            **common, "id": f"{name}/{chain['finder']}/{short}",
            "profile": given["profile"], "method": chain["finder"], "arrivals": f"poisson:{rate:g}/s",
            "workload": workload, "latency_ps": _latency(5 * US),
            "throughput": {
                "payload_bytes": 1000, "wire_bytes": 1100, "elapsed_ps": 10**9,
                "payload_bit_s": 43 * 8 * carried, "wire_bit_s": 50 * 8 * carried, "cycles_per_s": carried,
            },
            "stages": [{"name": "rings", "where": "host", "ps": 5 * US}], "stages_total_ps": 5 * US,
        }
    ]  # fmt: skip


@pytest.fixture
def times(tmp_path: Path) -> Path:
    """A file of times of a machine that does not exist."""
    distributions = {
        "handover/4": [(100, 1)],
        "merge/packed/8": [(200, 3)],
        "find/isthmus/2": [(2000, 2), (3000, 1)],
        "find/isthmus/16": [(4000, 2)],
        "fit/isthmus/2": [(1000, 2)],
    }
    made = measuring.Times(
        "a machine", "2026-01-01", "reference", 1, "avx2", 0.5, 8, distributions, distributions
    )
    file = tmp_path / "times.json"
    file.write_text(measuring.to_json(made))
    assert measuring.load(file) == made
    return file


def measured(times: Path, rates: tuple[float, ...] = (5e6, 12e6)) -> Document:
    return measure(
        [("isthmus", Chain(rate)) for rate in rates], times=times, runner=engine, given=Path("model.so")
    )


def test_the_terminal_shows_rates_parts_and_the_path_without_the_interface(times: Path) -> None:
    text = tables.text(measured(times))
    assert "isthmus x16" in text
    assert "packed x8/2" in text
    assert "# parts of the way, isthmus, isthmus finder, 5 M events/s, us" in text
    assert "# merge, core to core, rings: drawn from times of a machine, avx2, 2026-01-01" in text
    assert "wire to result" in text
    assert to_csv(measured(times)).count("\n") == 4


def test_percentiles_are_there_with_and_without_the_machine_s_noise(times: Path) -> None:
    made = measure(
        [("isthmus", Chain(5e6, noise=noise)) for noise in (True, False)],
        times=times, runner=engine, given=Path("model.so"),
    )  # fmt: skip
    text = tables.text(made)
    assert "# parts of the way, isthmus, isthmus finder, 5 M events/s, us" in text
    assert "# parts of the way, isthmus, isthmus finder, 5 M events/s, no noise, us" in text
    noise = chain_tables.COLUMNS.index("noise")
    assert [chain_tables.row(m)[noise] for m in chain_tables.chains(made)] == ["yes", "no"]
    drawn = page.page(made)
    assert "At 5 million, without the noise of the machine that was measured: 5.00 us (p50)" in drawn


def test_the_page_says_up_to_which_rate_answers_come_in_time(times: Path) -> None:
    drawn = page.page(measured(times))
    assert (
        "At 5 million events a second over 4 links of 1 Gbit/s the answers are out 5.00 us (p50), "
        "7.50 us (p99), 10.00 us (max)" in drawn
    )
    assert "none of 3,200 events later than 100 us" in drawn
    assert "Of 12 million offered, the links carry 10.00: 900 of 3,200 are late." in drawn
    figures = chain_page.figures(measured(times))
    assert [figure.id for figure in figures] == ["chain-latency", "chain-edge", "chain-parts"]
    # Ten samples beyond a point.
    assert figures[0].panels[0].option["series"][0]["data"] == [[5.0, 0.25]]


def test_the_page_says_what_releases_the_answers(times: Path) -> None:
    made = measured(times)
    assert "is a model outside the interface" in page.page(made)
    raw = copy.deepcopy(dict(made.raw))
    for item in raw["results"]:
        item["counters"]["release.released"] = 1
    assert "The interface itself releases each answer" in page.page(document(raw["context"], raw["results"]))


def test_places_stand_side_by_side_with_their_quality(times: Path) -> None:
    made = measure(
        [("isthmus", Chain(rate, place=place)) for place in ("cpu", "fpga") for rate in (2e6, 5e6, 12e6)],
        times=times, runner=engine, given=Path("model.so"),
    )  # fmt: skip
    rows = chain_tables.places(made)
    assert [row[0] for row in rows] == ["CPU", "FPGA", "FPGA", "GPU"]
    # The fastest rate that both carried.
    assert [row[2] for row in rows] == ["5", "5", "5", "not measured here"]
    assert rows[1][5:] == ["1.00", "0.50", "0.999", "0.970", "", "0.998", "0.960", "", "0.030"]
    assert rows[2][3:] == ["", "", "1.00", "", "0.999", "0.970", "", "0.998", "0.960", "", "0.400"]
    assert "not measured here" in tables.text(made)
    drawn = page.page(made)
    assert "Three places to find rings" in drawn
    assert "the cores 0.50 instead of 1.00. The answers are the same." in drawn
    # One place alone is compared with nothing.
    assert chain_tables.places(measured(times)) == []


def test_the_document_s_numbers_of_the_trigger_are_compared(times: Path) -> None:
    chained = measure(chains(), times=times, runner=engine, given=Path("model.so"))
    found = {row.id: row for row in verify.rows(chained, "nanet")}
    assert found["nanet.budget"].verdict == "agrees"
    assert found["nanet.budget"].simulated == pytest.approx(40)
    assert found["nanet.input"].simulated == pytest.approx(430)
    assert found["nanet.commodity"].verdict == "agrees"
    assert found["nanet.commodity.budget"].simulated == pytest.approx(280)
    assert found["nanet.commodity.receive.p50"].verdict == "input"
    mine = [row for row in found.values() if row.id.startswith("nanet.commodity")]
    # Points of the distribution that a run does not state, and too few made-up samples for another one.
    blank = {row.id.removeprefix("nanet.commodity.receive.") for row in mine if row.simulated is None}
    assert blank == {"p25", "p75", "p95", "p99_5", "p99_99", "p99_9"}


def test_a_size_that_was_not_measured_is_refused(times: Path) -> None:
    wrong = r"find/isthmus/4: not measured on a machine; measured sizes: 2, 16|merge/packed/20: not measured"
    with pytest.raises(UserError, match=wrong):
        measure([("isthmus", Chain(1e6, events=20))], times=times, runner=engine, given=Path("x"))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"schema": "isthmus.trigger-times/2"}', '{"schema": "other"}']
)
def test_what_is_no_file_of_times_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "times.json"
    file.write_text(text)
    with pytest.raises(UserError, match=r"no file of isthmus trigger times") as refused:
        measuring.load(file)
    assert "\n" not in str(refused.value)


def test_isthmus_brings_times_along() -> None:
    times = measuring.load()
    from isthmus import platforms
    from isthmus.roads.nanet.bench import PLATFORM

    for layout in ("packed", "tel62"):
        for finder in ("isthmus", "almagest"):
            for events in measuring.SIZES:
                chain = Chain(5e6, events, layout, finder)
                for noise in (True, False):
                    given = scenario(
                        platforms.load(PLATFORM), "isthmus", replace(chain, noise=noise), times, Path("x")
                    )["chain"]["times"]
                    assert given["noise"] is noise
                    assert sum(count for _, count in given["find"]) >= 1000


@pytest.mark.parametrize(
    ("place", "noise", "expected"),
    [
        (None, None, ["cpu 1 noisy", "cpu 2 noisy", "cpu 3 noisy", "cpu 2 quiet", "fpga 2 noisy"]),
        ("cpu", "no", ["cpu 1 quiet", "cpu 2 quiet", "cpu 3 quiet"]),
        ("fpga", None, ["fpga 1 noisy", "fpga 2 noisy", "fpga 3 noisy", "fpga 2 quiet"]),
    ],
)
def test_without_noise_and_in_the_gateware_only_the_middle_rate_is_measured_unless_asked_for(
    place: str | None, noise: str | None, expected: list[str]
) -> None:
    runs = command._runs([3.0, 1.0, 2.0], place, noise, True)
    shown = [f"{where} {rate:g} {'noisy' if noisy else 'quiet'}" for where, rate, noisy in runs]
    assert sorted(shown) == sorted(expected)
