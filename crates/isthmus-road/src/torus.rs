// SPDX-License-Identifier: Apache-2.0
//! Packets through a torus of routers: the gateware of every node, and links of a fixed delay between them.

mod fabric;
mod result;
mod run;
pub mod scenario;
mod station;
mod traffic;

use crate::error::RoadError;
use crate::measurement::Measurement;
use crate::road::{Context, Road};
use run::Run;
use scenario::{NAME, TorusScenario};

/// A torus under synthetic traffic.
pub struct Torus;

impl Road for Torus {
    fn name(&self) -> &'static str {
        NAME
    }

    fn schema(&self) -> schemars::Schema {
        crate::schema::of::<TorusScenario>()
    }

    fn run(&self, json: &str, context: &Context<'_>) -> Result<Vec<Measurement>, RoadError> {
        let scenario = TorusScenario::parse(json)?;
        Ok(vec![Run::new(&scenario, context)?.finish()?])
    }
}

#[cfg(test)]
mod tests;
