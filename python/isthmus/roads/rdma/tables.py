# SPDX-License-Identifier: Apache-2.0
"""The RDMA benchmarks as text, in perftest's columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

from isthmus.results import DEFINITIONS, Document, Measurement, ResultError
from isthmus.results.model import percentile_name
from isthmus.results.table import aligned, shown_percentiles
from isthmus.units import percent

COMPONENTS = (
    "send_initiation",
    "send_dma",
    "send_nic",
    "switch",
    "propagation",
    "rcv_nic",
    "rcv_dma",
)
"""What the document's Figure 9 divides one transfer into, in the order in which they follow."""
PHASES = ("compute", "post", "network", "wait")
MIB = float(1 << 20)
DESCRIPTOR_BYTES = 4096
NO_PEAK = "-"


def rate(m: Measurement) -> float | None:
    """Payload in bytes a second."""
    return m.throughput.payload_bit_s / 8 if m.throughput else None


def per_descriptor(m: Measurement) -> float | None:
    """The mean of a transfer's cost to its sender, by its descriptors, in picoseconds."""
    if m.latency is None or m.definition != "per_transfer":
        return None
    return m.latency.avg / ceil(int(m.workload["size_bytes"]) / DESCRIPTOR_BYTES)


def components(m: Measurement) -> Mapping[str, int] | None:
    """Figure 9's parts of one transfer and their `total`, in picoseconds; None where it has none.
    Raises `ResultError` where they do not add up."""
    found: Mapping[str, int] | None = m.workload.get("components_ps") or None
    if found is not None and sum(found.get(name, 0) for name in COMPONENTS) != found["total"]:
        raise ResultError(f"{m.id}: the parts of one transfer do not add up to its {found['total']} ps")
    return found


def posting(m: Measurement) -> str:
    """When the program checks for queue space; empty for messages and latencies, which have one way."""
    found = m.workload.get("posting")
    if m.method not in ("write-bw", "one-way") or not found:
        return ""
    return next(iter(found)) if isinstance(found, dict) else str(found)


OPERATIONS = {"send-lat": "message", "write-lat-inline": "inline write"}


def _us(ps: float | None, decimals: int = 2) -> str:
    return "" if ps is None else f"{ps / 1e6:.{decimals}f}"


def text(made: Document, *, gbits: bool = False, histogram: bool = False, unsorted: bool = False) -> str:
    """What the terminal shows; `unsorted`: each sample, where the measurement has them."""
    found = {item["id"]: item for item in made.raw["results"]}
    parts = []
    groups: dict[str, list[Measurement]] = {}
    for m in (m for m in made if m.road == "rdma"):
        groups.setdefault(_group(m), []).append(m)
    for head, members in groups.items():
        parts.append(head)
        if members[0].definition == "half_round_trip":
            parts.append(_latency_table(members, "program to program"))
        elif members[0].definition == "whole_call":
            parts.append(_latency_table(members, "of each host"))
            parts.append(_rate_table(members, gbits))
        elif members[0].definition == "one_way":
            parts.append(_latency_table(members, "from a transfer's due time to its arrival"))
            parts.append(_rate_table(members, gbits))
            parts += [_missing(m) for m in members]
        else:
            parts.append(_rate_table(members, gbits))
            parts.append(_transfer_table(members))
        parts += [_breakdown(m) for m in members]
        parts += [_packets(m) for m in members]
        parts += [_phases(m) for m in members]
        if histogram:
            parts += [_histogram(m, found[m.id].get("histogram")) for m in members]
        if unsorted:
            parts += [_unsorted(m, found[m.id].get("samples") or ()) for m in members]
        parts.append("\n")
    return "".join(parts)


def _group(m: Measurement) -> str:
    w = m.workload
    how = [
        f"{w['hosts']} hosts",
        f"{w['links']} link{'s' if w['links'] != 1 else ''} each",
        *([posting(m)] if posting(m) else []),
        "write-combining" if w["combined"] else "words of 4 bytes",
        *(["both ways"] if w["both_ways"] else []),
        *([f"lists of {w['post_list']}"] if w["post_list"] > 1 else []),
        *([] if w["notify"] else ["the receiver polls its memory"]),
    ]
    return f"# {m.method} / {m.platform} / {m.profile}: {', '.join(how)}, seed {m.seed}\n"


def _latency_table(members: Sequence[Measurement], whose: str) -> str:
    percentiles, blanks = shown_percentiles((m.latency for m in members if m.latency), ("p99", "p99.9"))
    rows: list[Sequence[str]] = [
        (
            "#bytes", "#iterations", "t_min[usec]", "t_max[usec]", "t_typical[usec]", "t_avg[usec]",
            "t_stdev[usec]", *(f"{percentile_name(key)}[usec]" for key in percentiles),
        )
    ]  # fmt: skip
    for m in members:
        t = m.latency
        if t is None:
            continue
        shown = [t.min, t.max, t.typical, t.avg, t.stdev, *(t.percentiles[key] for key in percentiles)]
        rows.append((str(m.workload["size_bytes"]), str(m.iterations), *(_us(value) for value in shown)))
    kind = DEFINITIONS[members[0].definition]
    return f"# {kind}, {whose}\n{aligned(rows)}{blanks}"


def _rate_table(members: Sequence[Measurement], gbits: bool) -> str:
    unit, scale = ("Gb/sec", 8e-9) if gbits else ("MiB/sec", 1 / MIB)
    rows: list[Sequence[str]] = [
        ("#bytes", "#iterations", f"BW peak[{unit}]", f"BW average[{unit}]", "MsgRate[Mpps]")
    ]
    for m in members:
        moved, messages = rate(m), m.workload.get("messages_per_s")
        rows.append(
            (
                str(m.workload["size_bytes"]),
                str(m.workload["iterations"]),
                NO_PEAK,
                "" if moved is None else f"{moved * scale:.2f}",
                "" if messages is None else f"{messages / 1e6:.6f}",
            )
        )
    shares = [m.workload["link_share"] for m in members if m.workload.get("link_share") is not None]
    used = f"; the average is at most {percent(max(shares))} of what the links carry" if shares else ""
    return f"# the peak of a part of the run is not measured{used}\n{aligned(rows)}"


def _transfer_table(members: Sequence[Measurement]) -> str:
    """What one of a row of transfers costs its sender: the document's Figure 8."""
    rows: list[Sequence[str]] = [
        ("#bytes", "t_min[usec]", "t_max[usec]", "t_typical[usec]", "t_avg[usec]", "by descriptors[usec]")
    ]
    for m in members:
        t = m.latency
        if t is None or m.definition != "per_transfer":
            continue
        by = per_descriptor(m) if not m.method.startswith("send") else None
        size = str(m.workload["size_bytes"])
        rows.append((size, _us(t.min), _us(t.max), _us(t.typical), _us(t.avg), _us(by)))
    if len(rows) == 1:
        return ""
    return f"# {DEFINITIONS['per_transfer']}, as its sender sees it\n{aligned(rows)}"


def _breakdown(m: Measurement) -> str:
    found = components(m)
    if not found:
        return ""
    total = found["total"]
    shares = ", ".join(
        f"{name} {found[name] / 1e3:.0f} ({percent(found[name] / total)})"
        for name in COMPONENTS
        if name in found
    )
    text = f"# {m.workload['size_bytes']} bytes, memory to memory, ns: {shares}; {total / 1e3:.0f} in all\n"
    if len(m.workload.get("packets") or []) < 2:
        return text
    # What bounds it comes first. The parts divide the time as the document's Figure 9 does: packets that wait
    # for a link count where they wait.
    busy = f"# {m.workload['size_bytes']} bytes, of the whole transfer's time it is on {bounds(m)[1]}\n"
    return f"{busy}{text}"


def _packets(m: Measurement) -> str:
    """One transfer of several packets: when each was where."""
    packets = m.workload.get("packets") or []
    if len(packets) < 2:
        return ""
    names = list(dict.fromkeys(step["name"] for packet in packets for step in packet["steps"]))
    rows: list[Sequence[str]] = [("#packet", "link", "bytes", *(name.replace(" ", "_") for name in names))]
    for packet in packets:
        spans = {step["name"]: f"{_us(step['begin_ps'])}-{_us(step['end_ps'])}" for step in packet["steps"]}
        head = (str(packet[key]) for key in ("number", "link", "bytes"))
        rows.append((*head, *(spans.get(name, "") for name in names)))
    size = m.workload["size_bytes"]
    return (
        f"# one transfer of {size} bytes, from the program's call, us: when each packet was where\n"
        + aligned(rows)
    )


def _phases(m: Measurement) -> str:
    found = m.workload.get("phases_ps")
    if not found:
        return ""
    shares = ", ".join(f"{name} {_us(found[name])}" for name in PHASES if name in found)
    return f"# {m.workload['size_bytes']} bytes, slowest host, all calls together, us: {shares}\n"


def _missing(m: Measurement) -> str:
    came, sent = m.iterations if m.latency else 0, m.workload["iterations"]
    if came == sent:
        return ""
    return f"# {sent - came} of {sent} transfers did not arrive, and their senders were notified\n"


def _histogram(m: Measurement, found: Mapping[str, Any] | None) -> str:
    """perftest's -H: how many samples lie at or below each value; buckets of three digits."""
    if not found:
        return ""
    total = sum(count for _, count in found["buckets"])
    rows: list[Sequence[str]] = [("#usec", "samples", "cumulative")]
    below = 0
    for value, count in found["buckets"]:
        below += count
        rows.append((f"{value / 1e6:.3f}", str(count), f"{100 * below / total:.2f} %"))
    return f"# distribution, {m.workload['size_bytes']} bytes, {total} samples\n{aligned(rows)}"


def _unsorted(m: Measurement, found: Sequence[Mapping[str, Any]]) -> str:
    """perftest's -U: each sample, in the order they were taken."""
    rows: list[Sequence[str]] = [("#host", "#", "usec")]
    for taken in found:
        rows += [(str(taken["host"]), str(n), f"{ps / 1e6:.3f}") for n, ps in enumerate(taken["ps"], 1)]
    return f"# each sample, {m.workload['size_bytes']} bytes, in the order they were taken\n{aligned(rows)}"


def steps(packet: Mapping[str, Any]) -> Mapping[str, tuple[float, float]]:
    """Begin and end of each step of a packet in microseconds, from the program's call on."""
    return {one["name"]: (one["begin_ps"] / 1e6, one["end_ps"] / 1e6) for one in packet["steps"]}


def bounds(m: Measurement) -> tuple[float, str]:
    """Microseconds of one transfer, and the share of them in which each thing that its packets share was busy
    with it, the longest first: that one bounds it."""
    packets = [(packet["link"], steps(packet)) for packet in m.workload["packets"]]
    end = max(found["write"][1] for _, found in packets)
    begin = min(found[next(iter(found))][0] for _, found in packets)
    things = {
        "the sender's bus": [found["bus read"] for _, found in packets if "bus read" in found],
        "the receiver's bus": [found["write"] for _, found in packets],
    }
    links = sorted({link for link, _ in packets})
    busiest = max(
        ([found["link to the switch"] for at, found in packets if at == link] for link in links), key=covered
    )
    things["the busiest link" if len(links) > 1 else "the link"] = busiest
    shares = sorted(((covered(spans), name) for name, spans in things.items()), reverse=True)
    moves = ", ".join(f"{name} {percent(time / (end - begin))}" for time, name in shares)
    return end - begin, moves


def covered(spans: Sequence[tuple[float, float]]) -> float:
    """The length of the union of spans."""
    total, reached = 0.0, float("-inf")
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def crossover(
    members: Iterable[Measurement], above: str, below: str, value: Callable[[Measurement], float | None]
) -> float | None:
    """The size in bytes at which method `above` stops being the dearer: between two measured sizes by a
    straight line; None where they do not cross."""
    for (low, before), (high, after) in pairwise(differences(members, above, below, value)):
        if before > 0 >= after:
            return low + (high - low) * before / (before - after)
    return None


def differences(
    members: Iterable[Measurement], above: str, below: str, value: Callable[[Measurement], float | None]
) -> list[tuple[int, float]]:
    """At each size in bytes that both methods have, by how much `above` is the dearer."""
    found: dict[str, dict[int, float]] = {above: {}, below: {}}
    for m in members:
        cost = value(m)
        if m.method in found and cost is not None:
            found[m.method][int(m.workload["size_bytes"])] = cost
    sizes = sorted(set(found[above]) & set(found[below]))
    return [(size, found[above][size] - found[below][size]) for size in sizes]


def injection(m: Measurement) -> float | None:
    """From the sender's first request for its bus to its last byte in the interface, in picoseconds."""
    found = m.workload.get("injection_ps")
    return None if found is None else float(found)


def total(m: Measurement) -> float | None:
    """Memory to memory, in picoseconds."""
    found = components(m)
    return None if found is None else float(found["total"])
