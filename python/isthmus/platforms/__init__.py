# SPDX-License-Identifier: Apache-2.0
"""Platforms: each system's clocks, rates and delays, every constant with unit and source."""

from isthmus.platforms.load import PlatformError, load, names
from isthmus.platforms.model import (
    BUSES,
    PROFILES,
    Constant,
    Declared,
    Fpga,
    Library,
    Platform,
    Profile,
    RdmaDesign,
    declared,
)

__all__ = [
    "BUSES",
    "PROFILES",
    "Constant",
    "Declared",
    "Fpga",
    "Library",
    "Platform",
    "PlatformError",
    "Profile",
    "RdmaDesign",
    "declared",
    "load",
    "names",
]
