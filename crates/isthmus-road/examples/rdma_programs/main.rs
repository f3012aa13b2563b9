// SPDX-License-Identifier: Apache-2.0
//! Host programs over the gateware that each hold one promise of the RDMA interface. They print what they
//! have counted as JSON; `tests/system/test_rdma_programs.py` says what must come out.
//!
//! `cargo run --release -p isthmus-road --example rdma_programs -- SCENARIO.json PROGRAM [key=value ...]`

mod common;
mod fence;
mod interrupt;
mod links;
mod mail;
mod random;
mod read;
mod restart;
mod stamps;
mod stress;

use std::collections::BTreeMap;
use std::process::ExitCode;

use common::Failure;
use serde_json::Value;

/// What a program was told beside its scenario.
pub struct Settings(BTreeMap<String, u64>);

impl Settings {
    /// A setting, or what it is else.
    pub fn get(&self, name: &str, usual: u64) -> u64 {
        self.0.get(name).copied().unwrap_or(usual)
    }
}

fn run(arguments: &[String]) -> Result<Value, Failure> {
    let [path, program, settings @ ..] = arguments else {
        return Err("usage: rdma_programs SCENARIO.json PROGRAM [key=value ...]".into());
    };
    let mut known = BTreeMap::new();
    for setting in settings {
        let (name, value) = setting.split_once('=').ok_or(format!("{setting}: write key=value"))?;
        known.insert(name.to_owned(), value.parse().map_err(|_| format!("{setting}: no number"))?);
    }
    let scenario = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let settings = Settings(known);
    match program.as_str() {
        "fence" => fence::run(&scenario, &settings),
        "interrupt" => interrupt::run(&scenario, &settings),
        "links" => links::run(&scenario, &settings),
        "random" => random::run(&scenario, &settings),
        "read" => read::run(&scenario, &settings),
        "restart" => restart::run(&scenario, &settings),
        "stamps" => stamps::run(&scenario, &settings),
        "stress" => stress::run(&scenario, &settings),
        _ => Err(format!("{program}: no such program").into()),
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(found) => {
            println!("{found}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
