// SPDX-License-Identifier: Apache-2.0
//! The routers, each a device, and the links between them.

use std::cell::RefCell;
use std::rc::Rc;

use isthmus_sim::kernel::RandomStream;
use isthmus_sim::world::flits::{FlitInbox, FlitLink, FlitPins};
use isthmus_sim::world::lanes::{LaneEnd, LaneLine, LanePins, LineCounts};
use isthmus_sim::{DeviceHandle, Picoseconds, SimConfig, Simulation};

use super::scenario::TorusScenario;
use super::station::{Ledger, Station};
use super::traffic::{coordinates, number, place};
use crate::error::RoadError;
use crate::model::{Board, MakeModel, clock};

/// What is between the routers.
enum Links {
    /// By node: the flits that come to it.
    Delays(Vec<Rc<RefCell<FlitInbox>>>),
    /// By node and port: the line out of it.
    Lanes(Vec<Vec<Rc<RefCell<LaneLine>>>>),
}

pub(super) struct Fabric {
    pub(super) simulation: Simulation,
    pub(super) routers: Vec<DeviceHandle>,
    pub(super) stations: Vec<Rc<RefCell<Station>>>,
    pub(super) ledger: Rc<RefCell<Ledger>>,
    pub(super) period: Picoseconds,
    ports: usize,
    links: Links,
}

/// The node behind a link of `node`. Even ports lead to the next node of a dimension, odd ones to the one
/// before.
pub(super) fn neighbour(sizes: [usize; 3], node: usize, port: usize) -> usize {
    let dimension = port / 2;
    let mut at = place(sizes, node);
    let nodes = sizes[dimension];
    at[dimension] = (at[dimension] + if port.is_multiple_of(2) { 1 } else { nodes - 1 }) % nodes;
    number(sizes, at)
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
        let stations: Vec<_> =
            (0..routers.len()).map(|node| Station::new(scenario, node, &ledger)).collect();
        let ports = 2 * scenario.dims();
        let clocks = scenario.hop_clocks();
        let links = if scenario.over_lanes() {
            let line = |node, port| {
                let name = format!("torus line {node}.{port}");
                LaneLine::new(clocks, RandomStream::new(scenario.seed, &name))
            };
            let lines: Vec<Vec<_>> = (0..routers.len())
                .map(|node| (0..ports).map(|port| line(node, port)).collect())
                .collect();
            for (node, router) in routers.iter().enumerate() {
                FlitPins::attach(router, Vec::new(), &FlitInbox::new(0, 1), &stations[node])?;
                let ends = (0..ports).map(|port| LaneEnd {
                    out: Rc::clone(&lines[node][port]),
                    into: Rc::clone(&lines[neighbour(sizes, node, port)][port ^ 1]),
                });
                LanePins::attach(router, ends.collect())?;
            }
            Links::Lanes(lines)
        } else {
            let inboxes: Vec<_> = routers.iter().map(|_| FlitInbox::new(ports, clocks)).collect();
            for (node, router) in routers.iter().enumerate() {
                let links = (0..ports).map(|port| FlitLink {
                    inbox: Rc::clone(&inboxes[neighbour(sizes, node, port)]),
                    port: port ^ 1,
                });
                FlitPins::attach(router, links.collect(), &inboxes[node], &stations[node])?;
            }
            Links::Delays(inboxes)
        };
        Ok(Self { simulation, routers, stations, ledger, period, ports, links })
    }

    /// Clocks so far.
    pub(super) fn clocks(&self) -> u64 {
        self.routers[0].cycles().0
    }

    /// What each link has carried; of a delay, flits alone.
    pub(super) fn carried(&self) -> Vec<LineCounts> {
        match &self.links {
            Links::Delays(inboxes) => inboxes
                .iter()
                .flat_map(|inbox| inbox.borrow().carried().to_vec())
                .map(|data| LineCounts { data, ..LineCounts::default() })
                .collect(),
            Links::Lanes(lines) => {
                lines.iter().flatten().map(|line| line.borrow().counts()).collect()
            }
        }
    }

    /// Every link can carry packets.
    pub(super) fn is_up(&self) -> bool {
        let all = (1 << self.ports) - 1;
        match self.links {
            Links::Delays(_) => true,
            Links::Lanes(_) => {
                self.routers.iter().all(|router| router.status().get("up") == Some(&all))
            }
        }
    }

    /// No flit is in a router, and each local port has all its credits.
    pub(super) fn at_rest(&self) -> bool {
        self.stations.iter().all(|station| station.borrow().at_rest())
            && self.routers.iter().all(|router| router.status().get("empty") != Some(&0))
    }

    /// From now on bits of all lines are altered at this rate.
    pub(super) fn spoil(&self, rate: f64) {
        if let Links::Lanes(lines) = &self.links {
            lines.iter().flatten().for_each(|line| line.borrow_mut().spoil(rate));
        }
    }

    /// Bits altered so far, of the line out of `node` by `port`.
    pub(super) fn wrong_bits(&self, node: usize, port: usize) -> u64 {
        match &self.links {
            Links::Delays(_) => 0,
            Links::Lanes(lines) => lines[node][port].borrow().wrong_bits(),
        }
    }

    /// Bits altered so far, of all lines.
    pub(super) fn all_wrong_bits(&self) -> u64 {
        let nodes = 0..self.routers.len();
        nodes.flat_map(|node| (0..self.ports).map(move |port| self.wrong_bits(node, port))).sum()
    }

    /// A counter of the routers, summed.
    pub(super) fn status(&self, name: &str) -> u64 {
        self.routers.iter().filter_map(|router| router.status().get(name).copied()).sum()
    }
}
