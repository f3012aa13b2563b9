// SPDX-License-Identifier: Apache-2.0
//! The cycles of a client that wait to be sent, or for their replies.

use std::collections::VecDeque;

use super::Error;
use super::collect::Collector;
use super::pending::{Completion, Ended, Owner};

/// Places of cycles that keep the memory of the last one for the next: their number, and the
/// operations of each.
const KEEPING: usize = 256;
const KEPT: usize = 1024;

/// A cycle that waits to be sent, or for its reply.
#[derive(Default)]
pub(super) struct Flight {
    /// It has not ended.
    pub(super) open: bool,
    /// It has ended, and its result has not been taken.
    pub(super) held: bool,
    pub(super) expects_reply: bool,
    pub(super) collector: Collector,
    pub(super) completion: Completion,
    /// The message that it left with.
    pub(super) message: u64,
    /// Its records in the client's buffer.
    pub(super) bytes: usize,
    /// How it ended, while it is held; the values are the collector's.
    pub(super) error: Option<Box<Error>>,
}

/// The cycles from one on before which all have ended, by number: those before `sent` are in flight or
/// have ended; the others wait in the client's buffer.
#[derive(Default)]
pub(super) struct Flights {
    pub(super) first: u64,
    pub(super) sent: u64,
    pub(super) next: u64,
    /// In flight.
    pub(super) live: usize,
    /// Held, in the order in which they ended.
    pub(super) ended: VecDeque<u64>,
    /// The slot whose values were returned last, if their memory is not kept.
    pub(super) large: Option<usize>,
    /// Cycle `n` is at `n` modulo the length, which is a power of two.
    pub(super) ring: Vec<Flight>,
}

impl Flights {
    pub(super) fn index(&self, cycle: u64) -> usize {
        cycle as usize & self.ring.len().wrapping_sub(1)
    }

    /// A cycle that is in flight.
    #[inline]
    pub(super) fn get_mut(&mut self, cycle: u64) -> Option<&mut Flight> {
        if cycle < self.first || cycle >= self.sent {
            return None;
        }
        let index = self.index(cycle);
        self.ring.get_mut(index).filter(|flight| flight.open)
    }

    /// Those that wait, from the first on.
    pub(super) fn queued(&self) -> usize {
        (self.next - self.sent) as usize
    }

    /// One that waits.
    pub(super) fn waiting(&mut self, cycle: u64) -> Option<&mut Flight> {
        if cycle < self.sent || cycle >= self.next {
            return None;
        }
        let index = self.index(cycle);
        self.ring.get_mut(index)
    }

    /// The place of the next cycle. It counts when [`push`](Self::push) is called.
    pub(super) fn vacant(&mut self) -> &mut Flight {
        let length = self.ring.len();
        if (self.next - self.first) as usize >= length {
            self.trim();
        }
        if (self.next - self.first) as usize >= length {
            let mut ring = Vec::new();
            ring.resize_with((2 * length).max(16), Flight::default);
            for cycle in self.first..self.next {
                let from = self.index(cycle);
                let to = cycle as usize & (ring.len() - 1);
                ring[to] = std::mem::take(&mut self.ring[from]);
            }
            self.ring = ring;
        }
        let index = self.index(self.next);
        &mut self.ring[index]
    }

    pub(super) fn push(&mut self) {
        self.next += 1;
    }

    /// The first that waits is in flight from now on.
    pub(super) fn send(&mut self, message: u64) -> Option<&mut Flight> {
        let cycle = self.sent;
        if cycle >= self.next {
            return None;
        }
        self.sent += 1;
        self.live += 1;
        let index = self.index(cycle);
        let flight = self.ring.get_mut(index)?;
        flight.message = message;
        Some(flight)
    }

    /// The first `count` that wait, all of which expect a reply, are in flight from now on.
    pub(super) fn depart(&mut self, count: u64) {
        self.sent += count;
        self.live += count as usize;
    }

    /// A cycle in flight has ended: its place, where its owner has not been notified yet.
    #[inline]
    pub(super) fn end(&mut self, cycle: u64) -> Option<&mut Flight> {
        if cycle < self.first || cycle >= self.sent {
            return None;
        }
        let index = self.index(cycle);
        let flight = self.ring.get_mut(index).filter(|flight| flight.open)?;
        flight.open = false;
        flight.held = matches!(flight.completion.owner, Some(Owner::Tag(_)));
        self.live -= 1;
        if flight.held {
            self.ended.push_back(cycle);
        }
        Some(flight)
    }

    /// Makes the oldest that has not ended the first. This is done where places are short, not at every
    /// end.
    pub(super) fn trim(&mut self) {
        while self.first < self.sent {
            let flight = &self.ring[self.index(self.first)];
            if flight.open || flight.held {
                break;
            }
            self.first += 1;
        }
    }

    /// The next that is held, no longer.
    pub(super) fn next_ended(&mut self) -> Option<Ended<'_>> {
        if self.large.is_some() {
            self.free_large();
        }
        let cycle = self.ended.pop_front()?;
        let index = self.index(cycle);
        let flight = self.ring.get_mut(index)?;
        flight.held = false;
        let tag = match flight.completion.owner.take() {
            Some(Owner::Tag(tag)) => tag,
            _ => 0,
        };
        if index >= KEEPING || flight.collector.cycle().len() > KEPT {
            flight.collector.forget_cycle();
            self.large = Some(index);
        }
        let result = match flight.error.take() {
            Some(error) => Err(*error),
            None => Ok(flight.collector.reads()),
        };
        Some(Ended { tag, result })
    }

    #[cold]
    fn free_large(&mut self) {
        if let Some(flight) = self.large.take().and_then(|index| self.ring.get_mut(index))
            && !flight.open
            && !flight.held
        {
            drop(flight.collector.take_values());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.live == 0
    }
}
