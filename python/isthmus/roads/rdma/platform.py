# SPDX-License-Identifier: Apache-2.0
"""The kinds of platform that RDMA runs on: PCI-X and PCIe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from isthmus.platforms.model import PROFILES, Constant, Declared, Kind
from isthmus.platforms.parts import DmaMemory, PcieHost, PcieLink, PciePort, Serdes, SerialCable


@dataclass(frozen=True)
class RdmaFpga:
    """The network interface's and the switches' sides of the pins."""

    clock: Annotated[
        Constant, Declared("MHz", 1, 1000, "clock of the interface; on PCI-X the bus's, which it follows")
    ]
    link_clock: Annotated[Constant, Declared("MHz", 1, 1000, "word clock of links and switches")]


@dataclass(frozen=True)
class PcixBus:
    """A PCI-X bus: what a transaction takes beside its data."""

    data: Annotated[Constant, Declared("byte", 4, 8, "of a data phase: 4 or 8")]
    address: Annotated[Constant, Declared("cycle", 1, 1000, "address phase")]
    attribute: Annotated[Constant, Declared("cycle", 1, 1000, "attribute phase")]
    response: Annotated[Constant, Declared("cycle", 1, 1000, "from there to the first data phase")]
    turnaround: Annotated[
        Constant, Declared("cycle", 1, 1000, "last data phase to the next transaction's address phase")
    ]
    single: Annotated[
        Constant, Declared("cycle", 0, 1000, "a transaction of one data phase is so much longer")
    ]
    arbitration: Annotated[Constant, Declared("cycle", 1, 1000, "REQ# to the address phase, idle bus")]
    release: Annotated[
        Constant, Declared("cycle", 0, 1000, "REQ# held back after a transaction that was cut or refused")
    ]
    master_abort: Annotated[Constant, Declared("cycle", 1, 1000, "until a master abort")]
    boundary: Annotated[Constant, Declared("byte", 128, 4096, "transactions are cut at multiples of it")]
    sequence: Annotated[Constant, Declared("byte", 128, 4096, "the longest sequence")]


@dataclass(frozen=True)
class PcixBridge:
    """The bridge between PCI-X, processors and memory."""

    memory_base: Annotated[Constant, Declared("1", 0, 2**40, "bus address of the host memory's first byte")]
    store: Annotated[Constant, Declared("byte", 4, 8, "of a data phase of processors' stores: 4 or 8")]
    posted_stores: Annotated[Constant, Declared("1", 1, 1024, "stores that wait for the bus")]
    accept: Annotated[Constant, Declared("byte", 128, 65_536, "of the device's data in one transaction")]
    write_buffer: Annotated[
        Constant, Declared("byte", 128, 65_536, "buffer for the device's data on its way to memory")
    ]
    memory_write: Annotated[
        Constant, Declared("ns", 0, 100_000, "a write's last data phase to its bytes being visible")
    ]
    memory_read: Annotated[
        Constant, Declared("ns", 0, 100_000, "end of a read's request to REQ# for its first data")
    ]
    completion: Annotated[Constant, Declared("byte", 128, 65_536, "of a read's data in one transaction")]
    split_reads: Annotated[Constant, Declared("1", 1, 1024, "reads of the device that it holds")]


@dataclass(frozen=True)
class PcixCore:
    """The device's PCI-X core."""

    bar_base: Annotated[Constant, Declared("1", 0, 2**40, "bus address of BAR 0")]
    bar: Annotated[Constant, Declared("byte", 16, 2**32, "size of BAR 0: a power of two")]
    transmit: Annotated[Constant, Declared("cycle", 0, 1000, "user side to REQ#")]
    receive: Annotated[Constant, Declared("cycle", 0, 1000, "bus to user side")]
    reads: Annotated[Constant, Declared("1", 1, 1024, "reads of the device that may be outstanding")]
    write_buffer: Annotated[
        Constant, Declared("byte", 128, 65_536, "buffer for data of writes not on the bus yet")
    ]
    store_buffer: Annotated[
        Constant, Declared("byte", 64, 65_536, "buffer for stores that the device has not taken")
    ]
    immediate: Annotated[
        Constant,
        Declared("cycle", 0, 1000, "a load answered in this many clocks is not split; 0: always split"),
    ]
    message: Annotated[Constant, Declared("1", 0, 1, "1: interrupts are writes behind all others; 0: a pin")]
    interrupt_pin: Annotated[Constant, Declared("ns", 0, 100_000, "the pin's way to the bridge")]


@dataclass(frozen=True)
class RdmaInterface:
    """The network interface, whatever its profile."""

    hosts: Annotated[Constant, Declared("1", 2, 8, "hosts that it can address")]
    receive_buffer: Annotated[Constant, Declared("word", 512, 512, "a link's receive buffer: its gateware's")]
    probe: Annotated[Constant, Declared("us", 1, 1_000_000, "timeout for an acknowledgement")]
    lost: Annotated[Constant, Declared("us", 1, 1_000_000, "timeout for an overtaken packet")]


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
