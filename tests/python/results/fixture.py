# SPDX-License-Identifier: Apache-2.0
"""FIXTURE, NOT A RESULT: a stand-in for the engine that makes up numbers by simple arithmetic.

It takes the scenarios that the benchmarks really build and gives measurements in the engine's shape,
so that everything after the engine can be tested without a simulator. Nothing it makes is shipped.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isthmus.results import Document
from isthmus.roads.etherbone import bench as etherbone

MODEL = Path("fixture.so")
NEEDED = {"road", "profile", "platform", "device", "workload", "seed"}


def engine(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Made-up measurements for any scenario of the Etherbone benchmark."""
    assert set(scenario) - {"trace"} == NEEDED
    work = scenario["workload"]
    method = work.get("method", "pipelined" if work["kind"] == "throughput" else "blocking")
    kind = work["kind"]
    if kind == "words":
        return [_one(scenario, method, f"words{n}", n, {"words": n}) for n in work["words"]]
    if kind == "path":
        return [
            _one(scenario, method, f"path{n}", n, {"reads": n, "clocks": {"turnaround": 10}})
            for n in work["reads"]
        ]
    if kind == "line-rate":
        return [_line_rate(scenario, work["timestamps_per_cycle"])]
    if kind == "tlu":
        return [_one(scenario, method, "tlu", 4, {"reads": 3, "writes": 1})]
    count = work["timestamps_per_cycle"]
    name = f"ts{count}" if kind == "timestamps" else f"max{count}"
    return [_one(scenario, method, name, 2 * count, {"timestamps_per_cycle": count})]


def _line_rate(scenario: Mapping[str, Any], timestamps: int) -> dict[str, Any]:
    name = f"line-rate{timestamps or ''}"
    made = _one(scenario, "pipelined", name, 2 * timestamps or 1, {"clocks": {"reply_spacing_max": 84}})
    made |= {"definition": "stage", "arrivals": "open-loop", "stages": [], "stages_total_ps": 0}
    made["throughput"]["payload_bit_s"] = 726e6
    return made


def _one(
    scenario: Mapping[str, Any], method: str, name: str, words: int, workload: dict[str, Any]
) -> dict[str, Any]:
    platform, profile = scenario["platform"], scenario["profile"]
    cycles = scenario["workload"].get("iterations", 1)
    procedure = scenario["workload"].get("procedure")
    series = procedure is not None and method == "pipelined"
    arrivals = {"steady": "window:256", "published": "backlog"}[procedure] if series else "closed-loop"
    gap = 50_000_000 if profile == "as-published" else 20_000_000
    switch = 3_000_000 if "switch" in platform["bus"].get("gige", {}) else 0
    stages = [
        {"name": "build request", "where": "host", "ps": 400_000 + 10_000 * words},
        {"name": "request on the wire", "where": "wire", "ps": 600_000 + 32_000 * words},
        {"name": "gateware", "where": "fpga", "ps": 90_000},
        {"name": "wait for the interrupt", "where": "nic", "ps": gap // 2},
    ]
    if switch:
        stages.insert(2, {"name": "switch", "where": "switch", "ps": switch})
    total = sum(stage["ps"] for stage in stages)
    trip = total if method != "pipelined" else total * 3
    operations = 1 if method == "convenience" else words
    elapsed = {
        "convenience": cycles * words * total,
        "blocking": cycles * total,
        "pipelined": total + cycles * (300_000 + 35_000 * words),
    }[method]
    at = 0
    timeline = []
    for stage in stages:
        timeline.append(
            {
                "track": stage["where"],
                "name": stage["name"],
                "start_ps": at,
                "end_ps": at + stage["ps"],
                "tag": 1,
            }
        )
        at += stage["ps"]
    timestamps = workload.get("timestamps_per_cycle")
    payload = 4 * words * cycles
    made: dict[str, Any] = {
        "id": f"etherbone/{platform['name']}/{profile}/{method}/{name}",
        "road": "etherbone",
        "platform": platform["name"],
        "profile": profile,
        "method": method,
        "workload": {**workload, "operations_per_cycle": operations, "iterations": cycles},
        "definition": "rtt",
        "arrivals": arrivals,
        "seed": scenario["seed"],
        "iterations": cycles,
        "excluded": {"head": 1, "tail": 1},
        "latency_ps": {
            "min": trip - 1000,
            "max": trip + 2000,
            "typical": trip,
            "avg": float(trip),
            "stdev": 500.0,
            "p50": trip,
            "p90": trip + 1000 if cycles >= 100 else None,
            "p99": trip + 1500 if cycles >= 1000 else None,
            "p99.9": None,
            "p99.99": None,
        },
        "histogram": {"unit": "ps", "significant_digits": 3, "buckets": [[trip, cycles]]},
        "throughput": {
            "payload_bytes": payload,
            "wire_bytes": payload + 90 * cycles,
            "elapsed_ps": elapsed,
            "payload_bit_s": 8e12 * payload / elapsed,
            "wire_bit_s": 8e12 * (payload + 90 * cycles) / elapsed,
            "cycles_per_s": 1e12 * cycles / elapsed,
        },
        "stages": stages,
        "stages_total_ps": total,
        "timeline": timeline,
        "checked": {"bytes": payload, "wrong": 0, "lost": 0},
        "counters": {"frames_dropped_fcs": 0},
        "simulation": {"device_cycles": 1000, "evaluated_cycles": 900, "wall_s": 0.01},
    }
    if procedure:
        made["workload"]["procedure"] = procedure
    if arrivals == "backlog":
        made |= {"latency_ps": None, "histogram": None, "stages": [], "stages_total_ps": 0, "timeline": []}
    if timestamps:
        made["throughput"]["timestamps_per_s"] = 1e12 * cycles * timestamps / elapsed
        made["windows_ps"] = {
            "realistic": elapsed,
            "underestimated": elapsed - total,
            "inside_cycle_per_timestamp": 16_000 if "pcie" in platform["bus"] else 64_000,
        }
    return made


def document(**choices: Any) -> Document:
    """A whole made-up document."""
    return etherbone.measure(runner=engine, model=MODEL, command="fixture", **choices)
