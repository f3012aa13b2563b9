# SPDX-License-Identifier: Apache-2.0
"""The table of roads: every reference leads somewhere, and no two roads use one name."""

import importlib
from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest
from isthmus.errors import UserError
from isthmus.quantities import QUANTITIES
from isthmus.roads.table import ROADS, having, resolve, road, roads
from isthmus.verify import PUBLISHED

ROOMS = [Path(importlib.import_module(module).__file__ or "").parent for module in ROADS.values()]
REFERENCES = (
    "serve", "kinds", "verify", "quantities", "comparisons", "area_notes", "text", "core", "columns", "page",
    "svg", "label", "shown",
)  # fmt: skip


@pytest.mark.parametrize("name", ROADS)
def test_every_reference_leads_somewhere(name: str) -> None:
    one = road(name)
    assert one.name == name
    for field in REFERENCES:
        if reference := getattr(one, field):
            assert resolve(reference) is not None, field
    tools = [reference for _, reference in one.tools.values()]
    for reference in (*one.commands.values(), *tools, *one.gives.values()):
        assert resolve(reference) is not None
    if one.published:
        assert (PUBLISHED / f"{one.published}.csv").is_file()


def test_what_a_road_gives_is_asked_for_by_another_one() -> None:
    asked = "".join(
        (path / "published.py").read_text() for path in ROOMS if (path / "published.py").is_file()
    )
    for one in having("gives"):
        for what in one.gives:
            assert f'"{what}"' in asked, f"{one.name} gives something for {what!r}"
            assert set(what.split()) & (set(ROADS) - {one.name}), what


def test_references_are_all_fields_that_are_none_of_the_rest() -> None:
    rest = {"name", "title", "commands", "tools", "published", "beside", "gives", "places", "question"}
    assert {field.name for field in fields(road(next(iter(ROADS))))} == {*REFERENCES, *rest}


def test_no_name_is_used_by_two_roads() -> None:
    commands = [name for one in roads() for name in (*one.commands, *one.tools)]
    kinds = [name for one in having("kinds") for name in resolve(one.kinds)]
    quantities = list(QUANTITIES)
    for field in ("quantities", "comparisons"):
        quantities += [name for one in having(field) for name in resolve(getattr(one, field))]
    for names in (commands, kinds, quantities):
        assert [name for name, times in Counter(names).items() if times > 1] == []


def test_every_file_of_published_numbers_belongs_to_a_road() -> None:
    files = {file.stem for file in PUBLISHED.glob("*.csv")} - {"rtl-targets"}
    assert {one.published for one in having("published")} == files


def test_an_unknown_road_comes_with_the_nearest_one() -> None:
    with pytest.raises(UserError, match="unknown road 'rdm'; did you mean 'rdma'"):
        road("rdm")
