# SPDX-License-Identifier: Apache-2.0
"""`isthmus serve`: a simulated FPGA behind a UDP socket, TCP, a pseudo-terminal or a TAP interface.

Any program that can reach it can read and write the simulated bus, so sockets are bound to the loopback
interface unless the caller asks for more.
"""

from __future__ import annotations

import ipaddress
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus.addresses import split
from isthmus.errors import UserError

if TYPE_CHECKING:
    from isthmus.native import ServeStatus

PORTS = {"ohwr": 60368, "liteeth": 1234, "litex": 1234}
"""Each dialect's UDP port; liteeth and litex are one dialect."""
DEFAULT_ADDRESS = f"127.0.0.1:{PORTS['ohwr']}"


@dataclass(frozen=True)
class ServeOptions:
    """Options of `isthmus serve etherbone`. Without udp, tcp, tap and pty: UDP on the loopback."""

    model: Path
    udp: str | None = None
    tcp: str | None = None
    tap: str | None = None
    """Name of a TAP interface."""
    pty: bool = False
    dialect: str = "ohwr"
    allow: Sequence[str] = ()
    """Networks whose hosts are served; none: all that can reach it."""
    bind_public: bool = False
    seed: int = 1
    device: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of a scenario's `device`, such as `ip`."""


def scenario(options: ServeOptions) -> dict[str, Any]:
    """The server's scenario (docs/how-to/serve.md). Raises `UserError` for an address that cannot be."""
    if options.dialect not in PORTS:
        raise UserError(f"unknown dialect {options.dialect!r}; expected ohwr or liteeth (also: litex)")
    port = PORTS[options.dialect]
    device = {
        "model_path": str(options.model),
        "dialect": options.dialect,
        "udp_port": port,
        **options.device,
    }
    wanted: dict[str, Any] = {"road": "etherbone", "seed": options.seed, "device": device}
    sockets = {"udp": options.udp, "tcp": options.tcp}
    if not (options.udp or options.tcp or options.tap or options.pty):
        # The flag without an address means every interface.
        sockets["udp"] = f"{'0.0.0.0' if options.bind_public else '127.0.0.1'}:{port}"
    for option, address in sockets.items():
        if address is not None:
            wanted[option] = _bound(f"--{option}", address, options.bind_public)
    if options.tap:
        wanted["tap"] = options.tap
    if options.pty:
        wanted["pty"] = True
    if options.allow:
        wanted["allow"] = [network(text) for text in options.allow]
    return wanted


def _bound(option: str, address: str, public: bool) -> str:
    host, port = split(address, option)
    if public and host.is_loopback:
        every = "0.0.0.0" if host.version == 4 else "[::]"
        raise UserError(
            f"--bind-public and {option} {address} exclude each other; "
            f"expected {option} {every}:{port} for every interface, or no --bind-public"
        )
    return f"[{host}]:{port}" if host.version == 6 else f"{host}:{port}"


def address(text: str) -> dict[str, str]:
    """`192.168.10.2/24` as keys of a scenario's device; without bits its subnet has 24."""
    try:
        found = ipaddress.IPv4Interface(text if "/" in text else f"{text}/24")
    except ValueError as err:
        raise UserError(f"--ip {text!r}: expected IP or IP/BITS, for example 192.168.10.2/24") from err
    return {"ip": str(found.ip), "netmask": str(found.netmask)}


def network(text: str) -> str:
    """`192.0.2.0/24`, or one host's address, as a network."""
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError as err:
        raise UserError(f"--allow {text!r}: expected a network, such as 192.0.2.0/24") from err


def serve(options: ServeOptions) -> None:
    """Serve until Control-C; the addresses go to standard output, the status line to standard error."""
    from isthmus import native

    wanted = scenario(options)
    for option in ("udp", "tcp"):
        if option in wanted and not split(wanted[option])[0].is_loopback and not options.allow:
            print(
                f"warning: {option} {wanted[option]} can be reached from other machines, and Etherbone "
                "has no password; --allow limits which clients are served",
                file=sys.stderr,
                flush=True,
            )
    line = _StatusLine(sys.stderr.isatty())
    try:
        line.end(native.serve(wanted, line, native.ServeStatus))
    except UserError as err:
        if "in use" in str(err):
            raise UserError(f"{err}; use port 0 for any free one") from None
        raise


class _StatusLine:
    """Prints the addresses once, then keeps one line up to date (on a terminal) or says what changed."""

    def __init__(self, terminal: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._terminal = terminal
        self._clock = clock
        self._started = False
        self._shown = (0, 0, 0, 0)
        self._next = 0.0

    def __call__(self, status: ServeStatus) -> None:
        if not self._started:
            self._started = True
            for where in status.listening:
                print(f"etherbone {where}", flush=True)
        if self._terminal:
            print(f"\r\x1b[K{text(status)}", end="", file=sys.stderr, flush=True)
            return
        counts = (status.clients, status.replies, status.errors, status.not_allowed)
        if counts != self._shown and self._clock() >= self._next:
            self._shown = counts
            # A log file needs no line a second.
            self._next = self._clock() + 10
            print(text(status), file=sys.stderr, flush=True)

    def end(self, status: ServeStatus) -> None:
        start = "\r\x1b[K" if self._terminal else ""
        print(f"{start}{text(status)}", file=sys.stderr, flush=True)


def text(status: ServeStatus) -> str:
    """The status line."""
    clients = f"{status.clients} client" + ("" if status.clients == 1 else "s")
    refused = f", {status.not_allowed} not allowed" if status.not_allowed else ""
    return (
        f"{clients}, {status.requests} requests, {status.replies} replies, {status.errors} errors{refused}, "
        f"{status.cycles_per_s / 1e3:.0f} kcycles/s"
    )
