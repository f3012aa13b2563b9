# SPDX-License-Identifier: Apache-2.0
"""The benchmark as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from isthmus.results import Document, Measurement
from isthmus.results.table import aligned
from isthmus.roads.nanet import chain_tables
from isthmus.units import digits

PARTS = (
    ("udp", "UDP stage to the queue before the DMA"),
    ("wake", "request to the firmware awake"),
    ("work", "firmware"),
    ("write", "address known to the event answered"),
    ("inside", "UDP stage to the event answered"),
    ("after_frame", "last byte on the pins to the event answered"),
    ("to_program", "last byte on the pins to the program"),
    ("to_gpu", "last byte on the pins to the data in the GPU"),
)


def memory(m: Measurement) -> str:
    """Where its datagrams go."""
    return str(m.workload.get("memory", "host"))


def way(m: Measurement) -> str:
    """Profile, and the memory if it is not the host's."""
    return m.profile if memory(m) == "host" else f"{m.profile}, {memory(m)}"


def parts(members: Sequence[Measurement]) -> Sequence[tuple[str, str]]:
    """Those of `PARTS` that one of the measurements has, with their words."""
    return [(name, words) for name, words in PARTS if any(part(m, name, "min") is not None for m in members)]


def text(made: Document) -> str:
    """What the terminal shows."""
    members = [m for m in made if m.workload.get("operation") == "nic-to-memory"]
    chain = chain_tables.text(made)
    sent = [m for m in made if m.workload.get("operation") == "message"]
    if sent:
        return "".join([
            f"# message, one-way in us: from {sent_way(sent)}\n"
            "# to wire: from the same to the first byte of the preamble on the interface's pins, min, max\n"
            "# line: share of what the wire carries, with headers, check sequence, preamble and gap\n",
            aligned(_sent_rows(sent), left=(0, 1)),
        ])  # fmt: skip
    if not members:
        return chain
    out = [
        "# nic-to-memory, one-way in us: from the frame's begin at its source to the event in the program\n"
        "# memory gpu: a GPU's, peer to peer; staged: a GPU's, by a copy; until the data is there too\n"
        "# after frame: from its last byte on the interface's pins to the event in the program, min, max\n"
        "# line: share of what each port's wire carries, with headers, check sequence, preamble and gap\n",
        aligned(_rows(members), left=(0, 1, 2)),
    ]
    shown = [m for m in members if m.workload.get("parts_ps") and m.workload.get("window") == 1]
    if shown:
        out.append(_parts(max(shown, key=lambda m: int(m.workload["bytes"])), shown))
    return "".join([*out, "\n" if chain else "", chain])


def sent_way(members: Sequence[Measurement]) -> str:
    """From where to where what a program sends is measured."""
    if any(m.workload.get("remote") for m in members):
        return "the program that has it to the other host's program that has read it"
    return "the post to the frame's end at the other end of the cable"


def us(ps: float) -> str:
    """Picoseconds as microseconds."""
    return f"{ps / 1e6:.3f}"


def part(m: Measurement, name: str, figure: str) -> float | None:
    """A figure of a part of the way, in ps."""
    found = (m.workload.get("parts_ps") or {}).get(name)
    return None if found is None else float(found[figure])


def rate(m: Measurement) -> float:
    """Megabytes of payload a second."""
    return m.throughput.payload_bit_s / 8e6 if m.throughput else 0.0


def line(m: Measurement) -> float | None:
    """Share of its line rate that each port was busy with the datagrams measured."""
    busy: Mapping[str, float] = m.workload.get("busy") or {}
    return busy.get("wire") if m.throughput else None


def _sent_rows(members: Sequence[Measurement]) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = [
        ("#profile", "arrivals", "bytes", "min", "avg", "max", "to wire", "", "MB/s", "line"),
    ]
    for m in members:
        way, share = m.latency, line(m)
        to_end = ["-"] * 3 if way is None else [us(way.min), us(way.avg), us(way.max)]
        least, most = part(m, "to_wire", "min"), part(m, "to_wire", "max")
        to_wire = ["-"] * 2 if least is None or most is None else [us(least), us(most)]
        carried = ["-"] * 2 if share is None else [digits(rate(m)), f"{100 * share:.1f} %"]
        rows.append((m.profile, m.arrivals, str(m.workload["bytes"]), *to_end, *to_wire, *carried))
    return rows


def _rows(members: Sequence[Measurement]) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = [
        (
            "#profile",
            "memory",
            "arrivals",
            "bytes",
            "ports",
            "min",
            "avg",
            "max",
            "after frame",
            "",
            "MB/s",
            "line",
            "lost",
        ),
    ]
    for m in members:
        w, latency = m.workload, m.latency
        times = ("-",) * 3 if latency is None else (us(latency.min), us(latency.avg), us(latency.max))
        if w.get("saturated"):
            times = ("saturated", "", "")
        ends = (part(m, "to_program", "min"), part(m, "to_program", "max"))
        after = ("-", "-") if None in ends else tuple(us(end) for end in ends if end is not None)
        carried = digits(rate(m)) if m.throughput else "-"
        rows.append(
            (
                m.profile,
                memory(m),
                m.arrivals,
                str(w["bytes"]),
                str(w.get("ports", 1)),
                *times,
                *after,
                carried,
                "-" if (share := line(m)) is None else f"{100 * share:.1f} %",
                str(w.get("lost", 0)),
            )
        )
    return rows


def _parts(largest: Measurement, shown: Sequence[Measurement]) -> str:
    size = largest.workload["bytes"]
    members = [m for m in shown if m.workload["bytes"] == size]
    rows: list[Sequence[str]] = [("#part", *(f"{way(m)} min..max us" for m in members))]
    for name, words in parts(members):
        cells = []
        for m in members:
            low, high = part(m, name, "min"), part(m, name, "max")
            cells.append("-" if low is None or high is None else f"{us(low)}..{us(high)}")
        rows.append((words, *cells))
    return f"\n# parts of the way, {size} bytes, one datagram at a time\n" + aligned(rows, left=(0,))
