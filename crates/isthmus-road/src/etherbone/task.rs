// SPDX-License-Identifier: Apache-2.0
//! The task of a host program, and its result.

use std::ops::Range;

use serde_json::{Map, Value};

use isthmus_host::etherbone::{Error, Statistics};
use isthmus_sim::Picoseconds;

use super::scenario::{Method, Procedure};
use super::transport::CycleLog;
use crate::arrivals::Arrivals;
use crate::operation::Operation;

/// One measurement.
#[derive(Debug, Clone)]
pub(super) enum Task {
    Timestamps { method: Method, per_cycle: u32, cycles: u32, run: Run, stages: bool },
    Words { method: Method, words: u32, iterations: u32 },
    Tlu { method: Method, cycles: u32 },
    Path { reads: u32 },
    Access(Access),
}

/// Requests of `bytes` bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access {
    pub(super) operation: Operation,
    pub(super) bytes: u32,
    /// Requests that count, at least.
    pub(super) iterations: u32,
    pub(super) arrivals: Arrivals,
}

impl Access {
    pub(super) fn is_write(&self) -> bool {
        self.operation == Operation::HostWrite
    }

    /// 32-bit words of each request.
    pub(super) fn words(&self) -> u32 {
        self.bytes / 4
    }

    /// The program's activity, for messages.
    pub(super) fn doing(&self) -> &'static str {
        if self.is_write() { "series of writes" } else { "series of reads" }
    }
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
            Self::Access(access) => access.arrivals.to_string(),
            _ => "closed-loop".to_owned(),
        }
    }

    /// True if a cycle's latency is that of the road: in a backlog it would measure the program's
    /// own queue.
    pub(super) fn has_latency(&self) -> bool {
        self.arrivals() != "backlog"
    }

    pub(super) fn method(&self) -> Method {
        match self {
            Self::Timestamps { method, .. }
            | Self::Words { method, .. }
            | Self::Tlu { method, .. } => *method,
            Self::Path { .. } => Method::Blocking,
            // The cycles of one request do not wait for each other.
            Self::Access(_) => Method::Pipelined,
        }
    }
}

/// Result of a program.
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
    /// Pipelined series only: true if its rate was steady.
    pub(super) steady: Option<bool>,
    pub(super) windows: Map<String, Value>,
    pub(super) payload_bytes: u64,
    pub(super) cycles: u64,
    /// The measured cycles.
    pub(super) log: Vec<CycleLog>,
    pub(super) statistics: Statistics,
    /// Outcome of requests, if the task makes them.
    pub(super) requests: Option<Requests>,
}

/// Outcome of requests.
#[derive(Debug)]
pub(super) struct Requests {
    /// For requests that count: when each was due, and when the program was notified of its end.
    pub(super) due: Vec<Picoseconds>,
    pub(super) ended: Vec<Picoseconds>,
    /// Which of all count.
    pub(super) counted: Range<usize>,
    pub(super) all: usize,
    /// From the first to the last request.
    pub(super) series: (Picoseconds, Picoseconds),
    /// Cycles of each.
    pub(super) cycles_each: usize,
    pub(super) saturated: bool,
    /// The share of the measured span for which the host had no time for more.
    pub(super) host_busy: f64,
}

/// A host's work up to a given time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    pub(super) at: Picoseconds,
    /// Its cores together.
    pub(super) cores: Picoseconds,
    /// The program waited for the device or for its next request.
    pub(super) blocked: Picoseconds,
}

impl Usage {
    /// The share of the time since `before` in which the busiest part was busy: the program, which
    /// runs on one core; the work of other cores for it; or all cores together.
    pub(super) fn busy_since(&self, before: &Self, cores: usize) -> f64 {
        let span = self.at.saturating_sub(before.at).0 as f64;
        if span == 0.0 {
            return 0.0;
        }
        let blocked = self.blocked.saturating_sub(before.blocked).0 as f64 / span;
        let all = self.cores.saturating_sub(before.cores).0 as f64 / span;
        let program = 1.0 - blocked;
        let others = match cores {
            0 | 1 => 0.0,
            _ => (all - program) / (cores - 1) as f64,
        };
        program.max(others).max(all / cores.max(1) as f64).clamp(0.0, 1.0)
    }
}

impl Outcome {
    pub(super) fn elapsed(&self) -> Picoseconds {
        self.intervals.iter().map(|(start, end)| *end - *start).sum()
    }
}

pub(super) type Finished = Result<Outcome, (&'static str, Error)>;

/// Names the program's activity when an access fails.
pub(super) trait During<T> {
    fn during(self, what: &'static str) -> Result<T, (&'static str, Error)>;
}

impl<T> During<T> for Result<T, Error> {
    fn during(self, what: &'static str) -> Result<T, (&'static str, Error)> {
        self.map_err(|error| (what, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_as_busy_as_the_busiest_of_its_parts() {
        let at = |ns: u64| Picoseconds::from_ns(ns);
        let usage = |cores: u64, blocked: u64| Usage {
            at: at(1_000),
            cores: at(cores),
            blocked: at(blocked),
        };
        let busy = |cores, blocked, of: usize| {
            let share = usage(cores, blocked).busy_since(&Usage::default(), of);
            (1_000.0 * share).round() as u64
        };
        // The program alone.
        assert_eq!(busy(300, 700, 2), 300);
        // The kernel on the other core has more to do than the program.
        assert_eq!(busy(1_200, 700, 2), 900);
        // One core does both.
        assert_eq!(busy(950, 700, 1), 950);
        assert_eq!(busy(0, 1_000, 2), 0);
        assert_eq!(Usage::default().busy_since(&Usage::default(), 2), 0.0);
    }
}
