# SPDX-License-Identifier: Apache-2.0
"""What a torus link carries: payload of packets that always wait, by their size, channels and ways."""

from __future__ import annotations

import os
from typing import Any

import cocotb
from torus_link_tb import ALIGN_WORDS, DEPTH, MAX_WORDS, Bench, made

ENOUGH = bool(int(os.environ["TORUS_ENOUGH"]))
"""Whether a buffer of DEPTH covers the round trip."""
CYCLES = 4000


async def carried(bench: Bench, flits: int, channels: int, ways: int) -> float:
    """Flits a cycle and way, from full buffers on."""
    for end in range(ways):
        for vc in range(channels):
            for _ in range((2 * CYCLES + 8 * DEPTH) // flits // channels + 4):
                bench.packet(end, vc, flits)
    for give in (0.0, 1.0):
        for port in bench.ports:
            port.give = [give, give]
        for _ in range(4 * DEPTH + 200):
            await bench.step()
    before = [sum(port.flits) for port in bench.ports]
    for _ in range(CYCLES):
        await bench.step()
    moved = [sum(port.flits) - was for port, was in zip(bench.ports, before, strict=True)]
    assert all(any(port.queues) for port in bench.ports[:ways]), "a packet always waits"
    return sum(moved) / ways / CYCLES


@cocotb.test()
async def the_limit_is_framing_marks_and_credits(dut: Any) -> None:
    """n flits take n + 2 words for each chunk; an ALIGN in AlignWords + 1; credits of the other way."""
    for flits in (258, 6):
        words = flits + 2 * -(-flits // MAX_WORDS)
        limit = flits / words * ALIGN_WORDS / (ALIGN_WORDS + 1)
        for channels, ways in ((2, 1), (1, 1), (2, 2), (1, 2)):
            found = await carried(await made(dut), flits, channels, ways)
            payload = found * (flits - 2) / flits
            dut._log.info(
                f"depth {DEPTH}: {flits} flits, {channels} channels, {ways} ways: {found:.4f} of {limit:.4f},"
                f" payload {payload:.4f}, {27200 * payload / 8:.0f} MB/s"
            )
            assert found <= limit + 0.002
            if ENOUGH:
                # Each way a CREDIT in DEPTH / 4 flits of the other, and a CHECK now and then.
                share = 1 + (4 / DEPTH if ways == 2 else 0)
                assert found > 0.995 * limit / share, (flits, channels, ways)
