# SPDX-License-Identifier: Apache-2.0
"""The switch benchmark as text.

Delays are one-way: from a packet's making to its first word at the sink.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from isthmus.results import Document, Measurement
from isthmus.results.model import percentile_name
from isthmus.results.table import aligned, shown_percentiles


def process(m: Measurement) -> str:
    """The arrival process without the load, which has a separate column."""
    return m.arrivals.partition(":")[0]


def is_backlog(m: Measurement) -> bool:
    """Sources always had packets waiting: a measurement of saturation, without a meaningful delay."""
    return m.arrivals == "backlog"


def verdict(m: Measurement) -> str:
    """Whether the delay is steady. A trace has no steady state: all its packets count."""
    w = m.workload
    if w["saturated"]:
        return "saturated"
    if w["steady"] is None:
        return "whole trace"
    return "steady" if w["steady"] else "not steady"


def queueing_us(m: Measurement) -> float | None:
    """The mean delay beyond the fastest packet's."""
    return None if m.latency is None else (m.latency.avg - m.latency.min) / 1e6


def line_share(m: Measurement) -> float | None:
    """The share of the lines' words that carry packets and their credits; None without lines."""
    idle = m.workload["wire_shares"]["idle"]
    return None if idle is None or m.method == "ideal" else 1 - float(idle)


def text(made: Document) -> str:
    """The output for the terminal."""
    parts = []
    for (profile, pattern), group in groupby(made, lambda m: (m.profile, m.workload["pattern"])):
        members = list(group)
        w = members[0].workload
        low, high = w["sizes_bytes"]
        arrivals = next((process(m) for m in members if not is_backlog(m)), "backlog")
        parts.append(
            f"# {w['ports']}x{w['ports']}, {pattern}, {low} to {high} bytes, profile {profile}, "
            f"seed {members[0].seed}, {arrivals}\n"
            "# load: share of a line's words that packets take, framing included; payload: their data alone\n"
            "# delay in us, one-way: made to first word at the sink; queueing: the mean beyond the least\n"
        )
        delays = [m.latency for m in members if m.latency and not is_backlog(m)]
        shown, blanks = shown_percentiles(delays, ("p50", "p99", "p99.9"))
        parts.append(aligned(_rows(members, shown), left=(0,)))
        parts.append(blanks)
        parts.append(_saturation(members))
        parts.append(_way(members))
    return "".join(parts)


def _rows(members: Sequence[Measurement], percentiles: Sequence[str]) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = [
        (
            "#engine", "load", "payload", "avg", "queueing", *map(percentile_name, percentiles), "max",
            "packets", "carried", "credits", "jain", "",
        )
    ]  # fmt: skip
    for m in members:
        w, delay = m.workload, m.latency
        if delay is None or is_backlog(m):
            continue
        tail = (delay.percentiles[key] for key in percentiles)
        rows.append(
            (
                m.method,
                as_share(w["load"]),
                as_share(w["payload_load"]),
                f"{delay.avg / 1e6:.3f}",
                f"{queueing_us(m):.3f}",
                *("" if v is None else f"{v / 1e6:.3f}" for v in tail),
                f"{delay.max / 1e6:.3f}",
                str(m.iterations),
                _percent(w["payload_share"]),
                "" if m.method == "ideal" else _percent(w["wire_shares"]["credit"]),
                "" if w["flows"]["jain"] is None else f"{w['flows']['jain']:.4f}",
                "" if verdict(m) == "steady" else verdict(m),
            )
        )
    return rows


def as_share(value: float | None) -> str:
    """A share as a table shows it; blank where it has no value, as of a trace."""
    return "" if value is None else f"{value:.3f}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f} %"


def _saturation(members: Sequence[Measurement]) -> str:
    lines = []
    for m in members:
        if not is_backlog(m):
            continue
        shares, flows = m.workload["wire_shares"], m.workload["flows"]
        lines.append(
            f"# saturation, {m.method}: {_percent(line_share(m))} of the words out of the switch are packets "
            f"and credits: data {_percent(shares['data'])}, framing {_percent(shares['framing'])}, credits "
            f"{_percent(shares['credit'])}; flows: least/most "
            f"{flows['least_words'] / flows['most_words']:.4f}, Jain {flows['jain']:.5f}\n"
        )
    return "".join(lines)


def _way(members: Sequence[Measurement]) -> str:
    staged = [m for m in members if m.method == "rtl" and m.stages and not is_backlog(m)]
    if not staged:
        return "\n"
    m = min(staged, key=lambda m: m.workload["load"] or 0.0)
    total = sum(stage.time for stage in m.stages)
    ways = ", ".join(f"{stage.name} {stage.time / 1e3:.1f}" for stage in m.stages)
    return f"# fastest packet, ns: {ways}; {total / 1e3:.1f} in all\n\n"
