# SPDX-License-Identifier: Apache-2.0
"""The command line. Every command imports what it needs when it runs, so that help is instant.

An error a person can act on is one line on standard error: exit code 2 for a wrong request or a missing tool,
1 for a run that went wrong (data, a figure worse than its baseline, a failed test), 130 for Control-C.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from isthmus import __version__, bootstrap, jobs
from isthmus.errors import UserError, choose

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


FORMATS = ("table", "csv", "json")
PROFILES = ("as-published", "isthmus", "all")
METHODS = ("convenience", "blocking", "pipelined", "all")
TRACES = ("none", "fst", "perfetto", "pcapng")
PORTS = ("4", "8", "12", "16")
ARRIVALS = ("paced", "poisson", "bursty")
POSTINGS = ("v1", "v2", "v3")
PUBLISHED = ("etherbone", "switch", "rdma")
DIALECTS = ("ohwr", "liteeth", "litex")
FAMILIES = ("xc7", "xcup", "xc2vp", "ecp5", "all")
DEVICES = ("lfe5u-85", "lfe5um5g-85")
SEED_LAST = (1 << 53) - 1
"""A result's readers keep whole numbers exactly up to here."""


def _one_of(what: str, known: Sequence[str], *names: str, metavar: str = "", **more: Any) -> Any:
    """An option with a fixed set of values, which its help lists."""
    return typer.Option(
        *names, metavar=metavar or "|".join(known), parser=lambda text: choose(what, text, known), **more
    )


Iterations = Annotated[
    int, typer.Option("-n", "--iters", metavar="N", min=1, max=1_000_000, help="Cycles of each measurement.")
]
Seed = Annotated[
    int,
    typer.Option(
        metavar="N", min=0, max=SEED_LAST, help="Random seed; the same seed repeats the result exactly."
    ),
]
OutFolder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the results.")]
OutJson = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Another name for the result file; ends in .json.")
]
Form = Annotated[str, _one_of("format", FORMATS, "--format", help="What to print.")]


@app.command()
def compare(
    iterations: Iterations = 90,
    seed: Seed = 1,
    out: OutFolder = Path("out"),
    rdma: Annotated[
        bool, typer.Option("--rdma/--no-rdma", help="Also writes and messages between hosts.")
    ] = True,
) -> None:
    """Measure one workload over every road; one HTML page."""
    from isthmus import compare as comparison

    comparison.run(iterations=iterations, seed=seed, out=out, rdma=rdma)


bench = typer.Typer(help="Measure one road in detail.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(bench, name="bench")


@bench.command("etherbone")
def bench_etherbone(
    iterations: Iterations = 90,
    size: Annotated[
        str, typer.Option("-s", "--size", metavar="N", help="Timestamps in one cycle: 4, 1,2,8 or 1..8.")
    ] = "1..8",
    platform: Annotated[
        str, typer.Option(metavar="NAMES", help="gige-direct, usb-t5810, ..., with commas, or all.")
    ] = "all",
    method: Annotated[str, _one_of("method", METHODS, help="How the host program reads.")] = "all",
    profile: Annotated[str, _one_of("profile", PROFILES, help="Which design.")] = "all",
    seed: Seed = 1,
    form: Form = "table",
    out: OutFolder = Path("out"),
    out_json: OutJson = None,
    trace: Annotated[str, _one_of("trace", TRACES, help="Written to DIR/traces.")] = "none",
) -> None:
    """Timestamps over Etherbone, on every bus."""
    from isthmus.bench import etherbone, output

    etherbone.run(
        iterations=iterations,
        size=size,
        platform=platform,
        method=method,
        profile=profile,
        seed=seed,
        format=cast("output.Format", form),
        out=out,
        out_json=out_json,
        trace=cast("etherbone.Trace", trace),
    )


@bench.command("switch")
def bench_switch(
    ports: Annotated[str, _one_of("ports", PORTS, help="Ports of the switch.")] = "8",
    pattern: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="uniform, permutation, hotspot[:SHARE], unbalanced:W, single or trace:FILE.",
        ),
    ] = "uniform",
    arrivals: Annotated[str, _one_of("arrivals", ARRIVALS, help="When packets are made.")] = "paced",
    size: Annotated[
        str, typer.Option("-s", "--sizes", metavar="BYTES", help="Data of a packet: 64-512 or 256.")
    ] = "64-512",
    load: Annotated[
        str,
        typer.Option(metavar="LOADS", help="Shares of a line's words: 0.8, 0.5,0.8 or FROM:TO[:STEP]."),
    ] = "0.1:1.0",
    packets: Annotated[
        int, typer.Option("-n", "--packets", metavar="N", help="Packets to measure at each load.")
    ] = 20_000,
    seed: Seed = 1,
    profile: Annotated[str, _one_of("profile", PROFILES, help="Which design.")] = "isthmus",
    buffer_words: Annotated[
        int | None, typer.Option(metavar="N", help="Words of a crosspoint, 32 to 512.  [512]")
    ] = None,
    round_trip: Annotated[
        int | None,
        typer.Option(metavar="WORDS", help="Propagation from a sender to the switch and back.  [50]"),
    ] = None,
    engines: Annotated[
        str, typer.Option("--engine", metavar="NAMES", help="rtl, reference, ideal, with commas, or all.")
    ] = "all",
    form: Form = "table",
    out: OutFolder = Path("out"),
    out_json: OutJson = None,
) -> None:
    """Delay against load through a buffered-crossbar switch."""
    from isthmus.bench import output, switch

    switch.run(
        ports=int(ports),
        pattern=pattern,
        arrivals=arrivals,
        size=size,
        load=load,
        packets=packets,
        seed=seed,
        profile=profile,
        buffer_words=buffer_words,
        round_trip=round_trip,
        engines=engines,
        format=cast("output.Format", form),
        out=out,
        out_json=out_json,
    )


@bench.command("rdma")
def bench_rdma(
    test: Annotated[
        str,
        typer.Argument(
            metavar="TEST",
            help="write-lat, write-bw, send-lat, send-bw, one-way, exchange, sort, trace, or figures: the "
            "document's.",
        ),
    ],
    size: Annotated[
        str | None,
        typer.Option(
            "-s",
            "--size",
            metavar="BYTES",
            help="Of a transfer: 64, 8,64 or 8:4096, which doubles.  [8; 65536 where rates are measured]",
        ),
    ] = None,
    all_: Annotated[
        bool,
        typer.Option("-a", "--all", help="Every size: doubled from 8 bytes to 512 KiB, to 504 or to 64 KiB."),
    ] = False,
    iterations: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--iters",
            metavar="N",
            min=1,
            help="Transfers measured at each size, exchanges, or chunks that each host sorts.  "
            "[1000, of long ones so many as have 1 MiB; 16]",
        ),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            "-D",
            "--duration",
            metavar="MS",
            help="Instead of -n: simulated milliseconds; a short run first says how many transfers that is.",
        ),
    ] = None,
    bidirectional: Annotated[
        bool, typer.Option("-b", "--bidirectional", help="Send in both directions.")
    ] = False,
    post_list: Annotated[
        int,
        typer.Option(
            "-l",
            "--post-list",
            metavar="N",
            min=1,
            help="Transfers handed over at a time: of write-bw, send-bw.",
        ),
    ] = 1,
    inline: Annotated[
        int | None,
        typer.Option(
            "-I",
            "--inline_size",
            metavar="BYTES",
            min=0,
            help="Writes of at most so many bytes bring their data with them, 0 to 504.  "
            "[the profile's in write-lat, else 0]",
        ),
    ] = None,
    histogram: Annotated[
        bool, typer.Option("-H", "--report-histogram", help="Print the whole distribution.")
    ] = False,
    unsorted: Annotated[
        bool, typer.Option("-U", "--report-unsorted", help="Print each sample, in order.")
    ] = False,
    gbits: Annotated[
        bool, typer.Option("--report-gbits", help="Print rates in Gbit/s instead of MiB/s.")
    ] = False,
    trace: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What trace sends, a line each: nanosecond source destination write|inline|message bytes.",
        ),
    ] = None,
    hosts: Annotated[int, typer.Option(metavar="N", help="Hosts that take part, 2 to 8.")] = 2,
    links: Annotated[int, typer.Option(metavar="N", help="Links of each host, 1 to 4.")] = 1,
    posting: Annotated[
        str | None,
        _one_of(
            "posting",
            POSTINGS,
            help="When the sender checks for queue space: v1 never, v2 always, v3 every 4th.  [v2]",
        ),
    ] = None,
    overrun: Annotated[
        bool,
        typer.Option(
            "--i-know-that-the-queue-may-overrun", help="Required with --posting v3: its queue can overrun."
        ),
    ] = False,
    uncombined: Annotated[
        bool, typer.Option("--uncombined", help="Post in words of 4 bytes, without write-combining.")
    ] = False,
    polled: Annotated[
        bool, typer.Option("--polled", help="The receiver polls its memory instead of using notifications.")
    ] = False,
    platform: Annotated[
        str, typer.Option(metavar="NAMES", help="forth-rdma, rdma-pcie, or both with a comma.")
    ] = "forth-rdma",
    profile: Annotated[
        str | None,
        _one_of("profile", PROFILES, help="Which design.  [isthmus; of figures all]"),
    ] = None,
    seed: Seed = 1,
    form: Annotated[str, _one_of("format", FORMATS, "-f", "--format", help="What to print.")] = "table",
    out: OutFolder = Path("out"),
    out_json: OutJson = None,
) -> None:
    """Remote DMA and messages between hosts, with perftest's flags and columns."""
    from isthmus.bench import output, rdma

    rdma.run(
        test,
        size=size,
        all_=all_,
        iterations=iterations,
        duration_ms=duration,
        trace=trace,
        hosts=hosts,
        links=links,
        posting=posting,
        overrun=overrun,
        uncombined=uncombined,
        bidirectional=bidirectional,
        post_list=post_list,
        inline=inline,
        polled=polled,
        histogram=histogram,
        unsorted=unsorted,
        gbits=gbits,
        platform=platform,
        profile=profile,
        seed=seed,
        format=cast("output.Format", form),
        out=out,
        out_json=out_json,
    )


@app.command()
def verify(
    road: Annotated[
        str,
        typer.Argument(
            metavar="ROAD",
            help="Which published system: etherbone, switch or rdma.",
        ),
    ] = "etherbone",
    results: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Take the simulated numbers from this result file.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 also where a published row differs.")
    ] = False,
    notes: Annotated[
        bool, typer.Option("--notes", help="Say of each row what an agreement rests on.")
    ] = False,
) -> None:
    """Published numbers beside simulated ones. Exits 1 where a limit of the gateware is missed."""
    choose("published system", road, PUBLISHED)
    if results is None:
        bootstrap.ensure_native()
    from isthmus import verify as verification

    found, limits = verification.run(road, results=results, notes=notes)
    if verification.failed(found, limits, strict):
        raise typer.Exit(1)


serve = typer.Typer(
    help="Offer a simulated FPGA to real programs.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(serve, name="serve")


@serve.command("etherbone")
def serve_etherbone(
    udp: Annotated[
        str | None,
        typer.Option(metavar="IP:PORT", help="Datagrams; port 0: any free one.  [127.0.0.1]"),
    ] = None,
    tcp: Annotated[str | None, typer.Option(metavar="IP:PORT", help="Connections.")] = None,
    tap: Annotated[
        str | None, typer.Option(metavar="IF", help="Be the other end of a TAP interface.")
    ] = None,
    pty: Annotated[bool, typer.Option("--pty", help="Offer a pseudo-terminal.")] = False,
    dialect: Annotated[
        str, _one_of("dialect", DIALECTS, help="liteeth and litex are both that of LiteEth.")
    ] = "ohwr",
    allow: Annotated[
        list[str] | None, typer.Option(metavar="CIDR", help="Serve these hosts only; repeatable.")
    ] = None,
    bind_public: Annotated[
        bool, typer.Option("--bind-public", help="Listen on every interface. Etherbone knows no password.")
    ] = False,
    ip: Annotated[
        str | None,
        typer.Option(metavar="IP[/BITS]", help="The FPGA's own address and subnet.  [192.168.10.2/24]"),
    ] = None,
    seed: Seed = 1,
) -> None:
    """Serve the Etherbone board on a UDP socket, TCP, a terminal or a TAP interface."""
    from isthmus import serve as server

    device = {} if ip is None else server.address(ip)
    options = server.ServeOptions(Path(), udp, tcp, tap, pty, dialect, allow or (), bind_public, seed, device)
    server.scenario(options)
    bootstrap.ensure_native()
    from isthmus.bench import engine

    server.serve(replace(options, model=engine.model("gige_etherbone")))


@cache
def _eb_commands() -> Mapping[str, Any]:
    from isthmus.eb.cli import app as tools

    return cast("TyperGroup", typer.main.get_command(tools)).commands


class _Eb(TyperGroup):
    """The sub-commands of `eb`, imported when one of them is asked for."""

    def list_commands(self, _: Any) -> list[str]:
        return list(_eb_commands())

    def get_command(self, _: Any, cmd_name: str) -> Any:
        return _eb_commands().get(cmd_name)


eb = typer.Typer(
    cls=_Eb,
    help="Read and write Wishbone devices over Etherbone.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(eb, name="eb")


@app.command()
def report(
    results: Annotated[Path, typer.Argument(metavar="FILE", help="A result file, isthmus.result/1.")] = Path(
        "out/etherbone.json"
    ),
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The page.  [the result's name, with .html]")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write only the main figure, as SVG, here.")
    ] = None,
) -> None:
    """Draw the page again from a result file."""
    from isthmus import report as drawing

    drawing.run(results, out=out, svg=svg)


@app.command()
def prove(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help="Default: all.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Also run proofs that passed before.")] = False,
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
    if failed:
        raise DataError(f"{len(failed)} of {len(results)} proofs failed: {', '.join(failed)}")


@app.command()
def area(
    cores: Annotated[list[str] | None, typer.Argument(metavar="CORE", help="Default: all.")] = None,
    family: Annotated[str, _one_of("family", FAMILIES, help="Which FPGAs.")] = "xc7",
    update: Annotated[bool, typer.Option("--update", help="Store these figures as the baseline.")] = False,
) -> None:
    """Area of cores beside baseline and peers."""
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
    device: Annotated[str, _one_of("device", DEVICES, help="Which FPGA.")] = "lfe5u-85",
    update: Annotated[bool, typer.Option("--update", help="Store these figures as the baseline.")] = False,
) -> None:
    """Clock frequency of cores on ECP5 beside target."""
    from isthmus.figures import cores as table

    # Placed on ECP5: what is not measured for it has no clock there.
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


@app.command("test")
def run_tests(
    fast: Annotated[bool, typer.Option("--fast", help="Leave out what simulates RTL.")] = False,
    keyword: Annotated[
        str, typer.Option("-k", metavar="EXPR", help="Only Python tests that match, as pytest -k.")
    ] = "",
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Also run benches and proofs that passed before."),
    ] = False,
    release: Annotated[
        bool, typer.Option("--all", help="Also run the long tests that are run before a release.")
    ] = False,
) -> None:
    """Run every check of the project."""
    from isthmus import testing

    raise typer.Exit(testing.run(testing.Options(fast, keyword, fresh, release)))


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
    """Do what a command does; its exit code, and one line for an error that a person can act on."""
    code = _guarded(command)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = None
    except (OSError, ValueError) as err:
        # Nothing else may go there: Python would try again at its end, and complain.
        sys.stdout = None
        return _say(_system(err), 1) if code == 0 else code
    return code


def _guarded(command: Callable[[], object]) -> int:
    from typer.exceptions import TyperException

    if isinstance(sys.stdout, io.TextIOWrapper):
        # A name that is no valid text comes back as it was given, not as an error.
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
    """What the system refused, in one line."""
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
