# SPDX-License-Identifier: Apache-2.0
"""Platforms: each system's clocks, rates and delays, every constant with unit and source."""

from isthmus.platforms.load import PlatformError, load, names
from isthmus.platforms.model import (
    PROFILES,
    Constant,
    Declared,
    Fpga,
    Host,
    Library,
    Link,
    Nic,
    Platform,
    Profile,
    Switch,
    declared,
)

__all__ = [
    "PROFILES",
    "Constant",
    "Declared",
    "Fpga",
    "Host",
    "Library",
    "Link",
    "Nic",
    "Platform",
    "PlatformError",
    "Profile",
    "Switch",
    "declared",
    "load",
    "names",
]
