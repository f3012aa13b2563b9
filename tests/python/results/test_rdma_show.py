# SPDX-License-Identifier: Apache-2.0
"""What the RDMA road shows: all figures of the document, packets in flight, links, all roads together."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import rdma_fixture
import test_switch
from isthmus import report, verify
from isthmus.errors import UserError
from isthmus.platforms import load as platform
from isthmus.results import Document, ResultError, document
from isthmus.roads.pcix import bench as pcix
from isthmus.roads.rdma import bench as rdma
from isthmus.roads.rdma import command
from isthmus.roads.rdma import page as drawing
from isthmus.roads.rdma import published as rdma_published
from isthmus.roads.rdma import tables as rdma_tables
from isthmus.roads.rdma.figures import packets
from isthmus.roads.rdma.tables import steps

LINKS = rdma_published.PATHS


def engine(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Arithmetic for every road of the page."""
    if scenario["road"] == "switch":
        return test_switch.engine(scenario)
    return rdma_fixture.engine(scenario)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Document:
    return command.run(
        command.RdmaOptions("figures"),
        out=tmp_path_factory.mktemp("out"),
        runner=engine,
        given=rdma_fixture.GIVEN,
    )


@pytest.fixture(scope="module")
def drawn(made: Document) -> Mapping[str, Any]:
    return {figure.id: figure for figure in drawing.figures(made)}


# ---------------------------------------------------------------- all figures of the document


def test_figures_draw_both_designs_and_every_figure_of_the_document(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = command.run(command.RdmaOptions("figures"), out=tmp_path, runner=engine, given=rdma_fixture.GIVEN)
    assert {m.road for m in made} == {"rdma", "switch", "pcix"}
    assert {m.profile for m in made} == {"as-published", "isthmus"}
    assert len({m.id for m in made}) == len(made.results)
    page = (tmp_path / "rdma.html").read_text()
    for number in (6, 7, 8, 9):
        assert page.count(f"Figure {number} drawn again</h2>") == 1
    for needed in ("src=", "@import", "<link"):
        assert needed not in page[: page.index("<script>")]
    # Drawn again from its file the page is the same: all it shows is in there.
    again = report.run(tmp_path / "rdma.json", out=tmp_path / "again.html")
    assert again.read_text() == page
    shown = capsys.readouterr().out
    assert "one transfer of 4096 bytes" in shown
    # What bounds it comes before Figure 9's parts, with the page's shares.
    lines = shown.splitlines()
    busy = [number for number, line in enumerate(lines) if "of the whole transfer's time it is on" in line]
    assert busy
    for number in busy:
        assert "memory to memory" in lines[number + 1]
    # The page's words come from the same function.
    pages = {rdma_tables.bounds(m)[1] for m in made if len(m.workload.get("packets") or []) > 1}
    assert {lines[number].split(" it is on ")[1] for number in busy} <= pages
    assert len((tmp_path / "rdma.csv").read_text().splitlines()) == 1 + len(made.results)


def test_one_profile_is_drawn_alone_when_asked(tmp_path: Path) -> None:
    made = command.run(
        command.RdmaOptions("figures", profile="as-published"),
        out=tmp_path,
        runner=engine,
        given=rdma_fixture.GIVEN,
    )
    assert {m.profile for m in made} == {"as-published"}
    assert {m.workload["links"] for m in made if m.road == "rdma"} == {1, 2, 4}


@pytest.mark.parametrize("settings", [{"size": "8"}, {"iterations": 3}, {"posting": "v1"}, {"polled": True}])
def test_figures_take_no_settings_of_a_test(settings: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="figures have settings of their own; name a test instead") as error:
        command.run(
            command.RdmaOptions("figures", **settings), out=tmp_path, runner=engine, given=rdma_fixture.GIVEN
        )
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_every_axis_has_its_unit(drawn: Mapping[str, Any]) -> None:
    names = ["delay", "throughput", "transfer", "links", "breakdown", "packets", "crossing", "latency"]
    assert list(drawn) == names
    for figure in drawn.values():
        for panel in figure.panels:
            for axis in (panel.option["xAxis"], panel.option["yAxis"]):
                name = axis.get("name", "")
                assert axis["type"] == "category" or "names" in axis or re.search(r"\[.+\]|bytes|load", name)
        columns = len(figure.table.columns)
        assert figure.table.rows
        assert {len(row) for row in figure.table.rows} == {columns}


def test_parts_that_do_not_add_up_are_refused(made: Document) -> None:
    raw = copy.deepcopy(dict(made.raw))
    item = next(item for item in raw["results"] if item["workload"].get("components_ps"))
    item["workload"]["components_ps"]["switch"] += 1
    with pytest.raises(ResultError, match="the parts of one transfer do not add up to its"):
        drawing.figures(document(raw["context"], raw["results"]))


# ---------------------------------------------------------------- packet by packet


def test_a_row_a_packet_a_bar_a_step(made: Document, drawn: Mapping[str, Any]) -> None:
    shown = [m for m in made if m.workload.get("packets") and len(m.workload["packets"]) > 1]
    assert [m.workload["links"] for m in shown] == list(LINKS)
    figure = drawn["packets"]
    assert len(figure.panels) == len(LINKS)
    assert len(figure.table.rows) == 8 * len(LINKS)
    for m, panel in zip(shown, figure.panels, strict=True):
        packets, option = m.workload["packets"], panel.option
        assert option["yAxis"]["names"] == [f"packet {n}\nlink {n % m.workload['links']}" for n in range(8)]
        assert len(option["series"]) == sum(len(packet["steps"]) for packet in packets)
        for one in option["series"]:
            assert one["bar"]
            (begin, lane), (end, same) = one["data"]
            found = re.fullmatch(r"packet (\d), link \d: (.+)", one["name"])
            assert found is not None
            packet = packets[int(found[1])]
            assert steps(packet)[found[2]] == (begin, end)
            # Each bar lies in its packet's row, and no row reaches into the next.
            assert lane == same
            assert abs(lane - int(found[1])) < 0.5


def test_bars_of_one_line_do_not_cover_each_other(made: Document) -> None:
    for m in (m for m in made if m.road == "rdma"):
        for packet in m.workload["packets"] or []:
            lanes: dict[int, list[tuple[float, float]]] = {}
            for name, span in steps(packet).items():
                lanes.setdefault(packets.LANES[name][0], []).append(span)
            for spans in lanes.values():
                ordered = sorted(spans)
                assert all(one[1] <= other[0] for one, other in pairwise(ordered))


def test_what_is_busy_how_long_is_the_union_of_its_spans(drawn: Mapping[str, Any]) -> None:
    assert rdma_tables.covered([(0, 2), (1, 3), (5, 6)]) == 4
    assert rdma_tables.covered([(5, 6), (0, 10)]) == 10
    note = drawn["packets"].notes[0]
    packets = rdma_fixture.packets(4096, LINKS[0])
    spans = [steps(packet) for packet in packets]
    end = max(found["write"][1] for found in spans)
    share = 8 * rdma_fixture.BUS_PS / 1e6 / end
    assert f"{end:.2f} us from the first store on the bus to the last byte" in note
    assert f"the sender's bus {100 * share:.0f} %" in note


def test_the_terminal_shows_the_packets_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.run(
        command.RdmaOptions("write-lat", size="512,4096", links=4),
        out=tmp_path,
        runner=engine,
        given=rdma_fixture.GIVEN,
    )
    lines = capsys.readouterr().out.splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("#packet")]
    assert len(heads) == 1, "one packet is not a row of packets"
    rows = [line.split() for line in lines[heads[0] + 1 : heads[0] + 9]]
    assert [row[:3] for row in rows] == [[str(n), str(n % 4), "512"] for n in range(8)]
    assert lines[heads[0]].split()[3:] == [name.replace(" ", "_") for name in packets.LANES]
    assert [len(row) for row in rows] == 7 * [3 + 8] + [3 + 9], "the last packet's notification"


# ---------------------------------------------------------------- links


def test_links_are_compared_where_all_else_is_alike(made: Document, drawn: Mapping[str, Any]) -> None:
    figure = drawn["links"]
    carried, used = figure.panels
    lines = {one["name"]: one["data"] for one in carried.option["series"]}
    assert set(lines) == {"1 link", "2 links", "4 links", "published: reads of the bus, at most"}
    assert all(len(lines[name]) == len(rdma_published.ONE_WAY) for name in lines if "link" in name)
    assert {value for _, value in lines["published: reads of the bus, at most"]} == {662.0}
    shares = {one["name"]: dict(map(tuple, one["data"])) for one in used.option["series"]}
    for name, links in (("1 link", 1), ("4 links", 4)):
        found = made.by_id(f"rdma/forth-rdma/isthmus/one-way/2x{links}-4096-v2")
        assert found is not None
        assert shares[name][4096] == pytest.approx(100 * found.workload["link_share"])
    # The figures of the document have all their lines at one number of links.
    assert len(drawn["throughput"].panels) == len(drawn["transfer"].panels) == 1


def test_a_rate_of_one_number_of_links_has_no_figure_of_links(tmp_path: Path) -> None:
    made = command.run(command.RdmaOptions("write-bw"), out=tmp_path, runner=engine, given=rdma_fixture.GIVEN)
    assert [figure.id for figure in drawing.figures(made)] == ["throughput", "transfer"]


# ---------------------------------------------------------------- the bus by itself, and areas


def test_the_bus_has_as_many_reads_under_way_as_the_interface() -> None:
    loaded = platform(rdma.PLATFORM)
    reads = {
        profile: pcix.scenario(loaded, profile, pcix.Access("read", 4096))["platform"]["bus"]["core"]["reads"]
        for profile in ("as-published", "isthmus")
    }
    assert reads == {"as-published": 1, "isthmus": 2}
    with pytest.raises(UserError, match="platform: rdma-pcie has no PCI-X; expected forth-rdma"):
        pcix.scenario(platform("rdma-pcie"), "isthmus", pcix.Access("read", 4096))


def test_every_key_of_the_bus_is_on_its_reference_page() -> None:
    page = (verify.PUBLISHED.parent / "docs" / "reference" / "pcix-scenario.md").read_text()
    made = pcix.scenario(platform(rdma.PLATFORM), "isthmus", pcix.Access("read", 4096))
    for key, value in made.items():
        inside = [f"{key}.{name}" for name in value] if isinstance(value, dict) else [key]
        for name in inside:
            assert f"`{name}`" in page, name


def test_published_numbers_of_the_bus_are_measured_and_not_left_open() -> None:
    rows = {row.id: row for row in verify.rows(pcix.measure(runner=engine), "rdma")}
    bus = [row for row in rows.values() if row.id.startswith("forth.pcix.") and row.kind == "identity"]
    assert len(bus) == 6
    assert {row.verdict for row in bus} == {"agrees"}
    assert rows["forth.pcix.write.4k"].simulated == 570
    assert rows["forth.pcix.completions"].simulated == 3
    assert rows["forth.pcix.store.gain"].simulated == pytest.approx(160 / 24)


def test_a_slower_bus_differs() -> None:
    def slow(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        (found,) = engine(scenario)
        found["workload"]["cycles"] += 2 * found["workload"]["times"]
        return [found]

    rows = {row.id: row for row in verify.rows(pcix.measure(runner=slow), "rdma")}
    assert rows["forth.pcix.read.4k"].verdict == "DIFFERS"
    assert rows["forth.pcix.store.single"].verdict == "DIFFERS"


def test_table_1_is_shown_by_itself_with_what_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    found, _ = verify.run("rdma", document=pcix.measure(runner=engine))
    text = capsys.readouterr().out
    areas = [row for row in found if row.is_area]
    main, table = text.split("# area, Virtex-II Pro", 1)
    assert len(areas) == 26
    for row in areas:
        assert f"\n{row.id} " in table
        assert f"\n{row.id} " not in main
    voq = next(row for row in areas if row.id == "forth.rdma.area.voq.lut")
    assert voq.isthmus is not None
    line = next(line for line in table.splitlines() if line.startswith("forth.rdma.area.voq.lut"))
    assert line.split() == [voq.id, "LUT", "4100", f"{voq.isthmus:g}", f"{voq.isthmus / 4100:.2f}"]
    # 2900 of 14100, 2100 of 7200, 32 of 111.
    shares = "in the table it has 21 % of the LUTs, 29 % of the flip-flops, 29 % of the block RAMs"
    assert f"Debugging support is said to be 33 % of the design; {shares}." in table
    link = next(row for row in areas if row.id == "forth.rdma.area.link.bram")
    assert link.isthmus == 0
    assert link.ours is None, "nothing is a ratio of no block RAM"


def test_the_whole_interface_is_more_than_its_blocks_together() -> None:
    rows = {row.id: row.isthmus for row in verify.rows(pcix.measure(runner=engine), "rdma") if row.is_area}
    for resource in ("lut", "ff", "bram"):
        blocks = [rows[f"forth.rdma.area.{name}.{resource}"] for name in ("bus", "link", "voq", "multipath")]
        assert None not in blocks
        whole = rows[f"forth.rdma.area.interface.{resource}"]
        assert whole is not None
        # Beside them: checks, notifications, registers, counters and probes.
        assert whole > sum(block or 0 for block in blocks)
