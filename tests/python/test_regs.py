# SPDX-License-Identifier: Apache-2.0
"""Register maps: what is committed is what the sources give."""

from pathlib import Path

import pytest
from isthmus import regs


def test_generated_files_are_current() -> None:
    assert regs.check() == [], "run: python -c 'from isthmus import regs; regs.generate()'"


@pytest.mark.deterministic
def test_a_stale_or_missing_file_is_named(tmp_path: Path) -> None:
    for name in (*regs.SOURCES, regs.BUS, regs.WORDS):
        target = tmp_path / "rtl/regs" / f"{name}.rdl"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((regs.ROOT / "rtl/regs" / f"{name}.rdl").read_text())
    regs.generate(tmp_path, tmp_path)
    assert regs.check(tmp_path) == []
    eca = tmp_path / "rtl/regs/eca.rdl"
    eca.write_text(eca.read_text().replace("TIME_HI_GET @ 0x18", "TIME_HI_GET @ 0x20"))
    (tmp_path / regs.SV_DIR / "gige_ctrl_regs.sv").unlink()
    assert sorted(regs.check(tmp_path)) == sorted(
        str(p)
        for p in (
            regs.DOCS,
            regs.RUST,
            regs.SV_DIR / "gige_ctrl_regs.sv",
            regs.SV_DIR / "isthmus_regs_pkg.sv",
        )
    )


def test_published_addresses_hold() -> None:
    eca = {r.name: (r.offset, r.access) for r in regs.load("eca").registers}
    assert eca["TIME_HI_GET"] == (0x18, "ro")
    assert eca["TIME_LO_GET"] == (0x1C, "ro")
    tlu = {r.name: (r.offset, r.access) for r in regs.load("tlu").registers}
    assert tlu["FIFO_READY"] == (0x00, "ro")
    assert tlu["FIFO_POP"] == (0x5C, "wo")
    assert tlu["FTSHI"] == (0x68, "ro")
    assert tlu["FTSLO"] == (0x6C, "ro")


def test_a_broken_description_says_where(tmp_path: Path) -> None:
    source = tmp_path / "rtl/regs/eca.rdl"
    source.parent.mkdir(parents=True)
    source.write_text("addrmap eca { reg { field {} value[31:0] } X @ 0; };")
    with pytest.raises(regs.RegsError, match=r"eca\.rdl"):
        regs.load("eca", tmp_path)
    with pytest.raises(regs.RegsError, match="no such register description"):
        regs.load("tlu", tmp_path)
