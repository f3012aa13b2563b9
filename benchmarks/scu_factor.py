# SPDX-License-Identifier: Apache-2.0
"""The SCU's latch unit cycle, were its processor 4 to 8 times slower than a server's.

    benchmarks/scu_factor.py                over PCI Express and over Gigabit Ethernet, profile as-published

Six is an assumption (platforms/_scu.toml). The published numbers are 27.4 us (SCU2) and 29.0 us (SCU3) over
PCI Express, 50.4 us over Gigabit Ethernet; each lies inside the band, so none of them confirms the factor.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

FACTORS = (4, 5, 6, 7, 8)
TAKEN = 6
"""The factor of the platform files."""
MARK = f"{TAKEN} times "
"""How the source of each constant that has it begins."""
SYSTEMS = ("pcie-scu3", "gige-scu3")
ITERATIONS = 90


def scaled(platform: Any, factor: int) -> Any:
    """The platform with another factor."""

    def group(found: Any) -> Any:
        values = {field.name: getattr(found, field.name) for field in fields(found)}
        changed = {
            name: replace(constant, value=constant.value * factor / TAKEN)
            for name, constant in values.items()
            if constant.source.startswith(MARK)
        }
        return replace(found, **changed)

    def every(groups: Mapping[str, Any]) -> dict[str, Any]:
        return {name: group(found) for name, found in groups.items()}

    return replace(platform, groups=every(platform.groups), profiles=every(platform.profiles))


def measure(
    systems: Sequence[str] = SYSTEMS, factors: Sequence[int] = FACTORS
) -> dict[str, dict[int, float]]:
    """Mean time of a cycle of 3 reads and 1 write in us, by platform and factor."""
    from isthmus import platforms
    from isthmus.bench import runner as running
    from isthmus.roads.etherbone import scenario

    found: dict[str, dict[int, float]] = {}
    for name in systems:
        platform = platforms.load(name)
        model = running.model(platforms.kind(platform.bus).boards["as-published"])
        for factor in factors:
            made = scenario.scenario(
                scaled(platform, factor), "as-published", model, scenario.tlu(ITERATIONS), 1
            )
            (result,) = running.run(made)
            found.setdefault(name, {})[factor] = float(result["latency_ps"]["avg"]) / 1e6
    return found


def main() -> int:
    from isthmus import bootstrap

    bootstrap.ensure_native()
    print("#platform   " + "".join(f"{f'x {factor}':>8}" for factor in FACTORS) + "  us")
    for name, times in measure().items():
        print(f"{name:<12}" + "".join(f"{times[factor]:>8.1f}" for factor in FACTORS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
