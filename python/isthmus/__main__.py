# SPDX-License-Identifier: Apache-2.0
import sys

from isthmus import jobs


def _program() -> int:
    # Imported here: a signal meanwhile must find its handler.
    from isthmus.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    jobs.main(_program)
