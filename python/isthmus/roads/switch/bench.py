# SPDX-License-Identifier: Apache-2.0
"""The network benchmark of the FORTH prototype: delay against load through a buffered-crossbar switch.

The same seeded traffic goes through the gateware, through our word-accurate model of it, and through an
ideal output-queued switch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from isthmus import platforms, tracefile
from isthmus.bench import runner as running
from isthmus.bench.session import Session, changed
from isthmus.errors import UserError, choose
from isthmus.platforms import PROFILES, Platform, Profile
from isthmus.results import Document

PLATFORM = "forth-switch"
TOP = "link_switch"
PORTS = (4, 8, 12, 16)
ENGINES = ("rtl", "reference", "ideal")
ARRIVALS = ("paced", "poisson", "bursty")
PATTERNS = "uniform, permutation, hotspot[:SHARE], unbalanced:W, single, trace:FILE"

WORD_BYTES = 4
FRAMING_WORDS = 2
HEADER_BYTES = 24
PACKETS = 20_000
BURST_PACKETS = 8.0
BACKLOG_PACKETS = 256
HOTSPOT_SHARE = 0.25
TRACE_FORM = "clock source destination bytes"
TRACE_LAST_CLOCK = 1_000_000_000
WALL_S = 3_600

Engine = Literal["rtl", "reference", "ideal"]


@dataclass(frozen=True)
class Traffic:
    """The traffic. Sizes in bytes, data words only; `load` is a share of a line's words, framing included;
    None: sources that always have packets waiting, for saturation. A trace ignores sizes, load, arrivals
    and packets: its file has them."""

    ports: int = 8
    pattern: str = "uniform"
    arrivals: str = "paced"
    sizes: tuple[int, int] = (64, 512)
    load: float | None = 0.5
    packets: int = PACKETS
    seed: int = 1

    @property
    def mean_words(self) -> float:
        """Data words of a packet, in the mean."""
        return (self.sizes[0] + self.sizes[1]) / 2 / WORD_BYTES


@dataclass(frozen=True)
class Design:
    """Which switch. None: as the platform's profile says."""

    profile: Profile = "isthmus"
    buffer_words: int | None = None
    round_trip: int | None = None
    """Words of propagation from a sender to the switch and back."""


def line_load(payload: float, sizes: tuple[int, int]) -> float:
    """The load of the line at which packets' data alone take the share `payload` of it."""
    words = (sizes[0] + sizes[1]) / 2 / WORD_BYTES
    return payload * (words + FRAMING_WORDS) / words


def scenario(
    platform: Platform,
    traffic: Traffic,
    design: Design,
    kind: Engine,
    model: Path | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """One run as the engine takes it; `changes` replace keys of the document."""
    held = platform.profiles[design.profile]
    serdes, cable = platform.groups["serdes"].latency.value, platform.groups["cable"].delay.value
    if design.round_trip is not None:
        serdes = design.round_trip / 2 * 1e3 / platform.fpga.clock.value - cable
    made: dict[str, Any] = {
        "road": "switch",
        "profile": design.profile,
        "platform": {
            "name": platform.name,
            "clock_mhz": platform.fpga.clock.value,
            "serdes_ns": serdes,
            "cable_ns": cable,
            "transmit_words": int(platform.groups["interface"].transmit.value),
            "receive_words": int(platform.groups["interface"].receive_buffer.value),
            "longest_first": bool(held.longest_first.value),
        },
        "device": {
            "ports": traffic.ports,
            "buffer_words": design.buffer_words or int(held.buffer.value),
            "max_words": int(held.packet.value),
            "credit_in_packet": bool(held.credit_in_packet.value),
            "credit_words": int(held.credit.value),
            "refresh_words": int(held.refresh.value),
            "init_words": int(held.init.value),
            "align_words": int(held.align.value),
            "latency_clocks": int(held.latency.value),
        },
        "workload": {
            "engine": kind,
            "pattern": pattern_of(traffic.pattern),
            "arrivals": _arrivals(traffic),
            "sizes_bytes": list(traffic.sizes),
            "load": 1.0 if traffic.load is None else traffic.load,
            "packets": traffic.packets,
        },
        "seed": traffic.seed,
        "limits": {"wall_s": WALL_S},
    }
    if is_trace(traffic.pattern):
        rows = trace(Path(traffic.pattern.removeprefix("trace:")), traffic.ports)
        made["workload"] |= {
            "arrivals": "paced",
            "sizes_bytes": [min(row[3] for row in rows), max(row[3] for row in rows)],
            "load": 1.0,
            "packets": len(rows),
            "trace": rows,
        }
    if model is not None:
        made["device"]["model_path"] = str(model)
    return changed(made, changes)


def is_trace(pattern: str) -> bool:
    """Whether the pattern is a file of packets."""
    return pattern.startswith("trace:")


def parameters(platform: Platform, ports: int, design: Design) -> dict[str, int]:
    """The gateware's parameters for a profile of the platform."""
    held = platform.profiles[design.profile]
    return {
        "NumPorts": ports,
        "Depth": design.buffer_words or int(held.buffer.value),
        "TxDepth": int(platform.groups["interface"].receive_buffer.value),
        "MaxWords": int(held.packet.value),
        "CreditInPacket": int(held.credit_in_packet.value),
        "CreditWords": int(held.credit.value),
        "RefreshWords": int(held.refresh.value),
        "InitWords": int(held.init.value),
        "AlignWords": int(held.align.value),
    }


def model(platform: Platform, ports: int, design: Design) -> Path:
    """The shared object of the switch; a build shows its progress."""
    return running.model(TOP, parameters(platform, ports, design))


def trace(path: Path, ports: int) -> list[list[int]]:
    """A file of packets, a line each: `TRACE_FORM`; # begins a comment. `UserError` names a wrong line.

    ports  of the switch; sources and destinations are below it
    """
    least, most = HEADER_BYTES, platforms.load(PLATFORM).profiles["isthmus"].packet.value * WORD_BYTES
    rows = []
    for where, fields in tracefile.lines(path, TRACE_FORM, "packet", "pattern"):
        try:
            clock, source, destination, size = (int(field) for field in fields)
        except ValueError:
            raise UserError(f"{where}: {' '.join(fields)!r}; a line is: {TRACE_FORM}") from None
        if not 0 <= clock <= TRACE_LAST_CLOCK:
            raise UserError(f"{where}: clock {clock} is outside 0 to {TRACE_LAST_CLOCK}")
        for port in (source, destination):
            if not 0 <= port < ports:
                raise UserError(f"{where}: port {port} is outside 0 to {ports - 1}")
        if size % WORD_BYTES or not least <= size <= most:
            raise UserError(f"{where}: {size} bytes; expected a multiple of 4 from {least} to {most:.0f}")
        rows.append([clock, source, destination, size])
    return rows


def pattern_of(text: str) -> Any:
    name, _, value = text.partition(":")
    if name in ("uniform", "permutation", "single") and not value:
        return name
    if name == "trace" and value:
        return name
    if name == "hotspot":
        return {name: _share(text, value or str(HOTSPOT_SHARE))}
    if name == "unbalanced" and value:
        return {name: _share(text, value)}
    choose("pattern", text, PATTERNS.split(", "))
    raise UserError(f"pattern: {text!r}: expected one of {PATTERNS}")


def _share(text: str, value: str) -> float:
    try:
        share = float(value)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UserError(f"pattern: {text!r}: a share of the packets is a number from 0 to 1")
    return share


def _arrivals(traffic: Traffic) -> Any:
    if traffic.load is None:
        return {"backlog": BACKLOG_PACKETS}
    if traffic.arrivals == "bursty":
        return {"bursty": BURST_PACKETS}
    return traffic.arrivals


def loads(text: str) -> tuple[float, ...]:
    """Loads as people write them: 0.8, 0.5,0.8,0.9 or 0.1:1.0[:STEP], a step of 0.1 by default."""
    wrong = f"load: {text!r}; write 0.8, 0.5,0.8 or 0.1:1.0:0.1, each above 0 and to 1"
    try:
        if ":" in text:
            low, high, *rest = (float(part) for part in text.split(":"))
            step = rest[0] if rest else 0.1
            if len(rest) > 1 or not 0.001 <= step <= 1 or not 0 <= low <= high <= 1:
                raise UserError(wrong)
            count = int((high - low) / step + 1e-6)
            found = tuple(round(low + number * step, 6) for number in range(count + 1))
        else:
            found = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise UserError(wrong) from None
    if not found or not all(0.001 <= load <= 1 for load in found):
        raise UserError(wrong)
    return found


def sizes(text: str) -> tuple[int, int]:
    """Bytes of a packet: 64-512 or 256."""
    low, _, high = text.partition("-")
    try:
        found = (int(low), int(high or low))
    except ValueError:
        found = (0, 0)
    if not (HEADER_BYTES <= found[0] <= found[1]) or any(size % WORD_BYTES for size in found):
        raise UserError(f"sizes: {text!r}; expected 64-512 or 256: multiples of 4 from {HEADER_BYTES}")
    return found


@dataclass(frozen=True)
class Point:
    """One run of the benchmark."""

    traffic: Traffic
    design: Design
    kind: Engine


def curve(traffic: Traffic, design: Design, at: Sequence[float], engines: Sequence[Engine]) -> list[Point]:
    """Delay against load for each engine, and saturation where the engine has such a thing."""
    if is_trace(traffic.pattern):
        return [Point(traffic, design, kind) for kind in engines]
    points = [
        Point(replace(traffic, load=load), design, kind)
        for kind in engines
        for load in sorted(at, reverse=True)
    ]
    full = replace(traffic, load=None)
    return points + [Point(full, design, kind) for kind in engines if kind != "ideal"]


def measure(
    points: Sequence[Point],
    *,
    title: str = "switch",
    platform: Platform | str = PLATFORM,
    command: str | None = None,
    waveform: Path | None = None,
    runner: running.Runner | None = None,
    given: Path | None = None,
) -> Document:
    """Run the points and give the result document; nothing is printed but progress.

    platform  or its name
    waveform  FST file of the switch, of the one point, whose engine is rtl
    given     the model instead of one built for the points
    runner    instead of the simulator
    """
    session = Session(title, runner=runner, given=given, waveform=waveform, command=command)
    platform = session.platform(platform)
    runs = []
    for point in points:
        path = None
        if point.kind == "rtl":
            path = session.model(TOP, parameters(platform, point.traffic.ports, point.design))
        runs.append(scenario(platform, point.traffic, point.design, point.kind, path))
    measured = sorted(session.run(runs), key=_order)
    return session.document(measured, points[0].traffic.seed if points else 0)


def _order(found: Mapping[str, Any]) -> tuple[Any, ...]:
    load = found["workload"].get("load")
    kind = ENGINES.index(found["method"])
    return (PROFILES.index(found["profile"]), kind, found["workload"]["pattern"], load is None, load or 0.0)


def label(made: Mapping[str, Any]) -> str:
    """The name of a scenario in the progress display."""
    workload = made["workload"]
    return f"{made['platform']['name']} {made['profile']} {workload['engine']} {workload['load']:g}"
