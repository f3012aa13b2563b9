# SPDX-License-Identifier: Apache-2.0
"""A software slave with a small bus, and the command line against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from isthmus import bootstrap, cli, eb

RAM = 0x1000
RAM_SIZE = 0x1_0000
ROM = 0x20_0000
CONTENTS = bytes(range(256))


@pytest.fixture(scope="session", autouse=True)
def _native() -> None:
    bootstrap.ensure_native()


@pytest.fixture
def slave() -> Iterator[eb.SoftwareSlave]:
    memories = [
        eb.Memory(RAM, bytes(RAM_SIZE), device=0x66CFEB52, name="WB4-BlockRAM"),
        eb.Memory(ROM, CONTENTS, vendor=0xCE42, device=0x1234, name="ROM"),
    ]
    with eb.SoftwareSlave(memories) as running:
        yield running


@pytest.fixture
def name(slave: eb.SoftwareSlave) -> str:
    return slave.names[0]


@pytest.fixture
def device(name: str) -> Iterator[eb.Device]:
    with eb.Device(name) as opened:
        yield opened


@pytest.fixture
def isthmus(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command: exit code, standard output, standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        code = cli.run([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
