# SPDX-License-Identifier: Apache-2.0
"""Where things are in a checkout."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""

STATE = ROOT / ".isthmus"
"""Everything that is built on demand; safe to delete."""

LOGS = STATE / "log"
RTL = ROOT / "rtl"
BENCHMARKS = ROOT / "benchmarks"
