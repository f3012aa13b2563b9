# SPDX-License-Identifier: Apache-2.0
"""Words of a 64-bit XGMII, made and read by hand: what a bus model does not send."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

IDLE, START, TERMINATE, ERROR = 0x07, 0xFB, 0xFD, 0xFE
PREAMBLE = [(START, 1), *((0x55, 0) for _ in range(6)), (0xD5, 0)]

Lane = tuple[int, int]
"""A character and whether it is a control character."""


def data(raw: bytes) -> list[Lane]:
    return [(byte, 0) for byte in raw]


def idle(lanes: int) -> list[Lane]:
    return [(IDLE, 1)] * lanes


def frame(raw: bytes) -> list[Lane]:
    """A frame with its FCS, start to terminate."""
    return [*PREAMBLE, *data(raw), (TERMINATE, 1)]


def words(lanes: Sequence[Lane]) -> Iterator[tuple[int, int]]:
    """Data and control of each word; the last one is filled up with idle."""
    lanes = [*lanes, *idle(-len(lanes) % 8)]
    for at in range(0, len(lanes), 8):
        eight = lanes[at : at + 8]
        yield (
            int.from_bytes(bytes(char for char, _ in eight), "little"),
            sum(control << lane for lane, (_, control) in enumerate(eight)),
        )
