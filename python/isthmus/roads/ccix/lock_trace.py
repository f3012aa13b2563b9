# SPDX-License-Identifier: Apache-2.0
"""Traces of transactions on records: the format of docs/reference/lock-trace.md, its reader, and a maker."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from random import Random

from isthmus.errors import UserError

HEAD = "isthmus-lock-trace 1"
MOST_ROWS, MOST_STEPS, MOST_TRANSACTIONS, MOST_BYTES = 1024, 4, 100_000, 4 << 20
SIDES = ("host", "fpga")
KINDS = ("r", "w")
STORED = Path(__file__).with_name("ycsb-a.trace")
"""What is replayed where no file is named: `zipfian()`."""


@dataclass(frozen=True)
class Step:
    """A record that a transaction reads, or updates."""

    record: int
    update: bool


@dataclass(frozen=True)
class Transaction:
    """Who makes it, and its records in order."""

    fpga: bool
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Trace:
    """Transactions on records 0 to `rows` - 1."""

    name: str
    rows: int
    transactions: tuple[Transaction, ...]

    @cached_property
    def scenario(self) -> list[dict[str, object]]:
        """The transactions as the engine takes them: one list for all runs, which only read it."""
        return [
            {
                "fpga": one.fpga,
                "steps": [{"record": step.record, "update": step.update} for step in one.steps],
            }
            for one in self.transactions
        ]


def load(path: Path) -> Trace:
    """Raises `UserError` in one line for a file that is no trace."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as err:
        raise UserError(f"{path}: {err.strerror or err}") from None
    if len(data) > MOST_BYTES:
        raise UserError(f"{path}: more than {MOST_BYTES} bytes")
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError as err:
        raise UserError(f"{path}: byte {err.start} is not ASCII") from None
    plain = "".join(
        letter for letter in path.stem if letter.isascii() and (letter.isalnum() or letter in "-_")
    )
    return parse(text, str(path), plain[:32] or "trace")


def parse(text: str, where: str = "trace", name: str = "trace") -> Trace:
    """A trace from its text; `where` begins each error."""
    lines = _lines(text)
    number, head = next(lines, (1, ""))
    if head != HEAD:
        raise UserError(f"{where}:{number}: expected {HEAD!r}")
    number, line = next(lines, (number + 1, ""))
    word, _, digits = line.partition(" ")
    if word != "rows" or not _is_number(digits, MOST_ROWS) or int(digits) == 0:
        raise UserError(f"{where}:{number}: expected 'rows N', 1 to {MOST_ROWS}")
    rows = int(digits)
    made: list[Transaction] = []
    for number, line in lines:
        if len(made) == MOST_TRANSACTIONS:
            raise UserError(f"{where}:{number}: more than {MOST_TRANSACTIONS} transactions")
        made.append(_transaction(line, rows, f"{where}:{number}"))
    if not made:
        raise UserError(f"{where}: no transactions")
    return Trace(name, rows, tuple(made))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that say something, with their numbers."""
    for number, line in enumerate(text.split("\n"), 1):
        if line and not line.startswith("#"):
            yield number, line


def _is_number(digits: str, most: int) -> bool:
    return digits.isascii() and digits.isdigit() and len(digits) <= 6 and int(digits) <= most


def _transaction(line: str, rows: int, where: str) -> Transaction:
    side, *words = line.split(" ")
    if side not in SIDES:
        raise UserError(f"{where}: expected 'host' or 'fpga', then records such as w5")
    if not 1 <= len(words) <= MOST_STEPS:
        raise UserError(f"{where}: {len(words)} records; a transaction has 1 to {MOST_STEPS}")
    steps = []
    for word in words:
        kind, digits = word[:1], word[1:]
        if kind not in KINDS or not _is_number(digits, rows - 1):
            raise UserError(f"{where}: {word[:20]!r}; expected r or w and a record, 0 to {rows - 1}")
        steps.append(Step(int(digits), kind == "w"))
    if len({step.record for step in steps}) < len(steps):
        raise UserError(f"{where}: a record twice in one transaction")
    return Transaction(side == "fpga", tuple(steps))


def text(trace: Trace, comment: str = "") -> str:
    """The trace as a file has it."""
    lines = [HEAD, *(f"# {line}" for line in comment.splitlines()), f"rows {trace.rows}"]
    for one in trace.transactions:
        words = [f"{KINDS[step.update]}{step.record}" for step in one.steps]
        lines.append(" ".join((SIDES[one.fpga], *words)))
    return "\n".join(lines) + "\n"


def zipfian(
    count: int = 1000,
    rows: int = MOST_ROWS,
    steps: int = 2,
    updates: float = 0.5,
    theta: float = 0.99,
    seed: int = 1,
) -> Trace:
    """Transactions as YCSB's workload A has its requests: records by a zipfian law of `theta`, half updates.

    The most popular records are spread over all numbers. Half of the transactions are the FPGA's.
    """
    random = Random(seed)
    weights = list(accumulate(1 / rank**theta for rank in range(1, rows + 1)))
    order = list(range(rows))
    for place in range(rows - 1, 0, -1):
        other = int(random.random() * (place + 1))
        order[place], order[other] = order[other], order[place]
    made = []
    for _ in range(count):
        chosen: list[Step] = []
        while len(chosen) < min(steps, rows):
            record = order[min(rows - 1, bisect(weights, random.random() * weights[-1]))]
            if record not in [step.record for step in chosen]:
                chosen.append(Step(record, random.random() < updates))
        made.append(Transaction(random.random() < 0.5, tuple(chosen)))
    return Trace("zipfian", rows, tuple(made))


def uniform(count: int, rows: int = MOST_ROWS, seed: int = 1) -> Trace:
    """Updates of one record each, all records alike: nearly no transaction waits for another."""
    random = Random(seed)
    made = [
        Transaction(random.random() < 0.5, (Step(int(random.random() * rows), True),)) for _ in range(count)
    ]
    return Trace("uniform", rows, tuple(made))


def hot(count: int) -> Trace:
    """Updates of one record, by the host and the FPGA in turn."""
    return Trace("hot", 1, tuple(Transaction(turn % 2 == 1, (Step(0, True),)) for turn in range(count)))
