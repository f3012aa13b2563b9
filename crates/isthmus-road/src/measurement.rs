// SPDX-License-Identifier: Apache-2.0
//! What a road hands back: the measurements of `isthmus.result/1`.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::Serialize;
use serde_json::{Map, Value};

use isthmus_sim::Picoseconds;

use crate::error::RoadError;
use crate::operation::Operation;

const SIGNIFICANT_DIGITS: u8 = 3;
/// A percentile needs at least this many samples beyond it.
const SAMPLES_BEYOND: f64 = 10.0;

/// One measurement.
#[derive(Debug, Clone, Serialize)]
pub struct Measurement {
    /// Names the measurement in its document.
    pub id: String,
    /// Which road.
    pub road: &'static str,
    /// Which platform.
    pub platform: String,
    /// `as-published` or `isthmus`.
    pub profile: String,
    /// Which access method.
    pub method: String,
    /// The requested workload.
    pub workload: Map<String, Value>,
    /// Meaning of a latency sample.
    pub definition: &'static str,
    /// The arrival process.
    pub arrivals: String,
    /// The seed.
    pub seed: u64,
    /// Samples.
    pub iterations: u64,
    /// Transfers made and not counted.
    pub excluded: Excluded,
    /// Latency, if there are samples.
    pub latency_ps: Option<Latency>,
    /// The samples' histogram.
    pub histogram: Option<Buckets>,
    /// Each sample, if the workload requests them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<HostSamples>,
    /// Measure windows of the road's own clock.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub windows_ps: Map<String, Value>,
    /// Rates.
    pub throughput: Option<Throughput>,
    /// Contiguous stages of one representative transfer.
    pub stages: Vec<Stage>,
    /// Their sum: the end-to-end time of that transfer.
    pub stages_total_ps: u64,
    /// Events of that transfer over time; they may overlap.
    pub timeline: Vec<TimelineSpan>,
    /// The data check.
    pub checked: Checked,
    /// Counters of the world and the devices.
    pub counters: BTreeMap<String, u64>,
    /// Cost of the run.
    pub simulation: SimulationCost,
}

/// Origin of measurements: the common part of all measurements of a scenario.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// Which road.
    pub road: &'static str,
    /// Which platform.
    pub platform: &'a str,
    /// `as-published` or `isthmus`.
    pub profile: &'a str,
    /// Which access method.
    pub method: &'a str,
    /// The seed.
    pub seed: u64,
}

impl Measurement {
    /// A measurement `name` of such an origin with these samples; everything else is empty, a latency is
    /// a round trip and arrivals are a closed loop until something else is set.
    #[must_use]
    pub fn of(origin: &Origin<'_>, name: &str, samples: &Samples) -> Self {
        let Origin { road, platform, profile, method, seed } = *origin;
        Self {
            id: format!("{road}/{platform}/{profile}/{method}/{name}"),
            road,
            platform: platform.to_owned(),
            profile: profile.to_owned(),
            method: method.to_owned(),
            workload: Map::new(),
            definition: "rtt",
            arrivals: "closed-loop".to_owned(),
            seed,
            iterations: samples.count(),
            excluded: Excluded::default(),
            latency_ps: samples.latency(),
            histogram: samples.buckets(),
            samples: Vec::new(),
            windows_ps: Map::new(),
            throughput: None,
            stages: Vec::new(),
            stages_total_ps: 0,
            timeline: Vec::new(),
            checked: Checked::default(),
            counters: BTreeMap::new(),
            simulation: SimulationCost::default(),
        }
    }

    /// With the stages of the observed transfer.
    pub(crate) fn staged(mut self, stages: Vec<Stage>) -> Self {
        self.stages_total_ps = stages.iter().map(|stage| stage.ps).sum();
        self.stages = stages;
        self
    }

    /// Says what its latency is and how requests came.
    #[must_use]
    pub fn described(self, definition: &'static str, arrivals: String) -> Self {
        Self { definition, arrivals, ..self }
    }
}

/// Common workload fields in a result, for every road that carries an operation.
#[derive(Debug, Clone, Serialize)]
pub struct Carried {
    /// The operation.
    pub operation: Operation,
    /// Bytes of each request.
    pub bytes: u64,
    /// The access method.
    pub driver: &'static str,
    /// Requests in flight, in a closed loop.
    pub window: Option<u32>,
    /// Requests a second, in an open one.
    pub rate_per_s: Option<f64>,
    /// True if the host had operating-system noise.
    pub noise: bool,
    /// Shares of the measured span for which each resource was busy: `host`, `wire`, `bus`, `fpga`; only
    /// those that were measured.
    pub busy: BTreeMap<&'static str, f64>,
    /// True if requests arrived faster than they were served.
    pub saturated: bool,
}

impl Carried {
    /// As the workload of a measurement, to which a road adds its own.
    #[must_use]
    pub fn to_workload(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        }
    }
}

/// Transfers that were made and not counted.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Excluded {
    /// Before the measurement.
    pub head: u64,
    /// After it.
    pub tail: u64,
}

/// perftest's columns, in picoseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Latency {
    /// Fastest.
    pub min: u64,
    /// Slowest.
    pub max: u64,
    /// The median.
    pub typical: u64,
    /// Mean.
    pub avg: f64,
    /// Standard deviation of the samples.
    pub stdev: f64,
    /// Percentiles; absent with fewer than ten samples beyond.
    pub p50: Option<u64>,
    /// 90 %.
    pub p90: Option<u64>,
    /// 99 %.
    pub p99: Option<u64>,
    /// 99.9 %.
    #[serde(rename = "p99.9")]
    pub p99_9: Option<u64>,
    /// 99.99 %.
    #[serde(rename = "p99.99")]
    pub p99_99: Option<u64>,
}

/// A histogram's non-empty buckets.
#[derive(Debug, Clone, Serialize)]
pub struct Buckets {
    /// Unit of the values.
    pub unit: &'static str,
    /// Significant decimal digits of the values.
    pub significant_digits: u8,
    /// Highest value of a bucket, and samples in it.
    pub buckets: Vec<(u64, u64)>,
}

/// The latency samples that one host took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostSamples {
    /// Its number.
    pub host: usize,
    /// In the order they were taken.
    pub ps: Vec<u64>,
}

/// Rates over one span of simulated time.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Throughput {
    /// Data the host program wanted.
    pub payload_bytes: u64,
    /// Bytes on the wire towards the host: preamble, headers, padding, FCS and the shortest gap. Absent
    /// where nothing counts them.
    pub wire_bytes: Option<u64>,
    /// The span.
    pub elapsed_ps: u64,
    /// Payload bits a second.
    pub payload_bit_s: f64,
    /// Wire bits a second.
    pub wire_bit_s: Option<f64>,
    /// Protocol cycles a second.
    pub cycles_per_s: f64,
    /// Timestamps a second, where timestamps are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps_per_s: Option<f64>,
}

impl Throughput {
    /// Rates of an amount in a duration.
    #[must_use]
    pub fn new(
        payload_bytes: u64,
        wire_bytes: Option<u64>,
        cycles: u64,
        timestamps: Option<u64>,
        elapsed: Picoseconds,
    ) -> Self {
        let per_second = |count: u64| match elapsed.0 {
            0 => 0.0,
            _ => count as f64 / elapsed.as_secs_f64(),
        };
        Self {
            payload_bytes,
            wire_bytes,
            elapsed_ps: elapsed.0,
            payload_bit_s: per_second(8 * payload_bytes),
            wire_bit_s: wire_bytes.map(|bytes| per_second(8 * bytes)),
            cycles_per_s: per_second(cycles),
            timestamps_per_s: timestamps.map(per_second),
        }
    }
}

/// One stage of a transfer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// `host`, `nic`, `wire`, `switch` or `fpga`.
    #[serde(rename = "where")]
    pub place: String,
    /// How long it took.
    pub ps: u64,
}

/// A bar of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TimelineSpan {
    /// Where.
    pub track: String,
    /// Its name.
    pub name: String,
    /// From, relative to the transfer's begin.
    pub start_ps: u64,
    /// Its end.
    pub end_ps: u64,
    /// The frame's number.
    pub tag: u64,
}

/// The data check's result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Bytes compared.
    pub bytes: u64,
    /// Bytes that differ.
    pub wrong: u64,
    /// Bytes that never came.
    pub lost: u64,
}

/// Cost of a run.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct SimulationCost {
    /// Cycles of `clk_i` that passed.
    pub device_cycles: u64,
    /// How many of them were evaluated.
    pub evaluated_cycles: u64,
    /// Wall time.
    pub wall_s: f64,
}

impl SimulationCost {
    /// Cost of the devices of a simulation.
    #[must_use]
    pub fn of(statistics: &isthmus_sim::Statistics) -> Self {
        Self {
            device_cycles: statistics.device_cycles,
            evaluated_cycles: statistics.evaluated_cycles,
            wall_s: statistics.wall_s,
        }
    }
}

/// Collects latency samples.
#[derive(Debug)]
pub struct Samples {
    histogram: Histogram<u64>,
    count: u64,
    /// Welford's running mean and sum of squared distances: exact where buckets are not.
    mean: f64,
    squares: f64,
    min: u64,
    max: u64,
}

impl Samples {
    /// No samples yet.
    ///
    /// # Errors
    /// Never with the fixed number of digits, but the histogram's constructor can fail.
    pub fn new() -> Result<Self, RoadError> {
        let histogram = Histogram::new(SIGNIFICANT_DIGITS)
            .map_err(|error| RoadError::Inconsistent(format!("histogram: {error}")))?;
        Ok(Self { histogram, count: 0, mean: 0.0, squares: 0.0, min: u64::MAX, max: 0 })
    }

    /// Adds one sample.
    pub fn add(&mut self, sample: Picoseconds) {
        // The range grows to include the value; `saturating_record` would clamp the value to the
        // present range.
        if self.histogram.record(sample.0).is_err() {
            self.histogram.saturating_record(sample.0);
        }
        self.count += 1;
        let distance = sample.0 as f64 - self.mean;
        self.mean += distance / self.count as f64;
        self.squares += distance * (sample.0 as f64 - self.mean);
        self.min = self.min.min(sample.0);
        self.max = self.max.max(sample.0);
    }

    /// Samples so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The columns; `None` without samples.
    #[must_use]
    pub fn latency(&self) -> Option<Latency> {
        if self.count == 0 {
            return None;
        }
        // Values of buckets are clamped to the measured range.
        let quantile = |q: f64| self.histogram.value_at_quantile(q).clamp(self.min, self.max);
        let percentile = |q: f64| {
            let beyond = self.count as f64 * (1.0 - q);
            // The product of a count and a decimal fraction may end a rounding error below ten.
            (beyond + 1e-9 >= SAMPLES_BEYOND).then(|| quantile(q))
        };
        let variance = if self.count > 1 { self.squares / (self.count - 1) as f64 } else { 0.0 };
        Some(Latency {
            min: self.min,
            max: self.max,
            typical: quantile(0.5),
            avg: self.mean,
            stdev: variance.max(0.0).sqrt(),
            p50: percentile(0.5),
            p90: percentile(0.9),
            p99: percentile(0.99),
            p99_9: percentile(0.999),
            p99_99: percentile(0.9999),
        })
    }

    /// The histogram; `None` without samples.
    #[must_use]
    pub fn buckets(&self) -> Option<Buckets> {
        (self.count > 0).then(|| Buckets {
            unit: "ps",
            significant_digits: SIGNIFICANT_DIGITS,
            buckets: self
                .histogram
                .iter_recorded()
                .map(|step| (step.value_iterated_to(), step.count_at_value()))
                .collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: impl IntoIterator<Item = u64>) -> Samples {
        let mut samples = Samples::new().unwrap();
        values.into_iter().for_each(|value| samples.add(Picoseconds(value)));
        samples
    }

    #[test]
    fn no_samples_no_figures() {
        let none = samples([]);
        assert!(none.latency().is_none() && none.buckets().is_none());
    }

    #[test]
    fn mean_and_deviation_are_exact() {
        let latency = samples([2, 4, 4, 4, 5, 5, 7, 9]).latency().unwrap();
        assert_eq!((latency.min, latency.max, latency.typical), (2, 9, 4));
        assert!((latency.avg - 5.0).abs() < 1e-12);
        assert!((latency.stdev - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn percentiles_need_ten_samples_beyond() {
        let of = |n: u64| samples((0..n).map(|i| 1_000 + i)).latency().unwrap();
        let shown = |l: &Latency| [l.p50, l.p90, l.p99, l.p99_9].map(|p| p.is_some());
        assert_eq!(shown(&of(19)), [false, false, false, false]);
        assert_eq!(shown(&of(20)), [true, false, false, false]);
        assert_eq!(shown(&of(90)), [true, false, false, false]);
        assert_eq!(shown(&of(100)), [true, true, false, false]);
        assert_eq!(shown(&of(1_000)), [true, true, true, false]);
        assert_eq!(of(1_000).p90, Some(1_899));
    }

    #[test]
    fn percentiles_lie_where_the_samples_do() {
        let latency = samples((1..=100_000).map(|i| i * 1_000)).latency().unwrap();
        let shares = [
            (latency.p50, 0.5),
            (latency.p90, 0.9),
            (latency.p99, 0.99),
            (latency.p99_9, 0.999),
            (latency.p99_99, 0.9999),
        ];
        for (found, share) in shares {
            let (found, expected) = (found.unwrap() as f64, share * 1e8);
            assert!((found / expected - 1.0).abs() < 2e-3, "{share}: {found}");
        }
    }

    #[test]
    fn buckets_hold_all_samples() {
        let buckets = samples((1..=500).map(|i| i * 997)).buckets().unwrap().buckets;
        assert_eq!(buckets.iter().map(|b| b.1).sum::<u64>(), 500);
    }

    #[test]
    fn rates() {
        let rates = Throughput::new(125, Some(250), 1, Some(2), Picoseconds::from_us(1));
        assert!((rates.payload_bit_s - 1e9).abs() < 1e-3);
        assert!((rates.wire_bit_s.unwrap() - 2e9).abs() < 1e-3);
        assert_eq!(rates.timestamps_per_s, Some(2e6));
        assert_eq!(Throughput::new(1, None, 1, None, Picoseconds::ZERO).payload_bit_s, 0.0);
    }

    #[test]
    fn what_nothing_counts_on_the_wire_is_absent_and_not_the_payload() {
        let rates = Throughput::new(125, None, 1, None, Picoseconds::from_us(1));
        let shown = serde_json::to_value(rates).unwrap();
        assert_eq!(shown["payload_bytes"], 125);
        assert!(shown["wire_bytes"].is_null() && shown["wire_bit_s"].is_null());
    }
}
