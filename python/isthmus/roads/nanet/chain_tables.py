# SPDX-License-Identifier: Apache-2.0
"""The trigger chain as text, and what its page has in common with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from isthmus.results import Document, Measurement
from isthmus.results.table import aligned

PARTS = (
    ("seen", "last byte on the pins to the program"),
    ("merge", "merge"),
    ("core", "core to core, until one is free"),
    ("find", "rings"),
    ("answer", "answers to the result pins"),
)
BASELINE = (
    ("receive", "network card, kernel, program"),
    ("copies", "copies to the GPU and back"),
    ("processing", "processing on the GPU"),
)
SHOWN = ("p50", "p99", "p99.9", "p99.99", "max")


def chains(document: Document) -> list[Measurement]:
    """Runs of the chain."""
    return [m for m in document if m.name.startswith("packed-") or m.name.startswith("tel62-")]


def baselines(document: Document) -> list[Measurement]:
    """Runs of the path without the interface."""
    return [m for m in document if m.name == "commodity"]


def label(m: Measurement) -> str:
    """A run in a few words."""
    w = m.workload
    where = "fpga" if place(m) == "fpga" else str(w["finder"])
    quiet = "" if w["noise"] else ", no noise"
    quiet += ", merged by the interface" if merged(m) == "fpga" else ""
    return f"{m.profile}, {where} finder, {w['rate_per_s'] / 1e6:g} M events/s{quiet}"


def place(m: Measurement) -> str:
    """Where candidates for rings are searched."""
    return str(m.workload.get("search", "cpu"))


def merged(m: Measurement) -> str:
    """Where the fragments of an event come together."""
    return str(m.workload.get("merged_by", "cpu"))


def us(ps: float | None, decimals: int = 2) -> str:
    """Picoseconds as microseconds; blank where there is none."""
    return "" if ps is None else f"{ps / 1e6:.{decimals}f}"


def _percentiles(latency: Mapping[str, Any] | None) -> list[str]:
    return [us((latency or {}).get(key)) for key in SHOWN]


def age(m: Measurement) -> Mapping[str, Any]:
    """From an event to its answer."""
    found: Mapping[str, Any] = m.workload.get("event_to_answer") or {}
    return found.get("latency_ps") or {}


def of(m: Measurement) -> Mapping[str, Any]:
    """From the last byte to the last answer, as the parts are."""
    if m.latency is None:
        return {}
    return {**m.latency.percentiles, "max": m.latency.max}


COLUMNS = (
    "profile", "links", "finder", "search", "merge", "format", "noise", "M events/s", "carried", "wire",
    "cores", *SHOWN, "event to answer p99.9", "max", "late", "lost",
)  # fmt: skip


def row(m: Measurement) -> list[str]:
    """A run as a row of the table."""
    w = m.workload
    busy: Mapping[str, float] = w.get("busy") or {}
    carried = m.throughput.cycles_per_s / 1e6 if m.throughput else None
    return [
        m.profile,
        f"{w['links']} x {w['link_mbit_s'] / 1e3:g}G",
        f"{w['finder']} x{w['cores']}",
        place(m),
        merged(m),
        f"{w['format']} x{w['events']}/{w['share']}",
        "yes" if w["noise"] else "no",
        f"{w['rate_per_s'] / 1e6:g}",
        "" if carried is None else f"{carried:.2f}",
        *(f"{100 * busy[key]:.0f} %" if key in busy else "" for key in ("wire", "cores")),
        *_percentiles(of(m)),
        us(age(m).get("p99.9")),
        us(age(m).get("max")),
        str(w["late"]),
        str(w["lost"]),
    ]


PLACES = (
    ("cpu", "CPU", "candidates, fit and choice on the cores"),
    ("fpga", "FPGA", "candidates in the interface, fit and choice on the cores"),
)
ALONE = "candidates of the interface as answers, nothing fitted"
GPU = ("GPU", "persistent kernel, events from the interface's memory", "not measured here")
PLACE_COLUMNS = (
    "place", "rings found by", "M events/s", "last byte to answers p50", "p99", "interface p50", "cores p50",
    "found 1", "2", "3", "right 1", "2", "3", "fakes",
)  # fmt: skip


def compared(document: Document) -> list[Measurement]:
    """Runs that differ in the place alone: the fastest rate that every place carried."""
    runs = [m for m in chains(document) if m.workload["finder"] == "isthmus" and m.profile == "isthmus"]
    runs = [m for m in runs if "quality" in m.workload and not m.workload["saturated"]]
    # With the machine's noise, unless no place was measured so.
    runs = [m for m in runs if m.workload["noise"]] or runs
    rates = [{m.workload["rate_per_s"] for m in runs if place(m) == one} for one, _, _ in PLACES]
    common = set.intersection(*rates)
    if not common:
        return []
    return [
        m for one, _, _ in PLACES for m in runs if place(m) == one and m.workload["rate_per_s"] == max(common)
    ]


def quality(of: Mapping[str, Any]) -> list[str]:
    """Shares of rings found and of events with the right number, in events of 1, 2 and 3; fakes an event."""

    def share(value: float | None) -> str:
        return "" if value is None else f"{value:.3f}"

    return [*map(share, of["efficiency"]), *map(share, of["multiplicity"]), f"{of['fakes']:.3f}"]


def part(m: Measurement, name: str, key: str = "p50") -> float | None:
    """A percentile of a part of the way, ps."""
    found: Mapping[str, Any] = m.workload.get("parts_ps") or {}
    value: float | None = (found.get(name) or {}).get(key)
    return value


def places(document: Document) -> list[list[str]]:
    """Rows of PLACE_COLUMNS; empty where only one place was measured."""
    rows = []
    for m in compared(document):
        title, words = next((title, words) for one, title, words in PLACES if one == place(m))
        rate = f"{m.workload['rate_per_s'] / 1e6:g}"
        timed = [us(of(m).get("p50")), us(of(m).get("p99"))]
        inner = [us(part(m, "seen")), us(part(m, "find"))]
        rows.append([title, words, rate, *timed, *inner, *quality(m.workload["quality"])])
        if "candidates" in m.workload:
            rows.append(
                [title, ALONE, rate, "", "", us(part(m, "seen")), "", *quality(m.workload["candidates"])]
            )
    if rows:
        rows.append([*GPU, *[""] * (len(PLACE_COLUMNS) - len(GPU))])
    return rows


def parts(m: Measurement, names: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Median, 99 % and maximum of each part."""
    found: Mapping[str, Any] = m.workload.get("parts_ps") or {}
    return [[words, *_percentiles(found.get(name))] for name, words in names]


def text(made: Document) -> str:
    """What the terminal shows."""
    runs, out = chains(made), []
    if runs:
        release = runs[0].workload["release_us"]
        out.append(
            "# last byte on the wire to the answers on the result pins, us; event to answer: from the event\n"
            "# itself; format: events of a group/of a core; noise: whether the drawn times have in\n"
            f"# them what else the machine did; late: answered more than {release:g} us after the event\n"
        )
        out.append(aligned([[f"#{COLUMNS[0]}", *COLUMNS[1:]], *map(row, runs)], left=(0, 1, 2, 3, 4, 5)))
        if rows := places(made):
            out.append(
                "\n# three places to find rings: latency, us, beside quality; found: share of true rings,"
                "\n# right: of events with the right number, in events of 1, 2 and 3 rings; fakes: an event\n"
            )
            out.append(aligned([[f"#{PLACE_COLUMNS[0]}", *PLACE_COLUMNS[1:]], *rows], left=(0, 1)))
        for noise in (True, False):
            calm = [m for m in runs if not m.workload["saturated"] and m.workload["noise"] == noise]
            if calm:
                out.append(f"\n# parts of the way, {label(calm[-1])}, us\n")
                out.append(aligned([["#part", *SHOWN], *parts(calm[-1], PARTS)], left=(0,)))
        machines = {str(m.workload["times"]) for m in runs}
        out += [f"# merge, core to core, rings: drawn from times of {machine}\n" for machine in machines]
    for m in baselines(made):
        out.append("\n# without the interface, published percentiles, us\n")
        total = ["wire to result", *_percentiles(of(m))]
        out.append(aligned([["#part", *SHOWN], *parts(m, BASELINE), total], left=(0,)))
    return "".join(out)
