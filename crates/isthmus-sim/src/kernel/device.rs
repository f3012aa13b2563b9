// SPDX-License-Identifier: Apache-2.0
//! One FPGA: its model, its clocks, and the agents at its pins.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::clock::{ClockConfig, Grid};
use super::error::SimError;
use super::model::{Description, Direction, Model};
use super::pin::{InputPin, OutputPin};
use super::probe::ProbeRecord;
use super::simulation::Sim;
use super::units::Picoseconds;

/// How a device is set up.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceConfig {
    /// Its name in this world.
    pub name: String,
    /// The shared object of its model.
    #[serde(default)]
    pub model_path: PathBuf,
    /// Its clocks: one for each clock port of the model.
    pub clocks: Vec<ClockConfig>,
    /// How many cycles of `clk_i` a reset lasts.
    pub reset_cycles: u32,
    /// The value of each `cfg_<name>_i` port, by `<name>`.
    #[serde(default)]
    pub cfg: BTreeMap<String, u64>,
    /// What `time_ns_i` and `<clock>_time_ns_i` show at simulated time zero.
    #[serde(default)]
    pub epoch_ns: u64,
    /// Where to write a waveform trace; needs a model built for it.
    #[serde(default)]
    pub trace: Option<PathBuf>,
    /// Resets injected during the run.
    #[serde(default)]
    pub resets: Vec<ResetSpec>,
    /// Inputs held at a value for a while.
    #[serde(default)]
    pub holds: Vec<HoldSpec>,
}

/// A reset injected during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetSpec {
    /// When `rst_ni` falls.
    pub at_ps: u64,
    /// After how many rising edges of `clk_i` it rises again.
    pub cycles: u32,
}

/// An input held at a value, whatever drives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HoldSpec {
    /// The port's name.
    pub port: String,
    /// The value it is held at.
    pub value: u64,
    /// From when.
    pub from_ps: u64,
    /// Until when; to the end of the run if absent.
    #[serde(default)]
    pub until_ps: Option<u64>,
}

/// Something outside a device that reads and drives its pins, once a cycle of one of its clocks.
pub trait PinAgent {
    /// A rising edge of its clock is about to happen: outputs still have their values from before.
    fn sample(&mut self, time: Picoseconds);
    /// The device has seen the edge: drive the inputs for the next one.
    fn drive(&mut self, time: Picoseconds);
    /// Whether this agent is in the middle of nothing: no input of its own will change until
    /// something from outside wakes the device (see [`DeviceHandle::wake`]).
    fn quiet(&self) -> bool;
}

struct Clock {
    name: String,
    pin: InputPin,
    grid: Grid,
    /// Shows the time of its coming rising edge.
    time_pin: Option<InputPin>,
    /// The number of the next edge: even ones rise.
    edge: u64,
    time: Picoseconds,
}

struct Attached {
    clock: u32,
    agent: Box<dyn PinAgent>,
}

struct ProbePins {
    strobes: OutputPin,
    tags: OutputPin,
    words: usize,
}

struct Hot {
    model: Box<dyn Model>,
    clocks: Vec<Clock>,
    agents: Vec<Attached>,
    cycles_pin: Option<InputPin>,
    idle_pin: Option<OutputPin>,
    probes: Option<ProbePins>,
    reset: InputPin,
    /// Rising edges of `clk_i` until reset ends; 0 when not in reset.
    reset_left: u32,
    /// The clocks that rise in the present time step, one bit each.
    rising: u32,
    /// The inputs' change counter at the last evaluation, and at the last sampling.
    settled: u64,
    sampled: u64,
    /// Cycles in a row that reported idle.
    idle_cycles: u32,
    evaluated: u64,
    asleep_since: Picoseconds,
    /// For `check_idle`: all outputs when the device became quiescent.
    snapshot: Vec<u32>,
}

pub(crate) struct Device {
    sim: Sim,
    index: usize,
    name: Rc<str>,
    description: Description,
    epoch_ns: u64,
    hot: RefCell<Hot>,
    next: Cell<Picoseconds>,
    asleep: Cell<bool>,
    quiescent: Cell<bool>,
    changes: Rc<Cell<u64>>,
    main: usize,
    main_grid: Grid,
    inputs: BTreeMap<String, InputPin>,
    outputs: BTreeMap<String, OutputPin>,
}

const CLOCK: &str = "clk_i";
const RESET: &str = "rst_ni";
const TIME: &str = "time_ns_i";
const CYCLES: &str = "time_cycles_i";

fn is_clock(port: &str) -> bool {
    port == CLOCK || port.ends_with("_clk_i")
}

/// Inputs that show the time, which the kernel drives.
fn is_time(port: &str) -> bool {
    port == CYCLES || clock_of(port).is_some()
}

/// The clock that a time input belongs to: `<name>_time_ns_i` to `<name>_clk_i`.
fn clock_of(port: &str) -> Option<String> {
    port.strip_suffix(TIME).map(|name| format!("{name}{CLOCK}"))
}

impl Device {
    pub(crate) fn new(
        sim: &Sim,
        index: usize,
        model: Box<dyn Model>,
        config: &DeviceConfig,
    ) -> Result<Rc<Self>, SimError> {
        let fail = |reason: String| SimError::Device { device: config.name.clone(), reason };
        let description = model.description().clone();
        let changes = Rc::new(Cell::new(0));
        let mut inputs = BTreeMap::new();
        let mut outputs = BTreeMap::new();
        for (number, port) in description.ports.iter().enumerate() {
            let storage = model.pin(number);
            let known = match port.direction {
                Direction::Input => {
                    let pin = InputPin::new(storage, port.width, Rc::clone(&changes));
                    inputs.insert(port.name.clone(), pin).is_some()
                }
                Direction::Output => {
                    let pin = OutputPin::new(storage, port.width);
                    outputs.insert(port.name.clone(), pin).is_some()
                }
            };
            if known {
                return Err(fail(format!("port {} appears twice in the model", port.name)));
            }
        }

        let clocks = make_clocks(config, &inputs).map_err(&fail)?;
        let main = clocks.iter().position(|clock| clock.name == CLOCK).ok_or_else(|| {
            fail(format!("the model {} has no clock port {CLOCK}", description.top))
        })?;
        let reset = inputs
            .get(RESET)
            .cloned()
            .ok_or_else(|| fail(format!("the model {} has no port {RESET}", description.top)))?;
        if config.reset_cycles == 0 {
            return Err(fail("reset_cycles is 0: a device needs at least one".into()));
        }
        apply_cfg(config, &inputs).map_err(&fail)?;
        let probes = probe_pins(&description, &outputs).map_err(&fail)?;
        for (port, pin) in inputs.iter().filter(|(port, _)| is_time(port)) {
            if pin.width() != 64 {
                return Err(fail(format!("{port} is {} bits wide: 64 expected", pin.width())));
            }
            if let Some(clock) = clock_of(port)
                && !clocks.iter().any(|known| known.name == clock)
            {
                return Err(fail(format!(
                    "{port} shows the time of a clock {clock}: there is none"
                )));
            }
        }
        let cycles_pin = inputs.get(CYCLES).cloned();
        for hold in &config.holds {
            let Some(pin) = inputs.get(&hold.port) else {
                return Err(fail(format!("cannot hold {}: no such input", hold.port)));
            };
            if pin.width() > 64 || is_clock(&hold.port) || is_time(&hold.port) {
                return Err(fail(format!(
                    "cannot hold {}: clocks, time and ports above 64 bits cannot be held",
                    hold.port
                )));
            }
            check_width(&hold.port, pin, hold.value).map_err(&fail)?;
        }

        let main_grid = clocks[main].grid;
        let hot = Hot {
            model,
            agents: Vec::new(),
            cycles_pin,
            idle_pin: outputs.get("idle_o").cloned(),
            probes,
            reset,
            reset_left: config.reset_cycles,
            rising: 0,
            settled: 0,
            sampled: 0,
            idle_cycles: 0,
            evaluated: 0,
            asleep_since: Picoseconds::ZERO,
            snapshot: Vec::new(),
            clocks,
        };
        let device = Rc::new(Self {
            sim: sim.clone(),
            index,
            name: config.name.as_str().into(),
            description,
            epoch_ns: config.epoch_ns,
            next: Cell::default(),
            asleep: Cell::default(),
            quiescent: Cell::default(),
            changes,
            main,
            main_grid,
            inputs,
            outputs,
            hot: RefCell::new(hot),
        });
        device.power_up();
        for reset in &config.resets {
            device.schedule_reset(*reset);
        }
        for hold in &config.holds {
            device.schedule_hold(hold);
        }
        Ok(device)
    }

    #[inline]
    fn evaluate(&self, hot: &mut Hot, time: Picoseconds) {
        hot.settled = self.changes.get();
        if let Err(reason) = hot.model.eval(time) {
            self.sim.fail(SimError::ModelFault { device: self.name.to_string(), at: time, reason });
        }
    }

    fn power_up(&self) {
        let hot = &mut *self.hot.borrow_mut();
        hot.reset.set(0);
        for clock in &mut hot.clocks {
            clock.pin.set_uncounted(0);
            // It begins with a rising edge: the clock is low now.
            clock.edge = clock.grid.first_at_or_after(self.sim.now());
            clock.edge += clock.edge & 1;
            clock.time = clock.grid.time(clock.edge);
        }
        self.show_times(hot);
        self.evaluate(hot, self.sim.now());
        self.next.set(hot.next());
    }

    /// A clock's time input shows the time of its coming rising edge, `time_cycles_i` the number of that
    /// of `clk_i`.
    #[inline]
    fn show_time(&self, hot: &Hot, index: usize) {
        let clock = &hot.clocks[index];
        if index == self.main
            && let Some(pin) = &hot.cycles_pin
        {
            pin.set_uncounted(clock.edge.div_ceil(2));
        }
        if let Some(pin) = &clock.time_pin {
            let rising = clock.grid.time(clock.edge + (clock.edge & 1));
            pin.set_uncounted(self.epoch_ns.wrapping_add(rising.0 / 1_000));
        }
    }

    fn show_times(&self, hot: &Hot) {
        (0..hot.clocks.len()).for_each(|index| self.show_time(hot, index));
    }

    #[inline]
    pub(crate) fn next_edge(&self) -> Picoseconds {
        self.next.get()
    }

    #[inline]
    pub(crate) fn is_quiescent(&self) -> bool {
        self.quiescent.get()
    }

    /// Step 1: the world looks at the outputs. False when the device falls asleep instead.
    #[inline]
    pub(crate) fn sample(&self, time: Picoseconds) -> bool {
        let hot = &mut *self.hot.borrow_mut();
        hot.rising = 0;
        for (index, clock) in hot.clocks.iter().enumerate() {
            if clock.time == time && clock.edge & 1 == 0 {
                hot.rising |= 1 << index;
            }
        }
        if hot.rising == 0 {
            return true;
        }
        if hot.rising & 1 << self.main != 0 {
            if let Some(probes) = &hot.probes {
                self.sample_probes(probes, time);
            }
            if hot.idle_pin.is_some() && self.judge_idle(hot, time) {
                return false;
            }
        }
        for attached in &mut hot.agents {
            if hot.rising & 1 << attached.clock != 0 {
                attached.agent.sample(time);
            }
        }
        true
    }

    /// Decides whether nothing can change any more; true when the device goes to sleep for it.
    fn judge_idle(&self, hot: &mut Hot, time: Picoseconds) -> bool {
        let changes = self.changes.get();
        let untouched = changes == hot.sampled
            && changes == hot.settled
            && hot.reset_left == 0
            && hot.agents.iter().all(|attached| attached.agent.quiet());
        hot.sampled = changes;
        let config = self.sim.config();
        if self.quiescent.get() {
            if untouched {
                if config.check_idle {
                    self.check_unchanged(hot, time);
                }
                return false;
            }
            self.quiescent.set(false);
        }
        let idle = hot.idle_pin.as_ref().is_some_and(|pin| pin.get() != 0);
        if !(untouched && idle) {
            hot.idle_cycles = 0;
            return false;
        }
        hot.idle_cycles += 1;
        if hot.idle_cycles <= config.idle_confirm_cycles {
            return false;
        }
        self.quiescent.set(true);
        if config.check_idle {
            hot.snapshot = self.output_words();
        } else if config.skip_idle {
            self.asleep.set(true);
            self.next.set(Picoseconds::MAX);
            hot.asleep_since = time;
            return true;
        }
        false
    }

    fn output_words(&self) -> Vec<u32> {
        let words = |pin: &OutputPin| pin.width().div_ceil(32) as usize;
        self.outputs.values().flat_map(|pin| (0..words(pin)).map(|word| pin.word(word))).collect()
    }

    fn check_unchanged(&self, hot: &Hot, time: Picoseconds) {
        let mut before = hot.snapshot.iter();
        for (name, pin) in &self.outputs {
            for word in 0..pin.width().div_ceil(32) as usize {
                if before.next() != Some(&pin.word(word)) {
                    self.sim.fail(SimError::IdleViolation {
                        device: self.name.to_string(),
                        port: name.clone(),
                        at: time,
                    });
                    return;
                }
            }
        }
    }

    #[inline]
    fn sample_probes(&self, probes: &ProbePins, time: Picoseconds) {
        for word in 0..probes.words {
            let strobes = probes.strobes.word(word);
            if strobes != 0 {
                self.record_strobes(probes, time, word, strobes);
            }
        }
    }

    #[cold]
    fn record_strobes(&self, probes: &ProbePins, time: Picoseconds, word: usize, strobes: u32) {
        for bit in (0..32).filter(|bit| strobes & 1 << bit != 0) {
            let stage = word * 32 + bit;
            let tag = probes.tags.word(stage / 4) >> (8 * (stage % 4));
            self.sim.probes().push(ProbeRecord {
                time,
                device: self.index as u16,
                stage: stage as u16,
                tag: tag as u8,
            });
        }
    }

    /// Step 2 and step 4: the edges of this time, and the evaluation.
    #[inline]
    pub(crate) fn tick(&self, time: Picoseconds) {
        let hot = &mut *self.hot.borrow_mut();
        self.tick_inner(hot, time);
    }

    #[inline]
    fn tick_inner(&self, hot: &mut Hot, time: Picoseconds) {
        for index in 0..hot.clocks.len() {
            let clock = &mut hot.clocks[index];
            if clock.time != time {
                continue;
            }
            let rises = clock.edge & 1 == 0;
            clock.pin.set_uncounted(u64::from(rises));
            clock.edge += 1;
            clock.time = clock.grid.time(clock.edge);
            if !rises {
                self.show_time(hot, index);
            } else if index == self.main {
                hot.evaluated += 1;
            }
        }
        self.evaluate(hot, time);
    }

    /// Step 3: the world drives the inputs.
    #[inline]
    pub(crate) fn drive(&self, time: Picoseconds) {
        let hot = &mut *self.hot.borrow_mut();
        if hot.rising != 0 {
            if hot.reset_left > 0 && hot.rising & 1 << self.main != 0 {
                hot.reset_left -= 1;
                if hot.reset_left == 0 {
                    hot.reset.set(1);
                }
            }
            for attached in &mut hot.agents {
                if hot.rising & 1 << attached.clock != 0 {
                    attached.agent.drive(time);
                }
            }
        }
        self.next.set(hot.next());
    }

    /// Brings a sleeping device up to the present, so that an input may change.
    ///
    /// While it slept, an edge could change nothing but registered copies of the time input. The
    /// last few edges before the present are therefore evaluated after all, on the clocks' own
    /// grids; from there on the device is in the state it would have had.
    pub(crate) fn wake(&self) {
        if !self.asleep.get() {
            // A change is on its way: the device is no more quiescent than an awake one.
            if self.quiescent.get() {
                self.quiescent.set(false);
                self.hot.borrow_mut().idle_cycles = 0;
            }
            return;
        }
        let now = self.sim.now();
        let hot = &mut *self.hot.borrow_mut();
        let slowest = hot.clocks.iter().map(|clock| clock.grid.period()).max();
        let replayed = slowest.unwrap_or_default() * u64::from(self.sim.config().wake_cycles);
        let from = now.saturating_sub(replayed).max(hot.asleep_since);
        for clock in &mut hot.clocks {
            clock.edge = clock.edge.max(clock.grid.first_at_or_after(from));
            clock.time = clock.grid.time(clock.edge);
            // Before a falling edge the clock is high. Should that be a rising edge the model did
            // not see, it is one of those that change nothing.
            clock.pin.set_uncounted(clock.edge & 1);
        }
        self.show_times(hot);
        self.evaluate(hot, from);
        while hot.next() <= now {
            let time = hot.next();
            self.tick_inner(hot, time);
        }
        hot.idle_cycles = 0;
        self.quiescent.set(false);
        self.asleep.set(false);
        self.next.set(hot.next());
    }

    fn schedule_reset(self: &Rc<Self>, reset: ResetSpec) {
        let device = Rc::downgrade(self);
        self.sim.at(Picoseconds(reset.at_ps), move || {
            let Some(device) = device.upgrade() else { return };
            device.wake();
            let hot = &mut *device.hot.borrow_mut();
            hot.reset_left = reset.cycles.max(1);
            hot.reset.set(0);
        });
    }

    fn schedule_hold(self: &Rc<Self>, hold: &HoldSpec) {
        let change = |at: u64, value: Option<u64>| {
            let device = Rc::downgrade(self);
            let pin = self.inputs.get(&hold.port).cloned();
            self.sim.at(Picoseconds(at), move || {
                let (Some(device), Some(pin)) = (device.upgrade(), pin) else { return };
                device.wake();
                match value {
                    Some(value) => pin.hold(value),
                    None => pin.release(),
                }
            });
        };
        change(hold.from_ps, Some(hold.value));
        if let Some(until) = hold.until_ps {
            change(until, None);
        }
    }

    pub(crate) fn cycles(&self, now: Picoseconds) -> u64 {
        self.main_grid.rising_until(now)
    }

    pub(crate) fn evaluated_cycles(&self) -> u64 {
        self.hot.borrow().evaluated
    }

    pub(crate) fn clear(&self) {
        let agents = std::mem::take(&mut self.hot.borrow_mut().agents);
        drop(agents);
    }
}

impl Hot {
    #[inline]
    fn next(&self) -> Picoseconds {
        self.clocks.iter().map(|clock| clock.time).min().unwrap_or(Picoseconds::MAX)
    }
}

fn make_clocks(
    config: &DeviceConfig,
    inputs: &BTreeMap<String, InputPin>,
) -> Result<Vec<Clock>, String> {
    let mut clocks: Vec<Clock> = Vec::new();
    for clock in &config.clocks {
        let Some(pin) = inputs.get(&clock.port).filter(|_| is_clock(&clock.port)) else {
            return Err(format!("clock {} is no clock port of the model", clock.port));
        };
        if clocks.iter().any(|known| known.name == clock.port) {
            return Err(format!("clock {} is configured twice", clock.port));
        }
        let grid = Grid::new(clock).ok_or_else(|| {
            format!(
                "clock {}: {} Hz with {} ppm is no usable frequency (1 Hz to 500 GHz)",
                clock.port, clock.frequency_hz, clock.offset_ppm
            )
        })?;
        clocks.push(Clock {
            name: clock.port.clone(),
            pin: pin.clone(),
            grid,
            time_pin: clock
                .port
                .strip_suffix(CLOCK)
                .and_then(|name| inputs.get(&format!("{name}{TIME}")).cloned()),
            edge: 0,
            time: Picoseconds::ZERO,
        });
    }
    let missing: Vec<&str> = inputs
        .keys()
        .map(String::as_str)
        .filter(|port| is_clock(port) && !clocks.iter().any(|clock| clock.name == *port))
        .collect();
    if !missing.is_empty() {
        return Err(format!("no frequency is configured for {}", missing.join(", ")));
    }
    if clocks.len() > 32 {
        return Err(format!("{} clocks: at most 32", clocks.len()));
    }
    Ok(clocks)
}

fn apply_cfg(config: &DeviceConfig, inputs: &BTreeMap<String, InputPin>) -> Result<(), String> {
    let ports: BTreeMap<&str, &InputPin> = inputs
        .iter()
        .filter_map(|(port, pin)| Some((port.strip_prefix("cfg_")?.strip_suffix("_i")?, pin)))
        .collect();
    for name in config.cfg.keys() {
        if !ports.contains_key(name.as_str()) {
            return Err(format!("cfg {name}: the model has no port cfg_{name}_i"));
        }
    }
    for (name, pin) in ports {
        let Some(&value) = config.cfg.get(name) else {
            return Err(format!("cfg {name} is missing: the model's port cfg_{name}_i needs it"));
        };
        check_width(&format!("cfg {name}"), pin, value)?;
        pin.set(value);
    }
    Ok(())
}

fn check_width(what: &str, pin: &InputPin, value: u64) -> Result<(), String> {
    if pin.width() < 64 && value >> pin.width() != 0 {
        return Err(format!("{what}: {value:#x} does not fit into {} bits", pin.width()));
    }
    Ok(())
}

fn probe_pins(
    description: &Description,
    outputs: &BTreeMap<String, OutputPin>,
) -> Result<Option<ProbePins>, String> {
    let stages = description.probes.len();
    match (outputs.get("probe_o"), outputs.get("probe_tag_o")) {
        (None, None) if stages == 0 => Ok(None),
        (Some(strobes), Some(tags)) => {
            if strobes.width() as usize != stages || tags.width() as usize != 8 * stages {
                return Err(format!(
                    "probe_o is {} and probe_tag_o {} bits wide, for {stages} stage names: \
                     one and eight bits a stage expected",
                    strobes.width(),
                    tags.width()
                ));
            }
            let words = stages.div_ceil(32);
            Ok(Some(ProbePins { strobes: strobes.clone(), tags: tags.clone(), words }))
        }
        _ => Err("probe_o, probe_tag_o and stage names come together or not at all".into()),
    }
}

/// A device of a simulation.
#[derive(Clone)]
pub struct DeviceHandle {
    sim: Sim,
    device: Rc<Device>,
}

impl DeviceHandle {
    pub(crate) fn new(sim: &Sim, device: Rc<Device>) -> Self {
        Self { sim: sim.clone(), device }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.device.name
    }

    /// Its number, as probe records carry it.
    #[must_use]
    pub fn index(&self) -> u16 {
        self.device.index as u16
    }

    /// What its model says of itself.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.device.description
    }

    /// The names of its probes' stages.
    #[must_use]
    pub fn stages(&self) -> &[String] {
        &self.device.description.probes
    }

    /// The handle of an input port.
    ///
    /// # Errors
    /// When there is no such input, or it has another width.
    pub fn input(&self, port: &str, width: u32) -> Result<InputPin, SimError> {
        let pin = self.device.inputs.get(port).cloned();
        let found = pin.as_ref().map(InputPin::width);
        pin.filter(|pin| pin.width() == width)
            .ok_or_else(|| self.port_error("input", port, width, found))
    }

    /// The handle of an output port.
    ///
    /// # Errors
    /// When there is no such output, or it has another width.
    pub fn output(&self, port: &str, width: u32) -> Result<OutputPin, SimError> {
        let pin = self.device.outputs.get(port).cloned();
        let found = pin.as_ref().map(OutputPin::width);
        pin.filter(|pin| pin.width() == width)
            .ok_or_else(|| self.port_error("output", port, width, found))
    }

    /// Attaches an agent to the pins; it runs at the rising edges of `clock`.
    ///
    /// # Errors
    /// When the device has no such clock.
    pub fn attach(&self, clock: &str, agent: Box<dyn PinAgent>) -> Result<(), SimError> {
        let hot = &mut *self.device.hot.borrow_mut();
        let Some(clock) = hot.clocks.iter().position(|known| known.name == clock) else {
            return Err(self.error(format!("has no clock {clock}")));
        };
        hot.agents.push(Attached { clock: clock as u32, agent });
        Ok(())
    }

    /// One period of a clock, in whole picoseconds; `None` when the device has no such clock.
    #[must_use]
    pub fn clock_period(&self, clock: &str) -> Option<Picoseconds> {
        let hot = self.device.hot.borrow();
        let clock = hot.clocks.iter().find(|known| known.name == clock)?;
        Some(clock.grid.time(2) - clock.grid.time(0))
    }

    /// Call this before an input changes through anything but an agent's `drive`, and when an
    /// agent that was quiet has something to drive.
    pub fn wake(&self) {
        self.device.wake();
    }

    /// Sets bit `index` of `trigger_i`, now.
    ///
    /// # Errors
    /// When the device has no such trigger input.
    pub fn trigger(&self, index: u32, level: bool) -> Result<(), SimError> {
        let pin = self.trigger_pin(index)?;
        self.device.wake();
        set_bit(&pin, index, level);
        Ok(())
    }

    /// Raises bit `index` of `trigger_i` at `at`, and lowers it after `width`.
    ///
    /// # Errors
    /// When the device has no such trigger input.
    pub fn pulse(&self, index: u32, at: Picoseconds, width: Picoseconds) -> Result<(), SimError> {
        let pin = self.trigger_pin(index)?;
        for (time, level) in [(at, true), (at.saturating_add(width), false)] {
            let (device, pin) = (Rc::downgrade(&self.device), pin.clone());
            self.sim.at(time, move || {
                if let Some(device) = device.upgrade() {
                    device.wake();
                    set_bit(&pin, index, level);
                }
            });
        }
        Ok(())
    }

    /// Injects a reset.
    pub fn reset_at(&self, reset: ResetSpec) {
        self.device.schedule_reset(reset);
    }

    /// The values of all `status_<name>_o` ports, by `<name>`.
    #[must_use]
    pub fn status(&self) -> BTreeMap<String, u64> {
        let status = |(port, pin): (&String, &OutputPin)| {
            let name = port.strip_prefix("status_")?.strip_suffix("_o")?;
            Some((name.to_owned(), pin.get()))
        };
        self.device.outputs.iter().filter_map(status).collect()
    }

    /// Cycles of `clk_i` that passed so far, and how many of them were evaluated.
    #[must_use]
    pub fn cycles(&self) -> (u64, u64) {
        (self.device.cycles(self.sim.now()), self.device.evaluated_cycles())
    }

    fn trigger_pin(&self, index: u32) -> Result<InputPin, SimError> {
        match self.device.inputs.get("trigger_i") {
            Some(pin) if index < pin.width().min(64) => Ok(pin.clone()),
            Some(pin) => {
                Err(self
                    .error(format!("trigger {index}: trigger_i has bits 0 to {}", pin.width() - 1)))
            }
            None => Err(self.error("has no port trigger_i".into())),
        }
    }

    fn port_error(&self, kind: &str, port: &str, width: u32, found: Option<u32>) -> SimError {
        self.error(match found {
            Some(found) => format!("{kind} {port} is {found} bits wide: {width} expected"),
            None => format!(
                "the model {} has no {kind} {port} of {width} bits",
                self.device.description.top
            ),
        })
    }

    fn error(&self, reason: String) -> SimError {
        SimError::Device { device: self.device.name.to_string(), reason }
    }
}

fn set_bit(pin: &InputPin, index: u32, level: bool) {
    let bit = 1 << index;
    pin.set(if level { pin.wanted() | bit } else { pin.wanted() & !bit });
}
