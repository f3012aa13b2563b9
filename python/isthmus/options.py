# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar, cast

import typer

from isthmus.errors import choose

if TYPE_CHECKING:
    from isthmus.bench.output import Format
    from isthmus.bench.runner import Sweep

FORMATS = ("table", "csv", "json")
PROFILES = ("as-published", "isthmus", "all")
SEED_LAST = (1 << 53) - 1
"""A result's readers keep whole numbers exactly up to here."""


def one_of(what: str, known: Sequence[str], *names: str, metavar: str = "", **more: Any) -> Any:
    """An option with a fixed set of values, which its help lists."""
    return typer.Option(
        *names, metavar=metavar or "|".join(known), parser=lambda text: choose(what, text, known), **more
    )


def platforms(end: str = ".") -> Any:
    """The option for several platforms."""
    text = f"Platform names or .toml files, separated by commas{end}"
    return typer.Option("--platform", metavar="NAMES", help=text)


def sizes(example: str) -> Any:
    """The option for bytes per transfer, one size or several, such as this."""
    return typer.Option("-s", "--size", metavar="BYTES", help=f"Bytes per transfer: {example}.")


def waveform_of(of: str, needs: str = "a single run") -> Any:
    """The option for a waveform of this device."""
    text = f"Write a waveform (FST) of {of}; needs {needs}."
    return typer.Option("--waveform", metavar="FILE", help=text)


Iterations = Annotated[
    int,
    typer.Option(
        "-n", "--iters", metavar="N", min=1, max=1_000_000, help="Etherbone cycles per measurement."
    ),
]
Transfers = Annotated[
    int | None,
    typer.Option("-n", "--iters", metavar="N", min=1, max=1_000_000, help="Transfers measured per size."),
]
Window = Annotated[
    int | None, typer.Option(metavar="N", help="Transfers in flight.  [1, and as many as fill the link]")
]
Platform = Annotated[str, typer.Option(metavar="NAME", help="Platform name or .toml file.")]
Platforms = Annotated[str, platforms()]
Profile = Annotated[str, one_of("profile", PROFILES, help="Design to measure.")]
PrintScenario = Annotated[
    bool,
    typer.Option(
        "--print-scenario",
        help="Print the scenario of the run, with its models built, for your own program; run nothing.",
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="N", min=0, max=SEED_LAST, help="Random seed; the same seed repeats the result exactly."
    ),
]
OutFolder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the results.")]
OutJson = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Name of the result file, ending in .json.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Measure on the Dask cluster of this scheduler, such as tcp://10.0.0.1:8786; resumes.",
    ),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Store each point in DIR/points and measure only the missing ones.")
]
Form = Annotated[str, one_of("format", FORMATS, "-f", "--format", help="What to print.")]


class ResultOptions(TypedDict):
    """What a command with results takes, as given; see `with_results`."""

    form: str
    out: Path
    out_json: Path | None
    scheduler: str | None
    resume: bool


class Results(TypedDict):
    """How a command's work prints and keeps its results."""

    format: Format
    out: Path
    out_json: Path | None
    runner: Sweep | None


_Command = TypeVar("_Command", bound=Callable[..., None])


def with_results(command: _Command) -> _Command:
    """Give `command`, as its last options, those that it takes as ``**options: Unpack[ResultOptions]``."""

    def option(name: str, annotation: Any, default: object) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    signature = inspect.signature(command, eval_str=True)
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    common = [
        option("form", Form, "table"),
        option("out", OutFolder, Path("out")),
        option("out_json", OutJson, None),
        option("scheduler", Scheduler, None),
        option("resume", Resume, False),
    ]
    command.__signature__ = signature.replace(parameters=[*own, *common])  # type: ignore[attr-defined]
    return command


def results(options: ResultOptions) -> Results:
    """For a command's work: the runner that --scheduler and --resume ask for is made here."""
    from isthmus.bench import runner

    return {
        "format": cast("Format", options["form"]),
        "out": options["out"],
        "out_json": options["out_json"],
        "runner": runner.sweep(options["out"], options["scheduler"], options["resume"]),
    }
