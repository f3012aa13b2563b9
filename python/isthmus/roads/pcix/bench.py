# SPDX-License-Identifier: Apache-2.0
"""The PCI-X bus of a platform alone: the document's microbenchmarks of its bus (section V-C).

No gateware takes part, so there is nothing to build. `scenario` makes one run
(docs/reference/pcix-scenario.md), `measure` runs them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from isthmus.bench import runner as running
from isthmus.bench.session import Session
from isthmus.errors import UserError
from isthmus.platforms import PROFILES, Platform, Profile, entries
from isthmus.results import Document
from isthmus.roads.gives import Request
from isthmus.roads.rdma import bench as rdma

Test = Literal["store", "store-combined", "read", "write"]

WORD_BYTES, DESCRIPTOR_BYTES, LINE_BYTES, PAGE_BYTES = 4, 16, 64, 4096
BACK_TO_BACK = 50
"""Accesses of a run that measures a rate."""
WALL_S = 600


@dataclass(frozen=True)
class Access:
    """A number of bytes, a number of times, back to back. store: words of 4 bytes of the host;
    store-combined: through a write-combining mapping; read, write: of host memory, by the device."""

    test: Test
    size: int
    times: int = 1


ACCESSES: Sequence[Access] = (
    Access("store", WORD_BYTES),
    Access("store", DESCRIPTOR_BYTES),
    Access("store", LINE_BYTES),
    Access("store-combined", DESCRIPTOR_BYTES),
    Access("store-combined", LINE_BYTES),
    Access("read", PAGE_BYTES),
    Access("read", PAGE_BYTES, BACK_TO_BACK),
    Access("write", PAGE_BYTES),
    Access("write", PAGE_BYTES, BACK_TO_BACK),
)


def scenario(platform: Platform, profile: Profile, access: Access, seed: int = 1) -> dict[str, Any]:
    """One run as the engine takes it. The device has as many reads in progress as the profile's interface.
    Raises `UserError` for a platform without PCI-X."""
    bus = rdma.bus(platform, profile)
    if "pcix" not in bus:
        raise UserError(f"platform: {platform.name} has no PCI-X; expected {rdma.PLATFORM}")
    outstanding = int(platform.profiles[profile].outstanding.value)
    return {
        "road": "pcix",
        "profile": profile,
        "platform": {
            "name": platform.name,
            "bus": {**bus["pcix"], "core": {**bus["pcix"]["core"], "reads": outstanding}},
            "host": entries(platform.groups["host"]),
        },
        "workload": {"test": access.test, "bytes": access.size, "times": access.times},
        "seed": seed,
        "limits": {"wall_s": WALL_S},
    }


def measure(
    profiles: Iterable[Profile] = PROFILES,
    accesses: Sequence[Access] = ACCESSES,
    *,
    platform: str = rdma.PLATFORM,
    seed: int = 1,
    runner: running.Runner | None = None,
) -> Document:
    """Run them and give the result document; a second or so, and nothing is printed.

    runner  instead of the simulator
    """
    session = Session("bus", runner=runner)
    loaded = session.platform(platform)
    wanted = [scenario(loaded, profile, access, seed) for profile in profiles for access in accesses]
    return session.document(session.run(wanted), seed)


def given(request: Request) -> Document:
    """All of them, for the document of the road whose bus it is."""
    return measure(request.profiles, seed=request.seed, runner=request.runner)


def label(made: Mapping[str, Any]) -> str:
    """The name of a scenario in the progress display."""
    workload = made["workload"]
    return f"{made['platform']['name']} {made['profile']} {workload['test']} {workload['bytes']}"
