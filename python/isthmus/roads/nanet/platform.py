# SPDX-License-Identifier: Apache-2.0
"""The kind of platform with a UDP-to-memory interface: Ethernet on one side, PCIe on the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from isthmus.platforms.model import PROFILES, Constant, Declared, Kind, Of, Platform
from isthmus.platforms.parts import DmaMemory, GigePhy, PcieGpu, PcieHost, PcieLink, PciePort


@dataclass(frozen=True)
class NanetLink:
    """The cable of each port."""

    ENGINE: ClassVar = "NanetLink"

    rate: Annotated[Constant, "line rate: 1000, or 10000 of an interface with XGMII"]
    length: Annotated[Constant, "length of one cable"]
    delay: Annotated[Constant, "propagation delay"]


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
    wake_min: Annotated[Constant, Of("Firmware", "wake_min", "request to its program, at the least")]
    wake_max: Annotated[Constant, Of("Firmware", "wake_max", "the same at the most")]
    work: Annotated[Constant, Of("Firmware", "work", "from there to the address")]


TOP = "nanet_nic"
TEN_GIGABIT_TOP = "nanet_nic_10g"
TEN_GIGABIT_PORTS = 2
_TEN_GIGABIT_MBIT_S = 10_000


def is_ten_gigabit(platform: Platform) -> bool:
    """Whether its ports are 10 Gigabit Ethernet."""
    return bool(platform.groups["cable"].rate.value == _TEN_GIGABIT_MBIT_S)


def top(platform: Platform) -> str:
    """The board top of its interface."""
    return TEN_GIGABIT_TOP if is_ten_gigabit(platform) else TOP


KINDS: Mapping[str, Kind] = {
    "nanet": Kind(
        {
            "cable": NanetLink,
            "phy": GigePhy,
            "link": PcieLink,
            "root": PciePort,
            "endpoint": PciePort,
            "memory": DmaMemory,
            "host": PcieHost,
            "gpu": PcieGpu,
            "commodity": NanetCommodity,
        },
        optional=frozenset({"commodity", "gpu"}),
        boards=dict.fromkeys(PROFILES, TOP),
        fpga=NanetFpga,
        profile=NanetDesign,
        profile_of="interface",
    ),
}
