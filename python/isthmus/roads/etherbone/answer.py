# SPDX-License-Identifier: Apache-2.0
"""The answer in words. Every sentence is derived from the measurements; none is typed in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby, pairwise
from operator import itemgetter

from isthmus.results import Document, Measurement
from isthmus.results.constants import profile_part
from isthmus.roads.etherbone import ROAD
from isthmus.units import percent, rate, time, times

Key = tuple[str, str, str]
"""Platform, profile, method."""


FULL = 0.95
"""A line that is used to this share has no room for another frame."""

USB_BIT_S = 480e6
PCIE_LANE_BIT_S = {1: 2.0e9, 2: 4.0e9, 3: 8e9 * 128 / 130, 4: 16e9 * 128 / 130}
"""After the line code."""

NOTHING = 0.005
"""A relative change that counts as none in words; tables show it."""


@dataclass(frozen=True)
class Sentence:
    """One statement: `topic` orders and heads it. `items`: a list behind its text, of short lines."""

    topic: str
    text: str
    items: tuple[str, ...] = ()


def series(document: Iterable[Measurement]) -> Mapping[Key, list[Measurement]]:
    """The timestamp series (ts1, ts2, ...) of each platform, profile and method, in order."""
    found: dict[Key, list[Measurement]] = {}
    for m in document:
        if m.name.startswith("ts") and m.time_per_timestamp is not None:
            found.setdefault((m.platform, m.profile, m.method), []).append(m)
    return {key: sorted(members, key=lambda m: m.timestamps) for key, members in found.items()}


def answer(document: Document) -> list[Sentence]:
    """The recommended method, the crossovers, the reasons, and the cost of the alternatives."""
    lines = series(document)
    if not lines:
        return [Sentence("Answer", "No timestamps were read: there is nothing to compare.")]
    best = min((line[-1] for line in lines.values()), key=_cost)
    same = {key[2]: line for key, line in lines.items() if key[:2] == (best.platform, best.profile)}
    made = [_winner(best, same)]
    made += _roads(lines)
    made += _crossovers(same, best)
    made += _meetings(document)
    made += _why(same, best)
    made += _sustained(document, best)
    made += _profiles(lines, best)
    made += _paths(lines)
    return made


def _cost(m: Measurement) -> float:
    cost = m.time_per_timestamp
    assert cost is not None, "only measurements with a rate are in a series"
    return cost


def _winner(best: Measurement, same: Mapping[str, Sequence[Measurement]]) -> Sentence:
    others = [
        f"{method} {time(_cost(line[-1]))} ({times(_cost(line[-1]) / _cost(best))} as long)"
        for method, line in sorted(same.items(), key=lambda item: _cost(item[1][-1]))
        if method != best.method
    ]
    rest = f"; {', '.join(others)}" if others else ""
    first = "is fastest" if others else "alone was measured"
    counts = f"{best.timestamps} timestamp{'s' if best.timestamps > 1 else ''}"
    return Sentence(
        "Which method",
        f"{best.method.capitalize()} {first}: with {counts} a cycle one timestamp "
        f"(8 bytes) costs {time(_cost(best))} over {best.platform}, profile {best.profile}"
        f"{_in_flight(best)}{rest}. That is "
        f"{rate(1e12 / _cost(best), 'timestamps/s')} or {rate(64e12 / _cost(best), 'bit/s')} of payload.",
    )


def _in_flight(m: Measurement) -> str:
    """How many cycles a figure has in flight, where it is not one."""
    kind, _, count = m.arrivals.partition(":")
    return f", {count} cycles in flight" if kind == "window" else ""


def _roads(lines: Mapping[Key, Sequence[Measurement]]) -> list[Sentence]:
    """Every road in the order of its cost, for one timestamp that is waited for and for many that are not."""
    made = []
    for profile in ("as-published", "isthmus"):
        for method, place in (("blocking", 0), ("pipelined", -1)):
            members = [line[place] for key, line in lines.items() if key[1:] == (profile, method)]
            if len(members) < 2:
                continue
            ranked = sorted(members, key=_cost)
            counts = f"{ranked[0].timestamps} timestamp{'s' if ranked[0].timestamps > 1 else ''} a cycle"
            made.append(
                Sentence(
                    "Which road",
                    f"Profile {profile}, {method}, {counts}, time for each: "
                    + ", ".join(f"{m.platform} {time(_cost(m))}" for m in ranked)
                    + ".",
                )
            )
    return made


def _meetings(document: Iterable[Measurement]) -> list[Sentence]:
    """Which road is the fastest as more words are read, and which one of another bus overtakes which."""
    found: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    buses: dict[str, str] = {}
    for m in document:
        words = m.workload.get("words")
        buses[m.platform] = bus_of(m)
        if words is not None and m.latency is not None:
            found.setdefault((m.profile, m.method), {}).setdefault(m.platform, {})[words] = m.latency.avg
    said: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (profile, method), roads in sorted(found.items()):
        if method == "convenience" or len(roads) < 2:
            continue
        pairs = [two for two in combinations(sorted(roads), 2) if buses[two[0]] != buses[two[1]]]
        said.setdefault((profile, *_race(roads, "words", pairs)), []).append(method)
    return [
        Sentence("Crossovers", f"Profile {profile}, {' and '.join(methods)}, words read: {text}", items)
        for (profile, text, items), methods in said.items()
    ]


def _race(
    costs: Mapping[str, Mapping[int, float]], unit: str, pairs: Iterable[tuple[str, str]]
) -> tuple[str, tuple[str, ...]]:
    """The fastest at each common size, in words; which of `pairs` is overtaken by which."""
    sizes = sorted(set.intersection(*(set(cost) for cost in costs.values())))
    ranking = [(size, min(sorted(costs), key=lambda name: costs[name][size])) for size in sizes]
    runs = [(name, [size for size, _ in run]) for name, run in groupby(ranking, key=itemgetter(1))]
    if not runs:
        text = "no size was measured over all roads"
    elif len(runs) == 1:
        text = f"{runs[0][0]} is the fastest at every size"
    else:
        (first, small), *between, (last, large) = runs
        parts = [f"{first} up to {small[-1]:,} {unit}"]
        parts += [f"{name} {_span(run)}" for name, run in between]
        text = f"the fastest is {', '.join([*parts, f'{last} from {large[0]:,} on'])}"
    overtaken: dict[str, dict[int, list[str]]] = {}
    for one, other in pairs:
        for size, was_one in changes(costs[one], costs[other]):
            first, then = (one, other) if was_one else (other, one)
            overtaken.setdefault(first, {}).setdefault(size, []).append(then)
    items = tuple(
        f"{first} by {'; '.join(f'{_list(by[size])} from {size:,} {unit} on' for size in sorted(by))}"
        for first, by in sorted(overtaken.items())
    )
    return f"{text}. {'Overtaken:' if items else 'No road overtakes another.'}", items


def changes(one: Mapping[int, float], other: Mapping[int, float]) -> list[tuple[int, bool]]:
    """The common sizes from which on the two have changed places, and whether `one` was ahead before."""
    sizes = sorted(set(one) & set(other))
    ahead = [(size, one[size] < other[size]) for size in sizes]
    return [(size, first) for (_, first), (size, then) in pairwise(ahead) if first != then]


def bus_of(m: Measurement) -> str:
    """The bus of a measurement's platform. A document that stores no constants has it in the names alone."""
    return m.constants.bus if m.constants else m.platform.partition("-")[0]


def _crossovers(same: Mapping[str, Sequence[Measurement]], best: Measurement) -> list[Sentence]:
    """The cycle size from which one method is faster than another, or that there is none."""
    made = []
    for method, line in sorted(same.items()):
        if method == best.method:
            continue
        pairs = [
            (mine.timestamps, _cost(mine) < _cost(theirs))
            for mine in same[best.method]
            for theirs in line
            if mine.timestamps == theirs.timestamps
        ]
        if len(pairs) < 2:
            continue
        changes = [now for (_, was_ahead), (now, ahead) in pairwise(pairs) if ahead != was_ahead]
        if changes:
            text = f"{best.method} and {method} change places at {_list(changes)} timestamps a cycle"
        elif pairs[0][1]:
            text = (
                f"{best.method} beats {method} at every cycle size from {pairs[0][0]} to "
                f"{pairs[-1][0]} timestamps: there is no crossover"
            )
        else:
            text = f"{method} is never slower than {best.method}"
        made.append(Sentence("Crossovers", text[0].upper() + text[1:] + "."))
    blocking = same.get("blocking")
    if blocking and len(blocking) > 1 and blocking[0].latency and blocking[-1].latency:
        first, last = blocking[0].latency.avg, blocking[-1].latency.avg
        made.append(
            Sentence(
                "Crossovers",
                f"A blocking cycle takes {time(first)} for {blocking[0].timestamps} and {time(last)} for "
                f"{blocking[-1].timestamps} timestamps, "
                + ("the same" if last / first - 1 < NOTHING else f"{percent(last / first - 1)} more")
                + ": "
                + (
                    "it waits for the round trip, so put into one cycle all that you can."
                    if last / first < 1.5
                    else "its length grows with what is in it."
                ),
            )
        )
    return made


def _why(same: Mapping[str, Sequence[Measurement]], best: Measurement) -> list[Sentence]:
    made = []
    blocking = same.get("blocking")
    if blocking and blocking[-1].stages:
        m = blocking[-1]
        total = sum(stage.time for stage in m.stages)
        shares = sorted(by_place(m).items(), key=lambda item: -item[1])
        largest = max(m.stages, key=lambda stage: stage.time)
        made.append(
            Sentence(
                "Why",
                f"Of one blocking round trip of {time(total)}, "
                + ", ".join(f"{percent(spent / total)} is {_place(place)}" for place, spent in shares)
                + f"; the longest single stage is “{largest.name}” with {time(largest.time)}.",
            )
        )
    return made


def _sustained(document: Iterable[Measurement], best: Measurement) -> list[Sentence]:
    """The bottleneck of an endless stream of cycles, from the longest run available."""
    made = []
    for profile in ("isthmus", "as-published"):
        runs = [
            m
            for m in document
            if m.name.startswith("max") and m.platform == best.platform and m.profile == profile
        ]
        if not runs or runs[0].throughput is None:
            continue
        rates = runs[0].throughput
        payload = rate(rates.payload_bit_s, "bit/s")
        text = f"Pipelined without end, profile {profile} carries {payload} of payload"
        limit = capacity(runs[0])
        if limit is not None and rates.wire_bit_s is not None:
            used = rates.wire_bit_s / limit
            reason = "the wire limits it" if used > FULL else "the host limits it, not the wire"
            text += f"; what goes towards the host fills {percent(used)} of its share of the line: {reason}"
        made.append(Sentence("Why", f"{text}."))
    return made


def _place(name: str) -> str:
    return ROAD.places[name].words if name in ROAD.places else name


def by_place(m: Measurement) -> dict[str, int]:
    """The time of one transfer by where it is spent."""
    places: dict[str, int] = {}
    for stage in m.stages:
        places[stage.where] = places.get(stage.where, 0) + stage.time
    return places


def capacity(m: Measurement) -> float | None:
    """Bits a second that the platform's line can carry towards the host, all framing included; None for a
    bus without a line rate, or where the document does not store the constants. Half of a USB, whose other
    half the requests take."""
    given = m.constants
    if given is None:
        return None
    if given.bus == "usb":
        return USB_BIT_S / 2
    rate, lanes, generation = (given.value("link", name) for name in ("rate", "lanes", "generation"))
    if given.bus == "gige" and rate is not None:
        return rate * 1e6
    if given.bus == "pcie" and lanes is not None and generation is not None:
        return lanes * PCIE_LANE_BIT_S[int(generation)]
    return None


def _profiles(lines: Mapping[Key, Sequence[Measurement]], best: Measurement) -> list[Sentence]:
    """A timestamp as published and with isthmus, over every road."""
    made = []
    for method in sorted({key[2] for key in lines}):
        parts = []
        for platform in sorted({key[0] for key in lines}):
            ours, theirs = (lines.get((platform, profile, method)) for profile in ("isthmus", "as-published"))
            if ours and theirs:
                old, new = _cost(theirs[-1]), _cost(ours[-1])
                parts.append(f"{platform}: {time(new)} instead of {time(old)} ({_speed(old, new)})")
        if parts:
            count = max(key_line[-1].timestamps for key_line in lines.values())
            text = f"{method.capitalize()}, {count} timestamps a cycle, profile isthmus reads one over"
            made.append(Sentence("What isthmus changes", text, tuple(parts)))
    theirs, ours = (
        lines.get((best.platform, profile, "blocking")) for profile in ("as-published", "isthmus")
    )
    moved = _moved(theirs[-1], ours[-1]) if ours and theirs else ""
    if moved:
        text = f"In a blocking transfer over {best.platform} {moved}."
        made.append(Sentence("What isthmus changes", text))
    return made + _waiting(lines) if made else []


def _waiting(lines: Mapping[Key, Sequence[Measurement]]) -> list[Sentence]:
    """How the two profiles wait, where they differ in it: a setting of the host, no merit of a library."""
    for key in sorted(lines):
        given = lines[key][0].constants
        if given is None or given.bus != "gige":
            continue
        theirs, ours = (given.value(profile_part(name), "poll") for name in ("as-published", "isthmus"))
        gap = given.value("nic", "interrupt_gap")
        if theirs != ours and gap is not None:
            text = (
                "Over Gigabit Ethernet part of this is a setting of the host: profile isthmus polls the "
                "network interface, as published waits for interrupts, at least "
                f"{time(1e6 * gap)} apart."
            )
            return [Sentence("What isthmus changes", text)]
    return []


def _speed(old: float, new: float) -> str:
    """How much faster, or slower, something became."""
    ratio, word = (old / new, "fast") if new <= old else (new / old, "slow")
    if ratio - 1 < NOTHING:
        return "the same"
    return f"{times(ratio)} as {word}" if ratio >= 1.5 else f"{percent(ratio - 1)} {word}er"


def _moved(theirs: Measurement, ours: Measurement) -> str:
    """The stage that changed most between two profiles."""
    old, new = ({stage.name: stage.time for stage in m.stages} for m in (theirs, ours))
    if not old or not new:
        return ""
    changes = {name: old.get(name, 0) - new.get(name, 0) for name in {*old, *new}}
    name, saved = max(changes.items(), key=lambda item: (abs(item[1]), item[0]))
    if not saved:
        return ""
    change = "less" if saved > 0 else "more"
    return f"“{name}” changes most: {time(abs(saved))} {change}"


def _paths(lines: Mapping[Key, Sequence[Measurement]]) -> list[Sentence]:
    """The additional time of another path over the same bus, for each profile: one may hide it."""
    best: dict[str, str] = {}
    for key in sorted(lines, key=lambda key: _cost(lines[key][-1])):
        best.setdefault(bus_of(lines[key][0]), key[0])
    made = []
    for platform, profile, method in sorted(lines):
        base = best[bus_of(lines[platform, profile, method][0])]
        here = lines.get((base, profile, method))
        if platform == base or method == "convenience" or not here:
            continue
        near, far = here[-1], lines[platform, profile, method][-1]
        if near.latency is None or far.latency is None:
            continue
        added = far.latency.avg - near.latency.avg
        share = added / near.latency.avg
        if abs(share) < NOTHING:
            longest = max(far.stages, key=lambda stage: stage.time, default=None)
            hidden = f": it hides behind “{longest.name}”" if longest else ""
            text = f"adds nothing to a {method} cycle of {far.timestamps} timestamps{hidden}"
        else:
            text = (
                f"adds {time(added)} ({percent(share)}) to a {method} cycle of {far.timestamps} timestamps; "
                f"a timestamp costs {time(_cost(far))} instead of {time(_cost(near))}"
            )
        made.append(
            Sentence("What the path costs", f"Profile {profile}: {platform} instead of {base} {text}.")
        )
    return made


def _list(values: Sequence[object]) -> str:
    *most, last = map(str, values)
    return f"{', '.join(most)} and {last}" if most else last


def _span(sizes: Sequence[int]) -> str:
    return f"at {sizes[0]:,}" if len(sizes) == 1 else f"from {sizes[0]:,} to {sizes[-1]:,}"
