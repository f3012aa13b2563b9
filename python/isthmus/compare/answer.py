# SPDX-License-Identifier: Apache-2.0
"""The answer: what terminal, page and notebook show. Everything here is derived from a result document.

A `View` is one table: one operation, one size, one way of arrival. A `Sweep` is one operation over all of its
sizes. Neither ever holds two operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from isthmus.compare.question import of_road
from isthmus.compare.settings import changed
from isthmus.errors import UserError
from isthmus.results.columns import FULL, bounded_by
from isthmus.units import digits, percent, rate, time, times
from isthmus.workload import (
    OPERATIONS,
    arrivals_text,
    busiest,
    bytes_text,
    crossings,
    place_text,
    rate_text,
    size_text,
)

if TYPE_CHECKING:
    from isthmus.results import Document, Measurement

NEAR = 1.05
"""Costs within this ratio are called alike."""
PERCENTILES = ("p50", "p90", "p99", "p99.9")
WINDOW = 4
"""Requests in flight that are suggested where one leaves everything idle."""


@dataclass(frozen=True)
class Case:
    """What one table is about."""

    operation: str
    bytes: int
    window: int | None
    rate_per_s: float | None

    @property
    def arrivals(self) -> str:
        return arrivals_text(self.window, self.rate_per_s)

    @property
    def alone(self) -> bool:
        """One request at a time."""
        return self.window == 1

    @property
    def title(self) -> str:
        return OPERATIONS[self.operation].sentence.format(size=bytes_text(self.bytes))

    @property
    def command(self) -> str:
        """What measures it."""
        given = f"./isthmus compare --op {self.operation} --size {size_text(self.bytes)}"
        if self.rate_per_s is not None:
            return f"{given} --rate {rate_text(self.rate_per_s)}"
        return given if self.window == 1 else f"{given} --window {self.window}"


@dataclass(frozen=True)
class Part:
    """The time that a transfer spends in one place."""

    place: str
    name: str
    ps: int


@dataclass(frozen=True)
class Row:
    """One way to carry one case, measured."""

    m: Measurement
    case: Case
    interconnect: str
    family: str
    driver: str

    @property
    def platform(self) -> str:
        return self.m.platform

    @property
    def key(self) -> tuple[str, str, str]:
        """The same way at another size has the same key."""
        return (self.m.platform, str(self.m.workload.get("driver", self.m.method)), self.m.profile)

    @property
    def name(self) -> str:
        return f"{self.interconnect} ({self.platform}), {self.driver}"

    @property
    def ours(self) -> bool:
        """Not a published design as it was."""
        return self.m.profile != "as-published"

    @property
    def saturated(self) -> bool:
        return bool(self.m.workload.get("saturated", False))

    def percentile(self, key: str) -> float | None:
        return None if self.m.latency is None else self.m.latency.percentiles.get(key)

    @cached_property
    def p50(self) -> float | None:
        """The median; the mean of too few samples for one."""
        if self.m.latency is None:
            return None
        median = self.percentile("p50")
        return self.m.latency.avg if median is None else median

    @property
    def p99(self) -> float | None:
        return self.percentile("p99")

    @property
    def why_no_p99(self) -> str:
        return "" if self.m.latency is None else self.m.latency.why_blank("p99")

    @property
    def bytes_per_s(self) -> float | None:
        return None if self.m.throughput is None else self.m.throughput.payload_bit_s / 8

    @property
    def requests_per_s(self) -> float | None:
        given = self.bytes_per_s
        return None if given is None else given / self.case.bytes

    @property
    def bound(self) -> str:
        place, _, share = bounded_by(self.m).partition(" ")
        return f"{place_text(place)} {share}".rstrip()

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Where the time of one transfer goes, in the order in which the places are first reached."""
        spent: dict[str, int] = {}
        for stage in self.m.stages:
            spent[stage.where] = spent.get(stage.where, 0) + stage.time
        return tuple(Part(place, place_text(place), ps) for place, ps in spent.items())

    @property
    def cost(self) -> float:
        """What rows are ranked by, the smaller the better: the median of one request at a time and of a rate
        that is carried, else the time for a request at the rate that was reached."""
        if self.by_rate:
            found = self.requests_per_s
            return float("inf") if not found else 1e12 / found
        return float("inf") if self.p50 is None else self.p50

    @property
    def by_rate(self) -> bool:
        """Ranked by the rate it reaches and not by its latency."""
        return self.saturated or (self.case.window or 1) > 1 or self.p50 is None


@dataclass(frozen=True)
class View:
    """One table, best row first. `left_out`: why ways that carry the operation were not measured here."""

    case: Case
    rows: tuple[Row, ...]
    left_out: tuple[str, ...] = ()

    @property
    def best(self) -> Row:
        return self.rows[0]

    def ratio(self, row: Row) -> float | None:
        """How many times the best one's cost; None where the two are not ranked by the same."""
        return row.cost / self.best.cost if row.by_rate == self.best.by_rate else None

    @property
    def title(self) -> str:
        counts = sorted({row.m.iterations for row in self.rows})
        n = f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"
        return f"{self.case.title}, {self.case.arrivals}, {n}, seed {self.best.m.seed}"

    def name(self, row: Row) -> str:
        """A row in a sentence; with its platform where another one here has the same interconnect."""
        same = {other.platform for other in self.rows if other.interconnect == row.interconnect}
        where = row.interconnect if len(same) == 1 else f"{row.interconnect} ({row.platform})"
        return f"{where} with {row.driver}"

    @cached_property
    def decision(self) -> str:
        """The recommendation in one or two sentences, and what it does not know of."""
        missing = f" Not measured here: {'; '.join(self.left_out)}." if self.left_out else ""
        return self._decision + missing

    @property
    def _decision(self) -> str:
        best = self.best
        noun = OPERATIONS[self.case.operation].noun
        if best.saturated:
            return f"No road here carries this rate; {self.name(best)} comes closest: {_reached(best)}."
        if len(self.rows) == 1:
            return f"{self.name(best)}: {_figures(best, noun)}."
        if self.case.rate_per_s is not None:
            return self._carried(noun)
        # A document's design is no alternative to choose; it is where it is all that there is.
        unlike = [row for row in self.rows[1:] if row.family != best.family]
        unlike = [row for row in unlike if row.ours] or unlike
        alike = [row for row in self.rows[1:] if row.platform == best.platform]
        said = []
        if unlike:
            said.append(f"{_faster(self, unlike[0])} the next interconnect ({self.name(unlike[0])})")
        else:
            said.append(f"{_faster(self, self.rows[1])} the next ({self.name(self.rows[1])})")
        if alike and alike[-1] is not self.rows[1]:
            said.append(f"{_faster(self, alike[-1])} the same platform with {alike[-1].driver}")
        return f"Use {self.name(best)}: {', '.join(said)}. Its figures: {_figures(best, noun)}."

    def _carried(self, noun: str) -> str:
        """The same for a rate: what carries it, and what saturates below it."""
        best = self.best
        tail = "" if best.p99 is None else f", p99 {time(best.p99)}"
        text = f"Use {self.name(best)}: {time(best.p50 or 0)} per {noun} at this rate{tail}"
        carrying = [row for row in self.rows if not row.saturated]
        if len(carrying) > 1:
            text += f", {_faster(self, carrying[1])} {self.name(carrying[1])}"
        failed = self.rows[len(carrying) :]
        if failed:
            others = f"all {len(failed)} others saturate" if len(carrying) == 1 else f"{len(failed)} saturate"
            first = f"({self.name(failed[0])}) at {_reached(failed[0])}"
            text += f"; {others} below it, the best of them {first}"
        return f"{text}."

    @cached_property
    def where(self) -> tuple[Part, ...]:
        """Where the time of the best row goes, the largest first."""
        return tuple(sorted(self.best.parts, key=lambda part: -part.ps))

    @property
    def total(self) -> int:
        return sum(part.ps for part in self.where)

    def faster(self, sweep: Sweep | None = None) -> tuple[str, ...]:
        """How to get more of the best row, as far as the measurements say."""
        made = []
        best = self.best
        load = busiest(best.m)
        waits = OPERATIONS[self.case.operation].one_word
        if self.case.alone and not waits and load is not None and 0 < load[1] < FULL:
            made.append(
                f"--window {WINDOW} (no resource is busy for more than {percent(load[1])} of the time)"
            )
        others = [] if sweep is None else sweep.line(best.key)
        larger = [row for row in others if row.case.bytes > self.case.bytes and row.p50 and best.p50]
        if larger and not best.by_rate:
            last = larger[-1]
            assert last.p50 is not None
            assert best.p50 is not None
            grown, slower = last.case.bytes / best.case.bytes, last.p50 / best.p50
            if slower < grown / 1.5:
                made.append(
                    f"more bytes a request ({bytes_text(last.case.bytes)} take {times(slower)} the time for "
                    f"{grown:.0f} times the data)"
                )
        return tuple(made)


@dataclass(frozen=True)
class Sweep:
    """One operation over its sizes, all ways of carrying it."""

    operation: str
    window: int | None
    rate_per_s: float | None
    views: tuple[View, ...]

    @property
    def sizes(self) -> list[int]:
        return [view.case.bytes for view in self.views]

    @property
    def arrivals(self) -> str:
        return arrivals_text(self.window, self.rate_per_s)

    @cached_property
    def lines(self) -> Mapping[tuple[str, str, str], Sequence[Row]]:
        """The rows of each way by size."""
        found: dict[tuple[str, str, str], list[Row]] = {}
        for view in self.views:
            for row in view.rows:
                found.setdefault(row.key, []).append(row)
        return found

    def line(self, key: tuple[str, str, str]) -> Sequence[Row]:
        return self.lines.get(key, ())

    def at(self, size: int) -> View:
        """The view of this size, or the nearest that was measured."""
        return min(self.views, key=lambda view: (abs(view.case.bytes - size), view.case.bytes))

    @property
    def subject(self) -> str:
        """The operation in words, without a size."""
        return OPERATIONS[self.operation].subject

    @cached_property
    def winners(self) -> str:
        """Which way is the best at which size."""
        runs = [list(group) for _, group in groupby(self.views, key=_best_key)]
        if len(runs) == 1:
            return f"{runs[0][0].name(runs[0][0].best)} is the fastest at every size"
        parts = []
        for number, views in enumerate(runs):
            first, last = (size_text(views[place].case.bytes) for place in (0, -1))
            if number == 0:
                span = f"up to {last}"
            elif number == len(runs) - 1:
                span = f"from {first} on"
            else:
                span = f"at {first}" if first == last else f"at {first} to {last}"
            parts.append(f"{views[0].name(views[0].best)} {span}")
        return "Fastest: " + ", ".join(parts)

    @cached_property
    def crossovers(self) -> tuple[str, ...]:
        """Which way overtakes which other one, and from which size on."""
        made = []
        keys = sorted(self.lines)
        for number, one in enumerate(keys):
            for other in keys[number + 1 :]:
                mine, theirs = self.lines[one], self.lines[other]
                costs = [{row.case.bytes: row.cost for row in line} for line in (mine, theirs)]
                for size, was_first in crossings(*costs):
                    before, after = (mine, theirs) if was_first else (theirs, mine)
                    made.append(f"{after[0].name} overtakes {before[0].name} from {bytes_text(size)} on")
        return tuple(made)


@dataclass(frozen=True)
class Answer:
    """All that a document says about its questions."""

    sweeps: tuple[Sweep, ...]
    noise: str
    """Which operating-system noise the latencies have; empty: none."""
    notes: tuple[str, ...]
    command: str

    @property
    def views(self) -> list[View]:
        return [view for sweep in self.sweeps for view in sweep.views]

    @property
    def rows(self) -> list[Row]:
        return [row for view in self.views for row in view.rows]

    @property
    def overview(self) -> bool:
        """Several operations: no one table is the answer."""
        return len({sweep.operation for sweep in self.sweeps}) > 1

    @property
    def star(self) -> str:
        """What marks a percentile without operating-system noise."""
        return "" if self.noise else "*"


SIZE = 256
"""The size of the table that is shown first, where several were measured."""


def answer(document: Document) -> Answer:
    """The answer of a document of the common workload. Raises `UserError` for another one."""
    views = _views(document)
    if not views:
        raise UserError("the result holds no answer of compare: no measurement has an operation")
    sweeps = []
    for _, group in groupby(
        views, key=lambda view: (_order(view.case), view.case.window, view.case.rate_per_s)
    ):
        members = list(group)
        case = members[0].case
        sweeps.append(Sweep(case.operation, case.window, case.rate_per_s, tuple(members)))
    context = document.raw["context"]
    return Answer(
        tuple(sweeps),
        str(context.get("noise", "")),
        (*_set(document), *(str(note) for note in context.get("notes", ()))),
        document.context.command,
    )


def _set(document: Document) -> list[str]:
    """What `--set` changed, a line for each platform."""
    found = ((name, changed(given)) for name, given in document.constants.items())
    return [f"{name} with {', '.join(keys)}" for name, keys in found if keys]


def answers(document: Document) -> bool:
    """Whether a document is one of compare, which notes what it left out: a bench's results may have the same
    words."""
    common = all("operation" in m.workload and "driver" in m.workload for m in document)
    return "notes" in document.raw["context"] and bool(document.results) and common


def _order(case: Case) -> int:
    return list(OPERATIONS).index(case.operation)


def _views(document: Document) -> list[View]:
    rows = [_row(m) for m in document if m.workload.get("operation") in OPERATIONS and "bytes" in m.workload]

    def place(row: Row) -> tuple[int, float, float, int]:
        case = row.case
        return _order(case), case.rate_per_s or 0.0, case.window or 0, case.bytes

    made = []
    for _, group in groupby(sorted(rows, key=place), key=attrgetter("case")):
        members = sorted(group, key=lambda row: (row.saturated, row.cost, row.key))
        case = members[0].case
        why = [
            str(one["why"])
            for one in document.raw["context"].get("left_out", ())
            if one["operation"] == case.operation and one["bytes"] == case.bytes
        ]
        made.append(View(case, tuple(members), tuple(dict.fromkeys(why))))
    return made


def _row(m: Measurement) -> Row:
    road = of_road(m.road)
    work = m.workload
    rate_given, window = work.get("rate_per_s"), work.get("window")
    case = Case(
        str(work["operation"]),
        int(work["bytes"]),
        None if window is None else int(window),
        None if rate_given is None else float(rate_given),
    )
    given = m.constants
    driver = str(work.get("driver", m.method))
    interconnect = m.platform if given is None else road.interconnect(given, driver)
    return Row(
        m,
        case,
        interconnect,
        m.platform if given is None else road.family(given, driver),
        road.driver_text(driver, m.profile, given),
    )


def _best_key(view: View) -> tuple[str, str, str]:
    return view.best.key


def _figures(row: Row, noun: str) -> str:
    parts = []
    if not row.by_rate and row.p50 is not None:
        parts.append(f"{time(row.p50)} per {noun}")
    if row.bytes_per_s is not None:
        parts.append(rate(row.bytes_per_s, "B/s"))
    if row.by_rate and row.p50 is not None:
        parts.append(f"{time(row.p50)} per {noun} meanwhile")
    return ", ".join(parts)


def _reached(row: Row) -> str:
    found = row.requests_per_s
    return "no rate measured" if found is None else rate(found, " requests/s").replace(" k ", "k ")


def _faster(view: View, row: Row) -> str:
    """The best row against another one, up to the noun."""
    ratio = view.ratio(row)
    if ratio is None or ratio == float("inf"):
        return "ahead of"
    if ratio < NEAR:
        return "as fast as"
    return f"{digits(ratio, 2 if ratio < 10 else 3)} times as fast as"


def family_best(rows: Iterable[Row]) -> list[Row]:
    """The best row of each family, in their order."""
    found: dict[str, Row] = {}
    for row in rows:
        found.setdefault(row.family, row)
    return list(found.values())
