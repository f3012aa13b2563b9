# SPDX-License-Identifier: Apache-2.0
"""What is shown of the mailbox: tables, the page, its own columns and quantities."""

from collections.abc import Mapping, Sequence

from isthmus.quantities import Quantity, each
from isthmus.report.page import platform_tables, render
from isthmus.results import Document, latency_table
from isthmus.results.columns import Column

COLUMNS: Sequence[Column] = (
    Column("wait_cycles", "clocks from a load to its answer", lambda m: m.workload["wait_cycles"]),
)
QUANTITIES: Mapping[str, Quantity] = {
    "mailbox_cycles": each(lambda m: float(m.workload["wait_cycles"])),
}


def text(made: Document) -> str:
    """What the terminal shows."""
    return latency_table(made)


def page(made: Document) -> str:
    """The HTML page."""
    best = min((m for m in made if m.latency), key=lambda m: m.latency.avg)  # type: ignore[union-attr]
    return render(
        made,
        title="Reading a mailbox",
        question="How long does a program wait for a word of a mailbox?",
        answer=f'<p class="headline">{best.id} is fastest.</p>',
        drawn=(),
        road="template",
        source="",
        method="\n".join(platform_tables(made)),
    )
