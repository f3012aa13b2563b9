# SPDX-License-Identifier: Apache-2.0
"""FIXTURE, NOT A RESULT: a stand-in for the engine that makes up measurements of the common workload.

It takes the scenarios that `compare` really builds, of all roads, and answers in the shape of the engine by
simple arithmetic, so that everything after the engine can be tested without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

CAPACITY_PER_S = {
    "ring": 2_000_000.0,
    "dma": 500_000.0,
    "loads": 20_000.0,
    "datagram": 80_000.0,
    "bulk": 30_000.0,
}
"""Requests a second that a driver carries at most."""
BASE_NS = {
    ("pcie", "dma"): 2_600,
    ("pcie", "loads"): 1_000,
    ("gige", "datagram"): 12_000,
    ("usb", "bulk"): 40_000,
    ("usb", "serial"): 125_000,
    ("vme", "loads"): 2_000,
    ("rdma", "inline"): 1_200,
    ("rdma", "dma"): 1_700,
    ("rdma", "message"): 1_400,
    ("eci", "uncached"): 140,
    ("eci", "cached"): 200,
    ("eci", "cached-dirty"): 160,
    ("eci", "cached-hit"): 17,
    ("eci", "atomic"): 190,
    ("eci", "io"): 131,
    ("eci", "ipi"): 68,
    ("eci", "barrier"): 115,
    ("eci", "pcie-dma"): 600,
    ("eci", "pcie-ring"): 1_150,
    ("ccix", "request-agent"): 520,
    ("ccix", "svm"): 540,
    ("ccix", "cached"): 550,
    ("ccix", "cached-hit"): 32,
    ("ccix", "contended"): 150,
    ("ccix", "locks"): 900,
    ("ccix", "pcie-dma"): 620,
    ("apenet", "dma"): 1_400,
    ("apenet", "inline"): 900,
    ("blockdma", "ring"): 1_500,
    ("nanet", "poll"): 900,
    ("nanet", "interrupt"): 4_400,
}
BYTE_NS = {
    "dma": 1.0,
    "loads": 240.0,
    "datagram": 8.0,
    "bulk": 30.0,
    "serial": 60.0,
    "inline": 4.0,
    "message": 4.0,
    "uncached": 0.08,
    "cached": 0.13,
    "cached-dirty": 0.13,
    "cached-hit": 0.03,
    "atomic": 0.08,
    "io": 0.1,
    "ipi": 0.1,
    "barrier": 0.1,
    "request-agent": 0.08,
    "svm": 0.08,
    "contended": 0.08,
    "locks": 0.08,
    "pcie-dma": 0.07,
    "pcie-ring": 0.07,
    "ring": 0.15,
    "poll": 8.0,
    "interrupt": 8.0,
}


def model(top: str, parameters: Mapping[str, int]) -> Path:
    del parameters
    return Path(f"{top}.so")


def engine(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """One made-up measurement."""
    work, road = scenario["workload"], scenario["road"]
    bus = next(iter(scenario["platform"]["bus"])) if road == "etherbone" else road
    if road == "etherbone":
        assert work["kind"] == "access"
        operation, size = work["operation"], work["bytes"]
        published = scenario["profile"] == "as-published"
        driver = {"pcie": "loads" if published else "dma", "usb": "serial" if published else "bulk"}.get(
            bus, {"gige": "datagram", "vme": "loads"}.get(bus, "")
        )
    elif road in ("eci", "ccix", "nanet"):
        operation, size, driver = work["operation"], work["bytes"], work["driver"]
    elif road == "blockdma":
        operation, size, driver = work["operation"], work["bytes"], "ring"
    elif road == "apenet":
        operation, size = work["operation"], work["bytes"]
        driver = "inline" if work.get("inline") else "dma"
    else:
        operation, size = work["test"], work["size_bytes"]
        driver = "message" if operation == "message" else "inline" if work["inline_bytes"] else "dma"
    window, rate = work.get("window"), work.get("rate_per_s")
    assert (window is None) != (rate is None)
    slow = 3.0 if scenario["profile"] == "as-published" and driver in ("datagram", "dma", "poll") else 1.0
    link = scenario["platform"].get("link", {}) if road == "blockdma" else {}
    if road == "etherbone":
        link = scenario["platform"]["bus"].get("pcie", {}).get("link", {})
    faster = 1 + 0.1 * link.get("generation", 1)
    total = round(1000 * slow * (BASE_NS[bus, driver] + BYTE_NS[driver] * size) / faster)
    if operation == "host-write":
        total //= 2
    stages = [
        {"name": "build request", "where": "host", "ps": total * 42 // 100},
        {"name": "on the wire", "where": "wire", "ps": total * 38 // 100},
    ]
    stages.append({"name": "gateware", "where": "fpga", "ps": total - sum(s["ps"] for s in stages)})
    noise = scenario.get("noise")
    extra = 1000 * noise["buckets"][-1][0] if noise else 0
    n = work["iterations"]
    capacity = min(CAPACITY_PER_S.get(driver, 100_000.0), 1e12 / total * 4)
    saturated = rate is not None and rate > capacity
    per_s = min(rate if rate is not None else window * 1e12 / total, capacity)
    elapsed = n * 1e12 / per_s
    latency: dict[str, Any] | None = {
        "min": total, "max": total + extra + 2000, "typical": total, "avg": float(total + extra // 100),
        "stdev": 500.0, "p50": total, "p90": total + 1000, "p99": total + 1500 + extra,
        "p99.9": None, "p99.99": None,
    }  # fmt: skip
    histogram = {"unit": "ps", "significant_digits": 3, "buckets": [[total, n]]}
    if saturated:
        latency, histogram, stages = None, None, []
    # As the engine: what the FPGA's cache takes has no end at the host.
    acknowledged = road == "ccix" and (operation == "device-read" or driver.startswith("cached"))
    arrivals = f"poisson:{rate:g}/s" if rate is not None else f"window:{window}"
    name = f"{operation}{size}" + (f"r{rate:g}" if rate is not None else f"w{window}")
    load = min(1.0, per_s / capacity)
    own: dict[str, Any] = {}
    if road == "eci":
        own = {
            "lines": -(-size // 128), "link_bytes_s": 17 / 16 * size * per_s, "packing_share": 1.0,
            "fastest_cycles": total / 3333, "acknowledged_ps": total, "bad_blocks": 0, "blocks_again": 0,
        }  # fmt: skip
        own |= {key: work[key] for key in ("links", "policy") if key in work}
        if "faults" in scenario:
            own |= {"errors": max(one["rate"] for one in scenario["faults"].values()), "bad_blocks": 9}
            name += f"e{own['errors']:g}"
        if driver.startswith("pcie"):
            own["pcie"] = "Gen3 x16"
    if road == "ccix":
        own = {
            "lines": -(-size // 64), "link_bytes_s": 1.2 * size * per_s, "packet_messages": 3.0,
            "fastest_cycles": total / 4000, "acknowledged_ps": 2 * total,
        }  # fmt: skip
        if "translation" in work:
            own["translation"] = {**work["translation"], "walks": 0.125, "retries": 0}
        if "locks" in work:
            of = work["locks"]
            side = {
                "transactions": n // 2, "aborts": 3, "wait_ps": latency,
                "stages_ps": {"attempts": 1000, "locks": 2000, "records": 3000},
            }  # fmt: skip
            stopped = {
                "resets": of["resets"], "holds": of["holds"], "lease_ps": 4_096_000, "undone": 5, "whole": 1,
                "longest_ps": 5_000_000,
            }  # fmt: skip
            own = {
                "locks": {
                    "trace": of["trace"], "mode": of["mode"], "rows": of["rows"],
                    "requesters": of["requesters"], "steps": 2 * n, "elapsed_ps": round(elapsed),
                    "host": side, "fpga": side, "to_host_bytes": 50 * n, "to_fpga_bytes": 60 * n,
                    "losses": {
                        "resets": of["fpga_resets"], "redone": 17, "ended": 6, "whole": 2, "waited": 23,
                        "restored": 188, "detect_ps": 128_000_000, "outage_ps": 130_000_000,
                    } if of["fpga_resets"] else None,
                    "waits": {
                        "all_ps": latency, "free_ps": latency, "met": n // 20,
                        "load": {"hold_ps": 900_000, "met": 0.05, "p99_ps": total}
                        if of["trace"] == "uniform" else None,
                    },
                    "faults": stopped if of["resets"] + of["holds"] else None,
                }
            }  # fmt: skip
            name = f"locks-{of['trace']}-{of['mode']}-q{of['requesters']}"
        if "contention" in work:
            part = {
                "window": window,
                "accesses": n,
                "mean_ps": total,
                "longest_ps": 2 * total,
                "longest_offered_ps": 2 * total,
                "transfers": n // 4,
            }
            terms = {"fpga_remote": 552e3, "fpga_local": 24e3, "host_remote": 474e3, "host_local": 20e3}
            own = {
                "contention": {
                    "lines": work["contention"]["lines"], "rounds": 1, "elapsed_ps": round(elapsed),
                    "fpga": part, "host": part, "link_bytes": 100 * n, "terms_ps": terms,
                }
            }  # fmt: skip
    return [
        {
            "id": f"{road}/{scenario['platform']['name']}/{scenario['profile']}/{driver}/{name}",
            "road": road,
            "platform": scenario["platform"]["name"],
            "profile": scenario["profile"],
            "method": driver,
            "workload": {
                "operation": operation, "bytes": size, "driver": driver, "window": window, "rate_per_s": rate,
                "noise": noise is not None, "busy": {"host": load, "wire": load / 3}, "saturated": saturated,
                **own,
            },
            "definition": "rtt" if operation in ("host-read", "get") or acknowledged else "one_way",
            "arrivals": arrivals,
            "seed": scenario["seed"],
            "iterations": n,
            "excluded": {"head": 16, "tail": 16},
            "latency_ps": latency,
            "histogram": histogram,
            "throughput": {
                "payload_bytes": size * n, "wire_bytes": None, "elapsed_ps": round(elapsed),
                "payload_bit_s": 8 * size * per_s, "wire_bit_s": None, "cycles_per_s": per_s,
            },
            "stages": stages,
            "stages_total_ps": sum(s["ps"] for s in stages),
            "timeline": [],
            "checked": {"bytes": size * n, "wrong": 0, "lost": 0},
            "counters": {},
            "simulation": {"device_cycles": 1000, "evaluated_cycles": 900, "wall_s": 0.01},
        }
    ]  # fmt: skip


def found(**options: Any) -> Any:
    """A made-up comparison."""
    from isthmus.compare.api import compare

    return compare(runner=engine, models=model, **options)
