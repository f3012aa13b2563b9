// SPDX-License-Identifier: Apache-2.0
//! The simulation: the event queue, the devices, and the loop that moves time.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::future::Future;
use std::ops::{ControlFlow, Deref};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::counters::Counters;
use super::device::Device;
use super::error::SimError;
use super::executor::{JoinHandle, JoinState, Sleep, TaskId, Tasks, Timeout, Timer};
use super::fault::Faults;
use super::handle::DeviceHandle;
use super::model::Model;
use super::native::load_model;
use super::probe::ProbeLog;
use super::rng::RandomStream;
use super::scoreboard::Scoreboard;
use super::setup::DeviceConfig;
use super::units::Picoseconds;
use crate::trace::{Capture, SpanLog};

/// How a simulation runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimConfig {
    /// The seed of every random stream.
    pub seed: u64,
    /// True: the clock edges of idle devices are skipped. Results are the same in both cases.
    pub skip_idle: bool,
    /// Evaluates idle devices all the same, and fails the run when an output of one changes.
    /// Overrides `skip_idle`.
    #[serde(default)]
    pub check_idle: bool,
    /// Number of consecutive `clk_i` cycles in which a device must report idle, without a change of
    /// an input, before it is skipped.
    pub idle_confirm_cycles: u32,
    /// How many cycles of its slowest clock a device is evaluated before the input that wakes it,
    /// so that registered copies of the time input are up to date.
    pub wake_cycles: u32,
    /// Fails a run that needs more simulated time than this.
    #[serde(default)]
    pub simulated_limit_ps: Option<u64>,
    /// Fails a simulation that needs more wall time than this, all its runs together.
    #[serde(default)]
    pub wall_limit_ms: Option<u64>,
}

/// The number of a frame; it stays the same through cables and switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FrameId(pub u64);

/// End of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// Until this point of simulated time.
    pub simulated: Option<Picoseconds>,
    /// For this long in wall time.
    pub wall: Option<Duration>,
}

/// A device that has not answered for this long will not answer: no bus, queue or timer of the
/// gateware has a timeout near it.
pub const SILENT_LIMIT: Picoseconds = Picoseconds::from_ms(5);

/// Condition that ends a run, in addition to its limits.
struct Until<'a> {
    /// Nothing is pending.
    idle: bool,
    /// Clocks alone have moved for [`SILENT_LIMIT`]: an error.
    silent: bool,
    done: &'a dyn Fn() -> bool,
}

/// Why a run came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The awaited event has happened.
    Done,
    /// Nothing is pending: no event, and no device that is not idle.
    Idle,
    /// The requested time was reached.
    TimeReached,
}

/// The progress of a run, for an observer.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Simulated time.
    pub now: Picoseconds,
    /// Cycles of `clk_i`, summed over all devices.
    pub device_cycles: u64,
    /// Counts of [`Sim::count_transfers`].
    pub transfers: u64,
    /// Wall time since the run began.
    pub wall: Duration,
}

/// The callback of [`Simulation::on_progress`], and when it was called last.
struct Watch {
    period: Duration,
    called: Instant,
    call: ProgressFn,
}

/// Cost of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// Cycles of `clk_i` that passed, summed over all devices.
    pub device_cycles: u64,
    /// How many of them were evaluated.
    pub evaluated_cycles: u64,
    /// Events run, clock edges apart.
    pub events: u64,
    /// Wall time spent running.
    pub wall_s: f64,
}

pub(crate) enum Action {
    Call(Box<dyn FnOnce()>),
    Poll(TaskId),
    Timer(Rc<Timer>),
}

struct Entry {
    time: Picoseconds,
    sequence: u64,
    action: Action,
}

impl Entry {
    fn is_cancelled(&self) -> bool {
        matches!(&self.action, Action::Timer(timer) if timer.is_cancelled())
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    /// Reversed: the heap's greatest entry is the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.sequence).cmp(&(self.time, self.sequence))
    }
}

type ProgressFn = Box<dyn FnMut(&Progress) -> ControlFlow<()>>;

pub(crate) struct Kernel {
    config: SimConfig,
    now: Cell<Picoseconds>,
    sequence: Cell<u64>,
    frames: Cell<u64>,
    events_run: Cell<u64>,
    wall: Cell<Duration>,
    queue: RefCell<BinaryHeap<Entry>>,
    cancelled: Cell<usize>,
    tasks: Tasks,
    devices: RefCell<Vec<Rc<Device>>>,
    probes: ProbeLog,
    spans: SpanLog,
    faults: Faults,
    counters: Counters,
    scoreboard: Scoreboard,
    capture: RefCell<Option<Rc<Capture>>>,
    models: RefCell<Vec<Rc<dyn Any>>>,
    failure: RefCell<Option<SimError>>,
    progress: RefCell<Option<Watch>>,
    transfers: Cell<u64>,
    /// Steps since the wall clock was last read, over all runs: many steps are shorter than one
    /// such read.
    steps: Cell<u32>,
    /// When the last event ran.
    last_event: Cell<Picoseconds>,
}

/// Owns a simulation. Everything in it is torn down, and every trace closed, when this is dropped.
///
/// Models and tasks use it through [`Sim`], to which it dereferences.
pub struct Simulation {
    sim: Sim,
}

/// A handle to a running simulation, cheap to clone.
#[derive(Clone)]
pub struct Sim(Rc<Kernel>);

impl Deref for Simulation {
    type Target = Sim;
    fn deref(&self) -> &Sim {
        &self.sim
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        let kernel = &*self.sim.0;
        // Each is taken out of its cell before it is dropped: dropping runs code of models and
        // tasks, which may reach back into the kernel.
        let tasks = kernel.tasks.take_all();
        drop(tasks);
        let queue = std::mem::take(&mut *kernel.queue.borrow_mut());
        drop(queue);
        let devices = std::mem::take(&mut *kernel.devices.borrow_mut());
        for device in &devices {
            device.clear();
        }
        drop(devices);
        let models = std::mem::take(&mut *kernel.models.borrow_mut());
        drop(models);
        let capture = kernel.capture.borrow_mut().take();
        drop(capture);
        let progress = kernel.progress.borrow_mut().take();
        drop(progress);
    }
}

impl Simulation {
    /// An empty simulation at time zero.
    #[must_use]
    pub fn new(config: SimConfig) -> Self {
        let kernel = Kernel {
            now: Cell::default(),
            sequence: Cell::default(),
            frames: Cell::default(),
            events_run: Cell::default(),
            wall: Cell::default(),
            queue: RefCell::default(),
            cancelled: Cell::default(),
            tasks: Tasks::default(),
            devices: RefCell::default(),
            probes: ProbeLog::default(),
            spans: SpanLog::default(),
            faults: Faults::new(config.seed),
            counters: Counters::default(),
            scoreboard: Scoreboard::default(),
            capture: RefCell::default(),
            models: RefCell::default(),
            failure: RefCell::default(),
            progress: RefCell::default(),
            transfers: Cell::default(),
            steps: Cell::default(),
            last_event: Cell::default(),
            config,
        };
        Self { sim: Sim(Rc::new(kernel)) }
    }

    /// The handle that models and tasks keep.
    #[must_use]
    pub fn handle(&self) -> Sim {
        self.sim.clone()
    }

    /// Loads a device's model and puts the device into this simulation, in reset.
    ///
    /// # Errors
    /// When the model cannot be loaded, or the configuration does not fit its ports.
    pub fn add_device(&self, config: &DeviceConfig) -> Result<DeviceHandle, SimError> {
        let model = load_model(&config.model_path, config.trace.as_deref())?;
        self.add_model(model, config)
    }

    /// As [`add_device`](Self::add_device), with a model made by the caller.
    ///
    /// # Errors
    /// When the configuration does not fit the model's ports.
    pub fn add_model(
        &self,
        model: Box<dyn Model>,
        config: &DeviceConfig,
    ) -> Result<DeviceHandle, SimError> {
        let index = self.0.devices.borrow().len();
        let device = Device::new(&self.sim, index, model, config)?;
        self.0.devices.borrow_mut().push(Rc::clone(&device));
        Ok(DeviceHandle::new(&self.sim, device))
    }

    /// Calls `watch` about every `period` of wall time while the simulation runs, however short its runs;
    /// `Break` ends the run with [`SimError::Interrupted`].
    pub fn on_progress(
        &self,
        period: Duration,
        watch: impl FnMut(&Progress) -> ControlFlow<()> + 'static,
    ) {
        let watch = Watch { period, called: Instant::now(), call: Box::new(watch) };
        *self.0.progress.borrow_mut() = Some(watch);
    }

    /// Writes every frame of every cable made from now on, and every drop, to a pcapng file. It is
    /// complete once the simulation is dropped, or after [`Capture::flush`].
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn capture_to(&self, path: &Path, epoch_ns: u64) -> Result<(), SimError> {
        let capture = Capture::create(path, epoch_ns)?;
        *self.0.capture.borrow_mut() = Some(Rc::new(capture));
        Ok(())
    }

    /// Runs until the task behind `handle` has ended, and returns its result.
    ///
    /// # Errors
    /// [`SimError::Deadlock`] when nothing is pending and the task still waits,
    /// [`SimError::Silent`] when only clocks have moved for [`SILENT_LIMIT`], or one of the limits of
    /// [`SimConfig`], or what a device or a trace reported.
    pub fn run_until_complete<T>(&self, handle: &JoinHandle<T>) -> Result<T, SimError> {
        let until = Until { idle: true, silent: true, done: &|| handle.is_finished() };
        let stop = self.run(&self.configured_limit(), &until)?;
        match (stop, handle.try_take()) {
            (_, Some(value)) => Ok(value),
            (Stop::TimeReached, None) => Err(SimError::SimulatedTimeLimit {
                limit: self.now(),
                waiting: self.0.tasks.waiting(),
            }),
            (_, None) => {
                Err(SimError::Deadlock { at: self.now(), waiting: self.0.tasks.waiting() })
            }
        }
    }

    /// Runs for this long. Time moves all the way, whether or not anything happens.
    ///
    /// # Errors
    /// The wall-time limit of [`SimConfig`], or what a device or a trace reported.
    pub fn run_for(&self, duration: Picoseconds) -> Result<(), SimError> {
        let limit = Limit { simulated: Some(self.now().saturating_add(duration)), wall: None };
        self.run(&limit, &Until { idle: false, silent: false, done: &|| false }).map(|_| ())
    }

    /// Runs until nothing is pending, or `limit` is reached, whichever is first. Devices without
    /// `idle_o` always have something pending.
    ///
    /// # Errors
    /// The wall-time limit, or what a device or a trace reported.
    pub fn run_until_idle(&self, limit: &Limit) -> Result<Stop, SimError> {
        self.run(limit, &Until { idle: true, silent: false, done: &|| false })
    }

    fn configured_limit(&self) -> Limit {
        Limit { simulated: self.0.config.simulated_limit_ps.map(Picoseconds), wall: None }
    }

    fn run(&self, limit: &Limit, until: &Until<'_>) -> Result<Stop, SimError> {
        let begin = Instant::now();
        let before = self.0.wall.get();
        let mut steps = self.0.steps.get();
        let result = self.run_inner(limit, until, begin, &mut steps);
        self.0.steps.set(steps);
        self.0.wall.set(before + begin.elapsed());
        result
    }

    fn run_inner(
        &self,
        limit: &Limit,
        until: &Until<'_>,
        begin: Instant,
        steps: &mut u32,
    ) -> Result<Stop, SimError> {
        // Looking at the wall clock costs more than a clock edge: do it once per this many steps.
        const STEPS_PER_LOOK: u32 = 1_024;
        let kernel = &*self.0;
        let end = limit.simulated.unwrap_or(Picoseconds::MAX);
        let devices = kernel.devices.borrow().clone();
        // Waiting begins now: runs of clocks alone may lie behind.
        kernel.last_event.set(kernel.now.get());
        loop {
            if (until.done)() {
                return Ok(Stop::Done);
            }
            while let Some(task) = kernel.tasks.ready.pop() {
                self.schedule(kernel.now.get(), Action::Poll(task));
            }
            let event_time = kernel.next_event_time();
            let edge_time = devices.iter().map(|d| d.next_edge()).min().unwrap_or(Picoseconds::MAX);
            let nothing_pending =
                event_time == Picoseconds::MAX && devices.iter().all(|d| d.is_quiescent());
            if nothing_pending && until.idle {
                return Ok(Stop::Idle);
            }
            let time = event_time.min(edge_time);
            if time > end || time == Picoseconds::MAX {
                if end < Picoseconds::MAX {
                    kernel.now.set(end.max(kernel.now.get()));
                    return Ok(Stop::TimeReached);
                }
                return Ok(Stop::Idle);
            }
            kernel.now.set(time);
            // Edges before events of the same time: an event acts on the state after the edge.
            if edge_time <= event_time {
                if let [device] = &devices[..] {
                    if device.sample(time) {
                        device.tick(time);
                        device.drive(time);
                    }
                } else {
                    step_together(&devices, time);
                }
            } else {
                kernel.run_next_event();
            }
            if let Some(failure) = kernel.failure.borrow_mut().take() {
                return Err(failure);
            }
            *steps += 1;
            if *steps >= STEPS_PER_LOOK {
                *steps = 0;
                self.look_at_wall_clock(limit, begin)?;
                if until.silent && event_time == Picoseconds::MAX {
                    self.look_for_silence()?;
                }
            }
        }
    }

    fn look_at_wall_clock(&self, limit: &Limit, begin: Instant) -> Result<(), SimError> {
        let (at, spent) = (self.now(), begin.elapsed());
        let all = self.0.config.wall_limit_ms.map(Duration::from_millis);
        for (limit, spent) in [(limit.wall, spent), (all, self.0.wall.get() + spent)] {
            if let Some(limit) = limit
                && spent > limit
            {
                return Err(SimError::WallTimeLimit { limit, at });
            }
        }
        let mut progress = self.0.progress.borrow_mut();
        if let Some(watch) = &mut *progress
            && watch.called.elapsed() >= watch.period
        {
            let device_cycles = self.statistics().device_cycles;
            let transfers = self.0.transfers.get();
            let report = Progress { now: at, device_cycles, transfers, wall: spent };
            let flow = (watch.call)(&report);
            watch.called = Instant::now();
            if flow.is_break() {
                return Err(SimError::Interrupted { at });
            }
        }
        Ok(())
    }

    /// No task waits for a time: all tasks wait for a device.
    fn look_for_silence(&self) -> Result<(), SimError> {
        let (at, since) = (self.now(), self.0.last_event.get());
        if at.saturating_sub(since) <= SILENT_LIMIT {
            return Ok(());
        }
        Err(SimError::Silent { at, since, waiting: self.0.tasks.waiting() })
    }
}

/// One time step of several devices: all are sampled before any sees its edge, and all have seen
/// it before any input changes.
fn step_together(devices: &[Rc<Device>], time: Picoseconds) {
    // A device that falls asleep when sampled has no next edge; `drive` moves on to the next one.
    for device in devices.iter().filter(|device| device.next_edge() == time) {
        device.sample(time);
    }
    for device in devices.iter().filter(|device| device.next_edge() == time) {
        device.tick(time);
    }
    for device in devices.iter().filter(|device| device.next_edge() == time) {
        device.drive(time);
    }
}

impl Kernel {
    #[inline]
    fn next_event_time(&self) -> Picoseconds {
        let mut queue = self.queue.borrow_mut();
        loop {
            match queue.peek() {
                None => return Picoseconds::MAX,
                Some(entry) if !entry.is_cancelled() => return entry.time,
                Some(_) => {
                    queue.pop();
                    self.cancelled.set(self.cancelled.get().saturating_sub(1));
                }
            }
        }
    }

    fn run_next_event(&self) {
        let Some(entry) = self.queue.borrow_mut().pop() else { return };
        self.events_run.set(self.events_run.get() + 1);
        self.last_event.set(self.now.get());
        match entry.action {
            Action::Call(call) => call(),
            Action::Poll(task) => self.tasks.poll(task),
            Action::Timer(timer) => timer.fire(),
        }
    }
}

impl Sim {
    /// The present.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Picoseconds {
        self.0.now.get()
    }

    /// The seed and the other settings of this run.
    #[must_use]
    pub fn config(&self) -> &SimConfig {
        &self.0.config
    }

    /// Runs `call` at `time`, or now if that has passed, after what is already scheduled for then.
    pub fn at(&self, time: Picoseconds, call: impl FnOnce() + 'static) {
        self.schedule(time, Action::Call(Box::new(call)));
    }

    /// Runs `call` after `delay`.
    pub fn after(&self, delay: Picoseconds, call: impl FnOnce() + 'static) {
        self.at(self.now().saturating_add(delay), call);
    }

    /// Starts a task at the present time.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        self.spawn_named("task", future)
    }

    /// Starts a task under a name that error messages use.
    pub fn spawn_named<F>(&self, name: &str, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let state = JoinState::new();
        let finish = Rc::clone(&state);
        self.0.tasks.spawn(name, Box::pin(async move { finish.finish(future.await) }));
        JoinHandle(state)
    }

    /// Waits for a span of simulated time.
    #[must_use]
    pub fn sleep(&self, duration: Picoseconds) -> Sleep {
        self.sleep_until(self.now().saturating_add(duration))
    }

    /// Waits until a point of simulated time; not at all when it has passed.
    #[must_use]
    pub fn sleep_until(&self, time: Picoseconds) -> Sleep {
        Sleep::new(self.clone(), time)
    }

    /// Gives `future` this long to end.
    #[must_use]
    pub fn timeout<F: Future>(&self, limit: Picoseconds, future: F) -> Timeout<F> {
        Timeout::new(future, self.sleep(limit), limit)
    }

    /// The random stream `name` of this run's seed.
    #[must_use]
    pub fn random(&self, name: &str) -> RandomStream {
        RandomStream::new(self.0.config.seed, name)
    }

    /// A number no other frame has.
    #[must_use]
    pub fn new_frame_id(&self) -> FrameId {
        let id = self.0.frames.get();
        self.0.frames.set(id + 1);
        FrameId(id)
    }

    /// Reports of the devices' probes.
    #[must_use]
    pub fn probes(&self) -> &ProbeLog {
        &self.0.probes
    }

    /// Spans of all models.
    #[must_use]
    pub fn spans(&self) -> &SpanLog {
        &self.0.spans
    }

    /// Adds to the transfers that [`Progress`] reports.
    pub fn count_transfers(&self, transfers: u64) {
        self.0.transfers.set(self.0.transfers.get() + transfers);
    }

    /// Counts of [`Sim::count_transfers`].
    #[must_use]
    pub fn transfers(&self) -> u64 {
        self.0.transfers.get()
    }

    /// The data check of this run.
    #[must_use]
    pub fn scoreboard(&self) -> &Scoreboard {
        &self.0.scoreboard
    }

    /// The places where something can be made to go wrong.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.0.faults
    }

    /// Counters of the world's models.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.0.counters
    }

    /// The capture frames go to, if there is one.
    #[must_use]
    pub fn capture(&self) -> Option<Rc<Capture>> {
        self.0.capture.borrow().clone()
    }

    /// Cost of this simulation so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let devices = self.0.devices.borrow();
        let now = self.now();
        Statistics {
            device_cycles: devices.iter().map(|device| device.cycles(now)).sum(),
            evaluated_cycles: devices.iter().map(|device| device.evaluated_cycles()).sum(),
            events: self.0.events_run.get(),
            wall_s: self.0.wall.get().as_secs_f64(),
        }
    }

    /// Keeps a model alive as long as the simulation.
    pub fn keep(&self, model: Rc<dyn Any>) {
        self.0.models.borrow_mut().push(model);
    }

    /// Ends the run with an error, after the present event or edge.
    pub fn fail(&self, error: SimError) {
        self.0.failure.borrow_mut().get_or_insert(error);
    }

    pub(crate) fn schedule_timer(&self, time: Picoseconds, timer: Rc<Timer>) {
        self.schedule(time, Action::Timer(timer));
    }

    /// Clears cancelled timers out of the queue once they are the larger part of it.
    pub(crate) fn timer_cancelled(&self) {
        let cancelled = self.0.cancelled.get() + 1;
        self.0.cancelled.set(cancelled);
        if let Ok(mut queue) = self.0.queue.try_borrow_mut()
            && cancelled > 64
            && cancelled * 2 > queue.len()
        {
            queue.retain(|entry| !entry.is_cancelled());
            self.0.cancelled.set(0);
        }
    }

    fn schedule(&self, time: Picoseconds, action: Action) {
        let sequence = self.0.sequence.get();
        self.0.sequence.set(sequence + 1);
        let time = time.max(self.now());
        self.0.queue.borrow_mut().push(Entry { time, sequence, action });
    }
}
