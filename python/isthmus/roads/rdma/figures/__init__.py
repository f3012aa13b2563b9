# SPDX-License-Identifier: Apache-2.0
"""Figures of the RDMA page."""
