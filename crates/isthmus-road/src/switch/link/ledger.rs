// SPDX-License-Identifier: Apache-2.0
//! What was sent and what became of it: every packet once, in its flow's order, with the right
//! bytes, at the right port. A packet may be missing only where a fault is known to have hit it.

use std::collections::{BTreeMap, HashSet};

use isthmus_sim::world::link::{FaultCounters, FaultLog, Key};

/// Packets by what came of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Given to a source.
    pub created: u64,
    /// Their data words.
    pub created_words: u64,
    /// Arrived complete.
    pub delivered: u64,
    /// Their data words, each compared.
    pub delivered_words: u64,
    /// Arrived marked bad or with a wrong check.
    pub bad: u64,
    /// Missing, and hit by a fault.
    pub excused: u64,
    /// Wrong in any way: each fails the run.
    pub wrong: u64,
}

/// The account of one network.
pub struct Ledger {
    ports: usize,
    /// The next number of each flow, at its source and at its sink.
    created: Vec<u32>,
    expected: Vec<u32>,
    hit: HashSet<Key>,
    /// Packets that a reset may have taken from inside a device, by port.
    allowed: Vec<u32>,
    /// Injected faults.
    pub faults: FaultCounters,
    /// The result.
    pub tally: Tally,
    first_wrong: Option<String>,
}

impl Ledger {
    /// An empty one.
    #[must_use]
    pub fn new(ports: usize) -> Self {
        Self {
            ports,
            created: vec![0; ports * ports],
            expected: vec![0; ports * ports],
            hit: HashSet::new(),
            allowed: vec![0; ports],
            faults: FaultCounters::default(),
            tally: Tally::default(),
            first_wrong: None,
        }
    }

    fn flow(&self, source: u8, destination: u8) -> usize {
        usize::from(source) * self.ports + usize::from(destination)
    }

    /// A packet was given to a source; its number.
    pub fn create(&mut self, source: u8, destination: u8, words: u16) -> u32 {
        let flow = self.flow(source, destination);
        let sequence = self.created[flow];
        self.created[flow] += 1;
        self.tally.created += 1;
        self.tally.created_words += u64::from(words);
        sequence
    }

    /// A link was reset: a device may have held a packet of this port where it is not visible, one
    /// each way.
    pub fn allow(&mut self, port: usize) {
        self.allowed[port] += 2;
    }

    /// A packet came whole and with the right bytes.
    pub fn deliver(&mut self, key: Key, words: u16) {
        let flow = self.flow(key.source, key.destination);
        let expected = self.expected[flow];
        if key.sequence < expected {
            return self
                .wrong(|| format!("{key:?} arrived twice, or after number {}", expected - 1));
        }
        if key.sequence >= self.created[flow] {
            return self.wrong(|| format!("{key:?} arrived, but was never sent"));
        }
        self.missing(key.source, key.destination, expected..key.sequence);
        // Hit, and good all the same: where the fault struck something that carries nothing.
        self.hit.remove(&key);
        self.expected[flow] = key.sequence + 1;
        self.tally.delivered += 1;
        self.tally.delivered_words += u64::from(words);
    }

    fn missing(&mut self, source: u8, destination: u8, range: std::ops::Range<u32>) {
        for sequence in range {
            let key = Key { source, destination, sequence };
            if self.hit.remove(&key) {
                self.tally.excused += 1;
                continue;
            }
            let ends = [usize::from(source), usize::from(destination)];
            match ends.into_iter().find(|port| self.allowed[*port] > 0) {
                Some(port) => {
                    self.allowed[port] -= 1;
                    self.tally.excused += 1;
                }
                None => self.wrong(|| format!("{key:?} never arrived, and no fault hit it")),
            }
        }
    }

    /// Something is not as it must be.
    pub fn wrong(&mut self, what: impl FnOnce() -> String) {
        self.tally.wrong += 1;
        if self.first_wrong.is_none() {
            self.first_wrong = Some(what());
        }
    }

    /// Packets in flight.
    #[must_use]
    pub fn on_way(&self) -> u64 {
        let tally = self.tally;
        tally.created.saturating_sub(tally.delivered + tally.excused + tally.wrong)
    }

    /// The flows of packets that have not come: source, destination, and how many, the most first.
    #[must_use]
    pub fn outstanding(&self) -> Vec<(u8, u8, u32)> {
        let flows = self.created.iter().zip(&self.expected).enumerate();
        let mut flows: Vec<_> = flows
            .filter(|(_, (created, expected))| created > expected)
            .map(|(flow, (created, expected))| {
                ((flow / self.ports) as u8, (flow % self.ports) as u8, created - expected)
            })
            .collect();
        flows.sort_by_key(|(source, destination, packets)| {
            (std::cmp::Reverse(*packets), *source, *destination)
        });
        flows
    }

    /// Nothing is in flight any more: packets that have not arrived are missing.
    pub fn close(&mut self) {
        for source in 0..self.ports as u8 {
            for destination in 0..self.ports as u8 {
                let flow = self.flow(source, destination);
                let range = self.expected[flow]..self.created[flow];
                self.expected[flow] = self.created[flow];
                self.missing(source, destination, range);
            }
        }
    }

    /// The first error found.
    #[must_use]
    pub fn first_wrong(&self) -> Option<&str> {
        self.first_wrong.as_deref()
    }

    /// Everything as named numbers.
    #[must_use]
    pub fn counters(&self) -> BTreeMap<String, u64> {
        let (tally, faults) = (self.tally, self.faults);
        [
            ("packets.created", tally.created),
            ("packets.delivered", tally.delivered),
            ("packets.bad", tally.bad),
            ("packets.excused", tally.excused),
            ("fault.bit_errors", faults.bit_errors),
            ("fault.credits_lost", faults.credits_lost),
            ("fault.credits_corrupted", faults.credits_corrupted),
            ("fault.resets", faults.resets),
            ("fault.slips", faults.slips),
            ("fault.stalls", faults.stalls),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

impl FaultLog for Ledger {
    fn counters(&mut self) -> &mut FaultCounters {
        &mut self.faults
    }

    fn hit(&mut self, key: Key) {
        if usize::from(key.source) < self.ports && usize::from(key.destination) < self.ports {
            self.hit.insert(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(sequence: u32) -> Key {
        Key { source: 1, destination: 2, sequence }
    }

    fn ledger(packets: u32) -> Ledger {
        let mut ledger = Ledger::new(4);
        (0..packets).for_each(|n| assert_eq!(ledger.create(1, 2, 16), n));
        ledger
    }

    #[test]
    fn what_comes_once_and_in_order_is_right() {
        let mut ledger = ledger(3);
        (0..3).for_each(|n| ledger.deliver(key(n), 16));
        ledger.close();
        assert_eq!((ledger.tally.delivered, ledger.tally.wrong), (3, 0));
        assert_eq!(ledger.on_way(), 0);
    }

    #[test]
    fn twice_out_of_order_never_sent_and_lost_are_each_wrong() {
        let mut twice = ledger(2);
        twice.deliver(key(0), 16);
        twice.deliver(key(0), 16);
        let mut order = ledger(2);
        order.deliver(key(1), 16);
        let mut ghost = ledger(2);
        ghost.deliver(key(2), 16);
        let mut lost = ledger(1);
        lost.close();
        for (ledger, word) in [
            (twice, "twice"),
            (order, "never arrived"),
            (ghost, "never sent"),
            (lost, "never arrived"),
        ] {
            assert_eq!(ledger.tally.wrong, 1, "{word}");
            assert!(ledger.first_wrong().unwrap().contains(word), "{:?}", ledger.first_wrong());
        }
    }

    #[test]
    fn a_missing_packet_needs_its_fault() {
        let mut ledger = ledger(4);
        ledger.hit(key(1));
        ledger.deliver(key(0), 16);
        ledger.deliver(key(2), 16);
        ledger.allow(2);
        ledger.close();
        assert_eq!((ledger.tally.excused, ledger.tally.wrong), (2, 0));
    }
}
