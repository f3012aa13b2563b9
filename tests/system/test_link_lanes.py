# SPDX-License-Identifier: Apache-2.0
"""Two bundles of lanes back to back (`link_repeater`) between two interfaces; lanes are late, slip, spoil
words and go down.

The interfaces' lanes are an implementation of their own (crates/isthmus-road/src/switch/link/lanes.rs). The
engine fails a run in which a packet is lost, doubled, out of order or wrong and no fault explains it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isthmus import native, platforms
from isthmus.errors import UserError
from isthmus.models.build import ModelSpec, build
from isthmus.roads.switch.bench import PLATFORM, Design, Traffic, scenario

pytestmark = pytest.mark.deterministic

LANES, MAX_SKEW, ALIGN_WORDS, INIT_WORDS = 4, 8, 256, 1024
CLOCK_NS = 12.8
Run = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def built() -> Path:
    held = platforms.load(PLATFORM).profiles["isthmus"]
    parameters = {
        "Lanes": LANES,
        "MaxSkew": MAX_SKEW,
        "AlignWords": ALIGN_WORDS,
        "CreditWords": int(held.credit.value),
        "InitWords": INIT_WORDS,
    }
    return build(ModelSpec("isthmus:board:link_repeater", "link_repeater", parameters))


@pytest.fixture(scope="module")
def run(built: Path) -> Run:
    def one(faults: dict[str, Any] | None = None, **settings: Any) -> dict[str, Any]:
        traffic = Traffic(
            **{
                "ports": 2,
                "pattern": "permutation",
                "sizes": (112, 2048),
                "packets": 2_000,
                "seed": 3,
                **settings,
            }
        )
        made = scenario(
            platforms.load(PLATFORM),
            traffic,
            Design(),
            "rtl",
            built,
            device={"lanes": LANES, "max_skew": MAX_SKEW, "align_words": ALIGN_WORDS},
            faults=faults or {},
        )
        made["workload"]["drain"] = True
        (found,) = native.run_scenario(made)
        return found

    return one


def _all_accounted(found: dict[str, Any]) -> None:
    counted = found["counters"]
    assert counted["packets.delivered"] + counted["packets.excused"] == counted["packets.created"]
    assert counted["packets.delivered"] > 500


@pytest.mark.parametrize(
    "skew", [[0, 0, 0, 0], [0, 1, 0, 0], [8, 0, 0, 0], [3, 8, 0, 5], [20, 25, 28, 22]], ids=str
)
def test_every_packet_comes_over_lanes_of_any_skew(run: Run, skew: list[int]) -> None:
    found = run({"lane_skew": skew}, load=0.7)
    _all_accounted(found)
    counted = found["counters"]
    assert counted["packets.excused"] == counted["lanes.lost"] == counted["device.lost"] == 0
    # Two hops, the latest lane twice, 8 clocks in the device, one more in the far interface's lanes.
    assert found["workload"]["clocks"]["fastest_switch"] == 8 + 2 * max(skew)


def test_four_lanes_carry_four_times_what_one_does(run: Run) -> None:
    found = run({"lane_skew": [0, 2, 4, 6]}, load=None, sizes=(2048, 2048))
    data = found["throughput"]["payload_bit_s"]
    line = LANES * 32 / CLOCK_NS * 1e9
    # Packets of 128 words of all lanes: two of framing, a credit in 128, a mark in AlignWords + 1 at most.
    assert 2 * line * 128 / 132 < data < 2 * line * 128 / 130


@pytest.mark.parametrize("skew", [[0, 9, 0, 0], [12, 0, 0, 3]], ids=str)
def test_lanes_too_far_apart_are_refused_with_a_reason(run: Run, skew: list[int]) -> None:
    with pytest.raises(UserError, match=r"not every link is up: .*aligned 0.*late [1-9]"):
        run({"lane_skew": skew}, load=0.5)


@pytest.mark.parametrize("lane", [0, 2])
def test_bit_errors_on_one_lane_cost_their_own_packets(run: Run, lane: int) -> None:
    found = run({"lane": lane, "bit_error_rate": 2e-6, "lane_skew": [1, 0, 4, 2]}, load=0.6)
    _all_accounted(found)
    counted = found["counters"]
    assert counted["fault.bit_errors"] > 2
    assert 0 < counted["packets.excused"] <= counted["fault.bit_errors"]
    assert counted["device.lost"] == counted["lanes.lost"] == 0


def test_a_lane_that_goes_down_starts_the_link_again(run: Run) -> None:
    found = run({"lane_resets": [[0, 2, 20_000, 40], [1, 0, 60_000, 5_000]]}, load=0.5)
    _all_accounted(found)
    counted = found["counters"]
    assert counted["end.starts"] >= 2 + 2
    assert counted["device.lost"] >= 2


@pytest.mark.parametrize("words", [1, -1])
def test_a_lane_that_slips_is_taken_back_without_a_new_start(run: Run, words: int) -> None:
    found = run({"slips": [[0, 1, 20_000, words], [1, 3, 50_000, words]], "lane_skew": [3] * LANES}, load=0.5)
    _all_accounted(found)
    counted = found["counters"]
    assert counted["fault.slips"] == 2
    # Both directions of a port slip: one end of each is the device's.
    assert counted["device.lost"] == counted["lanes.lost"] == 2
    assert counted["end.starts"] == 2, "no link went down"
    assert counted["packets.excused"] > 0


def test_a_stalled_sink_stops_the_source_without_loss(run: Run) -> None:
    found = run({"stalls": [[1, 15_000, 20_000]]}, load=0.5)
    assert found["counters"]["packets.delivered"] == found["counters"]["packets.created"]
