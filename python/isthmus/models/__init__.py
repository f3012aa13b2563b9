# SPDX-License-Identifier: Apache-2.0
"""From SystemVerilog to a loadable model: sources, ports, shim, build, cache."""
