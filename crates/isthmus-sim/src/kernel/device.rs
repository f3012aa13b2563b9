// SPDX-License-Identifier: Apache-2.0
//! One FPGA: its model, its clocks, and the agents at its pins.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::clock::Grid;
use super::error::SimError;
use super::model::{Description, Direction, Model};
use super::pin::{InputPin, OutputPin};
use super::probe::ProbeRecord;
use super::setup::{
    CLOCK, CYCLES, Clock, DeviceConfig, HoldSpec, ProbePins, RESET, ResetSpec, apply_cfg,
    check_width, clock_of, is_clock, is_time, make_clocks, probe_pins,
};
use super::simulation::Sim;
use super::units::Picoseconds;

/// Something outside a device that reads and drives its pins, once a cycle of one of its clocks.
pub trait PinAgent {
    /// A rising edge of its clock is about to happen: outputs still have their values from before.
    fn sample(&mut self, time: Picoseconds);
    /// The device has seen the edge: drive the inputs for the next one.
    fn drive(&mut self, time: Picoseconds);
    /// True if this agent is idle: it will not change an input until an external event wakes the
    /// device (see [`DeviceHandle::wake`]).
    fn quiet(&self) -> bool;
}

pub(super) struct Attached {
    pub(super) clock: u32,
    pub(super) agent: Box<dyn PinAgent>,
}

pub(super) struct Hot {
    model: Box<dyn Model>,
    pub(super) clocks: Vec<Clock>,
    pub(super) agents: Vec<Attached>,
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
    /// Consecutive cycles that reported idle.
    idle_cycles: u32,
    evaluated: u64,
    asleep_since: Picoseconds,
    /// For `check_idle`: all outputs when the device became quiescent.
    snapshot: Vec<u32>,
}

pub(crate) struct Device {
    pub(super) sim: Sim,
    pub(super) index: usize,
    pub(super) name: Rc<str>,
    pub(super) description: Description,
    pub(super) epoch_ns: u64,
    pub(super) hot: RefCell<Hot>,
    pub(super) next: Cell<Picoseconds>,
    pub(super) asleep: Cell<bool>,
    pub(super) quiescent: Cell<bool>,
    pub(super) changes: Rc<Cell<u64>>,
    pub(super) main: usize,
    pub(super) main_grid: Grid,
    pub(super) inputs: BTreeMap<String, InputPin>,
    pub(super) outputs: BTreeMap<String, OutputPin>,
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
                    "{port} shows the time of clock {clock}, which does not exist"
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
        self.check(hot.model.eval(time), time);
    }

    #[inline]
    fn check(&self, evaluated: Result<(), String>, time: Picoseconds) {
        if let Err(reason) = evaluated {
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

    /// Step 1: the world samples the outputs. False if the device falls asleep instead.
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
        // The time shown changes at falling edges.
        let mut only_clocks = hot.settled == self.changes.get();
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
                only_clocks = false;
                self.show_time(hot, index);
            } else if index == self.main {
                hot.evaluated += 1;
            }
        }
        if only_clocks {
            self.check(hot.model.eval_edge(time), time);
        } else {
            self.evaluate(hot, time);
        }
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
            // A change is in flight: the device is no more quiescent than an awake one.
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

    pub(super) fn schedule_reset(self: &Rc<Self>, reset: ResetSpec) {
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
