# SPDX-License-Identifier: Apache-2.0
"""Makes the package and the helpers beside each test file importable."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(HERE.parents[1] / "python"), os.environ.get("PYTHONPATH", "")]
)
