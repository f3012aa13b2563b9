# SPDX-License-Identifier: Apache-2.0
"""The page of the switch benchmark: the prototype's Figure 6 drawn again, with what its text says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from isthmus.report.figures import (
    BEYOND_NOTE,
    TAIL,
    Figure,
    Panel,
    Swatch,
    Table,
    decades,
    one_definition,
    percentile_cell,
)
from isthmus.report.page import platform_tables, render
from isthmus.results import DEFINITIONS, Document, Measurement
from isthmus.results.model import percentile_name
from isthmus.roads.switch.tables import as_share, is_backlog, line_share, process, queueing_us, verdict
from isthmus.units import digits

TITLE = "A buffered-crossbar switch: delay against load"
QUESTION = (
    "Network interfaces with a queue for each output send packets of many sizes through a buffered-crossbar "
    "switch. How long does a packet take, how much can the lines carry, and how far is that from a switch "
    "that queues nowhere but at its outputs?"
)
SOURCE = (
    "Prototyping Efficient Interprocessor Communication Mechanisms, V. Papaefstathiou et al., FORTH-ICS, 2007"
)
ENGINES: Mapping[str, tuple[str, str]] = {
    "rtl": ("gateware", "c1"),
    "reference": ("our word-accurate model", "c2"),
    "ideal": ("ideal output queueing", "c3"),
}
PUBLISHED_COLOUR = "c4"


def page(document: Document) -> str:
    """The whole page as text. It needs no network and no other file."""
    return render(
        document,
        title=TITLE,
        question=QUESTION,
        answer=_answer(document),
        drawn=figures(document),
        road="switch",
        source=SOURCE,
        method=_method(document),
    )


def figures(document: Document) -> list[Figure]:
    """Delay against load, and the throughput; one panel for each switch and traffic."""
    timed = [m for m in document if m.latency is not None and not is_backlog(m)]
    made = []
    if timed:
        one_definition(timed, "delay")
    loaded = [m for m in timed if m.workload["load"] is not None]
    if loaded:
        made.append(delay(loaded))
        made.append(_beyond(loaded))
    traced = [m for m in timed if m.workload["load"] is None]
    if traced:
        made.append(_traced(traced))
    full = [m for m in document if is_backlog(m)]
    if full:
        made.append(_full(full))
    return made


def shown(document: Document) -> list[Figure]:
    """Delay against load alone, for the page of a network with switches."""
    loaded = [m for m in document if m.road == "switch" and m.latency is not None and m.workload["load"]]
    return [delay(loaded)] if loaded else []


def _traffic(m: Measurement) -> str:
    w = m.workload
    low, high = w["sizes_bytes"]
    size = f"{low}" if low == high else f"{low} to {high}"
    arrivals = "" if is_backlog(m) or w["pattern"] == "trace" else f", {process(m)}"
    return f"{w['ports']}x{w['ports']}, {w['pattern']}, {size} bytes{arrivals}, profile {m.profile}"


def _panels(members: Sequence[Measurement]) -> Mapping[str, list[Measurement]]:
    panels: dict[str, list[Measurement]] = {}
    for m in members:
        panels.setdefault(_traffic(m), []).append(m)
    return panels


def _axis(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "value", "name": name, "nameLocation": "middle", **more}


def _line(name: str, colour: str, data: Sequence[Any], dashed: bool = False, **more: Any) -> dict[str, Any]:
    style = {"type": "dashed" if dashed else "solid"}
    return {
        "type": "line", "name": name, "colour": colour, "data": data, "lineStyle": style,
        "symbol": "circle", "symbolSize": 7, **more,
    }  # fmt: skip


def _curves(members: Sequence[Measurement], value: Any) -> list[dict[str, Any]]:
    drawn = []
    for kind, (name, colour) in ENGINES.items():
        data = [
            [round(m.workload["payload_load"], 4), value(m)]
            for m in members
            if m.method == kind and not m.workload["saturated"]
        ]
        if data:
            drawn.append(_line(name, colour, sorted(data), dashed=kind != "rtl"))
    return drawn


def _published(scale: Mapping[str, float], lightest: float) -> list[dict[str, Any]]:
    """The document's statements about its figure: a point, an upper limit, a line."""
    from isthmus.verify import published

    said = {line["id"]: float(line["value"]) for line in published("switch")}
    limit = said["forth.net.max_load"] / 100
    points = [[lightest, said["forth.net.light"]], [0.8, said["forth.net.load80"]]]
    diamond = {"symbol": "diamond", "symbolSize": 11, "lineStyle": {"width": 0}}
    colour = PUBLISHED_COLOUR
    return [
        {"type": "line", "name": "published: light load; below, at 80 %", "colour": colour, "data": points}
        | diamond,
        _line(
            "published: max load",
            colour,
            [[limit, scale["min"]], [limit, scale["max"]]],
            dashed=True,
            symbol="none",
        ),
    ]


def delay(timed: Sequence[Measurement]) -> Figure:
    """Delay against load: a panel for each switch and traffic."""
    panels = []
    for title, members in _panels(timed).items():
        drawn = _curves(members, lambda m: m.latency.avg / 1e6)
        scale = decades([1.0, 10.0, *(value for one in drawn for _, value in one["data"])])
        lightest = min(m.workload["payload_load"] for m in members)
        label = f"Mean delay against load, {title}, a line for each switch; the table below has the numbers"
        option = {
            "xAxis": _axis("load: data words a clock and input", min=0, max=1),
            # From a fraction of a microsecond to what saturation makes of it.
            "yAxis": _axis("mean delay [us]") | {"type": "log", **scale},
            "series": drawn + _published(scale, lightest),
        }
        panels.append(Panel(title, label, option, 420))
    definition = DEFINITIONS[timed[0].definition]
    columns = ["traffic", "switch", "load", "payload load", "mean [us]", "stdev [us]"]
    columns += [*(f"{percentile_name(key)} [us]" for key in TAIL), "max [us]", "packets", "verdict"]
    return Figure(
        "delay",
        "Delay against load: Figure 6 drawn again",
        f"Mean delay of a packet, {definition}: from its making in the source to its first word at the "
        "sink's transceiver. Solid: gateware; dashed: models. Points beyond saturation have no steady delay "
        "and are left out.",
        panels,
        Table(columns, [_row(m) for m in timed]),
        [
            *(
                Swatch(name, colour, "solid" if kind == "rtl" else "dashed")
                for kind, (name, colour) in ENGINES.items()
                if any(m.method == kind for m in timed)
            ),
            Swatch(
                "published: 1.25 us at light load, below 3 us at 80 %, max load 96 % (4x4)", "c4", "diamond"
            ),
        ],
        (
            "The published 1.25 us at light load have the prototype's own network interface in them, of "
            "which ours here is a model of a few clocks.",
            BEYOND_NOTE,
        ),
    )


def _traced(traced: Sequence[Measurement]) -> Figure:
    """Results of a trace's packets: a row for each switch."""
    columns = ["traffic", "switch", "mean [us]", *(f"{percentile_name(key)} [us]" for key in TAIL)]
    columns += ["max [us]", "packets", "carried [%]"]
    rows = []
    for m in traced:
        assert m.latency is not None
        rows.append(
            [
                _traffic(m),
                ENGINES[m.method][0],
                f"{m.latency.avg / 1e6:.3f}",
                *(percentile_cell(m.latency, key, 3) for key in TAIL),
                f"{m.latency.max / 1e6:.3f}",
                str(m.iterations),
                f"{100 * m.workload['payload_share']:.2f}",
            ]
        )
    return Figure(
        "trace",
        "A trace's packets",
        f"Delay of all packets of a trace, {DEFINITIONS[traced[0].definition]}. Carried: data words out of "
        "the switch, a share of all words from the making of the first packet to the end of the last.",
        (),
        Table(columns, rows),
        (),
    )


def _row(m: Measurement) -> Sequence[str]:
    assert m.latency is not None
    w, delay = m.workload, m.latency
    return [
        _traffic(m),
        ENGINES[m.method][0],
        as_share(w["load"]),
        as_share(w["payload_load"]),
        f"{delay.avg / 1e6:.3f}",
        f"{delay.stdev / 1e6:.3f}",
        *(percentile_cell(delay, key, 3) for key in TAIL),
        f"{delay.max / 1e6:.3f}",
        str(m.iterations),
        verdict(m),
    ]


def _beyond(timed: Sequence[Measurement]) -> Figure:
    """The delay over that of ideal output queueing, load by load."""
    panels, rows = [], []
    for title, members in _panels(timed).items():
        best = {m.workload["load"]: m for m in members if m.method == "ideal"}

        def ratio(m: Measurement, best: Mapping[float, Measurement] = best) -> float | None:
            other = best.get(m.workload["load"])
            if other is None or other.latency is None or m.latency is None:
                return None
            return round(m.latency.avg / other.latency.avg, 4)

        shown = [m for m in members if m.method != "ideal" and ratio(m) is not None]
        if not shown:
            continue
        option = {
            "xAxis": _axis("load: data words a clock and input", min=0, max=1),
            "yAxis": _axis("mean delay over the ideal", min=0.9, scale=True),
            "series": _curves(shown, ratio),
        }
        label = f"Mean delay over that of ideal output queueing, {title}; the table below has the numbers"
        panels.append(Panel(title, label, option, 300))
        for m in shown:
            queue, other = queueing_us(m), queueing_us(best[m.workload["load"]])
            queued = "" if not other or queue is None else f"{queue / other:.3f}"
            load = f"{m.workload['load']:.3f}"
            rows.append([title, ENGINES[m.method][0], load, f"{ratio(m):.3f}", queued])
    return Figure(
        "beyond",
        "How far from ideal",
        "Mean delay over that of a switch whose outputs take any number of packets at once, under the same "
        "packets. In the table also of the waiting alone: the mean beyond the fastest packet.",
        panels,
        Table(["traffic", "switch", "load", "delay over ideal", "waiting over ideal"], rows),
        [Swatch(*ENGINES["rtl"], "solid"), Swatch(*ENGINES["reference"], "dashed")],
    )


def _full(full: Sequence[Measurement]) -> Figure:
    rows = []
    for m in full:
        shares, flows = m.workload["wire_shares"], m.workload["flows"]
        rows.append(
            [
                _traffic(m),
                ENGINES[m.method][0],
                *(f"{100 * shares[kind]:.2f}" for kind in ("data", "framing", "credit", "idle")),
                f"{flows['least_words'] / flows['most_words']:.4f}",
                f"{flows['jain']:.5f}",
            ]
        )
    columns = ["traffic", "switch", "data [%]", "framing [%]", "credits [%]", "idle [%]"]
    columns += ["least flow over most", "Jain"]
    return Figure(
        "saturation",
        "Saturation",
        "Sources that always have packets waiting: what the words out of the switch are.",
        (),
        Table(columns, rows),
        (),
    )


def _answer(document: Document) -> str:
    sentences = []
    full = [m for m in document if is_backlog(m) and m.workload["pattern"] != "single"]
    for title, members in _panels(full).items():
        found = next((m for m in members if m.method == "rtl"), members[0])
        share = line_share(found)
        if share is not None:
            sentences.append(
                f"Under saturation {digits(100 * share, 4)} % of the words out of the switch are packets and "
                f"their credits, {digits(100 * found.workload['payload_share'], 4)} % are data ({title})."
            )
    traced = [m for m in document if m.workload["pattern"] == "trace" and m.latency is not None]
    shown = [m for m in traced if m.method == "rtl"] or traced
    sentences += [
        f"{m.iterations} packets of a trace take {digits(m.latency.avg / 1e6, 3)} us in the mean and "
        f"{digits(m.latency.max / 1e6, 3)} us at most ({ENGINES[m.method][0]})."
        for m in shown[:1]
        if m.latency is not None
    ]
    timed = [m for m in document if m.method == "rtl" and m.workload["load"] is not None]
    sentences += [
        f"At a load of {100 * m.workload['payload_load']:.0f} % a packet takes "
        f"{digits(m.latency.avg / 1e6, 3)} us in the mean."
        for m in timed[:1]
        if m.latency is not None
    ]
    text = " ".join(escape(sentence) for sentence in sentences) or "Nothing was measured to saturation."
    return f'<p class="headline">{text}</p>'


def _method(document: Document) -> str:
    checked = sum(m.checked.bytes for m in document)
    lines = [
        "<ul>",
        "<li>The gateware is the synthesizable SystemVerilog of this repository, evaluated clock by clock. "
        "Transceivers and cables are delays of whole word clocks; network interfaces are models with a queue "
        "for each output.</li>",
        "<li>The same seeded packets go through every switch. A run is steady when the mean delay of two "
        "blocks, a twentieth of the packets each, lies within 5 % of that of the two before. From then on "
        "the packets made in a window count; sources go on until all of them have arrived.</li>",
        f"<li>Every packet must arrive once, in its flow's order, at its port, with every word right: "
        f"{checked:,} bytes were compared.</li>",
        "</ul>",
    ]
    return "\n".join([*lines, *platform_tables(document)])
