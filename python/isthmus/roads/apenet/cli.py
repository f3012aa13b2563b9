# SPDX-License-Identifier: Apache-2.0
"""`isthmus bench apenet`."""

from __future__ import annotations

from typing import Annotated, Literal, Unpack

import typer

from isthmus.options import Platforms, Profile, ResultOptions, Seed, results, with_results


@with_results
def apenet(
    size: Annotated[
        str | None,
        typer.Option(
            "-s",
            "--size",
            metavar="BYTES",
            help="Bytes of a put: 4096, 64,4096 or 64:1024. Default: 64,1024,4096 and 65536; "
            "the last not for a list.",
        ),
    ] = None,
    iterations: Annotated[
        int, typer.Option("-n", "--iters", metavar="N", min=1, help="Puts measured per size.")
    ] = 20,
    window: Annotated[
        int, typer.Option(metavar="N", help="Puts in flight where the rate is measured, 1 to 16.")
    ] = 8,
    nodes: Annotated[int, typer.Option(metavar="N", help="Nodes of the ring; puts go halfway round.")] = 2,
    memory: Annotated[
        str,
        typer.Option(
            metavar="KINDS",
            help="Memory of both programs: host; gpu, peer to peer; staged, a GPU's by copies to and from "
            "the host's. Several, or near:far, as in host,gpu,host:gpu.",
        ),
    ] = "host",
    operation: Annotated[
        Literal["put", "get"],
        typer.Option(
            help="put into the far memory; or get out of it, which without --profile is isthmus alone."
        ),
    ] = "put",
    target: Annotated[
        Literal["address", "list"],
        typer.Option(
            help="address: a place in the far memory; list: a circular list of buffers there, each put a "
            "message of at most 4096 bytes, measured beside address; without --profile isthmus alone."
        ),
    ] = "address",
    link: Annotated[
        Literal["delay", "lanes"],
        typer.Option(
            help="Links between nodes: a delay of flits; or the gateware of both ends, with framing, credits "
            "and checks, over four lanes of words."
        ),
    ] = "delay",
    inline: Annotated[
        bool,
        typer.Option(
            "--inline",
            help="Measure puts of at most 64 bytes whose payload is stored with the post, beside those "
            "that are read; with memory gpu by a kernel, without the host. Without --profile isthmus alone.",
        ),
    ] = False,
    platform: Platforms = "apelink",
    profile: Profile = "all",
    seed: Seed = 1,
    **options: Unpack[ResultOptions],
) -> None:
    """Puts from memory to memory over APElink: one way, ping-pong, and the rate. Or gets: request to data."""
    from isthmus.roads.apenet import command

    command.run(
        size=size,
        iterations=iterations,
        window=window,
        nodes=nodes,
        memory=memory,
        operation=operation,
        target=target,
        link=link,
        inline=inline,
        platform=platform,
        profile=profile,
        seed=seed,
        **results(options),
    )
