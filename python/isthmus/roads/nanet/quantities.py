# SPDX-License-Identifier: Apache-2.0
"""What `published/nanet.csv` asks of the measurements, beside what every road has."""

from __future__ import annotations

from collections.abc import Mapping

from isthmus.quantities import Quantity, each, scaled, workload
from isthmus.results import Measurement

PARTS = ("udp", "wake", "work", "write", "inside", "after_frame", "to_program", "to_gpu")
"""Parts of a datagram's way, as the engine names them."""

CHAIN_PARTS = ("receive", "copies", "processing")
"""Parts of the way without the interface."""


def _rings(what: str, number: int) -> Quantity:
    """The share of events of this many rings, or of their rings, that was found."""

    def value(m: Measurement) -> float | None:
        shares = (m.workload.get("quality") or {}).get(what)
        return None if shares is None else shares[number - 1]

    return each(value)


QUANTITIES: Mapping[str, Quantity] = {
    **{
        f"part_us.{name}.{figure}": scaled(workload("parts_ps", name, figure), 1e-6)
        for name in PARTS
        for figure in ("min", "avg", "max")
    },
    **{
        f"part_us.{name}.{figure}": scaled(workload("parts_ps", name, figure), 1e-6)
        for name in CHAIN_PARTS
        for figure in ("min", "avg", "p50", "p90", "p99", "p99.9", "max")
    },
    **{
        f"{what}.{number}": _rings(what, number)
        for what in ("efficiency", "multiplicity")
        for number in (1, 2, 3)
    },
    "fakes": each(workload("quality", "fakes")),
    "communication_us": scaled(workload("communication_typical_ps"), 1e-6),
    "event_to_answer_us.max": scaled(workload("event_to_answer", "latency_ps", "max"), 1e-6),
    "slowest_us": scaled(lambda m: m.latency.max if m.latency else None, 1e-6),
    "payload_mb_s": scaled(lambda m: m.throughput.payload_bit_s if m.throughput else None, 1e-6 / 8),
}
