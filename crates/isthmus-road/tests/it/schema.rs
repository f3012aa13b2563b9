// SPDX-License-Identifier: Apache-2.0
//! The schemas of roads: stored as they are, and in agreement with what a scenario's check refuses.
//! `ISTHMUS_UPDATE_GOLDEN=1` stores them anew.

use std::fs;
use std::path::PathBuf;

use super::common::{Misbehaviour, run, scenario};
use isthmus_road::ROADS;
use serde_json::{Value, json};

fn stored(road: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("python/isthmus/roads").join(road).join("schema.json")
}

#[test]
fn the_stored_schemas_are_those_of_the_types() {
    for road in ROADS {
        let text = serde_json::to_string_pretty(&road.schema()).expect("text") + "\n";
        let path = stored(road.name());
        if std::env::var_os("ISTHMUS_UPDATE_GOLDEN").is_some() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
            fs::write(&path, &text).expect("written");
        }
        let known = fs::read_to_string(&path).unwrap_or_default();
        let advice = "run this test with ISTHMUS_UPDATE_GOLDEN=1";
        assert!(known == text, "{} is not what the types say: {advice}", path.display());
    }
}

/// A number of a scenario, by its path, with its schema.
struct Number {
    path: Vec<String>,
    schema: Value,
}

/// The numbers of `value`, followed through `schema` and its references.
fn numbers(root: &Value, schema: &Value, value: &Value, path: &[String], found: &mut Vec<Number>) {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/$defs/");
        return numbers(root, &root["$defs"][name], value, path, found);
    }
    for choices in ["oneOf", "anyOf"] {
        for choice in schema[choices].as_array().into_iter().flatten() {
            numbers(root, choice, value, path, found);
        }
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let schema = &schema["properties"][key];
                let path = [path, std::slice::from_ref(key)].concat();
                numbers(root, schema, value, &path, found);
            }
        }
        Value::Number(_) if schema["minimum"].is_number() => {
            found.push(Number { path: path.to_vec(), schema: schema.clone() });
        }
        _ => {}
    }
}

/// What the road says to a scenario with another value at a path.
fn said(base: &Value, path: &[String], value: Value) -> String {
    let mut changed = base.clone();
    let mut at = &mut changed;
    for key in path {
        at = &mut at[key];
    }
    *at = value;
    run(&changed.to_string(), Misbehaviour::None).err().map(|e| e.to_string()).unwrap_or_default()
}

/// An Etherbone scenario with every key of Ethernet's that has a range.
fn gige() -> Value {
    serde_json::from_str(&scenario(|s| {
        s["platform"]["bus"]["gige"]["host"]["cores"] = json!(2);
        s["platform"]["bus"]["gige"]["switch"] = json!({"latency_ns": 880});
        s["platform"]["fpga"]["clock_offset_ppm"] = json!(0);
        s["workload"] = json!({"kind": "access", "operation": "host-read", "bytes": 4,
                               "iterations": 1, "window": 1});
    }))
    .expect("JSON")
}

#[test]
fn what_the_schema_excludes_is_refused_by_its_key() {
    for (base, least) in [(gige(), 25), (pcix(), 35), (rdma(), 45), (switch(), 18)] {
        let road = ROADS.iter().find(|road| base["road"] == road.name()).expect("the road");
        let schema = road.schema().to_value();
        let mut found = Vec::new();
        numbers(&schema, &schema, &base, &[], &mut found);
        let mut checked = 0;
        for Number { path, schema } in &found {
            let (Some(low), Some(high)) = (schema["minimum"].as_f64(), schema["maximum"].as_f64())
            else {
                continue;
            };
            checked += 1;
            let whole = schema["type"].to_string().contains("integer");
            for outside in [low - 1.0, high + 1.0] {
                if whole && outside < 0.0 {
                    // No number of that type.
                    continue;
                }
                let value = if whole { json!(outside as u64) } else { json!(outside) };
                let text = said(&base, path, value);
                let key = path.join(".");
                assert!(
                    text.starts_with(&format!("scenario: {key}: "))
                        || text.starts_with(&format!("scenario: {key}"))
                            && text.contains("invalid value"),
                    "{key}: {outside} is outside {low} to {high}, and the road says {text:?}"
                );
            }
        }
        let road = road.name();
        assert!(checked > least, "{road}: only {checked} of {} numbers have a range", found.len());
    }
}

#[test]
fn a_name_stands_for_one_type_in_all_roads() {
    let mut known = serde_json::Map::new();
    for road in ROADS {
        let schema = road.schema().to_value();
        for (name, found) in schema["$defs"].as_object().expect("types") {
            let first = known.entry(name.clone()).or_insert_with(|| found.clone());
            assert!(first == found, "{name} of {} is another road's name as well", road.name());
        }
    }
    assert!(known.len() > 50, "{} types", known.len());
}

/// A scenario of a bus by itself.
fn pcix() -> Value {
    json!({
        "road": "pcix", "profile": "as-published", "seed": 1,
        "platform": {
            "name": "bench",
            "bus": {
                "name": "pcix", "clock_mhz": 100.0, "data_bytes": 8, "address_cycles": 1,
                "attribute_cycles": 1, "response_cycles": 1, "turnaround_cycles": 1,
                "single_cycles": 1, "arbitration_cycles": 4, "release_cycles": 2,
                "master_abort_cycles": 6, "boundary_bytes": 128, "sequence_bytes": 4096,
                "bridge": {
                    "memory_base": 0x1000_0000, "store_bytes": 4, "posted_stores": 8,
                    "accept_bytes": 768, "write_buffer_bytes": 4096, "memory_write_ns": 100.0,
                    "memory_read_ns": 420.0, "completion_bytes": 1408, "split_reads": 8,
                    "stray_writes": "fail"
                },
                "core": {
                    "bar_base": 0xE000_0000_u64, "bar_bytes": 65536, "transmit_cycles": 1,
                    "ahead": false, "receive_cycles": 1, "reads": 4, "write_buffer_bytes": 8192,
                    "store_buffer_bytes": 512, "immediate_cycles": 0, "interrupts": "pin",
                    "interrupt_pin_ns": 50.0
                }
            },
            "host": {
                "load_issue_ns": 100.0, "load_return_ns": 100.0, "store_ns": 10.0,
                "store_issue_ns": 100.0, "combine_ns": 2.0, "fence_ns": 30.0,
                "interrupt_ns": 1000.0, "wakeup_ns": 2520.0, "memory_load_ns": 100.0,
                "memory_store_ns": 1.0, "copy_ns_per_byte": 0.4, "cores": 2
            }
        },
        "workload": {"test": "read", "bytes": 64, "times": 1}
    })
}

/// A scenario of two hosts on PCI-X with a network interface each.
fn rdma() -> Value {
    let mut made = pcix();
    made["road"] = json!("rdma");
    let bus = made["platform"]["bus"].take();
    let host = made["platform"]["host"].take();
    made["platform"] = json!({"name": "bench", "link_mhz": 78.125, "serdes_ns": 304.0, "cable_ns": 16.0,
                              "bus": {"pcix": bus}, "host": host});
    made["interface"] = json!({"model_path": "none.so", "clock_mhz": 100.0, "links": 1, "hosts": 8,
                               "probe_us": 1000.0, "lost_us": 1000.0});
    made["switch"] = json!({"model_path": "none.so", "ports": 4});
    made["workload"] = json!({"test": "put", "hosts": 2, "size_bytes": 64, "iterations": 10, "warmup": 1,
                              "window": 1, "inline_bytes": 0, "compare_ns": 5.0, "move_ns": 2.0});
    made["faults"] = json!({"bit_error_rate": 0.0, "credit_loss_rate": 0.0,
                            "credit_corrupt_rate": 0.0, "forged_rate": 0.0});
    made
}

/// A scenario of a switch.
fn switch() -> Value {
    json!({
        "road": "switch", "profile": "as-published", "seed": 1,
        "platform": {"name": "bench", "clock_mhz": 78.125, "serdes_ns": 304.0, "cable_ns": 16.0,
                     "transmit_words": 10, "receive_words": 512},
        "device": {"ports": 4, "lanes": 1, "align_words": 256, "max_skew": 8, "buffer_words": 512,
                   "max_words": 136, "credit_in_packet": true, "credit_words": 32,
                   "refresh_words": 256, "init_words": 64, "latency_clocks": 10},
        "workload": {"engine": "reference", "pattern": "uniform", "arrivals": "poisson",
                     "sizes_bytes": [64, 64], "load": 0.5, "packets": 100},
        "faults": {"bit_error_rate": 0.0, "credit_loss_rate": 0.0, "credit_corrupt_rate": 0.0}
    })
}

#[test]
fn units_are_those_of_the_names() {
    let road = ROADS.iter().find(|road| road.name() == "etherbone").expect("the road");
    let schema = road.schema().to_value();
    let unit = |of: &str, key: &str| schema["$defs"][of]["properties"][key]["x-unit"].clone();
    assert_eq!(unit("GigeHost", "copy_ns_per_byte"), "ns/byte");
    assert_eq!(unit("GigeHost", "frame_ns"), "ns");
    assert_eq!(unit("GigeLink", "rate_mbit_s"), "Mbit/s");
    assert_eq!(unit("PcieLink", "max_payload_bytes"), "byte");
    assert_eq!(unit("PcieHost", "cores"), Value::Null);
}
