# SPDX-License-Identifier: Apache-2.0
"""wb_ram, wb_sdb_rom, wb_eca_time, wb_tlu and wb_gige_ctrl: maps, timing, and rest when idle."""

import random
from collections import deque
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge
from cocotbext.wishbone.driver import WBOp, WishboneMaster
from isthmus import regs
from wb_model import Bench, Master, Op

SLAVES = ("ram", "sdb", "late", "eca", "tlu", "ctl")  # late: the SDB table behind registers
LATE = 3  # clocks from an operation to its answer; 1 for the others
TLU = {r.name: r.offset for r in regs.load("tlu").registers}
ECA = {r.name: r.offset for r in regs.load("eca").registers}
CHANNELS, DEPTH = 3, 4


class World:
    """Time that moves 8 ns a cycle, and trigger inputs; remembers both for each cycle."""

    def __init__(self, dut: Any, start: int) -> None:
        self.dut = dut
        self.start = start
        self.cycle = 0
        self.trigger = 0
        self.history: list[int] = []

    def time(self, cycle: int) -> int:
        return self.start + 8 * cycle

    def drive(self) -> None:
        self.dut.time_ns_i.value = self.time(self.cycle)
        self.dut.trigger_i.value = self.trigger
        self.history.append(self.trigger)

    def sample(self, cycle: int) -> None:
        self.cycle = cycle + 1


async def prepare(dut: Any, start: int | None = None) -> tuple[Bench, World, dict[str, Master]]:
    bench = Bench(dut)
    for name in ("mac_i", "ipv4_i", "netmask_i", "udp_port_i", "stats_i", "trigger_i", "time_ns_i"):
        getattr(dut, name).value = 0
    masters = {name: Master(bench.add_ports(name)) for name in SLAVES}
    world = World(dut, random.getrandbits(63) & ~7 if start is None else start)
    bench.agents += [world, *masters.values()]
    await bench.reset()
    return bench, world, masters


async def play(bench: Bench, master: Master, *ops: Op, clocks: int = 1) -> list[Op]:
    """One bus cycle; every slave here takes an operation at once and answers it `clocks` later."""
    before = len(master.done)
    master.play([ops])
    await bench.until(lambda: not master.busy, 2 * len(ops) + 20)
    done = master.done[before:]
    assert all(op.taken == op.offered and op.answered == op.taken + clocks for op in done)
    return done


async def read(bench: Bench, master: Master, adr: int) -> int:
    [op] = await play(bench, master, Op(adr))
    assert op.ok, f"read of {adr:#x} answers err"
    return op.value


async def write(bench: Bench, master: Master, adr: int, dat: int) -> None:
    [op] = await play(bench, master, Op(adr, dat, True))
    assert op.ok, f"write to {adr:#x} answers err"


@cocotb.test()
async def every_slave_takes_one_operation_a_cycle(dut: Any) -> None:
    bench, _, masters = await prepare(dut)
    for name, master in masters.items():
        ops = await play(bench, master, *(Op(0) for _ in range(40)), clocks=LATE if name == "late" else 1)
        assert ops[-1].taken - ops[0].taken == 39


@cocotb.test()
async def ram_equals_an_array_with_byte_enables(dut: Any) -> None:
    bench, _, masters = await prepare(dut)
    memory = {4 * n: random.getrandbits(32) for n in range(64)}
    await play(bench, masters["ram"], *(Op(a, d, True) for a, d in memory.items()))
    masters["ram"].gap = 0.2
    ops = [
        Op(4 * random.randrange(64), random.getrandbits(32), random.random() < 0.5, random.getrandbits(4))
        for _ in range(2000)
    ]
    masters["ram"].play(ops[n : n + 50] for n in range(0, 2000, 50))
    await bench.until(lambda: not masters["ram"].busy, 6000)
    for op in ops:
        assert op.ok
        if op.we:
            mask = sum(0xFF << 8 * lane for lane in range(4) if op.sel >> lane & 1)
            memory[op.adr] = memory[op.adr] & ~mask | op.dat & mask
        else:
            assert op.value == memory[op.adr]


@cocotb.test()
async def sdb_table_reads_as_hosts_parse_it(dut: Any) -> None:
    bench, _, masters = await prepare(dut)
    ops = await play(bench, masters["sdb"], *(Op(4 * n) for n in range(80)))
    late = await play(bench, masters["late"], *(Op(4 * n) for n in range(80)), clocks=LATE)
    assert all(op.ok for op in [*ops, *late])
    assert [op.value for op in late] == [op.value for op in ops]
    table = b"".join(op.value.to_bytes(4, "big") for op in ops)

    def number(record: int, at: int, size: int) -> int:
        return int.from_bytes(table[64 * record + at : 64 * record + at + size], "big")

    assert table[:8] == b"SDB-\x00\x05\x01\x00"
    expected = [
        (0x00, 0, 0x000FFFFF, 0x651, 0xE6A542C9, b"WB4-Crossbar-GSI   "),
        (0x01, 0x10000, 0x100FF, 0x651, 0xB2AFC251, b"ECA_UNIT:CONTROL   "),
        (0x01, 0x20000, 0x200FF, 0x651, 0x10051981, b"GSI_TM_LATCH_V2    "),
        (0x02, 0x40000, 0x7FFFF, 0x651, 0xE6A542C9, b"WB4-Crossbar-GSI   "),
    ]
    for i, (kind, first, last, vendor, device, name) in enumerate(expected):
        assert table[64 * i + 63] == kind
        assert (number(i, 8, 8), number(i, 16, 8)) == (first, last)
        assert (number(i, 24, 8), number(i, 32, 4)) == (vendor, device)
        assert table[64 * i + 44 : 64 * i + 63] == name
    assert (number(1, 0, 2), number(1, 2, 1), number(1, 3, 1), number(1, 4, 4)) == (0, 1, 2, 4)
    assert number(3, 0, 8) == 0x1000
    # Neither a write nor a read behind the table is possible.
    for name, clocks in (("sdb", 1), ("late", LATE)):
        wrong = (Op(0, 0, True), *(Op(4 * n) for n in range(80, 128)))
        ops = await play(bench, masters[name], *wrong, clocks=clocks)
        assert [op.ok for op in ops] == [False] * 49


@cocotb.test()
async def an_sdb_table_behind_registers_answers_no_operation_that_was_given_up(dut: Any) -> None:
    bench, _, masters = await prepare(dut)
    table = [op.value for op in await play(bench, masters["sdb"], *(Op(4 * n) for n in range(80)))]
    late = masters["late"]
    late.abort = 0.2
    late.play([Op(4 * random.randrange(88)) for _ in range(6)] for _ in range(300))
    await bench.until(lambda: not late.busy, 6000)
    assert late.aborted
    assert all(op.value == table[op.adr // 4] for op in late.done if op.ok)
    assert all(bool(op.ok) == (op.adr < 320) for op in late.done)


@cocotb.test()
async def eca_time_is_the_time_of_the_operation(dut: Any) -> None:
    bench, world, masters = await prepare(dut, start=(5 << 32) - 8 * 40)
    hi, lo = ECA["TIME_HI_GET"], ECA["TIME_LO_GET"]
    ops = await play(bench, masters["eca"], *(Op(hi if n % 2 else lo) for n in range(80)))
    for op in ops:
        now = world.time(op.taken)
        assert op.value == (now >> 32 if op.adr == hi else now & 0xFFFFFFFF)
    assert {op.value for op in ops if op.adr == hi} == {4, 5}
    assert await read(bench, masters["eca"], ECA["CHANNELS"]) == 4
    assert await read(bench, masters["eca"], ECA["LATENCY"]) == 1234


@cocotb.test()
async def what_a_map_lacks_answers_err_and_changes_nothing(dut: Any) -> None:
    bench, _, masters = await prepare(dut)
    for name, map_name in (("eca", "eca"), ("tlu", "tlu"), ("ctl", "gige_ctrl")):
        access = {r.offset: r.access for r in regs.load(map_name).registers}
        refused = []
        for offset in range(0, 256, 4):
            for we in (False, True):
                if ("w" if we else "r") not in access.get(offset, "").replace("ro", "r").replace("wo", "w"):
                    refused.append(Op(offset, random.getrandbits(32), we))
        before = snapshot(dut, f"u_{name}")
        ops = await play(bench, masters[name], *refused)
        assert [op for op in ops if op.ok] == []
        await bench.step()
        assert snapshot(dut, f"u_{name}") == before


def snapshot(dut: Any, instance: str) -> dict[str, str]:
    """Every register below `instance`: its state. Answers in flight and read data do not count."""
    state: dict[str, str] = {}

    def walk(handle: Any, path: str) -> None:
        for child in handle:
            name = child._name
            if name.endswith("_q") and name not in ("dat_q", "ack_q", "err_q"):
                state[f"{path}.{name}"] = str(child.value)
            elif name == "field_storage":
                state[f"{path}.{name}"] = str(dut.allow_o.value)
            elif child._type in ("GPI_MODULE", "GPI_GENARRAY", "GPI_SCOPE"):
                walk(child, f"{path}.{name}")

    walk(getattr(dut, instance), instance)
    return state


@cocotb.test()
async def nothing_changes_without_input(dut: Any) -> None:
    bench, world, masters = await prepare(dut)
    await write(bench, masters["tlu"], TLU["ARMSET"], 7)
    world.trigger = 5
    for _ in range(10):
        await bench.step()
    assert dut.idle_o.value == 1
    before = {name: snapshot(dut, f"u_{name}") for name in SLAVES}
    for name in ("armed_q", "wptr_q", "sync_q", "latched_lo_q"):
        assert any(name in path for path in before["tlu"]), f"{name} is not looked at"
    assert before["ctl"]
    for _ in range(200):
        await bench.step()
        assert dut.idle_o.value == 1
    assert {name: snapshot(dut, f"u_{name}") for name in SLAVES} == before
    world.trigger = 4
    await bench.step()
    assert dut.idle_o.value == 0


@cocotb.test()
async def tlu_starts_as_documented(dut: Any) -> None:
    bench, _, masters = await prepare(dut)
    expected = {
        "FIFO_READY": 0, "ARMSTAT": 0, "EDGESTAT": 7, "IRQ_ENABLE": 0, "IRQ_MASKSTAT": 0,
        "CHNS_TOTAL": CHANNELS, "FIFOSIZE": DEPTH, "CH_SELECT": 0, "FIFO_CNT": 0,
    }  # fmt: skip
    for name, value in expected.items():
        assert await read(bench, masters["tlu"], TLU[name]) == value, name
    [pop, select, narrow] = await play(
        bench,
        masters["tlu"],
        Op(TLU["FIFO_POP"], 0, True),
        Op(TLU["CH_SELECT"], CHANNELS, True),
        Op(TLU["ARMSET"], 7, True, 0b0011),
    )
    assert (pop.ok, select.ok, narrow.ok) == (False, False, False)
    assert await read(bench, masters["tlu"], TLU["ARMSTAT"]) == 0


async def drain(bench: Bench, tlu: Master, channel: int) -> list[int]:
    """Timestamps of a channel in nanoseconds, read as hosts do."""
    await write(bench, tlu, TLU["CH_SELECT"], channel)
    stamps = []
    while await read(bench, tlu, TLU["FIFO_READY"]) >> channel & 1:
        count = await read(bench, tlu, TLU["FIFO_CNT"])
        hi = await read(bench, tlu, TLU["FTSHI"])
        lo = await read(bench, tlu, TLU["FTSLO"])
        sub = await read(bench, tlu, TLU["FTSSUB"])
        stamps.append((hi << 32 | lo) * 8 + sub)
        await write(bench, tlu, TLU["FIFO_POP"], 0)
        assert await read(bench, tlu, TLU["FIFO_CNT"]) == count - 1
        assert len(stamps) <= DEPTH
    return stamps


@cocotb.test()
async def tlu_stamps_each_edge_with_the_time_it_was_first_sampled(dut: Any) -> None:
    bench, world, masters = await prepare(dut, start=random.getrandbits(60))
    tlu = masters["tlu"]
    for turn in range(40):
        rising = random.getrandbits(CHANNELS)
        armed = random.getrandbits(CHANNELS) if turn % 4 else 7
        await write(bench, tlu, TLU["ARMCLR"], 7)
        await write(bench, tlu, TLU["EDGEPOS"], rising)
        await write(bench, tlu, TLU["EDGENEG"], ~rising & 7)
        await write(bench, tlu, TLU["ARMSET"], armed)
        assert await read(bench, tlu, TLU["EDGESTAT"]) == rising
        assert await read(bench, tlu, TLU["ARMSTAT"]) == armed
        begin = world.cycle
        for _ in range(random.randint(5, 60)):
            flip = sum((random.random() < 0.15) << c for c in range(CHANNELS))
            world.trigger ^= flip
            await bench.step()
        end = world.cycle
        for _ in range(5):
            await bench.step()
        for c in range(CHANNELS):
            edges = []
            for n in range(begin, end):
                was, now = world.history[n - 1] >> c & 1, world.history[n] >> c & 1
                if was != now and now == rising >> c & 1 and armed >> c & 1:
                    edges.append(world.time(n))
            # The FIFO keeps the oldest; what comes while it is full is lost.
            assert await drain(bench, tlu, c) == edges[:DEPTH]


@cocotb.test()
async def tlu_stamp_can_be_read_three_cycles_after_the_edge(dut: Any) -> None:
    bench, world, masters = await prepare(dut)
    tlu = masters["tlu"]
    await write(bench, tlu, TLU["ARMSET"], 1)
    tlu.play([[Op(TLU["FIFO_READY"]) for _ in range(20)]])
    for _ in range(4):
        await bench.step()
    sampled = world.cycle
    world.trigger = 1
    await bench.until(lambda: not tlu.busy, 50)
    ready = [op.taken for op in tlu.done if op.adr == TLU["FIFO_READY"] and op.value == 1]
    assert ready[0] == sampled + 3


@cocotb.test()
async def tlu_tests_clears_and_interrupts(dut: Any) -> None:
    bench, _, masters = await prepare(dut)
    tlu = masters["tlu"]
    await write(bench, tlu, TLU["ARMSET"], 0b011)
    await write(bench, tlu, TLU["TEST"], 0b111)
    await write(bench, tlu, TLU["CH_SELECT"], 1)
    await write(bench, tlu, TLU["CH_TEST"], 0)
    for _ in range(6):
        await bench.step()
    assert await read(bench, tlu, TLU["FIFO_READY"]) == 0b011
    assert await read(bench, tlu, TLU["FIFO_CNT"]) == 2
    assert dut.irq_o.value == 0
    await write(bench, tlu, TLU["IRQ_MASKSET"], 0b010)
    await write(bench, tlu, TLU["IRQ_ENABLE"], 1)
    assert dut.irq_o.value == 1
    await write(bench, tlu, TLU["FIFO_CLEAR"], 0b010)
    await bench.step()
    assert dut.irq_o.value == 0
    assert await read(bench, tlu, TLU["FIFO_READY"]) == 0b001
    await write(bench, tlu, TLU["IRQ_MASKSET"], 0b001)
    assert await read(bench, tlu, TLU["IRQ_MASKSTAT"]) == 0b011
    await bench.step()
    assert dut.irq_o.value == 1
    await write(bench, tlu, TLU["IRQ_MASKCLR"], 0b011)
    await bench.step()
    assert dut.irq_o.value == 0


@cocotb.test()
async def tlu_set_and_clear_registers_change_only_the_bits_of_their_mask(dut: Any) -> None:
    bench, _, masters = await prepare(dut)
    tlu = masters["tlu"]
    for name, state in (("ARM", "ARMSTAT"), ("IRQ_MASK", "IRQ_MASKSTAT")):
        await write(bench, tlu, TLU[f"{name}SET"], 0b001)
        await write(bench, tlu, TLU[f"{name}SET"], 0b110)
        assert await read(bench, tlu, TLU[state]) == 0b111
        await write(bench, tlu, TLU[f"{name}CLR"], 0b010)
        assert await read(bench, tlu, TLU[state]) == 0b101
    await write(bench, tlu, TLU["EDGENEG"], 0b010)
    await write(bench, tlu, TLU["EDGENEG"], 0b100)
    assert await read(bench, tlu, TLU["EDGESTAT"]) == 0b001
    await write(bench, tlu, TLU["EDGEPOS"], 0b010)
    assert await read(bench, tlu, TLU["EDGESTAT"]) == 0b011


@cocotb.test()
async def a_strobe_without_cyc_is_no_operation(dut: Any) -> None:
    bench, _, masters = await prepare(dut)
    # The masters answer for it: a reply that nobody waits for fails them.
    strobes = [getattr(dut, f"{name}_stb_i") for name in SLAVES]
    for _ in range(5):
        await bench.step(lambda: [m.ports.put(0, cyc=0, stb=1, we=0, adr=0) for m in masters.values()])
        assert all(int(s.value) for s in strobes)
    await bench.step()
    assert [m.stray for m in masters.values()] == [0] * len(SLAVES)


@cocotb.test()
async def tlu_current_time_is_one_time(dut: Any) -> None:
    # The low word rolls over between the two reads; the latch keeps them together.
    bench, world, masters = await prepare(dut, start=(7 << 35) - 8 * 40)
    for _ in range(25):
        [hi, _, lo] = await play(
            bench, masters["tlu"], Op(TLU["ATSHI"]), Op(TLU["ARMSTAT"]), Op(TLU["ATSLO"])
        )
        assert (hi.value << 32 | lo.value) * 8 == world.time(hi.taken)
    assert hi.value == 7


@cocotb.test()
async def ctrl_shows_its_inputs_and_keeps_the_allow_list(dut: Any) -> None:
    bench, _, masters = await prepare(dut)
    layout = {r.name: r.offset for r in regs.load("gige_ctrl").registers}
    counters = [name for name, offset in layout.items() if offset >= 0x80]
    assert len(counters) == 19
    inputs = {name: random.getrandbits(32) for name in counters}
    mac, ip, port = random.getrandbits(48), random.getrandbits(32), random.getrandbits(16)
    dut.mac_i.value, dut.ipv4_i.value, dut.udp_port_i.value = mac, ip, port
    netmask = random.getrandbits(32)
    dut.netmask_i.value = netmask
    dut.stats_i.value = sum(v << 32 * (18 - n) for n, v in enumerate(inputs.values()))
    expected = {"PROTOCOL": 0x4E6F0101, "MAC_HI": mac >> 32, "MAC_LO": mac & 0xFFFFFFFF}
    expected |= {"IPV4": ip, "UDP_PORT": port, "NETMASK": netmask, **inputs}
    for name, value in expected.items():
        assert await read(bench, masters["ctl"], layout[name]) == value, name
    assert int(dut.allow_o.value) == 0, "no entry is enabled after reset"
    entries = [(random.getrandbits(1), random.getrandbits(32), random.getrandbits(32)) for _ in range(4)]
    for n, entry in enumerate(entries):
        for name, value in zip(("CTRL", "IP", "MASK"), entry, strict=True):
            await write(bench, masters["ctl"], layout[f"ALLOW{n}_{name}"], value)
            assert await read(bench, masters["ctl"], layout[f"ALLOW{n}_{name}"]) == value
    packed = sum((e << 64 | i << 32 | m) << 65 * n for n, (e, i, m) in enumerate(entries))
    assert int(dut.allow_o.value) == packed
    await play(bench, masters["ctl"], Op(layout["ALLOW2_IP"], 0xAABBCCDD, True, 0b0100))
    value = await read(bench, masters["ctl"], layout["ALLOW2_IP"])
    assert value == entries[2][1] & 0xFF00FFFF | 0x00BB0000


@cocotb.test()
async def a_published_wishbone_master_agrees(dut: Any) -> None:
    """An independent bus model, which knows nothing of ours, reads, writes and sees err."""
    bench, _, _ = await prepare(dut)
    bench.ports.clear()
    signals = {"cyc": "cyc_i", "stb": "stb_i", "we": "we_i", "adr": "adr_i", "sel": "sel_i"}
    signals |= {"datwr": "dat_i", "datrd": "dat_o", "ack": "ack_o", "err": "err_o", "stall": "stall_o"}
    ram = WishboneMaster(dut, "ram", dut.clk_i, timeout=20, signals_dict=signals)
    words = deque((4 * n, random.getrandbits(32)) for n in range(16))
    await ram.send_cycle([WBOp(adr, dat) for adr, dat in words])
    replies = await ram.send_cycle([WBOp(adr) for adr, _ in words])
    assert [int(r.datrd) for r in replies][: len(words)] == [dat for _, dat in words]
    assert all(r.ack == 1 for r in replies)
    eca = WishboneMaster(dut, "eca", dut.clk_i, timeout=20, signals_dict=signals)
    replies = await eca.send_cycle([WBOp(ECA["CHANNELS"]), WBOp(0x40)])
    assert [r.ack for r in replies][:2] == [1, 2]
    await FallingEdge(dut.clk_i)
