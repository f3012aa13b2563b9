# SPDX-License-Identifier: Apache-2.0
"""The page: self-contained, accessible, complete; the static figure; what must not be drawn."""

from __future__ import annotations

import copy
import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import fixture
import pytest
from isthmus import report
from isthmus.report import draw as page
from isthmus.results import Document, ResultError, document, write
from isthmus.roads.etherbone.figures import figures
from isthmus.roads.etherbone.svg import main_figure


@pytest.fixture(scope="module")
def made() -> Document:
    return fixture.document()


@pytest.fixture(scope="module")
def html(made: Document) -> str:
    return page(made)


class _Page(HTMLParser):
    """Collects what the checks below ask for."""

    void = frozenset({"meta", "line", "rect", "path", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for key, value in attrs if key == "id" and value]
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def parsed(html: str) -> _Page:
    found = _Page()
    found.feed(html)
    assert found.open == []
    return found


def test_the_page_needs_no_network(parsed: _Page, html: str) -> None:
    for tag, attributes in parsed.tags:
        assert tag not in ("link", "iframe", "img")
        assert "src" not in attributes
        assert not (attributes.get("href") or "#").startswith("http")
    style = html[html.index("<style>") : html.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


def test_every_figure_has_its_chart_its_label_and_its_table(parsed: _Page, made: Document) -> None:
    drawn = figures(made)
    names = ["time", "rate", "throughput", "latency", "words", "stages", "timeline"]
    assert [figure.id for figure in drawn] == names
    charts = {a["id"]: a for tag, a in parsed.tags if a.get("class") == "chart"}
    for figure in drawn:
        for number, panel in enumerate(figure.panels):
            chart = charts[f"chart-{figure.id}-{number}"]
            assert chart["role"] == "img"
            assert chart["aria-label"] == panel.label
        assert figure.table.rows
        assert {len(row) for row in figure.table.rows} == {len(figure.table.columns)}
    assert len(parsed.ids) == len(set(parsed.ids))


def test_units_stand_at_every_axis_and_published_points_are_marked(made: Document) -> None:
    for figure in figures(made):
        for panel in figure.panels:
            axes = [panel.option["xAxis"], panel.option["yAxis"]]
            named = [axis["name"] for axis in axes if axis["type"] != "category"]
            assert all("[" in name or "timestamps" in name or "words" in name for name in named), named
    drawn = {
        panel.title: [s["data"] for s in panel.option["series"] if s["name"].startswith("published")]
        for panel in figures(made)[0].panels
    }
    assert drawn.pop("pcie-scu3") == [[(1, 25.0), (8, 10.0)]]
    assert set(map(str, drawn.values())) == {"[]"}, "on the platform they were measured on, and no other"


def test_the_panels_of_a_figure_share_their_scale(made: Document) -> None:
    for figure in figures(made)[:5]:
        scales = {(p.option["yAxis"]["min"], p.option["yAxis"]["max"]) for p in figure.panels}
        assert len(scales) == 1, figure.id


def test_the_answer_and_the_definitions_are_on_the_page(html: str) -> None:
    assert "Pipelined is fastest" in html
    assert "Latency is round trip; arrivals: closed-loop, window:256" in html
    assert "1 MiB 2<sup>20</sup> bytes" in html
    assert "sha256" in html
    assert "not simulated" in html
    assert "Apache ECharts" in html


def test_data_cannot_end_the_script(made: Document) -> None:
    raw = copy.deepcopy(dict(made.raw))
    for item in (item for item in raw["results"] if item["stages"]):
        item["stages"][0]["name"] = "</script><b>"
        item["timeline"][0]["name"] = "</script><b>"
    text = page(document(raw["context"], raw["results"]))
    assert text.count("</script>") == 2
    assert "</script><b>" not in text
    assert "&lt;/script&gt;&lt;b&gt;" in text


def test_definitions_do_not_mix_on_one_axis(made: Document) -> None:
    raw = copy.deepcopy(dict(made.raw))
    raw["results"][0]["definition"] = "one_way"
    with pytest.raises(ResultError, match="figure latency: one-way and round trip cannot share one axis"):
        figures(document(raw["context"], raw["results"]))


def test_a_document_with_little_in_it_still_makes_a_page() -> None:
    text = page(fixture.document(timestamps=(1,), methods=("blocking",), systems=("gige-direct",)))
    assert 'id="chart-time-0"' in text


def test_colours_have_contrast() -> None:
    """WCAG: 4.5 to 1 for text, 3 to 1 for lines of charts, on the page and on cards, light and dark."""
    css = (Path(report.__file__).parent / "page.css").read_text()
    blocks = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{3,6})", block))
        for back in ("page", "card"):
            for name, least in [("text", 4.5), ("soft", 4.5), ("link", 4.5), ("good", 4.5), ("bad", 4.5)]:
                assert _contrast(colours[name], colours[back]) >= least, (name, back)
            for number in range(1, 7):
                assert _contrast(colours[f"c{number}"], colours[back]) >= 3


def _contrast(first: str, second: str) -> float:
    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_static_figure_is_wellformed_and_tells_its_numbers(made: Document) -> None:
    root = ElementTree.fromstring(main_figure(made))
    space = "{http://www.w3.org/2000/svg}"
    assert len(root.findall(f"{space}path")) == 6
    description = root.findtext(f"{space}desc") or ""
    assert "blocking, isthmus: 11.2 us with 1, 1.47 us with 8 timestamps a cycle" in description
    with pytest.raises(ResultError, match="no timestamps over pcie"):
        main_figure(made, "pcie")


def test_run_draws_from_a_file(made: Document, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    write(made, tmp_path / "r.json")
    report.run(tmp_path / "r.json", out=tmp_path / "a" / "page.html")
    report.run(tmp_path / "r.json", svg=tmp_path / "b" / "figure.svg")
    assert capsys.readouterr().out == f"{tmp_path}/a/page.html\n{tmp_path}/b/figure.svg\n"
    assert (tmp_path / "a" / "page.html").read_text().startswith("<!doctype html>")
    assert json.loads((tmp_path / "r.json").read_text())["schema"] == "isthmus.result/1"
