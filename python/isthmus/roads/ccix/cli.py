# SPDX-License-Identifier: Apache-2.0
"""`isthmus bench ccix`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

import typer

from isthmus.options import (
    Platforms,
    Profile,
    ResultOptions,
    Seed,
    Transfers,
    Window,
    one_of,
    results,
    sizes,
    waveform_of,
    with_results,
)

OPERATIONS = ("device-read", "device-write", "update", "all")
CHANGES = ("add", "swap", "compare-and-swap", "mixed")
DRIVERS = ("request-agent", "svm", "cached", "cached-hit", "pcie-dma", "all")
PORTS = ("lines", "axi")
CASES = ("hit", "miss", "all")
PAGES = ("4K", "2M", "1G", "all")
ORDERS = ("sequential", "random", "all")
WORKLOADS = ("ycsb-a", "tpc-c")


@with_results
def ccix(
    operation: Annotated[str, one_of("op", OPERATIONS, "--op", help="What the FPGA does.")] = "all",
    driver: Annotated[
        str,
        one_of(
            "driver",
            DRIVERS,
            help="CCIX with physical addresses, with virtual ones (svm), through the FPGA's cache, on lines "
            "that it does not have or that it has, or DMA over PCIe on the same card.",
        ),
    ] = "request-agent",
    port: Annotated[
        str,
        one_of(
            "port",
            PORTS,
            help="What the FPGA's logic is connected to: the agent, or an AXI port in front of its cache, of "
            "the drivers cached and cached-hit, and of svm with --cache: its addresses are virtual.",
        ),
    ] = "lines",
    translation: Annotated[
        str,
        one_of(
            "translation",
            CASES,
            help="Of svm: the pages are in the FPGA's translation cache, or those of 4 KiB are not.",
        ),
    ] = "all",
    cache: Annotated[
        bool, typer.Option("--cache", help="Of svm: lines come through the FPGA's cache.")
    ] = False,
    page: Annotated[str, one_of("page", PAGES, help="Of svm: the size of the host's pages.")] = "4K",
    order: Annotated[
        str, one_of("order", ORDERS, help="Of svm: the order in which transfers visit pages.")
    ] = "sequential",
    change: Annotated[
        str, one_of("change", CHANGES, help="Of update: what the FPGA does to a word that the host adds to.")
    ] = "add",
    moves: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=1000, help="Of svm: pages that the host moves while transfers run."
        ),
    ] = 0,
    size: Annotated[
        str | None,
        sizes("64, a list 64,1K, or powers of two 64:64K  [64:64K; of update 8]"),
    ] = None,
    iterations: Transfers = None,
    window: Window = None,
    platform: Platforms = "ccix-au280",
    profile: Profile = "isthmus",
    waveform: Annotated[Path | None, waveform_of("the FPGA")] = None,
    seed: Seed = 1,
    **options: Unpack[ResultOptions],
) -> None:
    """Lines of coherent host memory over CCIX: latency and rate over size."""
    from isthmus.roads.ccix import command

    command.run(
        operation=operation,
        driver=driver,
        port=port,
        translation=translation,
        cache=cache,
        page=page,
        order=order,
        change=change,
        moves=moves,
        size=size,
        iterations=iterations,
        window=window,
        platform=platform,
        profile=profile,
        waveform=waveform,
        seed=seed,
        **results(options),
    )


@with_results
def contention(
    lines: Annotated[
        str,
        typer.Option(metavar="N", help="Lines to which both sides store: 64, a list, or powers of two."),
    ] = "1:4096",
    window: Annotated[
        str, typer.Option(metavar="LIST", help="Stores in flight on either side, 1 to 16.")
    ] = "1,16",
    iterations: Annotated[
        int, typer.Option("-n", "--iters", metavar="N", min=1, max=1_000_000, help="Stores of either side.")
    ] = 1024,
    rounds: Annotated[
        int,
        typer.Option(metavar="N", min=1, max=1000, help="How often each run is made, with other lines."),
    ] = 8,
    platform: Platforms = "ccix-au280",
    profile: Profile = "isthmus",
    seed: Seed = 1,
    **options: Unpack[ResultOptions],
) -> None:
    """Lines to which the FPGA and the host store at the same time, beside an analytic model."""
    from isthmus.roads.ccix import command

    command.contention(
        lines=lines,
        window=window,
        iterations=iterations,
        rounds=rounds,
        platform=platform,
        profile=profile,
        seed=seed,
        **results(options),
    )


@with_results
def translation(
    size: Annotated[
        str, sizes("64, a list 64,4K, or powers of two 64:64K, of lines that the cache does not have")
    ] = "64,4K,64K",
    platform: Platforms = "ccix-au280",
    profile: Profile = "isthmus",
    seed: Seed = 1,
    **options: Unpack[ResultOptions],
) -> None:
    """Virtual addresses through the FPGA's cache, beside the document's timing formula."""
    from isthmus.roads.ccix import command

    command.translation(
        size=size,
        platform=platform,
        profile=profile,
        seed=seed,
        **results(options),
    )


@with_results
def lock_table(
    trace: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Transactions of host and FPGA: a file; postgres, of an embedded server; uniform, updates "
            "of one record of 1024, all alike.  [a stored one, as YCSB A]",
        ),
    ] = None,
    workload: Annotated[str, one_of("workload", WORKLOADS, help="What PostgreSQL is made to do.")] = "ycsb-a",
    transactions: Annotated[
        int,
        typer.Option("-n", "--transactions", metavar="N", min=1, max=100_000, help="Of PostgreSQL, uniform."),
    ] = 1000,
    dsn: Annotated[
        str | None,
        typer.Option(metavar="DSN", help="A PostgreSQL of yours, wal_level logical, not the embedded one."),
    ] = None,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what PostgreSQL did to a trace file.")
    ] = None,
    resets: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=1000, help="Resets of the FPGA's near-data unit in each run."),
    ] = 0,
    holds: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=1000, help="How often it stops for twice its lease, and then goes on."
        ),
    ] = 0,
    fpga_resets: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=1000,
            help="Resets of all of the FPGA, table and cache with it.",
        ),
    ] = 0,
    mode: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Lock table: a, at the host, messages over PCIe; b, in the FPGA, coherent; c, as b, records "
            "without a cache; d, no table, compare-and-swap of a word of the record's line.  [all]",
        ),
    ] = None,
    requesters: Annotated[
        str, typer.Option(metavar="N", help="Transactions under way: 8, a list, or powers of two.")
    ] = "1:64",
    platform: Platforms = "ccix-au280",
    profile: Profile = "isthmus",
    seed: Seed = 1,
    **options: Unpack[ResultOptions],
) -> None:
    """Transactions of host and FPGA on the same records: a trace replayed under a shared lock table."""
    from isthmus.roads.ccix import command

    command.lock_table(
        trace=trace,
        workload=workload,
        transactions=transactions,
        dsn=dsn,
        record=record,
        resets=resets,
        holds=holds,
        fpga_resets=fpga_resets,
        mode=mode,
        requesters=requesters,
        platform=platform,
        profile=profile,
        seed=seed,
        **results(options),
    )
