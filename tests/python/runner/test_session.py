# SPDX-License-Identifier: Apache-2.0
"""`isthmus.bench.session`: platforms and models once, missing models built together, before the first run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from isthmus import platforms
from isthmus.bench.session import Session
from isthmus.models import ModelSpec


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What is built and run, in order; nothing is built or run in fact."""
    found: list[Any] = []

    def place(spec: ModelSpec) -> Path:
        values = "".join(f"-{key}{value}" for key, value in spec.parameters.items())
        return Path(f"{spec.top}{values}-{spec.trace}.so")

    def run_all(scenarios: Any, title: str, runner: Any) -> list[dict[str, Any]]:
        del runner
        found.append((title, [dict(one) for one in scenarios]))
        return []

    def build(specs: list[ModelSpec]) -> None:
        found.append(sorted(place(spec).name for spec in specs))

    monkeypatch.setattr("isthmus.bootstrap.ensure_native", lambda: found.append("simulator"))
    monkeypatch.setattr("isthmus.bench.runner.place", place)
    monkeypatch.setattr("isthmus.bench.runner.build", build)
    monkeypatch.setattr("isthmus.bench.runner.run_all", run_all)
    return found


def test_missing_models_are_built_together_once_and_before_the_runs(log: list[Any]) -> None:
    session = Session("reads")
    made = [session.model("top", {"Lanes": lanes}) for lanes in (1, 2, 1)]
    assert made == [Path(f"top-Lanes{lanes}-none.so") for lanes in (1, 2, 1)]
    assert log == []
    session.run([{"a": 1}])
    session.run([{"b": 2}], "again")
    assert log == [
        "simulator", ["top-Lanes1-none.so", "top-Lanes2-none.so"], ("reads", [{"a": 1}]),
        "simulator", ("again", [{"b": 2}]),
    ]  # fmt: skip


def test_models_that_are_given_are_not_built(log: list[Any]) -> None:
    def by_function(top: str, values: Mapping[str, int]) -> Path:
        return Path(f"{top}{sum(values.values())}.so")

    givens: list[tuple[Any, str]] = [
        (Path("one.so"), "one.so"),
        ({"top": Path("its.so")}, "its.so"),
        (by_function, "top3.so"),
    ]
    for given, expected in givens:
        session = Session("reads", given=given, runner=lambda _: [])
        assert session.model("top", {"A": 1, "B": 2}) == Path(expected)
        session.run([])
    assert log == [("reads", [])] * 3


def test_a_waveform_is_written_by_the_models_that_may(log: list[Any], tmp_path: Path) -> None:
    session = Session("reads", waveform=tmp_path / "a.fst")
    assert session.model("device").name == "device-fst.so"
    assert session.model("host", waveform=False).name == "host-none.so"
    session.run([{"a": 1}])
    assert log[-1] == ("reads", [{"a": 1, "waveform": str(tmp_path / "a.fst")}])
    assert Session("reads").model("device", waveform=True).name == "device-fst.so"


def test_a_platform_is_loaded_once_and_may_be_one_that_was_changed() -> None:
    session = Session("reads")
    assert session.platform("gige-direct") is session.platform("gige-direct")
    own = platforms.load("usb-t5810")
    assert session.platform(own) is own
    assert session.platform("usb-t5810") is own


def test_the_document_has_platforms_models_seed_and_remarks(log: list[Any]) -> None:
    session = Session("reads", command="isthmus bench reads")
    session.platform("gige-direct")
    session.model("top", {"Lanes": 2})
    made = session.document(session.run([]), 7, {"notes": ["a note"]})
    assert list(made.constants) == ["gige-direct"]
    assert made.context.models == {"top Lanes=2": "top-Lanes2-none.so"}
    assert (made.context.seed, made.raw["context"]["notes"]) == (7, ["a note"])
    assert made.context.command == "isthmus bench reads"
