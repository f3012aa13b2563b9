# SPDX-License-Identifier: Apache-2.0
"""`isthmus bench template`."""

from pathlib import Path
from typing import Annotated

import typer
from isthmus.options import Form, Iterations, OutFolder, Resume, Scheduler, Seed


def template(
    platform: Annotated[str, typer.Option(metavar="NAMES", help="Names or paths of platforms.")],
    size: Annotated[str, typer.Option("-s", "--size", metavar="BYTES", help="Sizes, with commas.")] = "4,64",
    iterations: Iterations = 100,
    seed: Seed = 1,
    form: Form = "table",
    out: OutFolder = Path("out"),
    scheduler: Scheduler = None,
    resume: Resume = False,
) -> None:
    """Reads of a mailbox."""
    from isthmus import platforms
    from isthmus.bench import output, runner
    from isthmus.storage import result_file

    from template_road import bench, page
    from template_road.platform import KINDS

    chosen = platforms.chosen(platform, KINDS, "template")
    target = result_file(out, "template")
    sizes = [int(each) for each in size.split(",")]
    made = bench.measure(chosen, sizes, iterations, seed, runner.sweep(out, scheduler, resume))
    output.publish(made, target, form, page.text)  # type: ignore[arg-type]
