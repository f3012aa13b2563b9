# SPDX-License-Identifier: Apache-2.0
"""FIXTURE, NOT A RESULT: stands in for the RDMA road and the bus by itself, by simple arithmetic.

It takes the scenarios that the benchmarks really build and gives measurements in the form of
docs/reference/rdma-scenario.md and pcix-scenario.md. Nothing it makes is shipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isthmus.roads.rdma import bench as rdma

NI, SWITCH = Path("rdma_ni.so"), Path("link_switch.so")
GIVEN = {rdma.INTERFACE: NI, rdma.SWITCH: SWITCH}

HOP_PS, CYCLE_PS = 320_000, 10_000
"""One hop; one clock of the bus."""


def components(test: str, size: int, combined: bool, inline: bool = False) -> dict[str, int]:
    """Near enough to the document: a write reads the sender's memory, a message or inline write carries its
    data itself."""
    words = size // 4 if test == "send-lat" or inline else 0
    lines = 1 + words // 16
    parts = {
        "send_initiation": CYCLE_PS * ((12 + words + 8 * lines) if combined else 40 + 10 * words),
        "send_dma": 0 if words else CYCLE_PS * (58 + size // 8),
        "send_nic": 90_000,
        "switch": 89_600,
        "propagation": 2 * HOP_PS,
        "rcv_nic": 150_000,
        "rcv_dma": CYCLE_PS * (10 + size // 8),
    }
    return parts | {"total": sum(parts.values())}


def injection(parts: Mapping[str, int]) -> int:
    """Of a write the interface first makes its read of the descriptor."""
    return parts["send_initiation"] + (parts["send_dma"] + 50_000 if parts["send_dma"] else 0)


PACKET_BYTES, WIRE_PS, BUS_PS = 512, 1_700_000, 640_000
"""A packet, and how long it is on a link and on a bus."""
POSTED_PS = 120_000


def packets(size: int, links: int) -> list[dict[str, Any]]:
    """Read one behind the other, sent over each link in turn, written as they come."""
    free = [0] * links
    written = 0
    made = []
    for number in range(-(-size // PACKET_BYTES)):
        link, read = number % links, POSTED_PS + 500_000 + number * BUS_PS
        begun = read + 60_000
        left = max(begun + 100_000, free[link])
        free[link] = left + WIRE_PS
        entered = left + HOP_PS
        departed = entered + 89_600
        reached = departed + HOP_PS
        write = max(reached + 300_000, written)
        written = write + BUS_PS
        spans = {
            "descriptor": (0, POSTED_PS),
            "bus read": (read, read + BUS_PS),
            "VOQ": (begun, left),
            "link to the switch": (left, entered + WIRE_PS),
            "switch": (entered, departed),
            "link from the switch": (departed, reached + WIRE_PS),
            "receive": (reached, write),
            "write": (write, written),
        }
        steps = [{"name": n, "begin_ps": begin, "end_ps": end} for n, (begin, end) in spans.items()]
        made.append({"number": number, "link": link, "bytes": min(size, PACKET_BYTES), "steps": steps})
    notice = {"name": "notification", "begin_ps": written + 10_000, "end_ps": written + 100_000}
    made[-1]["steps"].append(notice)
    return made


def bus(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The bus by itself, from the parts that the document gives of it."""
    work, name = scenario["workload"], scenario["platform"]["name"]
    test, size, times = work["test"], work["bytes"], work["times"]
    words, beats = size // 4, size // 8
    reads = scenario["platform"]["bus"]["core"]["reads"]
    one = {
        "store": 10 * words,
        "store-combined": 8 + words,
        "read": 10 + 50 + beats - 1 + 1 + 2 * (6 + 4),
        "write": 4 + beats + 6 * 4 + 5 * 6,
    }[test]
    each = one - 2 * reads if test == "read" else one
    cycles = one + (times - 1) * each
    data = times * (words if test.startswith("store") else beats)
    elapsed = (times - 1) * each * CYCLE_PS
    transactions = {"store": words, "store-combined": 1, "read": 4, "write": 6}[test]
    rates = {
        "payload_bytes": size * (times - 1), "wire_bytes": size * (times - 1), "elapsed_ps": elapsed,
        "payload_bit_s": 8e12 * size * (times - 1) / elapsed, "wire_bit_s": 0.0, "cycles_per_s": 0.0,
    } if times > 1 else None  # fmt: skip
    end = str(size) if times == 1 else f"{size}x{times}"
    return {
        "id": f"pcix/{name}/{scenario['profile']}/{test}/{end}",
        "road": "pcix",
        "platform": name,
        "profile": scenario["profile"],
        "method": test,
        "workload": {
            "test": test, "size_bytes": size, "times": times, "cycles": float(cycles), "data_cycles": data,
            "data_share": data / cycles, "transactions": transactions,
            "first_data_cycles": 50.0 if test == "read" else None,
            "between_cycles": 6.0 if test == "read" else None,
        },
        "definition": "stage" if times == 1 else "per_transfer",
        "arrivals": "closed-loop",
        "seed": scenario["seed"],
        "iterations": max(1, times - 1),
        "excluded": {"head": 0, "tail": 0},
        "latency_ps": {
            "min": each * CYCLE_PS, "max": each * CYCLE_PS, "typical": each * CYCLE_PS,
            "avg": float(each * CYCLE_PS), "stdev": 0.0, "p50": None, "p90": None, "p99": None, "p99.9": None,
            "p99.99": None,
        },
        "histogram": {"unit": "ps", "significant_digits": 3, "buckets": [[each * CYCLE_PS, times]]},
        "throughput": rates,
        "stages": [],
        "stages_total_ps": 0,
        "timeline": [],
        "checked": {"bytes": size * times, "wrong": 0, "lost": 0},
        "counters": {},
        "simulation": {"device_cycles": 0, "evaluated_cycles": 0, "wall_s": 0.0},
    }  # fmt: skip


COSTS_US = {"v1": 6.18, "v2": 6.2, "v3": 6.014}
SHORT_US = {"v1": 8.0, "v2": 6.3, "v3": 6.1}
"""A descriptor of 4 KB, among several and alone."""


def engine(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the simulator would give, near enough."""
    if scenario["road"] == "pcix":
        return [bus(scenario)]
    work, name = scenario["workload"], scenario["platform"]["name"]
    test, size, count = work["test"], work["size_bytes"], work["iterations"]
    links, hosts = scenario["interface"]["links"], work["hosts"]
    given = work.get("posting", "v2")
    posting = next(iter(given)) if isinstance(given, dict) else given
    inline = size <= work.get("inline_bytes", 0)
    parts = components(test, size, work["combined"], inline) if test.endswith("-lat") else None
    method = f"{test}-inline" if inline else test
    if parts:
        sample, elapsed = parts["total"] + 400_000, 2 * count * (parts["total"] + 400_000)
    else:
        pieces = -(-size // 4096)
        each = COSTS_US[posting] if size > 4096 else SHORT_US[posting]
        sample = round(1e6 * each * pieces)
        elapsed = sample * count
    rate = 8e12 * size * count / elapsed
    end = f"{hosts}x{links}-{size}"
    end += f"-{posting}" if test in ("write-bw", "one-way") and not inline else ""
    end += ("" if work["combined"] else "-uncombined") + ("-both-ways" if work["both_ways"] else "")
    end += f"-list-{work['post_list']}" if work["post_list"] > 1 else ""
    stages = [{"name": n, "where": "bus", "ps": ps} for n, ps in (parts or {}).items() if n != "total"]
    taken = [sample] * count
    taken[count // 2] += 40_000
    kept = {"samples": [{"host": 0, "ps": taken}]} if work.get("keep_samples") else {}
    return [
        {
            **kept,
            "id": f"rdma/{name}/{scenario['profile']}/{method}/{end}",
            "road": "rdma",
            "platform": name,
            "profile": scenario["profile"],
            "method": method,
            "workload": {
                **work,
                "links": links,
                "posting": posting,
                "components_ps": parts,
                "injection_ps": parts and injection(parts),
                "network_ps": parts and 1_000_000,
                "packets": packets(size, links) if test == "write-lat" and size <= 4096 else [],
                "messages_per_s": 1e12 * count / elapsed,
                "link_share": rate / (2.5e9 * links),
                "phases_ps": {"compute": 4_000_000, "post": 1_000_000, "network": 2_000_000, "wait": 500_000}
                if test in ("exchange", "sort")
                else None,
            },
            "definition": "whole_call"
            if test in ("exchange", "sort")
            else "one_way"
            if test == "trace"
            else "half_round_trip"
            if parts
            else "per_transfer",
            "arrivals": "closed-loop",
            "seed": scenario["seed"],
            "iterations": count,
            "excluded": {"head": work["warmup"], "tail": 0},
            "latency_ps": {
                "min": sample, "max": sample + 40_000, "typical": sample, "avg": float(sample),
                "stdev": 4_000.0, "p50": sample, "p90": sample,
                "p99": sample + 20_000 if count >= 1000 else None, "p99.9": None, "p99.99": None,
            },
            "histogram": {
                "unit": "ps", "significant_digits": 3,
                "buckets": [[sample, count - 1], [sample + 40_000, 1]],
            },
            "throughput": {
                "payload_bytes": size * count, "wire_bytes": size * count, "elapsed_ps": elapsed,
                "payload_bit_s": rate, "wire_bit_s": rate, "cycles_per_s": 1e12 * count / elapsed,
            },
            "stages": stages,
            "stages_total_ps": sum(stage["ps"] for stage in stages),
            "checked": {"bytes": size * count, "wrong": 0, "lost": 0},
            "counters": {},
            "simulation": {"device_cycles": 1000, "evaluated_cycles": 1000, "wall_s": 0.1},
        }
    ]  # fmt: skip
