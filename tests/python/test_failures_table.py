# SPDX-License-Identifier: Apache-2.0
"""The tables of known failures name tests that exist."""

from __future__ import annotations

import re

import pytest
from isthmus.paths import ROOT

PAGES = {"etherbone-failures.md": 30, "cores/ethernet.md": 9}
"""Pages with such a table, and how many tests it names at least."""
SOFTWARE = "crates/isthmus-host/tests/it/"


def named(page: str) -> list[tuple[str, str]]:
    """Every file with every test that the table names in it."""
    found = []
    for row in (ROOT / "docs" / "explanation" / page).read_text().splitlines():
        for column, cell in enumerate(row.strip("|").split(" | ")):
            file = ""
            for word in re.findall(r"`([^`]+)`", cell) if row.startswith("| ") else []:
                if word.endswith((".rs", ".py")):
                    file = (SOFTWARE if column == 1 else "") + word
                elif re.fullmatch(r"[a-z0-9_]+", word) and file:
                    found.append((file, word))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_named_test_exists(page: str) -> None:
    pairs = named(page)
    assert len(pairs) >= PAGES[page]
    missing = [
        f"{file}: {name}"
        for file, name in pairs
        if not re.search(rf"\b(fn|def) {name}\(", (ROOT / file).read_text())
    ]
    assert not missing, missing
