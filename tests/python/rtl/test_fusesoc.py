# SPDX-License-Identifier: Apache-2.0
"""The cores in other people's tools: FuseSoC, Verilator from a file list, Vivado, Quartus, LiteX."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from isthmus import fusesoc
from isthmus.errors import UserError
from isthmus.models.ports import elaborate
from isthmus.models.sources import load_cores, sources
from isthmus.models.tools import find_verilator
from isthmus.paths import ROOT, RTL

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="FuseSoC runs its tools by make")


def run_fusesoc(folder: Path, *arguments: str, cores: Path = RTL) -> subprocess.CompletedProcess[str]:
    verilator = find_verilator()
    search = os.pathsep.join([str(verilator.binary.parent), os.environ["PATH"]])
    return subprocess.run(
        [sys.executable, "-m", "fusesoc.main", "--cores-root", str(cores), "run", *arguments],
        cwd=folder,
        env={**os.environ, "PATH": search, "VERILATOR_ROOT": str(verilator.root), "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.deterministic
def test_the_targets_of_every_core_are_those_of_its_modules() -> None:
    assert fusesoc.stale(ROOT) == []
    for file in RTL.glob("*/*.core"):
        assert file.read_text().count("From here on made by") == 1, file.name


@pytest.mark.deterministic
@needs_make
@pytest.mark.parametrize("core", sorted(load_cores()))
def test_fusesoc_lints_the_core_without_a_warning(core: str, tmp_path: Path) -> None:
    done = run_fusesoc(tmp_path, "--target=lint", core)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "%Warning" not in done.stdout + done.stderr


@pytest.mark.deterministic
def test_a_vivado_project_of_fusesoc_has_every_source_and_scoped_constraint(tmp_path: Path) -> None:
    done = run_fusesoc(tmp_path, "--setup", "--target=synth", "isthmus:board:rdma_ni")
    assert done.returncode == 0, done.stdout + done.stderr
    [script] = tmp_path.rglob("isthmus_board_rdma_ni_0.1.0.tcl")
    text = script.read_text()
    for file in sources("isthmus:board:rdma_ni"):
        assert text.count(f"/{file.name}}}") == 1, file.name
    assert "scoped_constraints.tcl" in text
    copied = {path.name for path in script.parent.glob("src/*/*.xdc")}
    assert {"async_fifo.xdc", "link_elastic.xdc", "rdma_link_rx.xdc"} <= copied


@needs_make
def test_a_fault_in_a_core_fails_its_lint(tmp_path: Path) -> None:
    cores = tmp_path / "rtl"
    shutil.copytree(RTL, cores)
    module = cores / "prim" / "tag_store.sv"
    module.write_text(module.read_text().replace("endmodule", "logic idle_wire;\nendmodule"))
    done = run_fusesoc(tmp_path, "--target=lint", "isthmus:prim:prim", cores=cores)
    assert done.returncode != 0
    assert "UNUSEDSIGNAL" in done.stdout + done.stderr


@pytest.mark.deterministic
@pytest.mark.parametrize("module", ["rdma_ni", "gige_udp", "async_fifo"])
def test_verilator_has_no_warning_from_the_file_list_alone(module: str, tmp_path: Path) -> None:
    listed = tmp_path / "core.f"
    listed.write_text(fusesoc.listing(module, "f"))
    verilator = find_verilator()
    done = subprocess.run(
        [verilator.binary, "--lint-only", "-Wall", "--timing", "--top-module", module, "-f", str(listed)],
        env={**os.environ, "VERILATOR_ROOT": str(verilator.root)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, "%Warning" in done.stderr) == (0, False), done.stderr


def test_a_list_has_every_source_and_the_constraints_of_its_tool() -> None:
    files = sources("isthmus:rdma:rdma")
    vivado = fusesoc.listing("rdma", "vivado").splitlines()
    quartus = fusesoc.listing("isthmus:rdma:rdma", "quartus").splitlines()
    litex = fusesoc.listing("rdma_tx", "litex").splitlines()
    assert vivado[: len(files)] == [f"read_verilog -sv {{{file}}}" for file in files]
    assert f"read_xdc -unmanaged -ref async_fifo {{{RTL}/prim/async_fifo.xdc}}" in vivado
    assert f'set_global_assignment -name SDC_FILE "{RTL}/prim/async_fifo.sdc"' in quartus
    assert litex == [f'platform.add_source("{file}", language="systemverilog")' for file in files]


def test_the_template_connects_every_port_and_names_every_parameter() -> None:
    top = elaborate(sources("isthmus:ethernet:ethernet"), "gige_udp", {}, device=False)
    text = fusesoc.listing("gige_udp", "template")
    for name in [port.name for port in top.ports] + list(top.parameters):
        assert text.count(f"  .{name} ") == 1, name
    assert (
        text.count(",") - text.count("// input,") - text.count("// output,")
        == len(top.ports) + len(top.parameters) - 2
    )


@pytest.mark.parametrize(
    ("name", "form", "said"),
    [
        ("rmda", "f", "unknown core or module 'rmda'; did you mean 'rdma'?"),
        ("rdma", "xilinx", "unknown format 'xilinx'; choose from f, vivado, quartus, litex, template"),
    ],
)
def test_a_wrong_name_is_refused_in_one_line(name: str, form: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        fusesoc.listing(name, form)
    assert str(refused.value).startswith(said)
