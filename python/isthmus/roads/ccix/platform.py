# SPDX-License-Identifier: Apache-2.0
"""The kind of platform with CCIX between a host and an FPGA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from isthmus.platforms.model import PROFILES, Constant, Declared, Kind, Of
from isthmus.platforms.parts import DmaMemory, PcieLink, PciePort


@dataclass(frozen=True)
class CcixFpga:
    """The FPGA."""

    clock: Annotated[Constant, Of("CcixPlatform", "clock", "clock of the logic and of the CCIX interface")]


@dataclass(frozen=True)
class Transport:
    """The link, and the ports at its ends."""

    ENGINE: ClassVar = "CcixTransport"

    generation: Annotated[Constant, "generation of the physical layer: 2.5, 5, 8 or 16 GT/s"]
    lanes: Annotated[Constant, "lanes: 1 to 16"]
    reserved: Annotated[Constant, "symbols that packets cannot use"]
    propagation: Annotated[Constant, "from one end's pins to the other's"]
    device_transmit: Annotated[Constant, "hard block: a packet's last beat to its first symbol"]
    device_receive: Annotated[Constant, "hard block: a packet's last symbol to its first beat"]
    host_transmit: Annotated[Constant, "host's port: a packet given to it to its first symbol"]
    host_receive: Annotated[Constant, "host's port: a packet's last symbol to the packet at the home"]
    block_beats: Annotated[Constant, "beats that the hard block holds for the link: its credits"]


@dataclass(frozen=True)
class Home:
    """The home agent at the host, and the memory behind it."""

    ENGINE: ClassVar = "CcixHome"

    gateway: Annotated[Constant, "a message at the host's port to its request at the home"]
    memory_read: Annotated[Constant, "a request at the home to its line"]
    memory_write: Annotated[Constant, "a write at the home to its being visible to a program"]
    link_down: Annotated[Constant, "the loss of the link to the host's program that recovers from it"]
    requests: Annotated[Constant, "places for requests of the FPGA"]
    lines: Annotated[Constant, "places for lines that it writes"]


@dataclass(frozen=True)
class Iommu:
    """The host's translation agent."""

    ENGINE: ClassVar = "CcixIommu"

    access: Annotated[Constant, "a walker's access to memory"]
    walkers: Annotated[Constant, "walks at once"]
    cache_entries: Annotated[Constant, "tables of each level that the walk cache knows; 0: none"]


@dataclass(frozen=True)
class CcixDesign:
    """What the two profiles differ in."""

    header: Annotated[Constant, Of("CcixTransport", "header", "a packet's header: optimised, or PCIe's 16")]
    packet: Annotated[Constant, Of("CcixTransport", "packet", "longest packet: 128, 256 or 512")]
    messages: Annotated[
        Constant, Of("CcixTransport", "packet_messages", "most messages of a packet; 1: no packing")
    ]
    transactions: Annotated[Constant, Declared("1", 2, 256, "requests that the agent has open")]
    descriptors: Annotated[Constant, Declared("1", 1, 16, "DMA over PCIe: descriptors under way, 1 or 16")]
    translations: Annotated[Constant, Declared("1", 1, 64, "translations in flight")]
    block_pages: Annotated[Constant, Declared("1", 1, 8, "pages of a translation: 1, 2, 4 or 8")]
    ahead: Annotated[Constant, Declared("1", 0, 64, "pages that are translated ahead of a stream; 0: none")]
    direct: Annotated[
        Constant, Declared("1", 0, 1, "1: what begins a translation goes on, and the host translates it")
    ]
    cache: Annotated[
        Constant, Declared("1", 4096, 16384, "lines of the FPGA's cache, 4 ways: a power of two")
    ]


KINDS: Mapping[str, Kind] = {
    "ccix": Kind(
        {
            "transport": Transport,
            "home": Home,
            "iommu": Iommu,
            "link": PcieLink,
            "root": PciePort,
            "endpoint": PciePort,
            "memory": DmaMemory,
        },
        boards=dict.fromkeys(PROFILES, "ccix_fpga"),
        fpga=CcixFpga,
        profile=CcixDesign,
        profile_of="ccix",
    ),
}
