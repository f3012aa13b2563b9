// SPDX-License-Identifier: Apache-2.0
//! One assembled system a road: which devices, which world, which host program. It measures; it
//! draws nothing and knows no files but the model and the traces a scenario names.
//!
//! [`run_json`] runs a scenario and gives the measurements of `isthmus.result/1`; [`serve_json`]
//! puts the simulated FPGA behind a real UDP socket. `docs/reference/scenario.md` explains the
//! scenario.

mod device;
mod error;
mod etherbone;
mod host_bus;
pub mod measurement;
pub mod pcix;
pub mod rdma;
pub mod scenario;
pub mod serve;
mod stages;
pub mod switch;
mod watch;

pub use device::{MakeModel, load};
pub use error::RoadError;
pub use measurement::Measurement;
pub use scenario::Scenario;
pub use serve::{ServeStatus, serve_json};
pub use watch::{Step, Watch};

/// Runs a scenario.
///
/// # Errors
/// When the scenario is wrong, the simulation fails, an access fails, or a byte is wrong or lost.
pub fn run(scenario: &Scenario, watch: &Watch) -> Result<Vec<Measurement>, RoadError> {
    run_with(scenario, &load, watch)
}

/// As [`run`], with models that the caller makes.
///
/// # Errors
/// As [`run`].
pub fn run_with(
    scenario: &Scenario,
    make_model: MakeModel<'_>,
    watch: &Watch,
) -> Result<Vec<Measurement>, RoadError> {
    match scenario.road {
        scenario::RoadName::Etherbone => etherbone::run(scenario, make_model, watch),
    }
}

/// Runs a scenario of any road, given as JSON, with models that the caller makes.
///
/// # Errors
/// As [`run`].
pub fn run_text(
    json: &str,
    make_model: MakeModel<'_>,
    watch: &Watch,
) -> Result<Vec<Measurement>, RoadError> {
    match scenario::road_of(json)?.as_str() {
        "pcix" => pcix::run(&pcix::scenario::Scenario::parse(json)?, watch),
        "rdma" => rdma::run(&rdma::scenario::Scenario::parse(json)?, make_model, watch),
        "switch" => switch::run(&switch::scenario::Scenario::parse(json)?, make_model, watch),
        "etherbone" => run_with(&Scenario::parse(json)?, make_model, watch),
        other => {
            let reason = format!("unknown road `{other}`: expected one of {}", ROADS.join(", "));
            Err(RoadError::scenario("road", reason))
        }
    }
}

/// Every road that a scenario can name.
const ROADS: [&str; 4] = ["etherbone", "pcix", "rdma", "switch"];

/// Runs a scenario given as JSON and returns its measurements as a JSON list.
///
/// # Errors
/// As [`run`].
pub fn run_json(json: &str, watch: &Watch) -> Result<String, RoadError> {
    let measurements = run_text(json, &load, watch)?;
    serde_json::to_string(&measurements)
        .map_err(|error| RoadError::Inconsistent(format!("result: {error}")))
}
