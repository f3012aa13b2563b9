# SPDX-License-Identifier: Apache-2.0
"""`isthmus bench nanet`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from isthmus.options import PROFILES, Form, OutFolder, OutJson, Resume, Scheduler, Seed, one_of

if TYPE_CHECKING:
    from isthmus.bench import output


DRIVERS = ("poll", "interrupt")
POLICIES = ("newest", "oldest", "hold")


def nanet(
    size: Annotated[
        str, typer.Option("-s", "--size", metavar="BYTES", help="UDP payload: 1472, 64,1472 or 64:1024.")
    ] = "64,256,1024,1472",
    iterations: Annotated[
        int, typer.Option("-n", "--iters", metavar="N", min=1, help="Datagrams measured per size.")
    ] = 200,
    ports: Annotated[
        int, typer.Option(metavar="N", help="Number of Ethernet ports, 1 to 4, each with its own stream.")
    ] = 1,
    window: Annotated[
        str | None,
        typer.Option(metavar="N", help="Datagrams in flight per port: 1 or a list 1,16.  [1,16]"),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE", help="Datagrams per second and port, Poisson arrivals; replaces --window."
        ),
    ] = None,
    buffers: Annotated[int, typer.Option(metavar="N", help="Buffers per port, a power of two.")] = 64,
    driver: Annotated[str, one_of("driver", DRIVERS, help="How the program waits for events.")] = "poll",
    policy: Annotated[
        str, one_of("policy", POLICIES, help="Without a free buffer: drop the newest or oldest, or hold.")
    ] = "newest",
    page: Annotated[
        int,
        typer.Option(
            metavar="KIB",
            help="Buffers in pages of 4, 64 or 2048 KiB that the interface translates; 0: none.",
        ),
    ] = 0,
    platform: Annotated[
        str, typer.Option(metavar="NAMES", help="Platform names or .toml files, separated by commas.")
    ] = "nanet",
    profile: Annotated[str, one_of("profile", PROFILES, help="Design to measure.")] = "all",
    waveform: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a waveform (FST) of the interface; needs a single run."),
    ] = None,
    seed: Seed = 1,
    form: Form = "table",
    out: OutFolder = Path("out"),
    out_json: OutJson = None,
    scheduler: Scheduler = None,
    resume: Resume = False,
) -> None:
    """UDP datagrams from the wire into host memory."""
    from isthmus.bench import runner
    from isthmus.roads.nanet import command

    command.run(
        size=size,
        iterations=iterations,
        ports=ports,
        window=window,
        rate=rate,
        buffers=buffers,
        driver=driver,
        policy=policy,
        page=page,
        platform=platform,
        profile=profile,
        waveform=waveform,
        seed=seed,
        format=cast("output.Format", form),
        out=out,
        out_json=out_json,
        runner=runner.sweep(out, scheduler, resume),
    )
