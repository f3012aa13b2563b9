// SPDX-License-Identifier: Apache-2.0
//! The scenario of a torus, as a JSON document. Unknown keys are errors; units are part of names.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::RoadError;
use crate::scenario::{Limits, NodeLinks, Profile, sixteen};

/// The road's name.
pub(super) const NAME: &str = "torus";

/// Bytes of a flit.
pub(super) const FLIT_BYTES: u32 = 16;
/// Flits of a packet beside its payload: header and footer.
pub(super) const FRAMING_FLITS: u64 = 2;
/// Flits of a channel's buffer that the ends of links can have, at the least and at the most.
const LANES_BUFFER: [u32; 2] = [4, 512];
/// Nodes at the most: each is a device of its own.
const MAX_NODES: usize = 512;

/// One run.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TorusScenario {
    /// Always `torus`.
    pub road: String,
    /// Profile: the router has one design.
    pub profile: Profile,
    /// Constants of everything that is not gateware.
    pub platform: TorusPlatform,
    /// The routers.
    pub device: TorusDevice,
    /// The measurement.
    pub workload: TorusWorkload,
    /// What goes wrong on the lanes of links.
    #[serde(default)]
    pub faults: TorusFaults,
    /// Seed of all random streams.
    pub seed: u64,
    /// Limits of the run.
    #[serde(default)]
    pub limits: Limits,
}

/// Constants of everything outside the routers.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TorusPlatform {
    /// Its name.
    pub name: String,
    /// Clock of routers and links: a flit a clock.
    #[schemars(range(min = 1.0, max = 1_000.0))]
    pub clock_mhz: f64,
    /// Both transceivers of a link.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub serdes_ns: f64,
    /// The cable of a link.
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub cable_ns: f64,
}

/// The routers: `torus_node`, one for each node; over lanes `torus_link_node`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TorusDevice {
    /// Shared object of the model.
    pub model_path: PathBuf,
    /// Length of the reset in clocks.
    #[serde(default = "sixteen")]
    pub reset_cycles: u32,
    /// Flits of each channel's buffer: a power of two.
    #[schemars(range(min = 2, max = 1024))]
    pub buffer_flits: u32,
    /// What is between two routers.
    #[serde(default)]
    pub links: NodeLinks,
}

/// What goes wrong on the lanes of links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TorusFaults {
    /// The probability that a bit is wrong, of the 36 of a word and lane: only over lanes.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 0.00001))]
    pub bit_error_rate: f64,
}

/// Destinations of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TorusPattern {
    /// Every other node equally often.
    Uniform,
    /// The node halfway round in each dimension, the furthest one.
    Opposite,
    /// The next node in x.
    Neighbour,
    /// One node sends to its next one in x.
    Single,
}

impl TorusPattern {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Opposite => "opposite",
            Self::Neighbour => "neighbour",
            Self::Single => "single",
        }
    }
}

/// The measurement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TorusWorkload {
    /// Nodes in x, y and z; a dimension without a ring has 1.
    pub nodes: [usize; 3],
    /// Destinations of packets.
    pub pattern: TorusPattern,
    /// Share of the clocks in which a node makes a flit, Poisson arrivals; none: packets always wait.
    #[serde(default)]
    #[schemars(range(min = 0.001, max = 1.0))]
    pub load: Option<f64>,
    /// Payload of a packet in bytes, a multiple of 16.
    #[schemars(range(min = 16, max = 4096))]
    pub bytes: u32,
    /// Packets to measure, all nodes together.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub packets: u64,
}

impl TorusScenario {
    /// Reads a scenario and checks it.
    ///
    /// # Errors
    /// When a key is unknown, missing or outside its range.
    pub fn parse(json: &str) -> Result<Self, RoadError> {
        crate::scenario::checked(json, Self::check)
    }

    fn check(&self) -> Result<(), RoadError> {
        let workload = &self.workload;
        let [x, y, z] = workload.nodes;
        let legal = (2..=32).contains(&x)
            && (1..=32).contains(&y)
            && (1..=32).contains(&z)
            && (y > 1 || z == 1)
            && x * y * z <= MAX_NODES;
        if !legal {
            let reason = format!(
                "{x}, {y}, {z}: expected 2 to 32, then 1 to 32, 1 last, and at most {MAX_NODES} in all"
            );
            return Err(RoadError::scenario("workload.nodes", reason));
        }
        if !workload.bytes.is_multiple_of(FLIT_BYTES) {
            let reason = format!("{}: expected a multiple of {FLIT_BYTES}", workload.bytes);
            return Err(RoadError::scenario("workload.bytes", reason));
        }
        if !self.device.buffer_flits.is_power_of_two() {
            let reason = format!("{}: expected a power of two", self.device.buffer_flits);
            return Err(RoadError::scenario("device.buffer_flits", reason));
        }
        if self.over_lanes() {
            let flits = self.device.buffer_flits;
            if !(LANES_BUFFER[0]..=LANES_BUFFER[1]).contains(&flits) {
                let [least, most] = LANES_BUFFER;
                let reason = format!("{flits}: over lanes expected {least} to {most}");
                return Err(RoadError::scenario("device.buffer_flits", reason));
            }
        } else if self.lossy() {
            let reason = "a link that is a delay has no bits: expected 0".to_owned();
            return Err(RoadError::scenario("faults.bit_error_rate", reason));
        }
        Ok(())
    }

    /// Links have the gateware of their ends.
    pub(super) fn over_lanes(&self) -> bool {
        self.device.links == NodeLinks::Lanes
    }

    /// Packets may be lost.
    pub(super) fn lossy(&self) -> bool {
        self.faults.bit_error_rate > 0.0
    }

    /// Nodes in all.
    pub(super) fn nodes(&self) -> usize {
        self.workload.nodes.iter().product()
    }

    /// Rings that a packet may go through: dimensions with more than one node.
    pub(super) fn dims(&self) -> usize {
        self.workload.nodes.iter().filter(|nodes| **nodes > 1).count()
    }

    /// Flits of a packet.
    pub(super) fn flits(&self) -> u64 {
        u64::from(self.workload.bytes / FLIT_BYTES) + FRAMING_FLITS
    }

    /// Clocks of a link that is a delay, or of the line of one that has ends; at least one.
    pub(super) fn hop_clocks(&self) -> u64 {
        let ns = self.platform.serdes_ns + self.platform.cable_ns;
        ((ns * self.platform.clock_mhz * 1e-3).round() as u64).max(1)
    }
}
