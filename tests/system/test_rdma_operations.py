# SPDX-License-Identifier: Apache-2.0
"""Operations over RDMA: puts and messages with a window or at a rate, and the interface's own transfers.

The engine compares every byte (docs/reference/rdma-scenario.md); here is what rates and times must be.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.errors import UserError
from isthmus.roads.rdma.bench import PLATFORM, Transfers, models, scenario

pytestmark = pytest.mark.deterministic

Run = Callable[..., dict[str, Any]]
NOISE = {"unit": "ns", "buckets": [[0, 900], [50_000, 100]]}
"""One wake-up in ten is 50 us late."""
PCIE = "rdma-pcie"


@pytest.fixture(scope="module")
def run() -> Run:
    """One run over one link; `core` replaces constants of the PCI-X core."""
    built: dict[str, dict[str, Path]] = {}

    def one(
        test: str = "put",
        platform: str = PLATFORM,
        core: dict[str, Any] | None = None,
        noise: dict[str, Any] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        loaded = platforms.load(platform)
        if platform not in built:
            built[platform] = models(loaded, "isthmus", 1, 2)
        made = scenario(
            loaded,
            "isthmus",
            Transfers("write-lat", links=1, seed=7, inline=0),
            built[platform]["rdma_ni"],
            built[platform]["link_switch"],
        )
        made["workload"] = {"test": test, "size_bytes": 256, "iterations": 100, **settings}
        if core:
            made["platform"]["bus"]["pcix"]["core"] |= core
        if noise:
            made["noise"] = noise
        (found,) = native.run_scenario(made)
        return found

    return one


@pytest.mark.parametrize(("test", "window"), [("put", 1), ("put", 4), ("put", 16), ("message", 4)])
def test_littles_law_holds_for_what_is_in_flight(run: Run, test: str, window: int) -> None:
    found = run(test, window=window, iterations=200)
    assert found["arrivals"] == f"window:{window}"
    in_flight = found["throughput"]["cycles_per_s"] * found["workload"]["acknowledged_ps"] / 1e12
    assert in_flight == pytest.approx(window, rel=0.03)
    assert found["latency_ps"]["avg"] < found["workload"]["acknowledged_ps"], "an acknowledgement takes time"
    assert found["iterations"] == 200
    assert found["excluded"]["head"] >= 2 * window
    assert found["excluded"]["tail"] == window


@pytest.mark.parametrize("test", ["put", "message"])
def test_a_low_rate_has_the_latency_of_an_idle_road(run: Run, test: str) -> None:
    alone = run(test, iterations=50)
    rate = float(round(0.1 * alone["throughput"]["cycles_per_s"])) + 0.5
    found = run(test, iterations=50, rate_per_s=rate)
    assert found["arrivals"] == f"poisson:{rate}/s"
    assert found["latency_ps"]["typical"] == pytest.approx(alone["latency_ps"]["typical"], rel=0.03)
    assert not found["workload"]["saturated"]
    assert found["workload"]["window"] is None
    assert found["workload"]["rate_per_s"] == rate


@pytest.mark.parametrize("test", ["put", "message"])
def test_a_rate_above_capacity_saturates_and_has_no_latency(run: Run, test: str) -> None:
    most = run(test, window=32)["throughput"]["cycles_per_s"]
    found = run(test, rate_per_s=2 * most, iterations=300)
    assert found["workload"]["saturated"]
    assert found["latency_ps"] is None
    assert found["throughput"]["cycles_per_s"] == pytest.approx(most, rel=0.15)
    below = run(test, rate_per_s=most / 2, iterations=300)
    assert not below["workload"]["saturated"]
    assert below["latency_ps"]["avg"] > run(test)["latency_ps"]["avg"], "some wait for others"


def test_the_busy_resource_is_the_one_that_bounds_the_rate(run: Run) -> None:
    one, many = (run(window=window)["workload"]["busy"] for window in (1, 16))
    assert set(one) == set(many) == {"host", "bus", "wire"}
    assert max(one.values()) < 0.5
    # A put of 256 bytes and its framing on a link of 32 bits, word after word.
    assert many["wire"] > 0.98
    messages = run("message", window=32)["workload"]["busy"]
    assert messages["host"] > 0.9 > messages["wire"], "the sender's stores take longer than the link"


def test_a_result_says_what_was_carried(run: Run) -> None:
    found = run(size_bytes=64, inline_bytes=256, window=4)
    expected = {
        "operation": "put",
        "bytes": 64,
        "driver": "inline",
        "window": 4,
        "rate_per_s": None,
        "noise": False,
        "saturated": False,
    }
    assert expected.items() <= found["workload"].items()
    assert found["definition"] == "one_way"
    assert found["id"].endswith("/put64w4")
    assert run(window=4)["workload"]["driver"] == "dma"
    assert run("message")["workload"]["driver"] == "message"
    assert found["checked"]["bytes"] >= 64 * 100


@pytest.mark.parametrize("test", ["put", "message"])
def test_the_stages_are_those_of_one_transfer_alone(run: Run, test: str) -> None:
    found = run(test, window=8)
    total = sum(stage["ps"] for stage in found["stages"])
    assert total == found["stages_total_ps"] > 0
    assert total == pytest.approx(run(test)["latency_ps"]["typical"], rel=0.05)


def test_noise_shifts_the_tail_and_not_the_median(run: Run) -> None:
    quiet, noisy = (run("message", noise=noise, iterations=200) for noise in (None, NOISE))
    assert noisy["workload"]["noise"]
    assert not quiet["workload"]["noise"]
    assert noisy["latency_ps"]["p50"] == pytest.approx(quiet["latency_ps"]["p50"], rel=0.05)
    assert noisy["latency_ps"]["max"] > 50_000_000 > 5 * quiet["latency_ps"]["max"]
    # No program waits at a put's destination: its sender's delays are not in the latency.
    put = run("put", noise=NOISE, iterations=200)
    assert put["latency_ps"]["max"] < 50_000_000
    assert put["workload"]["acknowledged_ps"] > 2 * run("put")["workload"]["acknowledged_ps"]


PROTOCOL, ARBITRATION, RECEIVE = 3, 4, 1
"""Clocks of 10 ns on PCI-X: address, attribute and response; REQ# to the address phase; the core's input."""


@pytest.mark.parametrize("size", [8, 64, 256, 512])
def test_a_read_of_the_interface_takes_the_clocks_of_its_bus(run: Run, size: int) -> None:
    found = run("device-read", size_bytes=size, iterations=10, core={"ahead": False})
    # A request with a phase that moves nothing, one clock longer, and the turn of the bus; 420 ns of
    # bridge and memory; the completion.
    clocks = ARBITRATION + PROTOCOL + 1 + 2 + 42 + ARBITRATION + PROTOCOL + size // 8 + RECEIVE
    assert found["latency_ps"]["min"] == found["latency_ps"]["max"] == 10_000 * clocks
    assert found["definition"] == "rtt"
    assert found["throughput"] is None
    assert sum(stage["ps"] for stage in found["stages"]) == found["stages_total_ps"] == 10_000 * clocks


def test_a_read_longer_than_a_completion_pays_for_each(run: Run) -> None:
    found = run("device-read", size_bytes=4096, iterations=10, core={"ahead": False})
    # Three completions, the next one's address phase 10 clocks behind the last one's data.
    clocks = ARBITRATION + PROTOCOL + 1 + 2 + 42 + ARBITRATION + PROTOCOL + 512 + 2 * 10 + RECEIVE
    assert found["latency_ps"]["max"] == 10_000 * clocks


@pytest.mark.parametrize("size", [8, 64, 128])
def test_a_write_of_the_interface_takes_the_clocks_of_its_bus(run: Run, size: int) -> None:
    found = run("device-write", size_bytes=size, iterations=10, core={"ahead": False})
    clocks = ARBITRATION + PROTOCOL + size // 8 + 10
    assert found["latency_ps"]["min"] == found["latency_ps"]["max"] == 10_000 * clocks
    assert found["definition"] == "one_way"
    early = run("device-write", size_bytes=size, iterations=10)
    assert early["latency_ps"]["max"] <= found["latency_ps"]["min"], "REQ# ahead of the data"


def test_the_same_over_pci_express_is_the_sum_of_its_ports_and_wire(run: Run) -> None:
    ns = platforms.load(PCIE)
    made = scenario(ns, "isthmus", Transfers("write-lat", links=1, inline=0), Path(), Path())
    link = made["platform"]["bus"]["pcie"]
    root, endpoint, memory = link["root"], link["endpoint"], link["memory"]
    octet = 1 / (1 - link["link"]["reserved_share"])
    up = endpoint["transmit_latency_ns"] + link["link"]["propagation_ns"] + root["receive_latency_ns"]
    down = root["transmit_latency_ns"] + link["link"]["propagation_ns"] + endpoint["receive_latency_ns"]
    read = run("device-read", platform=PCIE, size_bytes=8, iterations=10)
    # TLPs of three words of header, sequence number, LCRC and framing: 20 octets, four lanes of 2.5 Gb/s.
    expected = up + 20 * octet + memory["read_ns"] + down + 28 * octet
    assert read["latency_ps"]["typical"] / 1e3 == pytest.approx(expected, rel=0.02)
    write = run("device-write", platform=PCIE, size_bytes=8, iterations=10)
    expected = up + 28 * octet + memory["write_ns"]
    assert write["latency_ps"]["typical"] / 1e3 == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"test": "put", "window": 4, "rate_per_s": 1e5}, "a window and a rate exclude each other"),
        ({"test": "put", "window": 65}, "65 of 256 bytes: 1 to 64 expected"),
        ({"test": "put", "window": 5, "size_bytes": 65536}, "5 of 65536 bytes: 1 to 4 expected"),
        ({"test": "message", "size_bytes": 512}, "512: a multiple of 8 from 8 to 504 expected"),
        ({"test": "put", "both_ways": True}, "put goes from even hosts to odd ones"),
        ({"test": "write-lat", "window": 4}, "write-lat has no window: only put, message"),
        ({"test": "device-read", "window": 2}, "a window of 1 expected"),
        ({"test": "device-read", "rate_per_s": 1e5}, "a window of 1 expected"),
        ({"test": "device-write", "size_bytes": 1024}, "1024: at most 512, a packet, in device-write"),
        ({"test": "host-read"}, "rdma does not carry host-read: expected one of put, message, device-read"),
        ({"test": "gpu-write"}, "no road here carries gpu-write yet"),
        ({"test": "pull"}, "unknown test `pull`: expected one of write-lat"),
        ({"test": "device-read", "noise": NOISE}, "no program takes part in device-read"),
        ({"test": "send-bw", "noise": NOISE}, "send-bw has no operating-system noise"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(run: Run, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as refused:
        run(**settings)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
