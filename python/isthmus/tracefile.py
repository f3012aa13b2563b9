# SPDX-License-Identifier: Apache-2.0
"""Files of packets or transfers, a line each, as the benchmarks read them."""

from __future__ import annotations

from pathlib import Path

from isthmus.errors import UserError
from isthmus.storage import read_text

LINES = 1_000_000
LARGEST_BYTES = 256 << 20


def lines(path: Path, form: str, what: str, option: str) -> list[tuple[str, list[str]]]:
    """Each line that says something: its place, and its fields. Fields are separated by blanks or
    commas; # begins a comment. Raises `UserError`: the file cannot be read, is not UTF-8, empty or too long.

    form    the fields of a line, for messages
    what    one line is called so in messages: packet, transfer
    option  messages begin with it
    """
    where = f"{option}: {path}"
    try:
        text = read_text(path, LARGEST_BYTES)
    except UserError as err:
        raise UserError(f"{option}: {err}") from err
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.partition("#")[0].replace(",", " ").split()
        if fields:
            found.append((f"{where}:{number}", fields))
    if not found:
        raise UserError(f"{where}: contains no {what}; a line is: {form}")
    if len(found) > LINES:
        raise UserError(f"{where}: {len(found)} lines, at most {LINES}")
    return found
