// SPDX-License-Identifier: Apache-2.0
//! The FPGA, the link, the host's home.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use isthmus_sim::kernel::OutputPin;
use isthmus_sim::world::ccix::{Carried, CcixLink, CcixPins, Way};
use isthmus_sim::{ClockConfig, DeviceConfig, DeviceHandle, Hertz, Picoseconds, Simulation};

use super::home::{Content, Home};
use super::scenario::{CcixDriver, CcixScenario, REGION_LINES};
use super::svm::Translator;
use crate::dma::Dma;
use crate::dma::{Line, Stored, pattern};
use crate::error::RoadError;
use crate::model::MakeModel;

/// A link without credits after this long is an error.
const UP_LIMIT: Picoseconds = Picoseconds::from_us(100);
/// Forwards that the FPGA has room for.
const SNOOPS: usize = 16;
const UP_STEP: Picoseconds = Picoseconds::from_ns(100);

/// What a request agent counts.
pub(super) struct Status {
    requests: OutputPin,
    packets: OutputPin,
    words: OutputPin,
    stray: OutputPin,
    faults: OutputPin,
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
            faults: pin("faults", 32)?,
            up: pin("up", 1)?,
        })
    }
}

/// What is between the FPGA and host memory.
pub(super) enum Side {
    /// A CCIX link, the host's home, and with virtual addresses its translations.
    Agent {
        link: CcixLink,
        home: Rc<Home>,
        status: Box<Status>,
        translator: Option<Rc<Translator>>,
    },
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
            Self::Agent { translator: Some(_), .. } => Translator::base(),
            Self::Agent { .. } => 0,
            Self::Dma(_) => Dma::base(),
        }
    }

    /// The host's side of virtual addresses, where there are any.
    pub(super) fn translator(&self) -> Option<&Rc<Translator>> {
        match self {
            Self::Agent { translator, .. } => translator.as_ref(),
            Self::Dma(_) => None,
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
fn first_lines(seed: u64, base: u64) -> Vec<Line> {
    (0..REGION_LINES).map(|index| pattern(base + index, first_seed(seed))).collect()
}

impl World {
    pub(super) fn build(
        scenario: &CcixScenario,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = Simulation::new(scenario.limits.simulation(scenario.seed));
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
                let gateway = Picoseconds::from_ns_f64(platform.home.gateway_ns);
                let parts = scenario.workload.translation.zip(platform.iommu.as_ref());
                let translator = parts
                    .map(|(of, iommu)| {
                        Translator::new(&sim, &link, gateway, iommu, of, scenario.seed)
                    })
                    .transpose()?;
                let base = if translator.is_some() { Translator::base() } else { 0 };
                let first = Content::new(base, first_seed(scenario.seed));
                let lines = scenario.region_lines();
                let home = Home::serve(
                    &sim,
                    &link,
                    &platform.home,
                    lines,
                    first,
                    translator.clone(),
                    scenario.is_cached(),
                );
                Side::Agent { link, home, status: Box::new(Status::new(&fpga)?), translator }
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
            found.insert("fpga.faults".to_owned(), status.faults.get());
        }
        if let Some(translator) = self.side.translator() {
            let (walks, events) = (translator.walks(), translator.events());
            found.insert("iommu.walks".to_owned(), walks.walks);
            found.insert("iommu.accesses".to_owned(), walks.accesses);
            found.insert("iommu.cached".to_owned(), walks.cached);
            found.insert("host.faults".to_owned(), events.faults);
            found.insert("host.moves".to_owned(), events.moves);
        }
        found
    }

    /// The host loads each line that was written: what the FPGA's cache has of it comes to memory.
    pub(super) fn load_written(&self, expected: &Content) -> Result<(), RoadError> {
        let Side::Agent { home, .. } = &*self.side else { return Ok(()) };
        let mut changed: Vec<u64> = expected.changed().collect();
        changed.sort_unstable();
        for lines in changed.chunks(SNOOPS) {
            lines.iter().for_each(|line| home.load(*line));
            let begin = self.simulation.handle().now();
            while !home.is_idle() {
                if self.simulation.handle().now() - begin > UP_LIMIT {
                    return Err(RoadError::Violation("ccix: a forward has no answer".to_owned()));
                }
                self.simulation.run_for(UP_STEP)?;
            }
        }
        Ok(())
    }

    /// Compares all of memory with what must be in it.
    pub(super) fn check_memory(&self, expected: &Content, seed: u64) -> Result<(), RoadError> {
        let line = match &*self.side {
            Side::Agent { home, .. } => {
                let mut changed: Vec<u64> = expected.changed().collect();
                changed.sort_unstable();
                if home.changed() > changed.len() {
                    return Err(RoadError::Violation(format!(
                        "ccix: lines were stored that no transfer wrote; seed {seed}"
                    )));
                }
                let wrong = |line: &u64| home.line(*line) != Some(expected.line(*line));
                changed.into_iter().find(wrong)
            }
            Side::Dma(dma) => {
                let lines = dma.lines();
                let mut lines = (0..).zip(&lines);
                lines.find(|(number, line)| expected.line(*number) != **line).map(|one| one.0)
            }
        };
        match line {
            None => Ok(()),
            Some(line) => Err(RoadError::Violation(format!(
                "ccix: line {line} of host memory has wrong bytes at the end; seed {seed}"
            ))),
        }
    }
}
