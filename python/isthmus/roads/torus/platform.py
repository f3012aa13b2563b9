# SPDX-License-Identifier: Apache-2.0
"""The torus' kind of platform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from isthmus.platforms.model import PROFILES, Constant, Kind, Of


@dataclass(frozen=True)
class TorusFpga:
    """A node's side of the pins."""

    clock: Annotated[Constant, Of("TorusPlatform", "clock", "clock of routers and links: a flit a clock")]


@dataclass(frozen=True)
class TorusSerdes:
    """The transceivers of a link."""

    latency: Annotated[
        Constant, Of("TorusPlatform", "serdes", "user side to user side: the sender's and the receiver's")
    ]


@dataclass(frozen=True)
class TorusCable:
    """The cable of a link."""

    delay: Annotated[Constant, Of("TorusPlatform", "cable", "propagation, the whole cable")]


@dataclass(frozen=True)
class TorusDesign:
    """The possible differences of the two profiles."""

    buffer: Annotated[
        Constant, Of("TorusDevice", "buffer_flits", "flits of each channel's buffer, a power of two")
    ]


KINDS: Mapping[str, Kind] = {
    "torus": Kind(
        {"serdes": TorusSerdes, "cable": TorusCable},
        boards=dict.fromkeys(PROFILES, "torus_node"),
        fpga=TorusFpga,
        profile=TorusDesign,
        profile_of="router",
    ),
}
