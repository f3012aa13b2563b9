# SPDX-License-Identifier: Apache-2.0
"""What `published/nanet.csv` asks of the measurements, beside what every road has."""

from __future__ import annotations

from collections.abc import Mapping

from isthmus.quantities import Quantity, scaled, workload

PARTS = ("udp", "wake", "work", "write", "inside", "after_frame", "to_program")
"""Parts of a datagram's way, as the engine names them."""

QUANTITIES: Mapping[str, Quantity] = {
    **{
        f"part_us.{name}.{figure}": scaled(workload("parts_ps", name, figure), 1e-6)
        for name in PARTS
        for figure in ("min", "avg", "max")
    },
    "payload_mb_s": scaled(lambda m: m.throughput.payload_bit_s if m.throughput else None, 1e-6 / 8),
}
