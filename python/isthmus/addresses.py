# SPDX-License-Identifier: Apache-2.0
"""Network addresses as people write them on a command line."""

from __future__ import annotations

import ipaddress

from isthmus.errors import UserError

EXAMPLE = "127.0.0.1:60368"


def split(address: str, option: str = "--udp") -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    """`127.0.0.1:60368` or `[::1]:60368` as address and port. Raises `UserError` that names the option."""
    wrong = UserError(f"{option} {address!r}: expected IP:PORT, such as {EXAMPLE} (port 0: any)")
    host, colon, port = address.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > 0xFFFF:
        raise wrong
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]")), int(port)
    except ValueError as err:
        raise wrong from err
