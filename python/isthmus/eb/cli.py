# SPDX-License-Identifier: Apache-2.0
"""`isthmus eb` as Typer's commands, built from the table in `options`. `lean` does the work."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from isthmus.eb import lean
from isthmus.eb.options import COMMANDS, REQUIRED, Command, Parameter

app = typer.Typer(rich_markup_mode=None)

KINDS: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "path": Path}


def _parameter(one: Parameter) -> inspect.Parameter:
    common: dict[str, Any] = {"help": one.help, "min": one.least, "max": one.most}
    if one.metavar is not None:
        common["metavar"] = one.metavar
    if not one.show_default:
        common["show_default"] = False
    info = typer.Option(*one.flags, **common) if one.flags else typer.Argument(**common)
    default = inspect.Parameter.empty if one.default is REQUIRED else one.default
    return inspect.Parameter(
        one.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[KINDS[one.kind], info],
    )


def _add(command: Command) -> None:
    def called(**values: Any) -> None:
        lean.call(command.name, values)

    given = [_parameter(one) for one in command.parameters]
    called.__signature__ = inspect.Signature(given)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in given}
    called.__doc__ = command.help
    app.command(command.name)(called)


for _command in COMMANDS:
    _add(_command)
