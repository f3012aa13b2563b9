# SPDX-License-Identifier: Apache-2.0
"""The document `isthmus.trigger/1`: what `isthmus bench trigger` measured, and how it is redrawn."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from isthmus.results.model import ResultError
from isthmus.trigger.native import Bench

SCHEMA = "isthmus.trigger/1"
_SCHEMA_FILE = Path(__file__).with_name("result-1.schema.json")


def to_json(made: Bench) -> str:
    """All of a benchmark."""
    return json.dumps({"schema": SCHEMA, **asdict(made)}, indent=1) + "\n"


def read(data: Mapping[str, Any], where: str) -> Bench:
    """A benchmark from its document. Raises `ResultError` with the first difference from the schema."""
    import jsonschema  # type: ignore[import-untyped,unused-ignore]

    checker = jsonschema.Draft202012Validator(json.loads(_SCHEMA_FILE.read_text()))
    first = next(iter(sorted(checker.iter_errors(data), key=lambda e: list(map(str, e.path)))), None)
    if first is not None:
        place = "/".join(str(part) for part in first.absolute_path) or "document"
        raise ResultError(f"{where}: {place}: {first.message}")
    return Bench.of({**data, "samples": list(data["samples"].items())})


def page(data: Mapping[str, Any], where: str) -> str:
    """The page of a document."""
    from isthmus.trigger import page as drawing

    return drawing.page(read(data, where))


def table(data: Mapping[str, Any], where: str) -> str:
    """The table of a document, as CSV."""
    from isthmus.trigger import tables

    return tables.to_csv(read(data, where))


def text(data: Mapping[str, Any], where: str) -> str:
    """The tables of a document for people."""
    from isthmus.trigger import tables

    return tables.bench(read(data, where))
