# SPDX-License-Identifier: Apache-2.0
"""`isthmus trigger` and `isthmus bench rings`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from isthmus.options import OutFolder, Seed, one_of

SAMPLES = ("reference", "mixed", "bright", "noisy", "pile-up", "single")
FINDERS = ("isthmus", "almagest", "histogram")
LEVELS = ("portable", "avx2", "avx512")
MAX_EVENTS = 8 << 20

app = typer.Typer(rich_markup_mode=None)

Sample = Annotated[str, one_of("sample", SAMPLES, help="Kind of events.")]
Events = Annotated[int, typer.Option("-n", "--events", metavar="N", min=512, max=MAX_EVENTS, help="Events.")]


def truth_of(events: Path) -> Path:
    """The file of truths beside a file of events."""
    return events.with_name(f"{events.name}.truth")


@app.command()
def events(
    out: Annotated[Path, typer.Option(metavar="FILE", help="Output file; the true rings go to FILE.truth.")],
    sample: Sample = "reference",
    rate: Annotated[
        str,
        typer.Option(metavar="R", help="Mean events per second, such as 10M or 250k, with Poisson arrivals."),
    ] = "10M",
    count: Events = 65_536,
    seed: Seed = 1,
) -> None:
    """Generate events by Monte Carlo, in the format of the wire."""
    from isthmus import bootstrap
    from isthmus.storage import store_all
    from isthmus.workload import parse_rate, rate_text

    hertz = parse_rate(rate)
    bootstrap.ensure_native()
    from isthmus.roads.rings import native

    made, truths = native.events(sample, seed, count, hertz)
    store_all({out: made, truth_of(out): truths})
    print(f"{out}: {count:,} events of sample {sample}, seed {seed}, {rate_text(hertz)} a second")
    print(f"{truth_of(out)}: their truth")


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
    from isthmus.roads.rings import native, tables

    print(tables.found(native.find(made, truths, finder, level, 5)), end="")


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
    """Ring finders: speed and quality side by side, and a page with events to look at."""
    from isthmus import bootstrap
    from isthmus.storage import keep, prepare

    prepare(out)
    bootstrap.ensure_native()
    from isthmus.console import running
    from isthmus.roads.rings import native, page, tables

    with running("finders", 1) as jobs:

        def progress(done: int, total: int) -> None:
            jobs.running("rings", done / total, f"{done} of {total}")

        made = native.bench(sample, seed, count, passes, progress)
        jobs.done("rings")
    print(tables.bench(made), end="")
    page_file, table_file = out / "rings.html", out / "rings.csv"
    keep(
        {
            out / "rings.json": tables.to_json(made),
            table_file: tables.to_csv(made),
            page_file: page.page(made),
        }
    )
    print(f"\npage {page_file}   table {table_file}")
