# SPDX-License-Identifier: Apache-2.0
"""`isthmus eb`: the options of Etherbone's tools. What they do is in `tools`; only running one needs more."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from isthmus import bootstrap
from isthmus.eb import tools
from isthmus.eb.tools import Link, Order
from isthmus.errors import UserError

app = typer.Typer(rich_markup_mode=None)

DEVICE = "udp/HOST[/PORT], tcp/HOST[/PORT] or dev/NAME."
Dialect = Annotated[str, typer.Option(metavar="NAME", help="ohwr or liteeth.")]
Quiet = Annotated[bool, typer.Option("-q", help="No warnings, no progress.")]
Silent = Annotated[bool, typer.Option("-s", help="Silent: do not read the error status.")]
Config = Annotated[bool, typer.Option("-c", help="Configuration space instead of the bus.")]
Fidelity = Annotated[bool, typer.Option("-f", help="Fidelity: exactly this operation, or none.")]
Where = Annotated[str, typer.Argument(metavar="ADDRESS/SIZE", help="Size in bytes: 1, 2, 4 or 8.")]
Words = Annotated[
    int, typer.Option("-c", metavar="N", min=0, help="Operations in a cycle; 0: as many as fit.")
]
Force = Annotated[bool, typer.Option("-f", help="Force: carry on where the bus reports an error.")]


def _link_options(
    device: Annotated[str, typer.Argument(metavar="DEVICE", help=DEVICE)],
    address_widths: Annotated[
        str, typer.Option("-a", metavar="BITS", help="Address widths to offer.")
    ] = "8/16/32/64",
    data_widths: Annotated[
        str, typer.Option("-d", metavar="BITS", help="Data widths to offer.")
    ] = "8/16/32/64",
    probes: Annotated[int, typer.Option("-r", metavar="N", min=1, help="Probes before giving up.")] = 3,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", min=0.001, help="Wait for a reply, in seconds.")
    ] = 5.0,
    dialect: Dialect = "ohwr",
    verbose: Annotated[bool, typer.Option("-v", help="Say more.")] = False,
    quiet: Quiet = False,
) -> Link:
    bootstrap.ensure_native()
    return Link(device, address_widths, data_widths, probes, timeout, dialect, verbose, quiet)


def _order_options(
    big: Annotated[bool, typer.Option("-b", help="Big-endian (asked of the device otherwise).")] = False,
    little: Annotated[bool, typer.Option("-l", help="Little-endian.")] = False,
    no_probe: Annotated[bool, typer.Option("-p", help="Do not ask the bus what it is.")] = False,
) -> Order:
    return Order(big, little, not no_probe)


MAKERS: dict[str, Callable[..., Any]] = {"link": _link_options, "order": _order_options}


def _command(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A sub-command whose parameters `link` and `order` stand for the options that make one."""

    def add(run: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(run, eval_str=True).parameters
        parts = {
            made: inspect.signature(MAKERS[made], eval_str=True).parameters for made in MAKERS if made in own
        }
        given = [parameter for part in parts.values() for parameter in part.values()]
        given += [parameter for parameter in own.values() if parameter.name not in parts]

        def called(**values: Any) -> None:
            made = {
                name: MAKERS[name](**{option: values.pop(option) for option in part})
                for name, part in parts.items()
            }
            run(**made, **values)

        # Arguments keep their order; options stand after them.
        given.sort(key=lambda parameter: parameter.default is not parameter.empty)
        given = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in given]
        called.__signature__ = inspect.Signature(given)  # type: ignore[attr-defined]
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in given}
        called.__doc__ = run.__doc__
        return app.command(name)(called)

    return add


@_command("read")
def _read(
    link: Link,
    order: Order,
    where: Where,
    silent: Silent = False,
    config: Config = False,
    fidelity: Fidelity = False,
) -> None:
    """Read one value and print it in hex."""
    tools.read(link, where, order, silent=silent, config=config, fidelity=fidelity)


@_command("write")
def _write(
    link: Link,
    order: Order,
    where: Where,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="0x1f or 31.")],
    silent: Silent = False,
    config: Config = False,
    fidelity: Fidelity = False,
) -> None:
    """Write one value."""
    tools.write(link, where, value, order, silent=silent, config=config, fidelity=fidelity)


@_command("get")
def _get(
    link: Link,
    order: Order,
    where: Annotated[str, typer.Argument(metavar="ADDRESS/LENGTH", help="Length in bytes.")],
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    words: Words = 0,
    silent: Silent = False,
    force: Force = False,
) -> None:
    """Copy addresses to a file."""
    tools.get(link, where, file, order, words=words, silent=silent, force=force)


@_command("put")
def _put(
    link: Link,
    order: Order,
    where: Annotated[str, typer.Argument(metavar="ADDRESS", help="Of the file's first byte.")],
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    words: Words = 0,
    silent: Silent = False,
    force: Force = False,
) -> None:
    """Copy a file to addresses."""
    tools.put(link, where, file, order, words=words, silent=silent, force=force)


@_command("ls")
def _ls(
    link: Link,
    flat: Annotated[bool, typer.Option("-n", help="Not recursive: the first table only.")] = False,
) -> None:
    """List what is attached to the bus."""
    tools.ls(link, recursive=not flat)


@_command("find")
def _find(
    link: Link,
    vendor: Annotated[str, typer.Argument(metavar="VENDOR", help="Vendor number, such as 0x651.")],
    product: Annotated[str, typer.Argument(metavar="PRODUCT", help="Device number, such as 0xb2afc251.")],
) -> None:
    """Print the addresses of a kind of device."""
    tools.find(link, vendor, product)


@app.command("discover")
def _discover(
    name: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="udp/BROADCAST[/PORT], or one host.")
    ] = "udp/255.255.255.255",
    dialect: Dialect = "ohwr",
    silence: Annotated[
        float,
        typer.Option(
            "--silence", metavar="S", min=0.01, max=3600, help="Stop after so long without an answer."
        ),
    ] = 1.0,
) -> None:
    """List the devices that answer a probe."""
    bootstrap.ensure_native()
    tools.show_discovered(name, dialect=dialect, silence_s=silence)


@app.command("snoop")
def _snoop(
    port: Annotated[str, typer.Argument(metavar="PORT", help="UDP and TCP; 0: any.")],
    window: Annotated[
        str, typer.Argument(metavar="LOW-HIGH", show_default=False, help="Addresses that are memory.")
    ] = "",
    bind: Annotated[str, typer.Option(metavar="IP", help="Where to listen.")] = "127.0.0.1",
    data_widths: Annotated[str, typer.Option("-d", metavar="BITS", help="Data widths to offer.")] = "32",
    quiet: Annotated[bool, typer.Option("-q", help="Serve without a word.")] = False,
    passive: Annotated[
        bool, typer.Option("--passive", help="Only watch what others say on the UDP port.")
    ] = False,
    interface: Annotated[str, typer.Option(metavar="NAME", help="With --passive: which; all.")] = "",
    dialect: Dialect = "ohwr",
) -> None:
    """Offer memory and print what masters do to it, or watch others.

    With --passive nothing is offered: the datagrams from and to PORT that pass this machine's interfaces are
    printed, operation by operation. That needs the right to (CAP_NET_RAW). TCP is not watched.
    """
    bootstrap.ensure_native()
    if passive:
        if window:
            raise UserError(f"{window!r}: --passive offers no memory")
        tools.watch(port, interface=interface, dialect=dialect, quiet=quiet)
        return
    if interface:
        raise UserError("--interface goes with --passive; --bind says where to listen")
    tools.snoop(port, window, bind=bind, data_widths=data_widths, dialect=dialect, quiet=quiet)


@_command("perf")
def _perf(
    link: Link,
    sustain: Annotated[int, typer.Argument(metavar="SUSTAIN", min=0, help="Series in all; 0: one.")] = 0,
    iterations: Annotated[
        int, typer.Argument(metavar="ITERATIONS", min=1, help="EB cycles of a series.")
    ] = 90,
    reads: Annotated[int, typer.Argument(metavar="READS", min=1, help="Timestamps in an EB cycle.")] = 1,
    mode: Annotated[
        int, typer.Argument(metavar="MODE", min=0, max=2, help="0 convenience, 1 blocking, 2 pipelined.")
    ] = 1,
) -> None:
    """Measure reading the device's time."""
    tools.perf(link, sustain=sustain, iterations=iterations, reads=reads, mode=mode)
