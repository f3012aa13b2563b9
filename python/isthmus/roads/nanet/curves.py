# SPDX-License-Identifier: Apache-2.0
"""What the figures over the size of a datagram share."""

from __future__ import annotations

from typing import Any


def axes(y: str) -> dict[str, Any]:
    """Bytes of a datagram across, and `y`, with its unit, from 0 up."""
    return {
        "xAxis": {"type": "log", "logBase": 2, "name": "bytes of a datagram", "nameLocation": "middle"},
        "yAxis": {"type": "value", "name": y, "nameLocation": "middle", "min": 0},
    }
