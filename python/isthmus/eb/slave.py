# SPDX-License-Identifier: Apache-2.0
"""A software slave: memories on a bus that describes itself, behind sockets of this machine."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple, Self

from isthmus.eb.device import _do, _module, mask

TABLE = 0xFFFF_0000
"""The default address of the self-description."""


class Memory(NamedTuple):
    """A device of a software slave. Big-endian memory, lowest address first."""

    first: int
    contents: bytes
    vendor: int = 0x651
    device: int = 0xC3C5EEFA
    version: int = 1
    date: int = 0x20260101
    name: str = "Software-Memory"


class SoftwareSlave:
    """Serves until it is closed, on a separate thread.

    `udp` and `tcp` are `IP:PORT`, port 0 for any; `names` has the names that a `Device` opens, UDP before
    TCP. Any access outside the memories and the `table` (the bus's self-description; `None`: none) is a bus
    error. With `log`, `events` reports bus events.

    Raises `UserError` for memories that overlap, `EtherboneError` for a port that is taken.
    """

    def __init__(
        self,
        memories: Sequence[Memory],
        *,
        table: int | None = TABLE,
        udp: Sequence[str] = ("127.0.0.1:0",),
        tcp: Sequence[str] = ("127.0.0.1:0",),
        dialect: str = "ohwr",
        address_widths: Sequence[int] = (32,),
        data_widths: Sequence[int] = (32,),
        log: bool = False,
    ) -> None:
        devices = [(m.vendor, m.device, m.version, m.date, m.name, m.first, m.contents) for m in memories]
        self._native = _do(
            _module().EbSlave,
            devices,
            table=table,
            udp=list(udp),
            tcp=list(tcp),
            dialect=dialect,
            address_widths=mask(address_widths),
            data_widths=mask(data_widths),
            log=log,
        )
        self.names: list[str] = self._native.names()

    def events(self, timeout_s: float) -> list[str]:
        """Bus events since the last call, a line each; waits for the first one."""
        lines: list[str] = _do(self._native.events, timeout_s)
        return lines

    @property
    def dropped(self) -> int:
        """Events that were not kept, because 65536 already waited to be taken."""
        return int(self._native.dropped())

    def close(self) -> dict[str, int]:
        """End it; returns its counters. Empty the second time."""
        counted: dict[str, int] | None = _do(self._native.close)
        return counted or {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
