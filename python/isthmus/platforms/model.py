# SPDX-License-Identifier: Apache-2.0
"""A platform as typed constants. The fields below are the schema of `platforms/*.toml`.

Every constant is declared once, with its unit and its range; the loader and the reference page read
the declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_type_hints

Profile = Literal["as-published", "isthmus"]
PROFILES: tuple[Profile, ...] = ("as-published", "isthmus")


@dataclass(frozen=True)
class Constant:
    """One number of a model, with where it comes from."""

    value: float
    unit: str
    source: str
    file: str = ""


@dataclass(frozen=True)
class Declared:
    """What a constant must be: its unit, its legal range (both ends included), what it means."""

    unit: str
    low: float
    high: float
    what: str


def declared(group: type) -> Mapping[str, Declared]:
    """The constants of a group by name, in the order in which they are declared."""
    if group not in _DECLARED:
        hints = get_type_hints(group, include_extras=True)
        _DECLARED[group] = {name: hint.__metadata__[0] for name, hint in hints.items()}
    return _DECLARED[group]


_DECLARED: dict[type, Mapping[str, Declared]] = {}
"""What `declared` has found: reading annotations takes longer than all else of a scenario."""


@dataclass(frozen=True)
class Fpga:
    """The accelerator's side of the pins."""

    clock: Annotated[
        Constant,
        Declared("MHz", 1, 1000, "clock of the gateware, on Ethernet also of its GMII transmit side"),
    ]
    epoch: Annotated[Constant, Declared("s", 0, 2**33, "TAI seconds since 1970 at the start of a run")]


@dataclass(frozen=True)
class SwitchFpga:
    """The switch's side of the pins."""

    clock: Annotated[Constant, Declared("MHz", 1, 1000, "word clock of switch and links")]


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
class Interface:
    """The network interface at each port."""

    transmit: Annotated[
        Constant,
        Declared("word", 1, 10_000, "a packet's making to its first word at the transceiver, idle line"),
    ]
    receive_buffer: Annotated[Constant, Declared("word", 32, 512, "its receive buffer")]


@dataclass(frozen=True)
class SwitchDesign:
    """What the two profiles of a switch may differ in: the gateware's parameters, and who is served."""

    buffer: Annotated[Constant, Declared("word", 32, 512, "a crosspoint")]
    packet: Annotated[Constant, Declared("word", 16, 510, "data of a packet, at most")]
    credit_in_packet: Annotated[Constant, Declared("1", 0, 1, "1: credits may stand inside packets")]
    credit: Annotated[Constant, Declared("word", 1, 512, "freed and not told, from which on packets wait")]
    refresh: Annotated[Constant, Declared("word", 16, 4096, "between two questions of a waiting sender")]
    init: Annotated[Constant, Declared("word", 64, 32_768, "of INIT at a link's start")]
    longest_first: Annotated[
        Constant, Declared("1", 0, 1, "1: an interface serves its longest queue; 0: all in turn")
    ]
    latency: Annotated[Constant, Declared("word", 3, 1000, "pins to pins of an idle switch, for its models")]


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
        Constant, Declared("microframe", 1, 64, "interrupts come at multiples of so many microframes")
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
    """Operating system and processor, as far as USB goes."""

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
    in_transfers: Annotated[Constant, Declared("1", 1, 1024, "transfers from the device under way")]
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
    out_transfers: Annotated[Constant, Declared("1", 1, 1024, "transfers to the device under way at most")]
    in_transfer: Annotated[
        Constant, Declared("byte", 1, 1_048_576, "most bytes of a transfer from the device")
    ]
    in_transfers: Annotated[Constant, Declared("1", 1, 1024, "transfers from the device under way")]


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
    master_abort: Annotated[Constant, Declared("cycle", 1, 1000, "until an initiator gives up")]
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
        Constant, Declared("byte", 128, 65_536, "room for the device's data on its way to memory")
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
        Constant, Declared("byte", 128, 65_536, "room for data of writes not on the bus yet")
    ]
    store_buffer: Annotated[
        Constant, Declared("byte", 64, 65_536, "room for stores that the device has not taken")
    ]
    immediate: Annotated[
        Constant,
        Declared("cycle", 0, 1000, "a load answered in so many clocks is not split; 0: always split"),
    ]
    message: Annotated[Constant, Declared("1", 0, 1, "1: interrupts are writes behind all others; 0: a pin")]
    interrupt_pin: Annotated[Constant, Declared("ns", 0, 100_000, "the pin's way to the bridge")]


@dataclass(frozen=True)
class RdmaInterface:
    """The network interface, whatever its profile."""

    hosts: Annotated[Constant, Declared("1", 2, 8, "hosts that it can address")]
    receive_buffer: Annotated[Constant, Declared("word", 512, 512, "a link's receive buffer: its gateware's")]
    probe: Annotated[Constant, Declared("us", 1, 1_000_000, "patience for an acknowledgement")]
    lost: Annotated[Constant, Declared("us", 1, 1_000_000, "patience for an overtaken packet")]


@dataclass(frozen=True)
class RdmaSwitch:
    """The switch behind each link."""

    buffer: Annotated[Constant, Declared("word", 32, 512, "a crosspoint")]
    packet: Annotated[Constant, Declared("word", 134, 510, "data of a packet, its header included, at most")]


@dataclass(frozen=True)
class RdmaDesign:
    """The interface's parameters: what the two profiles differ in. Credits are those of every link."""

    outstanding: Annotated[Constant, Declared("1", 1, 4, "transfers whose reads may be under way")]
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
        Declared("B", 0, 504, "writes of at most so many bytes bring their data with them in write-lat"),
    ]
    credit_in_packet: Annotated[Constant, Declared("1", 0, 1, "1: credits may stand inside packets")]
    credit: Annotated[Constant, Declared("word", 1, 512, "freed and not told, from which on packets wait")]
    refresh: Annotated[Constant, Declared("word", 16, 4096, "between two questions of a waiting sender")]
    init: Annotated[Constant, Declared("word", 64, 32_768, "of INIT at a link's start")]


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


@dataclass(frozen=True)
class Bus:
    """A kind of bus.

    groups   its tables of constants by name
    boards   the board top of each profile
    optional tables that a platform may leave out
    one_of   of these tables a platform has exactly one, by what it stands for
    fpga, profile  the types of the tables that every platform has
    drivers  of these tables each profile takes one: how its program uses the bus
    """

    groups: Mapping[str, type]
    boards: Mapping[Profile, str]
    fpga: type = Fpga
    profile: type = Library
    optional: frozenset[str] = frozenset()
    one_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    drivers: Mapping[Profile, str] = field(default_factory=dict)


# What the network interfaces have on every bus.
_RDMA: Mapping[str, type] = {
    "host": PcieHost,
    "serdes": Serdes,
    "cable": SerialCable,
    "interface": RdmaInterface,
    "switch": RdmaSwitch,
}

BUSES: Mapping[str, Bus] = {
    "gige": Bus(
        {"phy": Phy, "link": Link, "nic": Nic, "host": Host, "switch": Switch},
        boards=dict.fromkeys(PROFILES, "gige_etherbone"),
        optional=frozenset({"switch"}),
    ),
    "usb": Bus(
        {"fx2": Fx2, "ehci": Ehci, "xhci": Xhci, "host": UsbHost, "serial": UsbSerial, "bulk": UsbBulk},
        boards=dict.fromkeys(PROFILES, "usb_etherbone"),
        one_of={"controller": ("ehci", "xhci")},
        drivers={"as-published": "serial", "isthmus": "bulk"},
    ),
    "pcie": Bus(
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
    ),
    "vme": Bus(
        {"board": VmeBoard, "words": Words, "mapped": Words},
        boards=dict.fromkeys(PROFILES, "vme_wishbone"),
        drivers={"as-published": "words", "isthmus": "mapped"},
    ),
    "serdes": Bus(
        {"serdes": Serdes, "cable": SerialCable, "interface": Interface},
        boards=dict.fromkeys(PROFILES, "link_switch"),
        fpga=SwitchFpga,
        profile=SwitchDesign,
    ),
    "rdma-pcix": Bus(
        {"pcix": PcixBus, "bridge": PcixBridge, "core": PcixCore, **_RDMA},
        boards=dict.fromkeys(PROFILES, "rdma_ni"),
        fpga=RdmaFpga,
        profile=RdmaDesign,
    ),
    "rdma-pcie": Bus(
        {"link": PcieLink, "root": PciePort, "endpoint": PciePort, "memory": DmaMemory, **_RDMA},
        boards=dict.fromkeys(PROFILES, "rdma_ni"),
        fpga=RdmaFpga,
        profile=RdmaDesign,
    ),
}


@dataclass(frozen=True)
class Platform:
    """One system: everything between the user program and the FPGA's pins.

    All tables are instances of the types that `BUSES` names; `groups`: those of its bus alone, by name.
    """

    name: str
    title: str
    bus: str
    fpga: Any
    groups: Mapping[str, Any]
    profiles: Mapping[Profile, Any]
    file: str
