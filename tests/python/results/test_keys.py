# SPDX-License-Identifier: Apache-2.0
"""Keys of scenarios, out of the schemas that the engine's types give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import pytest
from isthmus import platforms
from isthmus.platforms.keys import Key, key, largest
from isthmus.platforms.model import Constant, Declared, Of


@dataclass(frozen=True)
class _Table:
    ENGINE: ClassVar = "PcieLink"

    generation: Annotated[Constant, "of the link"]
    reserved: Annotated[Constant, "symbols that TLPs cannot use"]
    hop: Annotated[Constant, Of("RdmaPlatform", "cable", "of a hop")]
    own: Annotated[Constant, Declared("ns", 0, 5, "of no scenario")]


def test_a_key_has_the_unit_and_the_range_of_the_engine_s_type() -> None:
    assert key("GigeHost", "copy") == Key("copy_ns_per_byte", "ns/byte", 0, 100, whole=False)
    assert key("Fpga", "epoch") == Key("epoch_s", "s", 0, 2**33, whole=True)
    assert key("PcixConfig", "boundary") == Key("boundary_bytes", "byte", 128, 4096, whole=True)
    assert key("SwitchDevice", "max") == Key("max_words", "word", 16, 510, whole=True)


def test_a_key_that_no_road_has_is_an_error() -> None:
    with pytest.raises(KeyError, match="no road's schema has speed with a range in PcieLink"):
        key("PcieLink", "speed")
    with pytest.raises(KeyError, match="generation with a range in PcieLinc"):
        key("PcieLinc", "generation")


def test_limits_are_those_of_one_form_of_a_workload_as_well() -> None:
    assert largest("EtherboneWorkload", "bytes") == 1 << 20
    assert largest("EtherboneWorkload", "window", "x-bytes-in-flight") == 4 << 20
    assert largest("RdmaWorkload", "size_bytes", "x-message-bytes") == 504


def test_a_table_takes_unit_and_range_from_its_type_another_type_or_itself() -> None:
    found = platforms.declared(_Table)
    assert list(found) == ["generation", "reserved", "hop", "own"]
    assert (found["generation"].low, found["generation"].high, found["generation"].unit) == (1, 4, "1")
    assert (found["reserved"].unit, found["reserved"].key) == ("share", "reserved_share")
    assert (found["hop"].unit, found["hop"].key, found["hop"].what) == ("ns", "cable_ns", "of a hop")
    assert found["own"] == Declared("ns", 0, 5, "of no scenario")


def test_entries_have_the_engine_s_keys_and_whole_numbers_where_it_wants_them() -> None:
    values = {name: Constant(1.0, "", "x") for name in platforms.declared(_Table)}
    found = platforms.entries(_Table(**values))
    assert found == {"generation": 1, "reserved_share": 1.0, "cable_ns": 1.0, "own_ns": 1.0}
    assert [type(value) for value in found.values()] == [int, float, float, float]
