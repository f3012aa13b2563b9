# SPDX-License-Identifier: Apache-2.0
"""The table of known failures names tests that exist."""

from __future__ import annotations

import re

from isthmus.paths import ROOT

PAGE = ROOT / "docs" / "explanation" / "etherbone-failures.md"
SOFTWARE = "crates/isthmus-host/tests/it/"


def named() -> list[tuple[str, str]]:
    """Every file with every test that the table names in it."""
    found = []
    for row in PAGE.read_text().splitlines():
        for column, cell in enumerate(row.strip("|").split(" | ")):
            file = ""
            for word in re.findall(r"`([^`]+)`", cell) if row.startswith("| ") else []:
                if word.endswith((".rs", ".py")):
                    file = (SOFTWARE if column == 1 else "") + word
                elif re.fullmatch(r"[a-z0-9_]+", word) and file:
                    found.append((file, word))
    return found


def test_every_named_test_exists() -> None:
    pairs = named()
    assert len(pairs) > 30
    missing = [
        f"{file}: {name}"
        for file, name in pairs
        if not re.search(rf"\b(fn|def) {name}\(", (ROOT / file).read_text())
    ]
    assert not missing, missing
