# SPDX-License-Identifier: Apache-2.0
"""The torus benchmark as text. Delays are one-way: a packet's making to its last flit at the destination."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from isthmus.results import Document, Measurement
from isthmus.results.table import aligned
from isthmus.roads.torus.bench import shape

HEAD = ("load", "carried", "avg", "p50", "p99", "max", "clocks", "links", "busiest link", "packets", "")


def is_backlog(m: Measurement) -> bool:
    """Packets always waited at every node: a measurement of saturation, without a meaningful delay."""
    return m.workload["load"] is None


def traffic(m: Measurement) -> str:
    """What a run has in common with those of other loads."""
    w = m.workload
    return f"{shape(w['nodes'])}, {w['pattern']}, {w['bytes']} bytes"


def us(ps: float | None) -> str:
    """Picoseconds as microseconds; blank where there is none."""
    return "" if ps is None else f"{ps / 1e6:.3f}"


def row(m: Measurement) -> list[str]:
    """A run as a row of the table."""
    w, latency = m.workload, m.latency
    delays = ["", "", "", "", ""]
    if latency is not None:
        percentiles = [latency.percentiles.get(key) for key in ("p50", "p99")]
        delays = [us(latency.avg), *map(us, percentiles), us(latency.max), f"{w['delay_clocks']:.1f}"]
    verdict = "saturated" if w["saturated"] else ""
    return [
        "full" if is_backlog(m) else f"{w['load']:.3f}",
        f"{w['carried']:.3f}",
        *delays,
        _percent(w["link_share"]),
        _percent(w["link_share_most"]),
        str(w["packets"]),
        verdict,
    ]


def text(made: Document) -> str:
    """The output for the terminal."""
    parts = []
    for name, group in groupby(made, traffic):
        members: Sequence[Measurement] = list(group)
        w = members[0].workload
        parts.append(
            f"# torus {name}, seed {members[0].seed}; a link takes {w['hop_clocks']} clocks, a packet passes "
            f"{w['hops']:.2f} in the mean\n"
            "# load, carried: flits a node and clock, header and footer included; full: packets always wait\n"
            "# delay in us, one-way: made to last flit at the destination\n"
        )
        parts.append(aligned([[f"#{HEAD[0]}", *HEAD[1:]], *map(row, members)], left=(0,)))
    packets = sum(m.workload["packets"] for m in made)
    parts.append(f"# {packets} packets compared: each arrived once, whole and in the order of its pair\n")
    return "".join(parts)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
