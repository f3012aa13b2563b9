# SPDX-License-Identifier: Apache-2.0
"""`isthmus.eb` against the software slave."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from array import array

import pytest
from conftest import CONTENTS, RAM, RAM_SIZE, ROM
from isthmus import eb
from isthmus.errors import UserError


@pytest.mark.parametrize("transport", [0, 1], ids=["udp", "tcp"])
def test_words_come_back_over_both_transports(slave: eb.SoftwareSlave, transport: int) -> None:
    with eb.Device(slave.names[transport]) as device:
        assert (device.address_bytes, device.data_bytes) == (4, 4)
        device.write(RAM, 0xCAFEF00D)
        assert device.read(RAM) == 0xCAFEF00D
        values = device.execute(eb.Cycle().write(RAM + 4, 7).read(RAM).read(RAM + 4))
        assert values == [0xCAFEF00D, 7]


def test_sizes_select_lanes_of_a_big_endian_bus(device: eb.Device) -> None:
    device.write(RAM, 0x11223344)
    assert [device.read(RAM + lane, 1) for lane in range(4)] == [0x11, 0x22, 0x33, 0x44]
    assert [device.read(RAM + lane, 2) for lane in (0, 2)] == [0x1122, 0x3344]
    device.write(RAM + 1, 0xFF, 1)
    assert device.read(RAM) == 0x11FF3344
    device.write(RAM, 0x0102030405060708, 8)
    assert (device.read(RAM), device.read(RAM + 4)) == (0x01020304, 0x05060708)
    assert device.read(RAM, 8) == 0x0102030405060708


def test_little_endian_mirrors_lanes_and_words_but_not_a_whole_word(device: eb.Device) -> None:
    device.write(RAM, 0x11223344)
    device.write(RAM + 4, 0x55667788)
    assert [device.read(RAM + lane, 1, little_endian=True) for lane in range(4)] == [0x44, 0x33, 0x22, 0x11]
    assert device.read(RAM + 2, 2, little_endian=True) == 0x1122
    assert device.read(RAM, 4, little_endian=True) == 0x11223344
    assert device.read(RAM, 8, little_endian=True) == 0x5566778811223344


@pytest.mark.parametrize(("widths", "size"), [((16,), 2), ((64,), 8)], ids=["16-bit port", "64-bit port"])
def test_other_port_widths(widths: tuple[int, ...], size: int) -> None:
    with (
        eb.SoftwareSlave([eb.Memory(0, bytes(64))], data_widths=widths) as slave,
        eb.Device(slave.names[0]) as device,
    ):
        assert device.data_bytes == size
        device.write(8, 0x0102030405060708, 8)
        assert device.read(8, 8) == 0x0102030405060708
        assert device.read_bytes(8, 8) == bytes(range(1, 9))
        assert device.read(8, 2) == 0x0102
        assert [record.kind for record in device.sdb()] == ["interconnect", "device"]


def test_a_bus_error_names_the_operation_and_keeps_the_values(device: eb.Device) -> None:
    with pytest.raises(eb.BusError, match=r"^read 0x00300000 \(operation 1\): bus error") as failed:
        device.execute(eb.Cycle().read(ROM).read(0x30_0000).read(ROM + 4))
    assert failed.value.failed == [1]
    assert (failed.value.reads[0], failed.value.reads[2]) == (0x00010203, 0x04050607)
    assert failed.value.exit_code == 1
    # A silent cycle does not notice.
    device.execute(eb.Cycle(silent=True).read(0x30_0000))


def test_many_cycles_in_flight_keep_their_order(device: eb.Device) -> None:
    pending = [device.submit(eb.Cycle().write(RAM + 4 * i, i).read(RAM + 4 * i)) for i in range(2000)]
    assert device.outstanding() == 2000
    assert not pending[0].done()
    device.flush()
    device.settle()
    assert [one.result() for one in pending] == [[i] for i in range(2000)]
    # A result can be asked for again, and asking needs no settle.
    assert pending[5].result() == [5]
    assert device.submit(eb.Cycle().read(RAM + 8)).result() == [2]


def test_a_callback_is_called_once_with_its_cycle(device: eb.Device) -> None:
    told: list[object] = []
    device.submit(eb.Cycle().read(ROM), lambda pending: told.append(pending.result()))

    def bad(pending: eb.Pending) -> None:
        with pytest.raises(eb.BusError):
            pending.result()
        told.append("bus error")

    device.submit(eb.Cycle().read(0x30_0000), bad)
    assert told == []
    device.settle()
    device.settle()
    assert told == [[0x00010203], "bus error"]


def test_closing_ends_cycles_in_flight(device: eb.Device) -> None:
    pending = device.submit(eb.Cycle().read(ROM))
    device.close()
    with pytest.raises(eb.EtherboneError, match="dropped before the cycle ended"):
        pending.result()
    with pytest.raises(UserError, match="the device is closed"):
        device.read(ROM)


@pytest.mark.parametrize("words_per_cycle", [0, 1, 7])
def test_blocks_travel_whole(device: eb.Device, words_per_cycle: int) -> None:
    data = os.urandom(RAM_SIZE)
    device.write_bytes(RAM, data, words_per_cycle=words_per_cycle)
    assert device.read_bytes(RAM, RAM_SIZE, words_per_cycle=words_per_cycle) == data
    assert device.read_bytes(RAM + 8, 4) == data[8:12]
    assert device.read_bytes(ROM, 8, fixed=True) == CONTENTS[:4] * 2
    device.write_bytes(RAM, array("I", [1, 2]))
    assert device.read_bytes(RAM, 8) == array("I", [1, 2]).tobytes()


def test_a_block_that_ends_in_nothing_is_a_bus_error(device: eb.Device) -> None:
    with pytest.raises(eb.BusError, match="read 0x00200100"):
        device.read_bytes(ROM, 0x110)
    assert len(device.read_bytes(ROM, 0x110, silent=True)) == 0x110


@pytest.mark.parametrize("pipelined", [False, True])
def test_the_same_cycle_again_and_again(device: eb.Device, pipelined: bool) -> None:
    values = device.repeat(eb.Cycle().read(ROM).read(ROM + 4), 5000, pipelined=pipelined)
    assert values == array("Q", [0x00010203, 0x04050607] * 5000)


def test_the_bus_describes_itself(device: eb.Device) -> None:
    head, ram, rom = device.sdb()
    assert (head.kind, head.path, head.name) == ("interconnect", (), "Software-Slave")
    assert (ram.bus_path, ram.first, ram.last, ram.device) == ("1", RAM, RAM + RAM_SIZE - 1, 0x66CFEB52)
    assert (rom.bus_path, rom.vendor, rom.name, rom.sizes) == ("2", 0xCE42, "ROM", (1, 2, 4, 8))
    assert device.find(0xCE42, 0x1234) == [rom]
    assert device.find(0xCE42, 0x1235) == []


def test_statistics_count_both_sides(slave: eb.SoftwareSlave, device: eb.Device) -> None:
    device.read(ROM)
    device.write(RAM, 1)
    counted = device.statistics()
    assert (counted["cycles"], counted["messages_sent"], counted["timed_out"]) == (2, 3, 0)
    served = slave.close()
    assert (served["probes"], served["datagrams"], served["operations"], served["bus_errors"]) == (1, 3, 2, 0)
    assert slave.close() == {}


def test_retries_open_a_session_with_a_slave_that_has_them(name: str) -> None:
    with eb.Device(name, retries=2) as device:
        assert device.has_session
        assert device.read(ROM) == 0x00010203


def test_liteeths_dialect() -> None:
    with (
        eb.SoftwareSlave([eb.Memory(0, CONTENTS)], dialect="liteeth", tcp=()) as slave,
        eb.Device(slave.names[0], dialect="liteeth") as device,
    ):
        device.write(8, 0xCAFEF00D)
        assert device.read_bytes(0, 64)[8:12] == bytes.fromhex("cafef00d")


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (lambda d: d.read(RAM + 2), "read 0x00001002 (operation 0): address must be a multiple of 4"),
        (lambda d: d.read(RAM + 1, 2), "address 0x1001 must be a multiple of 2"),
        (lambda d: d.read(RAM, 3), "size 3: expected 1, 2, 4 or 8"),
        (lambda d: d.read(1 << 32), "read 0x100000000 (operation 0): address beyond 32 bit"),
        (lambda d: d.read(-1), "-0x1, 0x0: expected numbers from 0 to 2^64 - 1"),
        (lambda d: d.write(RAM, 1 << 32), "write 0x00001000 (operation 0): value 0x100000000 does not fit"),
        (lambda d: d.write(RAM, 256, 1), "write 0x1000: value 0x100 does not fit 8 bit"),
        (lambda d: d.execute(eb.Cycle()), "the cycle has no operation"),
        (lambda d: d.read_bytes(RAM, 3), "0x1000/0x3: both must be multiples of 4"),
        (lambda d: d.read_bytes(0xFFFF_FFFC, 8), "0xfffffffc/0x8: beyond 32 bit of address"),
        (lambda d: d.submit(eb.Cycle().read_range(RAM, 2000)), "cycle of 2000 operations needs "),
    ],
)
def test_a_wrong_request_is_one_line_and_nothing_is_sent(device: eb.Device, wrong: object, line: str) -> None:
    before = device.statistics()["messages_sent"]
    with pytest.raises(UserError) as refused:
        wrong(device)  # type: ignore[operator]
    assert str(refused.value).startswith(line)
    assert "\n" not in str(refused.value)
    assert refused.value.exit_code == 2
    assert device.statistics()["messages_sent"] == before


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("usb/x", "unknown protocol"),
        ("udp/127.0.0.1/0", "is not a port"),
        ("dev/../x", "no device below /dev"),
    ],
)
def test_a_wrong_name_says_what_would_be_right(name: str, line: str) -> None:
    with pytest.raises(UserError, match=rf"{line}.*expected udp/HOST"):
        eb.Device(name)


def test_nobody_there_and_a_device_that_falls_silent() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
        deaf.bind(("127.0.0.1", 0))
        name = f"udp/127.0.0.1/{deaf.getsockname()[1]}"
        with pytest.raises(eb.DeviceTimeoutError, match="no Etherbone device answered 2 probes"):
            eb.Device(name, probes=2, probe_timeout_s=0.05)

        def answer_probes() -> None:
            while True:
                request, sender = deaf.recvfrom(2048)
                if request[2] == 0x10:
                    return
                deaf.sendto(bytes.fromhex("4e6f1644") + request[4:], sender)

        while_open = threading.Thread(target=answer_probes)
        # What the first attempts left is answered too; the client takes the first answer.
        while_open.start()
        with eb.Device(name, timeout_s=0.1) as device:
            with pytest.raises(eb.DeviceTimeoutError, match=r"^read 0x00001000 \(operation 0\): no reply"):
                device.read(RAM)
            assert device.statistics()["timed_out"] == 1
        while_open.join(10)
    assert not while_open.is_alive()


def test_control_c_ends_a_wait() -> None:
    program = (
        "import socket\n"
        "from isthmus import eb\n"
        "deaf = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "deaf.bind(('127.0.0.1', 0))\n"
        "print('waiting', flush=True)\n"
        "eb.Device(f'udp/127.0.0.1/{deaf.getsockname()[1]}', probe_timeout_s=60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert b"KeyboardInterrupt" in err


def test_other_threads_run_while_one_waits() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
        deaf.bind(("127.0.0.1", 0))
        name = f"udp/127.0.0.1/{deaf.getsockname()[1]}"

        def wait() -> None:
            with pytest.raises(eb.DeviceTimeoutError):
                eb.Device(name, probes=1, probe_timeout_s=0.5)

        waiting = threading.Thread(target=wait)
        waiting.start()
        turns = 0
        while waiting.is_alive():
            turns += 1
            time.sleep(0.01)
        assert turns >= 10


def test_memories_that_overlap_are_refused() -> None:
    with pytest.raises(UserError, match="overlaps"):
        eb.SoftwareSlave([eb.Memory(0, bytes(16)), eb.Memory(8, bytes(16))])


def test_a_taken_port_is_one_line(slave: eb.SoftwareSlave) -> None:
    _, host, port = slave.names[0].split("/")
    with pytest.raises(eb.EtherboneError, match=f"listen on udp {host}:{port}: "):
        eb.SoftwareSlave([], udp=[f"{host}:{port}"])


def test_discovery_finds_who_answers(slave: eb.SoftwareSlave) -> None:
    found = eb.discover(slave.names[0], silence_s=0.3)
    assert found == [eb.Discovered(slave.names[0], (32,), (32,))]


def test_events_tell_what_a_master_did() -> None:
    with (
        eb.SoftwareSlave([eb.Memory(0, CONTENTS)], log=True) as slave,
        eb.Device(slave.names[0]) as device,
    ):
        device.execute(eb.Cycle().write(8, 5).read(8))
        lines: list[str] = []
        until = time.monotonic() + 10
        while "end of cycle" not in lines and time.monotonic() < until:
            lines += slave.events(1)
        assert lines[0].startswith("cycle by udp/127.0.0.1/")
        assert lines[1:] == [
            "write 0x00000008/1111 0x00000005",
            "read  0x00000008/1111 0x00000005",
            "end of cycle",
        ]
        assert slave.events(0.01) == []


def test_a_timeout_longer_than_the_clock_is_a_long_timeout(name: str) -> None:
    with eb.Device(name, timeout_s=1e19) as opened:
        assert opened.read(0x1000) == 0
