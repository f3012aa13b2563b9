# SPDX-License-Identifier: Apache-2.0
"""The coherence protocol's table: what is committed is what it gives, and a wrong row is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from isthmus import coherence


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the table in a tree of its own."""
    target = tmp_path / coherence.SOURCE
    target.parent.mkdir(parents=True)
    target.write_text((coherence.ROOT / coherence.SOURCE).read_text())
    return tmp_path


def changed(root: Path, old: str, new: str) -> None:
    path = root / coherence.SOURCE
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_generated_files_are_current() -> None:
    assert coherence.check() == [], "run: python -m isthmus.coherence"


def test_a_changed_row_makes_both_files_stale(copy: Path) -> None:
    coherence.generate(copy, copy)
    assert coherence.check(copy) == []
    changed(copy, '["E",  "FINV",  "HAKI", "I"]', '["E",  "FINV",  "HAKV", "I"]')
    assert coherence.check(copy) == [str(coherence.PACKAGE), str(coherence.DOCS)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('["E", "I",     "RLDI", "FSHR", "=", "="]', '["E", "I",     "RLDI", "FINV", "=", "="]'),
        ('["store", "S", "FINV", "="]', '["store", "S", "FSHR", "="]'),
        ('["HAKI", "forward", "I h"]', '["HAKI", "forward", "I"]'),
    ],
)
def test_a_changed_step_of_a_home_changes_gateware_and_the_simulated_home(
    copy: Path, old: str, new: str
) -> None:
    coherence.generate(copy, copy)
    changed(copy, old, new)
    stale = coherence.check(copy)
    assert {str(coherence.PACKAGE), str(coherence.RUST)} <= set(stale)


def test_a_changed_code_makes_the_programs_names_stale(copy: Path) -> None:
    coherence.generate(copy, copy)
    changed(copy, '["GACK", "remote", 10, 15,', '["GACK", "remote", 10, 14,')
    assert str(coherence.RUST) in coherence.check(copy)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('["E",  "FINV",  "HAKI", "I"]', '["E",  "FINV",  "HAKX", "I"]', "E, FINV: 'HAKX' is no message"),
        ('["E",  "FINV",  "HAKI", "I"],', "", "remote E has no row, or several, for FINV"),
        ('["VICS", "remote", 10, 2,', '["VICS", "remote", 10, 1,', "circuit and opcode used twice"),
        ('["E", "I",     "RUPG", "never", "=", "="],', "", "directory E: RUPG has no row"),
        ('["GACK", "forward reply", "never"],', "", "response GACK, "),
    ],
)
def test_a_wrong_table_is_refused_with_its_row(copy: Path, old: str, new: str, says: str) -> None:
    changed(copy, old, new)
    with pytest.raises(coherence.TableError, match=says):
        coherence.load(copy)


def test_every_message_has_a_row_that_sends_it_and_one_that_takes_it() -> None:
    table = coherence.load()
    sent = {word for step in (*table.remote, *table.uncached, *table.core) for word in step.does.split()}
    sent |= {word for one in table.requests for word in one.does.split()}
    if any(step.does == "g" for step in table.remote):
        sent.add("GACK")
    taken = {step.input.split()[0] for step in (*table.remote, *table.uncached)}
    taken |= {one.message for one in (*table.requests, *table.responses)}
    for message in table.messages:
        assert message.name in sent, message
        assert message.name in taken, message


def test_lengths_are_those_of_the_payload() -> None:
    words = {message.name: message.words for message in coherence.load().messages}
    assert (words["RLDI"], words["PDAT"], words["RSTP"], words["RCAS"], words["PATM"]) == (1, 17, 19, 3, 2)
