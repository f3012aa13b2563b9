# SPDX-License-Identifier: Apache-2.0
"""The torus benchmark as text. Delays are one-way: a packet's making to its last flit at the destination."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from isthmus.results import Document, Measurement
from isthmus.results.table import aligned
from isthmus.roads.torus.bench import LINK_CLOCKS, shape

HEAD = ("load", "carried", "avg", "p50", "p99", "max", "clocks", "links", "busiest link", "packets", "")


LANES_HEAD = (*HEAD[:9], "framing", "credits", *HEAD[9:10], "lost", "")
"""Of links with ends."""


def over_lanes(m: Measurement) -> bool:
    """Its links have ends and lanes."""
    return m.workload.get("links") == "lanes"


def head(m: Measurement) -> Sequence[str]:
    """The head of the table that has this run."""
    return LANES_HEAD if over_lanes(m) else HEAD


def is_backlog(m: Measurement) -> bool:
    """Packets always waited at every node: a measurement of saturation, without a meaningful delay."""
    return m.workload["load"] is None


def traffic(m: Measurement) -> str:
    """What a run has in common with those of other loads."""
    w = m.workload
    made_of = f"{shape(w['nodes'])}, {w['pattern']}, {w['bytes']} bytes"
    if over_lanes(m):
        made_of += ", lanes" + (f" with errors {w['errors']:g}" if w["errors"] else "")
    return made_of


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
        *([_percent(w["framing_share"]), _percent(w["credit_share"])] if over_lanes(m) else []),
        str(w["packets"]),
        *([str(w["lost"])] if over_lanes(m) else []),
        verdict,
    ]


def text(made: Document) -> str:
    """The output for the terminal."""
    parts = []
    for name, group in groupby(made, traffic):
        members: Sequence[Measurement] = list(group)
        w = members[0].workload
        takes = f"{w['hop_clocks']} clocks"
        if over_lanes(members[0]):
            takes += f" and its ends {LINK_CLOCKS}"
        parts.append(
            f"# torus {name}, seed {members[0].seed}; a link takes {takes}, a packet passes "
            f"{w['hops']:.2f} in the mean\n"
            "# load, carried: flits a node and clock, header and footer included; full: packets always wait\n"
            "# delay in us, one-way: made to last flit at the destination\n"
        )
        parts.append(aligned([[f"#{HEAD[0]}", *head(members[0])[1:]], *map(row, members)], left=(0,)))
        if over_lanes(members[0]) and w["errors"]:
            parts.append(_losses(members))
    packets = sum(m.workload["packets"] for m in made)
    which = "each that is not lost" if any(m.workload.get("errors") for m in made) else "each"
    parts.append(f"# {packets} packets compared: {which} arrived once, whole and in the order of its pair\n")
    return "".join(parts)


def _losses(members: Sequence[Measurement]) -> str:
    """What the wrong bits of these runs have cost, and where it was counted."""

    def count(name: str) -> int:
        return sum(m.counters[name] for m in members)

    return (
        f"# {count('lines.wrong_bits')} wrong bits cost {count('packets.missing')} packets: "
        f"{count('packets.poisoned')} arrived with a poisoned tail, the others not at all\n"
        f"# counted by the gateware: {count('links.torn')} packets cut or with a wrong check, "
        f"{count('links.gaps')} lost begins, {count('links.dropped')} at a link that was down, "
        f"{count('packets.lost')} without a route\n"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
