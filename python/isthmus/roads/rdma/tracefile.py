# SPDX-License-Identifier: Apache-2.0
"""A file of transfers between hosts, for `isthmus bench rdma trace`."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path

from isthmus import tracefile
from isthmus.errors import UserError

FORM = "nanosecond source destination write|inline|message bytes"
LARGEST = {"write": 4096, "inline": 504, "message": 504}
"""Bytes of one transfer: a descriptor, a message queue's slot without its frame word."""
HOSTS = 8
LAST_NS = 10_000_000_000


@dataclass(frozen=True)
class Line:
    """One transfer: nanosecond from the programs' begin, source, destination, how, bytes."""

    at: int
    source: int
    destination: int
    kind: str
    size: int


def read(path: Path) -> tuple[Line, ...]:
    """The transfers of a file, a line each: `FORM`; # begins a comment. `UserError` names a wrong line."""
    return tuple(_line(fields, where) for where, fields in tracefile.lines(path, FORM, "transfer", "trace"))


def _line(fields: list[str], where: str) -> Line:
    try:
        at, source, destination, kind, size = fields
        line = Line(int(at), int(source), int(destination), kind, int(size))
    except ValueError:
        raise UserError(f"{where}: {' '.join(fields)!r}; a line is: {FORM}") from None
    if kind not in LARGEST:
        raise UserError(f"{where}: no {kind!r}; expected one of {', '.join(LARGEST)}")
    if not 0 <= line.at <= LAST_NS:
        raise UserError(f"{where}: {line.at} ns are outside 0 to {LAST_NS}")
    if line.source == line.destination or not all(0 <= h < HOSTS for h in (line.source, line.destination)):
        raise UserError(f"{where}: from {source} to {destination}; expected two hosts, 0 to {HOSTS - 1}")
    if line.size % 8 or not 8 <= line.size <= LARGEST[kind]:
        raise UserError(
            f"{where}: {size} bytes; expected a multiple of 8 from 8 to {LARGEST[kind]} for {kind}"
        )
    return line


def rows(trace: tuple[Line, ...]) -> list[list[int | str]]:
    """As the engine takes them."""
    return [list(astuple(line)) for line in trace]


def hosts(trace: tuple[Line, ...]) -> int:
    """Hosts that the trace needs."""
    return 1 + max(max(line.source, line.destination) for line in trace)
