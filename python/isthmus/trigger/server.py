# SPDX-License-Identifier: Apache-2.0
"""`isthmus trigger serve`: answers a stream of events on a UDP socket."""

from __future__ import annotations

import ipaddress
import sys

from isthmus.errors import UserError
from isthmus.trigger import native, tables


def address(text: str, public: bool) -> str:
    """`IP:PORT` of a socket to listen on. Raises `UserError`: not one, or one that others can reach."""
    wrong = UserError(f"--udp {text!r}: expected IP:PORT, such as 127.0.0.1:58400 (port 0: any)")
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port[:6]) > 0xFFFF:
        raise wrong
    try:
        found = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError as err:
        raise wrong from err
    if not found.is_loopback and not public:
        raise UserError(
            f"--udp {text}: other machines can reach this address, and anyone may send; add --bind-public"
        )
    return f"[{found}]:{int(port)}" if found.version == 6 else f"{found}:{int(port)}"


def run(where: str) -> None:
    """Serve until Control-C: the address goes to standard output, the counts to standard error."""
    started = False

    def tick(own: str, _: native.Served) -> None:
        nonlocal started
        if not started:
            started = True
            print(f"trigger udp {own}", flush=True)

    print(tables.served(native.serve(where, tick)), file=sys.stderr, flush=True)
