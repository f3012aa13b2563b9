# SPDX-License-Identifier: Apache-2.0
"""What the SCU's factor decides, out of the simulator, and that the pages say so."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest
from isthmus import bootstrap, platforms
from isthmus.paths import ROOT
from isthmus.verify import published

BAND_US = {"pcie-scu3": (22.0, 24.7, 27.3, 30.0, 32.6), "gige-scu3": (38.7, 46.4, 54.1, 61.8, 69.5)}


def _listed(values: tuple[float, ...]) -> str:
    *first, last = (f"{value:.1f}" for value in values)
    return f"{', '.join(first)} and {last} us"


def test_pages_and_table_show_the_band_of_the_scus_factor() -> None:
    for page in ("honest-numbers", "etherbone-report"):
        text = " ".join((ROOT / "docs/explanation" / f"{page}.md").read_text().split())
        assert _listed(BAND_US["pcie-scu3"]) in text, page
    assert _listed(BAND_US["gige-scu3"]) in text
    note = next(row["note"] for row in published("etherbone") if row["id"] == "eb.tlu.pcie.scu2.time")
    assert ", ".join(f"{value:.1f}" for value in BAND_US["pcie-scu3"]) in note


def test_every_published_time_lies_inside_the_band_so_none_confirms_the_factor() -> None:
    rows = {row["id"]: row for row in published("etherbone")}
    for name, platform in (("pcie.scu2", "pcie-scu3"), ("pcie.scu3", "pcie-scu3"), ("gige", "gige-scu3")):
        row = rows[f"eb.tlu.{name}.time"]
        assert BAND_US[platform][0] < float(row["value"]) < BAND_US[platform][-1]
        assert row["kind"] == "input"


def test_both_of_the_scus_roads_have_one_factor(script: Callable[[str], ModuleType]) -> None:
    factor = script("scu_factor")
    for name, base in (("pcie-scu3", "pcie-t5810"), ("gige-scu3", "gige-switch")):
        theirs = factor.scaled(platforms.load(name), 1)
        plain = platforms.load(base)
        for profile in platforms.PROFILES:
            for key in platforms.declared(type(plain.profiles[profile])):
                ours, server = (getattr(p.profiles[profile], key) for p in (theirs, plain))
                assert ours.value == pytest.approx(server.value), (name, key)
        group = {"pcie-scu3": "words", "gige-scu3": "host"}[name]
        for key in platforms.declared(type(plain.groups[group])):
            ours, server = (getattr(p.groups[group], key) for p in (theirs, plain))
            assert ours.value == pytest.approx(server.value), (name, key)


@pytest.mark.slow
def test_factors_of_4_to_8_give_the_band(script: Callable[[str], ModuleType]) -> None:
    bootstrap.ensure_native()
    found = script("scu_factor").measure()
    assert {
        name: tuple(round(times[f], 1) for f in sorted(times)) for name, times in found.items()
    } == BAND_US
