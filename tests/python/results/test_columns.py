# SPDX-License-Identifier: Apache-2.0
"""The table of results has the same first columns on every road, and no name twice."""

import csv
import io
import re
from pathlib import Path

import fixture
import pytest
import rdma_fixture
import test_apenet
import test_ccix_bench
import test_eci
import test_nanet
import test_switch
import test_torus
from isthmus import cli
from isthmus.results import Document, by_column, document, load, to_csv, to_parquet, write
from isthmus.results.columns import COMMON, MORE, bounded_by, columns, own
from isthmus.results.model import measurement
from isthmus.roads.pcix import bench as pcix
from isthmus.roads.rdma import bench as rdma
from isthmus.roads.switch import bench as switch
from isthmus.roads.table import ROADS, having

ROOT = Path(__file__).resolve().parents[3]
FIRST = (
    "road,platform,profile,driver,method,operation,bytes,window,rate_per_s,n,min_us,p50_us,p90_us,p99_us,"
    "mean_us,payload_MB_per_s,requests_per_s,bounded_by"
)


def documents() -> dict[str, Document]:
    points = [rdma.Point(rdma.Transfers(test)) for test in ("write-lat", "send-lat", "write-bw")]  # type: ignore[arg-type]
    loads = switch.curve(switch.Traffic(), switch.Design(), [0.5], ["rtl"])
    return {
        "etherbone": fixture.document(systems=("gige-direct", "usb-t5810", "pcie-t5810"), timestamps=(1, 8)),
        "rdma": rdma.measure(points, runner=rdma_fixture.engine, given=rdma_fixture.GIVEN),
        "switch": switch.measure(loads, runner=test_switch.engine, given=Path("model.so")),
        "pcix": pcix.measure(runner=rdma_fixture.engine),
        "eci": test_eci.measured(),
        "ccix": test_ccix_bench.measured(),
        "nanet": test_nanet.measured(),
        "torus": test_torus.measured(),
        "apenet": test_apenet.measured(),
    }


@pytest.fixture(scope="module")
def made() -> dict[str, Document]:
    return documents()


def rows(made: Document) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv(made))))


@pytest.mark.parametrize("road", [road.name for road in having("columns")])
def test_the_first_columns_are_those_of_every_road(road: str, made: dict[str, Document]) -> None:
    header, *lines = to_csv(made[road]).splitlines()
    assert header.startswith(f"{FIRST},")
    names = header.split(",")
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[A-Za-z0-9_]+", name) for name in names), "one word, with its unit"
    assert len(lines) == len(made[road].results)
    assert names[: len(COMMON) + len(MORE)] == [column.name for column in (*COMMON, *MORE)]
    assert all(name.startswith(f"{road}_") for name in names[len(COMMON) + len(MORE) :])


def test_a_row_says_whether_operating_system_noise_is_in_its_latencies(made: dict[str, Document]) -> None:
    raw = made["etherbone"].raw
    noisy = [{**one, "workload": {**one["workload"], "noise": True}} for one in raw["results"]]
    assert {row["os_noise"] for row in rows(made["etherbone"])} == {"no"}
    assert {row["os_noise"] for row in rows(document(raw["context"], noisy))} == {"yes"}


def test_no_name_is_used_twice_over_all_roads() -> None:
    names = [column.name for column in columns(ROADS)]
    assert len(names) == len(set(names))


def test_a_read_of_timestamps_is_said_in_the_common_words(made: dict[str, Document]) -> None:
    by_id = {row["id"]: row for row in rows(made["etherbone"])}
    for platform, profile, driver in (
        ("gige-direct", "isthmus", "datagram"),
        ("usb-t5810", "as-published", "serial"),
        ("usb-t5810", "isthmus", "bulk"),
        ("pcie-t5810", "as-published", "loads"),
        ("pcie-t5810", "isthmus", "dma"),
    ):
        row = by_id[f"etherbone/{platform}/{profile}/blocking/ts8"]
        said = [row[name] for name in ("driver", "operation", "bytes", "window", "rate_per_s")]
        assert said == [driver, "host-read", "64", "1", ""]
        assert re.fullmatch(r"\w+ \d+ %", row["bounded_by"])
    assert by_id["etherbone/gige-direct/isthmus/pipelined/ts8"]["window"] == "256"


def test_writes_and_messages_between_hosts_too(made: dict[str, Document]) -> None:
    said = {row["method"]: (row["operation"], row["bytes"]) for row in rows(made["rdma"])}
    assert said["write-lat-inline"] == ("put", "8")
    assert said["send-lat"] == ("message", "8")
    assert said["write-bw"] == ("put", "8")


def test_numbers_are_those_of_the_document_in_the_units_of_the_header(made: dict[str, Document]) -> None:
    for name, each in made.items():
        for row, m in zip(rows(each), each, strict=True):
            assert row["id"] == m.id
            if m.latency is not None:
                assert float(row["mean_us"]) == pytest.approx(m.latency.avg / 1e6, abs=1e-6)
                p50 = m.latency.percentiles["p50"]
                assert (
                    row["p50_us"] == "" if p50 is None else float(row["p50_us"]) == pytest.approx(p50 / 1e6)
                )
            if m.throughput is not None:
                assert float(row["payload_MB_per_s"]) == pytest.approx(
                    m.throughput.payload_bit_s / 8e6, abs=1e-6
                )
            assert "e" not in row["payload_MB_per_s"], name


def test_what_the_engine_says_goes_before_what_the_road_knows() -> None:
    raw = fixture.document(systems=("gige-direct",), timestamps=(1,)).raw["results"][0]
    m = measurement({**raw, "workload": {**raw["workload"], "operation": "host-write", "bytes": 4}})
    (row,) = csv.DictReader(io.StringIO(to_csv([m])))
    assert (row["operation"], row["bytes"]) == ("host-write", "4")


@pytest.mark.parametrize(
    ("busy", "said"),
    [({"host": 0.97, "wire": 0.4}, "host busy 97 %"), ({"host": 0.5}, "latency"), ({}, "")],
)
def test_several_in_flight_are_bounded_by_what_is_busy(busy: dict[str, float], said: str) -> None:
    raw = fixture.document(systems=("gige-direct",), timestamps=(1,)).raw["results"][0]
    m = measurement({**raw, "workload": {**raw["workload"], "window": 4, "busy": busy}})
    assert bounded_by(m) == said


def test_the_reference_page_has_every_column() -> None:
    page = (ROOT / "docs" / "reference" / "results.md").read_text()
    for column in (*COMMON, *MORE, *(column for road in ROADS for column in own(road))):
        assert f"`{column.name}`" in page, column.name


def test_the_table_alone_is_written_by_report(
    made: dict[str, Document], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(made["etherbone"], tmp_path / "x.json")
    assert cli.run(["report", str(tmp_path / "x.json"), "--table", str(tmp_path / "y.csv")]) == 0
    assert (tmp_path / "y.csv").read_text() == to_csv(load(tmp_path / "x.json"))
    assert not (tmp_path / "x.html").exists()
    assert cli.run(["report", str(tmp_path / "x.json"), "--table", str(tmp_path / "y.xls")]) == 2
    assert "expected a name that ends in .csv or .parquet" in capsys.readouterr().err


def test_without_its_package_parquet_is_refused_in_one_line(
    made: dict[str, Document],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    write(made["rdma"], tmp_path / "x.json")
    assert cli.run(["report", str(tmp_path / "x.json"), "--table", str(tmp_path / "x.parquet")]) == 2
    assert "pip install pyarrow" in capsys.readouterr().err


def test_parquet_holds_the_same_table(made: dict[str, Document], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    to_parquet(made["rdma"], tmp_path / "x.parquet")
    assert parquet.read_table(tmp_path / "x.parquet").to_pydict() == by_column(made["rdma"])
