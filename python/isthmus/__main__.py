# SPDX-License-Identifier: Apache-2.0
import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from isthmus import jobs

WIDTH = 80
"""Columns for which `help.txt` is made; a narrower terminal gets its own."""


def _program() -> int:
    # Imported here: a signal meanwhile must find its handler.
    if sys.argv[1:] in (["--help"], ["-h"]) and _columns() >= WIDTH:
        return _written(_help)
    if sys.argv[1:2] == ["eb"]:
        from isthmus.eb import lean

        found = lean.parse(sys.argv[2:])
        if found is not None:
            return _written(lambda: lean.call(*found))
    from isthmus.cli import run

    return run(sys.argv[1:])


def _columns() -> int:
    """Columns of the terminal, as used by the command line; a pipe has as many as `help.txt`."""
    try:
        return int(os.environ.get("COLUMNS", "")) or os.get_terminal_size().columns
    except (OSError, ValueError):
        return WIDTH


def _help() -> None:
    """The stored help: a test compares it with the help of the commands."""
    print((Path(__file__).parent / "help.txt").read_text(), end="")


def _written(command: Callable[[], object]) -> int:
    """Run a correct command; only errors need the rest of the command line."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # As `cli.run` does.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        command()
        if sys.stdout is not None:
            sys.stdout.flush()
    except Exception as err:
        # A signal is passed to `jobs.main`, which reports it at once.
        failed = err
        from isthmus.cli import guarded

        def fail() -> None:
            raise failed

        return guarded(fail)
    return 0


def main() -> NoReturn:
    """The command `isthmus` of an installed package."""
    jobs.main(_installed)


def _installed() -> int:
    from isthmus.errors import UserError

    try:
        from isthmus import paths
    except UserError as err:
        print(f"isthmus: {err}", file=sys.stderr)
        return err.exit_code
    del paths
    return _program()


if __name__ == "__main__":
    jobs.main(_program)
