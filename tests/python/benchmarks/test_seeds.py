# SPDX-License-Identifier: Apache-2.0
"""What the benchmark of the unit benches' seeds takes out of a run of pytest."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

RESULTS = """<testsuites><testsuite>
  <testcase name="test_link_port[small]" />
  <testcase name="test_link_port[one-id]">
    <failure message="Failed: pair_tb: 1 of 9 tests failed: restarts (repeat with ISTHMUS_SEED=7)&#10;x" />
  </testcase>
  <testcase name="test_link_line"><error message="no model" /></testcase>
  <testcase name="test_pcie"><skipped message="no libpython" /></testcase>
</testsuite></testsuites>"""


def test_a_failed_run_is_named_with_what_it_said(script: Callable[[str], ModuleType], tmp_path: Path) -> None:
    results = tmp_path / "results.xml"
    results.write_text(RESULTS)
    ran, failed = script("seeds").failures(results)
    assert ran == 3
    assert failed == [
        ("test_link_port[one-id]", "Failed: pair_tb: 1 of 9 tests failed: restarts"),
        ("test_link_line", "no model"),
    ]
