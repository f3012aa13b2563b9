// SPDX-License-Identifier: Apache-2.0
//! What runs on the hosts.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::{Future, pending, poll_fn};
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use isthmus_host::pcie::DmaMemory;
use isthmus_host::rdma::{
    Descriptor, HostId, InlineWrite, LazyPosting, MAX_TRANSFER, Message, Options, Posting,
    RdmaError,
};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::Sim;
use isthmus_sim::world::host::MmioHost;

use super::scenario::memory::{Layout, SOURCE_SPARE};
use super::scenario::{INBOX_SLOTS, PostingName, RdmaScenario, RdmaTest, RdmaWorkload};
use super::world::{Program, QUEUE};
use crate::arrivals::Arrivals;
use crate::error::RoadError;
use crate::host_bus::{HostMemory, word};
use crate::together::TaskOf;

/// Messages taken between two tellings of how many.
pub(super) const CREDIT_EVERY: u64 = INBOX_SLOTS as u64 / 4;
const BEAT: usize = 8;

/// What came of a run of programs.
#[derive(Debug, Default)]
pub(super) struct ProgramOutcome {
    pub(super) samples: Vec<Picoseconds>,
    /// When transfers that count began to arrive, and when the last had.
    pub(super) interval: Option<(Picoseconds, Picoseconds)>,
    /// Transfers that arrived in it.
    pub(super) arrived: u64,
    /// Transfers that arrived, or were posted, before it.
    pub(super) skipped: u64,
    /// Bytes compared.
    pub(super) checked: u64,
    /// The observed transfer: the program's call, and when the remote program sees it.
    pub(super) observed: Option<(Picoseconds, Picoseconds)>,
}

/// The span in which transfers are counted: from the first look at which the warm-up is over, so that
/// what that look found is before it, to the last transfer.
#[derive(Debug)]
struct Counted {
    warmup: u64,
    begin: Option<(Picoseconds, u64)>,
    end: (Picoseconds, u64),
}

impl Counted {
    fn new(warmup: u64, now: Picoseconds) -> Self {
        let begin = (warmup == 0).then_some((now, 0));
        Self { warmup, begin, end: (now, 0) }
    }

    /// So many are there now, in all.
    fn see(&mut self, now: Picoseconds, count: u64) {
        if count == self.end.1 {
            return;
        }
        self.end = (now, count);
        if count >= self.warmup {
            self.begin.get_or_insert(self.end);
        }
    }

    fn tell(&self, outcome: &mut ProgramOutcome) {
        let begin = self.begin.unwrap_or(self.end);
        outcome.interval = Some((begin.0, self.end.0));
        outcome.arrived = self.end.1 - begin.1;
        outcome.skipped = begin.1;
    }
}

/// One host's program and the pair that it belongs to.
pub(super) struct Side {
    pub(super) sim: Sim,
    pub(super) host: MmioHost,
    /// The peer's host.
    pub(super) remote: MmioHost,
    pub(super) number: HostId,
    pub(super) peer: HostId,
    pub(super) program: Program,
    pub(super) scenario: Rc<RdmaScenario>,
    pub(super) layout: Layout,
    pub(super) own: Rc<Vec<u8>>,
    pub(super) theirs: Rc<Vec<u8>>,
    /// Notifications seen.
    pub(super) seen: u16,
    /// The first message that has not come, and later ones that have.
    pub(super) next: u64,
    pub(super) early: BTreeSet<u64>,
    pub(super) outcome: ProgramOutcome,
}

/// What a host does.
pub(super) type Task<T> = TaskOf<T, RoadError>;
/// Ends when one of two does.
async fn either(one: impl Future, two: impl Future) {
    let (mut one, mut two) = (pin!(one), pin!(two));
    poll_fn(|context| {
        let ready = one.as_mut().poll(context).is_ready() || two.as_mut().poll(context).is_ready();
        if ready { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

impl Side {
    fn size(&self) -> usize {
        self.scenario.workload.size_bytes
    }

    pub(super) fn failed(&self, during: &'static str) -> impl Fn(RdmaError) -> RoadError + use<> {
        let host = self.number;
        move |source| RoadError::of_host(host, during, source)
    }

    pub(super) fn timed_out(&self, what: &str, transfer: u64) -> RoadError {
        let (host, peer) = (self.number, self.peer);
        RoadError::Violation(format!(
            "rdma: host {host} waited {} for {what} {transfer} of host {peer} in vain at {}, after {} transfers",
            self.scenario.timeout(),
            self.sim.now(),
            self.sim.transfers()
        ))
    }

    /// Where a transfer's data begins in its source's memory: no two near each other are alike.
    fn shift(transfer: u64) -> usize {
        (BEAT * transfer as usize) % SOURCE_SPARE
    }

    pub(super) fn place(&self, transfer: u64) -> usize {
        let places = self.layout.places as u64;
        self.layout.target + (transfer % places) as usize * self.scenario.place_bytes()
    }

    /// What this host sends.
    pub(super) fn body(&self, transfer: u64) -> &[u8] {
        &self.own[Self::shift(transfer)..][..self.size()]
    }

    fn expected(&self, transfer: u64) -> &[u8] {
        &self.theirs[Self::shift(transfer)..][..self.size()]
    }

    fn check(&mut self, transfer: u64, data: &[u8]) -> Result<(), RoadError> {
        let wrong = data.iter().zip(self.expected(transfer)).position(|(is, must)| is != must);
        if let Some(at) = wrong {
            return Err(RoadError::Violation(format!(
                "rdma: host {}: byte {at} of transfer {transfer} from host {} is {:#04x}, must be \
                 {:#04x}; seed {}",
                self.number,
                self.peer,
                data[at],
                self.expected(transfer)[at],
                self.scenario.seed
            )));
        }
        self.outcome.checked += data.len() as u64;
        Ok(())
    }

    fn check_memory(&mut self, transfer: u64) -> Result<(), RoadError> {
        let found = self.host.memory().read(self.place(transfer), self.size());
        let data = found.map_err(|error| RoadError::Inconsistent(format!("rdma: {error}")))?;
        self.check(transfer, &data)
    }

    fn posting(&self) -> Posting {
        match self.scenario.workload.posting {
            PostingName::V1 => Posting::Batch,
            PostingName::V2 => Posting::Circular,
            PostingName::V3(every) => {
                Posting::Lazy { every, opt_in: LazyPosting::i_know_that_the_queue_may_overrun() }
            }
        }
    }

    /// Messages come in order: over one link, or where one waits for another.
    fn in_order(&self) -> bool {
        let one_by_one = match self.scenario.arrivals() {
            Ok(arrivals) if self.scenario.workload.test == RdmaTest::Message => {
                arrivals == Arrivals::Window(1)
            }
            _ => self.scenario.workload.test.is_latency(),
        };
        self.scenario.interface.links == 1 || one_by_one
    }

    /// What a message says of itself beside its body: in order they need no name.
    fn name(&self, transfer: u64) -> u32 {
        if self.in_order() { 0 } else { transfer as u32 }
    }

    fn options(&self, last: bool) -> Options {
        let RdmaWorkload { notify, test, .. } = &self.scenario.workload;
        match test.operation() {
            // The destination is not notified; the sender is, when all has arrived.
            Some(_) => Options { completion: last, ..Options::default() },
            None => Options { notify: last && *notify, ..Options::default() },
        }
    }

    fn descriptors(&self, transfer: u64) -> Vec<Descriptor> {
        let (size, count) = (self.size(), self.scenario.descriptors());
        let source = self.host.bus_address(self.layout.source + Self::shift(transfer));
        let target = self.host.bus_address(self.place(transfer));
        (0..count)
            .map(|index| {
                let at = index * MAX_TRANSFER;
                let last = index + 1 == count;
                Descriptor {
                    source: source + at as u64,
                    // All hosts' memories are alike.
                    target: target + at as u64,
                    bytes: MAX_TRANSFER.min(size - at),
                    host: self.peer,
                    options: self.options(last),
                    key: None,
                    start: last,
                }
            })
            .collect()
    }

    /// Hands transfers to the interface, as one list.
    async fn transfers(&mut self, transfers: Range<u64>) -> Result<(), RoadError> {
        let failed = self.failed("post");
        if self.scenario.workload.test.is_send() {
            let own = Rc::clone(&self.own);
            let size = self.size();
            let message = |transfer: u64| Message {
                body: &own[Self::shift(transfer)..][..size],
                options: Options::default(),
                immediate: self.name(transfer),
            };
            let list: Vec<_> = transfers.map(message).collect();
            let sent = self.program.endpoint.send_list(self.peer, QUEUE, &list);
            return sent.await.map_err(failed);
        }
        if self.scenario.is_inline() {
            let (own, size) = (Rc::clone(&self.own), self.size());
            let write = |transfer: u64| InlineWrite {
                body: &own[Self::shift(transfer)..][..size],
                target: self.host.bus_address(self.place(transfer)),
                options: self.options(true),
                key: None,
            };
            let list: Vec<_> = transfers.map(write).collect();
            return self.program.endpoint.put_inline(self.peer, &list).await.map_err(failed);
        }
        let (is_list, posting) = (transfers.end - transfers.start > 1, self.posting());
        let descriptors: Vec<_> =
            transfers.flat_map(|transfer| self.descriptors(transfer)).collect();
        let endpoint = &mut self.program.endpoint;
        if is_list || matches!(posting, Posting::Batch) {
            return endpoint.post(self.peer, &descriptors, posting).await.map_err(failed);
        }
        for descriptor in &descriptors {
            let one = std::slice::from_ref(descriptor);
            endpoint.post(self.peer, one, posting).await.map_err(&failed)?;
        }
        Ok(())
    }

    /// Hands one transfer to the interface.
    pub(super) async fn transfer(&mut self, transfer: u64) -> Result<(), RoadError> {
        self.transfers(transfer..transfer + 1).await
    }

    /// The number of a message, if one is there, checked. Over several links they may overtake each other.
    pub(super) async fn take_message(&mut self) -> Result<Option<u64>, RoadError> {
        let failed = self.failed("receive");
        let Program { endpoint, inbox, .. } = &mut self.program;
        let Some((frame, body)) = inbox.receive(endpoint).await.map_err(failed)? else {
            return Ok(None);
        };
        let (one, next) = (self.in_order(), self.next);
        let transfer = if one { next } else { u64::from(frame.immediate) };
        let possible = if one {
            frame.immediate == self.name(next)
        } else {
            transfer >= next && self.early.insert(transfer)
        };
        if !possible || frame.source != self.peer {
            return Err(RoadError::Violation(format!(
                "rdma: host {}: message {transfer} of host {} came, {next} of host {} was next",
                self.number, frame.source, self.peer
            )));
        }
        if one {
            self.next += 1;
        }
        while self.early.remove(&self.next) {
            self.next += 1;
        }
        self.check(transfer, &body)?;
        Ok(Some(transfer))
    }

    pub(super) fn slot(&self, transfer: u64) -> usize {
        let slot = (self.layout.group - self.layout.inbox) / INBOX_SLOTS;
        self.layout.inbox + (transfer as usize % INBOX_SLOTS) * slot
    }

    pub(super) fn value(&self, place: usize) -> Result<u64, RoadError> {
        let bytes = self.host.memory().read(place, BEAT);
        bytes
            .map(|bytes| word(&bytes))
            .map_err(|error| RoadError::Inconsistent(format!("rdma: {error}")))
    }

    /// Waits until the peer's transfer has come, as the program sees it, and compares it.
    async fn arrival(&mut self, transfer: u64) -> Result<(), RoadError> {
        let workload = &self.scenario.workload;
        if workload.packed {
            let failed = self.failed("receive");
            let Program { endpoint, inbox, .. } = &mut self.program;
            let timeout = std::time::Duration::from_nanos(self.scenario.timeout().0 / 1_000);
            let size = workload.size_bytes;
            let body = inbox.receive_packed(endpoint, size, timeout).await.map_err(failed)?;
            let body = body.ok_or_else(|| self.timed_out("message", transfer))?;
            return self.check(transfer, &body);
        }
        if workload.test.is_send() {
            let place = self.slot(transfer);
            loop {
                // Before the program looks: what comes while it does is not waited for.
                let now = self.value(place)?;
                if self.take_message().await?.is_some() {
                    return Ok(());
                }
                let host = self.host.clone();
                let changed = host.memory().watch(place, BEAT, |bytes| word(bytes) != now);
                if self.sim.timeout(self.scenario.timeout(), changed).await.is_err() {
                    return Err(self.timed_out("message", transfer));
                }
            }
        }
        if workload.notify {
            self.notifications(transfer, 1).await?;
            return Ok(());
        }
        let last = self.place(transfer) + self.size() - BEAT;
        let expected = word(&self.expected(transfer)[self.size() - BEAT..]);
        let host = self.host.clone();
        let came = host.memory().watch(last, BEAT, |bytes| word(bytes) == expected);
        if self.sim.timeout(self.scenario.timeout(), came).await.is_err() {
            return Err(self.timed_out("the last byte of write", transfer));
        }
        let mut memory = HostMemory::new(&self.sim, &self.host);
        let failed = self.failed("look at memory");
        memory.load64(last).await.map_err(|error| failed(error.into()))?;
        self.check_memory(transfer)
    }

    /// Waits for notifications of the peer's transfers from `next` on, at most `most`; checks them.
    async fn notifications(&mut self, next: u64, most: u64) -> Result<u64, RoadError> {
        let failed = self.failed("wait for a notification");
        let told = self.program.endpoint.notified(self.peer, self.seen).await.map_err(failed)?;
        let Some(told) = told else {
            return Err(self.timed_out("the notification of write", next));
        };
        if told.failed {
            return Err(RoadError::Violation(format!(
                "rdma: host {}: the notification of write {next} of host {} says that one failed",
                self.number, self.peer
            )));
        }
        let new = u64::from(told.count.wrapping_sub(self.seen) & 0x7FFF);
        if new == 0 || new > most {
            return Err(RoadError::Violation(format!(
                "rdma: host {}: {new} notifications of host {} at once, 1 to {most} possible",
                self.number, self.peer
            )));
        }
        self.seen = told.count;
        for transfer in next..next + new {
            self.check_memory(transfer)?;
        }
        Ok(new)
    }

    /// No refusal, no loss: neither side's errors have a record.
    pub(super) async fn no_errors(&mut self) -> Result<(), RoadError> {
        let failed = self.failed("look for errors");
        let record = self.program.endpoint.error().await.map_err(failed)?;
        match record {
            Some(record) if !self.scenario.faults.any() => Err(RoadError::Violation(format!(
                "rdma: host {} got an error report although no fault occurred: {record:?}",
                self.number
            ))),
            _ => Ok(()),
        }
    }

    /// Round trips, begun by host `first`. `observe` is called before and after the last transfer.
    pub(super) async fn ping_pong(
        mut self,
        first: bool,
        observe: Rc<dyn Fn(bool)>,
        observed: Rc<RefCell<[Picoseconds; 2]>>,
    ) -> Result<ProgramOutcome, RoadError> {
        let (warmup, measured) = (self.scenario.workload.warmup, self.scenario.workload.iterations);
        for transfer in 0..warmup + measured {
            let last = transfer + 1 == warmup + measured;
            let start = self.sim.now();
            if first {
                if last {
                    observe(true);
                    observed.borrow_mut()[0] = start;
                }
                self.transfer(transfer).await?;
                self.arrival(transfer).await?;
                if transfer >= warmup {
                    self.outcome.samples.push(Picoseconds((self.sim.now() - start).0 / 2));
                }
                self.sim.count_transfers(1);
            } else {
                self.arrival(transfer).await?;
                if last {
                    observed.borrow_mut()[1] = self.sim.now();
                    observe(false);
                }
                self.transfer(transfer).await?;
            }
        }
        if first {
            let [from, until] = *observed.borrow();
            self.outcome.observed = Some((from, until));
        }
        self.no_errors().await?;
        Ok(self.outcome)
    }

    fn credit_out(&self) -> usize {
        self.layout.words + BEAT * usize::from(self.peer)
    }

    pub(super) fn credit_in(&self, of: HostId) -> usize {
        self.layout.words + 64 + BEAT * usize::from(of)
    }

    /// Tells the peer how many of its messages were taken.
    pub(super) async fn tell_taken(&mut self, taken: u64) -> Result<(), RoadError> {
        let failed = self.failed("report what was taken");
        let mut memory = HostMemory::new(&self.sim, &self.host);
        let stored = memory.write(self.credit_out(), &taken.to_le_bytes()).await;
        stored.map_err(|error| failed(error.into()))?;
        let descriptor = Descriptor {
            source: self.host.bus_address(self.credit_out()),
            target: self.host.bus_address(self.credit_in(self.number)),
            bytes: BEAT,
            host: self.peer,
            options: Options::default(),
            key: None,
            start: true,
        };
        self.program.endpoint.put(&descriptor).await.map_err(failed)
    }

    /// One after the other, as fast as credit allows: sends and receives the workload's number; the
    /// first of each are not counted.
    pub(super) async fn stream(
        mut self,
        sends: bool,
        receives: bool,
    ) -> Result<ProgramOutcome, RoadError> {
        let workload = self.scenario.workload.clone();
        let total = workload.warmup + workload.iterations;
        let (to_send, to_receive) =
            (if sends { total } else { 0 }, if receives { total } else { 0 });
        let is_send = workload.test.is_send();
        let told = is_send || workload.notify;
        // All hosts' queues are alike.
        let window = self.program.inbox.room() as u64;
        let (mut sent, mut received, mut taken) = (0, 0, 0);
        let mut posted = self.sim.now();
        let mut here = Counted::new(workload.warmup, posted);
        let mut gone = Counted::new(workload.warmup, posted);
        while sent < to_send || (told && received < to_receive) {
            let room = if is_send { window - (sent - taken) } else { u64::MAX };
            let list = workload.post_list.min(to_send - sent).min(room);
            if list > 0 {
                self.transfers(sent..sent + list).await?;
                let now = self.sim.now();
                let counted = (sent + list).saturating_sub(sent.max(workload.warmup));
                let each = Picoseconds((now - posted).0 / list);
                self.outcome.samples.extend((0..counted).map(|_| each));
                posted = now;
                sent += list;
                self.sim.count_transfers(list);
                gone.see(now, sent);
            }
            if sent < to_send && is_send && sent - taken >= window {
                taken = self.value(self.credit_in(self.peer))?;
            }
            // The content of the next message's slot while that message is pending.
            let mut empty = None;
            if told && received < to_receive {
                // Block only when nothing is left to send.
                let wait = sent == to_send;
                let frame = if is_send { Some(self.value(self.slot(received))?) } else { None };
                let new = self.look(received, to_receive - received, is_send, wait).await?;
                empty = frame.filter(|_| new == 0);
                let before = received;
                received += new;
                here.see(self.sim.now(), received);
                if is_send && received / CREDIT_EVERY != before / CREDIT_EVERY {
                    self.tell_taken(received).await?;
                }
            }
            let stuck = sent < to_send && is_send && sent - taken >= window;
            if stuck && (empty.is_some() || received == to_receive) {
                self.wait_for_room(taken, empty.map(|frame| (self.slot(received), frame))).await?;
            }
        }
        if told && receives {
            here.tell(&mut self.outcome);
        }
        if sends {
            let failed = self.failed("wait for the last transfer");
            if !is_send {
                self.program.endpoint.departed(self.peer).await.map_err(failed)?;
            }
            if !told {
                // Behind the warm-up the queue is as full as when the last one is posted.
                gone.tell(&mut self.outcome);
            }
        }
        self.no_errors().await?;
        Ok(self.outcome)
    }

    /// New transfers of the peer, one at least where it `wait`s.
    async fn look(
        &mut self,
        next: u64,
        most: u64,
        is_send: bool,
        wait: bool,
    ) -> Result<u64, RoadError> {
        if wait {
            if is_send {
                self.arrival(next).await?;
                return Ok(1);
            }
            return self.notifications(next, most).await;
        }
        if is_send {
            // No more than are sent meanwhile: both directions get their share of the processor.
            let most = most.min(self.scenario.workload.post_list);
            let mut new = 0;
            while new < most && self.take_message().await?.is_some() {
                new += 1;
            }
            return Ok(new);
        }
        let failed = self.failed("look for a notification");
        let told = self.program.endpoint.notification(self.peer).await.map_err(failed)?;
        if told.count == self.seen {
            return Ok(0);
        }
        self.notifications(next, most).await
    }

    /// Until the peer has taken more messages than `taken`, or sent one: then a slot has no longer the
    /// frame word that it had.
    async fn wait_for_room(
        &mut self,
        taken: u64,
        empty: Option<(usize, u64)>,
    ) -> Result<(), RoadError> {
        let room = self.credit_in(self.peer);
        let host = self.host.clone();
        let more = host.memory().watch(room, BEAT, |bytes| word(bytes) != taken);
        let came = async {
            match empty {
                Some((slot, frame)) => host.memory().watch(slot, BEAT, |b| word(b) != frame).await,
                None => pending().await,
            }
        };
        if self.sim.timeout(self.scenario.timeout(), either(more, came)).await.is_err() {
            return Err(self.timed_out("room for message", taken));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(warmup: u64, looks: &[(u64, u64)]) -> ProgramOutcome {
        let mut counted = Counted::new(warmup, Picoseconds(5));
        looks.iter().for_each(|(at, count)| counted.see(Picoseconds(*at), *count));
        let mut outcome = ProgramOutcome::default();
        counted.tell(&mut outcome);
        outcome
    }

    #[test]
    fn what_came_with_the_end_of_the_warm_up_is_not_counted() {
        // One each 10 ps; the look at 60 finds the third of the warm-up and two more.
        let outcome = told(3, &[(20, 2), (60, 5), (60, 5), (90, 8)]);
        assert_eq!(outcome.interval, Some((Picoseconds(60), Picoseconds(90))));
        assert_eq!((outcome.arrived, outcome.skipped), (3, 5));
    }

    #[test]
    fn a_run_that_is_over_with_its_warm_up_has_no_rate() {
        let outcome = told(3, &[(20, 4)]);
        assert_eq!(outcome.interval, Some((Picoseconds(20), Picoseconds(20))));
        assert_eq!(outcome.arrived, 0);
    }

    #[test]
    fn without_warm_up_all_is_counted_from_the_begin() {
        let outcome = told(0, &[(25, 1), (35, 2)]);
        assert_eq!(outcome.interval, Some((Picoseconds(5), Picoseconds(35))));
        assert_eq!(outcome.arrived, 2);
    }
}
