// SPDX-License-Identifier: Apache-2.0
//! Runs the scenario in a file and prints its measurements as JSON, without Python:
//! `cargo run --release -p isthmus-road --example run_scenario -- SCENARIO.json`

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::rc::Rc;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: run_scenario SCENARIO.json");
        return ExitCode::from(2);
    };
    let json = match std::fs::read_to_string(&path) {
        Ok(json) => json,
        Err(error) => {
            eprintln!("{path}: {error}");
            return ExitCode::from(2);
        }
    };
    let watch: isthmus_road::Watch = Rc::new(RefCell::new(|_| ControlFlow::Continue(())));
    match isthmus_road::run_json(&json, &watch) {
        Ok(results) => {
            println!("{results}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(if error.is_callers() { 2 } else { 1 })
        }
    }
}
