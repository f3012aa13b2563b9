# SPDX-License-Identifier: Apache-2.0
"""Parts that platforms of several roads have: PCIe, transceivers and cables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from isthmus.platforms.model import Constant, Declared


@dataclass(frozen=True)
class Serdes:
    """The transceivers of one hop."""

    latency: Annotated[
        Constant, Declared("ns", 0, 100_000, "user side to user side: the sender's and the receiver's")
    ]


@dataclass(frozen=True)
class SerialCable:
    """The cable of one hop."""

    delay: Annotated[Constant, Declared("ns", 0, 100_000, "propagation, the whole cable")]


@dataclass(frozen=True)
class PcieLink:
    """A PCIe link."""

    generation: Annotated[Constant, Declared("1", 1, 4, "generation: 2.5, 5, 8 or 16 GT/s")]
    lanes: Annotated[Constant, Declared("1", 1, 16, "lanes: 1, 2, 4, 8 or 16")]
    max_payload: Annotated[Constant, Declared("byte", 128, 4096, "largest payload of a TLP")]
    max_read_request: Annotated[Constant, Declared("byte", 128, 4096, "largest read request")]
    read_completion: Annotated[
        Constant, Declared("byte", 64, 4096, "read completions end at multiples of it")
    ]
    reserved: Annotated[Constant, Declared("share", 0, 0.99, "symbols that TLPs cannot use")]
    ack_every: Annotated[
        Constant, Declared("TLP", 0, 1024, "TLPs for each acknowledgement; 0: part of reserved")
    ]
    update_every: Annotated[
        Constant, Declared("TLP", 0, 1024, "TLPs for each flow-control update; 0: part of reserved")
    ]
    propagation: Annotated[Constant, Declared("ns", 0, 10_000, "from one end's pins to the other's")]
    replay: Annotated[Constant, Declared("ns", 0, 1_000_000, "TLP received wrong to its second transmission")]
    tags: Annotated[Constant, Declared("1", 1, 1024, "read requests of the device that may be outstanding")]


@dataclass(frozen=True)
class PciePort:
    """One end of a PCIe link. Credits of 0 are without limit."""

    transmit_latency: Annotated[Constant, Declared("ns", 0, 100_000, "TLP handed over to its first symbol")]
    receive_latency: Annotated[
        Constant, Declared("ns", 0, 100_000, "TLP's last symbol to the TLP at the user side")
    ]
    transmit_queue: Annotated[Constant, Declared("TLP", 1, 1024, "posted TLPs that wait for the wire")]
    posted_headers: Annotated[Constant, Declared("1", 0, 4096, "credits for writes and interrupts")]
    posted_data: Annotated[Constant, Declared("1", 0, 65536, "credits of 16 bytes for their data")]
    nonposted_headers: Annotated[Constant, Declared("1", 0, 4096, "credits for reads")]
    completion_headers: Annotated[Constant, Declared("1", 0, 4096, "credits for completions")]
    completion_data: Annotated[Constant, Declared("1", 0, 65536, "credits of 16 bytes for their data")]
    credit_update: Annotated[
        Constant, Declared("ns", 0, 100_000, "TLP taken to its credits in the other end's transmitter")
    ]


@dataclass(frozen=True)
class DmaMemory:
    """Host memory as a device's DMA sees it."""

    read: Annotated[Constant, Declared("ns", 0, 100_000, "request out of the root port to its data there")]
    write: Annotated[Constant, Declared("ns", 0, 100_000, "write out of the root port to its being visible")]


@dataclass(frozen=True)
class PcieHost:
    """What a processor pays to use PCIe."""

    load_issue: Annotated[Constant, Declared("ns", 0, 100_000, "uncached load: core to root port")]
    load_return: Annotated[Constant, Declared("ns", 0, 100_000, "its data: root port to core")]
    store: Annotated[Constant, Declared("ns", 0, 100_000, "uncached store: how long it keeps the core")]
    store_issue: Annotated[Constant, Declared("ns", 0, 100_000, "store out of the core to the root port")]
    combine: Annotated[Constant, Declared("ns", 0, 100_000, "8 bytes into a write-combining buffer")]
    fence: Annotated[Constant, Declared("ns", 0, 100_000, "store fence")]
    interrupt: Annotated[Constant, Declared("ns", 0, 1_000_000, "message to the handler's first instruction")]
    wakeup: Annotated[Constant, Declared("ns", 0, 1_000_000, "from there to the waiting program")]
    memory_load: Annotated[Constant, Declared("ns", 0, 100_000, "load of memory that the device wrote")]
    memory_store: Annotated[Constant, Declared("ns", 0, 100_000, "store to memory")]
    copy: Annotated[Constant, Declared("ns/byte", 0, 100, "copying beyond the first word")]
