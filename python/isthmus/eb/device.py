# SPDX-License-Identifier: Apache-2.0
"""A device over Etherbone: the client of `isthmus-host`, typed."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from types import TracebackType
from typing import Any, NamedTuple, Self

from isthmus.errors import DataError, UserError

ANY = (8, 16, 32, 64)
ADDRESSES = (16, 32, 64)
"""A reply names its request by an address: 8 bits are too few for that."""
DEPTH = 8


class EtherboneError(DataError):
    """The device or the network: no route, a reply that does not fit, no self-description."""


class DeviceTimeoutError(EtherboneError):
    """No answer in time. A cycle may or may not have been executed."""


class BusError(EtherboneError):
    """At least one operation ended with a bus error or the device's bus timeout."""

    def __init__(self, message: str, failed: Sequence[int], reads: Sequence[int]) -> None:
        super().__init__(message)
        self.failed = list(failed)
        """Positions of the operations that failed."""
        self.reads = list(reads)
        """All values read, in order; those of failed reads mean nothing."""


class SdbRecord(NamedTuple):
    """One record of a device's self-description."""

    path: tuple[int, ...]
    """Position in its table after those of the bridges that lead there; empty for the first table's head."""
    kind: str
    """interconnect, device, bridge, msi, integration, repository, synthesis, empty or unknown."""
    first: int
    last: int
    vendor: int
    device: int
    version: int
    date: int
    """Its digits as hexadecimal ones: 0x20260131."""
    name: str
    bus_specific: int | None
    """Devices and MSI targets: data widths in bits 3 to 0 (1: 8 bit … 8: 64 bit), 0x80 little-endian."""
    problem: str | None
    """Why nothing behind a bridge is listed."""

    @property
    def bus_path(self) -> str:
        return ".".join(map(str, self.path))

    @property
    def little_endian(self) -> bool:
        return bool((self.bus_specific or 0) & 0x80)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Sizes of operations in bytes that it takes; empty where it does not say."""
        return tuple(size for size in (1, 2, 4, 8) if (self.bus_specific or 0) & size)


class Discovered(NamedTuple):
    """A device that answered a probe."""

    name: str
    address_widths: tuple[int, ...]
    """In bits, as are `data_widths`."""
    data_widths: tuple[int, ...]


class Cycle:
    """Operations that the device executes in order; no other master's operation comes between them.

    A cycle is checked: the device's error register is read along, and failed operations are named. `silent`
    leaves that out: shorter, and errors go unnoticed. `repeatable` cycles may be sent again where no reply
    came (`Device(retries=...)`) though the device cannot recognise a repetition.

    `size` is 1, 2, 4 or 8 bytes, up to the data port's width, which is the default; byte enables select the
    lanes of a big-endian bus. All methods return the cycle. Values and addresses are checked when it is sent.
    """

    __slots__ = ("_native",)

    def __init__(self, *, silent: bool = False, repeatable: bool = False) -> None:
        self._native = _module().EbCycle(silent, repeatable)

    def __len__(self) -> int:
        return len(self._native)

    def read(self, address: int, size: int = 0) -> Self:
        _do(self._native.read, address, size)
        return self

    def write(self, address: int, value: int, size: int = 0) -> Self:
        _do(self._native.write, address, value, size)
        return self

    def reads(self, addresses: Iterable[int]) -> Self:
        for address in addresses:
            _do(self._native.read, address, 0)
        return self

    def read_range(self, address: int, count: int, step: int = 4) -> Self:
        """Reads `count` words, `step` bytes apart; 0: one address repeatedly."""
        _do(self._native.read_range, address, count, step)
        return self

    def write_range(self, address: int, values: Iterable[int], step: int = 4) -> Self:
        """Writes words `step` bytes apart; 0: all to one address."""
        _do(self._native.write_range, address, list(values), step)
        return self

    def read_config(self, address: int) -> Self:
        """Reads a word of the device's configuration space."""
        _do(self._native.read_config, address)
        return self

    def write_config(self, address: int, value: int) -> Self:
        """Writes a word of the device's configuration space."""
        _do(self._native.write_config, address, value)
        return self


class Pending:
    """A cycle that was submitted."""

    __slots__ = ("_device", "_native", "_outcome")

    def __init__(self, native: Any, device: Device) -> None:
        self._native = native
        self._device = device
        self._outcome: list[int] | EtherboneError | UserError | None = None

    def done(self) -> bool:
        """Whether it has ended. Never waits."""
        return self._outcome is not None or bool(self._native.is_ready())

    def result(self) -> list[int]:
        """The values read, in order. Waits for everything in flight where this one has not ended.

        Raises `BusError`, `DeviceTimeoutError` or another `EtherboneError`; each time it is asked.
        """
        if self._outcome is None:
            if not self._native.is_ready():
                self._device.settle()
            try:
                self._outcome = self._native.take()
            except _module().EbError as err:
                self._outcome = _error(err)
        if isinstance(self._outcome, list):
            return self._outcome
        raise self._outcome or EtherboneError("the device was closed before the cycle ended")


class Device:
    """An Etherbone device, opened by its name.

    | name | |
    |---|---|
    | `udp/HOST[/PORT]`, `udp4/…`, `udp6/…` | datagrams; port 60368 |
    | `tcp/HOST[/PORT]`, `tcp4/…`, `tcp6/…` | a connection |
    | `dev/NAME` | the character device `/dev/NAME`: a serial line, or a driver's device |

    Widths are offers in bits; the largest that the device has as well are used. `probes` are sent, each with
    `probe_timeout_s`; a cycle's reply has `timeout_s`. `window` bounds the datagrams in flight (0: 64, or 1
    in LiteEth's dialect). With `retries` a datagram without a reply is sent again, in a session where the
    device gives one, so that nothing is executed twice. `spin_s` is how long to poll before the thread
    sleeps: answers sooner, for a busy processor. `dialect` is `ohwr` or `liteeth`.

    Raises `UserError` for an invalid name, `DeviceTimeoutError` if no device answers, `EtherboneError` for
    errors of the system. One thread at a time; others wait.
    """

    def __init__(
        self,
        name: str,
        *,
        address_widths: Sequence[int] = ADDRESSES,
        data_widths: Sequence[int] = ANY,
        probes: int = 3,
        probe_timeout_s: float = 3.0,
        timeout_s: float = 5.0,
        window: int = 0,
        retries: int = 0,
        spin_s: float = 0.0,
        dialect: str = "ohwr",
    ) -> None:
        self.name = name
        self._failed = _module().EbError
        self._waiting: list[tuple[Pending, Callable[[Pending], None]]] = []
        self._native = _do(
            _module().EbDevice,
            name,
            dialect=dialect,
            address_widths=mask(address_widths),
            data_widths=mask(data_widths),
            probes=probes,
            probe_timeout=probe_timeout_s,
            reply_timeout=timeout_s,
            window=window,
            retries=retries,
            spin=spin_s,
        )
        self.address_bytes, self.data_bytes = self._native.widths()
        """Widths agreed on, in bytes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close it. Cycles in flight end with an error."""
        self._native.close()
        self._deliver()

    def read(
        self,
        address: int,
        size: int = 0,
        *,
        silent: bool = False,
        config: bool = False,
        little_endian: bool = False,
        width: int = 0,
    ) -> int:
        """Read `size` bytes (default: the data port's width) in a separate cycle.

        More than the data port has become several operations of one cycle. `little_endian` says in which
        order the device has its bytes and words; it changes nothing at the port's width. `width` is the
        widest operation of the device in bytes, where it is narrower than the port.
        """
        cycle = Cycle(silent=silent)
        if config:
            return self.execute(cycle.read_config(address))[0]
        width = width or self.data_bytes
        if size == 0 or size == self.data_bytes == width:
            return self.execute(cycle.read(address))[0]
        for at, wide in self._lanes(address, size, little_endian, width):
            cycle.read(at, wide)
        value = 0
        for word in self.execute(cycle):
            value = value << (8 * width) | word
        return value

    def write(
        self,
        address: int,
        value: int,
        size: int = 0,
        *,
        silent: bool = False,
        config: bool = False,
        little_endian: bool = False,
        width: int = 0,
    ) -> None:
        """Write `size` bytes in a separate cycle; as `read`."""
        cycle = Cycle(silent=silent)
        if config:
            cycle.write_config(address, value)
        elif size == 0 or size == self.data_bytes == (width or self.data_bytes):
            cycle.write(address, value)
        else:
            if not 0 <= value < 1 << (8 * size):
                raise UserError(f"write {address:#x}: value {value:#x} does not fit {8 * size} bit")
            lanes = self._lanes(address, size, little_endian, width or self.data_bytes)
            for index, (at, wide) in enumerate(lanes):
                shift = 8 * wide * (len(lanes) - 1 - index)
                cycle.write(at, value >> shift & ((1 << (8 * wide)) - 1), wide)
        self.execute(cycle)

    def _lanes(self, address: int, size: int, little_endian: bool, port: int) -> list[tuple[int, int]]:
        """Operations of a big-endian port that make up one of `size` bytes, the most significant first."""
        if size not in (1, 2, 4, 8):
            raise UserError(f"size {size}: expected 1, 2, 4 or 8")
        if address % min(size, port):
            raise UserError(f"address {address:#x} must be a multiple of {min(size, port)}")
        if size <= port:
            within = address % port
            return [(address - within + port - size - within if little_endian else address, size)]
        words = [(address + offset, port) for offset in range(0, size, port)]
        return words[::-1] if little_endian else words

    def execute(self, cycle: Cycle) -> list[int]:
        """Execute one cycle and wait for its end; the values of all its reads, in order."""
        try:
            values: list[int] = self._native.execute(cycle._native)
        except self._failed as err:
            raise _error(err) from None
        finally:
            if self._waiting:
                self._deliver()
        return values

    def submit(self, cycle: Cycle, callback: Callable[[Pending], None] | None = None) -> Pending:
        """Queue a cycle. It is sent by `flush`; up to 16384 may be in flight.

        `callback` is called exactly once with the ended cycle, by `flush`, `settle`, `execute` or `close`.
        """
        try:
            pending = Pending(self._native.submit(cycle._native), self)
        except self._failed as err:
            raise _error(err) from None
        if callback is not None:
            self._waiting.append((pending, callback))
        return pending

    def flush(self) -> None:
        """Send all queued cycles, many in each datagram. Receives while the window is full."""
        try:
            self._native.flush()
        except self._failed as err:
            raise _error(err) from None
        finally:
            self._deliver()

    def settle(self) -> None:
        """Send queued cycles and wait until every cycle has its reply or has timed out."""
        try:
            self._native.settle()
        except self._failed as err:
            raise _error(err) from None
        finally:
            self._deliver()

    def _deliver(self) -> None:
        if not self._waiting:
            return
        ready = [(pending, callback) for pending, callback in self._waiting if pending.done()]
        self._waiting = [one for one in self._waiting if not one[0].done()]
        for pending, callback in ready:
            callback(pending)

    def outstanding(self) -> int:
        """Cycles submitted and not yet ended."""
        return int(self._native.outstanding())

    def repeat(self, cycle: Cycle, count: int, *, pipelined: bool = True) -> array[int]:
        """Execute the same cycle `count` times; all values read, in order.

        Pipelined, the first error is raised when the cycles around it have ended.
        """
        values = array("Q")
        values.frombytes(_do(self._native.repeat, cycle._native, count, pipelined))
        return values

    def read_bytes(
        self,
        address: int,
        length: int,
        *,
        words_per_cycle: int = 0,
        fixed: bool = False,
        silent: bool = False,
    ) -> bytes:
        """Read `length` bytes, lowest address first, in pipelined cycles of as many words as fit a datagram.

        Address and length are multiples of the data port's width. `fixed` reads one address repeatedly.
        """
        data: bytes = _do(self._native.read_block, address, length, words_per_cycle, fixed, silent)
        return data

    def write_bytes(
        self,
        address: int,
        data: bytes | bytearray | memoryview | array[int],
        *,
        words_per_cycle: int = 0,
        fixed: bool = False,
        silent: bool = False,
    ) -> None:
        """Write bytes, lowest address first; as `read_bytes`."""
        _do(self._native.write_block, address, bytes(data), words_per_cycle, fixed, silent)

    def sdb(self, depth: int = DEPTH) -> list[SdbRecord]:
        """The devices that the bus describes, through `depth` bridges."""
        records = _do(self._native.sdb, depth)
        return [SdbRecord(**{**record, "path": tuple(record["path"])}) for record in records]

    def find(self, vendor: int, device: int, depth: int = DEPTH) -> list[SdbRecord]:
        """All devices with this identity, through `depth` bridges."""
        return [
            record
            for record in self.sdb(depth)
            if record.kind == "device" and (record.vendor, record.device) == (vendor, device)
        ]

    @property
    def has_session(self) -> bool:
        """Whether every retried request is executed once."""
        return bool(self._native.has_session())

    def statistics(self) -> dict[str, int]:
        """Counters since it was opened: messages, bytes, cycles, timed_out, malformed, stale, repeated."""
        counted: dict[str, int] = self._native.statistics()
        return counted


def discover(name: str, *, silence_s: float = 1.0, dialect: str = "ohwr") -> list[Discovered]:
    """All devices that answer a probe to `name` (a host or a broadcast address), until no answer comes for
    `silence_s`."""
    found = _do(_module().eb_discover, name, dialect, silence_s)
    return [Discovered(host, _bits(address), _bits(data)) for host, address, data in found]


def describe(datagram: bytes, *, dialect: str = "ohwr") -> list[str]:
    """The contents of a datagram, a line for each operation; one line with the reason if it is invalid."""
    lines: list[str] = _do(_module().eb_describe, dialect, datagram)
    return lines


def mask(widths: Sequence[int]) -> int:
    """Widths in bits as Etherbone's mask."""
    total = 0
    for width in widths:
        if width not in ANY:
            raise UserError(f"width {width}: expected 8, 16, 32 or 64")
        total |= width // 8
    return total


def _bits(mask: int) -> tuple[int, ...]:
    return tuple(width for width in ANY if mask & (width // 8))


@cache
def _module() -> Any:
    from isthmus import native

    return native.load()


def _error(err: Any) -> EtherboneError | UserError:
    kind, message, failed, reads = err.args
    if kind == "request":
        return UserError(message)
    if kind == "bus":
        return BusError(message, failed, reads)
    return DeviceTimeoutError(message) if kind == "timeout" else EtherboneError(message)


def _do(call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call the native module, whose errors become this package's."""
    try:
        return call(*arguments, **keywords)
    except _module().EbError as err:
        raise _error(err) from None
    except OverflowError:
        raise UserError(f"{_numbers(arguments)}: expected numbers from 0 to 2^64 - 1") from None


def _numbers(arguments: Iterable[Any]) -> str:
    return ", ".join(hex(value) for value in arguments if isinstance(value, int))
