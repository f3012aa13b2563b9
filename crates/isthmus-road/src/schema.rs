// SPDX-License-Identifier: Apache-2.0
//! The schema of a road's scenarios: what keys there are, in which units, and in which ranges; and the check of a
//! scenario against those ranges.
//!
//! It comes from the types that read a scenario. A key's unit is the end of its name; the schema says it apart, as
//! `x-unit`.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, transform};
use serde_json::Value;

use crate::error::RoadError;

/// Suffixes of names, and their units; the longest match counts.
const UNITS: &[(&str, &str)] = &[
    ("_ns_per_byte", "ns/byte"),
    ("_ns_per_m", "ns/m"),
    ("_per_s", "1/s"),
    ("_ns", "ns"),
    ("_ps", "ps"),
    ("_us", "us"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("_mhz", "MHz"),
    ("_mbit_s", "Mbit/s"),
    ("_ppm", "ppm"),
    ("_bytes", "byte"),
    ("_words", "word"),
    ("_share", "share"),
    ("_bits", "bit"),
    ("_tlps", "TLP"),
    ("_microframes", "microframe"),
    ("_cycles", "cycle"),
    ("_m", "m"),
];

/// The schema of a scenario's type.
pub(crate) fn of<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with_transform(units);
    SchemaGenerator::new(settings).into_root_schema_for::<T>()
}

/// Adds the units, here and below.
fn units(schema: &mut Schema) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties {
            let ends = UNITS.iter().filter(|(end, _)| name.ends_with(end));
            let found = ends.max_by_key(|(end, _)| end.len());
            if let (Some((_, unit)), Value::Object(property)) = (found, property) {
                property.insert("x-unit".to_owned(), Value::from(*unit));
            }
        }
    }
    transform::transform_subschemas(&mut units, schema);
}

/// Refuses a number outside the range that its type states, by its key.
pub(crate) fn check<T: JsonSchema>(value: &Value) -> Result<(), RoadError> {
    let root = of::<T>().to_value();
    numbers_of(&root, &root, value, "")
}

/// The numbers of `value`, which `schema` describes and which is at `key`.
fn numbers_of(root: &Value, schema: &Value, value: &Value, key: &str) -> Result<(), RoadError> {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
        numbers_of(root, &root["$defs"][name], value, key)?;
    }
    for choices in ["oneOf", "anyOf"] {
        for choice in schema[choices].as_array().into_iter().flatten() {
            if is_chosen(choice, value) {
                numbers_of(root, choice, value, key)?;
            }
        }
    }
    match value {
        Value::Object(map) => map.iter().try_for_each(|(name, value)| {
            let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            numbers_of(root, &schema["properties"][name], value, &key)
        }),
        Value::Number(number) => {
            match (number.as_f64(), bound(schema, "minimum"), bound(schema, "maximum")) {
                (Some(number), Some(low), Some(high)) if !(low..=high).contains(&number) => {
                    Err(RoadError::scenario(key, format!("{number} is outside {low} to {high}")))
                }
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn bound(schema: &Value, which: &str) -> Option<f64> {
    schema[which].as_f64()
}

/// True if an object is this variant: it has the keys, and the names where these are fixed.
fn is_chosen(choice: &Value, value: &Value) -> bool {
    let required = choice["required"].as_array().into_iter().flatten();
    let fixed = choice["properties"].as_object().into_iter().flatten();
    required.filter_map(Value::as_str).all(|key| value.get(key).is_some())
        && fixed
            .filter(|(_, of)| of["const"].is_string())
            .all(|(key, of)| of["const"] == value[key])
}
