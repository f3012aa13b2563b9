# SPDX-License-Identifier: Apache-2.0
"""The switch's kind of platform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from isthmus.platforms.model import PROFILES, Constant, Declared, Kind, Of
from isthmus.platforms.parts import Serdes, SerialCable


@dataclass(frozen=True)
class SwitchFpga:
    """The switch's side of the pins."""

    clock: Annotated[Constant, Of("SwitchPlatform", "clock", "word clock of switch and links")]


@dataclass(frozen=True)
class Interface:
    """The network interface at each port."""

    transmit: Annotated[
        Constant,
        Of("SwitchPlatform", "transmit", "a packet's making to its first word at the transceiver, idle line"),
    ]
    receive_buffer: Annotated[Constant, Of("SwitchPlatform", "receive", "its receive buffer")]


@dataclass(frozen=True)
class SwitchDesign:
    """The possible differences of a switch's two profiles: the gateware's parameters, and the order of
    service."""

    ENGINE: ClassVar = "SwitchDevice"

    buffer: Annotated[Constant, "a crosspoint"]
    packet: Annotated[Constant, Of("SwitchDevice", "max", "data of a packet, at most")]
    credit_in_packet: Annotated[Constant, Declared("1", 0, 1, "1: credits may be sent inside packets")]
    credit: Annotated[Constant, "freed and not reported, from which on packets wait"]
    refresh: Annotated[Constant, "between two questions of a waiting sender"]
    init: Annotated[Constant, "of INIT at a link's start"]
    align: Annotated[Constant, "without a comma behind which an ALIGN goes; 0: none"]
    longest_first: Annotated[
        Constant, Declared("1", 0, 1, "1: an interface serves its longest queue; 0: all in turn")
    ]
    latency: Annotated[Constant, Declared("word", 3, 1000, "pins to pins of an idle switch, for its models")]


KINDS: Mapping[str, Kind] = {
    "serdes": Kind(
        {"serdes": Serdes, "cable": SerialCable, "interface": Interface},
        boards=dict.fromkeys(PROFILES, "link_switch"),
        fpga=SwitchFpga,
        profile=SwitchDesign,
        profile_of="switch",
    ),
}
