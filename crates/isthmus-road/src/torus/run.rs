// SPDX-License-Identifier: Apache-2.0
//! One run: warm-up, measurement, drain, and the account of every packet.

use std::time::Instant;

use isthmus_sim::world::lanes::LineCounts;

use super::fabric::{Fabric, neighbour};
use super::scenario::TorusScenario;
use super::traffic::way;
use crate::error::RoadError;
use crate::measurement::Measurement;
use crate::road::Context;
use crate::watch::{Step, follow};

/// Clocks between two looks at the account.
const CHUNK: u64 = 256;
/// Clocks before the measurement, at the least.
const WARM_UP_CLOCKS: u64 = 2_000;
/// Clocks in which all links must have come up: several times those of a start.
const UP_CLOCKS: u64 = 1 << 15;
/// Clocks without a flit out of a network at rest, after which what has not arrived is lost.
const REST_CLOCKS: u64 = 2_048;
/// Clocks in which no packet of the measurement has arrived, after which the others may be lost.
const LATE_CLOCKS: u64 = 1 << 14;
/// Packets that a wrong bit can cost, at the most: its own, and the next one of the channel.
const PACKETS_A_BIT: u64 = 2;
/// Clocks without any flit out of the network, while packets are in it, after which it counts as
/// deadlocked: far above any time that a flit can wait for others.
const STUCK_CLOCKS: u64 = 1 << 17;

pub(super) struct Run<'a> {
    pub(super) scenario: &'a TorusScenario,
    pub(super) fabric: Fabric,
    pub(super) begin: Instant,
    moved: (u64, u64),
    /// What links have carried from the window's begin to its end, together, and flits of the busiest one.
    pub(super) carried: LineCounts,
    pub(super) carried_most: u64,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        scenario: &'a TorusScenario,
        context: &Context<'_>,
    ) -> Result<Self, RoadError> {
        let fabric = Fabric::new(scenario, context.make_model)?;
        let step = Step { total: 1, transfers_total: scenario.workload.packets, ..Step::default() };
        follow(&fabric.simulation, context.watch, step);
        let begin = Instant::now();
        Ok(Self {
            scenario,
            fabric,
            begin,
            moved: (0, 0),
            carried: LineCounts::default(),
            carried_most: 0,
        })
    }

    /// Runs it to its end.
    pub(super) fn finish(mut self) -> Result<Measurement, RoadError> {
        let (packets, backlog) =
            (self.scenario.workload.packets, self.scenario.workload.load.is_none());
        let head = packets / 10;
        let start = if self.scenario.over_lanes() { self.come_up()? } else { 0 };
        loop {
            self.advance()?;
            let (made, clocks) = (self.fabric.ledger.borrow().made, self.fabric.clocks());
            if clocks >= start + WARM_UP_CLOCKS && made >= head {
                break;
            }
        }
        let before = self.fabric.carried();
        self.fabric.ledger.borrow_mut().window.0 = Some(self.fabric.clocks());
        let per_packet = self.scenario.flits();
        while {
            let ledger = self.fabric.ledger.borrow();
            let arrived = ledger.flits_in_window / per_packet;
            ledger.counted < packets || (backlog && arrived < packets)
        } {
            self.advance()?;
        }
        self.fabric.ledger.borrow_mut().window.1 = Some(self.fabric.clocks());
        for (from, to) in before.iter().zip(self.fabric.carried()) {
            self.carried.data += to.data - from.data;
            self.carried.framing += to.framing - from.framing;
            self.carried.credits += to.credits - from.credits;
            self.carried.aligns += to.aligns - from.aligns;
            self.carried_most = self.carried_most.max(to.data - from.data);
        }
        // Sources go on until the last packet of the measurement has arrived.
        let mut arrived = (0, 0);
        loop {
            let ledger = self.fabric.ledger.borrow();
            let (count, clocks) = (ledger.samples.count(), self.fabric.clocks());
            if count != arrived.0 {
                arrived = (count, clocks);
            }
            let late = ledger.lossy && clocks > arrived.1 + LATE_CLOCKS;
            if count + ledger.counted_lost >= packets || late {
                break;
            }
            drop(ledger);
            self.advance()?;
        }
        self.fabric.ledger.borrow_mut().stop();
        while self.fabric.ledger.borrow().outstanding() > 0 {
            self.advance()?;
            let quiet = self.fabric.clocks() - self.moved.1;
            if self.scenario.lossy() && quiet > REST_CLOCKS && self.fabric.at_rest() {
                self.give_up();
            }
        }
        self.explain()?;
        self.account()?;
        self.measurement()
    }

    /// Until all links can carry packets; the clock at which sources begin.
    fn come_up(&mut self) -> Result<u64, RoadError> {
        while !self.fabric.is_up() {
            if self.fabric.clocks() > UP_CLOCKS {
                let reason = format!("torus: links are not up after {UP_CLOCKS} clocks");
                return Err(RoadError::Violation(reason));
            }
            self.advance()?;
        }
        // Both ends have the other one's first credits by then.
        self.advance()?;
        let start = self.fabric.clocks();
        self.fabric.ledger.borrow_mut().begin(start);
        self.fabric.spoil(self.scenario.faults.bit_error_rate);
        Ok(start)
    }

    /// What has no end is lost.
    fn give_up(&self) {
        let stations = &self.fabric.stations;
        let next = |source: usize, dest: usize| stations[dest].borrow().from[source];
        self.fabric.ledger.borrow_mut().give_up(stations.len(), next);
    }

    /// Each packet that was found lost has passed a line with a wrong bit.
    fn explain(&self) -> Result<(), RoadError> {
        let missed = std::mem::take(&mut self.fabric.ledger.borrow_mut().missed);
        for lost in missed {
            let sizes = self.scenario.workload.nodes;
            let links = way(sizes, lost.source, lost.dest);
            // A link goes down both ways.
            let explained = |(node, port): &(usize, usize)| {
                self.fabric.wrong_bits(*node, *port) > 0
                    || (self.fabric.status("downs") > 0
                        && self.fabric.wrong_bits(neighbour(sizes, *node, *port), port ^ 1) > 0)
            };
            if !links.iter().any(explained) {
                return Err(RoadError::Violation(format!(
                    "torus: packet {} from node {} to node {} is lost, and no bit on its way was wrong; seed {}",
                    lost.sequence, lost.source, lost.dest, self.scenario.seed
                )));
            }
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<(), RoadError> {
        let simulation = &self.fabric.simulation;
        let arrived = self.fabric.ledger.borrow().samples.count();
        simulation.run_for(self.fabric.period * CHUNK)?;
        let (ledger, clocks) = (self.fabric.ledger.borrow(), self.fabric.clocks());
        simulation.count_transfers(ledger.samples.count() - arrived);
        let seed = self.scenario.seed;
        if let Some(what) = &ledger.wrong {
            return Err(RoadError::Violation(format!("torus: {what}; seed {seed}")));
        }
        let lost = !ledger.missed.is_empty();
        let waits = ledger.outstanding() > 0 && !(ledger.lossy && self.fabric.at_rest());
        if ledger.flits != self.moved.0 || ledger.outstanding() == 0 {
            self.moved = (ledger.flits, clocks);
        } else if waits && clocks - self.moved.1 > STUCK_CLOCKS {
            return Err(RoadError::Violation(format!(
                "torus: deadlock: no flit has come out for {} clocks, at clock {clocks}; {} packets are in \
                 the network or wait for it; seed {seed}",
                clocks - self.moved.1,
                ledger.outstanding()
            )));
        }
        drop(ledger);
        if lost { self.explain() } else { Ok(()) }
    }

    /// Every packet has arrived once: what each node has sent to each other one. Where bits were wrong, those
    /// that have not are no more than these can cost.
    fn account(&self) -> Result<(), RoadError> {
        if self.scenario.lossy() {
            let (lost, bits) = (self.fabric.ledger.borrow().lost, self.fabric.all_wrong_bits());
            let (entered, delivered) =
                (self.fabric.status("packets"), self.fabric.ledger.borrow().delivered);
            if entered != delivered + lost {
                return Err(RoadError::Violation(format!(
                    "torus: of {entered} packets {delivered} arrived and {lost} are lost; seed {}",
                    self.scenario.seed
                )));
            }
            // What a link that went down has cost is not bounded by its bits.
            if self.fabric.status("downs") == 0 && lost > PACKETS_A_BIT * bits {
                return Err(RoadError::Violation(format!(
                    "torus: {lost} packets are lost, and {bits} bits were wrong; seed {}",
                    self.scenario.seed
                )));
            }
            return Ok(());
        }
        let stations = &self.fabric.stations;
        for (source, from) in stations.iter().enumerate() {
            for (dest, to) in stations.iter().enumerate() {
                let (sent, arrived) = (from.borrow().to[dest], to.borrow().from[source]);
                if sent != arrived {
                    return Err(RoadError::Violation(format!(
                        "torus: of {sent} packets from node {source} to node {dest} {arrived} arrived; \
                         seed {}",
                        self.scenario.seed
                    )));
                }
            }
        }
        let lost = self.fabric.status("lost");
        if lost > 0 {
            let reason = format!("torus: routers discarded {lost} packets without a route");
            return Err(RoadError::Violation(reason));
        }
        for name in ["dropped", "torn", "gaps", "refused", "downs"] {
            let count = self.fabric.status(name);
            if count > 0 {
                let reason = format!("torus: links without a wrong bit counted {name} {count}");
                return Err(RoadError::Violation(reason));
            }
        }
        Ok(())
    }
}
