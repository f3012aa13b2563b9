// SPDX-License-Identifier: Apache-2.0
//! The routers, each a device, and the links between them.

use std::cell::RefCell;
use std::rc::Rc;

use isthmus_sim::world::flits::{FlitInbox, FlitLink, FlitPins};
use isthmus_sim::{DeviceHandle, Picoseconds, SimConfig, Simulation};

use super::scenario::TorusScenario;
use super::station::{Ledger, Station};
use super::traffic::{coordinates, number, place};
use crate::error::RoadError;
use crate::model::{Board, MakeModel, clock};

pub(super) struct Fabric {
    pub(super) simulation: Simulation,
    pub(super) routers: Vec<DeviceHandle>,
    pub(super) stations: Vec<Rc<RefCell<Station>>>,
    pub(super) ledger: Rc<RefCell<Ledger>>,
    pub(super) period: Picoseconds,
    /// By node: what comes to it.
    inboxes: Vec<Rc<RefCell<FlitInbox>>>,
}

impl Fabric {
    pub(super) fn new(
        scenario: &TorusScenario,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = Simulation::new(SimConfig {
            simulated_limit_ps: None,
            ..scenario.limits.simulation(scenario.seed)
        });
        let sizes = scenario.workload.nodes;
        let mut routers = Vec::new();
        for node in 0..scenario.nodes() {
            let at = place(sizes, node);
            let last = sizes.map(|nodes| nodes - 1);
            let board = Board {
                cfg: vec![("here", coordinates(at)), ("last", coordinates(last))],
                ..Board::new(
                    format!("node {}.{}.{}", at[0], at[1], at[2]),
                    &scenario.device.model_path,
                    vec![clock("clk_i", scenario.platform.clock_mhz)],
                    scenario.device.reset_cycles,
                )
            };
            routers.push(board.add(&simulation, make_model)?);
        }
        simulation.probes().set_enabled(false);
        let period = routers[0].clock_period("clk_i").unwrap_or_default();
        let ledger = Ledger::new(scenario, period)?;
        let ports = 2 * scenario.dims();
        let inboxes: Vec<_> =
            routers.iter().map(|_| FlitInbox::new(ports, scenario.hop_clocks())).collect();
        let mut stations = Vec::new();
        for (node, router) in routers.iter().enumerate() {
            let links = (0..ports).map(|port| {
                // Even ports lead to the next node of a dimension, odd ones to the one before.
                let dimension = port / 2;
                let mut at = place(sizes, node);
                let nodes = sizes[dimension];
                at[dimension] = (at[dimension] + if port % 2 == 0 { 1 } else { nodes - 1 }) % nodes;
                FlitLink { inbox: Rc::clone(&inboxes[number(sizes, at)]), port: port ^ 1 }
            });
            let station = Station::new(scenario, node, &ledger);
            FlitPins::attach(router, links.collect(), &inboxes[node], &station)?;
            stations.push(station);
        }
        Ok(Self { simulation, routers, stations, ledger, period, inboxes })
    }

    /// Clocks so far.
    pub(super) fn clocks(&self) -> u64 {
        self.routers[0].cycles().0
    }

    /// Flits that each link has carried.
    pub(super) fn carried(&self) -> impl Iterator<Item = u64> {
        self.inboxes.iter().flat_map(|inbox| inbox.borrow().carried().to_vec())
    }

    /// A counter of the routers, summed.
    pub(super) fn status(&self, name: &str) -> u64 {
        self.routers.iter().filter_map(|router| router.status().get(name).copied()).sum()
    }
}
