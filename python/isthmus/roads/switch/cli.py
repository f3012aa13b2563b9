# SPDX-License-Identifier: Apache-2.0
"""`isthmus bench switch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

import typer

from isthmus.options import Platform, Profile, ResultOptions, Seed, one_of, results, waveform_of, with_results

PORTS = ("4", "8", "12", "16")
ARRIVALS = ("paced", "poisson", "bursty")


@with_results
def switch(
    ports: Annotated[str, one_of("ports", PORTS, help="Ports of the switch.")] = "8",
    pattern: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="uniform, permutation, hotspot[:SHARE], unbalanced:W, single or trace:FILE.",
        ),
    ] = "uniform",
    arrivals: Annotated[str, one_of("arrivals", ARRIVALS, help="Arrival process of packets.")] = "paced",
    size: Annotated[
        str,
        typer.Option("-s", "--sizes", metavar="BYTES", help="Payload of a packet in bytes: 64-512 or 256."),
    ] = "64-512",
    load: Annotated[
        str,
        typer.Option(
            metavar="LOADS",
            help="Offered load, as a fraction of the line rate: 0.8, 0.5,0.8 or FROM:TO[:STEP].",
        ),
    ] = "0.1:1.0",
    packets: Annotated[
        int, typer.Option("-n", "--packets", metavar="N", help="Packets measured at each load, at the least.")
    ] = 20_000,
    seed: Seed = 1,
    profile: Profile = "isthmus",
    buffer_words: Annotated[
        int | None, typer.Option(metavar="N", help="Words per crosspoint buffer, 32 to 512.  [512]")
    ] = None,
    round_trip: Annotated[
        int | None,
        typer.Option(
            metavar="WORDS", help="Round-trip propagation between sender and switch, in words.  [50]"
        ),
    ] = None,
    engines: Annotated[
        str,
        typer.Option(
            "--engine", metavar="NAMES", help="rtl, reference or ideal, separated by commas, or all."
        ),
    ] = "all",
    platform: Platform = "forth-switch",
    waveform: Annotated[Path | None, waveform_of("the switch", "--engine rtl and one --load")] = None,
    **options: Unpack[ResultOptions],
) -> None:
    """Delay against load through a buffered-crossbar switch."""
    from isthmus.roads.switch import command

    command.run(
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
        platform=platform,
        waveform=waveform,
        **results(options),
    )
