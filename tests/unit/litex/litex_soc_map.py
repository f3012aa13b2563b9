# SPDX-License-Identifier: Apache-2.0
"""What the SoC has, for the SoC and for its bench."""

RAM, RAM_BYTES = 0x1000_0000, 0x1000
IDENT = "an SoC of LiteX behind isthmus"
