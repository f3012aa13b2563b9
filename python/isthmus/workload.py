# SPDX-License-Identifier: Apache-2.0
"""The common workload: what is transferred, in which direction, how much of it and how requests arrive.

A `Question` is what a user asks; each road turns it into its own scenarios (`roads/<road>/question.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from isthmus.errors import UserError, choose

if TYPE_CHECKING:
    from isthmus.results import Measurement

Operation = Literal[
    "host-read",
    "host-write",
    "device-read",
    "device-write",
    "put",
    "get",
    "message",
    "nic-to-memory",
    "update",
]


@dataclass(frozen=True)
class OperationText:
    """How an operation is said; `{size}` is the amount of data with its unit."""

    sentence: str
    subject: str
    """The same without a size."""
    noun: str
    done: str
    """When a transfer counts as done."""
    size: int = 256
    """Bytes where the user names none."""
    one_word: bool = False
    """All requests are for one word: one size, and each waits for the one before."""


OPERATIONS: Mapping[str, OperationText] = {
    "host-read": OperationText(
        "Host reads {size} from an FPGA",
        "Host reads from an FPGA",
        "read",
        "round trip: until the data are in the program",
    ),
    "host-write": OperationText(
        "Host writes {size} to an FPGA",
        "Host writes to an FPGA",
        "write",
        "one-way: until the last word is at the device's slave",
    ),
    "device-read": OperationText(
        "Device reads {size} of host memory",
        "Device reads host memory",
        "device read",
        "until the data are in the device",
    ),
    "device-write": OperationText(
        "Device writes {size} to host memory",
        "Device writes to host memory",
        "device write",
        "until the host program can see the data",
    ),
    "put": OperationText(
        "Host writes {size} to a remote host's memory",
        "Host writes to a remote host's memory",
        "put",
        "one-way: until the data are in remote memory",
    ),
    "get": OperationText(
        "Host reads {size} of a remote host's memory",
        "Host reads a remote host's memory",
        "get",
        "round trip: until the data are in the program's own memory, and it has seen that",
    ),
    "message": OperationText(
        "Host sends a message of {size} to a remote host",
        "Host sends messages to a remote host",
        "message",
        "one-way: until the remote program has taken it",
    ),
    "nic-to-memory": OperationText(
        "A datagram of {size} comes from the wire into host memory",
        "Datagrams come from the wire into host memory",
        "datagram",
        "one-way: from the frame's begin at its source until the host program has its event",
    ),
    "update": OperationText(
        "Device changes a shared word of {size} in host memory",
        "Device changes a shared word in host memory",
        "update",
        "round trip: until the old value is in the device; from then on everybody sees the new one",
        size=8,
        one_word=True,
    ),
}
"""Operations that a road of today carries."""

PLANNED = ("gpu-write",)
"""Known words without a road yet."""

SHORT: Mapping[str, str] = {"read": "host-read", "write": "host-write"}

WORD_BYTES = 4
LARGEST_BYTES = 1 << 20
LARGEST_WINDOW = 4096
LARGEST_RATE = 1e9
ITERATIONS = 1000
BRIEF = 200
"""The most requests that are measured for each size where several operations are."""
LARGEST_ITERATIONS = 1_000_000
VOLUME = 256 << 10
"""Without -n, as many requests of more than `SMALL` bytes are measured as move this many bytes in total,
within `FEWEST` and `ITERATIONS`."""
SMALL = 1 << 10
"""Up to here `ITERATIONS` are measured: as many as a 99th percentile needs."""
FEWEST = 40
MOST_SIZES = 24


@dataclass(frozen=True)
class Noise:
    """How late an operating system runs a program: a histogram of nanoseconds, from a measurement."""

    source: str
    buckets: tuple[tuple[int, int], ...]
    """(largest value of the bucket in ns, samples), ascending."""

    @property
    def samples(self) -> int:
        return sum(count for _, count in self.buckets)

    @property
    def largest(self) -> int:
        return self.buckets[-1][0]

    def scenario(self) -> dict[str, Any]:
        """As the engine takes it."""
        return {"unit": "ns", "buckets": [list(bucket) for bucket in self.buckets]}


@dataclass(frozen=True)
class Question:
    """One operation: how many bytes, how requests arrive, how many are measured.

    Exactly one of `window` (requests in flight) and `rate_per_s` (open loop, Poisson) is set.
    `iterations` None: as many as are sensible for each size; fewer where `brief`, as one of several
    questions.
    """

    operation: str
    sizes: tuple[int, ...]
    window: int | None = 1
    rate_per_s: float | None = None
    iterations: int | None = None
    seed: int = 1
    noise: Noise | None = None
    brief: bool = False

    def requests(self, size: int) -> int:
        """How many requests of this size are measured."""
        if self.iterations is not None:
            return self.iterations
        most = BRIEF if self.brief else ITERATIONS
        return most if size <= SMALL else max(FEWEST, min(most, VOLUME // size))


def question(
    op: str,
    size: int | str = 256,
    *,
    window: int | None = None,
    rate: float | str | None = None,
    iterations: int | None = None,
    seed: int = 1,
    noise: Noise | None = None,
) -> Question:
    """A checked question from what a user gives. Raises `UserError` with one line."""
    operation = parse_operation(op)
    if window is not None and rate is not None:
        raise UserError("--window and --rate exclude each other: requests in flight, or requests a second")
    if window is not None and not 1 <= window <= LARGEST_WINDOW:
        raise UserError(f"window: {window} is outside 1 to {LARGEST_WINDOW} requests in flight")
    if iterations is not None and not 1 <= iterations <= LARGEST_ITERATIONS:
        raise UserError(f"iters: {iterations} is outside 1 to {LARGEST_ITERATIONS}")
    rate_per_s = None if rate is None else parse_rate(rate)
    return Question(
        operation,
        parse_sizes(size),
        None if rate_per_s is not None else window or 1,
        rate_per_s,
        iterations,
        seed,
        noise,
    )


def short_name(operation: str) -> str:
    """The shortest name that `--op` takes."""
    return next((short for short, name in SHORT.items() if name == operation), operation)


def default_size(op: str) -> int:
    """Bytes of one request where the user names none. Raises `UserError` where no road carries `op`."""
    return OPERATIONS[parse_operation(op)].size


def parse_operation(text: str) -> str:
    """The full name of an operation. Raises `UserError` where no road carries it."""
    name = SHORT.get(text, text)
    if name in PLANNED:
        raise UserError(f"no road here carries {name} yet; choose from {', '.join(OPERATIONS)}")
    return choose("operation", name, (*OPERATIONS, *SHORT)) if name not in OPERATIONS else name


_UNITS: Mapping[str, int] = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def parse_size(text: str, most: int = LARGEST_BYTES) -> int:
    """Bytes as people write them: 256, 2K, 1M (K is 1024). `most`: the caller's limit, for the error's line;
    it checks sizes up to LARGEST_BYTES itself, with its own reason."""
    given = text.strip().lower().removesuffix("ib").removesuffix("b")
    unit = given[-1:] if given[-1:] in _UNITS else ""
    number = (given.removesuffix(unit) if unit else given).strip()
    if not (number.isascii() and number.isdigit()) or len(number) > 12:
        shown = text if len(text) <= 32 else f"{text[:32]}..."
        raise UserError(f"size: {shown!r}; expected bytes, for example 256, 2K, 8,64,1K or 8:4K")
    size = int(number) * _UNITS[unit]
    if size % WORD_BYTES or not WORD_BYTES <= size <= LARGEST_BYTES:
        raise UserError(
            f"size: {size} bytes; expected a multiple of {WORD_BYTES} from {WORD_BYTES} to "
            f"{size_text(min(most, LARGEST_BYTES))}{_nearest(size)}"
        )
    return size


def _nearest(size: int) -> str:
    if not WORD_BYTES < size < LARGEST_BYTES:
        return ""
    low = size // WORD_BYTES * WORD_BYTES
    return f", for example {low} or {low + WORD_BYTES}"


def parse_sizes(size: int | str, most: int = LARGEST_BYTES) -> tuple[int, ...]:
    """Sizes in ascending order: 256, 8,64,1K or 8:4K, which doubles up to its end. `most` as parse_size."""
    text = str(size)
    if ":" in text:
        first, _, last = text.partition(":")
        low, high = parse_size(first, most), parse_size(last, most)
        if low > high:
            raise UserError(f"size: {text!r} begins above its end; expected FROM:TO, for example 8:4K")
        found = [low]
        while found[-1] * 2 <= high:
            found.append(found[-1] * 2)
        # What the user named as the end is measured too.
        found.append(high)
    else:
        found = [parse_size(part, most) for part in text.split(",")]
    if len(found) > MOST_SIZES:
        raise UserError(f"size: {len(found)} sizes; at most {MOST_SIZES} are measured in one run")
    return tuple(sorted(set(found)))


_PREFIXES: Mapping[str, float] = {"k": 1e3, "m": 1e6, "g": 1e9}


def parse_rate(rate: float | str) -> float:
    """Requests a second: 100000, 100k, 1.5M (k is 1000)."""
    text = str(rate).strip().lower().removesuffix("/s")
    factor = _PREFIXES.get(text[-1:], 1.0)
    number = text[:-1] if text[-1:] in _PREFIXES else text
    try:
        value = float(number) * factor
    except ValueError:
        value = float("nan")
    if not 1 <= value <= LARGEST_RATE:
        shown = str(rate)[:32]
        raise UserError(f"rate: {shown!r}; expected requests a second from 1 to 1G, for example 100k")
    return value


def size_text(size: int) -> str:
    """A size as tables show it: 256, 2K, 1M."""
    for step, unit in ((1 << 20, "M"), (1 << 10, "K")):
        if size >= step and size % step == 0:
            return f"{size // step}{unit}"
    return str(size)


def bytes_text(size: int) -> str:
    """A size in a sentence: 256 bytes, 2 KiB."""
    for step, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= step and size % step == 0:
            return f"{size // step} {unit}"
    return f"{size} bytes"


def rate_text(rate_per_s: float) -> str:
    """A rate as it is typed: 100k, 1.5M."""
    for step, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if rate_per_s >= step:
            return f"{rate_per_s / step:.6g}{unit}"
    return f"{rate_per_s:.6g}"


def arrivals_text(window: int | None, rate_per_s: float | None) -> str:
    """How requests arrive, in words."""
    if rate_per_s is not None:
        return f"{rate_text(rate_per_s)} requests/s, Poisson"
    return "one request at a time" if window == 1 else f"{window} requests in flight"


_PLACES: Mapping[str, str] = {"fpga": "FPGA", "nic": "NIC", "pcie": "PCIe"}


def place_text(place: str) -> str:
    """A place or a resource as tables name it."""
    return _PLACES.get(place, place)


def busiest(m: Measurement) -> tuple[str, float] | None:
    """The resource that is busy for the largest share of the measured time; None where none was measured."""
    shares = m.workload.get("busy") or {}
    if not shares:
        return None
    name = max(sorted(shares), key=lambda each: float(shares[each]))
    return name, float(shares[name])


# Operating-system noise.

_LARGEST_NOISE_BYTES = 64 << 20
_LARGEST_NS = 1_000_000_000


def read_noise(path: Path) -> Noise:
    """A histogram of wake-up latencies: the output of `cyclictest -h` or `--histofall`, or lines of
    nanoseconds and samples. Raises `UserError`."""
    from isthmus.storage import read_text

    return parse_noise(read_text(path, _LARGEST_NOISE_BYTES), path.name)


def parse_noise(text: str, source: str = "noise") -> Noise:
    """The same from text; cyclictest's output says so itself, in its comments."""
    rows: list[tuple[int, list[int]]] = []
    comments: dict[str, list[int]] = {}
    cyclictest = False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("#"):
            cyclictest = cyclictest or stripped.lower().startswith("# histogram")
            name, _, values = stripped[1:].partition(":")
            if values.split() and all(part.isdigit() for part in values.split()):
                comments[name.strip().lower()] = [int(part) for part in values.split()]
            continue
        if not stripped or stripped.startswith(("T:", "policy:")):
            continue
        fields = stripped.split()
        if len(fields) < 2 or not all(part.isascii() and part.isdigit() for part in fields):
            raise UserError(
                f"{source}: line {number}: expected a latency and a count of samples, for example "
                f"'1500 12', or the output of cyclictest -h; found {stripped[:40]!r}"
            )
        if len(fields) > 2 and not cyclictest:
            raise UserError(
                f"{source}: line {number}: {len(fields)} columns; expected nanoseconds and samples, or "
                "cyclictest's output with its '# Histogram' line"
            )
        rows.append((int(fields[0]), [int(part) for part in fields[1:]]))
    if not rows:
        raise UserError(f"{source}: no histogram in it; expected the output of cyclictest -h")
    buckets = _cyclictest(rows, comments) if cyclictest else {value: counts[0] for value, counts in rows}
    made = tuple(sorted((value, count) for value, count in buckets.items() if count))
    if not made:
        raise UserError(f"{source}: all counts are 0; expected a histogram with samples")
    if made[-1][0] > _LARGEST_NS:
        raise UserError(f"{source}: a latency of {made[-1][0]} ns; expected at most 1 s: is the unit ns?")
    return Noise(source, made)


def _cyclictest(rows: list[tuple[int, list[int]]], comments: Mapping[str, list[int]]) -> dict[int, int]:
    """Samples of all threads by how much longer than the shortest one they took: that one is the wake-up
    which platforms have as a constant.

    With --histofall the last column sums up the others, and counts nothing of its own.
    """
    width = min(len(counts) for _, counts in rows)
    summed = width > 1 and all(sum(counts[: width - 1]) == counts[width - 1] for _, counts in rows)
    threads = width - 1 if summed else width
    found: dict[int, int] = {}
    for value, counts in rows:
        found[value] = found.get(value, 0) + sum(counts[:threads])
    # Samples beyond the histogram: of each the largest of its thread is all that is known.
    largest = comments.get("max latencies", [])
    for beyond, worst in zip(comments.get("histogram overflows", [])[:threads], largest, strict=False):
        if beyond:
            found[worst] = found.get(worst, 0) + beyond
    shortest = min((value for value, count in found.items() if count), default=0)
    return {1000 * (value - shortest): count for value, count in found.items() if count}


def crossings(one: Mapping[int, float], other: Mapping[int, float]) -> list[tuple[int, bool]]:
    """The common sizes from which on two costs have changed places, and whether `one` was ahead before."""
    ahead = [(size, one[size] < other[size]) for size in sorted(set(one) & set(other))]
    return [(size, first) for (_, first), (size, then) in pairwise(ahead) if first != then]
