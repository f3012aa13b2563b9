# SPDX-License-Identifier: Apache-2.0
"""Parts that platforms of several roads have: PCIe, a PHY, transceivers and cables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from isthmus.platforms.model import Constant, Of


@dataclass(frozen=True)
class Serdes:
    """The transceivers of one hop."""

    latency: Annotated[
        Constant, Of("RdmaPlatform", "serdes", "user side to user side: the sender's and the receiver's")
    ]


@dataclass(frozen=True)
class SerialCable:
    """The cable of one hop."""

    delay: Annotated[Constant, Of("RdmaPlatform", "cable", "propagation, the whole cable")]


@dataclass(frozen=True)
class GigePhy:
    """The FPGA's Gigabit PHY."""

    ENGINE: ClassVar = "GigePhy"

    tx: Annotated[Constant, "transmit pins (GMII) to medium"]
    rx: Annotated[Constant, "medium to receive pins (GMII)"]


@dataclass(frozen=True)
class PcieLink:
    """A PCIe link."""

    ENGINE: ClassVar = "PcieLink"

    generation: Annotated[Constant, "generation: 2.5, 5, 8 or 16 GT/s"]
    lanes: Annotated[Constant, "lanes: 1, 2, 4, 8 or 16"]
    max_payload: Annotated[Constant, "largest payload of a TLP"]
    max_read_request: Annotated[Constant, "largest read request"]
    read_completion: Annotated[Constant, "read completions end at multiples of it"]
    reserved: Annotated[Constant, "symbols that TLPs cannot use"]
    ack_every: Annotated[Constant, "TLPs for each acknowledgement; 0: part of reserved"]
    update_every: Annotated[Constant, "TLPs for each flow-control update; 0: part of reserved"]
    propagation: Annotated[Constant, "from one end's pins to the other's"]
    replay: Annotated[Constant, "TLP received wrong to its second transmission"]
    tags: Annotated[Constant, "read requests of the device that may be outstanding"]


@dataclass(frozen=True)
class PciePort:
    """One end of a PCIe link. Credits of 0 are without limit."""

    ENGINE: ClassVar = "PciePort"

    transmit_latency: Annotated[Constant, "TLP handed over to its first symbol"]
    receive_latency: Annotated[Constant, "TLP's last symbol to the TLP at the user side"]
    transmit_queue: Annotated[Constant, "posted TLPs that wait for the wire"]
    posted_headers: Annotated[Constant, "credits for writes and interrupts"]
    posted_data: Annotated[Constant, "credits of 16 bytes for their data"]
    nonposted_headers: Annotated[Constant, "credits for reads"]
    completion_headers: Annotated[Constant, "credits for completions"]
    completion_data: Annotated[Constant, "credits of 16 bytes for their data"]
    credit_update: Annotated[Constant, "TLP taken to its credits in the other end's transmitter"]


@dataclass(frozen=True)
class DmaMemory:
    """Host memory as a device's DMA sees it."""

    ENGINE: ClassVar = "DmaMemory"

    read: Annotated[Constant, "request out of the root port to its data there"]
    write: Annotated[Constant, "write out of the root port to its being visible"]


@dataclass(frozen=True)
class PcieGpu:
    """A GPU on the bus of a host. Its port is as the root port."""

    ENGINE: ClassVar = "PcieGpu"

    lanes: Annotated[Constant, "lanes of its link, of the device's generation; not fewer than the device's"]
    read: Annotated[Constant, "a peer's read request out of its port to the data there"]
    write: Annotated[Constant, "a peer's write out of its port to its being visible"]
    copy: Annotated[Constant, "copy of no bytes between its memory and the host's: call, engine, return"]


MEMORIES = ("host", "gpu", "staged")
"""Where data is: in the host's memory; in a GPU's, which the device reads and writes; in a GPU's, by copies
to and from the host's."""


@dataclass(frozen=True)
class PcieHost:
    """Processor costs of PCIe accesses."""

    ENGINE: ClassVar = "PcieHost"

    load_issue: Annotated[Constant, "uncached load: core to root port"]
    load_return: Annotated[Constant, "its data: root port to core"]
    store: Annotated[Constant, "uncached store: how long it keeps the core"]
    store_issue: Annotated[Constant, "store out of the core to the root port"]
    combine: Annotated[Constant, "8 bytes into a write-combining buffer"]
    fence: Annotated[Constant, "store fence"]
    interrupt: Annotated[Constant, "message to the handler's first instruction"]
    wakeup: Annotated[Constant, "from there to the waiting program"]
    memory_load: Annotated[Constant, "load of memory that the device wrote"]
    memory_store: Annotated[Constant, "store to memory"]
    copy: Annotated[Constant, "copying beyond the first word"]
