# SPDX-License-Identifier: Apache-2.0
"""`./isthmus compare`: one workload over every road, side by side, with the answer in words."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from isthmus.bench.engine import Runner
    from isthmus.compare.answer import Key
    from isthmus.results import Document, Measurement

__all__ = ["run", "text"]

WIDTH = 100


def run(
    *,
    iterations: int = 90,
    seed: int = 1,
    out: Path = Path("out"),
    rdma: bool = True,
    runner: Runner | None = None,
    model: Path | None = None,
) -> Document:
    """Measure every method over the present roads, print the answer, write page and results.

    iterations  -n, --iters: cycles of each measurement
    seed        --seed
    out         --out: folder of `compare.html`, `compare.json` and `compare.csv`
    rdma        --rdma: writes and messages between hosts as well; --no-rdma: Etherbone alone
    """
    from isthmus.bench import etherbone
    from isthmus.report.page import page
    from isthmus.results import to_csv, to_json
    from isthmus.storage import keep, result_file

    target = result_file(out, "compare")
    document = etherbone.measure(iterations=iterations, seed=seed, out=out, runner=runner, model=model)
    if rdma:
        document = _with_rdma(document, seed, runner, model)
    files = {target: to_json(document), target.with_suffix(".csv"): to_csv(document)}
    keep(files | {target.with_suffix(".html"): page(document)})
    print(text(document), end="")
    print(f"report:  {out / 'compare.html'}\nresults: {out / 'compare.json'}, {out / 'compare.csv'}")
    return document


def _with_rdma(document: Document, seed: int, runner: Runner | None, model: Path | None) -> Document:
    from isthmus.bench import rdma, rdma_published
    from isthmus.results import merged

    given = None if model is None else {rdma.INTERFACE: model, rdma.SWITCH: model}
    points = rdma_published.compared(seed)
    return merged(document, rdma.measure(points, title="measure rdma", runner=runner, given=given))


def text(document: Document) -> str:
    """The table and the answer, as the terminal shows them."""
    from isthmus.compare.answer import answer

    parts = [_table(document)]
    topic = ""
    for sentence in answer(document):
        if sentence.topic != topic:
            topic = sentence.topic
            parts.append(f"\n{topic}\n")
        parts.append(_filled(sentence.text, "  ", "  "))
        parts += [_filled(item, "    ", "      ") for item in sentence.items]
    parts.append("\n")
    if any(m.road == "rdma" for m in document):
        from isthmus.bench.rdma_tables import short

        parts.append(short(document) + "\n")
    return "".join(parts)


def _filled(text: str, first: str, others: str) -> str:
    lines = textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def _in_flight(lines: Mapping[Key, Sequence[Measurement]]) -> str:
    """How the pipelined series came."""
    members = [m for key, line in lines.items() if key[2] == "pipelined" for m in line]
    return ", ".join(sorted({m.arrivals for m in members})) or "not measured"


def _table(document: Document) -> str:
    """Time per timestamp: the platforms, profiles and methods below each other, cycle sizes across."""
    from isthmus.compare.answer import series
    from isthmus.results.table import aligned
    from isthmus.units import digits

    lines = series(document)
    counts = sorted({m.timestamps for members in lines.values() for m in members})
    rows: list[Sequence[str]] = [("#platform", "profile", "method", *map(str, counts))]
    for key, members in sorted(lines.items()):
        cost = {m.timestamps: m.time_per_timestamp for m in members}
        cells = []
        for count in counts:
            found = cost.get(count)
            cells.append("" if found is None else digits(found / 1e6))
        rows.append((*key, *cells))
    return (
        "# time per timestamp (8 bytes) [us], by timestamps in one Etherbone cycle; steady: warm-up and\n"
        f"# drain are left out; convenience and blocking: closed loop; pipelined: {_in_flight(lines)}\n"
        + aligned(rows, left=range(3))
    )
