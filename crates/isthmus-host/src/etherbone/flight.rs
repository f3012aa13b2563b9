// SPDX-License-Identifier: Apache-2.0
//! Datagrams in flight, and how many more may be.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

/// Overhead that a system counts for a waiting datagram in addition to its bytes: its descriptor,
/// and the rest of its page or buffer. An assumption on the safe side: Linux counts 768 bytes for
/// the shortest on its loopback interface, and up to 2.8 KiB more than a full frame's bytes
/// elsewhere.
const OVERHEAD: usize = 2560;
/// Replies to later datagrams that make an unanswered one count as lost.
const PASSED: u8 = 3;

/// A datagram that was sent (of a stream: the bytes that were sent together).
pub(super) struct Sent {
    /// Cycles without a reply.
    pub(super) unanswered: usize,
    pub(super) deadline: Duration,
    pub(super) cycles: Range<u64>,
    /// LiteEth: which part of its cycle's reads it brings.
    pub(super) part: usize,
    /// The datagram to retry, and how often.
    pub(super) repeat: Option<(Vec<u8>, u32)>,
    /// Its length; a reply is never longer.
    pub(super) bytes: usize,
    /// Replies to later ones that came before its own.
    pub(super) passed: u8,
}

/// The datagrams from the oldest unanswered one on, by number.
///
/// The number in flight is limited by the caller, by the receive buffer's space for replies, and by
/// recent losses: a loss halves it, each complete window of replies adds one. Losses of datagrams
/// that were sent before the last halving count as the same loss.
pub(super) struct Messages {
    pub(super) first: u64,
    queue: VecDeque<Sent>,
    open: usize,
    bytes: usize,
    most: usize,
    limit: usize,
    grown: usize,
    judged: u64,
}

impl Messages {
    /// At most this many, and at least one.
    pub(super) fn new(most: usize) -> Self {
        let most = most.max(1);
        Self {
            first: 0,
            queue: VecDeque::new(),
            open: 0,
            bytes: 0,
            most,
            limit: most,
            grown: 0,
            judged: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn next(&self) -> u64 {
        self.first + self.queue.len() as u64
    }

    /// True if another one must wait; `room`: bytes of the receive buffer.
    pub(super) fn is_full(&self, room: Option<usize>) -> bool {
        let crowded = room.is_some_and(|room| self.bytes + OVERHEAD > room && self.open > 0);
        self.open >= self.limit || crowded
    }

    pub(super) fn push(&mut self, sent: Sent) {
        if sent.unanswered > 0 {
            self.open += 1;
            self.bytes += sent.bytes + OVERHEAD;
        }
        self.queue.push_back(sent);
        self.trim();
    }

    pub(super) fn front(&self) -> Option<&Sent> {
        self.queue.front()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Sent> {
        self.queue.iter()
    }

    pub(super) fn get(&self, index: usize) -> Option<&Sent> {
        self.queue.get(index)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Sent> {
        self.queue.get_mut(index)
    }

    /// Position of a datagram, by its number.
    #[inline]
    pub(super) fn index(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }

    /// A cycle of a datagram has its reply: with that of the last one the datagram has its own.
    #[inline]
    pub(super) fn answered(&mut self, number: u64) {
        if let Some(index) = self.index(number)
            && self.queue.get(index).is_some_and(|sent| sent.unanswered == 1)
        {
            self.replied(index);
        }
    }

    /// So many cycles of a datagram have their replies, and have ended.
    pub(super) fn all_answered(&mut self, number: u64, count: usize) {
        if count == 0 {
            return;
        }
        if let Some(index) = self.index(number) {
            if self.queue.get(index).is_some_and(|sent| sent.unanswered == count) {
                self.replied(index);
            }
            self.ended(index, count);
        }
        self.trim();
    }

    /// So many of a datagram's cycles have ended, with a reply or without. Call [`trim`](Self::trim)
    /// afterwards.
    pub(super) fn ended(&mut self, index: usize, count: usize) {
        let Some(sent) = self.queue.get_mut(index).filter(|sent| sent.unanswered > 0) else {
            return;
        };
        sent.unanswered = sent.unanswered.saturating_sub(count);
        if sent.unanswered == 0 {
            self.open -= 1;
            self.bytes -= sent.bytes + OVERHEAD;
        }
    }

    /// The reply to a datagram came: those before it that wait are late.
    pub(super) fn replied(&mut self, index: usize) {
        self.grown += 1;
        if self.grown >= self.limit {
            self.grown = 0;
            self.limit = self.most.min(self.limit + 1);
        }
        for sent in self.queue.iter_mut().take(index).filter(|sent| sent.unanswered > 0) {
            sent.passed = sent.passed.saturating_add(1);
            if sent.passed == PASSED && sent.repeat.as_ref().is_some_and(|(_, left)| *left > 0) {
                // As if its time were over.
                sent.deadline = Duration::ZERO;
            }
        }
    }

    /// A datagram's reply did not come.
    pub(super) fn lost(&mut self, number: u64) {
        if number >= self.judged {
            self.limit = (self.limit.min(self.open) / 2).max(1);
            self.grown = 0;
            self.judged = self.next();
        }
    }

    pub(super) fn trim(&mut self) {
        while self.queue.front().is_some_and(|sent| sent.unanswered == 0) {
            self.queue.pop_front();
            self.first += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(repeat: bool) -> Sent {
        Sent {
            unanswered: 1,
            deadline: Duration::from_secs(1),
            cycles: 0..1,
            part: 0,
            repeat: repeat.then(|| (Vec::new(), 1)),
            bytes: 1000,
            passed: 0,
        }
    }

    #[test]
    fn what_the_buffer_holds_is_the_limit() {
        let mut messages = Messages::new(100);
        let room = Some(10 * (1000 + OVERHEAD));
        let mut count = 0;
        while !messages.is_full(room) {
            messages.push(sent(false));
            count += 1;
        }
        assert_eq!(count, 10);
        messages.ended(0, 1);
        messages.trim();
        assert!(!messages.is_full(room) && messages.first == 1);
        // One always goes, however little room there is.
        assert!(!Messages::new(0).is_full(Some(0)));
    }

    #[test]
    fn a_burst_of_losses_halves_once_and_replies_grow_it_again() {
        let mut messages = Messages::new(64);
        (0..64).for_each(|_| messages.push(sent(false)));
        (10..64).for_each(|number| messages.lost(number));
        assert_eq!(messages.limit, 32);
        (0..64).for_each(|index| messages.ended(index, 1));
        (0..32).for_each(|_| messages.replied(0));
        assert_eq!(messages.limit, 33);
        (0..64 * 64).for_each(|_| messages.replied(0));
        assert_eq!(messages.limit, 64, "never beyond what was asked for");
    }

    #[test]
    fn answers_told_together_count_as_one_by_one() {
        let messages = || {
            let mut messages = Messages::new(64);
            (0..2).for_each(|_| messages.push(Sent { unanswered: 3, ..sent(false) }));
            messages.limit = 8;
            messages
        };
        let state = |m: &Messages| (m.first, m.open, m.bytes, m.grown, m.queue.len());
        let (mut together, mut single) = (messages(), messages());
        for (number, count) in [(1, 2), (1, 1), (0, 3), (0, 0)] {
            together.all_answered(number, count);
            for _ in 0..count {
                single.answered(number);
                single.ended(single.index(number).expect("in flight"), 1);
                single.trim();
            }
            assert_eq!(state(&together), state(&single));
        }
        assert!(together.is_empty() && together.grown == 2);
    }

    #[test]
    fn three_later_replies_make_one_overdue_if_it_may_come_again() {
        let mut messages = Messages::new(64);
        (0..5).for_each(|number| messages.push(sent(number == 0)));
        for index in 2..5 {
            assert_ne!(messages.queue[0].deadline, Duration::ZERO);
            messages.ended(index, 1);
            messages.replied(index);
        }
        assert_eq!(messages.queue[0].deadline, Duration::ZERO);
        assert_ne!(messages.queue[1].deadline, Duration::ZERO, "it may not be sent again");
    }
}
