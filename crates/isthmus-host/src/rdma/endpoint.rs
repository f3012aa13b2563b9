// SPDX-License-Identifier: Apache-2.0

use std::time::Duration;

use super::config::EndpointConfig;
use super::error::RdmaError;
use super::words::{Completion, ErrorRecord, HostId, Notification, Region, offset};
use crate::pcie::{DmaMemory, Mmio};
use crate::regs::rdma as regs;
use crate::transport::TransportError;

const IDENTITY: u32 = 0x5244_4D41;
const VERSION: u32 = 1;
const RUNNING: u32 = 1;
const READY: u32 = 2;
const ENABLE: u32 = 1;
const ALL_LINKS: u8 = 0xF;
pub(super) const BEAT: usize = 8;
const HOSTS: usize = 8;
/// Entries of the region table, of 4 beats each.
const REGIONS: usize = 64;
/// Entries of the queue table, of 2 beats each.
const QUEUES: usize = 256;

/// Where the control words lie in the endpoint's memory, and the error ring behind them.
pub(super) const LOCAL: usize = 0x000;
pub(super) const LOCAL_MESSAGES: usize = 0x040;
const NOTIFIED: usize = 0x080;
const COMPLETED: usize = 0x0C0;
const ERRORS: usize = 0x100;
const ERROR_RECORDS_LOG2: u32 = 6;
const ERROR_RECORDS: u16 = 1 << ERROR_RECORDS_LOG2;

/// Offset in the endpoint's memory of the word that reports `source`'s writes: for an observer of
/// the memory other than the program.
#[must_use]
pub const fn notified_offset(source: HostId) -> usize {
    NOTIFIED + BEAT * source as usize
}

/// Offset in the endpoint's memory of the completion word of a destination: for an observer of the
/// memory other than the program.
#[must_use]
pub const fn completed_offset(destination: HostId) -> usize {
    COMPLETED + BEAT * destination as usize
}

/// Bytes at the begin of the endpoint's memory that are its own; what follows is the program's.
pub const CONTROL_BYTES: usize = ERRORS + 16 * ERROR_RECORDS as usize;

/// What was posted to a destination, modulo 2^16: slots, and beats of messages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Posted {
    pub(super) slots: u16,
    pub(super) slots_back: u16,
    pub(super) unseen: u16,
    pub(super) beats: u16,
    pub(super) beats_back: u16,
    /// Packets, which the flow numbers in one row.
    pub(super) packets: u16,
    /// At the last fence.
    pub(super) ended: u8,
    pub(super) refusals: u32,
}

/// One host's network interface.
#[derive(Debug)]
pub struct Endpoint<M, D> {
    pub(super) mmio: M,
    pub(super) memory: D,
    pub(super) config: EndpointConfig,
    pub(super) hosts: HostId,
    /// That it may use, a bit each.
    links: u8,
    /// Hosts that may raise the interrupt, a bit each.
    pub(super) unmasked: u8,
    pub(super) posted: [Posted; HOSTS],
    pub(super) errors: u16,
}

impl<M: Mmio, D: DmaMemory> Endpoint<M, D> {
    /// Stops whatever runs, clears the tables' notify addresses and the error ring, and enables the
    /// interface. The first [`CONTROL_BYTES`] of `memory` are the endpoint's.
    ///
    /// # Errors
    /// When the board or the memory is not fit, or the board does not stop.
    pub async fn open(mmio: M, memory: D, config: EndpointConfig) -> Result<Self, RdmaError> {
        let (size, address) = (memory.size(), memory.bus_address());
        if size < CONTROL_BYTES || !address.is_multiple_of(64) {
            return Err(RdmaError::Memory { size, address, needed: CONTROL_BYTES });
        }
        let posted = [Posted::default(); HOSTS];
        let mut endpoint = Self {
            mmio,
            memory,
            config,
            hosts: 0,
            links: ALL_LINKS,
            unmasked: 0,
            posted,
            errors: 0,
        };
        endpoint.start().await?;
        Ok(endpoint)
    }

    async fn start(&mut self) -> Result<(), RdmaError> {
        for (register, expected) in [(regs::ID, IDENTITY), (regs::VERSION, VERSION)] {
            let found = self.mmio.read32(register.into()).await?;
            if found != expected {
                return Err(RdmaError::Board { register, found, expected });
            }
        }
        self.hosts = (self.mmio.read32(regs::LIMITS.into()).await? & 0xF) as HostId;
        self.host(self.config.host)?;
        self.stop().await?;
        self.memory.write(0, &[0; CONTROL_BYTES]).await?;
        // No reset clears them: the regions and queues of the program before would stay open.
        self.table(offset::REGIONS, &[0; REGIONS * 4]).await?;
        self.table(offset::QUEUE_TABLE, &[0; QUEUES * 2]).await?;
        let base = self.memory.bus_address();
        for host in 0..u64::from(self.hosts) {
            for (table, place) in [
                (offset::LOCAL, LOCAL),
                (offset::LOCAL_MESSAGES, LOCAL_MESSAGES),
                (offset::NOTIFIED, NOTIFIED),
                (offset::COMPLETED, COMPLETED),
            ] {
                let address = base + place as u64 + 8 * host;
                self.table(table + 8 * host, &[address]).await?;
            }
        }
        let ring = base + ERRORS as u64;
        for (register, value) in [
            (regs::HOST, u32::from(self.config.host) | u32::from(self.config.session) << 8),
            (regs::PROBE_CYCLES, self.config.probe_cycles),
            (regs::LOST_CYCLES, self.config.lost_cycles),
            (regs::ERR_BASE_LO, ring as u32),
            (regs::ERR_BASE_HI, (ring >> 32) as u32),
            (regs::ERR_SIZE, ERROR_RECORDS_LOG2),
            (regs::ERR_TAIL, 0),
            (regs::CONTROL, self.control()),
        ] {
            self.mmio.write32(register.into(), value).await?;
        }
        // Queues are cleared first: what is posted before is not taken.
        self.reaches(READY | RUNNING).await
    }

    fn control(&self) -> u32 {
        ENABLE | u32::from(self.config.bench) << 1 | u32::from(self.links) << 4
    }

    /// Which links are up, a bit each: those that the cable and the far end let be.
    ///
    /// # Errors
    /// When the machine refuses.
    pub async fn links_up(&mut self) -> Result<u8, RdmaError> {
        Ok((self.mmio.read32(regs::STATE.into()).await? >> 4) as u8 & ALL_LINKS)
    }

    /// Sets which links may be used, a bit each; after opening, all of them.
    ///
    /// A packet that is assigned to a dead link blocks its flow until the link comes up. Taking the link out of
    /// use drops the packet: it counts as lost, its destination and this host are notified
    /// ([`ErrorRecord`]), and the flow continues over the other links.
    ///
    /// # Errors
    /// When no link would be left, or the interface has fewer.
    pub async fn use_links(&mut self, links: u8) -> Result<(), RdmaError> {
        let has = self.mmio.read32(regs::LIMITS.into()).await? >> 4 & 0x7;
        if links == 0 || u32::from(links) >= 1 << has {
            return Err(RdmaError::Links { links, has: has as u8 });
        }
        self.links = links;
        Ok(self.mmio.write32(regs::CONTROL.into(), self.control()).await?)
    }

    async fn stop(&mut self) -> Result<(), RdmaError> {
        self.mmio.write32(regs::CONTROL.into(), 0).await?;
        self.reaches(READY).await
    }

    async fn reaches(&mut self, state: u32) -> Result<(), RdmaError> {
        let deadline = self.memory.now() + self.config.timeout;
        while self.mmio.read32(regs::STATE.into()).await? & (RUNNING | READY) != state {
            if self.memory.now() > deadline {
                return Err(TransportError::TimedOut.into());
            }
        }
        Ok(())
    }

    pub(super) fn host(&self, host: HostId) -> Result<usize, RdmaError> {
        if host < self.hosts {
            Ok(host.into())
        } else {
            Err(RdmaError::Host { host, most: self.hosts.saturating_sub(1) })
        }
    }

    /// Writes table words, each whole.
    pub(super) async fn table(&mut self, at: u64, beats: &[u64]) -> Result<(), RdmaError> {
        let bytes: Vec<u8> = beats.iter().flat_map(|beat| beat.to_le_bytes()).collect();
        Ok(self.mmio.write_combined(at, &bytes).await?)
    }

    /// Its memory: [`CONTROL_BYTES`] of it are its own.
    pub fn memory(&mut self) -> &mut D {
        &mut self.memory
    }

    /// Gives `region` the number `index`. The first entries, one for each host, are also what that
    /// host's descriptors without a key may write.
    ///
    /// # Errors
    /// When there is no such entry, or the region cannot be.
    pub async fn register(&mut self, index: u8, region: &Region) -> Result<(), RdmaError> {
        if usize::from(index) >= REGIONS {
            return Err(RdmaError::Entry { table: "region", index: index.into() });
        }
        let [base, limit, rest] = region.beats()?;
        let at = offset::REGIONS + 32 * u64::from(index);
        // Invalid before its bounds change.
        self.table(at + 16, &[0]).await?;
        self.table(at, &[base, limit]).await?;
        self.table(at + 16, &[rest]).await
    }

    /// Takes number `index` from its region: what comes for it from now on is refused. A write that
    /// was allowed before may still be on its way over this host's bus.
    ///
    /// # Errors
    /// When there is no such entry.
    pub async fn unregister(&mut self, index: u8) -> Result<(), RdmaError> {
        if usize::from(index) >= REGIONS {
            return Err(RdmaError::Entry { table: "region", index: index.into() });
        }
        self.table(offset::REGIONS + 32 * u64::from(index) + 16, &[0]).await
    }

    /// Waits until all that was posted to `host` before, transfers and messages, is in its memory, or
    /// was refused, or lost, and says how many packets were, since the last fence; which is in
    /// [`ErrorRecord`]s, that may come after this. The refusal of a notification alone, for which
    /// the remote host had no place, may be counted in the next fence.
    ///
    /// It waits for the completion word. The remote host acknowledges a transfer or message that
    /// asks for `completion` at once; others at the latest when
    /// [`probe_cycles`](EndpointConfig::probe_cycles) have passed twice, and that is how long this
    /// may take unless the last one of each kind asks.
    ///
    /// # Errors
    /// When not all is acknowledged in time, and once after the remote host was reset. A transfer
    /// that a reset cut in two leaves numbers that are never used; then no fence to this host ends
    /// before the endpoint is opened anew.
    pub async fn fence(&mut self, host: HostId) -> Result<u32, RdmaError> {
        let at = self.host(host)?;
        let (word, waited) = (COMPLETED + BEAT * at, self.config.timeout);
        let deadline = self.memory.now().saturating_add(waited);
        let mut seen = self.memory.load64(word).await?;
        loop {
            let done = Completion::from(seen);
            let missing = self.posted[at].packets.wrapping_sub(done.number);
            if missing == 0 && !done.pending {
                let before = std::mem::replace(&mut self.posted[at].ended, done.ended);
                let refusals = std::mem::replace(&mut self.posted[at].refusals, done.refusals);
                if before != done.ended {
                    return Err(RdmaError::Session { host });
                }
                return Ok(done.refusals.wrapping_sub(refusals));
            }
            let left = deadline.saturating_sub(self.memory.now());
            match self.watch_word(word, seen, left).await? {
                Some(word) => seen = word,
                None => return Err(RdmaError::Fence { host, missing, waited }),
            }
        }
    }

    /// Whether a [`fence`](Self::fence) to `host` would end at once.
    ///
    /// # Errors
    /// When there is no such host, or its completion word cannot be read.
    pub async fn settled(&mut self, host: HostId) -> Result<bool, RdmaError> {
        let at = self.host(host)?;
        let done = Completion::from(self.memory.load64(COMPLETED + BEAT * at).await?);
        Ok(self.posted[at].packets == done.number && !done.pending)
    }

    /// A [`fence`](Self::fence) to every host; the sum of the refusals.
    ///
    /// # Errors
    /// The first host's whose fence failed. All have been waited for.
    pub async fn flush_all(&mut self) -> Result<u32, RdmaError> {
        let mut known = Ok(0);
        for host in 0..self.hosts {
            let here = self.fence(host).await;
            known = known.and_then(|sum: u32| here.map(|refusals| sum.wrapping_add(refusals)));
        }
        known
    }

    /// Hosts that it addresses: 0 to one less.
    #[must_use]
    pub fn hosts(&self) -> HostId {
        self.hosts
    }

    /// How it was opened.
    #[must_use]
    pub fn config(&self) -> &EndpointConfig {
        &self.config
    }

    pub(super) async fn changed(
        &mut self,
        word: usize,
        seen: u64,
        host: HostId,
        queue: &'static str,
    ) -> Result<u16, RdmaError> {
        let waited = self.config.timeout;
        match self.watch_word(word, seen, waited).await? {
            None => Err(RdmaError::Stuck { host, queue, waited }),
            Some(back) => Ok(back as u16),
        }
    }

    /// Waits until the 8 bytes at `at` of its memory are not `seen`, and gives what they are then;
    /// none when `timeout` passes first. The last word of a transfer that asks for no notification
    /// can be watched so, over one path: over several another word may come last.
    ///
    /// # Errors
    /// When they are not in the memory at a multiple of 8.
    pub async fn watch_word(
        &mut self,
        at: usize,
        seen: u64,
        timeout: Duration,
    ) -> Result<Option<u64>, RdmaError> {
        let size = self.memory.size();
        if !at.is_multiple_of(BEAT) || at.checked_add(BEAT).is_none_or(|end| end > size) {
            return Err(RdmaError::Place { at, size });
        }
        let mut word = self.memory.load64(at).await?;
        if word == seen && !timeout.is_zero() {
            let deadline = self.memory.now().saturating_add(timeout);
            word = self.memory.poll64(at, seen, deadline).await?;
        }
        Ok((word != seen).then_some(word))
    }

    /// A source's notification as it stands.
    ///
    /// # Errors
    /// When there is no such host.
    pub async fn notification(&mut self, source: HostId) -> Result<Notification, RdmaError> {
        let at = self.host(source)?;
        Ok(self.memory.load64(NOTIFIED + BEAT * at).await?.into())
    }

    /// Waits for a source's next notification after `seen`; none when `timeout` passes first.
    ///
    /// # Errors
    /// When there is no such host.
    pub async fn notified(
        &mut self,
        source: HostId,
        seen: u16,
    ) -> Result<Option<Notification>, RdmaError> {
        let word = NOTIFIED + BEAT * self.host(source)?;
        let now = self.memory.load64(word).await?;
        if Notification::from(now).count != seen {
            return Ok(Some(now.into()));
        }
        Ok(self.watch_word(word, now, self.config.timeout).await?.map(Into::into))
    }

    /// A destination's completion as it stands.
    ///
    /// # Errors
    /// When there is no such host.
    pub async fn completion(&mut self, host: HostId) -> Result<Completion, RdmaError> {
        let at = self.host(host)?;
        Ok(self.memory.load64(COMPLETED + BEAT * at).await?.into())
    }

    /// The oldest error that was not taken.
    ///
    /// # Errors
    /// When the machine refuses.
    pub async fn error(&mut self) -> Result<Option<ErrorRecord>, RdmaError> {
        let at = ERRORS + 16 * usize::from(self.errors % ERROR_RECORDS);
        let phase = (self.errors / ERROR_RECORDS).is_multiple_of(2);
        let first = self.memory.load64(at).await?;
        let second = self.memory.load64(at + BEAT).await?;
        let Some(record) = ErrorRecord::parse([first, second], phase) else { return Ok(None) };
        self.errors = self.errors.wrapping_add(1);
        self.mmio.write32(regs::ERR_TAIL.into(), self.errors.into()).await?;
        Ok(Some(record))
    }
}

#[cfg(test)]
mod tests;
