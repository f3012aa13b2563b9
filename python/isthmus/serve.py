# SPDX-License-Identifier: Apache-2.0
"""`isthmus serve`: a simulated FPGA behind a real UDP socket.

Whoever can reach the socket can read and write the simulated bus, so it is bound to the loopback interface
unless the caller asks for more.
"""

from __future__ import annotations

import ipaddress
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus.errors import UserError

if TYPE_CHECKING:
    from isthmus.native import ServeStatus

DEFAULT_ADDRESS = "127.0.0.1:60368"


@dataclass(frozen=True)
class ServeOptions:
    """What `isthmus serve etherbone` was asked for."""

    model: Path
    udp: str = DEFAULT_ADDRESS
    bind_public: bool = False
    seed: int = 1
    device: Mapping[str, Any] = field(default_factory=dict)
    """Further keys of a scenario's `device`, such as `ip`."""


def scenario(options: ServeOptions) -> dict[str, Any]:
    """The server's scenario (docs/how-to/serve.md). Raises `UserError` for an address that cannot be."""
    host, port = split(options.udp)
    if options.bind_public and host.is_loopback:
        # The flag without an address of its own means every interface.
        host = ipaddress.ip_address("0.0.0.0" if host.version == 4 else "::")
    bind = f"[{host}]:{port}" if host.version == 6 else f"{host}:{port}"
    return {
        "road": "etherbone",
        "bind": bind,
        "seed": options.seed,
        "device": {"model_path": str(options.model), **options.device},
    }


def split(address: str) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    """`127.0.0.1:60368` or `[::1]:60368` as address and port."""
    wrong = UserError(f"--udp {address!r}: right would be IP:PORT, such as {DEFAULT_ADDRESS} (port 0: any)")
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > 0xFFFF:
        raise wrong
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")), int(port)
    except ValueError as err:
        raise wrong from err


def serve(options: ServeOptions) -> None:
    """Serve until Control-C; the address goes to standard output, the status line to standard error."""
    from isthmus import native

    wanted = scenario(options)
    host, _ = split(str(wanted["bind"]))
    if not host.is_loopback:
        print(
            f"warning: {wanted['bind']} can be reached from other machines, and Etherbone knows no password",
            file=sys.stderr,
            flush=True,
        )
    line = _StatusLine(sys.stderr.isatty())
    line.end(native.serve(wanted, line))


class _StatusLine:
    """Prints the address once, then keeps one line up to date (on a terminal) or says what changed."""

    def __init__(self, terminal: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._terminal = terminal
        self._clock = clock
        self._started = False
        self._shown: tuple[int, int, int] = (0, 0, 0)
        self._next = 0.0

    def __call__(self, status: ServeStatus) -> None:
        if not self._started:
            self._started = True
            print(f"etherbone udp {status.address}", flush=True)
        if self._terminal:
            print(f"\r\x1b[K{text(status)}", end="", file=sys.stderr, flush=True)
            return
        counts = (status.clients, status.replies, status.errors)
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
    return (
        f"{clients}, {status.datagrams} datagrams, {status.replies} replies, {status.errors} errors, "
        f"{status.cycles_per_s / 1e3:.0f} kcycles/s"
    )
