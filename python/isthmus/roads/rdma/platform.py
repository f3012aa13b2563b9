# SPDX-License-Identifier: Apache-2.0
"""The kinds of platform that RDMA runs on: PCI-X and PCIe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from isthmus.platforms.model import PROFILES, Constant, Declared, Kind, Of
from isthmus.platforms.parts import DmaMemory, PcieHost, PcieLink, PciePort, Serdes, SerialCable


@dataclass(frozen=True)
class RdmaFpga:
    """The network interface's and the switches' sides of the pins."""

    clock: Annotated[
        Constant, Of("RdmaInterface", "clock", "clock of the interface; on PCI-X the bus's, which it follows")
    ]
    link_clock: Annotated[Constant, Of("RdmaPlatform", "link", "word clock of links and switches")]


@dataclass(frozen=True)
class PcixBus:
    """A PCI-X bus: what a transaction takes beside its data."""

    ENGINE: ClassVar = "PcixConfig"

    data: Annotated[Constant, "of a data phase: 4 or 8"]
    address: Annotated[Constant, "address phase"]
    attribute: Annotated[Constant, "attribute phase"]
    response: Annotated[Constant, "from there to the first data phase"]
    turnaround: Annotated[Constant, "last data phase to the next transaction's address phase"]
    single: Annotated[Constant, "a transaction of one data phase is so much longer"]
    arbitration: Annotated[Constant, "REQ# to the address phase, idle bus"]
    release: Annotated[Constant, "REQ# held back after a transaction that was cut or refused"]
    master_abort: Annotated[Constant, "until a master abort"]
    boundary: Annotated[Constant, "transactions are cut at multiples of it"]
    sequence: Annotated[Constant, "the longest sequence"]


@dataclass(frozen=True)
class PcixBridge:
    """The bridge between PCI-X, processors and memory."""

    ENGINE: ClassVar = "BridgeConfig"

    memory_base: Annotated[Constant, "bus address of the host memory's first byte"]
    store: Annotated[Constant, "of a data phase of processors' stores: 4 or 8"]
    posted_stores: Annotated[Constant, "stores that wait for the bus"]
    accept: Annotated[Constant, "of the device's data in one transaction"]
    write_buffer: Annotated[Constant, "buffer for the device's data on its way to memory"]
    memory_write: Annotated[Constant, "a write's last data phase to its bytes being visible"]
    memory_read: Annotated[Constant, "end of a read's request to REQ# for its first data"]
    completion: Annotated[Constant, "of a read's data in one transaction"]
    split_reads: Annotated[Constant, "reads of the device that it holds"]


@dataclass(frozen=True)
class PcixCore:
    """The device's PCI-X core."""

    ENGINE: ClassVar = "CoreConfig"

    bar_base: Annotated[Constant, "bus address of BAR 0"]
    bar: Annotated[Constant, "size of BAR 0: a power of two"]
    transmit: Annotated[Constant, "user side to REQ#"]
    receive: Annotated[Constant, "bus to user side"]
    reads: Annotated[Constant, "reads of the device that may be outstanding"]
    write_buffer: Annotated[Constant, "buffer for data of writes not on the bus yet"]
    store_buffer: Annotated[Constant, "buffer for stores that the device has not taken"]
    immediate: Annotated[Constant, "a load answered in this many clocks is not split; 0: always split"]
    message: Annotated[Constant, Declared("1", 0, 1, "1: interrupts are writes behind all others; 0: a pin")]
    interrupt_pin: Annotated[Constant, "the pin's way to the bridge"]


@dataclass(frozen=True)
class RdmaInterface:
    """The network interface, whatever its profile."""

    ENGINE: ClassVar = "RdmaInterface"

    hosts: Annotated[Constant, "hosts that it can address"]
    receive_buffer: Annotated[Constant, Declared("word", 512, 512, "a link's receive buffer: its gateware's")]
    probe: Annotated[Constant, "timeout for an acknowledgement"]
    lost: Annotated[Constant, "timeout for an overtaken packet"]


@dataclass(frozen=True)
class RdmaSwitch:
    """The switch behind each link."""

    buffer: Annotated[Constant, Declared("word", 32, 512, "a crosspoint")]
    packet: Annotated[Constant, Declared("word", 134, 510, "data of a packet, its header included, at most")]


@dataclass(frozen=True)
class RdmaDesign:
    """The interface's parameters: what the two profiles differ in. Credits are those of every link."""

    outstanding: Annotated[Constant, Declared("1", 1, 4, "transfers whose reads may be in progress")]
    ahead: Annotated[
        Constant,
        Declared("1", 0, 1, "1: REQ# of PCI-X may go up before there is something to send; 0: never"),
    ]
    store_forward: Annotated[
        Constant, Declared("1", 0, 1, "1: payload is written when its packet's check sum was good; 0: before")
    ]
    frames: Annotated[
        Constant,
        Declared("1", 0, 1, "1: a frame word follows each message; 0: send-lat watches its last word"),
    ]
    inline: Annotated[
        Constant,
        Declared("B", 0, 504, "writes of at most this many bytes carry their data inline in write-lat"),
    ]
    credit_in_packet: Annotated[Constant, Declared("1", 0, 1, "1: credits may be sent inside packets")]
    credit: Annotated[
        Constant, Declared("word", 1, 512, "freed and not reported, from which on packets wait")
    ]
    refresh: Annotated[Constant, Declared("word", 16, 4096, "between two questions of a waiting sender")]
    init: Annotated[Constant, Declared("word", 64, 32_768, "of INIT at a link's start")]
    align: Annotated[
        Constant, Declared("word", 0, 4096, "without a comma behind which an ALIGN goes; 0: none")
    ]
    bind: Annotated[
        Constant, Declared("1", 0, 1, "1: the switch takes packets of a port's own host alone; 0: of any")
    ]


# What the network interfaces have on every bus.
_RDMA: Mapping[str, type] = {
    "host": PcieHost,
    "serdes": Serdes,
    "cable": SerialCable,
    "interface": RdmaInterface,
    "switch": RdmaSwitch,
}

KINDS: Mapping[str, Kind] = {
    "rdma-pcix": Kind(
        {"pcix": PcixBus, "bridge": PcixBridge, "core": PcixCore, **_RDMA},
        boards=dict.fromkeys(PROFILES, "rdma_ni"),
        fpga=RdmaFpga,
        profile=RdmaDesign,
        profile_of="interface",
    ),
    "rdma-pcie": Kind(
        {"link": PcieLink, "root": PciePort, "endpoint": PciePort, "memory": DmaMemory, **_RDMA},
        boards=dict.fromkeys(PROFILES, "rdma_ni"),
        fpga=RdmaFpga,
        profile=RdmaDesign,
        profile_of="interface",
    ),
}
