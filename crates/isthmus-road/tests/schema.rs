// SPDX-License-Identifier: Apache-2.0
//! The schemas of roads: stored as they are, and in agreement with what a scenario's check refuses.
//! `ISTHMUS_UPDATE_GOLDEN=1` stores them anew.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Misbehaviour, run, scenario};
use isthmus_road::ROADS;
use serde_json::{Value, json};

fn stored(road: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("python/isthmus/roads").join(road).join("schema.json")
}

#[test]
fn the_stored_schemas_are_those_of_the_types() {
    let mut found = 0;
    for road in ROADS {
        let Some(schema) = road.schema() else { continue };
        found += 1;
        let text = serde_json::to_string_pretty(&schema).expect("text") + "\n";
        let path = stored(road.name());
        if std::env::var_os("ISTHMUS_UPDATE_GOLDEN").is_some() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
            fs::write(&path, &text).expect("written");
        }
        let known = fs::read_to_string(&path).unwrap_or_default();
        let advice = "run this test with ISTHMUS_UPDATE_GOLDEN=1";
        assert!(known == text, "{} is not what the types say: {advice}", path.display());
    }
    assert!(found > 0);
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

#[test]
fn what_the_schema_excludes_is_refused_by_its_key() {
    let road = ROADS.iter().find(|road| road.name() == "etherbone").expect("the road");
    let schema = road.schema().expect("a schema").to_value();
    let base: Value = serde_json::from_str(&scenario(|s| {
        s["platform"]["bus"]["gige"]["host"]["cores"] = json!(2);
        s["platform"]["bus"]["gige"]["switch"] = json!({"latency_ns": 880});
        s["platform"]["fpga"]["clock_offset_ppm"] = json!(0);
        s["workload"] = json!({"kind": "access", "operation": "host-read", "bytes": 4,
                               "iterations": 1, "window": 1});
    }))
    .expect("JSON");
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
            let key = path.last().expect("a key");
            assert!(
                text.starts_with("scenario: ") && text.contains(key.as_str()),
                "{}: {outside} is outside {low} to {high}, and the road says {text:?}",
                path.join(".")
            );
        }
    }
    assert!(checked > 25, "only {checked} of {} numbers have a range", found.len());
}

#[test]
fn units_are_those_of_the_names() {
    let road = ROADS.iter().find(|road| road.name() == "etherbone").expect("the road");
    let schema = road.schema().expect("a schema").to_value();
    let unit = |of: &str, key: &str| schema["$defs"][of]["properties"][key]["x-unit"].clone();
    assert_eq!(unit("GigeHost", "copy_ns_per_byte"), "ns/byte");
    assert_eq!(unit("GigeHost", "frame_ns"), "ns");
    assert_eq!(unit("GigeLink", "rate_mbit_s"), "Mbit/s");
    assert_eq!(unit("PcieLink", "max_payload_bytes"), "byte");
    assert_eq!(unit("PcieHost", "cores"), Value::Null);
}
