# SPDX-License-Identifier: Apache-2.0
"""The options of `isthmus eb`: the one place that defines them.

`cli` makes Typer's commands of this table, which check, explain and complain; `lean` reads a correct command
line with nothing but the standard library, because one value as a command is mostly the program's start.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Parameter(NamedTuple):
    """An argument, or an option where it has flags."""

    name: str
    kind: str
    """str, int, float, bool or path."""
    flags: tuple[str, ...]
    default: Any
    """REQUIRED for an argument that must be given."""
    metavar: str | None
    help: str | None
    least: float | None = None
    most: float | None = None
    show_default: bool = True


class Command(NamedTuple):
    name: str
    help: str
    parameters: tuple[Parameter, ...]


REQUIRED = ...


def _flag(name: str, flag: str, text: str) -> Parameter:
    return Parameter(name, "bool", (flag,), False, None, text)


def _text(name: str, flag: str, metavar: str, default: str, text: str) -> Parameter:
    return Parameter(name, "str", (flag,), default, metavar, text)


def _argument(name: str, metavar: str, text: str | None = None, kind: str = "str") -> Parameter:
    return Parameter(name, kind, (), REQUIRED, metavar, text)


DIALECT = _text("dialect", "--dialect", "NAME", "ohwr", "ohwr or liteeth (also: litex).")
SILENT = _flag("silent", "-s", "Silent: do not read the error status.")
CONFIG = _flag("config", "-c", "Configuration space instead of the bus.")
FIDELITY = _flag("fidelity", "-f", "Fidelity: do exactly this operation or fail.")
FORCE = _flag("force", "-f", "Force: continue after bus errors.")
WHERE = _argument("where", "ADDRESS/SIZE", "Size in bytes: 1, 2, 4 or 8.")
FILE = _argument("file", "FILE", kind="path")
WORDS = Parameter("words", "int", ("-c",), 0, "N", "Operations per cycle; 0: as many as fit.", least=0)
WIDTHS = "8/16/32/64"

LINK = (
    _text("address_widths", "-a", "BITS", "16/32/64", "Address widths to offer."),
    _text("data_widths", "-d", "BITS", WIDTHS, "Data widths to offer."),
    Parameter("probes", "int", ("-r",), 3, "N", "Probes before giving up.", least=1),
    Parameter("timeout_s", "float", ("--timeout",), 5.0, "S", "Seconds to wait for a reply.", least=0.001),
    DIALECT,
    _flag("verbose", "-v", "Say more."),
    _flag("quiet", "-q", "Print neither warnings nor progress."),
)
DEVICE = _argument("name", "DEVICE", "udp/HOST[/PORT], tcp/HOST[/PORT] or dev/NAME.")
ORDER = (
    _flag("big", "-b", "Big-endian; by default the device is asked."),
    _flag("little", "-l", "Little-endian."),
    _flag("no_probe", "-p", "Do not probe the bus width and address size."),
)


def _count(
    name: str, metavar: str, default: int, text: str, least: int, most: int | None = None
) -> Parameter:
    return Parameter(name, "int", (), default, metavar, text, least, most)


COMMANDS = (
    Command(
        "read",
        "Read one value and print it in hex.",
        (DEVICE, WHERE, *LINK, *ORDER, SILENT, CONFIG, FIDELITY),
    ),
    Command(
        "write",
        "Write one value.",
        (
            DEVICE,
            WHERE,
            _argument("text", "VALUE", "0x1f or 31."),
            *LINK,
            *ORDER,
            SILENT,
            CONFIG,
            FIDELITY,
        ),
    ),
    Command(
        "get",
        "Copy addresses to a file.",
        (
            DEVICE,
            _argument("where", "ADDRESS/LENGTH", "Length in bytes."),
            FILE,
            *LINK,
            *ORDER,
            WORDS,
            SILENT,
            FORCE,
        ),
    ),
    Command(
        "put",
        "Copy a file to addresses.",
        (
            DEVICE,
            _argument("where", "ADDRESS", "Address of the file's first byte."),
            FILE,
            *LINK,
            *ORDER,
            WORDS,
            SILENT,
            FORCE._replace(help="Force: continue after bus errors and past the end of the device."),
        ),
    ),
    Command(
        "ls",
        "List the devices on the bus.",
        (DEVICE, *LINK, _flag("flat", "-n", "Not recursive: only the first table.")),
    ),
    Command(
        "find",
        "Print the addresses of all devices of one kind.",
        (
            DEVICE,
            _argument("vendor", "VENDOR", "Vendor number, such as 0x651."),
            _argument("product", "PRODUCT", "Device number, such as 0xb2afc251."),
            *LINK,
            _flag("flat", "-n", "Not recursive: only the first table."),
        ),
    ),
    Command(
        "discover",
        "List the devices that answer a probe.",
        (
            _argument("name", "ADDRESS", "udp/BROADCAST[/PORT], or one host.")._replace(
                default="udp/255.255.255.255"
            ),
            DIALECT,
            Parameter(
                "silence_s",
                "float",
                ("--silence",),
                1.0,
                "S",
                "Stop after this many seconds without an answer.",
                least=0.01,
                most=3600,
            ),
        ),
    ),
    Command(
        "snoop",
        """Offer memory and print every access to it, or watch the network.

    With --passive nothing is offered: the datagrams from and to PORT that pass this machine's interfaces are
    printed, operation by operation. That needs the right to (CAP_NET_RAW). TCP is not watched.
    """,
        (
            _argument("port", "PORT", "UDP and TCP; 0: any."),
            _argument("window", "LOW-HIGH", "Address range that is memory.")._replace(
                default="", show_default=False
            ),
            _text("bind", "--bind", "IP", "127.0.0.1", "Where to listen."),
            _text("data_widths", "-d", "BITS", "32", "Data widths to offer."),
            _flag("quiet", "-q", "Serve without printing accesses."),
            _flag("passive", "--passive", "Only watch the datagrams of others on this UDP port."),
            _text("interface", "--interface", "NAME", "", "With --passive: which; all."),
            DIALECT,
        ),
    ),
    Command(
        "perf",
        "Measure reads of the device's time.",
        (
            DEVICE,
            _count("sustain", "SUSTAIN", 0, "Number of series; 0: one.", 0),
            _count("iterations", "ITERATIONS", 90, "EB cycles per series.", 1),
            _count("reads", "READS", 1, "Timestamps per EB cycle.", 1),
            _count("mode", "MODE", 1, "0 convenience, 1 blocking, 2 pipelined.", 0, 2),
            *LINK,
        ),
    ),
)
