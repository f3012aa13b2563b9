# SPDX-License-Identifier: Apache-2.0
import pytest
from bench import run


def test_a_fact_that_holds_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIM_ASSERT_BREAK", "0")
    run("isthmus:prim:prim", "prim_assert", "prim_assert_tb")


def test_a_fact_that_does_not_hold_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIM_ASSERT_BREAK", "1")
    with pytest.raises((pytest.fail.Exception, RuntimeError)):
        run("isthmus:prim:prim", "prim_assert", "prim_assert_tb")
