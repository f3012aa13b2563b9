# SPDX-License-Identifier: Apache-2.0
"""`isthmus eb` without Typer: parses and runs a correct command line.

Typer and its imports take five times as long as reading a value. Any other command line is left to it:
help, a mistake, an unusual form of a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from getopt import GetoptError, gnu_getopt
from typing import Any

from isthmus import current
from isthmus.eb.options import COMMANDS, REQUIRED, Command, Parameter

LINK = ("name", "address_widths", "data_widths", "probes", "timeout_s", "dialect", "verbose", "quiet")
Values = dict[str, Any]


def parse(arguments: Sequence[str]) -> tuple[str, Values] | None:
    """A command's name and all its values; None if Typer must parse it."""
    command = next((one for one in COMMANDS if arguments and one.name == arguments[0]), None)
    return None if command is None else _values(command, list(arguments[1:]))


def _values(command: Command, arguments: list[str]) -> tuple[str, Values] | None:
    flags = {flag: one for one in command.parameters for flag in one.flags}
    if any(word.startswith("--") and word.partition("=")[0] not in flags for word in arguments):
        # A mistake, help, or an abbreviation, which getopt would take.
        return None
    short = "".join(
        flag[1:] + ("" if one.kind == "bool" else ":") for flag, one in flags.items() if len(flag) == 2
    )
    long = [flag[2:] + ("" if one.kind == "bool" else "=") for flag, one in flags.items() if len(flag) > 2]
    try:
        options, rest = gnu_getopt(arguments, short, long)
    except GetoptError:
        return None
    places = [one for one in command.parameters if not one.flags]
    if len(rest) > len(places):
        return None
    given: Values = {one.name: one.default for one in command.parameters}
    try:
        for one, text in [*zip(places, rest, strict=False), *((flags[flag], text) for flag, text in options)]:
            given[one.name] = _value(one, text)
    except ValueError:
        return None
    return None if REQUIRED in given.values() else (command.name, given)


def _value(one: Parameter, text: str) -> Any:
    """Raises `ValueError` for anything but a plain, correct value."""
    if one.kind == "bool":
        return True
    if one.kind == "path":
        from pathlib import Path

        return Path(text)
    if one.kind == "str":
        return text
    if not text.isascii() or not text.replace(".", "" if one.kind == "float" else ".", 1).isdigit():
        raise ValueError
    value = int(text) if one.kind == "int" else float(text)
    if (one.least is not None and value < one.least) or (one.most is not None and value > one.most):
        raise ValueError
    return value


def call(command: str, values: Values) -> None:
    """Do it. Raises what `tools` does."""
    current.ensure_native()
    from isthmus.eb import tools

    values = dict(values)
    if command == "discover":
        tools.show_discovered(**values)
        return
    if command == "snoop":
        tools.offer_or_watch(**values)
        return
    link = tools.Link(**{name: values.pop(name) for name in LINK})
    if "no_probe" in values:
        order = tools.Order(values.pop("big"), values.pop("little"), not values.pop("no_probe"))
        values["order"] = order
    if "flat" in values:
        values["recursive"] = not values.pop("flat")
    functions: dict[str, Callable[..., None]] = {
        "read": tools.read,
        "write": tools.write,
        "get": tools.get,
        "put": tools.put,
        "ls": tools.ls,
        "find": tools.find,
        "perf": tools.perf,
    }
    functions[command](link, **values)
