# SPDX-License-Identifier: Apache-2.0
import io
import sys
from typing import NoReturn

from isthmus import jobs


def _program() -> int:
    # Imported here: a signal meanwhile must find its handler.
    if sys.argv[1:2] == ["eb"]:
        from isthmus.eb import lean

        found = lean.parse(sys.argv[2:])
        if found is not None:
            return _lean(*found)
    from isthmus.cli import run

    return run(sys.argv[1:])


def _lean(command: str, values: dict[str, object]) -> int:
    """A correct command of `eb`; only what goes wrong needs the rest of the command line."""
    from isthmus.eb import lean

    if isinstance(sys.stdout, io.TextIOWrapper):
        # As `cli.run` does.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        lean.call(command, values)
        if sys.stdout is not None:
            sys.stdout.flush()
    except Exception as err:
        # A signal goes on to `jobs.main`, which says so at once.
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
