# SPDX-License-Identifier: Apache-2.0
"""The kind of platform with a UDP-to-memory interface: Gigabit Ethernet on one side, PCIe on the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from isthmus.platforms.model import PROFILES, Constant, Declared, Kind, Of
from isthmus.platforms.parts import DmaMemory, PcieHost, PcieLink, PciePort
from isthmus.roads.etherbone.platform import Link, Phy


@dataclass(frozen=True)
class NanetFpga:
    """The interface's side of the pins."""

    clock: Annotated[Constant, Of("NanetInterface", "clock", "clock of everything behind the MAC")]
    data: Annotated[Constant, Declared("bit", 64, 512, "width of the DMA: 64, 128, 256 or 512")]


@dataclass(frozen=True)
class NanetCommodity:
    """The path without the interface: network card, kernel, program, GPU."""

    ENGINE: ClassVar = "NanetCommodity"

    min: Annotated[Constant, "wire to program, at the least"]
    p25: Annotated[Constant, "the same, 25 % of datagrams at the most"]
    p50: Annotated[Constant, "50 %"]
    p75: Annotated[Constant, "75 %"]
    p90: Annotated[Constant, "90 %"]
    p95: Annotated[Constant, "95 %"]
    p99: Annotated[Constant, "99 %"]
    p99_5: Annotated[Constant, "99.5 %"]
    p99_9: Annotated[Constant, "99.9 %"]
    p99_99: Annotated[Constant, "99.99 %"]
    max: Annotated[Constant, "at the most"]
    copies: Annotated[Constant, "both copies between program and GPU"]
    processing: Annotated[Constant, "on the GPU"]


@dataclass(frozen=True)
class NanetDesign:
    """What the profiles differ in."""

    stores: Annotated[Constant, Declared("1", 0, 2, "store-and-forward stages before the DMA")]
    firmware: Annotated[
        Constant, Declared("1", 0, 1, "1: a soft processor finds the buffer of each datagram; 0: gateware")
    ]
    wake_min: Annotated[Constant, Of("NanetFirmware", "wake_min", "request to its program, at the least")]
    wake_max: Annotated[Constant, Of("NanetFirmware", "wake_max", "the same at the most")]
    work: Annotated[Constant, Of("NanetFirmware", "work", "from there to the address")]


KINDS: Mapping[str, Kind] = {
    "nanet": Kind(
        {
            "cable": Link,
            "phy": Phy,
            "link": PcieLink,
            "root": PciePort,
            "endpoint": PciePort,
            "memory": DmaMemory,
            "host": PcieHost,
            "commodity": NanetCommodity,
        },
        optional=frozenset({"commodity"}),
        boards=dict.fromkeys(PROFILES, "nanet_nic"),
        fpga=NanetFpga,
        profile=NanetDesign,
        profile_of="interface",
    ),
}
