# SPDX-License-Identifier: Apache-2.0
"""`isthmus bench nanet`, `isthmus bench trigger-chain` and `isthmus serve nanet`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

import typer

from isthmus.options import (
    PROFILES,
    Platform,
    Platforms,
    PrintScenario,
    Profile,
    ResultOptions,
    Seed,
    one_of,
    results,
    waveform_of,
    with_results,
)

DRIVERS = ("poll", "interrupt")
OPERATIONS = ("receive", "send", "message")
POLICIES = ("newest", "oldest", "hold")
DESIGNS = PROFILES[:2]
LAYOUTS = ("packed", "tel62")
FINDERS = ("isthmus", "almagest")
SAMPLES = ("reference", "mixed", "bright", "noisy", "pile-up", "single")


@with_results
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
    datagrams: Annotated[
        int, typer.Option(metavar="N", min=1, max=255, help="Datagrams that make a buffer full.")
    ] = 1,
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
    memory: Annotated[
        str,
        typer.Option(
            metavar="KINDS",
            help="Where datagrams go: host; gpu, a GPU's memory, peer to peer; staged, a GPU's, by a copy "
            "from the host's. One, or several as in host,gpu.",
        ),
    ] = "host",
    operation: Annotated[
        str,
        one_of(
            "operation",
            OPERATIONS,
            "--operation",
            help="receive: to a program; send: from its memory to the cable's other end; message: to the "
            "program of another host, by an interface each.",
        ),
    ] = "receive",
    platform: Platforms = "nanet",
    profile: Profile = "all",
    waveform: Annotated[Path | None, waveform_of("the interface")] = None,
    seed: Seed = 1,
    print_scenario: PrintScenario = False,
    **options: Unpack[ResultOptions],
) -> None:
    """UDP datagrams from the wire into a host's or a GPU's memory, or from the host's to the wire."""
    from isthmus.roads.nanet import command

    asked = command.Asked(
        size=size,
        iterations=iterations,
        ports=ports,
        window=window,
        rate=rate,
        buffers=buffers,
        datagrams=datagrams,
        driver=driver,
        policy=policy,
        page=page,
        memory=memory,
        operation=operation,
        platform=platform,
        profile=profile,
        seed=seed,
    )
    if print_scenario:
        print(command.scenario_text(asked))
        return
    command.run(asked, waveform=waveform, **results(options))


@with_results
def trigger_chain(
    rate: Annotated[
        str, typer.Option(metavar="LIST", help="Events per second: 5M or a list, Poisson arrivals.")
    ] = "2M,5M,8M,9M,10M,12M",
    groups: Annotated[
        int, typer.Option("-n", "--groups", metavar="N", min=100, help="Groups of events measured per rate.")
    ] = 2000,
    events: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=255, help="Events per group, of which the times have a size."),
    ] = 8,
    layout: Annotated[
        str,
        one_of(
            "layout",
            LAYOUTS,
            "--layout",
            help="packed: whole events, 2 bytes a hit, links in turn; tel62: each board has a link.",
        ),
    ] = "packed",
    finder: Annotated[str, one_of("finder", FINDERS, help="Ring-finding algorithm.")] = "isthmus",
    cores: Annotated[
        int, typer.Option(metavar="N", min=1, max=256, help="Cores that find rings; one more merges.")
    ] = 16,
    share: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=255,
            help="Events of a group that one core takes.  [2, more of a large group]",
        ),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Times with the measured machine's noise: yes, no or both.  [yes; no at the middle rate]",
        ),
    ] = None,
    release: Annotated[
        float,
        typer.Option(metavar="US", min=0, max=10_000, help="Fixed latency from an event to its answer."),
    ] = 100.0,
    place: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Where candidates are searched: cpu, fpga or both.  [cpu; fpga at the middle rate]",
        ),
    ] = None,
    merge: Annotated[
        str,
        typer.Option(
            metavar="LIST",
            help="Where the fragments of an event, --layout tel62, come together: cpu, fpga or both.",
        ),
    ] = "cpu",
    search_clock: Annotated[
        float,
        typer.Option(metavar="MHZ", min=50, max=1000, help="Clock of the interface's search for rings."),
    ] = 250.0,
    sample: Annotated[str, one_of("sample", SAMPLES, help="Kind of events.")] = "reference",
    times: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Times of isthmus trigger times.  [those of isthmus]"),
    ] = None,
    platform: Platform = "nanet",
    profile: Profile = "isthmus",
    seed: Seed = 1,
    **options: Unpack[ResultOptions],
) -> None:
    """A trigger on rings, from the links to its answers, beside the path through the kernel."""
    from isthmus.roads.nanet import command

    command.chain(
        rate=rate,
        groups=groups,
        events=events,
        layout=layout,
        finder=finder,
        cores=cores,
        share=share,
        noise=noise,
        release=release,
        place=place,
        merge=merge,
        search_clock=search_clock,
        sample=sample,
        times=times,
        platform=platform,
        profile=profile,
        seed=seed,
        **results(options),
    )


def serve(
    tap: Annotated[
        list[str] | None,
        typer.Option(metavar="IF", help="TAP interface of a port; once for each, up to 4."),
    ] = None,
    pcap: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Replay this capture (pcap or pcapng) into a port instead."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the payloads here, one behind the other.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="IP:PORT", help="Send each payload to this UDP socket of this machine."),
    ] = None,
    ip: Annotated[
        str, typer.Option(metavar="IP", help="Address of port 0; each further port has the next one.")
    ] = "192.168.20.16",
    mac: Annotated[
        str, typer.Option(metavar="MAC", help="Its MAC address, counted in the same way.")
    ] = "02:00:00:00:00:10",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65_535, help="UDP port whose datagrams are taken.")
    ] = 6666,
    echo: Annotated[
        bool, typer.Option("--echo", help="The gateware sends each datagram back to its sender, too.")
    ] = False,
    pair: Annotated[
        bool,
        typer.Option(
            "--pair", help="Two interfaces back to back: frames of one --tap come out of the other."
        ),
    ] = False,
    buffers: Annotated[int, typer.Option(metavar="N", help="Buffers per port, a power of two.")] = 64,
    policy: Annotated[
        str, one_of("policy", POLICIES, help="Without a free buffer: drop the newest or oldest, or hold.")
    ] = "newest",
    work: Annotated[
        float,
        typer.Option(
            metavar="US", min=0, max=1000, help="Simulated time that the program needs for a datagram."
        ),
    ] = 0.0,
    platform: Platform = "nanet",
    profile: Annotated[str, one_of("profile", DESIGNS, help="Design of the interface.")] = "isthmus",
    seed: Seed = 1,
) -> None:
    """Let real UDP traffic, or a capture, into the simulated interface; its payloads reach a program."""
    from isthmus import bootstrap
    from isthmus.roads.nanet import serve as server

    options = server.ServeOptions(
        tap or (), pcap or (), out, to, ip, mac, port, buffers, policy, 1e3 * work, profile, seed, echo, pair
    )
    loaded = server.platform(platform)
    server.scenario(options, loaded, Path())
    bootstrap.ensure_native()
    server.serve(options, loaded, server.build(options, loaded))
