# SPDX-License-Identifier: Apache-2.0
"""Result documents as files: JSON with everything, CSV with one line a measurement."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus.errors import UserError
from isthmus.results import constants
from isthmus.results.model import (
    PERCENTILES,
    SCHEMA,
    Context,
    Document,
    Latency,
    Measurement,
    ResultError,
    Throughput,
    measurement,
    percentile_name,
)
from isthmus.storage import read_text, store

if TYPE_CHECKING:
    from isthmus.platforms import Platform

_SCHEMA_FILE = Path(__file__).with_name("result-1.schema.json")


def document(
    context: Mapping[str, Any],
    results: Sequence[Mapping[str, Any]],
    platforms: Iterable[Platform] = (),
) -> Document:
    """A document from the engine's measurements, the context they were made in, and the platforms whose
    constants they were given."""
    data = {"schema": SCHEMA, "context": dict(context), "results": list(results)}
    return _document(data | {"platforms": constants.stored(platforms)}, "result")


def merged(first: Document, second: Document) -> Document:
    """The measurements of both, in the context of the first with the models and the time of both."""
    context = dict(first.raw["context"])
    other = second.raw["context"]
    context["models"] = {**context.get("models", {}), **other.get("models", {})}
    context["wall_s"] = round(context.get("wall_s", 0.0) + other.get("wall_s", 0.0), 3)
    made = dict(first.raw) | {"context": context}
    made["results"] = [*first.raw["results"], *second.raw["results"]]
    made["platforms"] = {**first.raw.get("platforms", {}), **second.raw.get("platforms", {})}
    return _document(made, "result")


def load(path: Path) -> Document:
    """Read and validate a result file. Raises `ResultError` that says what is wrong and where."""
    try:
        text = read_text(path)
    except UserError as err:
        raise ResultError(f"{err}; expected a result file, which ./isthmus bench etherbone makes") from err
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as err:
        raise ResultError(f"{path}: not JSON: {err}") from err
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        found = data.get("schema") if isinstance(data, dict) else type(data).__name__
        raise ResultError(f"{path}: schema is {found!r}; this version reads {SCHEMA!r}")
    validate(data, str(path))
    return _document(data, str(path))


def validate(data: Any, where: str) -> None:
    """Check against the published schema. Raises `ResultError` with the first difference."""
    # Imported here: no command but this one needs it.
    import jsonschema  # type: ignore[import-untyped,unused-ignore]

    checker = jsonschema.Draft202012Validator(json.loads(_SCHEMA_FILE.read_text()))
    first = next(iter(sorted(checker.iter_errors(data), key=lambda e: list(map(str, e.path)))), None)
    if first is not None:
        place = "/".join(str(part) for part in first.absolute_path) or "document"
        raise ResultError(f"{where}: {place}: {first.message}")


def _document(data: Mapping[str, Any], where: str) -> Document:
    context = data["context"]
    given = constants.read(data.get("platforms") or {})
    results = [measurement(item, f"{where}: results/{number}") for number, item in enumerate(data["results"])]
    return Document(
        context=Context(
            commit=context.get("commit", "unknown"),
            sources=context.get("sources", "unknown"),
            command=context.get("command", ""),
            seed=int(context.get("seed", 0)),
            tools=context.get("tools", {}),
            models=context.get("models", {}),
            wall_s=float(context.get("wall_s", 0.0)),
        ),
        results=tuple(replace(m, constants=given.get(m.platform)) for m in results),
        raw=data,
        constants=given,
    )


def to_json(made: Document) -> str:
    """The whole document, checked against its schema. Raises `ResultError`."""
    validate(made.raw, "result")
    return json.dumps(made.raw, indent=1) + "\n"


def write(made: Document, path: Path) -> None:
    """Write the whole document as JSON, or nothing; the folder is made where it is missing."""
    store(path, to_json(made))


CSV_COLUMNS = (
    "id",
    "road",
    "platform",
    "profile",
    "method",
    "operations_per_cycle",
    "timestamps_per_cycle",
    "iterations",
    "definition",
    "arrivals",
    "seed",
    "t_min[usec]",
    "t_max[usec]",
    "t_typical[usec]",
    "t_avg[usec]",
    "t_stdev[usec]",
    *(f"{percentile_name(key)}[usec]" for key in PERCENTILES),
    "time_per_timestamp[usec]",
    "cycles[1/s]",
    "timestamps[1/s]",
    "payload[bit/s]",
    "wire[bit/s]",
    "excluded_head",
    "excluded_tail",
    "blank_percentiles",
)


def to_csv(results: Iterable[Measurement]) -> str:
    """One line a measurement; a percentile with too few samples beyond it is an empty field."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for m in results:
        writer.writerow(
            [
                m.id,
                m.road,
                m.platform,
                m.profile,
                m.method,
                m.operations,
                m.timestamps or "",
                m.iterations,
                m.definition,
                m.arrivals,
                m.seed,
                *_latency_cells(m.latency),
                "" if m.time_per_timestamp is None else f"{m.time_per_timestamp / 1e6:.6f}",
                *_rate_cells(m.throughput),
                m.excluded_head,
                m.excluded_tail,
                why_blank(m.latency),
            ]
        )
    return out.getvalue()


def why_blank(latency: Latency | None) -> str:
    """Why percentiles are empty fields, in one field."""
    if latency is None:
        return ""
    reasons = ((key, latency.why_blank(key)) for key in PERCENTILES)
    return "; ".join(f"{key}: {reason}" for key, reason in reasons if reason)


def _latency_cells(latency: Latency | None) -> list[str]:
    if latency is None:
        return [""] * (5 + len(PERCENTILES))
    values = [latency.min, latency.max, latency.typical, latency.avg, latency.stdev]
    cells = [f"{value / 1e6:.6f}" for value in values]
    return cells + ["" if v is None else f"{v / 1e6:.6f}" for v in latency.percentiles.values()]


def _rate_cells(rates: Throughput | None) -> list[str]:
    if rates is None:
        return [""] * 4
    timestamps = "" if rates.timestamps_per_s is None else f"{rates.timestamps_per_s:.3f}"
    return [
        f"{rates.cycles_per_s:.3f}",
        timestamps,
        f"{rates.payload_bit_s:.0f}",
        "" if rates.wire_bit_s is None else f"{rates.wire_bit_s:.0f}",
    ]
