# SPDX-License-Identifier: Apache-2.0
"""The kind of platform of the switch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from isthmus.platforms.model import PROFILES, Constant, Declared, Kind
from isthmus.platforms.parts import Serdes, SerialCable


@dataclass(frozen=True)
class SwitchFpga:
    """The switch's side of the pins."""

    clock: Annotated[Constant, Declared("MHz", 1, 1000, "word clock of switch and links")]


@dataclass(frozen=True)
class Interface:
    """The network interface at each port."""

    transmit: Annotated[
        Constant,
        Declared("word", 1, 10_000, "a packet's making to its first word at the transceiver, idle line"),
    ]
    receive_buffer: Annotated[Constant, Declared("word", 32, 512, "its receive buffer")]


@dataclass(frozen=True)
class SwitchDesign:
    """Differences of a switch's two profiles: the gateware's parameters, and the order of service."""

    buffer: Annotated[Constant, Declared("word", 32, 512, "a crosspoint")]
    packet: Annotated[Constant, Declared("word", 16, 510, "data of a packet, at most")]
    credit_in_packet: Annotated[Constant, Declared("1", 0, 1, "1: credits may be sent inside packets")]
    credit: Annotated[
        Constant, Declared("word", 1, 512, "freed and not reported, from which on packets wait")
    ]
    refresh: Annotated[Constant, Declared("word", 16, 4096, "between two questions of a waiting sender")]
    init: Annotated[Constant, Declared("word", 64, 32_768, "of INIT at a link's start")]
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
