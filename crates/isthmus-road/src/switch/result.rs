// SPDX-License-Identifier: Apache-2.0
//! What a run found, as a measurement.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::run::Run;
use super::scenario::{ArrivalsName, PatternName};
use crate::error::RoadError;
use crate::measurement::{
    Checked, Excluded, Measurement, Samples, SimulationCost, Stage, Throughput,
};

impl Run<'_> {
    pub(super) fn measurement(
        &self,
        clocks: u64,
        counters: &BTreeMap<String, u64>,
        checked: Checked,
        evaluated_cycles: u64,
    ) -> Result<Measurement, RoadError> {
        let (scenario, meter) = (self.scenario, &self.meter);
        let workload = &scenario.workload;
        let samples: &Samples = &meter.samples;
        if samples.count() == 0 && !scenario.is_trace() {
            return Err(RoadError::Inconsistent(
                "switch: not one packet of the window arrived".to_owned(),
            ));
        }
        let stages = self.stages();
        let road = "switch";
        let (platform, profile) = (scenario.platform.name.clone(), scenario.profile.name());
        let engine = workload.engine.name();
        let wire = meter.heard();
        let words_on_wire = wire.data + wire.framing + wire.credit;
        let elapsed = self.at(meter.clocks());
        let throughput = (meter.clocks() > 0).then(|| {
            let word_bytes = u64::from(scenario.word_bytes());
            let payload = word_bytes * meter.words;
            Throughput::new(
                payload,
                Some(word_bytes * words_on_wire),
                meter.delivered,
                None,
                elapsed,
            )
        });
        Ok(Measurement {
            id: format!("{road}/{platform}/{profile}/{engine}/{}", scenario.name()),
            road,
            platform,
            profile: profile.to_owned(),
            method: engine.to_owned(),
            workload: self.describe(),
            definition: "one_way",
            arrivals: match (workload.pattern, workload.arrivals) {
                (PatternName::Trace, _) => "open-loop trace".to_owned(),
                (_, ArrivalsName::Paced) => format!("paced:{}", workload.load),
                (_, ArrivalsName::Poisson) => format!("poisson:{}", workload.load),
                (_, ArrivalsName::Bursty(_)) => format!("bursty:{}", workload.load),
                (_, ArrivalsName::Backlog(_)) => "backlog".to_owned(),
            },
            seed: scenario.seed,
            iterations: samples.count().max(1),
            excluded: Excluded { head: meter.warm_up_packets, tail: meter.after },
            latency_ps: samples.latency(),
            histogram: samples.buckets(),
            samples: Vec::new(),
            windows_ps: Map::new(),
            throughput,
            stages_total_ps: stages.iter().map(|stage| stage.ps).sum(),
            stages,
            timeline: Vec::new(),
            checked,
            counters: counters.clone(),
            simulation: SimulationCost {
                device_cycles: clocks,
                evaluated_cycles,
                wall_s: self.begin.elapsed().as_secs_f64(),
            },
        })
    }

    /// The way of the fastest packet.
    fn stages(&self) -> Vec<Stage> {
        let Some(fastest) = &self.meter.fastest else { return Vec::new() };
        let hop = self.scenario.hop_clocks();
        let source = u64::from(fastest.left.wrapping_sub(fastest.created));
        let pins = u64::from(fastest.arrived.wrapping_sub(fastest.left));
        [
            ("queue, schedule, send", "nic", source),
            ("transceivers and cable to the switch", "wire", hop),
            ("switch", "switch", pins.saturating_sub(2 * hop)),
            ("transceivers and cable to the sink", "wire", hop),
        ]
        .into_iter()
        .map(|(name, place, clocks)| Stage {
            name: name.to_owned(),
            place: place.to_owned(),
            ps: self.at(clocks).0,
        })
        .collect()
    }

    fn describe(&self) -> Map<String, Value> {
        let (scenario, meter) = (self.scenario, &self.meter);
        let workload = &scenario.workload;
        let traffic = scenario.traffic();
        let mean = traffic.mean_line_words();
        let payload_share = (mean - f64::from(traffic.framing)) / mean;
        let load = match workload.arrivals {
            ArrivalsName::Backlog(_) => None,
            _ if scenario.is_trace() => None,
            _ => Some(workload.load),
        };
        // A trace defines all packets and times: it has no load, and neither settles nor saturates.
        let steady = (!scenario.is_trace()).then_some(meter.steady);
        let backlog = matches!(workload.arrivals, ArrivalsName::Backlog(_));
        let sent = scenario.device.ports as u64 * meter.clocks();
        let share = |words: u64| (sent > 0).then(|| words as f64 / sent as f64);
        let wire = meter.heard();
        let fairness = meter.fairness();
        let described = json!({
            "ports": scenario.device.ports,
            "lanes": scenario.device.lanes,
            "pattern": scenario.pattern_text(),
            "sizes_bytes": scenario.sizes_bytes(),
            "load": load,
            "payload_load": load.map(|load| load * payload_share),
            "packets": scenario.packets(),
            "hop_clocks": scenario.hop_clocks(),
            "buffer_words": scenario.device.buffer_words,
            "credit_in_packet": scenario.device.credit_in_packet,
            "steady": steady,
            "saturated": backlog || meter.saturated(),
            "window_clocks": meter.clocks(),
            "payload_share": share(meter.words),
            "wire_shares": {
                "data": share(wire.data),
                "framing": share(wire.framing),
                "credit": share(wire.credit),
                "idle": share(wire.idle),
            },
            "clocks": {
                "delay": samples_mean(&meter.samples, self.clock_ps),
                "source": meter.source.value(),
                "switch": meter.switch.value(),
                "fastest": meter.fastest.map(|d| d.arrived.wrapping_sub(d.created)),
                "fastest_switch": meter.fastest.map(|d| {
                    i64::from(d.arrived.wrapping_sub(d.left)) - 2 * scenario.hop_clocks() as i64
                }),
                "stamps_off": meter.stamps.filter(|_| scenario.bench()).map(|(least, most)| [least, most]),
            },
            "flows": {
                "least_words": fairness.map(|found| found.0),
                "most_words": fairness.map(|found| found.1),
                "jain": fairness.map(|found| found.2),
            },
        });
        match described {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }
}

fn samples_mean(samples: &Samples, clock_ps: f64) -> Option<f64> {
    samples.latency().map(|latency| latency.avg / clock_ps)
}
