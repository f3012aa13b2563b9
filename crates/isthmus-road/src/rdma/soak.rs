// SPDX-License-Identifier: Apache-2.0
//! Programs that write and send from all hosts to all hosts under faults, or as in a trace.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use isthmus_host::rdma::{Descriptor, HostId, InlineWrite, Key, MAX_INLINE, Options, Posting};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::{RandomStream, Sim};
use isthmus_sim::world::host::MmioHost;

use super::account::{Account, PLACE_BYTES, PLACES, Sent, Write};
use super::program::ProgramOutcome;
use super::scenario::memory::{Layout, SOURCE_SPARE};
use super::scenario::{MESSAGE_BYTES, RdmaScenario, RdmaTest, TransferKind};
use super::world::{Node, Program, QUEUE};
use crate::error::RoadError;

const BEAT: usize = 8;
/// Between two polls of a program that has nothing to do.
const REST: Picoseconds = Picoseconds::from_ns(500);
/// The same where each transfer's time counts.
const LOOK: Picoseconds = Picoseconds::from_ns(50);
/// It does not poll for this long before it posts: a poll takes the processor's time.
const QUIET: Picoseconds = Picoseconds::from_us(1);
/// After all flows have been acknowledged, all reports have been written within this time.
const ON_ITS_WAY: Picoseconds = Picoseconds::from_us(100);
/// A program that finds no free space for this long has stopped for ever.
const STUCK: Picoseconds = Picoseconds::from_ms(20);
/// A share of transfers are messages: one in this many.
const MESSAGE_EVERY: u64 = 3;
/// Of short writes, one in this many brings its data with it.
const INLINE_EVERY: u64 = 3;

/// One host's program.
pub(super) struct Soaker {
    sim: Sim,
    host: MmioHost,
    number: HostId,
    program: Program,
    scenario: Rc<RdmaScenario>,
    layout: Layout,
    account: Rc<RefCell<Account>>,
    random: RandomStream,
    /// Resets of this host's interface that are to come, the next one last.
    resets: Vec<Picoseconds>,
    /// Times in which it takes nothing, the next one last.
    stalls: Vec<(Picoseconds, Picoseconds)>,
}

impl Soaker {
    pub(super) fn new(
        sim: &Sim,
        node: &Node,
        program: Program,
        scenario: &Rc<RdmaScenario>,
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

    pub(super) async fn run(mut self) -> Result<ProgramOutcome, RoadError> {
        let begin = self.sim.now();
        let iterations = self.scenario.workload.iterations;
        match self.scenario.workload.test {
            RdmaTest::Trace => {
                self.warm().await?;
                self.replay().await?;
            }
            _ => {
                for _ in 0..iterations {
                    self.serve().await?;
                    self.post().await?;
                    self.sim.count_transfers(1);
                }
            }
        }
        self.account.borrow_mut().active -= 1;
        let mut idle = self.sim.now();
        loop {
            let before = self.account.borrow().open();
            self.serve().await?;
            self.sim.sleep(self.rest()).await;
            let (active, open) = {
                let account = self.account.borrow();
                (account.active, account.open())
            };
            if active > 0 || open != before {
                idle = self.sim.now();
            }
            if active == 0 && self.over(idle).await? {
                break;
            }
        }
        let end = self.sim.now();
        self.serve().await?;
        let hosts = self.scenario.workload.hosts as HostId;
        for peer in (0..hosts).filter(|peer| *peer != self.number) {
            let failed = self.failed("look how many packets were refused");
            let refusals = self.program.endpoint.completion(peer).await.map_err(failed)?.refusals;
            self.account.borrow_mut().know(self.number, peer, refusals);
        }
        if self.scenario.workload.test == RdmaTest::Trace {
            let samples = self.account.borrow().samples(self.number.into());
            return Ok(ProgramOutcome { samples, ..ProgramOutcome::default() });
        }
        Ok(ProgramOutcome {
            interval: Some((begin, end)),
            arrived: iterations,
            ..ProgramOutcome::default()
        })
    }

    /// Whether nothing is due any more, or nothing can come any more; since `idle` nothing has.
    async fn over(&mut self, idle: Picoseconds) -> Result<bool, RoadError> {
        if self.account.borrow().is_whole() {
            return Ok(true);
        }
        let waited = self.sim.now() - idle;
        if waited <= ON_ITS_WAY {
            return Ok(false);
        }
        let mut settled = true;
        for peer in (0..self.program.endpoint.hosts()).filter(|peer| *peer != self.number) {
            let failed = self.failed("look whether all is acknowledged");
            settled &= self.program.endpoint.settled(peer).await.map_err(failed)?;
        }
        let mut account = self.account.borrow_mut();
        let all = account.settle(self.number, settled);
        // A flow that a reset cut in two never is.
        let most = self.scenario.interface.lost_us.max(self.scenario.interface.probe_us);
        let times = if account.is_broken() { 8e3 } else { 100e3 };
        Ok(all || waited > Picoseconds::from_ns_f64(times * most))
    }

    fn rest(&self) -> Picoseconds {
        if self.scenario.workload.test == RdmaTest::Trace { LOOK } else { REST }
    }

    /// A write to every host to which this host sends, so that its flows are open; until all hosts'
    /// are.
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
        let mut idle = self.sim.now();
        loop {
            self.serve().await?;
            let (warming, begun) = {
                let account = self.account.borrow();
                (account.warming, account.begin.is_some())
            };
            if begun {
                return Ok(());
            }
            if warming > 0 {
                idle = self.sim.now();
            } else if self.over(idle).await? {
                let mut account = self.account.borrow_mut();
                let begin = self.sim.now() + REST;
                account.begin.get_or_insert(begin);
                return Ok(());
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
                TransferKind::Message => self.message(peer, bytes, shift, true, Some(line)).await?,
                TransferKind::Write => self.put(peer, bytes, shift, false, Some(line)).await?,
                TransferKind::Inline => self.put(peer, bytes, shift, true, Some(line)).await?,
            }
            self.sim.count_transfers(1);
        }
        Ok(())
    }

    fn failed(
        &self,
        during: &'static str,
    ) -> impl Fn(isthmus_host::rdma::RdmaError) -> RoadError + use<> {
        let host = self.number;
        move |source| RoadError::of_host(host, during, source)
    }

    /// Takes what has come: messages, and reports of what failed.
    async fn serve(&mut self) -> Result<(), RoadError> {
        if let Some(what) = self.account.borrow().violation() {
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
        let Program { endpoint, inbox, .. } = &mut self.program;
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
            self.account.borrow_mut().report(self.number, &record);
        }
        Ok(())
    }

    /// The program's interface was reset under it: it opens it anew.
    async fn reopen(&mut self) -> Result<(), RoadError> {
        let (sim, host) = (self.sim.clone(), self.host.clone());
        let scenario = (*self.scenario).clone();
        let seed = self.sim.now().0 / 1_000;
        let scenario = RdmaScenario { seed, ..scenario };
        let failed = self.failed("open anew");
        self.account.borrow_mut().reset(self.number);
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
        let own = self.account.borrow().source(self.number);
        let sent = Sent { bytes, shift, line };
        let id = self.account.borrow_mut().send(self.number, peer, sent);
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
            let free = self.account.borrow_mut().free(self.number, peer);
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
        let write = Write { bytes, shift, inline, line };
        let target = self.account.borrow_mut().post(self.number, peer, place, write);
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
            let own = self.account.borrow().source(self.number);
            let write = [InlineWrite { body: &own[shift..][..bytes], target, options, key }];
            return endpoint.put_inline(host, &write).await.map_err(failed);
        }
        endpoint.post(host, &[transfer], Posting::Circular).await.map_err(failed)
    }

    /// A write of `bytes` at `shift`, without a key and without a notification.
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
        self.account.borrow_mut().forge(self.number, peer);
        let (key, inline) = (key.map(|key| (key, 0)), self.is_inline(bytes));
        let transfer = self.descriptor(peer, 0, target, bytes);
        self.write(0, Descriptor { key, ..transfer }, inline).await
    }

    /// One of three that are short enough brings its data with it.
    fn is_inline(&mut self, bytes: usize) -> bool {
        bytes < MAX_INLINE && self.random.below(INLINE_EVERY) == 0
    }
}
