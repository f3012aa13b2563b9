# SPDX-License-Identifier: Apache-2.0
"""Wishbone B4 pipelined masters and slaves for benches, and the rules of the bus as assertions.

Own models because the published cocotb ones wait for each answer before the next operation, which
hides everything a pipelined bus can get wrong; one of them still drives the slaves, in
wb_slaves_tb.py, as a check from outside.

A bench's cycle: at the falling edge every agent drives; when the combinational paths have settled,
every agent samples what the rising edge will see.
"""

import random
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

REQUEST = {"cyc": 1, "stb": 1, "we": 1, "adr": 32, "sel": 4, "dat": 32}
RESPONSE = {"stall": 1, "ack": 1, "err": 1, "dat": 32}


class Agent(Protocol):
    def drive(self) -> None: ...
    def sample(self, cycle: int) -> None: ...


class Ports:
    """`count` Wishbone ports whose signals are packed side by side in vectors ``<prefix>_<signal>``."""

    def __init__(self, dut: Any, prefix: str, count: int = 1, *, slave_side: bool = False) -> None:
        # On the slave side the device drives the request and the bench the response.
        out_map, in_map = (REQUEST, RESPONSE) if slave_side else (RESPONSE, REQUEST)
        self._out = {n: (getattr(dut, f"{prefix}_{n}_o"), w) for n, w in out_map.items()}
        self._in = {n: (getattr(dut, f"{prefix}_{n}_i"), w) for n, w in in_map.items()}
        self._driven = {n: [0] * count for n in in_map}
        self._seen: dict[str, int] = {}
        self.flush()

    def put(self, index: int, **signals: int) -> None:
        for name, value in signals.items():
            self._driven[name][index] = int(value)

    def flush(self) -> None:
        for name, (handle, width) in self._in.items():
            handle.value = sum(v << i * width for i, v in enumerate(self._driven[name]))

    def sample(self) -> None:
        self._seen = {n: int(handle.value) for n, (handle, _) in self._out.items()}

    def get(self, index: int, name: str) -> int:
        width = self._out[name][1]
        return self._seen[name] >> index * width & ((1 << width) - 1)

    def given(self, index: int, name: str) -> int:
        return self._driven[name][index]


class Bench:
    """Clock, reset, and the cycle in which all agents take part."""

    def __init__(self, dut: Any) -> None:
        self.dut = dut
        self.ports: list[Ports] = []
        self.agents: list[Agent] = []
        self.cycle = 0

    def add_ports(self, prefix: str, count: int = 1, *, slave_side: bool = False) -> Ports:
        ports = Ports(self.dut, prefix, count, slave_side=slave_side)
        self.ports.append(ports)
        return ports

    async def reset(self) -> None:
        self.dut.rst_ni.value = 0
        cocotb.start_soon(Clock(self.dut.clk_i, 8, "ns").start())
        for _ in range(3):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1

    async def step(self, before_sample: Callable[[], None] | None = None) -> None:
        await FallingEdge(self.dut.clk_i)
        for agent in self.agents:
            agent.drive()
        if before_sample is not None:
            before_sample()
        for ports in self.ports:
            ports.flush()
        await ReadOnly()
        for ports in self.ports:
            ports.sample()
        for agent in self.agents:
            agent.sample(self.cycle)
        self.cycle += 1

    async def until(self, done: Callable[[], bool], limit: int) -> None:
        """Step until `done`; fails after `limit` cycles, so that a hang is a failure."""
        for _ in range(limit):
            if done():
                return
            await self.step()
        raise AssertionError(f"not done after {limit} cycles")


@dataclass
class Op:
    """One bus operation, and what came of it: cycles of the offer, the taking and the answer."""

    adr: int
    dat: int = 0
    we: bool = False
    sel: int = 0xF
    offered: int = -1
    taken: int = -1
    answered: int = -1
    ok: bool | None = None
    value: int = 0


@dataclass
class Master:
    """Plays lists of operations, each list one bus cycle. Checks that replies keep the rules.

    A reply in the first cycle without cyc is counted in `stray`; a later one fails.
    """

    ports: Ports
    index: int = 0
    gap: float = 0.0
    abort: float = 0.0
    todo: deque[list[Op]] = field(default_factory=deque)
    done: list[Op] = field(default_factory=list)
    aborted: list[Op] = field(default_factory=list)
    owed: deque[Op] = field(default_factory=deque)
    offer: Op | None = None
    left: deque[Op] = field(default_factory=deque)
    in_cycle: bool = False
    stray: int = 0
    low: int = 0

    def play(self, cycles: Iterable[Sequence[Op]]) -> None:
        self.todo.extend(list(c) for c in cycles)

    @property
    def busy(self) -> bool:
        return bool(self.todo or self.left or self.owed or self.offer or self.in_cycle)

    def drive(self) -> None:
        if self.in_cycle and not (self.left or self.owed or self.offer):
            self.in_cycle = False
        elif self.in_cycle and random.random() < self.abort:
            self.aborted += [*self.owed, *([self.offer] if self.offer else []), *self.left]
            self.owed.clear()
            self.left.clear()
            self.offer = None
            self.in_cycle = False
        elif not self.in_cycle and self.todo and random.random() >= self.gap:
            self.left.extend(self.todo.popleft())
            self.in_cycle = True
        if self.in_cycle and self.offer is None and self.left and random.random() >= self.gap:
            self.offer = self.left.popleft()
        op = self.offer
        self.ports.put(self.index, cyc=self.in_cycle, stb=op is not None)
        if op is None:
            self.ports.put(self.index, we=random.getrandbits(1), adr=random.getrandbits(32))
        else:
            self.ports.put(self.index, we=op.we, adr=op.adr, sel=op.sel, dat=op.dat)

    def sample(self, cycle: int) -> None:
        get = self.ports.get
        ack, err = get(self.index, "ack"), get(self.index, "err")
        assert not (ack and err), "ack and err together"
        if ack or err:
            if self.in_cycle:
                assert self.owed, "a reply to an operation that was never taken"
                op = self.owed.popleft()
                op.answered, op.ok, op.value = cycle, bool(ack), get(self.index, "dat")
                self.done.append(op)
            else:
                assert self.low == 0, "a reply long after the cycle ended"
                self.stray += 1
        self.low = 0 if self.in_cycle else self.low + 1
        if self.offer is not None:
            if self.offer.offered < 0:
                self.offer.offered = cycle
            if not get(self.index, "stall"):
                self.offer.taken = cycle
                self.owed.append(self.offer)
                self.offer = None


@dataclass
class Slave:
    """Memory of 32-bit words with random stalls and latencies; unwritten words read as their address.

    `fails` says which addresses answer err; `mute` makes it take and never answer, `stuck` makes it
    never take, `rogue` is the chance of an answer nobody asked for.
    """

    ports: Ports
    index: int = 0
    stall: float = 0.0
    latency: tuple[int, int] = (1, 1)
    fails: Callable[[int], bool] = lambda adr: False
    mute: bool = False
    stuck: bool = False
    rogue: float = 0.0
    memory: dict[int, int] = field(default_factory=dict)
    queue: deque[tuple[int, bool, int]] = field(default_factory=deque)
    taken: int = 0
    now: int = 0
    answering: bool = False
    stalling: bool = False

    def drive(self) -> None:
        self.answering = bool(self.queue) and self.queue[0][0] <= self.now and not self.mute
        self.stalling = self.stuck or random.random() < self.stall
        ack = err = 0
        value = random.getrandbits(32)
        if self.answering:
            _, ok, value = self.queue[0]
            ack, err = int(ok), int(not ok)
        elif random.random() < self.rogue:
            ack = random.getrandbits(1)
            err = 1 - ack
        self.ports.put(self.index, stall=self.stalling, ack=ack, err=err, dat=value)

    def sample(self, cycle: int) -> None:
        get = self.ports.get
        if self.answering:
            self.queue.popleft()
        if not get(self.index, "cyc"):
            assert not get(self.index, "stb"), "stb without cyc"
            self.queue.clear()
        elif get(self.index, "stb") and not self.stalling:
            self.taken += 1
            due = max(
                cycle + random.randint(*self.latency),
                self.queue[-1][0] + 1 if self.queue else 0,
            )
            self.queue.append((due, *self._execute()))
        self.now = cycle + 1

    def _execute(self) -> tuple[bool, int]:
        get = self.ports.get
        adr = get(self.index, "adr")
        if self.fails(adr):
            return False, 0
        word = self.memory.get(adr, adr ^ 0x5A5A_0000)
        if get(self.index, "we"):
            mask = sum(0xFF << 8 * lane for lane in range(4) if get(self.index, "sel") >> lane & 1)
            self.memory[adr] = word & ~mask | get(self.index, "dat") & mask
            return True, random.getrandbits(32)
        return True, word
