// SPDX-License-Identifier: Apache-2.0
//! One run: warm-up, measurement, drain, and the account of every packet.

use std::time::Instant;

use super::fabric::Fabric;
use super::scenario::TorusScenario;
use crate::error::RoadError;
use crate::measurement::Measurement;
use crate::road::Context;
use crate::watch::{Step, follow};

/// Clocks between two looks at the account.
const CHUNK: u64 = 256;
/// Clocks before the measurement, at the least.
const WARM_UP_CLOCKS: u64 = 2_000;
/// Clocks without any flit out of the network, while packets are in it, after which it counts as
/// deadlocked: far above any time that a flit can wait for others.
const STUCK_CLOCKS: u64 = 1 << 17;

pub(super) struct Run<'a> {
    pub(super) scenario: &'a TorusScenario,
    pub(super) fabric: Fabric,
    pub(super) begin: Instant,
    moved: (u64, u64),
    /// Flits on links when the window opened and closed.
    pub(super) carried: u64,
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
        Ok(Self { scenario, fabric, begin, moved: (0, 0), carried: 0, carried_most: 0 })
    }

    /// Runs it to its end.
    pub(super) fn finish(mut self) -> Result<Measurement, RoadError> {
        let (packets, backlog) =
            (self.scenario.workload.packets, self.scenario.workload.load.is_none());
        let head = packets / 10;
        loop {
            self.advance()?;
            let (made, clocks) = (self.fabric.ledger.borrow().made, self.fabric.clocks());
            if clocks >= WARM_UP_CLOCKS && made >= head {
                break;
            }
        }
        let before: Vec<u64> = self.fabric.carried().collect();
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
        let links = before.iter().zip(self.fabric.carried()).map(|(from, to)| to - from);
        (self.carried, self.carried_most) =
            links.fold((0, 0), |(sum, most), link| (sum + link, most.max(link)));
        // Sources go on until the last packet of the measurement has arrived.
        while self.fabric.ledger.borrow().samples.count() < packets {
            self.advance()?;
        }
        self.fabric.ledger.borrow_mut().stop();
        while self.fabric.ledger.borrow().outstanding() > 0 {
            self.advance()?;
        }
        self.account()?;
        self.measurement()
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
        if ledger.flits != self.moved.0 || ledger.outstanding() == 0 {
            self.moved = (ledger.flits, clocks);
        } else if clocks - self.moved.1 > STUCK_CLOCKS {
            return Err(RoadError::Violation(format!(
                "torus: deadlock: no flit has come out for {} clocks, at clock {clocks}; {} packets are in \
                 the network or wait for it; seed {seed}",
                clocks - self.moved.1,
                ledger.outstanding()
            )));
        }
        Ok(())
    }

    /// Every packet has arrived once: what each node has sent to each other one.
    fn account(&self) -> Result<(), RoadError> {
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
        Ok(())
    }
}
