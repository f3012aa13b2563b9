# SPDX-License-Identifier: Apache-2.0
"""Benchmarks run before a release only: what they take from the package must exist all the same."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = sorted((ROOT / "benchmarks").rglob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_every_name_that_a_benchmark_imports_from_the_package_exists(script: Path) -> None:
    for node in ast.walk(ast.parse(script.read_text())):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("isthmus"):
            continue
        module = importlib.import_module(str(node.module))
        for name in node.names:
            if not hasattr(module, name.name):
                importlib.import_module(f"{node.module}.{name.name}")
