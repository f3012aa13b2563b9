// SPDX-License-Identifier: Apache-2.0
//! How cycles end: with their reply, after their timeout, or with an error.

use super::super::collect::Collector;
use super::super::meter::Meter;
use super::super::wire::Dialect;
use super::super::{CycleReply, Error};
use super::Client;
use crate::transport::Transport;
use std::time::Duration;

impl<T: Transport, M: Meter> Client<T, M> {
    /// When the next message has waited long enough.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        if self.config.retries == 0 {
            // Those sent first expire first.
            return self.messages.front().map(|message| message.deadline);
        }
        let waiting = self.messages.iter().filter(|message| message.unanswered > 0);
        waiting.map(|message| message.deadline).min()
    }

    pub(super) async fn expire(&mut self) -> Result<(), Error> {
        let now = self.transport.now();
        let waited = self.config.reply_timeout * (self.config.retries + 1);
        let mut index = 0;
        while let Some(message) = self.messages.get_mut(index) {
            if message.deadline > now && self.config.retries == 0 {
                return Ok(());
            }
            index += 1;
            if message.deadline > now || message.unanswered == 0 {
                continue;
            }
            let repeat = message.repeat.take();
            let number = self.messages.first + index as u64 - 1;
            self.messages.lost(number);
            let Some(message) = self.messages.get_mut(index - 1) else { return Ok(()) };
            match repeat {
                Some((bytes, left)) if left > 0 => {
                    message.deadline = now + self.config.reply_timeout;
                    let sent = self.send(&bytes).await;
                    self.counters.repeated.add(1);
                    if let Some(message) = self.messages.get_mut(index - 1) {
                        message.repeat = Some((bytes, left - 1));
                    }
                    sent?;
                }
                repeated => {
                    let cycles = message.cycles.clone();
                    let waited =
                        if repeated.is_some() { waited } else { self.config.reply_timeout };
                    let before = self.messages.first;
                    for cycle in cycles {
                        self.time_out(cycle, waited);
                    }
                    let trimmed = (self.messages.first - before) as usize;
                    index = index.saturating_sub(trimmed);
                }
            }
        }
        Ok(())
    }

    pub(super) fn time_out(&mut self, cycle: u64, waited: Duration) {
        if self.flights.get_mut(cycle).is_none() {
            return;
        }
        self.counters.timed_out.add(1);
        self.end(cycle, |collector| {
            let cycle = collector.cycle();
            let (first, operations) = (cycle.operation(0), cycle.len());
            Some(Error::TimedOut { first, operations, waited })
        });
    }

    /// Takes a cycle out of flight and notifies its owner.
    pub(super) fn end(&mut self, cycle: u64, fault: impl FnOnce(&mut Collector) -> Option<Error>) {
        let Some(flight) = self.flights.end(cycle) else { return };
        if self.config.dialect == Dialect::LiteEth {
            // None of its datagrams is waited for any more.
            for index in 0..self.messages.len() {
                if self.messages.get(index).is_some_and(|m| m.cycles.contains(&cycle)) {
                    self.messages.ended(index, usize::MAX);
                }
            }
        } else if let Some(index) = self.messages.index(flight.message) {
            self.messages.ended(index, 1);
        }
        self.messages.trim();
        let fault = fault(&mut flight.collector);
        if flight.held {
            flight.error = fault.map(Box::new);
            return;
        }
        let result = match fault {
            Some(error) => Err(error),
            None => Ok(CycleReply { reads: flight.collector.take_values() }),
        };
        flight.collector.forget_cycle();
        flight.completion.tell(result);
    }

    /// Also ends queued cycles.
    #[cfg(feature = "tokio")]
    pub(in crate::etherbone) fn fail_queue(&mut self, error: &Error) {
        self.records.clear();
        self.taken = 0;
        while let Some(_flight) = self.flights.send(self.messages.next()) {
            self.end(self.flights.sent - 1, |_| Some(error.clone()));
        }
    }

    /// The transport has failed: ends every cycle in flight.
    pub(super) fn fail_all(&mut self, error: Error) -> Error {
        for cycle in self.flights.first..self.flights.sent {
            self.end(cycle, |_| Some(error.clone()));
        }
        error
    }
}
