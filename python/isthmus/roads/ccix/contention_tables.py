# SPDX-License-Identifier: Apache-2.0
"""Contention as text."""

from __future__ import annotations

from itertools import groupby

from isthmus.results import Document, Measurement
from isthmus.results.table import aligned
from isthmus.roads.ccix.contention import (
    MODEL_LINES,
    contended,
    formula,
    longest_queued,
    longest_round_trips,
    mean,
    model,
    model_mean,
    side,
    terms,
)

HEADER = (
    "lines", "us", "avg[ns]", "model[ns]", "ratio", "FPGA[ns]", "model[ns]", "formula[ns]", "ratio",
    "FPGA hits", "model", "host[ns]", "model[ns]", "host hits", "model", "longest[RT]", "from port",
)  # fmt: skip


def _case(m: Measurement) -> tuple[str, str, int]:
    return m.platform, m.profile, int(m.workload["window"])


def text(made: Document) -> str:
    """What the terminal shows."""
    parts = []
    for (platform, profile, window), group in groupby(contended(made), _case):
        members = list(group)
        t, rounds = terms(members[0]), members[0].workload["contention"]["rounds"]
        each = side(members[0], "fpga").accesses // rounds
        parts.append(
            f"# {platform}, {profile}: {each} stores of the FPGA and {each} of the host to random lines at "
            f"the same time, {window} in flight on either side; {rounds} times\n"
            "# FPGA, cache, messages: gateware; host: a model, a store at the home and a forward\n"
            f"# terms, measured alone, ns: FPGA local {t.fpga_local:.1f}, remote {t.fpga_remote:.1f} (RT); "
            f"host local {t.host_local:.1f}, remote {t.host_remote:.1f}\n"
            "# formula, its ratio: FPGA hits x local + misses x remote, as counted; model: from lines and "
            f"terms alone, for {MODEL_LINES} lines and more\n"
        )
        parts.append(aligned([HEADER, *map(row, members)]))
    return "".join(parts)


def row(m: Measurement) -> list[str]:
    """One number of lines."""
    c = m.workload["contention"]
    fpga, host, found = side(m, "fpga"), side(m, "host"), model(m)
    each = fpga.accesses / c["rounds"]
    return [
        str(c["lines"]),
        f"{c['elapsed_ps'] / c['rounds'] / 1e6:.1f}",
        f"{mean(m):.1f}",
        f"{model_mean(m):.1f}",
        f"{mean(m) / model_mean(m):.3f}",
        f"{fpga.mean:.1f}",
        f"{found.fpga:.1f}",
        f"{formula(m, 'fpga'):.1f}",
        f"{fpga.mean / formula(m, 'fpga'):.3f}",
        f"{100 * (1 - fpga.remote):.1f} %",
        f"{100 * (1 - found.to_fpga / each):.1f} %",
        f"{host.mean:.1f}",
        f"{found.host:.1f}",
        f"{100 * (1 - host.remote):.1f} %",
        f"{100 * (1 - found.to_host / each):.1f} %",
        f"{longest_queued(m):.2f}",
        f"{longest_round_trips(m):.2f}",
    ]
