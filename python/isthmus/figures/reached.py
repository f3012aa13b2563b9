# SPDX-License-Identifier: Apache-2.0
"""Clock frequencies that `isthmus timing` has stored of a board top."""

from __future__ import annotations

from isthmus.figures import baseline
from isthmus.figures.timing import DEVICES


def clock(board: str, name: str) -> float | None:
    """The highest frequency in MHz, over all devices and seeds, of the board's clock that a platform calls
    `name`: `clock` is the port clk_i, `link_clock` is link_clk_i. None where none is stored."""
    port = f"{name.removesuffix('clock')}clk_i"
    stored = (baseline.load(device.baseline).get(board, {}).get(port) for device in DEVICES.values())
    return max((one["best_mhz"] for one in stored if one), default=None)
