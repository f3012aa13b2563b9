# SPDX-License-Identifier: Apache-2.0
"""`isthmus verify` on the gateware: no limit of ours is missed, what differs from a document is explained,
and the figures of docs/reference/cores.md and README.md are those that come out.

The switch is measured whole; Etherbone with two of the eight numbers of timestamps in a cycle; of RDMA what
the limits and that page need (`rdma_published.promised`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import pytest
from isthmus import bootstrap, verify
from isthmus.paths import ROOT
from isthmus.results import Document
from isthmus.roads.ccix import published as ccix_published
from isthmus.roads.eci import published as eci_published
from isthmus.roads.etherbone import bench as etherbone
from isthmus.roads.nanet import published as nanet_published
from isthmus.roads.rdma import published as rdma_published
from isthmus.roads.switch import published as switch_published

deterministic = pytest.mark.deterministic
PAGE = ROOT / "docs" / "reference" / "cores.md"

MEASURED: dict[str, Callable[[], Document]] = {
    "etherbone": partial(etherbone.measure, timestamps=(1, 8)),
    "switch": switch_published.measure,
    "rdma": rdma_published.promised,
    "nanet": nanet_published.verified,
    "eci": eci_published.measure,
    "ccix": ccix_published.measure,
}


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    """Of each road, measured when it is first asked for."""
    bootstrap.ensure_native()
    return {}


def _measured(documents: dict[str, Document], road: str) -> Document:
    if road not in documents:
        documents[road] = MEASURED[road]()
    return documents[road]


@deterministic
@pytest.mark.parametrize("road", MEASURED)
def test_no_limit_of_the_gateware_is_missed(documents: dict[str, Document], road: str) -> None:
    made = _measured(documents, road)
    limits = verify.targets(made, road)
    assert limits
    assert {limit.id: limit.verdict for limit in limits} == {limit.id: "met" for limit in limits}
    assert not verify.failed(verify.rows(made, road), limits)


@deterministic
@pytest.mark.parametrize("road", MEASURED)
def test_what_differs_from_the_document_is_explained(documents: dict[str, Document], road: str) -> None:
    found = verify.rows(_measured(documents, road), road)
    differ = [fact for fact in verify.facts(found) if fact.verdict == "DIFFERS"]
    unexplained = [fact.name for fact in differ if not any(row.note for row in fact.rows)]
    assert unexplained == []


@deterministic
def test_every_identity_holds(documents: dict[str, Document]) -> None:
    for road in MEASURED:
        for fact in verify.facts(verify.rows(_measured(documents, road), road)):
            assert fact.kind != "identity" or fact.verdict != "DIFFERS", fact.name


@deterministic
def test_as_published_no_arbitration_of_the_bus_is_hidden(documents: dict[str, Document]) -> None:
    """The document counts it in every transaction: 8 clocks of a write, 4 of a message."""
    made = _measured(documents, "rdma")

    def total(method: str) -> float:
        found = made.by_id(f"rdma/forth-rdma/as-published/{method}/2x4-8")
        assert found is not None
        return float(found.workload["components_ps"]["total"]) / 1e6

    assert total("write-lat") == pytest.approx(1.80, abs=0.005)
    assert total("send-lat") == pytest.approx(1.18, abs=0.005)


# ---------------------------------------------------------------- docs/reference/cores.md


@dataclass(frozen=True)
class Figure:
    """A number as the page writes it in a row of its table, and a measurement's quantity."""

    shown: str
    measurement: str
    quantity: str


ETHERNET, PCIE = "Gigabit Ethernet device", "Etherbone by DMA over PCIe"
RDMA, SWITCH, NANET = "RDMA between hosts", "Switch", "UDP into memory"
SCU, PAIR = "etherbone/pcie-scu3/isthmus", "rdma/forth-rdma/isthmus"
UNIFORM = "switch/forth-switch/isthmus/rtl/8x8-uniform-64-512-backlog"
FIGURES: dict[str, tuple[Figure, ...]] = {
    ETHERNET: (Figure("12 clocks", "etherbone/gige-direct/isthmus/*/path*", "turnaround_clocks"),),
    PCIE: (
        Figure("3.36 us", f"{SCU}/blocking/ts1", "latency_avg_us"),
        Figure("49.9 ns", f"{SCU}/pipelined/ts8", "inside_cycle_per_timestamp_ns"),
    ),
    RDMA: (
        Figure("664 MiB/s", f"{PAIR}/write-bw/2x4-4096-v2", "payload_mib_s"),
        Figure("718 MiB/s", "pcix/forth-rdma/isthmus/read/4096x50", "payload_mib_s"),
        Figure("1.78 us", f"{PAIR}/write-lat/2x4-8", "component_us.total"),
        Figure("1.29 us", f"{PAIR}/write-lat-inline/2x4-8", "component_us.total"),
    ),
    SWITCH: (Figure("96.2 %", UNIFORM, "payload_share_percent"),),
    NANET: (Figure("0.46 us", "nanet/nanet/isthmus/poll/nic-to-memory/b1472-w1", "part_us.to_program.max"),),
}
ROADS = {ETHERNET: "etherbone", PCIE: "etherbone", RDMA: "rdma", SWITCH: "switch", NANET: "nanet"}
# Numbers of the table that are a document's: as the page shows them, and the published row.
PUBLISHED: dict[str, dict[str, str]] = {
    PCIE: {"25 us": "eb.pcie.blocking.ts1.time", "5970 ns": "eb.pcie.inside.timestamp"},
    RDMA: {"632 MiB/s": "forth.rdma.v1.rate", "1.78 us": "forth.rdma.write.total"},
    SWITCH: {"96 %": "forth.net.max_load"},
    NANET: {"8.6 us": "nanet.total.max"},
}
CORE = "tests/unit/etherbone/etherbone_core_tb.py"
# Numbers that unit benches hold: as the page shows them, the file and what it says.
BENCHES: dict[str, dict[str, tuple[str, str]]] = {
    "Etherbone slave": {
        "1 operation": (CORE, "[b.issued[i + 1] - b.issued[i] for i in range(n - 1)] == [1]"),
        "3 clocks": (CORE, "b.words[-1][0] - taken[-1] == 3"),
    },
    ETHERNET: {
        "8 ns": ("platforms/_gige.toml", "clock = { value = 125"),
        "17 + n clocks": ("tests/unit/board/gige_etherbone_tb.py", "taken == 17 + n"),
    },
}
# Other people's cores, measured by us: as the page shows them, and the bench in this repository.
PEERS: dict[str, dict[str, str]] = {
    "Etherbone slave": dict.fromkeys(
        ("14 to 776 clocks", "1 to 255 reads"), "benchmarks/peers/liteeth_clocks.py"
    )
}
NUMBER = re.compile(r"(?<![\w.])(?:17 \+ n|\d[\d.]*)(?: to \d+)? (?:clocks?|operation|reads|us|ns|MiB/s|%)")


def _table() -> dict[str, str]:
    """The page's table: the name of each row, and the rest of it."""
    lines = PAGE.read_text().splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith("| core |"))
    rows = {}
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        name, rest = line.strip("| ").split(" | ", 1)
        rows[name] = rest
    return rows


def test_every_number_of_the_page_is_held_by_a_run_a_document_or_a_bench() -> None:
    rows = _table()
    assert set(FIGURES) | set(BENCHES) <= set(rows)
    for name, text in rows.items():
        shown = set(NUMBER.findall(text))
        known = {figure.shown for figure in FIGURES.get(name, ())}
        known |= set(PUBLISHED.get(name, {})) | set(BENCHES.get(name, {})) | set(PEERS.get(name, ()))
        assert shown == known, name


@deterministic
@pytest.mark.parametrize("name", FIGURES)
def test_the_pages_figures_are_those_of_a_run(documents: dict[str, Document], name: str) -> None:
    document = _measured(documents, ROADS[name])
    for figure in FIGURES[name]:
        number = figure.shown.split()[0]
        places = len(number.partition(".")[2])
        found = verify.measured(document, figure.measurement, figure.quantity)
        assert found is not None, figure
        assert f"{found:.{places}f}" == number, figure


def test_the_pages_published_numbers_are_rows() -> None:
    rows = {row["id"]: row for road in MEASURED for row in verify.published(road)}
    for numbers in PUBLISHED.values():
        for shown, name in numbers.items():
            value, unit = shown.split()
            assert (float(rows[name]["value"]), rows[name]["unit"]) == (float(value), unit)
    assert "derived" in rows["forth.rdma.write.total"]["where"]
    assert "1.78 us (derived)" in _table()[RDMA]


def test_what_the_page_says_of_peers_has_its_bench_in_this_repository() -> None:
    rows = _table()
    for name, numbers in PEERS.items():
        assert "measured by us" in rows[name]
        for shown, file in numbers.items():
            assert shown in rows[name]
            assert (ROOT / file).is_file(), shown
    # Their names stand nowhere else in the table.
    assert [name for name, text in rows.items() if "LiteEth" in text or "GSI" in text] == list(PEERS)


def test_the_pages_numbers_of_benches_are_asserted_there() -> None:
    for numbers in BENCHES.values():
        for shown, (file, text) in numbers.items():
            assert text in (ROOT / file).read_text(), shown


def test_every_number_of_readme_is_on_the_page() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith("| road |"))
    text = "\n".join(line for line in lines[begin:] if line.startswith("|"))
    shown = set(NUMBER.findall(text))
    assert len(shown) >= 6
    assert shown <= set(NUMBER.findall(PAGE.read_text()))
