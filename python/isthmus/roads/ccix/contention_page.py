# SPDX-License-Identifier: Apache-2.0
"""The page of `isthmus bench ccix-contention`: time and ownership over the number of lines."""

from __future__ import annotations

from html import escape

from isthmus.report.figures import Figure, Panel, Swatch, Table
from isthmus.report.page import platform_tables, render
from isthmus.results import Document, Measurement
from isthmus.roads.ccix.contention import contended, longest_queued, mean, model_mean
from isthmus.roads.ccix.contention_tables import HEADER, row

TITLE = "Lines that the host and the FPGA both write"
QUESTION = (
    "An FPGA and its host store to the same lines of memory at the same time. What does a store cost as the "
    "lines become fewer, how often does a line change sides, and does either side starve?"
)
SOURCE = "An Evaluation of Using CCIX for Cache-Coherent Host-FPGA Interfacing, FCCM 2022"
COLOURS = ("c3", "c1", "c4", "c2", "c5", "c6")


def page(document: Document) -> str:
    """The whole page as text."""
    runs = contended(document)
    worst = max(map(longest_queued, runs))
    few = max(runs, key=mean)
    sentence = (
        f"The longest of all stores waits {worst:.2f} round trips. The mean is at most {mean(few):.0f} ns, "
        f"with {few.workload['contention']['lines']} lines and {few.workload['window']} in flight a side."
    )
    return render(
        document,
        title=TITLE,
        question=QUESTION,
        answer=f'<p class="headline">{escape(sentence)}</p>',
        drawn=[_times(runs)],
        road="ccix",
        source=SOURCE,
        method="\n".join(
            [
                "<ul><li>The FPGA's cache and messages are gateware; the host is a model: a store is at the "
                "home after the time of a write, and a forward takes the line from the FPGA.</li></ul>",
                *platform_tables(document),
            ]
        ),
    )


def _times(runs: list[Measurement]) -> Figure:
    cases = list(dict.fromkeys((m.platform, m.profile, int(m.workload["window"])) for m in runs))
    series, swatches = [], []
    for number, case in enumerate(cases):
        members = [m for m in runs if (m.platform, m.profile, m.workload["window"]) == case]
        name = f"{case[0]}, {case[1]}, {case[2]} in flight"
        for what, value, colour in (
            ("simulated", mean, COLOURS[2 * number % 6]),
            ("model", model_mean, COLOURS[(2 * number + 1) % 6]),
        ):
            data = [[m.workload["contention"]["lines"], round(value(m), 2)] for m in members]
            label = f"{name}, {what}"
            series.append({"type": "line", "name": label, "colour": colour, "symbolSize": 7, "data": data})
            swatches.append(Swatch(label, colour, "solid"))
    option = {
        "xAxis": {"type": "log", "name": "lines", "nameLocation": "middle"},
        "yAxis": {"type": "value", "name": "ns", "nameLocation": "middle"},
        "series": series,
    }
    return Figure(
        id="contention",
        title="A store's time over the number of lines",
        caption="Mean of both sides, and what the analytic model says from four times measured alone.",
        panels=[Panel("", "Mean time of a store in ns over the number of lines", option)],
        table=Table(HEADER, [row(m) for m in runs]),
        legend=swatches,
    )
