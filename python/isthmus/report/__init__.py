# SPDX-License-Identifier: Apache-2.0
"""The HTML report and the static figure, both drawn from a result file.

`run(results, ...)` is what `isthmus report` calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from isthmus.results import Document
    from isthmus.roads.table import Road

__all__ = ["draw", "run"]

OTHERS = {"isthmus.trigger/1": "isthmus.trigger.result"}
"""Schemas of documents that are of no road, and the module that draws each."""


def run(
    results: Path, *, out: Path | None = None, svg: Path | None = None, table: Path | None = None
) -> Path:
    """`isthmus report RESULTS`: draw the page from a result file; nothing is simulated.

    results  a result document, isthmus.result/1
    out      --out: the page; without it beside the result, with its name
    svg      --svg: write only the main figure, as a static SVG, to this file
    table    --table: write only the table of results to this file: CSV or Parquet, by its ending
    """
    from isthmus.errors import UserError
    from isthmus.results import load, raw, to_csv, to_parquet
    from isthmus.storage import page_file, store

    if table is not None and table.suffix not in (".csv", ".parquet"):
        raise UserError(f"--table {str(table)!r}: expected a name that ends in .csv or .parquet")
    target = page_file(results, table or svg or out)
    data = raw(results)
    if (other := _other(data)) is not None:
        if svg is not None or (table is not None and table.suffix != ".csv"):
            raise UserError(f"{results}: results of schema {data['schema']} have a page and a .csv table")
        store(target, (other.page if table is None else other.table)(data, str(results)))
        print(target)
        return target
    document = load(results)
    if table is not None and table.suffix == ".parquet":
        to_parquet(document, target)
    elif table is not None:
        store(target, to_csv(document))
    else:
        store(target, draw(document) if svg is None else _svg(document))
    print(target)
    return target


def show(results: Path) -> None:
    """`isthmus report RESULTS --text`: print the tables of a result file, as the command that made it did."""
    from isthmus.compare.answer import answer, answers
    from isthmus.results import load, raw
    from isthmus.roads.table import resolve

    data = raw(results)
    if (other := _other(data)) is not None:
        print(other.text(data, str(results)), end="")
        return
    document = load(results)
    if answers(document):
        from isthmus.compare.terminal import screen

        print(screen(answer(document)), end="")
    else:
        road = _drawing(document, "text")
        print(f"# {road.name}: {road.title}\n{resolve(road.text)(document)}", end="")


def _other(data: Mapping[str, Any]) -> Any:
    """The module that draws a document that is of no road: it has `page`, `table` and `text`."""
    from isthmus.roads.table import resolve

    reference = OTHERS.get(str(data.get("schema")))
    return None if reference is None else resolve(reference)


def draw(document: Document) -> str:
    """The page of compare, or of the road that the document is of. Raises `UserError` where no page shows
    all of it."""
    from isthmus.compare.answer import answers
    from isthmus.roads.table import resolve

    if answers(document):
        from isthmus.compare.page import page as comparison

        return comparison(document)
    return str(resolve(_drawing(document, "page").page)(document))


def _svg(document: Document) -> str:
    from isthmus.roads.table import resolve

    return str(resolve(_drawing(document, "svg").svg)(document))


def _drawing(document: Document, what: str) -> Road:
    """The road whose page or main figure shows all that the document has."""
    from isthmus.results import ResultError
    from isthmus.roads.table import having

    found = {m.road for m in document}
    for road in having(what):
        if road.name in found and found <= {road.name, *road.beside}:
            return road
    raise ResultError(f"no {what} shows results of {' and '.join(sorted(found)) or 'no road'}")
