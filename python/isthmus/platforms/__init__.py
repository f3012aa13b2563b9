# SPDX-License-Identifier: Apache-2.0
"""Platforms: each system's clocks, rates and delays, every constant with unit and source."""

from isthmus.platforms.entries import entries
from isthmus.platforms.load import FOLDER, PlatformError, chosen, kind, kinds, load, names, titles
from isthmus.platforms.model import PROFILES, Constant, Declared, Kind, Platform, Profile, declared

__all__ = [
    "FOLDER",
    "PROFILES",
    "Constant",
    "Declared",
    "Kind",
    "Platform",
    "PlatformError",
    "Profile",
    "chosen",
    "declared",
    "entries",
    "kind",
    "kinds",
    "load",
    "names",
    "titles",
]
