// SPDX-License-Identifier: Apache-2.0
//! What a host program is to do, and what it brings back.

use serde_json::{Map, Value};

use isthmus_host::etherbone::{Error, Statistics};
use isthmus_sim::Picoseconds;

use super::scenario::{Method, Procedure};
use super::transport::CycleLog;

/// One measurement.
#[derive(Debug, Clone)]
pub(super) enum Task {
    Timestamps { method: Method, per_cycle: u32, cycles: u32, run: Run, stages: bool },
    Words { method: Method, words: u32, iterations: u32 },
    Tlu { method: Method, cycles: u32 },
    Path { reads: u32 },
}

/// How a series runs, and what of it counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) procedure: Procedure,
    /// Cycles in flight of a pipelined and steady series.
    pub(super) window: u32,
}

impl Task {
    /// How requests come, as results name it.
    pub(super) fn arrivals(&self) -> String {
        match self {
            Self::Timestamps { method: Method::Pipelined, run, .. } => match run.procedure {
                Procedure::Steady => format!("window:{}", run.window),
                Procedure::Published => "backlog".to_owned(),
            },
            Self::Tlu { method: Method::Pipelined, .. } => "backlog".to_owned(),
            // A sample of words is one transfer of many cycles, and the next begins when it has ended.
            _ => "closed-loop".to_owned(),
        }
    }

    /// Whether a cycle's latency is that of the road: in a backlog it would be the program's own queue.
    pub(super) fn has_latency(&self) -> bool {
        self.arrivals() != "backlog"
    }

    pub(super) fn method(&self) -> Method {
        match self {
            Self::Timestamps { method, .. }
            | Self::Words { method, .. }
            | Self::Tlu { method, .. } => *method,
            Self::Path { .. } => Method::Blocking,
        }
    }
}

/// What a program brings back.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The measured spans of time: from a first call to a last result.
    pub(super) intervals: Vec<(Picoseconds, Picoseconds)>,
    pub(super) samples: Vec<Picoseconds>,
    /// The one cycle of `log` that a sample is, if samples are single cycles.
    pub(super) cycle_of_sample: Option<Vec<usize>>,
    /// Cycles before and after the measured ones.
    pub(super) excluded: (u64, u64),
    /// Timestamps read in the measured spans.
    pub(super) timestamps: Option<u64>,
    /// Of a pipelined series: whether its rate was steady.
    pub(super) steady: Option<bool>,
    pub(super) windows: Map<String, Value>,
    pub(super) payload_bytes: u64,
    pub(super) cycles: u64,
    /// The measured cycles.
    pub(super) log: Vec<CycleLog>,
    pub(super) statistics: Statistics,
}

impl Outcome {
    pub(super) fn elapsed(&self) -> Picoseconds {
        self.intervals.iter().map(|(start, end)| *end - *start).sum()
    }
}

pub(super) type Finished = Result<Outcome, (&'static str, Error)>;

/// Names what the program was doing when an access fails.
pub(super) trait During<T> {
    fn during(self, what: &'static str) -> Result<T, (&'static str, Error)>;
}

impl<T> During<T> for Result<T, Error> {
    fn during(self, what: &'static str) -> Result<T, (&'static str, Error)> {
        self.map_err(|error| (what, error))
    }
}
