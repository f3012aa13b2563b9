# SPDX-License-Identifier: Apache-2.0
"""The scripts of ``benchmarks/`` as modules, by their names."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.fixture(scope="session")
def script() -> Callable[[str], ModuleType]:
    # Where a script finds its neighbours when Python starts it.
    sys.path.append(str(BENCHMARKS))

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        # Dataclasses look their module up here.
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module

    return load
