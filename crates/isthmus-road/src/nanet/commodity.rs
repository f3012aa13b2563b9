// SPDX-License-Identifier: Apache-2.0
//! The path that the interface replaces: a network card, the kernel, copies to a GPU and back.
//!
//! Nothing of it is gateware, so nothing is simulated in cycles. A datagram's way to the program is drawn from the
//! published percentiles, linear between two of them; copies and processing are constants.

use std::time::Instant;

use serde_json::json;

use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::RandomStream;

use super::scenario::{NAME, NanetCommodity, NanetScenario};
use crate::error::RoadError;
use crate::measurement::{Measurement, Origin, Samples};
use crate::stages::Way;

impl NanetCommodity {
    /// Share of datagrams, and the time in us that they take at the most.
    fn percentiles(&self) -> [(f64, f64); 11] {
        [
            (0.0, self.min_us),
            (0.25, self.p25_us),
            (0.5, self.p50_us),
            (0.75, self.p75_us),
            (0.9, self.p90_us),
            (0.95, self.p95_us),
            (0.99, self.p99_us),
            (0.995, self.p99_5_us),
            (0.999, self.p99_9_us),
            (0.9999, self.p99_99_us),
            (1.0, self.max_us),
        ]
    }

    pub(super) fn check(&self) -> Result<(), RoadError> {
        if self.percentiles().is_sorted_by(|one, next| one.1 <= next.1) {
            return Ok(());
        }
        Err(RoadError::scenario("platform.commodity", "percentiles fall: expected them in order"))
    }

    /// The time that this share of datagrams takes at the most.
    fn at(&self, share: f64) -> Picoseconds {
        let known = self.percentiles();
        let next = known.partition_point(|(upto, _)| *upto <= share).clamp(1, known.len() - 1);
        let [(from, low), (to, high)] = [known[next - 1], known[next]];
        let part = (share - from) / (to - from);
        Picoseconds::from_ns_f64((low + part * (high - low)) * 1e3)
    }
}

/// Draws the way of each datagram of a workload.
pub(super) fn run(
    scenario: &NanetScenario,
    of: &NanetCommodity,
) -> Result<Vec<Measurement>, RoadError> {
    let begin = Instant::now();
    let mut random = RandomStream::new(scenario.seed, "nanet:commodity");
    let [copies, processing] =
        [of.copies_us, of.processing_us].map(|us| Picoseconds::from_ns_f64(us * 1e3));
    let (mut all, mut received) = (Samples::new()?, Samples::new()?);
    let mut last = Picoseconds::ZERO;
    for _ in 0..scenario.workload.iterations {
        last = of.at(random.unit());
        received.add(last);
        all.add(last + copies + processing);
    }
    let origin = Origin {
        road: NAME,
        platform: &scenario.platform.name,
        // It is the document's path alone.
        profile: "as-published",
        method: "kernel",
        seed: scenario.seed,
    };
    let mut made = Measurement::of(&origin, "wire-to-result/commodity", &all)
        .described("one_way", "one at a time".to_owned());
    let mut way = Way::new(Picoseconds::ZERO);
    way.until("nic", "network card, kernel, copy to the program", last)?;
    way.until("host", "copies to the GPU and back", last + copies)?;
    way.until("host", "processing on the GPU", last + copies + processing)?;
    let total = last + copies + processing;
    (made.stages, made.stages_total_ps) = (way.finish(total)?, total.0);
    let constant = |time| {
        let mut samples = Samples::new()?;
        samples.add(time);
        Ok::<_, RoadError>(samples.latency())
    };
    let typical = received.latency().map(|one| one.typical + copies.0);
    made.workload.insert(
        "parts_ps".to_owned(),
        json!({
            "receive": received.latency(),
            "copies": constant(copies)?,
            "processing": constant(processing)?,
        }),
    );
    for (key, value) in [
        ("communication_typical_ps", json!(typical)),
        ("noise", json!(true)),
        ("driver", json!("kernel")),
        ("lost", json!(0)),
    ] {
        made.workload.insert(key.to_owned(), value);
    }
    made.simulation.wall_s = begin.elapsed().as_secs_f64();
    Ok(vec![made])
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF: NanetCommodity = NanetCommodity {
        min_us: 10.0,
        p25_us: 20.0,
        p50_us: 30.0,
        p75_us: 40.0,
        p90_us: 50.0,
        p95_us: 60.0,
        p99_us: 70.0,
        p99_5_us: 80.0,
        p99_9_us: 90.0,
        p99_99_us: 100.0,
        max_us: 200.0,
        copies_us: 1.0,
        processing_us: 2.0,
    };

    #[test]
    fn drawn_times_have_the_percentiles() {
        let at = |share| OF.at(share).0 / 1_000_000;
        assert_eq!([at(0.0), at(0.25), at(0.5), at(0.999), at(0.9999)], [10, 20, 30, 90, 100]);
        assert_eq!([at(0.125), at(0.375)], [15, 25]);
        assert!(at(1.0 - 1e-12) >= 199);
        assert!(OF.check().is_ok());
        let falling = NanetCommodity { p90_us: 10.0, ..OF };
        assert!(falling.check().is_err());
    }
}
