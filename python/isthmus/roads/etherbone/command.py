# SPDX-License-Identifier: Apache-2.0
"""The command `isthmus bench etherbone`."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from isthmus import platforms
from isthmus.bench import traces
from isthmus.bench.output import FORMATS, Format, publish
from isthmus.bench.runner import Runner
from isthmus.errors import UserError, choose
from isthmus.platforms import PROFILES
from isthmus.results import Document
from isthmus.roads.etherbone import tables
from isthmus.roads.etherbone.bench import ITERATIONS, SYSTEMS, Trace, measure, sizes
from isthmus.roads.etherbone.platform import KINDS
from isthmus.roads.etherbone.scenario import METHODS
from isthmus.storage import result_file


def run(
    *,
    name: str = "etherbone",
    buses: Collection[str] = tuple(KINDS),
    iterations: int = ITERATIONS,
    size: str = "1..8",
    platform: str = "all",
    method: str = "all",
    profile: str = "all",
    seed: int = 1,
    format: Format = "table",  # noqa: A002
    details: bool = False,
    out: Path = Path("out"),
    out_json: Path | None = None,
    trace: Trace = "none",
    runner: Runner | None = None,
    model: Path | None = None,
) -> Document:
    """`isthmus bench etherbone`, or `bench BUS`: measure, write `out/NAME.json`, `.csv` and `.html`, print.

    name        of the command and of the results
    buses       those to measure
    iterations  -n, --iters: cycles of each measurement
    size        -s, --size: timestamps in one cycle: 4, 1,2,8 or 1..8
    platform    --platform: names or paths, with commas, or all: `SYSTEMS`
    method      --method: convenience, blocking, pipelined or all
    profile     --profile: as-published, isthmus or all
    seed        --seed
    format      --format: what to print: table, csv or json
    details     --details: latencies, rates and stages as well; always those of a single platform
    out         --out: folder of the results
    out_json    --out-json: another name for the result file
    trace       --trace: none, fst, perfetto or pcapng, written to `out/traces`
    """
    choose("format", format, FORMATS)
    if platform == "all":
        chosen = [each for each in map(platforms.load, SYSTEMS) if each.bus in buses]
    else:
        chosen = platforms.chosen(platform, buses, name)
    if trace == "pcapng" and all(each.bus != "gige" for each in chosen):
        raise UserError("trace: pcapng holds Ethernet frames, and no platform here has them; use perfetto")
    target = result_file(out, name, out_json)
    made = measure(
        iterations=iterations,
        timestamps=sizes(size),
        systems=chosen,
        methods=METHODS if method == "all" else (method,),  # type: ignore[arg-type]
        profiles=PROFILES if profile == "all" else (profile,),  # type: ignore[arg-type]
        seed=seed,
        trace=trace,
        out=out,
        runner=runner,
        model=model,
    )
    wanted = details or len(chosen) == 1
    publish(made, target, format, lambda one: tables.text(one) + (tables.details(one) if wanted else ""))
    if trace != "none" and format == "table":
        print(traces.how_to_open(out / "traces"))
    return made
