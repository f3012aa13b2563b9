# SPDX-License-Identifier: Apache-2.0
"""A platform as typed constants. The fields below are the schema of `platforms/*.toml`.

Every constant is declared once, with its unit and its range; the loader and the reference page read
the declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
    hints = get_type_hints(group, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items()}


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

    rate: Annotated[Constant, Declared("Mbit/s", 10, 100_000, "line rate")]
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
        Constant, Declared("1", 0, 1, "1: asks the kernel to poll the NIC; 0: waits for an interrupt")
    ]
    interrupt_gap: Annotated[
        Constant, Declared("us", 0, 10_000, "least time between two interrupts; 0: none")
    ]


@dataclass(frozen=True)
class Bus:
    """A kind of bus: its tables of constants by name, and which of them a platform may leave out."""

    groups: Mapping[str, type]
    optional: frozenset[str] = frozenset()


BUSES: Mapping[str, Bus] = {
    "gige": Bus(
        {"phy": Phy, "link": Link, "nic": Nic, "host": Host, "switch": Switch}, frozenset({"switch"})
    ),
}


@dataclass(frozen=True)
class Platform:
    """One system: everything between the user program and the FPGA's pins.

    `groups`: the tables of its bus by name, each an instance of the type that `BUSES` names.
    """

    name: str
    title: str
    bus: str
    fpga: Fpga
    groups: Mapping[str, Any]
    profiles: Mapping[Profile, Library]
    file: str
