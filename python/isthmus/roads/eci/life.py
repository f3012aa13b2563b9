# SPDX-License-Identifier: Apache-2.0
"""One line's life: both ends use it in turn. States at both ends and every message, as tracers saw them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from isthmus.report.figures import Figure, Panel, Swatch, Table
from isthmus.results import Document, Measurement
from isthmus.results.table import aligned

HEADER = ("step", "end", "does", "ns", "cache", "home", "directory", "messages, each with its circuit and ns")
COLUMNS = ("line", "step", "end", "does", "message", "from", "circuit", "link", "id", "sent[ns]", "ns")
ENDS = {"host": "host", "fpga": "FPGA"}
MESSAGES = {"fpga": "c1", "host": "c2"}
STATES = {"S": "c3", "E": "c4", "M": "c5", "O": "c6"}
"""Colours; a line that is in state I has no bar."""
STEPS_A_PANEL = 5
GAP_US = 0.03
"""Between steps on the axis."""
ROW_PX = 34

Life = Mapping[str, Any]


def of(m: Measurement) -> Sequence[Life]:
    """The lives of a measurement; none of one of transfers."""
    found: Sequence[Life] = m.workload.get("life", ())
    return found


def transfers(document: Sequence[Measurement] | Document) -> list[Measurement]:
    """The measurements of transfers."""
    return [m for m in document if not of(m)]


def _ns(m: Measurement, clocks: float) -> float:
    return clocks * float(m.workload["clock_ps"]) / 1e3


def _steps(m: Measurement, life: Life) -> Iterator[tuple[int, Mapping[str, Any], list[str]]]:
    """Each step with its number, as a row of text."""
    for number, step in enumerate(life["steps"], 1):
        sent = [
            f"{one['name']}{' dirty' if one['dirty'] else ''} to {ENDS[_other(one['from'])]} "
            f"{one['circuit']} {_ns(m, one['received'] - one['sent']):.0f}"
            for one in step["messages"]
        ]
        ns = _ns(m, step["end_clocks"] - step["begin_clocks"])
        states = [step["cache"], step["home"], step["directory"]]
        yield number, step, [
            str(number), ENDS[step["end"]], step["does"], f"{ns:.1f}", *states, ", ".join(sent)
        ]  # fmt: skip


def _other(end: str) -> str:
    return "host" if end == "fpga" else "fpga"


def _title(m: Measurement) -> str:
    links = f"two links, {m.id.split('life-2-')[1].split('-')[0]}" if m.workload["links"] > 1 else "one link"
    life = of(m)[0]
    cache, home = ENDS[life["cache_end"]], ENDS[_other(life["cache_end"])]
    return f"line {life['line']:#x} of the {home}'s memory, the {cache} has the cache; {links}"


def text(document: Document) -> str:
    """A table of the first line's life for each measurement; empty without any."""
    parts = []
    for m in document:
        if lives := of(m):
            count = sum(len(step["messages"]) for life in lives for step in life["steps"])
            parts.append(
                f"# {m.platform}, {m.profile}, one line's life: {_title(m)}\n"
                f"# states after each step; {len(lives)} lines, {count} messages, each sent and received "
                f"once, none lost by a tracer; {m.workload['bad_blocks']} bad blocks\n"
            )
            parts.append(aligned([HEADER, *(row for _, _, row in _steps(m, lives[0]))]))
    return "".join(parts)


def sentences(document: Document) -> list[str]:
    """What the page says first of each measurement's lives."""
    made = []
    for m in document:
        if lives := of(m):
            steps = [step for life in lives for step in life["steps"]]
            count = sum(len(step["messages"]) for step in steps)
            made.append(
                f"{_title(m)[:1].upper()}{_title(m)[1:]}: {len(steps)} steps by both ends in turn, {count} "
                "messages, each recorded once where it was sent and once where it came."
            )
    return made


def figures(document: Document) -> list[Figure]:
    """The timeline of the first line's life for each measurement."""
    return [_figure(m, number) for number, m in enumerate(m for m in document if of(m))]


def _figure(m: Measurement, number: int) -> Figure:
    life = of(m)[0]
    home, cache = _other(life["cache_end"]), life["cache_end"]
    circuits = sorted({one["circuit"] for step in life["steps"] for one in step["messages"]})
    rows = [f"{ENDS[home]}: copy", f"{ENDS[home]}: directory", *(f"VC {one}" for one in circuits)]
    rows.append(f"{ENDS[cache]}: cache")
    steps = life["steps"]
    panels = []
    for first in range(0, len(steps), STEPS_A_PANEL):
        before = steps[first - 1] if first else {"cache": "I", "home": "I", "directory": "I"}
        some = steps[first : first + STEPS_A_PANEL]
        series, end = _series(m, before, some, first, rows, circuits, home, cache)
        said = ", ".join(f"{ENDS[step['end']]} {step['does']}s" for step in some)
        option = {
            "xAxis": {"type": "value", "name": "us; time between steps is left out", "nameLocation": "middle",
                      "min": 0, "max": end},
            "yAxis": {
                "type": "value", "inverse": True, "min": -1, "max": len(rows), "interval": 1,
                "names": {str(row): name for row, name in enumerate(rows)},
            },
            "series": series,
        }  # fmt: skip
        title = f"Steps {first + 1} to {first + len(some)}: {said}"
        panels.append(
            Panel(title, f"Timeline: {title}; the table has the times", option, 70 + ROW_PX * len(rows))
        )
    table = [
        [
            f"{one['line']:#x}", str(at), ENDS[step["end"]], step["does"], message["name"],
            ENDS[message["from"]], str(message["circuit"]), str(message["link"]), str(message["id"]),
            f"{_ns(m, message['sent'] - step['begin_clocks']):.1f}",
            f"{_ns(m, message['received'] - message['sent']):.1f}",
        ]
        for one in of(m)
        for at, step in enumerate(one["steps"], 1)
        for message in step["messages"]
    ]  # fmt: skip
    return Figure(
        id=f"life-{number}",
        title="One line's life",
        caption=f"{_title(m)[:1].upper()}{_title(m)[1:]}. Both ends load and store it in turn. A bar on a "
        "virtual circuit (VC) is a message from its first word at the sender to its first word at the "
        "receiver's agent, as the tracers in both devices have recorded it. Rows of an end are the line's "
        "state there, read from the device after each step: no bar is state I, and between the messages of "
        "a step that changes it, it is on its way.",
        panels=panels,
        table=Table(COLUMNS, table),
        legend=[
            Swatch("message of the FPGA", MESSAGES["fpga"], "box"),
            Swatch("message of the host", MESSAGES["host"], "box"),
            *(Swatch(state, colour, "box") for state, colour in STATES.items()),
        ],
    )


def _series(
    m: Measurement,
    before: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    first: int,
    rows: Sequence[str],
    circuits: Sequence[int],
    home: str,
    cache: str,
) -> tuple[list[dict[str, Any]], float]:
    made: list[dict[str, Any]] = []
    at = 0.0
    # Of each row of states: which it is, and since when.
    tracked = {"home": (0, home), "directory": (1, home), "cache": (len(rows) - 1, cache)}
    since = {name: (str(before[name]), 0.0) for name in tracked}

    def bar(name: str, colour: str, row: int, begin: float, end: float) -> None:
        made.append(
            {
                "type": "line", "name": name, "colour": colour, "symbol": "none", "bar": True,
                "data": [[round(begin, 4), row], [round(end, 4), row]],
                "lineStyle": {"width": 13, "cap": "butt"},
            }
        )  # fmt: skip

    for number, step in enumerate(steps, first + 1):
        begin = step["begin_clocks"]

        def x(clocks: float, begin: float = begin, at: float = at) -> float:
            return at + _ns(m, clocks - begin) / 1e3

        ticks: dict[str, list[float]] = {home: [], cache: []}
        for one in step["messages"]:
            sent, received = one["sent"], one["received"]
            ticks[one["from"]].append(sent)
            ticks[_other(one["from"])].append(received)
            what = f"step {number}: {one['name']}{', dirty' if one['dirty'] else ''} to the "
            row = 2 + circuits.index(one["circuit"])
            bar(what + ENDS[_other(one["from"])], MESSAGES[one["from"]], row, x(sent), x(received))
        for name, (row, end) in tracked.items():
            state, begun = since[name]
            new = str(step[name])
            if new == state:
                continue
            until, then = min(ticks[end], default=step["end_clocks"]), max(ticks[end], default=None)
            if state in STATES:
                bar(f"{rows[row]} {state}", STATES[state], row, begun, x(until))
            since[name] = (new, x(until if then is None else then))
        at = x(max([step["end_clocks"], *ticks[home], *ticks[cache]])) + GAP_US
    for name, (row, _) in tracked.items():
        state, begun = since[name]
        if state in STATES:
            bar(f"{rows[row]} {state}", STATES[state], row, begun, at)
    return made, round(at, 3)
