# SPDX-License-Identifier: Apache-2.0
"""Compare from Python, and the command on top of it: both take the fields of `Request`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus.bench.session import Models
from isthmus.compare.answer import Answer, Row
from isthmus.compare.answer import answer as answer_of
from isthmus.compare.measure import Request, measure, planned
from isthmus.compare.terminal import Files, screen
from isthmus.compare.terminal import details as all_details
from isthmus.errors import UserError

if TYPE_CHECKING:
    from isthmus.bench.runner import Runner
    from isthmus.results import Document

NAME = "compare"


@dataclass(frozen=True)
class Comparison:
    """What was measured, and what it says; as text it is the first screen."""

    document: Document

    @cached_property
    def answer(self) -> Answer:
        """The decision, table by table."""
        return answer_of(self.document)

    def __str__(self) -> str:
        return screen(self.answer)

    def records(self) -> list[dict[str, Any]]:
        """One dictionary a measurement: what was asked, by which road, and what came out."""
        return [_record(row) for row in self.answer.rows]

    def stages(self) -> list[dict[str, Any]]:
        """One dictionary for each stage of one transfer of each measurement, in order; they add up."""
        return [
            {
                **_asked(row),
                "number": number,
                "stage": stage.name,
                "place": stage.where,
                "us": stage.time / 1e6,
            }
            for row in self.answer.rows
            for number, stage in enumerate(row.m.stages)
        ]

    def frame(self) -> Any:
        """`records` as a pandas data frame. Raises `UserError` where pandas is not installed."""
        try:
            import pandas as pd
        except ImportError as err:
            raise UserError("frame() needs pandas: pip install pandas; records() needs nothing") from err
        return pd.DataFrame(self.records())

    def page(self) -> str:
        """The HTML page."""
        from isthmus.compare.page import page

        return page(self.document)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def compare(
    op: str | None = None,
    size: int | str | None = None,
    *,
    window: int | None = None,
    rate: float | str | None = None,
    platforms: Sequence[str] = (),
    settings: Sequence[str] = (),
    driver: str | None = None,
    iterations: int | None = None,
    seed: int = 1,
    noise: str | Path | None = None,
    runner: Runner | None = None,
    models: Models | None = None,
) -> Comparison:
    """Measure a transfer over every road that carries it.

    op          read, write, device-read, device-write, put, get, message, nic-to-memory, update; None: a
                small set
    size        bytes of a request: 256, "2K", "8,64,1K" or "8:4K"
    window      requests in flight, 1 without it
    rate        instead of window: requests a second, for example "100k"
    platforms   names, or paths of .toml files; none: one or two of each road
    settings    constants that replace a platform's: ["link.generation=3"]
    driver      this way alone: ring, dma, loads, bulk, serial, datagram, inline, message, poll, cached
    iterations  requests that are measured
    noise       file of a histogram of wake-up latencies, for instance of `cyclictest -h`
    runner, models  stand-ins for the engine, for tests
    """
    request = Request(
        op, size, window, rate, tuple(platforms), tuple(settings), driver, iterations, seed, noise
    )
    return Comparison(measure(request, command="isthmus.compare()", runner=runner, models=models))


def run(
    request: Request,
    *,
    out: Path = Path("out"),
    details: bool = False,
    runner: Runner | None = None,
    models: Models | None = None,
) -> Comparison:
    """`./isthmus compare`: measure, write `compare.html`, `.json` and `.csv` into `out`, print the answer."""
    from isthmus.compare.page import page
    from isthmus.results import to_csv, to_json
    from isthmus.storage import keep, result_file

    planned(request)
    target = result_file(out, NAME)
    command = shlex.join(["isthmus", *sys.argv[1:]])
    made = Comparison(measure(request, command=command, runner=runner, models=models))
    document = made.document
    table, drawn = target.with_suffix(".csv"), target.with_suffix(".html")
    keep({target: to_json(document), table: to_csv(document), drawn: page(document)})
    print(screen(made.answer, Files(str(drawn), str(table))), end="")
    if details:
        print(all_details(made.answer), end="")
    return made


def _asked(row: Row) -> dict[str, Any]:
    return {
        "operation": row.case.operation,
        "bytes": row.case.bytes,
        "window": row.case.window,
        "rate_per_s": row.case.rate_per_s,
        "interconnect": row.interconnect,
        "platform": row.platform,
        "profile": row.m.profile,
        "driver": str(row.m.workload.get("driver", row.m.method)),
    }


def _record(row: Row) -> dict[str, Any]:
    latency, us = row.m.latency, 1e6
    percentiles = {} if latency is None else latency.percentiles
    return {
        **_asked(row),
        "n": row.m.iterations,
        "saturated": row.saturated,
        "min_us": None if latency is None else latency.min / us,
        **{
            f"{key}_us": None if percentiles.get(key) is None else (percentiles[key] or 0) / us
            for key in ("p50", "p90", "p99", "p99.9")
        },
        "mean_us": None if latency is None else latency.avg / us,
        "payload_MB_per_s": None if row.bytes_per_s is None else row.bytes_per_s / 1e6,
        "requests_per_s": row.requests_per_s,
        "bounded_by": row.bound,
    }
