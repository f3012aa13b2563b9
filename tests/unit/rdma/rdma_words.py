# SPDX-License-Identifier: Apache-2.0
"""The words of docs/explanation/cores/rdma.md as numbers, for every bench of the RDMA network interface.

Nothing here is taken from the RTL.
"""

from __future__ import annotations

WRITE, MESSAGE, CONTROL, SHORT = range(4)
OPEN, PROBE, ACK, REFUSED = range(4)
(
    DESCRIPTOR, READ, KEY, BOUNDS, QUEUE, FULL, BROKEN, LOST,
    SESSION,
) = range(1, 10)  # fmt: skip


def header(
    seq: int, session: int, src: int, dst: int, kind: int = CONTROL, size: int = 0, rest: int = 0
) -> int:
    return seq | session << 16 | src << 24 | dst << 31 | size << 38 | kind << 45 | rest


def control(
    kind: int, code: int = 0, tag: int = 0, count: int = 0, pending: bool = False, stored: int = 0
) -> int:
    return kind | code << 4 | tag << 12 | (count & 0xFFF) << 20 | pending << 32 | (stored & 0xFFFF) << 33


def descriptor(
    source: int,
    destination: int,
    size: int,
    host: int,
    start: bool = False,
    local: bool = False,
    notify: bool = False,
    irq: bool = False,
    completion: bool = False,
    extended: bool = False,
    spare: int = 0,
) -> tuple[int, int]:
    """The two beats of a slot."""
    flags = start | local << 1 | notify << 2 | irq << 3 | completion << 4 | extended << 5 | spare << 6
    return source, (destination & 0xFFFFFFFF) | size << 32 | host << 42 | flags << 49


def extension(destination: int, key: int, immediate: int, spare: int = 0) -> tuple[int, int]:
    """The two beats of an extended descriptor's second slot."""
    return destination >> 32 | key << 32, immediate | spare << 32


def message_header(
    beats: int,
    queue: int,
    immediate: int,
    local: bool = False,
    notify: bool = False,
    irq: bool = False,
    completion: bool = False,
    write: bool = False,
    extended: bool = False,
    spare: int = 0,
) -> int:
    flags = local | notify << 1 | irq << 2 | completion << 3 | write << 4 | extended << 5
    return beats | queue << 8 | flags << 16 | spare << 22 | immediate << 32
