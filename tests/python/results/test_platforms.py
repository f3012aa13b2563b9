# SPDX-License-Identifier: Apache-2.0
"""Platform files: what is shipped is whole, and every mistake is named with its file and the remedy."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from isthmus import platforms
from isthmus.platforms.load import FOLDER, PlatformError
from isthmus.roads.etherbone import bench as etherbone
from isthmus.roads.etherbone.scenario import constants
from isthmus.roads.rdma import bench as rdma
from isthmus.roads.switch import bench as switch
from isthmus.verify import published

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in FOLDER.glob("*.toml"):
        shutil.copy(file, tmp_path)
    return tmp_path


def _edit(folder: Path, old: str, new: str, file: str = "_gige.toml") -> None:
    path = folder / file
    text = path.read_text()
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, 1))


def _refused(folder: Path, name: str = "gige-direct") -> str:
    with pytest.raises(PlatformError) as error:
        platforms.load(name, folder)
    assert "\n" not in str(error.value)
    return str(error.value)


def _all(platform: platforms.Platform) -> list[tuple[str, platforms.Constant]]:
    groups = [platform.fpga, *platform.groups.values(), *platform.profiles.values()]
    return [(name, getattr(group, name)) for group in groups for name in platforms.declared(type(group))]


def test_what_is_shipped_loads_and_names_its_sources() -> None:
    assert set(platforms.names()) >= {*etherbone.SYSTEMS, switch.PLATFORM, *rdma.PLATFORMS}
    page = (ROOT / "docs" / "reference" / "platforms.md").read_text()
    assert [name for name in platforms.names() if f"`{name}`" not in page] == []
    for name in platforms.names():
        for key, constant in _all(platforms.load(name)):
            assert len(constant.source) > 10, f"{name}: {key}"


def test_the_switch_is_all_that_differs() -> None:
    direct, switch = (constants(platforms.load(f"gige-{t}"), "isthmus") for t in ("direct", "switch"))
    assert switch["bus"]["gige"].pop("switch") == {"latency_ns": 880.0}
    del direct["name"], switch["name"]
    assert direct == switch


def test_profiles_share_all_but_the_library() -> None:
    platform = platforms.load("gige-direct")
    theirs, ours = (constants(platform, profile) for profile in platforms.PROFILES)
    del theirs["library"], ours["library"]
    assert theirs == ours


def test_each_profile_gets_the_driver_of_its_own() -> None:
    for name, theirs, ours in (("usb-t5810", "serial", "bulk"), ("pcie-scu3", "words", "dma")):
        platform = platforms.load(name)
        for profile, driver in zip(platforms.PROFILES, (theirs, ours), strict=True):
            bus = constants(platform, profile)["bus"][platform.bus]
            assert list(bus["driver"]) == [driver]
            assert theirs not in bus
            assert ours not in bus


# Units with their dimension and their size in it. A rate of cycles is compared as its period, so that 50 us
# are near 19.8 kHz.
DIMENSIONS: Mapping[str, tuple[str, float]] = {
    "ns": ("s", 1e-9),
    "us": ("s", 1e-6),
    "kHz": ("1/s", 1e3),
    "MHz": ("1/s", 1e6),
    "microframe": ("s", 125e-6),
    "cycle": ("cycle", 1),
    "byte": ("byte", 1),
    "B": ("byte", 1),
    "word": ("byte", 4),
    "bit": ("byte", 1 / 8),
    "Mbit/s": ("byte/s", 1e6 / 8),
    "MiB/s": ("byte/s", 2**20),
    "%": ("share", 0.01),
    "percent": ("share", 0.01),
    "share": ("share", 1),
}
# Numbers without a dimension (counts, ratios near one) are equal by chance, and slopes are no totals.
NOT_COMPARED = ("1", "ratio", "s", "m", "ns/m", "ns/byte", "TLP")
NEAR_PERCENT = 10.0
"""How near a constant must be to a published number to need a reason: the number's own error, or this."""

# (platform file, constant, published number) of what is near and yet did not come from it, and why.
_BETWEEN = (
    "measured on loopback sockets; the row is the time between operations inside the FPGA, a row of probes"
)
_TIMEOUT = "16 us of bus timeout end no transfer that a slave answers; no run reaches it"
_THRESHOLD = (
    "one microframe is the driver's own default; the row is what it gives, and counts as agreeing by width"
)
NEAR: Mapping[tuple[str, str, str], str] = {
    ("_gige.toml", "build_operation", "eb.gige.inside.word"): _BETWEEN,
    ("_gige.toml", "parse_operation", "eb.gige.inside.word"): _BETWEEN,
    ("_vme.toml", "bus_timeout", "eb.tlu.vme.rio4.time"): _TIMEOUT,
    ("_vme.toml", "bus_timeout", "eb.tlu.vme.rio4.rate"): _TIMEOUT,
    ("usb-t3500.toml", "interrupt_threshold", "eb.tlu.usb.t3500.time"): _THRESHOLD,
    ("usb-t3500.toml", "interrupt_threshold", "eb.tlu.usb.t3500.rate"): _THRESHOLD,
}


def _si(value: float, unit: str) -> tuple[str, float] | None:
    if unit in NOT_COMPARED:
        return None
    dimension, scale = DIMENSIONS[unit]
    return ("s", 1 / (value * scale)) if dimension == "1/s" else (dimension, value * scale)


def _near(constant: platforms.Constant, value: float, unit: str, tolerance: str) -> bool:
    ours, theirs = _si(constant.value, constant.unit), _si(value, unit)
    if ours is None or theirs is None or ours[0] != theirs[0] or not theirs[1]:
        return False
    allowed = max(NEAR_PERCENT, float(tolerance or 0)) / 100
    return abs(ours[1] / theirs[1] - 1) <= allowed + 1e-9


def _is_of(row: Mapping[str, str], platform: str) -> bool:
    """Whether the number is simulated on that platform, and so can come from its constants."""
    return any(part.split("/")[1] == platform for part in row["measurement"].split(" / "))


def test_a_constant_that_is_near_a_number_that_must_come_out_has_a_reason() -> None:
    rows = [
        row
        for name in ("etherbone", "switch", "rdma")
        for row in published(name)
        if row["kind"] in ("prediction", "identity", "bound")
    ]
    found = {
        (constant.file, key, row["id"])
        for name in platforms.names()
        for key, constant in _all(platforms.load(name))
        for row in rows
        if _is_of(row, name) and _near(constant, float(row["value"]), row["unit"], row["tolerance_percent"])
    }
    assert found - set(NEAR) == set(), "near a published number: the row is an input, or say here why not"
    assert set(NEAR) - found == set(), "no longer near"


def test_a_constant_of_50_us_is_near_50_4_us_and_near_19_8_khz() -> None:
    gap = platforms.Constant(50, "us", "a driver's default")
    assert _near(gap, 50.4, "us", "20")
    assert _near(gap, 19.8, "kHz", "20")
    assert not _near(gap, 134, "us", "10")
    assert not _near(gap, 50.4, "cycle", "20")
    buffer = platforms.Constant(768, "byte", "cuts of a write")
    assert not _near(buffer, 685, "MiB/s", "0.1")


def test_keys_carry_their_units() -> None:
    found = constants(platforms.load("gige-direct"), "as-published")
    assert found["fpga"]["clock_mhz"] == 125.0
    assert found["bus"]["gige"]["host"]["copy_ns_per_byte"] == 0.1
    assert found["bus"]["gige"]["link"]["delay_ns_per_m"] == 5.4
    assert found["library"]["poll"] == 0
    assert found["bus"]["gige"]["nic"]["interrupt_gap_us"] == 50.0
    assert isinstance(found["fpga"]["epoch_s"], int)


def test_unknown_platform() -> None:
    with pytest.raises(PlatformError, match="unknown platform 'usb'"):
        platforms.load("usb")
    with pytest.raises(PlatformError, match="unknown platform '_gige'"):
        platforms.load("_gige")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("accept =", "acept =", "forth-rdma.toml: bridge: lacks accept (of the device's data"),
        ("[bridge]", "[bridg]", "forth-rdma.toml: lacks the table [bridge]"),
        (
            "message = { value = 0,",
            "message = { value = 2,",
            "forth-rdma.toml: core.message: 2 1 is out of range: 0 to 1 1",
        ),
        (
            'value = 1, unit = "cycle"',
            'value = 1, unit = "ns"',
            "forth-rdma.toml: pcix.address: unit is 'ns'; it must be given in 'cycle'",
        ),
        (
            "outstanding =",
            "outstandig =",
            "forth-rdma.toml: profile.as-published: lacks outstanding (transfers",
        ),
        ('"rdma-pcix"', '"rdma-pci"', "forth-rdma.toml: bus: 'rdma-pci' is not one of gige"),
        ('"rdma-pcix"', '"rdma-pcie"', "forth-rdma.toml: lacks the table [link]"),
    ],
)
def test_mistakes_in_the_rdma_platform_are_named(folder: Path, old: str, new: str, said: str) -> None:
    _edit(folder, old, new, "forth-rdma.toml")
    assert said in _refused(folder, "forth-rdma")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("clock =", "clok =", "_gige.toml: fpga: lacks clock (clock of the gateware"),
        ("[nic]", "[nick]", "gige-direct.toml: lacks the table [nic]"),
        (
            "[nic]",
            "[power]\nx = 1\n[nic]",
            "gige-direct.toml: unknown key power; expected one of title, base, bus, fpga, phy, link",
        ),
        (
            "doorbell =",
            'dorbell = { value = 1, unit = "ns", source = "x" }\ndoorbell =',
            "_gige.toml: unknown key nic.dorbell; did you mean nic.doorbell?",
        ),
        (
            'unit = "MHz"',
            'unit = "GHz"',
            "_gige.toml: fpga.clock: unit is 'GHz'; it must be given in 'MHz'",
        ),
        (
            'value = 125, unit = "MHz", ',
            "value = 125, ",
            '_gige.toml: fpga.clock: lacks unit; expected { value = ..., unit = "MHz", source = "..." }',
        ),
        (
            "value = 125,",
            "value = 1e6,",
            "_gige.toml: fpga.clock: 1000000.0 MHz is out of range: 1 to 1000 MHz",
        ),
        ("value = 125,", "value = nan,", "_gige.toml: fpga.clock: nan MHz is out of range"),
        ("value = 125,", 'value = "fast",', "_gige.toml: fpga.clock: value 'fast' is not a number"),
        ("value = 125,", "value = true,", "_gige.toml: fpga.clock: value True is not a number"),
        ("value = 125,", "value = 125, note = 1,", "_gige.toml: fpga.clock: unknown key 'note'"),
        (
            "[profile.isthmus]",
            "[profile.ours]",
            "gige-direct.toml: lacks the table [profile.isthmus]",
        ),
        ("[fpga]", "[fpga", "_gige.toml: not TOML"),
        ('"gige"', '"gig"', "_gige.toml: bus: 'gig' is not one of gige"),
    ],
)
def test_mistakes_are_named(folder: Path, old: str, new: str, said: str) -> None:
    _edit(folder, old, new)
    assert said in _refused(folder)


def test_a_number_without_source_is_refused(folder: Path) -> None:
    text = (folder / "gige-switch.toml").read_text()
    begin = text.index('source = "')
    (folder / "gige-switch.toml").write_text(text[:begin] + 'source = " " }\n')
    said = "gige-switch.toml: switch.latency: source is empty; expected where 880 ns comes from"
    assert _refused(folder, "gige-switch") == said


def test_a_bare_number_is_refused(folder: Path) -> None:
    (folder / "gige-direct.toml").write_text('title = "x"\nbase = "_gige.toml"\n[link]\nrate = 1000\n')
    assert _refused(folder).startswith("gige-direct.toml: link.rate: must be { value = ..., unit")


def test_bases_must_exist_and_not_turn_in_a_circle(folder: Path) -> None:
    _edit(folder, '"_gige.toml"', '"_none.toml"', "gige-direct.toml")
    assert _refused(folder) == "gige-direct.toml: base: there is no _none.toml beside it, nor in platforms/"
    (folder / "ring.toml").write_text('title = "x"\nbase = "ring.toml"\n')
    assert "is its own base" in _refused(folder, "ring")


@pytest.mark.parametrize("where", ["{folder}/_gige.toml", "../{folder.name}/_gige.toml"])
def test_a_base_may_be_a_path(folder: Path, where: str) -> None:
    _edit(folder, '"_gige.toml"', f'"{where.format(folder=folder)}"', "gige-direct.toml")
    assert platforms.load("gige-direct", folder).bus == "gige"


@pytest.mark.parametrize("base", ["", "/", "../none/_gige.toml", "/none/_gige.toml"])
def test_a_path_without_a_file_is_no_base(folder: Path, base: str) -> None:
    _edit(folder, '"_gige.toml"', f'"{base}"', "gige-direct.toml")
    assert _refused(folder).startswith(f"gige-direct.toml: base: there is no {base} beside it")


def test_a_platform_changes_one_constant_of_its_base(folder: Path) -> None:
    with (folder / "gige-direct.toml").open("a") as file:
        file.write('[link]\nlength = { value = 80, unit = "m", source = "a longer cable" }\n')
    link = platforms.load("gige-direct", folder).groups["link"]
    assert (link.length.value, link.length.file) == (80.0, "gige-direct.toml")
    assert link.delay.file == "_gige.toml"


def test_the_reference_page_has_every_key_with_its_unit() -> None:
    page = (FOLDER.parent / "docs" / "reference" / "platforms.md").read_text()
    buses = platforms.kinds().values()
    for kind in {kind for bus in buses for kind in (bus.fpga, *bus.groups.values(), bus.profile)}:
        for key, wanted in platforms.declared(kind).items():
            assert f"| `{key}` | {wanted.unit} | {wanted.low:g} to {wanted.high:g} | {wanted.what} |" in page
