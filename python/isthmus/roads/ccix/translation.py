# SPDX-License-Identifier: Apache-2.0
"""Virtual addresses through the FPGA's cache: the document's second experiment, and its timing formula.

Lines are in the system cache or not, their pages in the translation cache or not. Each term of the formula
is measured in a run of its own, alone; the formula then says the mean of runs that mix all four.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from isthmus.bench import runner as running
from isthmus.platforms import Platform, Profile
from isthmus.results import Document, Measurement
from isthmus.results.table import aligned
from isthmus.roads.ccix.bench import (
    LINE_BYTES,
    SKEWED,
    Driver,
    Point,
    Transfers,
    Translation,
    saturating,
    translated,
)
from isthmus.roads.ccix.bench import measure as measured

COUNT = 600
"""Transfers of a term."""
MIXED, SETTLE = 4_000, 2_000
"""Transfers of a mix, and those before them, while both caches fill."""
FOOTPRINTS = tuple(1 << log2 for log2 in range(19, 26))
"""Memory of a mix: 512 KiB, twice the cache, to 32 MiB, sixteen times what the FPGA's translations reach."""
ALL_HIT = Translation("4K", SKEWED, 128 << 10, warm=True)
"""Memory that the cache and the translation cache have."""
MISSED = translated("miss", order="random")
CASES: tuple[Translation, ...] = (
    translated("hit", order="random"),
    MISSED,
    translated("miss"),
    translated("miss", "2M", "random"),
    translated("miss", "1G", "random"),
)
"""Lines that the cache does not have, in pages that are known or not."""
IN_CACHE = Translation("4K", "random", 128 << 10, warm=True)
"""The same memory, with more than one transfer in flight."""
GIANT = translated("miss", "1G")
"""The memory of `translated("miss")` in one page: no translation."""
SIZES = (64, 4_096, 65_536)
STREAM, LARGE = 4_096, 65_536
VERIFIED = (1 << 20, 4 << 20, 32 << 20)


@dataclass(frozen=True)
class Terms:
    """The formula's terms in ns.

    local, remote  a line that the cache has, or has not, by its physical address
    atc, ats       what a virtual address costs on top: its translation is known, or is requested
    """

    local: float
    remote: float
    atc: float
    ats: float

    def mean(self, lines: float, pages: float) -> float:
        """`lines`, `pages`: shares of the transfers whose line the cache has, whose page is known."""
        found = lines * self.local + (1 - lines) * self.remote
        return found + pages * self.atc + (1 - pages) * self.ats


def _read(
    memory: Translation | None, size: int = LINE_BYTES, count: int = COUNT, seed: int = 1, window: int = 1
) -> Transfers:
    driver: Driver = "cached" if memory is None else "svm"
    of = memory is not None
    return Transfers(
        "device-read", size, count, window, seed=seed, driver=driver, translation=memory, cache=of
    )


def terms_of(seed: int = 1) -> list[Transfers]:
    """The runs of the four terms."""
    hit = Transfers("device-read", LINE_BYTES, COUNT, seed=seed, driver="cached-hit")
    return [hit, _read(None, seed=seed), _read(ALL_HIT, seed=seed), _read(MISSED, seed=seed)]


def mixes(footprints: Sequence[int] = FOOTPRINTS, count: int = MIXED, seed: int = 1) -> list[Transfers]:
    """Half of the transfers in the first sixteenth of memory, the others anywhere in it."""
    made = []
    for memory in footprints:
        of = Translation("4K", SKEWED, memory)
        made.append(
            Transfers(
                "device-read", LINE_BYTES, count, seed=seed, driver="svm",
                translation=of, cache=True, warmup=SETTLE,
            )
        )  # fmt: skip
    return made


def points(
    platforms: Sequence[Platform],
    profiles: Sequence[Profile],
    sizes: Sequence[int] = SIZES,
    footprints: Sequence[int] = FOOTPRINTS,
    seed: int = 1,
) -> list[Point]:
    """The terms, lines that miss in pages of each kind, and the mixes."""
    made = []
    for platform, profile in product(platforms, profiles):
        wanted = terms_of(seed)
        for size, memory in product(sizes, CASES):
            one = _read(memory, size, COUNT if size <= LINE_BYTES else 100, seed)
            if one not in wanted:
                wanted.append(one)
        wanted += mixes(footprints, seed=seed)
        made += [Point(one, profile, platform) for one in wanted]
    return made


def verified(platform: Platform, profiles: Sequence[Profile], seed: int = 1) -> list[Point]:
    """For `isthmus verify ccix`, which has the lines by physical addresses already."""
    # By an AXI master, through the port: alone, and one after the other.
    alone = _read(ALL_HIT, seed=seed)
    full = replace(_read(IN_CACHE, STREAM, 600, seed, saturating(STREAM)), warmup=96)
    made = [Point(replace(one, port="axi"), "isthmus", platform) for one in (alone, full)]
    for profile in profiles:
        wanted = [_read(memory, seed=seed) for memory in (ALL_HIT, *CASES)]
        wanted += [_read(memory, LARGE, 64, seed) for memory in CASES[:2]]
        wanted += [_read(memory, STREAM, 1_000, seed, saturating(STREAM)) for memory in (GIANT, CASES[2])]
        wanted += mixes(VERIFIED, seed=seed)
        made += [Point(one, profile, platform) for one in wanted]
    return made


def measure(
    wanted: Sequence[Point],
    runner: running.Runner | None = None,
    given: Mapping[str, Path] | None = None,
) -> Document:
    """Run them."""
    return measured(wanted, title="ccix translation", runner=runner, given=given)


def _mean(m: Measurement) -> float:
    assert m.latency is not None
    return m.latency.avg / 1e3


def is_mixed(m: Measurement) -> bool:
    """Of lines and pages of which both caches have some."""
    found = m.workload.get("translation")
    return found is not None and found["order"] == SKEWED and not found["warm"]


def pages_known(m: Measurement) -> float:
    """The share of transfers whose page was known.

    The host walks once for the translation of each of the others, and once more for a direct read.
    """
    found = m.workload["translation"]
    return 1 - float(found["walks"] - found.get("direct", 0))


def lines_had(m: Measurement) -> float:
    """The share of transfers whose line the cache had."""
    return float(m.workload["cache"]["hits"])


def _is_term(m: Measurement) -> str:
    w = m.workload
    if (w["operation"], w["bytes"], w["window"]) != ("device-read", LINE_BYTES, 1) or "port" in w:
        return ""
    if w["driver"] in ("cached", "cached-hit"):
        return str(w["driver"])
    found = w.get("translation")
    if not found or "cache" not in w:
        return ""
    kinds = {"atc": ALL_HIT, "ats": MISSED}
    for name, of in kinds.items():
        same = (of.page, of.order, of.footprint, of.warm)
        if same == (found["page"], found["order"], found["footprint_bytes"], found["warm"]):
            return name
    return ""


def terms(document: Document, platform: str, profile: str) -> Terms | None:
    """As the runs of the terms measured them; None where one is missing."""
    mine = [m for m in document if (m.road, m.platform, m.profile) == ("ccix", platform, profile)]
    found = {name: m for m in mine if (name := _is_term(m))}
    if len(found) < 4:
        return None
    local, remote = _mean(found["cached-hit"]), _mean(found["cached"])
    hit, missed = found["atc"], found["ats"]
    atc = _mean(hit) - local
    known = pages_known(missed)
    return Terms(local, remote, atc, (_mean(missed) - remote - known * atc) / (1 - known))


def percent(members: Sequence[Measurement], document: Document) -> float | None:
    """How far the means of mixes are from the formula, at most; None where a term was not measured."""
    distances = []
    for m in members:
        measured = terms(document, m.platform, m.profile)
        if measured is None or not is_mixed(m):
            return None
        formula = measured.mean(lines_had(m), pages_known(m))
        distances.append(100 * abs(_mean(m) / formula - 1))
    return max(distances, default=None)


HEADER = ("memory", "SC hits", "ATC hits", "avg[ns]", "formula[ns]", "ratio")


def text(made: Document) -> str:
    """The formula beside the means; empty for a document without them."""
    mixed = [m for m in made if m.road == "ccix" and is_mixed(m)]
    parts = []
    for platform, profile in dict.fromkeys((m.platform, m.profile) for m in mixed):
        measured = terms(made, platform, profile)
        if measured is None:
            continue
        parts.append(
            f"# {platform}, {profile}: reads of {LINE_BYTES} bytes by virtual addresses through the cache, "
            "half of them in the first sixteenth of memory\n"
            "# formula: P_sc L_local + (1 - P_sc) L_remote + P_atc L_atc + (1 - P_atc) L_ats\n"
            f"# terms, each of a run of its own, ns: L_local {measured.local:.1f}, "
            f"L_remote {measured.remote:.1f}, L_atc {measured.atc:.1f}, L_ats {measured.ats:.1f}\n"
        )
        mine = [m for m in mixed if (m.platform, m.profile) == (platform, profile)]
        parts.append(aligned([HEADER, *(row(m, measured) for m in mine)]))
    return "".join(parts)


def row(m: Measurement, measured: Terms) -> list[str]:
    """One mix."""
    lines, pages = lines_had(m), pages_known(m)
    formula = measured.mean(lines, pages)
    return [
        f"{m.workload['translation']['footprint_bytes'] >> 10} KiB",
        f"{100 * lines:.1f} %",
        f"{100 * pages:.1f} %",
        f"{_mean(m):.1f}",
        f"{formula:.1f}",
        f"{_mean(m) / formula:.3f}",
    ]
