# SPDX-License-Identifier: Apache-2.0
"""Result documents as JSON files, with everything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from isthmus.errors import UserError
from isthmus.results import constants
from isthmus.results.model import (
    SCHEMA,
    Context,
    Document,
    ResultError,
    measurement,
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
    """Read and validate a result file. Raises `ResultError` with the error and its place."""
    data = raw(path)
    if data.get("schema") != SCHEMA:
        raise ResultError(f"{path}: schema is {data.get('schema')!r}; this version reads {SCHEMA!r}")
    validate(data, str(path))
    return _document(data, str(path))


def raw(path: Path) -> dict[str, Any]:
    """The object of a result file of any schema. Raises `ResultError`."""
    try:
        text = read_text(path)
    except UserError as err:
        raise ResultError(f"{err}; expected a result file, which ./isthmus compare and bench make") from err
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as err:
        raise ResultError(f"{path}: not JSON: {err}") from err
    if not isinstance(data, dict):
        raise ResultError(f"{path}: schema is {type(data).__name__!r}; this version reads {SCHEMA!r}")
    return data


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
