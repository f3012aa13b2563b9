# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them, always with their unit. MB is 10^6 bytes, MiB 2^20 bytes."""

from __future__ import annotations


def digits(value: float, significant: int = 3) -> str:
    """A plain decimal number with the given number of significant digits, with no exponent."""
    if value == 0:
        return "0"
    from math import floor, log10

    decimals = significant - 1 - floor(log10(abs(value)))
    rounded = round(value, decimals)
    return f"{rounded:,.{max(decimals, 0)}f}"


def time(ps: float) -> str:
    """Picoseconds in the unit a person would choose."""
    for limit, divisor, unit in ((1e3, 1.0, "ps"), (1e6, 1e3, "ns"), (1e9, 1e6, "us"), (1e12, 1e9, "ms")):
        # A value that would round up to 1 of the next unit is shown in that unit.
        if abs(ps) < limit * 0.9995:
            return f"{digits(ps / divisor)} {unit}"
    return f"{digits(ps / 1e12)} s"


def rate(per_second: float, unit: str) -> str:
    """A rate with a decimal prefix: 727 Mbit/s, 19.8 kHz."""
    for limit, divisor, prefix in ((1e3, 1.0, ""), (1e6, 1e3, "k"), (1e9, 1e6, "M")):
        if abs(per_second) < limit * 0.9995:
            return f"{digits(per_second / divisor)} {prefix}{unit}"
    return f"{digits(per_second / 1e9)} G{unit}"


def times(ratio: float) -> str:
    return f"{digits(ratio, 2 if ratio < 10 else 3)} times"


def percent(share: float) -> str:
    if share and abs(share) < 0.01:
        return f"{digits(100 * share, 2)} %"
    return f"{100 * share:.0f} %"
