// SPDX-License-Identifier: Apache-2.0
//! What is refused, and by which key.

use super::*;
use crate::ccix::visits::Visits;

const SCENARIO: &str = r#"{
    "road": "ccix", "profile": "isthmus",
    "platform": {
        "name": "ccix-au280", "clock_mhz": 250,
        "transport": {"generation": 4, "lanes": 8, "reserved_share": 0.0027, "header_bytes": 4,
                      "propagation_ns": 1, "device_transmit_ns": 95, "device_receive_ns": 95,
                      "host_transmit_ns": 95, "host_receive_ns": 95, "block_beats": 8,
                      "packet_bytes": 256, "packet_messages": 31},
        "home": {"gateway_ns": 20, "memory_read_ns": 81, "memory_write_ns": 20, "link_down_ns": 128000, "requests": 64,
                 "lines": 64}
    },
    "fpga": {"model_path": "fpga.so"},
    "workload": {"operation": "device-read", "bytes": 150, "iterations": 10, "warmup": 2, "window": 4},
    "seed": 1
}"#;

fn with(path: &[&str], value: serde_json::Value) -> String {
    let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    let mut at = &mut scenario;
    for key in path {
        at = &mut at[*key];
    }
    *at = value;
    CcixScenario::parse(&scenario.to_string()).unwrap_err().to_string()
}

#[test]
fn a_transfer_is_lines_and_a_part_of_one() {
    let scenario = CcixScenario::parse(SCENARIO).unwrap();
    assert_eq!(scenario.lines(), 3);
    assert_eq!([0, 1, 2].map(|line| scenario.bytes_of(line)), [64, 64, 22]);
    assert_eq!((scenario.counted(), scenario.series()), (6..16, 20));
    let visits = Visits::new(&scenario);
    assert_eq!([0, 2729, 2730].map(|transfer| visits.first_line(transfer)), [0, 8187, 0]);
}

fn translated(order: &str) -> serde_json::Value {
    let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    scenario["platform"]["iommu"] =
        serde_json::json!({"access_ns": 81, "walkers": 8, "cache_entries": 64});
    scenario["workload"]["translation"] =
        serde_json::json!({"page": "4K", "order": order, "footprint_bytes": 1 << 20});
    scenario["workload"]["driver"] = "svm".into();
    scenario
}

#[test]
fn an_axi_port_is_in_front_of_a_cache() {
    let without = with(&["workload", "port"], "axi".into());
    let says = "workload.port: expected lines for workload.driver request-agent";
    assert!(without.contains(says), "{without}");
    let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    scenario["workload"]["port"] = "axi".into();
    for driver in ["cached", "cached-hit"] {
        scenario["workload"]["driver"] = driver.into();
        let parsed = CcixScenario::parse(&scenario.to_string()).unwrap();
        assert_eq!(parsed.workload.port, CcixPort::Axi);
    }
}

#[test]
fn an_axi_port_takes_virtual_addresses_in_front_of_a_cache_and_pages_may_move() {
    let mut scenario = translated("random");
    scenario["workload"]["port"] = "axi".into();
    let without = refused(&scenario);
    assert!(without.contains("workload.port: expected lines without workload.cache"), "{without}");
    scenario["workload"]["cache"] = true.into();
    let parsed = CcixScenario::parse(&scenario.to_string()).unwrap();
    assert_eq!((parsed.workload.port, parsed.is_cached()), (CcixPort::Axi, true));
    scenario["workload"]["translation"]["moves"] = 1.into();
    assert!(CcixScenario::parse(&scenario.to_string()).is_ok());
}

#[test]
fn with_virtual_addresses_each_transfer_begins_at_another_page() {
    let scenario = CcixScenario::parse(&translated("random").to_string()).unwrap();
    let visits = Visits::new(&scenario);
    let mut first: Vec<u64> = (0..256).map(|transfer| visits.first_line(transfer)).collect();
    assert_eq!(visits.first_line(256), first[0]);
    assert_ne!(first[1], first[0] + 64);
    first.sort_unstable();
    assert_eq!(first, (0..256).map(|page| page * 64).collect::<Vec<_>>());
    assert_eq!(scenario.workload.translation.unwrap().name(), "4K-random-1M");
    let mut large = translated("sequential");
    large["workload"]["bytes"] = 4_097.into();
    let visits = Visits::new(&CcixScenario::parse(&large.to_string()).unwrap());
    assert_eq!([0, 1, 127, 128].map(|one| visits.first_line(one)), [0, 128, 127 * 128, 0]);
}

#[test]
fn translation_that_cannot_be_is_refused_by_its_key() {
    let refused = |path: &str, value: serde_json::Value| {
        let mut scenario = translated("random");
        *scenario.pointer_mut(path).unwrap() = value;
        CcixScenario::parse(&scenario.to_string()).unwrap_err().to_string()
    };
    let pages = refused("/workload/translation/footprint_bytes", (1_u64 << 34).into());
    assert!(pages.contains("footprint_bytes: 17179869184 bytes are 4194304 pages"), "{pages}");
    let part = refused("/workload/translation/footprint_bytes", 200_000.into());
    assert!(part.contains("footprint_bytes: 200000 is no multiple of 4096"), "{part}");
    let page = refused("/workload/translation/page", "8K".into());
    assert!(page.contains("unknown variant `8K`"), "{page}");
    let iommu = refused("/platform/iommu", serde_json::Value::Null);
    assert!(iommu.contains("platform.iommu: missing, for workload.driver svm"), "{iommu}");
    let none = refused("/workload/translation", serde_json::Value::Null);
    assert!(none.contains("workload.translation: missing, for workload.driver svm"), "{none}");
    let agent = refused("/workload/driver", "request-agent".into());
    let says = "workload.translation: expected none for workload.driver request-agent";
    assert!(agent.contains(says), "{agent}");
}

#[test]
fn virtual_addresses_through_the_cache_are_one_driver_and_end_below_its_limit() {
    let mut scenario = translated("random");
    scenario["workload"]["cache"] = true.into();
    let parsed = CcixScenario::parse(&scenario.to_string()).unwrap();
    assert!(parsed.is_cached());
    scenario["workload"]["translation"] = serde_json::json!({
        "page": "1G", "order": "random", "footprint_bytes": 1_u64 << 34, "moves": 1000,
    });
    let says = "workload.translation.footprint_bytes: 1090921693184 bytes of frames";
    let found = refused(&scenario);
    assert!(found.contains(says), "{found}");
    let mut skewed = translated("skewed");
    assert!(refused(&skewed).contains("workload.translation.order: skewed is for workload.cache"));
    skewed["workload"]["cache"] = true.into();
    skewed["workload"]["window"] = 2.into();
    assert!(
        refused(&skewed).contains("workload.translation.order: skewed is for workload.window 1")
    );
    skewed["workload"]["window"] = 1.into();
    let parsed = CcixScenario::parse(&skewed.to_string()).unwrap();
    assert_eq!(parsed.stride(), parsed.lines());
    let mut agent: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    agent["workload"]["cache"] = true.into();
    assert!(refused(&agent).contains("workload.cache: expected false for workload.driver"));
}

fn refused(scenario: &serde_json::Value) -> String {
    CcixScenario::parse(&scenario.to_string()).unwrap_err().to_string()
}

#[test]
fn both_sides_store_to_half_of_each_line() {
    let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    scenario["workload"] = serde_json::json!({
        "operation": "device-write", "bytes": 32, "iterations": 10, "window": 4,
        "driver": "contended", "contention": {"lines": 64, "host_window": 16},
    });
    let parsed = CcixScenario::parse(&scenario.to_string()).unwrap();
    assert!(parsed.is_cached() && !parsed.stores_at_home());
    for (key, value, says) in [
        ("bytes", 33.into(), "workload.bytes: 33 bytes: at most half of a line"),
        ("warmup", 1.into(), "workload.warmup: expected 0"),
        ("operation", "device-read".into(), "workload.operation: expected device-write"),
        ("contention", serde_json::Value::Null, "workload.contention: missing,"),
        (
            "driver",
            "cached".into(),
            "workload.contention: expected none for workload.driver cached",
        ),
    ] {
        let mut scenario = scenario.clone();
        scenario["workload"][key] = value;
        let found = refused(&scenario);
        assert!(found.contains(says), "{found}");
    }
    scenario["workload"]["contention"]["host_window"] = 17.into();
    assert!(refused(&scenario).contains("host_window: 17 is outside 1 to 16"));
}

#[test]
fn transactions_that_cannot_be_are_refused() {
    let step = |record: u32| serde_json::json!({"record": record, "update": true});
    let mut scenario: serde_json::Value = serde_json::from_str(SCENARIO).unwrap();
    scenario["workload"] = serde_json::json!({
        "operation": "update", "bytes": 8, "iterations": 1, "window": 2, "driver": "locks",
        "locks": {
            "trace": "one", "mode": "shared", "rows": 9, "requesters": 2,
            "transactions": [{"fpga": true, "steps": [step(3), step(8)]}],
        },
    });
    assert!(CcixScenario::parse(&scenario.to_string()).unwrap().is_cached());
    for (steps, says) in [
        (vec![], "[0] has 0 steps: 1 to 4"),
        ((0..5).map(step).collect(), "[0] has 5 steps: 1 to 4"),
        (vec![step(9)], "[0]: record 9 is twice in it, or outside"),
        (vec![step(2), step(2)], "[0]: record 2 is twice in it, or outside"),
    ] {
        let mut scenario = scenario.clone();
        scenario["workload"]["locks"]["transactions"][0]["steps"] = steps.into();
        let found = refused(&scenario);
        assert!(found.contains(says), "{found}");
    }
    scenario["workload"]["iterations"] = 2.into();
    assert!(refused(&scenario).contains("1: expected workload.iterations"));
    scenario["workload"]["locks"] = serde_json::Value::Null;
    assert!(refused(&scenario).contains("workload.locks: missing, for workload.driver locks"));
    scenario["workload"]["operation"] = "put".into();
    assert!(refused(&scenario).contains("workload.operation: ccix does not carry put"));
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
    let put = with(&["workload", "operation"], "put".into());
    assert!(put.contains("workload.operation: ccix does not carry put"), "{put}");
    let window = with(&["workload", "window"], 129.into());
    assert!(
        window.contains("workload.window: 129 transfers of 150 bytes: at most 128"),
        "{window}"
    );
    let bytes = with(&["workload", "bytes"], 0.into());
    assert!(bytes.contains("workload.bytes: 0 is outside 1 to 65536"), "{bytes}");
    assert!(with(&["workload", "size"], 1.into()).contains("unknown field"));
    let dma = with(&["workload", "driver"], "pcie-dma".into());
    assert!(dma.contains("platform.pcie: missing, for workload.driver pcie-dma"), "{dma}");
    let lanes = with(&["platform", "transport", "lanes"], 32.into());
    assert!(lanes.contains("platform.transport.lanes: 32 is outside 1 to 16"), "{lanes}");
}
