# SPDX-License-Identifier: Apache-2.0
"""isthmus' cores as modules of LiteX (https://github.com/enjoy-digital/litex), which has to be installed.

bridge = EtherboneBridge(platform, platform.request("gmii"), mac=0x020000000001, ip="192.168.1.50")
self.submodules.etherbone = bridge
self.bus.add_master(name="etherbone", master=bridge.bus)
"""

from __future__ import annotations

import ipaddress
from typing import Any

from isthmus.errors import UserError
from isthmus.models.sources import sources

try:
    from litex.gen import LiteXModule
    from litex.soc.interconnect import wishbone
    from migen import ClockSignal, Instance, ResetSignal
except ImportError as err:
    raise UserError(f"isthmus.litex needs LiteX: {err}") from err

CLOCK_HZ = 125_000_000
"""Frequency of the clock domain `sys`: it sends on the wire."""

LITEETH_PORT = 1234


class EtherboneBridge(LiteXModule):  # type: ignore[misc]
    """Etherbone on Gigabit Ethernet as a bus master of the SoC: `bus` is its Wishbone.

    platform   gets the sources
    gmii       pads or signals: rx_clk, rx_data, rx_dv, rx_er, tx_data, tx_en, tx_er
    mac, ip    of the FPGA: 48 bits, and "192.168.1.50" or "192.168.1.50/24"
    dialect    "liteeth" (LiteX's tools: litex_server, RemoteClient) or "ohwr" (as published)
    """

    def __init__(
        self,
        platform: Any,
        gmii: Any,
        *,
        mac: int,
        ip: str,
        udp_port: int = LITEETH_PORT,
        dialect: str = "liteeth",
    ) -> None:
        if not 0 <= mac < 1 << 48:
            raise UserError(f"mac {mac:#x}: expected 48 bits")
        if not 0 < udp_port < 1 << 16:
            raise UserError(f"udp_port {udp_port}: expected 1 to 65535")
        if dialect not in ("liteeth", "ohwr"):
            raise UserError(f"dialect {dialect!r}: expected liteeth or ohwr")
        try:
            address = ipaddress.IPv4Interface(ip)
        except ValueError as err:
            raise UserError(f"ip {ip!r}: expected such as 192.168.1.50/24") from err
        self.bus = bus = wishbone.Interface(data_width=32, adr_width=32, addressing="byte")
        for file in sources("isthmus:board:gige_bridge"):
            platform.add_source(str(file), language="systemverilog")
        self.specials += Instance(
            "gige_bridge",
            i_clk_i=ClockSignal("sys"),
            i_rst_ni=~ResetSignal("sys"),
            i_gmii_rx_clk_i=gmii.rx_clk,
            i_gmii_rxd_i=gmii.rx_data,
            i_gmii_rx_dv_i=gmii.rx_dv,
            i_gmii_rx_er_i=gmii.rx_er,
            o_gmii_txd_o=gmii.tx_data,
            o_gmii_tx_en_o=gmii.tx_en,
            o_gmii_tx_er_o=gmii.tx_er,
            i_cfg_mac_i=mac,
            i_cfg_ip_i=int(address.ip),
            i_cfg_netmask_i=int(address.netmask),
            i_cfg_udp_port_i=udp_port,
            i_cfg_dialect_i=int(dialect == "liteeth"),
            i_cfg_reply_port_i=0,
            o_wb_cyc_o=bus.cyc,
            o_wb_stb_o=bus.stb,
            o_wb_we_o=bus.we,
            o_wb_adr_o=bus.adr,
            o_wb_sel_o=bus.sel,
            o_wb_dat_o=bus.dat_w,
            i_wb_ack_i=bus.ack,
            i_wb_err_i=bus.err,
            i_wb_dat_i=bus.dat_r,
        )
