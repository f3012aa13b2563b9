# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from bench import run
from isthmus.figures import image
from isthmus.models.sources import sources

HERE = Path(__file__).parent
LINE = HERE.parent / "link"


def test_ecpix5_link() -> None:
    """The board's top as it is synthesised, but for the cells, of which there are models."""
    board = image.BOARDS["ecpix5_link"]
    own = [file for file in image.files("ecpix5_link") if not file.stem.endswith("cells")]
    run(
        board.core,
        "ecpix5_link_bench",
        "ecpix5_link_tb",
        extra_sources=[
            LINE / "code_8b10b.sv",
            LINE / "line_8b10b.sv",
            HERE / "dcu_model.sv",
            *(file for file in own if file not in sources(board.core)),
            HERE / "ecpix5_link_bench.sv",
        ],
    )
