# SPDX-License-Identifier: Apache-2.0
"""A new road takes part in compare by the module that its entry in the table of roads names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import made_up
import pytest
from isthmus.compare.api import compare
from isthmus.compare.question import Driver
from isthmus.compare.terminal import screen
from isthmus.errors import UserError
from isthmus.roads import table

TESTS = Path(__file__).parents[2]
MAILBOX = str(TESTS / "template_road" / "mailbox.toml")


class Question:
    """The template road's question module; it reads at most 64 bytes."""

    DEFAULTS = ()

    @staticmethod
    def carries(platform: Any) -> dict[str, tuple[Driver, ...]]:
        return {"host-read": (Driver("loads", "isthmus"),)} if platform.bus == "mailbox" else {}

    @staticmethod
    def refusal(question: Any, driver: Driver, size: int) -> str:
        del question, driver
        return "a mailbox takes 4 to 64 bytes" if size > 64 else ""

    @staticmethod
    def interconnect(given: Any, driver: str) -> str:
        del given, driver
        return "mailbox"

    family = interconnect

    @staticmethod
    def driver_text(driver: str, profile: str, given: Any) -> str:
        del profile, given
        return driver

    @staticmethod
    def scenarios(question: Any, platform: Any, drivers: Any, models: Any) -> list[dict[str, Any]]:
        from template_road import bench

        del models
        return [
            bench.scenario(platform, driver.profile, size, question.requests(size), question.seed)
            for driver, size in drivers
        ]


def engine(scenario: Any) -> Any:
    """The template's own measurements, made up; other roads' as elsewhere."""
    if scenario["road"] != "template":
        return made_up.engine(scenario)
    sys.path.insert(0, str(TESTS / "python"))
    import test_template_road

    return test_template_road.engine(scenario)


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(TESTS))
    monkeypatch.syspath_prepend(str(TESTS / "python"))
    monkeypatch.setitem(table.ROADS, "template", "template_road")
    table._load.cache_clear()
    import template_road

    monkeypatch.setattr(template_road, "ROAD", replace(template_road.ROAD, question=f"{__name__}:Question"))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "template_road"]:
        del sys.modules[name]
    table._load.cache_clear()


def test_it_stands_in_the_same_table_as_every_other_road() -> None:
    found = compare("read", 64, platforms=[MAILBOX, "gige-direct"], runner=engine, models=made_up.model)
    assert {row.platform for row in found.answer.rows} == {"mailbox", "gige-direct"}
    text = screen(found.answer)
    assert "\n mailbox " in text
    assert "mailbox with loads" in text
    assert "mailbox" in found.page()


def test_what_it_does_not_carry_is_refused_in_its_words() -> None:
    with pytest.raises(UserError, match=r"^256 bytes: a mailbox takes 4 to 64 bytes$"):
        compare("read", 256, platforms=[MAILBOX], runner=engine, models=made_up.model)
