# SPDX-License-Identifier: Apache-2.0
"""Simulated beside published: the numbers of a document, agreeing or not.

`run(document)` prints and returns the rows; those that differ come first. A row is never left out: where no
road covers it yet, it says "not simulated". Rows may state one fact together (a time and its rate): the
summary counts facts.
"""

from __future__ import annotations

import csv
import fnmatch
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from isthmus.errors import UserError
from isthmus.paths import ROOT
from isthmus.results import Document, Measurement
from isthmus.results.table import aligned
from isthmus.units import digits, percent

PUBLISHED = ROOT / "published"
TARGETS = "rtl-targets.csv"
"""The gateware's own limits: shown with every document, and none of its own."""

FILES: Mapping[str, str] = {"switch": "forth-switch", "rdma": "forth-rdma"}
"""Published systems whose file has another name than the road."""

KINDS = ("input", "prediction", "identity", "claim", "bound", "context")

Verdict = Literal["agrees", "DIFFERS", "input", "context", "not simulated", "no tolerance", "met", "MISSED"]


@dataclass(frozen=True)
class Row:
    """One published number beside what the simulation gives."""

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
    """What a reader must know of it: why it differs, or what an agreement rests on."""

    @property
    def ratio(self) -> float | None:
        return None if self.simulated is None or not self.value else self.simulated / self.value

    @property
    def allowed(self) -> str:
        """What the verdict allows, as tables show it."""
        if self.kind == "bound":
            return "most"
        if self.kind == "claim":
            return "direction" if self.value == 1 else "above"
        return "" if self.tolerance is None else f"{self.tolerance:g} %"

    @property
    def is_area(self) -> bool:
        """Whether it is a figure of synthesis: shown by itself, ours over published."""
        return ".area." in self.id

    @property
    def ours(self) -> float | None:
        """Our figure over the published one."""
        return None if self.isthmus is None or not self.value else self.isthmus / self.value


@dataclass(frozen=True)
class Fact:
    """What one or several rows state."""

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


def rows(document: Document, name: str = "etherbone", folder: Path = PUBLISHED) -> list[Row]:
    """Every number of `published/<name>.csv`, in the file's order."""
    made = []
    for line in published(name, folder):
        if line["kind"] not in KINDS:
            raise UserError(f"{name}.csv: {line['id']}: kind {line['kind']!r} is none of {', '.join(KINDS)}")
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
    """What the rows state, each fact once. It differs where one of its rows does; facts without a row that
    could be judged (inputs, context) are left out."""
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


def targets(document: Document, name: str = "etherbone", folder: Path = PUBLISHED) -> list[Target]:
    """The gateware's own limits on this road."""
    made = []
    for line in _table(folder / TARGETS, limits=True):
        if not line["measurement"].startswith(f"{name}/"):
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


def published(name: str = "etherbone", folder: Path = PUBLISHED) -> list[dict[str, str]]:
    """The lines of `published/<name>.csv` as they stand in the file."""
    return _table(folder / f"{FILES.get(name, name)}.csv")


def _table(path: Path, limits: bool = False) -> list[dict[str, str]]:
    if not path.is_file() or (path.name == TARGETS and not limits):
        roads = {stem: road for road, stem in FILES.items()}
        stems = sorted(p.stem for p in path.parent.glob("*.csv") if p.name != TARGETS)
        known = ", ".join(roads.get(stem, stem) for stem in stems)
        raise UserError(f"nothing published as {path.stem!r}; there are: {known}")
    text = "\n".join(line for line in path.read_text().splitlines() if not line.startswith("#"))
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
        return _area(*pattern.removeprefix(AREA).split("/"), *quantity.split("."))
    if quantity in (TOTAL_CROSSING, INJECTION_CROSSING):
        return _crossing(document, quantity, *pattern.split(" / ", 1))
    if quantity in _PAIRS:
        ratios = _pairs(document, *pattern.split(" / ", 1))
        return _PAIRS[quantity](ratios) if ratios else None
    if " / " in pattern:
        above, below = (measured(document, part, quantity) for part in pattern.split(" / ", 1))
        return above / below if above is not None and below else None
    if quantity not in _QUANTITIES:
        raise UserError(f"quantity {quantity!r} is none of {', '.join(_QUANTITIES)}")
    members = [m for m in document if fnmatch.fnmatchcase(m.id, pattern)]
    return _QUANTITIES[quantity](members, document) if members else None


def _area(profile: str, core: str, family: str, resource: str) -> float | None:
    """What `isthmus area` has stored of a core of ours, or of a sum of cores; None where it has nothing."""
    from isthmus.figures import baseline
    from isthmus.figures.cores import sums

    stored = baseline.load("area")
    of = next((row.of for row in sums() if row.name == core), (core,))
    found = [stored.get(name, {}).get(family) for name in of]
    if profile != "isthmus" or not all(found):
        return None
    # Memories and shift registers in LUTs take LUTs: a memory of 16 bits with a port of its own for reading
    # two of them. A block RAM of that family is half of one of 36 kbit.
    parts: Mapping[str, Sequence[tuple[str, int]]] = {
        "lut": (("lut", 1), ("lutram", 2), ("srl", 1)),
        "ff": (("ff", 1),),
        "bram": (("bram36", 2),),
    }
    if resource not in parts:
        raise UserError(f"quantity '{family}.{resource}' is none of {', '.join(parts)} of a family")
    return float(sum(one[name] * factor for one in found if one for name, factor in parts[resource]))


def _crossing(document: Document, quantity: str, above: str, below: str) -> float | None:
    """The size in bytes at which the first pattern's transfers, dearer before, meet the second's."""
    from isthmus.bench.rdma_tables import crossover, injection, total

    cost = {TOTAL_CROSSING: total, INJECTION_CROSSING: injection}[quantity]
    members = [
        m
        for m in document
        if m.workload.get("combined")
        and any(fnmatch.fnmatchcase(m.id, pattern) for pattern in (above, below))
    ]
    methods = [pattern.split("/")[3] for pattern in (above, below)]
    return crossover(members, methods[0], methods[1], cost)


def _pairs(document: Document, above: str, below: str) -> list[float]:
    """The ratios of mean latency, for measurements of both patterns that are alike but in their method.
    A run without a steady latency is left out."""

    def found(pattern: str) -> dict[str, float]:
        return {
            m.name: m.latency.avg
            for m in document
            if fnmatch.fnmatchcase(m.id, pattern) and m.latency and not m.workload.get("saturated")
        }

    first, second = found(above), found(below)
    return [float(first[name] / second[name]) for name in sorted(first) if second.get(name)]


_PAIRS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "latency_pairs_most": max,
    "latency_pairs_least": min,
}

TOTAL_CROSSING, INJECTION_CROSSING = "crossing_bytes", "injection_crossing_bytes"
AREA = "area/"
"""Begin of a measurement that is no run's: `area/{profile}/CORE`, a core or a sum of the table of cores;
quantities `FAMILY.lut`, `.ff`, `.bram`."""

Quantity = Callable[[Sequence[Measurement], Document], float | None]


def _each(get: Callable[[Measurement], float | None]) -> Quantity:
    """The largest of a value over the measurements; None where one lacks it."""

    def quantity(members: Sequence[Measurement], document: Document) -> float | None:
        values = [get(m) for m in members]
        known = [value for value in values if value is not None]
        return max(known) if len(known) == len(values) else None

    return quantity


def _latency_us(m: Measurement) -> float | None:
    return m.latency.avg / 1e6 if m.latency else None


def _inside_ns(m: Measurement) -> float | None:
    inside = m.windows.inside_cycle_per_timestamp
    return None if inside is None else inside / 1e3


def _inside_clocks(m: Measurement) -> float | None:
    inside = _inside_ns(m)
    clock = m.constants.value("fpga", "clock") if m.constants else None
    return None if inside is None or clock is None else inside / 2 * clock / 1e3


def _clocks(name: str) -> Callable[[Measurement], float | None]:
    """Clocks on the device's pins. `turnaround`: the request's last FCS byte to the reply's first preamble
    byte; `reply_spacing_max`: between the first bytes of neighbouring replies, at most."""

    def value(m: Measurement) -> float | None:
        found = (m.workload.get("clocks") or {}).get(name)
        return None if found is None else float(found)

    return value


def _spread(members: Sequence[Measurement], document: Document) -> float | None:
    values = [m.latency.avg for m in members if m.latency]
    shortest = min(values, default=0.0)
    return max(values) / shortest if shortest else None


def _gain(members: Sequence[Measurement], document: Document) -> float | None:
    gains = []
    for m in members:
        other = document.by_id(m.id.replace("/pipelined/", "/blocking/"))
        if other is None or not m.time_per_timestamp or not other.time_per_timestamp:
            return None
        gains.append(100 * (other.time_per_timestamp / m.time_per_timestamp - 1))
    return sum(gains) / len(gains)


def _scaled(get: Callable[[Measurement], float | None], scale: float) -> Quantity:
    def value(m: Measurement) -> float | None:
        found = get(m)
        return None if found is None else found * scale

    return _each(value)


def _workload(*path: str) -> Callable[[Measurement], float | None]:
    """A number of the workload's description, by its keys."""

    def value(m: Measurement) -> float | None:
        found: Any = m.workload
        for key in path:
            found = (found or {}).get(key)
        return None if found is None else float(found)

    return value


def _queueing_us(m: Measurement) -> float | None:
    return None if m.latency is None else (m.latency.avg - m.latency.min) / 1e6


def _line_percent(m: Measurement) -> float | None:
    idle = _workload("wire_shares", "idle")(m)
    return None if idle is None else 100 * (1 - idle)


def _single_line_percent(m: Measurement) -> float | None:
    """The same of the one line that a single flow uses."""
    shares = m.workload.get("wire_shares") or {}
    if shares.get("data") is None:
        return None
    return 100 * float(m.workload["ports"] * (shares["data"] + shares["framing"]))


def _packet_line_percent(m: Measurement) -> float | None:
    """The share of a line that packets take, framing included, of what credits leave them."""
    shares = m.workload.get("wire_shares") or {}
    if shares.get("data") is None:
        return None
    free = float(shares["data"] + shares["framing"] + shares["idle"])
    return 100 * (shares["data"] + shares["framing"]) / free if free else None


def _payload_mib_s(m: Measurement) -> float | None:
    return m.throughput.payload_bit_s / 8 / (1 << 20) if m.throughput else None


def _descriptor_us(m: Measurement) -> float | None:
    """The mean of what a transfer costs its sender, by its descriptors."""
    from isthmus.bench.rdma_tables import per_descriptor

    found = per_descriptor(m)
    return None if found is None else found / 1e6


def _component_share_percent(name: str) -> Callable[[Measurement], float | None]:
    def value(m: Measurement) -> float | None:
        part, whole = (_workload("components_ps", key)(m) for key in (name, "total"))
        return None if part is None or not whole else 100 * part / whole

    return value


def _component_rest_us(m: Measurement) -> float | None:
    """What is neither propagation nor the read of the sender's memory."""
    found = m.workload.get("components_ps")
    return (found["total"] - found["propagation"] - found["send_dma"]) / 1e6 if found else None


# As the RDMA road names the parts of one transfer.
_COMPONENTS = (
    "send_initiation", "send_dma", "send_nic", "switch", "propagation", "rcv_nic", "rcv_dma", "total",
)  # fmt: skip

_QUANTITIES: Mapping[str, Quantity] = {
    "payload_mib_s": _each(_payload_mib_s),
    # Of a bus by itself, in its clocks.
    "bus_cycles": _each(_workload("cycles")),
    "bus_data_percent": _scaled(_workload("data_share"), 100),
    "bus_first_data_cycles": _each(_workload("first_data_cycles")),
    "bus_between_cycles": _each(_workload("between_cycles")),
    "bus_completions": _each(lambda m: float(m.workload["transactions"] - 1)),
    "descriptor_us": _each(_descriptor_us),
    "component_rest_us": _each(_component_rest_us),
    "network_us": _scaled(_workload("network_ps"), 1e-6),
    **{f"component_us.{name}": _scaled(_workload("components_ps", name), 1e-6) for name in _COMPONENTS},
    **{f"component_share_percent.{name}": _each(_component_share_percent(name)) for name in _COMPONENTS},
    "queueing_us": _each(_queueing_us),
    "fastest_us": _each(lambda m: m.latency.min / 1e6 if m.latency else None),
    "switch_clocks": _each(_workload("clocks", "fastest_switch")),
    "payload_share_percent": _scaled(_workload("payload_share"), 100),
    "line_share_percent": _each(_line_percent),
    "packet_line_percent": _each(_packet_line_percent),
    "single_line_percent": _each(_single_line_percent),
    "jain_percent": _scaled(_workload("flows", "jain"), 100),
    "latency_avg_us": _each(_latency_us),
    "latency_spread": _spread,
    "time_per_timestamp_us": _scaled(lambda m: m.time_per_timestamp, 1e-6),
    "cycles_khz": _scaled(lambda m: m.throughput.cycles_per_s if m.throughput else None, 1e-3),
    "timestamps_khz": _scaled(lambda m: m.throughput.timestamps_per_s if m.throughput else None, 1e-3),
    "payload_mbit_s": _scaled(lambda m: m.throughput.payload_bit_s if m.throughput else None, 1e-6),
    "inside_cycle_per_timestamp_ns": _each(_inside_ns),
    "inside_cycle_per_word_ns": _scaled(_inside_ns, 0.5),
    "inside_cycle_clocks_per_word": _each(_inside_clocks),
    "gain_over_blocking_percent": _gain,
    "turnaround_clocks": _each(_clocks("turnaround")),
    "reply_spacing_clocks": _each(_clocks("reply_spacing_max")),
}


def text(found: Sequence[Row], limits: Sequence[Target], notes: bool = False) -> str:
    """All tables and a count, as the terminal shows them: what differs first, with the reason; `notes`: also
    what is to be known of the other rows."""
    shown = [row for row in found if not row.is_area]
    differ = [row for row in shown if row.verdict == "DIFFERS"]
    others = [row for row in shown if row.verdict != "DIFFERS"]
    parts = [
        "# simulated: profile as-published; isthmus: the same with our gateware's and library's profile\n"
    ]
    if differ:
        parts.append("\n# what DIFFERS\n")
        parts.append(_table_of(differ) + _notes(differ))
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


def area_notes(areas: Sequence[Row]) -> list[str]:
    """Where a table of area and the text around it do not fit together, from its own numbers."""
    by_id = {row.id: row.value for row in areas}
    debug, whole = "forth.rdma.area.debug.", "forth.rdma.area.interface."
    said = by_id.get(f"{debug}share")
    if said is None:
        return []
    shares = [
        f"{percent(by_id[debug + key] / by_id[whole + key])} of the {name}"
        for key, name in (("lut", "LUTs"), ("ff", "flip-flops"), ("bram", "block RAMs"))
    ]
    return [
        f"Debugging support is said to be {said:g} % of the design; in the table it has {', '.join(shares)}.",
        "Ours of the whole interface is its board top with one link, counters and probes included; *.four: "
        "with the four links that the rates are of. The document does not say how many its table has.",
        *_outside(),
    ]


def _outside() -> list[str]:
    """What of ours is in no block of the table, as the table counts."""
    found = {
        key: _area("isthmus", "RDMA: checks, notifications", "xc2vp", key) for key in ("lut", "ff", "bram")
    }
    if None in found.values():
        return []
    lut, ff, bram = (f"{value:g}" for value in found.values())
    return [
        f"Checks, notifications and error records of ours, {lut} LUTs, {ff} flip-flops and {bram} block "
        "RAMs, are in no block above, but in the whole."
    ]


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
        if not members and kind == "identity":
            continue
        agree = sum(fact.verdict == "agrees" for fact in judged)
        parts.append(f"{agree} of {len(judged)} {words}")
        left = len(members) - len(judged)
        if left:
            parts[-1] += f" ({left} not judged: not simulated, or no error given)"
    met = sum(target.verdict == "met" for target in limits)
    simulated = sum(target.simulated is not None for target in limits)
    if limits:
        parts.append(f"{met} of {simulated} gateware limits met")
    if simulated < len(limits):
        parts[-1] += f" ({len(limits) - simulated} not simulated)"
    return f"{'; '.join(parts)}."


def _number(value: float | None) -> str:
    return "" if value is None else digits(value, 4)


def _measure(name: str) -> Document:
    if name == "switch":
        from isthmus.bench import switch_published

        return switch_published.measure()
    if name == "rdma":
        from isthmus.bench import rdma_published

        return rdma_published.verified()
    if name != "etherbone":
        raise UserError(f"{name}: no benchmark measures it; name a result file with --results")
    from isthmus.bench import etherbone

    # The document's own procedure: all of 90 cycles, from the first call to the last reply.
    return etherbone.measure(procedure="published")


def run(
    name: str = "etherbone",
    *,
    results: Path | None = None,
    document: Document | None = None,
    notes: bool = False,
) -> tuple[list[Row], list[Target]]:
    """`isthmus verify [ROAD]`: print published beside simulated. Runs the benchmark where no
    result is given. `failed` says what its exit code is.

    results   a result file to take the simulated numbers from
    document  the same, already read
    notes     print what is to be known of each row, not only of those that differ
    """
    published(name)
    if document is None:
        if results is not None:
            from isthmus.results import load

            document = load(results)
        else:
            document = _measure(name)
    found, limits = rows(document, name), targets(document, name)
    print(text(found, limits, notes), end="")
    return found, limits
