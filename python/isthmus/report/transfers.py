# SPDX-License-Identifier: Apache-2.0
"""The page of transfers between an FPGA and a host: latency and rate over size, and where the time goes.

A road gives its titles, colours and columns in a `TransferPage`. Its measurements have the keys `operation`,
`bytes`, `window` and `lines` in their workload.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from textwrap import wrap
from typing import Any

from isthmus.report.figures import COLOURS, Figure, Panel, Swatch, Table, one_definition
from isthmus.report.page import platform_tables, render
from isthmus.results import Document, Measurement

OPERATIONS = ("device-read", "device-write", "host-read", "host-write")
LABEL = 20
"""Characters in a line of a bar's label."""


@dataclass(frozen=True)
class TransferPage:
    """The parts of the page that differ between roads.

    link       the link in a sentence's subject: "The link", "A link"
    rate       title and caption of the figure of rates
    colours    colour of a case, by its name; a case that has none, or whose colour another case of the page
               has, gets one that is left
    case       the case of a measurement, a line in a figure: such as its profile
    case_word  what tables call a case
    header     columns of the tables of numbers
    row        the cells of a measurement
    answered   the measurements that the answer is about; all, if not given
    more       sentences below the answer
    also       figures behind the others
    method     sentences on how it was measured
    """

    road: str
    title: str
    question: str
    source: str
    link: str
    rate: tuple[str, str]
    colours: Mapping[str, str]
    case: Callable[[Measurement], str]
    case_word: str
    header: tuple[str, ...]
    row: Callable[[Measurement], Sequence[str]]
    answered: Callable[[Sequence[Measurement]], Sequence[Measurement]] = lambda members: members
    more: Callable[[Document], Sequence[str]] = lambda _: ()
    also: Callable[[Document], Sequence[Figure]] = lambda _: ()
    method: Sequence[str] = ()

    def page(self, document: Document) -> str:
        """The whole page as text."""
        return render(
            document,
            title=self.title,
            question=self.question,
            answer=self._answer(document),
            drawn=self.figures(document),
            road=self.road,
            source=self.source,
            method="\n".join([self._method(document), *platform_tables(document)]),
        )

    def _method(self, document: Document) -> str:
        checked = sum(m.checked.bytes for m in document)
        said = [*self.method, f"Every byte was compared: {checked:,} bytes."]
        return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in said)}</ul>"

    def _answer(self, document: Document) -> str:
        measured = self.answered([m for m in document if m.latency])
        ours = [m for m in measured if m.profile == "isthmus"] or measured
        if not ours:
            return ""
        parts = []
        alone = [m for m in ours if m.workload["window"] == 1]
        for name in OPERATIONS:
            members = [m for m in alone if _operation(m) == name]
            if members:
                least = min(members, key=lambda m: m.workload["bytes"])
                assert least.latency is not None
                parts.append(f"{least.latency.avg / 1e3:.0f} ns ({name} of {least.workload['bytes']} bytes)")
        said = [", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts
        lines = [f"Alone, a transfer takes {' and '.join(said)}."] if parts else []
        for place, members in (
            (f"{self.link} carries", [m for m in ours if _crosses(m)]),
            ("A cache gives", [m for m in ours if not _crosses(m)]),
        ):
            most = max(members, key=_rate, default=None)
            if most is not None and _rate(most):
                what = f"{_operation(most)} of {most.workload['bytes']} bytes"
                lines.append(f"{place} up to {_rate(most) / 1e9:.2f} GB/s ({what}).")
        items = [f"<li>{escape(sentence)}</li>" for sentence in self.more(document)]
        below = f"<ul>{''.join(items)}</ul>" if items else ""
        headline = f'<p class="headline">{escape(" ".join(lines))}</p>' if lines else ""
        return headline + below

    def figures(self, document: Document) -> list[Figure]:
        """Latency of transfers one by one, the rate of many, and the stages of one."""
        return [*replace(self, colours=self._colours(document))._figures(document), *self.also(document)]

    def _colours(self, document: Document) -> dict[str, str]:
        found: dict[str, str] = {}
        for number, case in enumerate(dict.fromkeys(map(self.case, document))):
            left = [colour for colour in COLOURS if colour not in found.values()] or [
                COLOURS[number % len(COLOURS)]
            ]
            wanted = self.colours.get(case, left[0])
            found[case] = wanted if wanted in left else left[0]
        return found

    def _figures(self, document: Document) -> list[Figure]:
        alone = [m for m in document if m.workload["window"] == 1 and m.latency]
        many = [m for m in document if m.workload["window"] not in (1, None)]
        made = []
        for name in OPERATIONS:
            members = [m for m in alone if _operation(m) == name]
            # A round trip and one way are no two heights of one axis.
            definitions = dict.fromkeys(m.definition for m in members)
            for definition in definitions:
                some = [m for m in members if m.definition == definition]
                made.append(self._latency(name, some, definition if len(definitions) > 1 else ""))
        if many:
            made.append(self._rate(many))
        staged = [m for m in alone if m.stages and m.workload["lines"] == 1]
        if staged:
            made.append(self._stages(staged))
        return made

    def _latency(self, name: str, members: Sequence[Measurement], only: str = "") -> Figure:
        """`only`: the definition of latency, where another figure has another one."""
        definition = one_definition(members, "latency")

        def value(m: Measurement) -> float:
            return round(m.latency.avg / 1e3, 2) if m.latency else 0.0

        return Figure(
            id=f"latency-{name}-{only}" if only else f"latency-{name}",
            title=f"Latency of {name}, one transfer at a time" + (f", {definition}" if only else ""),
            caption=f"Mean, {definition}; both axes are logarithmic.",
            panels=[self._panel("latency in ns", members, value, scale="log")],
            table=self._table(members),
            legend=self._legend(members),
        )

    def _rate(self, members: Sequence[Measurement]) -> Figure:
        def value(m: Measurement) -> float:
            return round(m.throughput.payload_bit_s / 8e9, 3) if m.throughput else 0.0

        panels = []
        for name in OPERATIONS:
            some = [m for m in members if _operation(m) == name]
            if some:
                panels.append(self._panel("payload in GB/s", some, value, title=name))
        return Figure(
            id="rate",
            title=self.rate[0],
            caption=self.rate[1],
            panels=panels,
            table=self._table(members),
            legend=self._legend(members),
        )

    def _panel(
        self, axis: str, members: Sequence[Measurement], value: Any, title: str = "", scale: str = "value"
    ) -> Panel:
        series = []
        for case in dict.fromkeys(map(self.case, members)):
            data = sorted([m.workload["bytes"], value(m)] for m in members if self.case(m) == case)
            series.append({
                "type": "line", "name": case, "colour": self.colours[case], "data": data,
                "symbol": "circle", "symbolSize": 7,
            })  # fmt: skip
        sizes = [m.workload["bytes"] for m in members]
        low, high = min(sizes), max(sizes)
        option = {
            "xAxis": {
                "type": "log",
                "logBase": 2,
                "name": "bytes of a transfer",
                "nameLocation": "middle",
                "nameGap": 28,
                "min": low,
                "max": max(high, 2 * low),
                "bytes": True,
            },
            "yAxis": {"type": scale, "name": axis, "nameLocation": "middle", "nameGap": 44},
            "series": series,
        }
        return Panel(title=title, label=f"{axis} over bytes {title}".strip(), option=option)

    def _stages(self, members: Sequence[Measurement]) -> Figure:
        rows = [
            (
                self.case(m),
                _operation(m),
                str(m.workload["bytes"]),
                stage.where,
                stage.name,
                f"{stage.time / 1e3:.2f}",
            )
            for m in members
            for stage in m.stages
        ]
        names = list(dict.fromkeys(stage.name for m in members for stage in m.stages))
        bars = [
            {
                "type": "bar", "stack": "parts", "name": name, "colour": COLOURS[number % len(COLOURS)],
                "barMaxWidth": 34,
                "data": [sum(round(s.time / 1e3, 2) for s in m.stages if s.name == name) for m in members],
            }
            for number, name in enumerate(names)
        ]  # fmt: skip
        option = {
            "xAxis": {"type": "value", "name": "ns", "nameLocation": "middle"},
            "yAxis": {
                "type": "category", "inverse": True,
                "data": ["\n".join(wrap(f"{_operation(m)}, {self.case(m)}", LABEL)) for m in members],
            },
            "series": bars,
        }  # fmt: skip
        label = "Stages of one transfer, stacked; the table below has the numbers"
        return Figure(
            id="stages",
            title="Where the time of one line goes",
            caption="Contiguous stages of one transfer without any other; they add up to its latency.",
            panels=(Panel("", label, option, 90 + 62 * len(members)),),
            table=Table((self.case_word, "operation", "bytes", "where", "stage", "ns"), rows),
            legend=[Swatch(name, COLOURS[number % len(COLOURS)], "box") for number, name in enumerate(names)],
        )

    def _table(self, members: Sequence[Measurement]) -> Table:
        rows = [[self.case(m), _operation(m), *self.row(m)] for m in members]
        return Table((self.case_word, "operation", *self.header), rows)

    def _legend(self, members: Sequence[Measurement]) -> list[Swatch]:
        return [Swatch(name, self.colours[name], "solid") for name in dict.fromkeys(map(self.case, members))]


def _rate(m: Measurement) -> float:
    """Payload in bytes a second."""
    return m.throughput.payload_bit_s / 8 if m.throughput else 0.0


def _crosses(m: Measurement) -> bool:
    """Whether what is transferred goes over the link: not, where the FPGA's cache has it."""
    return bool(m.workload.get("link_bytes_s", math.inf) >= _rate(m) / 2)


def _operation(m: Measurement) -> str:
    return str(m.workload["operation"])
