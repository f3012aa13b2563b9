# SPDX-License-Identifier: Apache-2.0
"""A Cypress FX2LP's slave FIFOs at a bench's pins, written from its data sheet.

Endpoint 2 gives packets to the device, endpoint 6 takes them, four buffers of 512 bytes each. Every
rule of the interface is asserted at every clock. `UsbBus` moves packets as a host at the high-speed
ceiling would.
"""

from __future__ import annotations

import random
from typing import Any

from cocotb.triggers import Event, FallingEdge, RisingEdge, Timer

PACKET = 512
BUFFERS = 4


class Fx2:
    def __init__(self, dut: Any, width: int, rng: random.Random) -> None:
        self.dut = dut
        self.bytes = width // 8
        self.rng = rng
        self.out: list[bytes] = []  # endpoint 2; the first may be read in part
        self.taken = 0
        self.committed: list[bytes] = []  # endpoint 6
        self.filling = b""
        self.cycle = 0
        self.ends: list[int] = []  # cycles of PKTEND
        self.moved = Event()
        self.before: tuple[int, bool, bool, bool] | None = None

    def reset_fifos(self) -> None:
        self.out, self.committed, self.filling, self.taken = [], [], b"", 0

    def show(self) -> None:
        d = self.dut
        words = sum(-(-len(p) // self.bytes) for p in self.out) - self.taken // self.bytes
        room = (BUFFERS - len(self.committed)) * PACKET - len(self.filling)
        d.fx2_flag_empty_ni.value = int(words > 0)
        d.fx2_flag_last_ni.value = int(words > 1)
        d.fx2_flag_full_ni.value = int(room > 0)
        d.fx2_flag_tight_ni.value = int(room >= 2 * self.bytes)
        if self.out and not int(d.fx2_sloe_no.value) and int(d.fx2_fifoadr_o.value) == 0:
            piece = self.out[0][self.taken : self.taken + self.bytes]
            d.fx2_fd_i.value = int.from_bytes(piece, "little")
        else:
            d.fx2_fd_i.value = self.rng.randrange(1 << 8 * self.bytes)

    async def run(self) -> None:
        d = self.dut
        while True:
            await RisingEdge(d.fx2_clk_i)
            self.cycle += 1
            if int(d.rst_ni.value):
                self._edge()
            await FallingEdge(d.fx2_clk_i)
            self.show()

    def _edge(self) -> None:
        d = self.dut
        read, write = not int(d.fx2_slrd_no.value), not int(d.fx2_slwr_no.value)
        end = not int(d.fx2_pktend_no.value)
        address = int(d.fx2_fifoadr_o.value)
        listens, drives = not int(d.fx2_sloe_no.value), bool(int(d.fx2_fd_oe_o.value))
        now = (address, read or write or end, listens, drives)
        before = self.before or now
        self.before = now
        assert not (drives and (listens or before[2])), "FD: the device drives too early"
        assert not (listens and before[3]), "FD: the FX2 is let drive too early"
        assert address == before[0] or not (now[1] or before[1]), "FIFOADR moves at a strobe"
        if read:
            assert (address, listens) == (0, True), "SLRD without SLOE or at a wrong address"
            assert self.out, "read from the empty FIFO"
            self.taken += self.bytes
            if self.taken >= len(self.out[0]):
                self.out.pop(0)
                self.taken = 0
                self.moved.set()
        if write:
            assert (address, drives) == (2, True), "SLWR without data or at a wrong address"
            assert len(self.committed) < BUFFERS, "write into the full FIFO"
            self.filling += int(d.fx2_fd_o.value).to_bytes(self.bytes, "little")
            if len(self.filling) == PACKET:
                self._commit()
        if end:
            assert (address, write) == (2, False)
            assert len(self.committed) < BUFFERS, "PKTEND while full"
            self.ends.append(self.cycle)
            self._commit()

    def _commit(self) -> None:
        self.committed.append(self.filling)
        self.filling = b""
        self.moved.set()

    async def send(self, packet: bytes) -> None:
        """Puts one packet into endpoint 2 once there is room."""
        while len(self.out) == BUFFERS:
            self.moved.clear()
            await self.moved.wait()
        self.out.append(packet)

    async def receive(self) -> bytes:
        """Takes one packet out of endpoint 6 once there is one."""
        while not self.committed:
            self.moved.clear()
            await self.moved.wait()
        return self.committed.pop(0)

    def bus(self) -> UsbBus:
        return UsbBus(self)


class UsbBus:
    """13 transactions of 512 bytes a microframe, OUT and IN in turn; a refusal costs 36 bytes."""

    SLOT_NS = (PACKET + 55) * 1000 / 60
    NAK_NS = 36 * 1000 / 60

    def __init__(self, fx2: Fx2) -> None:
        self.fx2 = fx2
        self.moved = 0  # full packets, both ways
        self.sent = 0  # bytes
        self.received = b""

    async def run(self, data: bytes, microframes: int) -> None:
        """Sends `data` in full packets, and reads what comes, for so many microframes."""
        fx2 = self.fx2
        turn = 0
        for _ in range(microframes):
            left = 125_000.0 - 23 * 1000 / 60
            while left >= self.SLOT_NS:
                turn ^= 1
                if turn and data and len(fx2.out) < BUFFERS:
                    fx2.out.append(data[:PACKET])
                    data = data[PACKET:]
                    self.sent += PACKET
                elif not turn and fx2.committed:
                    packet = fx2.committed.pop(0)
                    self.received += packet
                    if len(packet) < PACKET:
                        await Timer(round((len(packet) + 55) * 1000 / 60), "ns")
                        left -= (len(packet) + 55) * 1000 / 60
                        continue
                else:
                    await Timer(round(self.NAK_NS), "ns")
                    left -= self.NAK_NS
                    continue
                self.moved += 1
                await Timer(round(self.SLOT_NS), "ns")
                left -= self.SLOT_NS
            await Timer(round(left + 23 * 1000 / 60), "ns")
