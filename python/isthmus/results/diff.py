# SPDX-License-Identifier: Apache-2.0
"""The differences of two results: `isthmus diff`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus.results.constants import Constants
from isthmus.results.files import load
from isthmus.results.model import Document, Measurement, ResultError
from isthmus.units import digits

SAME = 1e-9
"""A relative change below this is rounding of the file."""
LISTED = 10
"""So many ids of only one side are shown."""


@dataclass(frozen=True)
class Quantity:
    """A number that is compared."""

    name: str
    unit: str
    get: Callable[[Measurement], float | None]


def _p50(m: Measurement) -> float | None:
    found = m.latency.percentiles["p50"] if m.latency else None
    return None if found is None else found / 1e6


QUANTITIES: Sequence[Quantity] = (
    Quantity("p50", "us", _p50),
    Quantity("mean", "us", lambda m: m.latency.avg / 1e6 if m.latency else None),
    Quantity("payload", "MB/s", lambda m: m.throughput.payload_bit_s / 8e6 if m.throughput else None),
)


def compare(old: Document, new: Document, names: tuple[str, str] = ("old", "new")) -> str:
    """A line for each measurement that changed, matched by id, and what else differs. Raises `ResultError`
    where the two are of different roads or have nothing in common."""
    before, after = ({m.id: m for m in each} for each in (old, new))
    roads = [sorted({m.road for m in each}) for each in (old, new)]
    if roads[0] != roads[1]:
        said = [
            f"{name} is of {', '.join(each) or 'no road'}" for name, each in zip(names, roads, strict=True)
        ]
        raise ResultError(f"{said[0]}, {said[1]}: results of different kinds are not compared")
    common = [name for name in before if name in after]
    if not common:
        raise ResultError(f"{names[0]} and {names[1]} have no measurement in common; results match by id")
    lines = [f"# {name}: {_origin(each)}" for name, each in zip(names, (old, new), strict=True)]
    lines += [f"# constant {text}" for text in _constants(old.constants, new.constants)]
    changed = [(name, text) for name in common if (text := _changes(before[name], after[name]))]
    lines += [f"{name}: {text}" for name, text in changed]
    lines += _alone(names[0], [name for name in before if name not in after])
    lines += _alone(names[1], [name for name in after if name not in before])
    lines.append(f"{len(changed)} of {len(common)} common measurements changed")
    return "\n".join(lines) + "\n"


def _changes(old: Measurement, new: Measurement) -> str:
    parts = []
    for quantity in QUANTITIES:
        was, now = quantity.get(old), quantity.get(new)
        if was is None and now is None:
            continue
        if was is None or now is None:
            shown = [
                f"{digits(each, 4)} {quantity.unit}" if each is not None else "none" for each in (was, now)
            ]
            parts.append(f"{quantity.name} {shown[0]} -> {shown[1]}")
        elif abs(now - was) > SAME * max(abs(was), abs(now)):
            share = f" ({100 * (now / was - 1):+.2f} %)" if was else ""
            parts.append(f"{quantity.name} {digits(was, 4)} -> {digits(now, 4)} {quantity.unit}{share}")
    return ", ".join(parts)


def _origin(document: Document) -> str:
    context = document.context
    return f"commit {context.commit}, seed {context.seed}, {len(document.results)} measurements"


def _constants(old: Mapping[str, Constants], new: Mapping[str, Constants]) -> Iterable[str]:
    """Constants of common platforms that are not what they were."""
    for name in sorted(set(old) & set(new)):
        was, now = (
            {(one.part, one.name): (one.value, one.unit) for one in each[name].constants}
            for each in (old, new)
        )
        for key in sorted(set(was) | set(now)):
            if was.get(key) != now.get(key):
                shown = [
                    "none" if each is None else f"{each[0]:g} {each[1]}"
                    for each in (was.get(key), now.get(key))
                ]
                yield f"{name} {key[0]}.{key[1]}: {shown[0]} -> {shown[1]}"


def _alone(name: str, ids: Sequence[str]) -> list[str]:
    shown = [f"only in {name}: {each}" for each in ids[:LISTED]]
    more = len(ids) - LISTED
    return shown + ([f"only in {name}: {more} more"] if more > 0 else [])


def run(old: Path, new: Path) -> None:
    """`isthmus diff OLD NEW`."""
    print(compare(load(old), load(new), (str(old), str(new))), end="")
