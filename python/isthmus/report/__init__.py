# SPDX-License-Identifier: Apache-2.0
"""The HTML report and the static figure, both drawn from a result file.

`run(results, ...)` is what `isthmus report` calls.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["run"]


def run(
    results: Path = Path("out/etherbone.json"),
    *,
    out: Path | None = None,
    svg: Path | None = None,
) -> Path:
    """`isthmus report [RESULTS]`: draw the page from a result file; nothing is simulated.

    results  a result document, isthmus.result/1
    out      --out: the page; without it beside the result, with its name
    svg      --svg: write only the main figure, as a static SVG, to this file
    """
    from isthmus.results import load
    from isthmus.storage import page_file, store

    target = page_file(results, svg or out)
    document = load(results)
    if svg is not None:
        from isthmus.report.svg import main_figure

        text = main_figure(document)
    else:
        from isthmus.report.page import page

        text = page(document)
    store(target, text)
    print(target)
    return target
