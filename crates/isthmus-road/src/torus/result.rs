// SPDX-License-Identifier: Apache-2.0
//! What a run found, as a measurement.

use serde_json::json;

use super::run::Run;
use super::scenario::{FLIT_BYTES, FRAMING_FLITS, NAME};
use crate::error::RoadError;
use crate::measurement::{Checked, Excluded, Measurement, Origin, SimulationCost, Throughput};

/// Share of what is offered that may stay in front of the network before it counts as saturated.
const BACKLOG: f64 = 0.02;

impl Run<'_> {
    pub(super) fn measurement(&self) -> Result<Measurement, RoadError> {
        let (scenario, fabric) = (self.scenario, &self.fabric);
        let (workload, ledger) = (&scenario.workload, fabric.ledger.borrow());
        let [x, y, z] = workload.nodes;
        let origin = Origin {
            road: NAME,
            platform: &scenario.platform.name,
            profile: scenario.profile.name(),
            method: "router",
            seed: scenario.seed,
        };
        let rate = workload.load.map_or("backlog".to_owned(), |load| format!("poisson-{load:.3}"));
        let pattern = workload.pattern.text();
        let mut name = format!("{x}x{y}x{z}-{pattern}-{}-{rate}", workload.bytes);
        if scenario.over_lanes() {
            name += "-lanes";
        }
        if scenario.lossy() {
            name += &format!("-ber-{:e}", scenario.faults.bit_error_rate);
        }
        let arrivals = workload.load.map_or("backlog".to_owned(), |load| format!("poisson:{load}"));
        let mut made =
            Measurement::of(&origin, &name, &ledger.samples).described("one_way", arrivals);
        let (Some(from), Some(until)) = ledger.window else {
            return Err(RoadError::Inconsistent("torus: the measurement never began".to_owned()));
        };
        let clocks = (until - from).max(1);
        let slots = (clocks * scenario.nodes() as u64) as f64;
        let links = (clocks * fabric.carried().len() as u64) as f64;
        let carried = ledger.arrived_in_window as f64 / slots;
        let offered = ledger.made_in_window as f64 / slots;
        // What entered, where packets may be lost: it is the sources that must not wait.
        let taken = match ledger.lossy {
            true => ledger.entered_in_window as f64 / slots,
            false => carried,
        };
        let saturated = workload.load.is_none() || taken < offered * (1.0 - BACKLOG);
        let period = fabric.period.0 as f64;
        let mean = ledger.samples.latency().map(|latency| latency.avg / period);
        made.excluded = Excluded { head: ledger.made - ledger.counted, tail: 0 };
        for (key, value) in [
            ("nodes", json!(workload.nodes)),
            ("pattern", json!(pattern)),
            ("bytes", json!(workload.bytes)),
            ("flits", json!(scenario.flits())),
            ("load", json!(workload.load)),
            ("carried", json!(carried)),
            ("saturated", json!(saturated)),
            ("link_share", json!(self.carried.data as f64 / links)),
            ("link_share_most", json!(self.carried_most as f64 / clocks as f64)),
            ("hop_clocks", json!(scenario.hop_clocks())),
            ("buffer_flits", json!(scenario.device.buffer_flits)),
            ("delay_clocks", json!(mean)),
            ("hops", json!(ledger.hops as f64 / ledger.delivered.max(1) as f64)),
            ("packets", json!(ledger.delivered)),
            ("longest_queue", json!(ledger.longest_queue)),
        ] {
            made.workload.insert(key.to_owned(), value);
        }
        if scenario.over_lanes() {
            for (key, value) in [
                ("links", json!("lanes")),
                ("framing_share", json!(self.carried.framing as f64 / links)),
                ("credit_share", json!(self.carried.credits as f64 / links)),
                ("align_share", json!(self.carried.aligns as f64 / links)),
                ("errors", json!(scenario.faults.bit_error_rate)),
                ("lost", json!(ledger.lost)),
            ] {
                made.workload.insert(key.to_owned(), value);
            }
        }
        // Flits, not whole packets: one that has begun before the window belongs to it with its rest.
        let flits = ledger.arrived_in_window;
        let packets = flits / scenario.flits();
        let payload = flits * u64::from(workload.bytes) / scenario.flits();
        let elapsed = fabric.period * clocks;
        made.throughput = Some(Throughput::new(
            payload,
            Some(flits * u64::from(FLIT_BYTES)),
            packets,
            None,
            elapsed,
        ));
        // An open loop beyond saturation has no latency of its own.
        if saturated {
            (made.latency_ps, made.histogram) = (None, None);
        }
        let payload_flits = scenario.flits() - FRAMING_FLITS;
        made.checked = Checked {
            bytes: ledger.delivered * payload_flits * u64::from(FLIT_BYTES),
            wrong: 0,
            lost: 0,
        };
        for (key, value) in [
            ("clocks", fabric.clocks()),
            ("packets.delivered", ledger.delivered),
            ("packets.entered", fabric.status("packets")),
            ("packets.lost", fabric.status("lost")),
        ] {
            made.counters.insert(key.to_owned(), value);
        }
        if scenario.over_lanes() {
            for (key, value) in [
                ("packets.missing", ledger.lost),
                ("packets.poisoned", ledger.poisoned),
                ("lines.wrong_bits", fabric.all_wrong_bits()),
            ] {
                made.counters.insert(key.to_owned(), value);
            }
            for name in ["dropped", "torn", "gaps", "invalid", "refused", "downs"] {
                made.counters.insert(format!("links.{name}"), fabric.status(name));
            }
        }
        made.simulation = SimulationCost::of(&fabric.simulation.statistics());
        made.simulation.wall_s = self.begin.elapsed().as_secs_f64();
        Ok(made)
    }
}
