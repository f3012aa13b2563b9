// SPDX-License-Identifier: Apache-2.0
//! What a road is to everything outside its folder.

use std::ops::ControlFlow;

use schemars::Schema;

use crate::error::RoadError;
use crate::measurement::Measurement;
use crate::model::MakeModel;
use crate::watch::Watch;

/// Inputs of a run from its caller.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Gives the model behind a path.
    pub make_model: MakeModel<'a>,
    /// Follows the run, and may end it.
    pub watch: &'a Watch,
}

/// Called with a server's counters as a JSON object: when everything is open, and then a few times a second.
/// `Break` ends the server.
pub type ServeWatch<'a> = &'a mut dyn FnMut(&str) -> ControlFlow<()>;

/// A road between a host and an accelerator: it runs scenarios of its own type.
pub trait Road: Sync {
    /// Its name, as scenarios and results give it in `road`.
    fn name(&self) -> &'static str;

    /// The schema of its scenarios (JSON Schema 2020-12): every key with its unit, as `x-unit`, and its range.
    fn schema(&self) -> Schema;

    /// Runs a scenario given as JSON.
    ///
    /// # Errors
    /// When the scenario is wrong, the simulation fails, an access fails, or a byte is wrong or lost.
    fn run(&self, json: &str, context: &Context<'_>) -> Result<Vec<Measurement>, RoadError>;

    /// Connects its simulated FPGA to real programs, as a document given as JSON says.
    ///
    /// # Errors
    /// When the document is wrong, the system refuses something, or the simulation fails.
    fn serve(
        &self,
        _json: &str,
        _make_model: MakeModel<'_>,
        _watch: ServeWatch<'_>,
    ) -> Result<(), RoadError> {
        Err(RoadError::scenario("road", format!("{} has nothing to serve", self.name())))
    }
}
