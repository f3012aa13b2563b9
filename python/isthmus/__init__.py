# SPDX-License-Identifier: Apache-2.0
"""isthmus: build, measure and compare the road between a host and its accelerator."""

__version__ = "0.1.0"
