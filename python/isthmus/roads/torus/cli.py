# SPDX-License-Identifier: Apache-2.0
"""`isthmus bench torus`."""

from __future__ import annotations

from typing import Annotated, Unpack

import typer

from isthmus.options import Platform, ResultOptions, Seed, one_of, results, with_results

PATTERNS = ("uniform", "opposite", "neighbour", "single")
LINKS = ("delay", "lanes")


@with_results
def torus(
    nodes: Annotated[
        str, typer.Option(metavar="SHAPE", help="Nodes of each dimension: 8, 4x4 or 4x4x4.")
    ] = "4x4x4",
    pattern: Annotated[str, one_of("pattern", PATTERNS, help="Which node sends to which.")] = "uniform",
    load: Annotated[
        str,
        typer.Option(
            metavar="LOADS", help="Flits that a node makes per clock, 0.001 to 1: 0.5 or 0.2,0.5,0.8."
        ),
    ] = "0.1,0.3,0.5,0.7,0.8",
    size: Annotated[
        int, typer.Option("-s", "--size", metavar="BYTES", help="Payload of a packet, a multiple of 16.")
    ] = 128,
    packets: Annotated[
        int, typer.Option("-n", "--packets", metavar="N", help="Packets measured at each load, at the least.")
    ] = 20_000,
    link: Annotated[
        str,
        one_of(
            "link",
            LINKS,
            help="Links between routers: a delay of flits; or the gateware of both ends, with framing, "
            "credits and checks, over four lanes of words.",
        ),
    ] = "delay",
    errors: Annotated[
        str,
        typer.Option(
            metavar="RATES",
            help="Rates of wrong bits on lanes, each measured, 0 to 1e-5: 1e-8,1e-7. Needs --link lanes.",
        ),
    ] = "0",
    platform: Platform = "apenet",
    seed: Seed = 1,
    **options: Unpack[ResultOptions],
) -> None:
    """Delay against load through a torus of routers."""
    from isthmus.roads.torus import command

    command.run(
        shape=nodes,
        pattern=pattern,
        load=load,
        size=size,
        packets=packets,
        link=link,
        errors=errors,
        platform=platform,
        seed=seed,
        **results(options),
    )
