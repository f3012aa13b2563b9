# SPDX-License-Identifier: Apache-2.0
"""Simulated beside published: the numbers of a document, agreeing or not.

`run(document)` prints and returns the rows; those that differ come first. A row is never omitted: if no
road covers it yet, it is "not simulated". Rows may state one fact together (a time and its rate): the
summary counts facts.
"""

from __future__ import annotations

import csv
import fnmatch
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from isthmus.errors import UserError, choose
from isthmus.paths import ROOT
from isthmus.quantities import QUANTITIES
from isthmus.results import Document
from isthmus.results.table import aligned
from isthmus.roads.table import having, resolve, road
from isthmus.storage import read_text
from isthmus.units import digits

PUBLISHED = ROOT / "published"
TARGETS = "rtl-targets.csv"
"""The gateware's own limits: shown with every document, not a document."""

AREA = "area/"
"""Begin of a measurement that is no run's: `area/{profile}/CORE`, a core or a sum of the table of cores;
quantities `FAMILY.lut`, `.ff`, `.bram`."""

KINDS = ("input", "prediction", "identity", "claim", "bound", "context")

Verdict = Literal["agrees", "DIFFERS", "input", "context", "not simulated", "no tolerance", "met", "MISSED"]


FAR = 1.5
"""Beyond this ratio a number without an error is shown with those that differ."""


@dataclass(frozen=True)
class Row:
    """One published number beside the simulated one."""

    id: str
    what: str
    value: float
    unit: str
    where: str
    kind: str
    tolerance: float | None
    simulated: float | None
    isthmus: float | None
    verdict: Verdict
    fact: str = ""
    """Rows of one name state one fact. `rows` fills in the row's own id where the file has none."""
    note: str = ""
    """A note for the reader: why it differs, or the basis of an agreement."""

    @property
    def ratio(self) -> float | None:
        return None if self.simulated is None or not self.value else self.simulated / self.value

    @property
    def far(self) -> bool:
        """Far from a number that the document gives without an error."""
        ratio = self.ratio
        return self.verdict == "no tolerance" and ratio is not None and not 1 / FAR <= ratio <= FAR

    @property
    def allowed(self) -> str:
        """The allowed deviation, as shown in tables."""
        if self.kind == "bound":
            return "most"
        if self.kind == "claim":
            return "direction" if self.value == 1 else "above"
        return "" if self.tolerance is None else f"{self.tolerance:g} %"

    @property
    def is_area(self) -> bool:
        """Whether it is a figure of synthesis: shown separately, ours over published."""
        return ".area." in self.id

    @property
    def ours(self) -> float | None:
        """Our figure over the published one."""
        return None if self.isthmus is None or not self.value else self.isthmus / self.value


@dataclass(frozen=True)
class Fact:
    """The statement of one or several rows."""

    name: str
    kind: Literal["prediction", "conclusion", "identity"]
    verdict: Literal["agrees", "DIFFERS", "not judged"]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Target:
    """A limit of the gateware: met when the figure is not above it, or not below it where it is a least."""

    id: str
    what: str
    limit: float
    least: bool
    unit: str
    peers: str
    simulated: float | None
    verdict: Verdict

    @property
    def ratio(self) -> float | None:
        return None if self.simulated is None else self.simulated / self.limit


def rows(document: Document, name: str, folder: Path = PUBLISHED) -> list[Row]:
    """Every number of `published/<name>.csv`, in the file's order."""
    made = []
    for line in published(name, folder):
        if line["kind"] not in KINDS:
            raise UserError(
                f"{name}.csv: {line['id']}: kind {line['kind']!r} is not one of {', '.join(KINDS)}"
            )
        value = float(line["value"])
        tolerance = float(line["tolerance_percent"]) if line["tolerance_percent"] else None
        simulated, improved = (
            measured(document, line["measurement"].replace("{profile}", profile), line["quantity"])
            for profile in ("as-published", "isthmus")
        )
        made.append(
            Row(
                line["id"],
                line["what"],
                value,
                line["unit"],
                line["where"],
                line["kind"],
                tolerance,
                simulated,
                improved,
                _verdict(line["kind"], value, tolerance, simulated),
                line["fact"] or line["id"],
                line["note"],
            )
        )
    return made


def facts(found: Sequence[Row]) -> list[Fact]:
    """The facts of the rows, each once. A fact differs if one of its rows does; facts without a row that
    can be judged (inputs, context) are omitted."""
    grouped: dict[str, list[Row]] = {}
    for row in found:
        if row.kind not in ("input", "context"):
            grouped.setdefault(row.fact or row.id, []).append(row)
    made = []
    for name, members in grouped.items():
        kinds = {row.kind for row in members}
        kind: Literal["prediction", "conclusion", "identity"] = "identity"
        if "prediction" in kinds:
            kind = "prediction"
        elif kinds & {"claim", "bound"}:
            kind = "conclusion"
        verdicts = {row.verdict for row in members}
        verdict: Literal["agrees", "DIFFERS", "not judged"] = "not judged"
        if "DIFFERS" in verdicts:
            verdict = "DIFFERS"
        elif "agrees" in verdicts:
            verdict = "agrees"
        made.append(Fact(name, kind, verdict, tuple(members)))
    return made


def failed(found: Sequence[Row], limits: Sequence[Target], strict: bool = False) -> bool:
    """Whether `isthmus verify` exits with 1: a limit of our own gateware was missed; `strict`: or a published
    number differs, which else is a finding and no fault."""
    missed = any(target.verdict == "MISSED" for target in limits)
    return missed or (strict and any(row.verdict == "DIFFERS" for row in found))


def targets(document: Document, name: str, folder: Path = PUBLISHED) -> list[Target]:
    """The gateware's own limits on this road."""
    made = []
    for line in _table(folder / TARGETS):
        # Some of a document's limits are measured over another road, which has no document of its own.
        if not (line["measurement"].startswith(f"{name}/") or line["id"].startswith(f"{name}.")):
            continue
        limit = float(line["limit"])
        found = measured(document, line["measurement"], line["quantity"])
        if line["bound"] not in ("most", "least"):
            raise UserError(f"{TARGETS}: {line['id']}: bound {line['bound']!r} is neither most nor least")
        least = line["bound"] == "least"
        verdict: Verdict = "not simulated"
        if found is not None:
            verdict = "met" if (found >= limit if least else found <= limit) else "MISSED"
        unit, peers = line["unit"], line["peers"]
        made.append(Target(line["id"], line["what"], limit, least, unit, peers, found, verdict))
    return made


def is_published(name: str) -> bool:
    """Whether a document has numbers of this road."""
    return bool(road(name).published)


def published(name: str, folder: Path = PUBLISHED) -> list[dict[str, str]]:
    """The lines of a road's file in `published/` unchanged."""
    return _table(folder / f"{_file(name)}.csv")


def _file(name: str) -> str:
    """The name of a road's file. Raises `UserError`: nothing is published of it."""
    return {road.name: road.published for road in having("published")}[_known(name)]


def _known(name: str) -> str:
    return choose("published system", name, [road.name for road in having("published")])


def _table(path: Path) -> list[dict[str, str]]:
    text = "\n".join(line for line in read_text(path).splitlines() if not line.startswith("#"))
    return list(csv.DictReader(io.StringIO(text)))


def _verdict(kind: str, value: float, tolerance: float | None, simulated: float | None) -> Verdict:
    if kind == "input":
        return "input"
    if kind == "context":
        return "context"
    if simulated is None:
        return "not simulated"
    if kind == "claim":
        return "agrees" if simulated > value else "DIFFERS"
    if kind == "bound":
        return "agrees" if simulated <= value else "DIFFERS"
    if tolerance is None:
        return "no tolerance"
    return "agrees" if abs(simulated - value) <= value * tolerance / 100 else "DIFFERS"


def measured(document: Document, pattern: str, quantity: str) -> float | None:
    """The quantity over the measurements that the pattern names; None where there are none. Of two
    patterns with " / " between them: the quantity of the first over that of the second."""
    if not pattern:
        return None
    if pattern.startswith(AREA):
        from isthmus.figures import stored

        return stored.area(*pattern.removeprefix(AREA).split("/"), *quantity.split("."))
    comparisons = _all("comparisons")
    if quantity in comparisons:
        above, below = pattern.split(" / ", 1)
        found: float | None = comparisons[quantity](document, above, below)
        return found
    if " / " in pattern:
        first, second = (measured(document, part, quantity) for part in pattern.split(" / ", 1))
        return first / second if first is not None and second else None
    known = {**QUANTITIES, **_all("quantities")}
    if quantity not in known:
        raise UserError(f"quantity {quantity!r} is not one of {', '.join([*known, *comparisons])}")
    members = [m for m in document if fnmatch.fnmatchcase(m.id, pattern)]
    value: float | None = known[quantity](members, document) if members else None
    return value


def _all(attribute: str) -> dict[str, Any]:
    """The roads' entries for it, together."""
    return {
        name: one for road in having(attribute) for name, one in resolve(getattr(road, attribute)).items()
    }


def text(found: Sequence[Row], limits: Sequence[Target], notes: bool = False) -> str:
    """All tables and a count, as shown on the terminal: differing rows first, with the reason; `notes`:
    also the notes of the other rows."""
    shown = [row for row in found if not row.is_area]
    differ = [row for row in shown if row.verdict == "DIFFERS"]
    far = [row for row in shown if row.far]
    others = [row for row in shown if row.verdict != "DIFFERS" and not row.far]
    parts = [
        "# simulated: profile as-published; isthmus: the same with our gateware's and library's profile\n"
    ]
    if differ:
        parts.append("\n# what DIFFERS\n")
        parts.append(_table_of(differ) + _notes(differ))
    if far:
        parts.append(f"\n# what is off by more than {FAR:g} times; the document gives no error\n")
        parts.append(_table_of(far) + _notes(far))
    if differ or far:
        parts.append("\n# all other rows\n")
    parts.append(_table_of(others))
    if notes:
        parts.append(_notes(others))
    areas = [row for row in found if row.is_area]
    if areas:
        rows = [(row.id, *area_cells(row)) for row in areas]
        parts.append(f"\n# {AREA_NOTE}\n")
        parts.append(aligned([("#id", "unit", "published", "ours", "ratio"), *rows], left=(0, 1)))
        parts += [f"# {note}\n" for note in area_notes(areas)]
    if limits:
        parts.append("\n# gateware limits; a cycle is one clock of the FPGA\n")
        parts.append(_limits(sorted(limits, key=lambda target: target.verdict != "MISSED")))
    parts.append(f"\n{summary(found, limits)}\n")
    return "".join(parts)


def _table_of(shown: Sequence[Row]) -> str:
    lines: list[Sequence[str]] = [
        ("#id", "kind", "unit", "published", "simulated", "ratio", "allowed", "isthmus", "verdict")
    ]
    lines += [
        (
            row.id,
            row.kind,
            row.unit,
            f"{row.value:g}",
            _number(row.simulated),
            _number(row.ratio),
            row.allowed,
            _number(row.isthmus),
            row.verdict,
        )
        for row in shown
    ]
    return aligned(lines, left=(0, 1, 2, 8))


def _notes(shown: Sequence[Row]) -> str:
    """A line for each note; rows of one fact that share a note have one line."""
    heads: dict[str, str] = {}
    for row in shown:
        if row.note:
            heads.setdefault(row.note, row.id)
    return "".join(f"# {head}: {note}\n" for note, head in heads.items())


AREA_NOTE = (
    "area, Virtex-II Pro: ours after synthesis, published after its maker's tools; ratio: ours over published"
)


def area_cells(row: Row) -> tuple[str, str, str, str]:
    """Unit, published, ours and the ratio of a figure of synthesis; what we have nothing of is blank."""
    units = {"lut": "LUT", "ff": "FF", "bram": "BRAM"}
    unit = units.get(row.id.rpartition(".")[2], row.unit)
    ours = "" if row.isthmus is None else f"{row.isthmus:g}"
    return unit, f"{row.value:g}", ours, "" if row.ours is None else f"{row.ours:.2f}"


def _limits(limits: Sequence[Target]) -> str:
    lines: list[Sequence[str]] = [("#id", "unit", "bound", "limit", "simulated", "ratio", "verdict", "peers")]
    lines += [
        (
            t.id,
            t.unit,
            "least" if t.least else "most",
            f"{t.limit:g}",
            _number(t.simulated),
            _number(t.ratio),
            t.verdict,
            t.peers,
        )
        for t in limits
    ]
    return aligned(lines, left=(0, 1, 2, 6, 7))


_COUNTED: Mapping[str, str] = {
    "prediction": "predicted facts agree within the document's own error",
    "conclusion": "of the document's conclusions and bounds come out",
    "identity": "identities hold",
}


def summary(found: Sequence[Row], limits: Sequence[Target]) -> str:
    """One sentence that counts facts by their verdict, and limits."""
    parts = []
    known = facts(found)
    for kind, words in _COUNTED.items():
        members = [fact for fact in known if fact.kind == kind]
        judged = [fact for fact in members if fact.verdict != "not judged"]
        if not members:
            continue
        agree = sum(fact.verdict == "agrees" for fact in judged)
        left = len(members) - len(judged)
        if judged:
            parts.append(f"{agree} of {len(judged)} {words}")
        if left and judged:
            parts[-1] += f" ({left} not judged: not simulated, or no error given)"
        elif left:
            parts.append(f"{left} not judged: not simulated, or no error given")
    far = sum(row.far for row in found)
    if far:
        what = "number without an error is" if far == 1 else "numbers without an error are"
        parts.append(f"{far} {what} off by more than {FAR:g} times")
    met = sum(target.verdict == "met" for target in limits)
    simulated = sum(target.simulated is not None for target in limits)
    if limits:
        parts.append(f"{met} of {simulated} gateware limits met")
    if simulated < len(limits):
        parts[-1] += f" ({len(limits) - simulated} not simulated)"
    return f"{'; '.join(parts)}."


def _number(value: float | None) -> str:
    return "" if value is None else digits(value, 4)


def area_notes(found: Sequence[Row]) -> list[str]:
    """Contradictions between a table of area and its text, from the road."""
    areas = [row for row in found if row.is_area]
    return [note for road in having("area_notes") for note in resolve(road.area_notes)(areas)]


def run(
    name: str,
    *,
    results: Path | None = None,
    document: Document | None = None,
    notes: bool = False,
) -> tuple[list[Row], list[Target]]:
    """`isthmus verify [ROAD]`: print published beside simulated. Runs the benchmark where no
    result is given. `failed` says what its exit code is.

    results   a result file to take the simulated numbers from
    document  the same, already read
    notes     print the notes of all rows, not only of those that differ
    """
    made = road(_known(name))
    if document is None:
        if results is not None:
            from isthmus.results import load

            document = load(results)
        elif made.verify:
            document = resolve(made.verify)()
        else:
            raise UserError(f"{name}: no benchmark measures it; name a result file with --results")
    found, limits = rows(document, name), targets(document, name)
    others = ", ".join(other.name for other in having("published") if other.name != name)
    print(f"# {name}: {made.title}; other published systems: {others} (isthmus verify ROAD)")
    print(text(found, limits, notes), end="")
    return found, limits
