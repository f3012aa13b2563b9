# SPDX-License-Identifier: Apache-2.0
"""What a benchmark leaves behind: the result, its table, its page, and a line that says where they are."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from isthmus.results import Document, to_json
from isthmus.storage import keep

Format = Literal["table", "csv", "json"]
FORMATS: tuple[Format, ...] = ("table", "csv", "json")


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
    table, drawn = target.with_suffix(".csv"), target.with_suffix(".html")
    whole, lines = to_json(made), io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(rows(made))
    keep({target: whole, table: lines.getvalue(), drawn: page(made)})
    if format == "csv":
        print(lines.getvalue(), end="")
    elif format == "json":
        print(whole, end="")
    else:
        print(text(made), end="")
        print(f"# results: {target}, {table}; page: {drawn}")
