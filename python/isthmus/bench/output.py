# SPDX-License-Identifier: Apache-2.0
"""The output of a benchmark: the result, its table, its page, and a line with their paths."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from isthmus import report
from isthmus.results import Document, to_csv, to_json
from isthmus.storage import keep

Format = Literal["table", "csv", "json"]
FORMATS: tuple[Format, ...] = ("table", "csv", "json")


def publish(
    made: Document,
    target: Path,
    format: Format,  # noqa: A002
    text: Callable[[Document], str],
) -> None:
    """Write `target` with `.csv` and `.html` beside it, and print in the format asked for.

    text  the tables for people
    """
    table, drawn = target.with_suffix(".csv"), target.with_suffix(".html")
    whole, lines = to_json(made), to_csv(made)
    keep({target: whole, table: lines, drawn: report.draw(made)})
    if format == "csv":
        print(lines, end="")
    elif format == "json":
        print(whole, end="")
    else:
        print(text(made), end="")
        print(f"# results: {target}, {table}; page: {drawn}")
