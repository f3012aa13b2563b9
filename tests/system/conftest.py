# SPDX-License-Identifier: Apache-2.0
"""Whole systems: the built device, the simulated world around it, and the host programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from isthmus import bootstrap, platforms
from isthmus.models.build import ModelSpec, build
from isthmus.roads.etherbone import scenario

CORE = "isthmus:board:gige_etherbone"


@pytest.fixture(scope="session", autouse=True)
def _native() -> None:
    bootstrap.ensure_native()


@pytest.fixture(scope="session")
def gige() -> Path:
    return build(ModelSpec(CORE, "gige_etherbone"))


@pytest.fixture(scope="session")
def gige_silent() -> Path:
    """The device with a slave that never answers, and a bus time-out of 1000 clocks."""
    return build(ModelSpec(CORE, "gige_etherbone", {"SilentSlave": True, "Timeout": 1000}))


@pytest.fixture
def scenario_of(gige: Path) -> Any:
    """A scenario of the direct platform; further keys replace those of the document."""

    def make(workload: dict[str, Any], **changes: Any) -> dict[str, Any]:
        platform = platforms.load(changes.pop("platform", "gige-direct"))
        made = scenario.scenario(platform, "isthmus", gige, workload, 1)
        made["device"].update(changes.pop("device", {}))
        made.update(changes)
        return made

    return make
