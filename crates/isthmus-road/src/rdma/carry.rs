// SPDX-License-Identifier: Apache-2.0
//! The programs of a put and of a message: in a closed loop or at a rate.
//!
//! The sender learns of a put from its completion word, which its interface writes when the remote one has
//! acknowledged; of a message from a word that the remote program writes. A closed loop posts the next
//! transfer then. The latency of a transfer ends earlier: a put's with its last byte in the remote memory, a
//! message's when the remote program has it.

use std::rc::Rc;

use isthmus_host::pcie::DmaMemory;
use isthmus_host::rdma::{Completion, completed_offset};
use isthmus_sim::Picoseconds;
use isthmus_sim::kernel::RandomStream;

use super::pair::Pair;
use super::program::{CREDIT_EVERY, ProgramOutcome, Side};
use super::usage::Waits;
use crate::arrivals::{Arrivals, Starts, stream_of};
use crate::error::RoadError;
use crate::host_bus::{HostMemory, word};
use crate::noise::Noise;

const BEAT: usize = 8;
/// The remote program returns credit when it has taken this part of the window.
const CREDITS_A_WINDOW: u64 = 8;

/// What a program has beside its interface.
pub(super) struct Surroundings {
    pub(super) pair: Rc<Pair>,
    pub(super) waits: Rc<Waits>,
    pub(super) noise: Option<Noise>,
}

/// How many transfers are done, from a word of the sender's memory.
struct Counter {
    place: usize,
    word: u64,
    /// Of a put: packets of a transfer, the last number acknowledged, and packets acknowledged in all.
    packets: Option<(u64, u16, u64)>,
}

impl Counter {
    /// Transfers done by now, from the word's value.
    fn count(&mut self, word: u64) -> u64 {
        self.word = word;
        let Some((each, last, all)) = &mut self.packets else { return word };
        let number = Completion::from(word).number;
        *all += u64::from(number.wrapping_sub(*last));
        *last = number;
        *all / *each
    }
}

impl Side {
    /// Sends the series of a pair, and behind it the transfer that is observed.
    pub(super) async fn carry(mut self, by: Surroundings) -> Result<ProgramOutcome, RoadError> {
        let arrivals = self.scenario.arrivals()?;
        let (most, mut starts) = match arrivals {
            Arrivals::Window(window) => (u64::from(window), None),
            Arrivals::Rate(rate) => {
                let random =
                    RandomStream::new(self.scenario.seed, &stream_of(self.number as usize));
                let starts = Starts::new(rate, random, self.sim.now());
                (self.scenario.most_in_flight() as u64, Some(starts))
            }
        };
        let series = by.pair.series();
        let mut counter = self.counter()?;
        let (mut sent, mut done) = (0, 0);
        let mut due = starts.as_mut().and_then(Iterator::next);
        while done < series {
            while sent < series && sent - done < most && due.is_none_or(|due| due <= self.sim.now())
            {
                self.begin(&by.pair, sent, due)?;
                self.transfer(sent).await?;
                sent += 1;
                due = starts.as_mut().and_then(Iterator::next);
            }
            let full = sent == series || sent - done >= most;
            match due.filter(|_| !full) {
                Some(due) => by.waits.during(&self.sim, self.sim.sleep_until(due)).await,
                None => self.wait_for(&counter, &by).await?,
            }
            self.resume(&by).await;
            // At a rate the word is read before the queue is full, and not for each transfer.
            if full || starts.is_none() || 2 * (sent - done) >= most {
                done = self.read(&mut counter).await?;
                by.pair.know(done);
            }
        }
        for transfer in series..by.pair.all() {
            self.begin(&by.pair, transfer, None)?;
            self.transfer(transfer).await?;
            while done <= transfer {
                self.wait_for(&counter, &by).await?;
                done = self.read(&mut counter).await?;
            }
        }
        by.pair.settle(self.scenario.timeout()).await;
        self.no_errors().await?;
        Ok(self.outcome)
    }

    /// Takes the messages of a pair, and reports to their sender how many were taken.
    pub(super) async fn take(mut self, by: Surroundings) -> Result<ProgramOutcome, RoadError> {
        let every = match self.scenario.arrivals()? {
            Arrivals::Window(window) => (u64::from(window) / CREDITS_A_WINDOW).max(1),
            Arrivals::Rate(_) => CREDIT_EVERY,
        };
        let (series, all) = (by.pair.series(), by.pair.all());
        let timeout = self.longest_wait()?;
        let mut received = 0;
        while received < all {
            let place = self.slot(received);
            // Before the program looks: what comes while it does is not waited for.
            let now = self.value(place)?;
            if let Some(transfer) = self.take_message().await? {
                by.pair.end(transfer);
                received += 1;
                if received.is_multiple_of(every) || received >= series {
                    self.tell_taken(received).await?;
                }
                continue;
            }
            let host = self.host.clone();
            let changed = host.memory().watch(place, BEAT, |bytes| word(bytes) != now);
            let changed = by.waits.during(&self.sim, self.sim.timeout(timeout, changed));
            if changed.await.is_err() {
                return Err(self.timed_out("message", received));
            }
            self.resume(&by).await;
        }
        self.no_errors().await?;
        Ok(self.outcome)
    }

    /// A transfer begins; a put is watched for at its destination.
    fn begin(
        &self,
        pair: &Rc<Pair>,
        transfer: u64,
        due: Option<Picoseconds>,
    ) -> Result<(), RoadError> {
        pair.begin(due.unwrap_or(self.sim.now()));
        if !self.scenario.workload.test.is_send() {
            let place = self.place(transfer);
            pair.watch(transfer, &self.remote, place, self.body(transfer).to_vec());
        }
        Ok(())
    }

    /// Where the sender learns what is done.
    fn counter(&self) -> Result<Counter, RoadError> {
        if self.scenario.workload.test.is_send() {
            let place = self.credit_in(self.peer);
            return Ok(Counter { place, word: self.value(place)?, packets: None });
        }
        let place = completed_offset(self.peer);
        let word = self.value(place)?;
        let each = self.scenario.packets() as u64;
        Ok(Counter { place, word, packets: Some((each, Completion::from(word).number, 0)) })
    }

    /// Loads the word that says what is done.
    async fn read(&mut self, counter: &mut Counter) -> Result<u64, RoadError> {
        let failed = self.failed("look at what is done");
        let mut memory = HostMemory::new(&self.sim, &self.host);
        let word = memory.load64(counter.place).await;
        Ok(counter.count(word.map_err(|error| failed(error.into()))?))
    }

    /// Waits until the word that says what is done changes.
    async fn wait_for(&self, counter: &Counter, by: &Surroundings) -> Result<(), RoadError> {
        let host = self.host.clone();
        let seen = counter.word;
        let changed = host.memory().watch(counter.place, BEAT, |bytes| word(bytes) != seen);
        let waiting = self.sim.timeout(self.scenario.timeout(), changed);
        match by.waits.during(&self.sim, waiting).await {
            Ok(_) => Ok(()),
            Err(_) => Err(self.timed_out("the acknowledgement of a transfer to", 0)),
        }
    }

    /// The operating system lets the program run again.
    async fn resume(&self, by: &Surroundings) {
        if let Some(noise) = &by.noise {
            noise.delay(&self.sim).await;
        }
    }

    fn longest_wait(&self) -> Result<Picoseconds, RoadError> {
        Ok(self.scenario.timeout() + self.scenario.arrivals()?.longest_gap())
    }
}
