// SPDX-License-Identifier: Apache-2.0
//! The detector's side and the program: one core takes the interface's events and merges, others find rings.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use isthmus_host::nic::{Merging, NicConfig, NicError, PLACE_BYTES, Released, Results, Statistics};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::CpuConfig;
use isthmus_sim::world::host::{Cpu, MmioHost};
use isthmus_trigger::bench::Ready;
use isthmus_trigger::events::{Generator, Truth};
use isthmus_trigger::geometry::Geometry;
use isthmus_trigger::merge::{self, Format, Joined, Merger, packets};
use isthmus_trigger::na62::mep;
use isthmus_trigger::na62::{FormatError, cable};
use isthmus_trigger::record::{self, Record, TDC_NS};
use isthmus_trigger::rings::{Config, Found, Gateware, Given, encode_given, ids};
use isthmus_trigger::simd::Level;

use super::super::release::{self, Release};
use super::super::results::ResultPins;
use super::super::scenario::{MAX_BYTES, NanetChain};
use super::super::search::Loaded;
use super::super::world::{NanetPort, Spoil, World};
use super::draws::Draws;
use super::log::{Event, Frame, Group, Log, Share, Steps, word};
use super::plan::Plan;
use crate::error::RoadError;
use crate::host_bus::{Bar, HostMemory};

/// Without an event of the interface for so long nothing more is expected, once all is sent.
const SILENCE: Picoseconds = Picoseconds::from_ms(1);
/// From the interface's start to the detector's.
const QUIET: Picoseconds = Picoseconds::from_us(2);
/// How often the end looks whether the last answers are there.
const LOOK: Picoseconds = Picoseconds::from_us(1);

/// Result of a run.
pub(super) struct Outcome {
    pub(super) statistics: Vec<Statistics>,
    /// From the detector's start to the last answer, and the time of it that the cores were busy.
    pub(super) span: Picoseconds,
    pub(super) finding: Picoseconds,
    pub(super) merging: Picoseconds,
    /// Groups of which a datagram never came.
    pub(super) incomplete: u64,
    /// What the interface's own merging did.
    pub(super) joined: Option<Merging>,
    /// What became of the answers that it was to release.
    pub(super) released: Option<Released>,
}

/// The board whose datagrams are lost, if any are.
const LOST_BOARD: usize = 1;

/// What the tasks of a run share.
struct Shared {
    sim: Sim,
    ports: Rc<Vec<NanetPort>>,
    plan: Plan,
    size: usize,
    /// Events of a group that a core takes.
    share: usize,
    ready: Ready,
    log: Rc<RefCell<Log>>,
    finders: Cpu,
    draws: RefCell<[Draws; 3]>,
    /// The model of the interface's search, where there is one.
    gateware: Option<Gateware>,
    /// The interface merges.
    merges: bool,
    /// The datagram of one board of one group in this many is lost on the wire; 0: none.
    lost_every: u64,
    failed: RefCell<Option<RoadError>>,
    merging: Cell<Picoseconds>,
    /// Groups that the interface sent without a board's fragment.
    incomplete: Cell<u64>,
}

const MERGE: usize = 0;
const HANDOVER: usize = 1;
const FIND: usize = 2;

impl Shared {
    fn draw(&self, what: usize) -> Picoseconds {
        self.draws.borrow_mut()[what].draw()
    }

    /// The first failure ends the run.
    fn fail(&self, error: RoadError) {
        self.failed.borrow_mut().get_or_insert(error);
    }

    fn rings(&self, records: &[Record]) -> Vec<Found> {
        let mut found = Vec::new();
        self.ready.find(Level::best(), self.plan.finder, records, &mut found);
        found
    }

    /// The rings of a group, whose candidates are these bytes, and how good they are.
    fn found(&self, group: &Handed, number: usize) -> Result<Vec<Found>, RoadError> {
        let records = &group.group.records;
        let mut log = self.log.borrow_mut();
        let log = &mut *log;
        let Some(sent) = log.groups.get(number) else { return Ok(Vec::new()) };
        let counted = self.plan.range().contains(&number);
        let minimum = self.plan.sample.counted_hits;
        let Some(candidates) = &group.candidates else {
            let found = self.rings(records);
            for (truth, found) in sent.truths.iter().zip(&found).filter(|_| counted) {
                log.quality.add(truth, found, minimum);
            }
            return Ok(found);
        };
        if *candidates != encode_given(&sent.seeds) {
            let what = format!("nanet: candidates of group {number} are not those of the model");
            return Err(RoadError::Violation(what));
        }
        let (mut given, mut found) = (Given::default(), Vec::new());
        given.read(candidates, records.len()).map_err(wrong)?;
        let finder = self.ready.finder();
        finder.find_given(Level::best(), records, &given, &mut found);
        for (at, (truth, found)) in sent.truths.iter().zip(&found).enumerate().filter(|_| counted) {
            log.quality.add(truth, found, minimum);
            log.alone.add(truth, &finder.candidates(&given, at), minimum);
        }
        Ok(found)
    }

    /// A group that the interface has merged: each record must be that of the program's own merging, where a board's
    /// datagram was lost that of the other boards. None if fragments are missing that were sent.
    fn joined(&self, bytes: &[u8]) -> Result<Option<merge::Group>, RoadError> {
        let (first_event, records, joined) = merge::merged(bytes).map_err(wrong)?;
        if !joined.iter().all(Joined::is_complete) {
            self.incomplete.set(self.incomplete.get() + 1);
            let number = first_event as usize / self.size;
            if !self.loses(number) {
                return Ok(None);
            }
        }
        let timestamps = joined.iter().map(|one| one.timestamp).collect();
        let log = self.log.borrow();
        let sent = log.groups.get(first_event as usize / self.size);
        if let Some(at) = sent.and_then(|sent| {
            records.iter().zip(&sent.records).position(|(one, other)| one != other)
        }) {
            let what =
                format!("nanet: record {at} of event {first_event} on is not that of the model");
            return Err(RoadError::Violation(what));
        }
        Ok(Some(merge::Group { first_event, timestamps, records: records.to_vec() }))
    }

    /// Whether a datagram of a group is lost on the wire: that of [`LOST_BOARD`].
    fn loses(&self, group: usize) -> bool {
        let every = self.lost_every;
        every != 0 && group as u64 % every == every - 1
    }

    fn all_sent(&self) -> bool {
        self.log.borrow().groups.len() as u64 == self.plan.total
    }
}

/// A group for a core: its events, and their candidates where the interface searches.
struct Handed {
    group: merge::Group,
    candidates: Option<Vec<u8>>,
}

/// Sources and program of a run.
pub(super) struct Program {
    shared: Rc<Shared>,
    host: MmioHost,
    results: ResultPins,
    loaded: Option<Loaded>,
    /// The interface's trigger lines, and how long they may change behind the last answer.
    release: Option<(Release, Picoseconds)>,
}

fn wrong(error: FormatError) -> RoadError {
    RoadError::Violation(format!("nanet: what came is no packet: {error}"))
}

impl Program {
    pub(super) fn new(
        world: &World,
        ports: &Rc<Vec<NanetPort>>,
        (chain, lost_every): (&NanetChain, u64),
        plan: &Plan,
    ) -> Result<Self, RoadError> {
        let sim = world.simulation.handle();
        let finders = Cpu::new(&sim, "finders", &CpuConfig { cores: chain.cores })?;
        let times = &chain.times;
        let draws = [("merge", &times.merge), ("handover", &times.handover), ("find", &times.find)]
            .map(|(name, of)| Draws::new(of, sim.random(&format!("nanet:{name}"))));
        let ready = Ready::new(&Geometry::na62(), &Config::default());
        let gateware = chain.search.map(|_| ready.finder().gateware());
        let shared = Shared {
            ports: Rc::clone(ports),
            plan: plan.clone(),
            size: chain.events,
            share: chain.share(),
            ready,
            gateware,
            merges: chain.merge,
            lost_every,
            log: Rc::new(RefCell::new(Log::new(chain.events))),
            finders,
            draws: RefCell::new(draws),
            failed: RefCell::default(),
            merging: Cell::default(),
            incomplete: Cell::default(),
            sim,
        };
        let results = world.results.clone();
        let (host, loaded) = (world.host.clone(), world.loaded.clone());
        let release = world.release.clone().map(|one| (one, release::rest(chain.release_us)));
        Ok(Self { shared: Rc::new(shared), host, results, loaded, release })
    }

    pub(super) fn log(&self) -> Rc<RefCell<Log>> {
        Rc::clone(&self.shared.log)
    }

    pub(super) async fn run(self, config: NicConfig) -> Result<Outcome, RoadError> {
        let failed = |error| RoadError::program("nanet", error);
        let shared = &self.shared;
        let memory = HostMemory::new(&shared.sim, &self.host);
        let mut nic = World::open(&self.host, memory, &config).await.map_err(failed)?;
        while self.loaded.as_ref().is_some_and(|loaded| !loaded.get()) {
            shared.sim.sleep(LOOK).await;
        }
        while self.release.as_ref().is_some_and(|(release, _)| !release.is_ready()) {
            shared.sim.sleep(LOOK).await;
        }
        // Time stamps count from the beginning of a burst.
        let soon = shared.sim.now() + QUIET;
        let start = self.release.as_ref().map_or(soon, |(release, _)| release.begin());
        shared.sim.spawn(send(Rc::clone(shared), start));
        let mut merger = Merger::new(shared.plan.format);
        let mut merged = 0;
        while merged < shared.plan.total {
            if let Some(error) = shared.failed.borrow_mut().take() {
                return Err(error);
            }
            let deadline = Duration::from_nanos((shared.sim.now() + SILENCE).0 / 1_000);
            let Some(event) = nic.next(deadline).await.map_err(failed)? else {
                if shared.all_sent() {
                    break;
                }
                continue;
            };
            if event.error {
                return Err(RoadError::Violation("nanet: memory refused a write".to_owned()));
            }
            let seen = shared.sim.now();
            let offset = config.lists[usize::from(event.list)].offsets[usize::from(event.index)];
            let bytes = self.host.memory().read(offset, event.bytes as usize);
            let bytes = bytes.map_err(|error| RoadError::Violation(format!("nanet: {error}")))?;
            let (events, candidates) = parted(&bytes, self.loaded.is_some()).map_err(wrong)?;
            let group = if shared.merges {
                merged += 1;
                shared.joined(events)?
            } else {
                merger.push(events).map_err(wrong)?
            };
            let candidates = candidates.map(<[u8]>::to_vec);
            let cost = shared.draw(MERGE);
            self.host.cpu().run(cost).await;
            shared.merging.set(shared.merging.get() + cost);
            if let Some(group) = group {
                merged += u64::from(!shared.merges);
                self.hand_over(Handed { group, candidates }, seen, &nic.results())?;
            }
            nic.recycle(event.list).await.map_err(failed)?;
        }
        self.last_answers().await?;
        let span = shared.sim.now() - start;
        if let Some((_, rest)) = self.release {
            shared.sim.sleep(rest).await;
        }
        let mut statistics = Vec::new();
        for port in 0..shared.ports.len() {
            statistics.push(nic.statistics(port as u8).await.map_err(failed)?);
        }
        let joined = nic.merging().await.map_err(failed)?;
        let released = nic.released().await.map_err(failed)?;
        nic.close().await.map_err(failed)?;
        let (finding, merging) = (shared.finders.busy(), shared.merging.get());
        let incomplete = merger.incomplete() + shared.incomplete.get();
        Ok(Outcome { statistics, span, finding, merging, incomplete, joined, released })
    }

    /// A group to the cores that find its rings, a share each.
    fn hand_over(
        &self,
        handed: Handed,
        seen: Picoseconds,
        results: &Results<Bar>,
    ) -> Result<(), RoadError> {
        let shared = &self.shared;
        let group = &handed.group;
        let (first, size) = (group.first_event as usize, shared.size);
        let (number, steps) = (first / size, Steps { seen, merged: shared.sim.now() });
        match shared.log.borrow_mut().groups.get_mut(number) {
            Some(sent) if first % size == 0 && group.records.len() == size => sent.steps = steps,
            _ => {
                let what = format!("nanet: a group from event {first} on was never sent");
                return Err(RoadError::Violation(what));
            }
        }
        // The rings are found here and now; that it takes time is drawn.
        let rings = shared.found(&handed, number)?;
        let answers: Vec<u32> = (first as u32..)
            .zip(&group.timestamps)
            .zip(rings)
            .map(|((number, timestamp), rings)| word(number, *timestamp, rings.count))
            .collect();
        let left = Rc::new(Cell::new(answers.len().div_ceil(shared.share)));
        for (share, answers) in answers.chunks(shared.share).enumerate() {
            let part =
                Part { group: number, share, answers: answers.to_vec(), left: Rc::clone(&left) };
            shared.sim.spawn(find(Rc::clone(shared), part, results.clone()));
        }
        Ok(())
    }

    /// Waits for the answers of what was handed over.
    async fn last_answers(&self) -> Result<(), RoadError> {
        let shared = &self.shared;
        let handed = |log: &Log| {
            let of = log.groups.iter().filter(|group| group.steps.merged != Picoseconds::ZERO);
            of.count() * shared.size
        };
        let expected = handed(&shared.log.borrow());
        let mut patience = shared.sim.now() + SILENCE;
        let mut seen = self.results.len();
        while seen < expected && shared.sim.now() < patience {
            shared.sim.sleep(LOOK).await;
            if self.results.len() > seen {
                patience = shared.sim.now() + SILENCE;
            }
            seen = self.results.len();
        }
        shared.failed.borrow_mut().take().map_or(Ok(()), Err)
    }
}

/// The datagram of events in a buffer, and that of candidates behind it.
fn parted(bytes: &[u8], searched: bool) -> Result<(&[u8], Option<&[u8]>), FormatError> {
    if !searched {
        return Ok((bytes, None));
    }
    let length = mep::length(bytes)?;
    let begin = length.next_multiple_of(PLACE_BYTES);
    match (bytes.get(..length), bytes.get(begin..)) {
        (Some(events), Some(candidates)) => Ok((events, Some(candidates))),
        _ => Err(FormatError::Length { what: "MEP length", said: length, found: bytes.len() }),
    }
}

/// The detector: events at random, a group on its way when its last event is there.
async fn send(shared: Rc<Shared>, start: Picoseconds) {
    let plan = &shared.plan;
    let geometry = Geometry::na62();
    let mut events = Generator::new(&geometry, plan.sample.clone(), shared.sim.config().seed);
    for number in 0..plan.total as usize {
        let group: (Vec<Record>, Vec<Truth>) = events.by_ref().take(shared.size).unzip();
        let first = number * shared.size;
        if let Err(error) = send_group(&shared, start, number, first as u32, group).await {
            shared.fail(error);
            return;
        }
    }
}

async fn send_group(
    shared: &Shared,
    start: Picoseconds,
    number: usize,
    first: u32,
    (records, truths): (Vec<Record>, Vec<Truth>),
) -> Result<(), RoadError> {
    let records = &records[..];
    let plan = &shared.plan;
    let made = packets(plan.format, number, first, records).map_err(wrong)?;
    if let Some(long) = made.iter().find(|packet| packet.bytes.len() > MAX_BYTES) {
        let reason = format!(
            "{}: one group has {} bytes on a link, a datagram has at most {MAX_BYTES}",
            shared.size,
            long.bytes.len()
        );
        return Err(RoadError::scenario("chain.events", reason));
    }
    let loses = shared.loses(number);
    let seen = match plan.format {
        Format::Packed => Vec::new(),
        Format::Tel62 => {
            let seen = records.iter().map(|one| {
                let mut boards = cable::boards(one);
                if loses {
                    boards[LOST_BOARD] = Default::default();
                    boards[LOST_BOARD].number = LOST_BOARD as u8;
                }
                cable::record(&boards, record::header(one).timestamp).map_err(wrong)
            });
            seen.collect::<Result<Vec<_>, _>>()?
        }
    };
    let expected = match plan.format {
        Format::Packed => shared.rings(records),
        Format::Tel62 => shared.rings(&seen),
    };
    let events: Vec<Event> = records
        .iter()
        .zip(expected)
        .map(|(one, rings)| {
            let header = record::header(one);
            let units = u64::from(header.timestamp) << 8 | u64::from(header.fine);
            let time = start + Picoseconds::from_ns_f64(units as f64 * TDC_NS);
            Event { time, timestamp: header.timestamp, rings: rings.count, answered: None }
        })
        .collect();
    let seeds = shared.gateware.as_ref().map_or_else(Vec::new, |gateware| {
        records.iter().map(|one| gateware.seeds(&ids(one))).collect()
    });
    let due = events.last().map_or(start, |event| event.time);
    shared.sim.sleep_until(due).await;
    let mut frames = Vec::with_capacity(made.len());
    for packet in made {
        // Whole events take the links in turn, however many there are.
        let link = packet.link % shared.ports.len();
        if loses && link == LOST_BOARD {
            continue;
        }
        let Some(id) = shared.ports[link].send(&packet.bytes, Spoil::Nothing) else {
            let what = format!("nanet: link {link} is so far behind that its queue is full");
            return Err(RoadError::Violation(what));
        };
        frames.push(Frame { link, id, bytes: packet.bytes.len() });
    }
    let mut log = shared.log.borrow_mut();
    let shares = vec![Share::default(); shared.size.div_ceil(shared.share)];
    let seen = if shared.merges { seen } else { Vec::new() };
    let steps = Steps::default();
    log.groups.push(Group { due, frames, steps, shares, truths, seeds, records: seen });
    log.events.extend(events);
    Ok(())
}

/// A core's share of a group, and what it answers.
struct Part {
    group: usize,
    share: usize,
    answers: Vec<u32>,
    /// Shares of the group that are not answered yet.
    left: Rc<Cell<usize>>,
}

/// Finds the rings of a share on a core and sends the answers.
async fn find(shared: Rc<Shared>, part: Part, mut results: Results<Bar>) {
    let handover = shared.draw(HANDOVER);
    shared.sim.sleep(handover).await;
    let work = async {
        let begun = shared.sim.now();
        let cost = shared.draw(FIND);
        shared.sim.sleep(cost).await;
        let found = shared.sim.now();
        shared.log.borrow_mut().note(part.group, part.share, Share { begun, found });
        for answer in &part.answers {
            results.send(*answer).await?;
        }
        Ok::<(), NicError>(())
    };
    let done = shared.finders.stall(work).await;
    part.left.set(part.left.get() - 1);
    if part.left.get() == 0 {
        shared.sim.count_transfers(1);
    }
    if let Err(error) = done {
        shared.fail(RoadError::program("nanet", error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_has_the_events_and_behind_them_the_candidates() {
        let mut bytes = vec![0; 64];
        bytes[4] = 20;
        bytes.extend([1, 2, 3, 4]);
        assert_eq!(parted(&bytes, false), Ok((&bytes[..], None)));
        assert_eq!(parted(&bytes, true), Ok((&bytes[..20], Some(&[1, 2, 3, 4][..]))));
        bytes[4] = 65;
        assert!(parted(&bytes, true).is_err(), "its candidates would begin behind its end");
        assert!(parted(&bytes[..6], true).is_err(), "no header");
    }
}
