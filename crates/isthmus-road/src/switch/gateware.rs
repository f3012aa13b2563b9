// SPDX-License-Identifier: Apache-2.0
//! The switch behind the pins: Verilated, or our model of it.

use std::cell::RefCell;
use std::rc::Rc;

use isthmus_sim::world::link::{PortWords, SwitchPins, Token, Word};
use isthmus_sim::{DeviceHandle, Picoseconds, SimConfig, Simulation};

use super::link::Network;
use super::reference::{Reference, ReferenceConfig};
use super::scenario::SwitchScenario;
use crate::error::RoadError;
use crate::model::{Board, MakeModel, clock};

/// The gateware with a network at its pins.
pub(super) struct Gateware {
    pub(super) simulation: Simulation,
    pub(super) device: DeviceHandle,
    pub(super) period: Picoseconds,
}

impl Gateware {
    pub(super) fn new(
        scenario: &SwitchScenario,
        network: &Rc<RefCell<Network>>,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = Simulation::new(SimConfig {
            simulated_limit_ps: None,
            ..scenario.limits.simulation(scenario.seed)
        });
        let board = Board {
            waveform: scenario.waveform.as_deref(),
            // A repeater has none of them. The packets of this benchmark name no source for the switch.
            cfg: [("bench", 1), ("bind", 0), ("source", 0)]
                .into_iter()
                .filter(|_| scenario.bench())
                .collect(),
            ..Board::new(
                "switch".to_owned(),
                &scenario.device.model_path,
                vec![clock("clk_i", scenario.platform.clock_mhz)],
                scenario.device.reset_cycles,
            )
        };
        let device = board.add(&simulation, make_model)?;
        SwitchPins::attach(&device, network)?;
        // Millions of packets: the data about each is in the packet itself.
        simulation.probes().set_enabled(false);
        let period = device.clock_period("clk_i").unwrap_or_default();
        Ok(Self { simulation, device, period })
    }
}

/// Our model with a network at its pins.
pub(super) struct Model {
    switch: Reference,
    pub(super) from: Vec<Word>,
    to: Vec<Option<Word>>,
    next: Vec<Option<Word>>,
}

impl Model {
    pub(super) fn new(scenario: &SwitchScenario) -> Self {
        let device = &scenario.device;
        let end = scenario.end(device.ports, 1, scenario.platform.receive_words);
        Self {
            switch: Reference::new(ReferenceConfig {
                ports: device.ports,
                depth: device.buffer_words,
                max_words: device.max_words,
                latency: device.latency_clocks,
                end,
            }),
            from: vec![Word::of(Token::Init { ready: false }); device.ports],
            to: vec![None; device.ports],
            next: vec![None; device.ports],
        }
    }

    pub(super) fn step(&mut self, network: &mut Network) {
        network.step(&self.from, &mut self.next);
        self.switch.step(&self.to, &mut self.from);
        std::mem::swap(&mut self.to, &mut self.next);
    }
}
