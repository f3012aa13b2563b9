# SPDX-License-Identifier: Apache-2.0
"""Lock tables as text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

from isthmus.results import Document, Measurement
from isthmus.results.table import aligned
from isthmus.roads.ccix.locks import MODES, measured

HEADER = (
    "mode", "requesters", "k transactions/s", "avg[us]", "p99[us]", "host wait p50", "p90", "longest",
    "FPGA wait p50", "p90", "longest", "aborts host", "FPGA", "bytes a transaction",
)  # fmt: skip
STAGES = ("mode", "requesters", "of", "transactions", "time[us]", "attempts", "locks", "records")
STOPPED = ("mode", "requesters", "resets", "holds", "undone", "complete", "refused", "free[us]")
LOST = (
    "mode", "requesters", "FPGA resets", "undone", "of them ended", "complete", "host waited", "restored",
    "outage[us]",
)  # fmt: skip
FLAT = (
    "mode", "requesters", "p99[us]", "met %", "by load %", "p99 by load", "free p99",
    "p99 over 1", "by load over 1", "free over 1",
)  # fmt: skip
LETTERS: Mapping[str, str] = {mode.name: mode.letter for mode in MODES.values()}


def _case(m: Measurement) -> tuple[str, str, str]:
    return m.platform, m.profile, str(m.workload["locks"]["trace"])


def text(made: Document) -> str:
    """What the terminal shows."""
    parts = []
    for (platform, profile, trace), group in groupby(measured(made), _case):
        members = list(group)
        w = members[0].workload["locks"]
        shares = [f"{w[side]['transactions']} of the {side}" for side in ("host", "fpga")]
        parts.append(
            f"# {platform}, {profile}: trace {trace}, {' and '.join(shares)}, {w['steps']} steps on "
            f"{w['rows']} records; the outcome is that of one after the other: checked\n"
            "# gateware: the FPGA's near-data unit, agent or cache, packets, and the lock table of b and c; "
            "models: link, home, memory, the host's requesters, the lock table of a\n"
            "# wait: from a transaction's begin to its last lock, aborted attempts included, us\n"
        )
        parts.append(
            "# stages: aborted attempts and the times between them, the locks of the last attempt, records "
            "and releases; mean, us; they add up to a transaction's time\n"
        )
        names = dict.fromkeys(str(m.workload["locks"]["mode"]) for m in members)
        for name in names:
            mode = MODES[LETTERS[name]]
            parts.append(f"# {mode.letter}: {mode.what}\n")
        parts.append(aligned([HEADER, *map(row, members)]))
        parts.append(aligned([STAGES, *(line for m in members for line in stages(m))]))
        stopped = [m for m in members if m.workload["locks"].get("faults")]
        if stopped:
            lease = stopped[0].workload["locks"]["faults"]["lease_ps"] / 1e6
            parts.append(
                f"# the FPGA's near-data unit stops in mid-run; its lease is {lease:.3g} us. Undone: "
                "transactions that it lost and that begin again; complete: they were when it stopped; "
                "refused: orders and accesses with an old token; free: from a stop to the last lock of what "
                "was lost, the longest\n"
            )
            parts.append(aligned([STOPPED, *map(stops, stopped)]))
        fallen = [m for m in members if m.workload["locks"].get("losses")]
        if fallen:
            detect = fallen[0].workload["locks"]["losses"]["detect_ps"] / 1e6
            parts.append(
                "# all of the FPGA is reset in mid-run, with its table, its cache and what is on "
                "the link; the host "
                f"notices after {detect:.3g} us and recovers from its log. Undone: transactions of "
                f"the FPGA that "
                "begin again, and those of them that it had ended when the host did not know it "
                "yet; complete: "
                "they stay; host waited: for a lock of the lost table, and begins again; restored: "
                "records that "
                "memory had not as they must be; outage: a reset to the next transaction, without "
                "the time to "
                "configure an FPGA and train a link\n"
            )
            parts.append(aligned([LOST, *map(losses, fallen)]))
        flat = [m for m in members if m.workload["locks"].get("waits")]
        if flat and all(m.workload["locks"]["waits"]["load"] for m in flat):
            parts.append(
                "# lock waits of both sides together. Met: orders whose lock was held. By load: the "
                "same, and the "
                "p99, with a table that answers each order as one alone, at this rate and these "
                "holds (held locks = "
                "rate x hold, by Little's law). Free: waits of those that met no held lock. Over 1: "
                "over the p99 "
                "with one requester\n"
            )
            parts.append(aligned([FLAT, *(flatness(m, members) for m in flat)]))
    return "".join(parts)


def flatness(m: Measurement, all_of: list[Measurement]) -> list[str]:
    """How lock waits grow with the number of requesters, and what of it is the load."""
    w = m.workload["locks"]
    alone = [
        p99(one, "all_ps")
        for one in all_of
        if one.workload["locks"]["requesters"] == 1 and one.workload["locks"]["mode"] == w["mode"]
    ]
    base = alone[0] if alone else None
    load = w["waits"]["load"]
    found = (p99(m, "all_ps"), load["p99_ps"], p99(m, "free_ps"))
    return [
        LETTERS[str(w["mode"])],
        str(w["requesters"]),
        _us(found[0]),
        f"{100 * w['waits']['met'] / max(1, m.iterations):.2f}",
        f"{100 * load['met']:.2f}",
        *map(_us, found[1:]),
        *("" if base is None or value is None else f"{value / base:.2f}" for value in found),
    ]


def p99(m: Measurement, which: str) -> float | None:
    """Of lock waits, in ps: `all_ps`, or `free_ps`, of those that met no held lock."""
    found = m.workload["locks"]["waits"][which]
    value = found["p99"] if found else None
    return None if value is None else float(value)


def losses(m: Measurement) -> list[str]:
    """What became of transactions where all of the FPGA was reset."""
    w = m.workload["locks"]
    of = w["losses"]
    return [
        LETTERS[str(w["mode"])],
        str(w["requesters"]),
        *(str(of[key]) for key in ("resets", "redone", "ended", "whole", "waited", "restored")),
        _us(of["outage_ps"]),
    ]


def per_second(m: Measurement) -> float:
    """Transactions a second, from the first begin to the last end."""
    return float(m.throughput.cycles_per_s) if m.throughput else 0.0


def wait(m: Measurement, side: str) -> Mapping[str, Any]:
    """Of the lock wait of a side: percentiles in ps; empty where it has no transactions."""
    found: Mapping[str, Any] = m.workload["locks"][side]["wait_ps"] or {}
    return found


def _us(ps: float | None) -> str:
    return "" if ps is None else f"{ps / 1e6:.2f}"


def row(m: Measurement) -> list[str]:
    """One run."""
    w = m.workload["locks"]
    count = m.iterations
    assert m.latency is not None
    waits = [_us(wait(m, side).get(key)) for side in ("host", "fpga") for key in ("p50", "p90", "max")]
    return [
        LETTERS[str(w["mode"])],
        str(w["requesters"]),
        f"{per_second(m) / 1e3:.0f}",
        _us(m.latency.avg),
        _us(m.latency.percentiles.get("p99")),
        *waits,
        str(w["host"]["aborts"]),
        str(w["fpga"]["aborts"]),
        f"{(w['to_host_bytes'] + w['to_fpga_bytes']) / max(1, count):.0f}",
    ]


def stages(m: Measurement) -> list[list[str]]:
    """Where the time of the host's and the FPGA's transactions goes."""
    w = m.workload["locks"]
    made = []
    for side in ("host", "fpga"):
        parts = [int(part) for part in w[side]["stages_ps"].values()]
        if w[side]["transactions"]:
            first = [LETTERS[str(w["mode"])], str(w["requesters"]), side, str(w[side]["transactions"])]
            made.append([*first, *map(_us, (sum(parts), *parts))])
    return made


def stops(m: Measurement) -> list[str]:
    """What became of the unit's transactions where it stopped."""
    w = m.workload["locks"]
    of = w["faults"]
    return [
        LETTERS[str(w["mode"])],
        str(w["requesters"]),
        *(str(of[key]) for key in ("resets", "holds", "undone", "whole")),
        str(m.counters.get("fpga.refused", 0)),
        _us(of["longest_ps"]),
    ]
