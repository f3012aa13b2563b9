# SPDX-License-Identifier: Apache-2.0
"""A RICH trigger: events, finders of rings on the host's processor and on a GPU. It is no road: it has no
device in an FPGA, no platform and no transfers, and so its results have a schema of their own."""
