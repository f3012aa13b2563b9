# SPDX-License-Identifier: Apache-2.0
"""The RDMA benchmarks without their simulator: what they ask for, print, draw, compare and refuse."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from isthmus import platforms, report, verify
from isthmus.errors import DataError, UserError
from isthmus.figures import baseline
from isthmus.paths import ROOT
from isthmus.results import Document, load, write
from isthmus.roads.rdma import bench as rdma
from isthmus.roads.rdma import command
from isthmus.roads.rdma import page as drawing
from isthmus.roads.rdma import published as rdma_published
from isthmus.roads.rdma import tables as rdma_tables
from isthmus.roads.rdma.bench import Transfers
from isthmus.roads.rdma.figures import parts
from rdma_fixture import GIVEN, NI, SWITCH, components, engine, injection


def _scenario(
    platform: str = rdma.PLATFORM, profile: platforms.Profile = "isthmus", **t: Any
) -> dict[str, Any]:
    return rdma.scenario(
        platforms.load(platform), profile, Transfers(**{"test": "write-lat", **t}), NI, SWITCH
    )


def _fields(name: str, file: str) -> set[str]:
    """The names of a Rust structure's fields."""
    text = (ROOT / "crates" / "isthmus-sim" / "src" / "world" / file).read_text()
    body = text.split(f"pub struct {name} {{", 1)[1].split("\n}", 1)[0]
    return set(re.findall(r"^    pub (\w+):", body, re.MULTILINE))


def test_every_key_is_on_the_reference_page() -> None:
    page = (ROOT / "docs" / "reference" / "rdma-scenario.md").read_text()
    made = _scenario(test="one-way", posting="v3", size=4096)
    assert all(f'`"{test}"`' in page for test in rdma.TESTS)
    assert made["workload"]["posting"] == {"v3": 4}
    for key, value in made.items():
        inside = [f"{key}.{name}" for name in value] if isinstance(value, dict) else [key]
        for name in inside:
            assert f"`{name}`" in page, name


def test_the_bus_has_the_fields_of_its_model() -> None:
    made = _scenario()["platform"]["bus"]["pcix"]
    for found, name in ((made, "PcixConfig"), (made["bridge"], "BridgeConfig"), (made["core"], "CoreConfig")):
        assert set(found) == _fields(name, "pcix/config.rs")
    assert (made["core"]["interrupts"], made["bridge"]["stray_writes"]) == ("pin", "fail")


def test_both_buses_pay_with_the_same_processor_keys() -> None:
    pcix, pcie = (_scenario(name)["platform"] for name in rdma.PLATFORMS)
    assert list(pcie["bus"]) == ["pcie"]
    assert set(pcie["bus"]["pcie"]) == {"link", "root", "endpoint", "memory"}
    assert set(pcix["host"]) == set(pcie["host"])
    for key in ("link_mhz", "serdes_ns", "cable_ns"):
        assert pcix[key] == pcie[key]


def test_the_bus_is_that_of_the_models_own_tests() -> None:
    """Those tests hold the published totals; they hold for this bus."""
    text = (ROOT / "crates" / "isthmus-sim" / "tests" / "it" / "pcix_support" / "mod.rs").read_text()
    given = dict(re.findall(r"^pub const (\w+): \w+ = ([\d.]+);", text, re.MULTILINE))
    made = _scenario()["platform"]["bus"]["pcix"]
    phases = ("address_cycles", "attribute_cycles", "response_cycles", "turnaround_cycles")
    assert sum(made[key] for key in phases) == int(given["PROTOCOL"])
    assert made["clock_mhz"] == float(given["CLOCK_MHZ"])
    arbitration = int(given["COMBINED_LINE"]) - int(given["PROTOCOL"]) - 64 // int(given["STORE_BYTES"])
    assert made["arbitration_cycles"] == arbitration
    assert made["arbitration_cycles"] + made["release_cycles"] == int(given["BETWEEN"])
    before = int(made["bridge"]["memory_read_ns"] * made["clock_mhz"] / 1e3)
    assert before + arbitration + int(given["PROTOCOL"]) - 1 + 1 == int(given["FIRST_DATA"])
    for key in ("accept_bytes", "completion_bytes"):
        assert f"{key}: {made['bridge'][key]}," in text


def test_gateware_and_scenario_agree() -> None:
    platform = platforms.load(rdma.PLATFORM)
    for profile in platforms.PROFILES:
        made = _scenario(profile=profile, hosts=6, links=3)
        built = rdma.parameters(platform, profile, 3, 6)
        assert made["interface"]["links"] == built["rdma_ni"]["NumLinks"] == 3
        assert made["interface"]["hosts"] == built["rdma_ni"]["NumHosts"] == 8
        assert made["switch"]["ports"] == built["link_switch"]["NumPorts"] == 8
        assert built["rdma_ni"]["TxDepth"] == built["link_switch"]["Depth"]
        for key in ("CreditInPacket", "CreditWords", "RefreshWords", "InitWords", "AlignWords"):
            assert built["rdma_ni"][key] == built["link_switch"][key]


def test_parameters_are_those_of_the_gateware() -> None:
    for top, values in rdma.parameters(platforms.load("rdma-pcie"), "isthmus", 1, 2).items():
        text = (ROOT / "rtl" / "board" / f"{top}.sv").read_text()
        head = text.split(") (", 1)[0]
        assert set(re.findall(r"parameter \w+(?: \w+)?\s+(\w+)\s*=", head)) == set(values)


def test_profiles_differ_in_reads_credits_aligns_and_when_a_byte_is_written_alone() -> None:
    platform = platforms.load(rdma.PLATFORM)
    theirs, ours = (
        rdma.parameters(platform, profile, 1, 2)[rdma.INTERFACE] for profile in platforms.PROFILES
    )
    assert {key for key in theirs if theirs[key] != ours[key]} == {
        "Outstanding",
        "CreditWords",
        "StoreForward",
        "AlignWords",
    }
    assert (theirs["Outstanding"], ours["Outstanding"]) == (1, 2)


def test_a_packet_of_the_interface_fits_the_switch() -> None:
    switch = rdma.parameters(platforms.load(rdma.PLATFORM), "isthmus", 1, 2)[rdma.SWITCH]
    assert switch["MaxWords"] >= (512 + 3 * 8) / 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test": "read-lat"}, "unknown test 'read-lat'; did you mean 'send-lat'? choose from write-lat,"),
        ({"size": 12}, "size: 12 bytes for write-lat; expected a multiple of 8 from 8 to 1048576"),
        ({"size": 0}, "size: 0 bytes"),
        (
            {"size": 1024, "test": "send-bw"},
            "size: 1024 bytes for send-bw; expected a multiple of 8 from 8 to 504",
        ),
        ({"hosts": 9}, "hosts: 9 is outside 2 to 8"),
        ({"links": 5}, "links: 5 is outside 1 to 4"),
        ({"iterations": 0}, "iters: 0 is outside"),
        ({"posting": "v4", "test": "one-way"}, "unknown posting 'v4'; choose from v1, v2, v3"),
        ({"posting": "v1"}, "posting: not an option of write-lat"),
        ({"post_list": 2}, "post-list: not an option of write-lat; write-bw and send-bw support it"),
        ({"test": "write-bw", "posting": "v1", "post_list": 2}, "post-list: not an option of write-bw v1"),
        ({"test": "send-bw", "post_list": 65}, "post-list: 65 is outside 1 to 64 for 8 bytes"),
        ({"test": "write-bw", "size": 8192, "post_list": 33}, "post-list: 33 is outside 1 to 32 for 8192"),
        ({"both_ways": True}, "bidirectional: not an option of write-lat"),
        ({"inline": 505}, "inline_size: 505 bytes are outside 0 to 504"),
        ({"inline": -1}, "inline_size: -1 bytes are outside 0 to 504"),
        (
            {"test": "send-lat", "inline": 8},
            "inline_size: not an option of send-lat; write-lat and",
        ),
        ({"test": "write-bw", "posting": "v2", "inline": 8}, "inline_size: not an option of write-bw v2"),
    ],
)
def test_what_nothing_can_run_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        _scenario(**settings)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_platform_of_another_road_is_refused() -> None:
    with pytest.raises(
        UserError, match="platform: gige-direct has no RDMA; expected one of forth-rdma, rdma-pcie"
    ):
        rdma.bus(platforms.load("gige-direct"), "isthmus")


def test_ids_are_those_of_the_reference_page() -> None:
    page = (ROOT / "docs" / "reference" / "rdma-scenario.md").read_text()
    one = rdma.identifier(rdma.PLATFORM, "isthmus", Transfers("write-lat"))
    assert one.endswith("/write-lat-inline/2x1-8")
    assert rdma.identifier(rdma.PLATFORM, "as-published", Transfers("write-lat")).endswith("/write-lat/2x1-8")
    long = Transfers("write-bw", 512, inline=256)
    assert rdma.identifier(rdma.PLATFORM, "isthmus", long).endswith("/write-bw/2x1-512-v2")
    short = Transfers("write-bw", 256, inline=256, post_list=4)
    assert rdma.identifier(rdma.PLATFORM, "isthmus", short).endswith("/write-bw-inline/2x1-256-list-4")
    two = rdma.identifier(rdma.PLATFORM, "as-published", Transfers("one-way", 4096, links=4, posting="v2"))
    assert f"`{one}`" in page
    assert f"`{two}`" in page
    listed = Transfers("send-bw", both_ways=True, post_list=4)
    assert rdma.identifier("rdma-pcie", "isthmus", listed).endswith("/send-bw/2x1-8-both-ways-list-4")
    three = Transfers("write-bw", posting="v1", combined=False, both_ways=True)
    assert rdma.identifier("rdma-pcie", "isthmus", three).endswith("/write-bw/2x1-8-v1-uncombined-both-ways")


def _run(test: str, tmp_path: Path, **settings: Any) -> Document:
    printed = {name: settings.pop(name) for name in ("format", "out_json") if name in settings}
    asked = command.RdmaOptions(test, **settings)
    return command.run(asked, out=tmp_path, runner=engine, given=GIVEN, **printed)


@pytest.fixture(scope="module")
def figures() -> Document:
    points = rdma_published.figure_points()
    return rdma.measure(points, runner=engine, given=GIVEN)


@pytest.fixture(scope="module")
def verified() -> Document:
    return rdma_published.verified(runner=engine, given=GIVEN)


@pytest.mark.parametrize(
    ("text", "found"),
    [("64", (64,)), ("8,64,512", (8, 64, 512)), ("8:64", (8, 16, 32, 64)), ("48:100", (48, 96))],
)
def test_sizes(text: str, found: tuple[int, ...]) -> None:
    assert rdma.sizes(text) == found


@pytest.mark.parametrize("text", ["", "x", "64:8", "0:64", "8:", "8,,9"])
def test_wrong_sizes(text: str) -> None:
    with pytest.raises(UserError, match=r"^size: '.*'; write bytes: 64, 8,64,512 or 8:4096"):
        rdma.sizes(text)


def test_every_size_goes_from_the_shortest_to_the_longest() -> None:
    for test, last in (("write-lat", 512 << 10), ("send-bw", 504), ("sort", 64 << 10)):
        found = rdma.all_sizes(test)
        assert (found[0], found[-1]) == (8, last)
        for size in found:
            rdma.check(Transfers(test, size))  # type: ignore[arg-type]


TRACE = """# from, to
0 0 1 write 4096
 5, 2, 1, inline, 8   # behind it
3 1 2 message 504
"""


def test_a_trace_says_what_is_sent_between_whom(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "trace.txt"
    file.write_text(TRACE)
    asked: list[Mapping[str, Any]] = []

    def noting(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        asked.append(scenario)
        return engine(scenario)

    command.run(command.RdmaOptions("trace", trace=file), out=tmp_path / "out", runner=noting, given=GIVEN)
    work = asked[0]["workload"]
    assert work["trace"] == [[0, 0, 1, "write", 4096], [5, 2, 1, "inline", 8], [3, 1, 2, "message", 504]]
    assert (work["hosts"], work["iterations"], work["size_bytes"], work["warmup"]) == (3, 3, 4096, 0)
    text = capsys.readouterr().out
    assert "# one-way, from a transfer's due time to its arrival" in text
    assert "did not arrive" not in text
    page = (tmp_path / "out" / "rdma.html").read_text()
    assert "Half of the trace&#x27;s transfers arrive within" in page
    assert "3 of 3" in page


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0 0 1 write", "trace.txt:2: '0 0 1 write'; a line is: nanosecond source destination write|inline|"),
        ("soon 0 1 write 8", "trace.txt:2: 'soon 0 1 write 8'; a line is: nanosecond source"),
        ("0 0 1 read 8", "trace.txt:2: no 'read'; expected one of write, inline, message"),
        ("-1 0 1 write 8", "trace.txt:2: -1 ns are outside 0 to 10000000000"),
        ("0 3 3 write 8", "trace.txt:2: from 3 to 3; expected two hosts, 0 to 7"),
        ("0 3 8 write 8", "trace.txt:2: from 3 to 8; expected two hosts, 0 to 7"),
        ("0 0 1 write 4104", "trace.txt:2: 4104 bytes; expected a multiple of 8 from 8 to 4096 for write"),
        ("0 0 1 message 512", "trace.txt:2: 512 bytes; expected a multiple of 8 from 8 to 504 for message"),
        ("0 0 1 write 12", "trace.txt:2: 12 bytes; expected a multiple of 8"),
    ],
)
def test_a_wrong_line_of_a_trace_is_named(line: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.txt"
    file.write_text(f"0 0 1 write 8\n{line}\n")
    with pytest.raises(UserError) as error:
        _run("trace", tmp_path / "out", trace=file)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_trace_without_a_transfer_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "trace.txt"
    for content, message in ((b"# none\n", "contains no transfer; a line is: "), (b"\xff\xfe", "not a text")):
        file.write_bytes(content)
        with pytest.raises(UserError, match=message):
            _run("trace", tmp_path / "out", trace=file)


@pytest.mark.parametrize(
    ("test", "settings", "message"),
    [
        ("read-lat", {}, "unknown test 'read-lat'; did you mean 'send-lat'? choose from write-lat, write-bw"),
        ("write-lat", {"size": "12"}, "size: 12 bytes"),
        ("write-lat", {"size": "8", "all_": True}, "size: give -s or -a, not both"),
        ("write-lat", {"iterations": 5, "duration_ms": 1.0}, "duration: give -n or -D, not both"),
        ("write-lat", {"duration_ms": 0.0}, "duration: 0.0 ms are outside"),
        ("trace", {}, "trace: test trace needs a file of transfers, --trace FILE, and no other test does"),
        ("write-lat", {"trace": Path("x")}, "trace: test trace needs a file"),
        ("figures", {"trace": Path("x")}, "trace: "),
        ("trace", {"trace": Path("x"), "size": "8"}, "size: the trace says what is sent, when and how"),
        ("trace", {"trace": Path("/nowhere")}, "trace: /nowhere: No such file"),
        ("figures", {"unsorted": True}, "report-unsorted: figures have settings of their own"),
        (
            "write-lat",
            {"unsorted": True, "iterations": 1_000_001},
            "report-unsorted: 1000001 samples of a host; 1000000 at most",
        ),
        (
            "write-lat",
            {"platform": "gige-direct"},
            "platform: 'gige-direct' is of kind gige; rdma runs on forth-rdma, rdma-pcie",
        ),
        ("write-lat", {"profile": "best"}, "unknown profile 'best'; choose from as-published, isthmus, all"),
        ("write-lat", {"format": "xml"}, "unknown format 'xml'; "),
        ("write-lat", {"bidirectional": True}, "bidirectional: not an option of write-lat"),
        ("write-lat", {"hosts": 3}, "hosts: 3 for write-lat; expected an even number"),
        (
            "one-way",
            {"posting": "v3"},
            "posting: v3 checks for queue space every 4 descriptors; it needs --i-know-",
        ),
        ("one-way", {"posting": "v4"}, "unknown posting 'v4'; "),
        ("one-way", {"posting": "v1", "size": "1048576"}, "size: 1048576 bytes for one-way v1;"),
        ("send-bw", {"posting": "v2"}, "posting: not an option of send-bw"),
        ("sort", {"duration_ms": 1.0}, "duration: sort runs once; -n says how many chunks each host has"),
        ("sort", {"iterations": 5000}, "iters: 5000 is outside 1 to 4096"),
        (
            "exchange",
            {"size": "131072"},
            "size: 131072 bytes for exchange; expected a multiple of 8 from 8 to 65536",
        ),
        ("one-way", {"links": 0}, "links: 0 is outside 1 to 4"),
    ],
)
def test_refused(test: str, settings: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        _run(test, tmp_path, **settings)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_latency_in_perftests_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = _run("write-lat", tmp_path, size="8,64", histogram=True, inline=0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ("# write-lat / forth-rdma / isthmus: 2 hosts, 1 link each, write-combining, seed 1")
    assert lines[1] == "# half a round trip, program to program"
    assert re.split(" {2,}", lines[2]) == [
        "#bytes", "#iterations", "t_min[usec]", "t_max[usec]", "t_typical[usec]", "t_avg[usec]",
        "t_stdev[usec]", "p99 (no OS noise)[usec]",
    ]  # fmt: skip
    assert "# blank: p99.9: n=1000, needs 10000: -n 10000" in lines
    total = components("write-lat", 8, combined=True)["total"]
    mean = f"{(total + 400_000) / 1e6:.2f}"
    # A thousand samples leave ten beyond 99 %, and one beyond 99.9 %: that stays blank.
    assert lines[3].split()[:6] == ["8", "1000", mean, f"{(total + 440_000) / 1e6:.2f}", mean, mean]
    assert len(lines[3].split()) == 8
    assert any(line.startswith("# 8 bytes, memory to memory, ns: send_initiation 200 (") for line in lines)
    assert "# distribution, 8 bytes, 1000 samples" in lines
    assert any(line.split()[1:] == ["999", "99.90", "%"] for line in lines)
    assert [m.id for m in load(tmp_path / "rdma.json")] == [m.id for m in made]
    rows = list(csv.reader((tmp_path / "rdma.csv").open()))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert len(rows) == 3


def test_each_sample_is_printed_and_kept_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _run("write-lat", tmp_path, iterations=3, unsorted=True, inline=0)
    lines = capsys.readouterr().out.splitlines()
    head = lines.index("# each sample, 8 bytes, in the order they were taken")
    sample = components("write-lat", 8, combined=True)["total"] + 400_000
    values = (sample, sample + 40_000, sample)
    assert lines[head + 1].split() == ["#host", "#", "usec"]
    rows = [["0", str(n), f"{ps / 1e6:.3f}"] for n, ps in enumerate(values, 1)]
    assert [line.split() for line in lines[head + 2 : head + 5]] == rows
    assert load(tmp_path / "rdma.json").raw["results"][0]["samples"] == [{"host": 0, "ps": [*values]}]
    _run("write-lat", tmp_path, iterations=3, inline=0)
    assert "each sample" not in capsys.readouterr().out
    assert "samples" not in load(tmp_path / "rdma.json").raw["results"][0]


def test_rates_in_perftests_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _run("one-way", tmp_path, size="4096", posting="v1", links=4)
    lines = capsys.readouterr().out.splitlines()
    head = next(line for line in lines if line.startswith("#bytes"))
    values = lines[lines.index(head) + 1].split()
    for column in ("BW peak[MiB/sec]", "BW average[MiB/sec]", "MsgRate[Mpps]"):
        assert column in head
    mib = 4096 / 8e-6 / 2**20
    # The peak is not known, and the average does not stand in for it.
    assert values == ["4096", "256", "-", f"{mib:.2f}", f"{1 / 8:.6f}"]
    assert "the peak of a part of the run is not measured; the average is at most 41 %" in "\n".join(lines)
    _run("one-way", tmp_path, size="4096", posting="v1", links=4, gbits=True)
    text = capsys.readouterr().out
    assert "BW average[Gb/sec]" in text
    assert f" {4096 * 8 / 8e3:.2f} " in text


def test_a_long_transfer_is_shown_by_its_descriptors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _run("one-way", tmp_path, size="524288")
    line = next(
        x for x in capsys.readouterr().out.splitlines() if x.split()[:1] == ["524288"] and x.endswith("6.20")
    )
    assert line.split() == [
        "524288",
        *(4 * [f"{128 * 6.2:.2f}"])[:1],
        f"{128 * 6.2 + 0.04:.2f}",
        "793.60",
        "793.60",
        "6.20",
    ]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_machine_formats_print_nothing_else(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _run("send-lat", tmp_path, format=form)
    assert capsys.readouterr().out == (tmp_path / f"rdma.{form}").read_text()


def test_applications_show_where_the_time_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _run("sort", tmp_path, hosts=7, iterations=2)
    said = (
        "# 4096 bytes, slowest host, all calls together, us: compute 4.00, post 1.00, network 2.00, wait 0.50"
    )
    text = capsys.readouterr().out
    assert said in text
    assert "# the whole call, of each host" in text
    assert "from one transfer to the next" not in text


def test_a_duration_becomes_a_number_of_transfers(tmp_path: Path) -> None:
    asked: list[int] = []

    def watched(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        asked.append(scenario["workload"]["iterations"])
        return engine(scenario)

    made = command.run(
        command.RdmaOptions("one-way", size="8192,16384", duration_ms=1.24),
        out=tmp_path,
        runner=watched,
        given=GIVEN,
    )
    assert sorted(asked) == [20, 20, 50, 100]
    assert [m.iterations for m in made] == [100, 50]


def test_a_program_that_waits_for_no_notification_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _run("write-lat", tmp_path, polled=True, uncombined=True)
    head = capsys.readouterr().out.splitlines()[0]
    assert "words of 4 bytes, the receiver polls its memory" in head


def test_ids_are_foreseen(figures: Document) -> None:
    assert [m.id for m in figures] == [point.id for point in rdma_published.figure_points()]


@pytest.mark.parametrize(
    ("cost", "of_parts"),
    [(rdma_tables.total, lambda parts: parts["total"]), (rdma_tables.injection, injection)],
    ids=["memory to memory", "to the interface"],
)
def test_crossing_lies_between_two_sizes_on_a_straight_line(cost: Any, of_parts: Any) -> None:
    sizes = "8,64,128,256,504"
    points = [
        rdma.Point(Transfers(test, size, 100, inline=0))
        for test in ("write-lat", "send-lat")
        for size in rdma.sizes(sizes)
    ]
    made = rdma.measure(points, runner=engine, given=GIVEN)  # type: ignore[arg-type]
    at = rdma_tables.crossover(made, "write-lat", "send-lat", cost)
    assert at is not None

    def beyond(size: int) -> int:
        write, message = (
            of_parts(components(test, size, combined=True)) for test in ("write-lat", "send-lat")
        )
        return int(write - message)

    low, high = next(
        pair for pair in pairwise((8, 64, 128, 256, 504)) if beyond(pair[0]) > 0 >= beyond(pair[1])
    )
    assert at == pytest.approx(low + (high - low) * beyond(low) / (beyond(low) - beyond(high)))
    assert rdma_tables.crossover(made, "send-lat", "write-lat", cost) is None
    end = parts.MEMORY if cost is rdma_tables.total else parts.INTERFACE
    assert parts.crossing_words(list(made), end).endswith(f" than a write up to {at:.0f} bytes.")
    for sizes_kept, words in (((8, 64), "at every size measured"), ((256, 504), "at no size measured")):
        kept = [m for m in made if m.workload["size_bytes"] in sizes_kept]
        assert parts.crossing_words(kept, end).endswith(f" than a write {words}.")


# ---------------------------------------------------------------- the page


def test_every_figure_has_its_panels_and_its_table(figures: Document) -> None:
    drawn = {figure.id: figure for figure in drawing.figures(figures)}
    assert list(drawn) == ["throughput", "transfer", "links", "breakdown", "packets", "crossing", "latency"]
    for figure in drawn.values():
        assert figure.panels
        assert figure.table.rows
        assert {len(row) for row in figure.table.rows} == {len(figure.table.columns)}
    lines = {one["name"]: one["data"] for one in drawn["throughput"].panels[0].option["series"]}
    assert len(lines) == 3 * 2 + 2
    assert [value for _, value in lines["published: v1, at most"]] == [632.0, 632.0]
    assert len(lines["v1: a batch, then wait, isthmus"]) == len(rdma_published.ONE_WAY)
    transfer = {one["name"]: one["data"] for one in drawn["transfer"].panels[0].option["series"]}
    assert transfer["published: v2, long transfers"] == [[524_288, 6.2]]
    assert transfer["v2: check for space each time, isthmus"][-1] == [524_288, pytest.approx(6.2)]


def test_figure_9_adds_up_and_stands_beside_what_was_published(figures: Document) -> None:
    figure = next(f for f in drawing.figures(figures) if f.id == "breakdown")
    option = figure.panels[0].option
    names, series = option["yAxis"]["data"], option["series"]
    # As published three; ours has one more, a write with its data inline.
    assert len(names) == 3 + 4 + 1
    for number, name in enumerate(names[:-1]):
        kind = "send-lat" if name.startswith("message") else "write-lat"
        total = components(kind, 8, "combined" in name, name.startswith("inline"))["total"]
        assert sum(one["data"][number] for one in series) == pytest.approx(total / 1e6)
    assert sum(one["data"][-1] for one in series) == pytest.approx(1.78)
    # Each part of the published bar that the text names, and one for the rest.
    assert sum(one["data"][-1] > 0 for one in series) == 3


def test_the_page_is_whole(figures: Document, tmp_path: Path) -> None:
    write(figures, tmp_path / "rdma.json")
    text = report.run(tmp_path / "rdma.json", out=tmp_path / "page.html").read_text()
    assert "Figure 7 drawn again" in text
    assert "Constants of forth-rdma" in text
    assert "A message of 8 bytes takes" in text
    assert text.count('role="img"') == sum(len(f.panels) for f in drawing.figures(figures))


def test_a_page_of_one_run_shows_what_there_is(tmp_path: Path) -> None:
    for test, figure in (("send-bw", "throughput"), ("write-lat", "latency"), ("exchange", "phases")):
        _run(test, tmp_path, platform="rdma-pcie")
        text = (tmp_path / "rdma.html").read_text()
        assert f'<section id="{figure}"' in text
        answer = text.partition('<h2 id="answer-title">Answer</h2>')[2].partition("</section>")[0]
        assert "rdma-pcie" in answer, f"{test}: the answer is about what was measured"


def test_a_page_without_an_answer_in_words_has_no_section_for_it(
    figures: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "_answer", lambda document: "")
    assert "Answer" not in drawing.page(figures)


# ---------------------------------------------------------------- published beside simulated


def test_verify_shows_every_number_of_the_document(
    verified: Document, capsys: pytest.CaptureFixture[str]
) -> None:
    found, limits = verify.run("rdma", document=verified)
    printed = capsys.readouterr().out
    assert [limit.id for limit in limits] == [
        f"rdma.{name}" for name in ("message", "write", "network", "link", "bus")
    ]
    assert all(limit.simulated is not None and f"{limit.simulated:.4g}" in printed for limit in limits)
    assert {row.id for row in found} == {line["id"] for line in verify.published("rdma")}
    named = {line["id"]: line["measurement"] for line in verify.published("rdma") if line["measurement"]}
    compared = {name for name, measurement in named.items() if not measurement.startswith("area/")}
    for row in (row for row in found if row.id in compared or row.id not in named):
        assert (row.simulated is not None) == (row.id in compared), row.id
        assert (row.isthmus is not None) == (row.id in compared), row.id
    judged = {
        row.id: row.verdict for row in found if row.id in compared and row.kind not in ("input", "context")
    }
    assert "not simulated" not in judged.values()
    # The arithmetic above has the document's own figures for these.
    for name in ("v1.rate", "v2.latency", "v2.constant", "v3.gain", "v2.small"):
        assert judged[f"forth.rdma.{name}"] == "agrees", name


def test_table_1_stands_beside_what_is_stored_of_our_cores(verified: Document) -> None:
    rows = {row.id: row for row in verify.rows(verified, "rdma")}
    names = ("rdma_segment", "rdma_voq", "rdma_spread", "rdma_departures")
    parts = [baseline.load("area")[name]["xc2vp"] for name in names]
    luts, ffs, rams = (rows[f"forth.rdma.area.voq.{name}"] for name in ("lut", "ff", "bram"))
    assert luts.isthmus == sum(one["lut"] + 2 * one["lutram"] + one["srl"] for one in parts)
    assert ffs.isthmus == sum(one["ff"] for one in parts)
    assert rams.isthmus == sum(2 * one["bram36"] for one in parts)
    # Nothing is claimed to be a figure of the document's own design.
    assert (luts.simulated, luts.verdict) == (None, "context")
    assert rows["forth.rdma.area.debug.lut"].isthmus is None


def test_with_one_link_no_block_of_ours_is_larger_than_that_of_table_1_and_with_four_the_whole_is(
    verified: Document,
) -> None:
    rows = [row for row in verify.rows(verified, "rdma") if row.id.startswith("forth.rdma.area.")]
    ours = {row.id.removeprefix("forth.rdma.area."): row.isthmus for row in rows if row.isthmus is not None}
    blocks = {name.split(".")[0] for name in ours}
    assert blocks == {"bus", "link", "voq", "multipath", "interface", "switch"}
    table = {row.id.removeprefix("forth.rdma.area."): row.value for row in rows}
    larger = {name for name, size in ours.items() if size > table[name]}
    # The document's rates are of several links, and Table I does not say of how many it is.
    assert larger == {"link.four.lut", "link.four.ff", "interface.four.lut", "interface.four.ff"}
    assert ours["link.four.lut"] == 4 * ours["link.lut"]


def test_what_is_in_no_block_of_table_1_is_said_beside_it(verified: Document) -> None:
    rows = [row for row in verify.rows(verified, "rdma") if row.is_area]
    names = ("rdma_receive", "rdma_regions", "rdma_notify", "rdma_error_tx")
    stored = [baseline.load("area")[name]["xc2vp"] for name in names]
    luts = sum(one["lut"] + 2 * one["lutram"] + one["srl"] for one in stored)
    said = [note for note in verify.area_notes(rows) if "in no block above" in note.replace("\n", " ")]
    assert len(said) == 1
    assert f"{luts:g} LUTs" in said[0]


def test_verify_says_what_differs() -> None:
    """Slower programs; our interface's own times have no verdict, whatever they are."""

    def slow(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        (found,) = engine(scenario)
        if found["road"] != "rdma":
            return [found]
        parts = found["workload"]["components_ps"]
        found["latency_ps"]["avg"] *= 1.02 if found["workload"]["size_bytes"] > 65_536 else 1.0
        found["throughput"]["payload_bit_s"] *= 0.99
        if parts and found["method"] == "send-lat":
            parts["send_dma"] += 1_000_000
            parts["total"] += 1_000_000
        elif parts:
            parts["send_dma"] += 100_000
            parts["total"] += 100_000
        return [found]

    made = rdma_published.verified(runner=slow, given=GIVEN)
    rows = {row.id: row.verdict for row in verify.rows(made, "rdma")}
    for name in ("v1.rate", "v2.latency", "v2.constant"):
        assert rows[f"forth.rdma.{name}"] == "DIFFERS", name
    for name in ("write.total", "write.send_dma", "message", "message.dma"):
        assert rows[f"forth.rdma.{name}"] == "context", name


def test_wrong_data_ends_the_run(tmp_path: Path) -> None:
    def wrong(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
        (found,) = engine(scenario)
        found["checked"]["lost"] = 8
        return [found]

    with pytest.raises(DataError, match="0 bytes wrong, 8 bytes lost"):
        command.run(command.RdmaOptions("write-lat"), out=tmp_path, runner=wrong, given=GIVEN)


def test_models_are_built_once_for_all_points(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    monkeypatch.setattr(rdma.running, "place", lambda spec: Path(f"{spec.top}.so"))
    monkeypatch.setattr(rdma.running, "build", lambda specs: built.extend(spec.top for spec in specs))
    rdma.measure(rdma_published.points(), runner=engine)
    # Of each profile, and with one link.
    assert built.count(rdma.INTERFACE) == 3
    assert built.count(rdma.SWITCH) == 2
