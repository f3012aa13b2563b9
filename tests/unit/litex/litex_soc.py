# SPDX-License-Identifier: Apache-2.0
"""A LiteX SoC without a processor: RAM and an identifier behind isthmus' Etherbone bridge."""

from __future__ import annotations

import os
import re
from pathlib import Path

from isthmus.litex import CLOCK_HZ, EtherboneBridge
from litex.build.generic_platform import Pins, Subsignal
from litex.build.sim import SimPlatform
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCMini
from litex_soc_map import IDENT, RAM, RAM_BYTES
from migen import ClockDomain, Module

MAC, IP, PORT = 0x0250C0FFEE01, "192.168.0.100/24", 0xEBD0
"""Those of the frames that the benches of the whole device send."""


_IO = [
    ("sys_clk", 0, Pins(1)),
    ("sys_rst", 0, Pins(1)),
    (
        "gmii",
        0,
        *[Subsignal(name, Pins(1)) for name in ("rx_clk", "rx_dv", "rx_er", "tx_en", "tx_er")],
        *[Subsignal(name, Pins(8)) for name in ("rx_data", "tx_data")],
    ),
]


class _Clocks(Module):  # type: ignore[misc]
    def __init__(self, platform: SimPlatform) -> None:
        self.clock_domains.cd_sys = ClockDomain()
        self.comb += [
            self.cd_sys.clk.eq(platform.request("sys_clk")),
            self.cd_sys.rst.eq(platform.request("sys_rst")),
        ]


class Soc(SoCMini):  # type: ignore[misc]
    """The SoC. Its bus has one master: the bridge."""

    def __init__(self, platform: SimPlatform) -> None:
        SoCMini.__init__(self, platform, CLOCK_HZ, ident=IDENT, ident_version=False)
        self.submodules.crg = _Clocks(platform)
        self.add_ram("ram", RAM, RAM_BYTES)
        self.submodules.etherbone = EtherboneBridge(
            platform, platform.request("gmii"), mac=MAC, ip=IP, udp_port=PORT
        )
        self.bus.add_master(name="etherbone", master=self.etherbone.bus)


def write(folder: Path) -> tuple[Path, int]:
    """Write the SoC's Verilog into `folder`; returns it and the address of its identifier."""
    here = Path.cwd()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    try:
        platform = SimPlatform("SIM", _IO)
        soc = Soc(platform)
        soc.finalize()
        platform.get_verilog(soc, name="litex_soc").write("litex_soc.v")
    finally:
        os.chdir(here)
    made = folder / "litex_soc.v"
    # The bench runs elsewhere; and the same SoC is the same text on every day.
    text = re.sub(r"// (Date|LiteX sha1) .*\n", "", made.read_text())
    made.write_text(re.sub(r'\$readmemh\("([^"]+)"', rf'$readmemh("{folder}/\1"', text))
    region: SoCRegion = soc.csr.regions["identifier_mem"]
    return made, int(region.origin)
