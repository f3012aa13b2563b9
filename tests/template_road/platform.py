# SPDX-License-Identifier: Apache-2.0
"""The constants of a platform with a mailbox; a file in platforms/ gives their values and sources."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from isthmus.platforms.model import PROFILES, Constant, Declared, Kind


@dataclass(frozen=True)
class MailboxFpga:
    """The FPGA's side."""

    clock: Annotated[Constant, Declared("MHz", 1, 1000, "clock of the mailbox")]


@dataclass(frozen=True)
class MailboxHost:
    """The host's side."""

    load: Annotated[Constant, Declared("ns", 0, 100_000, "load of one word")]


@dataclass(frozen=True)
class MailboxProfile:
    """What the profiles differ in."""

    wait: Annotated[Constant, Declared("cycle", 1, 1000, "clocks from a load to its answer")]


KINDS: Mapping[str, Kind] = {
    "mailbox": Kind(
        {"host": MailboxHost},
        boards=dict.fromkeys(PROFILES, "mailbox"),
        fpga=MailboxFpga,
        profile=MailboxProfile,
        profile_of="mailbox",
    )
}
