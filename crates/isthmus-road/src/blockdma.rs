// SPDX-License-Identifier: Apache-2.0
//! Plain PCI Express: a host program has an FPGA move blocks by DMA, by descriptors in a ring and a doorbell.

mod engine;
mod run;
pub mod scenario;

use crate::error::RoadError;
use crate::measurement::Measurement;
use crate::road::{Context, Road};
use scenario::BlockDmaScenario;

const NAME: &str = "blockdma";

/// Blocks by DMA over PCIe.
pub struct BlockDma;

impl Road for BlockDma {
    fn name(&self) -> &'static str {
        NAME
    }

    fn schema(&self) -> schemars::Schema {
        crate::schema::of::<BlockDmaScenario>()
    }

    fn run(&self, json: &str, context: &Context<'_>) -> Result<Vec<Measurement>, RoadError> {
        let scenario = BlockDmaScenario::parse(json)?;
        Ok(vec![run::run(&scenario, context)?])
    }
}
