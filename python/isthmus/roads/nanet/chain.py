# SPDX-License-Identifier: Apache-2.0
"""A trigger on rings from the wire to the interface's result pins: scenarios, and how they are measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.bench import runner as running
from isthmus.bench.session import Session
from isthmus.errors import UserError
from isthmus.platforms import Platform, Profile
from isthmus.results import Document
from isthmus.roads.nanet import bench
from isthmus.roads.nanet.bench import PLATFORM, Stream
from isthmus.roads.nanet.platform import TEN_GIGABIT_PORTS, is_ten_gigabit, top
from isthmus.trigger.times import SIZES, WORDS, Times, load

FORMATS = ("packed", "tel62")
FINDERS = ("isthmus", "almagest")
LINKS = 4
"""Of Gigabit Ethernet; of 10 Gigabit Ethernet the interface has two."""
PLACES = ("cpu", "fpga")
"""Where candidates for rings are searched: by the cores that fit them, or in the interface."""
SEARCH_MHZ = 250.0
"""Clock of the interface's search, if nothing else is asked for."""
MERGED = 18
"""Events that the interface merges into a datagram."""
SHARE = 2
"""Events of a group that a core takes, at the least, if nothing else is asked for."""
RELEASED = (1.0, 100.0)
"""Times from an event to its release, us, that the interface has."""
COMMODITY = 100_816
"""Datagrams of the path without the interface: as many as its published percentiles are of."""


@dataclass(frozen=True)
class Chain:
    """What comes in, and who works on it."""

    rate_per_s: float
    events: int = 8
    format: str = "packed"
    finder: str = "isthmus"
    cores: int = 16
    release_us: float = 100.0
    sample: str = "reference"
    groups: int = 2000
    seed: int = 1
    place: str = "cpu"
    search_mhz: float = SEARCH_MHZ
    share: int | None = None
    """Events of a group that a core takes; None: as few as are measured, from SHARE on."""
    noise: bool = True
    """Whether the times of the steps have in them what else the measured machine did meanwhile."""
    merge: str = "cpu"
    """Where the boards' fragments of an event come together: in the program, or in the interface."""

    @property
    def searched(self) -> bool:
        """Whether the interface searches."""
        return self.place == "fpga"

    @property
    def merged(self) -> bool:
        """Whether the interface merges."""
        return self.merge == "fpga"

    @property
    def released(self) -> bool:
        """Whether the interface itself releases the answers: its slots are 102 us."""
        return RELEASED[0] <= self.release_us <= RELEASED[1]

    @property
    def of_a_core(self) -> int:
        """Events that a core takes."""
        fits = (n for n in SIZES if n >= SHARE and self.events % n == 0 and self.events // n <= WORDS)
        return self.share or next(fits, self.events)


def scenario(
    platform: Platform, profile: Profile, chain: Chain, times: Times, model: Path, **changes: Any
) -> dict[str, Any]:
    """One run as the engine takes it. Raises `UserError`: times of this size or finder were not measured."""
    if chain.format not in FORMATS:
        raise UserError(f"format: {chain.format}; expected one of {', '.join(FORMATS)}")
    if chain.place not in PLACES:
        raise UserError(f"place: {chain.place}; expected one of {', '.join(PLACES)}")
    if chain.searched and chain.format != "packed":
        raise UserError(f"place: fpga needs whole events on a link; {chain.format} spreads each over all")
    if chain.searched and chain.finder != "isthmus":
        raise UserError(f"place: fpga finds the candidates of isthmus, not those of {chain.finder}")
    if chain.merge not in PLACES:
        raise UserError(f"merge: {chain.merge}; expected one of {', '.join(PLACES)}")
    if chain.merged and chain.format != "tel62":
        raise UserError(f"merge: fpga needs events spread over the links, tel62, not {chain.format}")
    if chain.merged and chain.events > MERGED:
        raise UserError(f"events: {chain.events}; the interface merges at most {MERGED} into a datagram")
    if chain.events % chain.of_a_core:
        raise UserError(f"share: {chain.share}; expected a divisor of the {chain.events} events of a group")
    kind = "fit" if chain.searched else "find"
    steps = {
        # Records are read where they are. How long that takes was not measured; taking packed events apart,
        # which also copies and checks them, takes longer.
        "merge": f"merge/{'packed' if chain.merged else chain.format}/{chain.events}",
        "handover": f"handover/{chain.events // chain.of_a_core}",
        "find": f"{kind}/{chain.finder}/{chain.of_a_core}",
    }
    ten = is_ten_gigabit(platform)
    if ten and (chain.searched or chain.merged or chain.format != "packed"):
        raise UserError(
            f"platform: the 10 Gigabit interface of {platform.name} neither searches nor merges, and has "
            f"{TEN_GIGABIT_PORTS} links for whole events; expected --layout packed, --place cpu, --merge cpu"
        )
    stream = Stream(ports=links(platform), iterations=chain.groups, seed=chain.seed)
    group = {
        "sample": chain.sample,
        "format": chain.format,
        "events": chain.events,
        "share": chain.of_a_core,
        "rate_per_s": chain.rate_per_s,
        "finder": chain.finder,
        "cores": chain.cores,
        "release_us": chain.release_us,
        "release": chain.released and not ten,
        "merge": chain.merged,
        "times": {
            "machine": f"{times.machine}, {times.level}, {times.date}",
            "noise": chain.noise,
            **{step: [list(pair) for pair in times.of(name, chain.noise)] for step, name in steps.items()},
        },
    }
    made = bench.scenario(platform, profile, stream, model)
    if chain.searched:
        # A buffer has the events' datagram and that of their candidates.
        group["search"] = {"clock_mhz": chain.search_mhz}
        made["workload"] |= {"datagrams": 2, "window": 2, "policy": "hold"}
    # A soft processor that finds each buffer is slower than four links: what it loses is its figure.
    made["workload"]["may_lose"] = profile == "as-published"
    return {**made, "chain": group, **changes}


def links(platform: Platform) -> int:
    """Links of the interface."""
    return TEN_GIGABIT_PORTS if is_ten_gigabit(platform) else LINKS


def parameters(platform: Platform, profile: Profile, chain: Chain) -> dict[str, int]:
    """Those of the gateware."""
    return {
        **bench.parameters(platform, profile, links(platform)),
        **({"Search": 1} if chain.searched else {}),
        **({"Release": 1} if chain.released and not is_ten_gigabit(platform) else {}),
        **({"Merge": 1} if chain.merged else {}),
    }


def commodity(platform: Platform, iterations: int = COMMODITY, seed: int = 1) -> dict[str, Any]:
    """The path without the interface. It needs no model."""
    stream = Stream(iterations=iterations, seed=seed)
    return {**bench.scenario(platform, "as-published", stream, Path("none")), "commodity": True}


def measure(
    chains: Sequence[tuple[Profile, Chain]],
    *,
    platform: Platform | str = PLATFORM,
    times: Path | None = None,
    baseline: bool = True,
    title: str = "trigger chain",
    runner: running.Runner | None = None,
    given: Path | None = None,
) -> Document:
    """Run the chains, and the path without the interface; nothing is printed but progress.

    baseline  False: without that path
    given     the model instead of those built
    """
    session = Session(title, runner=runner, given=given)
    used = session.platform(platform)
    measured = load(times)
    wanted = [
        scenario(used, profile, chain, measured, session.model(top(used), parameters(used, profile, chain)))
        for profile, chain in chains
    ]
    if baseline and "commodity" in used.groups:
        wanted.append(commodity(used))
    return session.document(session.run(wanted), chains[0][1].seed if chains else 0)
