# SPDX-License-Identifier: Apache-2.0
"""The command line. Every command imports what it needs when it runs, so that help is instant.

An error a person can act on is one line on standard error: exit code 2 for a wrong request or a missing tool,
1 for a run that went wrong (data, a figure worse than its baseline, a failed test), 130 for Control-C.
"""

from __future__ import annotations

import sys
from typing import Annotated, NoReturn

import typer

from isthmus import __version__, bootstrap
from isthmus.errors import UserError

app = typer.Typer(
    name="isthmus",
    help="Build, measure and compare the road between a host and its accelerator.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"isthmus {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    del version


@app.command()
def area(
    cores: Annotated[list[str] | None, typer.Argument(metavar="CORE", help="Default: all.")] = None,
    family: Annotated[str, typer.Option(help="xc7, xcup, xc2vp, ecp5 or all.")] = "xc7",
    update: Annotated[bool, typer.Option("--update", help="Store these figures as the baseline.")] = False,
) -> None:
    """Area of cores beside baseline and peers."""
    from isthmus.figures import cores as table

    entries = table.select(cores or [])
    from isthmus.console import counting
    from isthmus.figures import area as figures
    from isthmus.figures import baseline, show

    families = list(figures.FAMILIES) if family == "all" else [family]
    if family != "all" and family not in figures.FAMILIES:
        raise UserError(f"no family {family!r}; there are: {', '.join(figures.FAMILIES)}, all")
    bootstrap.ensure_development()
    with counting("area", len(entries) * len(families)) as done:
        measured = figures.measure_all(entries, families, done)
    if update:
        baseline.update("area", measured, figures.tools())
    found, worse = show.area_table(entries, measured)
    show.conclude(found, worse, show.peer_sources(entries, None if family == "all" else family))


@app.command()
def timing(
    cores: Annotated[list[str] | None, typer.Argument(metavar="CORE", help="Default: all.")] = None,
    update: Annotated[bool, typer.Option("--update", help="Store these figures as the baseline.")] = False,
) -> None:
    """Clock frequency of cores on ECP5 beside target."""
    from isthmus.figures import cores as table

    entries = table.select(cores or [])
    bootstrap.ensure_development()
    from isthmus.console import counting
    from isthmus.figures import baseline, show
    from isthmus.figures import timing as figures

    with counting("timing", len(entries) * (len(figures.SEEDS) + 1)) as done:
        measured = figures.measure_all(entries, done)
    if update:
        stored = {
            core: {
                c.clock: {"median_mhz": c.median_mhz, "best_mhz": c.best_mhz, "target_mhz": c.target_mhz}
                for c in clocks
            }
            for core, clocks in measured.items()
        }
        baseline.update("timing", stored, figures.tools())
    found, worse = show.timing_table(entries, measured)
    show.conclude(found, worse, [])


@app.command("test")
def run_tests(
    fast: Annotated[bool, typer.Option("--fast", help="Leave out what simulates RTL.")] = False,
    keyword: Annotated[
        str, typer.Option("-k", metavar="EXPR", help="Only Python tests that match, as pytest -k.")
    ] = "",
) -> None:
    """Run every check of the project."""
    from isthmus import testing

    raise typer.Exit(testing.run(testing.Options(fast, keyword)))


@app.command()
def regs(
    check: Annotated[bool, typer.Option("--check", help="Only say which files are out of date.")] = False,
) -> None:
    """Generate register files from rtl/regs/*.rdl."""
    bootstrap.ensure_development()
    from isthmus import regs as maps
    from isthmus.errors import DataError

    if check:
        stale = maps.check()
        if stale:
            raise DataError(f"out of date, isthmus regs writes them: {', '.join(stale)}")
        return
    for path in maps.generate():
        print(path)


@app.command()
def doctor() -> None:
    """Check this machine and set up everything."""
    from isthmus import doctor as check

    raise typer.Exit(check.run())


def main() -> NoReturn:
    """Run the command line and end the process."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command. The exit code; never a traceback for something a person can act on."""
    from typer.exceptions import TyperException

    try:
        code = app(arguments, prog_name="isthmus", standalone_mode=False)
    except TyperException as err:
        text = err.format_message()
        if not text or type(err).__name__ == "NoArgsIsHelpError":
            print(text)
            return 2
        return _say(text, getattr(err, "exit_code", 2))
    except UserError as err:
        return _say(str(err.args[0] if err.args else err), err.exit_code)
    except bootstrap.SetupError as err:
        return _say(str(err), 2)
    except (KeyboardInterrupt, typer.Abort):
        return _say("stopped", 130)
    except BrokenPipeError:
        sys.stdout = None
        return 0
    if code == 130:
        return _say("stopped", 130)
    return code if isinstance(code, int) else 0


def _say(text: str, code: int) -> int:
    print(f"isthmus: {' '.join(text.split())}", file=sys.stderr)
    return code
