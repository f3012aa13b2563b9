// SPDX-License-Identifier: Apache-2.0
//! Packets through a buffered crossbar: the gateware, our model of it, or a switch that no switch can beat,
//! all under the same traffic.

mod gateware;
mod ideal;
mod link;
mod meter;
mod motion;
mod reference;
mod result;
mod run;
pub mod scenario;

use crate::error::RoadError;
use crate::measurement::Measurement;
use crate::model::MakeModel;
use crate::road::{Context, Road};
use crate::watch::Watch;
use gateware::Gateware;
use run::Run;
use scenario::{Engine, SwitchScenario};

/// Links and buffered-crossbar switches under synthetic traffic.
pub struct BufferedCrossbar;

impl Road for BufferedCrossbar {
    fn name(&self) -> &'static str {
        "switch"
    }

    fn schema(&self) -> schemars::Schema {
        crate::schema::of::<SwitchScenario>()
    }

    fn run(&self, json: &str, context: &Context<'_>) -> Result<Vec<Measurement>, RoadError> {
        run(&SwitchScenario::parse(json)?, context.make_model, context.watch)
    }
}

/// Runs it.
pub(crate) fn run(
    scenario: &SwitchScenario,
    make_model: MakeModel<'_>,
    watch: &Watch,
) -> Result<Vec<Measurement>, RoadError> {
    let run = Run::new(scenario, watch)?;
    let measured = match scenario.workload.engine {
        Engine::Ideal => run.ideal()?,
        Engine::Reference => run.network(|_| Ok(None))?,
        Engine::Rtl => {
            run.network(|network| Gateware::new(scenario, network, make_model).map(Some))?
        }
    };
    Ok(vec![measured])
}

#[cfg(test)]
mod tests;
