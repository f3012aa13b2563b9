# SPDX-License-Identifier: Apache-2.0
"""Scenarios of the mailbox, and how they are measured."""

from collections.abc import Mapping, Sequence
from typing import Any

from isthmus.bench.runner import Runner
from isthmus.bench.session import Session
from isthmus.platforms import PROFILES, Platform, Profile, entries
from isthmus.results import Document


def scenario(platform: Platform, profile: Profile, size: int, iterations: int, seed: int) -> dict[str, Any]:
    """One run as the engine takes it."""
    return {
        "road": "template",
        "profile": profile,
        "platform": {
            "name": platform.name,
            "fpga": entries(platform.fpga),
            "host": entries(platform.groups["host"]),
            "mailbox": entries(platform.profiles[profile]),
        },
        "workload": {"operation": "host-read", "bytes": size, "iterations": iterations},
        "seed": seed,
    }


def measure(
    chosen: Sequence[Platform],
    sizes: Sequence[int],
    iterations: int,
    seed: int,
    runner: Runner | None,
) -> Document:
    """Every size on every platform, in both profiles."""
    session = Session("mailbox", runner=runner)
    wanted = [
        scenario(platform, profile, size, iterations, seed)
        for platform in map(session.platform, chosen)
        for profile in PROFILES
        for size in sizes
    ]
    return session.document(session.run(wanted), seed)


def label(made: Mapping[str, Any]) -> str:
    """What progress calls a scenario."""
    return f"{made['platform']['name']} {made['profile']} {made['workload']['bytes']}"
