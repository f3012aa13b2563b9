// SPDX-License-Identifier: Apache-2.0
//! Everybody to everybody, while things go wrong, or as a trace has it, and an account of every transfer.
//!
//! The account sees all hosts' memories at once and costs no simulated time. What must hold:
//!
//! - a notification that speaks of no failure finds all bytes of its transfer in memory;
//! - none comes twice, and none is left out without the next one's saying that one failed;
//! - every transfer that was not notified, and every message that did not come, was reported to the program
//!   that posted it;
//! - a write that names a wrong key, or a place outside what its key opens, changes no byte, and is reported to
//!   the program that posted it;
//! - a message comes once, and as it was sent; over a single link in the order of sending.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use isthmus_host::rdma::{
    Descriptor, Fault, HostId, InlineWrite, Key, MAX_INLINE, Notification, Options, Posting,
};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::world::host::MmioHost;

use super::program::Outcome;
use super::scenario::{Kind, Layout, Line, MESSAGE_BYTES, SOURCE_SPARE, Scenario, Test};
use super::world::{Node, Program, QUEUE};
use crate::error::RoadError;
use crate::host_bus::word;
use crate::measurement::Throughput;

const BEAT: usize = 8;
/// Writes of one flow that may be under way.
const PLACES: usize = 32;
/// A place holds the longest descriptor's data.
const PLACE_BYTES: usize = 4096;
/// Between two looks of a program that has nothing to do.
const REST: Picoseconds = Picoseconds::from_ns(500);
/// The same where each transfer's time counts.
const LOOK: Picoseconds = Picoseconds::from_ns(50);
/// It looks no more so long before it posts: a look takes the processor's time.
const QUIET: Picoseconds = Picoseconds::from_us(1);
/// A program that finds no room for so long has stopped for ever.
const STUCK: Picoseconds = Picoseconds::from_ms(20);
/// A share of transfers are messages: one in so many.
const MESSAGE_EVERY: u64 = 3;
/// Of short writes one in so many brings its data with it.
const INLINE_EVERY: u64 = 3;

/// A write that is under way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    number: u64,
    bytes: usize,
    shift: usize,
    /// It lies in the message queue, with its data.
    inline: bool,
    /// Of the trace.
    line: Option<usize>,
}

/// A message that is under way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    bytes: usize,
    shift: usize,
    line: Option<usize>,
}

/// One source's transfers to one destination.
#[derive(Debug, Default)]
struct Flow {
    posted: u64,
    places: Vec<Option<Pending>>,
    notified: u64,
    /// Told as failed, or not at all.
    failed: u64,
    silent: u64,
    /// Writes that may not be.
    forged: u64,
    /// Of them those of which a report says why.
    refused: u64,
    /// Reports at the source. Of a packet that never came the far end cannot say what it carried.
    reports: u64,
    messages: BTreeMap<u32, Sent>,
    sent: u32,
    received: u64,
    latest: Option<u32>,
    /// A side was reset: what was under way may or may not have come.
    broken: bool,
    /// A failure was told since the last notification of what the interface read, and of what came inline.
    told: [bool; 2],
}

/// Every transfer of a run.
pub(super) struct Account {
    hosts: usize,
    flows: Vec<Flow>,
    sources: Vec<Rc<Vec<u8>>>,
    layout: Layout,
    in_order: bool,
    /// Headers come as they were sent: where packets are not stored whole, one with a wrong bit is
    /// refused for what it says.
    sound: bool,
    checked: u64,
    wrong: Option<String>,
    /// Programs that still post.
    active: usize,
    sim: Sim,
    test: Test,
    /// From where a trace's times count; none before all flows that it uses are open.
    begin: Option<Picoseconds>,
    /// Programs that have not used all of theirs.
    warming: usize,
    trace: Vec<Line>,
    /// When each of its transfers was at its far end.
    there: Vec<Option<Picoseconds>>,
}

impl Account {
    fn new(scenario: &Scenario, sources: Vec<Rc<Vec<u8>>>, layout: Layout, sim: &Sim) -> Self {
        let hosts = sources.len();
        let flow = || Flow { places: vec![None; PLACES], ..Flow::default() };
        Self {
            hosts,
            flows: (0..hosts * hosts).map(|_| flow()).collect(),
            sources,
            layout,
            in_order: scenario.interface.links == 1,
            sound: scenario.faults.bit_error_rate == 0.0,
            checked: 0,
            wrong: None,
            active: hosts,
            sim: sim.clone(),
            test: scenario.workload.test,
            begin: None,
            warming: hosts,
            trace: scenario.workload.trace.clone(),
            there: vec![None; scenario.workload.trace.len()],
        }
    }

    fn due(&self, line: usize) -> Picoseconds {
        self.begin.unwrap_or_default() + Picoseconds::from_ns(self.trace[line].0)
    }

    fn arrived(&mut self, line: Option<usize>) {
        if let Some(line) = line {
            self.there[line] = Some(self.sim.now());
        }
    }

    /// Of the trace's transfers that this host sent and that arrived, in the trace's order: how long after
    /// its time each was there.
    pub(super) fn samples(&self, source: usize) -> Vec<Picoseconds> {
        let own = (0..self.trace.len()).filter(|line| self.trace[*line].1 == source);
        own.filter_map(|line| Some(self.there[line]? - self.due(line))).collect()
    }

    /// What of the trace arrived, between its first transfer's time and the last arrival.
    pub(super) fn throughput(&self) -> Option<Throughput> {
        let came = || (0..self.trace.len()).filter(|line| self.there[*line].is_some());
        let first = (0..self.trace.len()).map(|line| self.due(line)).min()?;
        let last = self.there.iter().flatten().max()?;
        let payload = came().map(|line| self.trace[line].4 as u64).sum();
        Some(Throughput::new(payload, payload, came().count() as u64, None, *last - first))
    }

    fn flow(&mut self, source: HostId, destination: HostId) -> &mut Flow {
        &mut self.flows[usize::from(source) * self.hosts + usize::from(destination)]
    }

    fn wrong(&mut self, what: impl FnOnce() -> String) {
        self.wrong.get_or_insert_with(what);
    }

    fn place(&self, source: HostId, place: usize) -> usize {
        self.layout.target + (usize::from(source) * PLACES + place) * PLACE_BYTES
    }

    /// A notification has been written into the destination's memory.
    fn notified(
        &mut self,
        source: HostId,
        destination: HostId,
        host: &MmioHost,
        told: Notification,
        before: u16,
    ) {
        let name = format!("write of host {source} to host {destination}");
        if told.count != before.wrapping_add(1) & 0x7FFF {
            self.wrong(|| format!("{name}: notification {} came after {before}", told.count));
        }
        let base = host.bus_address(self.place(source, 0));
        let place = told.address.checked_sub(base).map(|at| at as usize / PLACE_BYTES);
        let Some(place) = place.filter(|place| *place < PLACES) else {
            if told.failed && !self.sound {
                // It was refused for its address, in which a bit was wrong.
                let flow = self.flow(source, destination);
                flow.told = [true; 2];
                flow.failed += 1;
                return;
            }
            return self.wrong(|| format!("{name}: a notification names {:#x}", told.address));
        };
        let broken = self.flow(source, destination).broken;
        let Some(pending) = self.flow(source, destination).places[place].take() else {
            // What was posted on the bus before a reset still gets there.
            if broken {
                return;
            }
            return self.wrong(|| format!("{name}: place {place} was notified and nothing is due"));
        };
        if !told.failed {
            self.arrived(pending.line);
        }
        let flow = self.flow(source, destination);
        flow.notified += 1;
        flow.failed += u64::from(told.failed);
        // Notifications of what went into one queue come in order: earlier ones that are due will not come.
        let mut missing = 0;
        let way = usize::from(pending.inline);
        let passed =
            |other: Pending| other.inline == pending.inline && other.number < pending.number;
        for other in &mut flow.places {
            if other.is_some_and(passed) {
                *other = None;
                missing += 1;
            }
        }
        flow.silent += missing;
        // The other queue's may have told of it.
        flow.told = flow.told.map(|before| before || told.failed);
        let excused = std::mem::take(&mut flow.told[way]) || flow.broken;
        if missing > 0 && !excused {
            self.wrong(|| {
                format!("{name}: {missing} before number {} are lost and not told", pending.number)
            });
        }
        let found = host.memory().read(self.place(source, place), pending.bytes);
        let own = Rc::clone(&self.sources[usize::from(source)]);
        let right = &own[pending.shift..][..pending.bytes];
        match found {
            Ok(found) if found == right => self.checked += pending.bytes as u64,
            _ if excused => {}
            _ => self.wrong(|| {
                format!(
                    "{name}: number {} was notified before its {} bytes were there",
                    pending.number, pending.bytes
                )
            }),
        }
    }

    /// Which message it is: its immediate is 0 or one more than its id. Without a name the oldest one of
    /// these bytes.
    fn id(&mut self, source: HostId, destination: HostId, immediate: u32, body: &[u8]) -> u32 {
        if let Some(id) = immediate.checked_sub(1) {
            return id;
        }
        let own = Rc::clone(&self.sources[usize::from(source)]);
        let mut messages = self.flow(source, destination).messages.iter();
        let same = |bytes: usize, shift: usize| &own[shift..][..bytes] == body;
        messages.find(|(_, sent)| same(sent.bytes, sent.shift)).map_or(u32::MAX, |(id, _)| *id)
    }

    /// A message was taken out of the destination's queue.
    fn received(&mut self, source: HostId, destination: HostId, immediate: u32, body: &[u8]) {
        let id = self.id(source, destination, immediate, body);
        let name = format!("message {id} of host {source} to host {destination}");
        let (own, in_order) = (Rc::clone(&self.sources[usize::from(source)]), self.in_order);
        let flow = self.flow(source, destination);
        let Some(Sent { bytes, shift, line }) = flow.messages.remove(&id) else {
            if flow.broken {
                return;
            }
            return self.wrong(|| format!("{name} came and is not due"));
        };
        flow.received += 1;
        let late = in_order && flow.latest.is_some_and(|latest| latest >= id);
        flow.latest = Some(id);
        if late {
            self.wrong(|| format!("{name} came behind a later one"));
        }
        if body != &own[shift..][..bytes] {
            self.wrong(|| format!("{name} has a wrong byte"));
        }
        self.checked += bytes as u64;
        self.arrived(line);
    }

    /// Transfers that nobody has heard of.
    fn open(&self) -> usize {
        let open = |flow: &Flow| {
            let forged = if flow.broken { 0 } else { flow.forged.saturating_sub(flow.reports) };
            flow.places.iter().flatten().count() + flow.messages.len() + forged as usize
        };
        self.flows.iter().map(open).sum()
    }

    /// Whether what did not come was reported, and no host's own data were written over.
    fn close(&mut self, nodes: &[Node]) {
        let hosts = self.hosts;
        for node in nodes {
            let own = Rc::clone(&self.sources[usize::from(node.number)]);
            if node.host.memory().read(self.layout.source, own.len()).ok().as_ref() != Some(&*own) {
                self.wrong(|| {
                    format!("memory of host {} was written where nobody may", node.number)
                });
            }
        }
        for at in 0..self.flows.len() {
            let (source, destination) = (at / hosts, at % hosts);
            let flow = &self.flows[at];
            if flow.broken {
                continue;
            }
            let writes = flow.silent + flow.places.iter().flatten().count() as u64;
            let (messages, reports) = (flow.messages.len() as u64, flow.reports);
            let (forged, refused) = (flow.forged, flow.refused);
            if forged + writes + messages > reports {
                self.wrong(|| {
                    format!(
                        "{writes} writes of host {source} to host {destination} were not notified, \
                         {messages} messages did not come, {forged} writes were forged, {reports} \
                         reported"
                    )
                });
            }
            if self.sound && refused > forged {
                self.wrong(|| {
                    format!("{refused} of host {source}'s writes to host {destination} were refused, {forged} were forged")
                });
            }
        }
    }

    pub(super) fn counters(&self) -> BTreeMap<String, u64> {
        let sum = |of: &dyn Fn(&Flow) -> u64| self.flows.iter().map(of).sum::<u64>();
        let due = |flow: &Flow| flow.places.iter().flatten().count() as u64;
        [
            ("writes", sum(&|flow| flow.posted)),
            ("writes_notified", sum(&|flow| flow.notified)),
            ("writes_told_failed", sum(&|flow| flow.failed)),
            ("writes_not_notified", sum(&|flow| flow.silent + due(flow))),
            ("messages", sum(&|flow| u64::from(flow.sent))),
            ("messages_received", sum(&|flow| flow.received)),
            ("messages_missing", sum(&|flow| flow.messages.len() as u64)),
            ("writes_forged", sum(&|flow| flow.forged)),
            ("writes_refused", sum(&|flow| flow.refused)),
            ("reports", sum(&|flow| flow.reports)),
        ]
        .map(|(name, value)| (format!("{}.{name}", self.test.name()), value))
        .into()
    }
}

/// One host's program.
pub(super) struct Soaker {
    sim: Sim,
    host: MmioHost,
    number: HostId,
    program: Program,
    scenario: Rc<Scenario>,
    layout: Layout,
    account: Rc<RefCell<Account>>,
    random: RandomStream,
    /// Resets of this host's interface that are to come, the next one last.
    resets: Vec<Picoseconds>,
    /// Times in which it takes nothing, the next one last.
    stalls: Vec<(Picoseconds, Picoseconds)>,
}

/// The account, and what watches each notification word.
pub(super) fn account(
    scenario: &Scenario,
    nodes: &[Node],
    layout: Layout,
    sim: &Sim,
) -> Rc<RefCell<Account>> {
    let sources = nodes.iter().map(|node| Rc::new(node.source.clone())).collect();
    let account = Rc::new(RefCell::new(Account::new(scenario, sources, layout, sim)));
    for node in nodes {
        for other in nodes.iter().filter(|other| other.number != node.number) {
            let (account, host) = (Rc::clone(&account), node.host.clone());
            let (source, destination) = (other.number, node.number);
            sim.spawn(async move {
                let at = isthmus_host::rdma::notified_offset(source);
                let mut before = 0;
                loop {
                    let changed = host.memory().watch(at, BEAT, |bytes| word(bytes) != before);
                    if changed.await.is_err() {
                        return;
                    }
                    let Ok(bytes) = host.memory().read(at, BEAT) else { return };
                    let (now, seen) = (word(&bytes), Notification::from(before).count);
                    before = now;
                    // An interface that is opened anew has its words cleared.
                    if now != 0 {
                        account.borrow_mut().notified(source, destination, &host, now.into(), seen);
                    }
                }
            });
        }
    }
    account
}

impl Soaker {
    pub(super) fn new(
        sim: &Sim,
        node: &Node,
        program: Program,
        scenario: &Rc<Scenario>,
        layout: Layout,
        account: &Rc<RefCell<Account>>,
    ) -> Self {
        let own = usize::from(node.number);
        let faults = &scenario.faults;
        let resets = faults.node_resets.iter().filter(|reset| reset.0 == own);
        let mut resets: Vec<_> = resets.map(|reset| Picoseconds::from_ns(reset.1)).collect();
        resets.sort_by_key(|at| std::cmp::Reverse(*at));
        let ns = Picoseconds::from_ns;
        let stalls = faults.stalls.iter().filter(|stall| stall.0 == own);
        let mut stalls: Vec<_> = stalls.map(|stall| (ns(stall.1), ns(stall.2))).collect();
        stalls.sort_by_key(|stall| std::cmp::Reverse(stall.0));
        Self {
            sim: sim.clone(),
            host: node.host.clone(),
            number: node.number,
            program,
            scenario: Rc::clone(scenario),
            layout,
            account: Rc::clone(account),
            random: RandomStream::new(scenario.seed, &format!("rdma:soak:{own}")),
            resets,
            stalls,
        }
    }

    pub(super) async fn run(mut self) -> Result<Outcome, RoadError> {
        let begin = self.sim.now();
        let iterations = self.scenario.workload.iterations;
        match self.scenario.workload.test {
            Test::Trace => {
                self.warm().await?;
                self.replay().await?;
            }
            _ => {
                for _ in 0..iterations {
                    self.serve().await?;
                    self.post().await?;
                }
            }
        }
        self.account.borrow_mut().active -= 1;
        // Until nothing is due any more, or nothing can come any more.
        let patience = self.patience();
        let mut idle = self.sim.now();
        loop {
            let before = self.account.borrow().open();
            self.serve().await?;
            self.sim.sleep(self.rest()).await;
            let account = self.account.borrow();
            if account.active > 0 || account.open() != before {
                idle = self.sim.now();
            }
            if account.active == 0 && (account.open() == 0 || self.sim.now() > idle + patience) {
                break;
            }
        }
        let end = self.sim.now();
        self.serve().await?;
        if self.scenario.workload.test == Test::Trace {
            let samples = self.account.borrow().samples(self.number.into());
            return Ok(Outcome { samples, ..Outcome::default() });
        }
        Ok(Outcome { interval: Some((begin, end)), arrived: iterations, ..Outcome::default() })
    }

    /// What has not come for so long will not come.
    fn patience(&self) -> Picoseconds {
        let most = self.scenario.interface.lost_us.max(self.scenario.interface.probe_us);
        Picoseconds::from_ns_f64(8e3 * most)
    }

    fn rest(&self) -> Picoseconds {
        if self.scenario.workload.test == Test::Trace { LOOK } else { REST }
    }

    /// A write to everybody to whom this host sends, so that its flows are open; until all hosts' are.
    async fn warm(&mut self) -> Result<(), RoadError> {
        let own = usize::from(self.number);
        let peers: BTreeSet<usize> = {
            let account = self.account.borrow();
            let lines = account.trace.iter().filter(|line| line.1 == own);
            lines.map(|line| line.2).collect()
        };
        for peer in peers {
            self.put(peer as HostId, BEAT, 0, false, None).await?;
        }
        self.account.borrow_mut().warming -= 1;
        let until = self.sim.now() + self.patience();
        loop {
            self.serve().await?;
            {
                let mut account = self.account.borrow_mut();
                let ended = account.open() == 0 || self.sim.now() > until;
                if account.begin.is_none() && account.warming == 0 && ended {
                    account.begin = Some(self.sim.now() + REST);
                }
                if account.begin.is_some() {
                    return Ok(());
                }
            }
            self.sim.sleep(LOOK).await;
        }
    }

    /// Posts what this host has in the trace, each when its time has come and those before it are posted.
    async fn replay(&mut self) -> Result<(), RoadError> {
        let mut own: Vec<(Picoseconds, usize)> = {
            let account = self.account.borrow();
            let lines = 0..account.trace.len();
            let own = lines.filter(|line| account.trace[*line].1 == usize::from(self.number));
            own.map(|line| (account.due(line), line)).collect()
        };
        own.sort();
        for (due, line) in own {
            self.serve().await?;
            while self.sim.now() + QUIET < due {
                self.sim.sleep(LOOK.min(due - self.sim.now() - QUIET)).await;
                self.serve().await?;
            }
            self.sim.sleep(due.saturating_sub(self.sim.now())).await;
            let (_, _, destination, kind, bytes) = self.account.borrow().trace[line];
            let shift = BEAT * (line % (SOURCE_SPARE / BEAT));
            let peer = destination as HostId;
            match kind {
                Kind::Message => self.message(peer, bytes, shift, true, Some(line)).await?,
                Kind::Write => self.put(peer, bytes, shift, false, Some(line)).await?,
                Kind::Inline => self.put(peer, bytes, shift, true, Some(line)).await?,
            }
        }
        Ok(())
    }

    fn failed(
        &self,
        during: &'static str,
    ) -> impl Fn(isthmus_host::rdma::RdmaError) -> RoadError + use<> {
        let host = self.number;
        move |source| RoadError::Rdma { host, during, source: Box::new(source) }
    }

    /// Takes what has come: messages, and reports of what failed.
    async fn serve(&mut self) -> Result<(), RoadError> {
        if let Some(what) = &self.account.borrow().wrong {
            let (at, seed) = (self.sim.now(), self.scenario.seed);
            return Err(RoadError::Violation(format!("rdma: {what}; at {at}, seed {seed}")));
        }
        if let Some((_, span)) = self.stalls.pop_if(|stall| stall.0 <= self.sim.now()) {
            self.sim.sleep(span).await;
        }
        if self.resets.pop_if(|at| *at <= self.sim.now()).is_some() {
            self.reopen().await?;
        }
        let failed = self.failed("receive");
        let Program { endpoint, inbox } = &mut self.program;
        while let Some((frame, body)) = inbox.receive(endpoint).await.map_err(&failed)? {
            // A body that could not be written leaves an empty slot.
            if !frame.notification && !body.is_empty() {
                let mut account = self.account.borrow_mut();
                account.received(frame.source, self.number, frame.immediate, &body);
            }
        }
        let failed = self.failed("look for errors");
        while let Some(record) = self.program.endpoint.error().await.map_err(&failed)? {
            if record.ours {
                continue;
            }
            let mut account = self.account.borrow_mut();
            let flow = account.flow(self.number, record.host);
            if record.fault == Some(Fault::Session) {
                flow.broken = true;
                flow.places.iter_mut().for_each(|place| *place = None);
                flow.messages.clear();
            }
            flow.refused += u64::from(matches!(record.fault, Some(Fault::Key | Fault::Bounds)));
            flow.reports += u64::from(record.fault.is_some()) + u64::from(record.more);
        }
        Ok(())
    }

    /// The program's interface was reset under it: it opens it anew.
    async fn reopen(&mut self) -> Result<(), RoadError> {
        let (sim, host) = (self.sim.clone(), self.host.clone());
        let scenario = (*self.scenario).clone();
        let seed = self.sim.now().0 / 1_000;
        let scenario = Scenario { seed, ..scenario };
        let failed = self.failed("open anew");
        {
            let mut account = self.account.borrow_mut();
            for other in 0..account.hosts as HostId {
                for (source, destination) in [(self.number, other), (other, self.number)] {
                    let flow = account.flow(source, destination);
                    flow.broken = true;
                    flow.places.iter_mut().for_each(|place| *place = None);
                    flow.messages.clear();
                }
            }
        }
        self.program =
            Node::open(sim, host, self.number, scenario, self.layout).await.map_err(failed)?;
        Ok(())
    }

    async fn post(&mut self) -> Result<(), RoadError> {
        let hosts = self.scenario.workload.hosts as u64;
        let other = self.random.below(hosts - 1) as HostId;
        let peer = other + HostId::from(other >= self.number);
        let most = self.scenario.workload.size_bytes as u64 / BEAT as u64;
        let shift = BEAT * self.random.below(SOURCE_SPARE as u64 / BEAT as u64) as usize;
        let forged_rate = self.scenario.faults.forged_rate;
        if forged_rate > 0.0 && self.random.chance(forged_rate) {
            return self.forge(peer, shift).await;
        }
        if self.random.below(MESSAGE_EVERY) == 0 {
            let most = most.min((MESSAGE_BYTES / BEAT) as u64);
            let bytes = BEAT * (1 + self.random.below(most) as usize);
            // Those without an immediate have a shorter header.
            let named = self.random.below(2) != 0;
            return self.message(peer, bytes, shift, named, None).await;
        }
        let bytes = BEAT * (1 + self.random.below(most.min((PLACE_BYTES / BEAT) as u64)) as usize);
        let inline = self.is_inline(bytes);
        self.put(peer, bytes, shift, inline, None).await
    }

    /// A message, which its immediate may name.
    async fn message(
        &mut self,
        peer: HostId,
        bytes: usize,
        shift: usize,
        named: bool,
        line: Option<usize>,
    ) -> Result<(), RoadError> {
        let own = Rc::clone(&self.account.borrow().sources[usize::from(self.number)]);
        let id = {
            let mut account = self.account.borrow_mut();
            let flow = account.flow(self.number, peer);
            let id = flow.sent;
            flow.sent += 1;
            flow.messages.insert(id, Sent { bytes, shift, line });
            id
        };
        let failed = self.failed("send");
        let body = &own[shift..][..bytes];
        let immediate = if named { id + 1 } else { 0 };
        let sent = self.program.endpoint.send(peer, QUEUE, body, Options::default(), immediate);
        sent.await.map_err(failed)
    }

    /// A write that notifies, when one of the flow's places is free.
    async fn put(
        &mut self,
        peer: HostId,
        bytes: usize,
        shift: usize,
        inline: bool,
        line: Option<usize>,
    ) -> Result<(), RoadError> {
        let begin = self.sim.now();
        let place = loop {
            let free = {
                let mut account = self.account.borrow_mut();
                account.flow(self.number, peer).places.iter().position(Option::is_none)
            };
            if let Some(place) = free {
                break place;
            }
            if self.sim.now() > begin + STUCK {
                return Err(RoadError::Violation(format!(
                    "rdma: host {} found no place for a write to host {peer} since {begin}: {PLACES} are due",
                    self.number
                )));
            }
            self.sim.sleep(self.rest()).await;
            self.serve().await?;
        };
        let target = {
            let mut account = self.account.borrow_mut();
            let flow = account.flow(self.number, peer);
            let number = flow.posted;
            flow.posted += 1;
            flow.places[place] = Some(Pending { number, bytes, shift, inline, line });
            account.place(self.number, place)
        };
        let options = Options { notify: true, ..Options::default() };
        let transfer = self.descriptor(peer, shift, target, bytes);
        self.write(shift, Descriptor { options, ..transfer }, inline).await
    }

    /// A write of what this host keeps at `shift`, read by the interface or with its data.
    async fn write(
        &mut self,
        shift: usize,
        transfer: Descriptor,
        inline: bool,
    ) -> Result<(), RoadError> {
        let failed = self.failed("post");
        let Descriptor { target, bytes, host, options, key, .. } = transfer;
        let endpoint = &mut self.program.endpoint;
        if inline {
            let own = Rc::clone(&self.account.borrow().sources[usize::from(self.number)]);
            let write = [InlineWrite { body: &own[shift..][..bytes], target, options, key }];
            return endpoint.put_inline(host, &write).await.map_err(failed);
        }
        endpoint.post(host, &[transfer], Posting::Circular).await.map_err(failed)
    }

    /// A write without a key of so many bytes at `shift`, of which nobody is told.
    fn descriptor(&self, host: HostId, shift: usize, target: usize, bytes: usize) -> Descriptor {
        Descriptor {
            source: self.host.bus_address(self.layout.source + shift),
            target: self.host.bus_address(target),
            bytes,
            host,
            options: Options::default(),
            key: None,
            start: true,
        }
    }

    /// A write to where the peer keeps what it sends: without a key, beyond the end of what the key
    /// opens, with another nonce, or with the entry of another host.
    async fn forge(&mut self, peer: HostId, shift: usize) -> Result<(), RoadError> {
        let hosts = self.scenario.workload.hosts as HostId;
        // One packet, so one refusal.
        let bytes = BEAT * (1 + self.random.below(64) as usize);
        let another =
            (self.number + 1 + (self.random.below(u64::from(hosts) - 1) as HostId)) % hosts;
        let (target, key) = match self.random.below(4) {
            0 => (self.layout.source + shift, None),
            1 => (self.layout.inbox - bytes + BEAT, Some(Key::new(self.number, 0))),
            2 => (
                self.layout.target,
                Some(Key::new(self.number, 1 + self.random.below(1 << 20) as u32)),
            ),
            _ => (self.layout.target, Some(Key::new(another, 0))),
        };
        self.account.borrow_mut().flow(self.number, peer).forged += 1;
        let (key, inline) = (key.map(|key| (key, 0)), self.is_inline(bytes));
        let transfer = self.descriptor(peer, 0, target, bytes);
        self.write(0, Descriptor { key, ..transfer }, inline).await
    }

    /// One of three that are short enough brings its data with it.
    fn is_inline(&mut self, bytes: usize) -> bool {
        bytes < MAX_INLINE && self.random.below(INLINE_EVERY) == 0
    }
}

/// What the account says at the end.
pub(super) fn verdict(
    account: &Rc<RefCell<Account>>,
    nodes: &[Node],
    scenario: &Scenario,
) -> Result<(u64, BTreeMap<String, u64>), RoadError> {
    let mut account = account.borrow_mut();
    account.close(nodes);
    match &account.wrong {
        Some(what) => Err(RoadError::Violation(format!("rdma: {what}; seed {}", scenario.seed))),
        None => Ok((account.checked, account.counters())),
    }
}
