// SPDX-License-Identifier: Apache-2.0
//! What is refused, and by which key.

use super::*;

const SCENARIO: &str = r#"{
    "road": "eci", "profile": "isthmus",
    "platform": {
        "name": "eci", "clock_mhz": 300, "memory_read_ns": 60, "memory_write_ns": 60, "core_ns": 10,
        "fpga_memory_read_ns": 90, "fpga_memory_write_ns": 90,
        "lanes": {"lanes": 12, "lane_mbit_s": 10312.5, "coded_bits": 67, "metaframe_words": 2048,
                  "control_words": 4, "serdes_ns": 27, "trace_ns": 2}
    },
    "fpga": {"model_path": "fpga.so"}, "host": {"model_path": "host.so"},
    "workload": {"operation": "device-read", "bytes": 300, "iterations": 10, "warmup": 2, "window": 4},
    "seed": 1
}"#;

fn with(path: &[&str], value: serde_json::Value) -> String {
    let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    let mut at = &mut scenario;
    for key in path {
        at = &mut at[*key];
    }
    *at = value;
    EciScenario::parse(&scenario.to_string()).unwrap_err().to_string()
}

#[test]
fn a_transfer_is_lines_and_a_part_of_one() {
    let scenario = EciScenario::parse(SCENARIO).unwrap();
    assert_eq!(scenario.lines(), 3);
    assert_eq!([0, 1, 2].map(|line| scenario.bytes_of(line)), [128, 128, 44]);
    assert_eq!((scenario.counted(), scenario.series()), (6..16, 20));
}

#[test]
fn lines_that_no_cache_has_are_accessed_once_each() {
    let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    scenario["workload"]["driver"] = "cached".into();
    scenario["workload"]["iterations"] = 6_000.into();
    let first = EciScenario::parse(&scenario.to_string()).unwrap();
    assert_eq!(first.region(), (first.series() + 1) * first.lines());
    assert!(first.memory_lines() >= first.region());
    scenario["workload"]["iterations"] = 400_000.into();
    let many = EciScenario::parse(&scenario.to_string()).unwrap_err().to_string();
    let says = "workload.iterations: 1200033 lines, each accessed once: at most 1048576";
    assert!(many.contains(says), "{many}");
}

#[test]
fn an_axi_port_is_in_front_of_a_cache() {
    let without = with(&["workload", "port"], "axi".into());
    assert!(without.contains("workload.port: axi is in front of the cache"), "{without}");
    let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    scenario["workload"]["port"] = "axi".into();
    for driver in ["cached", "cached-dirty", "cached-hit"] {
        scenario["workload"]["driver"] = driver.into();
        assert!(EciScenario::parse(&scenario.to_string()).unwrap().over_axi());
    }
}

#[test]
fn an_update_in_the_cache_is_one_at_a_time_through_the_axi_port() {
    let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    let workload = &mut scenario["workload"];
    workload["operation"] = "update".into();
    workload["driver"] = "cached-hit".into();
    workload["bytes"] = 8.into();
    let says = |scenario: &serde_json::Value| {
        EciScenario::parse(&scenario.to_string()).unwrap_err().to_string()
    };
    let port = says(&scenario);
    assert!(port.contains("workload.port: lines has no update in the cache"), "{port}");
    scenario["workload"]["port"] = "axi".into();
    let window = says(&scenario);
    assert!(window.contains("workload.window: 4 atomics: the AXI master has 1"), "{window}");
    scenario["workload"]["window"] = 1.into();
    assert!(EciScenario::parse(&scenario.to_string()).unwrap().updates());
    scenario["workload"]["bytes"] = 16.into();
    let bytes = says(&scenario);
    assert!(bytes.contains("workload.bytes: an update is of 8 bytes"), "{bytes}");
}

#[test]
fn a_host_program_reads_lines_of_the_fpgas_memory() {
    let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    scenario["workload"]["operation"] = "host-read".into();
    for driver in ["uncached", "cached", "cached-dirty", "cached-hit"] {
        scenario["workload"]["driver"] = driver.into();
        let parsed = EciScenario::parse(&scenario.to_string()).unwrap();
        assert!(parsed.home_at_fpga() && parsed.to_host() && !parsed.writes());
        assert_eq!(parsed.places(), ["host", "fpga"]);
        assert_eq!(parsed.memory_latencies(true), [Picoseconds::from_ns(90); 2]);
        assert_eq!(parsed.core(), Picoseconds::from_ns(10));
    }
    scenario["workload"]["operation"] = "host-write".into();
    let stores = EciScenario::parse(&scenario.to_string()).unwrap();
    assert!(stores.writes() && !stores.to_host() && stores.one_way());
    scenario["workload"]["port"] = "axi".into();
    let port = EciScenario::parse(&scenario.to_string()).unwrap_err().to_string();
    assert!(port.contains("workload.port: axi is in front of the FPGA's cache"), "{port}");
    let operation = with(&["workload", "driver"], "io".into());
    assert!(operation.contains("io is no driver of device-read"), "{operation}");
}

#[test]
fn both_ends_have_memory_for_what_is_done_beside() {
    let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    scenario["workload"]["beside"] = "host-write".into();
    let says = |scenario: &serde_json::Value| {
        EciScenario::parse(&scenario.to_string()).unwrap_err().to_string()
    };
    let one = says(&scenario);
    assert!(one.contains("workload.homes: one has no memory for it; expected both"), "{one}");
    scenario["workload"]["homes"] = "both".into();
    let parsed = EciScenario::parse(&scenario.to_string()).unwrap();
    let beside = parsed.beside().unwrap();
    assert!(!parsed.home_at_fpga() && beside.home_at_fpga() && beside.writes());
    assert_eq!(parsed.memory_latencies(false), [Picoseconds::from_ns(60); 2]);
    scenario["workload"]["beside"] = "device-write".into();
    let operation = says(&scenario);
    let must = "workload.beside: device-write beside device-read; expected host-read or host-write";
    assert!(operation.contains(must), "{operation}");
    scenario["workload"]["beside"] = serde_json::Value::Null;
    scenario["workload"]["driver"] = "ipi".into();
    scenario["workload"]["operation"] = "message".into();
    scenario["workload"]["bytes"] = 8.into();
    let words = says(&scenario);
    assert!(words.contains("workload.homes: both, and message of ipi"), "{words}");
}

#[test]
fn a_lines_life_is_through_a_cache() {
    let without = with(&["workload", "life"], true.into());
    assert!(without.contains("workload.life: device-read of uncached on port lines"), "{without}");
    let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    scenario["workload"]["life"] = true.into();
    scenario["workload"]["driver"] = "cached".into();
    assert!(EciScenario::parse(&scenario.to_string()).unwrap().workload.life);
    scenario["workload"]["iterations"] = 257.into();
    let many = EciScenario::parse(&scenario.to_string()).unwrap_err().to_string();
    assert!(many.contains("workload.iterations: 257 lines; at most 256"), "{many}");
}

#[test]
fn over_pcie_there_is_a_host_on_pcie() {
    let pcie = with(&["workload", "driver"], "pcie-ring".into());
    assert!(pcie.contains("platform.pcie: missing, for workload.driver pcie-ring"), "{pcie}");
    let host = with(&["host"], serde_json::Value::Null);
    assert!(host.contains("host: missing, for driver uncached"), "{host}");
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
    let update = with(&["workload", "operation"], "update".into());
    assert!(update.contains("workload.driver: uncached is no driver of update"), "{update}");
    let message = with(&["workload", "operation"], "message".into());
    assert!(message.contains("workload.driver: uncached is no driver of message"), "{message}");
    let put = with(&["workload", "operation"], "put".into());
    assert!(put.contains("workload.operation: eci does not carry put"), "{put}");
    let window = with(&["workload", "window"], 1_000.into());
    assert!(
        window.contains("workload.window: 1000 transfers of 300 bytes: at most 682"),
        "{window}"
    );
    let bytes = with(&["workload", "bytes"], 0.into());
    assert!(bytes.contains("workload.bytes: 0 is outside 1 to 65536"), "{bytes}");
    assert!(with(&["workload", "size"], 1.into()).contains("unknown field"));
}
