# SPDX-License-Identifier: Apache-2.0
"""Reads platform files. A wrong key is named with its file and what is expected.

A platform is a file in `platforms/`, by its name, or any other TOML file, by its path.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from isthmus.errors import UserError, choose
from isthmus.paths import ROOT
from isthmus.platforms.model import PROFILES, Constant, Declared, Kind, Platform, Profile, declared
from isthmus.roads.table import having, resolve
from isthmus.storage import read_text

FOLDER = ROOT / "platforms"

_PLAIN = ("title", "base", "bus")
_KEYS = ("value", "unit", "source")

Group = TypeVar("Group")


class PlatformError(UserError):
    """A platform file that cannot be used; the text names file, key, and what is expected."""


def names(folder: Path = FOLDER) -> list[str]:
    """The platforms there are. A file that others build on says so by starting with an underscore."""
    return sorted(path.stem for path in folder.glob("*.toml") if not path.name.startswith("_"))


def kinds() -> Mapping[str, Kind]:
    """The kinds of platform of all roads, by name."""
    return {name: one for road in having("kinds") for name, one in resolve(road.kinds).items()}


def kind(name: str) -> Kind:
    """The kind `name`, which a platform's `bus` is. Raises `UserError` with the nearest name."""
    known = kinds()
    return known[choose("kind of platform", name, known)]


def titles(folder: Path = FOLDER) -> Mapping[str, str]:
    """The title of each platform by its name. Raises `PlatformError` for a file without one."""
    return {name: _title(_read(path := folder / f"{name}.toml", ()), path) for name in names(folder)}


def chosen(text: str, of: Collection[str], whose: str) -> list[Platform]:
    """Platforms as people write them: names or paths, with commas. Raises `PlatformError`.

    of     the kinds that fit
    whose  what needs them, for messages: a road or a bus
    """
    found: dict[str, Platform] = {}
    for each in text.split(","):
        one = load(each.strip())
        if one.bus not in of:
            fitting = ", ".join(name for name in names() if load(name).bus in of)
            raise PlatformError(f"platform: {each!r} is of kind {one.bus}; {whose} runs on {fitting}")
        if one.name in found:
            raise PlatformError(
                f"platform: {one.name!r} is given twice; results identify platforms by their names"
            )
        found[one.name] = one
    return list(found.values())


def load(name: str, folder: Path = FOLDER) -> Platform:
    """The platform `name` of `folder`, or in the file that `name` is the path of: one that ends in .toml.
    Raises `PlatformError` for an unknown name or a wrong file."""
    path = Path(name) if name.endswith(".toml") else folder / f"{name}.toml"
    if name.endswith(".toml"):
        if not path.is_file():
            raise PlatformError(f"platform: {name}: no such file; ./isthmus platforms lists those by name")
        name = path.stem
    elif not path.is_file() or name.startswith("_"):
        try:
            choose("platform", name, names(folder))
        except UserError as err:
            raise PlatformError(str(err)) from None
        raise PlatformError(f"{path}: cannot be read")
    data = _read(path, ())
    title = _title(data, path)
    profiles = data.pop("profile", ({}, path))[0]
    bus, where = data.pop("bus", (None, path))
    known = kinds()
    if bus not in known:
        raise PlatformError(f"{where.name}: bus: {bus!r} is not one of {', '.join(known)}")
    made = known[bus]
    fpga = _group(made.fpga, data, "fpga", path)
    for what, choice in made.one_of.items():
        if len([key for key in choice if key in data]) != 1:
            raise PlatformError(f"{path.name}: {what}: one of the tables {' and '.join(choice)} expected")
    free = made.optional.union(*made.one_of.values())
    groups = {
        key: _group(group, data, key, path)
        for key, group in made.groups.items()
        if key in data or key not in free
    }
    if data:
        _unknown(path, next(iter(data)), [*_PLAIN, "fpga", *made.groups, "profile"])
    return Platform(
        name=name,
        title=title,
        bus=bus,
        fpga=fpga,
        groups=groups,
        profiles=_profiles(made.profile, profiles, path),
        file=path.name,
    )


def _title(data: dict[str, Any], path: Path) -> str:
    title = data.pop("title", None)
    if not isinstance(title, tuple) or not isinstance(title[0], str):
        raise PlatformError(f"{path.name}: needs a title, a text of one line")
    return title[0]


def _read(path: Path, trail: tuple[Path, ...]) -> dict[str, Any]:
    """The file's keys over those of its base; each leaf becomes (value, its file)."""
    if path in trail:
        raise PlatformError(f"{path.name}: is its own base: {' -> '.join(p.name for p in trail)}")
    try:
        data = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as err:
        raise PlatformError(f"{path.name}: not TOML: {err}") from err
    base = data.pop("base", None)
    merged: dict[str, Any] = {}
    if base is not None:
        # A file from elsewhere may build on those of `platforms/`.
        found = [p for p in (path.parent / str(base), FOLDER / str(base)) if p.is_file()]
        # One of the same name elsewhere goes before the file itself, which could only be a mistake.
        below = next((p for p in found if p.resolve() != path.resolve()), next(iter(found), None))
        if below is None:
            raise PlatformError(f"{path.name}: base: there is no {base} beside it, nor in platforms/")
        merged = _read(below, (*trail, path))
    return _merge(merged, data, path, depth=0)


def _merge(below: dict[str, Any], above: Mapping[str, Any], path: Path, depth: int) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        if key == "profile" and isinstance(value, dict) and depth == 0:
            old = merged.get(key, ({}, path))[0]
            merged[key] = (_merge(old, value, path, depth + 1), path)
        elif isinstance(value, dict) and not set(value) & set(_KEYS):
            old = merged.get(key, ({}, path))[0]
            merged[key] = (_merge(old if isinstance(old, dict) else {}, value, path, depth + 1), path)
        else:
            merged[key] = (value, path)
    return merged


def _profiles(group: type, found: Mapping[str, Any], path: Path) -> Mapping[Profile, Any]:
    rest = dict(found)
    made: dict[Profile, Any] = {}
    for profile in PROFILES:
        made[profile] = _group(group, rest, profile, path, prefix="profile.")
    if rest:
        _unknown(path, f"profile.{next(iter(rest))}", [f"profile.{p}" for p in PROFILES])
    return made


def _group(group: type[Group], data: dict[str, Any], key: str, path: Path, prefix: str = "") -> Any:
    name = prefix + key
    if key not in data:
        raise PlatformError(f"{path.name}: lacks the table [{name}]")
    found, file = data.pop(key)
    if not isinstance(found, dict):
        raise PlatformError(f"{file.name}: {name}: must be a table of constants")
    rest = dict(found)
    values: dict[str, Constant] = {}
    known = declared(group)
    for each, wanted in known.items():
        if each not in rest:
            raise PlatformError(f"{file.name}: {name}: lacks {each} ({wanted.what}; in {wanted.unit})")
        value, where = rest.pop(each)
        values[each] = _constant(value, f"{name}.{each}", wanted, where)
    if rest:
        wrong, (_, where) = next(iter(rest.items()))
        _unknown(where, f"{name}.{wrong}", [f"{name}.{each}" for each in known])
    return group(**values)


def _constant(found: Any, key: str, wanted: Declared, path: Path) -> Constant:
    where = f"{path.name}: {key}"
    unit = wanted.unit
    right = f'{{ value = ..., unit = "{unit}", source = "..." }}'
    if not isinstance(found, dict):
        raise PlatformError(f"{where}: must be {right}, not {found!r}")
    for part in _KEYS:
        if part not in found:
            raise PlatformError(f"{where}: lacks {part}; expected {right}")
    for given in found:
        if given not in _KEYS:
            raise PlatformError(f"{where}: unknown key {given!r}; expected {right}")
    value, source = found["value"], found["source"]
    if found["unit"] != unit:
        raise PlatformError(f"{where}: unit is {found['unit']!r}; it must be given in {unit!r}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise PlatformError(f"{where}: value {value!r} is not a number")
    if not wanted.low <= value <= wanted.high:
        raise PlatformError(f"{where}: {value} {unit} is out of range: {wanted.low} to {wanted.high} {unit}")
    if not isinstance(source, str) or not source.strip():
        raise PlatformError(f"{where}: source is empty; expected where {value} {unit} comes from")
    return Constant(float(value), unit, source.strip(), path.name)


def _unknown(path: Path, key: str, known: list[str]) -> None:
    near = difflib.get_close_matches(key, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(known)}"
    raise PlatformError(f"{path.name}: unknown key {key}; {hint}")
