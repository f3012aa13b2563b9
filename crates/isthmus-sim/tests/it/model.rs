// SPDX-License-Identifier: Apache-2.0
//! Models behind the C ABI: a tiny one written in C++ and compiled here, and broken ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use isthmus_sim::kernel::load_model;
use isthmus_sim::{ClockConfig, DeviceConfig, Hertz, Picoseconds, SimConfig, SimError, Simulation};
use tempfile::TempDir;

const COUNTER: &str = include_str!("support/counter.cpp");

fn compile(directory: &TempDir, name: &str, source: &str, defines: &[&str]) -> PathBuf {
    let source_path = directory.path().join(format!("{name}.cpp"));
    let object = directory.path().join(format!("{name}.so"));
    std::fs::write(&source_path, source).unwrap();
    let output = Command::new("g++")
        .args(["-O1", "-shared", "-fPIC", "-o"])
        .args([object.as_path(), source_path.as_path()])
        .args(defines.iter().map(|define| format!("-D{define}")))
        .output()
        .expect("g++ is needed to build models");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    object
}

fn simulation(skip_idle: bool) -> Simulation {
    Simulation::new(SimConfig {
        seed: 1,
        skip_idle,
        check_idle: false,
        idle_confirm_cycles: 0,
        wake_cycles: 4,
        simulated_limit_ps: None,
        wall_limit_ms: None,
    })
}

fn device(model: &Path, trace: Option<PathBuf>) -> DeviceConfig {
    DeviceConfig {
        name: "fpga".into(),
        model_path: model.to_owned(),
        clocks: vec![
            ClockConfig::new("clk_i", Hertz::from_mhz(125)),
            ClockConfig { phase_ps: 1_000, ..ClockConfig::new("slow_clk_i", Hertz::from_mhz(50)) },
        ],
        reset_cycles: 3,
        cfg: BTreeMap::from([("step".into(), 5)]),
        epoch_ns: 500,
        trace,
        resets: vec![],
        holds: vec![],
    }
}

#[test]
fn a_model_counts_its_clocks_from_the_end_of_reset() {
    let directory = TempDir::new().unwrap();
    let model = compile(&directory, "counter", COUNTER, &[]);
    let sim = simulation(true);
    let device = sim.add_device(&device(&model, None)).unwrap();
    assert_eq!(device.description().top, "counter");
    assert_eq!(device.description().source_hash, "0123");
    assert_eq!(device.stages(), ["Fifth", "Tenth"]);
    // Rising edges at 0, 8, ..., 96 ns: reset covers the first three.
    sim.run_for(Picoseconds(99_000)).unwrap();
    let status = device.status();
    assert_eq!(status["cycles"], 10);
    assert_eq!(status["sum"], 10 * 5);
    // 1, 21, 41, 61, 81 ns, of which the first lies in reset.
    assert_eq!(status["slow"], 4);
    // The last edge's own time, as the epoch counts it.
    assert_eq!(status["time_ns"], 500 + 96);
    assert_eq!(device.cycles(), (13, 13));
}

#[test]
fn probes_carry_time_stage_and_tag() {
    let directory = TempDir::new().unwrap();
    let model = compile(&directory, "counter", COUNTER, &[]);
    let sim = simulation(true);
    let device = sim.add_device(&device(&model, None)).unwrap();
    sim.run_for(Picoseconds(200_000)).unwrap();
    let records: Vec<(u64, u16, u8)> = sim
        .probes()
        .take()
        .iter()
        .map(|record| (record.time.0, record.stage, record.tag))
        .collect();
    assert_eq!(device.index(), 0);
    // The strobe of the fifth cycle's edge, at 56 ns, is sampled at the edge after it.
    assert_eq!(records[..2], [(64_000, 0, 5), (104_000, 0, 10)]);
    assert_eq!(records[2], (104_000, 1, 10));
}

#[test]
fn an_idle_model_is_not_evaluated_and_counts_the_same_after_waking() {
    let directory = TempDir::new().unwrap();
    let model = compile(&directory, "counter", COUNTER, &["IDLE_AFTER=20"]);
    let run = |skip_idle| {
        let sim = simulation(skip_idle);
        let device = sim.add_device(&device(&model, None)).unwrap();
        device.pulse(0, Picoseconds::from_us(70), Picoseconds(16_000)).unwrap();
        sim.run_for(Picoseconds::from_us(100)).unwrap();
        (device.status(), sim.probes().take(), device.cycles())
    };
    let (skipped, full) = (run(true), run(false));
    assert_eq!(skipped.0, full.0);
    assert_eq!(skipped.1, full.1);
    assert_eq!(skipped.2.0, full.2.0);
    assert_eq!(full.2.0, full.2.1);
    assert!(skipped.2.1 < 100, "{} cycles evaluated", skipped.2.1);
}

#[test]
fn a_trace_is_written_where_it_was_asked_for_and_closed_with_the_simulation() {
    let directory = TempDir::new().unwrap();
    let model = compile(&directory, "counter", COUNTER, &["TRACE"]);
    let path = directory.path().join("wave.fst");
    let sim = simulation(true);
    let handle = sim.add_device(&device(&model, Some(path.clone()))).unwrap();
    sim.run_for(Picoseconds(50_000)).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), "");
    drop((sim, handle));
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("evaluated "));
}

#[test]
fn two_instances_of_one_model_do_not_share_state() {
    let directory = TempDir::new().unwrap();
    let model = compile(&directory, "counter", COUNTER, &[]);
    let sim = simulation(true);
    let first = sim.add_device(&device(&model, None)).unwrap();
    let mut config = device(&model, None);
    config.name = "second".into();
    config.cfg.insert("step".into(), 7);
    config.clocks[0].frequency_hz = 62_500_000;
    let second = sim.add_device(&config).unwrap();
    sim.run_for(Picoseconds(99_000)).unwrap();
    assert_eq!((first.status()["sum"], second.status()["sum"]), (50, 4 * 7));
}

#[test]
fn a_model_that_fails_ends_the_run_with_its_own_words() {
    let directory = TempDir::new().unwrap();
    let model = compile(&directory, "counter", COUNTER, &["FAILS_AT=3"]);
    let sim = simulation(true);
    let handle = sim.add_device(&device(&model, None)).unwrap();
    let line = sim.run_for(Picoseconds(99_000)).unwrap_err().to_string();
    assert!(line.starts_with("device "), "{line}");
    assert!(line.contains(": its model failed at "), "{line}");
    assert!(line.ends_with(": counter.sv:7: did not converge"), "{line}");
    drop((sim, handle));
}

#[test]
fn a_broken_model_is_refused_with_one_clear_line() {
    let directory = TempDir::new().unwrap();
    let refusal = |name: &str, defines: &[&str]| {
        let model = compile(&directory, name, COUNTER, defines);
        load_model(&model, None).err().map(|error| error.to_string())
    };
    assert_eq!(refusal("good", &[]), None);
    for (name, define, expected) in [
        ("abi", "ABI=1", "has ABI version 1, this program 3"),
        ("describe", "NULL_DESCRIPTION", "isthmus_describe returned NULL"),
        ("top", "NULL_TOP", "top is NULL"),
        ("info", "INFO=\"{\"", "info_json is not valid"),
        ("ports", "NULL_PORTS", "ports is NULL"),
        ("count", "NUM_PORTS=0", "has 0 ports"),
        ("width", "SUM_WIDTH=0", "port status_sum_o is 0 bits wide"),
        ("dir", "SUM_DIR=2", "port status_sum_o has direction 2"),
        ("create", "NULL_MODEL", "gave no model"),
        ("storage", "NULL_STORAGE", "port clk_i has no storage"),
    ] {
        let line = refusal(name, &[define]).unwrap();
        assert!(line.contains(expected) && line.contains(name), "{line}");
    }

    let symbols = compile(&directory, "symbols", "extern \"C\" int nothing() { return 0; }", &[]);
    let line = load_model(&symbols, None).err().unwrap().to_string();
    assert!(line.contains("exports no isthmus_describe"), "{line}");

    let text = directory.path().join("text.so");
    std::fs::write(&text, "not a shared object").unwrap();
    assert!(matches!(load_model(&text, None), Err(SimError::ModelLoad { .. })));
    let missing = directory.path().join("missing.so");
    assert!(matches!(load_model(&missing, None), Err(SimError::ModelLoad { .. })));
}

#[test]
fn a_trace_of_a_model_built_without_is_refused() {
    let directory = TempDir::new().unwrap();
    let model = compile(&directory, "counter", COUNTER, &[]);
    let line = load_model(&model, Some(Path::new("wave.fst"))).err().unwrap().to_string();
    assert!(line.contains("was built without tracing"), "{line}");
}

#[test]
fn probe_ports_and_stage_names_that_do_not_match_are_refused() {
    let directory = TempDir::new().unwrap();
    let model = compile(&directory, "counter", COUNTER, &["INFO=\"{\\\"probes\\\":[\\\"A\\\"]}\""]);
    let line = simulation(true).add_device(&device(&model, None)).err().unwrap().to_string();
    assert!(
        line.contains("probe_o is 2 and probe_tag_o 16 bits wide, for 1 stage names"),
        "{line}"
    );
}
