# SPDX-License-Identifier: Apache-2.0
"""What all tests need of the process they run in."""

from __future__ import annotations

import signal

# A shell starts its background jobs with SIGINT ignored, and children inherit that: the programs that these
# tests end with Control-C would never hear it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
