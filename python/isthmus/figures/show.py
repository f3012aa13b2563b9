# SPDX-License-Identifier: Apache-2.0
"""Tables of `isthmus area` and `isthmus timing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from isthmus.errors import DataError
from isthmus.figures import area, baseline, timing
from isthmus.figures.cores import CoreEntry, Peer, Sum, sums

WIDTH = 160
"""Columns where the output is not a terminal."""


def area_table(
    entries: Sequence[CoreEntry], measured: Mapping[str, Mapping[str, Mapping[str, float]]]
) -> tuple[Table, list[str]]:
    """The table and a line for each figure that is worse than its baseline."""
    stored = baseline.load("area")
    table = Table(title="Area after synthesis (LUT: sum of LUT1..LUT6)", title_justify="left")
    for column in ("core", "family"):
        table.add_column(column)
    for name in area.FIGURES:
        table.add_column(name, justify="right")
    table.add_column("LUT/baseline", justify="right")
    worse: list[str] = []
    for entry in entries:
        for family, figures in measured[entry.name].items():
            known = stored.get(entry.name, {}).get(family, {})
            cells = []
            for name in area.FIGURES:
                worse_here = baseline.judge(figures[name], known.get(name)).worse
                if worse_here:
                    worse.append(
                        f"{entry.name} ({family}): {name} {figures[name]:g}, baseline {known[name]:g}"
                    )
                cells.append(f"[red]{figures[name]:g}[/red]" if worse_here else f"{figures[name]:g}")
            ratio = baseline.judge(figures["lut"], known.get("lut")).ratio
            table.add_row(entry.name, family, *cells, "-" if ratio is None else f"{ratio:.3f}")
            _peer_rows(table, entry.peers, family, figures)
    for row in sums():
        if not set(row.of) <= set(measured):
            continue
        for family in measured[row.of[0]]:
            if not all(family in measured[core] for core in row.of):
                continue
            total = {name: sum(measured[core][family][name] for core in row.of) for name in area.FIGURES}
            table.add_row(row.name, family, *(f"{total[name]:g}" for name in area.FIGURES), "")
            _peer_rows(table, row.peers, family, total)
    return table, worse


def _peer_rows(table: Table, peers: Sequence[Peer], family: str, figures: Mapping[str, float]) -> None:
    for peer in peers:
        if peer.family == family:
            table.add_row(*_peer(peer, figures), style="dim")


def _peer(peer: Peer, figures: Mapping[str, float]) -> list[str]:
    cells = [f"{peer.figures[name]:g}" if name in peer.figures else "-" for name in area.FIGURES]
    ratio = f"ours x {figures['lut'] / peer.figures['lut']:.2f}" if peer.figures.get("lut") else "-"
    return [f"  {peer.name}", peer.family, *cells, ratio]


def timing_table(
    entries: Sequence[CoreEntry],
    measured: Mapping[str, Sequence[timing.Timing]],
    device: timing.Device = timing.DEVICE,
) -> tuple[Table, list[str]]:
    """The table and a line for each clock that is slower than its baseline or its target."""
    stored = baseline.load(device.baseline)
    title = f"{device.title}, speed grade 8, registered pins, median of {len(timing.SEEDS)} placements"
    table = Table(title=title, title_justify="left")
    table.add_column("core")
    table.add_column("clock")
    for column in ("target MHz", "median MHz", "best MHz", "median / baseline"):
        table.add_column(column, justify="right")
    table.add_column("critical path of the median", overflow="fold")
    worse: list[str] = []
    for entry in entries:
        for clock in measured.get(entry.name, ()):
            known = stored.get(entry.name, {}).get(clock.clock, {}).get("median_mhz")
            verdict = baseline.judge(clock.median_mhz, known, more_is_better=True)
            if verdict.worse:
                worse.append(
                    f"{entry.name} ({clock.clock}): median {clock.median_mhz:g} MHz, baseline {known:g}"
                )
            if clock.median_mhz < clock.target_mhz:
                worse.append(
                    f"{entry.name} ({clock.clock}): median {clock.median_mhz:g} MHz, "
                    f"needs {clock.target_mhz:g}"
                )
            table.add_row(
                entry.name,
                clock.clock,
                f"{clock.target_mhz:g}",
                f"{clock.median_mhz:.1f}",
                f"{clock.best_mhz:.1f}",
                "-" if verdict.ratio is None else f"{verdict.ratio:.3f}",
                clock.path,
            )
    return table, worse


def conclude(table: Table, worse: Sequence[str], sources: Sequence[str]) -> None:
    """Print the table with its sources. Raises `DataError` where a figure got worse."""
    console = Console()
    if not console.is_terminal:
        console.width = WIDTH
    console.print(table)
    for source in sources:
        console.print(source, style="dim", soft_wrap=True, highlight=False)
    if worse:
        raise DataError("; ".join(worse))


def area_notes(entries: Sequence[CoreEntry], families: Sequence[str]) -> list[str]:
    """Cores that are not measured, with the reason, and the sources of the peers' figures, each once."""
    names = {entry.name for entry in entries}
    rows: list[CoreEntry | Sum] = [*entries, *(row for row in sums() if set(row.of) <= names)]
    missing = [
        f"{entry.name} ({family}): not measured: {why}"
        for entry in entries
        for family, why in entry.without.items()
        if family in families
    ]
    peers = [f"{p.name}: {p.source}" for row in rows for p in row.peers if p.family in families]
    return list(dict.fromkeys(missing + peers))
