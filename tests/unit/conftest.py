# SPDX-License-Identifier: Apache-2.0
"""Makes `bench` and each family's cocotb modules importable, also in the simulator's process."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PATHS = [str(ROOT / "python"), str(HERE), *(str(p) for p in sorted(HERE.iterdir()) if p.is_dir())]
sys.path[:0] = PATHS
os.environ["PYTHONPATH"] = os.pathsep.join([*PATHS, os.environ.get("PYTHONPATH", "")])
