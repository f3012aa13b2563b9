// SPDX-License-Identifier: Apache-2.0
//! What a road is to everything outside its folder.

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
}
