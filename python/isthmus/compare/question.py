# SPDX-License-Identifier: Apache-2.0
"""Which roads carry a question, by which drivers, on which platforms: what will be measured.

A road takes part by a module that its entry in the table of roads names as `question`; it has what
`RoadQuestion` lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from isthmus.errors import UserError, choose
from isthmus.platforms import Profile
from isthmus.roads.table import having, resolve
from isthmus.workload import bytes_text, size_text

if TYPE_CHECKING:
    from isthmus.bench.session import Models
    from isthmus.platforms import Platform
    from isthmus.results.constants import Constants
    from isthmus.workload import Question


@dataclass(frozen=True)
class Driver:
    """A way in which a program uses a road. `profile`: the design that has it.

    `named_only`: measured only where the user names it. It is a state that a program may meet, such as a line
    that is in the cache already, and none that it can choose.
    """

    name: str
    profile: Profile
    named_only: bool = False


def pcie(given: Constants) -> str:
    """The PCI Express link of a platform, in a few characters."""
    generation, lanes = given.value("link", "generation"), given.value("link", "lanes")
    return f"Gen{generation or 0:.0f} x{lanes or 0:.0f}"


def of_profile(name: str, profile: str) -> str:
    """The name of a driver that a document's design has as well as ours."""
    return f"{name}, paper" if profile == "as-published" else name


class RoadQuestion(Protocol):
    """What a road's question module has."""

    @property
    def DEFAULTS(self) -> tuple[str, ...]: ...  # noqa: N802

    def carries(self, platform: Platform) -> Mapping[str, tuple[Driver, ...]]: ...

    def refusal(self, question: Question, driver: Driver, size: int) -> str: ...

    def interconnect(self, given: Constants, driver: str) -> str: ...

    def family(self, given: Constants, driver: str) -> str: ...

    def driver_text(self, driver: str, profile: str, given: Constants | None) -> str: ...

    def scenarios(
        self,
        question: Question,
        platform: Platform,
        drivers: Sequence[tuple[Driver, int]],
        models: Models,
    ) -> list[dict[str, Any]]: ...


@dataclass(frozen=True)
class Run:
    """One operation on one platform: the drivers and sizes that are measured."""

    road: RoadQuestion
    question: Question
    platform: Platform
    points: tuple[tuple[Driver, int], ...]

    def scenarios(self, models: Models) -> list[dict[str, Any]]:
        return self.road.scenarios(self.question, self.platform, self.points, models)


@dataclass(frozen=True)
class Refused:
    """A size at which a way that has the operation is not measured, and why."""

    operation: str
    size: int
    why: str


@dataclass(frozen=True)
class Plan:
    """All runs of a comparison, and in words what is left out."""

    runs: tuple[Run, ...]
    left_out: tuple[str, ...] = ()
    refused: tuple[Refused, ...] = ()

    @property
    def platforms(self) -> list[Platform]:
        return list({run.platform.name: run.platform for run in self.runs}.values())


def roads() -> Iterator[RoadQuestion]:
    """The question modules of all roads that have one."""
    for road in having("question"):
        yield of_road(road.name)


def of_road(name: str) -> RoadQuestion:
    """The question module of a road."""
    from isthmus.roads.table import road

    return cast("RoadQuestion", resolve(road(name).question))


def defaults() -> list[str]:
    """The platforms that are measured where none is named."""
    return [name for road in roads() for name in road.DEFAULTS]


def plan(
    questions: Sequence[Question],
    platforms: Sequence[Platform],
    *,
    driver: str | None = None,
    named: bool = False,
    baselines: bool = True,
) -> Plan:
    """What is measured for `questions` on `platforms`. Raises `UserError` where nothing can be.

    driver     this one alone
    named      the user named the platforms: one that does not carry the operation is an error
    baselines  also a published design with the same driver as ours
    """
    if driver is not None:
        offered = (d for r in roads() for p in platforms for some in r.carries(p).values() for d in some)
        choose("driver", driver, sorted({each.name for each in offered}))
    runs: list[Run] = []
    refused: dict[str, str] = {}
    left_out: dict[str, list[int]] = {}
    without: list[Refused] = []
    unable = False
    for platform in platforms:
        found: list[Run] = []
        why: list[str] = []
        too_much = False
        for road in roads():
            carried = road.carries(platform)
            for question in questions if carried else ():
                points = []
                drivers = carried.get(question.operation, ())
                for each in _chosen(drivers, driver, baselines):
                    for size in question.sizes:
                        refusal = road.refusal(question, each, size)
                        if refusal:
                            too_much = True
                            why.append(f"{bytes_text(size)}: {refusal}")
                            left_out.setdefault(refusal, []).append(size)
                            without.append(Refused(question.operation, size, refusal))
                        else:
                            points.append((each, size))
                if points:
                    found.append(Run(road, question, platform, tuple(points)))
                elif not drivers:
                    why.append(f"{platform.name} carries {' and '.join(carried)}, not {question.operation}")
                elif not why and driver not in _offered(platform, question.operation):
                    names = ", ".join(dict.fromkeys(d.name for d in drivers))
                    other = f"not {driver}" if driver else f"where --driver {drivers[0].name} asks for it"
                    why.append(f"{platform.name} has the driver {names} for {question.operation}, {other}")
        runs += found
        if not found:
            refused[platform.name] = why[0] if why else f"{platform.name} takes no part in compare"
            # Another platform may carry that size; none has an operation that it does not know.
            unable |= not too_much
    if not runs or (named and unable):
        # A size that is refused by a road with this operation says more than a road without it.
        sizes = () if named else (f"{bytes_text(some[0])}: {text}" for text, some in left_out.items())
        raise UserError(next(iter((*sizes, *refused.values(), "no platform is given"))))
    said = (
        f"not measured at {', '.join(size_text(size) for size in dict.fromkeys(some))}: {text}"
        for text, some in left_out.items()
    )
    return Plan(tuple(runs), tuple(said) if baselines or named else (), tuple(dict.fromkeys(without)))


def _offered(platform: Platform, operation: str) -> set[str]:
    """The drivers that any road has for it."""
    return {each.name for road in roads() for each in road.carries(platform).get(operation, ())}


def _chosen(drivers: Sequence[Driver], wanted: str | None, baselines: bool) -> list[Driver]:
    """The drivers asked for; without baselines one design for each."""
    found = [d for d in drivers if wanted == d.name or (wanted is None and not d.named_only)]
    if baselines:
        return found
    first: dict[str, Driver] = {}
    for each in found:
        first.setdefault(each.name, each)
    return list(first.values())
