# SPDX-License-Identifier: Apache-2.0
"""Frames straight onto the device's wire: as fast as they can come, and as wrong as they can be."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from isthmus import native
from isthmus.errors import DataError, UserError
from isthmus.roads.etherbone import scenario

pytestmark = pytest.mark.deterministic

Scenario = Callable[..., dict[str, Any]]
FRAMES = 5_000


def outcomes(made: dict[str, Any]) -> dict[str, Any]:
    (result,) = native.run_scenario(made)
    work: dict[str, Any] = result["workload"]
    assert work["wrong"] == result["checked"]["wrong"] == result["checked"]["lost"] == 0
    # Every frame in exactly one counter of the receive side.
    twice = ("drop_malformed", "drop_broadcast", "arp_replies", "icmp_replies")
    assert work["sent"] == sum(count for name, count in work["outcomes"].items() if name not in twice)
    assert sum(work["classes"].values()) == work["frames"]
    counters = {name: result["counters"][f"device.{name}"] for name in work["outcomes"]}
    # Received well, and then found no room.
    counters["rx_good"] -= counters["drop_overflow"]
    assert counters == work["outcomes"]
    return work


@pytest.mark.parametrize("dialect", ["ohwr", "litex"])
@pytest.mark.parametrize("silent", [False, True])
def test_random_broken_and_hostile_frames(
    scenario_of: Scenario, gige_silent: Path, silent: bool, dialect: str, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    with capsys.disabled():
        print(f"\nfuzz {dialect} seed {seed}{' with a slave that never answers' if silent else ''}")
    made = scenario_of(scenario.fuzz(FRAMES), seed=seed, device={"dialect": dialect})
    if silent:
        made["device"]["model_path"] = str(gige_silent)
    work = outcomes(made)
    assert work["silent_slave"] is silent
    # In LiteEth's dialect nothing answers a message that only writes.
    assert work["answered"] > FRAMES / (3 if dialect == "ohwr" else 4)
    assert all(work["outcomes"][name] > 0 for name in ("drop_fcs", "drop_malformed", "drop_denied"))
    # Only what a silent slave holds up may be turned away. A frame of one record cannot hold it up so long.
    assert (work["outcomes"]["drop_refused"] > 0) is (silent and dialect == "ohwr")


def test_one_seed_gives_one_run_with_and_without_skipping(scenario_of: Scenario) -> None:
    made = scenario_of(scenario.fuzz(300))
    assert outcomes(made) == outcomes({**made, "skip_idle": False}) == outcomes({**made, "check_idle": True})


def test_a_wrong_reply_ends_the_run_with_the_frame(scenario_of: Scenario) -> None:
    # A bit that the cable flips on the way back is a reply that never came.
    made = scenario_of(scenario.fuzz(300), faults={"cable.b_to_a.drop": {"at_count": [100]}})
    with pytest.raises(DataError, match=r"^fuzz: seed 1: .*: frame \d+ \([a-z_]+\): 55") as error:
        native.run_scenario(made)
    assert "\n" not in str(error.value)


def test_a_write_that_nobody_asked_for_is_found(scenario_of: Scenario) -> None:
    # The device forgets its RAM's writes of one frame: the cable loses the frame behind the model's back.
    made = scenario_of(scenario.fuzz(300), faults={"cable.a_to_b.drop": {"at_count": [40]}})
    with pytest.raises(DataError, match=r"^fuzz: seed 1: .*: frame"):
        native.run_scenario(made)


@pytest.mark.parametrize(("timestamps", "clocks"), [(0, 84), (1, 1526), (8, 1498)])
def test_frames_back_to_back_are_all_answered_at_line_rate(
    scenario_of: Scenario, timestamps: int, clocks: int
) -> None:
    (result,) = native.run_scenario(scenario_of(scenario.line_rate(200, timestamps)))
    assert set(result["workload"]["clocks"].values()) == {clocks}
    assert result["counters"]["device.rx_good"] == result["counters"]["device.tx_frames"] == 200
    assert result["throughput"]["wire_bit_s"] == pytest.approx(1e9)


@pytest.mark.parametrize("kind", ["fuzz", "line-rate"])
def test_the_bare_wire_has_no_switch(scenario_of: Scenario, kind: str) -> None:
    with pytest.raises(UserError, match=r"platform\.bus\.gige\.switch: "):
        native.run_scenario(scenario_of({"kind": kind}, platform="gige-switch"))
    with pytest.raises(UserError, match=r"workload\.frames: 0 is outside 1 to 1000000"):
        native.run_scenario(scenario_of({"kind": kind, "frames": 0}))
