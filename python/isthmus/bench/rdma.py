# SPDX-License-Identifier: Apache-2.0
"""Remote DMA between hosts, as perftest measures it: latency, bandwidth, and two applications.

`scenario` makes one run (docs/reference/rdma-scenario.md), `measure` runs several.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from isthmus.bench import engine
from isthmus.bench.scenario import entries
from isthmus.errors import UserError
from isthmus.platforms import Platform, Profile

PLATFORM = "forth-rdma"
PLATFORMS = (PLATFORM, "rdma-pcie")
INTERFACE, SWITCH = "rdma_ni", "link_switch"

Test = Literal["write-lat", "write-bw", "send-lat", "send-bw", "one-way", "exchange", "sort"]
TESTS: tuple[Test, ...] = ("write-lat", "write-bw", "send-lat", "send-bw", "one-way", "exchange", "sort")
LATENCY = ("write-lat", "send-lat")
BANDWIDTH = ("write-bw", "send-bw", "one-way")
POSTED = ("write-bw", "one-way")
"""Tests whose program may look for room in more ways than one."""

Posting = Literal["v1", "v2", "v3"]
POSTINGS: tuple[Posting, ...] = ("v1", "v2", "v3")
LAZY = 4
"""v3 looks for room after so many descriptors."""

BEAT_BYTES = 8
DESCRIPTOR_BYTES = 4096
LARGEST_WRITE, LARGEST_MESSAGE = 1 << 20, 512
QUEUE = 128
"""Descriptors of a request queue."""
SWITCH_PORTS = (4, 8)
WALL_S = 3_600


@dataclass(frozen=True)
class Transfers:
    """What is sent, how often and how. `size` in bytes; `posting` is None for tests that have one way."""

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


def check(transfers: Transfers) -> None:
    """Raises `UserError` with one line for what the gateware or the program cannot do."""
    t = transfers
    if t.test not in TESTS:
        raise UserError(f"test: no {t.test!r}; there are: {', '.join(TESTS)}")
    largest = LARGEST_MESSAGE if t.test.startswith("send") else LARGEST_WRITE
    if t.size % BEAT_BYTES or not BEAT_BYTES <= t.size <= largest:
        raise UserError(f"size: {t.size} bytes for {t.test}; a multiple of 8, 8 to {largest}, is right")
    for name, value, low, high in (
        ("iters", t.iterations, 1, 10_000_000),
        ("hosts", t.hosts, 2, SWITCH_PORTS[-1]),
        ("links", t.links, 1, 4),
    ):
        if not low <= value <= high:
            raise UserError(f"{name}: {value} is outside {low} to {high}")
    if t.posting is not None and t.posting not in POSTINGS:
        raise UserError(f"posting: no {t.posting!r}; there are: {', '.join(POSTINGS)}")
    if t.posting is not None and t.test not in POSTED:
        raise UserError(f"posting: {t.test} looks for room in one way; {' and '.join(POSTED)} have v1 to v3")
    if t.both_ways and t.test not in BANDWIDTH:
        raise UserError(f"bidirectional: {t.test} has no directions; {', '.join(BANDWIDTH)} have")


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
        "notify": t.notify,
    }
    if t.posting is not None:
        workload["posting"] = {"v3": LAZY} if t.posting == "v3" else t.posting
    made: dict[str, Any] = {
        "road": "rdma",
        "profile": profile,
        "platform": {
            "name": platform.name,
            "link_mhz": platform.fpga.link_clock.value,
            "serdes_ns": platform.groups["serdes"].latency.value,
            "cable_ns": platform.groups["cable"].delay.value,
            "bus": bus(platform),
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
        "switch": {"model_path": str(switch), "ports": ports(t.hosts)},
        "workload": workload,
        "seed": t.seed,
        "limits": {"wall_s": WALL_S},
    }
    for key, value in changes.items():
        made[key] = {**made[key], **value} if isinstance(made.get(key), dict) else value
    return made


def bus(platform: Platform) -> dict[str, Any]:
    """The host bus as the engine takes it: `{"pcix": ...}` or `{"pcie": ...}`."""
    groups = platform.groups
    if platform.bus == "rdma-pcie":
        return {"pcie": {name: entries(groups[name]) for name in ("link", "root", "endpoint", "memory")}}
    if platform.bus != "rdma-pcix":
        raise UserError(f"platform: {platform.name} has no RDMA; there are: {', '.join(PLATFORMS)}")
    core = entries(groups["core"])
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
    }
    depth = int(platform.groups["switch"].buffer.value)
    return {
        INTERFACE: {
            "NumHosts": int(platform.groups["interface"].hosts.value),
            "NumLinks": links,
            "Outstanding": int(design.outstanding.value),
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


def models(
    platform: Platform, profile: Profile, links: int, hosts: int, waveform: bool = False
) -> dict[str, Path]:
    """The shared objects of interface and switch by the name of their top; a build shows its progress."""
    return {
        top: engine.model(top, waveform and top == INTERFACE, values)
        for top, values in parameters(platform, profile, links, hosts).items()
    }


def identifier(platform: str, profile: str, transfers: Transfers) -> str:
    """The id that the run's measurement gets."""
    t = transfers
    parts = [f"{t.hosts}x{t.links}", str(t.size)]
    parts += [t.posting] if t.posting else []
    parts += [] if t.combined else ["uncombined"]
    parts += ["both-ways"] if t.both_ways else []
    return f"rdma/{platform}/{profile}/{t.test}/{'-'.join(parts)}"
