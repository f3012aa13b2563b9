# SPDX-License-Identifier: Apache-2.0
"""The kinds of platform that Etherbone runs on: a bus each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from isthmus.platforms.model import PROFILES, Constant, Kind
from isthmus.platforms.parts import DmaMemory, GigePhy, PcieHost, PcieLink, PciePort


@dataclass(frozen=True)
class Fpga:
    """The accelerator's side of the pins."""

    ENGINE: ClassVar = "Fpga"

    clock: Annotated[Constant, "clock of the gateware, on Ethernet also of its GMII transmit side"]
    epoch: Annotated[Constant, "TAI seconds since 1970 at the start of a run"]


@dataclass(frozen=True)
class Link:
    """Every cable of the path."""

    ENGINE: ClassVar = "GigeLink"

    rate: Annotated[Constant, "line rate"]
    length: Annotated[Constant, "length of one cable"]
    delay: Annotated[Constant, "propagation delay"]


@dataclass(frozen=True)
class Switch:
    """One store-and-forward Ethernet switch between host and FPGA."""

    ENGINE: ClassVar = "GigeSwitch"

    latency: Annotated[Constant, "last bit in to first bit out, port idle"]


@dataclass(frozen=True)
class Nic:
    """The host's network interface, with its PHY and its PCIe link."""

    ENGINE: ClassVar = "GigeNic"

    phy_tx: Annotated[Constant, "PHY: MAC to medium"]
    phy_rx: Annotated[Constant, "PHY: medium to MAC"]
    doorbell: Annotated[Constant, "store to the NIC's tail register, until it arrives"]
    tx_dma: Annotated[Constant, "doorbell to first byte on the wire: descriptor, data"]
    rx_dma: Annotated[Constant, "last byte received to visible in host memory"]
    interrupt_gap: Annotated[Constant, "least time between two interrupts; 0: none"]


@dataclass(frozen=True)
class Host:
    """Operating system and processor."""

    ENGINE: ClassVar = "GigeHost"

    send_call: Annotated[Constant, "send call: entry to doorbell store, one datagram"]
    receive_call: Annotated[Constant, "receive call that finds a datagram"]
    frame: Annotated[Constant, "driver and IP/UDP stack, one received frame"]
    wakeup: Annotated[Constant, "interrupt to the blocked thread running again"]
    copy: Annotated[Constant, "copy between user memory and kernel buffer"]


@dataclass(frozen=True)
class Fx2:
    """The FX2LP beside the FPGA: its slave FIFO's pins."""

    ENGINE: ClassVar = "Fx2"

    clock: Annotated[Constant, "IFCLK, the clock of the slave FIFO"]
    width: Annotated[Constant, "width of the data bus FD: 8 or 16"]


@dataclass(frozen=True)
class Ehci:
    """The host's USB controller, if it is an EHCI."""

    ENGINE: ClassVar = "Ehci"

    interrupt_threshold: Annotated[Constant, "interrupts come at multiples of this many microframes"]
    nak_reload: Annotated[Constant, "refusals in a row after which it rests"]
    async_sleep: Annotated[Constant, "rest, before it looks at its list again"]
    fetch_latency: Annotated[Constant, "driver's last write to descriptor and data in the controller"]
    completion_latency: Annotated[Constant, "last handshake to status and data in host memory"]


@dataclass(frozen=True)
class Xhci:
    """The host's USB controller, if it is an xHCI."""

    ENGINE: ClassVar = "Xhci"

    interrupt_moderation: Annotated[Constant, "least time between two interrupts"]
    nak_retry: Annotated[Constant, "from a refusal to the next try"]
    fetch_latency: Annotated[Constant, "driver's last write to descriptor and data in the controller"]
    completion_latency: Annotated[Constant, "last handshake to status and data in host memory"]


@dataclass(frozen=True)
class UsbHost:
    """Operating system and processor, for USB."""

    ENGINE: ClassVar = "UsbHost"

    syscall: Annotated[Constant, "entry and exit of a system call"]
    copy: Annotated[Constant, "copy between user memory and kernel buffer"]
    submit: Annotated[Constant, "handing a transfer to the controller's driver"]
    interrupt: Annotated[Constant, "interrupt until its handler looks for finished transfers"]
    giveback: Annotated[Constant, "giving one finished transfer back"]
    wakeup: Annotated[Constant, "from a task's being woken to its running"]


@dataclass(frozen=True)
class UsbSerial:
    """The device as a serial port of the kernel's driver."""

    ENGINE: ClassVar = "UsbSerial"

    write_fifo: Annotated[Constant, "the port's transmit FIFO"]
    out_transfer: Annotated[Constant, "size of a transfer to the device"]
    out_transfers: Annotated[Constant, "transfers to the device in progress"]
    in_transfer: Annotated[Constant, "size of a transfer from the device"]
    in_transfers: Annotated[Constant, "transfers from the device in progress"]
    write_path: Annotated[Constant, "the terminal layer's part of a write"]
    receive_work: Annotated[Constant, "from received bytes until they can be read"]
    open: Annotated[Constant, "opening the port"]


@dataclass(frozen=True)
class UsbBulk:
    """Transfers of the program's own."""

    ENGINE: ClassVar = "UsbBulk"

    out_transfer: Annotated[Constant, "most bytes of a transfer to the device"]
    out_transfers: Annotated[Constant, "transfers to the device in progress at most"]
    in_transfer: Annotated[Constant, "most bytes of a transfer from the device"]
    in_transfers: Annotated[Constant, "transfers from the device in progress"]


@dataclass(frozen=True)
class Words:
    """The published kernel driver: one load or store a bus operation."""

    ENGINE: ClassVar = "WordsDriver"

    syscall: Annotated[Constant, "write or read call, the character device's part"]
    copy: Annotated[Constant, "copy between user memory and kernel buffer"]
    parse_record: Annotated[Constant, "taking one record apart"]
    parse_operation: Annotated[Constant, "one operation of it, beside its load or store"]


@dataclass(frozen=True)
class VmeBoard:
    """A CPU board on a VME backplane, up to the bus."""

    ENGINE: ClassVar = "VmeBoard"

    cpu_read: Annotated[Constant, "load to the request at the bridge, and back"]
    cpu_write: Annotated[Constant, "store to its being posted"]
    bridge_request: Annotated[Constant, "request at the bridge to bus cycle"]
    bridge_answer: Annotated[Constant, "end of a read's bus cycle to its answer"]
    posted_writes: Annotated[Constant, "stores that the bridge holds"]
    arbitration: Annotated[Constant, "bus request to grant, where the bridge does not own the bus"]
    release_when_done: Annotated[Constant, "1: the bridge gives the bus away after each cycle"]
    signal: Annotated[Constant, "one way through transceivers and backplane"]
    bus_timeout: Annotated[Constant, "the bus timer answers instead of a slave"]


@dataclass(frozen=True)
class PcieDma:
    """Streams by DMA, without the kernel."""

    ENGINE: ClassVar = "PcieDma"

    request_ring: Annotated[Constant, "ring of requests, a power of two"]
    reply_ring: Annotated[Constant, "ring of replies, a power of two"]
    push_most: Annotated[Constant, "longer requests go through the ring"]


@dataclass(frozen=True)
class Library:
    """The Etherbone library's own work and how it waits: the difference between the two profiles."""

    ENGINE: ClassVar = "EtherboneLibrary"

    build_cycle: Annotated[Constant, "open, close and frame one cycle"]
    build_operation: Annotated[Constant, "add one operation to a cycle"]
    parse_cycle: Annotated[Constant, "match one reply, run its callback"]
    parse_operation: Annotated[Constant, "take one value out of a reply"]
    event_loop: Annotated[Constant, "calls around each wait beside send and receive"]
    poll: Annotated[Constant, "1: the host polls for the reply; 0: it waits for an interrupt"]


KINDS: Mapping[str, Kind] = {
    "gige": Kind(
        {"phy": GigePhy, "link": Link, "nic": Nic, "host": Host, "switch": Switch},
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
