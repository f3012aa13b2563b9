# SPDX-License-Identifier: Apache-2.0
"""A file of the user's own is a platform of every bench; a wrong name comes with the nearest one."""

from pathlib import Path

import fixture
import pytest
import rdma_fixture
import test_switch
from isthmus import cli, platforms
from isthmus.platforms import PlatformError
from isthmus.results import load
from isthmus.roads.etherbone import command as etherbone
from isthmus.roads.rdma import command as rdma
from isthmus.roads.rdma.command import RdmaOptions
from isthmus.roads.switch import command as switch

MODEL = Path("model.so")


def own(folder: Path, name: str, base: str, change: str = "") -> str:
    """A file beside no other one, on a base of `platforms/`."""
    file = folder / f"{name}.toml"
    file.write_text(f'title = "Mine"\nbase = "{base}"\n{change}')
    return str(file)


LONG = '[link]\nlength = { value = 90, unit = "m", source = "my cable" }\n'


def test_a_file_is_a_platform_of_etherbone(tmp_path: Path) -> None:
    mine = own(tmp_path, "lab", "gige-direct.toml", LONG)
    made = etherbone.run(
        platform=f"{mine},gige-direct", size="1", out=tmp_path, runner=fixture.engine, model=MODEL
    )
    assert {m.platform for m in made} == {"lab", "gige-direct"}
    stored = load(tmp_path / "etherbone.json").constants["lab"]
    assert (stored.title, stored.value("link", "length")) == ("Mine", 90)


def test_a_bus_alone_takes_its_own_platforms(tmp_path: Path) -> None:
    made = etherbone.run(
        name="pcie", buses=("pcie",), size="1", out=tmp_path, runner=fixture.engine, model=MODEL
    )
    assert {m.platform for m in made} == {"pcie-scu2", "pcie-scu3", "pcie-t3500", "pcie-t5810"}
    assert {file.name for file in tmp_path.iterdir()} == {"pcie.json", "pcie.csv", "pcie.html"}
    mine = own(tmp_path, "lab", "gige-direct.toml")
    with pytest.raises(PlatformError, match="is of kind gige; pcie runs on pcie-"):
        etherbone.run(name="pcie", buses=("pcie",), platform=mine, out=tmp_path, runner=fixture.engine)


def test_a_file_is_a_platform_of_rdma(tmp_path: Path) -> None:
    asked = RdmaOptions("write-lat", platform=own(tmp_path, "lab", "forth-rdma.toml"))
    made = rdma.run(asked, out=tmp_path, runner=rdma_fixture.engine, given=rdma_fixture.GIVEN)
    assert {m.platform for m in made} == {"lab"}


def test_a_file_is_a_platform_of_the_switch(tmp_path: Path) -> None:
    mine = own(tmp_path, "lab", "forth-switch.toml")
    made = switch.run(platform=mine, load="0.5", out=tmp_path, runner=test_switch.engine, given=MODEL)
    assert set(made.constants) == {"lab"}


def test_two_of_one_name_are_refused(tmp_path: Path) -> None:
    mine = own(tmp_path, "gige-direct", "gige-direct.toml")
    with pytest.raises(PlatformError, match="'gige-direct' is given twice"):
        platforms.chosen(f"gige-direct,{mine}", ("gige",), "etherbone")


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["bench", "usb", "--platform", "usb-t5801"], "did you mean 'usb-t5810'?"),
        (["bench", "rdma", "write-lat", "--platform", "forth-rmda"], "did you mean 'forth-rdma'?"),
        (["bench", "switch", "--platform", "fort-switch"], "did you mean 'forth-switch'?"),
        (["bench", "switch", "--platform", "usb-t5810"], "switch runs on forth-switch"),
        (["bench", "etherbone", "--platform", "no/such.toml"], "no/such.toml: no such file"),
        (["bench", "pci"], "unknown command 'pci'; did you mean 'pcie'?"),
    ],
)
def test_a_wrong_name_is_one_line(command: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(command) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def test_platforms_are_listed_with_their_titles(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["platforms"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name in platforms.names():
        (line,) = [line for line in lines if line.split()[0] == name]
        assert line.endswith(platforms.load(name).title)
