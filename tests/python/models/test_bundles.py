# SPDX-License-Identifier: Apache-2.0
"""Ports group into bundles by name: what an AXI master may have beyond what it must."""

from __future__ import annotations

import pytest
from isthmus.models.bundles import EARLY, FAMILIES, ROW, SOON, BundleError, group
from isthmus.models.ports import Elaborated, Port


def top(rows: dict[str, int], without: str = "") -> Elaborated:
    """A device with a whole `dma` bundle, less one port, and the given user ports."""
    ports = [Port("clk_i", 1, False), Port("rst_ni", 1, False)]
    for member, signal in FAMILIES["dma"].items():
        if member not in (*ROW, EARLY, *SOON, without):
            ports.append(Port(f"dma_{member}", signal.width or 8, signal.is_output))
    ports += [Port(f"dma_{member}", width, True) for member, width in rows.items()]
    return Elaborated("top", tuple(ports), (), {})


@pytest.mark.parametrize("rows", [(), ("awuser_o",), ("awuser_o", "aruser_o")])
def test_a_master_may_say_how_long_its_rows_of_bursts_are(rows: tuple[str, ...]) -> None:
    (dma,) = (bundle for bundle in group(top(dict.fromkeys(rows, 13))) if bundle.kind == "dma")
    assert {short for short in dma.ports if "user" in short} == {row.removesuffix("_o") for row in rows}


def test_a_master_may_want_to_know_early_of_data() -> None:
    device = top({})
    early = Elaborated("top", (*device.ports, Port("dma_rearly_i", 1, False)), (), {})
    (dma,) = (bundle for bundle in group(early) if bundle.kind == "dma")
    assert "rearly" in dma.ports
    wrong = Elaborated("top", (*device.ports, Port("dma_rearly_i", 1, True)), (), {})
    with pytest.raises(BundleError, match="dma_rearly_i must be an input"):
        group(wrong)


@pytest.mark.parametrize("soon", [("awsoon",), ("arsoon",), ("awsoon", "arsoon")])
def test_a_master_may_say_that_an_access_comes_soon(soon: tuple[str, ...]) -> None:
    ports = tuple(Port(f"dma_{member}_o", 1, True) for member in soon)
    device = Elaborated("top", (*top({}).ports, *ports), (), {})
    (dma,) = (bundle for bundle in group(device) if bundle.kind == "dma")
    assert {short for short in dma.ports if "soon" in short} == set(soon)
    wide = Elaborated("top", (*top({}).ports, Port("dma_awsoon_o", 2, True)), (), {})
    with pytest.raises(BundleError, match="dma_awsoon_o is 2 bits wide, bundle dma needs 1"):
        group(wide)


def test_a_row_of_another_width_and_a_missing_port_are_refused() -> None:
    with pytest.raises(BundleError, match="dma_awuser_o is 12 bits wide, bundle dma needs 13"):
        group(top({"awuser_o": 12}))
    with pytest.raises(BundleError, match="bundle dma lacks dma_awlen_o"):
        group(top({"awuser_o": 13}, without="awlen_o"))


@pytest.mark.parametrize("width", [1, 33, 64, 96, 512])
def test_a_status_port_is_one_value_or_counters_of_32_bits(width: int) -> None:
    device = top({})
    with_status = Elaborated("top", (*device.ports, Port("status_each_o", width, True)), (), {})
    assert group(with_status)[-1].ports == {"each": len(device.ports)}


def test_counters_of_another_width_are_refused() -> None:
    device = top({})
    with_status = Elaborated("top", (*device.ports, Port("status_each_o", 90, True)), (), {})
    with pytest.raises(BundleError, match="status_each_o is 90 bits wide; more than 64 are counters of 32"):
        group(with_status)
