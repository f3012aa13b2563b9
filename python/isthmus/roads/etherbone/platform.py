# SPDX-License-Identifier: Apache-2.0
"""The kinds of platform that Etherbone runs on: a bus each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from isthmus.platforms.model import PROFILES, Constant, Declared, Kind
from isthmus.platforms.parts import DmaMemory, PcieHost, PcieLink, PciePort


@dataclass(frozen=True)
class Fpga:
    """The accelerator's side of the pins."""

    clock: Annotated[
        Constant,
        Declared("MHz", 1, 1000, "clock of the gateware, on Ethernet also of its GMII transmit side"),
    ]
    epoch: Annotated[Constant, Declared("s", 0, 2**33, "TAI seconds since 1970 at the start of a run")]


@dataclass(frozen=True)
class Phy:
    """The FPGA's Gigabit PHY."""

    tx: Annotated[Constant, Declared("ns", 0, 10_000, "transmit pins (GMII) to medium")]
    rx: Annotated[Constant, Declared("ns", 0, 10_000, "medium to receive pins (GMII)")]


@dataclass(frozen=True)
class Link:
    """Every cable of the path."""

    rate: Annotated[Constant, Declared("Mbit/s", 1000, 1000, "line rate")]
    length: Annotated[Constant, Declared("m", 0, 100_000, "length of one cable")]
    delay: Annotated[Constant, Declared("ns/m", 3, 10, "propagation delay")]


@dataclass(frozen=True)
class Switch:
    """One store-and-forward Ethernet switch between host and FPGA."""

    latency: Annotated[Constant, Declared("ns", 0, 1_000_000, "last bit in to first bit out, port idle")]


@dataclass(frozen=True)
class Nic:
    """The host's network interface, with its PHY and its PCIe link."""

    phy_tx: Annotated[Constant, Declared("ns", 0, 10_000, "PHY: MAC to medium")]
    phy_rx: Annotated[Constant, Declared("ns", 0, 10_000, "PHY: medium to MAC")]
    doorbell: Annotated[
        Constant, Declared("ns", 0, 100_000, "store to the NIC's tail register, until it arrives")
    ]
    tx_dma: Annotated[
        Constant, Declared("ns", 0, 100_000, "doorbell to first byte on the wire: descriptor, data")
    ]
    rx_dma: Annotated[Constant, Declared("ns", 0, 100_000, "last byte received to visible in host memory")]
    interrupt_gap: Annotated[
        Constant, Declared("us", 0, 10_000, "least time between two interrupts; 0: none")
    ]


@dataclass(frozen=True)
class Host:
    """Operating system and processor."""

    send_call: Annotated[
        Constant, Declared("ns", 0, 1_000_000, "send call: entry to doorbell store, one datagram")
    ]
    receive_call: Annotated[Constant, Declared("ns", 0, 1_000_000, "receive call that finds a datagram")]
    frame: Annotated[Constant, Declared("ns", 0, 1_000_000, "driver and IP/UDP stack, one received frame")]
    wakeup: Annotated[Constant, Declared("ns", 0, 1_000_000, "interrupt to the blocked thread running again")]
    copy: Annotated[Constant, Declared("ns/byte", 0, 100, "copy between user memory and kernel buffer")]


@dataclass(frozen=True)
class Fx2:
    """The FX2LP beside the FPGA: its slave FIFO's pins."""

    clock: Annotated[Constant, Declared("MHz", 5, 48, "IFCLK, the clock of the slave FIFO")]
    width: Annotated[Constant, Declared("bit", 8, 16, "width of the data bus FD: 8 or 16")]


@dataclass(frozen=True)
class Ehci:
    """The host's USB controller, if it is an EHCI."""

    interrupt_threshold: Annotated[
        Constant, Declared("microframe", 1, 64, "interrupts come at multiples of this many microframes")
    ]
    nak_reload: Annotated[Constant, Declared("1", 1, 15, "refusals in a row after which it rests")]
    async_sleep: Annotated[Constant, Declared("ns", 0, 1_000_000, "rest, before it looks at its list again")]
    fetch_latency: Annotated[
        Constant, Declared("ns", 0, 100_000, "driver's last write to descriptor and data in the controller")
    ]
    completion_latency: Annotated[
        Constant, Declared("ns", 0, 100_000, "last handshake to status and data in host memory")
    ]


@dataclass(frozen=True)
class Xhci:
    """The host's USB controller, if it is an xHCI."""

    interrupt_moderation: Annotated[
        Constant, Declared("ns", 0, 10_000_000, "least time between two interrupts")
    ]
    nak_retry: Annotated[Constant, Declared("ns", 0, 1_000_000, "from a refusal to the next try")]
    fetch_latency: Annotated[
        Constant, Declared("ns", 0, 100_000, "driver's last write to descriptor and data in the controller")
    ]
    completion_latency: Annotated[
        Constant, Declared("ns", 0, 100_000, "last handshake to status and data in host memory")
    ]


@dataclass(frozen=True)
class UsbHost:
    """Operating system and processor, for USB."""

    syscall: Annotated[Constant, Declared("ns", 0, 1_000_000, "entry and exit of a system call")]
    copy: Annotated[Constant, Declared("ns/byte", 0, 100, "copy between user memory and kernel buffer")]
    submit: Annotated[Constant, Declared("ns", 0, 1_000_000, "handing a transfer to the controller's driver")]
    interrupt: Annotated[
        Constant, Declared("ns", 0, 1_000_000, "interrupt until its handler looks for finished transfers")
    ]
    giveback: Annotated[Constant, Declared("ns", 0, 1_000_000, "giving one finished transfer back")]
    wakeup: Annotated[Constant, Declared("ns", 0, 1_000_000, "from a task's being woken to its running")]


@dataclass(frozen=True)
class UsbSerial:
    """The device as a serial port of the kernel's driver."""

    write_fifo: Annotated[Constant, Declared("byte", 1, 1_048_576, "the port's transmit FIFO")]
    out_transfer: Annotated[Constant, Declared("byte", 1, 1_048_576, "size of a transfer to the device")]
    out_transfers: Annotated[Constant, Declared("1", 1, 1024, "transfers to the device there are")]
    in_transfer: Annotated[Constant, Declared("byte", 1, 1_048_576, "size of a transfer from the device")]
    in_transfers: Annotated[Constant, Declared("1", 1, 1024, "transfers from the device in progress")]
    write_path: Annotated[Constant, Declared("ns", 0, 1_000_000, "the terminal layer's part of a write")]
    receive_work: Annotated[
        Constant, Declared("ns", 0, 1_000_000, "from received bytes to their being readable")
    ]
    open: Annotated[Constant, Declared("us", 0, 1_000_000, "opening the port")]


@dataclass(frozen=True)
class UsbBulk:
    """Transfers of the program's own."""

    out_transfer: Annotated[
        Constant, Declared("byte", 1, 1_048_576, "most bytes of a transfer to the device")
    ]
    out_transfers: Annotated[Constant, Declared("1", 1, 1024, "transfers to the device in progress at most")]
    in_transfer: Annotated[
        Constant, Declared("byte", 1, 1_048_576, "most bytes of a transfer from the device")
    ]
    in_transfers: Annotated[Constant, Declared("1", 1, 1024, "transfers from the device in progress")]


@dataclass(frozen=True)
class Words:
    """The published kernel driver: one load or store a bus operation."""

    syscall: Annotated[
        Constant, Declared("ns", 0, 1_000_000, "write or read call, the character device's part")
    ]
    copy: Annotated[Constant, Declared("ns/byte", 0, 100, "copy between user memory and kernel buffer")]
    parse_record: Annotated[Constant, Declared("ns", 0, 1_000_000, "taking one record apart")]
    parse_operation: Annotated[
        Constant, Declared("ns", 0, 1_000_000, "one operation of it, beside its load or store")
    ]


@dataclass(frozen=True)
class VmeBoard:
    """A CPU board on a VME backplane, up to the bus."""

    cpu_read: Annotated[Constant, Declared("ns", 0, 100_000, "load to the request at the bridge, and back")]
    cpu_write: Annotated[Constant, Declared("ns", 0, 100_000, "store to its being posted")]
    bridge_request: Annotated[Constant, Declared("ns", 0, 100_000, "request at the bridge to bus cycle")]
    bridge_answer: Annotated[Constant, Declared("ns", 0, 100_000, "end of a read's bus cycle to its answer")]
    posted_writes: Annotated[Constant, Declared("1", 1, 1024, "stores that the bridge holds")]
    arbitration: Annotated[
        Constant, Declared("ns", 0, 100_000, "bus request to grant, where the bridge does not own the bus")
    ]
    release_when_done: Annotated[
        Constant, Declared("1", 0, 1, "1: the bridge gives the bus away after each cycle")
    ]
    signal: Annotated[Constant, Declared("ns", 0, 1_000, "one way through transceivers and backplane")]
    bus_timeout: Annotated[
        Constant, Declared("ns", 100, 10_000_000, "the bus timer answers instead of a slave")
    ]


@dataclass(frozen=True)
class PcieDma:
    """Streams by DMA, without the kernel."""

    request_ring: Annotated[Constant, Declared("byte", 64, 16_777_216, "ring of requests, a power of two")]
    reply_ring: Annotated[Constant, Declared("byte", 64, 16_777_216, "ring of replies, a power of two")]
    push_most: Annotated[Constant, Declared("byte", 0, 16_777_216, "longer requests go through the ring")]


@dataclass(frozen=True)
class Library:
    """The Etherbone library's own work and how it waits: what the two profiles differ in."""

    build_cycle: Annotated[Constant, Declared("ns", 0, 1_000_000, "open, close and frame one cycle")]
    build_operation: Annotated[Constant, Declared("ns", 0, 1_000_000, "add one operation to a cycle")]
    parse_cycle: Annotated[Constant, Declared("ns", 0, 1_000_000, "match one reply, run its callback")]
    parse_operation: Annotated[Constant, Declared("ns", 0, 1_000_000, "take one value out of a reply")]
    event_loop: Annotated[
        Constant, Declared("ns", 0, 1_000_000, "calls around each wait beside send and receive")
    ]
    poll: Annotated[
        Constant, Declared("1", 0, 1, "1: the host polls for the reply; 0: it waits for an interrupt")
    ]


KINDS: Mapping[str, Kind] = {
    "gige": Kind(
        {"phy": Phy, "link": Link, "nic": Nic, "host": Host, "switch": Switch},
        boards=dict.fromkeys(PROFILES, "gige_etherbone"),
        optional=frozenset({"switch"}),
        fpga=Fpga,
        profile=Library,
    ),
    "usb": Kind(
        {"fx2": Fx2, "ehci": Ehci, "xhci": Xhci, "host": UsbHost, "serial": UsbSerial, "bulk": UsbBulk},
        boards=dict.fromkeys(PROFILES, "usb_etherbone"),
        one_of={"controller": ("ehci", "xhci")},
        drivers={"as-published": "serial", "isthmus": "bulk"},
        fpga=Fpga,
        profile=Library,
    ),
    "pcie": Kind(
        {
            "link": PcieLink,
            "root": PciePort,
            "endpoint": PciePort,
            "memory": DmaMemory,
            "host": PcieHost,
            "words": Words,
            "dma": PcieDma,
        },
        boards={"as-published": "pcie_mmio", "isthmus": "pcie_etherbone"},
        drivers={"as-published": "words", "isthmus": "dma"},
        fpga=Fpga,
        profile=Library,
    ),
    "vme": Kind(
        {"board": VmeBoard, "words": Words, "mapped": Words},
        boards=dict.fromkeys(PROFILES, "vme_wishbone"),
        drivers={"as-published": "words", "isthmus": "mapped"},
        fpga=Fpga,
        profile=Library,
    ),
}
