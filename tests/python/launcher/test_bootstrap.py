# SPDX-License-Identifier: Apache-2.0
"""Set-up steps: the native module is rebuilt when and only when a source changed; failures are one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from isthmus import bootstrap

FAKE_CARGO = """\
#!/bin/sh
echo "$@" >>"{root}/calls"
if [ -f "{root}/broken" ]; then
  printf 'warning: unused\\nerror[E0425]: no `x`\\n --> crates/a/src/lib.rs:3:5\\nerror: end\\n' >&2
  exit 101
fi
mkdir -p "{root}/target/release"
cat "{root}"/crates/a/src/lib.rs >"{root}/target/release/libisthmus_py.so"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "crates" / "a" / "src").mkdir(parents=True)
    (tmp_path / "crates" / "a" / "src" / "lib.rs").write_text("one")
    (tmp_path / "Cargo.toml").write_text("")
    (tmp_path / "bin").mkdir()
    cargo = tmp_path / "bin" / "cargo"
    cargo.write_text(FAKE_CARGO.format(root=tmp_path))
    cargo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)
    monkeypatch.setattr(bootstrap, "ROOT", tmp_path)
    monkeypatch.setattr(bootstrap, "STATE", tmp_path / ".isthmus")
    monkeypatch.setattr(bootstrap, "NATIVE", tmp_path / "_native.abi3.so")
    return tmp_path


def calls(project: Path) -> int:
    return len((project / "calls").read_text().splitlines())


@pytest.mark.skipif(sys.platform == "darwin", reason="the fake cargo makes an ELF name")
def test_the_native_module_follows_its_sources(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = project / "crates" / "a" / "src" / "lib.rs"
    bootstrap.ensure_native()
    assert (project / "_native.abi3.so").read_text() == "one"
    assert "isthmus: simulator (Rust, release) ...\n" in capsys.readouterr().err
    bootstrap.ensure_native()
    source.touch()
    bootstrap.ensure_native()
    assert calls(project) == 1
    assert capsys.readouterr().err == ""
    source.write_text("two")
    bootstrap.ensure_native()
    assert (project / "_native.abi3.so").read_text() == "two"
    assert calls(project) == 2
    (project / "_native.abi3.so").unlink()
    bootstrap.ensure_native()
    assert calls(project) == 3


def test_a_compiler_error_is_one_line_with_its_place(project: Path) -> None:
    (project / "broken").touch()
    for _ in range(2):
        with pytest.raises(bootstrap.SetupError) as error:
            bootstrap.ensure_native()
        assert str(error.value) == (
            "error[E0425]: no `x` --> crates/a/src/lib.rs:3:5 (output: .isthmus/log/native.log)"
        )
    assert calls(project) == 2


def test_a_missing_cargo_says_how_to_get_it(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(project))
    monkeypatch.setenv("HOME", str(project))
    with pytest.raises(
        bootstrap.SetupError, match=r"^needs cargo, Rust's build tool: .*https://sh\.rustup\.rs \| sh "
    ):
        bootstrap.ensure_native()


def test_a_python_without_venv_says_all_that_is_missing_at_once(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    monkeypatch.setattr(bootstrap, "REQUIREMENTS", project)
    monkeypatch.setattr(bootstrap, "VENV", project / "venv")
    with pytest.raises(bootstrap.SetupError, match=r"^needs python3-venv: apt-get install python3-venv$"):
        bootstrap.ensure_environment()
    monkeypatch.setattr(bootstrap, "find", lambda _: None)
    with pytest.raises(
        bootstrap.SetupError,
        match=r"^needs python3-venv, g\+\+, cargo: apt-get install .*g\+\+ python3-venv && ",
    ):
        bootstrap.ensure_environment()


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            "Retrying: NewConnectionError('Name or service not known')\nERROR: No matching distribution",
            "cannot reach the package registry, which this first set-up needs",
        ),
        (
            "error: failed to download `pyo3`\nCaused by:\n  Could not resolve host: example.org",
            "cannot reach the package registry, which this first set-up needs",
        ),
        (
            "Collecting x\nERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n  more",
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
        ),
        ("warning: x\nlast words\n\n", "last words"),
        ("", "failed with no output"),
    ],
)
def test_the_line_that_matters_is_found(output: str, line: str) -> None:
    assert bootstrap.relevant(output) == line


def test_lock_files_pin_every_package_with_hashes_and_name_no_address() -> None:
    requirements = Path(bootstrap.__file__).resolve().parents[2] / "requirements"
    for name in ("run", "dev"):
        text = (requirements / f"{name}.lock").read_text()
        assert "://" not in text
        assert "--index" not in text
        assert "--find" not in text
        packages = [block for block in text.replace(" \\\n", " ").splitlines() if block and block[0] != "#"]
        assert len(packages) > 10
        for package in packages:
            assert "==" in package.split()[0], package
            assert "--hash=sha256:" in package, package


def test_the_two_lock_files_agree_on_common_packages() -> None:
    requirements = Path(bootstrap.__file__).resolve().parents[2] / "requirements"
    pins = [
        dict(
            line.split(" ")[0].split("==")
            for line in (requirements / f"{name}.lock").read_text().splitlines()
            if "==" in line.split(" ")[0]
        )
        for name in ("run", "dev")
    ]
    common = pins[0].keys() & pins[1].keys()
    assert common
    assert {name: pins[0][name] for name in common} == {name: pins[1][name] for name in common}
