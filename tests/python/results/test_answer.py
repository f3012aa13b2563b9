# SPDX-License-Identifier: Apache-2.0
"""The answer in words follows from the numbers."""

from __future__ import annotations

import copy
from pathlib import Path

import fixture
import pytest
from isthmus.results import Document, document
from isthmus.roads.etherbone import command
from isthmus.roads.etherbone.answer import answer, changes


def _scaled(made: Document, part: str, factor: float) -> Document:
    """The document with every measurement whose id holds `part` slowed down."""
    raw = copy.deepcopy(dict(made.raw))
    for item in raw["results"]:
        if part in item["id"]:
            rates = item["throughput"]
            for key in ("payload_bit_s", "wire_bit_s", "cycles_per_s", "timestamps_per_s"):
                if key in rates:
                    rates[key] /= factor
    return document(raw["context"], raw["results"])


@pytest.fixture(scope="module")
def made() -> Document:
    return fixture.document()


def _text(made: Document) -> str:
    return "\n".join(line for sentence in answer(made) for line in (sentence.text, *sentence.items))


def test_the_fastest_is_named_with_its_cost(made: Document) -> None:
    headline = answer(made)[0].text
    assert headline.startswith(
        "Pipelined is fastest: with 8 timestamps a cycle one timestamp (8 bytes) costs 124 ns"
    )
    assert "blocking 1.47 us (11.9 times as long)" in headline


def test_another_winner_changes_the_answer(made: Document) -> None:
    slow = _scaled(made, "/pipelined/", 1000)
    assert answer(slow)[0].text.startswith("Blocking is fastest: with 8 timestamps a cycle one")
    assert "Blocking beats pipelined at every cycle size from 1 to 8" in _text(slow)


def test_what_was_measured_alone_is_compared_with_nothing(made: Document) -> None:
    one = made.results[0].platform
    some = [
        item
        for item in made.raw["results"]
        if item["platform"] == one and item["method"] == "blocking" and not item["id"].endswith("ts8")
    ]
    text = _text(document(made.raw["context"], some))
    assert text.startswith("Blocking alone was measured: with 7 timestamps a cycle")
    for word in ("fastest", "overtakes", "place"):
        assert word not in text.replace("place to place", "")


def test_a_crossover_is_found(made: Document) -> None:
    crossed = made
    for count in (1, 2, 3):
        crossed = _scaled(crossed, f"/pipelined/ts{count}", 1000)
    assert "Pipelined and blocking change places at 4 timestamps a cycle." in _text(crossed)


def test_the_reasons_come_from_the_stages(made: Document) -> None:
    text = _text(made)
    assert (
        "profile isthmus polls the network interface, as published waits for interrupts, at least 50.0 us"
        in text
    )
    assert "85 % is the network interface" in text
    assert "the longest single stage is “wait for the interrupt” with 10.0 us" in text
    assert "adds 3.00 us (26 %) to a blocking cycle of 8 timestamps; a timestamp costs 1.85 us" in text
    assert (
        "Blocking, 8 timestamps a cycle, profile isthmus reads one over\n"
        "gige-direct: 1.47 us instead of 3.35 us (2.3 times as fast)\n" in text
    )


def test_roads_are_ranked(made: Document) -> None:
    slow = _scaled(made, "/gige-direct/isthmus/blocking/", 10)
    ranking = next(
        s.text for s in answer(slow) if s.text.startswith("Profile isthmus, blocking, 1 timestamp a")
    )
    assert ranking.index("pcie-scu3") < ranking.index("gige-direct 1")


def _with_words(made: Document, method: str, factors: dict[str, dict[int, float]]) -> Document:
    """The document with other times of reads of so many words, by platform; of profile isthmus."""
    raw = copy.deepcopy(dict(made.raw))
    for item in raw["results"]:
        for platform, by_words in factors.items():
            if f"/{platform}/isthmus/{method}/words" in item["id"]:
                item["latency_ps"]["avg"] *= by_words.get(item["workload"]["words"], 1.0)
    return document(raw["context"], raw["results"])


def test_one_road_that_is_always_the_fastest_is_named(made: Document) -> None:
    faster = dict.fromkeys((1 << n for n in range(11)), 0.5)
    [said] = [
        s
        for s in answer(_with_words(made, "blocking", {"pcie-scu3": faster}))
        if s.text.startswith("Profile isthmus, blocking, words read:")
    ]
    assert said.text.endswith(": pcie-scu3 is the fastest at every size. No road overtakes another.")
    assert said.items == ()


def test_the_fastest_road_of_each_size_and_who_is_overtaken_by_whom_are_named(made: Document) -> None:
    slow = dict.fromkeys((32, 64, 128, 256, 512, 1024), 2.0)
    fast = dict.fromkeys((1, 2, 4, 8, 16), 0.5)
    text = _text(_with_words(made, "blocking", {"pcie-scu3": slow | fast}))
    assert (
        "Profile isthmus, blocking, words read: the fastest is pcie-scu3 up to 16 words, "
        "gige-direct from 32 on. Overtaken:\n"
        "pcie-scu3 by gige-direct, gige-switch, usb-t5810 and vme-rio4 from 32 words on\n" in text
    )


def test_a_road_that_is_the_fastest_at_one_size_alone_is_named(made: Document) -> None:
    one = {"pcie-scu3": {1: 0.1, 2: 0.1, 4: 0.1}, "gige-switch": {8: 0.1}}
    text = _text(_with_words(made, "blocking", one))
    assert "the fastest is pcie-scu3 up to 4 words, gige-switch at 8, gige-direct from 16 on." in text


def test_who_is_overtaken_is_named_even_where_no_size_is_measured_over_all_roads(made: Document) -> None:
    raw = copy.deepcopy(dict(_with_words(made, "blocking", {"pcie-scu3": {1: 0.1}}).raw))
    for item in raw["results"]:
        if "/gige-switch/isthmus/blocking/words" in item["id"]:
            item["workload"]["words"] += 3000
    text = _text(document(raw["context"], raw["results"]))
    assert "blocking, words read: no size was measured over all roads. Overtaken:\npcie-scu3 by " in text


def test_nothing_measured_is_said() -> None:
    empty = document(fixture.document(timestamps=(1,)).raw["context"], [])
    assert _text(empty) == "No timestamps were read: there is nothing to compare."


GOLDEN = """\
# time per timestamp (8 bytes) [us], by timestamps in one Etherbone cycle; steady: warm-up and
# drain are left out; convenience and blocking: closed loop; pipelined: window:256
#platform    profile       method           1      2      3      4      5      6      7      8
gige-direct  as-published  blocking      26.2   13.1   8.78   6.61   5.30   4.43   3.81   3.35
gige-direct  as-published  convenience   52.3   52.5   52.7   52.9   53.0   53.2   53.4   53.5
gige-direct  as-published  pipelined    0.661  0.366  0.268  0.218  0.189  0.169  0.155  0.145
"""


def test_run_prints_the_table_and_says_where_the_page_is(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    command.run(out=tmp_path, runner=fixture.engine, model=fixture.MODEL)
    printed = capsys.readouterr().out
    assert printed.startswith(GOLDEN)
    names = [f"{tmp_path}/etherbone.{ending}" for ending in ("json", "csv", "html")]
    assert printed.endswith(f"# results: {names[0]}, {names[1]}; page: {names[2]}\n")
    assert max(map(len, printed.splitlines()[:-2])) <= 100
    # What stands in a list has a line of its own, in both.
    item = "gige-direct: 1.47 us instead of 3.35 us (2.3 times as fast)"
    assert f"\n    {item}\n" in printed
    assert f"<li>{item}</li>" in (tmp_path / "etherbone.html").read_text()
    for name in ("etherbone.html", "etherbone.json", "etherbone.csv"):
        assert (tmp_path / name).stat().st_size > 1000


def test_changes_name_the_size_from_which_on_and_which_was_ahead() -> None:
    one, other = {8: 1.0, 64: 2.0, 512: 9.0}, {8: 3.0, 64: 3.0, 512: 3.0, 4096: 3.0}
    assert changes(one, other) == [(512, True)]
    assert changes(other, one) == [(512, False)]
    assert changes(one, one) == []
