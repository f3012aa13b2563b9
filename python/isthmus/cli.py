# SPDX-License-Identifier: Apache-2.0
"""The command line. Every command imports what it needs when it runs, so that help is instant.

An error a person can act on is one line on standard error: exit code 2 for a wrong request or a missing tool,
1 for a run that went wrong (data, a figure worse than its baseline, a failed test), 130 for Control-C.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from isthmus import __version__, bootstrap, jobs
from isthmus.errors import UserError, choose
from isthmus.options import OutFolder, Resume, Scheduler, Seed, one_of
from isthmus.roads.table import having, resolve, roads


def _once(command: Any, args: Sequence[str]) -> None:
    """An option that takes one value and is given twice is refused: the first would be dropped."""
    for option in command.params:
        if option.param_type_name != "option" or option.is_flag or option.multiple:
            continue
        given = [arg for arg in args if arg.partition("=")[0] in option.opts]
        if len(given) > 1:
            several = option.metavar == "NAMES" or option.name in ("size", "errors")
            how = "once, values separated by commas" if several else "once"
            raise UserError(f"{option.opts[-1]}: given {len(given)} times; expected {how}")


def _checked(command: Any) -> Any:
    """The command, which looks for options that are given twice before it parses them."""
    if command is not None and not isinstance(command, TyperGroup) and "parse_args" not in vars(command):
        parse = command.parse_args

        def parsed(ctx: Any, args: list[str]) -> Any:
            _once(command, args)
            return parse(ctx, args)

        command.parse_args = parsed
    return command


class _Group(TyperGroup):
    """Commands; an unknown one comes with the nearest name."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _checked(super().get_command(ctx, choose("command", cmd_name, self.list_commands(ctx))))


app = typer.Typer(
    name="isthmus",
    cls=_Group,
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


FAMILIES = ("xc7", "xcup", "xc2vp", "ecp5", "all")
DEVICES = ("lfe5u-85", "lfe5um5g-85")


@app.command()
def compare(
    op: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="read, write (host-read, host-write), device-read, device-write, put, get, "
            "message, nic-to-memory or update.  [all]",
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "-s",
            "--size",
            metavar="BYTES",
            help="Bytes per request: 256, 2K, a list 8,64,1K, or doubling 8:4K.  [256; update: 8]",
        ),
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(metavar="N", help="Requests in flight, closed loop.  [1]"),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="R", help="Requests per second, such as 100k, Poisson arrivals; replaces --window."
        ),
    ] = None,
    platform: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Platform names or .toml files, separated by commas.  [some of each road]"
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Replace a platform's constant: link.lanes=8; repeatable."
        ),
    ] = None,
    driver: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only this driver: ring, dma, loads, bulk, serial, datagram, inline, poll or cached.",
        ),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--iters",
            metavar="N",
            min=1,
            max=1_000_000,
            help="Measured requests, at the least.  [1000; above 1 KiB 256 KiB in all; without --op 200]",
        ),
    ] = None,
    seed: Seed = 1,
    noise: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Operating-system noise: cyclictest -h output, or ns and counts."),
    ] = None,
    details: Annotated[
        bool,
        typer.Option("--details", help="Also percentiles, every stage, crossovers, notes and constants."),
    ] = False,
    out: OutFolder = Path("out"),
    scheduler: Scheduler = None,
    resume: Resume = False,
) -> None:
    """Measure a transfer over every road and say which is best."""
    from isthmus.bench.runner import sweep
    from isthmus.compare.api import run as ask
    from isthmus.compare.measure import Request

    names = () if platform is None else tuple(name.strip() for name in platform.split(","))
    request = Request(op, size, window, rate, names, tuple(set_ or ()), driver, iterations, seed, noise)
    ask(request, out=out, details=details, runner=sweep(out, scheduler, resume))


class _Lazy(TyperGroup):
    """Commands that roads define: each is imported when it is used, and all for the group's help."""

    def list_commands(self, _: Any) -> list[str]:
        return list(self._found())

    def get_command(self, _: Any, cmd_name: str) -> Any:
        known = self._found()
        return _checked(_made(cmd_name, known[choose("command", cmd_name, known)]))

    def _found(self) -> Mapping[str, str]:
        raise NotImplementedError


@cache
def _made(name: str, reference: str) -> Any:
    """The command that a reference to a function, or to a Typer, makes."""
    found = resolve(reference)
    if not isinstance(found, typer.Typer):
        one = typer.Typer(add_completion=False, rich_markup_mode=None)
        one.command(name)(found)
        found = one
    return typer.main.get_command(found)


BESIDE_ROADS = {"trigger": "isthmus.trigger.cli:bench"}
"""What is measured and is no road."""


class _Bench(_Lazy):
    def _found(self) -> Mapping[str, str]:
        return {name: one for road in roads() for name, one in road.commands.items()} | BESIDE_ROADS


class _Serve(_Lazy):
    def _found(self) -> Mapping[str, str]:
        return {road.name: road.serve for road in having("serve")}


bench = typer.Typer(
    cls=_Bench, help="Measure one road in detail.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(bench, name="bench")
serve = typer.Typer(
    cls=_Serve, help="Connect a simulated FPGA to real programs.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(serve, name="serve")


def _add_tools(name: str, words: str, reference: str) -> None:
    """A group of commands of its own."""

    class Tools(_Lazy):
        def list_commands(self, _: Any) -> list[str]:
            return list(_made(name, reference).commands)

        def get_command(self, _: Any, cmd_name: str) -> Any:
            known = _made(name, reference).commands
            return known[choose("command", cmd_name, known)]

    group = typer.Typer(cls=Tools, help=words, no_args_is_help=True, rich_markup_mode=None)
    app.add_typer(group, name=name)


for _road in having("tools"):
    for _name, (_words, _reference) in _road.tools.items():
        _add_tools(_name, _words, _reference)
_add_tools("trigger", "Generate RICH events and find their rings.", "isthmus.trigger.cli:app")


PUBLISHED = [road.name for road in having("published")]


@app.command()
def verify(
    road: Annotated[
        str,
        typer.Argument(metavar="ROAD", help=f"Which published system: {', '.join(PUBLISHED)}."),
    ] = PUBLISHED[0],
    results: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take the simulated numbers from this result file.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Also exit 1 if a published row differs.")] = False,
    notes: Annotated[
        bool, typer.Option("--notes", help="Say for each row which inputs an agreement depends on.")
    ] = False,
) -> None:
    """Compare published numbers with simulated ones. Exits 1 where a limit of the gateware is missed."""
    choose("published system", road, PUBLISHED)
    if results is None:
        bootstrap.ensure_native()
    from isthmus import verify as verification

    found, limits = verification.run(road, results=results, notes=notes)
    if verification.failed(found, limits, strict):
        raise typer.Exit(1)


@app.command()
def report(
    results: Annotated[Path, typer.Argument(metavar="FILE", help="A result file, isthmus.result/1.")] = Path(
        "out/compare.json"
    ),
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page.  [the result's name, with .html]")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write only the main figure, as SVG, here.")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write only the table of results here: .csv, or .parquet."),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the tables, and write nothing.")] = False,
) -> None:
    """Redraw the page from a result file."""
    from isthmus import report as drawing

    if text:
        drawing.show(results)
    else:
        drawing.run(results, out=out, svg=svg, table=table)


@app.command()
def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD.json", help="A result file.")],
    new: Annotated[Path, typer.Argument(metavar="NEW.json", help="Another one, of the same roads.")],
) -> None:
    """Show what changed between two results, one line per change."""
    from isthmus.results import diff as changes

    changes.run(old, new)


@app.command()
def prove(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Default: all.")] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Also run proofs whose result is in the cache.")
    ] = False,
    store: Annotated[
        bool,
        typer.Option("--store", help="Store that the long ones hold, for isthmus test."),
    ] = False,
) -> None:
    """Run the formal proofs."""
    from isthmus import formal
    from isthmus.errors import DataError

    known = formal.available()
    for name in names or []:
        choose("proof", name, known)
    bootstrap.ensure_development()

    def show(result: formal.ProofResult) -> None:
        print(formal.summary([result]), flush=True)

    results = formal.prove(names or None, progress=show, fresh=fresh)
    failed = [result.name for result in results if not result.passed]
    if store:
        print(f"stored {len(formal.store(results))} proofs in {formal.PROVED}")
    if failed:
        raise DataError(f"{len(failed)} of {len(results)} proofs failed: {', '.join(failed)}")


@app.command()
def area(
    cores: Annotated[list[str] | None, typer.Argument(metavar="CORE", help="Default: all.")] = None,
    family: Annotated[str, one_of("family", FAMILIES, help="FPGA family.")] = "xc7",
    update: Annotated[bool, typer.Option("--update", help="Store these figures as the baseline.")] = False,
) -> None:
    """Report area of cores against baselines and peers."""
    from isthmus.figures import cores as table

    entries = table.select(cores or [])
    from isthmus.console import counting
    from isthmus.figures import area as figures
    from isthmus.figures import baseline, show

    families = list(figures.FAMILIES) if family == "all" else [family]
    bootstrap.ensure_development()
    with counting("area", len(figures.pairs(entries, families))) as done:
        measured = figures.measure_all(entries, families, done)
    if update:
        baseline.update("area", measured, figures.tools())
    found, worse = show.area_table(entries, measured)
    show.conclude(found, worse, show.area_notes(entries, families))


@app.command()
def timing(
    cores: Annotated[list[str] | None, typer.Argument(metavar="CORE", help="Default: all.")] = None,
    device: Annotated[str, one_of("device", DEVICES, help="FPGA device.")] = "lfe5u-85",
    update: Annotated[bool, typer.Option("--update", help="Store these figures as the baseline.")] = False,
) -> None:
    """Report Fmax of cores on ECP5 against the targets."""
    from isthmus.figures import cores as table

    # Placed on ECP5: cores that are not measured for it have no clock there.
    entries = [entry for entry in table.select(cores or []) if "ecp5" not in entry.without]
    from isthmus.console import counting
    from isthmus.figures import baseline, show
    from isthmus.figures import timing as figures

    chosen = figures.DEVICES[device]
    bootstrap.ensure_development()
    with counting("timing", len(entries) * (len(figures.SEEDS) + 1)) as done:
        measured, failed = figures.measure_all(entries, done, chosen)
    if update:
        stored = {
            core: {
                c.clock: {"median_mhz": c.median_mhz, "best_mhz": c.best_mhz, "target_mhz": c.target_mhz}
                for c in clocks
            }
            for core, clocks in measured.items()
        }
        baseline.update(chosen.baseline, stored, figures.tools(chosen))
    found, worse = show.timing_table(entries, measured, chosen)
    show.conclude(found, [*failed, *worse], [])


@app.command()
def image(
    board: Annotated[
        str, typer.Argument(metavar="BOARD", help="An image of boards/: ecpix5 or ecpix5_link.")
    ],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The bitstream.  [default: out/BOARD.bit]")
    ] = None,
) -> None:
    """Build the bitstream of a board with open tools; exits 1 where its clocks are not met."""
    from isthmus import storage
    from isthmus.console import counting
    from isthmus.errors import choose
    from isthmus.figures import image as images
    from isthmus.results.table import aligned

    choose("board", board, images.BOARDS)
    target = out or Path("out") / f"{board}.bit"
    storage.prepare(target.parent)
    bootstrap.ensure_development()
    with counting("image", 1 + len(images.SEEDS)) as done:
        clocks = images.build(board, target, done)
    rows = [("clock", "MHz", "required", "ratio")]
    rows += [
        (c.name, f"{c.achieved_mhz:.1f}", f"{c.required_mhz:g}", f"{c.achieved_mhz / c.required_mhz:.2f}")
        for c in clocks
    ]
    print(f"{images.BOARDS[board].title}\n\n{aligned(rows, left={0})}\n{target}")


@app.command("test")
def run_tests(
    fast: Annotated[bool, typer.Option("--fast", help="Skip tests that simulate RTL.")] = False,
    keyword: Annotated[
        str, typer.Option("-k", metavar="EXPR", help="Run only Python tests that match, as in pytest -k.")
    ] = "",
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Also run tests whose result is in the cache."),
    ] = False,
    release: Annotated[
        bool, typer.Option("--all", help="Also run the long tests and proofs of a release.")
    ] = False,
) -> None:
    """Run every check of the project."""
    from isthmus import testing

    raise typer.Exit(testing.run(testing.Options(fast, keyword, fresh, release)))


@app.command()
def regs(
    check: Annotated[bool, typer.Option("--check", help="Only list the files that are out of date.")] = False,
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
def files(
    core: Annotated[
        str, typer.Argument(metavar="CORE", help="A module such as gige_udp, or a core such as rdma.")
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="f|vivado|quartus|litex|template",
            help="A file list for Verilator, Tcl for Vivado or Quartus with constraints, Python for LiteX, "
            "or an instance of the module.",
        ),
    ] = "f",
) -> None:
    """Print the sources of a core for your own tools."""
    from isthmus import fusesoc

    print(fusesoc.listing(core, form), end="")


@app.command("platforms")
def list_platforms() -> None:
    """List the platforms that can be measured."""
    from isthmus import platforms
    from isthmus.results.table import aligned

    rows = [("#name", "kind", "title")]
    rows += [(one.name, one.bus, one.title) for one in map(platforms.load, platforms.names())]
    print(aligned(rows, left=range(3)), end="")
    print("# another system: a TOML file with a base, given by its path (docs/reference/platforms.md)")


@app.command()
def clean() -> None:
    """Empty the cache of models, benches and proofs."""
    from isthmus import cache

    print(f"{cache.clean() / 1e6:.1f} MB freed in {cache.root()}")


@app.command()
def doctor() -> None:
    """Check this machine and set up everything."""
    from isthmus import doctor as check

    raise typer.Exit(check.run())


def run(arguments: list[str]) -> int:
    """Run one command. The exit code; never a traceback for something a person can act on."""
    return guarded(lambda: _command()(arguments, prog_name="isthmus", standalone_mode=False))


@cache
def _command() -> Any:
    """The tree of commands, which takes longer to make than most commands to fail."""
    return typer.main.get_command(app)


def guarded(command: Callable[[], object]) -> int:
    """Run a command; returns its exit code, and prints one line for an error of the user."""
    code = _guarded(command)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = None
    except (OSError, ValueError) as err:
        # Nothing else may be written there: Python would try again at its end, and print an error.
        sys.stdout = None
        return _say(_system(err), 1) if code == 0 else code
    return code


def _guarded(command: Callable[[], object]) -> int:
    from typer.exceptions import TyperException

    # A name that is not valid text is returned unchanged, not as an error. A second time would flush.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors != "backslashreplace":
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = command()
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
        return jobs.say_stopped()
    except BrokenPipeError:
        sys.stdout = None
        return 0
    except MemoryError:
        return _say("out of memory; ask for less at a time", 1)
    except (OSError, UnicodeError) as err:
        return _say(_system(err), 1)
    except Exception as err:
        return _say(_internal(err), 1)
    if code == 130:
        return jobs.say_stopped()
    return code if isinstance(code, int) else 0


def _system(err: Exception) -> str:
    """The system's error in one line."""
    if not isinstance(err, OSError):
        return str(err)
    return f"{err.filename or 'standard output'}: {err.strerror or type(err).__name__}"


def _internal(err: Exception) -> str:
    """One line for what must not happen; the traceback goes to a file."""
    import tempfile
    import traceback

    from isthmus.paths import STATE

    what = f"internal error ({type(err).__name__}: {err}); please report it"
    for folder in (STATE / "log", Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / "isthmus-error.log"
            file.write_text("".join(traceback.format_exception(err)), errors="backslashreplace")
        except OSError:
            continue
        return f"{what}, with {file}"
    return what


def _say(text: str, code: int) -> int:
    line = "".join(c if c.isprintable() else repr(c)[1:-1] for c in " ".join(text.split()))
    print(f"isthmus: {line}", file=sys.stderr)
    return code
