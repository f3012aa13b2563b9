# SPDX-License-Identifier: Apache-2.0
"""A result carries the constants it ran with; what is drawn later shows those."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import fixture
import pytest
from isthmus import platforms, verify
from isthmus.platforms.load import FOLDER
from isthmus.report import draw as page
from isthmus.results import Document, context, document, load, write
from isthmus.roads.etherbone import tables


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result file of today."""
    path = tmp_path_factory.mktemp("result") / "old.json"
    write(fixture.document(systems=("gige-direct", "pcie-t5810"), iterations=90), path)
    return path


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The platform files of another day: interrupts 77 us apart, and one of the platforms renamed."""
    folder = shutil.copytree(FOLDER, tmp_path / "platforms")
    gige = folder / "_gige.toml"
    text = gige.read_text()
    assert re.search(r"^interrupt_gap = \{ value = 50,", text, re.MULTILINE)
    gige.write_text(text.replace("interrupt_gap = { value = 50,", "interrupt_gap = { value = 77,"))
    (folder / "pcie-t5810.toml").rename(folder / "pcie-of-2018.toml")
    here = platforms.load

    def other(name: str, where: Path = folder) -> Any:
        return here(name, where)

    monkeypatch.setattr(platforms, "load", other)
    assert other("gige-direct").groups["nic"].interrupt_gap.value == 77
    with pytest.raises(platforms.PlatformError):
        platforms.load("pcie-t5810")


def _rows(html: str, what: str) -> list[str]:
    return [row for row in re.findall(r"<tr>.*?</tr>", html) if what in row]


def test_the_document_holds_every_constant_with_value_unit_and_source(made: Path) -> None:
    raw = json.loads(made.read_text())
    given = platforms.load("gige-direct")
    (gap,) = (one for one in raw["platforms"]["gige-direct"]["constants"] if one["name"] == "interrupt_gap")
    constant = given.groups["nic"].interrupt_gap
    assert (gap["part"], gap["value"], gap["unit"]) == ("nic", 50.0, "us")
    assert gap["source"] == constant.source
    holders = [given.fpga, *given.groups.values(), *given.profiles.values()]
    expected = sum(len(platforms.declared(type(holder))) for holder in holders)
    assert len(raw["platforms"]["gige-direct"]["constants"]) == expected


@pytest.mark.usefixtures("changed")
def test_a_page_drawn_later_shows_the_constants_of_the_run(made: Path) -> None:
    html = page(load(made))
    (row,) = (row for row in _rows(html, ">nic<") if ">us<" in row)
    assert ">50<" in row, "the 50 us of the run"
    assert ">77<" not in html
    assert "77.0 us" not in html
    assert "at least 50.0 us apart" in html, "in the answer as well"
    assert "Constants of pcie-t5810 and their sources" in html, "though no file has this name any more"


@pytest.mark.usefixtures("changed")
def test_the_answer_and_the_published_numbers_need_no_platform_file(made: Path) -> None:
    drawn = load(made)
    assert "pcie-t5810" in tables.text(drawn)
    rows = {row.id: row.simulated for row in verify.rows(drawn, "etherbone")}
    assert rows
    m = next(m for m in drawn if m.platform == "gige-direct")
    assert m.constants is not None
    assert m.constants.value("nic", "interrupt_gap") == 50.0


def _without_constants(made: Path, tmp_path: Path) -> Document:
    raw = json.loads(made.read_text())
    del raw["platforms"]
    path = tmp_path / "before.json"
    path.write_text(json.dumps(raw))
    return load(path)


@pytest.mark.usefixtures("changed")
def test_a_result_of_before_is_drawn_with_a_note(made: Path, tmp_path: Path) -> None:
    html = page(_without_constants(made, tmp_path))
    assert "gige-direct, pcie-t5810: constants not stored" in html
    assert "and their sources</summary>" not in html
    assert ">77<" not in html
    assert "us apart" not in html, "nothing is said of a constant that is not known"


def test_a_page_says_when_other_sources_drew_it(made: Path) -> None:
    raw = json.loads(made.read_text())
    note = "Measured by other sources than those that drew this page"
    for sources, noted in ((context.sources_hash(), False), ("0" * 64, True)):
        run = raw["context"] | {"sources": sources}
        drawn = document(run, raw["results"], [platforms.load(n) for n in ("gige-direct", "pcie-t5810")])
        assert (note in page(drawn)) is noted
