# SPDX-License-Identifier: Apache-2.0
"""Makes `bench` and each family's cocotb modules importable, also in the simulator's process."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PATHS = [str(ROOT / "python"), str(HERE), *(str(p) for p in sorted(HERE.iterdir()) if p.is_dir())]
sys.path[:0] = PATHS
os.environ["PYTHONPATH"] = os.pathsep.join([*PATHS, os.environ.get("PYTHONPATH", "")])


@pytest.fixture(autouse=True)
def _from_the_cache(request: pytest.FixtureRequest) -> Iterator[None]:
    """Mark a test whose benches were all taken from the cache, so that it is counted as such."""
    import bench

    bench.outcomes.clear()
    yield
    if bench.outcomes and all(bench.outcomes):
        request.node.user_properties.append(("cached", "true"))
