#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LiteEth's Etherbone in clocks, counted where ours are counted.

Needs LiteEth, LiteX and Migen (`liteeth.txt`) and nothing of isthmus: LiteEth makes the cores, and they run
in LiteX's own simulator, one clock for all domains. `README.md` here says how to run it.

    reads        last request word taken -> last reply word, on 32-bit UDP streams, with no wait
    writes       last request word taken -> last bus operation
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib.metadata import version
from typing import Any

COUNTS = (1, 8, 64, 255)
PORT = 1234
LIMIT = 20_000


def request(writes: int, reads: int) -> list[int]:
    """A LiteEth message of one record, as words."""
    words = [0x4E6F1044, 0, 0x000F0000 | writes << 8 | reads]
    if writes:
        words += [0, *range(writes)]
    if reads:
        words += [0, *range(0, 4 * reads, 4)]
    return words


def slave(module: Any, bus: Any) -> None:
    """Answers in the cycle of the operation: the fastest that a classic bus can have."""
    module.comb += [bus.ack.eq(bus.cyc & bus.stb), bus.dat_r.eq(bus.adr)]


def block(buffer_depth: int) -> dict[str, dict[int, int]]:
    from liteeth.core.udp import LiteEthUDPUserPort
    from liteeth.frontend.etherbone import LiteEthEtherbone
    from litex.gen import LiteXModule
    from litex.gen.sim import run_simulation

    class Crossbar:
        dw = 32

        def __init__(self) -> None:
            self.port = LiteEthUDPUserPort(32)

        def get_port(self, *_: Any, **__: Any) -> Any:
            return self.port

    class Udp:
        def __init__(self) -> None:
            self.crossbar = Crossbar()

    class Top(LiteXModule):  # type: ignore[misc]
        def __init__(self) -> None:
            self.udp = Udp()
            self.etherbone = LiteEthEtherbone(self.udp, PORT, buffer_depth=buffer_depth)
            slave(self, self.etherbone.wishbone.bus)

    found: dict[str, dict[int, int]] = {"reads": {}, "writes": {}}

    def run(kind: str, count: int) -> None:
        top = Top()
        port = top.udp.crossbar.port
        clock = {"now": 0, "last_in": -1, "last_out": -1, "acks": 0}
        words = request(0, count) if kind == "reads" else request(count, 0)
        bus = top.etherbone.wishbone.bus

        def drive() -> Any:
            yield port.sink.ready.eq(1)
            for index, word in enumerate(words):
                yield port.source.valid.eq(1)
                yield port.source.data.eq(int.from_bytes(word.to_bytes(4, "big"), "little"))
                yield port.source.last.eq(index == len(words) - 1)
                yield port.source.length.eq(4 * len(words))
                yield port.source.src_port.eq(PORT)
                yield port.source.dst_port.eq(PORT)
                yield
                while not (yield port.source.ready):
                    yield
            yield port.source.valid.eq(0)
            for _ in range(LIMIT):
                done = clock["last_out"] if kind == "reads" else clock["acks"] == count
                if (kind == "reads" and done >= 0) or (kind == "writes" and done):
                    return
                yield
            raise SystemExit(f"{count} {kind}: no answer in {LIMIT} clocks")

        def watch() -> Any:
            while True:
                if (yield port.source.valid) and (yield port.source.ready) and (yield port.source.last):
                    clock["last_in"] = clock["now"]
                if (yield bus.cyc) and (yield bus.stb) and (yield bus.ack):
                    clock["acks"] += 1
                    clock["last_ack"] = clock["now"]
                if (yield port.sink.valid) and (yield port.sink.ready) and (yield port.sink.last):
                    clock["last_out"] = clock["now"]
                clock["now"] += 1
                yield

        from litex.gen.sim import passive

        run_simulation(top, [drive(), passive(watch)()])
        end = clock["last_out"] if kind == "reads" else clock["last_ack"]
        found[kind][count] = end - clock["last_in"]

    for count in COUNTS:
        run("reads", count)
        run("writes", count)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--liteeth", metavar="PATH", help="a checkout to measure instead of the package")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if options.liteeth:
        sys.path.insert(0, options.liteeth)
    try:
        results: dict[str, Any] = {f"{name} {version(name)}": "" for name in ("liteeth", "litex", "migen")}
    except ImportError as err:
        raise SystemExit(
            f"liteeth_clocks: {err}; expected the packages of benchmarks/peers/liteeth.txt"
        ) from err
    table = block(256)
    if options.json:
        print(json.dumps({"versions": list(results), "clocks": table}, indent=2))
        return
    print(", ".join(results))
    for kind, row in table.items():
        print(f"{kind:7}" + "".join(f" {count}: {clocks}" for count, clocks in row.items()))


if __name__ == "__main__":
    main()
