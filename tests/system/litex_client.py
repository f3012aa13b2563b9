# SPDX-License-Identifier: Apache-2.0
"""A program of LiteX's own client, run by test_serve_litex.py in the network that it makes."""

from __future__ import annotations

import random
import sys

from litex.tools.remote.comm_udp import CommUDP

RAM, SDB, ECA = 0x0, 0x0010_0000, 0x0020_0000

comm = CommUDP(server=sys.argv[1], port=int(sys.argv[2]))
comm.open()  # binds the device's port number on this side, and probes

assert comm.read(SDB) == 0x5344422D
high, low = comm.read(ECA + 0x18, 1)[0], comm.read(ECA + 0x1C)
assert high << 32 | low > 1_700_000_000_000_000_000

values = [random.getrandbits(32) for _ in range(255)]
comm.write(RAM, values)
assert comm.read(RAM, 255) == values
for index in (0, 7, 254):
    comm.write(RAM + 4 * index, index)
    assert comm.read(RAM + 4 * index) == index

# Every read is one frame and its answer; many of them, each with the number of its own.
assert [comm.read(RAM + 4 * (i % 255)) for i in range(300)] == [
    i % 255 if i % 255 in (0, 7, 254) else values[i % 255] for i in range(300)
]
comm.close()
print("done")
