# SPDX-License-Identifier: Apache-2.0
"""What published tables ask of puts over APElink, beside what every road has."""

from __future__ import annotations

from collections.abc import Mapping

from isthmus.quantities import Quantity, scaled
from isthmus.results import Measurement


def limit(m: Measurement) -> float:
    """Bytes of payload a second that the link and the bus both carry, as the engine computes them."""
    return min(float(m.workload["link_limit_byte_s"]), float(m.workload["bus_limit_byte_s"]))


def reached(m: Measurement) -> float | None:
    """Payload, as a share of what link and bus allow."""
    if m.throughput is None:
        return None
    byte_s = m.throughput.payload_bit_s / 8
    return byte_s / limit(m)


QUANTITIES: Mapping[str, Quantity] = {"of_the_limit_percent": scaled(reached, 100)}
