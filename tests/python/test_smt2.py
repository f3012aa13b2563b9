# SPDX-License-Identifier: Apache-2.0
"""Bitwuzla as the program that yosys-smtbmc starts."""

import subprocess

import pytest
from isthmus.formal import SOLVERS, tool_path
from isthmus.smt2 import commands


def _run(text: str) -> list[str]:
    done = subprocess.run(
        [SOLVERS / "bitwuzla", "--lang", "smt2"],
        input=text, text=True, capture_output=True, timeout=60, env={"PATH": tool_path()}, check=True,
    )  # fmt: skip
    return done.stdout.splitlines()


def test_answers_come_in_the_order_of_the_commands() -> None:
    assert _run("""(set-option :produce-models true)
        (set-logic QF_BV)
        (declare-fun |a (b| () (_ BitVec 8))
        (assert (= (bvmul |a (b| #x03) #x0f))
        (check-sat)
        (get-value (|a (b|))
        (push 1) (assert (= |a (b| #x00)) (check-sat) (pop 1)
        (check-sat)
        (exit)
        (check-sat)""") == ["sat", "((|a (b| #b00000101))", "unsat", "sat"]


def test_a_wrong_command_is_answered_by_an_error_that_names_it() -> None:
    right, wrong = _run("(set-logic QF_BV)\n(check-sat)\n(assert (= nobody #x00))\n")
    assert right == "sat"
    assert wrong.startswith('(error "')
    assert "undefined symbol 'nobody'" in wrong


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["(a)\n", "(b)\n"], ["(a)\n", "(b)\n"]),
        (["(a\n", " (b)\n", ")\n"], ["(a\n (b)\n)\n"]),
        (["; (\n", "(a |)| \"(\" ; )\n", ")\n"], ["(a |)| \"(\" ; )\n)\n"]),
        (["\n", "(a)(b)\n"], ["(a)(b)\n"]),
    ],
)  # fmt: skip
def test_a_command_ends_with_its_last_parenthesis(lines: list[str], found: list[str]) -> None:
    assert [one.strip() for one in commands(lines)] == [one.strip() for one in found]
