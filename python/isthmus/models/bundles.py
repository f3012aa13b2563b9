# SPDX-License-Identifier: Apache-2.0
"""Groups a top's ports into the bundles that a device may have (docs/explanation/architecture.md).

The grouping goes by name and checks width and direction; a port that fits no bundle is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from isthmus.errors import UserError
from isthmus.models.ports import Elaborated, Port


class BundleError(UserError):
    """A port that is in no bundle, or a bundle that is not whole."""


@dataclass
class Bundle:
    """A group of ports that one world model drives and samples. `ports`: short name -> port index."""

    kind: str
    name: str
    ports: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Signal:
    """A port of a bundle with fixed members. Width 0: any."""

    width: int
    is_output: bool


GMII: dict[str, Signal] = {
    "rx_clk_i": Signal(1, False),
    "rxd_i": Signal(8, False),
    "rx_dv_i": Signal(1, False),
    "rx_er_i": Signal(1, False),
    "txd_o": Signal(8, True),
    "tx_en_o": Signal(1, True),
    "tx_er_o": Signal(1, True),
}

XGMII: dict[str, Signal] = {
    "rx_clk_i": Signal(1, False),
    "rxd_i": Signal(64, False),
    "rxc_i": Signal(8, False),
    "txd_o": Signal(64, True),
    "txc_o": Signal(8, True),
}


def _axi(master: bool) -> dict[str, Signal]:
    """AXI4 as flat ports, seen from the device; width 0: the top's parameter decides."""
    forward = {  # driven by the master
        "awvalid": 1, "awid": 0, "awaddr": 0, "awlen": 8, "awsize": 3, "awburst": 2,
        "wvalid": 1, "wdata": 0, "wstrb": 0, "wlast": 1, "bready": 1,
        "arvalid": 1, "arid": 0, "araddr": 0, "arlen": 8, "arsize": 3, "arburst": 2, "rready": 1,
    }  # fmt: skip
    back = {
        "awready": 1, "wready": 1, "bvalid": 1, "bid": 0, "bresp": 2,
        "arready": 1, "rvalid": 1, "rid": 0, "rdata": 0, "rresp": 2, "rlast": 1,
    }  # fmt: skip
    signals = {}
    for group, is_output in ((forward, master), (back, not master)):
        for name, width in group.items():
            signals[f"{name}_{'o' if is_output else 'i'}"] = Signal(width, is_output)
    if master:
        signals |= {member: Signal(13, True) for member in ROW}
        signals[EARLY] = Signal(1, False)
        signals |= {member: Signal(1, True) for member in SOON}
    return signals


# The longest status port that is one value; a longer one is several counters.
STATUS_BITS = 64
COUNTER_BITS = 32

# Optional: a master that announces the bytes left in a burst sequence.
ROW = ("awuser_o", "aruser_o")
# Optional: a master that needs the next beat of read data announced a few clocks ahead.
EARLY = "rearly_i"
# Optional: a master that announces a probable write or read a few clocks ahead.
SOON = ("awsoon_o", "arsoon_o")
# Optional: an agent whose cache changes words atomically.
CHANGE = "req_atomic_i"


# A Cypress FX2LP beside the FPGA: its slave FIFO interface, clocked by its IFCLK.
FX2: dict[str, Signal] = {
    "clk_i": Signal(1, False),
    "fd_i": Signal(0, False),
    "fd_o": Signal(0, True),
    "fd_oe_o": Signal(1, True),
    "fifoadr_o": Signal(2, True),
    "sloe_no": Signal(1, True),
    "slrd_no": Signal(1, True),
    "slwr_no": Signal(1, True),
    "pktend_no": Signal(1, True),
    "flag_empty_ni": Signal(1, False),
    "flag_last_ni": Signal(1, False),
    "flag_full_ni": Signal(1, False),
    "flag_tight_ni": Signal(1, False),
    "open_i": Signal(1, False),
}

# A slave behind a VMEbus's transceivers: A32, D32. Strobes are asynchronous to the device's clocks.
VME: dict[str, Signal] = {
    "as_ni": Signal(1, False),
    "ds_ni": Signal(2, False),
    "write_ni": Signal(1, False),
    "lword_ni": Signal(1, False),
    "iack_ni": Signal(1, False),
    "am_i": Signal(6, False),
    "addr_i": Signal(31, False),
    "data_i": Signal(32, False),
    "data_o": Signal(32, True),
    "data_oe_o": Signal(1, True),
    "dtack_no": Signal(1, True),
    "berr_no": Signal(1, True),
}

# The user side of serial transceivers: a word of 32 bits and 4 K flags a port and clock, vectors over ports.
SERDES: dict[str, Signal] = {
    "rx_data_i": Signal(0, False),
    "rx_k_i": Signal(0, False),
    "signal_i": Signal(0, False),
    "tx_data_o": Signal(0, True),
    "tx_k_o": Signal(0, True),
}
SERDES_BITS = {"signal": 1, "rx_data": 32, "rx_k": 4, "tx_data": 32, "tx_k": 4}

# The user side of a link's lanes, a block of 512 bits at a time, vectors over links. The device always has
# one to send.
BLOCKS: dict[str, Signal] = {
    "tx_data_o": Signal(0, True),
    "tx_ready_i": Signal(0, False),
    "rx_data_i": Signal(0, False),
    "rx_valid_i": Signal(0, False),
}
BLOCKS_BITS = {"tx_ready": 1, "tx_data": 512, "rx_data": 512, "rx_valid": 1}

# Of vectors: what they count, and each member's bits for one of it; the first member's width is the count.
VECTORS: dict[str, tuple[str, dict[str, int]]] = {
    "serdes": ("ports", SERDES_BITS),
    "blocks": ("links", BLOCKS_BITS),
}

# The packet interface (AMBA CXS) of a PCIe hard block: a packet's beats of 512 bits, with credits both ways.
CXS: dict[str, Signal] = {
    "tx_valid_o": Signal(1, True),
    "tx_last_o": Signal(1, True),
    "tx_words_o": Signal(4, True),
    "tx_data_o": Signal(512, True),
    "tx_credit_i": Signal(1, False),
    "rx_valid_i": Signal(1, False),
    "rx_words_i": Signal(4, False),
    "rx_data_i": Signal(512, False),
    "rx_credit_o": Signal(1, True),
}

# The ports of a network's router, vectors over its ports: flits of two channels, with a credit for each.
FLITS: dict[str, Signal] = {
    f"{side}_{name}_{'i' if (side == 'rx') != (name == 'freed') else 'o'}": Signal(
        0, (side == "tx") != (name == "freed")
    )
    for side in ("rx", "tx")
    for name in ("valid", "vc", "head", "tail", "data", "freed")
}

# Commands to a traffic generator: ranges of host memory to read or write, and their ends.
TASK: dict[str, Signal] = {
    "valid_i": Signal(1, False),
    "ready_o": Signal(1, True),
    "write_i": Signal(1, False),
    "tag_i": Signal(8, False),
    "address_i": Signal(48, False),
    "bytes_i": Signal(17, False),
    "seed_i": Signal(32, False),
    "done_o": Signal(1, True),
    "done_tag_o": Signal(8, True),
    "done_fault_o": Signal(1, True),
}

# Atomic changes of words of host memory, one at a time, by an AXI master: AWATOP, and what the word was.
ATOMIC: dict[str, Signal] = {
    "valid_i": Signal(1, False),
    "ready_o": Signal(1, True),
    "code_i": Signal(6, False),
    "address_i": Signal(48, False),
    "operand_i": Signal(64, False),
    "done_o": Signal(1, True),
    "old_o": Signal(64, True),
}

# Words beside lines at a coherent link: loads, stores, interrupts, barriers, and what the far end did here.
IO: dict[str, Signal] = {
    "req_valid_i": Signal(1, False),
    "req_ready_o": Signal(1, True),
    "req_kind_i": Signal(2, False),
    "req_address_i": Signal(40, False),
    "req_mask_i": Signal(8, False),
    "req_tag_i": Signal(8, False),
    "req_data_i": Signal(64, False),
    "rsp_valid_o": Signal(1, True),
    "rsp_tag_o": Signal(8, True),
    "rsp_data_o": Signal(64, True),
    "event_valid_o": Signal(1, True),
    "event_ipi_o": Signal(1, True),
    "event_address_o": Signal(40, True),
}


# Writes to the memories of a search for rings, before the first event.
SEARCH: dict[str, Signal] = {
    "we_i": Signal(1, False),
    "memory_i": Signal(2, False),
    "addr_i": Signal(16, False),
    "data_i": Signal(64, False),
}


# Transactions of a near-data unit on records of host memory, and their ends.
UPDATE: dict[str, Signal] = {
    "valid_i": Signal(1, False),
    "ready_o": Signal(1, True),
    "slot_i": Signal(6, False),
    "id_i": Signal(32, False),
    "last_i": Signal(2, False),
    "steps_i": Signal(72, False),
    "locked_o": Signal(1, True),
    "locked_slot_o": Signal(6, True),
    "refused_o": Signal(1, True),
    "refused_slot_o": Signal(6, True),
    "done_o": Signal(1, True),
    "done_slot_o": Signal(6, True),
    "done_aborted_o": Signal(1, True),
    "done_digest_o": Signal(64, True),
    "reset_i": Signal(1, False),
    "hold_i": Signal(1, False),
    "lost_o": Signal(1, True),
    "lost_slot_o": Signal(6, True),
    "lost_whole_o": Signal(1, True),
}


def _lines(requests: bool) -> dict[str, Signal]:
    """Reads and writes of whole cache lines, with a byte mask; `requests`: the device makes them.
    What the device answers has no ready: who asks has room for it."""
    forward = {
        "req_valid": 1, "req_write": 1, "req_index": 33, "req_tag": 8, "req_mask": 128, "req_data": 1024,
    }  # fmt: skip
    back = {"req_ready": 1, "rsp_valid": 1, "rsp_tag": 8, "rsp_data": 1024}
    forward |= {"rsp_ready": 1} if requests else {"req_kind": 3, "req_atomic": 15}
    signals = {}
    for group, is_output in ((forward, requests), (back, not requests)):
        for name, width in group.items():
            signals[f"{name}_{'o' if is_output else 'i'}"] = Signal(width, is_output)
    return signals


# A family's ports are `<name><number>_<signal>`; the number distinguishes several of one device.
FAMILIES: dict[str, dict[str, Signal]] = {
    "gmii": GMII,
    "xgmii": XGMII,
    "bar": _axi(master=False),  # the host's loads and stores, behind a PCIe hard block or a PCI-X core
    "dma": _axi(master=True),  # the device's access to host memory, behind the same
    "fx2": FX2,
    "vme": VME,
    "serdes": SERDES,
    "blocks": BLOCKS,
    "cxs": CXS,
    "flits": FLITS,
    "task": TASK,
    "atomic": ATOMIC,
    "update": UPDATE,
    "search": SEARCH,
    "lines": _lines(requests=False),  # what the FPGA's own logic asks a coherence agent for
    "mem": _lines(requests=True),  # a home's access to its memory
    "io": IO,
}

FIXED: dict[str, tuple[str, str, Signal]] = {
    # port: bundle kind, short name, shape
    "rst_ni": ("reset", "rst_n", Signal(1, False)),
    "time_ns_i": ("time", "time_ns", Signal(64, False)),
    "time_cycles_i": ("time", "time_cycles", Signal(64, False)),
    "trigger_i": ("trigger", "trigger", Signal(0, False)),
    "probe_o": ("probe", "probe", Signal(0, True)),
    "probe_tag_o": ("probe", "probe_tag", Signal(0, True)),
    "idle_o": ("idle", "idle", Signal(1, True)),
    "irq_o": ("irq", "irq", Signal(0, True)),
    "result_valid_o": ("result", "valid", Signal(1, True)),
    "result_o": ("result", "word", Signal(32, True)),
    "ttc_start_i": ("trigger", "start", Signal(1, False)),
    "trigger_o": ("trigger", "valid", Signal(1, True)),
    "trigger_lines_o": ("trigger", "lines", Signal(4, True)),
}


def group(device: Elaborated) -> list[Bundle]:
    """All bundles of `device`, in port order. Raises `BundleError` that names the wrong port."""
    bundles: dict[tuple[str, str], Bundle] = {}
    for index, port in enumerate(device.ports):
        kind, name, short, signal = _place(device.top, port)
        direction = "output" if signal.is_output else "input"
        if port.is_output != signal.is_output:
            raise BundleError(f"{device.top}: port {port.name} must be an {direction}")
        if signal.width and port.width != signal.width:
            raise BundleError(
                f"{device.top}: port {port.name} is {port.width} bits wide, "
                f"bundle {kind} needs {signal.width}"
            )
        if kind == "status" and port.width > STATUS_BITS and port.width % COUNTER_BITS:
            raise BundleError(
                f"{device.top}: port {port.name} is {port.width} bits wide; more than {STATUS_BITS} are "
                f"counters of {COUNTER_BITS} each"
            )
        bundles.setdefault((kind, name), Bundle(kind, name)).ports[short] = index
    grouped = list(bundles.values())
    _check_whole(device, grouped)
    return grouped


def _place(top: str, port: Port) -> tuple[str, str, str, Signal]:
    """Bundle kind, bundle name, short port name and required shape."""
    name = port.name
    if name in FIXED:
        kind, short, signal = FIXED[name]
        return kind, kind, short, signal
    head, _, tail = name.partition("_")
    # A family's own name may end in a digit.
    family = head if head in FAMILIES else head.rstrip("0123456789")
    if tail in FAMILIES.get(family, {}):
        return family, head, tail.rpartition("_")[0], FAMILIES[family][tail]
    if name == "clk_i":
        return "clock", "clk", "clk", Signal(1, False)
    matchers: Sequence[tuple[str, str, Callable[[str], tuple[str, str, str, Signal]]]] = (
        ("cfg_", "_i", lambda middle: ("config", "config", middle, Signal(0, False))),
        ("status_", "_o", lambda middle: ("status", "status", middle, Signal(0, True))),
        ("", "_clk_i", lambda middle: ("clock", middle, "clk", Signal(1, False))),
        ("", "_time_ns_i", lambda middle: ("time", "time", f"{middle}_time_ns", Signal(64, False))),
    )
    for prefix, suffix, place in matchers:
        if name.startswith(prefix) and name.endswith(suffix) and len(name) > len(prefix + suffix):
            return place(name.removeprefix(prefix).removesuffix(suffix))
    raise BundleError(
        f"{top}: port {name} fits no bundle; "
        "docs/explanation/architecture.md lists the ports a device may have"
    )


def _check_whole(device: Elaborated, bundles: Sequence[Bundle]) -> None:
    kinds = {bundle.kind for bundle in bundles}
    if not any(bundle.kind == "clock" and bundle.name == "clk" for bundle in bundles):
        raise BundleError(f"{device.top}: has no clk_i")
    if "reset" not in kinds:
        raise BundleError(f"{device.top}: has no rst_ni")
    for bundle in bundles:
        for member in FAMILIES.get(bundle.kind, {}):
            if member not in (*ROW, EARLY, *SOON, CHANGE) and member.rpartition("_")[0] not in bundle.ports:
                raise BundleError(f"{device.top}: bundle {bundle.name} lacks {bundle.name}_{member}")
        if bundle.kind == "time":
            _check_time(device, bundle, bundles)
        if bundle.kind == "probe":
            _check_probe(device, bundle)
        if bundle.kind in VECTORS:
            _check_vectors(device, bundle, *VECTORS[bundle.kind])


def _check_time(device: Elaborated, bundle: Bundle, bundles: Sequence[Bundle]) -> None:
    clocks = {one.name for one in bundles if one.kind == "clock"}
    for short in bundle.ports:
        clock = short.removesuffix("_time_ns")
        if clock not in (short, *clocks):
            raise BundleError(
                f"{device.top}: port {short}_i shows the time of clock {clock}_clk_i, which does not exist"
            )


def _check_vectors(device: Elaborated, bundle: Bundle, what: str, members: Mapping[str, int]) -> None:
    count = device.ports[bundle.ports[next(iter(members))]].width
    for short, bits in members.items():
        width = device.ports[bundle.ports[short]].width
        if width != count * bits:
            raise BundleError(
                f"{device.top}: bundle {bundle.name}: {short} is {width} bits wide, "
                f"for {count} {what} {count * bits}"
            )


def _check_probe(device: Elaborated, bundle: Bundle) -> None:
    for short in ("probe", "probe_tag"):
        if short not in bundle.ports:
            raise BundleError(f"{device.top}: bundle probe lacks {short}_o")
    stages = len(device.probes)
    for short, bits in (("probe", 1), ("probe_tag", 8)):
        width = device.ports[bundle.ports[short]].width
        if width != stages * bits:
            raise BundleError(
                f"{device.top}: port {short}_o is {width} bits wide, "
                f"but probe_e names {stages} stages: {stages * bits}"
            )
