# SPDX-License-Identifier: Apache-2.0
"""`isthmus bench eci`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

import typer

from isthmus.options import (
    Platforms,
    PrintScenario,
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

OPERATIONS = ("device-read", "device-write", "update", "host-read", "host-write", "message", "both", "all")
DRIVERS = (
    "uncached", "cached", "cached-dirty", "cached-hit", "io", "ipi", "barrier", "pcie-dma", "pcie-ring",
)  # fmt: skip
POLICIES = ("balance", "partition", "all")
HOMES = ("one", "both")
PORTS = ("lines", "axi")


@with_results
def eci(
    operation: Annotated[
        str,
        one_of(
            "op",
            OPERATIONS,
            "--op",
            help="What the FPGA does with host memory, or the host's program with the FPGA's memory or, by "
            "io, with its registers. Both: reads, and writes, of both at once and each alone. All: those of "
            "the driver.",
        ),
    ] = "all",
    driver: Annotated[
        str,
        one_of(
            "driver",
            DRIVERS,
            help="Without a cache, or through that of the end that asks: lines that no cache has, that the "
            "other end has just written, that are in it. io: I/O accesses of the host. ipi: interrupts. "
            "barrier: of the FPGA. "
            "pcie-dma, pcie-ring: instead by DMA over PCIe, of addresses in the FPGA or of a ring of "
            "descriptors.",
        ),
    ] = "uncached",
    port: Annotated[
        str,
        one_of(
            "port",
            PORTS,
            help="What the FPGA's logic is connected to: the agent, or an AXI port in front of its cache, of "
            "the drivers cached, cached-dirty and cached-hit.",
        ),
    ] = "lines",
    homes: Annotated[
        str,
        one_of(
            "homes",
            HOMES,
            help="Ends with memory: one, and the other end has the cache; or both, each with a cache, as of "
            "--op both.",
        ),
    ] = "one",
    links: Annotated[int, typer.Option(metavar="N", help="Links between host and FPGA, 1 or 2.")] = 1,
    policy: Annotated[
        str,
        one_of(
            "policy",
            POLICIES,
            help="How messages take two links: by room in their queues, or by a hash of the line's address.",
        ),
    ] = "all",
    pcie: Annotated[
        bool, typer.Option("--pcie", help="Also the same reads and writes by DMA over PCIe, and crossovers.")
    ] = False,
    errors: Annotated[
        str,
        typer.Option(
            metavar="RATES",
            help="Shares of blocks with a wrong check, each measured: 1e-5,1e-4. all: 0 and 1e-5 to 1e-3.",
        ),
    ] = "0",
    life: Annotated[
        bool,
        typer.Option(
            "--life",
            help="Instead of transfers one line's life: both ends load and store it in turn. States at both "
            "ends and every message, from tracers in both devices.",
        ),
    ] = False,
    size: Annotated[str, sizes("128, a list 128,1K, or powers of two 128:16K")] = "128:16K",
    iterations: Transfers = None,
    window: Window = None,
    platform: Platforms = "eci",
    profile: Profile = "isthmus",
    waveform: Annotated[Path | None, waveform_of("the FPGA")] = None,
    seed: Seed = 1,
    print_scenario: PrintScenario = False,
    **options: Unpack[ResultOptions],
) -> None:
    """Lines of host or FPGA memory over a cache-coherent link: latency and rate over size."""
    from isthmus.roads.eci import command

    asked = command.Asked(
        operation,
        driver,
        links,
        policy,
        pcie,
        errors,
        size,
        iterations,
        window,
        platform,
        profile,
        seed,
        port,
        homes,
        life,
    )
    if print_scenario:
        print(command.scenario_text(asked))
        return
    command.run(
        asked,
        waveform=waveform,
        **results(options),
    )
