# SPDX-License-Identifier: Apache-2.0
"""The page of `isthmus bench lock-table`: transactions a second and lock waits over requesters."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from isthmus.report.figures import Figure, Panel, Swatch, Table
from isthmus.report.page import platform_tables, render
from isthmus.results import Document, Measurement
from isthmus.roads.ccix.locks import MODES, measured
from isthmus.roads.ccix.locks_tables import HEADER, LETTERS, STAGES, per_second, row, stages, wait

TITLE = "A lock table that the host and the FPGA share"
QUESTION = (
    "Host and FPGA update the same records under two-phase locking. Where should the lock table be, how many "
    "transactions a second are carried, and how long does either side wait for its locks?"
)
SOURCE = "An Evaluation of Using CCIX for Cache-Coherent Host-FPGA Interfacing, FCCM 2022"
COLOURS = {"host": "c1", "shared": "c3", "hybrid": "c4", "cas": "c2"}


def page(document: Document) -> str:
    """The whole page as text."""
    runs = measured(document)
    best = max(runs, key=per_second)
    w = best.workload["locks"]
    mode = MODES[LETTERS[str(w["mode"])]]
    sentence = (
        f"Most transactions, {per_second(best) / 1e6:.2f} million a second, are carried with "
        f"{w['requesters']} under way in mode {mode.letter}: {mode.what}."
    )
    lines = [
        "Gateware: the FPGA's near-data unit, its agent or cache, packets, and the lock table of b and c. "
        "Models: link, home, memory, the host's requesters, and the lock table of a.",
        "Every run is checked: each transaction read what it reads when all are made one after the other, in "
        "the order of their last locks, and memory is the same in the end.",
        *(f"{one.letter}: {one.what}." for one in MODES.values()),
    ]
    method = "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"
    return render(
        document,
        title=TITLE,
        question=QUESTION,
        answer=f'<p class="headline">{escape(sentence)}</p>',
        drawn=[_figure(runs), _stages(runs)],
        road="ccix",
        source=SOURCE,
        method="\n".join([method, *platform_tables(document)]),
    )


def _stages(runs: list[Measurement]) -> Figure:
    """A table alone: bars of seven numbers of requesters for two sides would say less."""
    return Figure(
        id="lock-stages",
        title="Where a transaction's time goes",
        caption="Mean of either side: aborted attempts and the times between them, the locks of the last "
        "attempt, records and releases.",
        panels=[],
        table=Table(STAGES, [line for m in runs for line in stages(m)]),
        legend=[],
    )


def _figure(runs: list[Measurement]) -> Figure:
    cases = list(dict.fromkeys((m.platform, m.profile, str(m.workload["locks"]["mode"])) for m in runs))
    swatches = [
        Swatch(f"{platform}, {profile}, {LETTERS[mode]}: {mode}", COLOURS[mode], "solid")
        for platform, profile, mode in cases
    ]

    def panel(what: str, words: str, value: Callable[[Measurement], float | None]) -> Panel:
        series = []
        for case, swatch in zip(cases, swatches, strict=True):
            members = [m for m in runs if (m.platform, m.profile, m.workload["locks"]["mode"]) == case]
            data = [[m.workload["locks"]["requesters"], value(m)] for m in members]
            series.append(
                {"type": "line", "name": swatch.name, "colour": swatch.colour, "symbolSize": 7, "data": data}
            )
        option: dict[str, Any] = {
            "xAxis": {"type": "log", "name": "requesters", "nameLocation": "middle"},
            "yAxis": {"type": "value", "name": what, "nameLocation": "middle"},
            "series": series,
        }
        return Panel("", words, option, 300)

    def mean_wait(m: Measurement) -> float | None:
        found = [
            (wait(m, side).get("avg"), m.workload["locks"][side]["transactions"]) for side in ("host", "fpga")
        ]
        known = [(value, count) for value, count in found if value is not None]
        total = sum(count for _, count in known)
        return round(sum(value * count for value, count in known) / total / 1e6, 3) if total else None

    return Figure(
        id="lock-table",
        title="Transactions a second, and how long they wait for locks",
        caption="Over the number of transactions under way; the mean wait of both sides.",
        panels=[
            panel(
                "M transactions/s",
                "Million transactions a second over requesters",
                lambda m: round(per_second(m) / 1e6, 4),
            ),
            panel("mean wait, us", "Mean lock wait in us over requesters", mean_wait),
        ],
        table=Table(HEADER, [row(m) for m in runs]),
        legend=swatches,
    )
