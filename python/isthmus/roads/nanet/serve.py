# SPDX-License-Identifier: Apache-2.0
"""`isthmus serve nanet`: the simulated interface between TAP interfaces, or captures, and a program.

Frames go into its ports; payloads that reach memory go to a file or to a local UDP socket; what it sends
goes back to the TAP interface. Or two of them, back to back, between two TAP interfaces.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import struct
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from isthmus import platforms
from isthmus.addresses import split
from isthmus.errors import UserError
from isthmus.platforms import PROFILES, Platform, Profile
from isthmus.roads.nanet import ROAD, bench
from isthmus.roads.nanet.platform import KINDS, TEN_GIGABIT_PORTS, is_ten_gigabit, top

IP = "192.168.20.16"
MAC = "02:00:00:00:00:10"
UDP_PORT = 6666
PAIR = 2
"""TAP interfaces of a pair."""
PAIR_MTU = 1458
"""Of its TAP interfaces: a frame of this and 14 bytes is the payload of a datagram."""
NAME_BYTES = 15
"""Of a network interface's name, at the most."""
FOREVER = 1_000_000_000

ELSEWHERE = "for other stations, ARP and ping"
LOST = {
    "frames_bad": "with a wrong checksum or length",
    "overflow": "without room behind their port, the bus was too slow",
    "closed": "while their list was not enabled",
    "no_buffer": "without a free buffer, the program was too slow",
    "too_long": "longer than a buffer",
    "no_event": "without room for their event",
    "overwritten": "overwritten before the program gave them back",
}
"""Where the interface loses a frame, in words. `bad` is a part of `frames_bad`."""


@dataclass(frozen=True)
class ServeOptions:
    """Options of `isthmus serve nanet`: either taps or captures, one for each port."""

    taps: Sequence[str] = ()
    captures: Sequence[Path] = ()
    out: Path | None = None
    to: str | None = None
    ip: str = IP
    mac: str = MAC
    port: int = UDP_PORT
    buffers: int = bench.LARGEST_BUFFERS
    policy: str = "newest"
    work_ns: float = 0.0
    profile: str = "isthmus"
    seed: int = 1
    echo: bool = False
    """Datagrams are sent back as well, by the gateware."""
    pair: bool = False
    """Two interfaces back to back: frames of the first TAP interface come out of the second, and back."""

    @property
    def ports(self) -> int:
        """Of an interface."""
        return 1 if self.pair else len(self.taps) + len(self.captures)


@dataclass(frozen=True)
class NanetStatus:
    """Counters of a server so far."""

    listening: Sequence[str]
    """A line a port: kind, name, IP, MAC."""
    frames: int
    unusable: int
    oversized: int
    not_kept_up: int
    dropped_by_system: int
    line_full: int
    waiting: int
    sent: int
    unsent: int
    delivered: int
    delivered_bytes: int
    not_forwarded: int
    ports: Sequence[Mapping[str, int]] = field(default_factory=tuple)
    ended: bool = False
    cycles_per_s: float = 0.0
    simulated_ps: int = 0

    def counted(self, name: str) -> int:
        """A counter of the interface, over all ports."""
        return sum(port.get(name, 0) for port in self.ports)


def platform(name: str) -> Platform:
    """The one platform that an option names."""
    chosen = platforms.chosen(name, KINDS, ROAD.name)
    if len(chosen) != 1:
        raise UserError(f"platform: {name!r}; expected one platform")
    return chosen[0]


def check(options: ServeOptions, on: Platform) -> None:
    """Raises `UserError` for what cannot be."""
    if bool(options.taps) == bool(options.captures):
        raise UserError("expected either --tap IF or --pcap FILE, once for each port")
    most = TEN_GIGABIT_PORTS if is_ten_gigabit(on) else bench.PORTS
    sources = len(options.taps) + len(options.captures)
    if sources > most:
        raise UserError(f"{sources} of --tap or --pcap: the interface of {on.name} has {most} ports")
    for name in options.taps:
        if not 1 <= len(name.encode(errors="replace")) <= NAME_BYTES or re.search(r"[\s/%\x00]", name):
            raise UserError(
                f"--tap {name!r}: expected a name of 1 to {NAME_BYTES} bytes, for example isthmus0"
            )
    if len(set(options.taps)) < len(options.taps):
        raise UserError("--tap: each port needs an interface of its own")
    if options.out is not None and options.out.resolve() in [path.resolve() for path in options.captures]:
        raise UserError(f"--out {options.out}: is the capture; expected another file")
    if options.pair:
        check_pair(options, on)
    if options.echo and is_ten_gigabit(on):
        raise UserError(f"--echo: the interface of {on.name} has no echo; expected --platform nanet")
    if options.taps and not sys.platform.startswith("linux"):
        raise UserError(f"--tap needs the TAP interfaces of Linux; on {sys.platform} use --pcap FILE")
    try:
        ip = ipaddress.IPv4Address(options.ip)
    except ValueError as err:
        raise UserError(f"--ip {options.ip!r}: expected an address such as {IP}") from err
    if ip.is_multicast or ip.is_unspecified or ip == ipaddress.IPv4Address("255.255.255.255"):
        raise UserError(f"--ip {options.ip}: expected the address of a station, such as {IP}")
    octets = re.fullmatch(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", options.mac)
    if octets is None or int(options.mac[:2], 16) & 1:
        raise UserError(f"--mac {options.mac!r}: expected the address of a station, such as {MAC}")


def check_pair(options: ServeOptions, on: Platform) -> None:
    """As `check`, of two interfaces back to back."""
    if len(options.taps) != PAIR:
        raise UserError("--pair: expected --tap twice, for the two ends")
    if options.echo or options.out is not None or options.to is not None:
        raise UserError("--pair: frames go from one --tap to the other; expected no --echo, --out or --to")


def local(text: str) -> str:
    """`127.0.0.1:7000`, an address on this machine."""
    wrong = UserError(f"--to {text!r}: expected IP:PORT on this machine, such as 127.0.0.1:7000")
    try:
        host, port = split(text)
    except UserError:
        raise wrong from None
    if not host.is_loopback or port == 0:
        raise wrong
    return f"[{host}]:{port}" if host.version == 6 else f"{host}:{port}"


def scenario(options: ServeOptions, on: Platform, model: Path) -> dict[str, Any]:
    """The server's document. Raises `UserError` for what cannot be."""
    check(options, on)
    stream = bench.Stream(
        ports=options.ports, buffers=options.buffers, policy=options.policy, seed=options.seed
    )
    # A server runs for as long as it likes.
    limits = {"wall_s": FOREVER, "simulated_ms": FOREVER * 1000}
    inner = bench.scenario(on, _profile(options), stream, model, limits=limits)
    inner["workload"]["work_ns"] = options.work_ns
    made: dict[str, Any] = {
        "road": "nanet",
        "scenario": inner,
        "taps": list(options.taps),
        "captures": [str(path) for path in options.captures],
        "ip": options.ip,
        "mac": options.mac,
        "udp_port": options.port,
        "echo": options.echo,
        "pair": options.pair,
    }
    if options.out is not None:
        made["out"] = str(options.out)
    if options.to is not None:
        made["to"] = local(options.to)
    return made


def _profile(options: ServeOptions) -> Profile:
    return next(one for one in PROFILES if one == options.profile)


def serve(options: ServeOptions, on: Platform, model: Path) -> NanetStatus:
    """Serve until Control-C, or to the end of captures: the addresses go to standard output, the counts to
    standard error."""
    from isthmus import native

    line = StatusLine(options, sys.stderr.isatty())
    last = native.serve(scenario(options, on, model), line, NanetStatus)
    line.end(last)
    return last


def build(options: ServeOptions, on: Platform) -> Path:
    """The model of the interface."""
    from isthmus.bench import runner

    parameters = bench.parameters(on, _profile(options), options.ports, send=options.pair)
    return runner.model(top(on), parameters | ({"Echo": 1} if options.echo else {}))


class StatusLine:
    """Prints the addresses once, then the counts each second in which they changed."""

    def __init__(
        self,
        options: ServeOptions,
        terminal: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options
        self._terminal = terminal
        self._clock = clock
        self._started = False
        self._shown: NanetStatus | None = None
        self._next = 0.0

    def __call__(self, status: NanetStatus) -> None:
        if not self._started:
            self._started = True
            self._addresses(status)
        words = text(status)
        # The simulator's speed alone is no news.
        counts = replace(status, cycles_per_s=0.0, simulated_ps=0)
        if counts != self._shown and self._clock() >= self._next:
            self._shown = counts
            self._next = self._clock() + 1
            if self._terminal:
                print(f"\r\x1b[K{words}", end="", file=sys.stderr, flush=True)
            else:
                print(words, file=sys.stderr, flush=True)

    def end(self, status: NanetStatus) -> None:
        start = "\r\x1b[K" if self._terminal else ""
        print(f"{start}{text(status)}", file=sys.stderr, flush=True)

    def _addresses(self, status: NanetStatus) -> None:
        for line in status.listening:
            where, ip, mac = line.rsplit(" ", 2)
            does = f"takes UDP to port {self._options.port}, answers ARP and ping"
            if self._options.pair:
                does = "its frames are datagrams to the other end"
            print(f"nanet {where} {ip} {mac}: {does}", flush=True)
        for name in self._options.taps:
            command = f"ip address add {beside(self._options.ip)}/24 dev {name} && ip link set {name} up"
            if self._options.pair:
                command = f"ip link set {name} mtu {PAIR_MTU} up"
            if not is_up(name):
                print(f"{name} is down; with root permission: {command}", file=sys.stderr, flush=True)


def is_up(name: str) -> bool:
    """Whether a network interface is up; True where that cannot be seen."""
    # Linux only, as --tap is.
    import fcntl

    get_flags, up = 0x8913, 1
    request = struct.pack("16sH14x", name.encode(), 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            answer = fcntl.ioctl(any_socket, get_flags, request)
        except OSError:
            return True
    return bool(struct.unpack("16sH14x", answer)[1] & up)


def beside(ip: str) -> str:
    """An address for this machine in the interface's subnet."""
    first = ipaddress.IPv4Interface(f"{ip}/24").network.network_address + 1
    return str(first if str(first) != ip else first + 1)


def text(status: NanetStatus) -> str:
    """The counts in one line: each frame is in one of them."""
    lost = {words: status.counted(name) for name, words in LOST.items()}
    lost |= {
        "the simulator cannot keep up": status.not_kept_up,
        "dropped by the system before the server took them": status.dropped_by_system,
        "faster than the line": status.line_full,
        "not a whole frame of 14 to 1514 bytes": status.unusable,
        f"longer than a datagram carries: set the MTU to {PAIR_MTU}": status.oversized,
        "not taken by the program behind --to": status.not_forwarded,
    }
    parts = [
        f"{status.frames} frames in",
        f"{status.delivered} datagrams delivered ({status.delivered_bytes} bytes)",
        f"{status.counted('frames_other')} {ELSEWHERE}",
        f"{status.sent} frames out",
    ]
    if status.waiting:
        parts.append(f"{status.waiting} not counted yet")
    if lost_echoes := status.counted("not_echoed"):
        parts.append(f"{lost_echoes} not sent back for want of room")
    if status.unsent:
        parts.append(f"{status.unsent} frames out not taken by the system")
    shown = [f"{count} {words}" for words, count in lost.items() if count]
    parts.append("lost: " + ("; ".join(shown) or "none"))
    return ", ".join(parts) + f", {status.cycles_per_s / 1e3:.0f} kcycles/s"
