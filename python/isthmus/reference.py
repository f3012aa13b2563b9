# SPDX-License-Identifier: Apache-2.0
"""The page docs/reference/cli.md: what `--help` prints, command by command."""

from __future__ import annotations

import contextlib
import io
import os
from typing import cast
from unittest import mock

import typer
from typer.core import TyperGroup

from isthmus import cli

COLUMNS = 100

_HEAD = """\
# Command line

Every command prints this with `--help`. Exit codes: 0 done; 1 the run went wrong (wrong or lost data, a
figure worse than its baseline, a missed limit of the gateware, a failed test); 2 a wrong request or a missing
tool, with one line that says which; 130 stopped with Control-C, 143 with SIGTERM. Results go to standard
output, progress and errors to standard error.

Control-C, SIGTERM and a closed terminal end every command within half a second, with the line
`isthmus: stopped`; the tools that it started end with it. Commands that run until Control-C (`serve`,
`eb snoop`) print their counts and exit with 0. What lasts longer than a second shows its progress: a bar on
a terminal, elsewhere a line each ten seconds.

`ISTHMUS_PYTHON` names the Python that makes the environment; `CXX` the C++ compiler for models.
"""


def command_page() -> str:
    """The page's text, from the commands themselves."""
    parts = [_HEAD, _section("isthmus", [])]
    root = cast("TyperGroup", typer.main.get_command(cli.app)).commands
    groups = {name: command for name, command in root.items() if isinstance(command, TyperGroup)}
    parts += [_section(f"isthmus {name}", [name]) for name in root if name not in groups]
    for name, group in groups.items():
        for inner in group.list_commands(typer.Context(group)):
            parts.append(_section(f"isthmus {name} {inner}", [name, inner]))
    return "\n".join(parts)


def _section(title: str, command: list[str]) -> str:
    output = io.StringIO()
    with mock.patch.dict(os.environ, {"COLUMNS": str(COLUMNS)}), contextlib.redirect_stdout(output):
        cli.run([*command, "--help"])
    return f"## {title}\n\n```text\n{output.getvalue().strip()}\n```\n"
