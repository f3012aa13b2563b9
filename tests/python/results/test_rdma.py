# SPDX-License-Identifier: Apache-2.0
"""The RDMA benchmarks without their simulator: what they ask for, print, draw, compare and refuse."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from isthmus import platforms
from isthmus.bench import rdma
from isthmus.bench.rdma import Transfers
from isthmus.errors import UserError
from isthmus.paths import ROOT

NI, SWITCH = Path("rdma_ni.so"), Path("link_switch.so")


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
    text = (ROOT / "crates" / "isthmus-sim" / "tests" / "pcix_support" / "mod.rs").read_text()
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
        made = _scenario(profile=profile, hosts=5, links=3)
        built = rdma.parameters(platform, profile, 3, 5)
        assert made["interface"]["links"] == built["rdma_ni"]["NumLinks"] == 3
        assert made["interface"]["hosts"] == built["rdma_ni"]["NumHosts"] == 8
        assert made["switch"]["ports"] == built["link_switch"]["NumPorts"] == 8
        assert built["rdma_ni"]["TxDepth"] == built["link_switch"]["Depth"]
        for key in ("CreditInPacket", "CreditWords", "RefreshWords", "InitWords"):
            assert built["rdma_ni"][key] == built["link_switch"][key]


def test_parameters_are_those_of_the_gateware() -> None:
    for top, values in rdma.parameters(platforms.load("rdma-pcie"), "isthmus", 1, 2).items():
        text = (ROOT / "rtl" / "board" / f"{top}.sv").read_text()
        head = text.split(") (", 1)[0]
        assert set(re.findall(r"parameter \w+(?: \w+)?\s+(\w+)\s*=", head)) == set(values)


def test_profiles_differ_in_reads_and_credits_alone() -> None:
    platform = platforms.load(rdma.PLATFORM)
    theirs, ours = (
        rdma.parameters(platform, profile, 1, 2)[rdma.INTERFACE] for profile in platforms.PROFILES
    )
    assert {key for key in theirs if theirs[key] != ours[key]} == {"Outstanding", "CreditWords"}
    assert (theirs["Outstanding"], ours["Outstanding"]) == (1, 2)


def test_a_packet_of_the_interface_fits_the_switch() -> None:
    switch = rdma.parameters(platforms.load(rdma.PLATFORM), "isthmus", 1, 2)[rdma.SWITCH]
    assert switch["MaxWords"] >= (512 + 3 * 8) / 4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test": "read-lat"}, "test: no 'read-lat'; there are: write-lat,"),
        ({"size": 12}, "size: 12 bytes for write-lat; a multiple of 8, 8 to 1048576, is right"),
        ({"size": 0}, "size: 0 bytes"),
        (
            {"size": 1024, "test": "send-bw"},
            "size: 1024 bytes for send-bw; a multiple of 8, 8 to 512, is right",
        ),
        ({"hosts": 9}, "hosts: 9 is outside 2 to 8"),
        ({"links": 5}, "links: 5 is outside 1 to 4"),
        ({"iterations": 0}, "iters: 0 is outside"),
        ({"posting": "v4", "test": "one-way"}, "posting: no 'v4'; there are: v1, v2, v3"),
        ({"posting": "v1"}, "posting: write-lat looks for room in one way"),
        ({"both_ways": True}, "bidirectional: write-lat has no directions"),
    ],
)
def test_what_nothing_can_run_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as error:
        _scenario(**settings)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_platform_of_another_road_is_refused() -> None:
    with pytest.raises(
        UserError, match="platform: gige-direct has no RDMA; there are: forth-rdma, rdma-pcie"
    ):
        rdma.bus(platforms.load("gige-direct"))


def test_ids_are_those_of_the_reference_page() -> None:
    page = (ROOT / "docs" / "reference" / "rdma-scenario.md").read_text()
    one = rdma.identifier(rdma.PLATFORM, "isthmus", Transfers("write-lat"))
    two = rdma.identifier(rdma.PLATFORM, "as-published", Transfers("one-way", 4096, links=4, posting="v2"))
    assert f"`{one}`" in page
    assert f"`{two}`" in page
    three = Transfers("write-bw", posting="v1", combined=False, both_ways=True)
    assert rdma.identifier("rdma-pcie", "isthmus", three).endswith("/write-bw/2x1-8-v1-uncombined-both-ways")
