# SPDX-License-Identifier: Apache-2.0
"""`isthmus trigger` and `isthmus bench trigger`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isthmus.options import OutFolder, Seed, one_of

SAMPLES = ("reference", "mixed", "bright", "noisy", "pile-up", "single")
FINDERS = ("isthmus", "almagest", "histogram")
LEVELS = ("portable", "neon", "avx2", "avx512")
MAX_EVENTS = 8 << 20
UDP = "udp:"

app = typer.Typer(rich_markup_mode=None)

Sample = Annotated[str, one_of("sample", SAMPLES, help="Kind of events.")]
Events = Annotated[int, typer.Option("-n", "--events", metavar="N", min=512, max=MAX_EVENTS, help="Events.")]


def truth_of(events: Path) -> Path:
    """The file of truths beside a file of events."""
    return events.with_name(f"{events.name}.truth")


@app.command()
def events(
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE|udp:IP:PORT",
            help="Output file, the true rings go to FILE.truth; or where the events are sent, 20 a datagram, "
            "at the rate.",
        ),
    ],
    sample: Sample = "reference",
    rate: Annotated[
        str,
        typer.Option(metavar="R", help="Mean events per second, such as 10M or 250k, with Poisson arrivals."),
    ] = "10M",
    count: Events = 65_536,
    seed: Seed = 1,
) -> None:
    """Generate events by Monte Carlo, in the format of the wire; write them to a file, or send them."""
    from isthmus import bootstrap
    from isthmus.storage import store_all
    from isthmus.trigger import server
    from isthmus.workload import parse_rate, rate_text

    hertz = parse_rate(rate)
    to = server.receiver(out.removeprefix(UDP)) if out.startswith(UDP) else None
    bootstrap.ensure_native()
    from isthmus.trigger import native

    made, truths = native.events(sample, seed, count, hertz)
    what = f"{count:,} events of sample {sample}, seed {seed}, {rate_text(hertz)} a second"
    if to is not None:
        _send(made, to, hertz, f"{to}: {what}")
        return
    file = Path(out)
    store_all({file: made, truth_of(file): truths})
    print(f"{file}: {what}")
    print(f"{truth_of(file)}: their truth")


def _send(made: bytes, to: str, hertz: float, what: str) -> None:
    """Send a file's events, with progress, and print what came back."""
    from isthmus.console import running
    from isthmus.trigger import gpu, native, tables

    with running("sender", 1) as jobs:

        def tick(done: int, total: int) -> None:
            jobs.running("udp", done / total, f"{done} of {total} datagrams")

        sent = native.send(to, made[gpu.HEADER_BYTES :], hertz, tick)
        jobs.done("udp")
    print(what)
    print(tables.sent(sent), end="")
    if not sent.answered and sent.refused:
        raise typer.Exit(1)


@app.command()
def find(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Events, of isthmus trigger events.")],
    finder: Annotated[str, one_of("finder", FINDERS, help="Ring-finding algorithm.")] = "isthmus",
    level: Annotated[
        str | None, one_of("level", LEVELS, help="Instruction set.  [the best of this processor]")
    ] = None,
) -> None:
    """Find the rings in a file of events; print quality and speed."""
    from isthmus import bootstrap
    from isthmus.storage import read

    made = read(file)
    truth = truth_of(file)
    truths = read(truth) if truth.is_file() else None
    bootstrap.ensure_native()
    from isthmus.trigger import native, tables

    print(tables.found(native.find(made, truths, finder, level, 5)), end="")


@app.command()
def serve(
    udp: Annotated[
        str, typer.Option(metavar="IP:PORT", help="Listen here; port 0 is any free one.")
    ] = "127.0.0.1:58400",
    bind_public: Annotated[
        bool, typer.Option("--bind-public", help="Allow an address that other machines can reach.")
    ] = False,
) -> None:
    """Answer UDP datagrams of events with their rings, on one core, until Control-C."""
    from isthmus import bootstrap
    from isthmus.trigger import server

    where = server.address(udp, bind_public)
    bootstrap.ensure_native()
    server.run(where)


@app.command()
def gpu(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Events, of isthmus trigger events.")],
    method: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="How events get there: mapped, store, copy (a kernel that never leaves), graph, launch "
            "(one per batch), resident (made there, no copy), or all.",
        ),
    ] = "mapped",
    batch: Annotated[
        str, typer.Option(metavar="LIST", help="Events per batch, 1 to 1024: 20 or a list 1,20,256.")
    ] = "20",
    rate: Annotated[
        str, typer.Option(metavar="LIST", help="Events per second: 10M or a list 100k,1M,10M.")
    ] = "10M",
    seconds: Annotated[
        float, typer.Option(metavar="S", min=0.001, max=100, help="Duration at that rate.")
    ] = 1.0,
    blocks: Annotated[int, typer.Option(metavar="N", min=1, max=128, help="Blocks of four warps.")] = 16,
) -> None:
    """Find rings on a GPU and measure the latency of the first and last event of a batch."""
    from isthmus import bootstrap
    from isthmus.errors import UserError
    from isthmus.storage import read
    from isthmus.trigger import gpu as kernels

    asked = kernels.asked(method, batch, rate)
    made = read(file)
    bootstrap.ensure_native()
    from isthmus.console import running
    from isthmus.trigger import tables

    with running("gpu", len(asked)) as jobs:

        def progress(one: kernels.Asked, done: int, total: int) -> None:
            jobs.running(one.text, done / total, f"{done} of {total} events")

        found = []
        for one, run in kernels.measure(made, asked, seconds, blocks, progress):
            found.append((one, run))
            jobs.done(one.text)
    if len(found) == 1 and isinstance(found[0][1], str):
        raise UserError(found[0][1])
    print(tables.gpu(found), end="")


@app.command()
def times(
    out: Annotated[Path, typer.Option(metavar="FILE", help="Output file, for isthmus bench trigger-chain.")],
    samples: Annotated[
        int,
        typer.Option(
            "-n",
            "--samples",
            metavar="N",
            min=64,
            max=10_000_000,
            help="Inputs of each step, run 8 times each.",
        ),
    ] = 100_000,
    sample: Sample = "reference",
    seed: Seed = 1,
) -> None:
    """Measure how long the steps of a trigger take on this machine: merge, hand over, find rings."""
    from isthmus import bootstrap
    from isthmus.storage import keep, prepare

    prepare(out.parent)
    bootstrap.ensure_native()
    from isthmus.console import running
    from isthmus.trigger import native, tables
    from isthmus.trigger import times as measuring

    with running("times", 1) as jobs:

        def progress(done: int, total: int) -> None:
            jobs.running("trigger", done / total, f"{done} of {total}")

        made = measuring.measured(native.times(sample, seed, measuring.SIZES, samples, progress))
        jobs.done("trigger")
    keep({out: measuring.to_json(made)})
    print(tables.times(made), end="")
    print(f"# {out}")


def bench(
    sample: Sample = "reference",
    count: Events = 65_536,
    seed: Seed = 1,
    passes: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            max=1000,
            help="Passes over the events; the fastest pass of each block of 512 counts.",
        ),
    ] = 10,
    out: OutFolder = Path("out"),
) -> None:
    """Ring finders: quality, speed and latency side by side, and a page with events to look at."""
    from isthmus import bootstrap
    from isthmus.storage import keep, prepare

    prepare(out)
    bootstrap.ensure_native()
    from isthmus.console import running
    from isthmus.trigger import gpu as kernels
    from isthmus.trigger import native, page, result, tables

    with running("finders", 1) as jobs:

        def progress(done: int, total: int) -> None:
            jobs.running("trigger", done / total, f"{done} of {total}")

        made = native.bench(sample, seed, count, passes, progress)
        made = kernels.with_gpu(made, lambda way, share: jobs.running("gpu", share, way))
        jobs.done("trigger")
    print(tables.bench(made), end="")
    page_file, table_file = out / "trigger.html", out / "trigger.csv"
    keep(
        {
            out / "trigger.json": result.to_json(made),
            table_file: tables.to_csv(made),
            page_file: page.page(made),
        }
    )
    print(f"\npage {page_file}   table {table_file}")
