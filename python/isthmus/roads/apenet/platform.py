# SPDX-License-Identifier: Apache-2.0
"""The kind of platform with a torus between hosts: links between nodes, PCIe behind each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from isthmus.platforms.model import PROFILES, Constant, Declared, Kind, Of
from isthmus.platforms.parts import DmaMemory, PcieGpu, PcieHost, PcieLink, PciePort


@dataclass(frozen=True)
class ApenetFpga:
    """A node's side of the pins."""

    clock: Annotated[Constant, Of("ApenetNode", "clock", "clock of nodes and links: a flit a clock")]
    data: Annotated[Constant, Declared("bit", 128, 512, "width of the DMA: 128, 256 or 512")]


@dataclass(frozen=True)
class ApenetSerdes:
    """The transceivers of a link between nodes."""

    latency: Annotated[
        Constant, Of("ApenetPlatform", "serdes", "user side to user side: the sender's and the receiver's")
    ]


@dataclass(frozen=True)
class ApenetCable:
    """The cable of such a link."""

    delay: Annotated[Constant, Of("ApenetPlatform", "cable", "propagation, the whole cable")]


@dataclass(frozen=True)
class ApenetKernel:
    """A kernel of the GPU that puts by itself and waits for what comes."""

    turn: Annotated[
        Constant,
        Of("ApenetPlatform", "kernel", "data visible in the GPU's memory to the kernel's store at its port"),
    ]


@dataclass(frozen=True)
class ApenetDesign:
    """What the profiles differ in."""

    buffer: Annotated[
        Constant, Declared("1", 2, 1024, "flits of each channel's buffer in a node, a power of two")
    ]
    firmware: Annotated[
        Constant, Declared("1", 0, 1, "1: a soft processor looks at each packet that comes; 0: gateware")
    ]
    wake_min: Annotated[Constant, Of("Firmware", "wake_min", "request to its program, at the least")]
    wake_max: Annotated[Constant, Of("Firmware", "wake_max", "the same at the most")]
    work: Annotated[Constant, Of("Firmware", "work", "from there to the address")]


KINDS: Mapping[str, Kind] = {
    "apenet": Kind(
        {
            "serdes": ApenetSerdes,
            "cable": ApenetCable,
            "link": PcieLink,
            "root": PciePort,
            "endpoint": PciePort,
            "memory": DmaMemory,
            "host": PcieHost,
            "gpu": PcieGpu,
            "kernel": ApenetKernel,
        },
        boards=dict.fromkeys(PROFILES, "apenet_node"),
        fpga=ApenetFpga,
        profile=ApenetDesign,
        profile_of="node",
    ),
}
