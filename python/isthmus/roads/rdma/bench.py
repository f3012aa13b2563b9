# SPDX-License-Identifier: Apache-2.0
"""Remote DMA between hosts, as perftest measures it: latency, bandwidth, and two applications.

`scenario` makes one run (docs/reference/rdma-scenario.md), `measure` runs several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any, Literal

from isthmus import platforms
from isthmus.bench import runner as running
from isthmus.bench.session import Session, changed
from isthmus.errors import UserError, choose
from isthmus.platforms import Platform, Profile, entries
from isthmus.platforms.keys import largest
from isthmus.results import Document, Measurement, measurement
from isthmus.roads.rdma import tracefile

PLATFORM = "forth-rdma"
PLATFORMS = (PLATFORM, "rdma-pcie")
INTERFACE, SWITCH = "rdma_ni", "link_switch"

Test = Literal["write-lat", "write-bw", "send-lat", "send-bw", "one-way", "exchange", "sort", "trace"]
TESTS: tuple[Test, ...] = (
    "write-lat", "write-bw", "send-lat", "send-bw", "one-way", "exchange", "sort", "trace",
)  # fmt: skip
TRACE = "trace"
WANTS_TRACE = "trace: test trace needs a file of transfers, --trace FILE, and no other test does"
LATENCY = ("write-lat", "send-lat")
APPLICATIONS = ("exchange", "sort")
BANDWIDTH = ("write-bw", "send-bw", "one-way")
POSTED = ("write-bw", "one-way")
"""Tests that support several ways of checking for queue space."""

LISTED = ("write-bw", "send-bw")
WRITES = ("write-lat", "write-bw")
LONGEST_LIST = 64
"""Descriptors of a list, half a queue; messages, a quarter of the remote queue's slots."""

System = Platform | str
"""A platform, or its name."""

Posting = Literal["v1", "v2", "v3"]
POSTINGS: tuple[Posting, ...] = ("v1", "v2", "v3")
LAZY = 4
"""v3 checks for queue space once per this many descriptors."""

BEAT_BYTES = 8
DESCRIPTOR_BYTES = largest("RdmaWorkload", "size_bytes", "x-descriptor-bytes")
PACKET_BYTES = largest("RdmaWorkload", "size_bytes", "x-packet-bytes")
QUEUE = largest("RdmaWorkload", "size_bytes", "x-batch-descriptors")
"""Descriptors of a request queue."""
LARGEST_WRITE, LARGEST_BATCH = largest("RdmaWorkload", "size_bytes"), QUEUE * DESCRIPTOR_BYTES
LARGEST_MESSAGE = largest("RdmaWorkload", "size_bytes", "x-message-bytes")
"""A slot of a queue of frames has 512 bytes, of which one word says that it is there."""
LARGEST_INLINE = largest("RdmaWorkload", "inline_bytes")
HOSTS, LINKS = largest("RdmaWorkload", "hosts"), largest("RdmaInterface", "links")
LARGEST_BLOCK = largest("RdmaWorkload", "size_bytes", "x-block-bytes")
CHUNKS = largest("RdmaWorkload", "iterations", "x-sort-chunks")
"""Of an exchange and a sort: what goes from one host to another at once; chunks that a host sorts."""
LARGEST_ALL = LARGEST_BATCH
"""The document's largest transfer, and that of -a."""

ITERATIONS = 1_000
VOLUME, FEWEST = 1 << 20, 4
"""Without -n: as many transfers as have `VOLUME` bytes, `FEWEST` at least and `ITERATIONS` at most."""
CALLS = 16
"""The same of applications: exchanges, or chunks that each host sorts."""
KEPT = 1_000_000
"""Of -U, in each host's list."""
PROBE = 20
"""Transfers of the run from which -D takes its number."""

OVERRUN = "--i-know-that-the-queue-may-overrun"
SWITCH_PORTS = (4, 8)
WALL_S = 3_600


@dataclass(frozen=True)
class Transfers:
    """What is sent, how often and how. `size` in bytes; `posting` None is v2, where there is a choice.

    Writes of at most `inline` bytes bring their data with them; None is what the profile says of write-lat,
    else 0. `keep_samples`: the measurement has each latency. Test trace sends what `trace` lists; `size`
    is its longest and `iterations` how many."""

    test: Test
    size: int = 8
    iterations: int = 1_000
    warmup: int = 10
    hosts: int = 2
    links: int = 1
    posting: Posting | None = None
    combined: bool = True
    both_ways: bool = False
    notify: bool = True
    seed: int = 1
    post_list: int = 1
    inline: int | None = None
    keep_samples: bool = False
    trace: tuple[tracefile.Line, ...] = ()


def check(transfers: Transfers) -> None:
    """Raises `UserError` with one line for what the gateware or the program cannot do."""
    t = transfers
    if t.test not in TESTS:
        choose("test", t.test, TESTS)
    largest = LARGEST_MESSAGE if t.test.startswith("send") else LARGEST_WRITE
    if t.test in APPLICATIONS:
        largest = LARGEST_BLOCK
    if t.test == TRACE:
        largest = DESCRIPTOR_BYTES
    if t.posting == "v1":
        largest = LARGEST_BATCH
    if t.size % BEAT_BYTES or not BEAT_BYTES <= t.size <= largest:
        how = f"{t.test} {t.posting}" if t.posting == "v1" else t.test
        raise UserError(f"size: {t.size} bytes for {how}; expected a multiple of 8 from 8 to {largest}")
    for name, value, low, high in (
        ("iters", t.iterations, 1, CHUNKS if t.test == "sort" else 10_000_000),
        ("hosts", t.hosts, 2, HOSTS),
        ("links", t.links, 1, LINKS),
    ):
        if not low <= value <= high:
            raise UserError(f"{name}: {value} is outside {low} to {high}")
    if t.keep_samples and t.iterations > KEPT:
        raise UserError(f"report-unsorted: {t.iterations} samples of a host; {KEPT} at most")
    if (t.test == TRACE) != bool(t.trace):
        raise UserError(WANTS_TRACE)
    if t.trace and tracefile.hosts(t.trace) > t.hosts:
        raise UserError(f"hosts: {t.hosts} are fewer than the {tracefile.hosts(t.trace)} of the trace")
    if t.test not in (*APPLICATIONS, TRACE) and t.hosts % 2:
        raise UserError(f"hosts: {t.hosts} for {t.test}; expected an even number, 2, 4, 6 or 8")
    if t.posting is not None and t.posting not in POSTINGS:
        choose("posting", t.posting, POSTINGS)
    if t.posting is not None and t.test not in POSTED:
        raise UserError(f"posting: not an option of {t.test}; {' and '.join(POSTED)} support v1 to v3")
    if t.both_ways and t.test not in BANDWIDTH:
        raise UserError(f"bidirectional: not an option of {t.test}; {', '.join(BANDWIDTH)} support it")
    if t.post_list != 1 and (t.test not in LISTED or t.posting not in (None, "v2")):
        how = f"{t.test} {t.posting}" if t.posting else t.test
        raise UserError(f"post-list: not an option of {how}; {' and '.join(LISTED)} support it")
    longest = max(1, LONGEST_LIST // -(-t.size // DESCRIPTOR_BYTES))
    if not 1 <= t.post_list <= longest:
        raise UserError(f"post-list: {t.post_list} is outside 1 to {longest} for {t.size} bytes")
    if t.inline is not None and not 0 <= t.inline <= LARGEST_INLINE:
        raise UserError(f"inline_size: {t.inline} bytes are outside 0 to {LARGEST_INLINE}")
    if t.inline and (t.test not in WRITES or t.posting is not None):
        how = f"{t.test} {t.posting}" if t.posting else t.test
        raise UserError(f"inline_size: not an option of {how}; {' and '.join(WRITES)} support it")


def inline_bytes(platform: Platform, profile: Profile, transfers: Transfers) -> int:
    """Writes of at most this many bytes carry their data in the queue entry."""
    if transfers.inline is not None:
        return transfers.inline
    return int(platform.profiles[profile].inline.value) if transfers.test == "write-lat" else 0


def scenario(
    platform: Platform,
    profile: Profile,
    transfers: Transfers,
    interface: Path,
    switch: Path,
    **changes: Any,
) -> dict[str, Any]:
    """One run as the engine takes it; `changes` replace keys of the document, or add to its tables.

    interface, switch  the shared objects that `models` gives for these parameters
    """
    check(transfers)
    t, held = transfers, platform.groups["interface"]
    workload: dict[str, Any] = {
        "test": t.test,
        "hosts": t.hosts,
        "size_bytes": t.size,
        "iterations": t.iterations,
        "warmup": t.warmup,
        "combined": t.combined,
        "both_ways": t.both_ways,
        "post_list": t.post_list,
        "notify": t.notify,
        "inline_bytes": inline_bytes(platform, profile, t),
        "packed": t.test == "send-lat" and not platform.profiles[profile].frames.value,
    }
    if t.keep_samples:
        workload["keep_samples"] = True
    if t.trace:
        workload["trace"] = tracefile.rows(t.trace)
    if t.test in POSTED:
        workload["posting"] = {"v3": LAZY} if t.posting == "v3" else t.posting or "v2"
    made: dict[str, Any] = {
        "road": "rdma",
        "profile": profile,
        "platform": {
            "name": platform.name,
            "link_mhz": platform.fpga.link_clock.value,
            "serdes_ns": platform.groups["serdes"].latency.value,
            "cable_ns": platform.groups["cable"].delay.value,
            "bus": bus(platform, profile),
            "host": entries(platform.groups["host"]),
        },
        "interface": {
            "model_path": str(interface),
            "clock_mhz": platform.fpga.clock.value,
            "links": t.links,
            "hosts": int(held.hosts.value),
            "probe_us": held.probe.value,
            "lost_us": held.lost.value,
        },
        "switch": {
            "model_path": str(switch),
            "ports": ports(t.hosts),
            "bind_sources": bool(platform.profiles[profile].bind.value),
        },
        "workload": workload,
        "seed": t.seed,
        "limits": {"wall_s": WALL_S},
    }
    return changed(made, changes)


def bus(platform: Platform, profile: Profile) -> dict[str, Any]:
    """The host bus as the engine takes it: `{"pcix": ...}` or `{"pcie": ...}`."""
    groups = platform.groups
    if platform.bus == "rdma-pcie":
        return {"pcie": {name: entries(groups[name]) for name in ("link", "root", "endpoint", "memory")}}
    if platform.bus != "rdma-pcix":
        raise UserError(f"platform: {platform.name} has no RDMA; expected one of {', '.join(PLATFORMS)}")
    core = entries(groups["core"])
    core["ahead"] = bool(platform.profiles[profile].ahead.value)
    core["interrupts"] = "message" if core.pop("message") else "pin"  # type: ignore[assignment]
    bridge = {**entries(groups["bridge"]), "stray_writes": "fail"}
    top = {"name": "pcix", "clock_mhz": platform.fpga.clock.value, **entries(groups["pcix"])}
    return {"pcix": {**top, "bridge": bridge, "core": core}}


def ports(hosts: int) -> int:
    """The smallest switch that they fit."""
    return next(count for count in SWITCH_PORTS if count >= hosts)


def parameters(platform: Platform, profile: Profile, links: int, hosts: int) -> dict[str, dict[str, int]]:
    """The parameters of both gatewares, by the name of their top."""
    design = platform.profiles[profile]
    told = {
        "CreditInPacket": int(design.credit_in_packet.value),
        "CreditWords": int(design.credit.value),
        "RefreshWords": int(design.refresh.value),
        "InitWords": int(design.init.value),
        "AlignWords": int(design.align.value),
    }
    depth = int(platform.groups["switch"].buffer.value)
    return {
        INTERFACE: {
            "NumHosts": int(platform.groups["interface"].hosts.value),
            "NumLinks": links,
            "Outstanding": int(design.outstanding.value),
            "EarlyPosts": int(platform.fpga.clock.value >= platform.fpga.link_clock.value),
            "StoreForward": int(design.store_forward.value),
            "TxDepth": depth,
            **told,
        },
        SWITCH: {
            "NumPorts": ports(hosts),
            "Depth": depth,
            "TxDepth": int(platform.groups["interface"].receive_buffer.value),
            "MaxWords": int(platform.groups["switch"].packet.value),
            **told,
        },
    }


def models(platform: Platform, profile: Profile, links: int, hosts: int) -> dict[str, Path]:
    """The shared objects of interface and switch by the name of their top; a build shows its progress."""
    return running.models(parameters(platform, profile, links, hosts))


def identifier(system: System, profile: Profile, transfers: Transfers) -> str:
    """The id that the run's measurement gets."""
    t, platform = transfers, _loaded(system)
    inline = t.size <= inline_bytes(platform, profile, t)
    parts = [f"{t.hosts}x{t.links}", str(t.size)]
    parts += [t.posting or "v2"] if t.test in POSTED and not inline else []
    parts += [] if t.combined else ["uncombined"]
    parts += ["both-ways"] if t.both_ways else []
    parts += [f"list-{t.post_list}"] if t.post_list > 1 else []
    method = f"{t.test}-inline" if inline else t.test
    return f"rdma/{platform.name}/{profile}/{method}/{'-'.join(parts)}"


def sizes(text: str) -> tuple[int, ...]:
    """Bytes as people write them: 64, 8,64,512 or 8:4096, which doubles."""
    wrong = f"size: {text!r}; write bytes: 64, 8,64,512 or 8:4096"
    try:
        if ":" in text:
            low, high = (int(part) for part in text.split(":"))
            found = []
            while 0 < low <= high:
                found.append(low)
                low *= 2
        else:
            found = [int(part) for part in text.split(",")]
    except ValueError:
        raise UserError(wrong) from None
    if not found or min(found) < 1:
        raise UserError(wrong)
    return tuple(dict.fromkeys(found))


def all_sizes(test: str) -> tuple[int, ...]:
    """-a: doubled from 8 bytes to the document's largest transfer, or to the longest message."""
    if test.startswith("send"):
        return (*sizes(f"8:{LARGEST_MESSAGE}"), LARGEST_MESSAGE)
    return sizes(f"8:{LARGEST_BLOCK if test in APPLICATIONS else LARGEST_ALL}")


def usual_size(test: str) -> int:
    """Without -s: the shortest for latencies; for rates perftest's 64 KiB, and a line for messages."""
    if test in LATENCY:
        return BEAT_BYTES
    if test in APPLICATIONS:
        return DESCRIPTOR_BYTES
    return 64 if test == "send-bw" else 65_536


def usual_iterations(test: str, size: int) -> int:
    """Without -n and -D."""
    if test in APPLICATIONS:
        return CALLS
    return max(FEWEST, min(ITERATIONS, VOLUME // max(1, size)))


def warmup(test: str, size: int) -> int:
    """Transfers that are not counted: until queues are as full as they will be."""
    if test == TRACE:
        return 0
    if test in APPLICATIONS:
        return int(test == "exchange")
    if test in LATENCY:
        return 10
    return max(2, ceil(1.25 * QUEUE / ceil(size / DESCRIPTOR_BYTES)))


@dataclass(frozen=True)
class Point:
    """One run."""

    transfers: Transfers
    profile: Profile = "isthmus"
    platform: System = PLATFORM

    @property
    def id(self) -> str:
        return identifier(self.platform, self.profile, self.transfers)


def _loaded(platform: System) -> Platform:
    return platforms.load(platform) if isinstance(platform, str) else platform


class _Runs(Session):
    """Makes scenarios of points, with the models they need."""

    def scenario(self, point: Point) -> dict[str, Any]:
        platform, t = self.platform(point.platform), point.transfers
        made = {
            top: self.model(top, values, waveform=False if top == SWITCH else None)
            for top, values in parameters(platform, point.profile, t.links, t.hosts).items()
        }
        return scenario(platform, point.profile, t, made[INTERFACE], made[SWITCH])


def measure(
    points: Sequence[Point],
    *,
    title: str = "rdma",
    command: str | None = None,
    duration_ms: float | None = None,
    waveform: Path | None = None,
    runner: running.Runner | None = None,
    given: Mapping[str, Path] | None = None,
) -> Document:
    """Run the points and give the result document; nothing is printed but progress.

    duration_ms  simulated; the number of transfers follows from a first, short run of each point
    waveform     FST file of host 0's interface, of the one point
    given        the models by the name of their top, instead of those built for the points
    runner       instead of the simulator
    """
    for point in points:
        check(point.transfers)
    session = _Runs(title, runner=runner, given=given, waveform=waveform, command=command)
    if duration_ms is not None:
        short = [replace(point, transfers=replace(point.transfers, iterations=PROBE)) for point in points]
        tried = session.run([session.scenario(point) for point in short], f"{title}, first runs")
        points = [
            _lasting(p, measurement(found), duration_ms) for p, found in zip(points, tried, strict=True)
        ]
    found = session.run([session.scenario(point) for point in points])
    return session.document(found, points[0].transfers.seed if points else 0)


def _lasting(point: Point, tried: Measurement, duration_ms: float) -> Point:
    """The point with as many transfers as take that long, at the pace of the short run."""
    if tried.throughput is None or not tried.throughput.elapsed:
        raise UserError(f"duration: {point.id}: the first run gave no rate; say how many with -n")
    each_ps = tried.throughput.elapsed / PROBE
    count = max(1, round(duration_ms * 1e9 / each_ps))
    return replace(point, transfers=replace(point.transfers, iterations=count))


def label(made: Mapping[str, Any]) -> str:
    """What progress calls a scenario."""
    workload = made["workload"]
    return f"{made['platform']['name']} {made['profile']} {workload['test']} {workload['size_bytes']}"
