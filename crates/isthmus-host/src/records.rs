// SPDX-License-Identifier: Apache-2.0
//! The host's log of what a device does to records of host memory: what is left of it when the device is reset.
//!
//! A device that updates records in a cache of its own, or between two locks, takes with it what only it knows. So it
//! sends each update before it makes it, with the value before and the one behind, and the end of each transaction
//! before another one can see what it did (`rtl/ccix/ccix_log.sv`). The link keeps that order and loses a tail of it
//! at most. Behind a reset [`RecordLog::recover`] says what must be in memory.
//!
//! The log is as long as updates are open; of what is complete the newest value of a record is kept until the host
//! changes the record itself.

use std::collections::BTreeMap;

/// An update of a transaction that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Update {
    slot: u8,
    record: u32,
    old: u64,
}

/// What the device has done, as far as the host knows.
#[derive(Clone, Debug, Default)]
pub struct RecordLog {
    /// In the order of their coming.
    open: Vec<Update>,
    /// Values that open updates make, of those that are in `open`.
    made: BTreeMap<(u8, u32), u64>,
    /// The newest value of what is complete.
    newest: BTreeMap<u32, u64>,
}

impl RecordLog {
    /// The transaction in `slot` is about to change `record`.
    pub fn update(&mut self, slot: u8, record: u32, old: u64, new: u64) {
        self.open.push(Update { slot, record, old });
        self.made.insert((slot, record), new);
    }

    /// The transaction in `slot` has made all its updates.
    pub fn complete(&mut self, slot: u8) {
        self.end(slot, |log, update| {
            let made = log.made.get(&(slot, update.record)).copied();
            log.newest.insert(update.record, made.unwrap_or(update.old));
        });
    }

    /// All updates of the transaction in `slot` are undone.
    pub fn undone(&mut self, slot: u8) {
        // The last to come is the first of them.
        self.end(slot, |log, update| {
            log.newest.insert(update.record, update.old);
        });
    }

    fn end(&mut self, slot: u8, mut each: impl FnMut(&mut Self, Update)) {
        let ended: Vec<Update> = self.open.iter().copied().filter(|one| one.slot == slot).collect();
        ended.into_iter().rev().for_each(|one| each(self, one));
        self.open.retain(|one| one.slot != slot);
        self.made.retain(|(of, _), _| *of != slot);
    }

    /// The host changes `record`, of which it has the newest value, and the only lock.
    pub fn host_updates(&mut self, record: u32) {
        self.newest.remove(&record);
    }

    /// The device is gone: the values that records must have, complete updates made and open ones undone. The log is
    /// empty then.
    pub fn recover(&mut self) -> BTreeMap<u32, u64> {
        let mut values = std::mem::take(&mut self.newest);
        for update in self.open.drain(..).rev() {
            values.insert(update.record, update.old);
        }
        self.made.clear();
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_complete_is_made_and_what_is_open_is_undone() {
        let mut log = RecordLog::default();
        log.update(1, 10, 100, 101);
        log.update(1, 11, 200, 201);
        log.complete(1);
        log.update(2, 11, 201, 202);
        log.update(2, 12, 300, 301);
        assert_eq!(log.recover(), BTreeMap::from([(10, 101), (11, 201), (12, 300)]));
        assert!(log.recover().is_empty());
    }

    #[test]
    fn the_end_of_a_transaction_may_come_behind_an_update_of_the_next_one() {
        let mut log = RecordLog::default();
        log.update(1, 10, 100, 101);
        log.update(2, 10, 101, 102);
        // Neither is known to be complete: the first one's old value.
        assert_eq!(log.clone().recover(), BTreeMap::from([(10, 100)]));
        log.complete(1);
        assert_eq!(log.clone().recover(), BTreeMap::from([(10, 101)]));
        log.complete(2);
        assert_eq!(log.recover(), BTreeMap::from([(10, 102)]));
    }

    #[test]
    fn what_is_undone_has_the_value_from_before_its_first_update() {
        let mut log = RecordLog::default();
        log.update(3, 10, 100, 101);
        log.update(3, 10, 101, 102);
        log.undone(3);
        assert_eq!(log.recover(), BTreeMap::from([(10, 100)]));
    }

    #[test]
    fn what_the_host_has_changed_is_not_made_again() {
        let mut log = RecordLog::default();
        log.update(1, 10, 100, 101);
        log.complete(1);
        log.host_updates(10);
        assert!(log.clone().recover().is_empty());
        log.update(1, 10, 105, 106);
        assert_eq!(log.recover(), BTreeMap::from([(10, 105)]));
    }
}
