# SPDX-License-Identifier: Apache-2.0
"""Traces of transactions: what is read, what is refused, and that nothing else can come out of any bytes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from isthmus.errors import UserError
from isthmus.roads.ccix import lock_trace
from isthmus.roads.ccix.lock_trace import Step, Trace, Transaction, parse

GOOD = "isthmus-lock-trace 1\n# two\nrows 16\n\nhost w5 r9\nfpga w12\n"


def test_a_trace_is_who_makes_what_on_which_records() -> None:
    assert parse(GOOD) == Trace(
        "trace",
        16,
        (
            Transaction(False, (Step(5, True), Step(9, False))),
            Transaction(True, (Step(12, True),)),
        ),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "trace:1: expected 'isthmus-lock-trace 1'"),
        ("isthmus-lock-trace 2\nrows 1\nhost r0\n", "trace:1: expected 'isthmus-lock-trace 1'"),
        ("isthmus-lock-trace 1\n", "trace:2: expected 'rows N', 1 to 1024"),
        ("isthmus-lock-trace 1\nrows 0\n", "trace:2: expected 'rows N', 1 to 1024"),
        ("isthmus-lock-trace 1\nrows 1025\n", "trace:2: expected 'rows N', 1 to 1024"),
        ("isthmus-lock-trace 1\nrows 9\n# none\n", "trace: no transactions"),
        ("isthmus-lock-trace 1\nrows 9\nguest r1\n", "trace:3: expected 'host' or 'fpga', then records"),
        ("isthmus-lock-trace 1\nrows 9\nhost\n", "trace:3: 0 records; a transaction has 1 to 4"),
        ("isthmus-lock-trace 1\nrows 9\nhost r1 r2 r3 r4 r5\n", "trace:3: 5 records"),
        ("isthmus-lock-trace 1\nrows 9\n\nhost r9\n", "trace:4: 'r9'; expected r or w and a record, 0 to 8"),
        ("isthmus-lock-trace 1\nrows 9\nhost x1\n", "trace:3: 'x1'; expected r or w and a record"),
        ("isthmus-lock-trace 1\nrows 9\nhost r1  r2\n", "trace:3: ''; expected r or w and a record"),
        ("isthmus-lock-trace 1\nrows 9\nhost r1 w1\n", "trace:3: a record twice in one transaction"),
        ("isthmus-lock-trace 1\r\nrows 9\r\nhost r1\r\n", "trace:1: expected 'isthmus-lock-trace 1'"),
    ],
)
def test_anything_else_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(UserError) as refused:
        parse(text)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_written_is_read_again() -> None:
    for seed in range(20):
        made = lock_trace.zipfian(30, rows=1 + seed * 7, steps=1 + seed % 4, updates=seed / 20, seed=seed)
        assert parse(lock_trace.text(made, "a comment\nof two lines"), name="zipfian") == made


def test_the_stored_trace_is_what_its_maker_makes() -> None:
    stored, made = lock_trace.load(lock_trace.STORED), lock_trace.zipfian()
    assert (stored.rows, stored.transactions) == (made.rows, made.transactions)
    popular = max(range(1024), key=lambda r: sum(r in [s.record for s in t.steps] for t in made.transactions))
    times = sum(popular in [step.record for step in one.steps] for one in made.transactions)
    # The first of 1024 ranks has 13 % of zipfian draws, twice a transaction.
    assert 180 < times < 320


def read_or_refused(text: str) -> tuple[Trace | None, str]:
    try:
        return parse(text), ""
    except UserError as err:
        return None, str(err)


def test_random_changes_of_a_trace_are_read_or_refused_in_one_line() -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    rng, refused = random.Random(seed), 0
    base = lock_trace.text(lock_trace.zipfian(12, rows=40, seed=3))
    for _ in range(3000):
        letters = list(base)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(letters) + 1)
            new = rng.choice(
                ["", " ", "\n", "\0", "#", "w", "r", "9", "é", "host ", "rows 0\n", chr(rng.randrange(256))]
            )
            letters[at : at + rng.randint(0, 3)] = new
        made, says = read_or_refused("".join(letters))
        if made is None:
            refused += 1
            assert says.isprintable(), says
        else:
            assert all(0 <= step.record < made.rows for one in made.transactions for step in one.steps)
            assert parse(lock_trace.text(made)) == made
    assert 500 < refused < 3000


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    for name, data, says in (
        ("binary", b"\xff\x00", "byte 0 is not ASCII"),
        ("large", b"#" * (lock_trace.MOST_BYTES + 1), "more than 4194304 bytes"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UserError, match=says):
            lock_trace.load(tmp_path / name)
    with pytest.raises(UserError, match="No such file"):
        lock_trace.load(tmp_path / "none")
