# SPDX-License-Identifier: Apache-2.0
"""Bounds the processor time of the simulation that imports it: one without an end is stopped, with SIGXCPU.

Processor time and not time of day, so that other work on the machine stops none.
"""

import os
import resource

LIMIT = "ISTHMUS_BENCH_CPU_S"
"""Environment variable: seconds."""

if LIMIT in os.environ:
    _seconds = int(os.environ[LIMIT])
    resource.setrlimit(resource.RLIMIT_CPU, (_seconds, _seconds + 1))
