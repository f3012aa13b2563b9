// SPDX-License-Identifier: Apache-2.0
//! What to measure.

use schemars::JsonSchema;
use serde::Deserialize;

use super::gige::GigePlatform;
use super::name::NAME;
use crate::arrivals::Arrivals;
use crate::error::RoadError;
use crate::operation::Operation;

/// An access method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A separate cycle for every operation, one after the other.
    Convenience,
    /// One cycle after the other.
    Blocking,
    /// Many cycles in flight.
    Pipelined,
}

impl Method {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Convenience => "convenience",
            Self::Blocking => "blocking",
            Self::Pipelined => "pipelined",
        }
    }
}

/// Which part of a series counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Procedure {
    /// A window in which the rate is steady: warm-up and drain are excluded.
    #[default]
    Steady,
    /// As in the Etherbone document: from the first call to the last reply, with all pipelined
    /// cycles submitted at once.
    Published,
}

impl Procedure {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Published => "published",
        }
    }
}

/// The operations that the road carries.
const CARRIED: [Operation; 2] = [Operation::HostRead, Operation::HostWrite];
/// The longest request.
const MOST_BYTES: u32 = 1 << 20;
/// Maximum in flight: far fewer cycles than there are sequence numbers.
const MOST_BYTES_IN_FLIGHT: u64 = 4 << 20;

/// The measurement.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum EtherboneWorkload {
    /// A series of cycles of timestamps between two single ones.
    Timestamps {
        /// The access method.
        method: Method,
        /// Timestamps in each cycle: two reads each.
        #[schemars(range(min = 1, max = 8))]
        timestamps_per_cycle: u32,
        /// Cycles that count, at least.
        #[serde(default = "ninety")]
        #[schemars(range(min = 1, max = 1_000_000))]
        iterations: u32,
        /// Which part of the series counts.
        #[serde(default)]
        procedure: Procedure,
        /// Cycles in flight, where the method is pipelined and the procedure steady.
        #[serde(default = "series_window")]
        #[schemars(range(min = 1, max = 4096))]
        window: u32,
    },
    /// Time to read a number of words: one measurement for each number.
    Words {
        /// The access method.
        method: Method,
        /// Numbers of 32-bit words.
        words: Vec<u32>,
        /// Repetitions of each.
        #[serde(default = "ten")]
        #[schemars(range(min = 1, max = 1_000_000))]
        iterations: u32,
    },
    /// The latch unit's cycle: three reads and one write.
    Tlu {
        /// The access method.
        method: Method,
        /// Cycles.
        #[serde(default = "ninety")]
        #[schemars(range(min = 1, max = 1_000_000))]
        iterations: u32,
    },
    /// As many timestamps a second as the wire carries: cycles in flight all the time.
    Throughput {
        /// Timestamps in each cycle.
        #[schemars(range(min = 1, max = 8))]
        timestamps_per_cycle: u32,
        /// Cycles that count, at least.
        #[serde(default = "thousands")]
        #[schemars(range(min = 1, max = 1_000_000))]
        iterations: u32,
        /// Which part of the series counts.
        #[serde(default)]
        procedure: Procedure,
        /// Cycles in flight, where the procedure is steady.
        #[serde(default = "throughput_window")]
        #[schemars(range(min = 1, max = 4096))]
        window: u32,
    },
    /// The gateware alone: clocks from the last byte of a request to the first of its reply, for
    /// each number of reads.
    Path {
        /// Numbers of reads in a cycle, 1 to 255.
        reads: Vec<u32>,
    },
    /// Reads or writes of a block of the device's memory, in a closed loop or at a rate.
    Access {
        /// `host-read` or `host-write`.
        operation: Operation,
        /// Bytes of each request: a multiple of 4.
        #[schemars(range(min = 4, max = MOST_BYTES))]
        bytes: u32,
        /// Requests that count, at least.
        #[serde(default = "thousand")]
        #[schemars(range(min = 1, max = 1_000_000))]
        iterations: u32,
        /// Requests in flight; 1 without it and without a rate.
        #[serde(default)]
        #[schemars(range(min = 1, max = 4096))]
        #[schemars(extend("x-bytes-in-flight" = MOST_BYTES_IN_FLIGHT))]
        window: Option<u32>,
        /// Requests a second on the mean, at times that do not depend on each other.
        #[serde(default)]
        #[schemars(range(min = 1.0, max = 1e9))]
        rate_per_s: Option<f64>,
    },
    /// Requests back to back, straight onto the wire: none may be lost.
    LineRate {
        /// Frames.
        #[serde(default = "thousand")]
        #[schemars(range(min = 1, max = 1_000_000))]
        frames: u32,
        /// 0: the shortest frames, one read each. 1 to 8: the longest, full of checked cycles with so
        /// many timestamps.
        #[serde(default)]
        #[schemars(range(min = 0, max = 8))]
        timestamps_per_cycle: u32,
    },
    /// Random, broken and hostile frames straight onto the wire, against a reference model.
    Fuzz {
        /// Frames.
        #[serde(default = "ten_thousand")]
        #[schemars(range(min = 1, max = 1_000_000))]
        frames: u32,
    },
}

impl EtherboneWorkload {
    /// Refuses values out of range, by key. `gige`: the platform's Ethernet, if it has one.
    pub(super) fn check<'a>(
        &self,
        gige: impl FnOnce() -> Result<&'a GigePlatform, RoadError>,
    ) -> Result<(), RoadError> {
        let range = |key: &str, value: u32, low: u32, high: u32| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            let key = format!("workload.{key}");
            Err(RoadError::scenario(key, format!("{value} is outside {low} to {high}")))
        };
        match self {
            Self::Timestamps { .. } | Self::Throughput { .. } | Self::Tlu { .. } => Ok(()),
            Self::Words { words, .. } => {
                words.iter().try_for_each(|n| range("words", *n, 1, 16_384))?;
                range("words (how many)", words.len() as u32, 1, 1_024)
            }
            Self::LineRate { .. } | Self::Fuzz { .. } => {
                if gige()?.switch.is_some() {
                    let reason = "frames straight onto the wire need a platform without a switch";
                    return Err(RoadError::scenario("platform.bus.gige.switch", reason));
                }
                Ok(())
            }
            Self::Access { operation, bytes, window, rate_per_s, .. } => {
                operation.check("workload.operation", NAME, &CARRIED)?;
                if !bytes.is_multiple_of(4) {
                    let (below, above) = (bytes / 4 * 4, bytes / 4 * 4 + 4);
                    let reason =
                        format!("{bytes} is not a multiple of 4: expected {below} or {above}");
                    return Err(RoadError::scenario("workload.bytes", reason));
                }
                let arrivals = Arrivals::of("workload", *window, *rate_per_s)?;
                let bytes_in_flight = u64::from(*bytes) * u64::from(arrivals.window().unwrap_or(1));
                if bytes_in_flight > MOST_BYTES_IN_FLIGHT {
                    let reason = format!(
                        "{bytes_in_flight} bytes in flight: at most {MOST_BYTES_IN_FLIGHT} expected"
                    );
                    return Err(RoadError::scenario("workload.window", reason));
                }
                Ok(())
            }
            Self::Path { reads } => {
                reads.iter().try_for_each(|n| range("reads", *n, 1, 255))?;
                range("reads (how many)", reads.len() as u32, 1, 255)
            }
        }
    }
}

const fn ninety() -> u32 {
    90
}

const fn ten() -> u32 {
    10
}

const fn thousands() -> u32 {
    2_000
}

const fn series_window() -> u32 {
    256
}

const fn throughput_window() -> u32 {
    1_024
}

const fn thousand() -> u32 {
    1_000
}

const fn ten_thousand() -> u32 {
    10_000
}
