# SPDX-License-Identifier: Apache-2.0
"""Results: the document `isthmus.result/1`, its context, and its forms as JSON, CSV and text."""

from isthmus.results.columns import Column, by_column, to_csv, to_parquet
from isthmus.results.files import document, load, merged, raw, to_json, write
from isthmus.results.model import (
    DEFINITIONS,
    SCHEMA,
    Checked,
    Context,
    Document,
    Latency,
    Measurement,
    ResultError,
    Span,
    Stage,
    Throughput,
    Windows,
    measurement,
)
from isthmus.results.table import latency_table

__all__ = [
    "DEFINITIONS",
    "SCHEMA",
    "Checked",
    "Column",
    "Context",
    "Document",
    "Latency",
    "Measurement",
    "ResultError",
    "Span",
    "Stage",
    "Throughput",
    "Windows",
    "by_column",
    "document",
    "latency_table",
    "load",
    "measurement",
    "merged",
    "raw",
    "to_csv",
    "to_json",
    "to_parquet",
    "write",
]
