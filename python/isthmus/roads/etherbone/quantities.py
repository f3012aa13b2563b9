# SPDX-License-Identifier: Apache-2.0
"""Quantities of `published/etherbone.csv`, in addition to those of every road."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from isthmus.quantities import Quantity, each, scaled
from isthmus.results import Document, Measurement


def _inside_ns(m: Measurement) -> float | None:
    inside = m.windows.inside_cycle_per_timestamp
    return None if inside is None else inside / 1e3


def _inside_clocks(m: Measurement) -> float | None:
    inside = _inside_ns(m)
    clock = m.constants.value("fpga", "clock") if m.constants else None
    return None if inside is None or clock is None else inside / 2 * clock / 1e3


def _clocks(name: str) -> Callable[[Measurement], float | None]:
    """Clocks on the device's pins. `turnaround`: the request's last FCS byte to the reply's first preamble
    byte; `reply_spacing_max`: between the first bytes of neighbouring replies, at most."""

    def value(m: Measurement) -> float | None:
        found = (m.workload.get("clocks") or {}).get(name)
        return None if found is None else float(found)

    return value


def _gain(members: Sequence[Measurement], document: Document) -> float | None:
    gains = []
    for m in members:
        other = document.by_id(m.id.replace("/pipelined/", "/blocking/"))
        if other is None or not m.time_per_timestamp or not other.time_per_timestamp:
            return None
        gains.append(100 * (other.time_per_timestamp / m.time_per_timestamp - 1))
    return sum(gains) / len(gains)


QUANTITIES: Mapping[str, Quantity] = {
    "time_per_timestamp_us": scaled(lambda m: m.time_per_timestamp, 1e-6),
    "cycles_khz": scaled(lambda m: m.throughput.cycles_per_s if m.throughput else None, 1e-3),
    "timestamps_khz": scaled(lambda m: m.throughput.timestamps_per_s if m.throughput else None, 1e-3),
    "inside_cycle_per_timestamp_ns": each(_inside_ns),
    "inside_cycle_per_word_ns": scaled(_inside_ns, 0.5),
    "inside_cycle_clocks_per_word": each(_inside_clocks),
    "gain_over_blocking_percent": _gain,
    "turnaround_clocks": each(_clocks("turnaround")),
    "reply_spacing_clocks": each(_clocks("reply_spacing_max")),
}
