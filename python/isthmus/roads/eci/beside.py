# SPDX-License-Identifier: Apache-2.0
"""The coherent link beside PCIe: at which sizes which of them is ahead, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from isthmus.results import Document, Measurement
from isthmus.workload import bytes_text, crossings

OPERATIONS = ("device-read", "device-write")


POSTED = (
    "device-write: a write over PCIe is posted, so the next one begins before it is visible; over the "
    "coherent link it is acknowledged."
)


@dataclass(frozen=True)
class Figure:
    """What is compared. `cost`: less of it is better, whatever `shown` says."""

    name: str
    alone: bool
    shown: Callable[[Measurement], str]
    cost: Callable[[Measurement], float]


def _latency(m: Measurement) -> float:
    assert m.latency is not None
    return m.latency.avg


def _time_of_a_byte(m: Measurement) -> float:
    assert m.throughput is not None
    return 1 / m.throughput.payload_bit_s


FIGURES = (
    Figure("latency, one at a time", True, lambda m: f"{_latency(m) / 1e3:.0f} ns", _latency),
    Figure(
        "throughput, one at a time",
        True,
        lambda m: f"{1 / _time_of_a_byte(m) / 8e9:.2f} GB/s",
        _time_of_a_byte,
    ),
    Figure(
        "throughput, many in flight",
        False,
        lambda m: f"{1 / _time_of_a_byte(m) / 8e9:.2f} GB/s",
        _time_of_a_byte,
    ),
)


def is_pcie(m: Measurement) -> bool:
    """Whether it was measured over PCIe."""
    return "pcie" in m.workload


def name(m: Measurement) -> str:
    """What carried it, with how: `one link`, `two links, balance`, `PCIe Gen3 x16, ring`."""
    w = m.workload
    if is_pcie(m):
        return f"PCIe {w['pcie']}{', ring' if w['driver'] == 'pcie-ring' else ''}"
    links = f"two links, {w['policy']}" if "policy" in w else "one link"
    driver = w.get("driver", "uncached")
    cached = links if driver == "uncached" else f"{links}, {driver}"
    return f"{cached}, AXI port" if "port" in w else cached


def sentences(document: Document) -> list[str]:
    """One for each pair of roads and figure, where the document has both."""
    return list(_sentences(document))


def _sentences(document: Document) -> Iterator[str]:
    clean = [m for m in document if not m.workload.get("errors")]
    ours = [m for m in clean if m.profile == "isthmus"] or clean
    for operation in OPERATIONS:
        of = [m for m in ours if m.workload["operation"] == operation and m.latency]
        sides = {side: dict.fromkeys(name(m) for m in of if is_pcie(m) == side) for side in (False, True)}
        for link in sides[False]:
            for pcie in sides[True]:
                for figure in FIGURES:
                    both = [
                        {m.workload["bytes"]: m for m in of if name(m) == one and _is_of(figure, m)}
                        for one in (link, pcie)
                    ]
                    if set(both[0]) & set(both[1]):
                        yield f"{operation}, {figure.name}: {_compared(figure, link, pcie, *both)}."
        if operation == "device-write" and sides[False] and sides[True]:
            yield POSTED


def _is_of(figure: Figure, m: Measurement) -> bool:
    window = m.workload["window"]
    return bool(window == 1) if figure.alone else window not in (1, None)


def _compared(
    figure: Figure, link: str, pcie: str, ours: Mapping[int, Measurement], theirs: Mapping[int, Measurement]
) -> str:
    costs = [{size: figure.cost(m) for size, m in of.items()} for of in (ours, theirs)]
    common = sorted(set(ours) & set(theirs))
    low, high = common[0], common[-1]
    changes = crossings(*costs)
    ahead = [link, pcie] if costs[0][low] < costs[1][low] else [pcie, link]
    if not changes:
        where = (
            f"at {bytes_text(low)}"
            if low == high
            else f"from {bytes_text(low)} to {bytes_text(high)}, no crossover"
        )
        said = f"{ahead[0]} is ahead of {ahead[1]} {where}"
    else:
        parts = [f"{link if first else pcie} is ahead below {bytes_text(size)}" for size, first in changes]
        last = pcie if changes[-1][1] else link
        said = f"{', '.join(parts)}, {last} from there on"
    ends = [
        f"{figure.shown(ours[size])} and {figure.shown(theirs[size])} at {bytes_text(size)}"
        for size in dict.fromkeys((low, high))
    ]
    return f"{said} ({'; '.join(ends)})"
