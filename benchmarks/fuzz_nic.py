# SPDX-License-Identifier: Apache-2.0
"""Random and hostile frames against the whole interface for UDP into memory, each judged by a model.

In runs of 10^4 frames, each a capture of its own with a seed of its own, on a fresh device. Frames come back
to back in bursts, and the program takes every datagram: what it took must be, byte for byte and in order,
the payloads of the frames that the benches' model of the stack finds good, and each frame must be counted as
good, bad or for others. Frames have the FCS that belongs to them; wrong ones, runts and control characters
are the unit benches'. The first difference ends it with one line and exit status 1: seed, frame number and
the frame in hex.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from measured import ROOT, Figure, main

sys.path.insert(0, str(ROOT / "tests" / "unit" / "ethernet"))

from frames import (
    BROADCAST,
    ETH_IP,
    ICMP,
    TAG,
    UDP,
    Node,
    Stack,
    arp_request,
    ethernet,
    icmp_frame,
    ipv4,
    udp,
    with_fcs,
    with_tag,
    without_tag,
)

PER_RUN = 10_000
ME = Node(bytes.fromhex("020000000010"), bytes([192, 168, 20, 16]), 6666)
PEER = Node(bytes.fromhex("020000000009"), bytes([192, 168, 20, 1]), 6000)
OTHER = Node(bytes.fromhex("020000000011"), bytes([192, 168, 20, 17]), 6667)
EVERYBODY = Node(BROADCAST, b"\xff" * 4, ME.port)
MOST = 1514
BURST = 16
"""Frames back to back at most; the program has time for them behind."""
PAUSE_NS = 6_000
AROUND = 24
"""FCS, preamble and gap of a frame."""
BAD = ("rx_length", "rx_fcs", "rx_ip", "rx_l4")
KINDS = ("valid", "message", "header", "flipped", "cut", "longer", "noise", "other", "arp", "ping")


def payload(rng: random.Random) -> bytes:
    most = rng.choice((20, 20, 64, 200, 1472))
    return rng.randbytes(rng.choice((rng.randrange(most + 1), 0, most)))


def made(rng: random.Random, kind: str) -> bytes:
    """One frame without FCS."""
    data = payload(rng)
    to = rng.choice((ME, ME, ME, ME, EVERYBODY))
    good = ethernet(to.mac, PEER.mac, ETH_IP, ipv4(PEER.ip, to.ip, UDP, udp(PEER, to, data)))
    match kind:
        case "valid":
            return good
        case "message":
            # Lengths and checksums that do not belong together.
            datagram = udp(
                PEER, ME, data,
                csum=rng.choice((None, 0, rng.randrange(1 << 16))),
                length=rng.choice((None, 8 + len(data) + rng.randrange(-9, 9) & 0xFFFF)),
                dport=rng.choice((None, None, rng.randrange(1 << 16))),
            )  # fmt: skip
            total = rng.choice((None, 20 + len(datagram) + rng.randrange(-30, 30) & 0xFFFF))
            return ethernet(ME.mac, PEER.mac, ETH_IP, ipv4(PEER.ip, ME.ip, UDP, datagram, total=total))
        case "header":
            first = rng.choice((0x45, 0x45, 0x46, 0x65, 0x4F, rng.randrange(256)))
            flags = rng.choice((0x4000, 0, 0x2000, 1, 0x8000, rng.randrange(1 << 16)))
            proto = rng.choice((UDP, UDP, ICMP, 6, rng.randrange(256)))
            body = ipv4(PEER.ip, ME.ip, proto, udp(PEER, ME, data), first=first, flags=flags,
                        csum=rng.choice((None, None, rng.randrange(1 << 16))))  # fmt: skip
            return ethernet(ME.mac, PEER.mac, rng.choice((ETH_IP, ETH_IP, 0x86DD, 0x0806)), body)
        case "flipped":
            bits = bytearray(good)
            for _ in range(rng.randrange(1, 5)):
                bits[rng.randrange(min(len(bits), rng.choice((16, 42, 1500))))] ^= 1 << rng.randrange(8)
            return bytes(bits)
        case "cut":
            return good[: rng.randrange(14, len(good) + 1)]
        case "longer":
            return good + rng.randbytes(rng.randrange(60))
        case "noise":
            return rng.choice((ME.mac, BROADCAST, b"")) + rng.randbytes(rng.randrange(14, 200))
        case "other":
            there = Node(rng.choice((ME.mac, OTHER.mac)), rng.choice((ME.ip, OTHER.ip)), OTHER.port)
            return ethernet(there.mac, PEER.mac, ETH_IP, ipv4(PEER.ip, there.ip, UDP, udp(PEER, there, data)))
        case "arp":
            return arp_request(PEER, rng.choice((ME.ip, OTHER.ip)), dst=rng.choice((BROADCAST, ME.mac)))
        case _:
            return icmp_frame(PEER, ME, rng.choice((8, 8, 0)), rng.randbytes(4) + data[:1400])


def shot(rng: random.Random) -> tuple[str, bytes]:
    kind = rng.choice(KINDS)
    frame = made(rng, kind)
    if rng.randrange(3) == 0:
        tag = rng.choice((None, 0, 0x8100, 0x0800))
        frame = with_tag(frame, rng.randrange(1 << 16) if tag is None else tag,
                         rng.choice((TAG, TAG, TAG, TAG, b"\x88\xa8")))  # fmt: skip
        kind += ", tag"
        if rng.randrange(8) == 0:
            frame = with_tag(frame, rng.randrange(1 << 16))
            kind += "s"
    tagged = frame[12:14] == TAG
    return kind, frame[: MOST + 4 * tagged]


def capture(frames: Sequence[bytes], rng: random.Random, ps_per_byte: int) -> bytes:
    """As close as the line takes them, in bursts."""
    parts = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)]
    at, left = 0, 0
    for frame in frames:
        parts.append(struct.pack("<4I", at // 10**9, at % 10**9, len(frame), len(frame)) + frame)
        at += -(-(max(len(frame), 60) + AROUND) * ps_per_byte // 1000)
        left -= 1
        if left <= 0:
            left = rng.randrange(1, BURST + 1)
            at += rng.choice((0, PAUSE_NS)) if left < BURST // 4 else PAUSE_NS
    return b"".join(parts)


def judge(frame: bytes, stack: Stack) -> tuple[str, bytes]:
    """Verdict, and what the program gets."""
    wire = with_fcs(frame)
    verdict, _ = stack.receive(wire)
    plain = without_tag(wire[:-4])  # what pads a frame may be payload
    if verdict == "rx_unaligned":  # that counts nowhere in this interface
        verdict = "rx_good"
    if verdict != "rx_good" or plain[12:14] != b"\x08\x00" or plain[23] != UDP:
        return verdict if verdict != "rx_good" else "answered", b""
    total = int.from_bytes(plain[16:18], "big")
    return verdict, plain[42 : 14 + total]


def first_wrong(found: bytes, frames: Sequence[bytes], wanted: Sequence[bytes]) -> str:
    at = 0
    for number, (frame, data) in enumerate(zip(frames, wanted, strict=True)):
        if found[at : at + len(data)] != data:
            return f"frame {number}: {frame.hex()}"
        at += len(data)
    return f"{len(found) - at} bytes behind the last frame"


def measure(options: argparse.Namespace) -> Sequence[Figure]:
    from isthmus import native
    from isthmus.roads.nanet import serve
    from isthmus.roads.nanet.platform import is_ten_gigabit
    from isthmus.roads.nanet.serve import NanetStatus, ServeOptions

    on = serve.platform(options.platform)
    ten = is_ten_gigabit(on)
    model = serve.build(ServeOptions(("one",)), on)
    stack = Stack(ME, netmask=b"\xff" * 4)
    total: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    started = time.monotonic()
    for number, begin in enumerate(range(0, options.frames, PER_RUN)):
        seed = options.seed + number
        rng = random.Random(seed)
        # The benches' makers of frames draw from this one.
        random.seed(seed)
        shots = [shot(rng) for _ in range(min(PER_RUN, options.frames - begin))]
        frames = [frame for _, frame in shots]
        kinds.update(kind for kind, _ in shots)
        judged = [judge(frame, stack) for frame in frames]
        with tempfile.TemporaryDirectory() as folder:
            source, out = Path(folder) / "in.pcap", Path(folder) / "out"
            source.write_bytes(capture(frames, rng, 800 if ten else 8000))
            made_of = ServeOptions(captures=(source,), out=out)
            status = native.serve(serve.scenario(made_of, on, model), lambda _: None, NanetStatus)
            found = out.read_bytes()
        wanted = [data for _, data in judged]
        verdicts = Counter(verdict for verdict, _ in judged)
        bad = sum(verdicts[name] for name in BAD)
        if ten:
            # It does not answer ping, so whether one is whole is not looked at.
            pings = [frame for frame, (verdict, _) in zip(frames, judged, strict=True)
                     if verdict == "rx_l4" and without_tag(frame)[23] != UDP]  # fmt: skip
            bad -= len(pings)
        counted = {name: status.counted(name) for name in ("frames_good", "frames_bad", "frames_other")}
        good = verdicts["rx_good"]
        expected = {"frames_good": good, "frames_bad": bad, "frames_other": len(frames) - good - bad}
        if found != b"".join(wanted):
            sys.exit(f"fuzz_nic: seed {seed}: {first_wrong(found, frames, wanted)}")
        if counted != expected or status.delivered != good:
            sys.exit(f"fuzz_nic: seed {seed}: {counted}, {status.delivered} delivered; expected {expected}")
        total.update(frames=len(frames), delivered=good, bytes=len(found), **verdicts)
        rate = total["frames"] / (time.monotonic() - started)
        print(f"{total['frames']:>9,} frames, {rate:,.0f}/s", file=sys.stderr, flush=True)
    print(f"# {options.platform}, seeds {options.seed} to {seed}")
    for title, counts in (("what was sent", kinds), ("what became of it", total)):
        print(f"# {title}")
        for name, count in sorted(counts.items()):
            print(f"{name:<24}{count:>14,}")
    return [Figure(f"frames judged otherwise than the model, {options.platform}", 0, 0, "frames")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--platform", choices=("nanet", "nanet-10g"), default="nanet")
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    sys.exit(main(measure, parser))
