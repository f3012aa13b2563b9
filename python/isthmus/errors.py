# SPDX-License-Identifier: Apache-2.0
"""Errors a person can act on: the command line prints their text as one line and exits."""

from __future__ import annotations

from collections.abc import Iterable

LISTED = 12
"""So many known names are shown after an unknown one."""


class UserError(Exception):
    """A wrong or missing input: the text says what, where, and what is expected. Exit code 2."""

    exit_code = 2


class DataError(UserError):
    """The run itself went wrong: lost or wrong data, a figure worse than its baseline. Exit code 1."""

    exit_code = 1


def choose(what: str, value: str, known: Iterable[str]) -> str:
    """`value`, where it is among the `known` names. Raises `UserError` with the nearest one and a short list.

    what  the kind of thing, as a message calls it: platform, method
    """
    names = list(known)
    if value in names:
        return value
    # Imported here: nothing that is right needs it.
    from difflib import get_close_matches

    lowered = {name.lower(): name for name in names}
    near = get_close_matches(value[:64].lower(), lowered, n=1, cutoff=0.6)
    shown = value if len(value) <= 64 else f"{value[:64]}..."
    text = f"unknown {what} {shown!r}; "
    if near:
        text += f"did you mean {lowered[near[0]]!r}? "
    if len(names) <= LISTED:
        text += f"choose from {', '.join(names)}"
    elif near:
        text += f"{len(names)} are known"
    else:
        text += f"{len(names)} are known: {', '.join(names[:LISTED])}, ..."
    raise UserError(text)
