# SPDX-License-Identifier: Apache-2.0
"""The model builder: a small top is built, loaded through the C ABI and clocked."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from isthmus.errors import UserError
from isthmus.models import ModelSpec, Step, build, build_many
from loaded import Model

TINY = Path(__file__).resolve().parents[1] / "rtl"


def spec(trace: str = "none", **parameters: int | str) -> ModelSpec:
    return ModelSpec("isthmus:tiny:tiny", "tiny", parameters, trace, TINY)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def libraries() -> list[Path]:
    return build_many([spec(Width=12), spec("fst", Width=12)])


def start(library: Path, trace: Path | None = None) -> Model:
    model = Model(library, trace)
    model["cfg_step_i"] = 3
    model["cfg_key_i"] = 0x0123456789ABCDEF_FEDCBA9876543210
    model.clock()
    model["rst_ni"] = 1
    return model


def test_the_descriptor_says_ports_bundles_probes_and_parameters(libraries: list[Path]) -> None:
    model = Model(libraries[0])
    assert model.description.abi == 3
    assert model.description.top == b"tiny"
    assert libraries[0].stem == f"tiny-{model.description.source_hash.decode()[:16]}"
    assert len(model.description.source_hash) == 64
    assert model.ports["status_cycles_o"][1:] == (12, True)
    assert model.ports["cfg_key_i"][1:] == (128, False)
    assert model.ports["probe_tag_o"][1:] == (16, True)
    assert model.info["probes"] == ["FrameStart", "FrameEnd"]
    assert model.info["trace"] == "none"
    assert model.info["parameters"] == {"Width": "32'd12", "Address": "48'h20000000001"}
    bundles = {(b["kind"], b["name"]): b["ports"] for b in model.info["bundles"]}
    index = {name: port[0] for name, port in model.ports.items()}
    assert bundles["clock", "clk"] == {"clk": index["clk_i"]}
    assert bundles["reset", "reset"] == {"rst_n": index["rst_ni"]}
    assert bundles["time", "time"] == {"time_ns": index["time_ns_i"]}
    assert bundles["config", "config"] == {"key": index["cfg_key_i"], "step": index["cfg_step_i"]}
    assert bundles["gmii", "gmii"] == {
        short: index[f"gmii_{short}_{'o' if short.startswith('tx') else 'i'}"]
        for short in ("rx_clk", "rxd", "rx_dv", "rx_er", "txd", "tx_en", "tx_er")
    }
    assert bundles["probe", "probe"] == {
        "probe": index["probe_o"],
        "probe_tag": index["probe_tag_o"],
    }
    assert bundles["idle", "idle"] == {"idle": index["idle_o"]}
    assert set(bundles["status", "status"]) == {"cycles", "rx_bytes", "key", "address", "time"}
    assert sum(len(ports) for ports in bundles.values()) == model.description.num_ports
    model.close()


def test_a_clocked_model_counts_echoes_and_probes(libraries: list[Path]) -> None:
    model = start(libraries[0])
    assert model["status_cycles_o"] == 0
    model.clock()
    assert model["status_cycles_o"] == 3
    assert model["idle_o"] == 1
    model["gmii_rx_dv_i"], model["gmii_rxd_i"] = 1, 0x5A
    model.api.isthmus_eval(model.handle, model.time_ps)
    assert (model["probe_o"], model["probe_tag_o"]) == (0b01, 0)
    model.clock("clk_i", "gmii_rx_clk_i")
    assert (model["gmii_txd_o"], model["gmii_tx_en_o"], model["idle_o"]) == (0xA5, 1, 0)
    assert model["status_rx_bytes_o"] == 1
    model["gmii_rx_dv_i"] = 0
    model.api.isthmus_eval(model.handle, model.time_ps)
    assert model["probe_o"] == 0b10
    model.clock("clk_i", "gmii_rx_clk_i")
    assert (model["probe_o"], model["probe_tag_o"]) == (0, 0x0101)
    model.close()


def test_ports_of_every_storage_size_hold_their_value(libraries: list[Path]) -> None:
    model = start(libraries[0])
    model["time_ns_i"], model["trigger_i"] = (1 << 63) + 5, 9
    model.clock()
    assert model["status_time_o"] == (1 << 63) + 14
    assert model["status_key_o"] == ((1 << 128) - 1) ^ 0x0123456789ABCDEF_FEDCBA9876543210
    assert model["status_address_o"] == 0x020000000001
    assert not model.api.isthmus_port(model.handle, model.description.num_ports)
    model.close()


def test_instances_of_one_model_are_independent(libraries: list[Path]) -> None:
    one, two = start(libraries[0]), start(libraries[0])
    for _ in range(5):
        one.clock()
    two.clock()
    assert (one["status_cycles_o"], two["status_cycles_o"]) == (15, 3)
    one.close()
    two.clock()
    assert two["status_cycles_o"] == 6
    two.close()


def test_the_traced_variant_writes_a_waveform(libraries: list[Path], tmp_path: Path) -> None:
    waveform = tmp_path / "tiny.fst"
    model = start(libraries[1], waveform)
    assert model.info["trace"] == "fst"
    for _ in range(100):
        model.clock()
    model.close()
    content = waveform.read_bytes()
    assert content[0] == 0  # an FST header block, closed: its length and end time are filled in
    assert int.from_bytes(content[1:9], "big") == 329
    assert int.from_bytes(content[17:25], "big") == 201 * 4000
    assert len(content) > 800


def test_a_waveform_has_the_changes_of_each_clock(libraries: list[Path], tmp_path: Path) -> None:
    sizes = []
    for clocks in (100, 3000):
        waveform = tmp_path / f"{clocks}.fst"
        model = start(libraries[1], waveform)
        for _ in range(clocks):
            model.clock()
        model.close()
        sizes.append(len(waveform.read_bytes()))
    # A counter of 32 bits changes in each: more than a byte a clock, however it is packed.
    assert sizes[1] > sizes[0] + 2000


def test_the_traced_variant_runs_without_a_trace_and_the_plain_one_refuses_it(
    libraries: list[Path], tmp_path: Path
) -> None:
    traced = start(libraries[1])
    traced.clock()
    assert traced["status_cycles_o"] == 3
    traced.close()
    assert Model(libraries[0], tmp_path / "none.fst").handle is None
    assert Model(libraries[1], tmp_path / "missing" / "x.fst").handle is None


def test_a_built_model_is_found_without_a_tool_run(
    libraries: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("ran a tool")

    monkeypatch.setattr("isthmus.models.tools.run", refuse)
    assert build_many([spec(Width=12), spec("fst", Width=12)], refuse) == libraries


def test_a_cached_build_does_not_import_the_elaborator(libraries: list[Path]) -> None:
    program = (
        "import sys; from pathlib import Path; from isthmus.models import ModelSpec, build;"
        f"p = build(ModelSpec('isthmus:tiny:tiny', 'tiny', {{'Width': 12}}, 'none', Path({str(TINY)!r})));"
        "print(p, 'pyslang' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(libraries[0]), "False"]


def test_sources_parameters_and_variant_each_give_another_model(
    libraries: list[Path], tmp_path: Path
) -> None:
    from isthmus.models.build import _target
    from isthmus.models.tools import Toolchain, Verilator

    def key(what: ModelSpec, compiler_version: str = "1", verilator: str = "1") -> str:
        return _target(what, Toolchain(Verilator(tmp_path, verilator), "g++", compiler_version))[1]

    (tmp_path / "tiny").mkdir()
    for file in (TINY / "tiny").iterdir():
        (tmp_path / "tiny" / file.name).write_bytes(file.read_bytes())
    copied = ModelSpec("isthmus:tiny:tiny", "tiny", {"Width": 12}, "none", tmp_path)
    base = key(spec(Width=12))
    assert key(copied) == base
    own = tmp_path / "tiny" / "tiny.sv"
    own.write_text(own.read_text().rstrip("\n") + "  // in other words\n")
    assert key(copied) == base
    own.open("a").write("\n")
    keys = [
        base,
        key(copied),
        key(spec(Width=13)),
        key(spec()),
        key(spec("fst", Width=12)),
        key(spec(Width=12), compiler_version="2"),
        key(spec(Width=12), verilator="2"),
    ]
    assert len(set(keys)) == len(keys)


def test_two_builders_at_once_build_once() -> None:
    steps: list[Step] = []
    paths: list[Path] = []
    what = spec(Width=11)
    build(what).unlink()

    def builder() -> None:
        paths.append(build(what, steps.append))

    threads = [threading.Thread(target=builder) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paths[0] == paths[1]
    assert paths[0].is_file()
    assert [step.phase for step in steps].count("translate") == 1
    assert steps[-1].phase == "ready"
    assert steps[-1].done == steps[-1].total
    assert [step.done for step in steps] == sorted(step.done for step in steps)


@pytest.mark.parametrize(
    ("what", "text"),
    [
        (spec(Width=99), "tiny.sv:34: tiny: Width is 99, legal is 1..32"),
        (spec(Wdth=9), "tiny: no parameter 'Wdth'; expected one of Width, Address"),
        (
            ModelSpec("isthmus:tiny:tiny", "tinny", {}, "none", TINY),
            "'tinny' is not a valid top-level module",
        ),
        (
            ModelSpec("isthmus:tiny:none", "tiny", {}, "none", TINY),
            "no core named 'isthmus:tiny:none'; expected one of isthmus:tiny:tiny",
        ),
    ],
)
def test_a_wrong_spec_is_one_clear_line(what: ModelSpec, text: str) -> None:
    with pytest.raises(UserError) as error:
        build(what)
    assert str(error.value) == text


ENDLESS = """
module bad (input logic clk_i, input logic rst_ni, input logic cfg_a_i, output logic status_b_o);
  logic loop;
  assign loop = cfg_a_i & ~loop;
  assign status_b_o = loop;
  always_ff @(posedge clk_i) if (rst_ni && !cfg_a_i) $fatal(1, "no way on");
endmodule
"""


def test_a_model_that_fails_says_why_instead_of_ending_the_process(tmp_path: Path) -> None:
    library = build(write_core(tmp_path, ENDLESS))
    endless, stopped = Model(library), Model(library)
    endless["cfg_a_i"] = 1
    for _ in range(2):
        assert endless.api.isthmus_eval(endless.handle, 1000) == 1
        text = endless.api.isthmus_error(endless.handle).decode()
        assert text.startswith("bad.sv:"), "no path of the checkout that built it: another may use the model"
        assert "did not converge" in text.lower()
    endless.close()
    assert stopped.api.isthmus_eval(stopped.handle, 1000) == 0
    stopped["rst_ni"], stopped["clk_i"] = 1, 1
    assert stopped.api.isthmus_eval(stopped.handle, 2000) == 1
    assert "bad.sv:6: $stop" in stopped.api.isthmus_error(stopped.handle).decode()
    stopped.close()


STRAIGHT = """
module bad (
  input logic clk_i, input logic rst_ni, input logic [7:0] cfg_a_i,
  output logic [7:0] status_straight_o, output logic [7:0] status_sum_o, output logic status_clock_o
);
  logic [7:0] sum_q;
  assign status_straight_o = ~cfg_a_i;
  assign status_sum_o = sum_q ^ cfg_a_i;
  assign status_clock_o = CLOCK;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) sum_q <= '0;
    else sum_q <= sum_q + cfg_a_i;
  end
endmodule
"""


def test_where_only_clocks_change_logic_of_inputs_alone_is_left_out(tmp_path: Path) -> None:
    model = Model(build(write_core(tmp_path, STRAIGHT.replace("CLOCK", "1'b0"))))
    model["cfg_a_i"] = 5
    model.clock()
    model["rst_ni"] = 1
    model.evaluate()
    for sum_ in (5, 10, 15):
        model["clk_i"] = 1
        model.evaluate(only_clocks=True)
        assert model["status_sum_o"] == sum_ ^ 5
        model["clk_i"] = 0
        model.evaluate(only_clocks=True)
    # What the caller promises is taken for granted; the next whole evaluation sees the input.
    model["cfg_a_i"] = 1
    model.evaluate(only_clocks=True)
    assert model["status_straight_o"] == 0xFA
    model.evaluate()
    assert (model["status_straight_o"], model["status_sum_o"]) == (0xFE, 15 ^ 1)
    model.close()


def test_a_model_whose_logic_reads_its_clock_leaves_nothing_out(tmp_path: Path) -> None:
    model = Model(build(write_core(tmp_path, STRAIGHT.replace("CLOCK", "clk_i & cfg_a_i[0]"))))
    model["cfg_a_i"] = 5
    model.clock()
    for level in (1, 0, 1):
        model["clk_i"] = level
        model.evaluate(only_clocks=True)
        assert model["status_clock_o"] == level
    model.close()


def write_core(root: Path, text: str) -> ModelSpec:
    (root / "bad").mkdir()
    (root / "bad" / "bad.core").write_text(
        'CAPI=2:\nname: "isthmus:bad:bad"\nfilesets:\n  rtl:\n    files: [bad.sv]\n'
    )
    (root / "bad" / "bad.sv").write_text(text)
    return ModelSpec("isthmus:bad:bad", "bad", {}, "none", root)


PINS = "input logic clk_i, input logic rst_ni"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"module bad ({PINS}); asign x = 1; endmodule", "bad.sv:1: "),
        (
            f"module bad ({PINS}, inout wire pad_io); endmodule",
            "bad: port pad_io must be an input or an output",
        ),
        (
            f"module bad ({PINS}, input logic [7:0] cfg_a_i [2]); endmodule",
            "bad: port cfg_a_i must be a packed vector, not logic[7:0]$[0:1]",
        ),
        (
            f"interface bus; endinterface module bad ({PINS}, bus b); endmodule",
            "bad.sv:1: top-level module 'bad' has unconnected interface port 'b'",
        ),
        (
            f"module bad ({PINS}, input logic led_i); endmodule",
            "bad: port led_i fits no bundle; "
            "docs/explanation/architecture.md lists the ports a device may have",
        ),
        (
            f"module bad ({PINS}, output logic probe_o, output logic [7:0] probe_tag_o); endmodule",
            "bad: probe_o needs the type probe_e in package bad_pkg",
        ),
        (
            "package bad_pkg; typedef enum logic [1:0] {A = 2, B = 3} probe_e; endpackage "
            f"module bad ({PINS}, output logic probe_o); endmodule",
            "bad: probe_e must count up from 0, but A is 2'b10",
        ),
        (
            "package bad_pkg; typedef enum logic {A, B} probe_e; endpackage "
            f"module bad ({PINS}, output logic [2:0] probe_o, output logic [15:0] probe_tag_o); endmodule",
            "bad: port probe_o is 3 bits wide, but probe_e names 2 stages: 2",
        ),
        (
            "package bad_pkg; typedef enum logic {A, B} probe_e; endpackage "
            f"module bad ({PINS}, output logic [1:0] probe_o, output logic [7:0] probe_tag_o); endmodule",
            "bad: port probe_tag_o is 8 bits wide, but probe_e names 2 stages: 16",
        ),
        ("module bad (input logic rst_ni); endmodule", "bad: has no clk_i"),
        ("module bad (input logic clk_i); endmodule", "bad: has no rst_ni"),
        (
            f"module bad ({PINS}, input logic [63:0] wire_time_ns_i); endmodule",
            "bad: port wire_time_ns_i shows the time of clock wire_clk_i, which does not exist",
        ),
        (
            f"module bad ({PINS}, input logic [31:0] time_ns_i); endmodule",
            "bad: port time_ns_i is 32 bits wide, bundle time needs 64",
        ),
        (
            f"module bad ({PINS}, input logic status_x_o); endmodule",
            "bad: port status_x_o must be an output",
        ),
        (
            f"module bad ({PINS}, input logic gmii_rx_clk_i); endmodule",
            "bad: bundle gmii lacks gmii_rxd_i",
        ),
    ],
)
def test_a_top_that_is_no_device_is_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        build(write_core(tmp_path, text))
    assert str(error.value).startswith(message)
    assert message.endswith(": ") or str(error.value) == message


def test_a_compiler_that_fails_is_named_with_its_first_error_and_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "broken-g++"
    compiler.write_text("#!/bin/sh\necho line one >&2\necho 'x.cpp:1: error: no room' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    with pytest.raises(UserError) as error:
        build(spec(Width=12))
    text = str(error.value)
    assert text.startswith("tiny: broken-g++: x.cpp:1: error: no room (whole output: .isthmus/log/tiny-")
    log = Path(__file__).resolve().parents[3] / text.rpartition("output: ")[2].removesuffix(")")
    assert "line one" in log.read_text()
    log.unlink()


@pytest.mark.parametrize("file", ["*", "*/verilated.cpp", "*/unit-all.cpp"])
def test_a_compiler_that_hangs_ends_with_all_it_started_and_leaves_its_log(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever file it compiles: one of the model's own, or of Verilator's runtime."""
    compiler = tmp_path / "slow-g++"
    started = tmp_path / "started"
    compiler.write_text(
        "#!/bin/sh\n[ $1 = --version ] && exit\n"
        'for word; do [ "$last" = -o ] && : >"$word"; last=$word; done\n'
        f"case $last in {file}) ;; *) exit ;; esac\n"
        f"echo the last words\nsleep 600 &\necho $! >>{started}\nwait\n"
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setattr("isthmus.models.tools.TIMEOUT_S", 1.0)
    with pytest.raises(UserError) as error:
        build(spec(Width=12))
    text = str(error.value)
    assert text.startswith("tiny: slow-g++: not done after 1 s (whole output: .isthmus/log/tiny-")
    log = Path(__file__).resolve().parents[3] / text.rpartition("output: ")[2].removesuffix(")")
    assert log.read_text() == "the last words\n"
    log.unlink()
    children = [int(line) for line in started.read_text().split()]
    assert children
    until = time.monotonic() + 10
    while any(map(running, children)) and time.monotonic() < until:
        time.sleep(0.01)
    assert [child for child in children if running(child)] == []


def running(process: int) -> bool:
    """Whether it runs; a zombie, which nobody has waited for yet, does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_missing_compiler_says_how_to_get_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(UserError, match=r"^no C\+\+ compiler 'no-such-compiler': apt-get install g\+\+$"):
        build(spec(Width=12))
