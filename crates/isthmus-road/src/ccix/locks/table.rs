// SPDX-License-Identifier: Apache-2.0
//! A lock table in the host's program, and its words: what `rtl/svm/lock_table.sv` decides, without its times.

use std::collections::{BTreeMap, VecDeque};

use super::super::messages::LOCK;

/// An order to a lock table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Waits for its turn.
    Acquire,
    /// Does not wait.
    Try,
    Release,
}

impl Order {
    const fn code(self) -> u64 {
        match self {
            Self::Acquire => 0,
            Self::Try => 1,
            Self::Release => 2,
        }
    }
}

/// What became of an acquire or a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Granted,
    /// A grant follows.
    Queued,
    Busy,
    Released,
    /// Of a lock that its owner does not hold.
    Stale,
}

impl Status {
    const fn code(self) -> u64 {
        match self {
            Self::Granted => 0,
            Self::Queued => 1,
            Self::Busy => 2,
            Self::Released => 4,
            Self::Stale => 5,
        }
    }
}

/// An order or an answer: `lock_message_t` of `rtl/ccix/ccix_pkg.sv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LockMessage {
    pub(super) owner: u8,
    /// It is an answer.
    pub(super) answer: bool,
    /// An order's or a status's code.
    pub(super) code: u64,
    pub(super) exclusive: bool,
    pub(super) lock: u16,
    pub(super) fence: u16,
}

impl LockMessage {
    pub(super) fn order(order: Order, owner: u8, exclusive: bool, lock: u16, fence: u16) -> Self {
        Self { owner, answer: false, code: order.code(), exclusive, lock, fence }
    }

    pub(super) fn answer(status: Status, owner: u8, exclusive: bool, lock: u16) -> Self {
        Self { owner, answer: true, code: status.code(), exclusive, lock, fence: 0 }
    }

    pub(super) fn word(&self) -> u64 {
        LOCK << 60
            | 1 << 56
            | u64::from(self.owner) << 48
            | u64::from(self.answer) << 47
            | self.code << 44
            | u64::from(self.exclusive) << 43
            | u64::from(self.lock) << 16
            | u64::from(self.fence)
    }

    pub(super) fn of(word: u64) -> Self {
        Self {
            owner: (word >> 48) as u8,
            answer: word >> 47 & 1 != 0,
            code: word >> 44 & 7,
            exclusive: word >> 43 & 1 != 0,
            lock: (word >> 16) as u16,
            fence: word as u16,
        }
    }

    /// `None`: an answer, or an order that no requester gives.
    pub(super) fn as_order(&self) -> Option<Order> {
        let order = [Order::Acquire, Order::Try, Order::Release];
        order.into_iter().find(|order| !self.answer && order.code() == self.code)
    }

    /// `None`: an order, or an answer that no requester expects.
    pub(super) fn as_status(&self) -> Option<Status> {
        use Status::{Busy, Granted, Queued, Released, Stale};
        let all = [Granted, Queued, Busy, Released, Stale];
        all.into_iter().find(|status| self.answer && status.code() == self.code)
    }
}

/// What the FPGA has the host keep of its transactions: `log_message_t` of `rtl/ccix/ccix_pkg.sv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Logged {
    /// Is about to be made.
    Update { slot: u8, record: u32, old: u64, new: u64 },
    /// All updates of the transaction with this number are made.
    Complete { slot: u8, id: u32 },
    /// And undone.
    Undone { slot: u8 },
}

impl Logged {
    /// `None`: an order or an answer. `Some(Err)`: a message that does not exist.
    pub(super) fn of(message: &[u64]) -> Option<Result<Self, ()>> {
        let first = *message.first()?;
        if first >> 44 & 0xF != 0xF {
            return (message.len() != 1).then_some(Err(()));
        }
        let (slot, id) = ((first >> 48) as u8, first as u32);
        Some(match (first >> 42 & 3, message) {
            (0, &[_, old, new]) => Ok(Self::Update { slot, record: id, old, new }),
            (1, &[_]) => Ok(Self::Complete { slot, id }),
            (2, &[_]) => Ok(Self::Undone { slot }),
            _ => Err(()),
        })
    }
}

#[derive(Debug, Default)]
struct Lock {
    exclusive: bool,
    holders: Vec<u8>,
    waiting: VecDeque<(u8, bool)>,
}

impl Lock {
    fn takes(&self, exclusive: bool) -> bool {
        self.holders.is_empty() || !self.exclusive && !exclusive
    }

    fn grant(&mut self, owner: u8, exclusive: bool) {
        self.exclusive = exclusive;
        self.holders.push(owner);
    }

    /// Those that wait, as far as it is free.
    fn grant_waiting(&mut self, lock: u16) -> Vec<LockMessage> {
        let mut answers = Vec::new();
        while self.waiting.front().is_some_and(|(_, exclusive)| self.takes(*exclusive)) {
            let Some((next, exclusive)) = self.waiting.pop_front() else { break };
            self.grant(next, exclusive);
            answers.push(LockMessage::answer(Status::Granted, next, exclusive, lock));
        }
        answers
    }
}

/// The table. Its fences stay 0: no owner is reset.
#[derive(Debug, Default)]
pub(super) struct LockTable {
    locks: BTreeMap<u16, Lock>,
}

impl LockTable {
    /// The answer of an order, and grants that follow from it.
    pub(super) fn order(
        &mut self,
        order: Order,
        owner: u8,
        exclusive: bool,
        lock: u16,
    ) -> Vec<LockMessage> {
        let state = self.locks.entry(lock).or_default();
        let answer = |status, owner, exclusive| LockMessage::answer(status, owner, exclusive, lock);
        if order == Order::Release {
            let Some(at) = state.holders.iter().position(|holder| *holder == owner) else {
                return vec![answer(Status::Stale, owner, exclusive)];
            };
            state.holders.remove(at);
            let mut answers = vec![answer(Status::Released, owner, exclusive)];
            answers.extend(state.grant_waiting(lock));
            return answers;
        }
        let status = if state.waiting.is_empty() && state.takes(exclusive) {
            state.grant(owner, exclusive);
            Status::Granted
        } else if order == Order::Try {
            Status::Busy
        } else {
            state.waiting.push_back((owner, exclusive));
            Status::Queued
        };
        vec![answer(status, owner, exclusive)]
    }

    /// Owners that `gone` says hold no lock any more and wait for none; the grants that follow.
    pub(super) fn lose(&mut self, gone: impl Fn(u8) -> bool) -> Vec<LockMessage> {
        let mut answers = Vec::new();
        for (lock, state) in &mut self.locks {
            state.holders.retain(|owner| !gone(*owner));
            state.waiting.retain(|(owner, _)| !gone(*owner));
            answers.extend(state.grant_waiting(*lock));
        }
        answers
    }

    /// Nobody holds a lock, or waits for one.
    pub(super) fn is_free(&self) -> bool {
        self.locks.values().all(|lock| lock.holders.is_empty() && lock.waiting.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(answers: &[LockMessage]) -> Vec<(u8, Status)> {
        answers.iter().filter_map(|one| Some((one.owner, one.as_status()?))).collect()
    }

    #[test]
    fn waiters_are_granted_in_their_order_and_readers_that_are_neighbours_together() {
        use Status::{Busy, Granted, Queued, Released, Stale};
        let mut table = LockTable::default();
        assert_eq!(said(&table.order(Order::Acquire, 1, true, 7)), [(1, Granted)]);
        assert_eq!(said(&table.order(Order::Acquire, 2, false, 7)), [(2, Queued)]);
        assert_eq!(said(&table.order(Order::Acquire, 3, false, 7)), [(3, Queued)]);
        assert_eq!(said(&table.order(Order::Acquire, 4, true, 7)), [(4, Queued)]);
        assert_eq!(said(&table.order(Order::Try, 5, false, 7)), [(5, Busy)]);
        assert_eq!(said(&table.order(Order::Try, 5, true, 8)), [(5, Granted)]);
        let release = table.order(Order::Release, 1, true, 7);
        assert_eq!(said(&release), [(1, Released), (2, Granted), (3, Granted)]);
        // A writer waits: no reader passes it.
        assert_eq!(said(&table.order(Order::Try, 6, false, 7)), [(6, Busy)]);
        assert_eq!(said(&table.order(Order::Release, 2, false, 7)), [(2, Released)]);
        assert_eq!(said(&table.order(Order::Release, 2, false, 7)), [(2, Stale)]);
        let release = table.order(Order::Release, 3, false, 7);
        assert_eq!(said(&release), [(3, Released), (4, Granted)]);
        assert!(!table.is_free());
        table.order(Order::Release, 4, true, 7);
        table.order(Order::Release, 5, true, 8);
        assert!(table.is_free());
    }

    #[test]
    fn owners_that_are_gone_hold_nothing_and_are_granted_nothing() {
        use Status::Granted;
        let mut table = LockTable::default();
        table.order(Order::Acquire, 1, true, 7);
        for (owner, exclusive) in [(2, true), (130, false), (3, false), (131, false), (132, true)] {
            table.order(Order::Acquire, owner, exclusive, 7);
        }
        table.order(Order::Acquire, 133, false, 8);
        table.order(Order::Acquire, 4, false, 8);
        table.order(Order::Acquire, 134, true, 8);
        let granted = table.lose(|owner| owner < 128);
        // Readers beside each other; the writer behind them waits, and that of lock 8 for a reader that stays.
        assert_eq!(said(&granted), [(130, Granted), (131, Granted)]);
        assert_eq!(said(&table.order(Order::Release, 133, false, 8))[1], (134, Granted));
        assert!(table.lose(|owner| owner < 128).is_empty());
    }

    #[test]
    fn a_message_is_a_word_and_back() {
        let order = LockMessage::order(Order::Try, 0xA5, true, 0x1234, 0xBEEF);
        assert_eq!(order.word(), 0xF1A5_1800_1234_BEEF);
        assert_eq!(LockMessage::of(order.word()), order);
        assert_eq!((order.as_order(), order.as_status()), (Some(Order::Try), None));
        let answer = LockMessage { answer: true, code: 2, ..order };
        assert_eq!((answer.as_order(), answer.as_status()), (None, Some(Status::Busy)));
        assert_eq!(LockMessage { code: 3, ..answer }.as_status(), None);
        assert_eq!(Logged::of(&[order.word()]), None);
        assert_eq!(Logged::of(&[answer.word()]), None);
        assert_eq!(Logged::of(&[order.word(), 1, 2]), Some(Err(())));
        let update = Logged::Update { slot: 5, record: 9, old: 1, new: 2 };
        assert_eq!(Logged::of(&[0xF305_F000_0000_0009, 1, 2]), Some(Ok(update)));
        let complete = Logged::Complete { slot: 5, id: 9 };
        assert_eq!(Logged::of(&[0xF105_F400_0000_0009]), Some(Ok(complete)));
        assert_eq!(Logged::of(&[0xF105_F800_0000_0009]), Some(Ok(Logged::Undone { slot: 5 })));
        assert_eq!(Logged::of(&[0xF105_F400_0000_0009, 1, 2]), Some(Err(())));
    }
}
