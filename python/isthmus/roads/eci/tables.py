# SPDX-License-Identifier: Apache-2.0
"""The coherent link's benchmark as text."""

from __future__ import annotations

from isthmus.results import DEFINITIONS, Document, Measurement
from isthmus.results.table import aligned, stages_line
from isthmus.roads.eci import beside, errors, life
from isthmus.roads.eci.bench import HOST_OPERATIONS

HEADER = ("bytes", "in flight", "avg[ns]", "min[ns]", "clocks", "GB/s", "link GB/s", "packing", "bounded by")

LINES = {"device": "of host memory, lines of 128 bytes", "host": "of the FPGA's memory, lines of 128 bytes"}
"""By who asks."""
WORDS = {
    "io": "of registers of the FPGA, words of 8 bytes",
    "ipi": "as an interrupt",
    "barrier": "with nothing but a barrier",
    "pcie-dma": "of host memory by DMA, of addresses that the FPGA has",
    "pcie-ring": "of host memory by DMA, of descriptors in a ring in host memory",
}
BLOCKS = "link: all words; packing: words in blocks"
TLPS = "link: all bytes of TLPs; packing: payload of them"


def operation(m: Measurement) -> str:
    """What the FPGA or the host's program does."""
    return str(m.workload["operation"])


def text(made: Document) -> str:
    """What the terminal shows."""
    parts = []
    moved = life.transfers(made)
    for case in dict.fromkeys(map(_case, moved)):
        members = [m for m in moved if _case(m) == case]
        platform, profile, name, driver, links = case
        what = WORDS.get(driver) or LINES["host" if name in HOST_OPERATIONS else "device"]
        parts.append(
            f"# {platform}, {profile}, {name} {what}, {driver}; {links}\n"
            f"# latency: {DEFINITIONS[members[0].definition]}; GB/s: payload; "
            f"{TLPS if beside.is_pcie(members[0]) else BLOCKS}\n"
        )
        parts.append(aligned([HEADER, *map(row, members)]))
        parts.append(stages_line(members[0]))
        parts.append(_replay(members))
    parts += [f"# {sentence}\n" for sentence in beside.sentences(made)]
    return "".join([*parts, errors.text(made), life.text(made)])


def _case(m: Measurement) -> tuple[str, str, str, str, str]:
    """What is the same in all rows of a table."""
    w = m.workload
    links = f"two links, {w['policy']}" if "policy" in w else "one link"
    if "beside" in w:
        links += f", beside {w['beside']}"
    elif "homes" in w:
        links += ", both ends with memory"
    if "port" in w:
        links += ", through an AXI port"
    if beside.is_pcie(m):
        links = f"PCIe {w['pcie']}"
    if wrong := errors.rate_of(m):
        links += f"; {wrong:g} of blocks bad"
    return m.platform, m.profile, operation(m), str(w.get("driver", "uncached")), links


def row(m: Measurement) -> list[str]:
    """One measurement as a row of the table."""
    from isthmus.results.columns import bounded_by

    w, rate = m.workload, m.throughput
    assert m.latency is not None
    return [
        str(w["bytes"]),
        str(w["window"] or "open"),
        f"{m.latency.avg / 1e3:.1f}",
        f"{m.latency.min / 1e3:.1f}",
        f"{w['fastest_cycles']:.1f}",
        f"{rate.payload_bit_s / 8e9:.3f}" if rate else "",
        f"{w['link_bytes_s'] / 1e9:.3f}",
        f"{100 * w['packing_share']:.1f} %",
        bounded_by(m),
    ]


def _replay(members: list[Measurement]) -> str:
    bad = sum(m.workload["bad_blocks"] for m in members)
    again = sum(m.workload["blocks_again"] for m in members)
    return f"# {bad} bad blocks, {again} blocks sent again\n" if bad else ""
