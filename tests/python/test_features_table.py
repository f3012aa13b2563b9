# SPDX-License-Identifier: Apache-2.0
"""The table of the RDMA prototype's features names modules and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs/reference/rdma-features.md"
ROW = re.compile(r"^\| ([^|]+) \| ([^|]+) \| `([a-z0-9_]+)` \|$", re.MULTILINE)
ROWS = ROW.findall(TABLE.read_text())


@pytest.fixture(scope="module")
def tests() -> set[str]:
    """Names of all tests: of Python, cocotb and Rust."""
    files = [*ROOT.glob("tests/**/*.py"), *ROOT.glob("crates/**/*.rs")]
    text = "\n".join(path.read_text() for path in files if "target" not in path.parts)
    return set(re.findall(r"^\s*(?:async )?(?:def|fn) (\w+)\(", text, re.MULTILINE))


@pytest.mark.parametrize(("feature", "where", "test"), ROWS, ids=[row[2] for row in ROWS])
def test_a_feature_is_where_the_table_says_and_tested(
    tests: set[str], feature: str, where: str, test: str
) -> None:
    assert test in tests, f"{feature}: no test {test}"
    modules = [name for name in re.findall(r"`([a-z_]+)`", where) if "_" in name or name == "crossbar"]
    for module in modules:
        assert list(ROOT.glob(f"rtl/*/{module}.sv")), f"{feature}: no module {module}"


def test_all_rows_are_read() -> None:
    assert len(ROWS) == TABLE.read_text().count("\n| ") - 2
