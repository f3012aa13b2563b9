# SPDX-License-Identifier: Apache-2.0
"""What a benchmark leaves behind: the result, its table, its page, and a line that says where they are."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from isthmus.results import Document, write

Format = Literal["table", "csv", "json"]


def publish(
    made: Document,
    target: Path,
    format: Format,  # noqa: A002
    rows: Callable[[Document], Iterable[Sequence[Any]]],
    page: Callable[[Document], str],
    text: Callable[[Document], str],
) -> None:
    """Write `target` with `.csv` and `.html` beside it, and print in the format asked for.

    rows  of the CSV file, the first one its header
    page  the HTML page
    text  the table for people
    """
    write(made, target)
    table, drawn = target.with_suffix(".csv"), target.with_suffix(".html")
    with table.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows(made))
    drawn.write_text(page(made))
    if format == "csv":
        print(table.read_text(), end="")
    elif format == "json":
        print(target.read_text(), end="")
    else:
        print(text(made), end="")
        print(f"# results: {target}, {table}; page: {drawn}")
