# SPDX-License-Identifier: Apache-2.0
"""Messages of an agent and of a home at random through one circuit, and received ones to both: each whole,
once, to the right one, whatever waits."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge, Timer
from isthmus.coherence import load

MESSAGES = load().messages
CHUNK, SHOWN = 9, 8


def messages(rng: random.Random, circuit: int, sender: str, count: int) -> list[list[int]]:
    """Random messages of a sender on a circuit, as words."""
    own = [m for m in MESSAGES if m.circuit == circuit and m.sender == sender]
    made = []
    for _ in range(count):
        kind = rng.choice(own)
        made.append(
            [kind.opcode << 59 | rng.getrandbits(59), *(rng.getrandbits(64) for _ in range(kind.words - 1))]
        )
    return made


def packed(words: list[int]) -> int:
    return sum(word << (64 * at) for at, word in enumerate(words))


async def start(dut: Any, high: int) -> None:

    for pin in (
        "tx_valid_i",
        "tx_count_i",
        "tx_words_i",
        "out_ready_i",
        "rx_words_i",
        "rx_avail_i",
        "rx_pop_i",
    ):
        getattr(dut, pin).value = 0
    dut.high_i.value = high
    dut.rst_ni.value = 0
    cocotb.start_soon(Clock(dut.clk_i, 10, unit="ns").start())
    await RisingEdge(dut.clk_i)
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1


async def send(dut: Any, high: int, busy: float) -> None:
    """What leaves is whole messages of each of the two, in its order, and both have their turn."""
    rng = random.Random(11 + high)
    await start(dut, high)
    circuit = 10 if high else 4
    given = [messages(rng, circuit, sender, 60) for sender in ("remote", "home")]
    chunks: list[deque[list[int]]] = []
    for mine in given:
        parts = [one[at : at + CHUNK] for one in mine for at in range(0, len(one), CHUNK)]
        chunks.append(deque(parts))
    left: list[int] = []
    offered = [False, False]
    order = []
    for _ in range(4_000):
        for a in range(2):
            offered[a] = bool(chunks[a]) and (offered[a] or rng.random() < busy)
        dut.tx_valid_i.value = offered[0] | offered[1] << 1
        heads = [chunks[a][0] if offered[a] else [] for a in range(2)]
        dut.tx_count_i.value = len(heads[0]) | len(heads[1]) << 4
        dut.tx_words_i.value = packed(heads[0]) | packed(heads[1]) << (64 * CHUNK)
        dut.out_ready_i.value = rng.random() < busy
        await RisingEdge(dut.clk_i)
        taken = int(dut.tx_ready_o.value) & int(dut.tx_valid_i.value)
        went = int(dut.out_valid_o.value) and int(dut.out_ready_i.value)
        assert bool(taken) == bool(went)
        assert taken in (0, 1, 2), "a chunk of each in one clock"
        if busy == 1:
            assert went or not any(chunks)
        if taken:
            a = taken >> 1
            head = chunks[a].popleft()
            assert int(dut.out_count_o.value) == len(head)
            assert int(dut.out_words_o.value) & ((1 << (64 * len(head))) - 1) == packed(head)
            if not left:
                order.append(a)
                left = list(given[a].pop(0))
            assert order[-1] == a, "a message in the middle of another"
            assert left[: len(head)] == head
            left = left[len(head) :]
            offered[a] = False
        await FallingEdge(dut.clk_i)
        if not any(chunks):
            break
    assert not any(chunks)
    assert not left
    if busy == 1:
        assert order[:40] == [0, 1] * 20 or order[:40] == [1, 0] * 20


async def receive(dut: Any, high: int) -> None:
    """Each message is shown to one alone and no word of another's with it; what begins none is dropped."""
    rng = random.Random(23 + high)
    await start(dut, high)
    circuit = 10 if high else 4
    pools = [
        messages(rng, circuit, sender, 80) for sender in ("home", "remote")
    ]  # for the agent, for the home
    wanted: list[list[int]] = [[], []]
    stream: deque[int] = deque()
    unknown = 0
    codes = {m.opcode for m in MESSAGES if m.circuit == circuit}
    while any(pools):
        if rng.random() < 0.1:
            stream.append(rng.choice(sorted(set(range(32)) - codes)) << 59 | rng.getrandbits(59))
            unknown += 1
            continue
        to = rng.choice([a for a in range(2) if pools[a]])
        one = pools[to].pop()
        wanted[to] += one
        stream.extend(one)
    came: list[list[int]] = [[], []]
    strays = arrived = 0
    for _ in range(20_000):
        arrived = min(len(stream), max(arrived, rng.randrange(SHOWN + 1)))
        shown = list(stream)[:arrived]
        dut.rx_words_i.value = packed(shown)
        dut.rx_avail_i.value = len(shown)
        dut.rx_pop_i.value = 0
        # The two see words in the same clock, and take them or not.

        await Timer(1, unit="ns")
        seen = int(dut.rx_avail_o.value)
        each = [seen & 0xF, seen >> 4]
        assert not all(each), "a message that both see"
        pops = [rng.randrange(count + 1) for count in each]
        dut.rx_pop_i.value = pops[0] | pops[1] << 4
        await ReadOnly()
        pop, stray = int(dut.rx_pop_o.value), int(dut.stray_o.value)
        strays += stray
        assert pop == (1 if stray else sum(pops))
        for a in range(2):
            came[a] += [] if stray else shown[: pops[a]]
        for _ in range(pop):
            stream.popleft()
        arrived -= pop
        await FallingEdge(dut.clk_i)
        if not stream:
            break
    assert not stream
    assert came == wanted
    assert strays == unknown > 5


@cocotb.test()
async def messages_leave_whole_and_in_turn(dut: Any) -> None:
    for high in (0, 1):
        for busy in (1, 0.6):
            await send(dut, high, busy)


@cocotb.test()
async def messages_come_to_one_alone(dut: Any) -> None:
    for high in (0, 1):
        await receive(dut, high)
