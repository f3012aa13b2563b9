# SPDX-License-Identifier: Apache-2.0
"""The benchmark of puts as text."""

from __future__ import annotations

from collections.abc import Sequence

from isthmus.results import Document, Measurement
from isthmus.results.table import aligned
from isthmus.roads.apenet.bench import LINK_CLOCKS, memories
from isthmus.roads.apenet.quantities import reached
from isthmus.units import digits

HEAD = (
    "platform",
    "profile",
    "memory",
    "target",
    "payload",
    "test",
    "in flight",
    "bytes",
    "min[us]",
    "avg[us]",
    "max[us]",
    "MB/s",
    "of the link",
    "of link and bus",
)


def us(ps: float) -> str:
    """Picoseconds as microseconds."""
    return f"{ps / 1e6:.3f}"


def rate(m: Measurement) -> float | None:
    """Megabytes of payload a second."""
    return m.throughput.payload_bit_s / 8e6 if m.throughput else None


def share(m: Measurement) -> float | None:
    """Payload, as a share of what a link carries of such puts that never rests."""
    found = rate(m)
    return None if found is None else found * 1e6 / float(m.workload["link_limit_byte_s"])


def memory(m: Measurement) -> str:
    """Where the data of both programs is."""
    return memories(str(m.workload.get("near", "host")), str(m.workload.get("far", "host")))


def _percent(of: float | None) -> str:
    return "-" if of is None else f"{100 * of:.1f} %"


def row(m: Measurement) -> Sequence[str]:
    """A run as a row of the table."""
    times = ["-"] * 3
    if m.latency is not None:
        times = [us(m.latency.min), us(m.latency.avg), us(m.latency.max)]
    carried, of_link, of_both = rate(m), share(m), reached(m)
    w = m.workload
    return (
        m.platform,
        m.profile,
        memory(m),
        str(w.get("target", "address")),
        str(w.get("payload", "read")),
        str(w["test"]),
        str(w["window"]),
        str(w["bytes"]),
        *times,
        "-" if carried is None else digits(carried),
        _percent(of_link),
        _percent(of_both),
    )


def text(made: Document) -> str:
    """What the terminal shows."""
    members = list(made)
    if not members:
        return ""
    hops = int(members[0].workload["nodes"]) // 2
    out = [
        f"# puts over {hops} link{'s' if hops > 1 else ''} of a ring, in us: from the post to the event in "
        "the far program\n"
        "# ping-pong: half of the time until the far program's put has come back\n"
        "# target list: each put is a message into the next buffer of a circular list; else to an address\n"
        "# get: from the request to the event of the data that came, in one program\n"
        "# memory gpu: of a GPU, peer to peer; staged: of a GPU, by copies to and from the host's; near:far\n"
        "# payload inline: stored together with the post, with memory gpu by a kernel; read: by the node\n"
        "# of the link: payload, of what a link carries of such puts that never rests\n"
        "# of link and bus: the same of what is less, that or what the nodes' PCI Express carries of them\n"
        + _links(members[0]),
        aligned([[f"#{HEAD[0]}", *HEAD[1:]], *(list(row(m)) for m in members)], left=(0, 1, 2, 3, 4, 5)),
    ]
    staged = [m for m in members if m.stages]
    if staged:
        out.append(_stages(staged))
    compared = sum(m.checked.bytes for m in members)
    return "".join([*out, f"# {compared} bytes compared in the far memory\n"])


def _links(m: Measurement) -> str:
    """A line about links that have ends."""
    if m.workload.get("links") != "lanes":
        return ""
    return (
        f"# a link has the gateware of both ends: {LINK_CLOCKS} clocks beside the {m.workload['hop_clocks']} "
        "of its line; of the link is without their framing and credits\n"
    )


def _where(m: Measurement) -> str:
    listed = m.workload.get("target") == "list"
    brought = " inline" if m.workload.get("payload") == "inline" else ""
    return memory(m) + (" list" if listed else "") + brought


def _stages(members: Sequence[Measurement]) -> str:
    size = 4096 if any(m.workload["bytes"] == 4096 for m in members) else members[0].workload["bytes"]
    shown = [m for m in members if m.workload["bytes"] == size]
    names: list[str] = []
    for m in shown:
        at = 0
        for stage in m.stages:
            if stage.name not in names:
                names.insert(at, stage.name)
            at = names.index(stage.name) + 1
    rows = [["#stage", *(f"{m.platform} {m.profile} {_where(m)}" for m in shown)]]
    for name in names:
        found = [next((stage.time for stage in m.stages if stage.name == name), 0) for m in shown]
        rows.append([name, *map(us, found)])
    rows.append(["sum", *(us(sum(stage.time for stage in m.stages)) for m in shown)])
    return f"\n# the way of one put of {size} bytes, in us\n" + aligned(rows, left=(0,))
