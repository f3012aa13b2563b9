# SPDX-License-Identifier: Apache-2.0
"""The kind of platform with a cache-coherent link between a processor and an FPGA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from isthmus.platforms.model import PROFILES, Constant, Declared, Kind, Of
from isthmus.platforms.parts import DmaMemory, PcieLink, PciePort


@dataclass(frozen=True)
class EciFpga:
    """Both ends of the link."""

    clock: Annotated[Constant, Of("EciPlatform", "clock", "clock of both ends' logic")]


@dataclass(frozen=True)
class Lanes:
    """The lanes of one link, the same in both directions."""

    ENGINE: ClassVar = "LanesConfig"

    lanes: Annotated[Constant, "lanes"]
    lane: Annotated[Constant, "line rate of a lane"]
    coded: Annotated[Constant, "bits on a lane for 64 bits of data"]
    metaframe: Annotated[Constant, "words of a lane from one mark to the next"]
    control: Annotated[Constant, "of these, words without data"]
    serdes: Annotated[Constant, "a block's last bit at the sender to the block at the receiver's logic"]
    trace: Annotated[Constant, "propagation"]


@dataclass(frozen=True)
class LineMemory:
    """The host's last cache level and memory, as its home agent sees them."""

    ENGINE: ClassVar = "EciPlatform"

    memory_read: Annotated[Constant, "a request to its line"]
    memory_write: Annotated[Constant, "a store to its being visible to a program"]


@dataclass(frozen=True)
class FpgaMemory:
    """The FPGA's memory, as its home agent sees it."""

    ENGINE: ClassVar = "EciPlatform"

    fpga_memory_read: Annotated[Constant, "a request to its line"]
    fpga_memory_write: Annotated[Constant, "a store to its being visible"]


@dataclass(frozen=True)
class HostCore:
    """A core of the host, for I/O accesses, interrupts, and lines of the FPGA's memory."""

    ENGINE: ClassVar = "EciPlatform"

    core: Annotated[Constant, "from a core to the logic of the link's end, and back the same"]


@dataclass(frozen=True)
class EciLinks:
    """What `isthmus compare` uses of the links."""

    links: Annotated[Constant, Declared("1", 1, 2, "links between the FPGA and the host")]
    partition: Annotated[
        Constant, Declared("1", 0, 1, "how messages take two: 0 by room in their queues, 1 by address")
    ]


@dataclass(frozen=True)
class PcieCard:
    """A card on PCIe, beside the coherent link."""

    clock: Annotated[Constant, Of("EciPcie", "clock", "clock of the logic and of the hard block's user side")]


@dataclass(frozen=True)
class EciDesign:
    """What the two profiles differ in."""

    data: Annotated[Constant, Declared("word", 16, 512, "receive buffer of each circuit that carries lines")]
    rest: Annotated[Constant, Declared("word", 16, 512, "receive buffer of each other circuit")]
    cache: Annotated[Constant, Declared("1", 8, 16_384, "lines of the FPGA's cache, 4 ways")]
    directory: Annotated[
        Constant, Declared("1", 8, 16_384, "lines of the host's cache and directory, 4 ways")
    ]
    replay: Annotated[Constant, Declared("1", 2, 127, "blocks kept until they are acknowledged")]
    round_trip: Annotated[
        Constant, Declared("cycle", 0, 1_000, "a word to its credit, which buffers must cover; 0: unchecked")
    ]


KINDS: Mapping[str, Kind] = {
    "eci": Kind(
        {
            "lanes": Lanes,
            "eci": EciLinks,
            "memory": LineMemory,
            "fpga_memory": FpgaMemory,
            "core": HostCore,
            "pcie": PcieCard,
            "link": PcieLink,
            "root": PciePort,
            "endpoint": PciePort,
            "dma": DmaMemory,
        },
        boards=dict.fromkeys(PROFILES, "eci_fpga"),
        fpga=EciFpga,
        profile=EciDesign,
        profile_of="eci",
    ),
}
