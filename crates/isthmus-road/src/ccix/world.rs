// SPDX-License-Identifier: Apache-2.0
//! The FPGA, the link, the host's home.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use isthmus_sim::kernel::OutputPin;
use isthmus_sim::world::ccix::{Carried, CcixLink, CcixPins, Way};
use isthmus_sim::{
    ClockConfig, DeviceConfig, DeviceHandle, Hertz, Picoseconds, SimConfig, Simulation,
};

use super::dma::Dma;
use super::home::{Home, Line, Stored, pattern};
use super::scenario::{CcixDriver, CcixScenario, REGION_LINES};
use crate::error::RoadError;
use crate::model::MakeModel;

/// A link without credits after this long is an error.
const UP_LIMIT: Picoseconds = Picoseconds::from_us(100);
const UP_STEP: Picoseconds = Picoseconds::from_ns(100);

/// What a request agent counts.
pub(super) struct Status {
    requests: OutputPin,
    packets: OutputPin,
    words: OutputPin,
    stray: OutputPin,
    up: OutputPin,
}

impl Status {
    fn new(device: &DeviceHandle) -> Result<Self, RoadError> {
        let pin = |name: &str, width| device.output(&format!("status_{name}_o"), width);
        Ok(Self {
            requests: pin("requests", 32)?,
            packets: pin("packets", 32)?,
            words: pin("words", 32)?,
            stray: pin("stray", 32)?,
            up: pin("up", 1)?,
        })
    }
}

/// What is between the FPGA and host memory.
pub(super) enum Side {
    /// A CCIX link and the host's home.
    Agent { link: CcixLink, home: Rc<Home>, status: Status },
    /// A PCIe link.
    Dma(Dma),
}

impl Side {
    /// Writes that became visible since the last call.
    pub(super) fn take_stored(&self) -> Vec<Stored> {
        match self {
            Self::Agent { home, .. } => home.take_stored(),
            Self::Dma(dma) => dma.take_stored(),
        }
    }

    /// What one direction carried so far.
    pub(super) fn carried(&self, way: Way) -> Carried {
        match self {
            Self::Agent { link, .. } => link.carried(way),
            Self::Dma(dma) => dma.carried(way),
        }
    }

    /// The number of memory's first line, as addresses count.
    pub(super) fn base(&self) -> u64 {
        match self {
            Self::Agent { .. } => 0,
            Self::Dma(_) => Dma::base(),
        }
    }
}

/// All of it.
pub(super) struct World {
    pub(super) simulation: Simulation,
    pub(super) fpga: DeviceHandle,
    pub(super) side: Rc<Side>,
    wrong: OutputPin,
    fail: OutputPin,
}

/// The seed of what memory has at the start.
pub(super) fn first_seed(seed: u64) -> u32 {
    (seed ^ seed >> 32) as u32
}

/// What memory has at the start, whose first line has the number `base`.
pub(super) fn first_lines(seed: u64, base: u64) -> Vec<Line> {
    (0..REGION_LINES).map(|index| pattern(base + index, first_seed(seed))).collect()
}

impl World {
    pub(super) fn build(
        scenario: &CcixScenario,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = Simulation::new(SimConfig {
            seed: scenario.seed,
            skip_idle: false,
            check_idle: false,
            idle_confirm_cycles: 16,
            wake_cycles: 8,
            simulated_limit_ps: scenario.limits.simulated_ps(),
            wall_limit_ms: scenario.limits.wall_ms(),
        });
        let waveform = scenario.waveform.as_deref();
        let config = DeviceConfig {
            name: "fpga".to_owned(),
            model_path: scenario.fpga.model_path.clone(),
            clocks: vec![ClockConfig::new(
                "clk_i",
                Hertz((scenario.platform.clock_mhz * 1e6).round() as u64),
            )],
            reset_cycles: scenario.fpga.reset_cycles,
            cfg: BTreeMap::new(),
            epoch_ns: 0,
            trace: waveform.map(Path::to_owned),
            resets: Vec::new(),
            holds: Vec::new(),
        };
        let model = make_model(&scenario.fpga.model_path, waveform)?;
        let fpga = simulation.add_model(model, &config)?;
        let sim = simulation.handle();
        let platform = &scenario.platform;
        let side = match (scenario.workload.driver, &platform.pcie) {
            (CcixDriver::PcieDma, Some(pcie)) => {
                let lines = first_lines(scenario.seed, Dma::base());
                Side::Dma(Dma::attach(&simulation, &fpga, pcie, &lines)?)
            }
            _ => {
                let link = CcixLink::new(&sim, &platform.transport)?;
                CcixPins::attach(&fpga, &link)?;
                let lines = first_lines(scenario.seed, 0);
                let home = Home::serve(&sim, &link, &platform.home, lines);
                Side::Agent { link, home, status: Status::new(&fpga)? }
            }
        };
        simulation.probes().set_enabled(false);
        let (wrong, fail) = (fpga.output("status_wrong_o", 32)?, fpga.output("status_fail_o", 1)?);
        Ok(Self { simulation, fpga, side: Rc::new(side), wrong, fail })
    }

    /// Waits until the home's credits have come.
    pub(super) fn start(&self) -> Result<(), RoadError> {
        let Side::Agent { status, .. } = &*self.side else {
            return Ok(self.simulation.run_for(UP_STEP)?);
        };
        while status.up.get() == 0 {
            if self.simulation.handle().now() > UP_LIMIT {
                return Err(RoadError::Violation(format!("ccix: no credits after {UP_LIMIT}")));
            }
            self.simulation.run_for(UP_STEP)?;
        }
        Ok(())
    }

    /// What no end may have done so far.
    pub(super) fn check(&self, seed: u64) -> Result<(), RoadError> {
        let (home, stray) = match &*self.side {
            Side::Agent { home, status, .. } => (home.wrong(), status.stray.get()),
            Side::Dma(_) => (None, 0),
        };
        let wrong = match home {
            Some(what) => format!("the home got {what}"),
            None if self.wrong.get() != 0 => {
                format!("{} lines were read with wrong bytes", self.wrong.get())
            }
            None if stray != 0 => "an answer belongs to no request".to_owned(),
            None if self.fail.get() != 0 => "the FPGA's contract with its block broke".to_owned(),
            None => return Ok(()),
        };
        Err(RoadError::Violation(format!("ccix: {wrong}; seed {seed}")))
    }

    /// What both ends counted.
    pub(super) fn counters(&self) -> BTreeMap<String, u64> {
        let [up, down] = [Way::Up, Way::Down].map(|way| self.side.carried(way));
        let mut found = BTreeMap::from([
            ("to_host.packets".to_owned(), up.packets),
            ("to_host.wire_bytes".to_owned(), up.wire_bytes),
            ("to_fpga.packets".to_owned(), down.packets),
            ("to_fpga.wire_bytes".to_owned(), down.wire_bytes),
        ]);
        if let Side::Agent { status, .. } = &*self.side {
            found.insert("fpga.requests".to_owned(), status.requests.get());
            found.insert("fpga.packets".to_owned(), status.packets.get());
            found.insert("fpga.words".to_owned(), status.words.get());
        }
        found
    }

    /// Compares all of memory with what must be in it.
    pub(super) fn check_memory(&self, expected: &[Line], seed: u64) -> Result<(), RoadError> {
        let lines = match &*self.side {
            Side::Agent { home, .. } => home.lines(),
            Side::Dma(dma) => dma.lines(),
        };
        match lines.iter().zip(expected).position(|(is, must)| is != must) {
            None => Ok(()),
            Some(line) => Err(RoadError::Violation(format!(
                "ccix: line {line} of host memory has wrong bytes at the end; seed {seed}"
            ))),
        }
    }
}
