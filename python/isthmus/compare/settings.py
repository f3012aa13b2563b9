# SPDX-License-Identifier: Apache-2.0
"""Constants of a platform that a command sets: `--set link.generation=3`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from isthmus.errors import UserError
from isthmus.platforms import FOLDER, Constant, Declared, Platform, declared, kind
from isthmus.results.constants import profile_part

if TYPE_CHECKING:
    from isthmus.results.constants import Constants

SOURCE = "set by --set"
FILE = "--set"
_LATENCIES = ("transmit_latency", "receive_latency")


def apply(platforms: Sequence[Platform], settings: Sequence[str]) -> list[Platform]:
    """The platforms with these constants. A setting counts for every platform that has its key; one that
    none has is an error. Raises `UserError`."""
    made = list(platforms)
    for setting in settings:
        key, value = _split(setting)
        known = {name: wanted for platform in made for name, wanted in _keys(platform)}
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else "./isthmus platforms and its files list the keys"
            raise UserError(f"set: unknown key {key[:64]}; {hint}")
        made = [_with(platform, key, value) for platform in made]
    return made


def warnings(platform: Platform) -> list[str]:
    """What a reader of this platform's figures should know: constants that do not fit together, or that no
    measurement of ours supports."""
    return [*_other_ports(platform), *_fast_clocks(platform)]


def _other_ports(platform: Platform) -> Iterator[str]:
    """A PCIe generation whose ports are another's."""
    link, endpoint = platform.groups.get("link"), platform.groups.get("endpoint")
    generation = getattr(link, "generation", None)
    if generation is None or endpoint is None:
        return
    if any(getattr(endpoint, name).file != generation.file for name in _LATENCIES):
        yield (
            f"{platform.name}: {generation.file} sets PCIe generation {generation.value:.0f} but keeps the "
            f"ports' latencies of {endpoint.transmit_latency.file}; set those of root and endpoint too"
        )


def _fast_clocks(platform: Platform) -> Iterator[str]:
    """Clocks from a user that the gateware has not reached on any device that it was placed on."""
    shipped = {file.name for file in FOLDER.glob("*.toml")}
    boards = sorted(set(kind(platform.bus).boards.values()))
    for name in declared(type(platform.fpga)):
        given: Constant = getattr(platform.fpga, name)
        if not name.endswith("clock") or given.unit != "MHz" or given.file in shipped:
            continue
        from isthmus.figures.reached import clock

        found = [(best, board) for board in boards if (best := clock(board, name)) is not None]
        if found and given.value > min(found)[0]:
            best, board = min(found)
            yield (
                f"{platform.name}: {given.file} sets fpga.{name} to {given.value:g} MHz, but {board} reached "
                f"{best:g} MHz at most (./isthmus timing {board})"
            )


def changed(given: Constants) -> list[str]:
    """The constants that `--set` gave, as `key=value`."""
    return [f"{c.part}.{c.name}={c.value:g}" for c in given.constants if c.source == SOURCE]


def _split(setting: str) -> tuple[str, float]:
    key, equals, text = setting.partition("=")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not equals or not key.strip() or not math.isfinite(value):
        raise UserError(f"set: {setting[:64]!r}; expected KEY=NUMBER, for example link.generation=3")
    return key.strip(), value


def _groups(platform: Platform) -> Iterator[tuple[str, Any]]:
    yield "fpga", platform.fpga
    yield from platform.groups.items()
    for profile, group in platform.profiles.items():
        yield profile_part(profile), group


def _keys(platform: Platform) -> Iterator[tuple[str, Declared]]:
    for part, group in _groups(platform):
        for name, wanted in declared(type(group)).items():
            yield f"{part}.{name}", wanted


def _with(platform: Platform, key: str, value: float) -> Platform:
    wanted = dict(_keys(platform)).get(key)
    if wanted is None:
        return platform
    if not wanted.low <= value <= wanted.high:
        unit = "" if wanted.unit == "1" else f" {wanted.unit}"
        raise UserError(f"set: {key}: {value:g}{unit} is outside {wanted.low:g} to {wanted.high:g}{unit}")
    if wanted.is_whole and value != int(value):
        raise UserError(f"set: {key}: {value:g}; expected a whole number")
    part, _, name = key.rpartition(".")
    constant = Constant(value, wanted.unit, SOURCE, FILE)

    def changed_in(groups: Mapping[Any, Any], prefix: str = "") -> dict[Any, Any]:
        return {
            each: replace(group, **{name: constant}) if prefix + each == part else group
            for each, group in groups.items()
        }

    if part == "fpga":
        return replace(platform, fpga=replace(platform.fpga, **{name: constant}))
    return replace(
        platform,
        groups=changed_in(platform.groups),
        profiles=changed_in(platform.profiles, profile_part("")),
    )
