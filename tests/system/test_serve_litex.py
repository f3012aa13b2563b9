# SPDX-License-Identifier: Apache-2.0
"""LiteEth's dialect and a TAP interface as other programs meet them: LiteX's own client, frames, datagrams.

What needs a network of its own runs in a new network namespace, beside the server and its TAP interface.
"""

from __future__ import annotations

import os
import random
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from isthmus import eb
from isthmus.paths import ROOT
from test_serve import PROBE, SERVER, ask, read, running

HERE = Path(__file__).resolve().parent
LITE_PROBE = bytes.fromhex("4e6f1144 00000000 00000000")
LITE_PROBE_REPLY = bytes.fromhex("4e6f1244 00000000 00000000")
FPGA = "192.168.10.2"
# The interface exists when the server says so; then it gets its address, and the client runs.
IN_NAMESPACE = """
import signal, subprocess, sys
code, model, options, *client = sys.argv[1:]
server = subprocess.Popen([sys.executable, "-c", code, model, options], stdout=-1, stderr=-1, text=True)
try:
    assert server.stdout.readline().startswith("etherbone tap isthmus0 "), server.stderr.read()
    for change in ("link set lo up", "address add 192.168.10.1/24 dev isthmus0", "link set isthmus0 up"):
        subprocess.run(["ip", *change.split()], check=True)
    status = subprocess.run(client, timeout=120).returncode
finally:
    server.send_signal(signal.SIGINT)
    print(server.communicate(timeout=20)[1], file=sys.stderr)
sys.exit(status)
"""


def lite(*words: int) -> bytes:
    return struct.pack(f">{2 + len(words)}I", 0x4E6F1044, 0, *words)


def lite_read(number: int, *addresses: int) -> bytes:
    return lite(0x000F0000 | len(addresses), number, *addresses)


def lite_values(number: int, *values: int) -> bytes:
    return lite(0x000F0000 | len(values) << 8, number, *values)


@pytest.fixture
def on_tap(gige: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a client beside a server with a TAP interface, both alone in a network namespace."""
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        pytest.skip("unshare and ip are needed for a network of its own")
    made = subprocess.run(
        [*unshare, "ip", "tuntap", "add", "dev", "probe", "mode", "tap"], capture_output=True, text=True
    )
    if made.returncode != 0:
        pytest.skip(f"no TAP interface in a network namespace here: {made.stderr.strip()}")

    def run(options: dict[str, object], *client: str) -> subprocess.CompletedProcess[str]:
        options = {"tap": "isthmus0", **options}
        return subprocess.run(
            [*unshare, sys.executable, "-c", IN_NAMESPACE, SERVER, str(gige), repr(options), *client],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            capture_output=True,
            text=True,
            timeout=240,
        )

    return run


def test_litex_s_own_client_reads_and_writes_through_a_tap_interface(
    on_tap: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    pytest.importorskip("litex.tools.remote.comm_udp", reason="LiteX is not installed")
    done = on_tap({"dialect": "litex"}, sys.executable, str(HERE / "litex_client.py"), FPGA, "1234")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
    # Everything but what the system itself says on a new network was answered.
    assert " 0 errors" in done.stderr


FRAMES = """
import socket, subprocess, struct, sys
def ones(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
echo = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
echo.settimeout(10)
for number, size in enumerate((0, 56, 1000, 1472)):
    data = struct.pack(">HH", 7, number) + bytes(range(256)) * 6
    data = data[: 4 + size]
    echo.sendto(struct.pack(">BBH", 8, 0, ones(struct.pack(">BBH", 8, 0, 0) + data)) + data, (sys.argv[1], 0))
    answer = echo.recv(2048)[20:]
    assert (answer[0], ones(answer), answer[4:]) == (0, 0, data), size
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.settimeout(10)
client.connect((sys.argv[1], 60368))
client.send(bytes.fromhex("4e6f11ff01020304"))
assert client.recv(64) == bytes.fromhex("4e6f164401020304")
print(subprocess.run(["ip", "neighbour"], capture_output=True, text=True).stdout)
"""


def test_the_gateware_itself_answers_arp_icmp_and_udp_on_a_tap_interface(
    on_tap: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = on_tap({}, sys.executable, "-c", FRAMES, FPGA)
    assert done.returncode == 0, done.stderr
    assert "lladdr 02:00:00:00:00:02" in done.stdout


BROADCASTS = """
import os, socket, struct, subprocess, sys
tool = [sys.executable, "-m", "isthmus", "eb"]
# 255.255.255.255 goes where the default route says.
subprocess.run(["ip", "route", "add", "default", "dev", "isthmus0"], check=True)
for address in ("192.168.10.255", "255.255.255.255"):
    found = subprocess.run([*tool, "discover", f"udp/{address}"], capture_output=True, text=True)
    print(found.stdout.replace("\\t", " "), found.stderr, file=sys.stderr)
    assert found.returncode == 0 and "192.168.10.2" in found.stdout
# A write and a read sent to everybody are not done.
everybody = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
everybody.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
everybody.settimeout(2)
for words in ([0xA80F0100, 0x40, 0xBAD], [0xA80F0001, 0x8000, 0x40]):
    everybody.sendto(struct.pack(f">{1 + len(words)}I", 0x4E6F1044, *words), ("192.168.10.255", 60368))
try:
    print(everybody.recv(64).hex(), "was not expected")
except TimeoutError:
    pass
values = []
for address in ("0x40/4", "0x4000c8/4"):
    command = [*tool, "read", "udp/192.168.10.2", address]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    values.append(done.stdout.strip())
print(values)
"""


def test_broadcast_finds_the_gateware_and_changes_nothing(
    on_tap: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = on_tap({}, sys.executable, "-c", BROADCASTS)
    assert done.returncode == 0, done.stderr
    assert [int(value, 16) for value in eval(done.stdout)] == [0, 2], "the word, and drop_broadcast"


ARP_BEHIND_A_PROBE = """
import socket, struct
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
wire.bind(("isthmus0", 0))
wire.settimeout(10)
us, ip, fpga = bytes([2, 0, 0, 0, 0, 9]), bytes([192, 168, 10, 1]), bytes([192, 168, 10, 2])
def ones(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
payload = bytes.fromhex("4e6f11ff01020304")
udp = struct.pack(">4H", 40000, 60368, 8 + len(payload), 0) + payload
head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0x4000, 64, 17, 0) + ip + fpga
head = head[:10] + struct.pack(">H", ones(head)) + head[12:]
probe = bytes([2, 0, 0, 0, 0, 2]) + us + b"\\x08\\x00" + head + udp
arp = bytes([255] * 6) + us + bytes.fromhex("08060001080006040001") + us + ip + bytes(6) + fpga
for order in ([probe, arp], [arp, probe], [probe, arp, probe, probe], [arp] * 2 + [probe] * 5):
    for frame in order:
        wire.send(frame)
    probes, arps = order.count(probe), 0
    while probes or not arps:
        frame = wire.recv(2048)
        if frame[:6] != us:
            continue
        arps += frame[12:14] == b"\\x08\\x06"
        probes -= frame[12:14] == b"\\x08\\x00" and frame[42:50] == bytes.fromhex("4e6f164401020304")
print("answered")
"""


def test_an_arp_reply_behind_a_probe(on_tap: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    done = on_tap({}, sys.executable, "-c", ARP_BEHIND_A_PROBE)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "answered\n"


def test_frames_of_hosts_that_are_not_allowed_are_dropped_and_counted(
    on_tap: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = on_tap(
        {"allow": ["192.168.10.7"]},
        sys.executable,
        "-c",
        FRAMES.replace("settimeout(10)", "settimeout(1)"),
        FPGA,
    )
    assert done.returncode != 0
    assert " 0 requests, 0 replies, 0 errors, " in done.stderr
    assert " not allowed" in done.stderr


def test_a_tap_interface_without_permission_is_one_line(gige: Path) -> None:
    if shutil.which("setpriv") is None or os.geteuid() != 0:
        pytest.skip("setpriv and root are needed to give permission up")
    done = subprocess.run(
        [
            "setpriv",
            "--bounding-set=-net_admin",
            sys.executable,
            "-c",
            SERVER,
            str(gige),
            repr({"tap": "isthmus0"}),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    advice = "run as root, or have root create it: ip tuntap add dev isthmus0 mode tap user NAME"
    assert done.stderr == f"isthmus: open tap isthmus0: Operation not permitted (os error 1); {advice}\n"


def test_reads_and_writes_in_liteeth_s_dialect(gige: Path) -> None:
    with running(gige, udp="127.0.0.1:0", dialect="litex") as server, server.udp() as client:
        assert ask(client, LITE_PROBE) == LITE_PROBE_REPLY
        # Not answered: nothing is read.
        client.send(lite(0x000F0200, 0x40, 0xCAFEF00D, 0x12345678))
        assert ask(client, lite_read(7, 0x40, 0x44)) == lite_values(7, 0xCAFEF00D, 0x12345678)
        # Writes first, then reads, whose answer stands alone.
        both = lite(0x000F0101, 0x40, 0x99, 0xFFFFFFFF, 0x40)
        assert ask(client, both) == lite_values(0xFFFFFFFF, 0x99)


def test_a_standard_probe_to_either_dialect(gige: Path) -> None:
    with running(gige, udp="127.0.0.1:0") as server, server.udp() as client:
        client.send(LITE_PROBE)
        assert ask(client, PROBE) == bytes.fromhex("4e6f164401020304")
    with running(gige, udp="127.0.0.1:0", dialect="litex") as server, server.udp() as client:
        client.send(PROBE)
        assert ask(client, LITE_PROBE) == LITE_PROBE_REPLY


def test_a_foreign_dialect_s_frame(gige: Path) -> None:
    for dialect, foreign, request in (
        ("ohwr", lite_read(1, 0x10_0000, 0x40), read(0x10_0000)),
        ("litex", read(0x10_0000, 0x40), lite_read(2, 0x10_0000)),
    ):
        with running(gige, udp="127.0.0.1:0", dialect=dialect) as server, server.udp() as client:
            before = ask(client, request)
            for _ in range(20):
                client.send(foreign)
            # The empty word behind LiteEth's header is a record without operations: that frame is a request.
            answers = 20 if dialect == "ohwr" else 0
            for _ in range(answers):
                client.recv(2048)
            assert ask(client, request) == before


def test_more_reads_than_any_buffer(gige: Path) -> None:
    for dialect, head, request in (
        ("ohwr", bytes.fromhex("4e6f1044a80f00ff00008000"), read(0x10_0000)),
        ("litex", bytes.fromhex("4e6f104400000000000f00ff00000001"), lite_read(2, 0x10_0000)),
    ):
        with running(gige, udp="127.0.0.1:0", dialect=dialect) as server, server.udp() as client:
            before = ask(client, request)
            for have in (0, 1, 17, 254):
                client.send(head + bytes(4 * have))
                assert ask(client, request) == before
            # All 255 that a record can hold are answered.
            reply = ask(client, head + struct.pack(">255I", *range(0, 1020, 4)))
            assert len(reply) == len(head) + 1020


def test_flags_mean_the_same_in_gateware_and_in_software(gige: Path) -> None:
    """LiteEth's core ignores a record's flags and its masters set none; both slaves here honour them."""
    rng = random.Random(20260131)
    bca, rca, rff, cyc, wca, wff = 0x01, 0x02, 0x04, 0x10, 0x20, 0x40
    with (
        running(gige, udp="127.0.0.1:0", dialect="litex") as server,
        server.udp() as gateware,
        eb.SoftwareSlave([eb.Memory(0, bytes(0x100))], table=None, dialect="liteeth", tcp=()) as slave,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as software,
    ):
        host, port = slave.names[0].split("/")[1:]
        software.connect((host, int(port)))
        software.settimeout(20)
        both = (gateware, software)
        # The same in both memories to begin with.
        for client in both:
            client.send(lite(0x000F4000, 0, *range(64)))
        seen = 0
        for number in range(300):
            flags = rng.choice((0, 0, rng.choice((bca, rca, rff, cyc, wca, wff)), rng.getrandbits(8)))
            writes, reads = rng.randrange(5), rng.randrange(1, 6)
            # The error register alone is the same in both configuration spaces.
            inside = (0, 4) if flags & rca else range(0, 0x100, 4)
            words = [flags << 24 | 0xF << 16 | writes << 8 | reads]
            if writes:
                words += [rng.randrange(0, 0xF0, 4), *(rng.getrandbits(32) for _ in range(writes))]
            words += [number, *(rng.choice(inside) for _ in range(reads))]
            if not flags & rca and rng.random() < 0.3:
                # Nobody answers there in either.
                words[-1] = 0x60_0000
            replies = [ask(client, lite(*words)) for client in both]
            assert replies[0] == replies[1], f"{words[0]:08x}: {replies[0].hex()} {replies[1].hex()}"
            seen |= replies[0][8]
        assert seen == wca | wff | cyc, "all flags of replies were met"


def test_two_packets_too_close(gige: Path) -> None:
    for dialect, request in (("ohwr", read(0x10_0000)), ("litex", lite_read(3, 0x10_0000))):
        with running(gige, udp="127.0.0.1:0", dialect=dialect) as server, server.udp() as client:
            before = ask(client, request)
            # What waits together goes onto the wire back to back, with the shortest gap.
            for _ in range(200):
                client.send(request)
            assert {client.recv(2048) for _ in range(200)} == {before}


def test_the_reply_goes_where_the_request_came_from_or_to_the_port_that_is_set(gige: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as fixed:
        fixed.bind(("127.0.0.1", 0))
        fixed.settimeout(10)
        port = fixed.getsockname()[1]
        device = {"reply_port": port}
        with (
            running(gige, udp="127.0.0.1:0", dialect="litex", device=device) as server,
            server.udp() as client,
        ):
            client.send(LITE_PROBE)
            assert fixed.recv(64) == LITE_PROBE_REPLY


def test_streams_have_no_such_dialect(gige: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SERVER, str(gige), repr({"pty": True, "dialect": "litex"})],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr == (
        "isthmus: scenario: device.dialect: litex has no streams: tcp and pty speak ohwr\n"
    )
