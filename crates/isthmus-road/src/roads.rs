// SPDX-License-Identifier: Apache-2.0
//! The table of roads: the one place that names them all.

use serde::Deserialize;

use crate::error::RoadError;
use crate::measurement::Measurement;
use crate::model::{MakeModel, load};
use crate::road::{Context, Road, ServeWatch};
use crate::scenario::parse;
use crate::watch::Watch;
use crate::{apenet, blockdma, ccix, eci, etherbone, nanet, pcix, rdma, switch, torus};

/// Every road that a scenario can name.
pub static ROADS: &[&dyn Road] = &[
    &etherbone::Etherbone,
    &switch::BufferedCrossbar,
    &rdma::Rdma,
    &pcix::PcixBus,
    &blockdma::BlockDma,
    &nanet::Nanet,
    &eci::Eci,
    &ccix::Ccix,
    &torus::Torus,
    &apenet::Apenet,
];

/// The road of a name.
///
/// # Errors
/// When it does not exist; the message lists the existing ones.
pub fn road(name: &str) -> Result<&'static dyn Road, RoadError> {
    ROADS.iter().copied().find(|road| road.name() == name).ok_or_else(|| {
        let names: Vec<&str> = ROADS.iter().map(|road| road.name()).collect();
        let reason = format!("unknown road `{name}`: expected one of {}", names.join(", "));
        RoadError::scenario("road", reason)
    })
}

/// Runs a scenario of any road, given as JSON, with models that the caller makes.
///
/// # Errors
/// When the scenario is wrong, the simulation fails, an access fails, or a byte is wrong or lost.
pub fn run_text(
    json: &str,
    make_model: MakeModel<'_>,
    watch: &Watch,
) -> Result<Vec<Measurement>, RoadError> {
    named_in(json)?.run(json, &Context { make_model, watch })
}

/// The road that a document names.
fn named_in(json: &str) -> Result<&'static dyn Road, RoadError> {
    #[derive(Deserialize)]
    struct Which {
        road: String,
    }
    let which: Which = parse(json)?;
    road(&which.road)
}

/// Connects the simulated FPGA of a road to real programs, as a document given as JSON says, until
/// `watch` breaks or all is done.
///
/// # Errors
/// When the document is wrong, an address is taken, the system refuses something, or the simulation fails.
pub fn serve_json(json: &str, watch: ServeWatch<'_>) -> Result<(), RoadError> {
    named_in(json)?.serve(json, &load, watch)
}

/// Runs a scenario given as JSON and returns its measurements as a JSON list.
///
/// # Errors
/// As [`run_text`].
pub fn run_json(json: &str, watch: &Watch) -> Result<String, RoadError> {
    let measurements = run_text(json, &load, watch)?;
    serde_json::to_string(&measurements)
        .map_err(|error| RoadError::Inconsistent(format!("result: {error}")))
}
