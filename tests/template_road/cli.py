# SPDX-License-Identifier: Apache-2.0
"""`isthmus bench template`."""

from typing import Annotated, Unpack

import typer
from isthmus.options import Iterations, ResultOptions, Seed, results, with_results


@with_results
def template(
    platform: Annotated[str, typer.Option(metavar="NAMES", help="Names or paths of platforms.")],
    size: Annotated[str, typer.Option("-s", "--size", metavar="BYTES", help="Sizes, with commas.")] = "4,64",
    iterations: Iterations = 100,
    seed: Seed = 1,
    **options: Unpack[ResultOptions],
) -> None:
    """Reads of a mailbox."""
    from isthmus import platforms
    from isthmus.bench import output
    from isthmus.storage import result_file

    from . import bench, page
    from .platform import KINDS

    chosen = platforms.chosen(platform, KINDS, "template")
    asked = results(options)
    target = result_file(asked["out"], "template", asked["out_json"])
    sizes = [int(each) for each in size.split(",")]
    made = bench.measure(chosen, sizes, iterations, seed, asked["runner"])
    output.publish(made, target, asked["format"], page.text)
