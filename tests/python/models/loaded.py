# SPDX-License-Identifier: Apache-2.0
"""Drives a built model through its C ABI, so that the tests see what the simulator sees."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any


class PortInfo(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("width", ctypes.c_uint32),
        ("dir", ctypes.c_uint32),
    )


class Description(ctypes.Structure):
    _fields_ = (
        ("abi", ctypes.c_uint32),
        ("top", ctypes.c_char_p),
        ("source_hash", ctypes.c_char_p),
        ("info_json", ctypes.c_char_p),
        ("num_ports", ctypes.c_uint32),
        ("ports", ctypes.POINTER(PortInfo)),
    )


class Model:
    """One instance of a model; ports by name."""

    def __init__(self, library: Path, trace: Path | None = None) -> None:
        self.api = ctypes.CDLL(str(library))
        self.api.isthmus_describe.restype = ctypes.POINTER(Description)
        self.api.isthmus_create.restype = ctypes.c_void_p
        self.api.isthmus_create.argtypes = [ctypes.c_char_p]
        self.api.isthmus_port.restype = ctypes.c_void_p
        self.api.isthmus_port.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
        self.api.isthmus_eval.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
        self.api.isthmus_edge.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
        self.api.isthmus_error.restype = ctypes.c_char_p
        self.api.isthmus_error.argtypes = [ctypes.c_void_p]
        self.api.isthmus_destroy.argtypes = [ctypes.c_void_p]
        self.description: Description = self.api.isthmus_describe().contents
        self.info: dict[str, Any] = json.loads(self.description.info_json)
        self.ports = {
            p.name.decode(): (i, p.width, bool(p.dir))
            for i, p in enumerate(self.description.ports[: self.description.num_ports])
        }
        self.handle = self.api.isthmus_create(str(trace).encode() if trace else None)
        self.time_ps = 0

    def _storage(self, name: str) -> Any:
        index, width, _ = self.ports[name]
        address = self.api.isthmus_port(self.handle, index)
        assert address is not None
        for bits, kind in (
            (8, ctypes.c_uint8),
            (16, ctypes.c_uint16),
            (32, ctypes.c_uint32),
            (64, ctypes.c_uint64),
        ):
            if width <= bits:
                return kind.from_address(address)
        return (ctypes.c_uint32 * ((width + 31) // 32)).from_address(address)

    def __getitem__(self, name: str) -> int:
        storage = self._storage(name)
        if self.ports[name][1] <= 64:
            return int(storage.value)
        return sum(word << (32 * i) for i, word in enumerate(storage))

    def __setitem__(self, name: str, value: int) -> None:
        storage = self._storage(name)
        if self.ports[name][1] <= 64:
            storage.value = value
        else:
            for i in range(len(storage)):
                storage[i] = (value >> (32 * i)) & 0xFFFFFFFF

    def clock(self, *clocks: str) -> None:
        """One period of 8 ns: rising edge, falling edge."""
        for level in (1, 0):
            for name in clocks or ("clk_i",):
                self[name] = level
            self.evaluate()

    def evaluate(self, *, only_clocks: bool = False) -> None:
        evaluate = self.api.isthmus_edge if only_clocks else self.api.isthmus_eval
        assert evaluate(self.handle, self.time_ps) == 0
        self.time_ps += 4000

    def close(self) -> None:
        self.api.isthmus_destroy(self.handle)
