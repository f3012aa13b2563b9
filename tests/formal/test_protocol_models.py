# SPDX-License-Identifier: Apache-2.0
"""Protocols, explored state by state: each holds, and each variant with one thing wrong is found.

The large models are in `benchmarks/protocol_variants.py`.
"""

from __future__ import annotations

import os

import pytest
from isthmus import cache, murphi
from isthmus.protocol_models.catalog import Case, cases, met, verdict
from isthmus.testing import FRESH

CASES = list(cases())


def parameter(case: Case) -> object:
    return pytest.param(case, id=case.name, marks=pytest.mark.release if case.slow else ())


@pytest.mark.skipif(not murphi.available(), reason=murphi.INSTALL)
@pytest.mark.parametrize("case", [parameter(case) for case in CASES if not case.large])
def test_a_protocol_holds_and_a_wrong_one_is_found(case: Case, request: pytest.FixtureRequest) -> None:
    text = case.text()
    key = cache.digest([murphi.key(text, case.many), case.expected])
    if not os.environ.get(FRESH) and cache.passed("protocols", case.name, key):
        request.node.user_properties.append(("cached", "true"))
        return
    found = murphi.check(text, many=case.many)
    assert met(case.expected, found), f"{case.what}: {found.error or 'holds'}"
    if case.expected == "holds":
        assert found.states > 10_000
    cache.record_pass("protocols", case.name, key, states=found.states)


@pytest.mark.skipif(not murphi.available(), reason=murphi.INSTALL)
def test_a_model_with_another_rule_is_explored_again() -> None:
    text = CASES[0].text()
    assert murphi.key(text) == murphi.key(text)
    assert len({murphi.key(text), murphi.key(text, many=True), murphi.key(f"{text} ")}) == 3


def test_every_model_has_a_variant_that_must_be_found() -> None:
    families = {case.name.partition("/")[0] for case in CASES if case.expected != "holds"}
    assert families == {"coherence", "ids", "credits", "replay", "translation"}
    assert len({case.name for case in CASES}) == len(CASES)


def test_what_does_not_end_is_told_from_what_is_wrong() -> None:
    errors = ("", "deadlock", "liveness property 1 violated", 'invariant "one owner" failed')
    verdicts = [verdict(murphi.Checked(error, 1)) for error in errors]
    assert verdicts == ["holds", "stuck", "stuck", "wrong"]
    assert not met("wrong", murphi.Checked("deadlock", 1))
    assert met("fails", murphi.Checked("deadlock", 1))
