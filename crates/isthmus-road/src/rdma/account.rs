// SPDX-License-Identifier: Apache-2.0
//! An account of every transfer of a run.
//!
//! It sees all hosts' memories at once and costs no simulated time. What must hold:
//!
//! - a notification that speaks of no failure finds all bytes of its transfer in memory;
//! - none comes twice, and none is left out without the next one's saying that one failed;
//! - every transfer that was not notified, and every message that did not come, was reported to the program
//!   that posted it; in all as many packets as were lost or refused;
//! - a write that names a wrong key, or a place outside what its key opens, changes no byte, and is reported to
//!   the program that posted it;
//! - a message comes once, and as it was sent; over a single link in the order of sending.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use isthmus_host::rdma::{ErrorRecord, Fault, HostId, Notification};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::host::MmioHost;

use super::scenario::memory::Layout;
use super::scenario::{RdmaScenario, RdmaTest, TraceLine};
use super::world::Node;
use crate::error::RoadError;
use crate::host_bus::word;
use crate::measurement::Throughput;

const BEAT: usize = 8;
/// Writes of one flow that may be in progress.
pub(super) const PLACES: usize = 32;
/// A place holds the longest descriptor's data.
pub(super) const PLACE_BYTES: usize = 4096;

/// A write that is in progress.
#[derive(Clone, Copy, Debug)]
struct Pending {
    number: u64,
    write: Write,
}

/// What one is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write {
    pub bytes: usize,
    /// From where on of what its host keeps.
    pub shift: usize,
    /// It lies in the message queue, with its data.
    pub inline: bool,
    /// Of the trace.
    pub line: Option<usize>,
}

/// A message that is in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub bytes: usize,
    pub shift: usize,
    pub line: Option<usize>,
}

/// One source's transfers to one destination.
#[derive(Debug, Default)]
struct Flow {
    posted: u64,
    places: Vec<Option<Pending>>,
    notified: u64,
    /// Notified as failed, or not at all.
    failed: u64,
    silent: u64,
    /// Writes that may not be.
    forged: u64,
    /// Of them those of which a report says why.
    refused: u64,
    /// Reports at the source. The remote end cannot say what a lost packet carried.
    reports: u64,
    /// Refused and lost packets of which the source knows: its completion word's count, which no ring bounds.
    known: u64,
    messages: BTreeMap<u32, Sent>,
    sent: u32,
    received: u64,
    latest: Option<u32>,
    /// A side was reset: what was in progress may or may not have come.
    broken: bool,
    /// A failure was notified since the last notification of what the interface read, and of what
    /// came inline.
    told: [bool; 2],
}

impl Flow {
    /// A side was reset: nothing of what is in progress is due any more.
    fn forget(&mut self) {
        self.broken = true;
        self.places.iter_mut().for_each(|place| *place = None);
        self.messages.clear();
    }
}

/// Every transfer of a run.
pub(super) struct Account {
    hosts: usize,
    flows: Vec<Flow>,
    /// What each keeps and sends from.
    sources: Vec<Rc<Vec<u8>>>,
    layout: Layout,
    in_order: bool,
    /// Headers come as they were sent: where packets are not stored whole, one with a wrong bit is
    /// refused for what it says.
    sound: bool,
    checked: u64,
    wrong: Option<String>,
    /// Programs that still post.
    pub active: usize,
    /// Of each host: its flows were acknowledged whole, with all refusals, when it looked last.
    settled: Vec<bool>,
    sim: Sim,
    test: RdmaTest,
    /// From where a trace's times count; none before all flows that it uses are open.
    pub begin: Option<Picoseconds>,
    /// Programs that have not used all of theirs.
    pub warming: usize,
    pub trace: Vec<TraceLine>,
    /// When each of its transfers was at its destination.
    there: Vec<Option<Picoseconds>>,
}

impl Account {
    fn new(scenario: &RdmaScenario, sources: Vec<Rc<Vec<u8>>>, layout: Layout, sim: &Sim) -> Self {
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
            settled: vec![false; hosts],
            sim: sim.clone(),
            test: scenario.workload.test,
            begin: None,
            warming: hosts,
            trace: scenario.workload.trace.clone(),
            there: vec![None; scenario.workload.trace.len()],
        }
    }

    pub(super) fn due(&self, line: usize) -> Picoseconds {
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
        Some(Throughput::new(payload, None, came().count() as u64, None, *last - first))
    }

    fn flow(&mut self, source: HostId, destination: HostId) -> &mut Flow {
        &mut self.flows[usize::from(source) * self.hosts + usize::from(destination)]
    }

    /// What this host keeps.
    pub(super) fn source(&self, host: HostId) -> Rc<Vec<u8>> {
        Rc::clone(&self.sources[usize::from(host)])
    }

    /// What must not be, if it was seen.
    pub(super) fn violation(&self) -> Option<&str> {
        self.wrong.as_deref()
    }

    /// A place of a flow's for a write, if one is free.
    pub(super) fn free(&mut self, source: HostId, destination: HostId) -> Option<usize> {
        self.flow(source, destination).places.iter().position(Option::is_none)
    }

    /// A write is posted into such a place: where in the destination's memory that is.
    pub(super) fn post(
        &mut self,
        source: HostId,
        destination: HostId,
        place: usize,
        write: Write,
    ) -> usize {
        let flow = self.flow(source, destination);
        let number = flow.posted;
        flow.posted += 1;
        flow.places[place] = Some(Pending { number, write });
        self.place(source, place)
    }

    /// A message is sent: its id.
    pub(super) fn send(&mut self, source: HostId, destination: HostId, message: Sent) -> u32 {
        let flow = self.flow(source, destination);
        let id = flow.sent;
        flow.sent += 1;
        flow.messages.insert(id, message);
        id
    }

    /// A write that may not be is posted.
    pub(super) fn forge(&mut self, source: HostId, destination: HostId) {
        self.flow(source, destination).forged += 1;
    }

    /// Such a record was found by the program of `source`.
    pub(super) fn report(&mut self, source: HostId, record: &ErrorRecord) {
        let flow = self.flow(source, record.host);
        if record.fault == Some(Fault::Session) {
            flow.forget();
        }
        flow.refused += u64::from(matches!(record.fault, Some(Fault::Key | Fault::Bounds)));
        // The end of a session itemises no packet.
        let itemised = !matches!(record.fault, None | Some(Fault::Session));
        flow.reports += u64::from(itemised) + u64::from(record.more);
    }

    /// A host's interface was reset.
    pub(super) fn reset(&mut self, host: HostId) {
        for other in 0..self.hosts as HostId {
            self.flow(host, other).forget();
            self.flow(other, host).forget();
        }
    }

    /// Whether a side of a flow was reset.
    pub(super) fn is_broken(&self) -> bool {
        self.flows.iter().any(|flow| flow.broken)
    }

    /// How many packets of a flow were refused or lost, as its source's completion word says.
    pub(super) fn know(&mut self, source: HostId, destination: HostId, refusals: u32) {
        self.flow(source, destination).known = refusals.into();
    }

    /// A host has checked whether all its transfers are acknowledged: whether those of all hosts
    /// are.
    pub(super) fn settle(&mut self, host: HostId, settled: bool) -> bool {
        self.settled[usize::from(host)] = settled;
        self.settled.iter().all(|settled| *settled)
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
            return self.wrong(|| {
                format!("{name}: place {place} was notified, but no transfer is pending")
            });
        };
        if !told.failed {
            self.arrived(pending.write.line);
        }
        let flow = self.flow(source, destination);
        flow.notified += 1;
        flow.failed += u64::from(told.failed);
        // Notifications of what went into one queue come in order: earlier ones that are due will not come.
        let mut missing = 0;
        let way = usize::from(pending.write.inline);
        let passed = |other: Pending| {
            other.write.inline == pending.write.inline && other.number < pending.number
        };
        for other in &mut flow.places {
            if other.is_some_and(passed) {
                *other = None;
                missing += 1;
            }
        }
        flow.silent += missing;
        // The other queue's notification may have reported it.
        flow.told = flow.told.map(|before| before || told.failed);
        let excused = std::mem::take(&mut flow.told[way]) || flow.broken;
        if missing > 0 && !excused {
            self.wrong(|| {
                format!(
                    "{name}: {missing} before number {} are lost and not reported",
                    pending.number
                )
            });
        }
        let found = host.memory().read(self.place(source, place), pending.write.bytes);
        let own = self.source(source);
        let right = &own[pending.write.shift..][..pending.write.bytes];
        match found {
            Ok(found) if found == right => self.checked += pending.write.bytes as u64,
            _ if excused => {}
            _ => self.wrong(|| {
                format!(
                    "{name}: number {} was notified before its {} bytes were there",
                    pending.number, pending.write.bytes
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
        let own = self.source(source);
        let mut messages = self.flow(source, destination).messages.iter();
        let same = |bytes: usize, shift: usize| &own[shift..][..bytes] == body;
        messages.find(|(_, sent)| same(sent.bytes, sent.shift)).map_or(u32::MAX, |(id, _)| *id)
    }

    /// A message was taken out of the destination's queue.
    pub(super) fn received(
        &mut self,
        source: HostId,
        destination: HostId,
        immediate: u32,
        body: &[u8],
    ) {
        let id = self.id(source, destination, immediate, body);
        let name = format!("message {id} of host {source} to host {destination}");
        let (own, in_order) = (self.source(source), self.in_order);
        let flow = self.flow(source, destination);
        let Some(Sent { bytes, shift, line }) = flow.messages.remove(&id) else {
            if flow.broken {
                return;
            }
            return self.wrong(|| format!("{name} arrived, but is not pending"));
        };
        flow.received += 1;
        let late = in_order && flow.latest.is_some_and(|latest| latest >= id);
        flow.latest = Some(id);
        if late {
            self.wrong(|| format!("{name} arrived after a later one"));
        }
        if body != &own[shift..][..bytes] {
            self.wrong(|| format!("{name} has a wrong byte"));
        }
        self.checked += bytes as u64;
        self.arrived(line);
    }

    /// Transfers whose end has not been notified.
    pub(super) fn open(&self) -> usize {
        let open = |flow: &Flow| {
            let untold = (flow.forged + flow.silent).saturating_sub(flow.reports) as usize;
            let untold = if flow.broken { 0 } else { untold };
            flow.places.iter().flatten().count() + flow.messages.len() + untold
        };
        self.flows.iter().map(open).sum()
    }

    /// All that was posted has arrived, so there is nothing to report.
    pub(super) fn is_whole(&self) -> bool {
        let failed = |flow: &Flow| flow.failed + flow.silent + flow.forged + flow.reports > 0;
        self.open() == 0 && !self.flows.iter().any(failed)
    }

    /// Whether the senders know of exactly the packets that the interfaces have lost or refused,
    /// and have a report of each unless an error ring was full.
    pub(super) fn compare(&self, interfaces: &BTreeMap<String, u64>) -> Result<(), RoadError> {
        let sum = |counter: &str| -> u64 {
            let of = |name: &str| name.starts_with("ni") && name.ends_with(counter);
            interfaces.iter().filter(|(name, _)| of(name)).map(|(_, value)| value).sum()
        };
        let (lost, refused) = (sum(".packets_lost"), sum(".packets_refused"));
        let known: u64 = self.flows.iter().map(|flow| flow.known).sum();
        let reports: u64 = self.flows.iter().map(|flow| flow.reports).sum();
        let told = known == lost + refused && (reports == known || sum(".records_lost") > 0);
        if self.is_broken() || told {
            return Ok(());
        }
        Err(RoadError::Violation(format!(
            "rdma: {lost} packets were lost and {refused} refused, but their senders know of {known} and \
             have {reports} reports"
        )))
    }

    /// Whether what did not come was reported, and no host's own data were written over.
    fn close(&mut self, nodes: &[Node]) {
        let hosts = self.hosts;
        for node in nodes {
            let own = self.source(node.number);
            if node.host.memory().read(self.layout.source, own.len()).ok().as_ref() != Some(&*own) {
                self.wrong(|| {
                    format!(
                        "memory of host {} was written outside the writable ranges",
                        node.number
                    )
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
            let (messages, known) = (flow.messages.len() as u64, flow.known);
            let (forged, refused) = (flow.forged, flow.refused);
            if forged + writes + messages > known {
                self.wrong(|| {
                    format!(
                        "{writes} writes of host {source} to host {destination} were not notified, \
                         {messages} messages did not come, {forged} writes were forged, {known} \
                         known there"
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
            ("refusals_known", sum(&|flow| flow.known)),
        ]
        .map(|(name, value)| (format!("{}.{name}", self.test.name()), value))
        .into()
    }
}

/// The account, and what watches each notification word.
pub(super) fn open(
    scenario: &RdmaScenario,
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

/// What the account says at the end.
pub(super) fn verdict(
    account: &Rc<RefCell<Account>>,
    nodes: &[Node],
    scenario: &RdmaScenario,
) -> Result<(u64, BTreeMap<String, u64>), RoadError> {
    let mut account = account.borrow_mut();
    account.close(nodes);
    match &account.wrong {
        Some(what) => Err(RoadError::Violation(format!("rdma: {what}; seed {}", scenario.seed))),
        None => Ok((account.checked, account.counters())),
    }
}
