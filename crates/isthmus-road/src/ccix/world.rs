// SPDX-License-Identifier: Apache-2.0
//! The FPGA, the link, the host's home.

use std::collections::BTreeMap;
use std::rc::Rc;

use isthmus_sim::kernel::OutputPin;
use isthmus_sim::world::ccix::{CcixLink, CcixPins, Way};
use isthmus_sim::{DeviceHandle, Picoseconds, Simulation};

use super::home::{Content, Home};
use super::scenario::{CcixPort, CcixScenario};
use super::svm::Translator;
use crate::dma::first_seed;
use crate::error::RoadError;
use crate::model::{Board, MakeModel, clock};

/// A link without credits after this long is an error.
const UP_LIMIT: Picoseconds = Picoseconds::from_us(100);
/// Forwards that the FPGA has room for.
const SNOOPS: usize = 16;
const UP_STEP: Picoseconds = Picoseconds::from_ns(100);
/// Between two looks at a run.
const CHUNK: Picoseconds = Picoseconds::from_us(1);

/// How far the programs of a run are.
pub(super) enum Progress {
    /// Something was wrong.
    Wrong(String),
    /// All has ended.
    Done,
    /// Something is open. `last`: when something ended; `ended`: what has, as an error names it.
    Going { last: Picoseconds, ended: String },
}

/// What a request agent counts.
pub(super) struct Status {
    requests: OutputPin,
    packets: OutputPin,
    words: OutputPin,
    stray: OutputPin,
    faults: OutputPin,
    up: OutputPin,
    /// Errors of an AXI port that its master tried again.
    retries: Option<OutputPin>,
}

impl Status {
    fn new(device: &DeviceHandle, port: CcixPort) -> Result<Self, RoadError> {
        let pin = |name: &str, width| device.output(&format!("status_{name}_o"), width);
        Ok(Self {
            requests: pin("requests", 32)?,
            packets: pin("packets", 32)?,
            words: pin("words", 32)?,
            stray: pin("stray", 32)?,
            faults: pin("faults", 32)?,
            up: pin("up", 1)?,
            retries: (port == CcixPort::Axi).then(|| pin("retries", 32)).transpose()?,
        })
    }
}

/// What is between the FPGA and host memory: a CCIX link, the host's home, and with virtual addresses its
/// translations.
pub(super) struct Agent {
    pub(super) link: CcixLink,
    pub(super) home: Rc<Home>,
    status: Status,
    pub(super) translator: Option<Rc<Translator>>,
}

impl Agent {
    /// The number of memory's first line, as addresses count.
    pub(super) fn base(&self) -> u64 {
        if self.translator.is_some() { Translator::base() } else { 0 }
    }
}

/// All of it.
pub(super) struct World {
    pub(super) simulation: Simulation,
    pub(super) fpga: DeviceHandle,
    pub(super) agent: Rc<Agent>,
    wrong: OutputPin,
    fail: OutputPin,
}

impl World {
    pub(super) fn build(
        scenario: &CcixScenario,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = Simulation::new(scenario.limits.simulation(scenario.seed));
        let board = Board {
            waveform: scenario.waveform.as_deref(),
            ..Board::new(
                "fpga".to_owned(),
                &scenario.fpga.model_path,
                vec![clock("clk_i", scenario.platform.clock_mhz)],
                scenario.fpga.reset_cycles,
            )
        };
        let fpga = board.add(&simulation, make_model)?;
        let sim = simulation.handle();
        let platform = &scenario.platform;
        let link = CcixLink::new(&sim, &platform.transport)?;
        CcixPins::attach(&fpga, &link)?;
        let gateway = Picoseconds::from_ns_f64(platform.home.gateway_ns);
        let parts = scenario.workload.translation.zip(platform.iommu.as_ref());
        let translator = parts
            .map(|(of, iommu)| {
                let cached = scenario.is_cached();
                Translator::new(&sim, &link, gateway, iommu, of, cached, scenario.seed)
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
        let status = Status::new(&fpga, scenario.workload.port)?;
        let agent = Rc::new(Agent { link, home, status, translator });
        simulation.probes().set_enabled(false);
        let (wrong, fail) = (fpga.output("status_wrong_o", 32)?, fpga.output("status_fail_o", 1)?);
        Ok(Self { simulation, fpga, agent, wrong, fail })
    }

    /// Waits until the home's credits have come.
    pub(super) fn start(&self) -> Result<(), RoadError> {
        while self.agent.status.up.get() == 0 {
            if self.simulation.handle().now() > UP_LIMIT {
                return Err(RoadError::Violation(format!("ccix: no credits after {UP_LIMIT}")));
            }
            self.simulation.run_for(UP_STEP)?;
        }
        Ok(())
    }

    /// Runs until all has ended; an error if nothing ends for `stuck`.
    pub(super) fn complete(
        &self,
        seed: u64,
        stuck: Picoseconds,
        mut look: impl FnMut() -> Progress,
    ) -> Result<(), RoadError> {
        loop {
            self.simulation.run_for(CHUNK)?;
            self.check(seed)?;
            let what = match look() {
                Progress::Done => return Ok(()),
                Progress::Wrong(what) => what,
                Progress::Going { last, ended }
                    if self.simulation.handle().now() - last > stuck =>
                {
                    format!("stuck after {ended}: nothing ended for {stuck}")
                }
                Progress::Going { .. } => continue,
            };
            return Err(RoadError::Violation(format!("ccix: {what}; seed {seed}")));
        }
    }

    /// What no end may have done so far.
    pub(super) fn check(&self, seed: u64) -> Result<(), RoadError> {
        let wrong = match self.agent.home.wrong() {
            Some(what) => format!("the home got {what}"),
            None if self.wrong.get() != 0 => {
                format!("{} lines were read with wrong bytes", self.wrong.get())
            }
            None if self.agent.status.stray.get() != 0 => {
                "an answer belongs to no request".to_owned()
            }
            None if self.fail.get() != 0 => "the FPGA's contract with its block broke".to_owned(),
            None => return Ok(()),
        };
        Err(RoadError::Violation(format!("ccix: {wrong}; seed {seed}")))
    }

    /// What both ends counted.
    pub(super) fn counters(&self) -> BTreeMap<String, u64> {
        let Agent { link, status, translator, .. } = &*self.agent;
        let [up, down] = [Way::Up, Way::Down].map(|way| link.carried(way));
        let mut found = BTreeMap::from([
            ("to_host.packets".to_owned(), up.packets),
            ("to_host.wire_bytes".to_owned(), up.wire_bytes),
            ("to_fpga.packets".to_owned(), down.packets),
            ("to_fpga.wire_bytes".to_owned(), down.wire_bytes),
            ("fpga.requests".to_owned(), status.requests.get()),
            ("fpga.packets".to_owned(), status.packets.get()),
            ("fpga.words".to_owned(), status.words.get()),
            ("fpga.faults".to_owned(), status.faults.get()),
        ]);
        if let Some(retries) = &status.retries {
            found.insert("fpga.retries".to_owned(), retries.get());
        }
        if let Some(translator) = translator {
            let (walks, events) = (translator.walks(), translator.events());
            found.insert("iommu.walks".to_owned(), walks.walks);
            found.insert("iommu.accesses".to_owned(), walks.accesses);
            found.insert("iommu.cached".to_owned(), walks.cached);
            found.insert("host.faults".to_owned(), events.faults);
            found.insert("host.moves".to_owned(), events.moves);
            found.insert("host.taken".to_owned(), self.agent.home.transfers().taken);
        }
        found
    }

    /// The host loads each line that was written: what the FPGA's cache has of it comes to memory.
    pub(super) fn load_written(&self, expected: &Content) -> Result<(), RoadError> {
        let home = &self.agent.home;
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
        let home = &self.agent.home;
        let mut changed: Vec<u64> = expected.changed().collect();
        changed.sort_unstable();
        if home.changed() > changed.len() {
            return Err(RoadError::Violation(format!(
                "ccix: lines were stored that no transfer wrote; seed {seed}"
            )));
        }
        let wrong = |line: &u64| home.line(*line) != Some(expected.line(*line));
        let line = changed.into_iter().find(wrong);
        match line {
            None => Ok(()),
            Some(line) => Err(RoadError::Violation(format!(
                "ccix: line {line} of host memory has wrong bytes at the end; seed {seed}"
            ))),
        }
    }
}
