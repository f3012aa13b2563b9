# SPDX-License-Identifier: Apache-2.0
"""`isthmus bench rdma`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

import typer

from isthmus.options import (
    PROFILES,
    Platforms,
    PrintScenario,
    ResultOptions,
    Seed,
    one_of,
    results,
    waveform_of,
    with_results,
)

POSTINGS = ("v1", "v2", "v3")


@with_results
def rdma(
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
            help="Bytes per transfer: 64, a list 8,64, or powers of two 8:4096.  "
            "[8; 65536 where rates are measured]",
        ),
    ] = None,
    all_: Annotated[
        bool,
        typer.Option("-a", "--all", help="All sizes: powers of two from 8 bytes to the largest of the test."),
    ] = False,
    iterations: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--iters",
            metavar="N",
            min=1,
            help="Transfers measured at each size, exchanges, or chunks that each host sorts.  "
            "[1000, fewer of long ones: 1 MiB in total; 16]",
        ),
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(
            "-D",
            "--duration",
            metavar="MS",
            help="Simulated milliseconds; replaces -n. A short run first finds how many transfers that is.",
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
            help="Transfers posted at a time, in write-bw and send-bw.",
        ),
    ] = 1,
    inline: Annotated[
        int | None,
        typer.Option(
            "-I",
            "--inline_size",
            metavar="BYTES",
            min=0,
            help="Writes of at most this many bytes carry their data inline, 0 to 504.  "
            "[the profile's in write-lat, else 0]",
        ),
    ] = None,
    histogram: Annotated[
        bool, typer.Option("-H", "--report-histogram", help="Print the full latency distribution.")
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
    waveform: Annotated[Path | None, waveform_of("host 0's interface")] = None,
    hosts: Annotated[int, typer.Option(metavar="N", help="Number of hosts, 2 to 8.")] = 2,
    links: Annotated[int, typer.Option(metavar="N", help="Links per host, 1 to 4.")] = 1,
    posting: Annotated[
        str | None,
        one_of(
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
        bool, typer.Option("--uncombined", help="Post with 4-byte stores, without write-combining.")
    ] = False,
    polled: Annotated[
        bool, typer.Option("--polled", help="The receiver polls memory instead of using notifications.")
    ] = False,
    platform: Platforms = "forth-rdma",
    profile: Annotated[
        str | None,
        one_of("profile", PROFILES, help="Design to measure.  [isthmus; of figures all]"),
    ] = None,
    seed: Seed = 1,
    print_scenario: PrintScenario = False,
    **options: Unpack[ResultOptions],
) -> None:
    """Remote DMA and messages between hosts, with perftest's flags and columns."""
    from isthmus.roads.rdma import command

    asked = command.RdmaOptions(
        test=test,
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
        waveform=waveform,
        platform=platform,
        profile=profile,
        seed=seed,
    )
    if print_scenario:
        print(command.scenario_text(asked))
        return
    command.run(
        asked,
        **results(options),
    )
