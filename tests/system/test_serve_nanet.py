# SPDX-License-Identifier: Apache-2.0
"""`isthmus serve nanet` as other programs meet it: frames on a TAP interface, captures, datagrams out.

What needs a network of its own runs in a new network namespace, beside the server and its TAP interface.
Every frame that went in must be found in one of the counts.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from isthmus.errors import UserError
from isthmus.paths import ROOT
from isthmus.roads.nanet import serve
from isthmus.roads.nanet.serve import NanetStatus, ServeOptions

SEED = 20261126
NIC = "192.168.20.16"
MAC = bytes.fromhex("020000000010")
PORT = 6666


# Frames --------------------------------------------------------------------------------------------


def ones(data: bytes) -> int:
    """The checksum of IP and UDP."""
    data += bytes(len(data) % 2)
    total = sum(int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(payload: bytes, port: int = PORT, to: str = NIC, mac: bytes = MAC) -> bytes:
    """An Ethernet frame with a datagram."""
    source, target = socket.inet_aton("192.168.20.1"), socket.inet_aton(to)
    head = struct.pack(">4H", 6000, port, 8 + len(payload), 0)
    pseudo = source + target + struct.pack(">BBH", 0, 17, 8 + len(payload))
    udp = head[:6] + struct.pack(">H", ones(pseudo + head + payload) or 0xFFFF) + payload
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(udp), 1, 0x4000, 64, 17, 0) + source + target
    ip = ip[:10] + struct.pack(">H", ones(ip)) + ip[12:]
    return mac + bytes([2, 0, 0, 0, 0, 9]) + b"\x08\x00" + ip + udp


def pattern(number: int, size: int) -> bytes:
    """A payload that no other number has: its number, then bytes that follow from it."""
    return random.Random(SEED * 1_000 + number).randbytes(size)


Timed = tuple[int, bytes]
"""Time in ns, frame."""


def pcap(frames: Iterable[Timed], nanoseconds: bool = True, order: str = "<", cut: int = 65535) -> bytes:
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    made = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
    for ns, data in frames:
        fraction = ns % 10**9 // (1 if nanoseconds else 1000)
        kept = data[:cut]
        made += struct.pack(f"{order}4I", ns // 10**9, fraction, len(kept), len(data)) + kept
    return made


def pcapng(frames: Iterable[Timed], resolution: int = 9) -> bytes:
    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))

    made = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    option = struct.pack("<HHB3xHH", 9, 1, resolution, 0, 0)
    made += block(1, struct.pack("<HHI", 1, 0, 65535) + option)
    for ns, data in frames:
        ticks = ns // 10 ** (9 - resolution)
        head = struct.pack("<5I", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
        made += block(6, head + data)
    return made


def accounted(status: NanetStatus) -> None:
    """Each frame is counted once, and each datagram where it ended."""
    judged = sum(status.counted(name) for name in ("frames_good", "frames_bad", "frames_other"))
    refused = status.unusable + status.not_kept_up + status.line_full
    assert status.frames == judged + refused + status.waiting, status
    ended = ("delivered", "overflow", "closed", "no_buffer", "too_long", "no_event")
    # An overflow may hit a bad datagram too: then it is one of both counts.
    assert status.counted("frames_good") <= sum(status.counted(name) for name in ended), status
    assert status.delivered + status.counted("overwritten") >= status.counted("delivered"), status


# Captures ------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def model() -> Path:
    return serve.build(ServeOptions(("one",)), serve.platform("nanet"))


@pytest.fixture
def replay(model: Path, tmp_path: Path) -> Callable[..., tuple[NanetStatus, bytes]]:
    """Replays a capture; returns the counts and the payloads."""

    def run(capture: bytes, **options: object) -> tuple[NanetStatus, bytes]:
        (tmp_path / "in.pcap").write_bytes(capture)
        out = tmp_path / "out"
        made = ServeOptions(captures=(tmp_path / "in.pcap",), out=out, **options)  # type: ignore[arg-type]
        status = serve.serve(made, serve.platform("nanet"), model)
        accounted(status)
        return status, out.read_bytes()

    return run


Replay = Callable[..., tuple[NanetStatus, bytes]]


def test_a_capture_is_replayed_at_its_times_and_comes_out_byte_for_byte(replay: Replay) -> None:
    sizes = [1, 4, 17, 18, 19, 63, 64, 65, 700, 1471, 1472]
    payloads = [pattern(number, size) for number, size in enumerate(sizes)]
    begin, pause = 1_700_000_000_123_456_000, 250_000
    frames = [(begin + number * pause, frame(payload)) for number, payload in enumerate(payloads)]
    times = set()
    for capture in (
        pcap(frames),
        pcap(frames, order=">"),
        pcap(frames, nanoseconds=False),
        pcapng(frames),
        pcapng(frames, resolution=6),
    ):
        status, out = replay(capture)
        assert out == b"".join(payloads)
        assert (status.frames, status.delivered, status.ended) == (len(sizes), len(sizes), True)
        assert status.counted("frames_good") == len(sizes)
        times.add(status.simulated_ps)
    # The same simulation each time, and as long as the capture.
    (length,) = times
    assert 10 * pause * 1000 <= length <= 10 * pause * 1000 + 100_000_000


def test_what_a_program_too_slow_loses_is_counted_as_such(replay: Replay) -> None:
    # A datagram each 13 us, 50 us of work each, 4 buffers.
    frames = [(13_000 * number, frame(pattern(number, 1472))) for number in range(60)]
    status, out = replay(pcap(frames), buffers=4, work_ns=50_000.0)
    assert status.counted("no_buffer") == 60 - status.delivered > 30
    assert len(out) == 1472 * status.delivered
    assert f"{60 - status.delivered} without a free buffer" in serve.text(status)
    again, same = replay(pcap(frames), buffers=4, work_ns=50_000.0)
    assert (same, again.simulated_ps, again.ports) == (out, status.simulated_ps, status.ports)


def test_what_no_line_carries_and_what_is_no_whole_frame_is_counted_as_such(replay: Replay) -> None:
    burst = [(0, frame(pattern(number, 1472))) for number in range(40)]
    status, _ = replay(pcap(burst))
    assert 0 < status.line_full < 40
    assert status.delivered == 40 - status.line_full
    assert f"{status.line_full} faster than the line" in serve.text(status)
    odd = [(0, b"short"), (10**6, bytes(1515)), (2 * 10**6, frame(b"good"))]
    status, out = replay(pcap(odd))
    assert (status.unusable, status.delivered, out) == (2, 1, b"good")
    status, out = replay(pcap([(0, frame(pattern(0, 1000)))], cut=200))
    assert (status.unusable, out) == (1, b"")


def test_other_addresses_and_bad_checksums_are_not_delivered(replay: Replay) -> None:
    good = frame(b"for the interface")
    other_mac = frame(b"mac", mac=MAC[:5] + b"\1")
    others = [frame(b"port", port=PORT + 1), frame(b"ip", to="192.168.20.17"), other_mac]
    bad = [good[:26] + bytes([good[26] ^ 1]) + good[27:], good[:-1] + bytes([good[-1] ^ 1])]
    frames = [(10**5 * number, data) for number, data in enumerate([*others, *bad, good])]
    status, out = replay(pcap(frames))
    assert out == b"for the interface"
    assert (status.counted("frames_other"), status.counted("frames_bad")) == (3, 2)
    status, out = replay(pcap([(0, frame(b"moved", to="10.1.2.3", port=9, mac=bytes([2] * 6)))]),
                         ip="10.1.2.3", mac="02:02:02:02:02:02", port=9)  # fmt: skip
    assert out == b"moved"


def tagged(made: bytes, tci: int, kind: bytes = b"\x81\x00") -> bytes:
    """With an IEEE 802.1Q tag."""
    return made[:12] + kind + struct.pack(">H", tci) + made[12:]


def test_a_datagram_with_a_vlan_tag_reaches_the_program_as_one_without(replay: Replay) -> None:
    sizes = [0, 1, 13, 14, 15, 17, 18, 19, 63, 64, 700, 1471, 1472]
    payloads = [pattern(number, size) for number, size in enumerate(sizes)]
    tcis = [0, 1, 0x2064, 0xFFFF, 0x8100]
    sent = [
        made
        for number, payload in enumerate(payloads)
        for made in (tagged(frame(payload), tcis[number % len(tcis)]), frame(payload))
    ]
    # Two tags, and one of a provider, are another protocol; one byte more is no frame.
    others = [
        tagged(tagged(frame(b"two"), 1), 2),
        tagged(frame(b"provider"), 3, b"\x88\xa8"),
        tagged(frame(b"long").ljust(1515, b"\0"), 4),
    ]
    status, out = replay(pcap((50_000 * number, made) for number, made in enumerate([*sent, *others])))
    assert out == b"".join(payload * 2 for payload in payloads)
    assert (status.delivered, status.unusable) == (len(sent), 1)
    assert (status.counted("frames_other"), status.counted("frames_bad")) == (2, 0)


def test_two_captures_are_two_ports(tmp_path: Path) -> None:
    """The ports of one interface have addresses one behind the other."""
    second = frame(b"second", to="192.168.20.17", mac=MAC[:5] + b"\x11")
    (tmp_path / "0").write_bytes(pcap([(0, frame(b"first "))]))
    (tmp_path / "1").write_bytes(pcap([(0, frame(b"no")), (10**6, second)]))
    options = ServeOptions(captures=(tmp_path / "0", tmp_path / "1"), out=tmp_path / "out")
    on = serve.platform("nanet")
    status = serve.serve(options, on, serve.build(options, on))
    accounted(status)
    assert (tmp_path / "out").read_bytes() == b"first second"
    assert [port["frames_other"] for port in status.ports] == [0, 1]


def spoilt(rng: random.Random) -> bytes:
    """Anything between noise and a datagram with one wrong bit."""
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randbytes(rng.randrange(14, 100))
    made = bytearray(frame(rng.randbytes(rng.randrange(0, 24))))
    if kind == 1:
        made[rng.randrange(len(made))] ^= 1 << rng.randrange(8)
    elif kind == 2:
        # Wrong lengths in headers.
        at = rng.choice((14, 16, 17, 20, 38, 39))
        made[at] = rng.randrange(256)
    else:
        del made[rng.randrange(14, len(made)) :]
    return bytes(made)


def test_ten_thousand_random_frames_do_no_harm(replay: Replay) -> None:
    rng = random.Random(SEED)
    frames = [(700 * number, spoilt(rng)) for number in range(10_000)]
    end = 700 * len(frames) + 10_000
    status, out = replay(pcap([*frames, (end, frame(b"still here"))]))
    assert status.frames == 10_001, f"seed {SEED}"
    assert out.endswith(b"still here")
    assert status.counted("frames_bad") > 1000, "damaged datagrams are found"


def test_random_files_are_read_or_refused_in_one_line(replay: Replay) -> None:
    rng = random.Random(SEED)
    frames = [(1000 * number, frame(pattern(number, 20))) for number in range(3)]
    refused = []
    for _ in range(40):
        damaged = bytearray(rng.choice((pcap, pcapng))(frames))
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        # A time far away would be simulated for as long.
        damaged = damaged[: rng.randrange(1, len(damaged) + 1)]
        try:
            replay(bytes(damaged))
        except UserError as err:
            refused.append(str(err))
    wrong = [line for line in refused if "\n" in line or "in.pcap: " not in line]
    assert wrong == [], f"seed {SEED}"
    assert 0 < len(refused) < 40


# A TAP interface -----------------------------------------------------------------------------------

SERVER = """
import json, sys
from dataclasses import asdict
from pathlib import PosixPath
from isthmus.errors import UserError
from isthmus.roads.nanet import serve
given = eval(sys.argv[1])
on = serve.platform(given.pop("on", "nanet"))
options = serve.ServeOptions(**given)
try:
    last = serve.serve(options, on, serve.build(options, on))
except UserError as err:
    print(f"isthmus: {err}", file=sys.stderr)
    sys.exit(2)
print(json.dumps(asdict(last)))
"""

# The interface exists when the server says so; then it gets its address, and the client runs.
IN_NAMESPACE = """
import signal, socket, subprocess, sys, time
code, options, *client = sys.argv[1:]
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
server = subprocess.Popen([sys.executable, "-c", code, options], stdout=-1, stderr=-1, text=True)
try:
    first = server.stdout.readline()
    assert first.startswith("nanet tap isthmus0 "), server.stderr.read()
    for change in ("address add 192.168.20.1/24 dev isthmus0", "link set isthmus0 up"):
        subprocess.run(["ip", *change.split()], check=True)
    status = subprocess.run(client, timeout=120).returncode
finally:
    began = time.monotonic()
    server.send_signal(signal.SIGINT)
    out, err = server.communicate(timeout=20)
    took = time.monotonic() - began
left = "isthmus0" in [name for _, name in socket.if_nameindex()]
print(first, err, file=sys.stderr)
print(f"\\nended {server.returncode} {took:.3f} {left}")
print(out, end="")
sys.exit(status)
"""


class Namespace:
    """Runs a client beside a server with a TAP interface, both alone in a network namespace."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        root = os.geteuid() == 0
        self.unshare = ["unshare", "--net"] if root else ["unshare", "--net", "--map-root-user"]
        if shutil.which("unshare") is None or shutil.which("ip") is None:
            pytest.skip("unshare and ip are needed for a network of its own")
        made = self.run("ip", "tuntap", "add", "dev", "probe", "mode", "tap")
        if made.returncode != 0:
            pytest.skip(f"no TAP interface in a network namespace here: {made.stderr.strip()}")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.unshare, *command],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            capture_output=True,
            text=True,
            timeout=240,
        )

    took_s: float = 0.0
    """From Control-C to the end of the last server."""

    def serve(self, client: str, *arguments: str, **options: object) -> tuple[NanetStatus, str, str]:
        """The last counts, and what the client and the server printed."""
        options = {"taps": ("isthmus0",), **options}
        python = (sys.executable, "-c")
        done = self.run(*python, IN_NAMESPACE, SERVER, repr(options), *python, client, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        said, _, rest = done.stdout.partition("\nended ")
        ended, counts = rest.splitlines()
        code, took, left = ended.split()
        assert (code, left) == ("0", "False"), "the interface ends with the server"
        self.took_s = float(took)
        status = NanetStatus(**json.loads(counts))
        accounted(status)
        return status, said, done.stderr


@pytest.fixture
def namespace(model: Path, tmp_path: Path) -> Namespace:
    del model
    return Namespace(tmp_path)


COMMON = f"""
import os, random, socket, struct, subprocess, sys, time
NIC, PORT, SEED = {NIC!r}, {PORT}, {SEED}
def pattern(number, size):
    return random.Random(SEED * 1000 + number).randbytes(size)
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.connect((NIC, PORT))
taker = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
taker.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
taker.bind(("127.0.0.1", 7000))
taker.settimeout(20)
"""

STATION = (
    COMMON
    + """
def ones(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
# Ping, of any length.
echo = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
echo.settimeout(20)
for number, size in enumerate((0, 56, 1000, 1472)):
    data = struct.pack(">HH", 7, number) + bytes(range(256)) * 6
    data = data[: 4 + size]
    echo.sendto(struct.pack(">BBH", 8, 0, ones(struct.pack(">BBH", 8, 0, 0) + data)) + data, (NIC, 0))
    answer = echo.recv(2048)[20:]
    assert (answer[0], ones(answer), answer[4:]) == (0, 0, data), size
neighbours = subprocess.run(["ip", "neighbour"], capture_output=True, text=True).stdout
assert "192.168.20.16 dev isthmus0 lladdr 02:00:00:00:00:10" in neighbours, neighbours
# Datagrams, eight in flight: below the rate of any simulator.
rng = random.Random(SEED)
sizes = [rng.randrange(4, 1473) for _ in range(int(sys.argv[1]))]
for number, size in enumerate(sizes):
    sender.send(pattern(number, size))
    if number >= 8:
        assert taker.recv(2048) == pattern(number - 8, sizes[number - 8]), number - 8
for number in range(len(sizes) - 8, len(sizes)):
    assert taker.recv(2048) == pattern(number, sizes[number]), number
print("all", len(sizes), sum(sizes))
"""
)


@pytest.mark.parametrize("on", ["nanet", "nanet-10g"])
def test_arp_ping_and_a_sender_whose_datagrams_arrive_in_order(namespace: Namespace, on: str) -> None:
    serve.build(ServeOptions(("isthmus0",)), serve.platform(on))
    out = namespace.folder / "out"
    status, said, printed = namespace.serve(STATION, "150", to="127.0.0.1:7000", out=out, on=on)
    word, count, size = said.split()
    assert (word, int(count), int(size)) == ("all", status.delivered, status.delivered_bytes)
    rng = random.Random(SEED)
    sizes = [rng.randrange(4, 1473) for _ in range(150)]
    assert out.read_bytes() == b"".join(pattern(number, one) for number, one in enumerate(sizes))
    assert (status.not_kept_up, status.unsent, status.not_forwarded, status.counted("frames_bad")) == (0,) * 4
    assert status.sent >= 5, "answers to four pings and to ARP"
    assert "nanet tap isthmus0 192.168.20.16 02:00:00:00:00:10: takes UDP to port 6666" in printed
    assert "isthmus0 is down; with root permission: ip address add 192.168.20.1/24 dev isthmus0" in printed


FLOOD = (
    COMMON
    + """
rng = random.Random(SEED)
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind(("isthmus0", 0))
sender.send(b"resolves the address")
assert taker.recv(2048) == b"resolves the address"
for number in range(3000):
    sender.send(struct.pack(">I", number) + bytes(200))
    if number % 10 == 0:
        # Noise, of any length that the system sends.
        wire.send(rng.randbytes(rng.randrange(14, 1514)))
# Received so far: in order, unchanged; then one that comes behind all of them.
last, number = b"the last one", -1
seen = 0
taker.settimeout(2)
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    try:
        data = taker.recv(2048)
    except TimeoutError:
        sender.send(last)
        continue
    if data == last:
        break
    assert data[4:] == bytes(200)
    now, = struct.unpack(">I", data[:4])
    assert now > number, (now, number)
    number, seen = now, seen + 1
else:
    sys.exit("the interface did not recover")
time.sleep(0.7)
print("seen", seen)
"""
)


# Two interfaces, back to back -----------------------------------------------------------------------

# The TAP interfaces move into a namespace each, with a program that knows nothing of what is between.
ENDS_IN_NAMESPACES = """
import signal, subprocess, sys
def said_by(end):
    lines = []
    while (line := end.stdout.readline()) not in ("done\\n", ""):
        lines.append(line)
    return lines
code, options, *programs = sys.argv[1:]
server = subprocess.Popen([sys.executable, "-c", code, options], stdout=-1, stderr=-1, text=True)
try:
    for number in range(2):
        line = server.stdout.readline()
        assert line.startswith(f"nanet tap isthmus{number} "), server.stderr.read()
    ends = []
    for number, program in enumerate(programs):
        end = subprocess.Popen(
            ["unshare", "--net", sys.executable, "-c", program, str(number)],
            stdin=-1, stdout=-1, text=True,
        )
        ends.append(end)
        end.stdout.readline()
        subprocess.run(["ip", "link", "set", f"isthmus{number}", "netns", str(end.pid)], check=True)
        end.stdin.write("go\\n")
        end.stdin.flush()
        print(end.stdout.readline(), end="")
    said = [said_by(end) for end in reversed(ends)]
finally:
    server.send_signal(signal.SIGINT)
    out, err = server.communicate(timeout=20)
print(err, file=sys.stderr)
# A namespace ends with its program, and what is in it.
for end in ends:
    end.communicate("go\\n", timeout=20)
for lines in reversed(said):
    print(*lines, sep="", end="")
print(out, end="")
sys.exit(any(end.returncode for end in ends) or server.returncode)
"""

END = f"""
import random, socket, subprocess, sys, time
SEED, NUMBER = {SEED}, int(sys.argv[1])
def pattern(number, size):
    return random.Random(SEED * 1000 + number).randbytes(size)
print("here", flush=True)
sys.stdin.readline()
name = f"isthmus{{NUMBER}}"
for change in (f"address add 10.9.8.{{NUMBER + 1}}/24 dev {{name}}", f"link set {{name}} mtu 1458 up"):
    subprocess.run(["ip", *change.split()], check=True)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
udp.settimeout(30)
"""

# Each datagram comes back turned round, to whom it came from; then a stream.
ANSWERING = (
    END
    + """
udp.bind(("", 5000))
tcp = socket.create_server(("", 5001))
tcp.settimeout(60)
print("listens", flush=True)
while True:
    data, who = udp.recvfrom(65536)
    if data == b"the end":
        break
    udp.sendto(data[::-1], who)
stream, _ = tcp.accept()
data = b""
while more := stream.recv(65536):
    data += more
print("stream", data == pattern(0, len(data)), len(data))
print("done", flush=True)
sys.stdin.readline()
"""
)

ASKING = (
    END
    + """
print("asks", flush=True)
udp.connect(("10.9.8.1", 5000))
# The longest ones are fragments of IP on the way.
rng = random.Random(SEED)
sizes = [0, 1, 18, 1416, 1417, 1472, 4000, *(rng.randrange(1473) for _ in range(40))]
for number, size in enumerate(sizes):
    udp.send(pattern(number, size))
    if number >= 4:
        assert udp.recv(65536) == pattern(number - 4, sizes[number - 4])[::-1], number - 4
for number in range(len(sizes) - 4, len(sizes)):
    assert udp.recv(65536) == pattern(number, sizes[number])[::-1], number
udp.send(b"the end")
with socket.create_connection(("10.9.8.1", 5001), timeout=60) as stream:
    stream.sendall(pattern(0, 20_000))
time.sleep(0.8)
print("same", len(sizes))
print("done", flush=True)
sys.stdin.readline()
"""
)


def counted_pair(status: NanetStatus) -> None:
    """Each frame of a pair is in one of the counts, and each datagram where it ended."""
    judged = status.counted("frames_good") + status.counted("frames_bad")
    refused = status.unusable + status.oversized + status.not_kept_up
    assert status.frames == judged + refused + status.waiting, status
    ended = ("delivered", "overflow", "closed", "no_buffer", "too_long", "no_event")
    assert status.counted("frames_good") == sum(status.counted(name) for name in ended), status
    assert status.delivered == status.counted("delivered") == status.sent, status


def pair(namespace: Namespace, *programs: str, **options: object) -> tuple[NanetStatus, list[str], str]:
    """The last counts, and what the programs of both ends and the server printed."""
    options = {"taps": ("isthmus0", "isthmus1"), "pair": True, **options}
    done = namespace.run(sys.executable, "-c", ENDS_IN_NAMESPACES, SERVER, repr(options), *programs)
    assert done.returncode == 0, done.stdout + done.stderr
    *said, counts = done.stdout.splitlines()
    status = NanetStatus(**json.loads(counts))
    counted_pair(status)
    return status, said, done.stderr


@pytest.mark.parametrize("on", ["nanet", "nanet-10g"])
def test_a_client_reaches_a_server_in_another_namespace_through_two_interfaces(
    namespace: Namespace, on: str
) -> None:
    """Neither program knows of it: ARP, fragments and TCP pass as frames do."""
    serve.build(ServeOptions(("isthmus0", "isthmus1"), pair=True), serve.platform(on))
    status, said, printed = pair(namespace, ANSWERING, ASKING, on=on)
    assert said == ["listens", "asks", "stream True 20000", "same 47"]
    assert (status.not_kept_up, status.oversized, status.waiting) == (0, 0, 0), printed
    assert status.counted("frames_bad") == status.counted("no_buffer") == 0
    # Each end has asked the other for its MAC address, and has answered it.
    assert [port["frames_other"] for port in status.ports] == [2, 2]
    assert status.delivered >= 2 * 47 + 20
    assert "lost: none" in printed.splitlines()[-2] + printed.splitlines()[-1], printed


LISTENING = (
    END
    + """
udp.bind(("", 5000))
print("listens", flush=True)
seen = []
while (data := udp.recv(65536)) != b"the end":
    seen.append(data)
numbers = [int.from_bytes(data[:2], "big") for data in seen]
assert numbers == sorted(set(numbers)) and all(data[2:] == bytes(998) for data in seen)
print("seen", len(seen))
print("done", flush=True)
sys.stdin.readline()
"""
)

PRESSING = (
    END
    + """
print("sends", flush=True)
udp.connect(("10.9.8.1", 5000))
udp.send(bytes(1000))
time.sleep(0.5)
for number in range(1, 100):
    udp.send(number.to_bytes(2, "big") + bytes(998))
time.sleep(2.5)
# Too long a frame for a datagram.
subprocess.run("ip link set isthmus1 mtu 1500".split(), check=True)
udp.send(bytes(1472))
for _ in range(20):
    time.sleep(0.1)
    udp.send(b"the end")
print("done", flush=True)
sys.stdin.readline()
"""
)


def test_what_a_program_too_slow_loses_between_two_interfaces_is_counted(namespace: Namespace) -> None:
    status, said, printed = pair(namespace, LISTENING, PRESSING, buffers=2, work_ns=50_000.0)
    seen = int(said[-1].split()[1])
    assert status.counted("no_buffer") > 0, printed
    assert seen + status.counted("no_buffer") >= 100
    assert status.ports[1]["no_buffer"] == 0, "of the one that sends nothing but ARP comes back"
    assert f"{status.counted('no_buffer')} without a free buffer" in printed
    assert status.oversized == 1
    assert "1 longer than a datagram carries: set the MTU to 1458" in printed


def test_a_flood_is_survived_and_each_loss_is_counted(namespace: Namespace) -> None:
    status, said, printed = namespace.serve(FLOOD, to="127.0.0.1:7000")
    assert int(said.split()[1]) + 2 == status.delivered
    # Where the kernel is the slower one, it loses them before they come here.
    assert status.not_kept_up + status.dropped_by_system > 0
    if status.not_kept_up:
        assert f"{status.not_kept_up} the simulator cannot keep up" in printed
    assert status.waiting == 0
    assert status.frames + status.dropped_by_system >= 3302
    # The simulated wire is no faster than a real one, and its program is never late.
    assert status.counted("no_buffer") == status.counted("overflow") == 0


ECHO = (
    COMMON
    + """
sender.settimeout(20)
for number, size in enumerate((1, 18, 64, 1000, 1472)):
    sender.send(pattern(number, size))
    assert sender.recv(2048) == pattern(number, size), size
    assert taker.recv(2048) == pattern(number, size), size
print("echoed")
"""
)


@pytest.mark.release
def test_the_gateware_sends_datagrams_back(namespace: Namespace) -> None:
    """Another model: it has a transmitter of UDP."""
    serve.build(ServeOptions(("isthmus0",), echo=True), serve.platform("nanet"))
    status, said, _ = namespace.serve(ECHO, to="127.0.0.1:7000", echo=True)
    assert said == "echoed\n"
    assert (status.delivered, status.counted("not_echoed")) == (5, 0)


GENERATOR = (
    COMMON
    + """
count = 0
if sys.argv[1]:
    command = [sys.argv[1], "throughput", "-i", NIC, "-p", str(PORT), "-m", "1000", "--mps", "40", "-t", "5"]
    print(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
else:
    begin = time.monotonic()
    for number in range(200):
        time.sleep(max(0, begin + number / 40 - time.monotonic()))
        sender.send(bytes(1000))
time.sleep(1)
"""
)


@pytest.mark.release
def test_a_paced_generator_loses_nothing(namespace: Namespace) -> None:
    """sockperf where it is installed."""
    status, _, printed = namespace.serve(GENERATOR, shutil.which("sockperf") or "")
    assert status.delivered >= 190
    assert status.counted("frames_good") == status.delivered
    assert "lost: none" in printed.splitlines()[-2] + printed.splitlines()[-1], printed


BUSY = COMMON + "\nfor _ in range(4000): sender.send(bytes(1472))\n"


def test_control_c_ends_it_at_once_while_frames_come(namespace: Namespace) -> None:
    took: list[float] = []
    # On a machine with other work the best one counts.
    while len(took) < 8 and min(took, default=1.0) > 0.5:
        status, _, _ = namespace.serve(BUSY)
        assert status.waiting > 0, "it was stopped in the middle"
        took.append(namespace.took_s)
    assert min(took) <= 0.5, f"{took} s from Control-C to the end"


@pytest.mark.parametrize(
    ("prepare", "says"),
    [
        ("ip tuntap add dev isthmus0 mode tun", "this name exists and is no TAP interface"),
        ("ip link add isthmus0 type veth peer name other", "this name exists and is no TAP interface"),
    ],
)
def test_an_interface_of_another_kind_is_one_line(namespace: Namespace, prepare: str, says: str) -> None:
    command = f"{prepare} && exec {sys.executable} -c '{SERVER}' \"{{'taps': ('isthmus0',)}}\""
    done = namespace.run("sh", "-c", command)
    if done.returncode != 2 and "Unknown device type" in done.stderr:
        pytest.skip("the kernel has no veth")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith("isthmus: open tap isthmus0: "), done.stderr
    assert says in done.stderr


SECOND = """
import subprocess, sys
done = subprocess.run([sys.executable, "-c", sys.argv[1], sys.argv[2]], capture_output=True, text=True)
print(done.returncode, done.stderr)
"""


def test_an_interface_in_use_is_one_line(namespace: Namespace) -> None:
    _, said, _ = namespace.serve(SECOND, SERVER, repr({"taps": ("isthmus0",)}))
    code, _, line = said.partition(" ")
    assert code == "2"
    assert line.strip().startswith("isthmus: open tap isthmus0: ")
    assert line.strip().endswith("another program has it")


def test_without_permission_it_is_one_line(model: Path) -> None:
    del model
    if shutil.which("setpriv") is None or os.geteuid() != 0:
        pytest.skip("setpriv and root are needed to give permission up")
    done = subprocess.run(
        ["setpriv", "--bounding-set=-net_admin", sys.executable, "-c", SERVER, repr({"taps": ("isthmus0",)})],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    advice = "run as root, or have root create it: ip tuntap add dev isthmus0 mode tap user NAME"
    assert done.stderr == f"isthmus: open tap isthmus0: Operation not permitted (os error 1); {advice}\n"


def test_without_dev_net_tun_it_is_one_line(namespace: Namespace) -> None:
    hide = "mount -t tmpfs none /dev/net"
    unshare = [*namespace.unshare, "--mount"]
    made = subprocess.run([*unshare, "sh", "-c", hide], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no mount in a namespace here: {made.stderr.strip()}")
    # A program may make the device anew only where it has that permission too.
    command = f"{hide} && exec setpriv --bounding-set=-mknod {sys.executable} -c '{SERVER}' \"$0\""
    done = subprocess.run(
        [*unshare, "sh", "-c", command, repr({"taps": ("isthmus0",)})],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "/dev/net/tun" in done.stderr


# What is given --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "expected either --tap IF or --pcap FILE"),
        ({"taps": ("a",), "captures": (Path("b"),)}, "expected either --tap IF or --pcap FILE"),
        ({"taps": ("abcdefghijklmnop",)}, "expected a name of 1 to 15 bytes"),
        ({"taps": ("a b",)}, "expected a name of 1 to 15 bytes"),
        ({"taps": ("a", "a")}, "each port needs an interface of its own"),
        ({"taps": tuple("abcde")}, "5 of --tap or --pcap: the interface of nanet has 4 ports"),
        ({"taps": ("a",), "ip": "255.255.255.255"}, "expected the address of a station"),
        ({"taps": ("a",), "mac": "03:00:00:00:00:00"}, "expected the address of a station"),
        ({"taps": ("a",), "to": "192.0.2.1:7"}, "expected IP:PORT on this machine"),
        ({"taps": ("a",), "buffers": 3}, "expected a power of two"),
        ({"captures": (Path("a"),), "out": Path("b/../a")}, "is the capture; expected another file"),
        ({"taps": ("a",), "pair": True}, "expected --tap twice"),
        ({"captures": (Path("a"),), "pair": True}, "expected --tap twice"),
        ({"taps": ("a", "b"), "pair": True, "to": "127.0.0.1:7"}, "expected no --echo, --out or --to"),
    ],
)
def test_what_cannot_be_is_one_line(options: dict[str, object], says: str) -> None:
    with pytest.raises(UserError, match=says):
        serve.scenario(ServeOptions(**options), serve.platform("nanet"), Path("m.so"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        (b"", "expected a pcap or pcapng file"),
        (b"not a capture at all, by no means", "expected a pcap or pcapng file"),
        (pcap([])[:20] + struct.pack("<I", 101), "expected frames of Ethernet"),
        (pcap([(0, bytes(60))])[:-1], "in.pcap: "),
    ],
)
def test_a_file_that_is_no_capture_is_one_line(
    model: Path, tmp_path: Path, content: bytes | None, says: str
) -> None:
    path = tmp_path / "in.pcap"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=says) as raised:
        serve.serve(ServeOptions(captures=(path,)), serve.platform("nanet"), model)
    assert "\n" not in str(raised.value)


def test_the_status_line_says_where_frames_were_lost() -> None:
    ports: Sequence[dict[str, int]] = [{"frames_other": 2, "frames_bad": 1, "no_buffer": 3, "bad": 1}, {}]
    status = NanetStatus([], 16, 1, 0, 4, 6, 0, 0, 2, 0, 5, 500, 0, ports, False, 1_234_567.0, 0)
    assert serve.text(status) == (
        "16 frames in, 5 datagrams delivered (500 bytes), 2 for other stations, ARP and ping, 2 frames out, "
        "lost: 1 with a wrong checksum or length; 3 without a free buffer, the program was too slow; "
        "4 the simulator cannot keep up; 6 dropped by the system before the server took them; "
        "1 not a whole frame of 14 to 1514 bytes, 1235 kcycles/s"
    )
    nothing = NanetStatus([], 16, 0, 0, 0, 0, 0, 0, 2, 0, 5, 500, 0)
    assert "lost: none" in serve.text(nothing)


def test_a_line_is_printed_each_second_in_which_a_count_changed(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    line = serve.StatusLine(ServeOptions(captures=(Path("c"),)), False, lambda: now[0])
    first = NanetStatus(["capture c 192.168.20.16 02:00:00:00:00:10"], 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 4, 0)
    faster = replace(first, cycles_per_s=2e6, simulated_ps=9)
    second, third = replace(first, frames=2), replace(first, frames=3)
    for now[0], status in ((0.0, first), (0.5, second), (1.5, faster), (3.0, third)):
        line(status)
    printed = capsys.readouterr()
    assert printed.out == (
        "nanet capture c 192.168.20.16 02:00:00:00:00:10: takes UDP to port 6666, answers ARP and ping\n"
    )
    assert [text.split()[0] for text in printed.err.splitlines()] == ["1", "3"]


def test_this_machine_gets_an_address_beside_the_interface() -> None:
    assert serve.beside("192.168.20.16") == "192.168.20.1"
    assert serve.beside("10.0.0.1") == "10.0.0.2"
