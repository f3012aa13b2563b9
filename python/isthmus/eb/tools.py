# SPDX-License-Identifier: Apache-2.0
"""The sub-commands of `isthmus eb`, with the output format of Etherbone's tools."""

from __future__ import annotations

import os
import sys
import time
from array import array
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from isthmus.eb.device import ANY, Cycle, Device, EtherboneError, Pending, SdbRecord, describe, discover
from isthmus.eb.slave import Memory, SoftwareSlave
from isthmus.errors import DataError, UserError
from isthmus.storage import read as contents

CHUNK = 1 << 18
"""Bytes of a transfer between two reads of the clock."""
QUIET_S = 2.0
NARROW = 32
"""Operations in a cycle of a transfer whose words are narrower than the link."""
FLYING = 1024
"""Cycles of such a transfer in flight."""
PORT = 60368

ECA = (0x651, 0xB2AFC251)
TIME_HIGH, TIME_LOW = 0x18, 0x1C
METHODS = ("convenience", "blocking", "pipelined")


class Link(NamedTuple):
    """How a device is opened, and the verbosity."""

    name: str
    address_widths: str = "16/32/64"
    data_widths: str = "8/16/32/64"
    probes: int = 3
    timeout_s: float = 5.0
    dialect: str = "ohwr"
    verbose: bool = False
    quiet: bool = False

    def open(self) -> Device:
        device = Device(
            self.name,
            address_widths=_widths("-a", self.address_widths),
            data_widths=_widths("-d", self.data_widths),
            probes=self.probes,
            timeout_s=self.timeout_s,
            dialect=self.dialect,
        )
        if self.verbose:
            widths = f"{8 * device.address_bytes}-bit addresses, {8 * device.data_bytes}-bit data"
            self.say(f"{self.name}: {widths}")
        return device

    def say(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        if not self.quiet:
            self.say(f"warning: {text}")


class Order:
    """Which end of a word comes first: given, or asked of the device."""

    def __init__(self, big: bool = False, little: bool = False, probe: bool = True) -> None:
        if big and little:
            raise UserError("-b and -l exclude each other")
        self.big = big
        self.little = little
        self.probe = probe

    def find(self, link: Link, device: Device, address: int) -> Target:
        """The device at an address."""
        record = _at(link, device, address) if self.probe else None
        if record is None:
            return Target(self.little)
        little = self.little if self.big or self.little else record.little_endian
        return Target(little, record.sizes, record.last)


class Target(NamedTuple):
    """The device that an operation reaches."""

    little: bool = False
    sizes: tuple[int, ...] = ()
    """Sizes of operations that it takes, in bytes; empty: not known."""
    last: int | None = None
    """Its last address; not known."""

    def possible(self, device: Device, address: int) -> list[int]:
        """Sizes that the link and the device both have. Raises `UserError` where no size fits."""
        found = [size for size in self.sizes or (1, 2, 4, 8) if size <= device.data_bytes]
        if not found:
            takes = "/".join(str(8 * size) for size in self.sizes)
            raise UserError(
                f"the device at {address:#x} takes {takes}-bit operations, the link carries "
                f"{8 * device.data_bytes} bit; -d offers other widths"
            )
        return found


def _at(link: Link, device: Device, address: int) -> SdbRecord | None:
    """The innermost device at an address."""
    if link.dialect != "ohwr":
        return None
    try:
        records = device.sdb()
    except EtherboneError as err:
        link.warn(f"{err}; taken as big-endian (-b or -l says which, -p does not ask)")
        return None
    leaves = [record for record in records if record.kind in ("device", "msi")]
    found = [record for record in leaves if record.first <= address <= record.last]
    if not found:
        link.warn(f"the bus names no device at {address:#x}; taken as big-endian")
        return None
    return max(found, key=lambda record: len(record.path))


def number(what: str, text: str) -> int:
    """`0x1f`, `0b1`, `0o7` or decimal. Raises `UserError`."""
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if not 0 <= value < 1 << 64:
        raise UserError(f"{what} {text!r}: expected a number such as 0x1f or 31, up to 64 bit")
    return value


def place(text: str, what: str) -> tuple[int, int]:
    """`ADDRESS/SIZE` as two numbers. Raises `UserError`."""
    address, slash, size = text.partition("/")
    if not slash:
        raise UserError(f"{text!r}: expected ADDRESS/{what}, such as 0x100/4")
    return number("address", address), number(what.lower(), size)


def _operand(text: str) -> tuple[int, int]:
    address, size = place(text, "SIZE")
    if size not in (1, 2, 4, 8):
        raise UserError(f"size {size}: expected 1, 2, 4 or 8")
    return address, size


def read(link: Link, where: str, order: Order, *, silent: bool, config: bool, fidelity: bool) -> None:
    """Print one value, in hex, padded to its size."""
    address, size = _operand(where)
    with link.open() as device:
        _check_config(device, size, config)
        target = _target(link, device, order, address, size, config)
        little, possible = target.little, target.possible(device, address)
        wide = _size_that_fits(size, possible)
        if fidelity and wide != size:
            raise UserError(f"-f: no operation of {size} bytes at {address:#x}; expected {wide}")
        how = {"silent": silent, "little_endian": little}
        if wide <= size:
            value = device.read(address, size, config=config, width=max(possible), **how)
        else:
            start = address - address % wide
            value = device.read(start, wide, width=max(possible), **how)
            within = address - start
            value >>= 8 * (within if little else wide - size - within)
            value &= (1 << 8 * size) - 1
            if address % size:
                raise UserError(f"address {address:#x} must be a multiple of {size}")
            if link.verbose:
                link.say(f"read {start:#x}/{wide}, which holds {address:#x}/{size}")
    print(f"{value:0{2 * size}x}")


def write(
    link: Link, where: str, text: str, order: Order, *, silent: bool, config: bool, fidelity: bool
) -> None:
    """Write one value; nothing is printed."""
    address, size = _operand(where)
    value = number("value", text)
    if value >= 1 << (8 * size):
        raise UserError(f"value {text}: does not fit {size} bytes")
    with link.open() as device:
        _check_config(device, size, config)
        target = _target(link, device, order, address, size, config)
        possible = target.possible(device, address)
        wide = _size_that_fits(size, possible)
        if wide > size or (fidelity and wide != size):
            raise UserError(f"no operation of {size} bytes at {address:#x}; expected {wide}")
        device.write(
            address,
            value,
            size,
            silent=silent,
            config=config,
            little_endian=target.little,
            width=max(possible),
        )


def _target(link: Link, device: Device, order: Order, address: int, size: int, config: bool) -> Target:
    """The device at an address, looked up only if needed: a 32-bit operation of a 32-bit link has one
    form."""
    if config or size == device.data_bytes <= 4:
        return Target()
    return order.find(link, device, address)


def _check_config(device: Device, size: int, config: bool) -> None:
    if config and size != device.data_bytes:
        raise UserError(f"-c: the configuration space takes {device.data_bytes} bytes at a time, not {size}")


def _size_that_fits(size: int, possible: list[int]) -> int:
    """The operation that is really made: `size`, a wider one that holds it, or the widest there is."""
    return min((s for s in possible if s >= size), default=max(possible))


def get(link: Link, where: str, file: Path, order: Order, *, words: int, silent: bool, force: bool) -> None:
    """Copy a range of addresses to a file."""
    address, length = place(where, "LENGTH")
    if length == 0:
        raise UserError(f"{where!r}: the length must be at least 1")
    if not file.name or file.is_dir():
        raise UserError(f"{str(file)!r}: expected the name of a file")
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    with link.open() as device:
        target = order.find(link, device, address)
        width, little = max(target.possible(device, address)), target.little
        # Full words are read, and bytes that were not requested are dropped.
        start = address - address % width
        end = -(-(address + length) // width) * width
        progress = _Progress(link, "get", length)
        try:
            with partial.open("wb") as out:
                for at in range(start, end, CHUNK):
                    size = min(CHUNK, end - at)
                    data = _read_block(device, at, size, width, words, silent or force)
                    data = _swapped(data, width) if little else data
                    piece = data[max(0, address - at) : address + length - at]
                    out.write(piece)
                    progress(len(piece))
            partial.replace(file)
        except OSError as err:
            raise UserError(f"{file}: {err.strerror}") from None
        finally:
            partial.unlink(missing_ok=True)
            progress.end()


def put(link: Link, where: str, file: Path, order: Order, *, words: int, silent: bool, force: bool) -> None:
    """Copy a file to addresses from `where` on."""
    address = number("address", where)
    data = contents(file)
    if not data:
        raise UserError(f"{file}: is empty")
    with link.open() as device:
        target = order.find(link, device, address)
        end = address + len(data) - 1
        if target.last is not None and end > target.last and not force:
            raise UserError(
                f"end address {end:#x} is past device end {target.last:#x}; -f writes all the same"
            )
        quiet = silent or force
        width = max(target.possible(device, address))
        address, data = _edges(device, target, width, address, data, quiet)
        if target.little:
            data = _swapped(data, width)
        progress = _Progress(link, "put", len(data))
        try:
            for at in range(0, len(data), CHUNK):
                piece = data[at : at + CHUNK]
                _write_block(device, address + at, piece, width, words, quiet)
                progress(len(piece))
        finally:
            progress.end()


def _edges(
    device: Device, target: Target, width: int, address: int, data: bytes, silent: bool
) -> tuple[int, bytes]:
    """Make whole words of a range: the words at its edges are written narrower, or read and written back.

    Returns the rest to write: full words.
    """
    before, after = address % width, -(address + len(data)) % width
    if not before and not after:
        return address, data
    head = min(-address % width, len(data))
    tail = (len(data) - head) % width
    narrower = {size for size in (1, 2, 4) if size < width}
    if not target.little and narrower <= set(target.sizes):
        cycle = Cycle(silent=silent)
        for first, piece in ((0, data[:head]), (len(data) - tail, data[len(data) - tail :])):
            at = 0
            while at < len(piece):
                place = address + first + at
                size = next(s for s in (4, 2, 1) if s < width and place % s == 0 and at + s <= len(piece))
                cycle.write(place, int.from_bytes(piece[at : at + size]), size)
                at += size
        if len(cycle):
            device.execute(cycle)
        return address + head, data[head : len(data) - tail]
    start, end = address - before, address + len(data) + after

    def word(at: int) -> bytes:
        read = _read_block(device, at, width, width, 0, silent)
        return _swapped(read, width) if target.little else read

    left = word(start)[:before] if before else b""
    right = word(end - width)[width - after :] if after else b""
    return start, left + data + right


def _read_block(device: Device, at: int, size: int, width: int, words: int, silent: bool) -> bytes:
    """Read whole words of `width` bytes, which may be narrower than the link."""
    if width == device.data_bytes:
        return device.read_bytes(at, size, words_per_cycle=words, silent=silent)
    addresses = range(at, at + size, width)
    pending: list[Pending] = []
    for first in range(0, len(addresses), words or NARROW):
        cycle = Cycle(silent=silent)
        for address in addresses[first : first + (words or NARROW)]:
            cycle.read(address, width)
        pending.append(device.submit(cycle))
        if len(pending) % FLYING == 0:
            device.settle()
    device.settle()
    return b"".join(value.to_bytes(width) for one in pending for value in one.result())


def _write_block(device: Device, at: int, data: bytes, width: int, words: int, silent: bool) -> None:
    """Write whole words of `width` bytes, which may be narrower than the link."""
    if width == device.data_bytes:
        device.write_bytes(at, data, words_per_cycle=words, silent=silent)
        return
    step = width * (words or NARROW)
    pending: list[Pending] = []
    for first in range(0, len(data), step):
        cycle = Cycle(silent=silent)
        for offset in range(first, min(first + step, len(data)), width):
            cycle.write(at + offset, int.from_bytes(data[offset : offset + width]), width)
        pending.append(device.submit(cycle))
        if len(pending) % FLYING == 0:
            device.settle()
    device.settle()
    for one in pending:
        one.result()


def _swapped(data: bytes, width: int) -> bytes:
    words = array({1: "B", 2: "H", 4: "I", 8: "Q"}[width], data)
    words.byteswap()
    return words.tobytes()


class _Progress:
    """Shows the progress of a transfer that takes longer than two seconds."""

    def __init__(
        self, link: Link, what: str, total: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._link = link
        self._what = what
        self._total = total
        self._clock = clock
        self._done = 0
        self._started = clock()
        self._next = self._started + QUIET_S
        self._live = sys.stderr.isatty()
        self._shown = False

    def __call__(self, size: int) -> None:
        self._done += size
        now = self._clock()
        if now < self._next or self._link.quiet:
            return
        self._next = now + (0.2 if self._live else QUIET_S)
        self._shown = True
        text = self._text(now)
        if self._live:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        else:
            self._link.say(text)

    def _text(self, now: float) -> str:
        rate = self._done / max(now - self._started, 1e-9) / 2**20
        total = self._total / 2**20
        return f"{self._what}: {self._done / 2**20:.1f} of {total:.1f} MiB, {rate:.1f} MiB/s"

    def end(self) -> None:
        if self._shown and self._live:
            print(file=sys.stderr, flush=True)
        if self._link.verbose:
            self._link.say(self._text(self._clock()))


def ls(link: Link, *, recursive: bool) -> None:
    """Print the bus's description of itself."""
    with link.open() as device:
        records = device.sdb(*(() if recursive else (0,)))
    print(f"{'BusPath':<16}{'VendorID:Product':<25}  BaseAddress(Hex)  Description")
    bad = 0
    for record in records:
        if not record.path or record.kind == "empty":
            continue
        if record.kind in ("device", "bridge", "msi"):
            identity = f"{record.vendor:016x}:{record.device:08x}  {record.first:>16x}"
            description = record.name
        elif record.kind == "integration":
            identity = f"{record.vendor:016x}:{record.device:08x}  {'-':>16}"
            description = record.name
        else:
            identity = f"{'-':<25}  {'-':>16}"
            description = record.name or record.kind
        print(f"{record.bus_path:<16}{identity}  {description}".rstrip())
        if link.verbose:
            _details(record)
        if record.problem is not None and recursive:
            bad += 1
            link.say(f"isthmus: {record.bus_path}: {record.problem}")
    if bad:
        raise DataError(f"{bad} of the bridges could not be followed")


def _details(record: SdbRecord) -> None:
    if record.kind in ("device", "bridge", "msi"):
        print(f"{'':<16}{record.kind}, last address {record.last:x}, {_product(record)}")
    if record.sizes:
        order = "little" if record.little_endian else "big"
        bits = "/".join(str(8 * size) for size in record.sizes)
        print(f"{'':<16}{order}-endian, {bits} bit")


def _product(record: SdbRecord) -> str:
    return f"version {record.version:x}, date {record.date:08x}"


def find(link: Link, vendor: str, product: str, *, recursive: bool = True) -> None:
    """Print the first address of every device with this identity."""
    wanted = number("vendor", vendor), number("product", product)
    with link.open() as device:
        found = device.find(*wanted) if recursive else device.find(*wanted, depth=0)
    if not found:
        raise DataError(
            f"{link.name} has no device {wanted[0]:016x}:{wanted[1]:08x}; isthmus eb ls lists them"
        )
    for record in found:
        print(f"0x{record.first:x}")


def show_discovered(name: str, *, dialect: str, silence_s: float) -> None:
    """Print all devices that answer."""
    found = discover(name, silence_s=silence_s, dialect=dialect)
    if not found:
        raise DataError(f"{name}: no answer within {silence_s:g} s")
    for device in found:
        data = "/".join(map(str, device.data_widths))
        address = "/".join(map(str, device.address_widths))
        print(f"{device.name} V1 data={data}-bit addr={address}-bit")


def snoop(port: str, window: str, *, bind: str, data_widths: str, dialect: str, quiet: bool) -> None:
    """Offer memory on a port and print what masters do to it, until Control-C."""
    low, dash, high = window.partition("-")
    if not dash:
        raise UserError(f"{window!r}: expected LOW-HIGH, such as 0x0-0xffff")
    first, last = number("address", low), number("address", high)
    if last < first:
        raise UserError(f"{window!r}: the high address is below the low one")
    if last - first >= 1 << 30:
        raise UserError(f"{window!r}: at most 1 GiB")
    wanted = number("port", port)
    if wanted > 0xFFFF:
        raise UserError(f"port {port}: expected 0 to 65535 (0: any)")
    name = f"[{bind}]" if ":" in bind else bind
    at = f"{name}:{wanted}"
    memory = Memory(first, bytes(last - first + 1), name="eb-snoop")
    table = 0xFFFF_0000 if last < 0xFFFF_0000 else (last | 0xFFFF) + 1
    widths = _widths("-d", data_widths)
    address = (32,) if table < 1 << 32 else (64,)
    with _offered(
        [memory],
        table=table,
        udp=[at],
        # LiteEth's dialect has no streams.
        tcp=[at] if dialect == "ohwr" else [],
        dialect=dialect,
        data_widths=widths,
        address_widths=address,
        log=not quiet,
    ) as slave:
        dropped = 0
        try:
            print(f"etherbone {' '.join(slave.names)}", flush=True)
            while quiet:
                time.sleep(1.0)
            while True:
                lines = slave.events(1.0)
                if slave.dropped > dropped:
                    lines.append(f"({slave.dropped - dropped} events not shown: they came too fast)")
                    dropped = slave.dropped
                if lines:
                    print("\n".join(lines), flush=True)
        except KeyboardInterrupt:
            counted = slave.close()
    totals = ("datagrams", "connections", "operations", "bus_errors", "malformed")
    print(", ".join(f"{counted[key]} {key.replace('_', ' ')}" for key in totals), file=sys.stderr)


def offer_or_watch(
    port: str,
    window: str,
    *,
    bind: str,
    data_widths: str,
    quiet: bool,
    passive: bool,
    interface: str,
    dialect: str,
) -> None:
    """The command `snoop`."""
    if passive:
        if window:
            raise UserError(f"{window!r}: --passive offers no memory")
        watch(port, interface=interface, dialect=dialect, quiet=quiet)
        return
    if interface:
        raise UserError("--interface goes with --passive; --bind says where to listen")
    snoop(port, window, bind=bind, data_widths=data_widths, dialect=dialect, quiet=quiet)


def _offered(memories: list[Memory], **keywords: Any) -> SoftwareSlave:
    """A software slave. A port that is taken is a wrong request, as in `isthmus serve`."""
    try:
        return SoftwareSlave(memories, **keywords)
    except EtherboneError as err:
        if "in use" in str(err):
            raise UserError(f"{err}; use port 0 for any free one") from None
        raise


def watch(port: str, *, interface: str, dialect: str, quiet: bool) -> None:
    """Print what passes between others on a UDP port, until Control-C."""
    wanted = number("port", port)
    if not 0 < wanted <= 0xFFFF:
        raise UserError(f"port {port}: expected 1 to 65535")
    describe(b"", dialect=dialect)
    seen = malformed = 0
    from isthmus.eb.watch import Watch

    with Watch(wanted, interface) as passing:
        print(f"watching udp port {wanted} on {interface or 'all interfaces'}", flush=True)
        try:
            while True:
                for datagram in passing.receive(1.0):
                    lines = describe(datagram.payload, dialect=dialect)
                    seen += 1
                    malformed += bool(lines) and lines[0].startswith("malformed")
                    if not quiet:
                        print("\n".join([str(datagram), *(f"  {line}" for line in lines)]), flush=True)
        except KeyboardInterrupt:
            pass
    print(f"{seen} datagrams, {malformed} malformed", file=sys.stderr)


class Window(NamedTuple):
    """The difference of two timestamps of the device."""

    elapsed_ns: int
    cycles: int
    timestamps: int

    def rows(self) -> list[tuple[str, str]]:
        ns = max(self.elapsed_ns, 1)
        return [
            ("elapsed [ms]", f"{ns / 1e6:.6f}"),
            ("words (32 bit)", f"{2 * self.timestamps}"),
            ("us/EB cycle", f"{ns / 1e3 / self.cycles:.3f}"),
            ("us/TS", f"{ns / 1e3 / self.timestamps:.3f}"),
            ("kHz cycle", f"{self.cycles * 1e6 / ns:.3f}"),
            ("kHz TS", f"{self.timestamps * 1e6 / ns:.3f}"),
            ("Mbit/s", f"{64e3 * self.timestamps / ns:.3f}"),
        ]


def windows(before: int, stamps: array[int], cycles: int) -> tuple[Window, Window]:
    """The two windows of a series of timestamps in ns: from one before it, and from the series' first."""
    if len(stamps) < 2:
        raise UserError("one timestamp spans no time; expected two or more")
    realistic = Window(stamps[-1] - before, cycles, len(stamps))
    return realistic, Window(stamps[-1] - stamps[0], cycles, len(stamps))


def perf(link: Link, *, sustain: int, iterations: int, reads: int, mode: int) -> None:
    """Read the device's time repeatedly; print what its own timestamps say it took."""
    with link.open() as device:
        found = device.find(*ECA)
        if not found:
            raise DataError(
                f"{link.name} has no ECA time unit ({ECA[0]:016x}:{ECA[1]:08x}) to take time from"
            )
        base = found[0].first
        high, low = base + TIME_HIGH, base + TIME_LOW
        single = Cycle().read(high, 4).read(low, 4)
        # A convenience call is a cycle of one read: two for a timestamp.
        cycles = 2 * reads * iterations if mode == 0 else iterations
        cycle = Cycle()
        for _ in range(reads):
            cycle.read(high, 4).read(low, 4)
        for turn in range(max(sustain, 1)):
            before = _stamps(array("Q", device.execute(single)))[0]
            if mode == 0:
                words = array(
                    "Q", [device.read(at, 4) for _ in range(iterations * reads) for at in (high, low)]
                )
            else:
                words = device.repeat(cycle, iterations, pipelined=mode == 2)
            stamps = _stamps(words)
            if any(b < a for a, b in pairwise(stamps)):
                raise DataError("the device's time went backwards between two reads")
            if turn:
                print()
            title = f"mode {mode} ({METHODS[mode]}), {iterations} iterations of {reads} TS"
            _print_windows(title, windows(before, stamps, cycles))


def _stamps(words: array[int]) -> array[int]:
    return array("Q", [high << 32 | low for high, low in zip(words[::2], words[1::2], strict=True)])


def _print_windows(title: str, both: tuple[Window, Window]) -> None:
    print(title)
    print(f"{'':<16}{'realistic':>16}{'underestimated':>16}")
    for (name, one), (_, other) in zip(both[0].rows(), both[1].rows(), strict=True):
        print(f"{name:<16}{one:>16}{other:>16}")


def _widths(option: str, text: str) -> list[int]:
    try:
        widths = [int(part) for part in text.replace(",", "/").split("/")]
    except ValueError:
        widths = [0]
    if not set(widths) <= set(ANY):
        raise UserError(f"{option} {text!r}: expected 8, 16, 32 or 64, or several such as 32/64")
    return widths
