# SPDX-License-Identifier: Apache-2.0
"""Area and timing of the cores: synthesised figures against stored baselines and published peers."""
