# SPDX-License-Identifier: Apache-2.0
"""Messages of PostgreSQL's logical replication, version 1, as the plug-in pgoutput writes them.

What a list of transactions needs is read: begin, commit, tables, changes of rows, messages of programs.
Layout: PostgreSQL's documentation, "Logical Replication Message Formats".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


class PgoutputError(ValueError):
    """Bytes that are no message of pgoutput."""


@dataclass(frozen=True)
class Begin:
    """A transaction's first message."""

    xid: int


@dataclass(frozen=True)
class Commit:
    """Its last one."""


@dataclass(frozen=True)
class Relation:
    """A table, before its first change."""

    id: int
    name: str
    columns: tuple[str, ...]
    key: tuple[int, ...]
    """Numbers of the columns that are its key."""


@dataclass(frozen=True)
class Change:
    """A row that was inserted, updated or deleted; `row` as text, `None` what is null or not sent."""

    kind: str
    relation: int
    row: tuple[str | None, ...]


@dataclass(frozen=True)
class Message:
    """What a program said in its transaction (`pg_logical_emit_message`)."""

    prefix: str
    content: str


@dataclass(frozen=True)
class Other:
    """A message that says nothing of rows: an origin, a type, a table that was emptied."""

    kind: str


Read = Begin | Commit | Relation | Change | Message | Other
INSERT, UPDATE, DELETE = "I", "U", "D"
_OTHERS: Final = frozenset("OYT")


class _Bytes:
    """Takes fields from the front."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise PgoutputError(f"byte {self._at}: {count} more expected, {len(self._data) - self._at} left")
        found, self._at = self._data[self._at : end], end
        return found

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "big")

    def letter(self) -> str:
        return chr(self.number(1))

    def string(self) -> str:
        end = self._data.find(b"\0", self._at)
        if end < 0:
            raise PgoutputError(f"byte {self._at}: a name without an end")
        found = self.text(end - self._at)
        self._at = end + 1
        return found

    def text(self, count: int) -> str:
        begin = self._at
        try:
            return self.take(count).decode()
        except UnicodeDecodeError:
            raise PgoutputError(f"byte {begin}: not UTF-8") from None

    def row(self) -> tuple[str | None, ...]:
        return tuple(self._column() for _ in range(self.number(2)))

    def _column(self) -> str | None:
        kind = self.letter()
        if kind in "nu":
            return None
        if kind != "t":
            raise PgoutputError(f"byte {self._at - 1}: a column of kind {kind!r}; expected n, u or t")
        return self.text(self.number(4))

    def end(self) -> None:
        if self._at != len(self._data):
            raise PgoutputError(f"byte {self._at}: {len(self._data) - self._at} behind the message")


def parse(data: bytes) -> Read:
    """One message. Raises `PgoutputError` for anything else."""
    rest = _Bytes(data)
    kind = rest.letter()
    made: Read
    match kind:
        case "B":
            rest.take(16)
            made = Begin(rest.number(4))
        case "C":
            rest.take(25)
            made = Commit()
        case "R":
            made = _relation(rest)
        case "I" | "U" | "D":
            made = _change(kind, rest)
        case "M":
            rest.take(9)
            made = Message(rest.string(), rest.text(rest.number(4)))
        case _ if kind in _OTHERS:
            return Other(kind)
        case _:
            raise PgoutputError(f"byte 0: a message of kind {kind!r}")
    rest.end()
    return made


def _relation(rest: _Bytes) -> Relation:
    number = rest.number(4)
    rest.string()
    name = rest.string()
    rest.take(1)
    columns, key = [], []
    for at in range(rest.number(2)):
        if rest.number(1) & 1:
            key.append(at)
        columns.append(rest.string())
        rest.take(8)
    return Relation(number, name, tuple(columns), tuple(key))


def _change(kind: str, rest: _Bytes) -> Change:
    relation, tuple_kind = rest.number(4), rest.letter()
    if kind == UPDATE and tuple_kind in "KO":
        rest.row()
        tuple_kind = rest.letter()
    if tuple_kind not in ("KO" if kind == DELETE else "N"):
        raise PgoutputError(f"a change {kind} with a row of kind {tuple_kind!r}")
    return Change(kind, relation, rest.row())
