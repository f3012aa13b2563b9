# SPDX-License-Identifier: Apache-2.0
"""wb_xbar, wb_timeout and wb_slice: random traffic against memory models, then each line of the contracts."""

import random
from typing import Any

import cocotb
from wb_model import Bench, Master, Op, Slave

MASTERS, SLAVES, TIMEOUT, ALONE_TIMEOUT, ALONE_OUTSTANDING = 3, 4, 200, 12, 7
OUTSTANDING = 15
"""Of a master at the crossbar."""
UNMAPPED = 9 << 16
SIZE = 0x4000


def address(slave: int, offset: int) -> int:
    return slave << 16 | offset


async def crossbar(dut: Any, **slave: Any) -> tuple[Bench, list[Master], list[Slave]]:
    bench = Bench(dut)
    m, s = bench.add_ports("m", MASTERS), bench.add_ports("s", SLAVES, slave_side=True)
    for request, answer in ("ab", "cd"):
        bench.add_ports(request)
        bench.add_ports(answer, slave_side=True)
    masters = [Master(m, i) for i in range(MASTERS)]
    slaves = [Slave(s, i, **slave) for i in range(SLAVES)]
    bench.agents += [*masters, *slaves]
    await bench.reset()
    return bench, masters, slaves


async def alone(dut: Any, request: str = "a", answer: str = "b", **slave: Any) -> tuple[Bench, Master, Slave]:
    bench = Bench(dut)
    bench.add_ports("m", MASTERS)
    bench.add_ports("s", SLAVES, slave_side=True)
    for ports in {"a", "c"} - {request}:
        bench.add_ports(ports)
    for ports in {"b", "d"} - {answer}:
        bench.add_ports(ports, slave_side=True)
    master = Master(bench.add_ports(request))
    target = Slave(bench.add_ports(answer, slave_side=True), **slave)
    bench.agents += [master, target]
    await bench.reset()
    return bench, master, target


def random_cycle(master: int) -> list[Op]:
    """Operations on words that belong to this master alone, so that its order decides what they read."""
    slave = random.randrange(SLAVES)
    ops = []
    for _ in range(random.randint(1, 12)):
        if random.random() < 0.3:
            slave = random.randrange(SLAVES + 1)
        adr = address(slave, master << 12 | random.randrange(8) << 2)
        if slave == SLAVES:
            adr = UNMAPPED
        elif random.random() < 0.05:
            adr |= 0x800  # answers err
        ops.append(Op(adr, random.getrandbits(32), random.random() < 0.5, random.getrandbits(4)))
    return ops


def check(ops: list[Op]) -> None:
    memory: dict[int, int] = {}
    for op in ops:
        fails = op.adr == UNMAPPED or op.adr & 0x800
        assert op.ok is (not fails), f"{op}"
        if fails:
            continue
        word = memory.get(op.adr, op.adr ^ 0x5A5A_0000)
        if op.we:
            mask = sum(0xFF << 8 * lane for lane in range(4) if op.sel >> lane & 1)
            memory[op.adr] = word & ~mask | op.dat & mask
        else:
            assert op.value == word, f"{op} should read {word:#x}"


@cocotb.test()
async def random_traffic_reads_what_it_wrote(dut: Any) -> None:
    bench, masters, slaves = await crossbar(dut, stall=0.3, latency=(1, 5), fails=lambda a: bool(a & 0x800))
    for i, master in enumerate(masters):
        master.gap = 0.2
        master.play(random_cycle(i) for _ in range(150))
    await bench.until(lambda: not any(m.busy for m in masters), 20_000)
    for master in masters:
        assert len(master.done) > 150
        assert master.stray == 0
        check(master.done)
    assert min(s.taken for s in slaves) > 100


@cocotb.test()
async def aborted_cycles_leave_nothing_behind(dut: Any) -> None:
    bench, masters, _ = await crossbar(dut, stall=0.2, latency=(1, 6), fails=lambda a: bool(a & 0x800))
    masters[0].abort = 0.05
    masters[1].abort = 0.02
    for i, master in enumerate(masters):
        # Reads only: what an aborted write did is not for a model to say.
        cycles = [[Op(op.adr, sel=0xF) for op in random_cycle(i)] for _ in range(150)]
        master.play(cycles)
    await bench.until(lambda: not any(m.busy for m in masters), 20_000)
    assert masters[0].aborted
    for master in masters:
        assert master.stray == 0
        check(master.done)


@cocotb.test()
async def adds_no_cycle_and_sustains_one_operation_a_cycle(dut: Any) -> None:
    bench, masters, _ = await crossbar(dut)
    masters[0].play([[Op(address(1, 4 * n)) for n in range(100)]])
    await bench.until(lambda: not masters[0].busy, 300)
    first = masters[0].done[0].offered
    assert [op.taken for op in masters[0].done] == [first + n for n in range(100)]
    assert all(op.answered == op.taken + 1 for op in masters[0].done)
    # Also from slave to slave, unmapped addresses among them.
    masters[0].done.clear()
    masters[0].play([[Op(UNMAPPED if n % 5 == 4 else address(n % 5, 4 * n)) for n in range(100)]])
    await bench.until(lambda: not masters[0].busy, 300)
    first = masters[0].done[0].offered
    assert [op.taken for op in masters[0].done] == [first + n for n in range(100)]
    assert all(op.answered == op.taken + 1 for op in masters[0].done)


@cocotb.test()
async def an_address_past_a_window_reaches_no_slave_and_gets_one_err(dut: Any) -> None:
    bench, masters, slaves = await crossbar(dut, latency=(1, 4))
    inside = [address(s, offset) for s in range(SLAVES) for offset in (0, SIZE - 4)]
    past = [address(s, offset) for s in range(SLAVES) for offset in (SIZE, SIZE + 4, 0x8000, 0xFFFC)]
    past += [address(s, 0) | 1 << bit for s in range(SLAVES) for bit in range(18, 32)]
    for i, master in enumerate(masters):
        ops = [Op(adr, adr, bool(we)) for adr in inside + past for we in (0, 1)]
        random.shuffle(ops)
        master.play([ops[n : n + 5] for n in range(i, len(ops), 5)])
    await bench.until(lambda: not any(m.busy for m in masters), 20_000)
    done = [op for master in masters for op in master.done]
    assert all(op.ok is (op.adr in inside) for op in done)
    assert all(op.answered == op.taken + 1 for op in done if op.adr in past)
    assert sum(s.taken for s in slaves) == sum(op.adr in inside for op in done)
    assert all(master.stray == 0 for master in masters)


@cocotb.test()
async def different_slaves_work_at_the_same_time(dut: Any) -> None:
    bench, masters, _ = await crossbar(dut)
    for i, master in enumerate(masters):
        master.play([[Op(address(i, 4 * n)) for n in range(64)]])
    start = bench.cycle
    await bench.until(lambda: not any(m.busy for m in masters), 300)
    assert bench.cycle - start <= 64 + 3


@cocotb.test()
async def a_slow_slave_is_fast_with_enough_outstanding(dut: Any) -> None:
    bench, masters, _ = await crossbar(dut, latency=(10, 10))
    masters[0].play([[Op(address(2, 4 * n)) for n in range(100)]])
    await bench.until(lambda: not masters[0].busy, 300)
    ops = masters[0].done
    assert ops[-1].answered - ops[0].taken == 99 + 10


@cocotb.test()
async def each_master_has_as_many_outstanding_as_it_may_and_no_more(dut: Any) -> None:
    bench, masters, slaves = await crossbar(dut)
    for i, master in enumerate(masters):
        slaves[i].mute = True
        master.play([[Op(address(i, 4 * n)) for n in range(OUTSTANDING + 5)]])
    for _ in range(3 * OUTSTANDING):
        await bench.step()
    assert [s.taken for s in slaves] == [OUTSTANDING] * MASTERS + [0] * (SLAVES - MASTERS)
    # One answer, one more operation, at each count from the greatest on.
    for slave in slaves:
        slave.mute = False
    await bench.until(lambda: not any(m.busy for m in masters), 6 * OUTSTANDING)
    for i, master in enumerate(masters):
        assert [op.value for op in master.done] == [
            address(i, 4 * n) ^ 0x5A5A_0000 for n in range(OUTSTANDING + 5)
        ]
        assert all(op.ok for op in master.done)
        assert master.stray == 0


@cocotb.test()
async def masters_take_turns_and_lose_one_cycle_at_the_change(dut: Any) -> None:
    bench, masters, _ = await crossbar(dut)
    for master in masters:
        master.play([[Op(address(3, 0)) for _ in range(4)] for _ in range(20)])
    await bench.until(lambda: not any(m.busy for m in masters), 1000)
    order = sorted((op.taken, i) for i, m in enumerate(masters) for op in m.done)
    owners = [i for _, i in order][::4]
    assert owners == [n % MASTERS for n in range(60)]
    # Four operations, the last answer, and the cycle in which cyc is seen low.
    assert all(b[0] - a[0] == 6 for a, b in zip(order[::4], order[4::4], strict=False))


@cocotb.test()
async def two_masters_that_want_each_others_slave_both_get_it(dut: Any) -> None:
    bench, masters, _ = await crossbar(dut, latency=(1, 3))
    for _ in range(50):
        masters[0].play([[Op(address(0, 0)), Op(address(1, 0)), Op(address(0, 4))]])
        masters[1].play([[Op(address(1, 0)), Op(address(0, 0)), Op(address(1, 4))]])
    await bench.until(lambda: not any(m.busy for m in masters), 2000)
    assert all(op.ok for m in masters for op in m.done)


@cocotb.test()
async def a_dead_slave_costs_its_user_one_timeout_and_nobody_else(dut: Any) -> None:
    bench, masters, slaves = await crossbar(dut)
    slaves[2].mute = True
    masters[0].play([[Op(address(2, 4 * n)) for n in range(5)], [Op(address(0, 0))]])
    masters[1].play([[Op(address(1, 0))] for _ in range(20)])
    await bench.until(lambda: not any(m.busy for m in masters), 3 * TIMEOUT)
    assert [op.ok for op in masters[0].done] == [False] * 5 + [True]
    assert all(op.ok for op in masters[1].done)
    slaves[2].mute = False
    masters[2].play([[Op(address(2, 0))]])
    await bench.until(lambda: not masters[2].busy, 50)
    assert masters[2].done[0].ok


@cocotb.test()
async def guard_adds_no_cycle(dut: Any) -> None:
    bench, master, _ = await alone(dut)
    master.play([[Op(4 * n) for n in range(60)]])
    await bench.until(lambda: not master.busy, 200)
    first = master.done[0].offered
    assert [op.taken for op in master.done] == [first + n for n in range(60)]
    assert all(op.answered == op.taken + 1 and op.ok for op in master.done)


@cocotb.test()
async def guard_answers_err_when_nobody_takes(dut: Any) -> None:
    bench, master, target = await alone(dut, stuck=True)
    master.play([[Op(0)]])
    await bench.until(lambda: not master.busy, 100)
    [op] = master.done
    assert op.ok is False
    assert op.answered - op.offered == ALONE_TIMEOUT + 2
    target.stuck = False
    master.play([[Op(4)]])
    await bench.until(lambda: not master.busy, 100)
    assert master.done[1].ok


@cocotb.test()
async def guard_answers_all_that_is_owed_one_a_cycle_and_lets_the_bus_go(dut: Any) -> None:
    bench, master, target = await alone(dut, mute=True)
    master.play([[Op(4 * n) for n in range(ALONE_OUTSTANDING + 2)]])
    low, pulses = 0, 0
    while len(master.done) < ALONE_OUTSTANDING:
        await bench.step()
        low += not int(dut.b_cyc_o.value)
        pulses += int(dut.alone_timeout_o.value)
        assert bench.cycle < 100
    answered = [op.answered for op in master.done]
    assert answered == [answered[0] + n for n in range(ALONE_OUTSTANDING)]
    assert answered[0] - master.done[0].taken == ALONE_TIMEOUT + 1
    assert not any(op.ok for op in master.done)
    assert low >= 1
    assert pulses == 1
    # The rest of the master's cycle fails at once; its next cycle reaches the bus again.
    master.play([[Op(0x40)]])
    target.mute = False
    await bench.until(lambda: not master.busy, 100)
    assert [op.ok for op in master.done[ALONE_OUTSTANDING:]] == [False, False, True]
    assert target.taken == ALONE_OUTSTANDING + 1


@cocotb.test()
async def guard_answers_err_at_once_for_the_rest_of_a_cycle_that_timed_out(dut: Any) -> None:
    bench, master, target = await alone(dut)
    operations = 200
    for fault in ("mute", "stuck"):
        master.done.clear()
        setattr(target, fault, True)
        start, before, pulses = bench.cycle, target.taken, 0
        master.play([[Op(4 * n, we=bool(n & 1)) for n in range(operations)]])
        while master.busy:
            await bench.step()
            pulses += int(dut.alone_timeout_o.value)
            if pulses:
                # A slave that comes back does not get the middle of a bus cycle that failed.
                setattr(target, fault, False)
            assert bench.cycle - start < 2 * operations
        assert pulses == 1
        assert target.taken - before == (ALONE_OUTSTANDING if fault == "mute" else 0)
        answered = [op.answered for op in master.done]
        assert answered == [answered[0] + n for n in range(operations)]
        assert answered[0] - master.done[0].offered == ALONE_TIMEOUT + (1 if fault == "mute" else 2)
        assert not any(op.ok for op in master.done)


@cocotb.test()
async def guard_clock_starts_again_with_every_answer(dut: Any) -> None:
    bench, master, _ = await alone(dut, latency=(7, 9))
    master.gap = 0.7
    # Something is owed nearly all the time, never for as long as the timeout without an answer.
    master.play([[Op(4 * n) for n in range(200)]])
    await bench.until(lambda: not master.busy, 4000)
    assert all(op.ok for op in master.done)


@cocotb.test()
async def guard_answers_late_operations_of_a_dead_cycle_in_one_clock(dut: Any) -> None:
    bench, master, target = await alone(dut, stuck=True)
    master.gap = 0.7
    master.play([[Op(4 * n) for n in range(50)]])
    await bench.until(lambda: not master.busy, 1000)
    assert target.taken == 0
    late = master.done[1:]
    assert [(op.taken - op.offered, op.answered - op.taken) for op in late] == [(0, 1)] * len(late)


@cocotb.test()
async def guard_gives_one_reply_each_whatever_the_bus_does(dut: Any) -> None:
    bench, master, target = await alone(dut, rogue=0.05, stall=0.4, latency=(1, 20))
    master.gap, master.abort = 0.2, 0.01
    sent = 0
    for _ in range(120):
        cycle = [Op(4 * n) for n in range(random.randint(1, 10))]
        sent += len(cycle)
        master.play([cycle])
        target.mute, target.stuck = random.random() < 0.2, random.random() < 0.2
        await bench.until(lambda: not master.busy, 12 * (ALONE_TIMEOUT + 30))
    assert len(master.done) + len(master.aborted) == sent
    assert master.stray == 0
    bound = (ALONE_OUTSTANDING + 1) * (ALONE_TIMEOUT + 3)
    assert all(op.answered - op.offered <= bound for op in master.done)


@cocotb.test()
async def guard_bounds_the_whole_cycle_on_a_dead_slave_to_one_timeout(dut: Any) -> None:
    bench, masters, slaves = await crossbar(dut)
    slaves[1].mute = True
    start = bench.cycle
    masters[0].play([[Op(address(1, 4 * n)) for n in range(255)]])
    await bench.until(lambda: not masters[0].busy, 2 * TIMEOUT + 255)
    assert bench.cycle - start <= TIMEOUT + 255 + 5


@cocotb.test()
async def slice_adds_a_cycle_each_way_and_keeps_the_rate(dut: Any) -> None:
    bench, master, _ = await alone(dut, "c", "d")
    master.play([[Op(4 * n) for n in range(60)]])
    await bench.until(lambda: not master.busy, 200)
    first = master.done[0].offered
    assert [op.taken for op in master.done] == [first + n for n in range(60)]
    assert all(op.answered == op.taken + 3 and op.ok for op in master.done)


@cocotb.test()
async def slice_carries_random_traffic_and_forgets_aborted_cycles(dut: Any) -> None:
    bench, master, target = await alone(
        dut, "c", "d", stall=0.5, latency=(1, 4), fails=lambda a: bool(a & 0x800)
    )
    master.gap = 0.1
    master.play(random_cycle(0) for _ in range(100))
    await bench.until(lambda: not master.busy, 20_000)
    assert len(master.done) == target.taken
    master.abort = 0.1
    master.play([Op(op.adr, sel=0xF) for op in random_cycle(0)] for _ in range(200))
    master.done.clear()
    target.memory.clear()
    await bench.until(lambda: not master.busy, 20_000)
    assert master.aborted
    assert all(op.ok is (not op.adr & 0x800) for op in master.done)
    assert all(op.value == op.adr ^ 0x5A5A_0000 for op in master.done if op.ok)
