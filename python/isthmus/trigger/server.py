# SPDX-License-Identifier: Apache-2.0
"""Events over UDP: the addresses of both ends, and `isthmus trigger serve`, which answers a stream."""

from __future__ import annotations

import ipaddress
import sys

from isthmus.errors import UserError
from isthmus.trigger import native, tables


def address(text: str, public: bool) -> str:
    """`IP:PORT` of a socket to listen on. Raises `UserError`: not one, or one that others can reach."""
    found, port = _parsed(text, f"--udp {text!r}: expected IP:PORT, such as 127.0.0.1:58400 (port 0: any)")
    if not found.is_loopback and not public:
        raise UserError(
            f"--udp {text}: other machines can reach this address, and anyone may send; add --bind-public"
        )
    return _shown(found, port)


def receiver(text: str) -> str:
    """`IP:PORT` of a socket to send to. Raises `UserError`."""
    wrong = f"--out udp:{text}: expected udp:IP:PORT, such as udp:127.0.0.1:58400"
    found, port = _parsed(text, wrong)
    if port == 0:
        raise UserError(wrong)
    return _shown(found, port)


def _parsed(text: str, wrong: str) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port[:6]) > 0xFFFF:
        raise UserError(wrong)
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")), int(port)
    except ValueError as err:
        raise UserError(wrong) from err


def _shown(address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int) -> str:
    return f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


def run(where: str) -> None:
    """Serve until Control-C: the address goes to standard output, the counts to standard error."""
    started = False

    def tick(own: str, _: native.Served) -> None:
        nonlocal started
        if not started:
            started = True
            print(f"trigger udp {own}", flush=True)

    print(tables.served(native.serve(where, tick)), file=sys.stderr, flush=True)
