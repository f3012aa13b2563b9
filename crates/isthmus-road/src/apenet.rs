// SPDX-License-Identifier: Apache-2.0
//! Puts between the memories of hosts over APElink: a torus whose nodes have memory behind PCI Express, their host's or a
//! GPU's.

mod burst;
mod ends;
mod get;
mod kernel;
mod run;
pub mod scenario;
mod world;

use crate::error::RoadError;
use crate::measurement::Measurement;
use crate::road::{Context, Road};
use scenario::{ApenetScenario, NAME};

/// Memory to memory over a torus.
pub struct Apenet;

impl Road for Apenet {
    fn name(&self) -> &'static str {
        NAME
    }

    fn schema(&self) -> schemars::Schema {
        crate::schema::of::<ApenetScenario>()
    }

    fn run(&self, json: &str, context: &Context<'_>) -> Result<Vec<Measurement>, RoadError> {
        let scenario = ApenetScenario::parse(json)?;
        Ok(vec![match scenario.workload.list {
            Some(list) => burst::run(&scenario, list, context)?,
            None => run::run(&scenario, context)?,
        }])
    }
}
