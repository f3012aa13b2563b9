// SPDX-License-Identifier: Apache-2.0
//! The simulated interface between real programs: frames of TAP interfaces, or of captures, go into its
//! ports; payloads that reach memory go to a file or to a program; what it sends goes back.
//!
//! Frames that wait go onto the simulated line back to back, at the line's rate, and simulated time stands
//! still while there are none. Those of a capture come at the times of the file. Frames that a full queue
//! before a port refuses are counted: the simulator is slower than their sender.
//!
//! Of two interfaces back to back each has a TAP interface. A frame of it is the payload of a datagram that the
//! interface's program sends to the other one; there it comes out of memory, and of the other TAP interface.

mod capture;
mod config;
mod host;
mod inbox;
mod sink;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use isthmus_host::nic::MAX_SEND_BYTES;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::FrameEndpoint;
use isthmus_sim::{Limit, Picoseconds, SimError, Simulation};

use self::capture::CaptureFile;
use self::config::{NanetServe, NanetServeStatus};
use self::host::Shared;
use self::inbox::Inbox;
use self::sink::Sink;
use super::pair::Pair;
use super::world::{NanetPort, World};
use crate::error::RoadError;
use crate::model::MakeModel;
use crate::road::ServeWatch;
use crate::scenario;
use crate::tap::is_whole;

/// How often the watcher is called at least.
const TICK: Duration = Duration::from_millis(50);
/// Simulation between two looks at what arrived.
const SLICE: Duration = Duration::from_millis(10);
/// How often the interface's counters are read while frames come.
const COUNT: Duration = Duration::from_millis(500);
/// Wall time for the last reading of the counters.
const LAST: Duration = Duration::from_millis(100);

/// What became of the frames of captures.
#[derive(Default)]
struct Replay {
    arrived: Cell<u64>,
    unusable: Cell<u64>,
    line_full: Cell<u64>,
    sent: Cell<u64>,
    running: Cell<usize>,
    failed: RefCell<Option<RoadError>>,
}

/// What is simulated.
enum Net {
    /// An interface with its sources.
    One(Box<World>),
    /// Two, back to back.
    Two(Pair),
}

impl Net {
    fn simulation(&self) -> &Simulation {
        match self {
            Self::One(world) => &world.simulation,
            Self::Two(pair) => &pair.simulation,
        }
    }

    /// Ports with a source.
    fn ports(&self) -> &[NanetPort] {
        match self {
            Self::One(world) => &world.ports,
            Self::Two(_) => &[],
        }
    }

    /// Forgets the frames on the pins so far.
    fn forget(&self) {
        match self {
            Self::One(world) => world.ports.iter().for_each(NanetPort::forget),
            Self::Two(pair) => pair.forget(),
        }
    }
}

/// Where frames come from.
enum Source {
    Taps {
        inbox: Inbox,
        /// A frame of each port that found the line full.
        held: Vec<Option<Vec<u8>>>,
        on_line: u64,
    },
    /// The TAP interfaces of a pair.
    Pair(Inbox),
    Captures(Rc<Replay>),
}

impl Source {
    fn inbox(&self) -> Option<&Inbox> {
        match self {
            Self::Taps { inbox, .. } | Self::Pair(inbox) => Some(inbox),
            Self::Captures(_) => None,
        }
    }
}

struct Server {
    net: Net,
    /// One for each interface.
    shared: Vec<Rc<Shared>>,
    source: Source,
    sink: Sink,
    status: NanetServeStatus,
    /// Evaluated cycles and seconds of the simulator at the start.
    began: (u64, f64),
}

/// Serves a document given as JSON until `watch` breaks, or until captures end.
pub(super) fn serve(
    json: &str,
    make_model: MakeModel<'_>,
    watch: ServeWatch<'_>,
) -> Result<(), RoadError> {
    let document: NanetServe = scenario::parse(json)?;
    Server::open(&document, make_model)?.run(watch)
}

impl Server {
    fn open(document: &NanetServe, make_model: MakeModel<'_>) -> Result<Self, RoadError> {
        let scenario = document.check()?;
        // What can be refused is refused before the model is loaded.
        let captures = document
            .captures
            .iter()
            .map(|path| CaptureFile::open(path))
            .collect::<Result<_, _>>()?;
        let sink = Sink::open(document.out.as_deref(), document.to)?;
        let work = Picoseconds::from_ns_f64(scenario.workload.work_ns);
        let station = document.station();
        let (net, shared) = if document.pair {
            let pair = Pair::build(&scenario, &station, make_model)?;
            let shared = pair.ends.iter().map(|end| {
                let (shared, sim) = (Rc::new(Shared::default()), pair.simulation.handle());
                let (host, config) = ((sim, end.host.clone()), end.config.clone());
                let program = host::exchange(host, config, end.peer, work, Rc::clone(&shared));
                pair.simulation.spawn(program);
                shared
            });
            let shared = shared.collect();
            (Net::Two(pair), shared)
        } else {
            let world = World::build_as(&scenario, &station, make_model)?;
            let shared = Rc::new(Shared::default());
            let host = (world.simulation.handle(), world.host.clone());
            let config = world.config.clone();
            world.simulation.spawn(host::program(host, config, work, Rc::clone(&shared)));
            (Net::One(Box::new(world)), vec![shared])
        };
        net.simulation().run_until_idle(&Limit::default())?;
        for one in &shared {
            one.take()?;
        }
        let mut status = NanetServeStatus::default();
        let names = document.taps.iter().map(|name| format!("tap {name}"));
        let files = document.captures.iter().map(|path| format!("capture {}", path.display()));
        for (number, name) in names.chain(files).enumerate() {
            let own = station.further(number);
            status.listening.push(format!("{name} {} {}", own.ip, own.mac));
        }
        let source = match &net {
            Net::One(world) if document.taps.is_empty() => {
                Source::Captures(replay(world, captures))
            }
            Net::One(_) => Source::Taps {
                inbox: Inbox::open(&document.taps, document.queue_frames)?,
                held: vec![None; document.taps.len()],
                on_line: 0,
            },
            Net::Two(_) => Source::Pair(Inbox::open(&document.taps, document.queue_frames)?),
        };
        let statistics = net.simulation().statistics();
        let began = (statistics.evaluated_cycles, statistics.wall_s);
        Ok(Self { net, shared, source, sink, status, began })
    }

    fn run(mut self, watch: ServeWatch<'_>) -> Result<(), RoadError> {
        let mut flow = watch(&self.status.to_json());
        let (mut told, mut counted) = (Instant::now(), Instant::now());
        let mut idle = false;
        while flow.is_continue() {
            if idle && let Some(inbox) = self.source.inbox() {
                inbox.wait(TICK);
            }
            self.take_frames()?;
            let due = self.frames() > self.status.frames || self.status.waiting > 0;
            if due && counted.elapsed() >= COUNT && !self.is_reading() {
                counted = Instant::now();
                self.read_counters();
            }
            idle = self.simulate(SLICE)?;
            self.pass_on()?;
            let ended = idle && self.is_replayed()?;
            if ended {
                self.read_last()?;
                self.status.ended = true;
            }
            if ended || told.elapsed() >= TICK {
                told = Instant::now();
                self.sink.flush()?;
                self.update();
                flow = watch(&self.status.to_json());
            }
            if ended {
                return Ok(());
            }
        }
        self.read_last()?;
        self.pass_on()?;
        self.sink.flush()?;
        self.update();
        let _ = watch(&self.status.to_json());
        Ok(())
    }

    /// Reads the counters of what has come so far.
    fn read_last(&mut self) -> Result<(), RoadError> {
        let until = Instant::now() + LAST;
        // One that is under way began earlier.
        for anew in [false, true] {
            if anew && !self.is_reading() {
                self.read_counters();
            }
            while self.is_reading() && Instant::now() < until {
                self.simulate(SLICE)?;
            }
        }
        Ok(())
    }

    fn read_counters(&self) {
        // An interface of a pair has one.
        let ports = self.net.ports().len().max(1);
        for shared in &self.shared {
            shared.begin_reading();
            self.net.simulation().spawn(host::read_counters(Rc::clone(shared), ports));
        }
    }

    fn is_reading(&self) -> bool {
        self.shared.iter().any(|shared| shared.is_reading())
    }

    /// Frames that arrived.
    fn frames(&self) -> u64 {
        match &self.source {
            Source::Taps { inbox, .. } | Source::Pair(inbox) => inbox.counts().arrived,
            Source::Captures(replay) => replay.arrived.get(),
        }
    }

    /// Puts frames that wait onto the line, as many as it takes.
    fn take_frames(&mut self) -> Result<(), RoadError> {
        if let Source::Pair(inbox) = &self.source {
            for (number, shared) in self.shared.iter().enumerate() {
                while shared.has_room()
                    && let Some(frame) = inbox.take(number)?
                {
                    if frame.len() > MAX_SEND_BYTES {
                        self.status.oversized += 1;
                    } else {
                        shared.send(frame);
                    }
                }
            }
        }
        let Source::Taps { inbox, held, on_line } = &mut self.source else { return Ok(()) };
        for (number, port) in self.net.ports().iter().enumerate() {
            loop {
                let frame = match held[number].take() {
                    Some(frame) => frame,
                    None => match inbox.take(number)? {
                        Some(frame) => frame,
                        None => break,
                    },
                };
                if port.source.send(&frame).is_none() {
                    held[number] = Some(frame);
                    break;
                }
                *on_line += 1;
            }
        }
        Ok(())
    }

    /// Simulates for this long in wall time at the most. Returns whether nothing is left to do.
    fn simulate(&mut self, limit: Duration) -> Result<bool, RoadError> {
        let limit = Limit { simulated: None, wall: Some(limit) };
        let simulation = self.net.simulation();
        let idle = match simulation.run_until_idle(&limit) {
            Ok(_) => true,
            Err(SimError::WallTimeLimit { .. }) => false,
            Err(error) => return Err(error.into()),
        };
        // The logs of a measurement would grow for as long as the server runs.
        drop((simulation.spans().take(), simulation.probes().take()));
        self.net.forget();
        Ok(idle)
    }

    /// Passes on what the interface delivered and what it sent.
    fn pass_on(&mut self) -> Result<(), RoadError> {
        for (number, shared) in self.shared.iter().enumerate() {
            for one in shared.take()? {
                self.status.delivered += 1;
                self.status.delivered_bytes += one.len() as u64;
                if let Source::Pair(inbox) = &self.source {
                    self.status.sent += 1;
                    self.status.unsent += u64::from(!inbox.send(number, &one));
                } else {
                    self.status.not_forwarded += u64::from(!self.sink.put(&one)?);
                }
            }
        }
        for (number, port) in self.net.ports().iter().enumerate() {
            for frame in port.source.take() {
                self.status.sent += 1;
                if let Source::Taps { inbox, .. } = &self.source {
                    self.status.unsent += u64::from(!inbox.send(number, &frame.bytes));
                }
            }
        }
        Ok(())
    }

    /// Whether captures are at their ends.
    fn is_replayed(&self) -> Result<bool, RoadError> {
        let Source::Captures(replay) = &self.source else { return Ok(false) };
        match replay.failed.take() {
            Some(error) => Err(error),
            None => Ok(replay.running.get() == 0),
        }
    }

    fn update(&mut self) {
        let status = &mut self.status;
        status.ports = self.shared.iter().flat_map(|shared| shared.totals()).collect();
        let count = |names: &[&str]| -> u64 {
            let ports = status.ports.iter();
            ports.flat_map(|of| names.iter().filter_map(|name| of.get(name))).sum()
        };
        let judged = count(&["frames_good", "frames_bad"]);
        // What a port of a pair has beside them is ARP.
        let others = count(&["frames_other"]);
        let mut judged_all = judged + others;
        let put = match &self.source {
            Source::Taps { inbox, held, on_line } => {
                let counts = inbox.counts();
                status.frames = counts.arrived;
                status.unusable = counts.unusable;
                status.not_kept_up = counts.not_kept_up;
                status.dropped_by_system = inbox.dropped_by_system();
                *on_line + counts.queued + held.iter().flatten().count() as u64
            }
            Source::Pair(inbox) => {
                let counts = inbox.counts();
                judged_all = judged;
                status.frames = counts.arrived;
                status.unusable = counts.unusable;
                status.not_kept_up = counts.not_kept_up;
                status.dropped_by_system = inbox.dropped_by_system();
                counts.arrived - counts.unusable - counts.not_kept_up - status.oversized
            }
            Source::Captures(replay) => {
                status.frames = replay.arrived.get();
                status.unusable = replay.unusable.get();
                status.line_full = replay.line_full.get();
                replay.sent.get()
            }
        };
        status.waiting = put.saturating_sub(judged_all);
        let statistics = self.net.simulation().statistics();
        let wall = statistics.wall_s - self.began.1;
        if wall > 0.0 {
            status.cycles_per_s = (statistics.evaluated_cycles - self.began.0) as f64 / wall;
        }
        status.simulated_ps = self.net.simulation().now().0;
    }
}

/// Starts a replay of each capture into its port.
fn replay(world: &World, captures: Vec<CaptureFile>) -> Rc<Replay> {
    let all = Rc::new(Replay::default());
    all.running.set(captures.len());
    for (capture, port) in captures.into_iter().zip(&world.ports) {
        let (sim, all) = (world.simulation.handle(), Rc::clone(&all));
        let line = port.source.clone();
        world.simulation.spawn(async move {
            let ended = replay_one(&sim, capture, &line, &all).await;
            if let Err(error) = ended {
                all.failed.borrow_mut().get_or_insert(error);
            }
            all.running.set(all.running.get() - 1);
        });
    }
    all
}

async fn replay_one(
    sim: &Sim,
    mut capture: CaptureFile,
    line: &FrameEndpoint,
    all: &Replay,
) -> Result<(), RoadError> {
    let add = |count: &Cell<u64>| count.set(count.get() + 1);
    let begin = sim.now();
    while let Some(frame) = capture.next()? {
        sim.sleep_until(begin.saturating_add(frame.at)).await;
        add(&all.arrived);
        if !frame.whole || !is_whole(&frame.bytes) {
            add(&all.unusable);
        } else if line.send(&frame.bytes).is_some() {
            add(&all.sent);
        } else {
            // Its times say more than a line carries.
            add(&all.line_full);
        }
    }
    Ok(())
}
