# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: which scenarios make up a measurement, and running them."""
