// SPDX-License-Identifier: Apache-2.0
//! Both ends of the link, the lanes between them, and the memory of the end that is the lines' home, or of both.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use isthmus_sim::kernel::{OutputPin, RandomStream};
use isthmus_sim::world::blocks::{BlockLine, BlockPins};
use isthmus_sim::world::lines::{LINE_BYTES, Line, LineMemory, LineMemoryPins};
use isthmus_sim::{DeviceHandle, Picoseconds, Simulation};

use super::pattern;
use super::scenario::{EciDevice, EciPolicy, EciScenario};
use crate::error::RoadError;
use crate::model::{Board, MakeModel, clock};

/// A link that is not up after this long is an error.
const UP_LIMIT: Picoseconds = Picoseconds::from_us(100);
const UP_STEP: Picoseconds = Picoseconds::from_ns(100);

/// Counters of one end, each of all its links: 32 bits a link.
pub(super) struct Status {
    pub(super) blocks: OutputPin,
    pub(super) words: OutputPin,
    pub(super) bad: OutputPin,
    pub(super) again: OutputPin,
    up: OutputPin,
    fail: OutputPin,
    stray: OutputPin,
    got: OutputPin,
}

impl Status {
    fn new(device: &DeviceHandle, links: u32) -> Result<Self, RoadError> {
        let pin = |name: &str, width| device.output(&format!("status_{name}_o"), width);
        Ok(Self {
            blocks: pin("blocks", 32 * links)?,
            words: pin("words", 32 * links)?,
            bad: pin("bad", 32 * links)?,
            again: pin("again", 32 * links)?,
            up: pin("up", links)?,
            fail: pin("fail", links)?,
            stray: pin("stray", 32)?,
            got: pin("got", 32 * links)?,
        })
    }
}

/// A counter of both links together; it wraps.
pub(super) fn of_links(pin: &OutputPin) -> u32 {
    let both = pin.get();
    (both as u32).wrapping_add((both >> 32) as u32)
}

/// The simulated world.
pub(super) struct World {
    pub(super) simulation: Simulation,
    pub(super) fpga: DeviceHandle,
    pub(super) host: DeviceHandle,
    /// Lanes of each link from the FPGA to the host, and back.
    pub(super) lanes: [Vec<Rc<RefCell<BlockLine>>>; 2],
    links: u32,
    /// Of the host and of the FPGA; none where it is no home.
    memories: [Option<Rc<RefCell<LineMemory>>>; 2],
    /// Status of the FPGA and of the host.
    pub(super) status: [Rc<Status>; 2],
}

/// Content of memory at the start.
pub(super) fn first_lines(scenario: &EciScenario) -> Vec<Line> {
    if scenario.over_axi() {
        return pattern::first_lines(scenario);
    }
    let mut random = RandomStream::new(scenario.seed, "eci:memory");
    (0..scenario.memory_lines()).map(|_| random_line(&mut random)).collect()
}

/// A line of random bytes.
pub(super) fn random_line(random: &mut RandomStream) -> Line {
    let mut line = [0; LINE_BYTES];
    line.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&random.bits().to_le_bytes()));
    line
}

impl World {
    pub(super) fn build(
        scenario: &EciScenario,
        make_model: MakeModel<'_>,
    ) -> Result<Self, RoadError> {
        let simulation = Simulation::new(scenario.limits.simulation(scenario.seed));
        let waveform = scenario.waveform.as_deref();
        let fpga = add(&simulation, scenario, "fpga", &scenario.fpga, waveform, make_model)?;
        let host = scenario.host.as_ref().ok_or_else(|| RoadError::scenario("host", "missing"))?;
        let host = add(&simulation, scenario, "host", host, None, make_model)?;
        let sim = simulation.handle();
        let links = scenario.workload.links;
        let lanes = |way: &str| -> Result<Vec<_>, RoadError> {
            let names = [way.to_owned(), format!("{way}_1")];
            let lines = names.iter().take(links as usize).map(|name| {
                let line = BlockLine::new(&sim, name, &scenario.platform.lanes)?;
                Ok(Rc::new(RefCell::new(line)))
            });
            lines.collect()
        };
        let (to_host, to_fpga) = (lanes("to_host")?, lanes("to_fpga")?);
        BlockPins::attach(&fpga, &to_host, &to_fpga)?;
        BlockPins::attach(&host, &to_fpga, &to_host)?;
        let memory = |device: &DeviceHandle, of_fpga: bool| -> Result<_, RoadError> {
            let mine = scenario.both_homes() || scenario.home_at_fpga() == of_fpga;
            if !mine {
                return Ok(None);
            }
            let [read, write] = scenario.memory_latencies(of_fpga);
            let beside = scenario.beside().filter(|one| one.home_at_fpga() == of_fpga);
            let lines = first_lines(beside.as_ref().unwrap_or(scenario));
            let memory = Rc::new(RefCell::new(LineMemory::new(lines, read, write)));
            LineMemoryPins::attach(device, &memory)?;
            Ok(Some(memory))
        };
        let memories = [memory(&host, false)?, memory(&fpga, true)?];
        for (name, spec) in &scenario.faults {
            sim.faults().inject(name, spec.clone())?;
        }
        simulation.probes().set_enabled(false);
        let status = [Rc::new(Status::new(&fpga, links)?), Rc::new(Status::new(&host, links)?)];
        let lanes = [to_host, to_fpga];
        Ok(Self { simulation, fpga, host, lanes, links, memories, status })
    }

    /// The end that asks for a scenario's lines.
    pub(super) fn agent(&self, scenario: &EciScenario) -> &DeviceHandle {
        if scenario.home_at_fpga() { &self.host } else { &self.fpga }
    }

    /// The end with their memory.
    pub(super) fn home(&self, scenario: &EciScenario) -> &DeviceHandle {
        if scenario.home_at_fpga() { &self.fpga } else { &self.host }
    }

    /// The FPGA's memory, or the host's; none where that is no home.
    pub(super) fn memory(&self, of_fpga: bool) -> Option<&Rc<RefCell<LineMemory>>> {
        self.memories[usize::from(of_fpga)].as_ref()
    }

    /// The memory of a scenario's lines.
    pub(super) fn memory_of(
        &self,
        scenario: &EciScenario,
    ) -> Result<&Rc<RefCell<LineMemory>>, RoadError> {
        let missing = || RoadError::Inconsistent("eci: the home has no memory".to_owned());
        self.memory(scenario.home_at_fpga()).ok_or_else(missing)
    }

    /// Waits until both ends have answered each other.
    pub(super) fn start(&self) -> Result<(), RoadError> {
        let up = (1 << self.links) - 1;
        while self.status.iter().any(|status| status.up.get() != up) {
            if self.simulation.handle().now() > UP_LIMIT {
                return Err(RoadError::Violation(format!("eci: no link after {UP_LIMIT}")));
            }
            self.simulation.run_for(UP_STEP)?;
        }
        Ok(())
    }

    /// From now on lanes and probes are recorded.
    pub(super) fn observe(&self) {
        self.lanes.iter().flatten().for_each(|lanes| lanes.borrow_mut().remember(true));
        self.simulation.probes().set_enabled(true);
    }

    /// Counters of both ends. A device that broke its contract is an error.
    pub(super) fn counters(&self) -> Result<BTreeMap<String, u64>, RoadError> {
        let mut found = BTreeMap::new();
        for (name, status) in ["fpga", "host"].into_iter().zip(&self.status) {
            for (what, pin) in [
                ("blocks", &status.blocks),
                ("words", &status.words),
                ("got", &status.got),
                ("bad", &status.bad),
                ("again", &status.again),
            ] {
                found.insert(format!("{name}.{what}"), u64::from(of_links(pin)));
            }
            if status.fail.get() != 0 || status.stray.get() != 0 {
                let what = if status.fail.get() != 0 { "acknowledgement" } else { "message" };
                let reason = format!("eci: the {name} had an {what} that belongs to nothing");
                return Err(RoadError::Violation(reason));
            }
        }
        Ok(found)
    }

    /// Compares all of memory with its expected content.
    pub(super) fn check_memory(
        &self,
        scenario: &EciScenario,
        expected: &[Line],
    ) -> Result<(), RoadError> {
        let memory = self.memory_of(scenario)?.borrow();
        if let Some(line) = memory.outside() {
            return Err(RoadError::Violation(format!("eci: memory was asked for line {line}")));
        }
        let wrong = memory.lines().iter().zip(expected).position(|(is, must)| is != must);
        match wrong {
            None => Ok(()),
            Some(line) => Err(RoadError::Violation(format!(
                "eci: line {line} of memory has wrong bytes at the end; seed {}",
                scenario.seed
            ))),
        }
    }
}

fn add(
    simulation: &Simulation,
    scenario: &EciScenario,
    name: &str,
    device: &EciDevice,
    waveform: Option<&Path>,
    make_model: MakeModel<'_>,
) -> Result<DeviceHandle, RoadError> {
    let partition = scenario.workload.policy == EciPolicy::Partition;
    let board = Board {
        waveform,
        cfg: std::iter::once(("partition", u64::from(partition)))
            .chain(scenario.both_homes().then_some(("fpga", u64::from(name == "fpga"))))
            .collect(),
        ..Board::new(
            name.to_owned(),
            &device.model_path,
            vec![clock("clk_i", scenario.platform.clock_mhz)],
            device.reset_cycles,
        )
    };
    Ok(board.add(simulation, make_model)?)
}
