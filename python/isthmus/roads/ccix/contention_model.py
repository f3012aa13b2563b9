# SPDX-License-Identifier: Apache-2.0
"""The analytic model of lines to which the FPGA and the host store at random at the same time.

It follows, step by step in time, how many lines and stores are in each state on the mean. Nothing is drawn
at random and nothing is fitted: it has the four times of a store measured alone, the lines, and the stores
in flight.

A line is at the host; on its way to the FPGA, the first half of the round trip as a request, which the home
does not know yet; at the FPGA, for another half of a round trip without the home knowing that it has come;
on its way to the host, the first half of that time still at the FPGA. A random store meets each state as
often as lines are in it.

A store of the FPGA that meets a line under way is done when that comes, with all others that wait for it.
While one waits, one that misses is held: it asks for its line when any line comes, or none waits any more.
The host's stores wait for nothing but their own lines.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cache

PARTS = 6
"""Steps of a store that hits in the FPGA's cache, which takes six clocks; it decides a store each clock."""
LEAST, REST = 1e-12, 0.01
"""Probabilities that do not count; part of a store that is not waited for."""


@dataclass(frozen=True)
class Terms:
    """Times of one store, in ns, measured one at a time on lines that no one else uses."""

    fpga_local: float
    fpga_remote: float
    host_local: float
    host_remote: float


@dataclass(frozen=True)
class Predicted:
    """The means of both sides in ns, lines that came to each, stores of the FPGA that met one."""

    fpga: float
    host: float
    to_fpga: float
    to_host: float
    met: float

    @property
    def transfers(self) -> float:
        """Lines that changed sides."""
        return self.to_fpga + self.to_host


class _Cache:
    """The FPGA's stores. Times are in whole hits; what ends at a time is at that time modulo `size`."""

    def __init__(self, lines: int, window: int, trip: int) -> None:
        self.lines, self.window, self.trip, self.size = lines, window, trip, trip + 1
        self.under_way = [0.0] * self.size
        """Lines on their way, each with the store that asked for it, by the time when they come."""
        self.waiting = [0.0] * self.size
        """Other stores, by the time when their line comes."""
        self.here = 0.0
        """Lines that it has."""
        self.met = 0.0
        self.held, self.asks = 0.0, 0.0
        """Stores that ask for their lines later, and now."""

    def come(self, now: int) -> float:
        """Lines come; the stores that end with them."""
        lines, others = self.under_way[now], self.waiting[now]
        waiting = sum(self.waiting)
        # No line comes, and others still wait.
        stay = math.exp(-lines) * max(0.0, 1 - others / waiting) if waiting > LEAST else 0.0
        self.asks, self.held = self.held * (1 - stay), self.held * stay
        self.under_way[now] = self.waiting[now] = 0.0
        self.here += lines
        return lines + others

    def decide(self, now: int, left: float) -> tuple[float, float, float]:
        """Decides what is ready: begun, hits, misses."""
        under_way = sum(self.under_way)
        others = (self.window - 1) / self.window
        hit = min(1.0, self.here / self.lines)
        # Those that were held ask now, several of one line once: no line was asked for meanwhile.
        misses = self.lines * -math.expm1(-self.asks / self.lines)
        meets, hits = self.asks - misses, 0.0
        ready = min(self.window - under_way - sum(self.waiting) - self.held - self.asks, PARTS, left)
        free = math.exp(-sum(self.waiting))
        begun = 0.0
        while ready > LEAST:
            part, ready = min(1.0, ready), ready - 1
            meet = min((under_way + misses) / self.lines * others, 1 - hit)
            miss = max(0.0, 1 - hit - (under_way + misses) / self.lines)
            begun += part
            hits += part * (1 - meet - miss)
            misses += part * miss * free
            self.held += part * miss * (1 - free)
            meets += part * meet
        self.under_way[(now + self.trip) % self.size] += misses
        self._wait(meets)
        return begun, hits, misses

    def _wait(self, stores: float) -> None:
        """These met lines under way, any of them."""
        self.met += stores
        total = sum(self.under_way)
        if total > 0:
            for until, lines in enumerate(self.under_way):
                self.waiting[until] += stores * lines / total


class _Home:
    """The host's stores, and the lines as the home knows them, in steps of a part of a hit."""

    def __init__(self, lines: int, local: int, remote: int, trip: int) -> None:
        self.lines, self.local, self.remote, self.trip = lines, local, remote, trip
        self.free, self.away = float(lines), 0.0
        """Lines that are at the host, and that the FPGA has."""
        self.granted: list[float] = []
        self.taken: list[tuple[float, float]] = []
        """Lines that began their way to the host, and stores that began it."""
        self.stores = [0.0]
        """That were at the home until then."""
        self.arriving: defaultdict[int, float] = defaultdict(float)

    def step(self, requests: float) -> tuple[float, float]:
        """Requests of the FPGA come; the host's stores that end, and the lines that have left the FPGA."""
        now = len(self.taken)
        self.granted.append(requests)
        self.free -= requests
        come = self.arriving.pop(now, 0.0)
        self.stores.append(self.stores[-1] + come)
        ended = come * max(0.0, self.free) / self.lines
        # Several stores that meet the same line take it over once.
        lines, stores = self.away * -math.expm1(-come / self.lines), come * self.away / self.lines
        self.away -= lines
        if now >= self.trip:
            # The FPGA says that a line has come: the stores that have waited for it take it back.
            known = self.granted[now - self.trip]
            waiting = (self.stores[-1] - self.stores[now - self.trip]) / self.lines
            stays = known * math.exp(-waiting)
            self.away += stays
            lines, stores = lines + known - stays, stores + known * waiting
        self.taken.append((lines, stores))
        if now >= self.remote:
            lines, stores = self.taken[now - self.remote]
            self.free += lines
            ended += stores + lines * (self.stores[-1] - self.stores[now - self.remote + 1]) / self.lines
        half = self.remote // 2
        return ended, self.taken[now - half][0] if now >= half else 0.0

    def store(self, count: float) -> None:
        """The host begins stores."""
        self.arriving[len(self.taken) - 1 + self.local] += count


class _Side:
    """A closed loop of `accesses` stores."""

    def __init__(self, accesses: int, window: int) -> None:
        self.accesses, self.window = accesses, window
        self.begun, self.ended, self.waited = 0.0, 0.0, 0.0

    @property
    def left(self) -> float:
        return self.accesses - self.begun

    @property
    def is_over(self) -> bool:
        return self.ended > self.accesses - REST

    def end(self, count: float, time: float) -> None:
        """Stores end, `time` behind the last that did."""
        if not self.is_over:
            self.waited += min(self.window, self.accesses - self.ended) * time
        self.ended += count


@cache
def predicted(t: Terms, lines: int, accesses: int, window: int) -> Predicted:
    """Both sides store `accesses` times, `window` in flight on either, to lines that are at the host."""
    part = t.fpga_local / PARTS
    trip = max(2, round(t.fpga_remote / t.fpga_local))
    local = max(1, round(t.host_local / part))
    remote = max(2, round((t.host_remote - t.host_local) / part))
    fpga, host = _Side(accesses, window), _Side(accesses, window)
    side, home = _Cache(lines, window, trip), _Home(lines, local, remote, trip * PARTS)
    requests: list[float] = []
    to_fpga = to_host = 0.0
    host.begun = float(min(window, accesses))
    home.arriving[local] = host.begun
    # None waits for longer than for a line to and fro.
    most = math.ceil(2 * accesses * (t.fpga_remote + t.host_remote) / t.fpga_local)
    for now in range(most):
        if fpga.is_over and host.is_over:
            break
        done = side.come(now % side.size)
        begun, hits, misses = side.decide(now % side.size, fpga.left)
        fpga.begun += begun
        fpga.end(done + hits, t.fpga_local)
        to_fpga += misses
        requests.append(misses)
        # A request is at the home after half of the round trip.
        come = requests[now - trip // 2] / PARTS if now >= trip // 2 else 0.0
        for _ in range(PARTS):
            ended, left = home.step(come)
            side.here = max(0.0, side.here - left)
            to_host += left
            host.end(ended, part)
            next_ = min(ended, host.left)
            host.begun += next_
            home.store(next_)
    return Predicted(fpga.waited / accesses, host.waited / accesses, to_fpga, to_host, side.met)
