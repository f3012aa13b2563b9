# SPDX-License-Identifier: Apache-2.0
"""What a platform file may say, the simulator takes: both ends of each constant's range, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from isthmus import bootstrap, native, platforms
from isthmus.errors import DataError, UserError
from isthmus.platforms import PROFILES, Constant, Platform, Profile
from isthmus.roads.etherbone import bench as etherbone
from isthmus.roads.etherbone import scenario
from isthmus.roads.rdma import bench as rdma
from isthmus.roads.switch import bench as switch

pytestmark = pytest.mark.deterministic

NOWHERE = Path("/nowhere.so")

TOGETHER = {
    # A constant that is right alone and wrong beside others; the message says which.
    "has no room for a packet",
    "they are one clock",
    "clocks a hop",
    "MHz beside links of",
}


@pytest.fixture(scope="module", autouse=True)
def _native() -> None:
    bootstrap.ensure_native()


def held(platform: Platform, profile: Profile) -> Iterator[tuple[str, Any]]:
    """Every group of constants by its name."""
    yield "fpga", platform.fpga
    yield from platform.groups.items()
    yield f"profile.{profile}", platform.profiles[profile]


def with_value(platform: Platform, profile: Profile, group: str, key: str, value: float) -> Platform:
    def changed(holder: Any) -> Any:
        constant: Constant = getattr(holder, key)
        return replace(holder, **{key: replace(constant, value=value)})

    if group == "fpga":
        return replace(platform, fpga=changed(platform.fpga))
    if group in platform.groups:
        return replace(platform, groups={**platform.groups, group: changed(platform.groups[group])})
    return replace(platform, profiles={**platform.profiles, profile: changed(platform.profiles[profile])})


def run_of(platform: Platform, profile: Profile) -> Mapping[str, Any] | None:
    """A scenario of the platform's road, for a model that does not exist."""
    if platform.name in etherbone.SYSTEMS:
        return scenario.scenario(platform, profile, NOWHERE, scenario.timestamps("blocking", 1, 1), 1)
    if platform.name in rdma.PLATFORMS:
        made = rdma.Transfers("write-lat", hosts=2, inline=0)
        return rdma.scenario(platform, profile, made, NOWHERE, NOWHERE)
    if platform.name == switch.PLATFORM:
        traffic = switch.Traffic(ports=4, sizes=(24, 24))
        return switch.scenario(platform, traffic, switch.Design(profile), "rtl", NOWHERE)
    return None


NAMES = (*etherbone.SYSTEMS, *rdma.PLATFORMS, switch.PLATFORM)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", NAMES)
def test_both_ends_of_every_range_are_taken_by_the_simulator(name: str, profile: Profile) -> None:
    platform = platforms.load(name)
    wrong = []
    tried = 0
    for group, holder in held(platform, profile):
        for key, declared in platforms.declared(type(holder)).items():
            if getattr(holder, key, None) is None:
                continue
            for value in (declared.low, declared.high):
                asked = run_of(with_value(platform, profile, group, key, value), profile)
                assert asked is not None
                tried += 1
                try:
                    native.run_scenario(asked)
                except DataError:
                    pass
                except UserError as err:
                    if not any(reason in str(err) for reason in TOGETHER) and "nowhere" not in str(err):
                        wrong.append(f"{group}.{key} = {value:g}: {err}")
    assert tried > 20
    assert wrong == []


def test_an_unknown_road_is_named_beside_all_roads() -> None:
    with pytest.raises(
        UserError,
        match="unknown road `tokenring`: expected one of etherbone, switch, rdma, pcix, blockdma, nanet",
    ):
        native.run_scenario({"road": "tokenring"})


@pytest.mark.parametrize(
    ("faults", "says"),
    [
        ({"resets": [[2, 0, 0, 1]]}, "faults.resets: host 2 is outside 0 to 1"),
        ({"resets": [[0, 1, 0, 1]]}, "faults.resets: link 1 is outside 0 to 0"),
        ({"resets": [[9, 9, 0, 1]]}, "faults.resets: host 9 is outside 0 to 1"),
    ],
)
def test_a_fault_at_a_host_or_a_link_that_takes_no_part_is_refused(faults: dict[str, Any], says: str) -> None:
    transfers = rdma.Transfers("write-lat", hosts=2)
    platform = platforms.load(rdma.PLATFORM)
    asked = rdma.scenario(platform, "isthmus", transfers, NOWHERE, NOWHERE, faults=faults)
    with pytest.raises(UserError) as error:
        native.run_scenario(asked)
    assert says in str(error.value)
