# SPDX-License-Identifier: Apache-2.0
"""`isthmus bench etherbone`, the same for one bus, and `isthmus serve etherbone`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack, cast

import typer

from isthmus.options import Iterations, Profile, ResultOptions, Seed, one_of, platforms, results, with_results

if TYPE_CHECKING:
    from isthmus.roads.etherbone import bench

METHODS = ("convenience", "blocking", "pipelined", "all")
TRACES = ("none", "fst", "perfetto", "pcapng")
DIALECTS = ("ohwr", "liteeth", "litex")


def _bench(name: str, words: str, buses: tuple[str, ...]) -> Callable[..., None]:
    """The command that measures these buses."""

    @with_results
    def command(
        iterations: Iterations = 90,
        size: Annotated[
            str,
            typer.Option(
                "-s", "--size", metavar="N", help="Timestamps per cycle: 4, a list 1,2,8, or a range 1..8."
            ),
        ] = "1..8",
        platform: Annotated[str, platforms("; all: every shipped one.")] = "all",
        method: Annotated[str, one_of("method", METHODS, help="How the host program reads.")] = "all",
        profile: Profile = "all",
        seed: Seed = 1,
        details: Annotated[
            bool,
            typer.Option("--details", help="Also print latencies, rates and stages of each measurement."),
        ] = False,
        trace: Annotated[str, one_of("trace", TRACES, help="Trace to write into DIR/traces.")] = "none",
        **options: Unpack[ResultOptions],
    ) -> None:
        from isthmus.roads.etherbone import command

        command.run(
            name=name,
            buses=buses,
            iterations=iterations,
            size=size,
            platform=platform,
            method=method,
            profile=profile,
            seed=seed,
            details=details,
            trace=cast("bench.Trace", trace),
            **results(options),
        )

    command.__doc__ = words
    return command


etherbone = _bench("etherbone", "Timestamps over Etherbone, on every bus.", ("gige", "pcie", "usb", "vme"))
gige = _bench("gige", "Timestamps over Gigabit Ethernet.", ("gige",))
pcie = _bench("pcie", "Timestamps over PCIe.", ("pcie",))
usb = _bench("usb", "Timestamps over USB.", ("usb",))
vme = _bench("vme", "Timestamps over VME.", ("vme",))


def serve(
    udp: Annotated[
        str | None,
        typer.Option(metavar="IP:PORT", help="Listen for datagrams here; port 0: any free one.  [127.0.0.1]"),
    ] = None,
    tcp: Annotated[str | None, typer.Option(metavar="IP:PORT", help="Listen for connections here.")] = None,
    tap: Annotated[str | None, typer.Option(metavar="IF", help="Attach to this TAP interface.")] = None,
    pty: Annotated[bool, typer.Option("--pty", help="Offer a pseudo-terminal.")] = False,
    dialect: Annotated[
        str, one_of("dialect", DIALECTS, help="liteeth and litex are both that of LiteEth.")
    ] = "ohwr",
    allow: Annotated[
        list[str] | None, typer.Option(metavar="CIDR", help="Serve only these hosts; repeatable.")
    ] = None,
    bind_public: Annotated[
        bool, typer.Option("--bind-public", help="Listen on every interface. Etherbone has no password.")
    ] = False,
    ip: Annotated[
        str | None,
        typer.Option(metavar="IP[/BITS]", help="The FPGA's own address and subnet.  [192.168.10.2/24]"),
    ] = None,
    seed: Seed = 1,
) -> None:
    """Serve the Etherbone board on a UDP socket, TCP, a terminal or a TAP interface."""
    from isthmus import bootstrap
    from isthmus.roads.etherbone import serve as server

    device = {} if ip is None else server.address(ip)
    options = server.ServeOptions(Path(), udp, tcp, tap, pty, dialect, allow or (), bind_public, seed, device)
    server.scenario(options)
    bootstrap.ensure_native()
    from isthmus.bench import runner

    server.serve(replace(options, model=runner.model("gige_etherbone")))
