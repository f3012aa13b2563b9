# SPDX-License-Identifier: Apache-2.0
"""A VMEbus master at a bench's pins, written from the standard's handshake, asynchronous to `clk_i`."""

from __future__ import annotations

import random
from typing import Any

from cocotb.triggers import FallingEdge, First, RisingEdge, Timer
from cocotb.utils import get_sim_time

NS = 1_000


class Vme:
    def __init__(self, dut: Any, rng: random.Random) -> None:
        self.dut = dut
        self.rng = rng
        self.answer_ns = 0.0  # of the latest access, from strobe to answer
        d = dut
        d.vme_as_ni.value = 1
        d.vme_ds_ni.value = 3
        d.vme_write_ni.value = 1
        d.vme_lword_ni.value = 1
        d.vme_iack_ni.value = 1
        d.vme_am_i.value = 0
        d.vme_addr_i.value = 0
        d.vme_data_i.value = 0

    async def access(
        self,
        address: int,
        write: int | None = None,
        *,
        am: int = 0x09,
        strobes: int = 0,
        lword: int = 0,
        iack: int = 1,
        timeout_ns: int = 16_000,
    ) -> tuple[str, int]:
        """One cycle: what answered ("dtack", "berr", or "none" after the time-out), and the data."""
        d, rng = self.dut, self.rng
        d.vme_addr_i.value = address >> 1
        d.vme_am_i.value = am
        d.vme_lword_ni.value = lword
        d.vme_iack_ni.value = iack
        d.vme_write_ni.value = int(write is None)
        d.vme_data_i.value = rng.getrandbits(32) if write is None else write
        # 35 ns at the master, of which the bus's skew may eat 25; both ends asynchronous to the clock.
        await Timer(rng.randrange(10 * NS, 45 * NS), "ps")
        d.vme_as_ni.value = 0
        await Timer(rng.randrange(0, 10 * NS) + 1, "ps")
        if strobes == 0:
            d.vme_ds_ni.value = rng.choice([0, 1, 2])
            await Timer(rng.randrange(1, 20 * NS), "ps")
        d.vme_ds_ni.value = strobes
        start = get_sim_time("ns")
        await First(FallingEdge(d.vme_dtack_no), FallingEdge(d.vme_berr_no), Timer(timeout_ns, "ns"))
        await Timer(1, "ps")
        dtack, berr = not int(d.vme_dtack_no.value), not int(d.vme_berr_no.value)
        assert not (dtack and berr)
        answer = "dtack" if dtack else "berr" if berr else "none"
        self.answer_ns = get_sim_time("ns") - start
        if answer != "none":
            assert self.answer_ns >= 30 - 20 * (strobes == 0), "an answer before its time"
        if dtack and write is None:
            assert d.vme_data_oe_o.value
            await Timer(25, "ns")
            assert d.vme_data_oe_o.value
        else:
            assert not d.vme_data_oe_o.value
        data = int(d.vme_data_o.value)
        await Timer(rng.randrange(1, 60 * NS), "ps")
        if answer != "none":
            assert not (int(d.vme_dtack_no.value) and int(d.vme_berr_no.value)), "let go too early"
        d.vme_ds_ni.value = 3
        d.vme_as_ni.value = 1
        if answer != "none":
            pin = d.vme_dtack_no if dtack else d.vme_berr_no
            await First(RisingEdge(pin), Timer(100, "ns"))
            await Timer(1, "ps")
            assert pin.value, "the answer stays"
            assert not d.vme_data_oe_o.value, "data stays behind its answer"
        await Timer(rng.randrange(40 * NS, 70 * NS), "ps")
        return answer, data

    async def read(self, address: int) -> int:
        answer, data = await self.access(address)
        assert answer == "dtack", f"{answer} at {address:#010x}"
        return data

    async def write(self, address: int, data: int) -> None:
        answer, _ = await self.access(address, data)
        assert answer == "dtack", f"{answer} at {address:#010x}"
