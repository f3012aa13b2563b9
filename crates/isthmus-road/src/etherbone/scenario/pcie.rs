// SPDX-License-Identifier: Apache-2.0
//! The constants of PCI Express.

use schemars::JsonSchema;
use serde::Deserialize;

use super::words::WordsDriver;
use crate::platform::{DmaMemory, PcieHost, PcieLink, PciePort};

/// PCI Express, with its hard block at the FPGA's pins.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PciePlatform {
    /// The link.
    pub link: PcieLink,
    /// The host's port.
    pub root: PciePort,
    /// The FPGA's hard block.
    pub endpoint: PciePort,
    /// Host memory as the device's DMA sees it.
    pub memory: DmaMemory,
    /// Processor costs.
    pub host: PcieHost,
    /// How the program uses it.
    pub driver: PcieDriver,
}

/// How a program uses PCIe.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PcieDriver {
    /// Through the published kernel driver, word by word.
    Words(WordsDriver),
    /// Streams by DMA, without the kernel.
    Dma(PcieDma),
}

impl PcieDriver {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Words(_) => "loads",
            Self::Dma(_) => "dma",
        }
    }
}

/// Streams by DMA.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcieDma {
    /// The ring of requests.
    #[schemars(range(min = 64, max = 16_777_216))]
    pub request_ring_bytes: usize,
    /// The ring of replies.
    #[schemars(range(min = 64, max = 16_777_216))]
    pub reply_ring_bytes: usize,
    /// Longer requests go through the ring, shorter ones are pushed.
    #[schemars(range(min = 0, max = 16_777_216))]
    pub push_most_bytes: usize,
}
