# SPDX-License-Identifier: Apache-2.0
"""From SystemVerilog to a loadable model: sources, ports, bundles, shim, build, cache.

`build(ModelSpec(core, top, parameters, trace), progress)` and `place` are all that other rooms need.
"""

from isthmus.models.build import ModelSpec, Progress, Step, build, build_many, place

__all__ = ["ModelSpec", "Progress", "Step", "build", "build_many", "place"]
