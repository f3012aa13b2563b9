# SPDX-License-Identifier: Apache-2.0
"""The page shows what the terminal shows, and chooses among measured points only."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import made_up
import pytest
from isthmus.compare.answer import SIZE
from isthmus.compare.cells import case_key, cells
from isthmus.compare.page import _place_colours, page


class _Views(HTMLParser):
    """The text of each view, and which of them are seen at first."""

    def __init__(self) -> None:
        super().__init__()
        self.text: dict[str, str] = {}
        self.seen: set[str] = set()
        self._inside: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("div", "section"):
            self._inside.append(given.get("data-key") or (self._inside[-1] if self._inside else ""))
            if "data-key" in given and "hidden" not in given:
                self.seen.add(given["data-key"] or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("div", "section") and self._inside:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if self._inside and self._inside[-1]:
            self.text[self._inside[-1]] = self.text.get(self._inside[-1], "") + " " + data


def _views(text: str) -> _Views:
    made = _Views()
    made.feed(re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL))
    return made


def _data(text: str) -> dict[str, Any]:
    found = re.search(r"^const data = (.*);$", text, re.MULTILINE)
    assert found
    made: dict[str, Any] = json.loads(found[1])
    return made


@pytest.mark.parametrize("options", [{}, {"op": "read"}, {"op": "write", "size": "8:4K", "rate": "25k"}])
def test_the_page_has_the_figures_of_the_terminal(options: dict[str, Any]) -> None:
    found = made_up.found(**options)
    shown = _views(found.page())
    for view in found.answer.views:
        text = shown.text[case_key(view.case)]
        assert view.decision in text
        for row in view.rows:
            for cell in cells(view, row):
                assert cell in text or cell.startswith("n < ")
    assert shown.seen == {case_key(found.answer.sweeps[0].at(SIZE).case)}


def test_the_title_is_the_question() -> None:
    text = made_up.found(op="write", size="2K").page()
    assert '<h1 id="title">Host writes 2 KiB to an FPGA</h1>' in text
    assert "<title>Host writes 2 KiB to an FPGA</title>" in text


def test_one_size_has_no_chart_and_no_library_of_charts() -> None:
    one, several = made_up.found(op="read").page(), made_up.found(op="read", size="8:64").page()
    assert _data(one)["sweeps"] == [None]
    assert "echarts.init" in one
    assert len(one) < 200_000 < len(several)
    [chart] = _data(several)["sweeps"]
    assert all(len(series["points"]) == 4 for series in chart["series"])


def test_every_chart_has_its_numbers_beside_it() -> None:
    found = made_up.found(op="read", size="8:64")
    text = found.page()
    [chart] = _data(text)["sweeps"]
    sizes = text.partition('id="sizes"')[2].partition('id="crossovers"')[0]
    for row in found.answer.rows:
        assert row.name in sizes
    assert len(chart["series"]) == len(found.answer.sweeps[0].lines)


def test_controls_offer_what_was_measured_and_name_the_command_for_the_rest() -> None:
    text = made_up.found(op="read", size="8,256").page()
    data = _data(text)
    assert set(data["views"]) == {"host-read-8-w1", "host-read-256-w1"}
    assert '<option value="4096">4 KiB</option>' in text
    assert '<option value="256" selected>256 bytes</option>' in text
    assert data["arrivals"] == {"w1": "", "w4": " --window 4", "r100000": " --rate 100k"}
    assert '<option value="put">put</option>' in text


def test_nothing_in_the_page_comes_from_elsewhere_or_ends_a_script() -> None:
    text = made_up.found().page()
    assert not re.search(r'(src|href)="https?:', text)
    assert text.count("</script>") == 2


def test_constants_that_were_set_are_shown_as_set() -> None:
    text = made_up.found(op="read", platforms=["pcie-t5810"], settings=["link.lanes=8"]).page()
    assert "set by --set" in text
    assert "pcie-t5810 with link.lanes=8" in text


def test_a_page_drawn_from_the_file_is_the_same() -> None:
    from isthmus.results import document

    found = made_up.found(op="read")
    raw = json.loads(json.dumps(dict(found.document.raw)))
    again = document(raw["context"], raw["results"])
    assert "PCIe" not in _views(page(again)).text["host-read-256-w1"], "constants name the interconnect"
    assert found.page() == page(found.document)


def test_each_place_of_a_figure_has_a_colour_of_its_own() -> None:
    """Those of any eight places, of whatever roads."""
    places = ("bus", "wire", "host", "nic", "switch", "fpga", "pcie", "memory")
    parts = [SimpleNamespace(place=place) for place in places]
    view: Any = SimpleNamespace(rows=[SimpleNamespace(parts=parts[:5]), SimpleNamespace(parts=parts[3:])])
    assert sorted(_place_colours(view).values()) == list(range(1, 9))
