// SPDX-License-Identifier: Apache-2.0
//! The schema of a road's scenarios: what keys there are, in which units, and in which ranges.
//!
//! It comes from the types that read a scenario. A key's unit is the end of its name; the schema says it apart, as
//! `x-unit`.

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, transform};
use serde_json::Value;

/// Ends of names, and the units they stand for; the longest that fits counts.
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
