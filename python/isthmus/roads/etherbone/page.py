# SPDX-License-Identifier: Apache-2.0
"""The page of `isthmus bench etherbone`: timestamps over every bus."""

from __future__ import annotations

from html import escape

from isthmus.report.page import platform_tables, render
from isthmus.results import DEFINITIONS, Document
from isthmus.roads.etherbone import ROAD
from isthmus.roads.etherbone.answer import answer
from isthmus.roads.etherbone.figures import figures

TITLE = "Reading an FPGA: which road, which method"
QUESTION = (
    "A program reads 64-bit timestamps from Wishbone registers in an FPGA through Etherbone. Which bus "
    "and which access method are fastest, what does one timestamp cost, and where does the time go?"
)


SOURCE = "Etherbone Performance Measurements, D. Beck, GSI, 2018"


def page(document: Document) -> str:
    """The whole page as text."""
    return render(
        document,
        title=TITLE,
        question=QUESTION,
        answer=_answer(document),
        drawn=figures(document),
        road=ROAD.name,
        source=SOURCE,
        method=_method(document),
        note=_procedure(document),
    )


def _answer(document: Document) -> str:
    topics: dict[str, list[str]] = {}
    for sentence in answer(document):
        items = "".join(f"<li>{escape(item)}</li>" for item in sentence.items)
        text = escape(sentence.text) + (f'\n<ul class="items">{items}</ul>' if items else "")
        topics.setdefault(sentence.topic, []).append(text)
    (_, headline), *rest = topics.items()
    parts = [f'<p class="headline">{" ".join(headline)}</p>']
    for topic, texts in rest:
        parts.append(f"<h3>{escape(topic)}</h3>\n<ul>")
        parts += [f"<li>{text}</li>" for text in texts]
        parts.append("</ul>")
    return "\n".join(parts)


def _method(document: Document) -> str:
    # Measurements whose latency the page shows; frames directly onto the wire are only in the limits.
    shown = [m for m in document if not m.name.startswith("line-rate")]
    definitions = sorted({m.definition for m in shown})
    arrivals = sorted({m.arrivals for m in shown})
    checked = sum(m.checked.bytes for m in document)
    wrong = sum(m.checked.wrong + m.checked.lost for m in document)
    evaluated = sum(m.evaluated_cycles for m in document)
    lines = [
        "<ul>",
        "<li>The gateware is the synthesizable SystemVerilog of this repository, evaluated clock by clock; "
        f"{evaluated:,} clock cycles were evaluated. Host, network interface, wire and switch are models "
        "with one delay or rate for each step.</li>",
        f"<li>Latency is {escape(', '.join(DEFINITIONS[d] for d in definitions))}; arrivals: "
        f"{escape(', '.join(arrivals))}. Times are simulated, so another run gives the same numbers.</li>",
        f"<li>Every byte that came back was compared: {checked:,} bytes, {wrong:,} wrong or lost.</li>",
        "<li>1 MB is 10<sup>6</sup> bytes, 1 MiB 2<sup>20</sup> bytes. Payload is what the program asked "
        "for; wire is every byte towards the host with preamble, headers, padding, FCS and gap.</li>",
        "</ul>",
    ]
    return "\n".join([*lines, *platform_tables(document)])


def _procedure(document: Document) -> str:
    """The difference between the published and the simulated column if pipelined series are steady."""
    steady = any(m.workload.get("procedure") == "steady" and m.method == "pipelined" for m in document)
    if not steady:
        return ""
    return (
        "<p class='note'>Pipelined rows are simulated over a steady window here. The document counts "
        "all of 90 cycles, from the first call to the last reply, as <code>isthmus verify</code> does.</p>"
    )
