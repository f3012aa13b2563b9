# SPDX-License-Identifier: Apache-2.0
"""Etherbone from Python: devices by name, cycles, cycles in flight, the bus's description of itself.

```python
from isthmus import eb

with eb.Device("udp/192.168.10.2") as device:
    device.write(0x100, 0xCAFEF00D)
    print(hex(device.read(0x100)))
    high, low = device.execute(eb.Cycle().read(0x20_0018).read(0x20_001C))
    block = device.read_bytes(0, 4096)
```

Addresses are byte addresses, times are seconds, sizes bytes. What a caller gave wrong is a `UserError`; what
the device or the network did is an `EtherboneError`. Each says in one line what, where, and what would be
right.
The native module does the work and waits without the interpreter's lock; Control-C ends a wait.
"""

from isthmus.eb.device import (
    BusError,
    Cycle,
    Device,
    DeviceTimeoutError,
    Discovered,
    EtherboneError,
    Pending,
    SdbRecord,
    describe,
    discover,
)
from isthmus.eb.slave import Memory, SoftwareSlave

__all__ = [
    "BusError",
    "Cycle",
    "Device",
    "DeviceTimeoutError",
    "Discovered",
    "EtherboneError",
    "Memory",
    "Pending",
    "SdbRecord",
    "SoftwareSlave",
    "describe",
    "discover",
]
